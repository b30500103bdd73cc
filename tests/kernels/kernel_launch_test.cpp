// SPDX-License-Identifier: Apache-2.0
// The compiled library's calls on a driver that is not there: what they refuse, what they launch, and with what.
#include "../runtime/fake_driver.hpp"
#include "catch.hpp"

#include <ptxdsl/kernels.hpp>

#include <cstring>
#include <string>
#include <string_view>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;
using px::bf16;
using px::f32;

namespace {

template <class T>
px::device_ptr<T> at(std::uint64_t address) {
    return px::device_ptr<T>(address);
}

struct device {
    ptxdsl_test::fake_driver driver;
    px::context ctx = px::check(px::context::primary(0));
    px::stream s = px::check(px::stream::create(ctx));

    [[nodiscard]] int launches() const { return driver.launch_count.load(); }
};

std::string said(const px::result<void>& r) { return r ? std::string() : std::string(r.error().message()); }
bool is_j06(const px::result<void>& r, std::string_view word) {
    return !r && r.code() == px::errc::bad_argument && said(r).find("PTXDSL-J06") == 0 &&
           said(r).find(word) != std::string::npos;
}

px::result<void> norm(const px::stream& s, std::uint64_t x, std::uint64_t w, std::uint64_t y, std::uint64_t rows = 16) {
    return kn::rms_norm(s, px::tensor_view(at<const bf16>(x), rows, 64), px::tensor_view(at<const bf16>(w), 64),
                        px::tensor_view(at<bf16>(y), rows, 64));
}

}  // namespace

TEST_CASE("row kernels refuse pointers that are null or misaligned, and results over what others read") {
    device d;
    CHECK(norm(d.s, 0x10000, 0x20000, 0x30000));
    CHECK(is_j06(norm(d.s, 0, 0x20000, 0x30000), "x is a null pointer"));
    CHECK(is_j06(norm(d.s, 0x10000, 0, 0x30000), "weight is a null pointer"));
    CHECK(is_j06(norm(d.s, 0x10000, 0x20000, 0), "y is a null pointer"));
    CHECK(is_j06(norm(d.s, 0x10001, 0x20000, 0x30000), "of x is not a multiple of 2 bytes"));
    CHECK(is_j06(norm(d.s, 0x10000, 0x20000, 0x30001), "of y is not a multiple of 2 bytes"));
    CHECK(is_j06(norm(d.s, 0x10000, 0x20000, 0x10080), "y (0x10080) lies over x (0x10000)"));
    CHECK(is_j06(norm(d.s, 0x10080, 0x20000, 0x10000), "lies over x"));
    CHECK(is_j06(norm(d.s, 0x10000, 0x20000, 0x20000 - 64), "lies over weight"));
    CHECK(norm(d.s, 0x10000, 0x20000, 0x10000));                // in its very place
    CHECK(norm(d.s, 0x10000, 0x20000, 0x10000 + 16 * 64 * 2));  // just behind
    CHECK(d.launches() == 3);

    const px::tensor_view scales(at<f32>(0x40000), 16);
    const px::tensor_view x(at<const bf16>(0x10000), 16, 128);
    CHECK(kn::quantize_rows(d.s, x, px::tensor_view(at<px::e4m3>(0x50000), 16, 128), scales));
    CHECK(is_j06(kn::quantize_rows(d.s, x, px::tensor_view(at<px::e4m3>(0x10000), 16, 128), scales), "q"));
    CHECK(is_j06(kn::quantize_rows(d.s, x, px::tensor_view(at<px::e4m3>(0x40000), 16, 128), scales), "lies over"));
    CHECK(is_j06(kn::softmax(d.s, x, px::tensor_view(at<bf16>(0x10100), 16, 128)), "softmax: y"));
}

TEST_CASE("matrices that pass each other are no overlap") {
    device d;
    // Gate and up are the halves of one matrix, and the result goes to the place of one or beside both.
    const auto half = [](std::uint64_t first) { return px::tensor_view(at<bf16>(first), 16, 64).with_strides(192, 1); };
    CHECK(kn::swiglu(d.s, half(0x10000), half(0x10080), half(0x10000)));
    CHECK(kn::swiglu(d.s, half(0x10000), half(0x10080), half(0x10100)));
    CHECK(is_j06(kn::swiglu(d.s, half(0x10000), half(0x10080), half(0x10020)), "lies over"));
    // A row behind: the rows of one distance meet.
    CHECK(is_j06(kn::swiglu(d.s, half(0x10000), half(0x10080), half(0x10000 + 2 * 384 - 64)), "lies over"));
    // In front of the first row and behind the last there is nothing to meet.
    CHECK(kn::swiglu(d.s, half(0x10000), half(0x10080), half(0x10000 + 16 * 384)));
    CHECK(d.launches() == 3);
}

TEST_CASE("no rows are no launch") {
    device d;
    CHECK(norm(d.s, 0, 0x20000, 0, 0));
    CHECK(kn::softmax(d.s, px::tensor_view(at<const bf16>(0), 0, 64), px::tensor_view(at<bf16>(0), 0, 64)));
    CHECK(kn::gemm(d.s, px::tensor_view(at<const bf16>(0), 0, 64), px::tensor_view(at<const bf16>(0x1000), 128, 64),
                   px::tensor_view(at<bf16>(0), 0, 128)));
    CHECK(d.launches() == 0);
    CHECK(!kn::softmax(d.s, px::tensor_view(at<const bf16>(0), 0, 64), px::tensor_view(at<bf16>(0), 0, 32)));
}

