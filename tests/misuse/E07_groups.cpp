// SPDX-License-Identifier: Apache-2.0
// E07: cp.async whose group is none of those that were waited for, or that others have waited for.
//
// expect-1: PTXDSL-E07 "'rows' is read here while the cp.async that brings it"
// expect-2: PTXDSL-E07 "'rows' is read here while the cp.async that brings it"
// expect-3: PTXDSL-E07 "'rows' is read here by warps that have not met"
// expect-4: PTXDSL-F13 "'rows' is copied into here while other warps"
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

constexpr void body(hopper& k, px::global_ptr<const f32, 16> in, px::global_ptr<f32> out) {
    const auto rows = k.smem_array<f32, 16>(2 * 512, "rows");
    const auto tid = k.mov(px::tid.x);
    const auto mine = (rows + tid * 4u).assume_aligned<16>();
    const auto from = (in + tid * 4u).assume_aligned<16>();
    const auto other = rows + (tid ^ 64u) * 4u;
    const auto copy = [&](int row) {
        k.cp_async<px::cg, 16>(mine.byte_offset<16>(row * 2048), from.byte_offset<16>(row * 2048));  // here-4
    };
    copy(0);
#if PTXDSL_CASE == 2
    // left out
#else
    k.cp_async_commit_group();
#endif
    copy(1);
    k.cp_async_commit_group();
    k.cp_async_wait_group<1>();
#if PTXDSL_CASE == 3
    // left out
#else
    k.bar_sync();
#endif
    const auto first = k.ld(other.byte_offset(PTXDSL_CASE == 1 ? 2048 : 0));  // here-1 here-2 here-3
#if PTXDSL_CASE == 4
    copy(0);
    k.cp_async_commit_group();
#endif
    k.cp_async_wait_group<0>();
    k.bar_sync();
    const auto second = k.ld(other.byte_offset(2048));
    k.st(out + tid, first + second);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
