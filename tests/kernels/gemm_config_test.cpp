// SPDX-License-Identifier: Apache-2.0
// Configurations: which are buildable, which is chosen, and that the largest assembles within a compiler's default
// limits.
#include "../catch.hpp"

#include <ptxdsl/kernels/gemm/heuristic.hpp>
#include <ptxdsl/kernels/gemm/kernel.hpp>

namespace px = ptxdsl;
using namespace ptxdsl::kernels;

namespace {

// Constant evaluation of a whole kernel, with the limits both compilers have by default.
constexpr gemm_config largest = config_of(gemm_choice::large_even);
constexpr auto constant = px::assemble<
    px::kernel<"gemm", gemm_body<largest, px::bf16, px::bf16, gemm_epilogue{}>, gemm_attributes<largest>>>();

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
std::string refused() {
    const auto program =
        px::assemble_at_run_time("gemm", &gemm_body<C, px::bf16, px::bf16, gemm_epilogue{}>, gemm_attributes<C>);
    return program.ok() ? std::string() : std::string(std::string_view(program.error()));
}

}  // namespace

TEST_CASE("clusters of every shape pass the verifier, with and without early loads of the weights") {
    CHECK(refused<gemm_config{.cluster = 4}>().empty());
    CHECK(refused<gemm_config{.cluster = 4, .early_b = true}>().empty());
    CHECK(refused<gemm_config{.cluster = 1, .cluster_n = 2}>().empty());
    CHECK(refused<gemm_config{.cluster = 1, .cluster_n = 2, .early_b = true}>().empty());
    CHECK(refused<gemm_config{.cluster = 2, .cluster_n = 2}>().empty());
    // The weights' early loads may bring all bytes of a stage, if all four blocks send to all: here two of them do.
    CHECK(refused<gemm_config{.cluster = 2, .cluster_n = 2, .early_b = true}>().empty());
    CHECK(refused<gemm_config{.cluster = 2, .cluster_n = 2, .stream_k = true, .early_b = true}>().empty());
    CHECK(refused<gemm_config{.bn = 128, .stages = 6, .cluster = 2, .cluster_n = 4, .early_b = true}>().empty());
}

TEST_CASE("every configuration of the list is valid and fits the shared memory it computes") {
    for (const gemm_config& c : gemm_configs) {
        CHECK(c.valid());
        CHECK((c.shared_bytes() + 1024) * c.blocks_per_sm <= 228 * 1024);
    }
    for (const gemm_config& c : ping_pong_configs) CHECK(c.valid());
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

TEST_CASE("the choice follows the measurements") {
    using enum gemm_choice;
    CHECK(chosen(8192, 8192, 8192) == large_even);
    CHECK(chosen(8192, 8192, 8192, false) == large_single);
    CHECK(chosen(4096, 4096, 4096) == large_single);
    CHECK(chosen(4096, 11008, 4096) == large_even);
    CHECK(chosen(6144, 6144, 6144) == large_even);     // 8.7 waves: hot, the cut brings 2 %, cold it costs 1 %
    CHECK(chosen(4096, 7168, 18432) == large_single);  // a long K makes the even ending dear
    CHECK(chosen(2048, 2048, 2048) == medium);
    CHECK(chosen(1024, 1024, 1024) == few_columns);
    CHECK(chosen(4096, 4096, 512) == ping_pong);
    CHECK(chosen(4096, 7168, 2048) == ping_pong);
    CHECK(chosen(512, 28672, 4096) == large_176_pair);  // 4.97 waves, where 128 x 256 has 3.4
    CHECK(chosen(2048, 3584, 3584) == large_224);       // 1.94 waves, where 128 x 256 has 1.7
    CHECK(chosen(2048, 3584, 18944) == large_224);
    CHECK(chosen(128, 6144, 4096) == narrow);     // 128 tiles of 48 columns, 96 of 64
    CHECK(chosen(512, 6144, 4096) == large_192);  // 128 tiles for 132 multiprocessors, where 128 x 256 gives 96
    CHECK(chosen(16, 8192, 8192) == tokens_16_split);
    CHECK(chosen(16, 28672, 4096) == tokens_16_even);
    CHECK(chosen(16, 28672, 4096, false) == tokens_16_split);
    CHECK(chosen(1, 7168, 18432) == tokens_16_even);  // a long K
    CHECK(chosen(32, 4096, 4096) == tokens_32_split);
    CHECK(chosen(64, 4096, 4096) == few_rows_split);
    CHECK(chosen(64, 4096, 14336) == tokens_64_split);
    CHECK(chosen(64, 6144, 4096) == narrow_64);  // 128 tiles of 48 columns, 96 of 64
    CHECK(chosen(64, 6144, 4096, false) == narrow_64);
    CHECK(chosen(64, 28672, 4096) == tokens_64_even);
    CHECK(chosen(64, 28672, 4096, false) == few_rows);
    CHECK(chosen(64, 10240, 8192) == tokens_64_even);
    CHECK(chosen(64, 10240, 8192, false) == few_rows_split);
    CHECK(chosen(64, 14336, 4096) == tokens_64_even);
    CHECK(chosen(128, 10240, 8192) == medium_even);
    CHECK(chosen(128, 10240, 8192, false) == medium);
    CHECK(chosen(128, 57344, 8192) == large_224);         // 1.94 waves, where 128 x 128 has 3.4
    CHECK(chosen(128, 28672, 4096, false) == large_224);  // 0.97
    CHECK(chosen(128, 28672, 2048) == medium);
    CHECK(chosen(128, 20480, 4096) == medium_even);
    CHECK(chosen(128, 8192, 8192) == few_rows_pair);
    CHECK(chosen(128, 4096, 14336) == tokens_128_split);
    CHECK(chosen(256, 4096, 4096) == few_columns_pair);
    CHECK(chosen(128, 4096, 4096) == tokens_128_split);
    CHECK(chosen(128, 8192, 28672) == few_rows_pair);
    CHECK(chosen(1, 8, 8) == few_rows);  // too short to split
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
