// SPDX-License-Identifier: Apache-2.0
// Nested calls in the argument lists of copies, barriers and matrix instructions give one text from every compiler:
// constant evaluation and run time are compared here, compilers and optimisation levels by ../determinism.py.

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <cstdio>
#include <string_view>

namespace px = ptxdsl;
using px::bf16, px::bf16x2, px::f32, px::s32, px::u16, px::u32;
using square = px::tile<bf16, 64, 64>;
using half = px::tile<bf16, 32, 64>;
using wide = px::tile<bf16, 64, 128>;

constexpr void nested(px::builder<px::sm_90a>& k, px::tma_map<square> map, px::tma_map<half> half_map,
                      px::tma_map_out<wide> wide_map, px::global_ptr<f32, 16> g, px::reg<u32> n, px::reg<f32> x) {
    const auto t = k.smem<square>(4, "t");
    const auto w = k.smem<wide>(2, "w");
    const auto bars = k.make_mbarrier_ring<"bars">(4, px::arrivals<1>);
    const auto scratch = k.smem_array<f32>(32);
    const auto named = t[k.and_(n, 3u)];
    const auto bar = bars[k.xor_(n, 1u)];
    k.single_thread(n == 0u, [&] {
        k.cp_async_bulk_tensor(named, map, px::coords(k.add(n, 1), k.sub(n, 2)), bar);
        k.cp_async_bulk_tensor(t[k.shr(n, 1u)], map, px::coords(n, k.sub(n, 2)), bars[k.shr(n, 2u)]);
        k.cp_async_bulk_tensor(t[n].part<half>(k.and_(n, 1u)), half_map, px::coords(k.add(n, 1), k.mul_lo(n, 3u)),
                               bars[n]);
        k.store_tile(wide_map, px::coords(k.add(n, 1), k.sub(n, 2)), w[k.and_(n, 1u)]);
        k.cp_async_bulk((g + k.mul_lo(n, 4u)).assume_aligned<16>(), w[k.and_(n, 1u)].byte_pointer(), k.shl(n, 4u));
        k.mbarrier_arrive(bars[k.add(n, 2)], k.add(n, 3));
        static_cast<void>(k.mbarrier_arrive(k.mapa(bars[k.add(n, 2)], k.sub(n, 1))));
    });
    const auto a = k.make_fragment<px::mma_acc<f32>>("a");
    for (unsigned i = 0; i < 4; ++i) a[i] = k.mul<px::rn>(x, x);
    k.stmatrix(k.tile_line(t[k.and_(n, 1u)], k.shr(n, 2u)).chunk(2),
               k.cvt<bf16x2, px::rn>(px::hi(a[0]), px::lo(k.add(a[1], x))),
               k.cvt<bf16x2, px::rn>(px::hi(a[2]), px::lo(a[3])));
    k.st(k.tile_element(t[k.and_(n, 1u)], k.shr(n, 2u), k.sub(n, 3)).as<u16>(), k.cvt<u16>(k.add(n, 5)));
    k.st(g, k.ld(k.mapa(scratch, k.xor_(n, 1u)) + k.and_(n, 31u)));
    const auto a_tile = k.smem<square>(2, "a");
    const auto acc = k.wgmma.make_accumulator<f32, 64>();
    const auto da = k.wgmma.descriptor(a_tile), db = k.wgmma.descriptor(t);
    k.wgmma.mma_async(acc, da[k.and_(n, 1u)].k_slice(1), db[k.shr(n, 1u)].k_slice(2), k.setp<px::lt>(n, k.add(n, 7)));
    k.wgmma.mma_async(acc, k.wgmma.descriptor(a_tile[k.and_(n, 1u)]), k.wgmma.descriptor(t[k.shr(n, 2u)]));
    k.if_(k.mbarrier_try_wait_parity(bars[k.and_(n, 3u)], k.shr(n, 7u)), [&] { k.st(g, x); });
}

constexpr auto attributes = px::attributes{.reqntid = {128}, .cluster = {2}};

int main() {
    const auto early = px::assemble_at_run_time("nested", &nested, attributes);
    px::ir::program p;
    px::detail::write_program(p, "nested", attributes, &nested);
    for (const px::ir::finding& f : p.findings) {
        const std::string_view text = p.text(f.text);
        std::printf("// line %u: %s %.*s\n", p.locations[f.where].line(), f.id, static_cast<int>(text.size()),
                    text.data());
        return 1;
    }
    std::fputs(early.text().data(), stdout);
    // The text written while the compiler runs: the verifier is not asked, the kernel is a list of calls.
    using K = px::kernel<"nested", nested, attributes>;
    constexpr std::string_view late(px::detail::program_text<K>.text, px::detail::program_text<K>.text_size);
    if (early.text() == late) return 0;
    std::puts("// constant evaluation differs:");
    std::fputs(late.data(), stdout);
    return 1;
}
