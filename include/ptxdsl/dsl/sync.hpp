// SPDX-License-Identifier: Apache-2.0
// Block and cluster barriers, register budget, roles (PTX ISA 9.7.13.1 to 9.7.13.4, 9.7.19.5).
#pragma once

#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/control.hpp>

namespace ptxdsl::detail {

template <target Tgt>
class sync_family : public family<Tgt, sync_family<Tgt>> {
    using family<Tgt, sync_family<Tgt>>::ctx;

public:
    /// `barrier.cta.sync.aligned 0;` All threads of the block.
    constexpr auto bar_sync(location where = location::current()) const {
        effect<form<Tgt, tok::barrier, tok::cta, tok::sync, tok::aligned>>(ctx(), where, operand<u32>(0, where));
    }
    /// `barrier.cta.sync.aligned Id, Threads;` Named barrier: `Threads` arrivals (of `sync` and `arrive` together).
    template <unsigned Id, unsigned Threads>
    constexpr auto bar_sync(location where = location::current()) const {
        check_barrier<Id, Threads>();
        effect<form<Tgt, tok::barrier, tok::cta, tok::sync, tok::aligned>>(ctx(), where, operand<u32>(Id, where),
                                                                           operand<u32>(Threads, where));
    }
    /// `barrier.cta.sync.aligned id, threads;` with the id in a register (one barrier for each warpgroup, say).
    template <class Index, class N>
    constexpr auto bar_sync(Index&& id, N&& threads, location where = location::current()) const {
        const operand<u32> a = as_operand<u32>(static_cast<Index&&>(id), where),
                           b = as_operand<u32>(static_cast<N&&>(threads), where);
        check_barrier(a, b, where);
        effect<form<Tgt, tok::barrier, tok::cta, tok::sync, tok::aligned>>(ctx(), where, a, b);
    }
    /// `barrier.cta.arrive.aligned Id, Threads;` Arrives and goes on.
    template <unsigned Id, unsigned Threads>
    constexpr auto bar_arrive(location where = location::current()) const {
        check_barrier<Id, Threads>();
        effect<form<Tgt, tok::barrier, tok::cta, tok::arrive, tok::aligned>>(ctx(), where, operand<u32>(Id, where),
                                                                             operand<u32>(Threads, where));
    }
    template <class Index, class N>
    constexpr auto bar_arrive(Index&& id, N&& threads, location where = location::current()) const {
        const operand<u32> a = as_operand<u32>(static_cast<Index&&>(id), where),
                           b = as_operand<u32>(static_cast<N&&>(threads), where);
        check_barrier(a, b, where);
        effect<form<Tgt, tok::barrier, tok::cta, tok::arrive, tok::aligned>>(ctx(), where, a, b);
    }
    /// `barrier.cta.red.and.pred.aligned p, 0, q;` True where `q` is true in all threads of the block.
    template <class Q>
    constexpr auto bar_red_and(Q&& q, location where = location::current()) const {
        return reduce<tok::and_, pred>(static_cast<Q&&>(q), where);
    }
    /// `barrier.cta.red.or.pred.aligned p, 0, q;`
    template <class Q>
    constexpr auto bar_red_or(Q&& q, location where = location::current()) const {
        return reduce<tok::or_, pred>(static_cast<Q&&>(q), where);
    }
    /// `barrier.cta.red.popc.aligned.u32 d, 0, q;` How many threads of the block have `q` true.
    template <class Q>
    constexpr auto bar_red_popc(Q&& q, location where = location::current()) const {
        return value<form<Tgt, tok::barrier, tok::cta, tok::red, tok::popc, tok::aligned, tok::u32>, u32>(
            ctx(), where, operand<u32>(0, where), as_operand<pred>(static_cast<Q&&>(q), where));
    }

