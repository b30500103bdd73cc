// SPDX-License-Identifier: Apache-2.0
// From bytes to tokens (PTX ISA 9.0, chapter 4; what ptxas 13.0 takes was measured where the text is silent).
#pragma once

#include <ptxdsl/parse/diagnostic.hpp>
#include <ptxdsl/parse/token.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

namespace detail {

inline constexpr unsigned char is_word = 1;  ///< letters, digits, _ $
inline constexpr unsigned char is_digit = 2;
inline constexpr unsigned char is_hex = 4;
inline constexpr unsigned char is_blank = 8;  ///< blank, tab, newline, carriage return, form feed
inline constexpr unsigned char is_letter = 16;

struct class_table {
    unsigned char of[256] = {};
    constexpr class_table() {
        for (unsigned c = '0'; c <= '9'; ++c) of[c] = is_word | is_digit | is_hex;
        for (unsigned c = 'a'; c <= 'z'; ++c) of[c] = is_word | is_letter, of[c - 32] = is_word | is_letter;
        for (unsigned c = 'a'; c <= 'f'; ++c) of[c] |= is_hex, of[c - 32] |= is_hex;
        of['_'] = of['$'] = is_word;
        of[' '] = of['\t'] = of['\n'] = of['\r'] = of['\f'] = is_blank;
    }
};
inline constexpr class_table char_class{};

}  // namespace detail

/// Cuts a text into tokens.
class lexer {
public:
    /// Longest text that is read, in bytes.
    static constexpr std::uint32_t max_size = 1u << 30;

    constexpr lexer(std::string_view source, spellings& pool, ptxdsl::detail::dynarray<token>& tokens, diagnostics& out,
                    bool keep_trivia)
        : p_(source.data()),
          n_(static_cast<std::uint32_t>(source.size())),
          pool_(pool),
          tokens_(tokens),
          out_(out),
          keep_trivia_(keep_trivia) {}

    constexpr void run() {
        if (n_ >= 3 && at(0) == 0xef && at(1) == 0xbb && at(2) == 0xbf) {
            out_.add(severity::warning, "P02", 0, 3, "the text starts with a byte order mark, which ptxas refuses");
            i_ = 3;
        }
        for (;;) {
            skip_trivia();
            if (i_ >= n_) break;
            start_ = i_;
            next();
        }
        start_ = i_;
        tokens_.push_back({i_, 0, trivia_, kind::end});
    }

private:
    [[nodiscard]] constexpr unsigned char at(std::uint32_t i) const noexcept {
        return i < n_ ? static_cast<unsigned char>(p_[i]) : 0;
    }
    [[nodiscard]] constexpr unsigned char class_at(std::uint32_t i) const noexcept {
        return detail::char_class.of[at(i)];
    }

    /// Moves past blanks, comments and line markers and interns them as one piece.
    constexpr void skip_trivia() {
        const std::uint32_t begin = trivia_begin();
        while (i_ < n_) {
            const char c = p_[i_];
            if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f')
                ++i_;
            else if (c == '/' && at(i_ + 1) == '/')
                line_comment();
            else if (c == '/' && at(i_ + 1) == '*')
                block_comment();
            else if (c == '#' && line_marker())
                continue;
            else if ((c == '\0' || c == '\x1a') && only_padding_follows())
                i_ = n_;
            else
                break;
        }
        trivia_ = 0;
        if (begin == i_) return;
        if (!keep_trivia_) return note_newline(begin);
        const std::uint32_t n = i_ - begin;
        if (n > 2) return static_cast<void>(trivia_ = pool_.intern(p_ + begin, n, n_ - i_, kind::trivia));
        // One blank, or a newline and a tab: nearly all.
        short_trivia& s = short_trivia_[(at(begin) + 3u * at(i_ - 1)) % n_short];
        if (s.spelling == 0 || s.first != p_[begin] || s.second != p_[i_ - 1] || s.size != n)
            s = {pool_.intern(p_ + begin, n, n_ - i_, kind::trivia), p_[begin], p_[i_ - 1],
                 static_cast<unsigned char>(n)};
        trivia_ = s.spelling;
    }
    /// Without trivia, the parser still has to know which tokens are first on their lines.
    constexpr void note_newline(std::uint32_t begin) {
        for (std::uint32_t k = begin; k < i_; ++k)
            if (p_[k] == '\n') {
                trivia_ = pool_.intern("\n", 1, 0, kind::trivia);
                return;
            }
    }
    /// A byte order mark belongs to the first trivia.
    [[nodiscard]] constexpr std::uint32_t trivia_begin() const noexcept { return tokens_.empty() ? 0 : i_; }

