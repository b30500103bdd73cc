// SPDX-License-Identifier: Apache-2.0
// Checks a parsed module against the instruction table: every name is declared, every instruction has the modifiers and
// operands of a form that its target and PTX version have.
#pragma once

#include <ptxdsl/isa/special_registers.hpp>
#include <ptxdsl/isa/table.hpp>
#include <ptxdsl/parse/check_calls.hpp>
#include <ptxdsl/parse/check_lines.hpp>
#include <ptxdsl/parse/kernel_facts.hpp>
#include <ptxdsl/parse/symbols.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

namespace detail {

/// The word of ptxas that the PTX ISA does not have; ptxas alone judges it.
[[nodiscard]] constexpr bool is_outside_table(std::string_view opcode) noexcept {
    using namespace std::string_view_literals;
    return opcode == "_warpsync"sv;
}

/// Finds an order of the modifiers that a form has; PTX in the wild has them in any. Tries each form once: every word
/// of its pattern takes the first modifier left that fits. Types and state spaces keep their order, which has a
/// meaning: `cvt.u32.f32` and `cvt.f32.u32`, destination and source space of a copy.
struct reordering {
    static constexpr unsigned most = 24;
    isa::tok result[most] = {};
    unsigned count = 0;

    constexpr bool try_form(const isa::detail::row_view& row, const isa::tok* t, unsigned n) noexcept {
        bool used[most] = {};
        count = 1;
        result[0] = t[0];
        last_type_ = last_space_ = 0;
        return place(row.pattern, row.pattern_end, t, n, used, false) && count == n;
    }

private:
    /// In an optional group the words are placed when its first one finds its modifier.
    constexpr bool place(const char16_t* p, const char16_t* end, const isa::tok* t, unsigned n, bool* used,
                         bool optional) noexcept {
        bool first = true;
        while (p != end) {
            const unsigned word = *p++;
            if ((word & isa::detail::word_optional) != 0) {
                const char16_t* const group_end = p + (word & 0xffu);
                if (!place(p, group_end, t, n, used, true)) return false;
                p = group_end;
                continue;
            }
            unsigned i = 1;
            while (i < n && (used[i] || !isa::detail::word_takes(word, t[i]))) ++i;
            if (i == n) {
                if (optional && first) return true;
                return false;
            }
            if (!keeps_order(t[i], i)) return false;
            first = false;
            used[i] = true;
            result[count++] = t[i];
        }
        return true;
    }
    constexpr bool keeps_order(isa::tok t, unsigned i) noexcept {
        const bool is_type = isa::token_type(t) != isa::scalar::none;
        if (!is_type && !is_space(t)) return true;
        unsigned& last = is_type ? last_type_ : last_space_;
        if (i < last) return false;
        last = i;
        return true;
    }
    [[nodiscard]] static constexpr bool is_space(isa::tok t) noexcept {
        using isa::tok;
        return t == tok::global || t == tok::shared || t == tok::shared__cta || t == tok::shared__cluster ||
               t == tok::const_ || t == tok::local || t == tok::param;
    }

    unsigned last_type_ = 0;
    unsigned last_space_ = 0;
};

}  // namespace detail

/// One checking pass over a tree without syntax errors.
class checker {
public:
    constexpr checker(const tree_view& v, diagnostics& out)
        : v_(v), out_(out), names_(v), target_(v.target()), version_(v.version()) {
        outside_.resize(v.n_words, 0);
    }

    constexpr void run() {
        header();
        passes_all_ = detail::has_several_results(v_);
        for (u32 c = 1; c < v_[0].end; c = v_[c].end) {
            switch (v_.kind(c)) {
                case node_kind::declaration: declaration(c); break;
                case node_kind::entry:
                case node_kind::function: function(c); break;
                case node_kind::alias: known(c + 1), known(c + 2); break;
                case node_kind::dwarf:
                    if (version_ >= ptx_version{2, 0}) error("P35", c, "'@@DWARF' ended with PTX 1.x; use '.section'");
                    break;
                default: break;
            }
        }
        detail::check_inlined(
            v_, [&](u32 n) { error("P37", n, "inlined code comes from a place that no '.loc' before it has"); });
    }

private:
    using u32 = std::uint32_t;
    using tok = isa::tok;
    static constexpr unsigned max_operands = 20;
    static constexpr ptx_version newest_version{9, 0};

    // ---- messages --------------------------------------------------------------------------------------------

    template <class... Parts>
    constexpr void error(const char (&id)[4], u32 node, const Parts&... parts) {
        out_.add(severity::error, id, v_.offset(node), v_.token_length(node), parts...);
    }
    template <class... Parts>
    constexpr void warning(const char (&id)[4], u32 node, const Parts&... parts) {
        out_.add(severity::warning, id, v_.offset(node), v_.token_length(node), parts...);
    }

    // (clang evaluates templates of a class only when they are defined before their first use in it)
    template <class... Parts>
    constexpr void spelled(const char (&id)[4], u32 n, const Parts&... parts) {
        text opcode;
        spell(n, opcode);
        const u32 at = v_.has_children(n) && v_.kind(n + 1) == node_kind::guard ? opcode_token(n) : v_[n].token;
        out_.add(severity::error, id, v_.tokens[at].offset, v_.words[v_.tokens[at].spelling].size, "'", opcode.view(),
                 parts...);
    }
    /// The opcode stands behind `@p` or `@!p`.
    [[nodiscard]] constexpr u32 opcode_token(u32 n) const noexcept { return v_[n + 1].token + 1; }
    constexpr void spell(u32 n, text& out) const {
        out.put(v_.atom(n));
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
            if (v_.kind(c) == node_kind::modifier) out.put(v_.atom(c));
    }

