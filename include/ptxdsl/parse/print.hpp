// SPDX-License-Identifier: Apache-2.0
// Two printers. Lossless: tokens and trivia, the bytes that were read. Canonical: from the nodes alone, one layout for
// all, comments and blanks of the original dropped; ptxas makes the same cubin of it.
//
// ptxas 13.0 lets the text leak into the cubin in two places: the line of a variable that is declared inside a function
// (.shared, .global, .const) is part of its symbol's name, and with `.loc` directives the section .nv_debug_line_sass
// has line numbers and .nv_debug_ptx_txt the text itself. For such modules `layout::lines` starts every statement and
// every variable on its original line.
#pragma once

#include <ptxdsl/parse/tree.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

/// Adds the text that `v` was read from, byte for byte. The tree must have been read with its trivia.
constexpr void print_lossless(const tree_view& v, text& out) {
    for (std::uint32_t i = 0; i < v.n_tokens; ++i) {
        const token& t = v.tokens[i];
        if (t.trivia != 0) out.put(v.word(t.trivia));
        if (t.kind != kind::end) out.put(v.word(t.spelling));
    }
}

/// How nodes are laid out.
enum class layout : std::uint8_t {
    canonical,  ///< one statement a line, indented; comments dropped
    commented,  ///< the same, with the comments between statements
    lines,      ///< each statement on the line it had in the text
};

/// Prints nodes.
class canonical_printer {
public:
    constexpr canonical_printer(const tree_view& v, text& out, layout l = layout::canonical)
        : v_(v), out_(out), layout_(l) {
        if (l == layout::lines) number_lines();
        if (l == layout::commented) match_braces();
    }

    /// The whole module.
    constexpr void run() {
        if (v_.n_nodes == 0) return;
        for (std::uint32_t c = 1; c < v_[0].end; c = v_[c].end) {
            const node_kind k = v_.kind(c);
            apart_ = c != 1 && k > node_kind::address_size &&
                     (stands_apart(k) || stands_apart(before_) || before_ <= node_kind::address_size);
            before_ = k;
            item(c);
        }
        if (layout_ != layout::lines || line_ < lines_[v_.n_tokens - 1]) start(v_.n_tokens - 1);
        if (layout_ == layout::lines && !out_.view().ends_with('\n')) out_.put('\n');
    }
    /// One statement or item, with its newline.
    constexpr void item(std::uint32_t n) {
        start(v_[n].token, v_.kind(n) == node_kind::label);
        switch (v_.kind(n)) {
            case node_kind::version: out_.put(".version ").put(v_.atom(n)); break;
            case node_kind::address_size: out_.put(".address_size ").put(v_.atom(n)); break;
            case node_kind::target: out_.put(".target "), list(n + 1, v_[n].end); break;
            case node_kind::declaration: declaration(n), out_.put(';'); break;
            case node_kind::entry:
            case node_kind::function: return function(n);
            case node_kind::file: out_.put(".file "), file(n); break;
            case node_kind::alias: out_.put(".alias "), list(n + 1, v_[n].end), out_.put(';'); break;
            case node_kind::section: return section(n);
            case node_kind::dwarf: dwarf(n); break;
            default: return statement(n);
        }
        finish();
    }
    /// One node as it stands inside a line: a statement without its `;`, an operand, a type.
    constexpr void one(std::uint32_t n) {
        switch (v_.kind(n)) {
            case node_kind::instruction: instruction(n); break;
            case node_kind::loc: loc(n); break;
            case node_kind::pragma: head_directive(n); break;
            case node_kind::declaration: declaration(n); break;
            case node_kind::call_prototype: call_prototype(n); break;
            case node_kind::branch_targets: out_.put(".branchtargets "), list(n + 1, v_[n].end); break;
            case node_kind::call_targets: out_.put(".calltargets "), list(n + 1, v_[n].end); break;
            case node_kind::file: out_.put(".file "), file(n); break;
            case node_kind::dwarf: dwarf(n); break;
            case node_kind::section_data: out_.put(v_.atom(n)).put(' '), list(n + 1, v_[n].end); break;
            default: part(n); break;
        }
    }

private:
    using u32 = std::uint32_t;