    constexpr void line_comment() {
        const std::uint32_t begin = i_;
        while (i_ < n_ && p_[i_] != '\n') ++i_;
        check_ascii(begin);
    }
    constexpr void block_comment() {
        const std::uint32_t begin = i_;
        i_ += 2;
        while (i_ < n_ && !(p_[i_] == '*' && at(i_ + 1) == '/')) ++i_;
        if (i_ >= n_)
            out_.add(severity::error, "P03", begin, 2, "this comment is not closed");
        else
            i_ += 2;
        check_ascii(begin);
    }
    constexpr void check_ascii(std::uint32_t begin) {
        for (std::uint32_t k = begin; k < i_; ++k) {
            if (static_cast<unsigned char>(p_[k]) < 0x80) continue;
            if (!warned_)
                out_.add(severity::warning, "P02", k, 1, "a byte that is not ASCII; ptxas refuses it even in comments");
            warned_ = true;
            return;
        }
    }
    /// `# 12 "file" 1` or `#line 12 "file"`, alone on the rest of its line, as C preprocessors leave it.
    constexpr bool line_marker() {
        std::uint32_t k = blanks(i_ + 1);
        if (at(k) == 'l' && at(k + 1) == 'i' && at(k + 2) == 'n' && at(k + 3) == 'e') k = blanks(k + 4);
        const std::uint32_t number = k;
        while ((class_at(k) & detail::is_digit) != 0) ++k;
        if (k == number) return false;
        k = blanks(k);
        if (at(k) != '"') return false;
        for (++k; k < n_ && p_[k] != '"' && p_[k] != '\n';) ++k;
        if (at(k) != '"') return false;
        k = blanks(k + 1);
        while ((class_at(k) & detail::is_digit) != 0) k = blanks(k + 1);
        if (k < n_ && p_[k] != '\n' && p_[k] != '\r') return false;
        i_ = k;
        return true;
    }
    [[nodiscard]] constexpr std::uint32_t blanks(std::uint32_t k) const noexcept {
        while (at(k) == ' ' || at(k) == '\t') ++k;
        return k;
    }
    /// Some tools write the terminating NUL into the file. Found once, from the end: each NUL of a text may ask.
    [[nodiscard]] constexpr bool only_padding_follows() noexcept {
        const auto is_padding = [&](std::uint32_t k) {
            return p_[k] == '\0' || p_[k] == '\x1a' || (class_at(k) & detail::is_blank) != 0;
        };
        if (padding_ > n_)
            for (padding_ = n_; padding_ != 0 && is_padding(padding_ - 1);) --padding_;
        return i_ >= padding_;
    }

    constexpr void next() {
        const auto c = static_cast<unsigned char>(p_[i_]);
        const unsigned char cls = detail::char_class.of[c];
        if ((cls & detail::is_digit) != 0) return number();
        if (c == '%' && (class_at(i_ + 1) & detail::is_word) == 0) return finish(kind::percent, 1);
        if ((cls & detail::is_word) != 0 || c == '%') return word(kind::identifier);
        if (c == '.') return dot();
        if (c == '"') return string();
        punctuation(c);
    }

    constexpr void push(kind k) {
        const std::uint32_t id = pool_.intern(p_ + start_, i_ - start_, n_ - i_, k);
        tokens_.push_back({start_, id, trivia_, pool_[id].kind});
    }
    /// Punctuation: one spelling each.
    constexpr void finish(kind k, std::uint32_t length) {
        i_ += length;
        std::uint32_t& id = punctuation_[static_cast<unsigned>(k)];
        if (id == 0) id = pool_.intern(p_ + start_, length, n_ - i_, k);
        tokens_.push_back({start_, id, trivia_, k});
    }

