// SPDX-License-Identifier: Apache-2.0
// The nvfp4 main loop on random 4-bit operands and scales, checked element by element against float64. The kernel:
// nvfp4_kernel.hpp. Verified and assembled; it has not run, for want of a Blackwell GPU. On other GPUs the program
// shows the kernel instead.
#include "blackwell_device.hpp"
#include "nvfp4_kernel.hpp"

namespace {

namespace px = ptxdsl;
using px::e2m1x2, px::f32, px::ue4m3, px::u32, px::u8;

constexpr auto kernel_ptx = px::assemble<px::kernel<"nvfp4_gemm", nvfp4::gemm, nvfp4::attributes>>();
static_assert(kernel_ptx.text().find("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale") != px::string_view::npos);

/// Value of a 4-bit float (1 sign, 2 exponent, 1 mantissa bits; OCP MX, 5.3.3).
[[nodiscard]] double value_of_e2m1(unsigned bits) {
    constexpr double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return (bits & 8) != 0 ? -magnitudes[bits & 7] : magnitudes[bits & 7];
}
/// Value of a scale (4 exponent, 3 mantissa bits, no sign).
[[nodiscard]] double value_of_ue4m3(unsigned bits) {
    const int exponent = static_cast<int>(bits >> 3), mantissa = static_cast<int>(bits & 7);
    return exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
}

/// One operand: `rows` x `depth` elements, and their scales in blocks of 512 bytes.
struct operand {
    std::uint64_t rows, depth;
    std::vector<e2m1x2> elements;
    std::vector<ue4m3> scales;

    operand(std::uint64_t r, std::uint64_t d, std::uint64_t seed)
        : rows(r), depth(d), elements(r * d / 2), scales(r * d / 16) {
        demo::generator g(seed);
        for (auto& e : elements) e.bits = static_cast<std::uint8_t>(g.next() >> 56);
        for (auto& s : scales) s.bits = static_cast<std::uint8_t>(48 + g.below(24));  // 1/2 to 7.5
    }
    [[nodiscard]] double at(std::uint64_t row, std::uint64_t k) const {
        const unsigned pair = elements[(row * depth + k) / 2].bits;
        return value_of_e2m1(k % 2 == 0 ? pair & 15 : pair >> 4) * value_of_ue4m3(scales[scale_index(row, k)].bits);
    }

private:
    /// Byte of the scale of (row, k): row tile, block along K, row of the block, its column.
    [[nodiscard]] std::uint64_t scale_index(std::uint64_t row, std::uint64_t k) const {
        const std::uint64_t tile = row / 128 * (depth / 64), block = k / 64;
        return (tile + block) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + k / 16 % 4;
    }
};

struct request {
    std::uint64_t m = 512, n = 512, k = 1024, seed = 1;
    bool self_test = false, ptxas = false;
};

[[nodiscard]] bool run_once(const px::stream& s, const request& r) {
    const px::context& ctx = s.ctx();
    const operand a(r.m, r.k, r.seed), b(r.n, r.k, r.seed + 1);
    const auto buffers = [&](const operand& o) {
        return std::pair(px::check(px::device_buffer<e2m1x2>::from(ctx, o.elements)),
                         px::check(px::device_buffer<ue4m3>::from(ctx, o.scales)));
    };
    const auto device_a = buffers(a), device_b = buffers(b);
    auto device_c = px::check(px::device_buffer<f32>::allocate(ctx, r.m * r.n));
    demo::poison(device_c);
    const auto map_of = [&](const auto& buffer, const operand& o, const char* name) {
        return px::check(px::make_tensor_map<nvfp4::operand_map>(
            ctx, px::tensor_view(px::device_ptr<const e2m1x2>(buffer.ptr()), o.rows, o.depth / 2), name));
    };
    const auto scales_of = [&](const auto& buffer, const operand& o, const char* name) {
        return px::check(px::make_tensor_map<nvfp4::scale_map>(
            ctx, px::tensor_view(px::device_ptr<const ue4m3>(buffer.ptr()), o.scales.size() / 16, std::uint64_t{16}),
            name));
    };
    const auto kernel = px::check(px::load(ctx, kernel_ptx));
    px::check(kernel.launch(s, px::grid{static_cast<u32>(r.m / nvfp4::rows), static_cast<u32>(r.n / nvfp4::bn)},
                            map_of(device_a.first, a, "A"), map_of(device_b.first, b, "B"),
                            scales_of(device_a.second, a, "scales of A"), scales_of(device_b.second, b, "scales of B"),
                            device_c.ptr(), static_cast<u32>(r.n), static_cast<u32>(r.k)));
    px::check(s.synchronize());
    std::vector<f32> c(r.m * r.n);
    px::check(device_c.download(c));
    // Products of two elements and their scales are exact in f32; sums of K of them are off by 2^-19 of the sum of
    // sizes.
    for (std::uint64_t i = 0; i < r.m; ++i)
        for (std::uint64_t j = 0; j < r.n; ++j) {
            double want = 0, size = 0;
            for (std::uint64_t x = 0; x < r.k; ++x)
                want += a.at(i, x) * b.at(j, x), size += std::abs(a.at(i, x) * b.at(j, x));
            if (!(std::abs(static_cast<double>(c[i * r.n + j]) - want) <= 0x1p-19 * size + 1e-6)) {
                demo::say("{} row {}, column {} of {}x{}x{} is {}, not {}", demo::bad("wrong:"), i, j, r.m, r.n, r.k,
                          c[i * r.n + j], want);
                return false;
            }
        }
    demo::say("{}: {}x{}x{}, nvfp4 into f32, every value against float64", demo::good("right"), r.m, r.n, r.k);
    return true;
}

int run(const request& r) {
    const auto device = demo::open_blackwell();
    if (!device)
        return r.self_test ? demo::skip_self_test(device.error())
                           : demo::show_without_gpu(device.error(), kernel_ptx, "tcgen05.cp", 8, 28);
    const auto s = px::check(px::stream::create(*device));
    if (!r.self_test) return run_once(s, r) ? demo::right : demo::wrong;
    bool ok = true;
    for (const std::uint64_t m : {128u, 384u})
        for (const std::uint64_t n : {128u, 256u})
            for (const std::uint64_t k : {256u, 1024u, 2304u})
                ok = run_once(s, {.m = m, .n = n, .k = k, .seed = r.seed + m + n + k}) && ok;
    return ok ? demo::right : demo::wrong;
}

}  // namespace

