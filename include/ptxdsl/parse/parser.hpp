// SPDX-License-Identifier: Apache-2.0
// From tokens to the tree. The grammar is that of PTX ISA 9.0 chapters 4, 5, 7, 10 and 11 as ptxas 13.0 reads it: it
// knows no instruction by name but `call` (9.7.12.5), and every construct it does not know is an error.
#pragma once

#include <ptxdsl/parse/lexer.hpp>
#include <ptxdsl/parse/token_cursor.hpp>
#include <ptxdsl/parse/tree.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

class parser : token_cursor {
public:
    /// Deepest nesting of scopes, and (`max_nesting`) of parentheses and initializers.
    static constexpr std::uint32_t max_scopes = 1000;
    using token_cursor::max_nesting;
    /// Errors after which the parser gives up on the rest of the text.
    static constexpr std::uint32_t max_errors = 50;

    constexpr explicit parser(tree& t) noexcept : token_cursor(t) {}

    constexpr void run() {
        const std::uint32_t root = open(node_kind::module);
        if (header())
            while (peek() != kind::end && t_.messages.errors() < max_errors) item();
        close(root);
    }

private:
    // ---- header (11.1) ---------------------------------------------------------------------------------------

    constexpr bool header() {
        u32 n = open(node_kind::version);
        if (!need(kind::version, "'.version'", "at the start of the file")) return false;
        if (peek() != kind::decimal_float || !is_version(word()))
            return expected("a version such as 8.0", "behind '.version'");
        if (!behind_blanks(at_)) return problem("P11", at_, "the version stands on the line of '.version'");
        t_.nodes[n].atom = tok_[at_++].spelling;
        n = open(node_kind::target);
        if (!need(kind::target, "'.target'", "behind '.version'")) return false;
        do {
            if (peek() != kind::identifier) return expected("a target such as sm_90a");
            open_atom(node_kind::word);
        } while (skip(kind::comma));
        close(n);
        if (!names_architecture(n))
            return problem("P11", t_.nodes[n].token + 1, "'.target' names the architecture first: sm_90a");
        if (peek() != kind::address_size) return true;
        n = open(node_kind::address_size);
        ++at_;
        if (peek() != kind::integer) return expected("32 or 64", "behind '.address_size'");
        if (word() != "64" && word() != "32") return problem("P11", at_, "'.address_size' is 32 or 64");
        t_.nodes[n].atom = tok_[at_++].spelling;
        return true;
    }
    [[nodiscard]] static constexpr bool is_version(std::string_view s) noexcept {
        const std::size_t point = s.find('.');
        if (point == 0 || point + 1 >= s.size()) return false;
        for (char c : s)
            if (c != '.' && (c < '0' || c > '9')) return false;
        return true;
    }
    [[nodiscard]] constexpr bool names_architecture(u32 n) const noexcept {
        const std::string_view s = t_.pool.text(t_.nodes[n + 1].atom);
        return s.substr(0, 3) == "sm_" || s.substr(0, 8) == "compute_";
    }

    // ---- module level ----------------------------------------------------------------------------------------