    /// The reductions over the threads of named barrier `Id`: `barrier.cta.red.OP.pred.aligned p, Id, Threads, q;`
    template <unsigned Id, unsigned Threads, class Q>
    constexpr auto bar_red_and(Q&& q, location where = location::current()) const {
        check_barrier<Id, Threads>();
        return reduction<tok::and_, tok::aligned, pred>(where, operand<u32>(Id, where), operand<u32>(Threads, where),
                                                        as_operand<pred>(static_cast<Q&&>(q), where));
    }
    template <unsigned Id, unsigned Threads, class Q>
    constexpr auto bar_red_or(Q&& q, location where = location::current()) const {
        check_barrier<Id, Threads>();
        return reduction<tok::or_, tok::aligned, pred>(where, operand<u32>(Id, where), operand<u32>(Threads, where),
                                                       as_operand<pred>(static_cast<Q&&>(q), where));
    }
    template <unsigned Id, unsigned Threads, class Q>
    constexpr auto bar_red_popc(Q&& q, location where = location::current()) const {
        check_barrier<Id, Threads>();
        return reduction<tok::popc, tok::aligned, u32>(where, operand<u32>(Id, where), operand<u32>(Threads, where),
                                                       as_operand<pred>(static_cast<Q&&>(q), where));
    }

    // The forms without `.aligned`: the threads of a warp may reach them apart, and need not execute the same one. PTX
    // ISA 9.7.13.1.

    /// `barrier.cta.sync id;` All threads of the block.
    template <class Index>
    constexpr auto barrier_cta_sync(Index&& id, location where = location::current()) const {
        const operand<u32> a = as_operand<u32>(static_cast<Index&&>(id), where);
        check_barrier(a, operand<u32>(0u, where), where);
        effect<form<Tgt, tok::barrier, tok::cta, tok::sync>>(ctx(), where, a);
    }
    /// `barrier.cta.sync id, threads;`
    template <class Index, class N>
    constexpr auto barrier_cta_sync(Index&& id, N&& threads, location where = location::current()) const {
        const operand<u32> a = as_operand<u32>(static_cast<Index&&>(id), where),
                           b = as_operand<u32>(static_cast<N&&>(threads), where);
        check_barrier(a, b, where);
        effect<form<Tgt, tok::barrier, tok::cta, tok::sync>>(ctx(), where, a, b);
    }
    /// `barrier.cta.arrive id, threads;`
    template <class Index, class N>
    constexpr auto barrier_cta_arrive(Index&& id, N&& threads, location where = location::current()) const {
        const operand<u32> a = as_operand<u32>(static_cast<Index&&>(id), where),
                           b = as_operand<u32>(static_cast<N&&>(threads), where);
        check_barrier(a, b, where);
        effect<form<Tgt, tok::barrier, tok::cta, tok::arrive>>(ctx(), where, a, b);
    }
    /// `barrier.cta.red.and.pred p, id, threads, q;`
    template <class Index, class N, class Q>
    constexpr auto barrier_cta_red_and(Index&& id, N&& threads, Q&& q, location where = location::current()) const {
        return any_reduction<tok::and_, pred>(static_cast<Index&&>(id), static_cast<N&&>(threads), static_cast<Q&&>(q),
                                              where);
    }
    /// `barrier.cta.red.or.pred p, id, threads, q;`
    template <class Index, class N, class Q>
    constexpr auto barrier_cta_red_or(Index&& id, N&& threads, Q&& q, location where = location::current()) const {
        return any_reduction<tok::or_, pred>(static_cast<Index&&>(id), static_cast<N&&>(threads), static_cast<Q&&>(q),
                                             where);
    }
    /// `barrier.cta.red.popc.u32 d, id, threads, q;`
    template <class Index, class N, class Q>
    constexpr auto barrier_cta_red_popc(Index&& id, N&& threads, Q&& q, location where = location::current()) const {
        return any_reduction<tok::popc, u32>(static_cast<Index&&>(id), static_cast<N&&>(threads), static_cast<Q&&>(q),
                                             where);
    }
    /// `barrier.cluster.arrive{.M};` without `.aligned`.
    template <tok... M>
    constexpr auto barrier_cluster_arrive_nonaligned(location where = location::current()) const {
        using F = form<Tgt, tok::barrier, tok::cluster, tok::arrive, M...>;
        require<F>();
        effect<F>(ctx(), where);
    }
    /// `barrier.cluster.wait{.M};` without `.aligned`.
    template <tok... M>
    constexpr auto barrier_cluster_wait_nonaligned(location where = location::current()) const {
        using F = form<Tgt, tok::barrier, tok::cluster, tok::wait, M...>;
        require<F>();
        effect<F>(ctx(), where);
    }

