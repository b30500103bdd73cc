#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transpiles, compiles and runs as a user does. Usage: test_transpiler.py PROGRAM SOURCE_DIR COMPILER..."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, ROOT, *COMPILERS = sys.argv[1:] if len(sys.argv) > 3 else ("ptxdsl", ".", "c++")
ROOT = pathlib.Path(ROOT)
EXAMPLE = ROOT / "examples" / "transpiled.ptx"
WARNINGS = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-I", str(ROOT / "include")]

# One construct each: what the sugared form must have, and what must stay plain.
KERNEL = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 to)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<40>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
{}
    st.global.u32 [%rd1], %r2;
    ret;
}}
"""
SUGAR = {
    "if": ("@%p1 bra A;\n add.u32 %r2, %r1, 1;\nA:", ["k.if_(px::unless(p[1]), [&] {"], ["named_label"]),
    "if not": ("@!%p1 bra A;\n add.u32 %r2, %r1, 1;\nA:", ["k.if_(p[1], [&] {"], ["named_label"]),
    "else": ("@%p1 bra A;\n add.u32 %r2, %r1, 1;\n bra B;\nA:\n add.u32 %r2, %r1, 2;\nB:", ["k.if_(", "}).else_([&] {"], ["named_label"]),
    "do while": ("A:\n add.u32 %r2, %r2, 1;\n setp.lt.u32 %p2, %r2, 9;\n @%p2 bra A;", ["k.do_while([&] {", "return p[2];"], ["named_label"]),
    "loop": ("A:\n add.u32 %r2, %r2, 1;\n setp.lt.u32 %p2, %r2, 9;\n @%p2 bra B;\n add.u32 %r3, %r3, %r2;\n bra A;\nB:",
             ["k.loop([&](px::loop_handle loop) {", "loop.break_if(p[2]);"], ["named_label"]),
    "two ways to a label": ("@%p1 bra A;\n add.u32 %r2, %r1, 1;\n @%p2 bra A;\n add.u32 %r2, %r1, 2;\nA:", ["k.at(p[1]).bra(A);", "k.place(A);"], ["k.if_("]),
    "into a block": ("@%p1 bra A;\n add.u32 %r2, %r1, 1;\nB:\n add.u32 %r2, %r2, 2;\nA:\n @%p2 bra B;", ["k.at(p[1]).bra(A);"], ["k.if_("]),
    "uniform": ("@%p1 bra.uni A;\n add.u32 %r2, %r1, 1;\nA:", ["k.at(p[1]).bra_uni(A);"], ["k.if_("]),
    "repeated": ("".join(f" add.u32 %r{i + 4}, %r{2 * i + 3}, {i - 3};\n" for i in range(9)), ["for (int i = 0; i < 9; ++i) {", "r_u32[3 + 2 * i]", "-3 + i"], []),
    "downwards": ("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r5, %r6}, {%r9, %r8, %r7, %r6}, {%r1, %r2}, {%r5, %r6};",
                  ["k.mma_sync<px::tok::m16n8k16, px::tok::row, px::tok::col, px::tok::f16, px::tok::f16, px::tok::f16, px::tok::f16>(k.list(r[5], r[6]), k.list_of<4>(r, 9, -1), k.list(tid_x, r[2]), k.list(r[5], r[6]));"],
                  ["k.inst"]),
    "uniform branch back": ("A:\n add.u32 %r2, %r2, 1;\n setp.lt.u32 %p2, %r2, 9;\n @%p2 bra B;\n add.u32 %r3, %r3, %r2;\n bra.uni A;\nB:",
                            ["k.loop([&](px::loop_handle loop) {", "loop.break_if(p[2]);"], ["named_label", "bra_uni"]),
    "one label in two scopes": (2 * "{\n .reg .pred p;\nW:\n setp.eq.u32 p, %r2, %r1;\n @p bra D;\n bra W;\nD:\n}\n",
                                ["k.spin_until([&] {", "return p_2;"], ["named_label"]),
    "a scope that declares nothing": ("{\n add.u32 %r2, %r1, 1;\n}", ["r[2] = k.add("], ["px::scope"]),
    "uniform wait": ("W:\n mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n @%p1 bra.uni D;\n bra.uni W;\nD:",
                     ["k.spin_until<px::tok::uni>([&] {", "p[1] = k.mbarrier_try_wait_parity(k.barrier(tid_x), 0);"], ["named_label"]),
    "descriptor": ("and.b32 %r3, %r2, 262016;\n shr.u32 %r4, %r3, 4;\n cvt.u64.u32 %rd2, %r4;\n or.b64 %rd3, %rd2, 4611686293305360384;",
                   ["rd[3] = k.wgmma.descriptor_bits(r[2], 0x3ff80, 0x4000004000010000u, r[3], r[4], rd[2]);  // swizzle 128B, leading 16 bytes, stride 1024"],
                   ["k.and_"]),
    "no descriptor": ("and.b32 %r3, %r2, 262016;\n shr.u32 %r4, %r3, 5;\n cvt.u64.u32 %rd2, %r4;\n or.b64 %rd3, %rd2, 4611686293305360384;",
                      ["r[3] = k.and_(r[2], 262016);"], ["descriptor_bits"]),
    "accumulators": (".reg .f32 %f<32>;\n mov.f32 %f9, 0f00000000;\n wgmma.fence.sync.aligned;\n"
                     " wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%f16, %f15, %f14, %f13, %f12, %f11, %f10, %f9}, %rd1, %rd2, 1, 1, -1, 0, 1;\n"
                     " wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f16, %f15, %f14, %f13, %f12, %f11, %f10, %f9}, {%r1, %r2, %r3, %r4}, %rd2, %p1, 1, 1, 0;\n"
                     " wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e5m2 {%f16, %f15, %f14, %f13, %f12, %f11, %f10, %f9}, %rd1, %rd2, !%p1, -1, 1;\n"
                     " wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n st.global.f32 [%rd1], %f16;",
                     ["const auto acc = k.accumulator<px::f32, 16>(f, 16, -1);", "acc[7] = k.mov<px::f32>(0.0f);",
                      "k.wgmma.mma_async<px::bf16, px::bf16, px::k_major, px::mn_major, 1, -1>(acc, ",
                      "k.wgmma.mma_async<px::f16, px::f16>(acc, k.list_of<4>(r, 1), ",
                      "k.wgmma.mma_async<px::e4m3, px::e5m2, px::k_major, px::k_major, -1, 1>(acc, ", "px::unless(p[1]));", "acc[0])"], ["k.inst", "k.raw"]),
    "barriers and copies": (".shared .align 8 .b64 full[4];\n mov.u32 %r2, full;\n mbarrier.init.shared.b64 [%r2+8], %r1;\n mbarrier.init.shared::cta.b64 [full+16], 1;\n"
                            " mbarrier.arrive.release.cluster.shared::cta.b64 %rd2, [%r2];\n mbarrier.arrive.shared::cta.b64 _, [%r2], 2;\n mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 4096;\n"
                            " mbarrier.test_wait.shared.b64 %p1, [%r2], %rd2;\n"
                            " cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r3], [%rd1, {%r1, %r1}], [%r2], %rd2;\n"
                            " cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%rd1, {%r1, %r1, 0}], [%r3];\n mbarrier.inval.shared.b64 [full];",
                            ["full_address = k.move<px::u32>(full);", "k.mbarrier_init<px::tok::shared>(k.barrier(full_address, 8), tid_x);", "k.mbarrier_init(k.barrier(full, 16), 1);",
                             "rd[2] = k.mbarrier_arrive<px::release, px::cluster>(k.barrier(full_address));", "k.mbarrier_arrive(px::sink, k.barrier(full_address), 2);",
                             "k.mbarrier_arrive_expect_tx(k.barrier(full_address), 4096);", "p[1] = k.mbarrier_test_wait<px::tok::shared>(k.barrier(full_address), rd[2]);",
                             "k.cp_async_bulk_tensor<px::tok::shared__cluster, px::L2::cache_hint>(px::mem(", "k.cp_async_bulk_tensor<px::tok::tile>(k.tensor(",
                             "k.mbarrier_inval<px::tok::shared>(k.barrier(full));"], ["k.inst", "k.raw"]),
    "block barriers": (" barrier.cta.sync.aligned 2, 128;\n barrier.cta.arrive.aligned 3, 64;\n barrier.cta.sync.aligned %r1, %r2;\n barrier.cta.arrive.aligned %r1, 96;\n bar.sync 1;\n selp.s32 %r4, -1, 0, %p1;\n @%p1 mov.s32 %r3, %r4;",
                       ["k.bar_sync<2, 128>();", "k.bar_arrive<3, 64>();", "k.bar_sync(r_u32[1], r_u32[2]);", "k.bar_arrive(r_u32[1], 96);",
                        "k.bar_sync<px::tok::bar>(1);", "r[4] = k.select<px::s32>(-1, 0, p[1]);", "r[3] = k.at(p[1]).move<px::s32>(r_s32[4]);"], ["k.raw"]),
    "barriers as they are spelled": (" bar.sync 0;\n bar.sync 1, 64;\n bar.arrive 2, %r2;\n barrier.sync 3;\n barrier.sync.aligned 4, 96;\n barrier.arrive 5, 64;\n bar.warp.sync -1;\n"
                                     " barrier.cluster.arrive;\n barrier.cluster.wait;\n barrier.cluster.arrive.relaxed;\n barrier.cluster.wait.acquire;\n @%p1 cp.async.bulk.commit_group;\n membar.gl;\n fence.acq_rel.gpu;",
                                     ["k.bar_sync<px::tok::bar>(0);", "k.bar_sync<px::tok::bar>(1, 64);", "k.bar_arrive<px::tok::bar>(2, r[2]);", "k.barrier_sync(3);", "k.barrier_sync<px::tok::aligned>(4, 96);",
                                      "k.barrier_arrive(5, 64);", "k.bar_warp_sync(-1);", "k.barrier_cluster_arrive_nonaligned();", "k.barrier_cluster_wait_nonaligned();",
                                      "k.barrier_cluster_arrive_nonaligned<px::relaxed>();", "k.barrier_cluster_wait_nonaligned<px::acquire>();", "k.at(p[1]).cp_async_bulk_commit_group();",
                                      "k.membar<px::gl>();", "k.fence<px::acq_rel, px::gpu>();"], ["k.inst", "k.raw"]),
    "votes": (" vote.sync.ballot.b32 %r2, %p1, -1;\n vote.sync.any.pred %p2, !%p1, %r2;\n redux.sync.add.s32 %r3, %r2, -1;\n redux.sync.and.b32 %r4, %r3, -1;\n match.any.sync.b32 %r5, %r4, -1;\n activemask.b32 %r6;\n"
              " nanosleep.u32 100;\n shf.l.wrap.b32 %r7, %r6, %r5, 3;\n shf.r.clamp.b32 %r8, 7, %r5, %r2;\n bmsk.clamp.b32 %r9, %r8, 4;\n movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r9;",
              ["r[2] = k.vote_sync_ballot(p[1], -1);", "p[2] = k.vote_sync_any(px::unless(p[1]), r_u32[2]);", "r[3] = k.redux_sync_add(r_s32[2], -1);", "r[4] = k.redux_sync_and(r[3], -1);",
               "r[5] = k.match_any_sync(r[4], -1);", "r[6] = k.activemask();", "k.nanosleep(100);", "r[7] = k.shf_l_wrap(r[6], r[5], 3);", "r[8] = k.shf_r_clamp(7, r[5], r_u32[2]);",
               "r[9] = k.bmsk_clamp(r_u32[8], 4);", "r[10] = k.movmatrix(r[9]);"], ["k.inst", "k.raw"]),
    "small copies and matrices": (" cp.async.ca.shared.global [%r1], [%rd1], 4;\n cp.async.cg.shared.global.L2::128B [%r1+16], [%rd1], 16, %r2;\n cp.async.ca.shared.global [%r1], [%rd1], 8, %p1;\n"
                                  " ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r9, %r8, %r7, %r6}, [%r1];\n ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r5}, [%r1+32];\n"
                                  " stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%r5, %r6};\n @%p1 stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r1], {%r5};",
                                  ["k.cp_async<px::ca, 4>(px::mem<px::space::shared, px::b8>(tid_x), px::mem<px::space::global, px::b8>(to_2));",
                                   "k.cp_async<px::cg, 16, px::L2::_128B>(px::mem<px::space::shared, px::b8>(tid_x, 16), px::mem<px::space::global, px::b8>(to_2), r_u32[2]);",
                                   "k.cp_async<px::ca, 8>(px::mem<px::space::shared, px::b8>(tid_x), px::mem<px::space::global, px::b8>(to_2), p[1]);",
                                   "px::into(r[9], r[8], r[7], r[6]) = k.ldmatrix<px::x4>(px::mem<px::space::shared, px::b16>(tid_x));", "px::into(r[5]) = k.ldmatrix<px::x1, px::trans>(",
                                   "k.stmatrix(px::mem<px::space::shared, px::b16>(tid_x), r[5], r[6]);", "k.at(p[1]).stmatrix<px::trans>("], ["k.inst", "k.raw"]),
    "atomics": (" .shared .align 128 .b8 map[128];\n atom.global.add.u32 %r3, [%rd1], %r2;\n atom.acq_rel.gpu.global.cas.b32 %r4, [%rd1+4], %r3, 7;\n atom.shared.exch.b32 %r5, [%r1], %r4;\n red.relaxed.sys.global.max.s32 [%rd1], -3;\n"
                " atom.global.add.noftz.f16x2 %r6, [%rd1], %r5;\n mov.u32 %r7, map;\n mapa.shared::cluster.u32 %r8, %r7, 1;\n mapa.shared::cluster.u32 %r9, map, %r2;\n cvt.u64.u32 %rd2, %r7;\n"
                " tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r7], %rd1;\n tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd2], 1;\n tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r7], 0, %r2;\n"
                " tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r7], 6;\n tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r7], 128;\n"
                " fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;\n prefetch.tensormap [%rd1];",
                ["r[3] = k.atom_add(px::mem<px::space::global, px::u32>(to_2), r_u32[2]);", "r[4] = k.atom_cas<px::acq_rel, px::gpu>(px::mem<px::space::global, px::b32>(to_2, 4), r[3], 7);",
                 "r[5] = k.atom_exch(px::mem<px::space::shared, px::b32>(tid_x), r[4]);", "k.red_max<px::relaxed, px::sys>(px::mem<px::space::global, px::s32>(to_2), -3);",
                 "r[6] = k.atom_add(px::mem<px::space::global, px::f16x2>(to_2), ", "r[8] = k.mapa<px::tok::shared__cluster, px::u32>(", "r[9] = k.mapa<px::tok::shared__cluster, px::u32>(map, r[2]);",
                 "k.tensormap_replace<px::tok::global_address>(px::mem<px::space::shared, px::b8, 128>(", "k.tensormap_replace<px::tok::rank>(", "k.tensormap_replace<px::tok::box_dim, 0>(",
                 "k.tensormap_replace<px::tok::elemtype, 6>(", "k.tensormap_cp_fenceproxy<px::gpu>(", "k.fence_proxy_tensormap_acquire<px::gpu>(px::mem<px::space::generic, px::b8, 128>(to_2));",
                 "k.prefetch_tensormap(px::mem(to_2));"], ["k.inst", "k.raw"]),
    "wmma": (".reg .f32 %f<32>;\n wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%r1], 16;\n wmma.load.b.sync.aligned.col.m16n16k16.f16 {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, [%rd1], %r2;\n"
             " wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};\n"
             " wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, 16;",
             ["k.wmma_load<px::tok::a, px::tok::row, px::tok::m16n16k16, px::tok::shared, px::tok::f16>(k.list_of<8>(r, 10), px::mem(tid_x), 16);", "k.wmma_load<px::tok::b, ",
              "k.wmma_mma<px::tok::row, px::tok::col, px::tok::m16n16k16, px::tok::f32, px::tok::f32>(k.list_of<8>(f, 0), ", "k.wmma_store<px::tok::d, "], ["k.inst", "k.raw"]),
    "numbers as bits": (".reg .f32 %f<4>;\n mov.b32 %r2, 0f3F800000;\n mov.b64 %rd2, 0d3FF0000000000000;\n selp.f32 %f1, 0f3F800000, 0f00000000, %p1;\n max.NaN.f32 %f2, %f1, %f0;\n st.global.b64 [%rd1], %rd2;\n st.global.f32 [%rd1], %f2;",
                        ["r[2] = k.move<px::b32>(1.0f);", "rd[2] = k.move<px::b64>(1.0);", "f[1] = k.select<px::f32>(1.0f, 0.0f, p[1]);"], ["k.inst", "k.raw"]),
    "halves": (".reg .f32 %f<4>;\n cvt.rn.bf16x2.f32 %r3, %f1, %f2;\n cvt.rn.relu.f16x2.f32 %r4, %f2, %f1;",
               ["r[3] = k.cvt<px::bf16x2, px::rn>(px::hi(f[1]), px::lo(f[2]));", "r[4] = k.cvt<px::f16x2, px::rn, px::relu>(px::hi(f[2]), px::lo(f[1]));"], ["k.inst", "k.raw"]),
    "one warp, one lane": (" elect.sync %r3|%p1, -1;\n shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;\n shfl.sync.down.b32 %r5|%p2, %r4, 1, 31, -1;\n barrier.cta.sync.aligned 0;\n barrier.cta.sync.aligned 1, 64;\n"
                           " selp.u32 %r6, 1, 0, %p1;\n cvta.to.global.u64 %rd2, %rd1;\n mov.b64 {%r7, %r8}, %rd2;\n mov.b64 %rd3, {%r8, %r7};",
                           ["px::into(r[3], p[1]) = k.elect_sync_p(-1);", "r[4] = k.shfl_sync_idx(tid_x, 0, 31, -1);", "px::into(r[5], p[2]) = k.shfl_sync_down_p(r[4], 1, 31, -1);",
                            "k.bar_sync();", "k.bar_sync<1, 64>();", "r[6] = k.select<px::u32>(1, 0, p[1]);", "k.cvta_to<px::space::global>(", "px::into(r[7], r[8]) = k.mov_unpack<px::b32>(",
                            "rd[3] = k.mov_pack<px::b64>(r[8], r[7]);"], ["k.inst", "k.raw"]),
    "a branch by a table": ("t: .branchtargets A, B;\n @!%p1 brx.idx.uni %r1, t;\n brx.idx %r1, t;\nA:\n add.u32 %r2, %r1, 1;\nB:",
                            ['k.named_table("t");', "k.place(t, {A, B});", "k.at(px::unless(p[1])).brx_idx_uni(", ".brx_idx(", "k.place(A);"], ["k.directive", "k.inst"]),
    "a call by address": ("mov.u32 %r2, 5;\n{\n .param .b32 in;\n .param .b32 out;\n st.param.b32 [in], %r1;\n p: .callprototype (.param .b32 _) _ (.param .b32 _);\n call (out), %rd1, (in), p;\n"
                          " ld.param.b32 %r2, [out];\n}", ['k.named_prototype<px::formals<px::b32>, px::formals<px::b32>>("p");', "k.place(p_2);",
                                                          "k.call_function(k.list(out), to_2, k.list(in), p_2);"], ["k.directive"]),
    "uneven": ("".join(f" add.u32 %r{i * i + 4}, %r3, 7;\n" for i in range(5)), [], ["for (int i"]),
}


def run(*words):
    p = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def find_ptxas():
    path = os.environ.get("PTXDSL_PTXAS") or "ptxas"
    try:
        return path if run(path, "--version")[0] == 0 else None
    except OSError:
        return None


class Transpiler(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)

    def write(self, name, text):
        (self.path / name).write_text(text)
        return self.path / name

    def cubin(self, ptx, architecture="sm_90a"):
        """Of a text under one name, since ptxas may keep the name."""
        self.write("module.ptx", ptx)
        p = subprocess.run([find_ptxas(), "-c", f"-arch={architecture}", "-o", "module.cubin", "module.ptx"], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        return (self.path / "module.cubin").read_bytes()

    def built(self, source, compiler=COMPILERS[0]):
        code, _, err = run(compiler, *WARNINGS, source, "-o", self.path / "program")
        self.assertEqual(code, 0, err[:3000])
        return self.path / "program"

    def test_statuses(self):
        bad = self.write("bad.ptx", EXAMPLE.read_text().replace("mov.u32 %r2, %tid.x", "mov.u32 %r2 %tid.x"))
        self.assertEqual(run(PROGRAM, "transpile", bad)[0], 1)
        self.assertIn("bad.ptx:18:17: error:", run(PROGRAM, "transpile", bad)[2])
        self.assertEqual(run(PROGRAM, "transpile")[0], 2)
        self.assertEqual(run(PROGRAM, "transpile", self.path / "none.ptx")[0], 2)
        code, _, err = run(PROGRAM, "transpile", EXAMPLE, "--stats", "-o", self.path / "out.cpp")
        self.assertEqual(code, 0)
        self.assertRegex(err, r"3\d typed calls, \d checked against the table, 0 as text")

    def test_example_is_current(self):
        code, out, _ = run(PROGRAM, "transpile", "--sugar", EXAMPLE)
        self.assertEqual(code, 0)
        self.assertEqual(out, EXAMPLE.with_suffix(".cpp").read_text())

    def test_the_program(self):
        for compiler in filter(None, COMPILERS):
            with self.subTest(compiler):
                program = self.built(EXAMPLE.with_suffix(".cpp"), compiler)
                code, out, _ = run(program)
                self.assertEqual(code, 0)
                self.assertEqual(run(program, self.path / "out.ptx")[:2], (0, ""))
                self.assertEqual((self.path / "out.ptx").read_text(), out)
                self.assertEqual(run(program, "--help")[0], 0)
                self.assertIn("usage:", run(program, "--help")[1])
                self.assertEqual(run(program, "a", "b")[0], 2)
                self.assertEqual(run(program, self.path / "no folder" / "x")[0], 1)
                if find_ptxas():
                    self.assertEqual(self.cubin(out), self.cubin(EXAMPLE.read_text()))

    def test_launch_stub_compiles(self):
        text = EXAMPLE.with_suffix(".cpp").read_text()
        stub = text[text.index("// void launch() {"):]
        text = "#include <ptxdsl/runtime.hpp>\n#include <cstdint>\n" + text + "\nvoid launch();\n" + re.sub("^// ?", "", stub, flags=re.M)
        code, _, err = run(COMPILERS[0], *WARNINGS, "-fsyntax-only", self.write("launch.cpp", text))
        if "fmt/" in err:
            self.skipTest("fmt is not there")
        self.assertEqual(code, 0, err[:3000])

    def test_sugar(self):
        for name, (body, there, absent) in SUGAR.items():
            with self.subTest(name):
                ptx = KERNEL.format(body)
                source = self.write("k.ptx", ptx)
                code, out, err = run(PROGRAM, "transpile", "--sugar", source)
                self.assertEqual(code, 0, err)
                body = out[out.index("fn.begin"):out.index("fn.end")]
                self.assertEqual([w for w in there if w not in body], [], body)
                self.assertEqual([w for w in absent if w in body], [], body)
                if find_ptxas():
                    self.assertEqual(self.cubin(run(self.built(self.write("k.cpp", out)))[1]), self.cubin(ptx))

    def test_tensor_memory(self):
        """tcgen05 by addresses in registers."""
        group = "cta_group::1"
        body = (f".shared .align 8 .b64 full;\n tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [%r1], 64;\n tcgen05.relinquish_alloc_permit.{group}.sync.aligned;\n"
                f" tcgen05.mma.{group}.kind::f16 [%r2], %rd2, %rd3, %r3, %p1;\n @%p1 tcgen05.mma.{group}.kind::tf32 [%r2], [%r4], %rd3, %r3, {{%r1, %r1, %r1, %r1}}, 1;\n"
                f" tcgen05.commit.{group}.mbarrier::arrive::one.shared::cluster.b64 [%r5];\n tcgen05.commit.{group}.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r5], %h1;\n"
                f" tcgen05.cp.{group}.64x128b.warpx2::02_13 [%r2], %rd2;\n tcgen05.ld.sync.aligned.32x32b.x2.b32 {{%r6, %r7}}, [%r2+4];\n tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {{%r8}}, [%r2], 16;\n"
                f" tcgen05.wait::ld.sync.aligned;\n tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32 [%r2], {{%r6}};\n tcgen05.wait::st.sync.aligned;\n tcgen05.dealloc.{group}.sync.aligned.b32 %r2, 64;")
        ptx = KERNEL.format(".reg .b16 %h<2>;\n mov.u16 %h1, 3;\n" + body).replace(".version 8.3", ".version 8.7").replace("sm_90a", "sm_100a")
        code, out, err = run(PROGRAM, "transpile", "--sugar", self.write("k.ptx", ptx))
        self.assertEqual(code, 0, err)
        one = "px::tok::cta_group__1"
        for words in (f"k.tcgen05.alloc<{one}, px::tok::shared__cta>(px::mem(tid_x), 64);", f"k.tcgen05.relinquish_alloc_permit<{one}>();",
                      f"k.tcgen05.mma<{one}, px::tok::kind__f16>(px::mem(address), rd[2], rd[3], r[3], p[1]);", f"k.at(p[1]).tcgen05.mma<{one}, px::tok::kind__tf32>(px::mem(address), px::mem(r[4]), ",
                      f"k.tcgen05.commit<{one}, px::tok::shared__cluster>(px::mem(r[5]));", f"k.tcgen05.commit<{one}, px::tok::shared__cluster, px::tok::multicast__cluster>(px::mem(r[5]), h[1]);",
                      f"k.tcgen05.cp<{one}, px::tok::_64x128b, px::tok::warpx2__02_13>(px::mem(address), rd[2]);", "k.tcgen05.ld<px::tok::_32x32b, px::tok::x2>(k.list(r[6], r[7]), px::mem(address, 4));",
                      "k.tcgen05.ld<px::tok::_16x32bx2, px::tok::x1>(k.list(r[8]), px::mem(address), 16);", "k.tcgen05.wait_ld();", "k.tcgen05.wait_st();",
                      "k.tcgen05.st<px::tok::_32x32b, px::tok::x1, px::tok::unpack__16b>(px::mem(address), k.list(r[6]));", f"k.tcgen05.dealloc<{one}>(address, 64);"):
            self.assertIn(words, out)
        self.assertNotIn("k.inst", out)
        if find_ptxas():
            self.assertEqual(self.cubin(run(self.built(self.write("k.cpp", out)))[1], "sm_100a"), self.cubin(ptx, "sm_100a"))

    def test_old_versions(self):
        """Words that came with a later PTX are not put into older modules."""
        body = "bar.sync 0;\n bar.sync 1, 64;\n mbarrier.init.shared.b64 [%r1], 1;\n mbarrier.arrive.shared.b64 %rd2, [%r1];"
        ptx = KERNEL.format(body).replace(".version 8.3", ".version 7.0").replace("sm_90a", "sm_80")
        for sugar in [], ["--sugar"]:
            code, out, err = run(PROGRAM, "transpile", *sugar, self.write("k.ptx", ptx))
            self.assertEqual(code, 0, err)
            printed = run(self.built(self.write("k.cpp", out)))[1]
            self.assertNotRegex(printed, r"::cta|barrier\.cta")
            if find_ptxas():
                self.assertEqual(self.cubin(printed), self.cubin(ptx))

    def assert_laws(self, name, ptx):
        """`corpus` knows what of a cubin with debug information may differ."""
        if not find_ptxas():
            self.skipTest("there is no ptxas")
        (self.path / "corpus").mkdir()
        self.write(f"corpus/{name}", ptx)
        code, out, err = run(PROGRAM, "corpus", self.path / "corpus", "--include", ROOT / "include", "--cxx", COMPILERS[0])
        self.assertEqual(code, 0, out + err)
        self.assertIn("transpiled 1 sugared 1", out)

    def test_debug_information(self):
        """Everything stands on the original's line, prototypes of calls too."""
        self.assert_laws("calls.ptx", (ROOT / "tests/corpus/nvcc/calls.debug.ptx").read_text())

    def test_sections_on_one_line(self):
        """What follows a section of one line stands on the next."""
        ptx = KERNEL.format(".loc 2 7 1\n add.u32 %r2, %r1, 1;\n") + '.section .debug_loc { }\n.file 1 "a.h"\n.file 2 "b.cu"\n'
        code, out, err = run(PROGRAM, "transpile", self.write("k.ptx", ptx))
        self.assertEqual(code, 0, err)
        for words in ('m.directive(".section .debug_loc { }");', 'm.file(1, "a.h");', 'm.file(2, "b.cu");'):
            self.assertIn(words, out)
        self.assert_laws("k.ptx", ptx)

    def test_places_in_sources(self):
        """Lines that repeat with their places are loops; labels that only debug sections name have no variable."""
        body = ".reg .b16 %h<9>;\n" + "".join(f" .loc 1 {5 + n % 2} 3\n mov.b16 %h{1 + n // 2}, {n};\n" for n in range(8))
        body += "$L__tmp0:\n .loc 1 9 1\n mov.u64 %rd2, k_param_0;\n st.global.u64 [%rd1], %rd2;\n st.global.b16 [%rd1], %h4;"
        ptx = KERNEL.format(body).replace("(.param .u64 to)", "(.param .u64 k_param_0)").replace("[to]", "[k_param_0]") + '.file 1 "k.py"\n'
        code, out, err = run(PROGRAM, "transpile", "--sugar", self.write("k.ptx", ptx))
        self.assertEqual(code, 0, err)
        for words in ("for (int i = 0; i < 4; ++i) {", "k.loc(1, 5, 3);", "h[1 + i] = k.", 'k.place(k.named_label("$L__tmp0"));', "const auto param_0_address = rd[2];"):
            self.assertIn(words, out)
        self.assertNotIn("const auto L_tmp0", out)
        self.assert_laws("k.ptx", ptx)

    def test_mangled_names(self):
        name = "_ZN7library4gemmILi128ELi64EEEvPfi"
        ptx = KERNEL.format("").replace("k(.param .u64 to)", f"{name}(.param .u64 {name}_param_0)").replace("[to]", f"[{name}_param_0]")
        ptx = ptx.replace(".visible", ".global .u32 _ZN7library5tableE;\n.visible").replace("%r2;", "%r2;\n st.global.u32 [_ZN7library5tableE], %r1;")
        code, out, err = run(PROGRAM, "transpile", "--sugar", self.write("k.ptx", ptx))
        self.assertEqual(code, 0, err)
        for words in ("void write_gemm(", 'const auto arg_0 = fn.param<px::u64>(name + "_param_0");', "const auto table = k.symbol(", "px::mem<px::space::global, px::u32>(table)"):
            self.assertIn(words, out)
        if find_ptxas():
            self.assertEqual(self.cubin(run(self.built(self.write("k.cpp", out)))[1]), self.cubin(ptx))
        self.assertNotIn("write_gemm", run(PROGRAM, "transpile", self.path / "k.ptx")[1])

    def test_labels_like_those_of_constructs(self):
        source = self.write("k.ptx", KERNEL.format("@%p1 bra $else_0;\n add.u32 %r2, %r1, 1;\n$else_0:"))
        self.assertNotIn("k.if_(", run(PROGRAM, "transpile", "--sugar", source)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