    static constexpr u32 no_token = 0xffffffffu;

    [[nodiscard]] static constexpr bool stands_apart(node_kind k) noexcept {
        return k == node_kind::entry || k == node_kind::function || k == node_kind::section;
    }

    // ---- lines -----------------------------------------------------------------------------------------------

    /// Begins what stands on a line of its own and begins with this token of the text.
    constexpr void start(u32 token, bool outdented = false) {
        if (layout_ == layout::lines) return go_to_line(token);
        if (layout_ == layout::commented) comments(token);
        if (apart_) out_.put('\n');
        apart_ = false;
        if (token != v_.n_tokens - 1 && !outdented) indent();
    }
    /// Ends the line. With comments the newline waits for one that belongs to the line.
    constexpr void finish() {
        if (layout_ == layout::canonical) out_.put('\n');
        open_line_ = true;
        alone_ = false;
    }
    constexpr void indent() {
        if (layout_ == layout::lines) return;
        for (u32 i = 0; i < depth_; ++i) out_.put("    ");
    }
    constexpr void go_to_line(u32 token) {
        if (token == no_token || line_ >= lines_[token]) {
            if (open_line_) out_.put(' ');
        } else {
            for (; line_ < lines_[token]; ++line_) out_.put('\n');
        }
        open_line_ = false;
    }
    constexpr void number_lines() {
        u32 line = 1;
        for (u32 i = 0; i < v_.n_tokens; ++i) {
            const token& t = v_.tokens[i];
            for (char c : v_.word(t.trivia)) line += c == '\n';
            lines_.push_back(line);
            if (t.kind == kind::string)
                for (char c : v_.word(t.spelling)) line += c == '\n';
        }
    }
    /// For each opening brace the token that closes it: what stands before that belongs into the scope.
    constexpr void match_braces() {
        closing_.resize(v_.n_tokens, no_token);
        ptxdsl::detail::dynarray<u32> open;
        for (u32 i = 0; i < v_.n_tokens; ++i) {
            if (v_.tokens[i].kind == kind::left_brace) open.push_back(i);
            if (v_.tokens[i].kind != kind::right_brace || open.size() == 0) continue;
            closing_[open.back()] = i;
            open.pop_back();
        }
    }
    /// The comments in front of a token that were not printed yet: first the one on the line just printed.
    constexpr void comments(u32 upto) {
        if (upto == no_token) return end_open_line();
        for (; commented_ <= upto; ++commented_) {
            const std::string_view s = v_.word(v_.tokens[commented_].trivia);
            bool same_line = !alone_;
            for (std::size_t i = 0; i < s.size(); ++i) {
                if (s[i] == '\n') same_line = false;
                if (s[i] == '#') i = comment_end(s, i) - 1;  // a line marker: a path in it has slashes
                if (s[i] != '/') continue;
                const std::size_t end = comment_end(s, i);
                same_line = same_line && open_line_;
                comment(s.substr(i, end - i), same_line);
                i = end - 1;
            }
        }
        end_open_line();
    }
    [[nodiscard]] static constexpr std::size_t comment_end(std::string_view s, std::size_t i) noexcept {
        const bool block = i + 1 < s.size() && s[i + 1] == '*';
        const std::size_t end = block ? s.find("*/", i + 2) : s.find('\n', i);
        return end == std::string_view::npos ? s.size() : block ? end + 2 : end;
    }
    constexpr void comment(std::string_view s, bool same_line) {
        while (!s.empty() && (s.back() == '\r' || s.back() == ' ')) s.remove_suffix(1);
        if (same_line)
            out_.put("  ");
        else
            end_open_line(), separate(), indent();
        out_.put(s);
        open_line_ = true;
        alone_ = !same_line;
    }
    constexpr void separate() {
        if (apart_) out_.put('\n');
        apart_ = false;
    }
    constexpr void end_open_line() {
        if (open_line_) out_.put('\n');
        open_line_ = false;
    }

