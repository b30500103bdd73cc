// SPDX-License-Identifier: Apache-2.0
// A12: a PTX version below what a used form needs; without a fixed one the lowest that works is chosen.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void plain(hopper&, px::reg<u32> u) { static_cast<void>(u + 1u); }
constexpr void newer(hopper& k, px::reg<u32> u) {
    static_cast<void>(k.mov(px::aggr_smem_size) + u);
    k.fence<px::acquire, px::gpu>();
}
constexpr void blackwell(px::builder<px::sm_100a>& k, px::reg<f32> f) { static_cast<void>(k.min(f, f, f)); }
static_assert(px::assemble<px::kernel<"plain", plain>>().version() == px::ptx_version{8, 0});  // the floor of sm_90a
static_assert(px::assemble<px::kernel<"newer", newer>>().version() == px::ptx_version{8, 6});
static_assert(px::assemble<px::kernel<"blackwell", blackwell>>().version() == px::ptx_version{8, 8});
static_assert(px::assemble<px::kernel<"fixed", plain, px::attributes{.version = {8, 5}}>>().version() ==
              px::ptx_version{8, 5});
static_assert(px::assemble<px::kernel<"fixed", newer, px::attributes{.version = {8, 6}}>>().version() ==
              px::ptx_version{8, 6});

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A12 "A12_version.cpp:" "8.6"

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.fence<px::acquire, px::gpu>();  // here-1
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong, px::attributes{.version = {8, 5}}>>();

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A12 "A12_version.cpp:" "8.1"

constexpr void wrong([[maybe_unused]] hopper& k) {
    static_cast<void>(k.mov(px::aggr_smem_size));  // here-2
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong, px::attributes{.version = {8, 0}}>>();

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A12 "8.6"

constexpr void wrong([[maybe_unused]] px::builder<px::sm_100a>& k) { k.nanosleep(1u); }
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong, px::attributes{.version = {8, 0}}>>();

#endif
