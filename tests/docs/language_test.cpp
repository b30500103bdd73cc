// SPDX-License-Identifier: Apache-2.0
// The programs of docs/language.md.
#include "catch.hpp"

#include <ptxdsl/dsl/printf.hpp>
#include <ptxdsl/dsl/texture.hpp>
#include <ptxdsl/ptxdsl.hpp>

namespace {

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

constexpr void histogram(hopper& k, px::global_ptr<const px::u8> data, px::global_ptr<u32> out, px::reg<u32> n) {
    const auto bins = k.smem_array<u32>(256, "bins");
    const auto tid = k.mov(px::tid.x);
    k.st(bins + tid, 0u);
    k.bar_sync();
    auto i = k.mad_lo(k.mov(px::ctaid.x), 256u, tid);  // not const: the loop writes it
    const auto step = k.mul_lo(k.mov(px::nctaid.x), 256u);
    k.while_([&] { return i < n; },
             [&] {
                 k.red_add(bins + k.cvt<u32>(k.ld(data + i)), 1u);
                 i = i + step;
             });
    k.bar_sync();
    const auto count = k.ld(bins + tid);
    k.if_(count != 0u, [&] { k.red_add<px::relaxed, px::gpu>(out + tid, count); });
}

constexpr u32 chunk = 1024, stages = 2;

/// Warp 0 copies chunks, 128 other threads add them up.
constexpr void sum(hopper& k, px::global_ptr<const f32, 16> in, px::global_ptr<f32> out, px::reg<u32> chunks) {
    const auto buffer = k.smem_array<f32, 128>(stages * chunk, "buffer");
    const auto pipe = k.make_pipeline<"pipe">(stages, px::arrivals<1>, px::arrivals<128>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.init(pipe); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.if_(tid < 32u, [&] {
         k.single_thread(k.elect_sync(), [&] {
             const auto at = k.producer_state(pipe);
             k.for_(chunks, [&](px::reg<u32> c) {
                 const auto from = (in + c * chunk).assume_aligned<16>();
                 const auto to = (buffer + at.slot() * chunk).assume_aligned<16>();
                 k.wait_empty(pipe, at);
                 k.mbarrier_arrive_expect_tx(pipe.full(at), chunk * sizeof(f32));
                 k.cp_async_bulk(to, from, chunk * sizeof(f32), pipe.full(at));
                 k.advance(at);
             });
         });
     }).else_([&] {
        const auto mine = buffer + (tid - 32u);
        const auto at = k.consumer_state(pipe);
        auto total = k.mov<f32>(0.0f);
        k.for_(chunks, [&](px::reg<u32>) {
            const auto slot = mine + at.slot() * chunk;
            k.wait_full(pipe, at);
            for (u32 j = 0; j < chunk; j += 128) total = total + k.ld(slot + static_cast<int>(j));
            k.mbarrier_arrive(pipe.empty(at));
            k.advance(at);
        });
        k.red_add(out, total);
    });
}

using tile = px::tile<f32, 32, 32>;  // 32 rows of 128 bytes, 128-byte swizzle

/// One 32 x 32 tile of `in` becomes the transposed tile of `out`.
constexpr void transpose(hopper& k, px::tma_map<tile> in, px::tma_map_out<tile> out) {
    const auto a = k.smem<tile>(1, "a"), b = k.smem<tile>(1, "b");
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    const auto x = k.shl(k.mov(px::ctaid.x), 5u), y = k.shl(k.mov(px::ctaid.y), 5u);
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_init(full[0]);
        k.fence_mbarrier_init();
        k.mbarrier_arrive_expect_tx(full[0], a);
        k.cp_async_bulk_tensor(a[0], in, px::coords(x, y), full[0]);
    });
    k.bar_sync();
    k.wait(full[0], 0);
    const auto row = k.shr(tid, 5u), col = k.and_(tid, 31u);
    for (u32 r = 0; r < 32; r += 4) k.st(k.tile_element(b[0], col, row + r), k.ld(k.tile_element(a[0], row + r, col)));
    k.fence_proxy_async_shared_cta();
    k.bar_sync();
    k.single_thread(tid == 0u, [&] {
        k.cp_async_bulk_tensor(out, px::coords(y, x), b[0]);
        k.cp_async_bulk_commit_group();
        k.cp_async_bulk_wait_group_read<0>();
    });
}

constexpr void report(hopper& k, px::global_ptr<const f32> in, px::reg<u32> n) {  // #include <ptxdsl/dsl/printf.hpp>
    const auto i = k.mad_lo(k.mov(px::ctaid.x), k.mov(px::ntid.x), k.mov(px::tid.x));
    k.if_(i < n, [&] {
        const auto x = k.ld(in + i);
        k.if_(x < 0.0f, [&] { k.printf<"element %u of %u is %g\n">(i, n, x); });
    });
}

using sampler = px::builder<px::sm_90a, px::texture_calls>;  // #include <ptxdsl/dsl/texture.hpp>

constexpr void sample(sampler& k, px::reg<px::u64> image, px::global_ptr<f32> out) {
    const auto i = k.mov(px::tid.x);
    const auto at = k.cvt<f32, px::rn>(i);
    k.st(out + i, k.tex<px::_2d, f32>(image, px::coord(at, at))[0]);
}

constexpr auto histogram_ptx = px::assemble<px::kernel<"histogram", histogram, px::attributes{.reqntid = {256}}>>();
constexpr auto sum_ptx = px::assemble<px::kernel<"sum", sum, px::attributes{.reqntid = {160}}>>();
constexpr auto transpose_ptx = px::assemble<px::kernel<"transpose", transpose, px::attributes{.reqntid = {128}}>>();
constexpr auto report_ptx = px::assemble<px::kernel<"report", report>>();
constexpr auto sample_ptx = px::assemble<px::kernel<"sample", sample>>();
static_assert(sum_ptx.resources().static_shared_bytes > 8192 && sum_ptx.resources().threads[0] == 160);

TEST_CASE("the programs of docs/language.md") {
    CHECK(histogram_ptx.text().find("red.shared.add.u32") != std::string_view::npos);
    CHECK(sum_ptx.text().find("mbarrier.try_wait") != std::string_view::npos);
    CHECK(report_ptx.text().find("call (%r5), vprintf, (") != std::string_view::npos);
    CHECK(sample_ptx.text().find("tex.2d.v4.f32.f32") != std::string_view::npos);
    CHECK(transpose_ptx.text().find("fence.proxy.async.shared::cta") != std::string_view::npos);
}

}  // namespace
