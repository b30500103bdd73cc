// SPDX-License-Identifier: Apache-2.0
// Tokens: what ptxas 13.0 takes as one and what it does not (measured).
#include "catch.hpp"
#include "parse_helpers.hpp"

#include <vector>

namespace ptx = ptxdsl::ptx;
using ptx::kind;

namespace {

struct lexed {
    ptx::spellings pool;
    ptxdsl::detail::dynarray<ptx::token> tokens;
    ptx::diagnostics messages;
    explicit lexed(std::string_view s) { ptx::lexer(s, pool, tokens, messages, true).run(); }
};

kind only_kind(std::string_view s) {
    const lexed l(s);
    return l.tokens.size() == 2 ? l.tokens[0].kind : kind::bad;
}

std::vector<std::string> spelled(std::string_view s) {
    const lexed l(s);
    std::vector<std::string> out;
    for (const ptx::token& t : l.tokens)
        if (t.kind != kind::end) out.emplace_back(l.pool.text(t.spelling));
    return out;
}

}  // namespace

TEST_CASE("numbers are one token of the right kind") {
    for (const char* s :
         {"0", "42", "0x1f", "0XFF", "0b101", "0B1", "017", "0U", "42U", "0x1U", "0b1U", "18446744073709551616"})
        CHECK(only_kind(s) == kind::integer);
    for (const char* s : {"1.", "1.5", ".5", "1e5", "1E+5", "1.5e-3", "09.5", "00.5"})
        CHECK(only_kind(s) == kind::decimal_float);
    for (const char* s : {"0f3F800000", "0F3f800000", "0d3FF0000000000000", "0D0000000000000000"})
        CHECK(only_kind(s) == kind::hex_float);
}

TEST_CASE("malformed numbers are one error each") {
    for (const char* s :
         {"0x", "0b", "0b2", "08", "1u", "1f", "1.0f", "1e", "1e+", "0f1234", "0f123456789", "0x1g", "123abc"}) {
        const lexed l(s);
        INFO(s);
        CHECK(l.messages.errors() == 1);
    }
}

TEST_CASE("names") {
    for (const char* s : {"a", "_a", "$a", "%a", "__", "$$", "%_", "%1", "a$1_b", "mov", "sm_90a"})
        CHECK(only_kind(s) == kind::identifier);
    CHECK(only_kind("_") == kind::underscore);
    CHECK(only_kind("%") == kind::percent);
    CHECK(only_kind("$") == kind::bad);
    CHECK(only_kind("WARP_SZ") == kind::warp_sz);
    CHECK(spelled("7%4") == std::vector<std::string>{"7", "%4"});
    CHECK(spelled("7 % 4") == std::vector<std::string>{"7", "%", "4"});
}

TEST_CASE("words with dots") {
    CHECK(only_kind(".u32") == kind::type);
    CHECK(only_kind(".v4") == kind::vector);
    CHECK(only_kind(".global") == kind::global);
    CHECK(only_kind(".2d") == kind::dot_word);
    CHECK(only_kind(".16x64b") == kind::dot_word);
    CHECK(only_kind(".shared::cta") == kind::dot_word);
    CHECK(only_kind(".mbarrier::complete_tx::bytes") == kind::dot_word);
    CHECK(spelled("mov.u32.5 %r1.x") == std::vector<std::string>{"mov", ".u32", ".5", "%r1", ".x"});
    CHECK(spelled(".shared ::cta").size() == 4);
    CHECK(only_kind(". u32") == kind::bad);
}

TEST_CASE("strings have no escapes and may run over lines") {
    CHECK(spelled("\"a\\\" b").front() == "\"a\\\"");
    CHECK(only_kind("\"two\nlines\"") == kind::string);
    CHECK(lexed("\"open").messages.errors() == 1);
}

TEST_CASE("trivia") {
    for (const char* s :
         {" \t\r\n\f", "// to the end", "/* a /* b */", "# 1 \"file\"\n", "#line 2 \"file\" 1 3\n", "\0"}) {
        const lexed l(std::string_view(s, s[0] == '\0' ? 1 : std::string_view(s).size()));
        INFO(s);
        CHECK(l.tokens.size() == 1);
        CHECK(l.messages.errors() == 0);
    }
    for (const char* s :
         {"# 1\n", "#include \"x\"\n", "# 1 \"a\" b\n", "#\n", "/* open", "\v", "`", "\\", "'", "\x01"}) {
        INFO(s);
        CHECK(lexed(s).messages.errors() == 1);
    }
    CHECK(lexed(std::string_view("a\0b", 3)).messages.errors() == 1);
    CHECK(lexed(std::string_view("a\0\0\n", 4)).messages.errors() == 0);
}

TEST_CASE("bytes that are not ASCII: a warning in comments, an error elsewhere") {
    const lexed comment("// d\xc3\xa9j\xc3\xa0 vu");
    CHECK(comment.messages.errors() == 0);
    CHECK(comment.messages.size() == 1);
    CHECK(lexed("d\xc3\xa9j\xc3\xa0").messages.errors() == 2);
    CHECK(lexed("\xef\xbb\xbf.version").messages.errors() == 0);
    const lexed again("\xef\xbb\xbf.version \xef\xbb\xbf");  // a token there, not the trivia of the start
    CHECK(again.tokens[1].kind == kind::bad);
    CHECK(again.messages.errors() == 1);
}

TEST_CASE("a spelling is kept once") {
    const lexed l("a b a  b a");
    CHECK(l.tokens[0].spelling == l.tokens[2].spelling);
    CHECK(l.tokens[1].spelling == l.tokens[3].spelling);
    CHECK(l.pool.find("a") == l.tokens[0].spelling);
    CHECK(l.pool.find("c") == 0);
    CHECK(l.tokens[4].offset == 9);
}

TEST_CASE("the pool survives many names") {
    std::string s;
    for (int i = 0; i < 20000; ++i) s += "n" + std::to_string(i) + ' ';
    const lexed l(s + s);
    REQUIRE(l.tokens.size() == 40001);
    for (std::uint32_t i = 0; i < 20000; ++i) REQUIRE(l.tokens[i].spelling == l.tokens[i + 20000].spelling);
}
