// SPDX-License-Identifier: Apache-2.0
// What follows from the number of the warp: the part of a tile it multiplies (C03), the lanes of tensor memory it takes
// (I10).
#pragma once

#include <ptxdsl/verify/knowledge/values.hpp>

namespace ptxdsl::verify {

/// The value of a one-word operand in the first lane of a warp; false: it is not known.
template <class Facts>
[[nodiscard]] constexpr bool word_in_warp(const Facts& f, u32 word, u32 warp, std::int64_t& value) {
    if (ir::kind_of(word) == ir::operand_kind::small_int) {
        value = ir::small_value(word);
        return true;
    }
    if (ir::kind_of(word) != ir::operand_kind::reg) return false;
    if (value_in_warp(f, value_of(f, word), warp, value)) return true;
    u32 v = 0;
    if (!evaluator<Facts>(f).value(ir::payload_of(word), 32 * warp, 0, v)) return false;
    value = static_cast<std::int32_t>(v);
    return true;
}
/// The first warp that comes here and for whose value `wrong` holds; 32: none, or it is not known who comes.
template <class Facts, class Test>
[[nodiscard]] constexpr u32 warp_that(const Facts& f, u32 word, std::int64_t& value, const Test& wrong) {
    const u32 warps = f.in_single || !f.warps_known ? 0 : f.followed_warps();
    for (u32 w = 0; w < warps; ++w)
        if ((f.warps >> w & 1u) != 0 && word_in_warp(f, word, w, value) && wrong(w, value)) return w;
    return 32;
}

/// C03: a part of a tile that lies behind its end.
template <class Facts>
constexpr void check_part(Facts& f, u32 index, u32 parts, u32 allocation, u32 where) {
    std::int64_t part = 0;
    const u32 warp = warp_that(f, index, part, [&](u32, std::int64_t i) { return i < 0 || i >= parts; });
    if (warp == 32) return;
    f.out.add(catalogue::C03_part, where).with(warp).with(part).with(f.name_of(allocation)).with(parts - 1);
}

/// I10: a load or store of tensor memory in the lanes of another warp.
template <class Facts>
constexpr void check_warp_number(Facts& f, u32 number, u32 where) {
    std::int64_t n = 0;
    if (ir::kind_of(number) == ir::operand_kind::small_int && f.threads > 32) return;  // said by `check_quarter`
    const u32 warp = warp_that(f, number, n, [](u32 w, std::int64_t i) { return (i & 3) != (w & 3); });
    if (warp == 32) return;
    f.out.add(catalogue::I10_other_lanes, where)
        .with(warp)
        .with((n & 3) * 32)
        .with((n & 3) * 32 + 31)
        .with(32 * (warp & 3))
        .with(32 * (warp & 3) + 31);
}

}  // namespace ptxdsl::verify
