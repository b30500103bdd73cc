// SPDX-License-Identifier: Apache-2.0
// mbarrier objects and their instructions (PTX ISA 9.7.13.15). A barrier's handle knows its ring, its stage and how
// many arrivals complete a phase; the ring's type is its own, so that stages, tokens and states of two rings do not
// mix.
#pragma once

#include <ptxdsl/detail/fixed_string.hpp>
#include <ptxdsl/detail/meta.hpp>
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
    static_assert(
        N >= 1 && N <= (1u << 20) - 1,
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
    [[nodiscard]] constexpr reg<u32> address(location where = location::current()) && {
        return detail::address_register(r_, where);
    }

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
class arrival_token {
public:
    constexpr explicit arrival_token(reg<u64> state) noexcept : state_(static_cast<reg<u64>&&>(state)) {}
    constexpr arrival_token(const arrival_token& o) noexcept : state_(o.state_.program(), o.state_.id(), {}) {}
    constexpr arrival_token(arrival_token&&) noexcept = default;
    constexpr arrival_token& operator=(const arrival_token&) = default;
    constexpr ~arrival_token() = default;
    [[nodiscard]] constexpr const reg<u64>& state() const& noexcept { return state_; }
    [[nodiscard]] constexpr reg<u64> state() && noexcept { return static_cast<reg<u64>&&>(state_); }

private:
    reg<u64> state_;
};

/// What an arrive on another block's barrier returns: nothing to wait with (E10).
template <class Ring>
struct remote_arrival {};

/// `stages` barriers, 8 bytes each.
template <class Ring>
class [[nodiscard]] mbarrier_ring {
public:
    using ring_type = Ring;
    constexpr mbarrier_ring(const shared_region& r, std::uint32_t stages, std::uint32_t count) noexcept
        : r_(r), stages_(stages), count_(count) {}
    /// Barrier of stage `slot`: a C++ constant is checked (C03) and emits nothing, a register costs one `mad.lo.u32`.
    [[nodiscard]] constexpr mbarrier<Ring> operator[](const operand<u32>& slot) const {
        return {detail::selected(r_, slot, stages_, 8), count_};
    }
    [[nodiscard]] constexpr mbarrier<Ring> stage(int i, location where = location::current()) const {
        return {detail::staged(r_, i, stages_, 8, where), count_};
    }
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
    constexpr remote_mbarrier_ring(const shared_region& local, std::uint32_t base) noexcept
        : local_(local), base_(base) {}
    /// Barrier of a stage in a register: one `mad.lo.u32`.
    [[nodiscard]] constexpr remote_mbarrier<Ring> operator[](const operand<u32>& slot) const {
        shared_region peer = local_;
        peer.base = ir::head(ir::operand_kind::reg, base_);
        const shared_region at = detail::indexed(peer, slot, 8);
        return {local_, ir::payload_of(at.base), at.fresh};
    }

private:
    shared_region local_;
    std::uint32_t base_;
};

namespace detail {

/// Knows how many bytes the copies of one of its stages bring.
template <class T>
concept tile_like = requires { T::bytes(); };

/// A number of arrivals, bytes or nanoseconds: a C++ integer or a register.
template <class N>
concept count_like = meta::is_integral_v<meta::remove_cvref_t<N>> || traits<N>::is_reg;

/// True for the ring of a pipeline whose barriers count releases, not bytes.
template <class R>
inline constexpr bool is_empty_ring = requires { requires R::counts_releases; };

template <target Tgt>
class mbarrier_family : public family<Tgt, mbarrier_family<Tgt>> {
    using family<Tgt, mbarrier_family<Tgt>>::ctx;
    template <tok... Toks>
    using mb = form<Tgt, tok::mbarrier, Toks...>;

public:
    /// Reserves `stages` barriers of `count` arrivals: emits one `mov.u32 %Name, smem+offset`. Initialise each with
    /// `k.mbarrier_init(ring[i])`. The name is part of the type, so two rings do not mix (E09, E13).
    template <fixed_string Name>
    constexpr mbarrier_ring<ring<Name>> make_mbarrier_ring(std::uint32_t stages, arrival_count count,
                                                           location where = location::current()) const {
        if (count.n == 0 || count.n > (1u << 20) - 1)
            ctx().p.report("E02", where, {"an mbarrier expects 1 to 1048575 arrivals a phase, this one ", count.n});
        ir::allocation a;
        a.kind = ir::allocation_kind::barrier;
        a.stages = static_cast<std::uint16_t>(stages);
        a.stage_bytes = 8;
        a.align = 8;
        return {allocate_shared(ctx().p, a, Name.view(), -1, where), stages, count.n};
    }
    /// The same at a byte offset the author chooses, a multiple of 8 (E02).
    template <fixed_string Name>
    constexpr mbarrier_ring<ring<Name>> make_mbarrier_ring_at(std::uint32_t offset, std::uint32_t stages,
                                                              arrival_count count,
                                                              location where = location::current()) const {
        if (count.n == 0 || count.n > (1u << 20) - 1)
            ctx().p.report("E02", where, {"an mbarrier expects 1 to 1048575 arrivals a phase, this one ", count.n});
        if (offset % 8 != 0)
            ctx().p.report("E02", where,
                           {"an mbarrier is 8-byte aligned in shared memory, offset ", offset, " is not"});
        ir::allocation a;
        a.kind = ir::allocation_kind::barrier;
        a.stages = static_cast<std::uint16_t>(stages);
        a.stage_bytes = 8;
        a.align = 8;
        return {allocate_shared(ctx().p, a, Name.view(), offset, where), stages, count.n};
    }

    /// `mbarrier.init.shared::cta.b64 [bar], count;` One thread executes it.
    template <class R>
    constexpr auto mbarrier_init(mbarrier<R> b, location where = location::current()) const {
        raw_operand n;
        n.words[0] = ir::head(ir::operand_kind::small_int, b.count());
        note(ir::note::barrier_init, b.region(), 1, b.count());
        effect<mb<tok::init, tok::shared__cta, tok::b64>>(ctx(), where, address_operand_of(b.region()), n);
    }
    /// `mbarrier.inval.shared::cta.b64 [bar];`
    template <class R>
    constexpr auto mbarrier_inval(mbarrier<R> b, location where = location::current()) const {
        effect<mb<tok::inval, tok::shared__cta, tok::b64>>(ctx(), where, address_operand_of(b.region()));
    }
    // Arrivals. `M` are semantics and scope in PTX order; the default is `.release.cta`. Ordering is separate from
    // addressing: an arrive on another block's barrier is `.release.cta` as well, which suffices to hand back a buffer
    // that was only read; `k.mbarrier_arrive<px::release, px::cluster>(bar)` publishes generic writes (G07).

    /// `mbarrier.arrive{.M}.shared::cta.b64 state, [bar];` Every executing thread arrives once. PTX ISA 9.7.13.15.13.
    template <tok... M, class R>
    constexpr auto mbarrier_arrive(mbarrier<R> b, location where = location::current()) const {
        note(ir::note::barrier_arrive, b.region(), 1, is_empty_ring<R> ? 4 : 0);
        return token_of<mb<tok::arrive, M..., tok::shared__cta, tok::b64>, R>(where, address_operand_of(b.region()));
    }
    /// `mbarrier.arrive{.M}.shared::cta.b64 state, [bar], count;`
    template <tok... M, class R, class N>
        requires count_like<N>
    constexpr auto mbarrier_arrive(mbarrier<R> b, N&& count, location where = location::current()) const {
        note(ir::note::barrier_arrive, b.region(), constant_or_unknown(count), 0);
        return token_of<mb<tok::arrive, M..., tok::shared__cta, tok::b64>, R>(
            where, address_operand_of(b.region()), as_operand<u32>(static_cast<N&&>(count), where));
    }
    /// `mbarrier.arrive{.M}.shared::cluster.b64 _, [bar]{, count};` on another block's barrier. There is no state to
    /// wait with (E10).
    template <tok... M, class R>
    constexpr auto mbarrier_arrive(remote_mbarrier<R> b, location where = location::current()) const {
        note(ir::note::barrier_arrive, b.local(), 1, is_empty_ring<R> ? 5 : 1);
        return remote<mb<tok::arrive, M..., tok::shared__cluster, tok::b64>>(where, b);
    }
    template <tok... M, class R, class N>
        requires count_like<N>
    constexpr auto mbarrier_arrive(remote_mbarrier<R> b, N&& count, location where = location::current()) const {
        note(ir::note::barrier_arrive, b.local(), constant_or_unknown(count), 1);
        return remote<mb<tok::arrive, M..., tok::shared__cluster, tok::b64>>(
            where, b, as_operand<u32>(static_cast<N&&>(count), where));
    }
    /// `mbarrier.arrive.noComplete.shared::cta.b64 state, [bar], count;` The caller knows that the phase does not
    /// complete.
    template <class R, class N>
    constexpr auto mbarrier_arrive_noComplete(mbarrier<R> b, N&& count, location where = location::current()) const {
        note(ir::note::barrier_arrive, b.region(), constant_or_unknown(count), 0);
        return token_of<mb<tok::arrive, tok::noComplete, tok::shared__cta, tok::b64>, R>(
            where, address_operand_of(b.region()), as_operand<u32>(static_cast<N&&>(count), where));
    }
    /// `mbarrier.arrive.expect_tx{.M}.shared::cta.b64 _, [bar], bytes;` One arrival that also expects `bytes` of
    /// copies. The bytes come from the tiles the copies fill: `k.mbarrier_arrive_expect_tx(full[s], a, b)`.
    template <tok... M, class R, tile_like A>
    constexpr auto mbarrier_arrive_expect_tx(mbarrier<R> b, const A&, location where = location::current()) const {
        mbarrier_arrive_expect_tx<M...>(static_cast<mbarrier<R>&&>(b), A::bytes(), where);
    }
    template <tok... M, class R, tile_like A, tile_like B>
    constexpr auto mbarrier_arrive_expect_tx(mbarrier<R> b, const A&, const B&,
                                             location where = location::current()) const {
        mbarrier_arrive_expect_tx<M...>(static_cast<mbarrier<R>&&>(b), A::bytes() + B::bytes(), where);
    }
    template <tok... M, class R, tile_like A, tile_like B, tile_like C>
    constexpr auto mbarrier_arrive_expect_tx(mbarrier<R> b, const A&, const B&, const C&,
                                             location where = location::current()) const {
        mbarrier_arrive_expect_tx<M...>(static_cast<mbarrier<R>&&>(b), A::bytes() + B::bytes() + C::bytes(), where);
    }
    template <tok... M, class R, tile_like A, tile_like B, tile_like C, tile_like D>
    constexpr auto mbarrier_arrive_expect_tx(mbarrier<R> b, const A&, const B&, const C&, const D&,
                                             location where = location::current()) const {
        mbarrier_arrive_expect_tx<M...>(static_cast<mbarrier<R>&&>(b),
                                        A::bytes() + B::bytes() + C::bytes() + D::bytes(), where);
    }
    template <tok... M, class R, class N>
        requires count_like<N>
    constexpr auto mbarrier_arrive_expect_tx(mbarrier<R> b, N&& bytes, location where = location::current()) const {
        check_full<R>();
        check_tx(bytes, where);
        note(ir::note::barrier_arrive, b.region(), 1, 2);
        note(ir::note::barrier_expect, b.region(), constant_or_unknown(bytes), 0);
        using F = mb<tok::arrive, tok::expect_tx, M..., tok::shared__cta, tok::b64>;
        require<F>();
        effect<F>(ctx(), where, sink(), address_operand_of(b.region()),
                  as_operand<u32>(static_cast<N&&>(bytes), where));
    }
    /// `mbarrier.arrive.expect_tx{.M}.shared::cta.b64 state, [bar], bytes;` The same with the state of the phase.
    template <tok... M, class R, class N>
        requires count_like<N>
    [[nodiscard]] constexpr auto mbarrier_arrive_expect_tx_state(mbarrier<R> b, N&& bytes,
                                                                 location where = location::current()) const {
        check_full<R>();
        check_tx(bytes, where);
        note(ir::note::barrier_arrive, b.region(), 1, 2);
        note(ir::note::barrier_expect, b.region(), constant_or_unknown(bytes), 0);
        return token_of<mb<tok::arrive, tok::expect_tx, M..., tok::shared__cta, tok::b64>, R>(
            where, address_operand_of(b.region()), as_operand<u32>(static_cast<N&&>(bytes), where));
    }
    /// `mbarrier.arrive.expect_tx{.M}.shared::cluster.b64 _, [bar], bytes;` on another block's barrier.
    template <tok... M, class R, class N>
        requires count_like<N>
    constexpr auto mbarrier_arrive_expect_tx(remote_mbarrier<R> b, N&& bytes,
                                             location where = location::current()) const {
        check_full<R>();
        check_tx(bytes, where);
        note(ir::note::barrier_noarity, b.local(), 0, 1);
        return remote<mb<tok::arrive, tok::expect_tx, M..., tok::shared__cluster, tok::b64>>(
            where, b, as_operand<u32>(static_cast<N&&>(bytes), where));
    }
    /// `mbarrier.arrive_drop{.M}.shared::cta.b64 state, [bar]{, count};` Arrives, and takes no part in later phases.
    template <tok... M, class R>
    constexpr auto mbarrier_arrive_drop(mbarrier<R> b, location where = location::current()) const {
        note(ir::note::barrier_noarity, b.region(), 0, 0);
        return token_of<mb<tok::arrive_drop, M..., tok::shared__cta, tok::b64>, R>(where,
                                                                                   address_operand_of(b.region()));
    }
    template <tok... M, class R, class N>
        requires count_like<N>
    constexpr auto mbarrier_arrive_drop(mbarrier<R> b, N&& count, location where = location::current()) const {
        note(ir::note::barrier_noarity, b.region(), 0, 0);
        return token_of<mb<tok::arrive_drop, M..., tok::shared__cta, tok::b64>, R>(
            where, address_operand_of(b.region()), as_operand<u32>(static_cast<N&&>(count), where));
    }
    /// `mbarrier.arrive_drop{.M}.shared::cluster.b64 _, [bar];` on another block's barrier.
    template <tok... M, class R>
    constexpr auto mbarrier_arrive_drop(remote_mbarrier<R> b, location where = location::current()) const {
        note(ir::note::barrier_noarity, b.local(), 0, 1);
        return remote<mb<tok::arrive_drop, M..., tok::shared__cluster, tok::b64>>(where, b);
    }
    /// `mbarrier.arrive_drop.noComplete.shared::cta.b64 state, [bar], count;`
    template <class R, class N = absent>
    constexpr auto mbarrier_arrive_drop_noComplete(mbarrier<R> b, N&& count = {},
                                                   location where = location::current()) const {
        note(ir::note::barrier_noarity, b.region(), 0, 0);
        return token_of<mb<tok::arrive_drop, tok::noComplete, tok::shared__cta, tok::b64>, R>(
            where, address_operand_of(b.region()), as_operand<u32>(static_cast<N&&>(count), where));
    }
    /// `mbarrier.arrive_drop.expect_tx{.M}.shared::cta.b64 state, [bar], bytes;`
    template <tok... M, class R, class N>
    constexpr auto mbarrier_arrive_drop_expect_tx(mbarrier<R> b, N&& bytes,
                                                  location where = location::current()) const {
        check_tx(bytes, where);
        note(ir::note::barrier_noarity, b.region(), 0, 0);
        note(ir::note::barrier_expect, b.region(), constant_or_unknown(bytes), 0);
        return token_of<mb<tok::arrive_drop, tok::expect_tx, M..., tok::shared__cta, tok::b64>, R>(
            where, address_operand_of(b.region()), as_operand<u32>(static_cast<N&&>(bytes), where));
    }
    /// `mbarrier.arrive_drop.expect_tx{.M}.shared::cluster.b64 _, [bar], bytes;` on another block's barrier.
    template <tok... M, class R, class N>
    constexpr auto mbarrier_arrive_drop_expect_tx(remote_mbarrier<R> b, N&& bytes,
                                                  location where = location::current()) const {
        check_tx(bytes, where);
        note(ir::note::barrier_noarity, b.local(), 0, 1);
        return remote<mb<tok::arrive_drop, tok::expect_tx, M..., tok::shared__cluster, tok::b64>>(
            where, b, as_operand<u32>(static_cast<N&&>(bytes), where));
    }
    /// `mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], bytes;` No arrival.
    /// `k.mbarrier_expect_tx<px::cluster>(…)` widens the scope. PTX ISA 9.7.13.15.11.
    template <tok Scope = tok::cta, class R, class N>
    constexpr auto mbarrier_expect_tx(mbarrier<R> b, N&& bytes, location where = location::current()) const {
        check_full<R>();
        check_tx(bytes, where);
        note(ir::note::barrier_expect, b.region(), constant_or_unknown(bytes), 0);
        count_bytes<tok::expect_tx, Scope, tok::shared__cta>(where, address_operand_of(b.region()),
                                                             as_operand<u32>(static_cast<N&&>(bytes), where));
    }
    /// `mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [bar], bytes;` on another block's barrier.
    template <tok Scope = tok::cluster, class R, class N>
    constexpr auto mbarrier_expect_tx(remote_mbarrier<R> b, N&& bytes, location where = location::current()) const {
        check_full<R>();
        check_tx(bytes, where);
        note(ir::note::barrier_noarity, b.local(), 0, 1);
        count_bytes<tok::expect_tx, Scope, tok::shared__cluster>(where,
                                                                 static_cast<remote_mbarrier<R>&&>(b).address_operand(),
                                                                 as_operand<u32>(static_cast<N&&>(bytes), where));
    }
    /// `mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], bytes;` Simulates a copy's completion. PTX
    /// ISA 9.7.13.15.12.
    template <tok Scope = tok::cta, class R, class N>
    constexpr auto mbarrier_complete_tx(mbarrier<R> b, N&& bytes, location where = location::current()) const {
        check_tx(bytes, where);
        note(ir::note::barrier_copy, b.region(), constant_or_zero(bytes), 1);
        count_bytes<tok::complete_tx, Scope, tok::shared__cta>(where, address_operand_of(b.region()),
                                                               as_operand<u32>(static_cast<N&&>(bytes), where));
    }
    /// `mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], bytes;` on another block's barrier.
    template <tok Scope = tok::cluster, class R, class N>
    constexpr auto mbarrier_complete_tx(remote_mbarrier<R> b, N&& bytes, location where = location::current()) const {
        check_tx(bytes, where);
        note(ir::note::barrier_noarity, b.local(), 0, 1);
        count_bytes<tok::complete_tx, Scope, tok::shared__cluster>(
            where, static_cast<remote_mbarrier<R>&&>(b).address_operand(),
            as_operand<u32>(static_cast<N&&>(bytes), where));
    }

    // Waits, in this block only. `M` are semantics and scope, by default `.acquire.cta`.

    /// `mbarrier.try_wait.parity{.M}.shared::cta.b64 p, [bar], parity;` May suspend the thread for a while; read `p`
    /// (E11). PTX ISA 9.7.13.15.16.
    template <tok... M, class R, class P>
    [[nodiscard]] constexpr auto mbarrier_try_wait_parity(mbarrier<R> b, P&& parity,
                                                          location where = location::current()) const {
        return waits<mb<tok::try_wait, tok::parity, M..., tok::shared__cta, tok::b64>>(
            where, b.region(), constant_or_unknown(parity), as_operand<u32>(static_cast<P&&>(parity), where));
    }
    /// The same with a limit in nanoseconds for the suspension.
    template <tok... M, class R, class P, class N>
        requires count_like<N>
    [[nodiscard]] constexpr auto mbarrier_try_wait_parity(mbarrier<R> b, P&& parity, N&& ns,
                                                          location where = location::current()) const {
        return waits<mb<tok::try_wait, tok::parity, M..., tok::shared__cta, tok::b64>>(
            where, b.region(), constant_or_unknown(parity), as_operand<u32>(static_cast<P&&>(parity), where),
            as_operand<u32>(static_cast<N&&>(ns), where));
    }
    /// `mbarrier.test_wait.parity{.M}.shared::cta.b64 p, [bar], parity;` Never suspends.
    template <tok... M, class R, class P>
    [[nodiscard]] constexpr auto mbarrier_test_wait_parity(mbarrier<R> b, P&& parity,
                                                           location where = location::current()) const {
        return waits<mb<tok::test_wait, tok::parity, M..., tok::shared__cta, tok::b64>>(
            where, b.region(), constant_or_unknown(parity), as_operand<u32>(static_cast<P&&>(parity), where));
    }
    /// `mbarrier.try_wait{.M}.shared::cta.b64 p, [bar], state;`
    template <tok... M, class R>
    [[nodiscard]] constexpr auto mbarrier_try_wait(mbarrier<R> b, arrival_token<R> token,
                                                   location where = location::current()) const {
        return waits<mb<tok::try_wait, M..., tok::shared__cta, tok::b64>>(
            where, b.region(), ir::unknown_count, operand<u64>(static_cast<arrival_token<R>&&>(token).state(), where));
    }
    /// The same with a limit in nanoseconds for the suspension.
    template <tok... M, class R, class N>
        requires count_like<N>
    [[nodiscard]] constexpr auto mbarrier_try_wait(mbarrier<R> b, arrival_token<R> token, N&& ns,
                                                   location where = location::current()) const {
        return waits<mb<tok::try_wait, M..., tok::shared__cta, tok::b64>>(
            where, b.region(), ir::unknown_count, operand<u64>(static_cast<arrival_token<R>&&>(token).state(), where),
            as_operand<u32>(static_cast<N&&>(ns), where));
    }
    /// `mbarrier.test_wait{.M}.shared::cta.b64 p, [bar], state;`
    template <tok... M, class R>
    [[nodiscard]] constexpr auto mbarrier_test_wait(mbarrier<R> b, arrival_token<R> token,
                                                    location where = location::current()) const {
        return waits<mb<tok::test_wait, M..., tok::shared__cta, tok::b64>>(
            where, b.region(), ir::unknown_count, operand<u64>(static_cast<arrival_token<R>&&>(token).state(), where));
    }
    /// `mbarrier.pending_count.b64 n, state;`
    template <class R>
    constexpr auto mbarrier_pending_count(arrival_token<R> token, location where = location::current()) const {
        return value<mb<tok::pending_count, tok::b64>, u32>(
            ctx(), where, operand<u64>(static_cast<arrival_token<R>&&>(token).state(), where));
    }

    // What takes something else, with its sentence.
    template <fixed_string Name, class D = void>
    constexpr auto make_mbarrier_ring(anything, anything = {}, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: make_mbarrier_ring takes a number of stages and a count of arrivals: "
                      "k.make_mbarrier_ring<\"full\">(4, px::arrivals<1>)");
    }
    template <class D = void>
    constexpr auto wait(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: wait takes one barrier of this block and the parity of its phase: k.wait(full[i], parity)");
    }
    template <class D = void>
    constexpr auto mbarrier_init(anything, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mbarrier_init takes one barrier, whose count its ring has: k.mbarrier_init(full[i])");
    }
    template <class D = void>
    constexpr auto mbarrier_inval(anything, anything = {}, anything = {}) const {
        static_assert(always_false<D>, "PTXDSL-A14: mbarrier_inval takes one barrier: k.mbarrier_inval(full[i])");
    }
    template <class D = void>
    constexpr auto mbarrier_arrive(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mbarrier_arrive takes one barrier, and perhaps a number of arrivals: k.mbarrier_arrive(empty[i])");
    }
    template <class D = void>
    constexpr auto mbarrier_arrive_expect_tx(anything, anything = {}, anything = {}, anything = {}, anything = {},
                                             anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mbarrier_arrive_expect_tx takes one barrier, and the tiles that are copied (all stages, a, not a[i]) or their bytes: k.mbarrier_arrive_expect_tx(full[i], a, b)");
    }
    template <class D = void>
    constexpr auto mbarrier_expect_tx(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mbarrier_expect_tx takes one barrier and a number of bytes: k.mbarrier_expect_tx(full[i], bytes)");
    }
    template <class D = void>
    constexpr auto mbarrier_complete_tx(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mbarrier_complete_tx takes one barrier and a number of bytes: k.mbarrier_complete_tx(full[i], bytes)");
    }
    template <class D = void>
    constexpr auto mbarrier_try_wait_parity(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mbarrier_try_wait_parity takes one barrier of this block and a parity: k.mbarrier_try_wait_parity(full[i], parity)");
    }
    template <class D = void>
    constexpr auto mbarrier_test_wait_parity(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mbarrier_test_wait_parity takes one barrier of this block and a parity: k.mbarrier_test_wait_parity(full[i], parity)");
    }
    template <class D = void>
    constexpr auto mbarrier_try_wait(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mbarrier_try_wait takes one barrier of this block and the token of an arrival on it; with a parity it is mbarrier_try_wait_parity");
    }
    template <class D = void>
    constexpr auto mbarrier_test_wait(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mbarrier_test_wait takes one barrier of this block and the token of an arrival on it; with a parity it is mbarrier_test_wait_parity");
    }
    template <class D = void>
    constexpr auto mapa(anything, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mapa takes a shared pointer, a barrier or a ring of them, and the rank of a block: k.mapa(full[i], rank)");
    }
    // What must not be written, with its sentence.
    template <tok... M, class R, class Q>
        requires(!meta::is_same_v<R, Q>)
    constexpr auto mbarrier_try_wait(mbarrier<R>, const arrival_token<Q>&, location = location::current()) const {
        return other_ring<R>();
    }
    template <tok... M, class R, class Q>
        requires(!meta::is_same_v<R, Q>)
    constexpr auto mbarrier_test_wait(mbarrier<R>, const arrival_token<Q>&, location = location::current()) const {
        return other_ring<R>();
    }
    template <tok... M, class R, class Q>
    constexpr auto mbarrier_try_wait(mbarrier<R>, const remote_arrival<Q>&, location = location::current()) const {
        return no_state<R>();
    }
    template <tok... M, class R, class Q>
    constexpr auto mbarrier_test_wait(mbarrier<R>, const remote_arrival<Q>&, location = location::current()) const {
        return no_state<R>();
    }
    template <class R>
    constexpr auto mbarrier_pending_count(const remote_arrival<R>&, location = location::current()) const {
        return no_state<R>().template as<u32>();
    }
    template <tok... M, class R, class P>
    constexpr auto mbarrier_try_wait_parity(remote_mbarrier<R>, P&&, location = location::current()) const {
        return wait_is_local<R>();
    }
    template <tok... M, class R, class P>
    constexpr auto mbarrier_test_wait_parity(remote_mbarrier<R>, P&&, location = location::current()) const {
        return wait_is_local<R>();
    }
    template <tok... M, class R, class T>
    constexpr auto mbarrier_try_wait(remote_mbarrier<R>, const T&, location = location::current()) const {
        return wait_is_local<R>();
    }
    template <tok... M, class R, class T>
    constexpr auto mbarrier_test_wait(remote_mbarrier<R>, const T&, location = location::current()) const {
        return wait_is_local<R>();
    }
    /// C03: a barrier of the ring.
    template <tok... M, class R, class... A>
    constexpr auto wait(const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class R, class... A>
    constexpr auto mbarrier_init(const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class R, class... A>
    constexpr auto mbarrier_inval(const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class R, class... A>
    constexpr auto mbarrier_arrive(const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class R, class... A>
    constexpr auto mbarrier_expect_tx(const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class R, class... A>
    constexpr auto mbarrier_arrive_expect_tx(const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class R, class... A>
    constexpr auto mbarrier_try_wait(const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class R, class... A>
    constexpr auto mbarrier_test_wait(const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class R, class... A>
    constexpr auto mbarrier_try_wait_parity(const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class R, class... A>
    constexpr auto mbarrier_test_wait_parity(const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class R, class P>
    constexpr auto wait(remote_mbarrier<R>, P&&, location = location::current()) const {
        static_cast<void>(wait_is_local<R>());
    }
    template <class R>
    constexpr auto mbarrier_init(remote_mbarrier<R>, location = location::current()) const {
        static_assert(always_false<R>,
                      "PTXDSL-B07: a mapped (mapa) barrier belongs to another block, which initialises it itself");
    }
    template <class R>
    constexpr auto mbarrier_inval(remote_mbarrier<R>, location = location::current()) const {
        static_assert(always_false<R>,
                      "PTXDSL-B07: a mapped (mapa) barrier belongs to another block, which invalidates it itself");
    }
    template <class R, class N>
    constexpr auto mbarrier_arrive_noComplete(remote_mbarrier<R>, N&&, location = location::current()) const {
        static_assert(always_false<R>, "PTXDSL-E10: arrive.noComplete exists for barriers of the own block only");
    }
    /// `mapa.shared::cluster.u32 d, bar, rank;` — the same barrier in block `rank` of the cluster.
    template <class R, class K>
    constexpr remote_mbarrier<R> mapa(mbarrier<R> b, K&& rank, location where = location::current()) const {
        operand<u32> block = as_operand<u32>(static_cast<K&&>(rank), where);
        ir::span nested[] = {b.region().fresh, block.fresh};
        const ir::span all = settle_spans(ctx().p, nested, 2, where);
        const std::uint32_t begin = all.end != 0 ? all.begin : ctx().p.words.size();
        block.fresh = {};
        const reg<u32> own = b.address(where);
        const reg<u32> peer = value<form<Tgt, tok::mapa, tok::shared__cluster, tok::u32>, u32>(
            ctx(), where, operand<u32>(own, where), block);
        return {b.region(), peer.id(), {begin, ctx().p.words.size()}};
    }

    /// `mapa.shared::cluster.u32 d, ring, rank;` — the same ring in block `rank` of the cluster; do it once, outside
    /// loops.
    template <class R, class K>
    constexpr remote_mbarrier_ring<R> mapa(const mbarrier_ring<R>& r, K&& rank,
                                           location where = location::current()) const {
        const reg<u32> own(ctx().p, ir::payload_of(r.region().base));
        const reg<u32> peer = value<form<Tgt, tok::mapa, tok::shared__cluster, tok::u32>, u32>(
            ctx(), where, operand<u32>(own, where), as_operand<u32>(static_cast<K&&>(rank), where));
        return {r.region(), peer.id()};
    }

    /// Waits until the phase of `parity` has completed. Emits a loop of two instructions:
    /// `wait: mbarrier.try_wait.parity… p, [bar], parity; @!p bra wait;`
    template <tok... M, class R, class P>
    constexpr auto wait(mbarrier<R> b, P&& parity, location where = location::current()) const {
        refuse_guard(ctx(), where);
        operand<u32> phase = as_operand<u32>(static_cast<P&&>(parity), where);
        ir::span nested[] = {b.region().fresh, phase.fresh};
        settle_spans(ctx().p, nested, 2, where);
        phase.fresh = {};
        const reg<u32> own = b.address(where);  // the address is computed once, outside the loop
        shared_region r = b.region();
        r.base = ir::head(ir::operand_kind::reg, own.id());
        r.offset = 0, r.fresh = {};
        ir::program& p = ctx().p;
        const std::uint32_t again = p.new_label("wait", where);
        const std::uint32_t id = p.loop_count++;
        p.add_region(ir::region::loop_begin, where, id, ir::unknown_count);
        p.place_label(again, where);
        const reg<pred> ready = waits<mb<tok::try_wait, tok::parity, M..., tok::shared__cta, tok::b64>>(
            where, r, constant_or_unknown(parity), phase);
        p.add_region(ir::region::break_, where, id, guard_of(ready, false));
        control_writer{p}.bra(again, guard_of(ready, true), where);
        p.add_region(ir::region::loop_end, where, id);
    }

    /// States that `n` arrivals complete each phase of `ring` in ways the verifier cannot count. Emits nothing.
    template <class R>
    constexpr auto assume_arrivals(const mbarrier_ring<R>& ring) const {
        ctx().p.note_next(ir::note::barrier_noarity, ring.region().allocation);
    }

private:
    constexpr auto note(ir::note code, const shared_region& r, std::uint32_t a, std::uint32_t b) const {
        ctx().p.note_next(code, r.allocation, r.stage, a, b);
    }
    [[nodiscard]] static constexpr raw_operand sink() noexcept {
        raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::sink, 0);
        return o;
    }
    template <class F, class R, class... O>
    [[nodiscard]] constexpr auto token_of(location where, const O&... operands) const {
        require<F>();
        return arrival_token<R>(value<F, u64>(ctx(), where, operands...));
    }
    template <class F, class R, class... O>
    constexpr remote_arrival<R> remote(location where, const remote_mbarrier<R>& b, const O&... operands) const {
        require<F, rule::e10>();
        effect<F>(ctx(), where, sink(), b.address_operand(), operands...);
        return {};
    }
    template <class F, class... O>
    [[nodiscard]] constexpr auto waits(location where, const shared_region& bar, std::uint32_t parity,
                                       const O&... operands) const {
        require<F>();
        note(ir::note::barrier_wait, bar, parity, 0);
        return value<F, pred>(ctx(), where, address_operand_of(bar), operands...);
    }
    template <tok Op, tok Scope, tok Space, class... O>
    constexpr auto count_bytes(location where, const O&... operands) const {
        using F = mb<Op, tok::relaxed, Scope, Space, tok::b64>;
        require<F>();
        effect<F>(ctx(), where, operands...);
    }
    /// E13: copies complete on a "full" barrier.
    template <class R>
    static constexpr auto check_full() noexcept {
        static_assert(
            !is_empty_ring<R>,
            "PTXDSL-E13: this is the empty barrier of the pipeline, which counts releases; the bytes of copies "
            "are expected on the full one");
    }
    template <class R>
    static constexpr auto other_ring() {
        static_assert(always_false<R>, "PTXDSL-E09: this arrival token comes from a barrier of another ring");
        return reg<pred>();
    }
    template <class R>
    static constexpr auto no_state() {
        static_assert(always_false<R>,
                      "PTXDSL-E10: an arrive on another block's barrier returns no state to wait with; wait on the own "
                      "block's barrier, by parity");
        return reg<pred>();
    }
    template <class R>
    static constexpr auto wait_is_local() {
        static_assert(always_false<R>,
                      "PTXDSL-E10: a thread waits on its own block's barriers only; arrive remotely, wait locally");
        return reg<pred>();
    }
    template <class N>
    constexpr auto check_tx(const N& bytes, location where) const {
        if constexpr (meta::is_integral_v<N>) {
            if (static_cast<std::uint64_t>(bytes) > (1u << 20) - 1)
                ctx().p.report("E06", where,
                               {"a phase counts at most 1048575 bytes, this expects ",
                                static_cast<std::uint64_t>(bytes), "; split the copy over stages"});
        }
    }
    template <class N>
    [[nodiscard]] static constexpr std::uint32_t constant_or_unknown(const N& n) noexcept {
        if constexpr (meta::is_integral_v<N>)
            return static_cast<std::uint32_t>(n);
        else
            return ir::unknown_count;
    }
    template <class N>
    [[nodiscard]] static constexpr std::uint32_t constant_or_zero(const N& n) noexcept {
        if constexpr (meta::is_integral_v<N>)
            return static_cast<std::uint32_t>(n);
        else
            return 0;
    }
};

}  // namespace detail
}  // namespace ptxdsl
