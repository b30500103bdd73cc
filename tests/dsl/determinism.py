#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds order.cpp with every compiler there is, at -O0 and -O2, and compares what the programs print byte for byte.

    determinism.py --source order.cpp --include DIR --work DIR [--compiler PATH ...]

Each program also compares its constant-evaluated text with its run-time text. Exit codes: 0 same, 1 not, 77 no compiler.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", action="append", default=[])
    args = parser.parse_args()

    found = [c for c in args.compiler + ["g++", "clang++-19"] if c and shutil.which(c)]
    # One name for each: `c++` is a link to one of the others.
    compilers = list({pathlib.Path(shutil.which(c)).resolve(): c for c in reversed(found)}.values())
    if not compilers:
        print("skipped: no compiler")
        return 77
    args.work.mkdir(parents=True, exist_ok=True)
    outputs, bad = {}, 0
    for compiler in compilers:
        for level in ("-O0", "-O2"):
            name = f"{pathlib.Path(compiler).name} {level}"
            program = args.work / f"order_{pathlib.Path(compiler).name}{level}"
            build = [compiler, "-std=c++20", level, *(f"-I{d}" for d in args.include), str(args.source), "-o", str(program)]
            done = subprocess.run(build, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"FAILED {name} does not compile {args.source.name}:\n{done.stderr[:2000]}")
                bad += 1
                continue
            done = subprocess.run([str(program)], capture_output=True, check=False)
            if done.returncode != 0:
                print(f"FAILED {name}: run time and constant evaluation differ")
                (args.work / f"{program.name}.txt").write_bytes(done.stdout)
                bad += 1
            outputs[name] = done.stdout
    texts = set(outputs.values())
    if len(texts) > 1:
        print(f"FAILED the texts differ: {', '.join(outputs)}")
        for name, text in outputs.items():
            (args.work / f"{name.replace(' ', '')}.ptx").write_bytes(text)
        bad += 1
    print(f"{len(outputs)} programs ({', '.join(outputs)}), {len(texts)} text(s)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
