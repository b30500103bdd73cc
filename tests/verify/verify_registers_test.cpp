// SPDX-License-Identifier: Apache-2.0
// Registers (A06, A12, E11), structure (K01 to K03), layout (C01, C04, C05, F16, B03, E02): every rule with its legal
// neighbours.
#include "findings.hpp"

#include <type_traits>

using namespace ptxdsl_test;

namespace {

using tile_a = px::tile<bf16, 64, 64>;
using out_t = px::global_ptr<f32>;

// ---- A06 ------------------------------------------------------------------------------------------------------------

TEST_CASE("A06: a register that nothing has written") {
    CHECK(ids([](builder& k, out_t out) { k.st(out, k.new_reg<f32>("x")); }) == "A06");
    CHECK_THAT(texts([](builder& k, out_t out) { k.st(out, k.new_reg<f32>("x")); }),
               Catch::Matchers::ContainsSubstring("%x (f32)"));
    // One mistake is told once, however often the register is read.
    CHECK(ids([](builder& k, out_t out) {
              auto x = k.new_reg<f32>();
              k.st(out, x);
              k.st(out, k.add(x, x));
          }) == "A06");
    CHECK(ids([](builder& k, out_t out) {
              auto p = k.new_reg<px::pred>();
              k.at(p).st(out, k.mov<f32>(0.0f));
          }) == "A06");
}

TEST_CASE("A06: written before, on some path, is not provable") {
    CHECK(ids([](builder& k, out_t out) {
              auto x = k.new_reg<f32>();
              k.inst<"mov.f32">(x, 1.0f);
              k.st(out, x);
          }) == "");
    CHECK(ids([](builder& k, out_t out, px::reg<u32> n) {  // in one branch only
              auto x = k.new_reg<f32>();
              k.if_(n > 3u, [&] { k.inst<"mov.f32">(x, 1.0f); });
              k.st(out, x);
          }) == "");
    CHECK(ids([](builder& k, out_t out, px::reg<u32> n) {  // definition and use under one guard
              auto x = k.new_reg<f32>();
              auto p = n > 3u;
              k.at(p).inst<"mov.f32">(x, 1.0f);
              k.at(p).st(out, x);
          }) == "");
}

TEST_CASE("A06: the other arm of an if does not write for this one") {
    CHECK(ids([](builder& k, out_t out, px::reg<u32> n) {
              auto x = k.new_reg<f32>();
              k.if_(n > 3u, [&] { k.inst<"mov.f32">(x, 1.0f); }).else_([&] { k.st(out, x); });
          }) == "A06");
    CHECK(ids([](builder& k, out_t out, px::reg<u32> n) {
              auto x = k.new_reg<f32>();
              k.if_(n > 3u, [&] { k.inst<"mov.f32">(x, 1.0f); }).else_([&] { k.inst<"mov.f32">(x, 2.0f); });
              k.st(out, x);
          }) == "");
    CHECK(ids([](builder& k, out_t out, px::reg<u32> n) {  // what comes before both arms serves both
              auto x = k.new_reg<f32>();
              k.inst<"mov.f32">(x, 0.0f);
              k.if_(n > 3u, [&] { k.inst<"mov.f32">(x, 1.0f); }).else_([&] { k.st(out, x); });
          }) == "");
}

TEST_CASE("A06: loops bring later writes back") {
    CHECK(ids([](builder& k, out_t out, px::reg<u32> n) {  // the first iteration reads it before any write
              auto x = k.new_reg<f32>();
              k.for_(n, [&](px::reg<u32>) {
                  k.st(out, x);
                  k.inst<"mov.f32">(x, 1.0f);
              });
          }) == "A06");
    CHECK(ids([](builder& k, out_t out, px::reg<u32> n) {  // guarded: the first iteration may skip it
              auto x = k.new_reg<f32>();
              k.for_(n, [&](px::reg<u32> i) {
                  k.if_(i != 0u, [&] { k.st(out, x); });
                  k.inst<"mov.f32">(x, 1.0f);
              });
          }) == "");
    CHECK(ids([](builder& k, out_t out, px::reg<u32> n) {  // an outer iteration may have written it
              auto x = k.new_reg<f32>();
              k.for_(n, [&](px::reg<u32> i) {
                  k.for_(i, [&](px::reg<u32>) { k.st(out, x); });
                  k.inst<"mov.f32">(x, 1.0f);
              });
          }) == "");
    CHECK(ids([](builder& k, out_t out, px::reg<u32> n) {  // nothing in the loop writes it either
              auto x = k.new_reg<f32>();
              k.for_(n, [&](px::reg<u32> i) { k.if_(i != 0u, [&] { k.st(out, x); }); });
          }) == "A06");
}

TEST_CASE("A06: accumulators") {
    const auto kernel = [](auto scale) {
        return [=](builder& k, px::reg<u32> n) {
            auto a = k.smem<tile_a>(1);
            auto b = k.smem<tile_a>(1);
            auto acc = k.wgmma.make_accumulator<f32, 64>();
            auto da = k.wgmma.descriptor(a);
            auto db = k.wgmma.descriptor(b);
            k.wgmma.fence();
            if constexpr (std::is_same_v<decltype(scale), bool>)
                k.wgmma.mma_async(acc, da, db, scale);
            else
                k.wgmma.mma_async(acc, da, db, n != 0u);
            k.wgmma.commit_group();
            k.wgmma.wait_group<0>();
        };
    };
    CHECK(ids(kernel(true)) == "A06");
    CHECK(ids(kernel(false)) == "");  // scale-d false: D is not read
    CHECK(ids(kernel(0)) == "");      // scale-d in a register: unknown
}

TEST_CASE("A06: raw text may have written anything") {
    CHECK(ids([](builder& k, out_t out) {
              auto x = k.new_reg<f32>();
              k.raw("mov.f32 %f0, 0f00000000;");
              k.st(out, x);
          }) == "");
}

TEST_CASE("A12: PTX version below the target's floor") {
    const auto body = [](builder& k, out_t out) { k.st(out, k.mov<f32>(0.0f)); };
    CHECK(ids(body) == "");
    CHECK(ids_after(body, [](px::ir::program& p) { p.version = {7, 8}; }) == "A12");
    CHECK(ids_after(body, [](px::ir::program& p) { p.target = px::sm_100a; }) == "A12");
}

TEST_CASE("E11: the predicate of a wait is never read") {
    const auto kernel = [](bool reads) {
        return [reads](builder& k, out_t out) {
            auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
            auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] {
                k.mbarrier_init(bar.stage(0));
                k.mbarrier_arrive(bar.stage(0));
            });
            k.fence_mbarrier_init();
            k.bar_sync();
            auto done = k.mbarrier_try_wait_parity(bar.stage(0), 0u);
            if (reads) k.at(done).st(out, k.mov<f32>(0.0f));
        };
    };
    CHECK(ids(kernel(false)) == "E11");
    CHECK(ids(kernel(true)) == "");
    CHECK(ids([](builder& k, px::reg<u32> n) {  // read at the top of the next iteration: CUTLASS's peek
              auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
              k.mbarrier_init(bar.stage(0));
              k.mbarrier_arrive(bar.stage(0));
              auto ready = k.new_reg<px::pred>();
              k.inst<"setp.ne.u32">(ready, n, 0u);
              k.for_(n, [&](px::reg<u32>) {
                  k.if_(px::unless(ready), [&] { k.wait(bar.stage(0), 0u); });
                  ready = k.mbarrier_try_wait_parity(bar.stage(0), 1u);
              });
          }) == "");
}