    /// Identifier: a letter and word characters, or one of _ $ % and at least one word character; `_` alone is a
    /// keyword.
    constexpr void word(kind k) {
        for (++i_; (class_at(i_) & detail::is_word) != 0;) ++i_;
        if (i_ - start_ == 1 && p_[start_] == '$') return bad("'$' alone is not a name");
        push(k);
    }
    /// `.word`, `.word::word`, or a float such as `.5`.
    constexpr void dot() {
        if ((class_at(i_ + 1) & detail::is_word) == 0) {
            ++i_;
            return bad("a word follows '.' without a blank");
        }
        if ((class_at(i_ + 1) & detail::is_digit) != 0 && fraction()) return;
        for (;;) {
            for (++i_; (class_at(i_) & detail::is_word) != 0;) ++i_;
            if (at(i_) != ':' || at(i_ + 1) != ':' || (class_at(i_ + 2) & detail::is_word) == 0) break;
            i_ += 2;
        }
        push(kind::dot_word);
    }
    /// A float that starts with its point. A digit also starts modifiers (`.2d`, `.16x64b`): those go on with a letter.
    constexpr bool fraction() {
        const std::uint32_t k = exponent(digits(i_ + 1));
        if ((class_at(k) & detail::is_word) != 0) return false;
        i_ = k;
        push(kind::decimal_float);
        return true;
    }
    [[nodiscard]] constexpr std::uint32_t digits(std::uint32_t k) const noexcept {
        while ((class_at(k) & detail::is_digit) != 0) ++k;
        return k;
    }
    /// Past an exponent at k, if there is a whole one.
    [[nodiscard]] constexpr std::uint32_t exponent(std::uint32_t k) const noexcept {
        if (at(k) != 'e' && at(k) != 'E') return k;
        const std::uint32_t sign = at(k + 1) == '+' || at(k + 1) == '-' ? 1 : 0;
        const std::uint32_t end = digits(k + 1 + sign);
        return end == k + 1 + sign ? k : end;
    }
    constexpr void number() {
        const kind k = p_[i_] == '0' && prefixed() ? prefixed_kind_ : plain();
        if ((class_at(i_) & detail::is_word) != 0) {
            while ((class_at(i_) & detail::is_word) != 0) ++i_;
            return bad("malformed number '", std::string_view(p_ + start_, i_ - start_), '\'');
        }
        push(k);
    }
    constexpr kind plain() {
        const std::uint32_t whole = digits(i_);
        std::uint32_t k = whole;
        if (at(k) == '.') k = digits(k + 1);
        k = exponent(k);
        if (k != whole) {
            i_ = k;
            return kind::decimal_float;
        }
        if (p_[i_] == '0')  // octal
            for (std::uint32_t j = i_; j < whole; ++j)
                if (p_[j] > '7') return kind::integer;  // stops at the 8 or 9: a malformed number
        i_ = whole;
        if (at(i_) == 'U') ++i_;
        return kind::integer;
    }
    /// 0x1f, 0b101, 0f3f800000, 0d3ff0000000000000.
    constexpr bool prefixed() {
        const unsigned char c = at(i_ + 1);
        std::uint32_t k = i_ + 2;
        prefixed_kind_ = kind::integer;
        if (c == 'x' || c == 'X') {
            while ((class_at(k) & detail::is_hex) != 0) ++k;
        } else if (c == 'b' || c == 'B') {
            while (at(k) == '0' || at(k) == '1') ++k;
        } else if (c == 'f' || c == 'F' || c == 'd' || c == 'D') {
            const std::uint32_t want = (c == 'f' || c == 'F' ? 8 : 16);
            while (k < i_ + 2 + want && (class_at(k) & detail::is_hex) != 0) ++k;
            if (k != i_ + 2 + want) return false;
            prefixed_kind_ = kind::hex_float;
        } else {
            return false;
        }
        if (k == i_ + 2) return false;
        if (prefixed_kind_ == kind::integer && at(k) == 'U') ++k;
        i_ = k;
        return true;
    }
    /// No escapes in PTX strings; they may run over lines.
    constexpr void string() {
        for (++i_; i_ < n_ && p_[i_] != '"';) ++i_;
        if (i_ >= n_) {
            out_.add(severity::error, "P03", start_, 1, "this string is not closed");
            tokens_.push_back({start_, pool_.intern(p_ + start_, i_ - start_, n_ - i_, kind::bad), trivia_, kind::bad});
            return;
        }
        ++i_;
        check_ascii(start_);
        push(kind::string);
    }

