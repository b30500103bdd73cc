// SPDX-License-Identifier: Apache-2.0
// Launches through a driver that records them: what is checked before, what the driver is given, and in which order.
#include "catch.hpp"
#include "fake_driver.hpp"

#include <boost/hana/concat.hpp>
#include <boost/hana/equal.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/length.hpp>

using namespace ptxdsl_test;
using Catch::Matchers::ContainsSubstring;

namespace {

using saxpy_params = test_kernel<px::pointer_param<const float, 16>, px::pointer_param<float>, float, px::u32>;

struct row_map {
    static constexpr px::tensor_map_spec spec = [] {
        px::tensor_map_spec s;
        s.element = px::isa::scalar::bf16;
        s.rank = 2;
        s.swizzle = px::map_swizzle::b128;
        s.box[0] = 64;
        s.box[1] = 128;
        return s;
    }();
};
using mapped = test_kernel<px::tensor_map_param<row_map>>;
using writing = test_kernel<px::tensor_map_param<row_map, true>>;

// What fits and what does not, as types. The sentences are in tests/runtime/J01_launch.cpp.
static_assert(px::kernel_like<saxpy_params>);
static_assert(px::launchable_with<saxpy_params, const float*, float*, float, px::u32>);
static_assert(px::launchable_with<saxpy_params, float*, float*, float, int>);
static_assert(
    px::launchable_with<saxpy_params, px::device_ptr<const float>, px::device_buffer<float>&, float, std::size_t>);
static_assert(
    px::launchable_with<saxpy_params, const px::device_buffer<float>&, px::device_ptr<float>, const float&, px::u32>);
static_assert(!px::launchable_with<saxpy_params, const float*, float*, float>);
static_assert(!px::launchable_with<saxpy_params, const float*, float*, float, px::u32, px::u32>);
static_assert(!px::launchable_with<saxpy_params, float*, const float*, float, px::u32>);
static_assert(!px::launchable_with<saxpy_params, float*, px::device_ptr<const float>, float, px::u32>);
static_assert(!px::launchable_with<saxpy_params, float*, const px::device_buffer<float>&, float, px::u32>);
static_assert(!px::launchable_with<saxpy_params, double*, float*, float, px::u32>);
static_assert(!px::launchable_with<saxpy_params, float*, float*, double, px::u32>);
static_assert(!px::launchable_with<saxpy_params, float*, float*, float, float>);
static_assert(!px::launchable_with<saxpy_params, float*, float*, int, px::u32>);
static_assert(!px::launchable_with<saxpy_params, float*, float*, float, bool>);
static_assert(!px::launchable_with<saxpy_params, float*, void*, float, px::u32>);
static_assert(!px::launchable_with<saxpy_params, float*, px::u64, float, px::u32>);
static_assert(!px::launchable_with<saxpy_params, float*, std::nullptr_t, float, px::u32>);
static_assert(px::launchable_with<test_kernel<px::pointer_param<float, 4, true>>, std::nullptr_t>);
static_assert(px::launchable_with<test_kernel<px::bf16>, px::bf16> &&
              !px::launchable_with<test_kernel<px::bf16>, px::f16>);
static_assert(px::launchable_with<mapped, px::tensor_view<px::bf16, 2>> &&
              px::launchable_with<mapped, px::tensor_view<const px::bf16, 2>>);
static_assert(px::launchable_with<mapped, const px::tensor_map<row_map>&>);
static_assert(!px::launchable_with<mapped, px::tensor_view<px::f16, 2>> &&
              !px::launchable_with<mapped, px::tensor_view<px::bf16, 3>>);
static_assert(!px::launchable_with<mapped, px::bf16*>);
static_assert(px::launchable_with<writing, px::tensor_view<px::bf16, 2>> &&
              !px::launchable_with<writing, px::tensor_view<const px::bf16, 2>>);

const auto at = [](std::uint64_t address) { return px::device_ptr<float>(address); };

}  // namespace