// ---- structure ------------------------------------------------------------------------------------------------------

TEST_CASE("K01: regions that do not nest") {
    const auto body = [](builder& k, out_t out) { k.st(out, k.mov<f32>(0.0f)); };
    using px::ir::region;
    CHECK(ids_after(body, [](px::ir::program& p) { p.add_region(region::else_begin, {}); }) == "K01");
    CHECK(ids_after(body, [](px::ir::program& p) { p.add_region(region::if_end, {}); }) == "K01");
    CHECK(ids_after(body, [](px::ir::program& p) { p.add_region(region::break_, {}, 0, 0); }) == "K01");
    CHECK(ids_after(body, [](px::ir::program& p) { p.add_region(region::loop_begin, {}, 0, 5); }) == "K01");
}

TEST_CASE("K02: a label in a scope") {
    const auto kernel = [](bool outside) {
        return [outside](builder& k, px::reg<u32> n) {
            auto inner = k.new_label("inner");
            k.scope([&] {
                if (!outside) k.at(n == 0u).bra(inner);
                k.place(inner);
            });
            if (outside) k.at(n == 0u).bra(inner);
        };
    };
    CHECK(ids(kernel(true)) == "K02");
    CHECK(ids(kernel(false)) == "");
    CHECK(ids([](builder& k, px::reg<u32> n) {  // out of a scope
              auto after = k.new_label("after");
              k.scope([&] { k.at(n == 0u).bra(after); });
              k.place(after);
          }) == "");
}

TEST_CASE("K03: loops that never end") {
    CHECK(ids([](builder& k, out_t out) { k.loop([&] { k.st(out, k.mov<f32>(0.0f)); }); }) == "K03");
    CHECK(ids([](builder& k, px::reg<u32> n) { k.loop([&](px::loop_handle l) { l.break_if(n == 0u); }); }) == "");
    CHECK(ids([](builder& k, px::reg<u32> n) { k.loop([&] { k.at(n == 0u).exit(); }); }) == "");
    CHECK(ids([](builder& k) { k.loop([&] { k.trap(); }); }) == "");
    CHECK(ids([](builder& k, px::reg<u32> n) {  // leaves the outer loop from the inner one
              k.loop([&](px::loop_handle outer) { k.loop([&] { outer.break_if(n == 0u); }); });
          }) == "");
    CHECK(ids([](builder& k, px::reg<u32> n) {  // a branch of the author's own
              auto out = k.new_label("out");
              k.loop([&] { k.at(n == 0u).bra(out); });
              k.place(out);
          }) == "");
    CHECK(ids([](builder& k, px::reg<u32> n) { k.while_([&] { return n != 0u; }, [&] { k.nanosleep(20u); }); }) == "");
    CHECK(ids([](builder& k, px::reg<u32> n) {
              k.do_while([&] {
                  k.nanosleep(20u);
                  return n != 0u;
              });
          }) == "");
}

