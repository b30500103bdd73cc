#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ptxdsl check` on kernels that are right, and on the same with one thing wrong: the rule, its severity and the line."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = ""
TEXTS = pathlib.Path(__file__).parent / "verified"

TRY_FULL = "    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n    @!%p2 bra wait;\n"
COPY_4096 = "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 4096, [%r3];\n"
WAIT_9 = "W1:\n    mbarrier.try_wait.parity.shared::cta.b64 %p9, [bar], 0;\n    @!%p9 bra W1;\n"
LAST = "cp.async.bulk.wait_group.read 0;\n    mbarrier.inval"

# text, rule, what is replaced, what by, words of the line that is blamed. A rule in lower case is a warning.
WRONG = [
    # Registers.
    ("branches", "A06", "    add.u64 %rd3, %rd1, %rd2;\n", "", "st.global.u32 [%rd3]"),
    ("branches", "A06", "    setp.lt.u32 %p3, %r3, 2;\n", "", "@%p3 bra given_up"),
    ("branches", "a06", "    mov.u32 %r4, 0;\n", "", "add.u32 %r4, %r4, %r3"),
    ("branches", "a06", "    mov.u32 %r6, 7;\n    bra end;\nfound:\n    mov.u32 %r6, %r5;\n", "    bra end;\nfound:\n", "mul.wide.u32"),
    ("bulk_copy", "E11", "    @!%p2 bra wait;\n", "", "try_wait.parity.shared::cta.b64 %p2"),
    ("reduced_load", "a06", "    tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%v2, %v3}, %least, [%mine];\n", "", "st.global.b32 [%out], %least"),
    # Shared memory.
    ("phases", "B03", "[b+16]", "[b+20]", "ld.shared.v4.u32"),
    # wgmma.
    ("wgmma", "D08", "    wgmma.fence.sync.aligned;\n", "", "wgmma.mma_async"),
    ("wgmma", "D08", "more:\n    wgmma.fence.sync.aligned;\n", "    wgmma.fence.sync.aligned;\nmore:\n", "wgmma.mma_async"),
    ("wgmma", "D09", "    wgmma.wait_group.sync.aligned 0;\n", "", "add.f32 %f1"),
    ("wgmma", "D09", "wgmma.wait_group.sync.aligned 0", "wgmma.wait_group.sync.aligned 1", "add.f32 %f1"),
    ("wgmma", "D10",
     ["    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n", "    add.f32 %f1, %f1, %f2;\n", "[%rd1], %f1"],
     ["", "", "[%rd1], 0f00000000"], "wgmma.mma_async"),
    ("wgmma", "d10", "    wgmma.wait_group.sync.aligned 0;\n", "    wgmma.wait_group.sync.aligned 0;\n    wgmma.commit_group.sync.aligned;\n",
     "wgmma.commit_group"),
    ("wgmma", "D12", ["    @%p1 bra behind;\n", ".reqntid 128, 1, 1"], ["", ".reqntid 64, 1, 1"], "wgmma.mma_async"),
    # mbarriers.
    ("phases", "E01", "[bars], 128;", "[bars], 64;", "mbarrier.arrive.shared.b64"),
    ("phases", "E01", "    mbarrier.arrive.shared.b64 _, [bars];", "    mbarrier.arrive.shared.b64 _, [bars], 2;", "mbarrier.arrive.shared.b64"),
    ("phases", "E01", "    mbarrier.arrive.expect_tx.shared.b64 _, [bars+8], 3072", "    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bars+8], 3072",
     "mbarrier.expect_tx"),
    ("phases", "E02", "[bars+8], 1;", "[bars+8], 0;", "mbarrier.init.shared.b64 [bars+8]"),
    ("phases", "E02", "[bars], 128;", "[bars], 1048576;", "mbarrier.init.shared.b64 [bars]"),
    ("phases", "E03", "    mbarrier.init.shared.b64 [bars+8], 1;\n", "", "[bars+8]"),
    ("phases", "E03", "    bar.sync 0;\n", "", "mbarrier.arrive.shared.b64 _, [bars]"),
    ("phases", "E04", "[bars+8], 3072", "[bars+8], 4096", "mbarrier.arrive.expect_tx"),
    ("phases", "E04", "[b], [%rd1], 2048,", "[b], [%rd1], 1024,", "mbarrier.arrive.expect_tx"),
    ("bulk_copy", "E04", "_, [%r3], 4096", "_, [%r3], 4080", "mbarrier.arrive.expect_tx"),
    ("bulk_copy", "E04", COPY_4096, "", "mbarrier.arrive.expect_tx"),
    ("bulk_copy", "E05", [COPY_4096, COPY_4096], ["", ""], "mbarrier.arrive.expect_tx"),
    ("phases", "E05", "arrive.expect_tx.shared.b64 _, [bars+8], 3072", "arrive.shared.b64 _, [bars+8]", "cp.async.bulk"),
    ("phases", "E06", "[bars+8], 3072", "[bars+8], 1048576", "mbarrier.arrive.expect_tx"),
    ("phases", "E08", "[bars], %r4", "[bars], 0", "mbarrier.try_wait.parity.shared.b64 %p3"),
    ("bulk_copy", "E12", "    mbarrier.inval.shared::cta.b64 [%r3];\n", "", "mbarrier.init.shared::cta.b64 [%r3], 1"),
    # Bulk copies.
    ("bulk_copy", "f04", LAST, LAST.replace("cp.async.bulk.wait_group.read 0;\n", "\n"), "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [second]"),
    ("bulk_copy", "f04", "    cp.async.bulk.commit_group;\n    " + LAST, "    cp.async.bulk.wait_group.read 0;\n    mbarrier.inval", "[second], 1024"),
    ("bulk_copy", "F04", LAST, "mbarrier.inval.shared::cta.b64 [%r3];\n" + COPY_4096.replace("[%r2]", "[second]").replace("4096", "1024") + "    mbarrier.inval",
     "[second], [%rd1], 1024"),
    ("bulk_copy", "F14", LAST, LAST.replace("read 0", "read 1") + ".shared::cta.b64 [%r3];\n" + COPY_4096.replace("[%r2]", "[second]").replace("4096", "1024") + "    mbarrier.inval",
     "[second], [%rd1], 1024"),
    ("bulk_copy", "F05", "    st.shared.u32 [second], %r6;\n    fence.proxy.async.shared::cta;\n", "    st.shared.u32 [second], %r6;\n", "[second], 1024"),
    ("bulk_copy", "F07", "    @%p1 bra done;\n    cp", "    cp", "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2]"),
    ("bulk_copy", "F09", ["    bar.sync 0;\n    @%p1 bra done;", "[%r2], 4096;\n    cp.async.bulk.commit"], ["    mov.u32 %r8, 4088;\n    bar.sync 0;\n    @%p1 bra done;", "[%r2], %r8;\n    cp.async.bulk.commit"], "[%r2], %r8"),
    ("bulk_copy", "F09", "[%rd2], [second], 1024", "[%rd2], [second+8], 1008", "[second+8]"),
    ("cluster", "F06", "mov.u16 %h1, 3;", "mov.u16 %h1, 7;", "multicast::cluster"),
    ("cluster", "F06", "mov.u16 %h1, 3;", "mov.u16 %h1, 0;", "multicast::cluster"),
    # Clusters.
    ("cluster", "G03", "%r3, %r2, 1;", "%r3, %r2, 2;", "mapa"),
    ("cluster", "G05", "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n    ret", "    barrier.cluster.wait.aligned;\n    ret", "barrier.cluster.wait"),
    ("cluster", "G05", "met:\n    barrier.cluster.arrive.aligned;\n", "met:\n    barrier.cluster.arrive.aligned;\n    barrier.cluster.arrive.aligned;\n", "barrier.cluster.arrive"),
    ("cluster", "G04", "    barrier.cluster.wait.aligned;\n    ret", "    ret", "barrier.cluster.arrive"),
    ("cluster", "G06", "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n    mov.u32 %r2", "    mov.u32 %r2", "multicast::cluster"),
    # Warps and registers.
    ("roles", "H01", "bar.sync 2, 256", "mov.u32 %r2, 250;\n    bar.sync 2, %r2", "bar.sync 2"),
    ("roles", "H01", "bar.sync 2, 256", "mov.u32 %r2, 16;\n    bar.sync %r2, 256", "bar.sync %r2"),
    ("roles", "H01", "bar.sync 2, 256", "bar.sync 2, 512", "bar.sync 2"),
    ("roles", "H02", "bar.sync 2, 256", "bar.sync 2, 288", "bar.sync 2"),
    ("roles", "H02", "    bar.arrive 1, 384;\n", "", "bar.sync 1, 384"),
    ("roles", "H02", "    bar.sync 1, 384;\n", "", "bar.arrive 1"),
    ("styles", "H02", "    bar.arrive 2, 256;\nG1L:\n", "G1L:\n", "bar.sync"),
    ("bulk_copy", "e03", "    fence.mbarrier_init.release.cluster;\ninitialised", "initialised", "cp.async.bulk.shared::cluster"),
    ("roles", "H04", ".u32 232", ".u32 240", "setmaxnreg.inc"),
    ("roles", "H04", ".u32 40", ".u32 176", "setmaxnreg.dec"),
    ("roles", "h07", ".minnctapersm 1\n", "", "setmaxnreg.dec"),
    ("bulk_copy", "H05", "    @!%p2 bra wait;\n", "    @!%p2 bra wait;\n    @%p1 bra over;\n    bar.sync 0;\nover:\n", "bar.sync 0"),
    # Tensor memory.
    ("tensor_memory", "I01", "tcgen05.commit.cta_group::1", "tcgen05.commit.cta_group::2", "tcgen05.commit"),
    ("tensor_memory", "I02", "[where], 64;", "[where], 512;\n    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where], 32;", "[where], 32"),
    ("tensor_memory", "I03", "    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 64;\n", "", "tcgen05.alloc"),
    ("tensor_memory", "I03", "%r3, 64;\nfreed", "%r3, 64;\n    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 64;\nfreed", "tcgen05.dealloc"),
    ("tensor_memory", "I03", "allocated:\n", "    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where], 64;\nallocated:\n", "tcgen05.alloc"),
    ("tensor_memory", "I03", "%r3, 64;", "%r3, 128;", "tcgen05.dealloc"),
    ("tensor_memory", "I08", "    tcgen05.wait::ld.sync.aligned;\n", "", "tcgen05.ld"),
    ("tensor_memory", "I10", "[%r19];", "[%r3];", "tcgen05.ld"),
    ("tensor_memory", "I11", "    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n", "", "tcgen05.ld"),
    ("tensor_memory", "i11", "bra issued;\n    tcgen05.fence::after_thread_sync;\n", "bra issued;\n", "tcgen05.ld"),
    ("tensor_memory", "I14", "    @%p2 bra issued;\n    tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd2, %rd3, %r1, %p3", "    tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd2, %rd3, %r1, 1",
     "tcgen05.mma"),
    # What the styles of other libraries do, with a step left out.
    ("styles", "E03", "    mbarrier.init.shared::cta.b64 [%r6], 32;\n", "", "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], 0"),
    ("styles", "E03", "INITD:\n    bar.sync 0;\n    and.b32 %r3, %r1, 31;\n    setp.ne.u32 %p1", "INITD:\n    and.b32 %r3, %r1, 31;\n    setp.ne.u32 %p1",
     "mbarrier.try_wait.parity.shared::cta.b64 %p9, [bar], 0"),
    ("styles", "E01", "    mbarrier.init.shared::cta.b64 [bar], 4;\n", "    mbarrier.init.shared::cta.b64 [bar], 8;\n", "mbarrier.arrive.shared::cta.b64 _, [bar];"),
    ("styles", "E01", "cp.async.mbarrier.arrive.noinc.shared.b64", "cp.async.mbarrier.arrive.shared.b64", "cp.async.mbarrier.arrive"),
    ("styles", "E01", ["_, [full+8], 1024", "[buf+1024], [%rd1], 1024, [full+8]", "%p9, [full+8], 0"], ["_, [full], 1024", "[buf+1024], [%rd1], 1024, [full]", "%p9, [full], 0"],
     "mbarrier.try_wait.parity.shared::cta.b64 %p9, [full], 0"),
    ("styles", "E07", WAIT_9 + "    ld.shared.u32 %r3, [buf];\n    griddepcontrol", "    ld.shared.u32 %r3, [buf];\n    griddepcontrol", "ld.shared.u32 %r3, [buf]"),
    ("styles", "E07", WAIT_9 + "    ld.shared.u32 %r3, [buf];\n    griddepcontrol", "    ld.shared.u32 %r3, [buf];\n" + WAIT_9 + "    griddepcontrol", "ld.shared.u32 %r3, [buf]"),
    ("styles", "E07", ["    cp.async.wait_group 1;\n", "    cp.async.wait_all;\n"], ["", ""], "ld.shared.u32 %r8, [%r5]"),
    ("styles", "E08", "%p3, [bar], 1;\n    @!%p3 bra W2;\n    add", "%p3, [bar], 0;\n    @!%p3 bra W2;\n    add", "%p3, [bar], 0;"),
    ("phases", "C08", "[b], [%rd1], 2048,", "[b], [%rd1], 65536,", "65536"),
    ("styles", "H03", ["    redux.sync.add.u32 %r5, %r4, 0xffff;\n    st.global.u32 [%rd1], %r5;\nE:\n"],
     ["    redux.sync.add.u32 %r5, %r4, -1;\n    st.global.u32 [%rd1], %r5;\nE:\n    bar.warp.sync -1;\n"], "redux.sync"),
    ("styles_blackwell", "E07", WAIT_9.replace("[bar]", "[full]") + "    ld.shared.v4.u32", "    ld.shared.v4.u32", "ld.shared.v4.u32"),
    ("styles_blackwell", "I08", "    tcgen05.wait::ld.sync.aligned;\n    st.global.u32 [%rd1], %r40;\n    st.global.u32 [%rd1+4], %r41;\nX:\n    tcgen05.fence::before_thread_sync;\n    bar.sync 0;\n    @%p2 bra E;\n    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 512;\nE:\n    ret;\n}\n\n.visible .entry a_in_tmem",
     "    st.global.u32 [%rd1], %r40;\n    st.global.u32 [%rd1+4], %r41;\nX:\n    tcgen05.fence::before_thread_sync;\n    bar.sync 0;\n    @%p2 bra E;\n    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 512;\nE:\n    ret;\n}\n\n.visible .entry a_in_tmem",
     "tcgen05.ld"),
    # Device functions.
    ("prints", "E01", "[bar], 64;", "[bar], 32;", "mbarrier.arrive.shared.b64"),
    ("prints", "E01", "    mbarrier.arrive.shared.b64 _, [bar];\n", "", "mbarrier.try_wait"),
    ("functions", "A06", "    setp.gt.s32 %p1, %r1, 0;\n", "", "@%p1 mov.u32"),
    ("functions", "a06", "    mov.u32 %r2, 0;\n    @%p1 mov.u32 %r2, %r1;\n", "", "st.param.b32 [result]"),
    ("functions", "H01", "bar.sync 3, 64", "mov.u32 %r3, 48;\n    bar.sync 3, %r3", "bar.sync 3"),
    # Control flow.
    ("branches", "K03", ["    @%p4 bra found;\n", "    @%p3 bra given_up;\n", "    @%p6 bra outer;\n"], ["", "", "    bra outer;\n"], "add.u32 %r4, %r4, %r3"),
    ("phases", "K03", "    @%p3 bra arrived;\n    bra.uni spin;\narrived:\n", "    bra.uni spin;\n", "mbarrier.try_wait.parity.shared.b64 %p3"),
]