TEST_CASE("a product refuses null pointers and what is not aligned to its elements") {
    device d;
    const auto run = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
        return kn::gemm(d.s, px::tensor_view(at<const bf16>(a), 64, 64), px::tensor_view(at<const bf16>(b), 128, 64),
                        px::tensor_view(at<bf16>(c), 64, 128));
    };
    CHECK(run(0x100000, 0x200000, 0x300000));
    CHECK(is_j06(run(0, 0x200000, 0x300000), "A is a null pointer"));
    CHECK(is_j06(run(0x100000, 0, 0x300000), "B is a null pointer"));
    CHECK(is_j06(run(0x100000, 0x200000, 0), "C is a null pointer"));
    CHECK(is_j06(run(0x100001, 0x200000, 0x300000), "of A is not a multiple of 2 bytes"));
    CHECK(is_j06(run(0x100000, 0x200000, 0x200040), "C (0x200040) lies over B"));
    CHECK(
        is_j06(kn::gemm(d.s, px::tensor_view(at<const bf16>(0x100000), 64, 64),
                        px::tensor_view(at<const bf16>(0x200000), 64, 64), px::tensor_view(at<bf16>(0x100000), 64, 64)),
               "C (0x100000) lies over A"));
    CHECK(d.launches() == 1);
}

TEST_CASE("the arguments of a launch are the kernel's parameters, in order") {
    device d;
    d.driver.argument_sizes = {8, 8, 4, 4, 8, 8, 4, 4};  // softmax_body
    REQUIRE(kn::softmax(d.s, px::tensor_view(at<const f32>(0x10000), 16, 64).with_strides(96, 1),
                        px::tensor_view(at<f32>(0x20000), 16, 64).with_strides(80, 1), 2.0f));
    REQUIRE(d.driver.launches.size() == 1);
    const auto& a = d.driver.launches[0].arguments;
    REQUIRE(a.size() == 8);
    const auto word = [&](std::size_t i) {
        std::uint64_t v = 0;
        std::memcpy(&v, a[i].data(), a[i].size());
        return v;
    };
    CHECK(word(0) == 0x10000);
    CHECK(word(1) == 0x20000);
    CHECK(word(2) == 16);
    CHECK(word(3) == 64);
    CHECK(word(4) == 96);
    CHECK(word(5) == 80);
    float factor = 0;
    std::memcpy(&factor, a[6].data(), 4);
    CHECK(factor == 2.0f * 1.44269504f);
}

TEST_CASE("every set of the library has its kernels: types, forms and layouts that it says it has are launched") {
    device d;
    const auto product = [&]<class A, class B, class Out, kn::gemm_form F>() {
        const std::uint64_t n = F.gated ? 256 : 128;
        kn::gemm_options<kn::detail::bias_of<A, Out>> o;
        if constexpr (sizeof(A) == 1 && !std::is_same_v<A, px::s8>)
            o.a_scale = at<const f32>(0x500000), o.b_scale = at<const f32>(0x500100);
        return kn::gemm<F>(d.s, px::tensor_view(at<const A>(0x100000), 128, 256),
                           px::tensor_view(at<const B>(0x200000), n, 256), px::tensor_view(at<Out>(0x300000), 128, 128),
                           o);
    };
    constexpr kn::gemm_form plain{}, gated{.act = kn::activation::silu, .gated = true};
    using px::e4m3, px::e5m2, px::f16, px::s32, px::s8;
    CHECK(product.operator()<bf16, bf16, bf16, plain>());
    CHECK(product.operator()<bf16, bf16, bf16, gated>());
    CHECK(product.operator()<f16, f16, f16, gated>());
    CHECK(product.operator()<f16, f16, f32, gated>());
    CHECK(product.operator()<bf16, bf16, f32, plain>());
    CHECK(product.operator()<e4m3, e4m3, bf16, gated>());
    CHECK(product.operator()<e4m3, e4m3, f32, gated>());
    CHECK(product.operator()<e5m2, e4m3, bf16, plain>());
    CHECK(product.operator()<e4m3, e5m2, bf16, plain>());
    CHECK(product.operator()<e5m2, e5m2, bf16, plain>());
    CHECK(product.operator()<e5m2, e4m3, f32, plain>());
    CHECK(product.operator()<e4m3, e5m2, f32, plain>());
    CHECK(product.operator()<e5m2, e5m2, f32, plain>());
    CHECK(product.operator()<s8, s8, s32, plain>());
    CHECK(d.launches() == 14);
    // The other layouts of 16-bit operands.
    for (const bool a_by_k : {true, false})
        for (const bool b_by_k : {true, false})
            CHECK(kn::gemm<kn::gemm_form{.any_layout = true}>(
                d.s,
                px::tensor_view(at<const bf16>(0x100000), 128, 256).with_strides(a_by_k ? 256 : 1, a_by_k ? 1 : 128),
                px::tensor_view(at<const bf16>(0x200000), 128, 256).with_strides(b_by_k ? 256 : 1, b_by_k ? 1 : 128),
                px::tensor_view(at<bf16>(0x300000), 128, 128)));
    CHECK(d.launches() == 18);
}

namespace {

template <class T>
constexpr bool no_f64 =
    !kn::detail::is_compiled({px::scalar_of<T>, px::scalar_of<T>, px::scalar_of<T>}, kn::gemm_form{});
static_assert(no_f64<px::e4m3>);
static_assert(!kn::detail::is_compiled({px::scalar_of<bf16>, px::scalar_of<bf16>, px::scalar_of<bf16>},
                                       kn::gemm_form{.gated = true, .any_layout = true}));
static_assert(kn::detail::is_compiled({px::scalar_of<bf16>, px::scalar_of<bf16>, px::scalar_of<bf16>},
                                      kn::gemm_form{.bias = true, .any_layout = true, .constant_b = true}));

}  // namespace