TEST_CASE("a launch gives the driver the kernel's block and the bound arguments") {
    fake_driver f;
    f.argument_sizes = {8, 8, 4, 4};
    const auto ctx = px::context::primary().value_or_throw();
    const auto k = px::load(ctx, saxpy_params{}).value_or_throw();
    REQUIRE(k.launch(cu::stream{nullptr}, px::grid{7, 2, 1}, at(0x70000100), at(0x70000204), 2.5F, 1000));
    REQUIRE(f.launches.size() == 1);
    const auto& l = f.launches[0];
    CHECK(l.config.grid_x == 7);
    CHECK(l.config.grid_y == 2);
    CHECK(l.config.block_x == 128);
    CHECK(l.config.shared_bytes == 0);
    CHECK(l.attributes.empty());
    CHECK(l.current == ctx.handle());
    const auto word = [&](std::size_t i, auto value) {
        std::memcpy(&value, l.arguments[i].data(), sizeof(value));
        return value;
    };
    CHECK(word(0, std::uint64_t{}) == 0x70000100);
    CHECK(word(1, std::uint64_t{}) == 0x70000204);
    CHECK(word(2, 0.0F) == 2.5F);
    CHECK(word(3, 0U) == 1000);
    CHECK(fake_driver::depth() == 0);
}

TEST_CASE("a signature is a Hana tuple of types, and Hana's tuples launch") {
    namespace hana = boost::hana;
    constexpr auto types = px::parameter_types(saxpy_params{});
    static_assert(hana::equal(
        types, hana::tuple_t<px::pointer_param<const float, 16>, px::pointer_param<float>, float, px::u32>));
    static_assert(hana::length(px::parameter_types(test_kernel<>{})) == hana::size_c<0>);

    fake_driver f;
    f.argument_sizes = {8, 8, 4, 4};
    const auto ctx = px::context::primary().value_or_throw();
    const auto s = px::stream::create(ctx).value_or_throw();
    const auto pointers = hana::make_tuple(at(0x70000100), at(0x70000204));
    const auto arguments = hana::concat(pointers, hana::make_tuple(2.5F, 1000));
    const auto loaded = px::load(ctx, saxpy_params{}).value_or_throw();
    REQUIRE(px::launch_with(s, saxpy_params{}, {.grid = {7}}, arguments));
    REQUIRE(px::launch_with(s, loaded, {.grid = {8}}, arguments));
    REQUIRE(f.launches.size() == 2);
    CHECK(f.launches[1].config.grid_x == 8);
    CHECK(f.launches[0].arguments == f.launches[1].arguments);
    std::uint64_t second = 0;
    std::memcpy(&second, f.launches[0].arguments[1].data(), sizeof(second));
    CHECK(second == 0x70000204);
    const auto null = px::launch_with(s, loaded, {.grid = {1}}, hana::make_tuple(at(0x70000100), at(0), 2.5F, 1000));
    CHECK(f.launches.size() == 2);
    CHECK_THAT(null.error().message(), ContainsSubstring("J06") && ContainsSubstring("parameter 1"));
}

TEST_CASE("the caller's current context is left as it was") {
    fake_driver f;
    const auto one = px::context::primary(1).value_or_throw();
    const auto k = px::load(one, test_kernel<>{}).value_or_throw();
    const auto other = reinterpret_cast<cu::context>(std::uintptr_t{0x9999});
    fake_driver::stack().push_back(other);
    REQUIRE(k.launch(cu::stream{nullptr}, px::grid{1}));
    CHECK(f.launches[0].current == one.handle());
    CHECK(fake_driver::current() == other);
    // Already current: nothing is pushed.
    fake_driver::stack().back() = one.handle();
    const int pushes = f.count("ctx_push_current");
    REQUIRE(k.launch(cu::stream{nullptr}, px::grid{1}));
    CHECK(f.count("ctx_push_current") == pushes);
    fake_driver::stack().clear();
}

