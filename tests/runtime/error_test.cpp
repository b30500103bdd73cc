// SPDX-License-Identifier: Apache-2.0
// Errors as values, the sentences for a missing or old driver, versions and targets, and the assembler's log quoted.
#include "catch.hpp"
#include "fake_driver.hpp"

#include <type_traits>

using namespace ptxdsl_test;
using Catch::Matchers::ContainsSubstring;

namespace {
px::result<int> half(int n) {
    if (n % 2 != 0) return px::error{px::errc::bad_argument, fmt::format("{} is odd; pass an even number", n)};
    return n / 2;
}

cu::status old_driver(const char* symbol, void** out, int, std::uint64_t, int*) {
    *out = nullptr;
    return std::string_view(symbol) == "cuLaunchKernelEx"
               ? cu::status::not_found
               : (*out = reinterpret_cast<void*>(&old_driver), cu::status::success);
}
}  // namespace

static_assert(sizeof(px::error) == 16 && sizeof(px::result<void>) == 16);
static_assert(!std::is_convertible_v<px::result<int>, bool>);

TEST_CASE("a result has a value or an error") {
    const auto good = half(4);
    REQUIRE(good);
    CHECK(*good == 2);
    CHECK(good.code() == px::errc::none);
    const auto bad = half(3);
    REQUIRE_FALSE(bad);
    CHECK(bad.code() == px::errc::bad_argument);
    CHECK_THAT(bad.error().message(), ContainsSubstring("3 is odd"));
    CHECK(half(4).value_or_throw() == 2);
    CHECK(px::check(half(8)) == 4);
    CHECK_THROWS_AS(px::check(half(5)), px::exception);
    CHECK_THROWS_WITH(half(5).value_or_throw(), ContainsSubstring("5 is odd"));
    CHECK(px::name(px::errc::driver_error) == "driver_error");
    CHECK(px::name(px::errc::context_lost) == "context_lost");
}

TEST_CASE("a library that is not there is one sentence") {
    const auto d = px::runtime_detail::load_driver("libptxdsl-no-such-driver.so.1");
    CHECK(d.problem.code() == px::errc::no_driver);
    CHECK_THAT(d.problem.message(), ContainsSubstring("no NVIDIA driver on this machine"));
    CHECK_THAT(d.problem.message(), ContainsSubstring("install the driver"));
}

TEST_CASE("a library without the driver's entry points is too old") {
    const auto d = px::runtime_detail::load_driver("libm.so.6");
    CHECK(d.problem.code() == px::errc::driver_too_old);
    CHECK_THAT(d.problem.message(), ContainsSubstring("before 12.0"));
    px::driver_table t;
    const auto e = px::runtime_detail::resolve_entries(t, old_driver);
    CHECK(e.code() == px::errc::driver_too_old);
    CHECK_THAT(e.message(), ContainsSubstring("has no cuLaunchKernelEx of CUDA 11.6"));
    CHECK(t.init != nullptr);
}

TEST_CASE("no GPU and a wrong number are one sentence each") {
    fake_driver f;
    CHECK_THAT(px::query_device(7).error().message(),
               ContainsSubstring("there is no device 7: this machine offers 2 GPUs"));
    CHECK(px::query_device(-1).code() == px::errc::no_device);
    f.devices = 0;
    CHECK(px::context::primary().code() == px::errc::no_device);
    CHECK_THAT(px::device_count().error().message(), ContainsSubstring("finds no GPU"));
    CHECK_THAT(px::runtime_detail::init_failed(cu::status::stub_library).message(), ContainsSubstring("stub library"));
}

TEST_CASE("PTX versions follow the driver's release") {
    CHECK(*px::ptx_of_driver(12000) == px::ptx_version{8, 0});
    CHECK(*px::ptx_of_driver(12030) == px::ptx_version{8, 3});
    CHECK(*px::ptx_of_driver(12060) == px::ptx_version{8, 5});
    CHECK(*px::ptx_of_driver(12070) == px::ptx_version{8, 6});
    CHECK(*px::ptx_of_driver(12080) == px::ptx_version{8, 7});
    CHECK(*px::ptx_of_driver(12090) == px::ptx_version{8, 8});
    CHECK(*px::ptx_of_driver(13000) == px::ptx_version{9, 0});
    CHECK(*px::ptx_of_driver(13010) == px::ptx_version{9, 1});
    CHECK_FALSE(px::ptx_of_driver(14000));
    CHECK(px::driver_for_ptx({8, 6}) == 12070);
    CHECK(px::driver_for_ptx({9, 0}) == 13000);
    CHECK(px::driver_for_ptx({99, 0}) == 0);
}