    constexpr void item() {
        const u32 first = t_.nodes.size();
        const u32 begin = at_;
        nesting_ = 0;
        if (!item_or_fail()) recover_item(first, begin);
    }
    constexpr bool item_or_fail() {
        const kind k = peek();
        if (is_linkage(k) || is_space(k) || k == kind::entry || k == kind::func || k == kind::align ||
            k == kind::attribute)
            return linked();
        switch (k) {
            case kind::file: return file();
            case kind::section: return section();
            case kind::pragma: return pragma();
            case kind::alias: return alias();
            case kind::dwarf: return dwarf();
            case kind::version:
                return problem("P12", at_, "'.version' stands once, at the start: this looks like a second module");
            default: return expected("a declaration or function", "at module level");
        }
    }
    /// What a linkage word can stand in front of.
    constexpr bool linked() {
        const u32 n = open(node_kind::declaration);
        const bool has_linkage = is_linkage(peek());
        const bool is_common = peek() == kind::common;
        if (has_linkage) open_atom(node_kind::linkage);
        if (!is_common && (peek() == kind::entry || peek() == kind::func)) return function(n);
        return declaration(n);
    }
    constexpr bool file() {
        const u32 n = open(node_kind::file);
        ++at_;
        if (!number("a file number") || !string()) return false;
        for (int i = 0; i < 2 && skip(kind::comma); ++i)
            if (!number("a number")) return false;
        close(n);
        return true;
    }
    constexpr bool alias() {
        const u32 n = open(node_kind::alias);
        ++at_;
        if (!name("a function name") || !need(kind::comma, "','") || !name("a function name")) return false;
        close(n);
        return need(kind::semicolon, "';'");
    }
    constexpr bool pragma() {
        const u32 n = open(node_kind::pragma);
        ++at_;
        do {
            if (!string()) return false;
        } while (skip(kind::comma));
        close(n);
        return need(kind::semicolon, "';'", "behind '.pragma'");
    }
    constexpr bool number(std::string_view what) {
        if (peek() != kind::integer) return expected(what);
        open_atom(node_kind::number);
        return true;
    }
    constexpr bool string() {
        if (peek() != kind::string) return expected("a string");
        open_atom(node_kind::text);
        return true;
    }
    constexpr bool name(std::string_view what) {
        if (peek() != kind::identifier) return expected(what);
        open_atom(node_kind::name);
        return true;
    }
    /// One `@@DWARF` line of PTX before 2.0.
    constexpr bool dwarf() {
        const u32 n = open(node_kind::dwarf);
        ++at_;
        if (peek() == kind::identifier && ahead() == kind::colon) {
            open_atom(node_kind::label);
            ++at_;
        } else if (peek() == kind::section) {
            open_atom(node_kind::word);
            if (!starts_with_dot(peek())) return expected("the name of a section");
            open_atom(node_kind::word);
            if (skip(kind::comma)) {
                if (!string() || !need(kind::comma, "','") || !need(kind::at, "'@progbits'")) return false;
                if (peek() != kind::identifier || word() != "progbits") return expected("'@progbits'");
                ++at_;
            }
        } else {
            if (word() != ".byte" && word() != ".4byte" && word() != ".quad")
                return expected("'.byte', '.4byte', '.quad', '.section' or a label");
            open_atom(node_kind::word);
            do {
                if (peek() != kind::integer && peek() != kind::identifier && !starts_with_dot(peek()))
                    return expected("a number or a label");
                open_atom(node_kind::number);
            } while (skip(kind::comma));
        }
        close(n);
        return true;
    }

    // ---- debug sections (11.5.4) -----------------------------------------------------------------------------

    constexpr bool section() {
        const u32 n = open(node_kind::section);
        ++at_;
        if (peek() != kind::dot_word) return expected("the name of a section");
        t_.nodes[n].atom = tok_[at_++].spelling;
        if (!need(kind::left_brace, "'{'")) return false;
        while (!skip(kind::right_brace)) {
            if (peek() == kind::identifier && ahead() == kind::colon) {
                open_atom(node_kind::label);
                ++at_;
            } else if (!section_data()) {
                return false;
            }
        }
        close(n);
        return true;
    }
    constexpr bool section_data() {
        if (peek() != kind::type) return expected("'.b8', '.b16', '.b32', '.b64', a label or '}'", "in a section");
        const std::string_view w = word();
        if (w != ".b8" && w != ".b16" && w != ".b32" && w != ".b64") return expected("'.b8', '.b16', '.b32' or '.b64'");
        const u32 n = open_atom(node_kind::section_data);
        if (peek() == kind::integer || peek() == kind::minus) {
            do {
                const bool minus = skip(kind::minus);
                if (peek() != kind::integer) return expected("an integer");
                open_atom(minus ? node_kind::negative : node_kind::number);
            } while (skip(kind::comma));
        } else if (!section_address()) {
            return false;
        }
        close(n);
        return true;
    }
    /// `label`, `label+4`, `label-label`, `.section`, `.section+4`.
    constexpr bool section_address() {
        const bool is_label = peek() == kind::identifier;
        if (!is_label && peek() != kind::dot_word) return expected("a number, a label or a section");
        const u32 n = open_atom(node_kind::name);
        if (is_label && skip(kind::minus)) {
            t_.nodes[n].kind = node_kind::difference;
            if (!name("a label")) return false;
            close(n);
        } else if (skip(kind::plus)) {
            wrap(n, node_kind::offset);
            if (!number("a number")) return false;
            close(n);
        }
        return true;
    }

