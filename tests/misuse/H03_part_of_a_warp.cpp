// SPDX-License-Identifier: Apache-2.0
// H03: an instruction for whole warps that a part of a warp executes, and member masks that name other lanes.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::b16, px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    const auto box = k.smem_array<px::b8, 16>(1024, "box");
    const auto tid = k.mov(px::tid.x);
    const auto lane = k.and_(tid, 31u), warp = k.shr(tid, 5u);
    k.if_(warp == 2u, [&] { static_cast<void>(k.ldmatrix<px::x1>(box)); });  // whole warps
    k.if_(tid < 64u, [&] { static_cast<void>(k.ldmatrix<px::x1>(box)); });
    k.if_(lane < 16u, [&] {
        k.st(out, k.shfl_sync_down(tid, 8u, 31u, 0xffffu));  // the mask names the lanes that come here
    });
    k.st(out, k.shfl_sync_down(tid, 8u, 31u, px::full_mask));
    k.single_thread(k.elect_sync(), [&] { k.st(out, tid); });
}

#elif PTXDSL_CASE == 1
// control-1: the other lanes execute the same in the other arm

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    const auto tid = k.mov(px::tid.x);
    k.if_(k.and_(tid, 31u) < 16u, [&] { k.st(out, k.shfl_sync_idx(tid, 0u, 31u, px::full_mask)); }).else_([&] {
        k.st(out, k.shfl_sync_idx(tid, 1u, 31u, px::full_mask));
    });
}

#elif PTXDSL_CASE == 2
// control-2: the other lanes have left; and what the condition selects is not known

constexpr void body(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    const auto tid = k.mov(px::tid.x);
    k.if_(n < 16u, [&] { k.st(out, k.shfl_sync_idx(tid, 0u, 31u, px::full_mask)); });
    k.if_(k.and_(tid, 31u) >= 16u, [&] { k.exit(); });
    k.if_(k.and_(tid, 31u) < 16u, [&] { k.st(out, k.shfl_sync_idx(tid, 0u, 31u, px::full_mask)); });
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-H03 "ldmatrix"

constexpr void body(hopper& k) {
    const auto box = k.smem_array<px::b8, 16>(1024, "box");
    k.if_(k.and_(k.mov(px::tid.x), 31u) < 16u, [&] {
        static_cast<void>(k.ldmatrix<px::x1>(box));  // here-3
    });
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-H03 "ldmatrix"

constexpr void body(hopper& k) {
    const auto box = k.smem_array<px::b8, 16>(1024, "box");
    k.single_thread(k.elect_sync(), [&] {
        static_cast<void>(k.ldmatrix<px::x1>(box));  // here-4
    });
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-H03 "barrier"

constexpr void body(hopper& k) {
    k.if_(k.mov(px::tid.x) < 100u, [&] {
        k.bar_sync<1, 96>();  // here-5
    });
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-H03 "all 32 lanes"

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    const auto tid = k.mov(px::tid.x);
    k.if_(k.and_(tid, 31u) < 16u, [&] {
        k.st(out, k.shfl_sync_down(tid, 8u, 31u, px::full_mask));  // here-6
    });
    k.bar_sync();
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-H03 "its mask leaves"

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    const auto tid = k.mov(px::tid.x);
    k.st(out, k.shfl_sync_down(tid, 8u, 31u, 0xffffu));  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-H03 "all 32 lanes"

constexpr void body(hopper& k) {
    k.if_(k.mov(px::laneid) == 3u, [&] {
        k.bar_warp_sync();  // here-8
    });
    k.bar_warp_sync();
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-H03 "all 32 lanes"
// The lanes that skip the arm meet the others at the end of the warps' arm around it.

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    const auto tid = k.mov(px::tid.x);
    k.if_(tid < 64u, [&] {
        k.if_(k.and_(tid, 31u) < 16u, [&] {
            k.st(out, k.shfl_sync_down(tid, 8u, 31u, px::full_mask));  // here-9
        });
        k.st(out, k.shfl_sync_down(tid, 8u, 31u, px::full_mask));
    });
}

#elif PTXDSL_CASE == 10
// warn-10: PTXDSL-H03 "until the others"
// A meeting in another arm is not theirs.

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    const auto tid = k.mov(px::tid.x);
    k.if_(tid < 64u, [&] {
         k.if_(k.and_(tid, 31u) < 16u, [&] { k.st(out, k.shfl_sync_down(tid, 8u, 31u, px::full_mask)); });
     }).else_([&] { k.bar_warp_sync(); });
}

#elif PTXDSL_CASE == 11
// warn-11: PTXDSL-H03 "until the others"

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    const auto tid = k.mov(px::tid.x);
    k.if_(k.and_(tid, 31u) < 16u, [&] {
        k.st(out, k.shfl_sync_down(tid, 8u, 31u, px::full_mask));  // here-11
    });
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-H03 ".aligned"

constexpr void body(hopper& k) {
    k.if_(k.elect_sync(), [&] {
        k.bar_sync();  // here-12
    });
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-H03 ".aligned"

constexpr void body(hopper& k) {
    k.at(k.elect_sync()).setmaxnreg_dec<24>();  // here-13
}

#elif PTXDSL_CASE == 14
// control-14: one elected lane does what one lane does

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    k.if_(k.elect_sync(), [&] { k.st(out, 1u); });
    k.bar_sync();
}

#endif
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}, .minnctapersm = 1}>>();