TEST_CASE("K03: steps that never reach the bound") {
    const auto nothing = [](auto) {};
    CHECK(ids([&](builder& k) { k.for_(0u, 10u, 0u, nothing); }) == "K03");
    CHECK(ids([&](builder& k, px::reg<u32> n) { k.for_(0u, n, 0u, nothing); }) == "K03");
    CHECK(ids([&](builder& k, px::reg<px::s32> n) { k.for_(0, n, -1, nothing); }) == "K03");
    CHECK(ids([&](builder& k, px::reg<px::s32> n) { k.for_(0, n, 1, nothing); }) == "");
    CHECK(ids([&](builder& k, px::reg<u32> n, px::reg<u32> step) { k.for_(0u, n, step, nothing); }) == "");
    CHECK(ids([&](builder& k) { k.for_(0u, 10u, 3u, nothing); }) == "");
    CHECK(ids([&](builder& k) { k.for_(10u, 10u, 1u, nothing); }) == "K03w");  // zero trips: a warning
    CHECK(ids([&](builder& k, px::reg<u32> n) {                                // a break inside
              k.for_(0u, 10u, 0u, [&](px::reg<u32>, px::loop_handle l) { l.break_if(n == 0u); });
          }) == "");
}

// ---- layout
// -----------------------------------------------------------------------------------------------------------

TEST_CASE("C01: a swizzled tile off its repeat") {
    CHECK(ids([](builder& k) { static_cast<void>(k.smem_at<tile_a>(128, 1, "a")); }) == "C01");
    CHECK_THAT(texts([](builder& k) { static_cast<void>(k.smem_at<tile_a>(128, 1, "a")); }),
               Catch::Matchers::ContainsSubstring("byte 128") && Catch::Matchers::ContainsSubstring("1024"));
    CHECK(ids([](builder& k) { static_cast<void>(k.smem_at<tile_a>(2048, 2, "a")); }) == "");
    CHECK(ids([](builder& k) {  // 32-byte swizzle repeats every 256
              static_cast<void>(k.smem_at<px::tile<bf16, 64, 16, px::k_major, px::swizzle_32b>>(256, 1, "a"));
          }) == "");
    CHECK(ids([](builder& k) {  // the allocator aligns by itself
              static_cast<void>(k.smem_array<u32>(3));
              static_cast<void>(k.smem<tile_a>(2));
          }) == "");
}

TEST_CASE("C04: too much shared memory") {
    const auto all = texts([](builder& k) {
        static_cast<void>(k.smem<px::tile<bf16, 128, 64>>(8, "a"));
        static_cast<void>(k.smem<px::tile<bf16, 256, 64>>(4, "b"));
    });
    CHECK(ids_of(all) == "C04");
    CHECK_THAT(all, Catch::Matchers::ContainsSubstring("'a' 8 x 16384, 'b' 4 x 32768") &&
                        Catch::Matchers::ContainsSubstring("232448"));
    CHECK(ids([](builder& k) {
              static_cast<void>(k.smem<px::tile<bf16, 128, 64>>(6, "a"));
              static_cast<void>(k.smem<px::tile<bf16, 256, 64>>(4, "b"));
          }) == "");
}

TEST_CASE("C05: explicit offsets that overlap") {
    CHECK(ids([](builder& k) {
              static_cast<void>(k.smem_at<tile_a>(0, 2, "a"));
              static_cast<void>(k.smem_at<tile_a>(8192, 1, "b"));
          }) == "C05");
    CHECK(ids([](builder& k) {
              static_cast<void>(k.smem_at<tile_a>(0, 1, "a"));
              static_cast<void>(k.smem_at<tile_a>(8192, 1, "b"));
              static_cast<void>(k.smem<tile_a>(1, "c"));
          }) == "");
}

TEST_CASE("F16, E02: stages and barriers off their alignment") {
    const auto body = [](builder& k) { static_cast<void>(k.smem<tile_a>(2, "a")); };
    CHECK(ids_after(body, [](px::ir::program& p) { p.allocations[0].stage_bytes += 64; }) == "F16");
    CHECK(ids_after([](builder& k) { static_cast<void>(k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)); },
                    [](px::ir::program& p) { p.allocations[0].offset = 4; }) == "E02");
}

TEST_CASE("B03: constant offsets that misalign an access") {
    const auto store = [](int bytes) {
        return [bytes](builder& k) {
            auto x = k.smem_array<u32>(16).as<px::packet<u32, 4>>();
            auto v = k.ld(x);
            k.st(x.byte_offset<16>(bytes), v);
        };
    };
    CHECK(ids(store(16)) == "");
    CHECK(ids(store(8)) == "B03");
}

}  // namespace
