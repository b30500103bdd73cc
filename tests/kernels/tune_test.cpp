// SPDX-License-Identifier: Apache-2.0
// `px::kernels::tune` on a driver that is not there: what it measures, takes, writes and reads back, and which files it
// ignores.
#include "../runtime/fake_driver.hpp"
#include "catch.hpp"

#include <ptxdsl/kernels.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;
using px::bf16;

namespace {

constexpr unsigned candidates = 4;
unsigned fastest, asked;  // which candidate the next times favour, and how often a time was asked for
std::uint64_t next_address;

/// A driver whose memory does not overlap, and whose clock says that candidate `fastest` takes half.
struct device {
    ptxdsl_test::fake_driver driver;
    px::context ctx = px::check(px::context::primary(0));
    px::stream s = px::check(px::stream::create(ctx));

    device() {
        fastest = asked = 0, next_address = 0x7000'0000;
        driver.free_memory = std::size_t{1} << 40;
        driver.table().mem_alloc = [](px::cu::deviceptr* p, std::size_t n) {
            *p = next_address, next_address += (n + 255) / 256 * 256;
            return px::cu::status::success;
        };
        driver.table().event_elapsed_time = [](float* ms, px::cu::event, px::cu::event) {
            *ms = asked++ % candidates == fastest ? 0.5F : 1.0F;
            return px::cu::status::success;
        };
        kn::forget_tuning();
    }
    /// What a call launches: threads and dynamic shared memory, and blocks.
    std::vector<unsigned> launched(const kn::gemm_shape& shape, std::optional<kn::gemm_choice> choice) {
        auto workspace = px::check(kn::gemm_workspace::create(ctx));
        const auto at = [](std::uint64_t address) { return px::device_ptr<bf16>(address); };
        px::check(kn::gemm(s, px::tensor_view(at(0x10'0000'0000), shape.m, shape.k),
                           px::tensor_view(at(0x20'0000'0000), shape.n, shape.k),
                           px::tensor_view(at(0x30'0000'0000), shape.m, shape.n),
                           {.workspace = &workspace, .choice = choice}));
        const auto& c = driver.launches.back().config;
        return {c.block_x, c.shared_bytes, c.grid_x};
    }
};

constexpr kn::gemm_shape shape{200, 3584, 3584, 1}, other{17, 4096, 4096, 1};
const kn::tune_options quick{.candidates = candidates, .rounds = 3};

std::string text_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
/// A file name that nobody else has, and no file.
struct scratch {
    std::string file;
    explicit scratch(const char* name)
        : file((std::filesystem::temp_directory_path() / (std::string("ptxdsl_tune_") + name + ".txt")).string()) {
        std::remove(file.c_str());
    }
    ~scratch() { std::remove(file.c_str()); }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
};

}  // namespace

TEST_CASE("the fastest of the model's first is taken from then on") {
    device d;
    const auto list =
        kn::detail::ranking(shape, 132, kn::detail::compiled_choices(px::k_major, px::k_major, false), candidates);
    REQUIRE(list.size() == candidates);
    CHECK(list[0] == kn::choose_gemm_config(shape, 132, true));
    for (unsigned i = 0; i < candidates; ++i) {
        kn::forget_tuning();
        fastest = i, asked = 0;
        const auto r = px::check(kn::tune(d.s, std::vector{shape}, quick));
        REQUIRE(r.products.size() == 1);
        CHECK(r.measured == 1);
        CHECK(r.products[0].choice == list[i]);
        CHECK(asked == candidates * quick.rounds);
        CHECK(d.launched(shape, {}) == d.launched(shape, list[i]));
    }
    // The last one measured is not what the model says, and goes with it.
    REQUIRE(d.launched(shape, list[3]) != d.launched(shape, list[0]));
    CHECK(d.launched(shape, {}) != d.launched(shape, list[0]));
    kn::forget_tuning();
    CHECK(d.launched(shape, {}) == d.launched(shape, list[0]));
    // Other products are none of its business.
    fastest = 3, asked = 0;
    REQUIRE(kn::tune(d.s, std::vector{shape}, quick));
    CHECK(d.launched(other, {}) == d.launched(other, kn::choose_gemm_config(other, 132, true)));
}

TEST_CASE("a file keeps it for later processes, and what it has is not measured again") {
    device d;
    const scratch at("keeps");
    kn::tune_options o = quick;
    o.file = at.file;
    fastest = 2;
    const auto first = px::check(kn::tune(d.s, std::vector{shape}, o));
    CHECK(first.note.empty());
    const int launches = d.driver.launch_count.load();
    const auto second = px::check(kn::tune(d.s, std::vector{shape}, o));
    CHECK(second.measured == 0);
    CHECK(second.products[0].choice == first.products[0].choice);
    CHECK(d.driver.launch_count.load() == launches);
    const auto third = px::check(kn::tune(d.s, std::vector{other, shape}, o));
    CHECK(third.measured == 1);
    CHECK(third.products[1].choice == first.products[0].choice);

    kn::forget_tuning();  // as a later process begins
    const auto loaded = kn::load_tuning(d.ctx, at.file);
    CHECK(loaded.note.empty());
    REQUIRE(loaded.products.size() == 2);
    CHECK(d.launched(shape, {}) == d.launched(shape, first.products[0].choice));
    CHECK(!std::filesystem::exists(at.file + ".new"));
}