    constexpr void header() {
        const u32 t = v_.child(0, node_kind::target);
        const u32 a = v_.child(0, node_kind::address_size);
        address_64_ = a == 0 || v_.atom(a) == "64";
        if (a != 0 && version_ < ptx_version{2, 3}) error("P27", a, "'.address_size' needs .version 2.3");
        if (!address_64_ && target_.has_addresses_32())
            warning("P28", a, "ptxas 13 assembles no modules with 32-bit addresses any more");
        for (u32 w = t + 2; w < v_[t].end; ++w)
            if (v_.atom(w) == "debug" && !detail::has_debug_section(v_))
                error("P37", w, "'debug' promises a debug section, which this module has not");
        if (!address_64_ && !target_.has_addresses_32())
            error("P28", a, "target ", v_.atom(t + 1), " has no 32-bit addresses");
        if (!target_.known()) return warning("P30", t + 1, "unknown target '", v_.atom(t + 1), "'");
        if (const ptxdsl::target now = target_.assembled_as(); now != target_)
            warning("P28", t + 1, "ptxas 13 knows no GPU ", v_.atom(t + 1), " any more; it assembles this text for sm_",
                    u32{now.sm},
                    now.suffix == 'a'   ? "a"
                    : now.suffix == 'f' ? "f"
                                        : "");
        if (newest_version < version_)
            warning("P30", 1, ".version ", v_.atom(1), " is newer than what is known, ", u32{newest_version.major}, '.',
                    u32{newest_version.minor}, "; ptxas 13.0 takes no such text");
        if (version_ < target_.floor()) {
            const ptx_version f = target_.floor();
            error("A12", t + 1, ".version ", v_.atom(1), " does not know target ", v_.atom(t + 1), "; it needs ",
                  u32{f.major}, '.', u32{f.minor});
        }
    }

    // ---- declarations ----------------------------------------------------------------------------------------