TEST_CASE("grid and block are checked before the driver is asked") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    const auto k = px::load(ctx, test_kernel<>{}).value_or_throw();
    const cu::stream s = nullptr;
    auto r = k.launch(s, px::grid{0, 1, 1});
    CHECK(r.code() == px::errc::bad_grid);
    CHECK_THAT(r.error().message(), ContainsSubstring("PTXDSL-G02: kernel 'probe': the grid 0x1x1 has a zero extent"));
    r = k.launch(s, px::grid{1, 70000, 1});
    CHECK_THAT(r.error().message(),
               ContainsSubstring("the grid 1x70000x1 exceeds the device's limit 2147483647x65535x65535"));
    r = k.launch(s, px::launch_config{.grid = {1}, .block = {256, 1, 1}});
    CHECK(r.code() == px::errc::bad_block);
    CHECK_THAT(r.error().message(),
               ContainsSubstring("the block is 256x1x1 threads but the kernel requires 128x1x1 (.reqntid)"));
    CHECK(k.launch(s, px::launch_config{.grid = {1}, .block = {128, 1, 1}}));

    value_kernel<> free;
    free.need.threads[0] = free.need.threads[1] = free.need.threads[2] = 0;
    free.need.max_threads = 512;
    const auto any = px::load(ctx, free).value_or_throw();
    CHECK_THAT(any.launch(s, px::grid{1}).error().message(), ContainsSubstring("no block size"));
    CHECK_THAT(any.launch(s, px::launch_config{.grid = {1}, .block = {32, 0, 1}}).error().message(),
               ContainsSubstring("the block 32x0x1 has a zero extent"));
    CHECK_THAT(any.launch(s, px::launch_config{.grid = {1}, .block = {1024, 1, 1}}).error().message(),
               ContainsSubstring("has 1024 threads but the kernel allows 512 (.maxntid)"));
    free.need.max_threads = 0;
    const auto wide = px::load(ctx, free).value_or_throw();
    CHECK_THAT(wide.launch(s, px::launch_config{.grid = {1}, .block = {2048, 1, 1}}).error().message(),
               ContainsSubstring("exceeds the device's limit of 1024 threads"));
    CHECK_THAT(wide.launch(s, px::launch_config{.grid = {1}, .block = {4, 4, 65}}).error().message(),
               ContainsSubstring("the block 4x4x65 exceeds"));
    CHECK(f.launches.size() == 1);
}

TEST_CASE("registers limit the block") {
    fake_driver f;
    f.function_max_threads = 256;
    const auto ctx = px::context::primary().value_or_throw();
    value_kernel<> free;
    free.need.threads[0] = 0;
    const auto k = px::load(ctx, free).value_or_throw();
    const auto r = k.launch(cu::stream{nullptr}, px::launch_config{.grid = {1}, .block = {512, 1, 1}});
    CHECK_THAT(r.error().message(),
               ContainsSubstring("has 512 threads but only 256 fit with the kernel's 32 registers"));
}

