#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a libFuzzer target with clang, runs it on what was found before (inputs/), then for a while on the corpus.

    run_fuzz.py SOURCE CORPUS -I DIR --clang CXX --work DIR [--seconds N]

Exit status 77 where clang has no libFuzzer."""
import argparse
import pathlib
import re
import subprocess
import sys


def dictionary(corpus, path):
    """The words of the corpus, for the fuzzer to put together."""
    words = set()
    for p in pathlib.Path(corpus).rglob("*.ptx"):
        words.update(re.findall(rb"\.[A-Za-z_][\w:]*|[A-Za-z_]\w{1,12}|@@DWARF|%\w+", p.read_bytes()))
    lines = ['"' + "".join(chr(c) for c in w) + '"' for w in sorted(words) if len(w) < 24]
    path.write_text("\n".join(lines[:2000]) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("corpus")
    parser.add_argument("-I", dest="include", required=True)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--seconds", type=int, default=20)
    args = parser.parse_args()
    work = pathlib.Path(args.work)
    seeds, found = work / "seeds", work / "found"
    for d in (seeds, found):
        d.mkdir(parents=True, exist_ok=True)
    program = work / "fuzz"
    build = [args.clang, "-std=c++20", "-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all", "-I", args.include, args.source, "-o", str(program)]
    r = subprocess.run(build, capture_output=True, text=True)
    if r.returncode != 0:
        missing = "libclang_rt" in r.stderr or "unsupported option" in r.stderr
        print(("skipped: this clang has no libFuzzer\n" if missing else "") + r.stderr[:2000])
        return 77 if missing else 1
    before = sorted(str(p) for p in (pathlib.Path(args.source).parent / "inputs").iterdir())
    r = subprocess.run([str(program), "-timeout=10", "-rss_limit_mb=2048", *before], capture_output=True, text=True, errors="replace")
    if r.returncode != 0:
        print("an input of earlier days fails again\n" + r.stderr[-4000:])
        return 1
    for i, p in enumerate(sorted(pathlib.Path(args.corpus).rglob("*.ptx"))):
        text = p.read_bytes()
        if len(text) < 20000:
            (seeds / f"{i}.ptx").write_bytes(text)
    dictionary(args.corpus, work / "words.dict")
    command = [str(program), f"-max_total_time={args.seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=8192", f"-dict={work / 'words.dict'}", f"-artifact_prefix={work}/", "-print_final_stats=1", str(found), str(seeds)]
    r = subprocess.run(command, capture_output=True, text=True, errors="replace")
    stats = dict(re.findall(r"stat::(\w+):\s+(\d+)", r.stderr))
    print(f"{stats.get('number_of_executed_units', '?')} inputs in {args.seconds} s, exit status {r.returncode}")
    if r.returncode != 0:
        print(r.stderr[-4000:])
    return 0 if r.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