int main(int argc, char** argv) {
    request r;
    const std::vector<demo::option> options{
        {.name = "--m",
         .value = "N",
         .help = "rows of A and C, a multiple of 128 (default 512)",
         .number = &r.m,
         .least = 128,
         .most = 8192},
        {.name = "--n",
         .value = "N",
         .help = "rows of B, columns of C, a multiple of 128 (default 512)",
         .number = &r.n,
         .least = 128,
         .most = 8192},
        {.name = "--k",
         .value = "N",
         .help = "columns of A and B, a multiple of 256 (default 1024)",
         .number = &r.k,
         .least = 256,
         .most = 65536},
        {.name = "--seed", .value = "N", .help = "of the random input (default 1)", .number = &r.seed},
        {.name = "--self-test", .value = "", .help = "several shapes instead of one", .flag = &r.self_test},
        {.name = "--ptxas", .value = "", .help = "only assemble the kernel with ptxas", .flag = &r.ptxas},
    };
    if (const auto status = demo::read_command_line(
            argc, argv, "C = A B^T of 4-bit floats with block scales on Blackwell's tensor cores", options))
        return *status;
    if (r.m % 128 != 0 || r.n % 128 != 0 || r.k % 256 != 0)
        return fmt::print(stderr, "--m and --n take multiples of 128, --k multiples of 256\n"), demo::usage;
    if (r.ptxas)
        return demo::check_with_ptxas(
            [](demo::ptxas_check& check) { check.add("nvfp4 main loop", kernel_ptx.text(), kernel_ptx.target()); });
    return demo::guarded([&] { return run(r); });
}
