// SPDX-License-Identifier: Apache-2.0
// The runtime against a real driver and a Hopper GPU. The PTX is written by hand, so that nothing but the runtime is
// tested. Exit code 77 where there is no driver, no GPU or no sm_90; 1 when a check fails. Prints the cost of a typed
// launch.
#include <ptxdsl/runtime.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace px = ptxdsl;
namespace cu = ptxdsl::cu;

namespace {

int failures = 0;

void expect(bool good, const std::string& what) {
    std::printf("%s %s\n", good ? "ok  " : "FAIL", what.c_str());
    failures += good ? 0 : 1;
}
bool mentions(const px::error& e, std::string_view words) {
    const bool found = std::string_view(e.message()).find(words) != std::string_view::npos;
    if (!found)
        std::printf("     message: %s\n     wanted:  %.*s\n", e.message(), static_cast<int>(words.size()),
                    words.data());
    return found;
}

/// A kernel from hand-written text; what every one below has in common.
struct text_kernel {
    static px::target target() { return px::sm_90a; }
    static px::ptx_version version() { return {8, 0}; }
    static px::kernel_resources resources() { return {}; }
};

struct saxpy : text_kernel {
    static std::string_view name() { return "saxpy"; }
    static px::kernel_resources resources() { return {0, 0, {256, 1, 1}, 0, {0, 0, 0}, true}; }
    static std::string_view text() {
        return R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
.reqntid 256, 1, 1
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    .reg .f32 %f<4>;
    griddepcontrol.wait;
    ld.param.u64 %rd0, [x];
    ld.param.u64 %rd1, [y];
    ld.param.f32 %f0, [a];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r1, 256, %r2;
    setp.ge.u32 %p, %r3, %r0;
    @%p ret;
    mad.wide.u32 %rd2, %r3, 4, %rd0;
    mad.wide.u32 %rd3, %r3, 4, %rd1;
    ld.global.f32 %f1, [%rd2];
    ld.global.f32 %f2, [%rd3];
    fma.rn.f32 %f3, %f0, %f1, %f2;
    st.global.f32 [%rd3], %f3;
    ret;
}
)";
    }
    using params = px::param_list<px::pointer_param<const float>, px::pointer_param<float>, float, px::u32>;
};

/// The same with a word the assembler does not know, and lines of a C++ file that is not there.
struct broken {
    std::string content = [] {
        std::string s(saxpy::text());
        const std::string word = "fma.rn.f32 %f3, %f0, %f1, %f2;";
        return s.replace(s.find(word), word.size(), "fma.rn.f32 %f3, %f0, %f1, %g2;");
    }();
    [[nodiscard]] std::string_view text() const { return content; }
    static std::string_view name() { return "saxpy"; }
    static px::target target() { return px::sm_90a; }
    static px::ptx_version version() { return {8, 0}; }
    static px::kernel_resources resources() { return saxpy::resources(); }
    static px::source_line source_of(std::uint32_t line) { return {"author.cpp", line + 1000}; }
    using params = saxpy::params;
};

/// Loads one tile of 16 x 32 f32 by TMA and writes it out densely.
struct tile_map {
    static constexpr px::tensor_map_spec spec = [] {
        px::tensor_map_spec s;
        s.element = px::isa::scalar::f32;
        s.rank = 2;
        s.box[0] = 32;
        s.box[1] = 16;
        return s;
    }();
};
struct tile_copy : text_kernel {
    static std::string_view name() { return "tile_copy"; }
    static px::kernel_resources resources() { return {2056, 0, {32, 1, 1}, 0, {0, 0, 0}, false}; }
    static std::string_view text() {
        return R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry tile_copy(.param .align 64 .b8 map[128], .param .u64 out, .param .s32 x, .param .s32 y)
.reqntid 32, 1, 1
{
    .shared .align 128 .b8 tile[2048];
    .shared .align 8 .b64 full;
    .reg .pred %p, %done;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, tile;
    mov.u32 %r2, full;
    setp.ne.u32 %p, %r0, 0;
    @%p bra JOIN;
    mbarrier.init.shared.b64 [%r2], 1;
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r2], 2048;
    ld.param.s32 %r3, [x];
    ld.param.s32 %r4, [y];
    mov.b64 %rd0, map;
    cvta.param.u64 %rd1, %rd0;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r3, %r4}], [%r2];
