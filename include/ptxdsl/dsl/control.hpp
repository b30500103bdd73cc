// SPDX-License-Identifier: Apache-2.0
// Structured control flow (PTX ISA 9.7.12). Each construct says in its first doc line what it emits; the C++ lambda is
// run once, while the kernel is being written. C++ loops unroll.
#pragma once

#include <ptxdsl/dsl/builder_base.hpp>

namespace ptxdsl {

namespace detail {

/// Writes the few control instructions that need no type dispatch.
struct control_writer {
    ir::program& p;
    std::uint32_t guard = 0;

    [[nodiscard]] static constexpr std::uint32_t guard_of(const reg<pred>& c, bool negate) noexcept {
        return (c.id() + 1) << 1 | (negate ? 1u : 0u);
    }
    constexpr void bra(std::uint32_t label, std::uint32_t g, location where) const {
        constexpr std::uint32_t packed = static_cast<std::uint32_t>(tok::bra);
        raw_operand target;
        target.words[0] = ir::head(ir::operand_kind::label, label);
        ++p.labels[label].used;
        emit(p, {&packed, 1, 0, {1, 0}}, g, where, &target, 1);
    }
    constexpr void plain(tok op, location where) const {
        const std::uint32_t packed = static_cast<std::uint32_t>(op);
        emit(p, {&packed, 1, 0, {1, 0}}, guard, where, nullptr, 0);
    }
    /// `op.type dst, a, b` on registers that exist already, for loop counters.
    constexpr void counter(tok op, isa::scalar type, std::uint32_t dst, const raw_operand& a, const raw_operand& b,
                           location where) const {
        const std::uint32_t packed = static_cast<std::uint32_t>(op) | static_cast<std::uint32_t>(isa::type_token(type))
                                                                          << 16;
        const raw_operand list[] = {reg_operand(p, dst), a, b};
        emit(p, {&packed, 2, 0, {1, 0}}, 0, where, list, 3);
    }
    constexpr reg<pred> compare(tok op, isa::scalar type, const raw_operand& a, const raw_operand& b,
                                location where) const {
        const std::uint32_t packed[] = {static_cast<std::uint32_t>(tok::setp) | static_cast<std::uint32_t>(op) << 16,
                                        static_cast<std::uint32_t>(isa::type_token(type))};
        const std::uint32_t dst = p.new_reg(isa::scalar::pred);
        const raw_operand list[] = {reg_operand(p, dst), a, b};
        emit(p, {packed, 3, 0, {1, 0}}, 0, where, list, 3);
        return {p, dst};
    }
};

/// One open loop: where `break_` and `continue_` go.
struct loop_frame {
    std::uint32_t id, head, again, done;
};

}  // namespace detail

/// Returned by `k.if_(cond, then)`; `.else_(body)` completes it. An else without its if cannot be written (K01).
class if_result {
public:
    constexpr if_result(ir::program& p, std::uint32_t else_label, std::uint32_t after) noexcept
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
        static_cast<Body&&>(body)();
        p_.place_label(end, where);
        p_.add_region(ir::region::if_end, where);
    }

    static constexpr std::uint32_t label_words = 3;
    static constexpr std::uint32_t if_end_words = 2;

private:
    ir::program& p_;
    std::uint32_t else_label_, after_;
};

