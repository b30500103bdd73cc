// SPDX-License-Identifier: Apache-2.0
// The text of a representative set of matrix, barrier and asynchronous calls, line by line, and the PTX version each
// ends with.

#include "../golden.hpp"

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::b32, px::b64, px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u16, px::u32;
using hopper = px::builder<px::sm_90a>;
using blackwell = px::builder<px::sm_100a>;

namespace {

using golden::calls::check;

using square = px::tile<bf16, 64, 64>;
using wide = px::tile<bf16, 64, 128>;
using pixels = px::tile<f16, 128, 64>;
using four = px::tile<bf16, 4, 64>;

}  // namespace

int main() {
    check(
        "mma", {8, 4},
        +[](hopper& k) {
            const auto rows = k.smem_array<px::b16>(512, "rows").assume_aligned<16>();
            const auto a = k.make_fragment<px::mma_a<f16, 16, 16>>("a");
            const auto b = k.make_fragment<px::mma_b<f16, 16>>("b");
            const auto c = k.make_fragment<px::mma_acc<f32>>("c");
            k.ldmatrix(a, rows);
            k.ldmatrix<px::trans>(b, rows.byte_offset<16>(128));
            k.mma_sync(c, a, b, c);
            k.mma_sync<px::satfinite>(
                k.make_fragment<px::mma_acc<s32>>("d"), k.make_fragment<px::mma_a<s8, 16, 32>>("e"),
                k.make_fragment<px::mma_b<px::u8, 32>>("f"), k.make_fragment<px::mma_acc<s32>>("g"));
            k.mma_sync(c, k.make_fragment<px::mma_a<e4m3, 16, 32>>("h"), k.make_fragment<px::mma_b<px::e5m2, 32>>("i"),
                       c);
            const auto v = k.ldmatrix<px::x2>(rows);
            k.stmatrix<px::trans>(rows, v[0], v[1]);
            k.stmatrix(rows, k.movmatrix(v[0]));
        },
        "mov.u32 %rows0, smem;\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%rows0];\n"
        "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%b0, %b1}, [%rows0+128];\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};\n"
        "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%e0, %e1, %e2, %e3}, {%f0, %f1}, {%g0, %g1, %g2, %g3};\n"
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%c0, %c1, %c2, %c3}, {%h0, %h1, %h2, %h3}, {%i0, %i1}, {%c0, %c1, %c2, %c3};\n"
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%rows0];\n"
        "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%rows0], {%r0, %r1};\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r0;\n"
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%rows0], {%r2};");

    check(
        "barriers", {8, 0},
        +[](hopper& k, px::reg<u32> n) {
            const auto bars = k.make_mbarrier_ring<"bars">(2, px::arrivals<3>);
            k.mbarrier_init(bars[1]);
            const auto token = k.mbarrier_arrive(bars[0]);
            k.mbarrier_arrive<px::release, px::cluster>(bars[n], 2);
            k.mbarrier_arrive_expect_tx(bars[0], 4096);
            k.mbarrier_expect_tx(bars[0], n);
            k.mbarrier_arrive_drop(bars[0]);
            const auto far = k.mapa(bars[0], n);
            k.mbarrier_arrive(far);
            k.mbarrier_arrive_expect_tx<px::release, px::cluster>(far, 16);
            static_cast<void>(k.mbarrier_try_wait(bars[0], token));
            static_cast<void>(k.mbarrier_test_wait_parity<px::acquire, px::cluster>(bars[0], 1));
            k.wait(bars[1], 0);
            k.barrier_cta_sync(1u, 64u);
            k.barrier_cluster_arrive<px::relaxed>();
            k.barrier_cluster_wait();
        },
        "mov.u32 %bars0, smem;\n"
        "mbarrier.init.shared::cta.b64 [%bars0+8], 3;\n"
        "mbarrier.arrive.shared::cta.b64 %rd0, [%bars0];\n"
        "mad.lo.u32 %r1, %r0, 8, %bars0;\n"
        "mbarrier.arrive.release.cluster.shared::cta.b64 %rd1, [%r1], 2;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bars0], 4096;\n"
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bars0], %r0;\n"
        "mbarrier.arrive_drop.shared::cta.b64 %rd2, [%bars0];\n"
        "mapa.shared::cluster.u32 %r2, %bars0, %r0;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [%r2];\n"
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r2], 16;\n"
        "mbarrier.try_wait.shared::cta.b64 %p0, [%bars0], %rd0;\n"
        "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%bars0], 1;\n"
        "add.u32 %r3, %bars0, 8;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n"
        "@!%p2 bra $wait_0;\n"
        "barrier.cta.sync 1, 64;\n"
        "barrier.cluster.arrive.relaxed.aligned;\n"
        "barrier.cluster.wait.aligned;");

    check(
        "bulk copy, destination named as the own block's", {8, 6},
        +[](hopper& k, px::global_ptr<f32, 16> g, px::reg<u32> n, px::reg<b64> policy) {
            const auto s = k.smem_array<f32>(64, "s");
            const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
            k.cp_async_bulk<px::shared_cta>(s, g, 256u, bar);
            k.cp_async_bulk<px::shared_cta>(s, g, n, bar, policy);
        },
        "mov.u32 %s0, smem;\n"
        "mov.u32 %bar0, smem+256;\n"
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s0], [%rd0], 256, [%bar0];\n"
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%s0], [%rd0], %r0, [%bar0], %rd1;\n");
    check(
        "copies", {8, 1},
        +[](hopper& k, px::global_ptr<f32, 16> g, px::reg<u32> n, px::reg<b64> policy, px::reg<px::pred> ignore) {
            const auto s = k.smem_array<f32>(64, "s");
            const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
            const auto far = k.mapa(s, 1u);
            const auto far_bar = k.mapa(bar, 1u);
            k.cp_async<px::ca, 8>(s, g);
            k.cp_async<px::cg, 16, px::L2::_128B>(s, g, n, policy);
            k.cp_async<px::cg, 16>(s, g, ignore);
            k.cp_async_mbarrier_arrive_noinc(bar);
            k.cp_async_bulk(s, g, 256u, bar);
            k.cp_async_bulk(g, s, n, policy);
            k.cp_async_bulk(far, s, 64u, far_bar);
            k.cp_reduce_async_bulk<px::tok::add>(g, s, 64u);
            k.cp_reduce_async_bulk<px::tok::add>(g.as<bf16>(), s.as<bf16>(), 64u);
            k.cp_reduce_async_bulk<px::tok::and_>(g.as<s32>(), s.as<s32>(), 64u);
            k.cp_async_bulk_prefetch_L2(g, 64u);
            k.st_async(far.as<u32>(), n, far_bar);
            k.red_async<px::tok::inc>(far.as<u32>(), n, far_bar);
        },
        "mov.u32 %s0, smem;\n"
        "mov.u32 %bar0, smem+256;\n"
        "mapa.shared::cluster.u32 %r1, %s0, 1;\n"
        "mapa.shared::cluster.u32 %r2, %bar0, 1;\n"
        "cp.async.ca.shared.global [%s0], [%rd0], 8;\n"
        "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%s0], [%rd0], 16, %r0, %rd1;\n"
        "cp.async.cg.shared.global [%s0], [%rd0], 16, %p0;\n"
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%bar0];\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s0], [%rd0], 256, [%bar0];\n"
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd0], [%s0], %r0, %rd1;\n"
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%s0], 64, [%r2];\n"
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd0], [%s0], 64;\n"
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%rd0], [%s0], 64;\n"
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.and.b32 [%rd0], [%s0], 64;\n"
        "cp.async.bulk.prefetch.L2.global [%rd0], 64;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r0, [%r2];\n"
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1], %r0, [%r2];");

    check(
        "tensor", {8, 0},
        +[](hopper& k, px::tma_map<wide> map, px::tma_map_out<square> out, px::im2col_map<pixels, 4> image,
            px::reg<s32> x, px::reg<u16> o) {
            const auto w = k.smem<wide>(2, "w");
            const auto t = k.smem<square>(1, "t");
            const auto p = k.smem<pixels>(1, "p");
            const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
            k.load_tile(w[1], map, px::coords(x, 5), bar);
            k.cp_async_bulk_tensor(p[0], image, px::coords(0, x, x, 1), bar, px::offsets(o, 2));
            k.cp_async_bulk_tensor(out, px::coords(64, x), t[0]);
            k.cp_reduce_async_bulk_tensor<px::tok::max>(out, px::coords(64, x), t[0]);
            k.cp_async_bulk_commit_group();
            k.cp_async_bulk_wait_group_read<1>();
            k.cp_async_bulk_prefetch_tensor(map, px::coords(0, 0));
        },
        "mov.b64 %rd0, golden_param_0;\n"
        "cvta.param.u64 %map0, %rd0;\n"
        "mov.b64 %rd1, golden_param_1;\n"
        "cvta.param.u64 %map1, %rd1;\n"
        "mov.b64 %rd2, golden_param_2;\n"
        "cvta.param.u64 %map2, %rd2;\n"
        "mov.u32 %w0, smem;\n"
        "mov.u32 %t0, smem+32768;\n"
        "mov.u32 %p0, smem+40960;\n"
        "mov.u32 %bar0, smem+57344;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%w0+16384], [%map0, {%r0, 5}], [%bar0];\n"
        "add.s32 %r1, %r0, 64;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%w0+24576], [%map0, {%r1, 5}], [%bar0];\n"
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%p0], [%map2, {0, %r0, %r0, 1}], [%bar0], {%rs0, 2};\n"
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map1, {64, %r0}], [%t0];\n"
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group [%map1, {64, %r0}], [%t0];\n"
        "cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group.read 1;\n"
        "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%map0, {0, 0}];");

    check(
        "blackwell", {8, 6},
        +[](blackwell& k, px::tma_map<square> map, px::gather_map<four> rows, px::reg<s32> x) {
            const auto t = k.smem<square>(1, "t");
            const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
            k.cp_async_bulk_tensor<px::cta_group_2>(t[0], map, px::coords(x, 0), bar);
            k.cp_async_bulk_tensor<px::shared_cta>(t[0].part<four>(1), rows, px::coords(0, x, x, 7, 9), bar);
        },
        "mov.b64 %rd0, golden_param_0;\n"
        "cvta.param.u64 %map0, %rd0;\n"
        "mov.b64 %rd1, golden_param_1;\n"
        "cvta.param.u64 %map1, %rd1;\n"
        "mov.u32 %t0, smem;\n"
        "mov.u32 %bar0, smem+8192;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%t0], [%map0, {%r0, 0}], [%bar0];\n"
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%t0+512], [%map1, {0, %r0, %r0, 7, 9}], [%bar0];");

    check(
        "tensor maps", {8, 3},
        +[](hopper& k, px::global_ptr<px::b8, 128> g, px::reg<u32> n, px::reg<px::u64> address) {
            const auto s = k.smem_array<px::b8, 128>(128, "s");
            k.tensormap_replace<px::tok::global_address>(s, address);
            k.tensormap_replace<px::tok::box_dim, 1>(s, n);
            k.tensormap_replace<px::tok::fill_mode, 0>(s);
            k.tensormap_cp_fenceproxy<px::gpu>(g, s);
            k.fence_proxy_tensormap_acquire<px::gpu>(g);
            k.fence_proxy_tensormap_release<px::cta>();
            k.fence_proxy_alias();
        },
        "mov.u32 %s0, smem;\n"
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%s0], %rd1;\n"
        "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s0], 1, %r0;\n"
        "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%s0], 0;\n"
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [%s0], 128;\n"
        "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;\n"
        "fence.proxy.tensormap::generic.release.cta;\n"
        "fence.proxy.alias;");

    check(
        "elements", {8, 0},
        +[](hopper& k, px::reg<u32> i, px::reg<u32> j) {
            const auto t = k.smem<square>(2, "t");
            k.st(k.tile_element(t[1], i, j).as<u16>(), k.mov<u16>(7));
            k.st(t[0].at(9, 3).as<u16>(), k.mov<u16>(8));
            const auto line = k.tile_line(t[0], i);
            k.stmatrix(line.chunk(3), j);
            k.stmatrix(line.from(j).chunk(2), i);
        },
        "mov.u32 %t0, smem;\n"
        "mad.lo.u32 %r2, %r0, 128, %t0;\n"
        "shl.b32 %r3, %r1, 1;\n"
        "add.u32 %r4, %r2, %r3;\n"
        "shr.u32 %r5, %r4, 3;\n"
        "and.b32 %r6, %r5, 112;\n"
        "xor.b32 %r7, %r4, %r6;\n"
        "mov.b16 %rs0, 7;\n"
        "st.shared.u16 [%r7+8192], %rs0;\n"
        "mov.b16 %rs1, 8;\n"
        "st.shared.u16 [%t0+1174], %rs1;\n"
        "mad.lo.u32 %r8, %r0, 128, %t0;\n"
        "shr.u32 %r9, %r8, 3;\n"
        "and.b32 %r10, %r9, 112;\n"
        "xor.b32 %r11, %r8, %r10;\n"
        "xor.b32 %r12, %r11, 48;\n"
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r12], {%r1};\n"
        "shl.b32 %r13, %r1, 4;\n"
        "xor.b32 %r14, %r11, %r13;\n"
        "xor.b32 %r15, %r14, 32;\n"
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r15], {%r0};");

    check(
        "wgmma", {8, 2},
        +[](hopper& k, px::reg<b32> meta, px::reg<px::pred> go) {
            const auto acc = k.wgmma.make_accumulator<f32, 8>("d");
            const auto r = k.wgmma.make_a_fragment<bf16>("a");
            const auto b = k.wgmma.raw_descriptor<px::tile<bf16, 8, 64>>(k.mov<px::u64>(5));
            const auto a = k.wgmma.raw_descriptor<px::tile<bf16, 64, 64>>(k.mov<px::u64>(6));
            const auto h =
                k.wgmma.raw_descriptor<px::tile<bf16, 64, 32, px::k_major, px::swizzle_64b>>(k.mov<px::u64>(7));
            const auto q = k.wgmma.raw_descriptor<px::tile<s8, 64, 128>>(k.mov<px::u64>(8));
            const auto u = k.wgmma.raw_descriptor<px::tile<s8, 8, 128>>(k.mov<px::u64>(9));
            k.wgmma.fence();
            k.wgmma.mma_async<1, -1>(acc, a, b, false);
            k.wgmma.mma_async(acc, r, b.k_slice(1), px::unless(go));
            k.wgmma.mma_async_sp<1>(acc, h, b, meta);
            k.wgmma.mma_async<px::satfinite>(k.wgmma.make_accumulator<s32, 8>("e"), q, u);
            k.wgmma.commit_group();
            k.wgmma.wait_group<0>();
        },
        "mov.b64 %rd0, 5;\n"
        "mov.b64 %rd1, 6;\n"
        "mov.b64 %rd2, 7;\n"
        "mov.b64 %rd3, 8;\n"
        "mov.b64 %rd4, 9;\n"
        "wgmma.fence.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %rd1, %rd0, 0, 1, -1, 0, 0;\n"
        "add.s64 %desc0, %rd0, 2;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %desc0, !%p0, 1, 1, 0;\n"
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %rd2, %rd0, %r0, 1, 1, 1, 1, 0, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite {%e0, %e1, %e2, %e3}, %rd3, %rd4, 1;\n"
        "wgmma.commit_group.sync.aligned;\n"
        "wgmma.wait_group.sync.aligned 0;");

    check(
        "tcgen05", {8, 6},
        +[](blackwell& k, px::reg<u32> n) {
            const auto slot = k.tcgen05.make_slot<512>();
            k.tcgen05.alloc(slot);
            const auto memory = k.tcgen05.load(slot);
            const auto a = k.tcgen05.descriptor(k.smem<px::tile<bf16, 128, 64>>(1, "a"));
            const auto b = k.tcgen05.descriptor(k.smem<px::tile<bf16, 64, 64>>(1, "b"));
            const auto acc = memory.accumulator<f32, 128, 64, 0, 2>();
            k.tcgen05.mma(acc[0], a, b, false);
            k.tcgen05.mma<px::collector_a_use>(acc[1], a.k_slice(1), b.k_slice(1), n != 0u);
            k.tcgen05.mma(acc[n], memory.a_operand<bf16, 128, 64, 128>().k_slice(2), b, true,
                          px::mma_options{.negate_a = true, .scale_input_d = 2});
            const auto bar = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
            k.tcgen05.commit(bar[0]);
            k.tcgen05.wait(bar[0], 0u);
            const auto rows = k.tcgen05.quarter(memory, n);
            const auto v = k.tcgen05.ld<px::shape_32x32b, px::x2>(rows.accumulator<f32, 128, 64>(), 8);
            k.tcgen05.wait_ld();
            k.tcgen05.st<px::shape_16x128b, px::x1>(rows.slice<f32, 32, 64>(), v);
            k.tcgen05.wait_st();
            k.tcgen05.fence_before_thread_sync();
            k.tcgen05.dealloc(memory);
            k.tcgen05.relinquish_alloc_permit(slot);
        },
        "mov.u32 %tmem_slot0, smem;\n"
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%tmem_slot0], 512;\n"
        "ld.shared.u32 %tmem0, [%tmem_slot0];\n"
        "mov.u32 %a0, smem+1024;\n"
        "shr.u32 %r1, %a0, 4;\n"
        "and.b32 %r2, %r1, 16383;\n"
        "cvt.u64.u32 %rd0, %r2;\n"
        "or.b64 %desc0, %rd0, 4611756662049538048;\n"
        "mov.u32 %b0, smem+17408;\n"
        "shr.u32 %r3, %b0, 4;\n"
        "and.b32 %r4, %r3, 16383;\n"
        "cvt.u64.u32 %rd1, %r4;\n"
        "or.b64 %desc1, %rd1, 4611756662049538048;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%tmem0], %desc0, %desc1, 135267472, 0;\n"
        "add.s64 %desc2, %desc0, 2;\n"
        "add.s64 %desc3, %desc1, 2;\n"
        "setp.ne.u32 %p0, %r0, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%tmem0+64], %desc2, %desc3, 135267472, %p0;\n"
        "mad.lo.u32 %r5, %r0, 64, %tmem0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%r5], [%tmem0+144], %desc1, 135275664, 1, 2;\n"
        "mov.u32 %done0, smem+25600;\n"
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%done0];\n"
        "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%done0], 0;\n"
        "@!%p1 bra $wait_0;\n"
        "tcgen05.fence::after_thread_sync;\n"
        "and.b32 %r6, %r0, 3;\n"
        "shl.b32 %r7, %r6, 21;\n"
        "add.u32 %tmem_quarter0, %tmem0, %r7;\n"
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%t0, %t1}, [%tmem_quarter0+8];\n"
        "tcgen05.wait::ld.sync.aligned;\n"
        "tcgen05.st.sync.aligned.16x128b.x1.b32 [%tmem_quarter0+64], {%t0, %t1};\n"
        "tcgen05.wait::st.sync.aligned;\n"
        "tcgen05.fence::before_thread_sync;\n"
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem0, 512;\n"
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");

    check(
        "tcgen05 pairs", {8, 7},
        +[](blackwell& k) {
            const auto memory = k.tcgen05.load(k.tcgen05.make_slot<512, px::cta_group_2>());
            const auto d = memory.accumulator<f32, 256, 128>();
            const auto a = k.tcgen05.descriptor(k.smem<px::tile<px::e2m1, 128, 256>>(1, "a"));
            const auto b = k.tcgen05.descriptor(k.smem<px::tile<px::e2m1, 64, 256>>(1, "b"));
            const auto sa = memory.scales<px::ue4m3, 128, 256>(), sb = memory.scales<px::ue4m3, 128, 260>();
            const auto from =
                k.tcgen05.descriptor(k.smem<px::tile<px::ue4m3, 32, 16, px::k_major, px::core_matrices>>(1, "scales"));
            k.tcgen05.cp<px::shape_32x128b, px::warpx4>(sa, from);
            k.tcgen05.mma(d, a, b, sa, sb, false);
            const auto thin =
                k.tcgen05.descriptor(k.smem<px::tile<e4m3, 128, 64, px::k_major, px::swizzle_64b>>(1, "thin"));
            const auto wide = k.tcgen05.descriptor(k.smem<px::tile<e4m3, 64, 128>>(1, "wide"));
            k.tcgen05.mma_sp(d, thin, wide, memory.slice<b32, 8, 272>(), true);
            k.tcgen05.shift(memory.slice<b32, 8>());
            const auto bar = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
            k.tcgen05.commit_multicast(bar[0], 3);
            const auto answer = k.smem_array<px::b128>(1, "answer");
            k.clusterlaunchcontrol_try_cancel(answer, bar[0]);
            const auto r = k.ld(answer);
            const auto p = k.clusterlaunchcontrol_query_cancel_is_canceled(r);
            k.at(p).st(k.smem_array<u32>(1, "x"), k.clusterlaunchcontrol_query_cancel_get_first_ctaid_x(r));
            static_cast<void>(k.clusterlaunchcontrol_query_cancel_get_first_ctaid(r));
        },
        "mov.u32 %tmem_slot0, smem;\n"
        "ld.shared.u32 %tmem0, [%tmem_slot0];\n"
        "mov.u32 %a0, smem+1024;\n"
        "shr.u32 %r0, %a0, 4;\n"
        "and.b32 %r1, %r0, 16383;\n"
        "cvt.u64.u32 %rd0, %r1;\n"
        "or.b64 %desc0, %rd0, 4611756662049538048;\n"
        "mov.u32 %b0, smem+17408;\n"
        "shr.u32 %r2, %b0, 4;\n"
        "and.b32 %r3, %r2, 16383;\n"
        "cvt.u64.u32 %rd1, %r3;\n"
        "or.b64 %desc1, %rd1, 4611756662049538048;\n"
        "mov.u32 %scales0, smem+25600;\n"
        "shr.u32 %r4, %scales0, 4;\n"
        "and.b32 %r5, %r4, 16383;\n"
        "cvt.u64.u32 %rd2, %r5;\n"
        "or.b64 %desc2, %rd2, 70403106013184;\n"
        "tcgen05.cp.cta_group::2.32x128b.warpx4 [%tmem0+256], %desc2;\n"
        "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X [%tmem0], %desc0, %desc1, 270533760, [%tmem0+256], [%tmem0+260], 0;\n"
        "mov.u32 %thin0, smem+26112;\n"
        "shr.u32 %r6, %thin0, 4;\n"
        "and.b32 %r7, %r6, 16383;\n"
        "cvt.u64.u32 %rd3, %r7;\n"
        "or.b64 %desc3, %rd3, 9223442543037972480;\n"
        "mov.u32 %wide0, smem+34816;\n"
        "shr.u32 %r8, %wide0, 4;\n"
        "and.b32 %r9, %r8, 16383;\n"
        "cvt.u64.u32 %rd4, %r9;\n"
        "or.b64 %desc4, %rd4, 4611756662049538048;\n"
        "tcgen05.mma.sp.cta_group::2.kind::f8f6f4 [%tmem0], %desc3, %desc4, [%tmem0+272], 270532628, 1;\n"
        "tcgen05.shift.cta_group::2.down [%tmem0];\n"
        "mov.u32 %done0, smem+43008;\n"
        "mov.b16 %mask0, 3;\n"
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%done0], %mask0;\n"
        "mov.u32 %answer0, smem+43024;\n"
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%answer0], [%done0];\n"
        "ld.shared.b128 %rq0, [%answer0];\n"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %rq0;\n"
        "mov.u32 %x0, smem+43040;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, %rq0;\n"
        "@%p0 st.shared.u32 [%x0], %r10;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r11, %r12, %r13, _}, %rq0;");

    return golden::result();
}