JOIN:
    bar.sync 0;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %done, [%r2], 0;
    @!%done bra WAIT;
    ld.param.u64 %rd2, [out];
    mad.wide.u32 %rd3, %r0, 4, %rd2;
    mad.lo.u32 %r5, %r0, 4, %r1;
    mov.u32 %r6, 0;
ROW:
    ld.shared.b32 %r7, [%r5];
    st.global.b32 [%rd3], %r7;
    add.u32 %r5, %r5, 128;
    add.u64 %rd3, %rd3, 128;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p, %r6, 16;
    @%p bra ROW;
    ret;
}
)";
    }
    using params = px::param_list<px::tensor_map_param<tile_map>, px::pointer_param<float>, px::s32, px::s32>;
};

/// Writes its cluster width, its dynamic shared size and the last word of that memory.
struct report : text_kernel {
    static std::string_view name() { return "report"; }
    static px::kernel_resources resources() { return {0, 200 << 10, {0, 0, 0}, 0, {0, 0, 0}, false}; }
    static std::string_view text() {
        return R"(.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.visible .entry report(.param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd;
    ld.param.u64 %rd, [out];
    mov.u32 %r0, %cluster_nctaid.x;
    mov.u32 %r1, %dynamic_smem_size;
    mov.u32 %r2, dyn;
    add.u32 %r3, %r2, %r1;
    mov.u32 %r4, 77;
    st.shared.u32 [%r3 + -4], %r4;
    ld.shared.u32 %r5, [%r3 + -4];
    st.global.v2.u32 [%rd], {%r0, %r1};
    st.global.u32 [%rd + 8], %r5;
    ret;
}
)";
    }
    using params = px::param_list<px::pointer_param<px::u32, 16>>;
};
/// The same with what each block of a cluster of 16 can have: a launch gives at least what a kernel declares (C04).
struct small_report : report {
    static px::kernel_resources resources() { return {0, 1024, {0, 0, 0}, 0, {0, 0, 0}, false}; }
};

/// Writes to address 8.
struct wild : text_kernel {
    static std::string_view name() { return "wild"; }
    static std::string_view text() {
        return ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry wild()\n{\n    .reg .b64 %rd;\n    mov.b64 %rd, 8;\n    st.global.u64 [%rd], %rd;\n    ret;\n}\n";
    }
    using params = px::param_list<>;
};

std::vector<float> numbers(std::size_t n, float start) {
    std::vector<float> v(n);
    std::iota(v.begin(), v.end(), start);
    return v;
}

bool saxpy_is_right(const px::context& ctx, const px::loaded<saxpy>& k, const px::stream& s, std::size_t n) {
    const auto x = numbers(n, 0.0F);
    const auto y = numbers(n, 5.0F);
    auto dx = px::device_buffer<float>::from(ctx, x).value_or_throw();
    auto dy = px::device_buffer<float>::from(ctx, y).value_or_throw();
    const px::grid g{static_cast<px::u32>((n + 255) / 256)};
    px::check(k.launch(s, g, dx, dy, 2.0F, n));
    px::check(s.synchronize());
    std::vector<float> out(n);
    px::check(dy.download(out));
    for (std::size_t i = 0; i < n; ++i)
        if (out[i] != 2.0F * x[i] + y[i]) return false;
    return true;
}

