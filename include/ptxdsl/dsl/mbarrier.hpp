// SPDX-License-Identifier: Apache-2.0
// mbarrier objects and their instructions (PTX ISA 9.7.13.15). A barrier's handle knows its ring, its stage and how many
// arrivals complete a phase; the ring's type is its own, so that stages, tokens and states of two rings do not mix.
#pragma once

#include <ptxdsl/detail/fixed_string.hpp>
#include <ptxdsl/dsl/control.hpp>
#include <ptxdsl/dsl/shared.hpp>

namespace ptxdsl {

/// Arrivals that complete one phase of a barrier. `arrivals<N>` checks a constant where it is written (E02).
struct arrival_count {
    std::uint32_t n;
};
namespace detail {
template <std::uint64_t N>
[[nodiscard]] constexpr arrival_count checked_arrivals() noexcept {
    static_assert(N >= 1 && N <= (1u << 20) - 1,
                  "PTXDSL-E02: an mbarrier expects 1 to 1048575 arrivals a phase; ptxas accepts anything and the kernel hangs");
    return {static_cast<std::uint32_t>(N)};
}
}  // namespace detail
template <std::uint64_t N>
inline constexpr arrival_count arrivals = detail::checked_arrivals<N>();
/// The same for a count known when the kernel is assembled; checked there.
[[nodiscard]] constexpr arrival_count arrivals_of(std::uint32_t n) noexcept { return {n}; }

/// The type of one ring of barriers, told apart by its name.
template <fixed_string Name>
struct ring {};

/// One barrier in this block's shared memory. `Ring` is the type of the ring it belongs to.
template <class Ring>
class [[nodiscard]] mbarrier {
public:
    using ring_type = Ring;
    constexpr mbarrier(const shared_region& r, std::uint32_t count) noexcept : r_(r), count_(count) {}
    constexpr mbarrier(const mbarrier& o) noexcept : r_(o.r_), count_(o.count_) { r_.fresh = {}; }
    constexpr mbarrier(mbarrier&&) noexcept = default;
    constexpr ~mbarrier() = default;
    mbarrier& operator=(const mbarrier&) = delete;
    mbarrier& operator=(mbarrier&&) = delete;

    [[nodiscard]] constexpr const shared_region& region() const noexcept { return r_; }
    [[nodiscard]] constexpr std::uint32_t count() const noexcept { return count_; }
    /// The 32-bit shared address: one `add.u32` for a constant stage other than the first, else nothing.
    [[nodiscard]] constexpr reg<u32> address(location where = location::current()) const& {
        return mbarrier(*this).address(where);
    }
    [[nodiscard]] constexpr reg<u32> address(location where = location::current()) && { return detail::address_register(r_, where); }

private:
    shared_region r_;
    std::uint32_t count_;
};

/// The same barrier in another block of the cluster (`k.mapa`): it can be arrived on, nothing else (B07, E10).
template <class Ring>
class [[nodiscard]] remote_mbarrier {
public:
    constexpr remote_mbarrier(const shared_region& local, std::uint32_t address, ir::span fresh) noexcept
        : local_(local), address_(address), fresh_(fresh) {}
    constexpr remote_mbarrier(const remote_mbarrier& o) noexcept : local_(o.local_), address_(o.address_) {}
    constexpr remote_mbarrier(remote_mbarrier&&) noexcept = default;
    constexpr ~remote_mbarrier() = default;
    remote_mbarrier& operator=(const remote_mbarrier&) = delete;
    remote_mbarrier& operator=(remote_mbarrier&&) = delete;
    [[nodiscard]] constexpr const shared_region& local() const noexcept { return local_; }
    [[nodiscard]] constexpr detail::raw_operand address_operand() const noexcept {
        detail::raw_operand o;
        o.prog = local_.prog;
        o.words[0] = ir::head(ir::operand_kind::address, 0);
        o.words[1] = ir::head(ir::operand_kind::reg, address_);
        o.count = 3;
        o.fresh = fresh_;
        return o;
    }

private:
    shared_region local_;
    std::uint32_t address_;
    ir::span fresh_{};
};

/// The state an arrive returns, for `test_wait` and `try_wait` on a barrier of the same ring (E09).
template <class Ring>
class [[nodiscard]] arrival_token {
public:
    constexpr explicit arrival_token(reg<u64> state) noexcept : state_(static_cast<reg<u64>&&>(state)) {}
    [[nodiscard]] constexpr const reg<u64>& state() const noexcept { return state_; }

private:
    reg<u64> state_;
};

/// `stages` barriers, 8 bytes each.
template <class Ring>
class [[nodiscard]] mbarrier_ring {
public:
    using ring_type = Ring;
    constexpr mbarrier_ring(const shared_region& r, std::uint32_t stages, std::uint32_t count) noexcept
        : r_(r), stages_(stages), count_(count) {}
    /// Barrier of stage `i`, a C++ constant (C03). Emits nothing.
    [[nodiscard]] constexpr mbarrier<Ring> operator[](int i) const { return stage(i); }
    [[nodiscard]] constexpr mbarrier<Ring> stage(int i, location where = location::current()) const {
        return {detail::staged(r_, i, stages_, 8, where), count_};
    }
    /// Barrier of a stage in a register: one `mad.lo.u32`.
    [[nodiscard]] constexpr mbarrier<Ring> operator[](const operand<u32>& slot) const { return {detail::indexed(r_, slot, 8), count_}; }
    [[nodiscard]] constexpr std::uint32_t stages() const noexcept { return stages_; }
    [[nodiscard]] constexpr std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] constexpr const shared_region& region() const noexcept { return r_; }

private:
    shared_region r_;
    std::uint32_t stages_, count_;
};

