// SPDX-License-Identifier: Apache-2.0
// Structured control flow (PTX ISA 9.7.12). Each construct says in its first doc line what it emits; the C++ lambda is
// run once, while the kernel is being written. C++ loops unroll.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>

namespace ptxdsl {

namespace detail {

/// The guard word of an instruction under `@c` or `@!c`.
template <class Condition>
[[nodiscard]] constexpr std::uint32_t guard_of(const Condition& c, bool negate) noexcept {
    return (c.id() + 1) << 1 | (negate ? 1u : 0u);
}

/// Writes the few control instructions that need no type dispatch.
template <class Program>
struct control_writer {
    Program& p;
    std::uint32_t guard = 0;

    constexpr void bra(std::uint32_t label, std::uint32_t g, location where) const {
        raw_operand target;
        target.words[0] = ir::head(ir::operand_kind::label, label);
        ++p.labels[label].used;
        emit(p, ref<common_form<tok::bra>>(), g, where, &target, 1);
    }
    /// `brx.idx{.uni} index, table;`
    constexpr void brx(const raw_operand& index, std::uint32_t table, bool uniform, location where) const {
        raw_operand list[] = {index, {}};
        list[1].words[0] = ir::head(ir::operand_kind::label, table);
        ++p.labels[table].used;
        emit(p, uniform ? ref<common_form<tok::brx, tok::idx, tok::uni>>() : ref<common_form<tok::brx, tok::idx>>(),
             guard, where, list, 2);
    }
    template <tok Op>
    constexpr void plain(location where) const {
        emit(p, ref<common_form<Op>>(), guard, where, nullptr, 0);
    }
    /// `op.type dst, a, b` on registers that exist already, for loop counters.
    template <tok Op, isa::scalar Type>
    constexpr void counter(std::uint32_t dst, const raw_operand& a, const raw_operand& b, location where) const {
        const raw_operand list[] = {reg_operand(p, dst), a, b};
        emit(p, ref<common_form<Op, isa::type_token(Type)>>(), 0, where, list, 3);
    }
    template <tok Op, isa::scalar Type>
    constexpr reg<pred> compare(const raw_operand& a, const raw_operand& b, location where) const {
        const std::uint32_t dst = p.new_reg(isa::scalar::pred);
        const raw_operand list[] = {reg_operand(p, dst), a, b};
        emit(p, ref<common_form<tok::setp, Op, isa::type_token(Type)>>(), 0, where, list, 3);
        return {p, dst};
    }
};

/// One open loop: where `break_` and `continue_` go.
struct loop_frame {
    std::uint32_t id, head, again, done, around;
};
/// From here on a body of a branch or loop is written; returns what ends it.
template <class Program>
constexpr std::uint32_t begin_body(Program& p) noexcept {
    const std::uint32_t around = p.body_begin;
    p.body_begin = p.words.size();
    return around;
}

}  // namespace detail

/// Returned by `k.if_(cond, then)`; `.else_(body)` completes it. An else without its if cannot be written (K01).
template <class Program>
class basic_if_result {
public:
    constexpr basic_if_result(Program& p, std::uint32_t else_label, std::uint32_t after) noexcept
        : p_(p), else_label_(else_label), after_(after) {}

    /// Emits `bra end`, the else label, the body, the end label. Must follow its `if_` directly.
    template <class Body>
    constexpr void else_(Body&& body, location where = location::current()) {
        if (p_.words.size() != after_) {
            p_.report("K01", where, {"else_ does not follow its if_ directly: instructions were emitted in between"});
            return;
        }
        p_.words.truncate(after_ - label_words - if_end_words);
        --p_.labels[else_label_].placed;
        const std::uint32_t end = p_.new_label("end", where);
        detail::control_writer{p_}.bra(end, 0, where);
        p_.add_region(ir::region::else_begin, where);
        p_.place_label(else_label_, where);
        const std::uint32_t around = detail::begin_body(p_);
        static_cast<Body&&>(body)();
        p_.body_begin = around;
        p_.place_label(end, where);
        p_.add_region(ir::region::if_end, where);
    }

