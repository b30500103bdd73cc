// SPDX-License-Identifier: Apache-2.0
// Checks a parsed module against the instruction table: every name is declared, every instruction has the modifiers and
// operands of a form that its target and PTX version have.
#pragma once

#include <ptxdsl/isa/table.hpp>
#include <ptxdsl/parse/check_calls.hpp>
#include <ptxdsl/parse/check_definitions.hpp>
#include <ptxdsl/parse/check_limits.hpp>
#include <ptxdsl/parse/check_lines.hpp>
#include <ptxdsl/parse/check_operands.hpp>
#include <ptxdsl/parse/kernel_facts.hpp>
#include <ptxdsl/parse/modifier_order.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

namespace detail {

/// The word of ptxas that the PTX ISA does not have; ptxas alone judges it.
[[nodiscard]] constexpr bool is_outside_table(std::string_view opcode) noexcept {
    using namespace std::string_view_literals;
    return opcode == "_warpsync"sv;
}

}  // namespace detail

/// One checking pass over a tree without syntax errors.
class checker : private detail::operand_reader {
public:
    constexpr checker(const tree_view& v, diagnostics& out) : operand_reader(v, out) { outside_.resize(v.n_words, 0); }

    constexpr void run() {
        header();
        passes_all_ = detail::has_several_results(v_);
        const auto report = [this](const char(&id)[4], u32 n, const auto&... parts) { error(id, n, parts...); };
        detail::check_definitions(v_, report);
        detail::check_limits(v_, target_, version_, report);
        for (u32 c = 1; c < v_[0].end; c = v_[c].end) {
            switch (v_.kind(c)) {
                case node_kind::declaration: declaration(c); break;
                case node_kind::entry:
                case node_kind::function: function(c); break;
                case node_kind::alias:
                    if (version_ < ptx_version{6, 3}) error("P27", c, "'.alias' needs .version 6.3");
                    known(c + 1), known(v_[c + 1].end);
                    break;
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
    static constexpr ptx_version newest_version{9, 0};

    constexpr void header() {
        const u32 t = v_.child(0, node_kind::target);
        const u32 a = v_.child(0, node_kind::address_size);
        address_64_ = a == 0 || v_.atom(a) == "64";
        if (a != 0 && version_ < ptx_version{2, 3}) error("P27", a, "'.address_size' needs .version 2.3");
        if (!address_64_ && target_.has_addresses_32())
            warning("P28", a, "ptxas 13 assembles no modules with 32-bit addresses any more");
        for (u32 w = t + 2; w < v_[t].end; ++w) target_option(t, w);
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

    /// A word behind the first of `.target` (11.1.2).
    constexpr void target_option(u32 t, u32 w) {
        const std::string_view word = v_.atom(w);
        const bool mode = word == "texmode_unified" || word == "texmode_independent";
        if (word == "debug" && !detail::has_debug_section(v_))
            error("P37", w, "'debug' promises a debug section, which this module has not");
        else if (word == "map_f64_to_f32" && target_.at_least(13))
            error("P28", w, "'map_f64_to_f32' is for targets without .f64, before sm_13");
        else if (!mode && word != "debug" && word != "map_f64_to_f32" && word.substr(0, 3) != "sm_" &&
                 word.substr(0, 8) != "compute_")
            error("P11", w, "'.target' has no option '", word, "'");
        for (u32 o = t + 2; mode && o < w; ++o)
            if (v_.atom(o) != word && v_.atom(o).substr(0, 8) == "texmode_")
                error("P11", w, "'", v_.atom(o), "' and '", word, "' exclude each other");
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
        return detail::directive_of(v_, n, word);
    }
    constexpr void excluded(u32 n, std::string_view a, std::string_view b) {
        const u32 second = directive(n, b);
        if (second != 0 && directive(n, a) != 0) error("P35", second, "'", a, "' and '", b, "' exclude each other");
    }
    /// Directives that exclude or need each other (11.4, 11.7).
    constexpr void directives(u32 n) {
        excluded(n, ".maxntid", ".reqntid");
        excluded(n, ".reqnctapercluster", ".maxclusterrank");
        for (const std::string_view word : {".reqnctapercluster", ".explicitcluster", ".maxclusterrank"})
            if (const u32 d = directive(n, word); d != 0 && target_.known() && !target_.has_clusters())
                error("P28", d, "'", word, "' needs a target with clusters, sm_90 or newer");
        if (const u32 d = directive(n, ".noreturn"); d != 0 && version_ < ptx_version{6, 4})
            error("P27", d, "'.noreturn' needs .version 6.4");
        if (const u32 d = directive(n, ".maxnctapersm"); d != 0 && version_ >= ptx_version{2, 1})
            error("P35", d, "'.maxnctapersm' ended with PTX 2.0; use '.minnctapersm'");
        const three cluster = tuning_of(v_, n, ".reqnctapercluster");
        if (detail::times(detail::times(cluster.value[0], cluster.value[1]), cluster.value[2]) > 16)
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
                for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
                    if (known(c) && names_[names_.find(v_[c].atom)].kind != symbol_kind::function)
                        error("P38", c, "'.calltargets' names functions, and '", v_.atom(c), "' is none");
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

    // ---- instructions ----------------------------------------------------------------------------------------

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
        if (!all_known || target == 0 || !is_callable(target, prototype)) return;
        const u32 f = signature(target, prototype);
        if (f == 0) return;
        arguments(n, lists[0], v_.child(f, node_kind::results), "returns");
        arguments(n, lists[1], v_.child(f, node_kind::parameters), "takes");
    }
    /// A call names a device function, or a register and what may be in it (9.7.12.5).
    constexpr bool is_callable(u32 target, u32 prototype) {
        const u32 s = names_.find(v_[target].atom);
        if (s == symbol_table::none) {
            if (names_.find_label(v_[target].atom) == symbol_table::none) return true;  // said already
            error("P38", target, "a call needs a device function, and '", v_.atom(target), "' is a label");
            return false;
        }
        const symbol& called = names_[s];
        if (called.kind == symbol_kind::function && v_.kind(called.node) == node_kind::entry)
            error("P38", target, "a call needs a device function ('.func'), and '", v_.atom(target), "' is a kernel");
        else if (called.kind == symbol_kind::variable)
            error("P38", target, "a call needs a device function or a register, and '", v_.atom(target),
                  "' is a variable");
        else if (called.kind == symbol_kind::function && prototype != 0)
            error("P38", prototype, "a function that is called by its name needs no prototype");
        else if (called.kind == symbol_kind::reg && prototype == 0)
            error("P38", target, "a call through register '", v_.atom(target),
                  "' names a '.callprototype' or '.calltargets' behind its arguments");
        else if (called.kind == symbol_kind::reg && called.type == isa::scalar::pred)
            error("P38", target, "a call needs the address of a function, and '", v_.atom(target), "' is a predicate");
        else
            return true;
        return false;
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

    bool passes_all_ = false;  ///< calls pass values of any type
    ptxdsl::detail::dynarray<std::uint8_t> outside_;
};

/// Checks a module that was read without errors and adds what is wrong to `out`.
constexpr void check_module(const tree_view& v, diagnostics& out) { checker(v, out).run(); }

}  // namespace ptxdsl::ptx