def check(path):
    run = subprocess.run([TOOL, "check", "--json", str(path)], capture_output=True, text=True)
    return run.returncode, json.loads(run.stdout)


class Verified(unittest.TestCase):
    def test_right(self):
        for path in sorted(TEXTS.glob("*.ptx")):
            with self.subTest(path.name):
                self.assertEqual(check(path), (0, []))

    def test_right_for_ptxas(self):
        ptxas = os.environ.get("PTXDSL_PTXAS")
        if not ptxas:
            self.skipTest("no ptxas")
        for path in sorted(TEXTS.glob("*.ptx")):
            arch = re.search(r"\.target (\w+)", path.read_text()).group(1)
            subprocess.run([ptxas, "-arch=" + arch, str(path), "-o", "/dev/null"], check=True)

    def test_every_text_is_used(self):
        self.assertEqual({w[0] for w in WRONG}, {p.stem for p in TEXTS.glob("*.ptx")})

    def test_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "wrong.ptx"
            for text, rule, old, new, line in WRONG:
                with self.subTest(text=text, rule=rule, old=old, new=new):
                    good = (TEXTS / (text + ".ptx")).read_text()
                    wrong = good
                    for o, n in zip([old], [new]) if isinstance(old, str) else zip(old, new, strict=True):
                        self.assertIn(o, wrong)
                        wrong = wrong.replace(o, n, 1)
                    path.write_text(wrong)
                    status, findings = check(path)
                    lines = wrong.split("\n")
                    severity = "error" if rule.isupper() else "warning"
                    found = [(f["severity"], f["id"], lines[f["line"] - 1]) for f in findings]
                    self.assertTrue([f for f in found if f[:2] == (severity, "PTXDSL-" + rule.upper()) and line in f[2]], found)
                    self.assertEqual(status, 1 if "error" in [f[0] for f in found] else 0)
                    for f in findings:
                        self.assertNotRegex(f["message"], r"\bk\.", "C++ in a message about PTX")
                    run = subprocess.run([TOOL, "check", "--no-verify", str(path)], capture_output=True, text=True)
                    self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_advice(self):
        """Whatever the verifier advises in C++ has its words in PTX."""
        verify = pathlib.Path(__file__).parents[2] / "include" / "ptxdsl" / "verify"
        rows = re.findall(r'inline constexpr char (\w+)\[\] =\s*"(.*)";', (verify / "catalogue.hpp").read_text())
        self.assertGreater(len(rows), 150)
        for name, row in rows:
            head, sentence = row.split(": ", 1)
            self.assertRegex(head, r"^[A-Z]\d\d (error|warning)(, (warning|mild) in texts)?$", name)
            self.assertEqual(name[:4], head[:3] + "_", name)
            parts = sentence.split("@")
            self.assertEqual(len(parts) % 3, 1, name)
            for_ptx = "".join(part for i, part in enumerate(parts) if i % 3 != 1)
            self.assertNotRegex(for_ptx, r"\bk\.[a-z]", name)
            for calls, instructions in zip(parts[1::3], parts[2::3]):
                self.assertEqual(calls.count("{}"), instructions.count("{}"), name)
        for header in sorted(verify.rglob("*.hpp")):
            if header.name != "catalogue.hpp":
                self.assertNotRegex(header.read_text(), r'"[^"\n]*\bk\.[a-z]', header.name)

    def test_flow_without_structure(self):
        """Loops with two entries: rules about flow are silent, others are not. A branch by a table is flow like any other,
        whether the table names its targets or has a range of them, and under a guard as well."""
        base = (TEXTS / "wgmma.ptx").read_text().replace("    wgmma.fence.sync.aligned;\n", "")
        two_entries = base.replace("    @%p1 bra behind;\n", "    @%p1 bra middle;\n").replace("    add.u32 %r2, %r2, 1;\n", "middle:\n    add.u32 %r2, %r2, 1;\n")
        by_range = base.replace("    @%p1 bra behind;\n", "table: .branchtargets L<2>;\n    brx.idx %r1, table;\nL0:\n").replace("behind:\n", "L1:\n")
        by_table = base.replace("    @%p1 bra behind;\n", "table: .branchtargets behind, more, behind;\n    brx.idx %r1, table;\n")
        guarded = by_table.replace("    brx.idx", "    @%p1 brx.idx.uni")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "wild.ptx"
            path.write_text(two_entries)
            self.assertEqual(check(path), (0, []))
            path.write_text(two_entries.replace("    st.global.f32", "    mov.u32 %r3, 17;\n    bar.sync %r3;\n    st.global.f32"))
            self.assertEqual([f["id"] for f in check(path)[1]], ["PTXDSL-H01"])
            for text in (by_range, by_table, guarded):
                path.write_text(text)
                self.assertEqual({f["id"] for f in check(path)[1]}, {"PTXDSL-D08"})


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