TEST_CASE("clusters: limits, divisibility, opt-in, attribute") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    const auto k = px::load(ctx, test_kernel<>{}).value_or_throw();
    const cu::stream s = nullptr;
    const auto with = [&](px::grid g, px::extent3 c, bool non_portable = false) {
        return k.launch(s, px::launch_config{.grid = g, .cluster = c, .non_portable_cluster = non_portable});
    };
    CHECK_THAT(with({7}, {2, 1, 1}).error().message(),
               ContainsSubstring("PTXDSL-G02: kernel 'probe': the grid 7x1x1 is not a multiple of the cluster 2x1x1"));
    CHECK_THAT(
        with({16}, {16, 1, 1}).error().message(),
        ContainsSubstring("PTXDSL-G01: kernel 'probe': the cluster 16x1x1 has 16 blocks; over 8 is not portable"));
    CHECK_THAT(with({32}, {32, 1, 1}, true).error().message(), ContainsSubstring("no device takes more than 16"));
    CHECK_THAT(with({4}, {2, 0, 1}).error().message(), ContainsSubstring("zero extent"));
    CHECK(f.launches.empty());

    REQUIRE(with({16}, {16, 1, 1}, true));
    REQUIRE(with({16}, {16, 1, 1}, true));
    CHECK(f.count("non_portable") == 1);
    REQUIRE(f.launches.size() == 2);
    REQUIRE(f.launches[0].attributes.size() == 1);
    CHECK(f.launches[0].attributes[0].id == cu::launch_attribute_id::cluster_dimension);
    CHECK(f.launches[0].attributes[0].value.cluster_dim.x == 16);

    value_kernel<> own;
    own.need.cluster[0] = 2;
    own.need.cluster[1] = own.need.cluster[2] = 1;
    const auto clustered = px::load(ctx, own).value_or_throw();
    CHECK(clustered.launch(s, px::grid{3}).code() == px::errc::bad_grid);
    CHECK_THAT(clustered.launch(s, px::launch_config{.grid = {4}, .cluster = {4, 1, 1}}).error().message(),
               ContainsSubstring("requires 2x1x1 (.reqnctapercluster)"));
    REQUIRE(clustered.launch(s, px::grid{4}));
    CHECK(f.launches.back().attributes.empty());  // the module says it, the launch need not
}

TEST_CASE("a kernel that reaches its peers is launched with a cluster that has them") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    value_kernel<> k;
    k.need.least_cluster = 4;
    const auto reaches = px::load(ctx, k).value_or_throw();
    const cu::stream s = nullptr;
    const auto with = [&](px::extent3 c) { return reaches.launch(s, px::launch_config{.grid = {8}, .cluster = c}); };
    CHECK(with({}).code() == px::errc::bad_cluster);
    CHECK_THAT(
        with({}).error().message(),
        ContainsSubstring("PTXDSL-G02: kernel 'probe': it reaches block 3 of its cluster, but the launch gives no "
                          "cluster; set launch_config::cluster to 4 blocks or more"));
    CHECK_THAT(with({2, 1, 1}).error().message(), ContainsSubstring("but the launch gives clusters of 2 blocks"));
    CHECK(f.launches.empty());
    CHECK(with({4, 1, 1}));
    CHECK(with({2, 2, 1}).code() == px::errc::bad_grid);  // the grid has one row
    CHECK(with({8, 1, 1}));
    k.need.cluster[0] = 4, k.need.cluster[1] = k.need.cluster[2] = 1;  // declared: the module gives it
    CHECK(px::load(ctx, k).value_or_throw().launch(s, px::grid{8}));
}

TEST_CASE("programmatic launch only where the kernel waits, cooperative where asked") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    value_kernel<> k;
    const cu::stream s = nullptr;
    const px::launch_config config{.grid = {1}, .programmatic = true};
    REQUIRE(px::load(ctx, k).value_or_throw().launch(s, config));
    CHECK(f.launches.back().attributes.empty());
    k.need.uses_pdl_wait = true;
    REQUIRE(px::load(ctx, k).value_or_throw().launch(s, config));
    REQUIRE(f.launches.back().attributes.size() == 1);
    CHECK(f.launches.back().attributes[0].id == cu::launch_attribute_id::programmatic_stream_serialization);
    CHECK(f.launches.back().attributes[0].value.programmatic_stream_serialization_allowed == 1);
    REQUIRE(px::load(ctx, k).value_or_throw().launch(s, px::launch_config{.grid = {1}, .cooperative = true}));
    CHECK(f.launches.back().attributes[0].id == cu::launch_attribute_id::cooperative);
    f.fail["launch_kernel_ex"] = cu::status::cooperative_launch_too_large;
    CHECK_THAT(px::load(ctx, k)
                   .value_or_throw()
                   .launch(s, px::launch_config{.grid = {1}, .cooperative = true})
                   .error()
                   .message(),
               ContainsSubstring("must fit on the device at once"));
}

