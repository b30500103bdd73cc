// SPDX-License-Identifier: Apache-2.0
// One kernel for several targets: which text a device takes, through a driver that records what it is given.
#include "catch.hpp"
#include "fake_driver.hpp"

#include <ptxdsl/assemble/kernel_set.hpp>

using namespace ptxdsl_test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr auto fill = [](auto& k, px::global_ptr<px::u32> out, px::reg<px::u32> value) {
    k.st(out + k.mov(px::tid.x), value);
};
using fill_kernel = px::generic_kernel<"fill", fill, px::attributes{.reqntid = {32}}>;
constexpr auto fill_ptx = px::assemble_for<fill_kernel, px::sm_80, px::sm_90a, px::sm_100f, px::sm_103f>();

/// One body, two ways: what a target has decides while it is written.
constexpr auto announce = []<px::target T>(px::builder<T>& k, px::global_ptr<px::u32> out) {
    if constexpr (T.has_wgmma())
        k.st(out, 1u);
    else if constexpr (T.has_tensor_memory())
        k.st(out, 2u);
    else
        k.st(out, 0u);
};
using announce_kernel = px::generic_kernel<"announce", announce, px::attributes{.reqntid = {1}}>;
constexpr auto announce_ptx = px::assemble_for<announce_kernel, px::sm_90a, px::sm_100a>();

// Exactly its own target, its family's, what all have, the newer first.
static_assert(fill_ptx.best_for(75) == fill_ptx.size && fill_ptx.best_for(80) == 0 && fill_ptx.best_for(89) == 0);
static_assert(fill_ptx.best_for(90) == 1 && fill_ptx.best_for(100) == 2 && fill_ptx.best_for(103) == 3);
static_assert(fill_ptx.best_for(110) == 0 && fill_ptx.best_for(120) == 0);
static_assert(announce_ptx.best_for(90) == 0 && announce_ptx.best_for(100) == 1 && announce_ptx.best_for(103) == 2);

std::string text_of(const auto& set, std::size_t number) {
    return set.with(number, [](const auto& kernel) { return std::string(kernel.text()); });
}

}  // namespace

TEST_CASE("each target has its text") {
    CHECK_THAT(text_of(fill_ptx, 0), ContainsSubstring("\n.target sm_80\n"));
    CHECK_THAT(text_of(fill_ptx, 1), ContainsSubstring(".version 8.0\n.target sm_90a\n"));
    CHECK_THAT(text_of(fill_ptx, 2), ContainsSubstring(".version 8.8\n.target sm_100f\n"));
    CHECK_THAT(text_of(fill_ptx, 3), ContainsSubstring(".version 8.8\n.target sm_103f\n"));
    CHECK_THAT(text_of(announce_ptx, 0), ContainsSubstring(", 1;"));
    CHECK_THAT(text_of(announce_ptx, 1), ContainsSubstring(", 2;"));
}

TEST_CASE("a launch takes the text that fits its device") {
    for (const auto& [major, minor] : {std::pair{8, 9}, {9, 0}, {10, 0}, {10, 3}, {12, 0}}) {
        fake_driver f;
        f.major = major, f.minor = minor;
        const auto ctx = px::context::primary().value_or_throw();
        const auto s = px::stream::create(ctx).value_or_throw();
        auto out = px::device_buffer<px::u32>::allocate(ctx, 32).value_or_throw();
        const auto r = px::launch(s, fill_ptx, px::grid{1}, out, 7u);
        REQUIRE(r.has_value());
        CHECK(f.launch_count == 1);
        const auto kernel = px::load(ctx, fill_ptx);
        REQUIRE(kernel.has_value());
        CHECK(px::launch(s, *kernel, px::grid{1}, out, 8u).has_value());
        CHECK(f.launch_count == 2);
        CHECK(f.count("module_load_data_ex") == 1);
        const std::size_t number = fill_ptx.best_for(static_cast<unsigned>(major * 10 + minor));
        CHECK(f.loaded_text == text_of(fill_ptx, number));
    }
}

TEST_CASE("a device that runs none of them is named") {
    fake_driver f;
    f.major = 10, f.minor = 3;
    const auto ctx = px::context::primary().value_or_throw();
    const auto r = px::load(ctx, announce_ptx);
    CHECK(r.code() == px::errc::wrong_target);
    CHECK_THAT(
        r.error().message(),
        ContainsSubstring("PTXDSL-J03: kernel 'announce' is for sm_90a, sm_100a but device 0 (Fake H200, compute "
                          "capability 10.3) runs none of them; assemble the kernel for sm_103a too"));
    CHECK(f.count("module_load_data_ex") == 0);
}