    // ---- declarations (5.1, 5.4, 11.6) -----------------------------------------------------------------------

    constexpr bool attributes_and_align() {
        for (;;) {
            if (peek() == kind::align) {
                if (!align()) return false;
            } else if (peek() == kind::attribute) {
                if (!attribute_list()) return false;
            } else {
                return true;
            }
        }
    }
    constexpr bool align() {
        const u32 n = open(node_kind::align);
        ++at_;
        if (peek() != kind::integer) return expected("a number of bytes", "behind '.align'");
        t_.nodes[n].atom = tok_[at_++].spelling;
        return true;
    }
    constexpr bool attribute_list() {
        const u32 n = open(node_kind::attribute_list);
        ++at_;
        if (!need(kind::left_paren, "'('")) return false;
        do {
            if (!starts_with_dot(peek())) return expected("an attribute such as .managed");
            const u32 a = open_atom(node_kind::attribute);
            if (skip(kind::left_paren)) {
                do {
                    if (!number("a number")) return false;
                } while (skip(kind::comma));
                if (!need(kind::right_paren, "')'")) return false;
            }
            close(a);
        } while (skip(kind::comma));
        close(n);
        return need(kind::right_paren, "')'");
    }
    constexpr bool space() {
        if (!is_space(peek())) return expected("a state space such as .global");
        const bool constant = peek() == kind::const_;
        const u32 n = open_atom(node_kind::space);
        if (constant && skip(kind::left_bracket)) {
            if (!number("the number of a constant bank") || !need(kind::right_bracket, "']'")) return false;
        }
        close(n);
        return true;
    }
    constexpr bool element_type() {
        if (peek() == kind::vector) open_atom(node_kind::vector_type);
        if (peek() != kind::type) return expected("a type such as .b32", "in a declaration");
        open_atom(node_kind::type);
        return true;
    }
    /// `n` is open and has its linkage.
    constexpr bool declaration(u32 n) {
        if (!attributes_and_align() || !space() || !attributes_and_align() || !element_type()) return false;
        do {
            if (!declarator()) return false;
        } while (skip(kind::comma));
        close(n);
        return need(kind::semicolon, "';'", "behind the declaration");
    }
    constexpr bool declarator() {
        if (peek() != kind::identifier) return expected("a name", "in a declaration");
        const u32 n = open_atom(node_kind::declarator);
        if (peek() == kind::less) {
            if (!range()) return false;
        } else {
            if (!dimensions()) return false;
        }
        if (skip(kind::equal)) {
            const u32 i = open(node_kind::initializer);
            if (!initial_value()) return false;
            close(i);
        }
        close(n);
        return true;
    }
    constexpr bool range() {
        ++at_;
        if (peek() != kind::integer) return expected("a number", "behind '<'");
        open_atom(node_kind::range);
        return need(kind::greater, "'>'");
    }
    constexpr bool dimensions() {
        while (skip(kind::left_bracket)) {
            if (peek() == kind::integer)
                open_atom(node_kind::dimension);
            else
                open(node_kind::dimension);
            if (!need(kind::right_bracket, "']'")) return false;
        }
        return true;
    }

    // ---- initial values (5.4.4, 5.4.5) -----------------------------------------------------------------------

