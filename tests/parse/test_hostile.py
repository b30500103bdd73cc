#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts nobody means well with, through every command of the program: each ends with status 0, 1 or 2, soon, and no
sanitizer says anything. Usage: test_hostile.py PROGRAM CORPUS [FACTOR]; sizes are multiplied by FACTOR (10: lines of
50 MB, for the sanitizers' build)."""
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CORPUS = sys.argv[1], pathlib.Path(sys.argv[2])
FACTOR = int(sys.argv[3]) if len(sys.argv) > 3 else 1
HEAD = b".version 8.0\n.target sm_90a\n.address_size 64\n"
COMMANDS = [["check"], ["check", "--json"], ["check", "--sarif"], ["fmt"], ["info", "--no-ptxas"], ["roundtrip"], ["transpile"],
            ["transpile", "--sugar"]]


def made():
    """One text for each way of being large, deep or broken."""
    n = FACTOR
    body = lambda s: HEAD + b".entry k() {" + s + b"ret; }"
    yield "scopes", body(b"{" * 20000 * n)
    yield "closed scopes", body(b"{" * 900 + b"}" * 900)
    yield "parentheses", HEAD + b".global .u32 a = " + b"(" * 30000 * n + b"1;"
    yield "signs", HEAD + b".global .u32 a = " + b"-" * 30000 * n + b"1;"
    yield "conditions", HEAD + b".global .u32 a = " + b"1?" * 10000 * n + b"1" + b":1" * 10000 * n + b";"
    yield "aggregates", HEAD + b".global .u32 a[] = " + b"{" * 30000 * n
    yield "comment without end", HEAD + b"/*" + b"x" * 500000 * n
    yield "string without end", HEAD + b'.pragma "' + b"x" * 500000 * n
    yield "long name", HEAD + b".global .u32 " + b"n" * 500000 * n + b";"
    yield "one line", body(b".reg .b32 r<9>; " + b"add.u32 r1,r2,r3; " * (280000 * n))
    yield "one list", body(b".reg .b32 r<9>; mov.b32 {" + b"r1," * 200000 * n + b"r2}, r1; ")
    yield "modifiers", body(b"add" + b".u32" * 100000 * n + b" r1,r2,r3; ")
    yield "labels", body(b"".join(b"L%d: " % i for i in range(20000 * n)))
    yield "branches", body(b".reg .pred p;" + b"".join(b"L%d: @p bra L%d; " % (i, i * 7919 % (2000 * n)) for i in range(2000 * n)))
    yield "parameters", HEAD + b".entry k(" + b",".join(b".param .u32 p%d" % i for i in range(30000 * n)) + b") { ret; }"
    yield "numbers", HEAD + b".global .u64 a[3] = {9" + b"9" * 30 + b", 0x" + b"f" * 100000 + b", 1e" + b"9" * 1000 + b"};"
    yield "shape", body(b".reg .f32 f<9>; wgmma.mma_async.sync.aligned.m64n4294967295k16.f32.bf16.bf16 {f0,f1}, a, b, 1,1,1,0,0; ")
    yield "zeros", b"\0" * 100000 * n


def broken(random):
    """Pieces of the corpus, and the corpus with other bytes."""
    seeds = [s for s in sorted(CORPUS.rglob("*.ptx")) if s.stat().st_size != 0]
    for i in range(12 * FACTOR):
        text = random.choice(seeds).read_bytes()
        yield f"cut {i}", text[:random.randrange(len(text))]
        text = bytearray(random.choice(seeds).read_bytes())
        for _ in range(random.randrange(1, 40)):
            text[random.randrange(len(text))] = random.randrange(256)
        yield f"other bytes {i}", bytes(text)
    noise = bytes(random.randrange(256) for _ in range(50000 * FACTOR))
    yield "noise", noise
    yield "noise behind a head", HEAD + noise


class Hostile(unittest.TestCase):
    def examine(self, texts):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "hostile.ptx"
            for name, text in texts:
                path.write_bytes(text)
                for words in COMMANDS:
                    with self.subTest(text=name, command=" ".join(words)):
                        p = subprocess.run([PROGRAM, *words, str(path)], capture_output=True, timeout=60 * FACTOR)
                        said = p.stderr[-2000:].decode(errors="replace")
                        self.assertIn(p.returncode, (0, 1, 2), said)
                        self.assertNotRegex(said, "Sanitizer|runtime error")

    def test_made(self):
        self.examine(made())

    def test_broken(self):
        self.examine(broken(random.Random(4)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
