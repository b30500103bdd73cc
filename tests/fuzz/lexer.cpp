// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the lexer. Laws of every text: tokens and trivia are its bytes; tokens without trivia are the
// same tokens; a token lexed alone is that token again.
#include "laws.hpp"

#include <ptxdsl/parse/lexer.hpp>

namespace ptx = ptxdsl::ptx;

namespace {

struct lexed {
    ptx::spellings pool;
    ptxdsl::detail::dynarray<ptx::token> tokens;
    ptx::diagnostics messages;

    lexed(std::string_view source, bool keep_trivia) { ptx::lexer(source, pool, tokens, messages, keep_trivia).run(); }
    [[nodiscard]] std::string_view word(std::uint32_t i) const { return pool.text(tokens[i].spelling); }
};

void covers(const lexed& l, std::string_view source) {
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < l.tokens.size(); ++i) {
        const std::string_view trivia = l.pool.text(l.tokens[i].trivia);
        fuzz::law(source.substr(at, trivia.size()) == trivia, "trivia are the bytes between tokens");
        at += trivia.size();
        fuzz::law(l.tokens[i].offset == at, "a token knows where it begins");
        fuzz::law(source.substr(at, l.word(i).size()) == l.word(i), "tokens are bytes of the text");
        fuzz::law((l.word(i).empty()) == (l.tokens[i].kind == ptx::kind::end), "only the end is empty");
        at += l.word(i).size();
    }
    fuzz::law(at == source.size(), "nothing is left over");
    fuzz::law(l.tokens.size() != 0 && l.tokens[l.tokens.size() - 1].kind == ptx::kind::end,
              "the last token is the end");
}

void same_without_trivia(const lexed& a, const lexed& b) {
    fuzz::law(a.tokens.size() == b.tokens.size(), "as many tokens without trivia");
    fuzz::law(a.messages.size() == b.messages.size(), "as many messages without trivia");
    for (std::uint32_t i = 0; i < a.tokens.size(); ++i)
        fuzz::law(a.tokens[i].kind == b.tokens[i].kind && a.word(i) == b.word(i), "the same tokens without trivia");
}

void alone(const lexed& l) {
    const std::uint32_t step = l.tokens.size() / 32 + 1;
    for (std::uint32_t i = 0; i + 1 < l.tokens.size(); i += step) {
        if (l.tokens[i].kind == ptx::kind::bad) continue;
        const lexed again(l.word(i), true);
        fuzz::law(again.tokens.size() == 2 && again.tokens[0].kind == l.tokens[i].kind && again.word(0) == l.word(i),
                  "a token alone is the same token");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view source = fuzz::text(data, size);
    const lexed l(source, true);
    covers(l, source);
    same_without_trivia(l, lexed(source, false));
    alone(l);
    bool bad = false;
    for (std::uint32_t i = 0; i < l.tokens.size(); ++i) bad |= l.tokens[i].kind == ptx::kind::bad;
    fuzz::law(!bad || l.messages.errors() != 0, "a bad token has its message");
    for (const ptx::diagnostic& d : l.messages) fuzz::law(d.offset <= size, "messages lie in the text");
    return 0;
}