    constexpr bool initial_value() {
        if (peek() == kind::left_brace) return aggregate();
        if (peek() == kind::identifier) {
            if (ahead() == kind::equal) return field();
            return symbol_value();
        }
        if (peek() == kind::integer && ahead() == kind::left_paren) return mask();
        return constant();
    }
    constexpr bool aggregate() {
        if (++nesting_ > max_nesting) return problem("P13", at_, "nested too deeply");
        const u32 n = open(node_kind::aggregate);
        ++at_;
        if (peek() != kind::right_brace) {
            do {
                if (!initial_value()) return false;
            } while (skip(kind::comma));
        }
        close(n);
        --nesting_;
        return need(kind::right_brace, "',' or '}'", "in an initializer");
    }
    /// `width = 4`: samplers, textures and surfaces.
    constexpr bool field() {
        const u32 n = open_atom(node_kind::field);
        ++at_;
        if (peek() == kind::identifier)
            open_atom(node_kind::name);
        else if (!constant())
            return false;
        close(n);
        return true;
    }
    /// `name`, `generic(name)`, either with `+4`.
    constexpr bool symbol_value() {
        const u32 n = t_.nodes.size();
        if (word() == "generic" && ahead() == kind::left_paren) {
            if (!generic()) return false;
        } else {
            open_atom(node_kind::name);
        }
        return added(n);
    }
    constexpr bool generic() {
        const u32 n = open(node_kind::generic);
        at_ += 2;
        if (peek() != kind::identifier) return expected("a variable", "in generic()");
        t_.nodes[n].atom = tok_[at_++].spelling;
        return need(kind::right_paren, "')'");
    }
    /// `+ constant` behind the subtree at `n`, if there is one.
    constexpr bool added(u32 n) {
        if (!skip(kind::plus)) return true;
        wrap(n, node_kind::offset);
        if (!constant()) return false;
        close(n);
        return true;
    }
    /// `0xff00(name)`: one byte of an address.
    constexpr bool mask() {
        const u32 n = open_atom(node_kind::mask);
        ++at_;
        if (peek() == kind::identifier) {
            if (!symbol_value()) return false;
        } else if (!constant()) {
            return false;
        }
        close(n);
        return need(kind::right_paren, "')'");
    }

    // ---- functions (11.2, 11.4) ------------------------------------------------------------------------------

    constexpr bool function(u32 n) {
        const bool is_entry = peek() == kind::entry;
        t_.nodes[n].kind = is_entry ? node_kind::entry : node_kind::function;
        ++at_;
        if (!is_entry) {
            if (peek() == kind::attribute && !attribute_list()) return false;
            if (peek() == kind::left_paren && !parameter_list(node_kind::results)) return false;
        }
        if (peek() != kind::identifier) return expected("the name of the function");
        t_.nodes[n].atom = tok_[at_++].spelling;
        if (peek() == kind::left_paren && !parameter_list(node_kind::parameters)) return false;
        while (is_tuning(peek()) || (is_entry && peek() == kind::pragma)) {
            if (peek() == kind::pragma ? !pragma() : !tuning(is_entry)) return false;
        }
        if (skip(kind::semicolon)) {
            close(n);
            return true;
        }
        if (!is_entry && ends_prototype(peek())) {
            close(n);
            return true;
        }
        if (peek() != kind::left_brace) return expected("'{' or ';'", "behind the head of a function");
        body();
        close(n);
        return true;
    }
    /// ptxas takes prototypes of device functions without their semicolon.
    [[nodiscard]] static constexpr bool ends_prototype(kind k) noexcept {
        return k == kind::end || is_linkage(k) || is_space(k) || k == kind::entry || k == kind::func ||
               k == kind::section || k == kind::file;
    }
    constexpr bool parameter_list(node_kind k) {
        const u32 n = open(k);
        ++at_;
        if (peek() != kind::right_paren) {
            do {
                if (!parameter()) return false;
            } while (skip(kind::comma));
        }
        close(n);
        return need(kind::right_paren, "',' or ')'", "in a parameter list");
    }
    /// `.param .u64 .ptr .global .align 16 p`, `.param .align 8 .b8 s[16]`, `.reg .f32 x`.
    constexpr bool parameter() {
        const u32 n = open(node_kind::parameter);
        if (!attributes_and_align() || !space() || !attributes_and_align() || !element_type()) return false;
        if (peek() == kind::ptr) {
            const u32 p = open(node_kind::pointer);
            ++at_;
            const kind k = peek();
            if (k == kind::global || k == kind::shared || k == kind::const_ || k == kind::local)
                open_atom(node_kind::space);
            if (peek() == kind::align && !align()) return false;
            close(p);
        } else if (peek() == kind::align && !align()) {
            return false;
        }
        if (peek() != kind::identifier && peek() != kind::underscore) return expected("the name of the parameter");
        const u32 d = open_atom(node_kind::declarator);
        if (!dimensions()) return false;
        close(d);
        close(n);
        return true;
    }
    constexpr bool tuning(bool of_entry) {
        const kind k = peek();
        const bool of_function = k == kind::noreturn || k == kind::abi_preserve || k == kind::abi_preserve_control;
        if (of_entry == of_function)
            return expected(of_entry ? "'{' or a directive of kernels" : "'{', ';' or a directive of functions");
        const u32 n = open_atom(node_kind::tuning);
        const int most = k <= kind::reqnctapercluster ? 3 : k <= kind::abi_preserve_control ? 1 : 0;
        for (int i = 0; i < most; ++i) {
            if (i != 0 && !skip(kind::comma)) break;
            if (!number("a number")) return false;
        }
        close(n);
        return true;
    }