    static constexpr std::uint32_t label_words = 3;
    static constexpr std::uint32_t if_end_words = 2;

private:
    Program& p_;
    std::uint32_t else_label_, after_;
};
using if_result = basic_if_result<ir::program>;

/// Handle of a loop, passed to its body: `[&](px::loop_handle l) { l.break_if(done); }`.
template <class Program>
class basic_loop_handle {
public:
    constexpr basic_loop_handle(Program& p, detail::loop_frame frame) noexcept : p_(&p), frame_(frame) {}
    /// Emits `bra` to the end of this loop.
    constexpr void break_(location where = location::current()) const {
        leave(ir::region::break_, frame_.done, 0, where);
    }
    /// Emits `@cond bra` to the end of this loop.
    constexpr void break_if(const reg<pred>& cond, location where = location::current()) const {
        detail::check_condition(*p_, cond, where);
        leave(ir::region::break_, frame_.done, detail::guard_of(cond, false), where);
    }
    constexpr void break_if(negated cond, location where = location::current()) const {
        detail::check_condition(*p_, cond.p, where);
        leave(ir::region::break_, frame_.done, detail::guard_of(cond.p, true), where);
    }
    /// Emits `bra` to the next iteration of this loop.
    constexpr void continue_(location where = location::current()) const {
        leave(ir::region::continue_, frame_.again, 0, where);
    }
    /// Emits `@cond bra` to the next iteration of this loop.
    constexpr void continue_if(const reg<pred>& cond, location where = location::current()) const {
        detail::check_condition(*p_, cond, where);
        leave(ir::region::continue_, frame_.again, detail::guard_of(cond, false), where);
    }
    [[nodiscard]] constexpr std::uint32_t id() const noexcept { return frame_.id; }

private:
    constexpr void leave(ir::region code, std::uint32_t label, std::uint32_t guard, location where) const {
        if (!is_open()) {
            p_->report("K01", where, {code == ir::region::break_ ? "break" : "continue", " outside its loop"});
            return;
        }
        p_->add_region(code, where, frame_.id, guard);
        detail::control_writer{*p_}.bra(label, guard, where);
    }
    [[nodiscard]] constexpr bool is_open() const noexcept { return p_->labels[frame_.done].placed == 0; }

    Program* p_;
    detail::loop_frame frame_;
};
using loop_handle = basic_loop_handle<ir::program>;

namespace detail {
/// A name of the text that stands in front of a colon.
class label_id {
public:
    constexpr label_id(ir::program& p, std::uint32_t id) noexcept : p_(&p), id_(id) {}
    [[nodiscard]] constexpr std::uint32_t id() const noexcept { return id_; }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return p_; }

private:
    ir::program* p_;
    std::uint32_t id_;
};
}  // namespace detail

/// A place to branch to, for control flow that the constructs below do not cover.
class label : public detail::label_id {
public:
    using label_id::label_id;
};
/// A list of labels that `k.brx_idx` chooses from: `.branchtargets a, b, c`.
class branch_table : public detail::label_id {
public:
    using label_id::label_id;
};

/// One arm of `k.switch_` and `k.switch_table`.
template <std::int64_t V, class Body>
struct switch_case {
    static constexpr std::int64_t value = V;
    Body body;
};
template <class Body>
struct switch_default {
    Body body;
};
template <std::int64_t V, class Body>
[[nodiscard]] constexpr auto case_(Body body) {
    return switch_case<V, Body>{body};
}
template <class Body>
[[nodiscard]] constexpr auto default_(Body body) {
    return switch_default<Body>{body};
}