void test_loading(const px::context& ctx) {
    const auto r = px::load(ctx, broken{});
    expect(r.code() == px::errc::ptx_rejected, "a text with an unknown register is refused");
    std::printf("     %s\n", r.error().message());
    expect(mentions(r.error(), "PTX line 25: `fma.rn.f32 %f3, %f0, %f1, %g2;`"), "the error quotes the PTX line");
    expect(mentions(r.error(), "author.cpp:1025"), "the error names the C++ line");
    expect(px::load_module(ctx, ".version 8.6\n.target sm_100a\n.address_size 64\n").code() == px::errc::wrong_target,
           "sm_100a is refused before loading");
    const auto missing = px::load_module(ctx, saxpy::text()).value_or_throw().kernel("sacpy");
    expect(missing.code() == px::errc::kernel_not_found && mentions(missing.error(), "'saxpy'"),
           "a missing entry is named with those there are");
}

void test_launching(const px::context& ctx, const px::loaded<saxpy>& k) {
    const auto s = px::stream::create(ctx).value_or_throw();
    expect(saxpy_is_right(ctx, k, s, 100'003), "saxpy is right");
    std::printf("     saxpy: %u registers, %u bytes spilled\n", k.registers(), k.local_bytes());
    auto b = px::device_buffer<float>::allocate(ctx, 1024).value_or_throw();
    expect(k.launch(s, px::launch_config{.grid = {4}, .programmatic = true}, b, b, 1.0F, 1024).has_value(),
           "a programmatic launch");
    std::vector<float> host(16);
    expect(
        mentions(k.launch(s, px::launch_config{.grid = {4}, .check_pointers = true}, host.data(), b, 1.0F, 16).error(),
                 "is not memory that device") ||
            ctx.device().pageable_access,
        "the opt-in check finds host memory");
    const auto graph = px::graph::capture(s, [&] { return k.launch(s, px::grid{4}, b, b, 1.0F, 1024); });
    expect(graph.has_value() && graph->launch(s).has_value() && s.synchronize().has_value(), "a captured graph runs");

    const auto too_big = px::device_buffer<std::uint64_t>::allocate(ctx, std::size_t{1} << 40);
    expect(too_big.code() == px::errc::out_of_memory, "8 TiB is out of memory");
    std::printf("     %s\n", too_big.error().message());
    expect(saxpy_is_right(ctx, k, s, 1000), "the context is usable after it");
}

void test_report(const px::context& ctx) {
    const auto s = px::stream::create(ctx).value_or_throw();
    const auto k = px::load(ctx, report{}).value_or_throw();
    const auto small = px::load(ctx, small_report{}).value_or_throw();
    auto out = px::device_buffer<px::u32>::allocate(ctx, 4).value_or_throw();
    std::vector<px::u32> host(4);
    const auto run = [&](px::u32 cluster, bool non_portable) {
        const px::launch_config c{.grid = {32},
                                  .block = {32, 1, 1},
                                  .cluster = {cluster, 1, 1},
                                  .dynamic_shared_bytes = cluster > 8 ? 1024u : 200u << 10,
                                  .non_portable_cluster = non_portable};
        const auto r = cluster > 8 ? small.launch(s, c, out) : k.launch(s, c, out);
        if (!r) std::printf("     %s\n", r.error().message());
        return r.has_value() && s.synchronize().has_value() && out.download(host).has_value() && host[0] == cluster &&
               host[2] == 77;
    };
    expect(run(1, false) && host[1] == 200 << 10, "200 KiB of dynamic shared memory set by itself");
    expect(run(2, false), "a cluster of 2 as a launch attribute");
    expect(run(16, true), "a non-portable cluster of 16");
}

void test_tensor_map(const px::context& ctx) {
    const auto s = px::stream::create(ctx).value_or_throw();
    const auto k = px::load(ctx, tile_copy{}).value_or_throw();
    const std::size_t rows = 50;
    const std::size_t columns = 100;
    const auto host = numbers(rows * columns, 1.0F);
    const auto data = px::device_buffer<float>::from(ctx, host).value_or_throw();
    auto out = px::device_buffer<float>::allocate(ctx, 512).value_or_throw();
    const auto tile_is_right = [&](int x, int y) {
        px::check(k.launch(s, px::grid{1}, px::tensor_view{data, rows, columns}, out, x, y));
        px::check(s.synchronize());
        std::vector<float> tile(512);
        px::check(out.download(tile));
        for (std::size_t i = 0; i < 512; ++i) {
            const auto row = static_cast<std::size_t>(y) + i / 32;
            const auto column = static_cast<std::size_t>(x) + i % 32;
            const float want = row < rows && column < columns ? host[row * columns + column] : 0.0F;
            if (tile[i] != want) return false;
        }
        return true;
    };
    expect(tile_is_right(0, 0) && tile_is_right(16, 9), "TMA loads tiles through a map made from a tensor view");
    expect(tile_is_right(88, 45), "outside the tensor it reads zeros");
    const auto bad = k.launch(s, px::grid{1}, px::tensor_view{data, rows, 99}, out, 0, 0);
    expect(bad.code() == px::errc::bad_tensor, "a stride of 396 bytes is refused");
    std::printf("     %s\n", bad.error().message());
}

void test_threads(const px::context& ctx, const px::loaded<saxpy>& k) {
    std::vector<int> good(8);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < good.size(); ++t)
        threads.emplace_back([&, t] {
            try {
                const auto s = px::stream::create(ctx).value_or_throw();
                bool right = true;
                for (std::size_t i = 0; i < 20; ++i) right = saxpy_is_right(ctx, k, s, 1000 + 100 * t + i) && right;
                good[t] = right ? 1 : 0;
            } catch (const px::exception& e) {
                std::printf("     thread %zu: %s\n", t, e.what());
            }
        });
    for (auto& t : threads) t.join();
    expect(std::accumulate(good.begin(), good.end(), 0) == static_cast<int>(good.size()),
           "8 threads load and launch at once");
    if (px::device_count().value_or_throw() > 1) {
        const auto other = px::context::primary(1).value_or_throw();
        expect(saxpy_is_right(other, px::load(other, saxpy{}).value_or_throw(),
                              px::stream::create(other).value_or_throw(), 5000),
               "a second device");
    }
}

/// Nanoseconds a call, over 500 calls.
template <class Call>
double cost(const px::stream& s, Call call) {
    px::check(s.synchronize());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 500; ++i) call();
    const auto stop = std::chrono::steady_clock::now();
    px::check(s.synchronize());
    return std::chrono::duration<double, std::nano>(stop - start).count() / 500;
}
double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