    // ---- statements ------------------------------------------------------------------------------------------

    /// A function's body with all scopes in it; opened scopes are kept in `scopes_`, not on the call stack.
    constexpr void body() {
        scopes_.truncate(0);
        begin_scope();
        while (scopes_.size() != 0) {
            if (peek() == kind::right_brace) {
                close(scopes_.back());
                scopes_.pop_back();
                ++at_;
            } else if (peek() == kind::end || t_.messages.errors() >= max_errors) {
                return unclosed();
            } else if (peek() == kind::left_brace) {
                if (scopes_.size() >= max_scopes)
                    return static_cast<void>(problem("P13", at_, "scopes nested too deeply")), unclosed();
                begin_scope();
            } else if (starts_module_item()) {
                expected("'}'", "to close the function before the next one");
                return unclosed();
            } else {
                statement();
            }
        }
    }
    constexpr void begin_scope() {
        scopes_.push_back(open(node_kind::body));
        ++at_;
    }
    constexpr void unclosed() {
        if (peek() == kind::end) {
            const token& brace = tok_[t_.nodes[scopes_.back()].token];
            expected("'}'");
            t_.messages.add(severity::note, "P10", brace.offset, 1, "to match this '{'");
        }
        for (; scopes_.size() != 0; scopes_.pop_back()) close(scopes_.back());
        if (t_.messages.errors() >= max_errors) at_ = t_.tokens.size() - 1;
    }
    [[nodiscard]] constexpr bool starts_module_item() const noexcept {
        if (is_linkage(peek())) return ahead() == kind::entry || ahead() == kind::func;
        return peek() == kind::entry || peek() == kind::func;
    }
    constexpr void statement() {
        const u32 first = t_.nodes.size();
        const u32 begin = at_;
        if (statement_or_fail()) return;
        recover(first, begin);
        nesting_ = 0;
    }
    constexpr bool statement_or_fail() {
        switch (peek()) {
            case kind::identifier:
                if (ahead() != kind::colon) return instruction();
                return label();
            case kind::at: return instruction();
            case kind::loc: return loc();
            case kind::pragma: return pragma();
            case kind::alias: return alias();
            case kind::align:
            case kind::attribute: return declaration(open(node_kind::declaration));
            default:
                if (is_space(peek())) return declaration(open(node_kind::declaration));
                return expected("an instruction, a label, a declaration or '}'");
        }
    }
    constexpr bool label() {
        open_atom(node_kind::label);
        ++at_;
        switch (peek()) {
            case kind::branchtargets: return branch_targets();
            case kind::calltargets: return call_targets();
            case kind::callprototype: return call_prototype();
            default: return true;
        }
    }
    constexpr bool branch_targets() {
        const u32 n = open(node_kind::branch_targets);
        ++at_;
        do {
            if (peek() != kind::identifier) return expected("a label", "in '.branchtargets'");
            const u32 d = open_atom(node_kind::declarator);
            if (peek() == kind::less && !range()) return false;
            close(d);
        } while (skip(kind::comma));
        close(n);
        return need(kind::semicolon, "',' or ';'", "in '.branchtargets'");
    }
    constexpr bool call_targets() {
        const u32 n = open(node_kind::call_targets);
        ++at_;
        do {
            if (!name("a function")) return false;
        } while (skip(kind::comma));
        close(n);
        return need(kind::semicolon, "',' or ';'", "in '.calltargets'");
    }
    constexpr bool call_prototype() {
        const u32 n = open(node_kind::call_prototype);
        ++at_;
        if (peek() == kind::left_paren && !parameter_list(node_kind::results)) return false;
        if (!need(kind::underscore, "'_'", "in '.callprototype'")) return false;
        if (peek() == kind::left_paren && !parameter_list(node_kind::parameters)) return false;
        while (is_tuning(peek()))
            if (!tuning(false)) return false;
        close(n);
        return need(kind::semicolon, "';'", "behind '.callprototype'");
    }
    /// `.loc 1 2 3`, with `, function_name L+4, inlined_at 1 2 3` (11.5.3). No semicolon.
    constexpr bool loc() {
        const u32 n = open(node_kind::loc);
        ++at_;
        if (!number("a file number") || !number("a line number") || !number("a column")) return false;
        if (skip(kind::comma)) {
            const u32 i = open(node_kind::inlined);
            if (!need(kind::function_name, "'function_name'")) return false;
            if (peek() != kind::identifier) return expected("a label", "behind 'function_name'");
            t_.nodes[i].atom = tok_[at_++].spelling;
            if (skip(kind::plus)) {
                if (!number("a number")) return false;
                t_.nodes[i].flags = node::has_offset;
            }
            if (!need(kind::comma, "','") || !need(kind::inlined_at, "'inlined_at'")) return false;
            if (!number("a file number") || !number("a line number") || !number("a column")) return false;
            close(i);
        }
        close(n);
        return true;
    }