TEST_CASE("a file that is broken or of elsewhere is ignored with a note") {
    device d;
    const scratch at("broken");
    kn::tune_options o = quick;
    o.file = at.file;
    px::check(kn::tune(d.s, std::vector{shape, other}, o));
    const std::string whole = text_of(at.file);
    const auto stamp = kn::detail::stamp_of(d.ctx);
    CHECK(kn::detail::tuning_of(whole, stamp).products.size() == 2);
    for (std::size_t n = 0; n < whole.size(); ++n) {  // cut off anywhere
        const auto t = kn::detail::tuning_of(whole.substr(0, n), stamp);
        if (!t.products.empty() || t.note.empty()) FAIL("taken when cut off behind " << n << " bytes");
    }
    const auto ignored = [&](std::string text, const std::string& from, const std::string& to) {
        const std::size_t p = text.find(from);
        REQUIRE(p != std::string::npos);
        const auto t = kn::detail::tuning_of(text.replace(p, from.size(), to), stamp);
        return t.products.empty() && t.note.find("ignored") != std::string::npos;
    };
    CHECK(ignored(whole, "format 1", "format 2"));
    CHECK(ignored(whole, "library ", "library 9"));
    CHECK(ignored(whole, "device 132", "device 114"));
    CHECK(ignored(whole, "driver 13000", "driver 12080"));
    CHECK(ignored(whole, "bf16 bf16 bf16 plain", "bf16 bf16 bf17 plain"));
    CHECK(ignored(whole, "bf16 bf16 bf16 plain", "bf16 bf16 bf16 bare"));
    CHECK(ignored(whole, "plain 200 3584", "plain 0 3584"));
    CHECK(ignored(whole, "plain 200 3584", "plain 200x 3584"));
    CHECK(ignored(whole, "plain 200 3584", "plain  200 3584"));
    CHECK(ignored(whole, "end\n", "end\nbf16"));
    const std::string line =
        "3584 3584 1 " + std::to_string(static_cast<unsigned>(kn::detail::tuning_of(whole, stamp).products[0].choice));
    CHECK(ignored(whole, line + " ", "3584 3584 1 64 "));  // no such configuration
    CHECK(ignored(whole, line + " ", "3584 3584 1 -1 "));

    // What `tune` does with one: it says so, measures, and writes a right one.
    std::ofstream(at.file, std::ios::binary) << whole.substr(0, whole.size() / 2);
    const auto again = px::check(kn::tune(d.s, std::vector{shape}, o));
    CHECK(again.measured == 1);
    CHECK(again.note.find(at.file) == 0);
    CHECK(kn::load_tuning(d.ctx, at.file).products.size() == 1);
}

TEST_CASE("measurements hold for one device") {
    device d;
    const auto list =
        kn::detail::ranking(shape, 132, kn::detail::compiled_choices(px::k_major, px::k_major, false), candidates);
    fastest = 3;
    REQUIRE(kn::tune(d.s, std::vector{shape}, quick));
    CHECK(kn::detail::measured_choices().find(0, {px::isa::scalar::bf16, px::isa::scalar::bf16, px::isa::scalar::bf16,
                                                  false, shape.m, shape.n, shape.k, 1}) == list[3]);
    CHECK(!kn::detail::measured_choices().find(
        1, {px::isa::scalar::bf16, px::isa::scalar::bf16, px::isa::scalar::bf16, false, shape.m, shape.n, shape.k, 1}));
}

TEST_CASE("what cannot be measured or written is an error") {
    device d;
    CHECK(kn::tune(d.s, std::vector{kn::gemm_shape{0, 64, 64, 1}}, quick).code() == px::errc::bad_argument);
    kn::tune_options o = quick;
    o.file = "/nowhere/at/all.txt";
    CHECK(kn::tune(d.s, std::vector{shape}, o).code() == px::errc::bad_argument);
    d.driver.table().mem_alloc = [](px::cu::deviceptr*, std::size_t) { return px::cu::status::out_of_memory; };
    CHECK(kn::tune(d.s, std::vector{shape}, quick).code() == px::errc::out_of_memory);
}

TEST_CASE("8-bit operands and gates have choices of their own") {
    device d;
    const auto fp8 = kn::tune<kn::gemm_form{.constant_b = true}, px::e4m3>(d.s, std::vector{shape}, quick);
    REQUIRE(fp8);
    CHECK(fp8->products[0].product.a == px::isa::scalar::e4m3);
    const auto gated =
        kn::tune<kn::gemm_form{.act = kn::activation::silu, .gated = true}>(d.s, std::vector{shape}, quick);
    REQUIRE(gated);
    CHECK(gated->products[0].product.gated);
    CHECK(kn::config_of(gated->products[0].choice).takes_gates());
}
