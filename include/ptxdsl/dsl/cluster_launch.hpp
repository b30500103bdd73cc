// SPDX-License-Identifier: Apache-2.0
// clusterlaunchcontrol (sm_100a; PTX ISA 9.7.13.17): a running cluster takes over the work of one that has not started.
// The answer is 16 bytes in shared memory, completed on an mbarrier like a copy.
#pragma once

#include <ptxdsl/dsl/mbarrier.hpp>
#include <ptxdsl/dsl/pointer.hpp>

namespace ptxdsl {

/// Block index of a cluster's first block.
struct ctaid3 {
    reg<u32> x, y, z;
};

namespace detail {

template <target Tgt>
class cluster_launch_family : public family<Tgt, cluster_launch_family<Tgt>> {
    using family<Tgt, cluster_launch_family<Tgt>>::ctx;
    template <tok... Toks>
    using clc = form<Tgt, tok::clusterlaunchcontrol, Toks...>;

public:
    /// `clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [response], [bar];` Asks to
    /// cancel the launch of a cluster that has not started. One thread executes it; `bar` counts 16 bytes. After a
    /// refusal nobody may ask again.
    template <class R, unsigned A>
    constexpr auto clusterlaunchcontrol_try_cancel(ptr<space::shared, b128, A> response, mbarrier<R> bar,
                                                   location where = location::current()) const {
        static_assert(A >= 16, "PTXDSL-B03: the response of a launch cancellation is 16 bytes, aligned to 16");
        using F = clc<tok::try_cancel, tok::async, tok::shared__cta, tok::mbarrier__complete_tx__bytes, tok::b128>;
        require<F>();
        ctx().p.note_next(ir::note::barrier_copy, bar.region().allocation, bar.region().stage, 16, 1);
        effect<F>(ctx(), where, address_operand(static_cast<ptr<space::shared, b128, A>&&>(response)),
                  address_operand_of(bar.region()));
    }
    /// The same with `.multicast::cluster::all`: every block of the cluster gets the answer and 16 bytes on its own
    /// barrier.
    template <class R, unsigned A>
    constexpr auto clusterlaunchcontrol_try_cancel_multicast(ptr<space::shared, b128, A> response, mbarrier<R> bar,
                                                             location where = location::current()) const {
        static_assert(A >= 16, "PTXDSL-B03: the response of a launch cancellation is 16 bytes, aligned to 16");
        using F = clc<tok::try_cancel, tok::async, tok::shared__cta, tok::mbarrier__complete_tx__bytes,
                      tok::multicast__cluster__all, tok::b128>;
        require<F>();
        ctx().p.note_next(ir::note::barrier_noarity, bar.region().allocation);
        effect<F>(ctx(), where, address_operand(static_cast<ptr<space::shared, b128, A>&&>(response)),
                  address_operand_of(bar.region()));
    }
    /// `clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, response;`
    template <class R>
    constexpr auto clusterlaunchcontrol_query_cancel_is_canceled(R&& response,
                                                                 location where = location::current()) const {
        using F = clc<tok::query_cancel, tok::is_canceled, tok::pred, tok::b128>;
        require<F>();
        return value<F, pred>(ctx(), where, as_operand<b128>(static_cast<R&&>(response), where));
    }
    /// `clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {x, y, z, _}, response;` Undefined when nothing
    /// was cancelled.
    template <class R>
    constexpr ctaid3 clusterlaunchcontrol_query_cancel_get_first_ctaid(R&& response,
                                                                       location where = location::current()) const {
        using F = clc<tok::query_cancel, tok::get_first_ctaid, tok::v4, tok::b32, tok::b128>;
        require<F>();
        ir::program& p = ctx().p;
        const std::uint32_t first = p.new_regs(isa::scalar::u32, 3);
        const std::uint32_t list[] = {reg_word(first), reg_word(first + 1), reg_word(first + 2),
                                      ir::head(ir::operand_kind::sink, 0)};
        emit_all(p, ref<F>(), ctx().guard, where, vector_of(&p, list, 4),
                 as_operand<b128>(static_cast<R&&>(response), where));
        return {{p, first}, {p, first + 1}, {p, first + 2}};
    }
    /// `clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 d, response;`
    template <class R>
    constexpr auto clusterlaunchcontrol_query_cancel_get_first_ctaid_x(R&& r,
                                                                       location where = location::current()) const {
        return one<tok::get_first_ctaid__x>(static_cast<R&&>(r), where);
    }
    /// `clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 d, response;`
    template <class R>
    constexpr auto clusterlaunchcontrol_query_cancel_get_first_ctaid_y(R&& r,
                                                                       location where = location::current()) const {
        return one<tok::get_first_ctaid__y>(static_cast<R&&>(r), where);
    }
    /// `clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 d, response;`
    template <class R>
    constexpr auto clusterlaunchcontrol_query_cancel_get_first_ctaid_z(R&& r,
                                                                       location where = location::current()) const {
        return one<tok::get_first_ctaid__z>(static_cast<R&&>(r), where);
    }

private:
    template <tok Dim, class R>
    constexpr auto one(R&& response, location where) const {
        using F = clc<tok::query_cancel, Dim, tok::b32, tok::b128>;
        require<F>();
        return value<F, u32>(ctx(), where, as_operand<b128>(static_cast<R&&>(response), where));
    }
};

}  // namespace detail
}  // namespace ptxdsl
