// SPDX-License-Identifier: Apache-2.0
// C04: more shared memory than a block has; the message lists the allocations.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16;
using tile_a = px::tile<bf16, 128, 64>;
using tile_b = px::tile<bf16, 256, 64>;

template <unsigned Stages>
constexpr void body(px::builder<px::sm_90a>& k) {
    static_cast<void>(k.smem<tile_a>(Stages, "a"));
    static_cast<void>(k.smem<tile_b>(4, "b"));  // here-1
}

#if PTXDSL_CASE == 0

[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body<6>>>();  // 229376 of 232448 bytes, more than 48 KiB: dynamic by itself
static_assert(ptx.resources().dynamic_shared_bytes == 229376);

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-C04

[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body<8>>>();

#endif