TEST_CASE("dynamic shared memory is raised once, and refused where no block has it") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    value_kernel<> k;
    k.need.dynamic_shared_bytes = 200 << 10;
    const auto big = px::load(ctx, k).value_or_throw();
    CHECK(f.count("max_dynamic 204800") == 1);
    REQUIRE(big.launch(cu::stream{nullptr}, px::grid{1}));
    REQUIRE(big.launch(cu::stream{nullptr}, px::grid{1}));
    CHECK(f.launches.back().config.shared_bytes == 204800);
    CHECK(f.count("max_dynamic 204800") == 1);
    REQUIRE(big.launch(cu::stream{nullptr}, px::launch_config{.grid = {1}, .dynamic_shared_bytes = 210 << 10}));
    CHECK(f.count("max_dynamic 215040") == 1);
    const auto less = big.launch(cu::stream{nullptr}, px::launch_config{.grid = {1}, .dynamic_shared_bytes = 1000});
    CHECK(less.code() == px::errc::bad_shared_size);
    CHECK_THAT(
        less.error().message(),
        ContainsSubstring("PTXDSL-C04: kernel 'probe' declares 204800 bytes of dynamic shared memory but the launch "
                          "gives 1000"));
    const auto r = big.launch(cu::stream{nullptr}, px::launch_config{.grid = {1}, .dynamic_shared_bytes = 300 << 10});
    CHECK(r.code() == px::errc::bad_shared_size);
    CHECK_THAT(
        r.error().message(),
        ContainsSubstring("needs 307200 bytes of shared memory (0 static, 307200 dynamic) but a block of device 0"));
    k.need.dynamic_shared_bytes = 4 << 20;
    CHECK(px::load(ctx, k).code() == px::errc::bad_shared_size);
    CHECK(fake_driver::depth() == 0);
    // Up to 48 KiB needs no attribute.
    k.need.dynamic_shared_bytes = 16 << 10;
    const int before = static_cast<int>(f.calls.size());
    REQUIRE(px::load(ctx, k).value_or_throw().launch(cu::stream{nullptr}, px::grid{1}));
    CHECK(std::none_of(f.calls.begin() + before, f.calls.end(),
                       [](const std::string& c) { return c.starts_with("max_dynamic"); }));
}

TEST_CASE("null, misaligned and out-of-range arguments name the parameter") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    const auto k = px::load(ctx, saxpy_params{}).value_or_throw();
    const cu::stream s = nullptr;
    auto r = k.launch(s, px::grid{1}, at(0x70000100), at(0), 1.0F, 1U);
    CHECK(r.code() == px::errc::bad_argument);
    CHECK_THAT(r.error().message(), ContainsSubstring("PTXDSL-J06: kernel 'probe', parameter 1 ('y'): null pointer"));
    r = k.launch(s, px::grid{1}, at(0x70000104), at(0x70000100), 1.0F, 1U);
    CHECK_THAT(r.error().message(),
               ContainsSubstring("parameter 0 ('x'): the address 0x70000104 is not a multiple of 16 bytes"));
    r = k.launch(s, px::grid{1}, at(0x70000100), at(0x70000100), 1.0F, std::size_t{1} << 32);
    CHECK_THAT(r.error().message(),
               ContainsSubstring("parameter 3 ('n'): 4294967296 does not fit u32, which holds 0 to 4294967295"));
    r = k.launch(s, px::grid{1}, at(0x70000100), at(0x70000100), 1.0F, -1);
    CHECK_THAT(r.error().message(), ContainsSubstring("-1 does not fit u32"));
    CHECK(f.launches.empty());
    // Host memory: only when asked to look.
    REQUIRE(k.launch(s, px::grid{1}, at(0x100), at(0x70000100), 1.0F, 1));
    r = k.launch(s, px::launch_config{.grid = {1}, .check_pointers = true}, at(0x100), at(0x70000100), 1.0F, 1);
    CHECK_THAT(r.error().message(), ContainsSubstring("0x100 is not memory that device 0"));
    CHECK(k.launch(s, px::launch_config{.grid = {1}, .check_pointers = true}, at(0x70000200), at(0x70000100), 1.0F, 1));
}

