// SPDX-License-Identifier: Apache-2.0
// Configurations: which are buildable, which is chosen, and that the largest assembles within a compiler's default
// limits.
#include "../catch.hpp"

#include <ptxdsl/kernels/gemm/heuristic.hpp>
#include <ptxdsl/kernels/gemm/kernel.hpp>
#include <ptxdsl/kernels/gemm/launch.hpp>

namespace px = ptxdsl;
using namespace ptxdsl::kernels;

namespace {

// Constant evaluation of a whole kernel, with the limits both compilers have by default.
constexpr gemm_config largest = config_of(gemm_choice::large_even);
constexpr auto constant = px::assemble<
    px::kernel<"gemm", gemm_body<largest, px::bf16, px::bf16>, gemm_attributes<largest>, gemm_variant{}>>();

constexpr gemm_choice chosen(std::uint64_t m, std::uint64_t n, std::uint64_t k, bool even = true) {
    return choose_gemm_config({m, n, k, 1}, 132, even);
}

}  // namespace

TEST_CASE("a kernel of the library is a constant") {
    CHECK(constant.text().find("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16") != std::string_view::npos);
    CHECK(constant.resources().dynamic_shared_bytes <= 227 * 1024);
    CHECK(constant.resources().uses_pdl_wait);
}

namespace {

/// The verifier's words on the kernel of `C`, empty for none.
template <gemm_config C>
std::string refused(bool early_b = false) {
    const auto program = px::assemble_at_run_time("gemm", &gemm_body<C, px::bf16, px::bf16>, gemm_attributes<C>,
                                                  gemm_variant{.early_b = early_b});
    return program.ok() ? std::string() : std::string(std::string_view(program.error()));
}

}  // namespace

TEST_CASE("clusters of every shape pass the verifier, with and without early loads of the weights") {
    CHECK(refused<gemm_config{.cluster = 4}>().empty());
    CHECK(refused<gemm_config{.cluster = 4}>(true).empty());
    CHECK(refused<gemm_config{.cluster = 1, .cluster_n = 2}>().empty());
    CHECK(refused<gemm_config{.cluster = 1, .cluster_n = 2}>(true).empty());
    CHECK(refused<gemm_config{.cluster = 2, .cluster_n = 2}>().empty());
    // The weights' early loads may bring all bytes of a stage, if all four blocks send to all: here two of them do.
    CHECK(refused<gemm_config{.cluster = 2, .cluster_n = 2}>(true).empty());
    CHECK(refused<gemm_config{.cluster = 2, .cluster_n = 2, .stream_k = true}>(true).empty());
    CHECK(refused<gemm_config{.bn = 128, .stages = 6, .cluster = 2, .cluster_n = 4}>(true).empty());
}

TEST_CASE("every configuration of the list is valid and fits the shared memory it computes") {
    for (const gemm_config& c : gemm_configs) {
        CHECK(c.valid());
        CHECK((c.shared_bytes() + 1024) * c.blocks_per_sm <= 228 * 1024);
    }
    for (const gemm_config& c : ping_pong_configs) CHECK(c.valid());
}

TEST_CASE("tiles of tokens have as many each, and all tokens are in one") {
    for (const gemm_config& c : gemm_configs) {
        if (!c.even_columns()) {
            CHECK(c.tile_columns(1) == c.bn);
            CHECK(c.loaded_columns(1) == c.bn / c.cluster);
            continue;
        }
        for (std::uint64_t m = 1; m < 1200; ++m) {
            const std::uint64_t own = c.tile_columns(m), loaded = c.loaded_columns(m);
            const std::uint64_t tiles = detail::ceil_div(m, c.cluster_columns()) * c.cluster_n;
            const bool all = own >= 1 && own * tiles >= m && own * tiles < m + tiles;
            const bool fits = own <= c.bn && loaded * c.cluster >= own && loaded * c.cluster <= c.bn;
            if (!all || !fits) FAIL("tiles of " << own << " of " << m << " tokens, " << loaded << " a block");
        }
    }
    const gemm_config c{.bm = 64, .bn = 104, .stages = 8, .cluster = 4, .store = store_mode::transposed};
    CHECK(c.valid());
    CHECK(c.tile_columns(204) == 102);  // two tiles
    CHECK(c.loaded_columns(204) == 26);
    CHECK(c.tile_columns(209) == 70);  // three
    CHECK(c.loaded_columns(209) == 18);
}

