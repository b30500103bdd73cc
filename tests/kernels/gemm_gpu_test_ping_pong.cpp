// SPDX-License-Identifier: Apache-2.0
// A part of gemm_gpu_test: ping-pong consumers.
#define PTXDSL_KERNELS_HEADER_ONLY  // gemm_with and its kin bring kernels of their own
#include "gemm_gpu_test.hpp"

namespace gemm_test {

template <const kn::gemm_config* c>
void run_ping_pong_forms(const px::stream& s, const char* name) {
    using kn::activation;
    for (int n = 0; n < 4; ++n) {
        const problem p{between(1, 900), 8 * between(1, 200), 8 * between(1, 100), between(1, 3)};
        check<kn::gemm_form{.constant_b = true}, px::bf16, c>(s, p, {}, name);
        check<kn::gemm_form{.act = activation::relu, .bias = true}, px::bf16, c>(s, p, {}, name);
        check<kn::gemm_form{}, px::f32, c>(s, p, {}, name);
        check<kn::gemm_form{}, px::bf16, c>(s, {p.m, p.n + 1, p.k}, {}, name);  // single elements
        check<kn::gemm_form{.act = activation::gelu, .bias = true, .scaled = true}, px::bf16, c>(
            s, p, {.alpha = 2.0f, .beta = -0.5f}, name);
        if constexpr (c->bn % 128 == 0)
            check<kn::gemm_form{.act = activation::silu, .gated = true}, px::bf16, c>(
                s, {p.m, 128 * between(1, 12), p.k, p.batch}, {}, name);
    }
}

/// Ping-pong consumers: one tile a block (the second warpgroup has none), even and odd numbers of tiles, one step of K,
/// every epilogue and store.
template <std::size_t Index>
void run_ping_pong(const px::stream& s) {
    constexpr const kn::gemm_config* c = &kn::ping_pong_configs[Index];
    const std::string what = "ping-pong " + std::to_string(c->bm) + "x" + std::to_string(c->bn);
    const char* name = what.c_str();
    check<kn::gemm_form{}, px::bf16, c>(s, {1, 8, 8}, {}, name);
    check<kn::gemm_form{}, px::bf16, c>(s, {c->bm * 2, c->bn * 2, 64}, {}, name);
    for (const std::uint64_t tiles : {133u, 264u, 265u, 397u})
        check<kn::gemm_form{}, px::bf16, c>(s, {tiles * c->bm, c->bn, 8 * between(1, 20)}, {}, name);
    for (int n = 0; n < 8; ++n) {
        const problem p{between(1, 3000), 8 * between(1, 300), 8 * between(1, 100)};
        check<kn::gemm_form{}, px::bf16, c>(s, p, {}, name);
    }
    if constexpr (Index == 1 || Index == 4) {  // an odd number of chunks; two blocks of rows, and a cluster
        run_ping_pong_forms<c>(s, name);
    }
}

template void run_ping_pong<0>(const px::stream&);
template void run_ping_pong<1>(const px::stream&);
template void run_ping_pong<2>(const px::stream&);
template void run_ping_pong<3>(const px::stream&);
template void run_ping_pong<4>(const px::stream&);

}  // namespace gemm_test
