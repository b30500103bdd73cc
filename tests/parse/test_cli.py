#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the command line program as a user does: help, exit statuses, outputs. Usage: test_cli.py PROGRAM"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "ptxdsl"
GOOD = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 64, 1, 1
{
    .reg .b32 %r<3>; // three
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""
BAD = GOOD.replace("mov.u32 %r1, %tid.x;", "mov.u32 %r1 %tid.x;").replace("st.global", "\tst.global")
WRONG = GOOD.replace("mov.u32 %r1", "mov.u64 %r1")
RACING = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 c[256];
    mov.u32 %r0, %tid.x;
    shl.b32 %r1, %r0, 2;
    mov.u32 %r2, c;
    add.u32 %r3, %r2, %r1;
    xor.b32 %r1, %r1, 128;
    add.u32 %r1, %r2, %r1;
    st.shared.u32 [%r3], %r0;
    // meet
    ld.shared.u32 %r0, [%r1];
    ld.param.u64 %rd0, [out];
    st.global.u32 [%rd0], %r0;
    ret;
}
"""
COMMANDS = ["check", "fmt", "info", "diff", "roundtrip", "isa", "explain", "corpus", "transpile"]


def run(*words, stdin=None):
    env = dict(os.environ, NO_COLOR="")
    p = subprocess.run([PROGRAM, *map(str, words)], input=stdin, capture_output=True, text=True, env=env)
    return p.returncode, p.stdout, p.stderr


class Cli(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)

    def file(self, name, text):
        p = self.path / name
        p.parent.mkdir(parents=True, exist_ok=True)
        p.write_bytes(text.encode())
        return p

    def test_help(self):
        code, out, _ = run("--help")
        self.assertEqual(code, 0)
        for c in COMMANDS:
            self.assertIn(f"  {c} ", out)
            for flag in ("--help", "-h"):
                code, text, err = run(c, flag)
                self.assertEqual((code, err), (0, ""))
                self.assertTrue(text.startswith(f"usage: ptxdsl {c}"))
                self.assertIn("Exit status", text)
        self.assertEqual(run("--version")[0], 0)

    def test_wrong_usage(self):
        for words in ([], ["frob"], ["check"], ["check", "--frob", "x"], ["fmt"], ["diff", "a"], ["isa", "--target", "frob"], ["isa", "--version", "x"],
                      ["corpus"], ["corpus", "no such directory"], ["corpus", ".", "--jobs", "0"], ["check", "no such file"], ["fmt", "-i", "--check", "x"]):
            code, out, err = run(*words)
            self.assertEqual(code, 2, words)
            self.assertTrue(err, words)
            self.assertEqual(out, "", words)

    def test_check(self):
        self.assertEqual(run("check", self.file("good.ptx", GOOD)), (0, "", ""))
        bad = self.file("bad.ptx", BAD)
        code, out, err = run("check", bad)
        self.assertEqual((code, out), (1, ""))
        lines = err.splitlines()
        self.assertEqual(lines[0], f"{bad}:9:17: error: expected ',' or ';' behind an operand, found identifier '%tid' [PTXDSL-P10]")
        self.assertEqual(lines[1], "    9 |     mov.u32 %r1 %tid.x;")
        self.assertEqual(lines[2], "      |                 ^~~~")
        self.assertNotIn("\x1b", err)
        code, _, err = run("check", self.file("wrong.ptx", WRONG))
        self.assertEqual(code, 1)
        self.assertIn(":9:13: error: operand 1 of 'mov.u64' cannot be a register of type .b32 [PTXDSL-P29]", err)
        self.assertEqual(run("check", "--syntax-only", self.file("wrong.ptx", WRONG))[0], 0)
        # What ptxas refuses though it can be read: a byte order mark, a comment that is not ASCII.
        for name, text, message in [("mark.ptx", "\ufeff" + GOOD, ":1:1: error: the text starts with a byte order mark, which ptxas refuses [PTXDSL-P02]"),
                                    ("comment.ptx", "// caf\u00e9\n" + GOOD, ":1:7: error: a byte that is not ASCII; ptxas refuses it even in comments [PTXDSL-P02]")]:
            code, _, err = run("check", self.file(name, text))
            self.assertEqual(code, 1, name)
            self.assertIn(message, err)
            self.assertEqual(run("fmt", self.file(name, text))[0], 0, name)  # to read it is no error
        self.assertEqual(run("check", "-", stdin=GOOD)[0], 0)
        self.assertIn("<stdin>:9:17:", run("check", "-", stdin=BAD)[2])

    def test_check_plays(self):
        racing = self.file("racing.ptx", RACING)
        code, out, err = run("check", racing)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("racing.ptx:16:5: error: warp 1 writes 'c', and nothing makes the read of line 18 (warp 0) wait for that", err)
        self.assertIn("[PTXDSL-E07]", err)
        right = self.file("right.ptx", RACING.replace("// meet", "bar.sync 0;"))
        self.assertEqual(run("check", right), (0, "", ""))
        for words in (["--no-play"], ["--no-verify"], ["--syntax-only"]):
            self.assertEqual(run("check", *words, racing), (0, "", ""), words)
        self.assertEqual(run("check", "--no-verify", "--play", racing)[0], 1)
        self.assertEqual(run("check", "--play-limit", "0", racing)[0], 1)
        self.assertEqual(run("check", "--play-limit", "x", racing)[0], 2)
        self.assertEqual([m["id"] for m in json.loads(run("check", "--json", racing)[1])][:1], ["PTXDSL-E07"])
        # How a finding comes about, and its page.
        for words in (["check", "--trace", racing], ["explain", "--trace", racing], ["explain", "E07", "--trace", racing]):
            code, out, err = run(*words)
            self.assertEqual(code, 1 if words[0] == "check" else 0, words)
            self.assertIn("racing.ptx:18: trace in 'k': warp 1 reads 'c', and nothing orders it behind the write of line 16 (warp 0) [PTXDSL-E07]\n    run: the warps in turn; seed 0\n", out)
        self.assertIn("\n# PTXDSL-E07: data used without waiting for it\n", out)
        code, out, err = run("explain", "E01", "--trace", racing)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("finds nothing of PTXDSL-E01", err)
        # What was not played is said: without a block size, and where the time ends.
        free = self.file("free.ptx", RACING.replace(".reqntid 64", ""))
        code, out, err = run("check", free)
        self.assertEqual((code, out), (0, ""))
        self.assertEqual(err, f"{free}: a kernel was not played to the end ('k': the block size is not declared); 'ptxdsl check --play' lists all\n")
        self.assertIn("not followed in 'k': the block size is not declared", run("check", "--play", free)[1])
        # A thousand million rounds, in many kernels.
        long = RACING.replace("// meet", "spin: bar.sync 0; add.u32 %r2, %r2, 1; setp.ne.u32 %p0, %r2, 1000000000; @%p0 bra spin;")
        long = long.replace(".reg .b64", ".reg .pred %p0; .reg .b64")
        head, body = long.split("{", 1)
        huge = self.file("huge.ptx", head + "{" + body + "".join(f".visible .entry k{k}(.param .u64 out)\n.reqntid 64\n{{" + body for k in range(40)))
        code, out, err = run("check", "--play-limit", "1", huge)
        self.assertEqual((code, out), (0, ""))
        self.assertIn("huge.ptx: 41 kernels were not played to the end ('k': ", err)
        self.assertIn("not followed in 'k39': it was not played, for the time that takes\n", run("check", "--play", "--play-limit", "1", huge)[1])

    def test_json_and_sarif(self):
        bad = self.file("bad.ptx", BAD)
        code, out, err = run("check", "--json", bad)
        self.assertEqual((code, err), (1, ""))
        first = json.loads(out)[0]
        self.assertEqual((first["line"], first["column"], first["endColumn"], first["severity"], first["id"]), (9, 17, 21, "error", "PTXDSL-P10"))
        self.assertEqual(json.loads(run("check", "--json", self.file("good.ptx", GOOD))[1]), [])
        self.assertEqual(self.sarif("good.ptx", GOOD), [])
        (result,) = self.sarif("bad.ptx", BAD)
        self.assertEqual(result["locations"][0]["physicalLocation"]["region"], {"startLine": 9, "startColumn": 17, "endLine": 9, "endColumn": 21})
        # Columns count characters, names are URI references; a warning is no error.
        *_, result = self.sarif("a b\u00e4#%.ptx", BAD.replace("mov.u32 %r1 %tid.x", "/* \u00e4\u20ac\U0001f600 */ mov.u32 %r1 %tid.x"))
        place = result["locations"][0]["physicalLocation"]
        self.assertTrue(place["artifactLocation"]["uri"].endswith("/a%20b%C3%A4%23%25.ptx"))
        self.assertEqual(place["region"]["startColumn"], 17 + len("/* \u00e4\u20ac\U0001f600 */ "))
        (result,) = self.sarif("warned.ptx", GOOD.replace("ret;", "mov.u32 %r1, %r2;\n    ret;"))
        self.assertEqual((result["level"], result["ruleId"]), ("warning", "PTXDSL-A06"))

    def sarif(self, name, text):
        """The results of a log that has what SARIF 2.1.0 demands (3.13, 3.14, 3.18, 3.19, 3.27, 3.28, 3.30)."""
        path = self.file(name, text)
        code, out, err = run("check", "--sarif", path)
        self.assertEqual(err, "")
        log = json.loads(out)
        self.assertEqual(log["version"], "2.1.0")
        self.assertTrue(log["$schema"].startswith("https://"))
        (only,) = log["runs"]
        driver = only["tool"]["driver"]
        self.assertEqual(driver["name"], "ptxdsl")
        self.assertRegex(driver["semanticVersion"], r"^\d+\.\d+\.\d+$")
        self.assertIn(only["columnKind"], ("utf16CodeUnits", "unicodeCodePoints"))
        rules = [r["id"] for r in driver["rules"]]
        self.assertEqual(len(rules), len(set(rules)))
        for result in only["results"]:
            self.assertIn(result["level"], ("none", "note", "warning", "error"))
            self.assertIn(result["ruleId"], rules)
            self.assertTrue(result["message"]["text"])
            (location,) = result["locations"]
            place = location["physicalLocation"]
            self.assertRegex(place["artifactLocation"]["uri"], r"^([A-Za-z0-9\-._~/]|%[0-9A-F]{2})+$")
            region = place["region"]
            self.assertLessEqual((1, 1), (region["startLine"], region["startColumn"]))
            self.assertLessEqual((region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"]))
        self.assertEqual(code, int(any(r["level"] == "error" for r in only["results"])))
        return only["results"]

    def test_fmt(self):
        good = self.file("good.ptx", GOOD)
        code, out, _ = run("fmt", good)
        self.assertEqual(code, 0)
        self.assertIn("    .reg .b32 %r<3>;  // three\n", out)
        self.assertNotIn("three", run("fmt", "--strip", good)[1])
        self.assertEqual(run("fmt", "--check", good)[0], 1)
        self.assertEqual(run("fmt", "-i", good), (0, "", ""))
        self.assertEqual(good.read_text(), out)
        self.assertEqual(run("fmt", "--check", good)[0], 0)
        to = self.path / "out.ptx"
        self.assertEqual(run("fmt", "-o", to, good), (0, "", ""))
        self.assertEqual(to.read_text(), out)
        self.assertEqual(run("fmt", self.file("bad.ptx", BAD))[0], 1)

    def test_roundtrip(self):
        good = self.file("good.ptx", GOOD)
        self.assertEqual(run("roundtrip", good), (0, f"{good}: identical, {len(GOOD)} bytes\n", ""))
        code, out, _ = run("roundtrip", self.file("bad.ptx", BAD))
        self.assertEqual(code, 1)
        self.assertIn("identical", out)

    def test_diff(self):
        a, b = self.file("a.ptx", GOOD), self.file("b.ptx", GOOD.replace("    ", "\t").replace("// three", ""))
        self.assertEqual(run("diff", a, b), (0, "", ""))
        c = self.file("c.ptx", GOOD.replace("%tid.x", "%tid.y") + ".global .u32 extra;\n")
        code, out, _ = run("diff", a, c)
        self.assertEqual(code, 1)
        self.assertIn("kernel k differs", out)
        self.assertIn("-     mov.u32 %r1, %tid.x;\n+     mov.u32 %r1, %tid.y;\n", out)
        self.assertIn(f"only in {c}: variable extra", out)
        self.assertNotIn("mov", run("diff", "--brief", a, c)[1])
        self.assertEqual(run("diff", a, self.file("bad.ptx", BAD))[0], 2)

    def test_info(self):
        good = self.file("good.ptx", GOOD)
        code, out, _ = run("info", "--no-ptxas", good)
        self.assertEqual(code, 0)
        for text in ("PTX 8.0 for sm_90a", "kernel k", "p: .u64", "exactly 64 x 1 x 1 threads", "instructions 4"):
            self.assertIn(text, out)
        kernel = json.loads(run("info", "--no-ptxas", "--json", good)[1])[0]["kernels"][0]
        self.assertEqual((kernel["name"], kernel["threads"], kernel["instructions"]), ("k", [64, 1, 1], 4))

    def test_manual_page(self):
        code, page, _ = run("--man")
        self.assertEqual(code, 0)
        for c in COMMANDS:
            self.assertIn(f"\n.SS {c}\n", page)
        for option in ("\\-\\-sarif", "\\-\\-sugar", "\\-\\-jobs N", "PTXDSL_PTXAS"):
            self.assertIn(option, page)
        if shutil.which("groff"):
            p = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou"], input=page, capture_output=True, text=True)
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            self.assertIn("--sarif", p.stdout)
            self.assertIn("Exit status: 0 no errors", p.stdout)

    def test_isa(self):
        code, out, _ = run("isa", "--target", "sm_90a", "wgmma.fence")
        self.assertEqual(code, 0)
        self.assertIn("wgmma.fence.sync.aligned", out)
        self.assertEqual(run("isa", "--target", "sm_100a", "wgmma.fence")[0], 1)
        self.assertEqual(run("isa", "--version", "7.8", "wgmma.fence")[0], 1)
        waits = json.loads(run("isa", "--json", "mbarrier*wait")[1])
        self.assertTrue(waits and all(f["mnemonic"] == "mbarrier" and "wait" in f["modifiers"] for f in waits))
        forms = json.loads(run("isa", "--json", "--target", "sm_90a")[1])
        self.assertTrue(all(set(f) >= {"mnemonic", "modifiers", "operands", "ptx", "targets", "call"} and f["call"].startswith("k.") for f in forms))
        video = next(f for f in forms if f["mnemonic"] == "vavrg4")
        self.assertEqual((video["call"], video["targets"]), ("k.vavrg4 k.vavrg4_into", "sm_30"))
        self.assertEqual(run("isa", "no such instruction")[0], 1)
        # An instruction as it is written: its form has `mad.<hi,lo>`, a set stands for the shape.
        self.assertIn("mad.<hi,lo>.<T=$I>", run("isa", "mad.lo.u32")[1])
        self.assertEqual(run("isa", "mad.lo")[0], 0)
        product = [f["modifiers"] for f in json.loads(run("isa", "--json", "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16")[1])]
        self.assertTrue(product and all(".f32.bf16.bf16" in m for m in product))
        loads = json.loads(run("isa", "--json", "ld.relaxed.gpu.f32")[1])
        self.assertTrue(loads and all("relaxed" in f["modifiers"] for f in loads))
        code, _, err = run("isa", "mad.wide.f32")
        self.assertEqual((code, "'ptxdsl isa mad' lists the forms of it" in err), (1, True))
        self.assertIn("PTX 8.0, sm_90; k.elect_sync k.elect_sync_p\n", run("isa", "elect")[1])

    def test_nothing_found(self):
        """Says that nothing matches, and what is near."""
        for words, says in [
            (["isa", "nonsense"], "no form matches 'nonsense'\n"),
            (["isa", "wgmm"], None),  # a part of a name
            (["isa", "wmgma"], "no form matches 'wmgma'; did you mean 'wgmma' or 'wmma'?"),
            (["isa", "mbarier.arrive"], "did you mean 'mbarrier'?"),
            (["isa", "--target", "sm_100a", "wgmma"], "no form matches 'wgmma' on sm_100a; "),
            (["isa", "--version", "7.0", "wgmma"], "no form matches 'wgmma' in PTX 7.0; "),
            (["explain", "Z99"], "there is no message 'Z99'; 'ptxdsl explain' lists them"),
            (["explain", ""], "there is no message ''; 'ptxdsl explain' lists them"),
            (["explain", "peer"], "titles with this word:\n  PTXDSL-E16"),
        ]:
            with self.subTest(words=words):
                code, out, err = run(*words)
                self.assertEqual((code, err == "", out == ""), (0, True, False) if says is None else (1, False, True))
                self.assertIn(says or "", err)
        code, out, err = run("isa", "--json", "nonsense")
        self.assertEqual((code, json.loads(out)), (1, []))
        self.assertIn("no form matches", err)

    def test_slips(self):
        f = self.file("good.ptx", GOOD)
        (self.path / "empty").mkdir()
        for words, says in [
            (["chekc", f], "there is no command 'chekc'; did you mean 'check'?"),
            (["frobnicate"], "there is no command 'frobnicate'\n"),
            (["check", "--jsno", f], "unknown option '--jsno'; did you mean '--json'?"),
            (["check", f, self.path / "missing.ptx"], "missing.ptx': No such file or directory"),
            (["corpus", self.path / "empty"], "there is no .ptx file below"),
        ]:
            with self.subTest(words=words):
                code, _, err = run(*words)
                self.assertEqual(code, 2)
                self.assertIn(says, err)

    def test_directories_are_no_files(self):
        for c in ["check", "fmt", "info", "roundtrip", "transpile"]:
            with self.subTest(command=c):
                code, out, err = run(c, self.path)
                self.assertEqual((code, out), (2, ""))
                self.assertIn("Is a directory", err)
        self.assertEqual(run("diff", self.path, self.path)[0], 2)

    def test_corpus_passes_over_what_it_cannot_look_at(self):
        """A link to itself has no status, nor has another user's /proc/1/fd."""
        (self.path / "some").mkdir()
        (self.path / "some" / "loop.ptx").symlink_to("loop.ptx")
        (self.path / "some" / "good.ptx").write_text(GOOD)
        code, out, err = run("corpus", "--jobs", "1", self.path / "some")
        self.assertIn("files 1 ", out, err)
        self.assertIn(code, (0, 1), err)

    def test_same_and_different(self):
        f, g = self.file("good.ptx", GOOD), self.file("other.ptx", GOOD.replace("%tid.x", "%tid.y"))
        self.assertEqual(run("diff", f, f), (0, "", ""))
        self.assertEqual(run("diff", f, g)[0], 1)
        self.assertEqual(run("diff", f, self.file("bad.ptx", BAD))[0], 2)

    def test_explain(self):
        code, out, _ = run("explain", "PTXDSL-P21")
        self.assertEqual(code, 0)
        self.assertTrue(out.startswith("# PTXDSL-P21"))
        self.assertEqual(run("explain", "p21")[1], out)
        self.assertEqual(run("explain", "Z99")[0], 1)
        self.assertIn("PTXDSL-P21", run("explain")[1])
        lines = run("explain", "--list")[1].splitlines()
        self.assertEqual(len(lines), len(run("explain")[1].splitlines()))
        self.assertTrue(all(re.match(r"PTXDSL-[A-Z]\d\d: .+", line) for line in lines))
        self.assertIn("PTXDSL-E08: A wait in a loop names the parity of the phase it waits for, which changes with every phase.", lines)
        self.assertEqual(run("explain", "--list", "E08")[0], 2)

    def test_many_parameters(self):
        """Quadratic once: a minute and more."""
        many = ", ".join(f".param .u32 p{i}" for i in range(60000))
        f = self.file("many.ptx", f".version 8.0\n.target sm_90a\n.address_size 64\n.entry k({many}) {{ ret; }}\n")
        for words in ["info", "--no-ptxas"], ["info", "--no-ptxas", "--json"]:
            p = subprocess.run([PROGRAM, *words, str(f)], capture_output=True, text=True, timeout=20)
            self.assertEqual(p.returncode, 0)
            self.assertIn("p59999", p.stdout)

    def test_corpus_with_relative_paths(self):
        """Child processes run in scratch folders; options are paths as the user sees them."""
        self.file("corpus/good.ptx", GOOD)
        self.file("include/ptxdsl/module.hpp", "#error this header was found\n")
        words = [os.path.abspath(PROGRAM), "corpus", "corpus", "--jobs", "1", "--include", "include"]
        p = subprocess.run(words, cwd=self.path, capture_output=True, text=True)
        self.assertEqual(p.returncode, 2)
        if shutil.which(os.environ.get("CXX", "c++")) is not None:
            self.assertIn("this header was found", p.stderr)

    def test_corpus(self):
        self.file("corpus/good.ptx", GOOD)
        self.file("corpus/reject/bad.ptx", BAD)
        code, out, _ = run("corpus", self.path / "corpus", "--jobs", "1", "--no-transpile")
        self.assertEqual(code, 0, out)
        words = out.splitlines()[-1].split()
        self.assertEqual(words[0::2], ["files", "assembled", "parsed", "lossless", "semantic", "transpiled", "sugared"])
        self.assertEqual((words[1], words[5], words[7]), ("2", "1", "2"))
        self.assertEqual(words[3], words[9])
        self.file("corpus/wrong.ptx", WRONG)
        code, out, _ = run("corpus", self.path / "corpus", "--jobs", "1", "--no-transpile")
        self.assertEqual(code, 1)
        self.assertIn("wrong.ptx: 9:13: operand 1", out)

    def test_corpus_of_others(self):
        """--foreign pardons what ptxas refuses and nothing else; --by-folder counts each folder."""
        self.file("corpus/a/good.ptx", GOOD)
        self.file("corpus/b/deep/er/large.ptx", GOOD + "// " + "x" * 1000 + "\n")
        self.file("corpus/b/wrong.ptx", WRONG)
        self.file("corpus/top.ptx", GOOD)
        words = ["corpus", self.path / "corpus", "--no-transpile", "--by-folder", "--jobs", "1"]
        code, out, _ = run(*words)
        self.assertEqual(code, 1)
        *_, top, a, b, last = [line.partition(" files ") for line in out.splitlines()]
        self.assertEqual([x[0] for x in (top, a, b)], [".:", "a:", "b:"])
        self.assertEqual([x[2].split()[0] for x in (top, a, b)] + [last[0].split()[1]], ["1", "1", "2", "4"])
        code, out, _ = run(*words, "--foreign", "--verbose")
        if "no ptxas" in out:
            self.assertEqual(code, 1)  # nobody knows that it is refused
        else:
            self.assertEqual(code, 0, out)
            self.assertIn("b: files 2 assembled 1 parsed 2 lossless 2 semantic 1", out)
        self.assertRegex(out.splitlines()[0] + out.splitlines()[1], r"/large\.ptx: good")  # the largest first
        self.assertRegex(out, r"good\.ptx: good.* \(\d+\.\d s\)")

    def test_corpus_in_time(self):
        """A child that hangs is ended with its own children; its file and those behind it are counted as not finished."""
        self.file("corpus/a/good.ptx", GOOD)
        self.file("corpus/b/good.ptx", GOOD)
        slow = self.file("slow", f"#!/bin/sh\nsleep 300 &\necho $! > {self.path}/sleeper\nwait\n")
        slow.chmod(0o755)
        begin = time.monotonic()
        code, out, _ = run("corpus", self.path / "corpus", "--no-transpile", "--by-folder", "--jobs", "1", "--seconds", "1", "--ptxas", slow)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(code, 1)
        self.assertIn("2 files were not finished when the time was over", out)
        for folder in "ab":
            self.assertIn(f"{folder}: files 0 assembled 0 parsed 0 lossless 0 semantic 0 transpiled 0 sugared 0, 1 not finished", out)
        sleeper = pathlib.Path("/proc") / (self.path / "sleeper").read_text().strip()
        for _ in range(50):  # it may be there as a zombie until init has seen it
            if not sleeper.exists() or "Z" in (sleeper / "stat").read_text().split()[2]:
                break
            time.sleep(0.1)
        else:
            self.fail("the child of the child goes on")
        self.assertEqual(run("corpus", self.path, "--seconds", "0")[0], 2)
        code, out, _ = run("corpus", self.path / "corpus", "--no-transpile", "--seconds", "60")
        self.assertEqual(code, 0, out)
        self.assertNotIn("not finished", out)


if __name__ == "__main__":
    unittest.main()
