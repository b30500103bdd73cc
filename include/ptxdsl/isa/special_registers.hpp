// SPDX-License-Identifier: Apache-2.0
// Special registers (PTX ISA 9.0, chapter 10). Read by `mov` only.
#pragma once

#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/isa/targets.hpp>
#include <ptxdsl/isa/types.hpp>

#include <cstdint>

namespace ptxdsl::isa {

// clang-format off
/// Every special register; vectors by component. `spelling` gives the text with `%`.
enum class special : std::uint8_t {
    tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z,
    ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z,
    laneid, warpid, nwarpid, smid, nsmid, gridid,
    is_explicit_cluster,
    clusterid_x, clusterid_y, clusterid_z, nclusterid_x, nclusterid_y, nclusterid_z,
    cluster_ctaid_x, cluster_ctaid_y, cluster_ctaid_z, cluster_nctaid_x, cluster_nctaid_y, cluster_nctaid_z,
    cluster_ctarank, cluster_nctarank,
    lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt,
    clock, clock_hi, clock64,
    pm0, pm1, pm2, pm3, pm4, pm5, pm6, pm7,
    pm0_64, pm1_64, pm2_64, pm3_64, pm4_64, pm5_64, pm6_64, pm7_64,
    envreg0, envreg1, envreg2, envreg3, envreg4, envreg5, envreg6, envreg7,
    envreg8, envreg9, envreg10, envreg11, envreg12, envreg13, envreg14, envreg15,
    envreg16, envreg17, envreg18, envreg19, envreg20, envreg21, envreg22, envreg23,
    envreg24, envreg25, envreg26, envreg27, envreg28, envreg29, envreg30, envreg31,
    globaltimer, globaltimer_lo, globaltimer_hi,
    reserved_smem_offset_begin, reserved_smem_offset_end, reserved_smem_offset_cap,
    reserved_smem_offset_0, reserved_smem_offset_1,
    total_smem_size, aggr_smem_size, dynamic_smem_size,
    current_graph_exec,
    count_,
};

/// Facts of one special register.
struct special_info {
    string_view name;  ///< PTX spelling, with `%` and `.x`
    scalar type;
    ptx_version since;
    std::uint16_t sm;       ///< first target
};

namespace detail {
inline constexpr special_info special_table[] = {
    {"%tid.x"_sv, scalar::u32, {1, 0}, 0}, {"%tid.y"_sv, scalar::u32, {1, 0}, 0}, {"%tid.z"_sv, scalar::u32, {1, 0}, 0},
    {"%ntid.x"_sv, scalar::u32, {1, 0}, 0}, {"%ntid.y"_sv, scalar::u32, {1, 0}, 0}, {"%ntid.z"_sv, scalar::u32, {1, 0}, 0},
    {"%ctaid.x"_sv, scalar::u32, {1, 0}, 0}, {"%ctaid.y"_sv, scalar::u32, {1, 0}, 0}, {"%ctaid.z"_sv, scalar::u32, {1, 0}, 0},
    {"%nctaid.x"_sv, scalar::u32, {1, 0}, 0}, {"%nctaid.y"_sv, scalar::u32, {1, 0}, 0}, {"%nctaid.z"_sv, scalar::u32, {1, 0}, 0},
    {"%laneid"_sv, scalar::u32, {1, 3}, 0}, {"%warpid"_sv, scalar::u32, {1, 3}, 0}, {"%nwarpid"_sv, scalar::u32, {2, 0}, 20},
    {"%smid"_sv, scalar::u32, {1, 3}, 0}, {"%nsmid"_sv, scalar::u32, {2, 0}, 20}, {"%gridid"_sv, scalar::u64, {3, 0}, 0},
    {"%is_explicit_cluster"_sv, scalar::pred, {7, 8}, 90},
    {"%clusterid.x"_sv, scalar::u32, {7, 8}, 90}, {"%clusterid.y"_sv, scalar::u32, {7, 8}, 90}, {"%clusterid.z"_sv, scalar::u32, {7, 8}, 90},
    {"%nclusterid.x"_sv, scalar::u32, {7, 8}, 90}, {"%nclusterid.y"_sv, scalar::u32, {7, 8}, 90}, {"%nclusterid.z"_sv, scalar::u32, {7, 8}, 90},
    {"%cluster_ctaid.x"_sv, scalar::u32, {7, 8}, 90}, {"%cluster_ctaid.y"_sv, scalar::u32, {7, 8}, 90}, {"%cluster_ctaid.z"_sv, scalar::u32, {7, 8}, 90},
    {"%cluster_nctaid.x"_sv, scalar::u32, {7, 8}, 90}, {"%cluster_nctaid.y"_sv, scalar::u32, {7, 8}, 90}, {"%cluster_nctaid.z"_sv, scalar::u32, {7, 8}, 90},
    {"%cluster_ctarank"_sv, scalar::u32, {7, 8}, 90}, {"%cluster_nctarank"_sv, scalar::u32, {7, 8}, 90},
    {"%lanemask_eq"_sv, scalar::u32, {2, 0}, 20}, {"%lanemask_le"_sv, scalar::u32, {2, 0}, 20}, {"%lanemask_lt"_sv, scalar::u32, {2, 0}, 20},
    {"%lanemask_ge"_sv, scalar::u32, {2, 0}, 20}, {"%lanemask_gt"_sv, scalar::u32, {2, 0}, 20},
    {"%clock"_sv, scalar::u32, {1, 0}, 0}, {"%clock_hi"_sv, scalar::u32, {5, 0}, 20}, {"%clock64"_sv, scalar::u64, {2, 0}, 20},
    {"%pm0"_sv, scalar::u32, {1, 3}, 0}, {"%pm1"_sv, scalar::u32, {1, 3}, 0}, {"%pm2"_sv, scalar::u32, {1, 3}, 0}, {"%pm3"_sv, scalar::u32, {1, 3}, 0},
    {"%pm4"_sv, scalar::u32, {3, 0}, 20}, {"%pm5"_sv, scalar::u32, {3, 0}, 20}, {"%pm6"_sv, scalar::u32, {3, 0}, 20}, {"%pm7"_sv, scalar::u32, {3, 0}, 20},
    {"%pm0_64"_sv, scalar::u64, {4, 0}, 50}, {"%pm1_64"_sv, scalar::u64, {4, 0}, 50}, {"%pm2_64"_sv, scalar::u64, {4, 0}, 50}, {"%pm3_64"_sv, scalar::u64, {4, 0}, 50},
    {"%pm4_64"_sv, scalar::u64, {4, 0}, 50}, {"%pm5_64"_sv, scalar::u64, {4, 0}, 50}, {"%pm6_64"_sv, scalar::u64, {4, 0}, 50}, {"%pm7_64"_sv, scalar::u64, {4, 0}, 50},
    {"%envreg0"_sv, scalar::b32, {2, 1}, 0}, {"%envreg1"_sv, scalar::b32, {2, 1}, 0}, {"%envreg2"_sv, scalar::b32, {2, 1}, 0}, {"%envreg3"_sv, scalar::b32, {2, 1}, 0},
    {"%envreg4"_sv, scalar::b32, {2, 1}, 0}, {"%envreg5"_sv, scalar::b32, {2, 1}, 0}, {"%envreg6"_sv, scalar::b32, {2, 1}, 0}, {"%envreg7"_sv, scalar::b32, {2, 1}, 0},
    {"%envreg8"_sv, scalar::b32, {2, 1}, 0}, {"%envreg9"_sv, scalar::b32, {2, 1}, 0}, {"%envreg10"_sv, scalar::b32, {2, 1}, 0}, {"%envreg11"_sv, scalar::b32, {2, 1}, 0},
    {"%envreg12"_sv, scalar::b32, {2, 1}, 0}, {"%envreg13"_sv, scalar::b32, {2, 1}, 0}, {"%envreg14"_sv, scalar::b32, {2, 1}, 0}, {"%envreg15"_sv, scalar::b32, {2, 1}, 0},
    {"%envreg16"_sv, scalar::b32, {2, 1}, 0}, {"%envreg17"_sv, scalar::b32, {2, 1}, 0}, {"%envreg18"_sv, scalar::b32, {2, 1}, 0}, {"%envreg19"_sv, scalar::b32, {2, 1}, 0},
    {"%envreg20"_sv, scalar::b32, {2, 1}, 0}, {"%envreg21"_sv, scalar::b32, {2, 1}, 0}, {"%envreg22"_sv, scalar::b32, {2, 1}, 0}, {"%envreg23"_sv, scalar::b32, {2, 1}, 0},
    {"%envreg24"_sv, scalar::b32, {2, 1}, 0}, {"%envreg25"_sv, scalar::b32, {2, 1}, 0}, {"%envreg26"_sv, scalar::b32, {2, 1}, 0}, {"%envreg27"_sv, scalar::b32, {2, 1}, 0},
    {"%envreg28"_sv, scalar::b32, {2, 1}, 0}, {"%envreg29"_sv, scalar::b32, {2, 1}, 0}, {"%envreg30"_sv, scalar::b32, {2, 1}, 0}, {"%envreg31"_sv, scalar::b32, {2, 1}, 0},
    {"%globaltimer"_sv, scalar::u64, {3, 1}, 30}, {"%globaltimer_lo"_sv, scalar::u32, {3, 1}, 30}, {"%globaltimer_hi"_sv, scalar::u32, {3, 1}, 30},
    {"%reserved_smem_offset_begin"_sv, scalar::b32, {7, 6}, 80}, {"%reserved_smem_offset_end"_sv, scalar::b32, {7, 6}, 80},
    {"%reserved_smem_offset_cap"_sv, scalar::b32, {7, 6}, 80}, {"%reserved_smem_offset_0"_sv, scalar::b32, {7, 6}, 80},
    {"%reserved_smem_offset_1"_sv, scalar::b32, {7, 6}, 80},
    {"%total_smem_size"_sv, scalar::u32, {4, 1}, 20}, {"%aggr_smem_size"_sv, scalar::u32, {8, 1}, 90}, {"%dynamic_smem_size"_sv, scalar::u32, {4, 1}, 20},
    {"%current_graph_exec"_sv, scalar::u64, {8, 0}, 50},
};
static_assert(sizeof(special_table) / sizeof(special_table[0]) == static_cast<unsigned>(special::count_));
}  // namespace detail
// clang-format on

[[nodiscard]] constexpr const special_info& info(special r) noexcept {
    return detail::special_table[static_cast<unsigned>(r)];
}
/// PTX text of a special register: `spelling(special::tid_x)` is `%tid.x`.
[[nodiscard]] constexpr string_view spelling(special r) noexcept { return info(r).name; }

/// The special register with this text (`%` included); `special::count_` when there is none.
[[nodiscard]] constexpr special find_special(string_view text) noexcept {
    for (unsigned i = 0; i != static_cast<unsigned>(special::count_); ++i) {
        if (detail::special_table[i].name == text) return static_cast<special>(i);
    }
    return special::count_;
}

}  // namespace ptxdsl::isa
