// SPDX-License-Identifier: Apache-2.0
// What the parser of the grammar stands on: the next token, nodes of the tree, errors with a place to go on at, and
// constant expressions, which know nothing of the rest.
#pragma once

#include <ptxdsl/parse/lexer.hpp>
#include <ptxdsl/parse/tree.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

class token_cursor {
public:
    /// Deepest nesting of parentheses and initializers.
    static constexpr std::uint32_t max_nesting = 100;

    constexpr explicit token_cursor(tree& t) noexcept : t_(t), tok_(t.tokens.data()) {}

protected:
    using u32 = std::uint32_t;

    // ---- tokens and nodes ------------------------------------------------------------------------------------

    [[nodiscard]] constexpr kind peek() const noexcept { return tok_[at_].kind; }
    [[nodiscard]] constexpr kind ahead() const noexcept { return peek() == kind::end ? kind::end : tok_[at_ + 1].kind; }
    [[nodiscard]] constexpr std::string_view word() const noexcept { return t_.pool.text(tok_[at_].spelling); }

    constexpr u32 open(node_kind k) {
        const u32 n = t_.nodes.size();
        t_.nodes.push_back({k, 0, 0, at_, n + 1});
        return n;
    }
    /// A node whose atom is the next token.
    constexpr u32 open_atom(node_kind k) {
        const u32 n = t_.nodes.size();
        t_.nodes.push_back({k, 0, tok_[at_].spelling, at_, n + 1});
        ++at_;
        return n;
    }
    constexpr void close(u32 n) noexcept { t_.nodes[n].end = t_.nodes.size(); }
    /// Puts a node in front of a subtree that turned out to be a part of it.
    constexpr u32 wrap(u32 first, node_kind k) {
        t_.nodes.push_back({});
        for (u32 i = t_.nodes.size() - 1; i > first; --i) {
            t_.nodes[i] = t_.nodes[i - 1];
            ++t_.nodes[i].end;
        }
        t_.nodes[first] = {k, 0, 0, t_.nodes[first].token, 0};
        return first;
    }
    /// Takes a node away that has one child only.
    constexpr void unwrap(u32 n) {
        for (u32 i = n; i + 1 < t_.nodes.size(); ++i) {
            t_.nodes[i] = t_.nodes[i + 1];
            --t_.nodes[i].end;
        }
        t_.nodes.pop_back();
    }
    constexpr bool skip(kind k) noexcept {
        if (peek() != k) return false;
        ++at_;
        return true;
    }

    // ---- errors ----------------------------------------------------------------------------------------------

    /// "expected …, found …" at the next token. Always false, for `return expected(…)`.
    constexpr bool expected(std::string_view what, std::string_view where = {}) {
        const token& t = tok_[at_];
        if (t.kind == kind::bad) return false;  // the lexer has said it
        const u32 length = t.kind == kind::end ? 1 : t_.pool[t.spelling].size;
        const std::string_view gap = where.empty() ? "" : " ";
        if (t.kind == kind::end)
            t_.messages.add(severity::error, "P10", t.offset, length, "expected ", what, gap, where,
                            ", found end of file");
        else
            t_.messages.add(severity::error, "P10", t.offset, length, "expected ", what, gap, where, ", found ",
                            describe(t), '\'', shown(t), '\'');
        return false;
    }
    constexpr bool problem(const char (&id)[4], u32 at, std::string_view what) {
        t_.messages.add(severity::error, id, tok_[at].offset, t_.pool[tok_[at].spelling].size, what);
        return false;
    }
    [[nodiscard]] constexpr std::string_view describe(const token& t) const noexcept {
        using namespace std::string_view_literals;
        switch (t.kind) {
            case kind::identifier: return "identifier "sv;
            case kind::integer:
            case kind::decimal_float:
            case kind::hex_float: return "number "sv;
            case kind::string: return "string "sv;
            default: return ""sv;
        }
    }
    [[nodiscard]] constexpr std::string_view shown(const token& t) const noexcept {
        return t_.pool.text(t.spelling).substr(0, 60);
    }
    constexpr bool need(kind k, std::string_view what, std::string_view where = {}) {
        return skip(k) || expected(what, where);
    }

