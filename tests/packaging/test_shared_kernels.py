#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a program against the installed headers and the kernel library as a shared one, runs it, and checks that the
library exports its calls, the table of measured choices that programs fill, and nothing else of ours."""
import argparse
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    args = parser.parse_args()

    consumer = pathlib.Path(__file__).resolve().parent / "consumer"
    args.work.mkdir(parents=True, exist_ok=True)
    program = args.work / "app_kernels"
    subprocess.run([args.compiler, "-std=c++20", "-O0", "-DPTXDSL_KERNELS_COMPILED", f"-I{args.prefix / 'include'}",
                    "-fvisibility=hidden", "-fvisibility-inlines-hidden",
                    str(consumer / "main_kernels.cpp"), str(consumer / "own_kernel.cpp"), "-o", str(program),
                    str(args.library), f"-Wl,-rpath,{args.library.parent}", "-lfmt", "-ldl", "-pthread"], check=True)
    subprocess.run([str(program)], check=True)

    names = subprocess.run(["nm", "-DC", "--defined-only", str(args.library)], capture_output=True, text=True, check=True)
    ours = [line.split(" ", 2)[2] for line in names.stdout.splitlines() if "ptxdsl" in line]
    calls = [name for name in ours if name.startswith("ptxdsl::kernels::detail::run_compiled(")]
    tuning = [name for name in ours if "ptxdsl::kernels::detail::measured_choices()" in name]  # one in a process
    others = sorted(set(ours) - set(calls) - set(tuning))
    for name in others:
        print(f"exported, and no call of the library: {name[:160]}")
    print(f"test_shared_kernels: {len(calls)} calls exported, {len(others)} other names")
    return 0 if calls and tuning and not others else 1


if __name__ == "__main__":
    sys.exit(main())
