// SPDX-License-Identifier: Apache-2.0
// Special registers (PTX ISA 10) under their PTX names: `px::tid.x`, `px::laneid`, `px::clock64`. Only `k.mov` reads
// them.
#pragma once

#include <ptxdsl/dsl/reg.hpp>

namespace ptxdsl {

namespace detail {
template <isa::special Id>
using special_u32 = special_register<u32, Id>;
template <isa::special Id>
using special_u64 = special_register<u64, Id>;
template <isa::special Id>
using special_b32 = special_register<b32, Id>;

template <isa::special X>
struct special3 {
    special_u32<X> x;
    special_u32<static_cast<isa::special>(static_cast<unsigned>(X) + 1)> y;
    special_u32<static_cast<isa::special>(static_cast<unsigned>(X) + 2)> z;
};
/// Number `N` of a numbered group.
template <class T, isa::special First, unsigned N, unsigned Count>
struct special_nth {
    static_assert(N < Count, "PTXDSL-A14: there is no special register of this number");
    using type = special_register<T, static_cast<isa::special>(static_cast<unsigned>(First) + (N < Count ? N : 0))>;
};
}  // namespace detail

inline constexpr detail::special3<isa::special::tid_x> tid{};
inline constexpr detail::special3<isa::special::ntid_x> ntid{};
inline constexpr detail::special3<isa::special::ctaid_x> ctaid{};
inline constexpr detail::special3<isa::special::nctaid_x> nctaid{};
inline constexpr detail::special3<isa::special::clusterid_x> clusterid{};
inline constexpr detail::special3<isa::special::nclusterid_x> nclusterid{};
inline constexpr detail::special3<isa::special::cluster_ctaid_x> cluster_ctaid{};
inline constexpr detail::special3<isa::special::cluster_nctaid_x> cluster_nctaid{};
inline constexpr detail::special_u32<isa::special::cluster_ctarank> cluster_ctarank{};
inline constexpr detail::special_u32<isa::special::cluster_nctarank> cluster_nctarank{};
inline constexpr special_register<pred, isa::special::is_explicit_cluster> is_explicit_cluster{};
inline constexpr detail::special_u32<isa::special::laneid> laneid{};
inline constexpr detail::special_u32<isa::special::warpid> warpid{};
inline constexpr detail::special_u32<isa::special::nwarpid> nwarpid{};
inline constexpr detail::special_u32<isa::special::smid> smid{};
inline constexpr detail::special_u32<isa::special::nsmid> nsmid{};
inline constexpr detail::special_u64<isa::special::gridid> gridid{};
inline constexpr detail::special_u32<isa::special::lanemask_eq> lanemask_eq{};
inline constexpr detail::special_u32<isa::special::lanemask_le> lanemask_le{};
inline constexpr detail::special_u32<isa::special::lanemask_lt> lanemask_lt{};
inline constexpr detail::special_u32<isa::special::lanemask_ge> lanemask_ge{};
inline constexpr detail::special_u32<isa::special::lanemask_gt> lanemask_gt{};
inline constexpr detail::special_u32<isa::special::clock> clock{};
inline constexpr detail::special_u32<isa::special::clock_hi> clock_hi{};
inline constexpr detail::special_u64<isa::special::clock64> clock64{};
inline constexpr detail::special_u64<isa::special::globaltimer> globaltimer{};
inline constexpr detail::special_u32<isa::special::globaltimer_lo> globaltimer_lo{};
inline constexpr detail::special_u32<isa::special::globaltimer_hi> globaltimer_hi{};
inline constexpr detail::special_b32<isa::special::reserved_smem_offset_begin> reserved_smem_offset_begin{};
inline constexpr detail::special_b32<isa::special::reserved_smem_offset_end> reserved_smem_offset_end{};
inline constexpr detail::special_b32<isa::special::reserved_smem_offset_cap> reserved_smem_offset_cap{};
inline constexpr detail::special_b32<isa::special::reserved_smem_offset_0> reserved_smem_offset_0{};
inline constexpr detail::special_b32<isa::special::reserved_smem_offset_1> reserved_smem_offset_1{};
inline constexpr detail::special_u32<isa::special::total_smem_size> total_smem_size{};
inline constexpr detail::special_u32<isa::special::aggr_smem_size> aggr_smem_size{};
inline constexpr detail::special_u32<isa::special::dynamic_smem_size> dynamic_smem_size{};
inline constexpr detail::special_u64<isa::special::current_graph_exec> current_graph_exec{};
/// `px::pm<3>` is `%pm3`.
template <unsigned N>
inline constexpr typename detail::special_nth<u32, isa::special::pm0, N, 8>::type pm{};
/// `px::pm_64<3>` is `%pm3_64`.
template <unsigned N>
inline constexpr typename detail::special_nth<u64, isa::special::pm0_64, N, 8>::type pm_64{};
/// `px::envreg<3>` is `%envreg3`.
template <unsigned N>
inline constexpr typename detail::special_nth<b32, isa::special::envreg0, N, 32>::type envreg{};

}  // namespace ptxdsl
