// SPDX-License-Identifier: Apache-2.0
#include <ptxdsl/ptxdsl.hpp>
#include <ptxdsl/runtime.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace px = ptxdsl;
using px::bf16;
using px::u32;

// One block of 128 threads multiplies a 64 x 64 tile of A by the transpose of a 64 x 64 tile of B.
using tile = px::tile<bf16, 64, 64>;  // 64 rows of 64 elements, K-major, 128-byte swizzle

constexpr void multiply(px::builder<px::sm_90a>& k, px::tma_map<tile> a_map, px::tma_map<tile> b_map,
                        px::global_ptr<float, 8> c) {
    const auto a = k.smem<tile>(1, "a");
    const auto b = k.smem<tile>(1, "b");
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);

    k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_arrive_expect_tx(full[0], a, b);  // the bytes come from the tiles
        k.cp_async_bulk_tensor(a[0], a_map, px::coords(0, 0), full[0]);
        k.cp_async_bulk_tensor(b[0], b_map, px::coords(0, 0), full[0]);
    });
    k.wait(full[0], 0);

    const auto acc = k.wgmma.make_accumulator<float, 64>();
    const auto a_desc = k.wgmma.descriptor(a);
    const auto b_desc = k.wgmma.descriptor(b);
    k.wgmma.fence();
    for (u32 s = 0; s < 4; ++s)  // a C++ loop unrolls: four steps of K = 16; the first one starts at zero
        k.wgmma.mma_async(acc, a_desc.k_slice(s), b_desc.k_slice(s), s != 0);
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();

    // Thread t of warp w holds row 16 w + t / 4 (and 8 below) and the columns 2 (t % 4) + 8 j.
    const auto row = k.mad_lo(k.shr(tid, 5u), 16u, k.shr(k.and_(tid, 31u), 2u));
    const auto column = k.shl(k.and_(tid, 3u), 1u);
    const auto first = (c + k.mad_lo(row, 64u, column)).assume_aligned<8>().as<px::packet<float, 2>>();
    for (u32 j = 0; j < 8; ++j) {
        k.st(first.byte_offset<8>(static_cast<int>(32 * j)), px::vec<float, 2>(acc[4 * j], acc[4 * j + 1]));
        k.st(first.byte_offset<8>(static_cast<int>(8 * 64 * 4 + 32 * j)),
             px::vec<float, 2>(acc[4 * j + 2], acc[4 * j + 3]));
    }
}

constexpr auto multiply_ptx = px::assemble<px::kernel<"multiply", multiply, px::attributes{.reqntid = {128}}>>();

/// Random values that bf16 holds exactly, and the same as float.
std::vector<bf16> random_matrix(u32 seed, std::vector<float>& exact) {
    std::mt19937 g(seed);
    std::vector<bf16> m(64 * 64);
    exact.resize(m.size());
    for (std::size_t i = 0; i < m.size(); ++i) {
        const int v = static_cast<int>(g() % 255) - 127;
        exact[i] = static_cast<float>(v) / 64;
        m[i].bits = static_cast<px::u16>(__builtin_bit_cast(u32, exact[i]) >> 16);
    }
    return m;
}

int run(const px::context& ctx) {
    std::vector<float> a_exact, b_exact, c(64 * 64, NAN);
    const auto stream = px::check(px::stream::create(ctx));
    const auto a = px::check(px::device_buffer<bf16>::from(ctx, random_matrix(1, a_exact)));
    const auto b = px::check(px::device_buffer<bf16>::from(ctx, random_matrix(2, b_exact)));
    auto out = px::check(px::device_buffer<float>::from(ctx, c));
    px::check(px::launch(stream, multiply_ptx, px::grid{1}, px::tensor_view<const bf16, 2>(a, 64, 64),
                         px::tensor_view<const bf16, 2>(b, 64, 64), out));
    px::check(stream.synchronize());
    px::check(out.download(c));
    double worst = 0;
    for (std::size_t i = 0; i < 64; ++i)
        for (std::size_t j = 0; j < 64; ++j) {
            double sum = 0;
            for (std::size_t x = 0; x < 64; ++x) sum += double{a_exact[64 * i + x]} * double{b_exact[64 * j + x]};
            const double error = std::fabs(sum - double{c[64 * i + j]});
            if (!(error <= worst)) worst = error;  // NaN counts as worst
        }
    std::printf("largest error %g\n", worst);
    return worst < 1e-3 ? 0 : 1;
}

int main() {
    const auto ctx = px::context::primary(0);
    if (!ctx) {
        std::printf("%s\n", ctx.error().message());
        return 77;
    }
    try {
        return run(*ctx);
    } catch (const px::exception& e) {
        std::printf("%s\n", e.what());
        return 1;
    }
}