/// A ring of another block of the cluster (`k.mapa(ring, rank)`), for arrivals only.
template <class Ring>
class [[nodiscard]] remote_mbarrier_ring {
public:
    constexpr remote_mbarrier_ring(const shared_region& local, std::uint32_t base) noexcept : local_(local), base_(base) {}
    /// Barrier of a stage in a register: one `mad.lo.u32`.
    [[nodiscard]] constexpr remote_mbarrier<Ring> operator[](const operand<u32>& slot) const {
        shared_region far = local_;
        far.base = ir::head(ir::operand_kind::reg, base_);
        const shared_region at = detail::indexed(far, slot, 8);
        return {local_, ir::payload_of(at.base), at.fresh};
    }

private:
    shared_region local_;
    std::uint32_t base_;
};

namespace detail {

template <target Tgt>
class mbarrier_family : public family<Tgt, mbarrier_family<Tgt>> {
    using family<Tgt, mbarrier_family<Tgt>>::ctx;
    template <tok... Toks>
    using mb = form<Tgt, tok::mbarrier, Toks...>;

public:
    /// Reserves `stages` barriers of `count` arrivals: emits one `mov.u32 %Name, smem+offset`. Initialise each with
    /// `k.mbarrier_init(ring[i])`. The name is part of the type, so two rings do not mix (E09, E13).
    template <fixed_string Name>
    constexpr mbarrier_ring<ring<Name>> make_mbarrier_ring(std::uint32_t stages, arrival_count count, location where = location::current()) const {
        if (count.n == 0 || count.n > (1u << 20) - 1)
            ctx().p.report("E02", where, "an mbarrier expects 1 to 1048575 arrivals a phase, this one ", count.n);
        ir::allocation a;
        a.kind = ir::allocation_kind::barrier;
        a.stages = static_cast<std::uint16_t>(stages);
        a.stage_bytes = 8;
        a.align = 8;
        return {allocate_shared(ctx().p, a, Name.view(), -1, where), stages, count.n};
    }

