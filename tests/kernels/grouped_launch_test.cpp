// SPDX-License-Identifier: Apache-2.0
// Calls of grouped products on a driver that is not there: what they refuse, what they launch, and which kernel they
// take.
#include "../runtime/fake_driver.hpp"
#include "catch.hpp"

#include <ptxdsl/kernels/grouped/launch.hpp>
#include <ptxdsl/kernels/grouped_gemm.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;
using px::bf16;

namespace {

struct device {
    ptxdsl_test::fake_driver driver;
    px::context ctx = px::check(px::context::primary(0));
    px::stream s = px::check(px::stream::create(ctx));

    [[nodiscard]] int launches() const { return driver.launch_count.load(); }
};

constexpr std::uint64_t megabyte = 1u << 20;
px::tensor_view<bf16, 2> matrix(std::uint64_t address, std::uint64_t rows, std::uint64_t columns) {
    return px::tensor_view(px::device_ptr<bf16>(address), rows, columns);
}
px::tensor_view<bf16, 3> matrices(std::uint64_t address, std::uint64_t count, std::uint64_t rows,
                                  std::uint64_t columns) {
    return px::tensor_view(px::device_ptr<bf16>(address), count, rows, columns);
}

/// A call that is right but for what its author changes: 4 groups, n 256, k 128.
struct call {
    px::tensor_view<bf16, 2> a = matrix(megabyte, 512, 128), c = matrix(8 * megabyte, 512, 256);
    px::tensor_view<bf16, 3> b = matrices(4 * megabyte, 4, 256, 128);
    px::device_ptr<const px::s32> starts{16 * megabyte};

    [[nodiscard]] std::string said(const device& d) const {
        const auto r = kn::grouped_gemm(d.s, a, b, c, starts);
        return r ? std::string() : std::string(r.error().message());
    }
};
bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("grouped products launch, and nothing for no rows") {
    device d;
    call c;
    CHECK(c.said(d) == "");
    CHECK(d.launches() == 1);
    constexpr kn::grouped_form gates{.act = kn::activation::silu, .gated = true};
    const auto rows = matrices(megabyte, 4, 64, 128), out = matrices(8 * megabyte, 4, 64, 128);
    CHECK(kn::grouped_gemm_masked<gates>(d.s, rows, c.b, out, c.starts, {.expected_rows = 8}).has_value());
    CHECK(d.launches() == 2);
    c.a = matrix(0, 0, 128), c.c = matrix(0, 0, 256);
    CHECK(c.said(d) == "");
    CHECK(d.launches() == 2);
}

TEST_CASE("grouped products refuse shapes that do not fit together") {
    device d;
    call c;
    c.b = matrices(4 * megabyte, 4, 248, 128);
    CHECK(has(c.said(d), "B is 4 x 248 x 128"));
    c = call();
    c.a = matrix(megabyte, 512, 120);
    CHECK(has(c.said(d), "A is 1 x 512 x 120"));
    c = call();
    c.b = matrices(4 * megabyte, 0, 256, 128);
    CHECK(has(c.said(d), "groups not 0"));
    c = call();
    c.b = matrices(4 * megabyte, 4, 252, 128), c.c = matrix(8 * megabyte, 512, 252).with_strides(256, 1);
    CHECK(has(c.said(d), "C has 252 columns; they are a multiple of 8"));
    const auto rows = matrices(megabyte, 3, 64, 128), out = matrices(8 * megabyte, 4, 64, 256);
    const auto r = kn::grouped_gemm_masked(d.s, rows, call().b, out, c.starts);
    CHECK((!r && has(r.error().message(), "A is 3 x 64 x 128")));
    CHECK(d.launches() == 0);
}

TEST_CASE("grouped products refuse memory that copies cannot take, and results over what others read") {
    device d;
    call c;
    c.starts = {};
    CHECK(has(c.said(d), "PTXDSL-J06: grouped_gemm: starts is a null pointer"));
    c.starts = px::device_ptr<const px::s32>(16 * megabyte + 2);
    CHECK(has(c.said(d), "of starts is not a multiple of 4 bytes"));
    c = call();
    c.a = matrix(megabyte + 2, 512, 128);
    CHECK(has(c.said(d), "PTXDSL-J06: grouped_gemm: the rows of A are not contiguous, or its address (0x100002)"));
    c = call();
    c.a = matrix(megabyte, 512, 128).with_strides(132, 1);
    CHECK(has(c.said(d), "the rows of A are not contiguous"));
    c = call();
    c.c = matrix(megabyte, 512, 256);
    CHECK(has(c.said(d), "PTXDSL-J06: grouped_gemm: C (0x100000) lies over A"));
    CHECK(d.launches() == 0);
}

TEST_CASE("the choice of a grouped product's tiles") {
    using enum kn::detail::grouped_choice;
    kn::detail::grouped_problem p;
    const auto choice = [&](std::uint64_t groups, std::uint64_t rows, std::uint64_t n) {
        p.b.batch = groups, p.b.rows = n, p.a.rows = rows;
        return kn::detail::choose_grouped(p, 132);
    };
    CHECK(choice(8, 8 * 2048, 4096) == wide_pair);
    CHECK(choice(16, 16 * 1024, 2816) == wide);  // 11 wide tiles
    CHECK(choice(4, 4 * 2048, 256) == medium);
    CHECK(choice(8, 8 * 2048, 64) == narrow);
    CHECK(choice(64, 64 * 32, 4096) == few_rows);
    CHECK(choice(64, 64 * 256, 2048) == wide_pair);
    p.options.expected_rows = 16;  // what the caller knows counts
    CHECK(choice(64, 64 * 256, 2048) == few_rows);
    p.options.expected_rows = 0;
    p.masked = true;  // room for 256 rows in each group
    CHECK(choice(64, 256, 2048) == wide_pair);
    p.form.gated = true;
    CHECK(choice(8, 2048, 64) == medium);
}