    /// The cluster this kernel declares, in blocks along x, y and z (1, 1, 1 without one): C++ constants. Emits
    /// nothing.
    [[nodiscard]] constexpr ir::attributes::dim3 cluster_dim() const noexcept {
        const ir::attributes& a = this->self().attributes();
        return a.cluster.given() ? a.cluster : ir::attributes::dim3{1, 1, 1};
    }
    /// Blocks of a cluster. Emits nothing.
    [[nodiscard]] constexpr std::uint32_t cluster_size() const noexcept {
        return this->self().attributes().cluster_size();
    }
    /// The multicast mask of every block of the cluster that the kernel declares. Emits nothing. Without one it is 1,
    /// also where the launch gives a cluster, which is warned of (F06).
    [[nodiscard]] constexpr u16 cluster_mask(location where = location::current()) const {
        if (!this->self().attributes().cluster.given())
            ctx().p.warn(
                "F06", where,
                {"k.cluster_mask() is 1, for this kernel declares no cluster: other blocks of a cluster that the "
                 "launch gives get nothing; declare it (attributes::cluster), or shift the mask by "
                 "%cluster_nctarank"});
        return static_cast<u16>((1u << cluster_size()) - 1);
    }

    /// `barrier.cluster.arrive{.M}.aligned;` — `k.barrier_cluster_arrive<px::relaxed>()`, default `.release`.
    template <tok... M>
    constexpr auto barrier_cluster_arrive(location where = location::current()) const {
        using F = form<Tgt, tok::barrier, tok::cluster, tok::arrive, M..., tok::aligned>;
        require<F>();
        effect<F>(ctx(), where);
    }
    /// `barrier.cluster.wait{.M}.aligned;` default `.acquire`.
    template <tok... M>
    constexpr auto barrier_cluster_wait(location where = location::current()) const {
        using F = form<Tgt, tok::barrier, tok::cluster, tok::wait, M..., tok::aligned>;
        require<F>();
        effect<F>(ctx(), where);
    }

    /// `setmaxnreg.inc.sync.aligned.u32 N;` Needs a register count at entry: `.maxnreg`, or a block size and
    /// `.minnctapersm` (H07).
    template <unsigned N>
    constexpr auto setmaxnreg_inc(location where = location::current()) const {
        setmaxnreg<tok::inc, N>(where);
    }
    template <class A>
    constexpr auto setmaxnreg_inc(A&&) const {
        static_assert(always_false<A>,
                      "PTXDSL-A14: the number of registers is an immediate; write k.setmaxnreg_inc<232>()");
    }
    /// `setmaxnreg.dec.sync.aligned.u32 N;`
    template <unsigned N>
    constexpr auto setmaxnreg_dec(location where = location::current()) const {
        setmaxnreg<tok::dec, N>(where);
    }
    template <class A>
    constexpr auto setmaxnreg_dec(A&&) const {
        static_assert(always_false<A>,
                      "PTXDSL-A14: the number of registers is an immediate; write k.setmaxnreg_dec<40>()");
    }

