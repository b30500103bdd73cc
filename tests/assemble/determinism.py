# SPDX-License-Identifier: Apache-2.0
"""Builds print_kernels.cpp with several compilers and levels and compares the PTX they print, byte for byte.

usage: determinism.py --source FILE --include DIR --work DIR [--ptxas PATH] --compiler CXX...
"""
import argparse
import hashlib
import pathlib
import shutil
import subprocess
import sys


def build_and_run(cxx, level, args, index):
    program = args.work / f"print_{index}"
    command = [cxx, "-std=c++20", level, f"-I{args.include}", str(args.source), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        print(f"FAILED to build with {cxx} {level}:\n{built.stderr[:3000]}")
        return None
    ran = subprocess.run([str(program)], capture_output=True)
    if ran.returncode != 0:
        print(f"FAILED {cxx} {level}: {ran.stderr.decode()}")
        return None
    print(f"{cxx} {level}: {len(ran.stdout)} bytes, sha256 {hashlib.sha256(ran.stdout).hexdigest()[:16]}")
    return ran.stdout


def assemble(text, args):
    modules = text.decode().split("// written with ptxdsl\n")[1:]
    for i, module in enumerate(modules):
        file = args.work / f"module_{i}.ptx"
        file.write_text(module)
        ran = subprocess.run([args.ptxas, "-arch=sm_90a", "-v", str(file), "-o", "/dev/null"], capture_output=True, text=True)
        report = ran.stdout + ran.stderr
        if ran.returncode != 0 or "(C75" in report:
            print(f"FAILED ptxas on module {i}:\n{report}")
            return False
    print(f"ptxas accepts all {len(modules)} modules, without a C75xx remark")
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--include", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas", default="")
    parser.add_argument("--compiler", action="append", default=[])
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    ok, texts, seen = True, [], set()
    for cxx in args.compiler:
        if not shutil.which(cxx):
            print(f"note: {cxx} was not found; its half of the comparison was not run")
            continue
        itself = pathlib.Path(shutil.which(cxx)).resolve()
        if itself in seen:  # `c++` is a link to one of the others
            continue
        seen.add(itself)
        for level in ("-O0", "-O2"):
            text = build_and_run(cxx, level, args, len(texts))
            ok = ok and text is not None
            texts.append(text)
    if len(texts) < 2:
        print("skipped: fewer than two builds to compare")
        return 77
    if len(set(texts)) != 1:
        print("FAILED: the compilers print different PTX")
        ok = False
    if ok and args.ptxas and shutil.which(args.ptxas):
        ok = assemble(texts[0], args)
    elif ok:
        print("note: no ptxas; the text was compared, not assembled")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
