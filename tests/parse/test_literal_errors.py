#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PTX errors in C++ literals: line and column of the PTX in the first error line of g++ and clang, at their default
limits; and a kernel of 10 kB compiles at these limits. Usage: test_literal_errors.py CORPUS -I DIR [--gcc CXX] [--clang CXX]"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

CASES = [
    ('.version 8.0\n.target sm_90a\n.entry k() {\n    .reg .b32 %r<3>;\n    add.u32 %r0, %r1 %r2;\n    ret;\n}', ["PTX 5:22: expected", "behind an operand"]),
    ('.version 8.0\n.target sm_90a\n.entry k() {\n    .reg .b32 %r<3>;\n    add.u32 %r0, %r1, %r3;\n    ret;\n}', ["PTX 5:23: ", "%r3", "is not", "declared"]),
    ('.version 8.0\n.target sm_90\n.entry k() { wgmma.fence.sync.aligned; ret; }', ["PTX 3:14: ", "wgmma.fence"]),
    ('.version 8.0\n.target sm_90a\n.entry k() { ret; ', ["PTX 3:19: expected '}'", "end of file"]),
]
KERNELS = [
    ('px::ptx_kernel<good, float>', ["PTXDSL-J01", "another number of parameters"]),
    ('px::ptx_kernel<good, px::pointer_param<float>, px::u64>', ["PTXDSL-J01", "parameter 1 of the PTX kernel"]),
    ('px::named_ptx_kernel<good, "other", px::pointer_param<float>, px::u32>', ["PTXDSL-J01", "no such kernel"]),
]
GOOD = '.version 8.0\n.target sm_90a\n.entry k(.param .u64 p, .param .u32 n) { ret; }'


def compile_text(compiler, include, directory, text):
    source = pathlib.Path(directory) / "literal.cpp"
    source.write_text(text)
    return subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", include, str(source)], capture_output=True, text=True)


def first_error(text):
    line = next((l for l in text.splitlines() if re.search(r"\berror: ", l)), "")
    return line.replace("\\'", "'")


def expect(compiler, result, words, failures, what):
    line = re.sub(r"\"\}, (ptxdsl::)?fixed_string<\d+>\{\"", "", first_error(result.stderr))
    if result.returncode == 0 or any(w not in line for w in words):
        failures.append(f"{compiler}: {what}: first error line is: {line[:400]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus")
    parser.add_argument("-I", dest="include", required=True)
    parser.add_argument("--gcc", default="")
    parser.add_argument("--clang", default="")
    args = parser.parse_args()
    compilers = [c for c in (args.gcc, args.clang) if c]
    if not compilers:
        print("skipped: no compiler")
        return 77
    failures = []
    head = "#include <ptxdsl/parse.hpp>\nnamespace px = ptxdsl;\n"
    large = max((p for p in pathlib.Path(args.corpus, "nvcc").glob("*sm_90a.ptx") if p.stat().st_size < 10500), key=lambda p: p.stat().st_size).read_text()
    assert len(large) > 8000, len(large)
    large = large.rstrip() + "\n" + "".join(f".global .u32 filler_{i};\n" for i in range((10240 - len(large)) // 26 + 1) if len(large) < 10240)
    with tempfile.TemporaryDirectory() as d:
        for c in compilers:
            for text, words in CASES:
                expect(c, compile_text(c, args.include, d, head + f'constexpr auto m = px::parse<R"({text})">();\n'), words, failures, text.splitlines()[-1])
            for kernel, words in KERNELS:
                expect(c, compile_text(c, args.include, d, head + f'constexpr px::fixed_string good = R"({GOOD})";\nconstexpr auto n = {kernel}::resources();\n'), words, failures, kernel)
            r = compile_text(c, args.include, d, head + f'constexpr auto m = px::parse<R"~({large})~">();\nstatic_assert(m.tree().n_nodes > 1000);\n')
            if r.returncode != 0:
                failures.append(f"{c}: {len(large)} bytes at default limits: {first_error(r.stderr)[:300]}")
    print("\n".join(failures) or f"good: {len(CASES) + len(KERNELS)} refusals and {len(large)} bytes with {len(compilers)} compilers")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