TEST_CASE("targets run where their suffix allows") {
    CHECK(px::runs_on({90, 'a'}, 9, 0));
    CHECK_FALSE(px::runs_on({90, 'a'}, 10, 0));
    CHECK(px::runs_on({90, 0}, 10, 0));
    CHECK_FALSE(px::runs_on({100, 'a'}, 9, 0));
    CHECK_FALSE(px::runs_on({100, 'a'}, 10, 3));
    CHECK(px::runs_on({100, 'f'}, 10, 3));
    CHECK_FALSE(px::runs_on({100, 'f'}, 12, 0));
    CHECK_FALSE(px::runs_on({100, 0}, 9, 0));
}

TEST_CASE("the header of a text is read past comments") {
    const auto h = px::read_header("// made by hand\n/* two\nlines */ .version 8.7\n.target sm_100a, debug\n");
    REQUIRE(h.version);
    REQUIRE(h.target);
    CHECK(*h.version == px::ptx_version{8, 7});
    CHECK(*h.target == px::target{100, 'a'});
    CHECK_FALSE(px::read_header("int main() {}").version);
    CHECK_FALSE(px::read_header("").version);
    CHECK_FALSE(px::read_header("/* never closed").version);
    CHECK_FALSE(px::read_header(".version 8.0").target);
}

TEST_CASE("wrong target and too new PTX are refused before any load") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    value_kernel<> k;
    k.where = px::sm_100a;
    auto r = px::load(ctx, k);
    CHECK(r.code() == px::errc::wrong_target);
    CHECK_THAT(r.error().message(),
               ContainsSubstring(
                   "PTXDSL-J03: kernel 'probe' is for sm_100a but device 0 (Fake H200, compute capability 9.0)"));
    CHECK_THAT(r.error().message(), ContainsSubstring("sm_90a"));

    f.set_version(12040);
    k.where = px::sm_90a;
    k.of = {8, 7};
    r = px::load(ctx, k);
    CHECK(r.code() == px::errc::ptx_too_new);
    CHECK_THAT(
        r.error().message(),
        ContainsSubstring(
            "PTXDSL-J04: kernel 'probe' is PTX 8.7 but the installed driver (CUDA 12.4) assembles PTX 8.4 at most"));
    CHECK_THAT(r.error().message(), ContainsSubstring("CUDA 12.8"));

    // The same for text whose header alone tells.
    CHECK(px::load_module(ctx, ".version 9.0\n.target sm_90a\n").code() == px::errc::ptx_too_new);
    CHECK(px::load_module(ctx, ".version 8.0\n.target sm_89\n").has_value());
    CHECK(px::load_module(ctx, ".version 8.0\n.target sm_120a\n").code() == px::errc::wrong_target);
    CHECK_THAT(px::load_module(ctx, "hello").error().message(), ContainsSubstring("does not begin with a `.version`"));
    CHECK(f.count("module_load_data_ex") == 1);
}

TEST_CASE("a refused text quotes the assembler, the PTX line and the C++ line") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    value_kernel<> k;
    f.jit_log =
        "ptxas application ptx input, line 5; error   : Unknown symbol '%r9'\nptxas fatal   : Ptx assembly aborted due to errors\n";
    const auto r = px::load(ctx, k);
    REQUIRE(r.code() == px::errc::ptx_rejected);
    CHECK(r.error().driver_status() == cu::status::invalid_ptx);
    CHECK_THAT(r.error().message(), ContainsSubstring("PTXDSL-J05"));
    CHECK_THAT(r.error().message(), ContainsSubstring("line 5; error   : Unknown symbol '%r9'"));
    CHECK_THAT(r.error().message(), ContainsSubstring("PTX line 5: `ret;`"));
    CHECK_THAT(r.error().message(), ContainsSubstring("written at kernel.cpp:105"));
    CHECK(r.error().log().find("aborted") != std::string_view::npos);
    CHECK(fake_driver::depth() == 0);

    // The failure is not remembered: once the driver takes the text, it loads.
    f.jit_log.clear();
    CHECK(px::load(ctx, k).has_value());
}

TEST_CASE("a missing entry names those there are") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    f.fail["module_get_function"] = cu::status::not_found;
    const auto r = px::load(ctx, value_kernel<>{});
    CHECK(r.code() == px::errc::kernel_not_found);
    CHECK_THAT(r.error().message(), ContainsSubstring("its entries are: 'probe'"));
}

TEST_CASE("sticky errors say that the context is lost") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    f.fail["ctx_synchronize"] = cu::status::illegal_address;
    const auto r = ctx.synchronize();
    CHECK(r.code() == px::errc::context_lost);
    CHECK(r.error().sticky());
    CHECK_THAT(r.error().message(), ContainsSubstring("CUDA_ERROR_ILLEGAL_ADDRESS"));
    CHECK_THAT(r.error().message(), ContainsSubstring("the context is lost"));
}
