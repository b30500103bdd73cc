// SPDX-License-Identifier: Apache-2.0
// What the recorder writes of a library call is, read back, the same launch.
#include "../../bench/launch_recorder.hpp"

#include "../../bench/printed_kernel.hpp"
#include "../catch.hpp"

#include <ptxdsl/kernels/rows.hpp>

namespace {

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;
using ptxdsl_test::fake_driver;

struct folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("ptxdsl_recorded_{}", static_cast<const void*>(this));
    folder() { std::filesystem::create_directories(path); }
    ~folder() { std::filesystem::remove_all(path); }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
};

constexpr std::uint64_t x = 1ull << 32, w = 2ull << 32, y = 3ull << 32;
constexpr px::u32 rows = 77, columns = 8192;

void call(const px::stream& s) {
    px::check(kn::rms_norm(s, px::tensor_view(px::device_ptr<const float>(x), rows, columns),
                           px::tensor_view(px::device_ptr<const float>(w), columns),
                           px::tensor_view(px::device_ptr<float>(y), rows, columns), {.eps = 0.25f, .row = {}}));
}

}  // namespace

TEST_CASE("a recorded launch is read back as it was") {
    const folder here;
    {
        const bench::launch_recorder recorder;
        const auto ctx = px::context::primary().value_or_throw();
        call(px::stream::create(ctx).value_or_throw());
        REQUIRE(recorder.write(here.path / "norm", {{x, "x"}, {w, "w"}, {y, "y"}}));
    }
    const std::vector<std::size_t> sizes{8, 8, 8, 8, 8, 8, 4, 4, 8, 8, 8, 8, 4};
    fake_driver direct;
    direct.argument_sizes = sizes;
    const auto ctx = px::context::primary().value_or_throw();
    const auto s = px::stream::create(ctx).value_or_throw();
    call(s);
    auto k = bench::printed_kernel::load(ctx, here.path / "norm.txt", {{"x", x}, {"w", w}, {"y", y}}).value_or_throw();
    REQUIRE(k.launch(s));
    REQUIRE(direct.launches.size() == 2);
    const auto &ours = direct.launches[0], &read = direct.launches[1];
    CHECK(ours.arguments == read.arguments);
    CHECK(ours.config.grid_x == rows);
    CHECK(read.config.grid_x == rows);
    CHECK(ours.config.block_x == read.config.block_x);
    CHECK(ours.config.shared_bytes == read.config.shared_bytes);
    REQUIRE(ours.attributes.size() == 1);
    REQUIRE(read.attributes.size() == 1);
    CHECK(ours.attributes[0].id == read.attributes[0].id);
}
