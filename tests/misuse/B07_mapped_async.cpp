// SPDX-License-Identifier: Apache-2.0
// A mapped (mapa) address where only the own block's is legal.
//
// expect-1: PTXDSL-B07
// expect-2: PTXDSL-B07
// expect-3: PTXDSL-B07
// expect-4: PTXDSL-B07
// expect-5: PTXDSL-B07
// expect-6: PTXDSL-B07
// expect-7: PTXDSL-B07
// expect-8: PTXDSL-B07
// expect-9: PTXDSL-B07
// expect-10: PTXDSL-B07

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using tile = px::tile<bf16, 64, 64>;
constexpr void body(px::builder<px::sm_90a>& k, px::global_ptr<const u32, 16> in, px::global_ptr<u32, 16> out,
                    px::tma_map<tile> map, px::reg<u32> n) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    const auto far_bar = k.mapa(bar, 1u);
    const auto own = k.smem_array<u32>(64);
    const auto far = k.mapa(own, 1u);
    static_cast<void>(bar), static_cast<void>(far_bar), static_cast<void>(own), static_cast<void>(far),
        static_cast<void>(in), static_cast<void>(out), static_cast<void>(map), static_cast<void>(n);
#if PTXDSL_CASE == 0
    k.mbarrier_init(bar), k.mbarrier_arrive(far_bar), k.st_async(far, n, far_bar);
    k.cp_async_bulk(far, own, 64u, far_bar);
    k.cp_async<px::cg, 16>(own, in);
    k.st(far, n);
    static_cast<void>(k.ldmatrix<px::x1>(own));
#elif PTXDSL_CASE == 1   // init
    k.mbarrier_init(far_bar);  // here-1
#elif PTXDSL_CASE == 2   // inval
    k.mbarrier_inval(far_bar);  // here-2
#elif PTXDSL_CASE == 3   // cp.async
    k.cp_async<px::cg, 16>(far, in);  // here-3
#elif PTXDSL_CASE == 4   // ldmatrix
    static_cast<void>(k.ldmatrix<px::x1>(far));  // here-4
#elif PTXDSL_CASE == 5   // stmatrix
    k.stmatrix(far, n);  // here-5
#elif PTXDSL_CASE == 6   // the source of a bulk copy
    k.cp_async_bulk(out, far, 64u);  // here-6
#elif PTXDSL_CASE == 7   // a copy to another block that completes here
    k.cp_async_bulk(far, own, 64u, bar);  // here-7
#elif PTXDSL_CASE == 8   // an asynchronous store that completes here
    k.st_async(far, n, bar);  // here-8
#elif PTXDSL_CASE == 9   // a tensor load that completes there
    k.cp_async_bulk_tensor(k.smem<tile>()[0], map, px::coords(0, 0), far_bar);  // here-9
#elif PTXDSL_CASE == 10  // cp.async arriving there
    k.cp_async_mbarrier_arrive(far_bar);  // here-10
#endif
}