void measure_launches(const px::context& ctx, const px::loaded<saxpy>& k) {
    const auto s = px::stream::create(ctx).value_or_throw();
    auto b = px::device_buffer<float>::allocate(ctx, 256).value_or_throw();
    const px::driver_table& driver = ctx.driver();
    std::uint64_t address = b.ptr().address;
    float a = 1.0F;
    px::u32 n = 16;
    void* arguments[] = {&address, &address, &a, &n};
    const cu::launch_config bare{1, 1, 1, 256, 1, 1, 0, s.handle(), nullptr, 0};
    std::vector<double> raw, typed, implicit, pushed;
    for (int round = 0; round < 101; ++round) {
        {
            const px::runtime_detail::current_context current(*ctx.state());
            raw.push_back(cost(s, [&] { (void)driver.launch_kernel_ex(&bare, k.function(), arguments, nullptr); }));
            typed.push_back(cost(s, [&] { (void)k.launch(s, px::grid{1}, b, b, a, n); }));
            implicit.push_back(cost(s, [&] { (void)px::launch(s, saxpy{}, px::grid{1}, b, b, a, n); }));
        }
        pushed.push_back(cost(s, [&] { (void)k.launch(s, px::grid{1}, b, b, a, n); }));
    }
    const double base = median(raw);
    std::printf(
        "     launch, ns: bare cuLaunchKernelEx %.0f; typed handle %.0f (x%.3f); px::launch %.0f (x%.3f); typed, context not current %.0f (x%.3f)\n",
        base, median(typed), median(typed) / base, median(implicit), median(implicit) / base, median(pushed),
        median(pushed) / base);
    expect(median(typed) <= 1.1 * base, "a typed launch costs at most 1.1 of a bare one");
    expect(median(implicit) <= 1.1 * base, "and so does one without a handle");
}