    // ---- lists -----------------------------------------------------------------------------------------------

    constexpr void list(u32 first, u32 end, std::string_view separator = ", ") {
        for (u32 c = first; c < end; c = v_[c].end) {
            if (c != first) out_.put(separator);
            part(c);
        }
    }
    constexpr void file(u32 n) {
        for (u32 c = n + 1, i = 0; c < v_[n].end; c = v_[c].end, ++i) {
            if (i != 0) out_.put(i == 1 ? " " : ", ");
            part(c);
        }
    }

    // ---- declarations and functions --------------------------------------------------------------------------

    constexpr void declaration(u32 n) {
        bool declared = false;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (declared) out_.put(',');
            declared = v_.kind(c) == node_kind::declarator;
            if (declared && layout_ == layout::lines)
                open_line_ = c != n + 1, go_to_line(v_[c].token);
            else if (c != n + 1)
                out_.put(' ');
            part(c);
        }
    }
    constexpr void function(u32 n) {
        const bool is_entry = v_.kind(n) == node_kind::entry;
        if (const u32 l = v_.child(n, node_kind::linkage)) part(l), out_.put(' ');
        out_.put(is_entry ? ".entry " : ".func ");
        if (const u32 a = v_.child(n, node_kind::attribute_list)) part(a), out_.put(' ');
        if (const u32 r = v_.child(n, node_kind::results)) part(r), out_.put(' ');
        out_.put(v_.atom(n));
        if (const u32 p = v_.child(n, node_kind::parameters))
            is_entry&& v_.has_children(p) ? parameter_lines(p) : part(p);
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
            if (v_.kind(c) == node_kind::tuning || v_.kind(c) == node_kind::pragma)
                finish(), start(v_[c].token), head_directive(c);
        if (const u32 b = v_.child(n, node_kind::body))
            finish(), body(b);
        else
            out_.put(';'), finish();
    }
    constexpr void parameter_lines(u32 n) {
        out_.put('(');
        ++depth_;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (c != n + 1) out_.put(',');
            finish();
            start(v_[c].token);
            declaration(c);
        }
        --depth_;
        finish();
        start(no_token);
        out_.put(')');
    }
    constexpr void head_directive(u32 n) {
        if (v_.kind(n) == node_kind::pragma)
            out_.put(".pragma "), list(n + 1, v_[n].end), out_.put(';');
        else
            part(n);
    }
    /// A body and all scopes in it, walked with a stack of its own: their depth is the text's, not ours.
    constexpr void body(u32 n) {
        ptxdsl::detail::dynarray<u32> scopes;
        for (u32 c = n;;) {
            while (scopes.size() != 0 && c == v_[scopes.back()].end) {
                close_scope(scopes.back());
                scopes.pop_back();
                if (scopes.size() == 0) return;
            }
            if (v_.kind(c) == node_kind::body) {
                start(v_[c].token);
                out_.put('{');
                finish();
                ++depth_;
                scopes.push_back(c);
                ++c;
            } else {
                item(c);
                c = v_[c].end;
            }
        }
    }
    constexpr void close_scope(u32 n) {
        if (layout_ == layout::commented) comments(closing_[v_[n].token]);  // they belong into the scope
        --depth_;
        start(no_token);
        out_.put('}');
        finish();
    }

    // ---- sections --------------------------------------------------------------------------------------------

    constexpr void section(u32 n) {
        out_.put(".section ").put(v_.atom(n));
        finish();
        start(no_token);
        out_.put('{');
        finish();
        ++depth_;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            const bool is_label = v_.kind(c) == node_kind::label;
            start(v_[c].token, is_label);
            out_.put(v_.atom(c)).put(is_label ? ':' : ' ');
            list(c + 1, v_[c].end);
            finish();
        }
        --depth_;
        start(no_token);
        out_.put('}');
        finish();
    }
    constexpr void dwarf(u32 n) {
        out_.put("@@DWARF ");
        const bool is_section = v_.has_children(n) && v_.atom(n + 1) == ".section";
        for (u32 c = n + 1, i = 0; c < v_[n].end; c = v_[c].end, ++i) {
            if (i != 0) out_.put(i == 1 ? " " : ", ");
            if (v_.kind(c) == node_kind::label)
                out_.put(v_.atom(c)).put(':');
            else
                string(v_.atom(c));
        }
        if (is_section && v_.children(n) == 3) out_.put(", @progbits");
    }

    // ---- statements ------------------------------------------------------------------------------------------

    /// Begun already.
    constexpr void statement(u32 n) {
        switch (v_.kind(n)) {
            case node_kind::label: out_.put(v_.atom(n)).put(':'); break;
            case node_kind::instruction: instruction(n), out_.put(';'); break;
            case node_kind::loc: loc(n); break;
            case node_kind::pragma: head_directive(n); break;
            case node_kind::branch_targets: out_.put(".branchtargets "), list(n + 1, v_[n].end), out_.put(';'); break;
            case node_kind::call_targets: out_.put(".calltargets "), list(n + 1, v_[n].end), out_.put(';'); break;
            case node_kind::call_prototype: call_prototype(n), out_.put(';'); break;
            default: break;
        }
        finish();
    }
    constexpr void call_prototype(u32 n) {
        out_.put(".callprototype ");
        if (const u32 r = v_.child(n, node_kind::results)) part(r), out_.put(' ');
        out_.put('_');
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
            if (v_.kind(c) != node_kind::results) out_.put(' '), part(c);
    }
    constexpr void loc(u32 n) {
        out_.put(".loc");
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) == node_kind::inlined)
                inlined(c);
            else
                out_.put(' ').put(v_.atom(c));
        }
    }
    constexpr void inlined(u32 n) {
        out_.put(", function_name ").put(v_.atom(n));
        u32 c = n + 1;
        if (v_[n].flags == node::has_offset) out_.put('+').put(v_.atom(c++));
        out_.put(", inlined_at");
        for (; c < v_[n].end; ++c) out_.put(' ').put(v_.atom(c));
    }
    constexpr void instruction(u32 n) {
        u32 c = n + 1;
        const u32 end = v_[n].end;
        if (c < end && v_.kind(c) == node_kind::guard) {
            out_.put(v_[c].flags == node::negated ? "@!" : "@").put(v_.atom(c)).put(' ');
            ++c;
        }
        out_.put(v_.atom(n));
        for (; c < end && v_.kind(c) == node_kind::modifier; ++c) out_.put(v_.atom(c));
        if (c == end) return;
        out_.put(' ');
        list(c, end);
    }

    // ---- parts -----------------------------------------------------------------------------------------------

    constexpr void part(u32 n) {
        const u32 first = n + 1;
        const u32 end = v_[n].end;
        switch (v_.kind(n)) {
            case node_kind::name:
            case node_kind::literal:
                out_.put(v_.atom(n));
                if (first != end) out_.put(v_.atom(first));
                break;
            case node_kind::address: address(first, end); break;
            case node_kind::vector:
            case node_kind::aggregate: out_.put('{'), list(first, end), out_.put('}'); break;
            case node_kind::offset: list(first, end, "+"); break;
            case node_kind::pair: list(first, end, "|"); break;
            case node_kind::difference: out_.put(v_.atom(n)).put('-'), part(first); break;
            case node_kind::negative:
            case node_kind::negation:
                out_.put('-');
                first == end ? void(out_.put(v_.atom(n))) : part(first);
                break;
            case node_kind::complement: out_.put('!'), part(first); break;
            case node_kind::sink: out_.put('_'); break;
            case node_kind::index: part(first), out_.put('['), part(v_[first].end), out_.put(']'); break;
            case node_kind::arguments:
            case node_kind::group:
            case node_kind::results:
            case node_kind::parameters: out_.put('('), list(first, end), out_.put(')'); break;
            case node_kind::expression: expression(n); break;
            case node_kind::cast: out_.put('(').put(v_.atom(n)).put(')'); break;
            default: declaration_part(n); break;
        }
    }
    /// `[a]`, `[a, {x}]`, `[a].unified`.
    constexpr void address(u32 first, u32 end) {
        const u32 attribute = end - 1;
        const bool unified = end != first && v_.kind(attribute) == node_kind::component && v_[first].end == attribute;
        out_.put('['), list(first, unified ? attribute : end), out_.put(']');
        if (unified) out_.put(v_.atom(attribute));
    }
    constexpr void declaration_part(u32 n) {
        const u32 first = n + 1;
        const u32 end = v_[n].end;
        switch (v_.kind(n)) {
            case node_kind::parameter: declaration(n); break;
            case node_kind::declarator: out_.put(v_.atom(n)), list(first, end, ""); break;
            case node_kind::range: out_.put('<').put(v_.atom(n)).put('>'); break;
            case node_kind::dimension: out_.put('[').put(v_.atom(n)).put(']'); break;
            case node_kind::initializer: out_.put(" = "), part(first); break;
            case node_kind::field: out_.put(v_.atom(n)).put(" = "), part(first); break;
            case node_kind::generic: out_.put("generic(").put(v_.atom(n)).put(')'); break;
            case node_kind::mask: out_.put(v_.atom(n)).put('('), part(first), out_.put(')'); break;
            case node_kind::align: out_.put(".align ").put(v_.atom(n)); break;
            case node_kind::space:
                out_.put(v_.atom(n));
                if (first != end) out_.put('[').put(v_.atom(first)).put(']');
                break;
            case node_kind::pointer:
                out_.put(".ptr");
                if (first != end) out_.put(' '), list(first, end, " ");
                break;
            case node_kind::attribute_list: out_.put(".attribute("), list(first, end), out_.put(')'); break;
            case node_kind::attribute:
                out_.put(v_.atom(n));
                if (first != end) out_.put('('), list(first, end), out_.put(')');
                break;
            case node_kind::tuning:
                out_.put(v_.atom(n));
                if (first != end) out_.put(' '), list(first, end);
                break;
            case node_kind::text: string(v_.atom(n)); break;
            default: out_.put(v_.atom(n)); break;
        }
    }
    constexpr void string(std::string_view s) {
        out_.put(s);
        for (char c : s) line_ += c == '\n';
    }
    /// Blanks around operators with two operands: `7 % 4` without them would read as the name `%4`.
    constexpr void expression(u32 n) {
        bool after_value = false;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            const bool is_operation = v_.kind(c) == node_kind::operation;
            if (is_operation && after_value)
                out_.put(' ').put(v_.atom(c)).put(' ');
            else
                part(c);
            after_value = !is_operation && v_.kind(c) != node_kind::cast;
        }
    }

    const tree_view& v_;
    text& out_;
    layout layout_;
    node_kind before_ = node_kind::module;
    bool apart_ = false;
    bool open_line_ = false;
    bool alone_ = false;  ///< the open line is a comment: the next one gets a line of its own
    u32 depth_ = 0;
    u32 commented_ = 0;
    u32 line_ = 1;
    ptxdsl::detail::dynarray<u32> lines_;    ///< by token
    ptxdsl::detail::dynarray<u32> closing_;  ///< by token
};

/// Adds `v`, from its nodes alone. The tree must be of a text without errors.
constexpr void print_canonical(const tree_view& v, text& out, layout l = layout::canonical) {
    canonical_printer(v, out, l).run();
}

}  // namespace ptxdsl::ptx