    constexpr void punctuation(unsigned char c) {
        const unsigned char d = at(i_ + 1);
        switch (c) {
            case '{': return finish(kind::left_brace, 1);
            case '}': return finish(kind::right_brace, 1);
            case '(': return finish(kind::left_paren, 1);
            case ')': return finish(kind::right_paren, 1);
            case '[': return finish(kind::left_bracket, 1);
            case ']': return finish(kind::right_bracket, 1);
            case ',': return finish(kind::comma, 1);
            case ';': return finish(kind::semicolon, 1);
            case ':': return finish(kind::colon, 1);
            case '-': return finish(kind::minus, 1);
            case '+': return finish(kind::plus, 1);
            case '~': return finish(kind::tilde, 1);
            case '*': return finish(kind::star, 1);
            case '/': return finish(kind::slash, 1);
            case '^': return finish(kind::caret, 1);
            case '?': return finish(kind::question, 1);
            case '|': return d == '|' ? finish(kind::or_or, 2) : finish(kind::bar, 1);
            case '&': return d == '&' ? finish(kind::and_and, 2) : finish(kind::ampersand, 1);
            case '!': return d == '=' ? finish(kind::not_equal, 2) : finish(kind::exclamation, 1);
            case '=': return d == '=' ? finish(kind::equal_equal, 2) : finish(kind::equal, 1);
            case '<':
                return d == '<'   ? finish(kind::less_less, 2)
                       : d == '=' ? finish(kind::less_equal, 2)
                                  : finish(kind::less, 1);
            case '>':
                return d == '>'   ? finish(kind::greater_greater, 2)
                       : d == '=' ? finish(kind::greater_equal, 2)
                                  : finish(kind::greater, 1);
            case '@': return at_sign();
            default: return stray(c);
        }
    }
    constexpr void at_sign() {
        constexpr std::string_view dwarf = "@@DWARF";
        if (n_ - i_ >= dwarf.size() && std::string_view(p_ + i_, dwarf.size()) == dwarf) return finish(kind::dwarf, 7);
        finish(kind::at, 1);
    }
    constexpr void stray(unsigned char c) {
        ++i_;
        while (c >= 0x80 && at(i_) >= 0x80) ++i_;  // one message for one accented word
        if (c >= 0x80) return bad("a byte that is not ASCII");
        if (c == 0) return bad("a NUL byte inside the text");
        if (c < 0x20 || c == 0x7f) return bad("a control character");
        if (c == '#') return bad("'#' starts only line markers: # 12 \"file\", alone on their line");
        bad("unexpected character '", static_cast<char>(c), '\'');
    }
    /// An error token; the parser stops there without a second message.
    template <class... Parts>
    constexpr void bad(const Parts&... parts) {
        out_.add(severity::error, "P01", start_, i_ - start_, parts...);
        push(kind::bad);
    }

    const char* p_;
    std::uint32_t n_;
    std::uint32_t i_ = 0;
    std::uint32_t start_ = 0;
    std::uint32_t trivia_ = 0;
    spellings& pool_;
    ptxdsl::detail::dynarray<token>& tokens_;
    diagnostics& out_;
    bool keep_trivia_;
    /// Spellings met before, so that those which make up most of a text need no look into the pool.
    struct short_trivia {
        std::uint32_t spelling = 0;
        char first = 0, second = 0;
        unsigned char size = 0;
    };
    static constexpr unsigned n_short = 16;
    short_trivia short_trivia_[n_short] = {};
    std::uint32_t punctuation_[static_cast<unsigned>(kind::dot_word)] = {};
    std::uint32_t padding_ = 0xffffffffu;  ///< where it begins at the end of the text, once it is known
    bool warned_ = false;
    kind prefixed_kind_ = kind::integer;
};

}  // namespace ptxdsl::ptx