    /// States that the instructions of `body` run in `threads` threads (a warpgroup, one warp …), for the verifier's
    /// accounting of arrivals and registers. Emits nothing by itself; the branch around it is the author's.
    template <class Body>
    constexpr auto role(std::uint32_t threads, Body&& body, location where = location::current()) const {
        ctx().p.add_note(ir::note::role_begin, where, threads);
        run_body(body);
        ctx().p.add_note(ir::note::role_end, where);
    }
    /// `@cond`-guarded region for one thread: emits the branch of `k.if_` and tells the verifier that one thread runs
    /// it.
    template <class Body>
    constexpr auto single_thread(const reg<pred>& cond, Body&& body, location where = location::current()) const {
        this->self().if_(
            cond,
            [&] {
                ctx().p.add_note(ir::note::single_thread_begin, where);
                run_body(body);
                ctx().p.add_note(ir::note::single_thread_end, where);
            },
            where);
    }

    // What takes something else, with its sentence.
    template <class D = void>
    constexpr auto single_thread(anything, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: single_thread takes a predicate register that is true in one thread: k.single_thread(tid == 0u, [&] { … })");
    }
    template <class D = void>
    constexpr auto role(anything, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: role takes a number of threads, a C++ constant, and what they do: k.role(128, [&] { … })");
    }

private:
    template <unsigned Id, unsigned Threads>
    static constexpr auto check_barrier() noexcept {
        static_assert(Id <= 15, "PTXDSL-H01: a block has named barriers 0 to 15");
        static_assert(Threads % 32 == 0 && Threads >= 32 && Threads <= 1024,
                      "PTXDSL-H01: a named barrier counts whole warps: a multiple of 32, at most 1024 threads");
    }
    constexpr auto check_barrier(const operand<u32>& id, const operand<u32>& threads, location where) const {
        if (id.is_literal() && ir::payload_of(id.words[0]) > 15)
            ctx().p.report("H01", where,
                           {"barrier id ", ir::payload_of(id.words[0]), "; a block has named barriers 0 to 15"});
        if (threads.is_literal() && ir::payload_of(threads.words[0]) % 32 != 0)
            ctx().p.report(
                "H01", where,
                {"a named barrier counts whole warps, ", ir::payload_of(threads.words[0]), " is no multiple of 32"});
    }
    template <tok Op, class R, class Q>
    constexpr auto reduce(Q&& q, location where) const {
        return value<form<Tgt, tok::barrier, tok::cta, tok::red, Op, tok::aligned, tok::pred>, R>(
            ctx(), where, operand<u32>(0, where), as_operand<pred>(static_cast<Q&&>(q), where));
    }
    template <tok Op, tok Aligned, class R, class... O>
    [[nodiscard]] constexpr auto reduction(location where, const O&... operands) const {
        return value<
            compact_form<Tgt, tok::barrier, tok::cta, tok::red, Op, Aligned, Op == tok::popc ? tok::u32 : tok::pred>,
            R>(ctx(), where, operands...);
    }
    template <tok Op, class R, class Index, class N, class Q>
    [[nodiscard]] constexpr auto any_reduction(Index&& id, N&& threads, Q&& q, location where) const {
        const operand<u32> a = as_operand<u32>(static_cast<Index&&>(id), where),
                           b = as_operand<u32>(static_cast<N&&>(threads), where);
        check_barrier(a, b, where);
        return reduction<Op, tok::none, R>(where, a, b, as_operand<pred>(static_cast<Q&&>(q), where));
    }
    template <tok Op, unsigned N>
    constexpr auto setmaxnreg(location where) const {
        static_assert(N >= 24 && N <= 256 && N % 8 == 0, "PTXDSL-H04: setmaxnreg takes a multiple of 8 from 24 to 256");
        using F = form<Tgt, tok::setmaxnreg, Op, tok::sync, tok::aligned, tok::u32>;
        require<F>();
        effect<F>(ctx(), where, operand<u32>(N, where));
    }
};

}  // namespace ptxdsl::detail
