// SPDX-License-Identifier: Apache-2.0
// `px::kernels::gemm` against float64 on random shapes, ragged ones among them: every configuration, layout, result
// type and epilogue. C is poisoned with NaN before each call. Exit code 77 where there is no Hopper GPU.
#include "gemm_gpu_test.hpp"

namespace gemm_test {
namespace {

/// Shapes of bytes that TMA or wgmma cannot take: rows of any length, pointers at any byte, contiguous columns.
template <class F>
void ragged_bytes(bool batches, F&& f) {
    problem p{between(1, 150), between(1, 200), between(1, 600)};
    std::uint64_t offset = 0;
    switch (between(0, 3)) {
        case 0: p.k += p.k % 16 == 0 ? 1 : 0; break;
        case 1: p.k = 16 * between(1, 30), offset = between(2, 15); break;
        case 2: p.k = 16 * between(1, 30), p.pad = between(1, 15); break;
        default: (between(0, 1) != 0 ? p.a_by_k : p.b_by_k) = false; break;
    }
    if (between(0, 3) == 0) p.a_by_k = false, p.m += between(0, 1) * (16 - p.m % 16);
    if (batches && between(0, 2) == 0) p.batch = between(2, 3);
    f(p, offset);
}
void run_ragged_bytes(const px::stream& s) {
    using px::e4m3, px::e5m2, px::bf16, px::f32;
    for (int n = 0; n < 24; ++n) {
        ragged_bytes(true, [&](auto& p, auto at) { check_ragged_bytes<px::s8, px::s32>(s, p, at, false); });
        ragged_bytes(true, [&](auto& p, auto at) { check_ragged_bytes<e4m3, f32>(s, p, at, false); });
        ragged_bytes(true, [&](auto& p, auto at) { check_ragged_bytes<e5m2, bf16>(s, p, at, false); });
        ragged_bytes(true, [&](auto& p, auto at) { check_ragged_bytes<e4m3, bf16, e5m2>(s, p, at, false); });
        ragged_bytes(true, [&](auto& p, auto at) { check_ragged_bytes<e5m2, f32, e4m3>(s, p, at, false); });
        ragged_bytes(false, [&](auto& p, auto at) { check_ragged_bytes<e4m3, f32>(s, p, at, true); });
        ragged_bytes(false, [&](auto& p, auto at) { check_ragged_bytes<e5m2, bf16, e4m3>(s, p, at, true); });
    }
}

void run_bytes(const px::stream& s, kn::gemm_workspace& workspace) {
    const auto extents = [&](auto&& f) {
        f(between(1, 400), between(1, 60) * (between(0, 1) != 0 ? 8 : 1), 16 * between(1, 60));
    };
    for (std::size_t i = 0; i < kn::gemm_configs.size(); ++i)
        for (int n = 0; n < 3; ++n)
            check_bytes<px::e4m3, px::bf16>(s, false, between(1, 600), 8 * between(1, 90), 16 * between(25, 90),
                                            workspace, static_cast<kn::gemm_choice>(i));
    for (int n = 0; n < 16; ++n) {
        extents([&](auto x, auto y, auto z) { check_bytes<px::e4m3, px::bf16>(s, false, x, y, z, workspace, {}); });
        extents([&](auto x, auto y, auto z) { check_bytes<px::e5m2, px::f32>(s, false, x, y, z, workspace, {}); });
        extents([&](auto x, auto y, auto z) { check_bytes<px::e4m3, px::bf16>(s, true, x, y, z, workspace, {}); });
        extents([&](auto x, auto y, auto z) { check_bytes<px::e4m3, px::f32>(s, true, x, y, z, workspace, {}); });
        extents([&](auto x, auto y, auto z) { check_bytes<px::s8, px::s32>(s, false, x, y, z, workspace, {}); });
    }
    for (int n = 0; n < 16; ++n) {  // e4m3 next to e5m2, either way round
        extents([&](auto x, auto y, auto z) {
            check_bytes<px::e4m3, px::bf16, px::e5m2>(s, false, x, y, z, workspace, {});
        });
        extents([&](auto x, auto y, auto z) {
            check_bytes<px::e5m2, px::f32, px::e4m3>(s, false, x, y, z, workspace, {});
        });
        extents([&](auto x, auto y, auto z) {
            check_bytes<px::e4m3, px::bf16, px::e5m2>(s, true, x, y, z, workspace, {});
        });
    }
    for (std::size_t i = 0; i < kn::gemm_configs.size(); ++i)
        check_bytes<px::e5m2, px::bf16, px::e4m3>(s, false, between(1, 600), 8 * between(1, 90), 16 * between(25, 90),
                                                  workspace, static_cast<kn::gemm_choice>(i));
    for (int n = 0; n < 12; ++n)  // few rows of block-scaled products have a configuration of their own
        check_bytes<px::e4m3, px::bf16>(s, true, between(1, 300), 8 * between(1, 200), 16 * between(1, 200), workspace,
                                        {});
    check_bytes<px::e4m3, px::bf16>(s, true, 1500, 2304, 4096, workspace, {});
    check_bytes<px::e4m3, px::bf16>(s, false, 3000, 4360, 1296, workspace, kn::gemm_choice::large_even);
    check_bytes<px::s8, px::s32>(s, false, 1500, 2304, 4096, workspace, {});
}

problem ragged(bool any_layout) {
    problem p{between(1, 400), between(1, 500), between(1, 600)};
    p.batch = between(0, 3) == 0 ? between(2, 3) : 1;
    if (any_layout) p.a_by_k = between(0, 1) != 0, p.b_by_k = between(0, 1) != 0;
    p.pad = 0;
    if (between(0, 3) != 0) p.m = (p.m + 7) / 8 * 8, p.n = (p.n + 7) / 8 * 8, p.k = (p.k + 7) / 8 * 8;  // TMA's path
    return p;
}

void run(const px::stream& s, kn::gemm_workspace& workspace) {
    using kn::activation;
    for (std::size_t i = 0; i < kn::gemm_configs.size(); ++i)
        for (int n = 0; n < 6; ++n) {
            problem p{between(1, 900), 8 * between(1, 120), 8 * between(25, 90)};  // 4 steps, which some split
            check<kn::gemm_form{}, px::bf16>(s, p, {.workspace = &workspace, .choice = static_cast<kn::gemm_choice>(i)},
                                             "configuration");
        }
    // Rows of C that are no multiple of 16 bytes, of which their stride is: nothing is written between them.
    for (std::size_t i = 0; i < kn::gemm_configs.size(); ++i) {
        problem p{between(1, 400), 2 * between(20, 400), 8 * between(32, 60)};
        p.c_pad = (p.n + 7) / 8 * 8 - p.n + 8 * between(0, 2);
        check<kn::gemm_form{}, px::bf16>(s, p, {.workspace = &workspace, .choice = static_cast<kn::gemm_choice>(i)},
                                         "rows apart");
    }
    // The last tile: one token too many for the others, one too few, a single one; batches, whose rows follow one
    // another.
    for (std::size_t i = 0; i < kn::gemm_configs.size(); ++i) {
        const kn::gemm_config& c = kn::gemm_configs[i];
        const std::uint64_t tile = c.swaps_operands() ? c.bn * c.cluster_n : c.bm * c.cluster;
        for (const std::uint64_t m : {std::uint64_t{1}, tile - 1, tile, tile + 1, 3 * tile + between(1, 15)}) {
            problem p{m, 8 * between(20, 90), 8 * between(32, 60)};
            p.batch = m == tile + 1 ? 2 : 1;
            check<kn::gemm_form{.constant_b = true}, px::bf16>(
                s, p, {.workspace = &workspace, .choice = static_cast<kn::gemm_choice>(i)}, "last tile");
        }
    }
    // Less tiles than clusters: several clusters share a tile.
    for (const auto choice :
         {kn::gemm_choice::tokens_16_even, kn::gemm_choice::tokens_64_even, kn::gemm_choice::medium_even})
        for (const problem p : {problem{1, 8, 16384}, problem{16, 4096, 4096}, problem{64, 6144, 2048},
                                problem{128, 10240, 1024}, problem{100, 264, 8200}})
            check<kn::gemm_form{}, px::bf16>(s, p, {.workspace = &workspace, .choice = choice}, "shared tiles");
    // More tiles than clusters, and steps that do not divide among them.
    for (const std::uint64_t k : {104u, 168u, 232u, 328u})
        check<kn::gemm_form{}, px::bf16>(
            s, {5000, 4360, k}, {.workspace = &workspace, .choice = kn::gemm_choice::large_even}, "even ending");
    // Several tiles a cluster: every other one walks K from its end. A tile has fewer steps than the chunks of the one
    // before it, which are stored behind them, as many, or more.
    for (const auto choice : {kn::gemm_choice::large, kn::gemm_choice::large_single, kn::gemm_choice::large_192,
                              kn::gemm_choice::large_224, kn::gemm_choice::large_176_pair})
        for (const std::uint64_t k : {40u, 104u, 168u, 232u, 296u, 328u, 448u})
            check<kn::gemm_form{}, px::bf16>(s, {4900 + between(0, 99), 4360, k},
                                             {.workspace = &workspace, .choice = choice}, "to and fro");
    // Few tokens, as the library chooses, with and without a workspace.
    const auto tokens = [] { return problem{between(1, 128), 8 * between(1, 1200), 8 * between(64, 600)}; };
    for (int n = 0; n < 24; ++n) {
        check<kn::gemm_form{}, px::bf16>(s, tokens(), {.workspace = &workspace}, "few tokens");
        check<kn::gemm_form{}, px::bf16>(s, tokens(), {}, "few tokens, no workspace");
        check<kn::gemm_form{.act = activation::relu, .bias = true, .constant_b = true}, px::bf16>(
            s, tokens(), {.workspace = &workspace}, "few tokens, relu");
        const problem gated{between(1, 128), 128 * between(1, 60), 8 * between(64, 600)};
        check<kn::gemm_form{.act = activation::silu, .gated = true}, px::bf16>(s, gated, {.workspace = &workspace},
                                                                               "few tokens, gated");
    }
    for (int n = 0; n < 24; ++n) check<kn::gemm_form{.any_layout = true}, px::bf16>(s, ragged(true), {}, "layout");
    for (int n = 0; n < 12; ++n) check<kn::gemm_form{}, px::f32>(s, ragged(false), {}, "f32");
    for (int n = 0; n < 12; ++n)
        check<kn::gemm_form{.act = activation::gelu, .bias = true, .scaled = true}, px::bf16>(
            s, ragged(false), {.alpha = 0.25f}, "scaled gelu");
    for (int n = 0; n < 12; ++n)
        check<kn::gemm_form{.scaled = true}, px::f32>(s, ragged(false), {.alpha = -1.5f, .beta = 0.75f}, "beta f32");
    for (int n = 0; n < 6; ++n)
        check<kn::gemm_form{.act = activation::gelu, .bias = true, .scaled = true}, px::bf16>(
            s, ragged(false), {.alpha = 2.0f, .beta = -0.5f}, "scaled gelu with beta");
    for (int n = 0; n < 6; ++n)
        check<kn::gemm_form{.act = activation::relu, .bias = true, .constant_b = true}, px::bf16>(s, ragged(false), {},
                                                                                                  "relu");
    for (int n = 0; n < 6; ++n) {
        const problem p{between(1, 300), 128 * between(1, 5), 8 * between(1, 60)};
        check<kn::gemm_form{.act = activation::silu, .gated = true}, px::bf16>(s, p, {}, "gated");
    }
    for (int n = 0; n < 8; ++n) {
        const problem p{between(1, 200), 16 * between(1, 12), 2 * between(1, 200) + 1};
        check<kn::gemm_form{.act = activation::silu, .bias = true, .gated = true}, px::bf16>(s, p, {}, "ragged, gated");
    }
}

}  // namespace

int run_all(int argc, char** argv) {
    if (argc > 1) every = static_cast<unsigned>(std::max(1, std::atoi(argv[1])));
    const auto ctx = px::context::primary(0);
    if (!ctx || ctx->device().major != 9) {
        std::printf("skipped: %s\n", ctx ? "the device is no Hopper GPU" : ctx.error().message());
        return 77;
    }
    const auto s = px::stream::create(*ctx);
    auto workspace = kn::gemm_workspace::create(*ctx);
    if (!s || !workspace) return 1;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    run(*s, *workspace);
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        (run_ping_pong<Index>(*s), ...);
    }(std::make_index_sequence<std::size(kn::ping_pong_configs)>{});
    run_bytes(*s, *workspace);
    run_ragged_bytes(*s);
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        (run_block_scaled<Index>(*s, *workspace), ...);
    }(std::make_index_sequence<std::size(kn::block_scaled_configs)>{});
    std::printf("%d products checked, %d wrong\n", checked, failures);
    return failures == 0 ? 0 : 1;
}

}  // namespace gemm_test

int main(int argc, char** argv) { return gemm_test::run_all(argc, argv); }