    /// `mbarrier.init.shared::cta.b64 [bar], count;` One thread executes it.
    template <class R>
    constexpr void mbarrier_init(mbarrier<R> b, location where = location::current()) const {
        raw_operand n;
        n.words[0] = ir::head(ir::operand_kind::small, b.count());
        note(ir::note::barrier_init, b.region(), 1, b.count());
        effect<mb<tok::init, tok::shared__cta, tok::b64>>(ctx(), where, address_operand_of(b.region()), n);
    }
    /// `mbarrier.inval.shared::cta.b64 [bar];`
    template <class R>
    constexpr void mbarrier_inval(mbarrier<R> b, location where = location::current()) const {
        effect<mb<tok::inval, tok::shared__cta, tok::b64>>(ctx(), where, address_operand_of(b.region()));
    }
    /// `mbarrier.arrive.release.cta.shared::cta.b64 state, [bar];` Every executing thread arrives once.
    template <class R>
    constexpr arrival_token<R> mbarrier_arrive(mbarrier<R> b, location where = location::current()) const {
        note(ir::note::barrier_arrive, b.region(), 1, 0);
        return arrival_token<R>(value<mb<tok::arrive, tok::shared__cta, tok::b64>, u64>(ctx(), where, address_operand_of(b.region())));
    }
    /// `mbarrier.arrive.shared::cta.b64 state, [bar], count;`
    template <class R>
    constexpr arrival_token<R> mbarrier_arrive(mbarrier<R> b, std::uint32_t count, location where = location::current()) const {
        note(ir::note::barrier_arrive, b.region(), count, 0);
        return arrival_token<R>(
            value<mb<tok::arrive, tok::shared__cta, tok::b64>, u64>(ctx(), where, address_operand_of(b.region()), operand<u32>(count, where)));
    }
    /// `mbarrier.arrive{.M}.shared::cluster.b64 _, [bar];` on another block's barrier. Returns nothing: a remote arrive has
    /// no state (E10). Ordering is separate from addressing: the default is `.release.cta`, which suffices to hand back a
    /// buffer that was only read; `k.mbarrier_arrive<px::release, px::cluster>(bar)` publishes generic writes (G07).
    template <tok... M, class R>
    constexpr void mbarrier_arrive(remote_mbarrier<R> b, location where = location::current()) const {
        raw_operand sink;
        sink.words[0] = ir::head(ir::operand_kind::sink, 0);
        note(ir::note::barrier_arrive, b.local(), 1, 1);
        using F = mb<tok::arrive, M..., tok::shared__cluster, tok::b64>;
        require<F, rule::e10>();
        effect<F>(ctx(), where, sink, b.address_operand());
    }
    /// `mbarrier.arrive_drop.shared::cta.b64 state, [bar];`
    template <class R>
    constexpr arrival_token<R> mbarrier_arrive_drop(mbarrier<R> b, location where = location::current()) const {
        note(ir::note::barrier_noarity, b.region(), 0, 0);
        return arrival_token<R>(value<mb<tok::arrive_drop, tok::shared__cta, tok::b64>, u64>(ctx(), where, address_operand_of(b.region())));
    }
    /// `mbarrier.arrive.noComplete.shared::cta.b64 state, [bar], count;`
    template <class R>
    constexpr arrival_token<R> mbarrier_arrive_noComplete(mbarrier<R> b, std::uint32_t count,
                                                          location where = location::current()) const {
        note(ir::note::barrier_arrive, b.region(), count, 0);
        return arrival_token<R>(value<mb<tok::arrive, tok::noComplete, tok::shared__cta, tok::b64>, u64>(
            ctx(), where, address_operand_of(b.region()), operand<u32>(count, where)));
    }
    /// `mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], bytes;` One arrival that also expects `bytes` of copies.
    /// The bytes come from the tiles the copies fill: `k.mbarrier_arrive_expect_tx(full[s], a, b)`.
    template <class R, class... Tiles>
        requires(sizeof...(Tiles) > 0) && (requires { Tiles::bytes(); } && ...)
    constexpr void mbarrier_arrive_expect_tx(mbarrier<R> b, const Tiles&...) const {
        mbarrier_arrive_expect_tx(b, (std::uint32_t{0} + ... + Tiles::bytes()));
    }
    template <class R>
    constexpr void mbarrier_arrive_expect_tx(mbarrier<R> b, std::uint32_t bytes, location where = location::current()) const {
        check_tx(bytes, where);
        raw_operand sink;
        sink.words[0] = ir::head(ir::operand_kind::sink, 0);
        note(ir::note::barrier_arrive, b.region(), 1, 2);
        note(ir::note::barrier_expect, b.region(), bytes, 0);
        effect<mb<tok::arrive, tok::expect_tx, tok::shared__cta, tok::b64>>(ctx(), where, sink, address_operand_of(b.region()),
                                                                            operand<u32>(bytes, where));
    }
    /// `mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], bytes;` No arrival.
    template <class R>
    constexpr void mbarrier_expect_tx(mbarrier<R> b, std::uint32_t bytes, location where = location::current()) const {
        check_tx(bytes, where);
        note(ir::note::barrier_expect, b.region(), bytes, 0);
        effect<mb<tok::expect_tx, tok::relaxed, tok::cta, tok::shared__cta, tok::b64>>(ctx(), where, address_operand_of(b.region()),
                                                                                       operand<u32>(bytes, where));
    }
    /// `mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], bytes;` Simulates a copy's completion.
    template <class R>
    constexpr void mbarrier_complete_tx(mbarrier<R> b, std::uint32_t bytes, location where = location::current()) const {
        check_tx(bytes, where);
        note(ir::note::barrier_copy, b.region(), bytes, 1);
        effect<mb<tok::complete_tx, tok::relaxed, tok::cta, tok::shared__cta, tok::b64>>(ctx(), where, address_operand_of(b.region()),
                                                                                         operand<u32>(bytes, where));
    }
    /// `mbarrier.try_wait.parity.shared::cta.b64 p, [bar], parity;` May suspend the thread for a while; read `p` (E11).
    template <class R, class P>
    [[nodiscard]] constexpr reg<pred> mbarrier_try_wait_parity(mbarrier<R> b, P&& parity, location where = location::current()) const {
        note(ir::note::barrier_wait, b.region(), constant_parity(parity), 0);
        return value<mb<tok::try_wait, tok::parity, tok::shared__cta, tok::b64>, pred>(
            ctx(), where, address_operand_of(b.region()), as_operand<u32>(static_cast<P&&>(parity), where));
    }
    /// `mbarrier.test_wait.parity.shared::cta.b64 p, [bar], parity;` Never suspends.
    template <class R, class P>
    [[nodiscard]] constexpr reg<pred> mbarrier_test_wait_parity(mbarrier<R> b, P&& parity, location where = location::current()) const {
        note(ir::note::barrier_wait, b.region(), constant_parity(parity), 0);
        return value<mb<tok::test_wait, tok::parity, tok::shared__cta, tok::b64>, pred>(
            ctx(), where, address_operand_of(b.region()), as_operand<u32>(static_cast<P&&>(parity), where));
    }
    /// `mbarrier.try_wait.shared::cta.b64 p, [bar], state;`
    template <class R>
    [[nodiscard]] constexpr reg<pred> mbarrier_try_wait(mbarrier<R> b, const arrival_token<R>& token,
                                                        location where = location::current()) const {
        note(ir::note::barrier_wait, b.region(), ir::unknown_count, 0);
        return value<mb<tok::try_wait, tok::shared__cta, tok::b64>, pred>(ctx(), where, address_operand_of(b.region()),
                                                                          operand<u64>(token.state(), where));
    }
    /// `mbarrier.test_wait.shared::cta.b64 p, [bar], state;`
    template <class R>
    [[nodiscard]] constexpr reg<pred> mbarrier_test_wait(mbarrier<R> b, const arrival_token<R>& token,
                                                         location where = location::current()) const {
        note(ir::note::barrier_wait, b.region(), ir::unknown_count, 0);
        return value<mb<tok::test_wait, tok::shared__cta, tok::b64>, pred>(ctx(), where, address_operand_of(b.region()),
                                                                           operand<u64>(token.state(), where));
    }
    template <class R, class Q>
        requires(!std::is_same_v<R, Q>)
    constexpr reg<pred> mbarrier_try_wait(mbarrier<R>, const arrival_token<Q>&, location = location::current()) const {
        static_assert(always_false<R>, "PTXDSL-E09: this arrival token comes from a barrier of another ring");
        return {};
    }
    template <class R, class Q>
        requires(!std::is_same_v<R, Q>)
    constexpr reg<pred> mbarrier_test_wait(mbarrier<R>, const arrival_token<Q>&, location = location::current()) const {
        static_assert(always_false<R>, "PTXDSL-E09: this arrival token comes from a barrier of another ring");
        return {};
    }
    template <class R, class P>
    constexpr reg<pred> mbarrier_try_wait_parity(remote_mbarrier<R>, P&&, location = location::current()) const {
        static_assert(always_false<R>, "PTXDSL-E10: a thread waits on its own block's barriers only; arrive remotely, wait locally");
        return {};
    }
    template <class R>
    constexpr void mbarrier_init(remote_mbarrier<R>, location = location::current()) const {
        static_assert(always_false<R>, "PTXDSL-B07: a mapped (mapa) barrier belongs to another block, which initialises it itself");
    }
    template <class R>
    constexpr void mbarrier_inval(remote_mbarrier<R>, location = location::current()) const {
        static_assert(always_false<R>, "PTXDSL-B07: a mapped (mapa) barrier belongs to another block, which invalidates it itself");
    }
    /// `mbarrier.pending_count.b64 n, state;`
    template <class R>
    constexpr reg<u32> mbarrier_pending_count(const arrival_token<R>& token, location where = location::current()) const {
        return value<mb<tok::pending_count, tok::b64>, u32>(ctx(), where, operand<u64>(token.state(), where));
    }
    /// `mapa.shared::cluster.u32 d, bar, rank;` — the same barrier in block `rank` of the cluster.
    template <class R, class K>
    constexpr remote_mbarrier<R> mapa(mbarrier<R> b, K&& rank, location where = location::current()) const {
        reg<u32> own = b.address(where);
        const reg<u32> far = value<form<Tgt, tok::mapa, tok::shared__cluster, tok::u32>, u32>(
            ctx(), where, operand<u32>(static_cast<reg<u32>&&>(own), where), as_operand<u32>(static_cast<K&&>(rank), where));
        return {b.region(), far.id(), far.expression()};
    }