namespace detail {

template <class...>
struct type_list_of {};

template <class Index>
inline constexpr bool is_index = traits<Index>::is_reg && meta::is_same_v<typename traits<Index>::value, u32>;

/// The value of a case; -1 for the default and for what is no arm.
template <class Case>
inline constexpr std::int64_t case_value = -1;
template <std::int64_t V, class Body>
inline constexpr std::int64_t case_value<switch_case<V, Body>> = V;
template <class Case>
inline constexpr bool is_default = false;
template <class Body>
inline constexpr bool is_default<switch_default<Body>> = true;
template <class Case>
inline constexpr bool is_case = false;
template <std::int64_t V, class Body>
inline constexpr bool is_case<switch_case<V, Body>> = true;

/// What the arms of a `switch_table` are together.
template <class... Cases>
struct case_table {
    static constexpr std::int64_t most = 1023;
    static constexpr unsigned defaults = (0u + ... + (is_default<Cases> ? 1u : 0u));
    static constexpr bool all_cases = ((is_case<Cases> || is_default<Cases>) && ...) && defaults <= 1;
    static constexpr bool has_default = defaults != 0;
    static constexpr bool too_far = ((is_case<Cases> && (case_value<Cases> < 0 || case_value<Cases> > most)) || ...);
    static constexpr std::uint32_t entries = [] {
        std::int64_t n = 0;
        ((n = case_value<Cases> >= n ? case_value<Cases> + 1 : n), ...);
        return static_cast<std::uint32_t>(n);
    }();
    static constexpr bool twice = [] {
        const std::int64_t values[] = {case_value<Cases>..., -1};
        for (std::size_t i = 0; i < sizeof...(Cases); ++i)
            for (std::size_t k = 0; k < i; ++k)
                if (values[i] >= 0 && values[i] == values[k]) return true;
        return false;
    }();
    static constexpr bool no_gaps = sizeof...(Cases) - defaults == entries;
    static constexpr bool ok = all_cases && entries != 0 && !too_far && !twice && (no_gaps || has_default);
};
template <class A>
inline constexpr bool is_label = meta::is_same_v<A, label> || meta::is_same_v<A, branch_table>;
/// `{}` where a list of labels is due.
struct no_targets {};

template <class Body, class... A>
constexpr auto run_body(Body& body, A... args) {
    if constexpr (meta::is_invocable_v<Body&, A...>) {
        static_assert(
            meta::is_void_v<meta::invoke_result_t<Body&, A...>>,
            "PTXDSL-K04: the body of a construct returns a value; a C++ return cannot leave a kernel construct, use "
            "break_, continue_ or k.ret()");
        body(args...);
    } else {
        static_assert(
            always_false<Body>,
            "PTXDSL-K01: the body of this construct does not take these arguments: for_ passes its counter, [&](px::reg<u32> i), "
            "loop may pass a px::loop_handle, if_ and while_ pass nothing");
    }
}

/// What an operand is in one word.
template <class T>
[[nodiscard]] constexpr std::uint32_t one_word(const operand<T>& o) noexcept {
    return ir::operand_words(o.words[0]) == 1 ? o.words[0] : ir::counting::nothing;
}
/// Trip count of `for (i = first; i < bound; i += step)` when all three are literals, else `unknown_count`.
template <class T>
[[nodiscard]] constexpr std::uint32_t constant_trips(const operand<T>& first, const operand<T>& bound,
                                                     const operand<T>& step) {
    const auto literal = [](const operand<T>& o) {
        return o.is_literal() && ir::kind_of(o.words[0]) == ir::operand_kind::small_int;
    };
    if (!literal(first) || !literal(bound) || !literal(step)) return ir::unknown_count;
    const std::int64_t a = ir::small_value(first.words[0]), b = ir::small_value(bound.words[0]),
                       s = ir::small_value(step.words[0]);
    if (a >= b) return 0;
    return s <= 0 ? ir::unknown_count : static_cast<std::uint32_t>((b - a + s - 1) / s);
}

template <target Tgt>
class control_family : public family<Tgt, control_family<Tgt>> {
    using family<Tgt, control_family<Tgt>>::ctx;

public:
    /// Emits `@!cond bra else; …; else:`. Complete it with `.else_([&] { … })`.
    template <class Then>
    constexpr if_result if_(const reg<pred>& cond, Then&& then, location where = location::current()) const {
        return branch(cond, false, then, where);
    }
    template <class Then>
    constexpr if_result if_(negated cond, Then&& then, location where = location::current()) const {
        return branch(cond.p, true, then, where);
    }
    /// Refuses what is not a predicate with a sentence (A02).
    template <class C, class Then>
        requires(!meta::is_same_v<C, pred>)
    constexpr auto if_(const reg<C>&, Then&&, location = location::current()) const {
        static_assert(always_false<C>,
                      "PTXDSL-A02: the condition of if_ is a data register; compare it: k.if_(x != 0, …)");
    }
    template <class C, class Then>
        requires(meta::is_arithmetic_v<C>)
    constexpr auto if_(C, Then&&, location = location::current()) const {
        static_assert(
            always_false<C>,
            "PTXDSL-A02: the condition of if_ is a C++ value, known while the kernel is written; a C++ if decides "
            "by it what is written");
    }

