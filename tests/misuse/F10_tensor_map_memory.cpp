// SPDX-License-Identifier: Apache-2.0
// F10: a tensor map in memory that is not 128-byte aligned, or a field of it that does not exist.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::global_ptr<px::b8, 128> map, px::reg<u32> rows) {
    k.tensormap_replace<px::tok::global_dim, 1>(map, rows);
    k.tensormap_replace<px::tok::fill_mode, 0>(map);
    k.fence_proxy_tensormap_release<px::gpu>();     // the writer
    k.fence_proxy_tensormap_acquire<px::gpu>(map);  // the user of the changed map
}

#elif PTXDSL_CASE == 1
// control-1: the alignment stated where it is known

constexpr void body(hopper& k, px::global_ptr<px::b8> map, px::reg<u32> rows) {
    k.tensormap_replace<px::tok::global_dim, 1>(map.assume_aligned<128>(), rows);
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-F10 "128-byte aligned"

constexpr void body(hopper& k, px::global_ptr<px::b8> map, px::reg<u32> rows) {
    k.tensormap_replace<px::tok::global_dim, 1>(map, rows);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-F10

constexpr void body(hopper& k, px::global_ptr<px::b8, 128> map, px::reg<u32> rows) {
    k.tensormap_replace<px::tok::global_dim>(map, rows);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-F10 "no such value"

constexpr void body(hopper& k, px::global_ptr<px::b8, 128> map) {
    k.tensormap_replace<px::tok::fill_mode, 2>(map);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-F10 "128-byte aligned"

constexpr void body(hopper& k, px::global_ptr<px::b8, 64> map) {
    k.fence_proxy_tensormap_acquire<px::gpu>(map);  // here-5
}

#endif
#if PTXDSL_CASE < 2
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
#endif