    /// `mapa.shared::cluster.u32 d, ring, rank;` — the same ring in block `rank` of the cluster; do it once, outside loops.
    template <class R, class K>
    constexpr remote_mbarrier_ring<R> mapa(const mbarrier_ring<R>& r, K&& rank, location where = location::current()) const {
        const reg<u32> own(ctx().p, ir::payload_of(r.region().base));
        const reg<u32> far = value<form<Tgt, tok::mapa, tok::shared__cluster, tok::u32>, u32>(
            ctx(), where, operand<u32>(own, where), as_operand<u32>(static_cast<K&&>(rank), where));
        return {r.region(), far.id()};
    }

    /// Waits until the phase of `parity` has completed. Emits a loop of two instructions:
    /// `wait: mbarrier.try_wait.parity… p, [bar], parity; @!p bra wait;`
    template <class R, class P>
    constexpr void wait(mbarrier<R> b, P&& parity, location where = location::current()) const {
        const reg<u32> own = b.address(where);  // the address is computed once, outside the loop
        shared_region r = b.region();
        r.base = ir::head(ir::operand_kind::reg, own.id());
        r.offset = 0;
        const mbarrier<R> here(r, b.count());
        ir::program& p = ctx().p;
        const std::uint32_t again = p.new_label("wait", where);
        const std::uint32_t id = p.loop_count++;
        p.add_region(ir::region::loop_begin, where, id, ir::unknown_count);
        p.place_label(again, where);
        const reg<pred> ready = mbarrier_try_wait_parity(here, static_cast<P&&>(parity), where);
        p.add_region(ir::region::break_, where, id, control_writer::guard_of(ready, false));
        control_writer{p}.bra(again, control_writer::guard_of(ready, true), where);
        p.add_region(ir::region::loop_end, where, id);
    }

    /// States that `n` arrivals complete each phase of `ring` in ways the verifier cannot count. Emits nothing.
    template <class R>
    constexpr void assume_arrivals(const mbarrier_ring<R>& ring) const {
        ctx().p.note_next(ir::note::barrier_noarity, ring.region().allocation);
    }

private:
    constexpr void note(ir::note code, const shared_region& r, std::uint32_t a, std::uint32_t b) const {
        ctx().p.note_next(code, r.allocation, r.stage, a, b);
    }
    constexpr void check_tx(std::uint32_t bytes, location where) const {
        if (bytes > (1u << 20) - 1)
            ctx().p.report("E06", where, "a phase counts at most 1048575 bytes, this expects ", bytes, "; split the copy over stages");
    }
    template <class P>
    [[nodiscard]] static constexpr std::uint32_t constant_parity(const P& parity) noexcept {
        if constexpr (std::is_arithmetic_v<P>) return static_cast<std::uint32_t>(parity);
        else return ir::unknown_count;
    }
};

}  // namespace detail
}  // namespace ptxdsl