    /// The same of everything else.
    template <class D = void>
    constexpr auto if_(anything, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: if_ takes a predicate register and what is written where it holds: k.if_(x < n, [&] { … })");
    }
    template <class D = void>
    constexpr auto switch_(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: switch_ takes an integer register and cases: k.switch_(x, px::case_<0>([&] { … }))");
    }
    /// Emits `mov i, first; again: setp.ge p, i, bound; @p bra done; …; next: add i, i, step; bra again; done:`.
    ///
    /// The body gets the counter, and the loop's handle when it takes a second argument. `T` follows the register among
    /// `first`, `bound`, `step`, or is u32 when all three are literals.
    template <class A, class B, class C, class Body>
    constexpr auto for_(A&& first, B&& bound, C&& step, Body&& body, location where = location::current()) const {
        using value = first_value_t<A, B, C>;
        using T = meta::conditional_t<meta::is_void_v<value>, u32, value>;
        static_assert(integer_type<T>, "PTXDSL-A01: a loop counter is an integer");
        ir::program& p = ctx().p;
        const operand<T> from = as_operand<T>(static_cast<A&&>(first), where);
        const operand<T> to = as_operand<T>(static_cast<B&&>(bound), where);
        const operand<T> by = as_operand<T>(static_cast<C&&>(step), where);
        ir::span nested[] = {from.fresh, to.fresh, by.fresh};
        settle_spans(p, nested, 3, where);
        const reg<T> i(p, p.new_reg(scalar_of<T>, "i"));
        emit_mov<scalar_of<T>>(p, i.id(), without_order(from), where);
        const control_writer w{p};
        const loop_frame f = open("loop", "next", where, constant_trips(from, to, by), i.id(),
                                  isa::info(scalar_of<T>).cls == isa::type_class::signed_int, one_word(from),
                                  one_word(to), one_word(by));
        w.bra(f.done, guard_of(w.compare<tok::ge, scalar_of<T>>(operand<T>(i, where), without_order(to), where), false),
              where);
        p.add_region(ir::region::loop_body, where, f.id);
        if constexpr (meta::is_invocable_v<Body&, reg<T>, loop_handle>)
            run_body(body, reg<T>(i), loop_handle(p, f));
        else
            run_body(body, reg<T>(i));
        p.add_region(ir::region::loop_step, where, f.id);
        p.place_label(f.again, where);
        w.counter<tok::add, scalar_of<T>>(i.id(), operand<T>(i, where), without_order(by), where);
        close(f, where);
    }
    /// `for_(0, bound, 1, body)`.
    template <class B, class Body>
    constexpr auto for_(B&& bound, Body&& body, location where = location::current()) const {
        for_(0, static_cast<B&&>(bound), 1, static_cast<Body&&>(body), where);
    }

    /// Emits `loop: <cond>; @!p bra done; …; bra loop; done:`; `cond` is a lambda that returns a predicate.
    template <class Cond, class Body>
    constexpr auto while_(Cond&& cond, Body&& body, location where = location::current()) const {
        ir::program& p = ctx().p;
        const loop_frame f = open("while", "", where, ir::unknown_count);
        const reg<pred> c = cond();
        check_condition(p, c, where);
        p.add_region(ir::region::break_, where, f.id, guard_of(c, true));
        control_writer{p}.bra(f.done, guard_of(c, true), where);
        if constexpr (meta::is_invocable_v<Body&, loop_handle>)
            run_body(body, loop_handle(p, f));
        else
            run_body(body);
        close(f, where);
    }
    /// Emits `loop: …; bra loop; done:`; leave it with the handle's `break_if`, `k.ret()` or `k.exit()` (K03).
    template <class Body>
    constexpr auto loop(Body&& body, location where = location::current()) const {
        ir::program& p = ctx().p;
        const loop_frame f = open("loop", "", where, ir::unknown_count);
        if constexpr (meta::is_invocable_v<Body&, loop_handle>)
            run_body(body, loop_handle(p, f));
        else
            run_body(body);
        close(f, where);
    }
    /// Emits `loop: …; @cond bra loop;`: the body returns the predicate that continues.
    template <class Body>
    constexpr auto do_while(Body&& body, location where = location::current()) const {
        ir::program& p = ctx().p;
        const loop_frame f = open("loop", "", where, ir::unknown_count);
        const reg<pred> c = body();
        check_condition(p, c, where);
        p.add_region(ir::region::break_, where, f.id, guard_of(c, true));
        control_writer{p}.bra(f.head, guard_of(c, false), where);
        p.place_label(f.done, where);
        p.add_region(ir::region::loop_end, where, f.id);
    }