    // ---- instructions (4.3.2, chapter 6, 9.3) ----------------------------------------------------------------

    constexpr bool instruction() {
        const u32 n = open(node_kind::instruction);
        if (skip(kind::at)) {
            const bool negated = skip(kind::exclamation);
            if (peek() != kind::identifier) return expected("a predicate", "behind '@'");
            t_.nodes[open_atom(node_kind::guard)].flags = negated ? node::negated : 0;
            if (peek() != kind::identifier) return expected("an instruction", "behind its predicate");
        }
        t_.nodes[n].atom = tok_[at_].spelling;
        const bool is_call = word() == "call";
        ++at_;
        while (is_modifier(peek())) open_atom(node_kind::modifier);
        if (is_call) {
            if (!call_operands()) return false;
        } else if (peek() != kind::semicolon) {
            if (!operand(true)) return false;
            while (skip(kind::comma))
                if (!operand(false)) return false;
        }
        close(n);
        return need(kind::semicolon, "',' or ';'", "behind an operand");
    }
    /// `(results), function, (arguments), prototype`; all but the function may be left out.
    constexpr bool call_operands() {
        if (peek() == kind::left_paren && (!argument_list(true) || !need(kind::comma, "','"))) return false;
        if (!name("the function to call")) return false;
        if (!skip(kind::comma)) return true;
        if (peek() == kind::left_paren) {
            if (!argument_list(false)) return false;
            if (!skip(kind::comma)) return true;
        }
        return name("a list of arguments, a prototype or a list of targets");
    }
    constexpr bool argument_list(bool results) {
        const u32 n = open(node_kind::arguments);
        ++at_;
        if (peek() != kind::right_paren) {
            do {
                if (peek() == kind::identifier)
                    open_atom(node_kind::name);
                else if (results && peek() == kind::underscore)
                    sink();
                else if (results)
                    return expected("a register, a parameter or '_'");
                else if (!constant())
                    return false;
            } while (skip(kind::comma));
        }
        close(n);
        return need(kind::right_paren, "',' or ')'", "in a call");
    }
    constexpr void sink() {
        open(node_kind::sink);
        ++at_;
    }