TEST_CASE("tensor views become maps by value") {
    fake_driver f;
    f.argument_sizes = {128};
    const auto ctx = px::context::primary().value_or_throw();
    const auto k = px::load(ctx, mapped{}).value_or_throw();
    const px::device_ptr<const px::bf16> data(0x70000400);
    REQUIRE(k.launch(cu::stream{nullptr}, px::grid{1}, px::tensor_view{data, 512, 256}));
    std::uint64_t address = 0;
    std::memcpy(&address, f.launches[0].arguments[0].data(), 8);
    CHECK(address == 0x70000400);
    CHECK(f.tensor_numbers == std::vector<unsigned long long>{256, 512, 512, 64, 128});

    const auto map = px::make_tensor_map<row_map>(ctx, px::tensor_view{data, 512, 256}).value_or_throw();
    const int encoded = f.count("tensor_map_encode_tiled");
    REQUIRE(k.launch(cu::stream{nullptr}, px::grid{1}, map));
    CHECK(f.count("tensor_map_encode_tiled") == encoded);

    const auto r = k.launch(cu::stream{nullptr}, px::grid{1}, px::tensor_view{data, 512, 250});
    CHECK(r.code() == px::errc::bad_tensor);
    CHECK_THAT(
        r.error().message(),
        ContainsSubstring(
            "PTXDSL-F11: tensor 'x' (parameter 0) of kernel 'probe', dimension 1 of 2 (the outermost): the stride is 500 bytes; it must be a multiple of 16"));
    const auto w = px::load(ctx, writing{}).value_or_throw();
    CHECK_THAT(w.launch(cu::stream{nullptr}, px::grid{1}, map).error().message(),
               ContainsSubstring("made from a view of const elements"));
}

TEST_CASE("one text is loaded once per context, kernels by type need no handle") {
    fake_driver f;
    const auto zero = px::context::primary(0).value_or_throw();
    const auto one = px::context::primary(1).value_or_throw();
    const auto s0 = px::stream::create(zero).value_or_throw();
    const auto s1 = px::stream::create(one).value_or_throw();
    for (int i = 0; i < 3; ++i) {
        REQUIRE(px::launch(s0, test_kernel<>{}, px::grid{1}));
        REQUIRE(px::launch(s1, test_kernel<>{}, px::grid{1}));
    }
    CHECK(f.count("module_load_data_ex") == 2);
    CHECK(f.count("module_get_function") == 2);
    CHECK(f.launches[0].current == zero.handle());
    CHECK(f.launches[1].current == one.handle());

    // Same name, other text: another kernel.
    value_kernel<> k;
    REQUIRE(px::launch(s0, k, px::grid{1}));
    CHECK(f.count("module_load_data_ex") == 2);
    k.content += "// BM = 64\n";
    REQUIRE(px::launch(s0, k, px::grid{1}));
    CHECK(f.count("module_load_data_ex") == 3);
    CHECK(f.launches.back().function != f.launches[0].function);

    // A kernel of one device on a stream of another.
    const auto loaded = px::load(zero, test_kernel<>{}).value_or_throw();
    const auto r = loaded.launch(s1, px::grid{1});
    CHECK(r.code() == px::errc::bad_argument);
    CHECK_THAT(r.error().message(), ContainsSubstring("the stream belongs to another context"));
}