    [[nodiscard]] static constexpr ptxdsl::space space_named(std::string_view s) noexcept {
        if (s == ".global") return space::global;
        if (s == ".shared") return space::shared;
        if (s == ".const") return space::constant;
        if (s == ".local") return space::local;
        if (s == ".param") return space::param;
        return space::generic;
    }
    /// Reads what stands in front of the names and declares them.
    constexpr void declaration(u32 n) {
        symbol s;
        if (const u32 l = v_.child(n, node_kind::linkage)) may_be_open_ = v_.atom(l) == ".extern";
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            switch (v_.kind(c)) {
                case node_kind::space:
                    s.kind = v_.atom(c) == ".reg" ? symbol_kind::reg : symbol_kind::variable;
                    s.sp = space_named(v_.atom(c));
                    break;
                case node_kind::vector_type: s.vector = static_cast<std::uint8_t>(v_.atom(c)[2] - '0'); break;
                case node_kind::type:
                    s.type = scalar_named(v_.atom(c));
                    if (s.type == isa::scalar::none && !without_body_) opaque(c, s, n);
                    break;
                case node_kind::align: alignment(c); break;
                case node_kind::declarator: declarator(c, s); break;
                default: break;
            }
        }
        may_be_open_ = false;
    }
    /// `.texref`, `.samplerref`, `.surfref` (5.3): variables of the module, or parameters of a kernel.
    constexpr void opaque(u32 n, const symbol& s, u32 declaration) {
        const u32 d = v_.child(declaration, node_kind::declarator);
        if (d != 0 && v_.child(d, node_kind::dimension) != 0) return;
        if (s.vector != 1)
            error("P32", n, "'", v_.atom(n), "' has no vectors");
        else if (v_.atom(n) == ".samplerref" && !is_independent())
            error("P32", n, "'.samplerref' needs '.target texmode_independent'");
        else if (s.kind == symbol_kind::reg || (depth_ == 0 ? s.sp != space::global : !of_entry_))
            error("P32", n, "'", v_.atom(n),
                  "' is the type of a '.global' variable of the module or of a kernel's '.param'");
    }
    [[nodiscard]] constexpr bool is_independent() const noexcept {
        const u32 t = v_.child(0, node_kind::target);
        for (u32 w = t + 1; t != 0 && w < v_[t].end; ++w)
            if (v_.atom(w) == "texmode_independent") return true;
        return false;
    }
    /// Vectors have 128 bits at most and no predicates (5.4.2); parameters are scalars or arrays of them.
    constexpr void vector_variable(u32 n, const symbol& s) {
        if (s.type == isa::scalar::pred)
            error("P32", n, "'", v_.atom(n), "': predicates have no vectors");
        else if (isa::bits(s.type) * s.vector > 128)
            error("P32", n, "vector '", v_.atom(n), "' has ", u32{isa::bits(s.type) * s.vector},
                  " bits; 128 are possible");
        else if (s.sp == space::param)
            error("P32", n, "'.param' variable '", v_.atom(n), "' cannot be a vector; an array can hold one");
    }
    constexpr void alignment(u32 n) {
        const std::uint64_t a = integer_value(v_.atom(n));
        if (a == 0 || (a & (a - 1)) != 0) error("P31", n, "an alignment is a power of two, not ", v_.atom(n));
    }
    constexpr void declarator(u32 n, symbol s) {
        if (v_.atom(n) == "_") return error("P34", n, "only the parameters of a '.callprototype' have no name");
        s.name = v_[n].atom;
        s.node = n;
        const u32 range = v_.child(n, node_kind::range);
        const bool array = v_.child(n, node_kind::dimension) != 0;
        if (range != 0) s.range = range_of(range);
        // PTX ISA 7.1: the ABI has neither; ptxas says so of any text of PTX 3.0 or later.
        if (depth_ == 0 && version_ >= ptx_version{3, 0} && (s.kind == symbol_kind::reg || s.sp == space::local))
            error("P32", n, s.kind == symbol_kind::reg ? "register '" : "'.local' variable '", v_.atom(n),
                  "' lies outside of a function; since PTX 3.0 it is declared in one");
        if (s.kind == symbol_kind::reg && array) error("P32", n, "register '", v_.atom(n), "' cannot be an array");
        if (s.vector != 1) vector_variable(n, s);
        if (of_entry_ && s.sp != space::param)
            error("P32", n, "parameter '", v_.atom(n), "' of a kernel lies in '.param'");
        else if (s.sp == space::param && s.vector == 1 && !array && !without_body_ && isa::name(s.type) == "f16x2")
            error("P32", n, "'.param' variable '", v_.atom(n), "' cannot be of type .f16x2; use .b32");
        if (s.kind != symbol_kind::reg && s.type == isa::scalar::pred)
            error("P32", n, "predicates are registers: '", v_.atom(n), "' lies in memory");
        const u32 i = v_.child(n, node_kind::initializer);
        // `[]` has its size from the initial value, or from elsewhere (5.4.3, 5.4.4).
        if (const u32 d = v_.child(n, node_kind::dimension); d != 0 && v_[d].atom == 0 && i == 0 && !may_be_open_)
            error("P36", n, "array '", v_.atom(n), "' has no size");
        if (i != 0) {
            if (s.kind == symbol_kind::reg ||
                (s.sp != space::global && s.sp != space::constant && s.sp != space::generic))
                error("P33", n, "only .global and .const variables have initial values");
            initial_value(i + 1, s.type);
        }
        add(s);
    }
    constexpr u32 range_of(u32 n) {
        const std::uint64_t count = integer_value(v_.atom(n));
        if (count == 0) error("P32", n, "a range has at least one register");
        return count > 0x7fffffffu ? 0x7fffffffu : count == 0 ? 1 : static_cast<u32>(count);
    }
    [[nodiscard]] static constexpr bool holds_address(isa::scalar t) noexcept {
        return t == isa::scalar::u64 || t == isa::scalar::u32 || t == isa::scalar::u8 || t == isa::scalar::none;
    }
    /// Floats for floats, integers for integers; `.b32` takes either (5.4.4).
    constexpr void initial_value(u32 n, isa::scalar type) {
        const bool is_float = type == isa::scalar::f32 || type == isa::scalar::f64;
        for (u32 c = n; c < v_[n].end; ++c) {
            const node_kind k = v_.kind(c);
            if (k == node_kind::field) return;
            if ((k == node_kind::name || k == node_kind::generic || k == node_kind::mask) && !holds_address(type))
                return error("P33", c, "an address initialises variables of type .u64, .u32 or .u8, not .",
                             isa::name(type));
            if (k == node_kind::name || k == node_kind::generic) known(c);
            if (k != node_kind::literal && k != node_kind::expression && k != node_kind::group) continue;
            if (is_float && !constant_reader(v_).of(c).is_float)
                error("P33", c, "a variable of type .", isa::name(type),
                      " is initialised by a float: write 1.0, not 1");
            c = v_[c].end - 1;
        }
    }
    constexpr void add(const symbol& s) {
        const u32 before = names_.declare(s);
        if (before == symbol_table::none) return;
        const symbol& other = names_[before];
        const bool redeclared = other.kind == s.kind && (s.kind == symbol_kind::function ||
                                                         (other.type == s.type && other.sp == s.sp && depth_ == 0));
        if (redeclared) return;
        error("P20", s.node, s.kind >= symbol_kind::label ? "label '" : "'", v_.word(s.name),
              "' is declared twice in this scope");
    }

    // ---- functions -------------------------------------------------------------------------------------------

    constexpr void function(u32 n) {
        symbol s;
        s.kind = symbol_kind::function;
        s.name = v_[n].atom, s.node = n;
        s.type = isa::scalar::b64;
        add(s);
        names_.open_scope();
        ++depth_;
        without_body_ = v_.child(n, node_kind::body) == 0;  // ptxas looks at such parameters where they are used
        for (node_kind k : {node_kind::results, node_kind::parameters})
            if (const u32 list = v_.child(n, k)) {
                if (k == node_kind::results && v_.children(list) > 1) several_results(list);
                for (u32 c = list + 1; c < v_[list].end; c = v_[c].end) {
                    // the last parameter of a function takes what is left (7.1.1)
                    may_be_open_ =
                        k == node_kind::parameters && v_.kind(n) == node_kind::function && v_[c].end == v_[list].end;
                    of_entry_ = v_.kind(n) == node_kind::entry;
                    declaration(c);
                    of_entry_ = false;
                }
            }
        without_body_ = false;
        directives(n);
        if (const u32 b = v_.child(n, node_kind::body)) body(b);
        --depth_;
        names_.close_scope();
    }
    constexpr void several_results(u32 list) {
        for (u32 c = list + 1; c < v_[list].end; c = v_[c].end)
            if (const u32 s = v_.child(c, node_kind::space); s != 0 && v_.atom(s) != ".reg")
                error("P32", c, "several results are registers: '.reg', not '", v_.atom(s), "'");
    }
    [[nodiscard]] constexpr u32 directive(u32 n, std::string_view word) const noexcept {
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
            if (v_.kind(c) == node_kind::tuning && v_.atom(c) == word) return c;
        return 0;
    }
    constexpr void excluded(u32 n, std::string_view a, std::string_view b) {
        const u32 second = directive(n, b);
        if (second != 0 && directive(n, a) != 0) error("P35", second, "'", a, "' and '", b, "' exclude each other");
    }
    /// Directives that exclude or need each other (11.4, 11.7).
    constexpr void directives(u32 n) {
        excluded(n, ".maxntid", ".reqntid");
        excluded(n, ".reqnctapercluster", ".maxclusterrank");
        if (const u32 d = directive(n, ".maxnctapersm"); d != 0 && version_ >= ptx_version{2, 1})
            error("P35", d, "'.maxnctapersm' ended with PTX 2.0; use '.minnctapersm'");
        const three cluster = tuning_of(v_, n, ".reqnctapercluster");
        if (std::uint64_t{cluster.value[0]} * cluster.value[1] * cluster.value[2] > 16)
            error("G01", directive(n, ".reqnctapercluster"), "no device takes a cluster of more than 16 blocks");
        const u32 b = directive(n, ".blocksareclusters");
        if (b == 0) return;
        if (version_ < ptx_version{9, 0})
            error("P27", b, "'.blocksareclusters' needs .version 9.0");
        else if (directive(n, ".reqntid") == 0 || directive(n, ".reqnctapercluster") == 0)
            error("P35", b, "'.blocksareclusters' needs '.reqntid' and '.reqnctapercluster'");
    }
    constexpr void body(u32 n) {
        for_each_statement(
            v_, n, [this](u32 c) { open(c); }, [this](u32 c) { statement(c); }, [this] { names_.close_scope(); });
    }
    /// A scope's labels are known from its start.
    constexpr void open(u32 n) {
        names_.open_scope();
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::label) continue;
            symbol s;
            const node_kind next = v_[c].end < v_[n].end ? v_.kind(v_[c].end) : node_kind::error;
            s.kind = next == node_kind::branch_targets || next == node_kind::call_targets ? symbol_kind::target_list
                     : next == node_kind::call_prototype                                  ? symbol_kind::prototype
                                                                                          : symbol_kind::label;
            s.name = v_[c].atom, s.node = c;
            add(s);
        }
    }
    constexpr void statement(u32 n) {
        switch (v_.kind(n)) {
            case node_kind::declaration: declaration(n); break;
            case node_kind::instruction: instruction(n); break;
            case node_kind::branch_targets:
                for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
                    if (v_.child(c, node_kind::range) == 0) known_label(c);
                break;
            case node_kind::call_targets:
                for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) known(c);
                break;
            case node_kind::call_prototype:
                for (node_kind k : {node_kind::results, node_kind::parameters})
                    if (const u32 list = v_.child(n, k); list != 0)
                        for (u32 c = list + 1; c < v_[list].end; c = v_[c].end)
                            prototype_parameter(c, k == node_kind::results);
                break;
            default: break;
        }
    }
    /// As `declaration`, but nothing is declared.
    constexpr void prototype_parameter(u32 n, bool result) {
        const u32 sp = v_.child(n, node_kind::space), t = v_.child(n, node_kind::type),
                  d = v_.child(n, node_kind::declarator);
        const u32 size = d == 0 ? 0 : v_.child(d, node_kind::dimension);
        if (const u32 a = v_.child(n, node_kind::align); a != 0) alignment(a);
        if (sp != 0 && v_.atom(sp) != ".reg" && v_.atom(sp) != ".param")
            error("P32", sp, "parameters of functions lie in '.reg' or '.param', not in '", v_.atom(sp), "'");
        if (t != 0 && scalar_named(v_.atom(t)) == isa::scalar::none)
            error("P32", t, "'", v_.atom(t), "' is no type of a function's parameter");
        if (size != 0 && t != 0 && scalar_named(v_.atom(t)) == isa::scalar::pred)
            error("P32", t, "predicates have no arrays");
        else if (size != 0 && v_[size].end != v_[d].end)
            error("P32", size, "an array of parameters has one dimension");
        else if (size != 0 && result && integer_value(v_.atom(size)) == 0)
            error("P36", d, "a result that is an array has a size");
    }
    constexpr bool known(u32 n) {
        if (names_.find(v_[n].atom) != symbol_table::none) return true;
        error("P21", n, "'", v_.atom(n), "' is not declared");
        return false;
    }
    constexpr bool known_label(u32 n) {
        if (names_.find_label(v_[n].atom) != symbol_table::none) return true;
        error("P21", n, "there is no label '", v_.atom(n), "' in this scope");
        return false;
    }

    // ---- instructions ----------------------------------------------------------------------------------------

    /// An operand as the table wants it, and what it may be instead.
    struct operand {
        isa::operand_shape shape;
        u32 node = 0;
        bool either_float = false;  ///< a decimal float fits f32 and f64
        bool any_element = false;   ///< a vector of immediates and sinks only
        isa::scalar types[3] = {};  ///< types of a vector's registers
        unsigned n_types = 0;
    };

    constexpr void instruction(u32 n) {
        n_operands_ = 0;
        failed_ = false;
        u32 c = n + 1;
        const u32 end = v_[n].end;
        if (c < end && v_.kind(c) == node_kind::guard) guard(c++);
        tokens_[0] = isa::find_token(v_.atom(n));
        n_tokens_ = 1;
        const bool known_opcode =
            tokens_[0] != tok::none && isa::detail::opcode_first[static_cast<unsigned>(tokens_[0])] != 0;
        if (!known_opcode && !detail::is_outside_table(v_.atom(n))) {
            error("P22", n, "no instruction is called '", v_.atom(n), "'");
            return;
        }
        for (; c < end && v_.kind(c) == node_kind::modifier; ++c) modifier(n, c, known_opcode);
        if (tokens_[0] == tok::call) return call(n, c, end);
        const bool branches = tokens_[0] == tok::bra || tokens_[0] == tok::brx;
        for (; c < end; c = v_[c].end) operand_node(c, branches);
        if (!known_opcode || is_legacy()) return not_checked(n);
        if (!failed_) judge(n);
    }
    constexpr void guard(u32 n) {
        const u32 s = names_.find(v_[n].atom);
        if (s == symbol_table::none)
            known(n);
        else if (names_[s].type != isa::scalar::pred)
            error("P23", n, "'", v_.atom(n), "' is no predicate");
    }
    constexpr void modifier(u32 n, u32 c, bool known_opcode) {
        const tok t = isa::find_token(v_.atom(c).substr(1));
        if (t == tok::none && known_opcode) {
            error("P24", c, "'", v_.atom(n), "' has no modifier '", v_.atom(c), "'");
            failed_ = true;
        }
        if (n_tokens_ < detail::reordering::most) tokens_[n_tokens_++] = t;
    }
    /// Forms that later versions or targets took away and ptxas still reads where they were: `mov.v4.u32 v, %tid` of
    /// PTX 1.x, `mad.f32` without rounding of sm_1x (9.7.3.6), `vote` and `shfl` without `.sync` (9.7.9.5, 9.7.13.1),
    /// `cvta` of 32-bit addresses (9.7.9.20).
    [[nodiscard]] constexpr bool is_legacy() const noexcept {
        const tok second = n_tokens_ > 1 ? tokens_[1] : tok::none;
        switch (tokens_[0]) {
            case tok::mov: return second == tok::v2 || second == tok::v4;
            case tok::mad: return target_.has_unrounded_mad() && (second == tok::f32 || second == tok::sat);
            case tok::vote:
            case tok::shfl:
                return second != tok::sync && (!target_.has_independent_threads() || version_ < ptx_version{6, 4});
            case tok::cvta: return !address_64_ && tokens_[n_tokens_ - 1] == tok::u32;
            default: return false;
        }
    }
    /// One message for each opcode.
    constexpr void not_checked(u32 n) {
        if (outside_[v_[n].atom] != 0) return;
        outside_[v_[n].atom] = 1;
        warning("P25", n, "the table has no forms of '", v_.atom(n), "': its modifiers and operands are not checked");
    }
    constexpr void call(u32 n, u32 c, u32 end) {
        u32 lists[2] = {}, target = 0, prototype = 0;  // results and arguments; 0: none
        bool all_known = true;
        for (; c < end; c = v_[c].end) {
            if (v_.kind(c) == node_kind::arguments) {
                lists[target == 0 ? 0 : 1] = c;
                for (u32 a = c + 1; a < v_[c].end; a = v_[a].end)
                    if (v_.kind(a) == node_kind::name) all_known = known(a) && all_known;
            } else {
                (target == 0 ? target : prototype) = c;
                if (names_.find_label(v_[c].atom) == symbol_table::none) all_known = known(c) && all_known;
            }
        }
        const u32 f = all_known && target != 0 ? signature(target, prototype) : 0;
        if (f == 0) return;
        arguments(n, lists[0], v_.child(f, node_kind::results), "returns");
        arguments(n, lists[1], v_.child(f, node_kind::parameters), "takes");
    }
    /// The function, prototype or first possible target of a call; 0: not known.
    [[nodiscard]] constexpr u32 signature(u32 target, u32 prototype) const noexcept {
        const auto function_called = [this](u32 n) {
            const u32 s = names_.find(v_[n].atom);
            return s != symbol_table::none && names_[s].kind == symbol_kind::function ? names_[s].node : u32{0};
        };
        if (prototype == 0) return function_called(target);
        const u32 l = names_.find_label(v_[prototype].atom);
        if (l == symbol_table::none) return 0;
        const u32 list = v_[names_[l].node].end;
        if (names_[l].kind == symbol_kind::prototype) return list;
        return v_.kind(list) == node_kind::call_targets ? function_called(list + 1) : 0;
    }
    constexpr void arguments(u32 n, u32 list, u32 parameters, std::string_view does) {
        const bool as_many = detail::for_each_argument(v_, list, parameters,
                                                       [&](u32 given, u32 taken) { argument(given, taken, does); });
        if (!as_many)
            error("P38", list == 0 ? n : list, "the function ", does, ' ',
                  u32{parameters == 0 ? 0 : v_.children(parameters)}, " values, this call has ",
                  u32{list == 0 ? 0 : v_.children(list)});
    }
    constexpr void argument(u32 n, u32 parameter, std::string_view does) {
        const u32 d = v_.child(parameter, node_kind::declarator);
        if (d == 0 || v_.kind(n) == node_kind::sink) return;
        const detail::passed taken = detail::passed_of(v_, parameter, d);
        if (!passes_all_ && detail::is_never_passed(taken))
            return error("P38", n, "the function ", does, " a value of type .", isa::name(taken.type),
                         ", which no call passes: use .b32 and convert");
        std::string_view why;
        if (v_.kind(n) != node_kind::name) {
            why = detail::why_not_passed(taken, constant_reader(v_).of(n));
        } else {
            const symbol& s = names_[names_.find(v_[n].atom)];
            if (s.kind != symbol_kind::reg && (s.kind != symbol_kind::variable || s.sp != space::param))
                return error("P38", n, "'", v_.atom(n), "' cannot be passed: an argument is a register or a .param");
            why = detail::why_not_passed(taken, detail::passed_of(v_, detail::declaration_of(v_, s.node), s.node));
        }
        if (!why.empty()) error("P38", n, "the function ", does, " another type here: ", why);
    }

    // ---- operands --------------------------------------------------------------------------------------------

    constexpr void operand_node(u32 n, bool branches) {
        if (v_.kind(n) == node_kind::pair) {
            const u32 second = v_[n + 1].end;
            operand_node(n + 1, false);
            operand_node(second, false);
            return;
        }
        if (n_operands_ == max_operands) {
            failed_ = true;
            return error("P26", n, "more than ", u32{max_operands}, " operands");
        }
        operand& o = operands_[n_operands_++] = {};
        o.node = n;
        switch (v_.kind(n)) {
            case node_kind::name: branches ? branch_target(n, o) : name(n, o); break;
            case node_kind::negation:
                name(n + 1, o);
                // Elsewhere than in vmad ptxas takes `-a` for registers, too; only there it is in the ISA.
                o.shape.minus = tokens_[0] == tok::vmad;
                break;
            case node_kind::offset: name(n + 1, o); break;
            case node_kind::complement:
                name(n + 1, o);
                if (o.shape.kind == isa::shape_kind::pred) o.shape.kind = isa::shape_kind::not_pred;
                break;
            case node_kind::index: indexed(n, o); break;
            case node_kind::sink: o.shape.kind = isa::shape_kind::sink; break;
            case node_kind::vector: vector(n, o); break;
            case node_kind::address: address(n, o); break;
            default: immediate(n, o); break;
        }
    }
    constexpr void immediate(u32 n, operand& o) {
        const constant_value c = constant_reader(v_).of(n);
        o.shape.kind = isa::shape_kind::imm;
        o.shape.value = c.value;
        o.shape.type = !c.is_float ? isa::scalar::s64 : c.is_double ? isa::scalar::f64 : isa::scalar::f32;
        o.either_float = c.is_float && !c.is_bits;
        if (!c.is_float && computes_predicate()) o.shape.kind = isa::shape_kind::pred;
    }
    /// `mov.pred`, `and.pred` …: every integer there is a truth value.
    [[nodiscard]] constexpr bool computes_predicate() const noexcept {
        const tok o = tokens_[0];
        return n_tokens_ == 2 && tokens_[1] == tok::pred &&
               (o == tok::mov || o == tok::and_ || o == tok::or_ || o == tok::xor_ || o == tok::not_);
    }
    constexpr void branch_target(u32 n, operand& o) {
        o.shape.kind = isa::shape_kind::label;
        if (names_.find_label(v_[n].atom) != symbol_table::none) return;
        if (tokens_[0] == tok::brx && names_.find(v_[n].atom) != symbol_table::none) return name(n, o);
        known_label(n);
        failed_ = true;
    }
    constexpr void name(u32 n, operand& o) {
        const bool has_component = v_.has_children(n);
        const u32 s = names_.find(v_[n].atom);
        if (s == symbol_table::none) return special_or_label(n, has_component, o);
        const symbol& found = names_[s];
        if (found.kind != symbol_kind::reg) {
            o.shape.kind = isa::shape_kind::symbol;
            o.shape.type = found.type;
            o.shape.sp = found.sp;
            return;
        }
        o.shape.type = found.type;
        o.shape.kind = found.type == isa::scalar::pred ? isa::shape_kind::pred : isa::shape_kind::reg;
        if (has_component && found.vector == 1) {
            const std::string_view c = v_.atom(n + 1);
            o.shape.selector = isa::selector_of(c.data() + 1, c.size() - 1);
        }
        if (found.vector != 1 && !has_component) {
            o.shape.kind = isa::shape_kind::vec;
            o.shape.count = found.vector;
            o.types[0] = found.type;
            o.n_types = 1;
        }
    }
    constexpr void special_or_label(u32 n, bool has_component, operand& o) {
        const std::string_view base = v_.atom(n);
        for (unsigned i = 0; base[0] == '%' && i < static_cast<unsigned>(isa::special::count_); ++i) {
            const isa::special_info& r = isa::info(static_cast<isa::special>(i));
            if (r.name.substr(0, base.size()) != base) continue;
            const std::string_view rest = r.name.substr(base.size());
            const std::string_view given = has_component ? v_.atom(n + 1) : std::string_view();
            const bool other_component = rest == ".x" && (given.empty() || given == ".w");  // a vector of four; .w is 0
            if (rest != given && !other_component) continue;
            return special(n, r, has_component, o);
        }
        if (names_.find_label(v_[n].atom) != symbol_table::none) {
            o.shape.kind = isa::shape_kind::label;
            return;
        }
        if (base[0] == '%' && has_component)
            error("P21", n, "'", base, v_.atom(n + 1), "' is neither declared nor a special register");
        else
            known(n);
        failed_ = true;
    }
    [[nodiscard]] static constexpr bool has_16_bits(std::string_view special) noexcept {
        const std::string_view base = special.substr(0, special.find('.'));
        return base == "%tid" || base == "%ntid" || base == "%ctaid" || base == "%nctaid";
    }
    /// `%tid` without a component is a vector of four.
    constexpr void special(u32 n, const isa::special_info& r, bool has_component, operand& o) {
        o.shape.kind = r.type == isa::scalar::pred ? isa::shape_kind::pred : isa::shape_kind::special;
        o.shape.type = r.type;
        // `mov` and `cvt` read special registers (chapter 10); the table writes kernels and needs `mov` only.
        if (tokens_[0] == tok::cvt) o.shape.kind = isa::shape_kind::reg;
        // The lower halves of thread and block indices, as PTX 1.x had them (10.1 to 10.4), and of %gridid (10.11).
        const unsigned read = tokens_[0] == tok::mov && n_tokens_ == 2 ? isa::bits(isa::token_type(tokens_[1])) : 0;
        if ((read == 16 && (has_16_bits(r.name) || r.name == "%gridid")) || (read == 32 && r.name == "%gridid")) {
            o.shape.kind = isa::shape_kind::reg;
            o.shape.type = read == 16 ? isa::scalar::u16 : isa::scalar::u32;
        }
        if (r.name.size() != v_.atom(n).size() && !has_component) {
            o.shape.kind = isa::shape_kind::vec;
            o.shape.count = 4;
            o.types[0] = r.type;
            o.n_types = 1;
        }
        if (version_ < r.since) {
            error("P27", n, r.name, " needs .version ", u32{r.since.major}, '.', u32{r.since.minor});
            failed_ = true;
        } else if (!asked_target().at_least(r.sm)) {
            error("P28", n, r.name, " needs target sm_", u32{r.sm});
            failed_ = true;
        }
    }
    constexpr void indexed(u32 n, operand& o) {
        address_base(n + 1, o);
        const u32 i = v_[n + 1].end;
        if (v_.kind(i) == node_kind::name || v_.kind(i) == node_kind::offset) {
            operand unused;
            name(v_.kind(i) == node_kind::offset ? i + 1 : i, unused);
        }
        o.shape.kind = isa::shape_kind::address;
        // `mov d, a[1]` takes the address
        if (tokens_[0] == tok::mov) o.shape.kind = isa::shape_kind::symbol;
    }
    constexpr void address(u32 n, operand& o) {
        const u32 base = n + 1;
        const u32 inner = v_.kind(base) == node_kind::offset ? base + 1 : base;
        o.shape.kind = isa::shape_kind::address;
        if (v_.kind(inner) == node_kind::name) address_base(inner, o);
        if (needs_64_bits() && o.shape.sp != space::param && !names_space())
            o.shape.sp = space::generic;  // any variable has a generic address
        const u32 rest = v_[base].end;
        if (rest == v_[n].end) return;
        if (v_.kind(rest) == node_kind::component) {
            o.shape.unified = true;
            return;
        }
        o.shape.kind = isa::shape_kind::tensor_address;
        o.shape.type = isa::scalar::none;
        for (u32 c = rest; c < v_[n].end; c = v_[c].end) {
            operand part;
            if (v_.kind(c) == node_kind::vector)
                vector(c, part), o.shape.count = static_cast<std::uint16_t>(v_.children(c));
            else
                name(c, part), o.shape.count = 1;
            if (v_[c].end != v_[n].end)
                o.shape.sampler = true;
            else if (is_texture() && part.n_types < 2)
                o.shape.type = part.shape.type;
        }
    }
    [[nodiscard]] constexpr bool is_texture() const noexcept {
        const tok o = tokens_[0];
        return o == tok::tex || o == tok::tld4 || o == tok::suld || o == tok::sust || o == tok::sured;
    }
    constexpr void address_base(u32 n, operand& o) {
        operand b;
        name(n, b);
        if (failed_) return;
        o.shape.type = b.shape.type;
        o.shape.sp = b.shape.kind == isa::shape_kind::symbol ? b.shape.sp : space::generic;
        if (b.shape.kind == isa::shape_kind::symbol) return;
        const isa::scalar_info& t = isa::info(b.shape.type);
        const bool integer = t.cls == isa::type_class::bits || t.cls == isa::type_class::unsigned_int ||
                             t.cls == isa::type_class::signed_int;
        if (b.shape.kind == isa::shape_kind::reg && integer && (t.bits == 64 || (t.bits == 32 && !needs_64_bits())))
            return;
        if (b.shape.kind == isa::shape_kind::reg && integer && t.bits == 32) {
            failed_ = true;
            return error("P29", n, "an address in generic or global memory has 64 bits, '", v_.atom(n), "' has 32");
        }
        error("P29", n, "an address is a 32-bit or 64-bit integer register, not '", v_.atom(n), "' of type .", t.name);
        failed_ = true;
    }
    /// Whether the instruction reads or writes generic or global memory through its addresses.
    [[nodiscard]] constexpr bool needs_64_bits() const noexcept {
        if (!address_64_) return false;
        const tok o = tokens_[0];
        if (o != tok::ld && o != tok::st && o != tok::atom && o != tok::red && o != tok::ldu && o != tok::mbarrier &&
            o != tok::prefetch && o != tok::prefetchu)
            return false;
        for (unsigned i = 1; i < n_tokens_; ++i) {
            const tok t = tokens_[i];
            if (t == tok::shared || t == tok::shared__cta || t == tok::shared__cluster || t == tok::local ||
                t == tok::param || t == tok::const_ || t == tok::param__entry || t == tok::param__func ||
                t == tok::async)
                return false;
        }
        return true;
    }
    [[nodiscard]] constexpr bool names_space() const noexcept {
        for (unsigned i = 1; i < n_tokens_; ++i)
            if (tokens_[i] == tok::global) return true;
        return false;
    }
    constexpr void vector(u32 n, operand& o) {
        o.shape.kind = isa::shape_kind::vec;
        o.shape.count = static_cast<std::uint16_t>(v_.children(n));
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) == node_kind::sink) o.shape.sinks = true;
            if (v_.kind(c) != node_kind::name) continue;
            operand e;
            name(c, e);
            add_type(o, e.shape.type);
        }
        o.any_element = o.n_types == 0;
        if (o.shape.count == 1 && !o.any_element) o.shape.kind = isa::shape_kind::reg;
        o.shape.type = o.types[0];
    }
    static constexpr void add_type(operand& o, isa::scalar t) noexcept {
        for (unsigned i = 0; i < o.n_types; ++i)
            if (o.types[i] == t) return;
        if (o.n_types < 3) o.types[o.n_types++] = t;
    }

    // ---- judgement -------------------------------------------------------------------------------------------

    constexpr void judge(u32 n) {
        isa::verdict v = best(tokens_, n_tokens_);
        if (v.st == isa::verdict::status::bad_modifiers || v.st == isa::verdict::status::wrong_target) {
            const isa::verdict other = reordered(n);
            if (other.st > v.st || other.ok()) v = other;
        }
        report(n, v);
    }
    /// The verdict with the alternatives of operands that have some.
    [[nodiscard]] constexpr isa::verdict best(const tok* t, unsigned n) noexcept {
        isa::verdict v = with_types(t, n, false);
        bool alternatives = false;
        for (unsigned i = 0; i < n_operands_; ++i) alternatives |= operands_[i].either_float;
        if (v.ok()) return v;
        if (alternatives) {
            const isa::verdict w = with_types(t, n, true);
            if (w.ok()) return w;
        }
        return predicate_constants(t, n, v);
    }
    /// Where a predicate is read, 0 and 1 (any integer) may stand for false and true.
    [[nodiscard]] constexpr isa::verdict predicate_constants(const tok* t, unsigned n, isa::verdict v) noexcept {
        const isa::verdict refused = v;
        while (v.st == isa::verdict::status::bad_operand && v.operand < n_operands_) {
            operand& o = operands_[v.operand];
            if (o.shape.kind != isa::shape_kind::imm || o.either_float || o.shape.type != isa::scalar::s64) break;
            o.shape.kind = isa::shape_kind::pred;
            v = with_types(t, n, false);
        }
        if (v.ok()) return v;
        for (unsigned i = 0; i < n_operands_; ++i)
            if (operands_[i].shape.kind == isa::shape_kind::pred && operands_[i].shape.type == isa::scalar::s64)
                operands_[i].shape.kind = isa::shape_kind::imm;
        return refused;
    }
    [[nodiscard]] constexpr isa::verdict with_types(const tok* t, unsigned n, bool as_f32) noexcept {
        isa::operand_shape shapes[max_operands];
        unsigned types = 1;
        bool any = false;
        for (unsigned i = 0; i < n_operands_; ++i) {
            shapes[i] = operands_[i].shape;
            if (operands_[i].either_float && as_f32) shapes[i].type = isa::scalar::f32;
            if (operands_[i].n_types > types) types = operands_[i].n_types;
            any |= operands_[i].any_element;
        }
        isa::verdict v;
        for (unsigned k = 0; k < types; ++k) {
            for (unsigned i = 0; i < n_operands_; ++i)
                if (operands_[i].n_types != 0)
                    shapes[i].type = operands_[i].types[k < operands_[i].n_types ? k : operands_[i].n_types - 1];
            v = any ? with_elements(t, n, shapes) : isa::find(t, n, shapes, n_operands_, asked_target());
            if (!v.ok()) return v;
        }
        return v;
    }
    /// The table knows what targets have from sm_50 on; what is older is read as that.
    [[nodiscard]] constexpr ptxdsl::target asked_target() const noexcept {
        return target_.at_least(sm_50.sm) ? target_ : sm_50;
    }
    /// A vector of immediates takes the type the form has.
    [[nodiscard]] constexpr isa::verdict with_elements(const tok* t, unsigned n,
                                                       isa::operand_shape* shapes) const noexcept {
        isa::verdict v;
        for (isa::scalar type : {isa::scalar::b32, isa::scalar::b64, isa::scalar::b16, isa::scalar::f32,
                                 isa::scalar::f64, isa::scalar::b8, isa::scalar::b128}) {
            for (unsigned i = 0; i < n_operands_; ++i)
                if (operands_[i].any_element) shapes[i].type = type;
            v = isa::find(t, n, shapes, n_operands_, asked_target());
            if (v.ok()) return v;
        }
        return v;
    }
    [[nodiscard]] constexpr isa::verdict reordered(u32) noexcept {
        isa::verdict best_yet{isa::verdict::status::bad_modifiers, isa::verdict::no_form, {}, 0};
        const unsigned first = isa::detail::opcode_first[static_cast<unsigned>(tokens_[0])];
        const char16_t* at = isa::detail::code + first + 2;
        const unsigned forms = isa::detail::code[first + 1];
        for (unsigned i = 0; i < forms; at += at[0], ++i) {
            if (!isa::detail::takes_count(at, n_tokens_ - 1)) continue;
            detail::reordering r;
            if (!r.try_form(isa::detail::row_at(at), tokens_, n_tokens_)) continue;
            const isa::verdict v = best(r.result, r.count);
            if (v.ok()) return v;
            if (v.st > best_yet.st) best_yet = v;
        }
        return best_yet;
    }
    constexpr void report(u32 n, const isa::verdict& v) {
        using status = isa::verdict::status;
        switch (v.st) {
            case status::ok:
                // Versions below 7.8 are not the table's: its forms are those of sm_90 and later.
                if (v.since > version_ && target_.floor() >= ptx_version{7, 8})
                    spelled("P27", n, "' needs .version ", u32{v.since.major}, '.', u32{v.since.minor}, "; this is ",
                            u32{version_.major}, '.', u32{version_.minor});
                return;
            case status::unknown_opcode:
            case status::bad_modifiers: return spelled("P24", n, "': there is no such combination of modifiers");
            case status::wrong_target:
                return spelled("P28", n, "' does not exist on target ", v_.atom(v_.child(0, node_kind::target) + 1));
            case status::operand_count:
                return spelled("P26", n, "' does not take ", u32{n_operands_},
                               n_operands_ == 1 ? " operand" : " operands");
            case status::bad_operand: return bad_operand(n, v.operand);
        }
    }
    constexpr void bad_operand(u32 n, unsigned i) {
        if (i >= n_operands_) return spelled("P26", n, "' does not take ", u32{n_operands_}, " operands");
        const operand& o = operands_[i];
        text opcode;
        spell(n, opcode);
        error("P29", o.node, "operand ", u32{i + 1}, " of '", opcode.view(), "' cannot be ", kind_of(o), type_of(o));
    }
    [[nodiscard]] static constexpr std::string_view kind_of(const operand& o) noexcept {
        using namespace std::string_view_literals;
        constexpr std::string_view names[] = {
            "this"sv,     "a register"sv,        "this constant"sv,    "a predicate"sv, "a negated predicate"sv,
            "'_'"sv,      "this address"sv,      "a tensor address"sv, "a vector"sv,    "a label"sv,
            "a symbol"sv, "a special register"sv};
        return names[static_cast<unsigned>(o.shape.kind)];
    }
    [[nodiscard]] static constexpr std::string_view type_of(const operand& o) noexcept {
        using namespace std::string_view_literals;
        constexpr std::string_view names[] = {""sv,
                                              " of type .pred"sv,
                                              " of type .b8"sv,
                                              " of type .b16"sv,
                                              " of type .b32"sv,
                                              " of type .b64"sv,
                                              " of type .b128"sv,
                                              " of type .u8"sv,
                                              " of type .u16"sv,
                                              " of type .u32"sv,
                                              " of type .u64"sv,
                                              " of type .s8"sv,
                                              " of type .s16"sv,
                                              " of type .s32"sv,
                                              " of type .s64"sv,
                                              " of type .f16"sv,
                                              " of type .f16x2"sv};
        if (o.shape.kind != isa::shape_kind::reg && o.shape.kind != isa::shape_kind::vec) return names[0];
        if (o.shape.type == isa::scalar::f32) return " of type .f32"sv;
        if (o.shape.type == isa::scalar::f64) return " of type .f64"sv;
        return static_cast<unsigned>(o.shape.type) < 17 ? names[static_cast<unsigned>(o.shape.type)] : names[0];
    }
    const tree_view& v_;
    diagnostics& out_;
    symbol_table names_;
    ptxdsl::target target_;
    ptx_version version_;
    bool address_64_ = true;
    bool may_be_open_ = false;  ///< the array declared now may do without a size
    bool passes_all_ = false;   ///< calls pass values of any type
    bool without_body_ = false;
    bool of_entry_ = false;  ///< the declaration at hand is a parameter of a kernel
    bool failed_ = false;
    u32 depth_ = 0;
    tok tokens_[detail::reordering::most] = {};
    unsigned n_tokens_ = 0;
    operand operands_[max_operands] = {};
    unsigned n_operands_ = 0;
    ptxdsl::detail::dynarray<std::uint8_t> outside_;
};

/// Checks a module that was read without errors and adds what is wrong to `out`.
constexpr void check_module(const tree_view& v, diagnostics& out) { checker(v, out).run(); }

}  // namespace ptxdsl::ptx
