// transpiled.ptx as C++, written by `ptxdsl transpile`. The program prints the PTX; --help says more.
// clang-format off
#include <ptxdsl/module.hpp>

#include <cstdio>
#include <cstring>

namespace px = ptxdsl;

namespace {

constexpr px::target the_target = {90, 'a'};
using module_builder = px::module_builder<the_target>;

// .entry sum_tile
void write_sum_tile(module_builder& m) {
    auto fn = m.entry("sum_tile", px::linkage::visible);
    const auto arg_0 = fn.param<px::u64>("sum_tile_param_0");
    const auto arg_1 = fn.param<px::u32>("sum_tile_param_1");
    fn.maxntid(128, 1, 1);
    const auto k = fn.begin();
    const auto tile = k.symbol("tile");
    const auto p = k.registers<px::pred>("%p", 4);
    const auto r = k.registers<px::b32>("%r", 12);
    const auto r_s32 = r.as<px::s32>();
    const auto param_1 = r[1];
    const auto tid_x = r[2];
    const auto tile_address = r[3];
    const auto f = k.registers<px::f32>("%f", 18);
    const auto rd = k.registers<px::b64>("%rd", 5);
    const auto rd_s64 = rd.as<px::s64>();
    const auto param_0 = rd[1];
    const auto param_0_global = rd[2];
    const auto address = rd[4];
    param_0 = k.ld(px::mem<px::space::param, px::u64>(arg_0));
    param_1 = k.ld(px::mem<px::space::param, px::u32>(arg_1));
    tid_x = k.mov(px::tid.x);
    tile_address = k.move<px::u32>(tile);
    k.spin_until([&] {
        p[1] = k.mbarrier_try_wait_parity(k.barrier(tile_address), 0);
        return p[1];
    });
    p[2] = k.setp<px::ge>(tid_x.as<px::u32>(), param_1.as<px::u32>());
    k.if_(px::unless(p[2]), [&] {
        r[4] = k.shl(tid_x, 5);
        r[5] = k.add(tile_address.as<px::s32>(), r_s32[4]);
        f[0] = k.mov<px::f32>(0.0f);
        for (int i = 0; i < 8; ++i) {
            f[1 + 2 * i] = k.ld(px::mem<px::space::shared, px::f32>(r[5], 128 + 4 * i));
            f[2 + 2 * i] = k.add(f[2 * i], f[1 + 2 * i]);
        }
        param_0_global = k.cvta_to<px::space::global>(param_0);
        rd[3] = k.mul_wide(tid_x.as<px::u32>(), 4);
        address = k.add(param_0_global.as<px::s64>(), rd_s64[3]);
        k.st(px::mem<px::space::global, px::f32>(address), f[16]);
    });
    k.ret();
    fn.end();
}

void write_module(module_builder& m) {
    m.version(8, 0);
    m.target("sm_90a");
    m.address_size(64);
    m.variable<px::b8>(px::space::shared, "tile", {.linkage = px::linkage::extern_, .align = 128, .extent = "[]"});
    write_sum_tile(m);
}

}  // namespace

int main(int argc, char** argv) {
    const bool help = argc > 1 && std::strcmp(argv[1], "--help") == 0;
    if (help || argc > 2) {
        std::fprintf(help ? stdout : stderr, "usage: %s [FILE]\n\nWrites the PTX module made from transpiled.ptx to FILE or to standard output.\n", argv[0]);
        return help ? 0 : 2;
    }
    const auto ptx = px::assemble_module<the_target>(write_module);
    if (!ptx.ok()) {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(ptx.error().size()), ptx.error().data());
        return 1;
    }
    std::FILE* const to = argc == 2 ? std::fopen(argv[1], "wb") : stdout;
    if (to == nullptr) {
        std::perror(argv[1]);
        return 1;
    }
    const bool written = std::fwrite(ptx.text().data(), 1, ptx.text().size(), to) == ptx.text().size();
    return (std::fclose(to) == 0 && written) ? 0 : 1;
}

// How to launch it, with ptxdsl::runtime linked and <ptxdsl/runtime.hpp> and <cstdint> included. Grid and arguments are yours to fill in.
//
// void launch() {
//     const auto ctx = px::check(px::context::primary(0));
//     const auto stream = px::check(px::stream::create(ctx));
//     const auto ptx = px::assemble_module<the_target>(write_module);
//     const auto loaded = px::check(px::load_module(ctx, ptx.text()));
//     std::uint64_t sum_tile_param_0 = 0;
//     std::uint32_t sum_tile_param_1 = 0;
//     void* arguments[] = {&sum_tile_param_0, &sum_tile_param_1};
//     px::check(px::launch_untyped(loaded, "sum_tile", stream, {.grid = {1}, .block = {128, 1, 1}}, arguments));
//     px::check(stream.synchronize());
// }