TEST_CASE("tokens that four blocks share pass the verifier, and a block says how many bytes it loads at run time") {
    constexpr gemm_config four{.bm = 64, .bn = 104, .stages = 8, .cluster = 4, .store = store_mode::transposed},
        eight{.bm = 64, .bn = 104, .stages = 8, .cluster = 4, .cluster_n = 2, .store = store_mode::transposed};
    CHECK(refused<four>().empty());
    CHECK(refused<four>(true).empty());
    CHECK(refused<eight>().empty());
    CHECK(refused<eight>(true).empty());
    const auto program =
        px::assemble_at_run_time("gemm", &gemm_body<eight, px::bf16, px::bf16>, gemm_attributes<eight>, gemm_variant{});
    CHECK(program.ok());
    CHECK(program.text().find("%stage_bytes0") != std::string_view::npos);
}

TEST_CASE("configurations that cannot be built are refused") {
    CHECK_FALSE(gemm_config{.bm = 96}.valid());
    CHECK_FALSE(gemm_config{.group = 0}.valid());
    CHECK_FALSE(gemm_config{.blocks_per_sm = 0}.valid());
    CHECK_FALSE(gemm_config{.bn = 200, .store = store_mode::pairs}.takes_gates());
    CHECK_FALSE(gemm_config{.bn = 80, .cluster = 1, .split_k = 2, .store = store_mode::pairs}.takes_gates());
    CHECK(gemm_config{.bn = 208, .store = store_mode::pairs}.takes_gates());
    CHECK_FALSE(gemm_config{.bn = 288}.valid());
    CHECK_FALSE(gemm_config{.bm = 256, .bn = 256}.valid());                                    // accumulators
    CHECK_FALSE(gemm_config{.stages = 6}.valid());                                             // shared memory
    CHECK_FALSE(gemm_config{.cluster = 16}.valid());                                           // cluster size
    CHECK_FALSE(gemm_config{.cluster = 2, .split_k = 2, .store = store_mode::pairs}.valid());  // one use of the cluster
    CHECK_FALSE(gemm_config{.bn = 128, .cluster = 1, .split_k = 2}.valid());  // split K stores from registers
    CHECK_FALSE(
        gemm_config{.bn = 128, .stages = 3, .cluster = 1, .blocks_per_sm = 2}.valid());  // registers (ptxas C7602)
    CHECK_FALSE(gemm_config{.bn = 64, .stages = 8, .block_scaled = true}.valid());       // no tile of block scales
    CHECK_FALSE(gemm_config{.bm = 64, .bn = 256, .block_scaled = true}.valid());         // one warpgroup
    CHECK(gemm_config{.bn = 192, .cluster = 1, .block_scaled = true}.valid());
    CHECK_FALSE(ping_pong_config(128, 192, 4).valid());  // the accumulators of one warpgroup
    CHECK_FALSE(ping_pong_config(64, 256, 5).valid());   // shared memory: both warpgroups stage results
    CHECK_FALSE(ping_pong_config(64, 88, 4).valid());    // TMA stores chunks of 16 columns
    CHECK(ping_pong_config(64, 96, 4).valid());
    CHECK_FALSE(gemm_config{.bn = 128, .stream_k = true, .schedule = gemm_schedule::ping_pong}.valid());
    CHECK_FALSE(gemm_config{.bn = 8, .stages = 8, .cluster = 1}.valid());
    CHECK(gemm_config{.cluster = 1, .stream_k = true, .block_scaled = true}.valid());
    CHECK_FALSE(gemm_config{.block_scaled = true, .serpentine = true}.valid());  // scales are read in the order of K
    CHECK_FALSE(
        gemm_config{.bn = 128, .cluster = 1, .split_k = 2, .store = store_mode::pairs, .serpentine = true}.valid());
    CHECK_FALSE(
        gemm_config{.bn = 192, .stages = 4, .cluster = 2, .b = px::mn_major}.valid());  // 96 columns are no panels
}