TEST_CASE("a context goes when its last handle goes, and a new one loads anew") {
    fake_driver f;
    {
        auto k = [] { return px::load(px::context::primary().value_or_throw(), test_kernel<>{}).value_or_throw(); }();
        CHECK(f.retained == 1);
        const auto again = px::context::primary().value_or_throw();
        CHECK(f.retained == 1);
        const auto s = px::stream::create(again).value_or_throw();
        REQUIRE(px::launch(s, test_kernel<>{}, px::grid{1}));
        CHECK(f.modules == 1);
    }
    CHECK(f.retained == 0);
    CHECK(f.modules == 0);
    const auto s = px::stream::create(px::context::primary().value_or_throw()).value_or_throw();
    REQUIRE(px::launch(s, test_kernel<>{}, px::grid{1}));
    CHECK(f.modules == 1);
}

TEST_CASE("a failed launch says what was launched") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    const auto k = px::load(ctx, test_kernel<>{}).value_or_throw();
    f.fail["launch_kernel_ex"] = cu::status::launch_out_of_resources;
    const auto r = k.launch(cu::stream{nullptr}, px::grid{5});
    CHECK(r.code() == px::errc::driver_error);
    CHECK_THAT(
        r.error().message(),
        ContainsSubstring(
            "launching kernel 'probe' with grid 5x1x1, block 128x1x1 and 0 bytes of dynamic shared memory on device 0"));
    f.fail.clear();
    CHECK(k.launch(cu::stream{nullptr}, px::grid{5}));
}

TEST_CASE("modules launch without types") {
    fake_driver f;
    f.argument_sizes = {4};
    const auto ctx = px::context::primary().value_or_throw();
    const auto m = px::load_module(ctx, test_kernel<>::text()).value_or_throw();
    unsigned n = 42;
    void* arguments[] = {&n};
    REQUIRE(px::launch_untyped(m, "probe", cu::stream{nullptr}, px::launch_config{.grid = {1}, .block = {32, 1, 1}},
                               arguments));
    CHECK(f.launches[0].arguments[0][0] == 42);
}

TEST_CASE("buffers are typed, and running out leaves the context usable") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    {
        auto b = px::device_buffer<float>::allocate(ctx, 16).value_or_throw();
        std::vector<float> host(16);
        CHECK(b.upload(host));
        CHECK(b.download(host));
        CHECK(f.count("stream_synchronize") == 2);
        host.resize(15);
        const auto r = b.upload(host);
        CHECK(r.code() == px::errc::bad_argument);
        CHECK_THAT(r.error().message(), ContainsSubstring("the device buffer has 16 elements, the other side 15"));
        auto moved = std::move(b);
        CHECK(moved.size() == 16);
        CHECK(f.live_bytes == 1);
    }
    CHECK(f.live_bytes == 0);
    const auto r = px::device_buffer<double>::allocate(ctx, 1 << 20);
    CHECK(r.code() == px::errc::out_of_memory);
    CHECK_THAT(r.error().message(), ContainsSubstring("allocating 8388608 bytes on device 0"));
    CHECK_THAT(r.error().message(), ContainsSubstring("1048576 of 1073741824 bytes are free"));
    CHECK(px::device_buffer<double>::allocate(ctx, std::numeric_limits<std::size_t>::max()).code() ==
          px::errc::out_of_memory);
    CHECK(px::device_buffer<double>::allocate(ctx, 4));
    CHECK(px::device_buffer<double>::allocate(ctx, 0));
}

