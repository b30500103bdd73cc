// SPDX-License-Identifier: Apache-2.0
// Runs the thirteen probes of tcgen05_suite_kernels.hpp and holds each against what the PTX ISA says. Verified and
// assembled; they have not run, for want of a Blackwell GPU. On other GPUs the program shows a kernel instead.
#include "blackwell_device.hpp"
#include "tcgen05_suite_kernels.hpp"

namespace {

namespace px = ptxdsl;
namespace ts = tcgen05_suite;
using px::bf16, px::f32, px::u32;

// The kernels as constants of this program: the verifier has read them when it compiles.
template <px::fixed_string Name, auto Body>
constexpr auto kernel = px::assemble<px::kernel<Name, Body, ts::attributes>>();
constexpr const auto& alloc = kernel<"alloc", ts::alloc>;
constexpr const auto& ld = kernel<"ld", ts::ld>;
constexpr const auto& mma = kernel<"mma", ts::mma>;
constexpr const auto& roundtrip = kernel<"roundtrip", ts::roundtrip>;
constexpr const auto& ld_registers = kernel<"ld_registers", ts::ld_registers>;
constexpr const auto& ld_x128 = kernel<"ld_x128", ts::ld_x128>;
constexpr const auto& product_1 = kernel<"product_1", ts::product<1, false>>;
constexpr const auto& product_2 = kernel<"product_2", ts::product<2, false>>;
constexpr const auto& product_4 = kernel<"product_4", ts::product<4, false>>;
constexpr const auto& product_split = kernel<"product_split", ts::product<2, true>>;

struct outcome {
    std::string_view name;
    bool ok = false;
    std::string what;
};

/// Runs a probe that fills `count` words.
template <class Kernel>
[[nodiscard]] std::vector<u32> words_of(const px::stream& s, const Kernel& probe, std::size_t count) {
    auto out = px::check(px::device_buffer<u32>::allocate(s.ctx(), count));
    demo::poison(out);
    const auto loaded = px::check(px::load(s.ctx(), probe));
    px::check(loaded.launch(s, px::grid{1}, out.ptr()));
    px::check(s.synchronize());
    std::vector<u32> words(count);
    px::check(out.download(words));
    return words;
}

struct matrices {
    std::vector<bf16> a = std::vector<bf16>(ts::m * ts::k_max), b = std::vector<bf16>(ts::n * ts::k_max);
    template <class A, class B>
    matrices(A value_a, B value_b) {
        for (u32 k = 0; k < ts::k_max; ++k) {
            for (u32 i = 0; i < ts::m; ++i) a[i * ts::k_max + k] = demo::from_float<bf16>(value_a(i, k));
            for (u32 j = 0; j < ts::n; ++j) b[j * ts::k_max + k] = demo::from_float<bf16>(value_b(j, k));
        }
    }
    [[nodiscard]] double expected(u32 i, u32 j, u32 depth) const {
        double sum = 0;
        for (u32 k = 0; k < depth; ++k)
            sum += static_cast<double>(demo::to_float(a[i * ts::k_max + k])) *
                   static_cast<double>(demo::to_float(b[j * ts::k_max + k]));
        return sum;
    }
};

/// Runs a product over the first `depth` columns; `allowed` is the largest error.
template <class Kernel>
[[nodiscard]] outcome multiply(std::string_view name, const px::stream& s, const Kernel& probe, const matrices& in,
                               u32 depth, double allowed) {
    const auto a = px::check(px::device_buffer<bf16>::from(s.ctx(), in.a)),
               b = px::check(px::device_buffer<bf16>::from(s.ctx(), in.b));
    auto c = px::check(px::device_buffer<f32>::allocate(s.ctx(), ts::m * ts::n));
    demo::poison(c);
    const auto loaded = px::check(px::load(s.ctx(), probe));
    px::check(loaded.launch(s, px::grid{1}, px::device_ptr<const bf16>(a.ptr()), px::device_ptr<const bf16>(b.ptr()),
                            c.ptr()));
    px::check(s.synchronize());
    std::vector<f32> got(ts::m * ts::n);
    px::check(c.download(got));
    for (u32 i = 0; i < ts::m; ++i)
        for (u32 j = 0; j < ts::n; ++j)
            if (const double want = in.expected(i, j, depth);
                !(std::abs(static_cast<double>(got[i * ts::n + j]) - want) <= allowed))
                return {name, false, fmt::format("row {}, column {} is {}, not {}", i, j, got[i * ts::n + j], want)};
    return {name, true, fmt::format("{} values", got.size())};
}

/// Every word has its value, or the sentence about the first that has not.
template <class Expected>
[[nodiscard]] outcome compare(std::string_view name, const std::vector<u32>& got, std::size_t count,
                              Expected expected) {
    for (std::size_t i = 0; i < count; ++i)
        if (const u32 want = expected(static_cast<u32>(i)); got[i] != want)
            return {name, false, fmt::format("word {} is {}, not {}", i, got[i], want)};
    return {name, true, fmt::format("{} words", count)};
}
[[nodiscard]] u32 cell(u32 lane, u32 column) { return lane * 512 + column; }

/// Where the ISA's figures put the registers of 16x128b and 16x256b; 16x64b must hold each cell of its two columns
/// once.
[[nodiscard]] outcome check_registers(const std::vector<u32>& got) {
    for (u32 t = 0; t < 128; ++t) {
        const u32 base = t / 32 * 32, row = base + t % 32 / 4, four = t % 4;
        const u32 want[] = {cell(row, four),         cell(row + 8, four),     cell(row, 2 * four),
                            cell(row, 2 * four + 1), cell(row + 8, 2 * four), cell(row + 8, 2 * four + 1)};
        for (u32 r = 0; r < 6; ++r)
            if (got[t * 8 + 1 + r] != want[r])
                return {"ld_register_probe", false,
                        fmt::format("thread {}, value {}: {}, not {}", t, r, got[t * 8 + 1 + r], want[r])};
    }
    for (u32 warp = 0; warp < 4; ++warp) {
        std::vector<u32> seen, all;
        for (u32 t = 0; t < 32; ++t)
            seen.push_back(got[(warp * 32 + t) * 8]), all.push_back(cell(warp * 32 + t / 2, t % 2));
        std::sort(seen.begin(), seen.end());
        if (seen != all)
            return {"ld_register_probe", false, fmt::format("16x64b of warp {} does not hold each cell once", warp)};
    }
    return {"ld_register_probe", true, "three shapes"};
}

[[nodiscard]] std::vector<outcome> run_all(const px::stream& s, std::uint64_t seed) {
    const auto one = [](u32, u32) { return 1.0f; };
    const matrices ones(one, one);
    demo::generator g(seed);
    const auto any = [&](u32, u32) { return g.uniform(); };
    const matrices random(any, any);
    // Row i selects column i % 64 of every row of B, which holds its own number.
    const matrices lanes([](u32 i, u32 k) { return i % ts::k_max == k ? 1.0f : 0.0f; },
                         [](u32 j, u32 k) { return static_cast<float>(j + k); });
    // c(i, j) = i + 128 j: each element names its place.
    const matrices places([](u32 i, u32 k) { return k == 0   ? static_cast<float>(i)
                                                    : k == 1 ? 1.0f
                                                             : 0.0f; },
                          [](u32 j, u32 k) { return k == 0   ? 1.0f
                                                    : k == 1 ? 128.0f * static_cast<float>(j)
                                                             : 0.0f; });
    const auto is_one = [](u32) { return 1u; };

    std::vector<outcome> all;
    all.push_back(compare("smoke_alloc", words_of(s, alloc, 128), 128, is_one));
    all.push_back(compare("smoke_mma", words_of(s, mma, 128), 128, is_one));
    all.push_back(compare("smoke_ld", words_of(s, ld, 256), 128, is_one));
    all.push_back(multiply("single_mma", s, product_1, ones, 16, 0));
    outcome sweep = multiply("accum_sweep", s, product_2, ones, 32, 0);
    if (sweep.ok) sweep = multiply("accum_sweep", s, product_4, ones, 64, 0);
    all.push_back(sweep);
    all.push_back(multiply("accum_split_commit", s, product_split, ones, 32, 0));
    all.push_back(
        compare("roundtrip", words_of(s, roundtrip, 128 * 32), 128 * 32, [](u32 i) { return cell(i / 32, i % 32); }));
    all.push_back(check_registers(words_of(s, ld_registers, 128 * 8)));
    all.push_back(compare("ld_x128_row_residue_map", words_of(s, ld_x128, 128 * 128), 128 * 128,
                          [](u32 i) { return cell(i / 128, i % 128); }));
    all.push_back(multiply("gemm_ones", s, product_4, ones, 64, 0));
    all.push_back(multiply("gemm_random", s, product_4, random, 64, 0x1p-19 * 64));
    all.push_back(multiply("gemm_k_lane_map", s, product_4, lanes, 64, 0));
    all.push_back(multiply("gemm_row_col_partition", s, product_4, places, 64, 0));
    return all;
}

int assemble_all() {
    return demo::check_with_ptxas([](demo::ptxas_check& check) {
        const auto add = [&](const auto&... probe) { (check.add(probe.name(), probe.text(), probe.target()), ...); };
        add(alloc, ld, mma, roundtrip, ld_registers, ld_x128, product_1, product_2, product_4, product_split);
    });
}

int run(bool self_test, std::uint64_t seed) {
    const auto device = demo::open_blackwell();
    if (!device)
        return self_test ? demo::skip_self_test(device.error())
                         : demo::show_without_gpu(device.error(), product_4, "tcgen05.mma", 8, 20);
    const auto s = px::check(px::stream::create(*device));
    bool ok = true;
    for (const outcome& o : run_all(s, seed)) {
        demo::say("{:<26} {}  {}", o.name, o.ok ? demo::good("right") : demo::bad("wrong"), o.what);
        ok = ok && o.ok;
    }
    return ok ? demo::right : demo::wrong;
}

}  // namespace

int main(int argc, char** argv) {
    bool self_test = false, ptxas = false;
    std::uint64_t seed = 1;
    const std::vector<demo::option> options{
        {.name = "--seed", .value = "N", .help = "of the random input (default 1)", .number = &seed},
        {.name = "--self-test",
         .value = "",
         .help = "the same probes; skipped without a Blackwell GPU",
         .flag = &self_test},
        {.name = "--ptxas", .value = "", .help = "only assemble the probes with ptxas", .flag = &ptxas},
    };
    if (const auto status = demo::read_command_line(
            argc, argv, "Thirteen probes of tensor memory and tcgen05.mma on Blackwell", options))
        return *status;
    if (ptxas) return assemble_all();
    return demo::guarded([&] { return run(self_test, seed); });
}
