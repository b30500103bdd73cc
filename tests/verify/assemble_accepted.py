#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows ptxas the kernels that a verify test calls right: what the verifier accepts must be a program at all.

usage: assemble_accepted.py AT_LEAST TEST_PROGRAM
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def assemble(ptxas, file):
    text = file.read_text(encoding="utf-8")
    target = re.search(r"^\.target (\w+)", text, re.MULTILINE).group(1)
    run = subprocess.run([ptxas, "-arch", target, str(file), "-o", str(file.with_suffix(".cubin"))], capture_output=True, text=True)
    return [] if run.returncode == 0 else [text.splitlines()[0], *(run.stdout + run.stderr).splitlines()[:3]]


def main():
    at_least, program = int(sys.argv[1]), sys.argv[2]
    ptxas = os.environ.get("PTXDSL_PTXAS")
    if not ptxas:
        print("no ptxas")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([program], check=True, env={**os.environ, "PTXDSL_KEEP_PTX": directory}, stdout=subprocess.DEVNULL)
        files = sorted(pathlib.Path(directory).glob("*.ptx"), key=lambda f: int(f.stem))
        refused = [said for f in files if (said := assemble(ptxas, f))]
    for said in refused:
        print("\n".join(said))
    print(f"{len(files)} kernels, {len(refused)} of them refused by ptxas")
    return 0 if len(files) >= at_least and not refused else 1


if __name__ == "__main__":
    sys.exit(main())