    /// Emits, for each case, `setp.ne p, x, c; @p bra next; …; bra end; next:`, then the default, then `end:`.
    /// Cases: `px::case_<3>([&] { … })`, `px::default_([&] { … })`.
    template <class T, class... Cases>
    constexpr auto switch_(const reg<T>& x, location where, Cases&&... cases) const {
        static_assert(integer_type<T>, "PTXDSL-A01: a switch is over an integer register");
        ir::program& p = ctx().p;
        refuse_guard(ctx(), where);
        const std::uint32_t end = p.new_label("end_switch", where);
        (one_case(x, cases, end, where), ...);
        p.place_label(end, where);
        constexpr std::size_t nested =
            (std::size_t{0} + ... + (requires { meta::remove_cvref_t<Cases>::value; } ? 1u : 0u));
        for (std::size_t i = 0; i < nested; ++i) p.add_region(ir::region::if_end, where);
    }
    template <class T, class First, class... Cases>
        requires(!meta::is_same_v<meta::remove_cvref_t<First>, location>)
    constexpr auto switch_(const reg<T>& x, First&& first, Cases&&... cases) const {
        switch_(x, location(ctx().p.locations.back()), static_cast<First&&>(first), static_cast<Cases&&>(cases)...);
    }
    template <class T, class... Cases>
    constexpr auto switch_(const assigned<reg<T>>& x, Cases&&... cases) const {
        switch_(x.target(), static_cast<Cases&&>(cases)...);
    }

    /// Emits `table: .branchtargets c0, …; setp.gt.u32 p, x, highest; @p bra default; brx.idx x, table;`, then for each
    /// case `c: …; bra end;`, then the default, then `end:`: one indirect branch where `switch_` compares with every
    /// case.
    ///
    /// Cases are numbered from 0, `px::case_<3>([&] { … })` in any order; values between them go to the default.
    /// Without `px::default_` there is no comparison: every value up to the highest has its case, and `x` is one of
    /// those.
    template <class... Cases>
    constexpr auto switch_table(const operand<u32>& x, Cases&&... cases) const {
        using table = case_table<meta::remove_cvref_t<Cases>...>;
        check_table<table>();
        if constexpr (table::ok) {
            std::uint32_t labels[table::entries + 1] = {};  // the last: the default
            const std::uint32_t end = begin_table<table>(x, labels, type_list_of<meta::remove_cvref_t<Cases>...>());
            std::size_t left = sizeof...(Cases);
            constexpr bool alone = sizeof...(Cases) == 1;
            (table_case<false>(x, cases, labels, end, left, alone), ...);
            (table_case<true>(x, cases, labels + table::entries, end, left, alone), ...);
            ctx().p.place_label(end, x.where);
            for (std::size_t i = alone ? 0 : 1; i < sizeof...(Cases); ++i)
                ctx().p.add_region(ir::region::if_end, x.where);
        }
    }
    /// Refuses what is no u32 register with a sentence (A01, A02, A14).
    template <class X, class... Cases>
        requires(!is_index<X>)
    constexpr auto switch_table(const X&, Cases&&...) const {
        check_index<X>();
    }