    /// The first operand may be `_` and a pair: PTX writes `p|q` for results only.
    constexpr bool operand(bool first) {
        const u32 n = t_.nodes.size();
        switch (peek()) {
            case kind::identifier: return name_operand(first);
            case kind::underscore:
                if (!first) return expected("an operand");
                sink();
                return second(n, false);
            case kind::left_brace: return vector() && (!first || second(n, false));
            case kind::left_bracket: return address();
            case kind::exclamation:
            case kind::minus:
                if (ahead() != kind::identifier) return constant();
                open(peek() == kind::minus ? node_kind::negation : node_kind::complement);
                ++at_;
                register_name();
                close(n);
                return true;
            default: return constant();
        }
    }
    /// `a`, `a.x`.
    constexpr void register_name() {
        const u32 n = open_atom(node_kind::name);
        if (!is_component()) return;
        open_atom(node_kind::component);
        close(n);
    }
    /// `.x` … `.a` of a vector register, `.b0` … `.h32` of a video instruction.
    [[nodiscard]] constexpr bool is_component() const noexcept {
        if (peek() != kind::dot_word && peek() != kind::type) return false;
        const std::string_view s = word();
        if (s.size() == 2) return s.find_first_of("xyzwrgba", 1) == 1;
        const bool bytes = s[1] == 'b';
        if (!bytes && s[1] != 'h') return false;
        for (char c : s.substr(2))
            if (c < '0' || c > (bytes ? '7' : '3')) return false;
        return s.size() <= 6;
    }
    constexpr bool name_operand(bool first) {
        const u32 n = t_.nodes.size();
        register_name();
        if (t_.nodes[n].end != n + 1) return true;
        if (first && peek() == kind::bar) return second(n, true);
        if (peek() == kind::plus) return added(n);
        if (peek() == kind::left_bracket) return index(n);
        return true;
    }
    /// `|q` behind the subtree at `n`, if there is one. `p|_` is an operand, `_|_` is none.
    constexpr bool second(u32 n, bool takes_sink) {
        if (!skip(kind::bar)) return true;
        wrap(n, node_kind::pair);
        if (takes_sink && peek() == kind::underscore) {
            sink();
            close(n);
            return true;
        }
        if (peek() != kind::identifier) return expected("a register", "behind '|'");
        register_name();
        close(n);
        return true;
    }
    constexpr bool index(u32 n) {
        wrap(n, node_kind::index);
        ++at_;
        if (!name_or_constant()) return false;
        close(n);
        return need(kind::right_bracket, "']'", "behind an index");
    }
    /// `a`, `a+4`, `4`.
    constexpr bool name_or_constant() {
        if (peek() != kind::identifier) return constant();
        const u32 n = open_atom(node_kind::name);
        return added(n);
    }
    constexpr bool vector() {
        const u32 n = open(node_kind::vector);
        ++at_;
        do {
            if (peek() == kind::identifier)
                register_name();
            else if (peek() == kind::underscore)
                sink();
            else if (!constant())
                return false;
        } while (skip(kind::comma));
        close(n);
        return need(kind::right_brace, "',' or '}'", "in a vector");
    }
    /// `[a]`, `[a+4]`, `[4]`; for textures and tensors `[t, {x, y}]`, `[t, s, {x, y}]`, `[t, x]`.
    constexpr bool address() {
        const u32 n = open(node_kind::address);
        ++at_;
        if (!name_or_constant()) return false;
        const bool plain = t_.nodes[n + 1].kind == node_kind::name;
        if (plain && skip(kind::comma) && !coordinates()) return false;
        close(n);
        if (!need(kind::right_bracket, plain ? "'+', ',' or ']'" : "']'", "in an address")) return false;
        if (peek() != kind::dot_word || word() != ".unified") return true;
        open_atom(node_kind::component);
        close(n);
        return true;
    }
    constexpr bool coordinates() {
        if (peek() == kind::left_brace) return vector();
        if (!name("coordinates")) return false;
        if (!skip(kind::comma)) return true;
        if (peek() != kind::left_brace) return expected("'{'", "before the coordinates");
        if (!vector()) return false;
        if (!skip(kind::comma)) return true;
        if (peek() != kind::left_brace) return expected("'{'");
        return vector();
    }

    ptxdsl::detail::dynarray<u32> scopes_;
};

/// Reads PTX text into `t`. `keep_trivia` is needed to print the bytes back.
constexpr void read(std::string_view source, tree& t, bool keep_trivia = true) {
    if (source.size() > lexer::max_size) {
        t.messages.add(severity::error, "P14", 0, 0, "the text is longer than 1 GiB");
        t.nodes.push_back({node_kind::module, 0, 0, 0, 1});
        t.tokens.push_back({});
        return;
    }
    lexer(source, t.pool, t.tokens, t.messages, keep_trivia).run();
    parser(t).run();
    t.messages.sort();
}

}  // namespace ptxdsl::ptx