TEST_CASE("the choice is the least that the cost model predicts of what is allowed") {
    using enum gemm_choice;
    for (const gemm_shape& s : {gemm_shape{1, 8, 8, 1}, gemm_shape{257, 1536, 7168, 1}, gemm_shape{300, 640, 512, 7},
                                gemm_shape{8192, 8192, 8192, 1}}) {
        const gemm_choice best = choose_gemm_config(s, 132, true);
        const auto us = [&](gemm_choice c) {
            return detail::predict(config_of(c), gemm_costs[static_cast<std::size_t>(c)], s, 132);
        };
        for (std::size_t i = 0; i < gemm_configs.size(); ++i) {
            const auto c = static_cast<gemm_choice>(i);
            if (detail::ceil_div(s.k, 64) >= config_of(c).split_k) CHECK(us(best) <= us(c));
        }
        const gemm_choice other =
            choose_gemm_config(s, 132, true, all_gemm_choices & ~(gemm_choices{1} << static_cast<unsigned>(best)));
        CHECK(other != best);
        CHECK(us(other) >= us(best));
        CHECK(detail::remembered_choice(s, 132, true, all_gemm_choices) == best);  // the first time, and the second
        CHECK(detail::remembered_choice(s, 132, true, all_gemm_choices) == best);
        CHECK_FALSE(config_of(choose_gemm_config(s, 132, false)).stream_k);
    }
    static_assert(config_of(chosen(8192, 8192, 8192)).bn >= 192);  // a constant too
}

TEST_CASE("few tokens are the N of a product whose rows are the weights'") {
    for (const std::uint64_t m : {1u, 16u, 32u})
        for (const std::uint64_t n : {4096u, 8192u, 28672u}) CHECK(config_of(chosen(m, n, 8192)).swaps_operands());
    CHECK(config_of(chosen(16, 8192, 8192)).bn <= 80);
    for (const std::uint64_t n : {8192u, 28672u})
        CHECK(config_of(chosen(4096, n, 8192)).bm * config_of(chosen(4096, n, 8192)).bn >= 128 * 192);
}

TEST_CASE("predictions are finite and grow with the product") {
    for (std::size_t i = 0; i < gemm_configs.size(); ++i)
        for (const std::uint64_t sms : {1u, 60u, 132u, 144u}) {
            const auto us = [&](const gemm_shape& s) {
                return detail::predict(gemm_configs[i], gemm_costs[i], s, sms);
            };
            const double small = us({128, 1024, 1024, 1}), large = us({4096, 8192, 8192, 1});
            CHECK(small > 0);
            CHECK(large > small);
            // (Few tiles cut along K have so many parts to hand over that more batches may take less time.)
            if (!gemm_configs[i].stream_k) CHECK(us({128, 1024, 1024, 64}) > small);
            CHECK(large < 1e9);
        }
}

TEST_CASE("a choice is one that is compiled for the operands' layout") {
    for (const bool gated : {false, true})
        for (const px::major a : {px::k_major, px::mn_major})
            for (const px::major b : {px::k_major, px::mn_major}) {
                const gemm_choices set = detail::compiled_choices(a, b, gated);
                CHECK(has(set, gemm_choice::large));
                CHECK(has(set, gemm_choice::medium));
                CHECK(has(set, gemm_choice::few_rows));
                for (std::size_t i = 0; i < gemm_configs.size(); ++i) {
                    const auto c = static_cast<gemm_choice>(i);
                    CHECK(has(set, detail::choice_for(c, a, b, gated)));
                    if (gated && has(set, c)) CHECK(config_of(c).takes_gates());
                }
            }
}

TEST_CASE("block scales take the tile with the least waves times columns") {
    for (const gemm_config& c : block_scaled_configs) CHECK(c.valid());
    for (const bool even : {false, true}) {
        CHECK(choose_block_scaled(8192, 8192, 8192, 132, even) == (even ? 3 : 2));   // 15.5 waves of 256 columns, or 16
        CHECK(choose_block_scaled(4096, 11008, 4096, 132, even) == (even ? 3 : 2));  // 10.4 or 11
        CHECK(choose_block_scaled(4096, 4096, 11008, 132, even) == 2);               // 3.9: a cut costs more
        CHECK(choose_block_scaled(2048, 4608, 4096, 132, even) == 1);                // 3 waves of 256 columns, 3 of 192
        CHECK(choose_block_scaled(4096, 4096, 4096, 132, even) == 2);                // 4 waves and 6
        CHECK(choose_block_scaled(2048, 7168, 2048, 132, even) == 0);                // K is too short for a cut
        CHECK(choose_block_scaled(256, 4096, 4096, 132, even) == 0);                 // one wave of any
    }
}

TEST_CASE("the choice never splits K into more parts than it has steps") {
    for (std::uint64_t m : {1u, 17u, 100u, 129u, 700u})
        for (std::uint64_t n : {1u, 64u, 1000u, 20000u})
            for (std::uint64_t k : {1u, 63u, 64u, 65u, 200u, 5000u}) {
                const gemm_config& c = config_of(chosen(m, n, k));
                CHECK((k + c.bk - 1) / c.bk >= c.split_k);
            }
}