    [[nodiscard]] constexpr bool first_on_line(u32 i) const noexcept {
        if (i == 0) return true;
        return t_.pool.text(tok_[i].trivia).find('\n') != std::string_view::npos;
    }
    [[nodiscard]] constexpr bool behind_blanks(u32 i) const noexcept {
        for (char c : t_.pool.text(tok_[i].trivia))
            if (c != ' ' && c != '\t') return false;
        return true;
    }
    /// Replaces what was built since `first` by an error node and finds a place to go on: behind the next `;`, or
    /// before what can only start a statement. Braces of vectors do not end a scope.
    constexpr void recover(u32 first, u32 begin) {
        t_.nodes.truncate(first);
        u32 braces = 0;
        for (u32 i = begin; i < at_; ++i) {
            if (tok_[i].kind == kind::left_brace) ++braces;
            if (tok_[i].kind == kind::right_brace && braces > 0) --braces;
        }
        for (; peek() != kind::end; ++at_) {
            const kind k = peek();
            if (k == kind::left_brace) ++braces;
            if (k == kind::right_brace && braces-- == 0) break;
            if (k == kind::semicolon) {
                ++at_;
                break;
            }
            if (at_ > begin && first_on_line(at_) && starts_statement()) break;
        }
        t_.nodes.push_back({node_kind::error, 0, 0, begin, first + 1});
    }
    [[nodiscard]] constexpr bool starts_statement() const noexcept {
        const kind k = peek();
        if (k == kind::at) return true;
        if (k == kind::identifier) return ahead() == kind::colon || is_modifier(ahead());
        return k >= kind::entry && k <= kind::common;
    }
    /// At module level: on to what can only start an item there.
    constexpr void recover_item(u32 first, u32 begin) {
        t_.nodes.truncate(first);
        u32 braces = 0;
        if (at_ == begin) ++at_;
        for (; peek() != kind::end; ++at_) {
            const kind k = peek();
            if (k == kind::left_brace) ++braces;
            if (k == kind::right_brace && braces > 0) --braces;
            if (first_on_line(at_) && (k == kind::entry || k == kind::func || is_linkage(k))) break;
            const kind before = tok_[at_ - 1].kind;
            if (braces != 0 || (before != kind::semicolon && before != kind::right_brace && !first_on_line(at_)))
                continue;
            if (is_space(k) || is_linkage(k) || (k >= kind::entry && k <= kind::func) || k == kind::section ||
                k == kind::file || k == kind::alias)
                break;
        }
        t_.nodes.push_back({node_kind::error, 0, 0, begin, first + 1});
    }

    // ---- constants (4.5) -------------------------------------------------------------------------------------

    /// A constant expression, or one float in hexadecimal, which takes no operators.
    constexpr bool constant() {
        const kind k = peek();
        if (k == kind::hex_float || ((k == kind::integer || k == kind::decimal_float) && !is_binary(ahead()))) {
            open_atom(node_kind::literal);
            return true;
        }
        const u32 n = t_.nodes.size();
        if (!expression()) return false;
        if (t_.nodes[n + 1].end == t_.nodes.size()) unwrap(n);
        return true;
    }
    [[nodiscard]] static constexpr bool is_binary(kind k) noexcept {
        switch (k) {
            case kind::plus:
            case kind::minus:
            case kind::star:
            case kind::slash:
            case kind::percent:
            case kind::ampersand:
            case kind::bar:
            case kind::caret:
            case kind::less:
            case kind::greater:
            case kind::question:
            case kind::less_less:
            case kind::greater_greater:
            case kind::less_equal:
            case kind::greater_equal:
            case kind::equal_equal:
            case kind::not_equal:
            case kind::and_and:
            case kind::or_or: return true;
            default: return false;
        }
    }
    constexpr bool expression() {
        const u32 n = open(node_kind::expression);
        u32 conditions = 0;  // open ones
        u32 all = 0;
        for (;;) {
            if (!primary()) return false;
            if (is_binary(peek())) {
                if (peek() == kind::question && ++all == max_nesting) return problem("P13", at_, "nested too deeply");
                if (peek() == kind::question) ++conditions;
            } else if (peek() == kind::colon && conditions != 0) {
                --conditions;
            } else {
                break;
            }
            open_atom(node_kind::operation);
        }
        if (conditions != 0) return expected("':'", "behind '?'");
        close(n);
        return true;
    }
    /// Prefix operators, casts and what they apply to.
    constexpr bool primary() {
        for (u32 prefixes = 0;; ++prefixes) {
            if (prefixes == max_nesting) return problem("P13", at_, "nested too deeply");
            switch (peek()) {
                case kind::minus:
                case kind::plus:
                case kind::tilde:
                case kind::exclamation: open_atom(node_kind::operation); continue;
                case kind::integer:
                case kind::decimal_float:
                case kind::warp_sz: open_atom(node_kind::literal); return true;
                case kind::left_paren:
                    if (!starts_with_dot(ahead())) return group();
                    ++at_;
                    open_atom(node_kind::cast);
                    if (!need(kind::right_paren, "')'", "behind a cast")) return false;
                    continue;
                default: return expected("an operand");
            }
        }
    }
    constexpr bool group() {
        if (++nesting_ > max_nesting) return problem("P13", at_, "nested too deeply");
        const u32 n = open(node_kind::group);
        ++at_;
        if (!constant()) return false;
        close(n);
        --nesting_;
        return need(kind::right_paren, "')'", "in an expression");
    }

    tree& t_;
    const token* tok_;
    u32 at_ = 0;
    u32 nesting_ = 0;
};

}  // namespace ptxdsl::ptx