    /// Emits `{`, the body, `}`: a PTX scope. Registers are already unique; use it to structure the text.
    template <class Body>
    constexpr auto scope(Body&& body, location where = location::current()) const {
        refuse_guard(ctx(), where);
        ctx().p.add_region(ir::region::scope_begin, where);
        run_body(body);
        ctx().p.add_region(ir::region::scope_end, where);
    }

    /// Emits `ret;`: leaves the kernel (or the device function).
    constexpr auto ret(location where = location::current()) const {
        control_writer{ctx().p, ctx().guard}.template plain<tok::ret>(where);
    }
    /// Emits `exit;`: ends the thread.
    constexpr auto exit(location where = location::current()) const {
        control_writer{ctx().p, ctx().guard}.template plain<tok::exit>(where);
    }
    /// Emits `trap;`: aborts the grid.
    constexpr auto trap(location where = location::current()) const {
        control_writer{ctx().p, ctx().guard}.template plain<tok::trap>(where);
    }

    /// Declares a label without placing it. Emits nothing.
    [[nodiscard]] constexpr label new_label(string_view name, location where = location::current()) const {
        if (!ir::is_name_part(name))
            ctx().p.report("K01", where, {"'", name, "' is no name for a label; PTX takes letters, digits, _ and $"});
        return label(ctx().p, ctx().p.new_label(name, where));
    }
    /// Emits `name:` here. Once per label (K01).
    constexpr auto place(label l, location where = location::current()) const {
        if (!is_own(l, where)) return;
        refuse_guard(ctx(), where);
        if (ctx().p.labels[l.id()].placed != 0) ctx().p.report("K01", where, {"label placed twice"});
        ctx().p.place_label(l.id(), where);
    }
    /// Emits `bra name;` under the pending guard.
    constexpr auto bra(label l, location where = location::current()) const {
        if (is_own(l, where)) control_writer{ctx().p}.bra(l.id(), ctx().guard, where);
    }