using px::tensor_geometry;
using px::tensor_map_spec;

/// A map whose numbers lie on both sides of every limit.
void random_map(std::mt19937& random, tensor_map_spec& s, tensor_geometry& g) {
    const auto pick = [&](std::initializer_list<std::uint64_t> v) { return *(v.begin() + random() % v.size()); };
    const auto small = [&](std::initializer_list<std::uint64_t> v) { return static_cast<std::uint32_t>(pick(v)); };
    const px::isa::scalar elements[] = {px::isa::scalar::u8, px::isa::scalar::bf16, px::isa::scalar::f32,
                                        px::isa::scalar::f64, px::isa::scalar::s32};
    s.element = elements[random() % 5];
    s.rank = static_cast<std::uint8_t>(1 + random() % 5);
    s.kind = random() % 4 == 0 ? px::map_kind::im2col : px::map_kind::tiled;
    s.swizzle = static_cast<px::map_swizzle>(random() % 4);
    s.interleave = static_cast<px::map_interleave>(random() % 8 == 0 ? random() % 3 : 0);
    s.fill = static_cast<px::oob_fill>(random() % 8 == 0);
    s.channels = small({8, 16, 32, 64, 100, 256, 257, 0});
    s.pixels = small({1, 64, 1024, 1025, 0});
    g.address = 0x7000'0000'0000 + pick({0, 0, 0, 8, 16, 128});
    for (unsigned d = 0; d < 5; ++d) {
        s.box[d] = small({8, 16, 32, 64, 8, 16, 256, 257, 0, 4});
        s.element_strides[d] = small({1, 1, 1, 1, 1, 1, 2, 8, 9, 0});
        g.size[d] = pick({1, 64, 1000, 4096, 4096, 4096, 1ull << 32, (1ull << 32) + 1, 0});
        g.stride_bytes[d] = pick({1ull << 20, 1ull << 30, 1ull << 35, 1ull << 20, (1ull << 30) + 16, (1ull << 30) + 8,
                                  (1ull << 40) - 16, 1ull << 40});
    }
    s.lower[0] = static_cast<int>(random() % 4) - 2;
    s.upper[1] = random() % 16 == 0 ? 200 : 1;
}

std::string describe(const tensor_map_spec& s, const tensor_geometry& g) {
    std::string text =
        fmt::format("{} {} swizzle {} interleave {} fill {}", s.kind == px::map_kind::tiled ? "tiled" : "im2col",
                    px::isa::name(s.element), static_cast<int>(s.swizzle), static_cast<int>(s.interleave),
                    static_cast<int>(s.fill));
    if (s.kind != px::map_kind::tiled)
        text += fmt::format(" channels {} pixels {} lower {} {} upper {} {}", s.channels, s.pixels, s.lower[0],
                            s.lower[1], s.upper[0], s.upper[1]);
    for (unsigned i = 0; i < s.rank; ++i)
        text += fmt::format(" | size {} stride {} box {} step {}", g.size[i], g.stride_bytes[i], s.box[i],
                            s.element_strides[i]);
    return text;
}