/// Handle of a loop, passed to its body: `[&](px::loop_handle l) { l.break_if(done); }`.
class loop_handle {
public:
    constexpr loop_handle(ir::program& p, detail::loop_frame frame) noexcept : p_(&p), frame_(frame) {}
    /// Emits `bra` to the end of this loop.
    constexpr void break_(location where = location::current()) const {
        leave(ir::region::break_, frame_.done, 0, where);
    }
    /// Emits `@cond bra` to the end of this loop.
    constexpr void break_if(const reg<pred>& cond, location where = location::current()) const {
        leave(ir::region::break_, frame_.done, detail::control_writer::guard_of(cond, false), where);
    }
    constexpr void break_if(negated cond, location where = location::current()) const {
        leave(ir::region::break_, frame_.done, detail::control_writer::guard_of(cond.p, true), where);
    }
    /// Emits `bra` to the next iteration of this loop.
    constexpr void continue_(location where = location::current()) const {
        leave(ir::region::continue_, frame_.again, 0, where);
    }
    /// Emits `@cond bra` to the next iteration of this loop.
    constexpr void continue_if(const reg<pred>& cond, location where = location::current()) const {
        leave(ir::region::continue_, frame_.again, detail::control_writer::guard_of(cond, false), where);
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

    ir::program* p_;
    detail::loop_frame frame_;
};

/// A place to branch to, for control flow that the constructs below do not cover.
class label {
public:
    constexpr explicit label(std::uint32_t id) noexcept : id_(id) {}
    [[nodiscard]] constexpr std::uint32_t id() const noexcept { return id_; }

private:
    std::uint32_t id_;
};

/// One arm of `k.switch_`.
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

template <class Body, class... A>
constexpr auto run_body(Body& body, A... args) {
    if constexpr (std::is_invocable_v<Body&, A...>) {
        static_assert(
            std::is_void_v<std::invoke_result_t<Body&, A...>>,
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
    if (s <= 0 || a >= b) return 0;
    return static_cast<std::uint32_t>((b - a + s - 1) / s);
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
        requires(!std::is_same_v<C, pred>)
    constexpr auto if_(const reg<C>&, Then&&, location = location::current()) const {
        static_assert(always_false<C>,
                      "PTXDSL-A02: the condition of if_ is a data register; compare it: k.if_(x != 0, …)");
    }

    /// Emits `mov i, first; again: setp.ge p, i, bound; @p bra done; …; next: add i, i, step; bra again; done:`.
    ///
    /// The body gets the counter, and the loop's handle when it takes a second argument. `T` follows the register among
    /// `first`, `bound`, `step`, or is u32 when all three are literals.
    template <class A, class B, class C, class Body>
    constexpr auto for_(A&& first, B&& bound, C&& step, Body&& body, location where = location::current()) const {
        using value = first_value_t<A, B, C>;
        using T = std::conditional_t<std::is_void_v<value>, u32, value>;
        static_assert(integer_type<T>, "PTXDSL-A01: a loop counter is an integer");
        ir::program& p = ctx().p;
        const operand<T> from = as_operand<T>(static_cast<A&&>(first), where);
        const operand<T> to = as_operand<T>(static_cast<B&&>(bound), where);
        const operand<T> by = as_operand<T>(static_cast<C&&>(step), where);
        const reg<T> i(p, p.new_reg(scalar_of<T>, "i"));
        emit_mov(p, scalar_of<T>, i.id(), without_order(from), where);
        const control_writer w{p};
        const loop_frame f = open("loop", "next", where, constant_trips(from, to, by));
        w.bra(f.done,
              control_writer::guard_of(w.compare(tok::ge, scalar_of<T>, operand<T>(i, where), without_order(to), where),
                                       false),
              where);
        if constexpr (std::is_invocable_v<Body&, reg<T>, loop_handle>)
            run_body(body, reg<T>(i), loop_handle(p, f));
        else
            run_body(body, reg<T>(i));
        p.place_label(f.again, where);
        w.counter(tok::add, scalar_of<T>, i.id(), operand<T>(i, where), without_order(by), where);
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
        p.add_region(ir::region::break_, where, f.id, control_writer::guard_of(c, true));
        control_writer{p}.bra(f.done, control_writer::guard_of(c, true), where);
        if constexpr (std::is_invocable_v<Body&, loop_handle>)
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
        if constexpr (std::is_invocable_v<Body&, loop_handle>)
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
        p.add_region(ir::region::break_, where, f.id, control_writer::guard_of(c, true));
        control_writer{p}.bra(f.head, control_writer::guard_of(c, false), where);
        p.place_label(f.done, where);
        p.add_region(ir::region::loop_end, where, f.id);
    }

    /// Emits, for each case, `setp.ne p, x, c; @p bra next; …; bra end; next:`, then the default, then `end:`.
    /// Cases: `px::case_<3>([&] { … })`, `px::default_([&] { … })`.
    template <class T, class... Cases>
    constexpr auto switch_(const reg<T>& x, location where, Cases&&... cases) const {
        static_assert(integer_type<T>, "PTXDSL-A01: a switch is over an integer register");
        ir::program& p = ctx().p;
        const std::uint32_t end = p.new_label("end_switch", where);
        (one_case(x, cases, end, where), ...);
        p.place_label(end, where);
        constexpr std::size_t nested =
            (std::size_t{0} + ... + (requires { std::remove_cvref_t<Cases>::value; } ? 1u : 0u));
        for (std::size_t i = 0; i < nested; ++i) p.add_region(ir::region::if_end, where);
    }
    template <class T, class First, class... Cases>
        requires(!std::is_same_v<std::remove_cvref_t<First>, location>)
    constexpr auto switch_(const reg<T>& x, First&& first, Cases&&... cases) const {
        switch_(x, x.program()->locations.back(), static_cast<First&&>(first), static_cast<Cases&&>(cases)...);
    }

    /// Emits `{`, the body, `}`: a PTX scope. Registers are already unique; use it to structure the text.
    template <class Body>
    constexpr auto scope(Body&& body, location where = location::current()) const {
        ctx().p.add_region(ir::region::scope_begin, where);
        run_body(body);
        ctx().p.add_region(ir::region::scope_end, where);
    }

    /// Emits `ret;`: leaves the kernel (or the device function).
    constexpr auto ret(location where = location::current()) const {
        control_writer{ctx().p, ctx().guard}.plain(tok::ret, where);
    }
    /// Emits `exit;`: ends the thread.
    constexpr auto exit(location where = location::current()) const {
        control_writer{ctx().p, ctx().guard}.plain(tok::exit, where);
    }
    /// Emits `trap;`: aborts the grid.
    constexpr auto trap(location where = location::current()) const {
        control_writer{ctx().p, ctx().guard}.plain(tok::trap, where);
    }

    /// Declares a label without placing it. Emits nothing.
    [[nodiscard]] constexpr label new_label(string_view name, location where = location::current()) const {
        return label(ctx().p.new_label(name, where));
    }
    /// Emits `name:` here. Once per label (K01).
    constexpr auto place(label l, location where = location::current()) const {
        if (ctx().p.labels[l.id()].placed != 0) ctx().p.report("K01", where, {"label placed twice"});
        ctx().p.place_label(l.id(), where);
    }
    /// Emits `bra name;` under the pending guard.
    constexpr auto bra(label l, location where = location::current()) const {
        control_writer{ctx().p}.bra(l.id(), ctx().guard, where);
    }

private:
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
                w.compare(tok::ne, scalar_of<T>, operand<T>(x, where), operand<T>(c.value, where), where);
            const std::uint32_t next = p.new_label("case", where);
            p.add_region(ir::region::if_begin, where, other.id() << 1 | 1u);
            w.bra(next, control_writer::guard_of(other, false), where);
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
        const std::uint32_t skip = p.new_label("else", where);
        p.add_region(ir::region::if_begin, where, cond.id() << 1 | (negate ? 1u : 0u));
        control_writer{p}.bra(skip, control_writer::guard_of(cond, !negate), where);
        run_body(then);
        p.place_label(skip, where);
        p.add_region(ir::region::if_end, where);
        return {p, skip, p.words.size()};
    }
    [[nodiscard]] constexpr loop_frame open(string_view top, string_view next, location where,
                                            std::uint32_t trips) const {
        ir::program& p = ctx().p;
        const std::uint32_t head = p.new_label(top, where);
        const std::uint32_t again = next.empty() ? head : p.new_label(next, where);
        const std::uint32_t done = p.new_label("done", where);
        const std::uint32_t id = p.loop_count++;
        p.add_region(ir::region::loop_begin, where, id, trips);
        p.place_label(head, where);
        return {id, head, again, done};
    }
    constexpr auto close(loop_frame f, location where) const {
        ir::program& p = ctx().p;
        control_writer{p}.bra(f.head, 0, where);
        p.place_label(f.done, where);
        p.add_region(ir::region::loop_end, where, f.id);
    }
};

}  // namespace detail
}  // namespace ptxdsl