TEST_CASE("copies and fills reach the driver with their bytes, and with a stream nobody waits") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    const auto s = px::stream::create(ctx).value_or_throw();
    auto a = px::device_buffer<float>::allocate(ctx, 16).value_or_throw();
    auto b = px::device_buffer<float>::allocate(ctx, 16).value_or_throw();
    const auto shorter = px::device_buffer<float>::allocate(ctx, 15).value_or_throw();
    const std::vector<float> host(16);

    REQUIRE(b.copy_from(a));
    CHECK(f.transfers.back().call == "memcpy_dtod_async");
    CHECK(f.transfers.back().to == b.ptr().address);
    CHECK(f.transfers.back().from == a.ptr().address);
    CHECK(f.transfers.back().count == 64);
    const int waits = f.count("stream_synchronize");
    CHECK(waits == 1);

    REQUIRE(a.upload_async(s, host));
    CHECK(f.transfers.back().call == "memcpy_htod_async");
    CHECK(f.transfers.back().to == a.ptr().address);
    CHECK(f.transfers.back().host == host.data());
    CHECK(f.transfers.back().count == 64);
    CHECK(f.transfers.back().stream == s.handle());
    REQUIRE(a.copy_from_async(s, b));
    CHECK(f.transfers.back().from == b.ptr().address);
    REQUIRE(a.fill_words_async(s, 0x3f80'0000u));
    CHECK(f.transfers.back().call == "memset_d32_async");
    CHECK(f.transfers.back().count == 16);  // words
    CHECK(f.transfers.back().value == 0x3f80'0000u);
    CHECK(f.transfers.back().stream == s.handle());
    CHECK(f.count("stream_synchronize") == waits);

    const std::size_t before = f.transfers.size();
    CHECK(b.copy_from(shorter).code() == px::errc::bad_argument);
    CHECK(a.upload_async(s, std::span(host).first(15)).code() == px::errc::bad_argument);
    CHECK(f.transfers.size() == before);
    f.fail["memset_d32_async"] = cu::status::illegal_address;
    const auto r = a.fill_words_async(s, 1);
    REQUIRE_FALSE(r);
    CHECK_THAT(r.error().message(), ContainsSubstring("filling device memory (64 bytes, device 0"));
}

TEST_CASE("an image is loaded as it is, once per context") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    // As in any cubin, zeros inside: nothing may take it for text.
    const std::vector<std::byte> image = {std::byte{0x7f}, std::byte{'E'}, std::byte{0}, std::byte{'F'}, std::byte{0}};
    const auto m = px::load_cubin(ctx, image).value_or_throw();
    REQUIRE(f.images.size() == 1);
    CHECK(std::memcmp(f.images[0], image.data(), image.size()) == 0);
    CHECK(px::load_cubin(ctx, image).value_or_throw().handle() == m.handle());
    CHECK(f.count("module_load_data_ex") == 1);
    f.argument_sizes = {4};
    unsigned n = 42;
    void* arguments[] = {&n};
    CHECK(px::launch_untyped(m, "probe", cu::stream{nullptr}, px::launch_config{.grid = {1}, .block = {32, 1, 1}},
                             arguments));
    std::vector<std::byte> other = image;
    other.back() = std::byte{1};
    f.fail["module_load_data_ex"] = cu::status::invalid_value;
    CHECK_FALSE(px::load_cubin(ctx, other));
}

TEST_CASE("streams, events and graphs") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    const auto s = px::stream::create(ctx).value_or_throw();
    const auto a = px::event::create(ctx).value_or_throw();
    const auto b = px::event::create(ctx).value_or_throw();
    CHECK(a.record(s));
    CHECK(s.wait(a));
    CHECK(s.done().value_or_throw());
    f.fail["stream_query"] = cu::status::not_ready;
    CHECK_FALSE(s.done().value_or_throw());
    CHECK(px::event::elapsed_ms(a, b).value_or_throw() == 1.5F);
    const auto k = px::load(ctx, test_kernel<>{}).value_or_throw();
    const auto g = px::graph::capture(s, [&] { return k.launch(s, px::grid{1}); });
    REQUIRE(g);
    CHECK(g->launch(s));
    const auto bad = px::graph::capture(s, [&] { return k.launch(s, px::grid{0}); });
    CHECK(bad.code() == px::errc::bad_grid);
    CHECK(f.count("stream_begin_capture") == f.count("stream_end_capture"));
    CHECK(f.count("graph_destroy") == 2);
    CHECK(px::graph::capture(px::stream::borrow(ctx, nullptr), [&] { return k.launch(s, px::grid{1}); }).code() ==
          px::errc::bad_argument);
}