    /// Emits `name: .branchtargets a, b, c;` here: a list for several `brx_idx` behind it. PTX ISA 11.3.1.
    template <std::uint32_t N>
    [[nodiscard]] constexpr auto branch_targets(const label (&targets)[N], string_view name = "table",
                                                location where = location::current()) const {
        ir::program& p = ctx().p;
        std::uint32_t ids[N] = {};
        const branch_table table(p, p.new_label(name, where));
        take_targets(targets, ids, where);
        p.place_table(ir::label_kind::branch_targets, table.id(), where, ids, N);
        return table;
    }
    /// `brx.idx index, table;` PTX ISA 9.7.12.3. The index is below the number of targets; nothing tests that.
    template <class Index, meta::same_as<branch_table> Table>
    constexpr auto brx_idx(Index&& index, const Table& table, location where = location::current()) const {
        return choose<false>(static_cast<Index&&>(index), table, where);
    }
    /// `brx.idx index, table;` with `.uni`: all threads of the warp go to the same target.
    template <class Index, meta::same_as<branch_table> Table>
    constexpr auto brx_idx_uni(Index&& index, const Table& table, location where = location::current()) const {
        return choose<true>(static_cast<Index&&>(index), table, where);
    }
    /// Both lines, `table: .branchtargets a, b, c;` and the branch: `k.brx_idx(index, {a, b, c})`.
    template <class Index, std::uint32_t N>
    constexpr auto brx_idx(Index&& index, const label (&targets)[N], location where = location::current()) const {
        return choose<false>(static_cast<Index&&>(index), targets, where);
    }
    template <class Index, std::uint32_t N>
    constexpr auto brx_idx_uni(Index&& index, const label (&targets)[N], location where = location::current()) const {
        return choose<true>(static_cast<Index&&>(index), targets, where);
    }
    /// Refuses an empty list with a sentence (K01).
    template <class Index>
    constexpr auto brx_idx(Index&&, no_targets, location = location::current()) const {
        static_assert(always_false<Index>,
                      "PTXDSL-K01: the list of targets of brx.idx is empty; name the labels: {a, b}");
    }
    template <class Index>
    constexpr auto brx_idx_uni(Index&&, no_targets, location = location::current()) const {
        static_assert(always_false<Index>,
                      "PTXDSL-K01: the list of targets of brx.idx is empty; name the labels: {a, b}");
    }

private:
    /// K02
    [[nodiscard]] constexpr bool is_own(const label_id& l, location where) const {
        if (l.program() == &ctx().p) return true;
        ctx().p.report("K02", where, {"this label belongs to another kernel"});
        return false;
    }
    template <std::uint32_t N>
    constexpr void take_targets(const label (&targets)[N], std::uint32_t* ids, location where) const {
        for (std::uint32_t i = 0; i < N; ++i) {
            if (!is_own(targets[i], where)) continue;
            ids[i] = targets[i].id();
            ++ctx().p.labels[ids[i]].used;
        }
    }
    template <class Index>
    static constexpr auto check_index() noexcept {
        using V = meta::remove_cvref_t<Index>;
        using value = typename traits<V>::value;
        static_assert(
            !traits<V>::is_special,
            "PTXDSL-A14: a special register is an operand of mov only; read it first: auto t = k.mov(px::tid.x)");
        static_assert(traits<V>::is_reg || traits<V>::is_special,
                      "PTXDSL-A14: the index of a branch table is a register; a constant one chooses nothing");
        static_assert(!traits<V>::is_reg || !meta::is_same_v<value, pred>,
                      "PTXDSL-A02: the index of a branch table is a predicate; a branch on it is k.if_");
        static_assert(
            !traits<V>::is_reg || meta::is_same_v<value, pred> || meta::is_same_v<value, u32>,
            "PTXDSL-A01: the index of a branch table is a px::u32 register; convert it with k.cvt<px::u32>(x)");
    }
    template <bool Uniform, class Index>
    constexpr auto choose(Index&& index, const branch_table& table, location where) const {
        check_index<Index>();
        if constexpr (is_index<Index>)
            if (is_own(table, where))
                control_writer{ctx().p, ctx().guard}.brx(operand<u32>(static_cast<Index&&>(index), where), table.id(),
                                                         Uniform, where);
    }
    template <bool Uniform, class Index, std::uint32_t N>
    constexpr auto choose(Index&& index, const label (&targets)[N], location where) const {
        check_index<Index>();
        std::uint32_t ids[N] = {};
        take_targets(targets, ids, where);
        ir::program& p = ctx().p;
        const branch_table table(p, p.table_next(ir::label_kind::branch_targets, "table", where, ids, N));
        choose<Uniform>(static_cast<Index&&>(index), table, where);
    }
    template <class Table>
    static constexpr auto check_table() noexcept {
        static_assert(Table::all_cases,
                      "PTXDSL-K01: switch_table takes px::case_<n>([&] { … }) and at most one px::default_([&] { … })");
        static_assert(!Table::all_cases || Table::entries != 0, "PTXDSL-K01: a switch_table without cases");
        static_assert(
            !Table::all_cases || !Table::too_far,
            "PTXDSL-K01: the cases of switch_table are numbered from 0 to at most 1023; k.switch_ compares with "
            "any value");
        static_assert(!Table::twice, "PTXDSL-K01: two cases of switch_table have the same value");
        static_assert(!Table::all_cases || Table::too_far || Table::twice || Table::no_gaps || Table::has_default,
                      "PTXDSL-K01: a value between the cases of switch_table has none; add px::default_([&] { … })");
    }
    /// Everything before the first case; fills in the cases' labels and returns the one behind them all.
    template <class Table, class... Cases>
    constexpr std::uint32_t begin_table(const operand<u32>& x, std::uint32_t* labels, type_list_of<Cases...>) const {
        ir::program& p = ctx().p;
        const control_writer w{p};
        refuse_guard(ctx(), x.where);
        const std::uint32_t end = p.new_label("end_switch", x.where);
        const std::uint32_t other = Table::has_default ? p.new_label("default", x.where) : end;
        for (std::uint32_t i = 0; i <= Table::entries; ++i) labels[i] = other;
        const auto name_case = [&]<class Case>(type_list_of<Case>) {
            if constexpr (is_case<Case>) labels[case_value<Case>] = p.new_label("case", x.where);
        };
        (name_case(type_list_of<Cases>()), ...);
        for (std::uint32_t i = 0; i < Table::entries; ++i) ++p.labels[labels[i]].used;
        const branch_table table(
            p, p.table_next(ir::label_kind::branch_targets, "table", x.where, labels, Table::entries));
        p.flush_notes(x.where);
        raw_operand index = x;
        if constexpr (Table::has_default) {
            const reg<pred> beyond =
                w.compare<tok::gt, isa::scalar::u32>(index, operand<u32>(Table::entries - 1, x.where), x.where);
            w.bra(other, guard_of(beyond, false), x.where);
            index.fresh = {};
        }
        w.brx(index, table.id(), false, x.where);
        return end;
    }
    /// One arm in the order of the text. The verifier sees the arms of nested ifs on a condition that follows from `x`.
    template <bool Default, class Case>
    constexpr auto table_case(const operand<u32>& x, Case& c, const std::uint32_t* labels, std::uint32_t end,
                              std::size_t& left, bool alone) const {
        if constexpr (is_default<meta::remove_cvref_t<Case>> == Default) {
            ir::program& p = ctx().p;
            const bool last = --left == 0;
            if (!last || alone) p.add_region(ir::region::if_begin, x.where, ir::payload_of(x.words[0]) << 1 | 1u);
            p.place_label(labels[Default ? 0 : case_value<meta::remove_cvref_t<Case>>], x.where);
            run_body(c.body);
            if (last) return;
            control_writer{p}.bra(end, 0, x.where);
            p.add_region(ir::region::else_begin, x.where);
        }
    }
    template <class T>
    [[nodiscard]] static constexpr raw_operand without_order(const operand<T>& o) noexcept {
        raw_operand r = o;
        r.fresh = {};
        return r;
    }
    template <class T, class Case>
    constexpr auto one_case(const reg<T>& x, Case& c, std::uint32_t end, location where) const {
        ir::program& p = ctx().p;
        const control_writer w{p};
        if constexpr (requires { c.value; }) {
            const reg<pred> other =
                w.compare<tok::ne, scalar_of<T>>(operand<T>(x, where), operand<T>(c.value, where), where);
            const std::uint32_t next = p.new_label("case", where);
            p.add_region(ir::region::if_begin, where, other.id() << 1 | 1u);
            w.bra(next, guard_of(other, false), where);
            run_body(c.body);
            w.bra(end, 0, where);
            p.add_region(ir::region::else_begin, where);
            p.place_label(next, where);
        } else {
            run_body(c.body);
        }
    }
    template <class Then>
    constexpr if_result branch(const reg<pred>& cond, bool negate, Then& then, location where) const {
        ir::program& p = ctx().p;
        refuse_guard(ctx(), where);
        check_condition(p, cond, where);
        const std::uint32_t skip = p.new_label("else", where);
        p.add_region(ir::region::if_begin, where, cond.id() << 1 | (negate ? 1u : 0u));
        control_writer{p}.bra(skip, guard_of(cond, !negate), where);
        const std::uint32_t around = begin_body(p);
        run_body(then);
        p.body_begin = around;
        p.place_label(skip, where);
        p.add_region(ir::region::if_end, where);
        return {p, skip, p.words.size()};
    }
    /// `counting`: the words of `ir::counting`, where the loop counts.
    template <class... Counting>
    [[nodiscard]] constexpr loop_frame open(string_view top, string_view next, location where, std::uint32_t trips,
                                            Counting... counting) const {
        ir::program& p = ctx().p;
        refuse_guard(ctx(), where);
        const std::uint32_t head = p.new_label(top, where);
        const std::uint32_t again = next.empty() ? head : p.new_label(next, where);
        const std::uint32_t done = p.new_label("done", where);
        const std::uint32_t id = p.loop_count++;
        p.add_region(ir::region::loop_begin, where, id, trips, counting...);
        p.place_label(head, where);
        return {id, head, again, done, begin_body(p)};
    }
    constexpr auto close(loop_frame f, location where) const {
        ir::program& p = ctx().p;
        p.body_begin = f.around;
        control_writer{p}.bra(f.head, 0, where);
        p.place_label(f.done, where);
        p.add_region(ir::region::loop_end, where, f.id);
    }
};

}  // namespace detail
}  // namespace ptxdsl
