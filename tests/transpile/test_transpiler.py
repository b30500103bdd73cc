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
KERNEL = """.version 8.0
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
    "uniform": ("@%p1 bra.uni A;\n add.u32 %r2, %r1, 1;\nA:", ['.inst<"bra.uni">(A);'], ["k.if_("]),
    "repeated": ("".join(f" add.u32 %r{i + 4}, %r{2 * i + 3}, {i - 3};\n" for i in range(9)), ["for (int i = 0; i < 9; ++i) {", "r_u32[3 + 2 * i]", "-3 + i"], []),
    "downwards": ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r9, %r8, %r7, %r6}, [%r1];", ["k.list_of<4>(r, 9, -1)"], []),
    "uniform branch back": ("A:\n add.u32 %r2, %r2, 1;\n setp.lt.u32 %p2, %r2, 9;\n @%p2 bra B;\n add.u32 %r3, %r3, %r2;\n bra.uni A;\nB:",
                            ["k.loop([&](px::loop_handle loop) {", "loop.break_if(p[2]);"], ["named_label", "bra.uni"]),
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
                        'k.inst<"bar.sync">(1);', "r[4] = k.select<px::s32>(-1, 0, p[1]);", "r[3] = k.at(p[1]).move<px::s32>(r_s32[4]);"], ["k.raw"]),
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

    def cubin(self, ptx):
        """Of a text under one name, since ptxas may keep the name."""
        self.write("module.ptx", ptx)
        p = subprocess.run([find_ptxas(), "-c", "-arch=sm_90a", "-o", "module.cubin", "module.ptx"], cwd=self.path, capture_output=True, text=True)
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

    def test_old_versions(self):
        """Words that came with a later PTX are not put into older modules."""
        body = "bar.sync 0;\n bar.sync 1, 64;\n mbarrier.init.shared.b64 [%r1], 1;\n mbarrier.arrive.shared.b64 %rd2, [%r1];"
        ptx = KERNEL.format(body).replace(".version 8.0", ".version 7.0").replace("sm_90a", "sm_80")
        for sugar in [], ["--sugar"]:
            code, out, err = run(PROGRAM, "transpile", *sugar, self.write("k.ptx", ptx))
            self.assertEqual(code, 0, err)
            printed = run(self.built(self.write("k.cpp", out)))[1]
            self.assertNotRegex(printed, r"::cta|barrier\.cta")
            if find_ptxas():
                self.assertEqual(self.cubin(printed), self.cubin(ptx))

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