/// The rules checked here against the driver's encoder, on random maps. For plain tiled maps nothing may pass here that
/// the driver refuses; for im2col and interleaved maps, whose rules are documented less well, the differences are
/// printed.
void compare_with_encoder(const px::context& ctx) {
    std::mt19937 random(7);
    int accepted = 0, only_here = 0, only_driver = 0, only_driver_plain = 0;
    const px::runtime_detail::current_context current(*ctx.state());
    for (int i = 0; i < 200'000; ++i) {
        tensor_map_spec s;
        tensor_geometry g;
        random_map(random, s, g);
        const bool ours = !px::check_map_spec(s) && !px::check_geometry(s, g);
        cu::tensor_map map{};
        const auto type = static_cast<cu::data_type>(px::runtime_detail::map_data_type(s.element, s.format));
        const bool theirs = px::runtime_detail::encode_with(ctx.driver(), map, s, g, type) == cu::status::success;
        const bool plain = s.kind == px::map_kind::tiled && s.interleave == px::map_interleave::none;
        accepted += theirs ? 1 : 0;
        only_here += theirs && !ours ? 1 : 0;
        only_driver += ours && !theirs ? 1 : 0;
        only_driver_plain += ours && !theirs && plain ? 1 : 0;
        if (ours && !theirs && (only_driver <= 12 || (plain && only_driver_plain <= 12)))
            std::printf("     refused by the driver only: %s\n", describe(s, g).c_str());
        if (theirs && !ours && only_here <= 6)
            std::printf("     refused here only (%d): %s\n", static_cast<int>(px::check_map_spec(s).rule),
                        describe(s, g).c_str());
    }
    std::printf(
        "     tensor maps: 200000 checked, %d accepted by the driver, %d refused only here, %d only by the driver (%d of them plain tiled)\n",
        accepted, only_here, only_driver, only_driver_plain);
    expect(only_driver_plain == 0, "the driver refuses no plain tiled map that the rules let pass");
}

/// Last, because nothing runs on the device afterwards.
void test_lost_context(const px::context& ctx) {
    const auto k = px::load(ctx, wild{}).value_or_throw();
    px::check(k.launch(cu::stream{nullptr}, px::launch_config{.grid = {1}, .block = {1, 1, 1}}));
    const auto r = ctx.synchronize();
    expect(r.code() == px::errc::context_lost, "a wild store loses the context");
    std::printf("     %s\n", r.error().message());
    expect(px::device_buffer<float>::allocate(ctx, 4).code() == px::errc::context_lost, "and later calls say so");
}

}  // namespace

// With the name of a part only that one runs.
int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (argc == 2 && std::string_view(argv[1]) == "--ptx") {
        for (const auto text : {saxpy::text(), tile_copy::text(), report::text(), wild::text()})
            std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
        return 0;
    }
    const auto ctx = px::context::primary();
    if (!ctx) {
        std::printf("skipped: %s\n", ctx.error().message());
        return 77;
    }
    const auto& d = ctx->device();
    std::printf("%s, driver CUDA %s, %d SMs, %zu MiB L2, %u bytes of shared memory a block\n", d.text().c_str(),
                px::runtime_detail::cuda_version_text(ctx->driver().version).c_str(), d.sm_count, d.l2_bytes >> 20,
                d.shared_per_block_optin);
    if (d.major != 9) {
        std::printf("skipped: this test is for compute capability 9.0\n");
        return 77;
    }
    const auto k = px::load(*ctx, saxpy{});
    if (!k) {
        std::printf("FAIL %s\n", k.error().message());
        return 1;
    }
    const std::pair<std::string_view, std::function<void()>> parts[] = {
        {"loading", [&] { test_loading(*ctx); }},         {"launching", [&] { test_launching(*ctx, *k); }},
        {"report", [&] { test_report(*ctx); }},           {"tensor_map", [&] { test_tensor_map(*ctx); }},
        {"threads", [&] { test_threads(*ctx, *k); }},     {"cost", [&] { measure_launches(*ctx, *k); }},
        {"encoder", [&] { compare_with_encoder(*ctx); }}, {"lost", [&] { test_lost_context(*ctx); }},
    };
    for (const auto& [name, part] : parts) {
        if (argc == 2 && name != argv[1]) continue;
        try {
            part();
        } catch (const px::exception& e) {
            expect(false, std::string(name) + ": " + e.what());
        }
    }
    std::printf("%d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
