# SPDX-License-Identifier: Apache-2.0
"""Assembles every kernel a printer program writes, lets `ptxdsl check` look at its text (--tool), and reads what ptxas -v says: a spill, a stack frame, or one of the lines
that mean "your wgmma or setmaxnreg was not taken as written" (C7508 to C7519) is a failure. With --coherent so is ld.global.nc: ptxas moves such loads
in front of griddepcontrol.wait, where the grid before may not have written yet."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys


def report(ptxas: str, file: pathlib.Path, coherent: bool) -> tuple[list[str], str]:
    run = subprocess.run([ptxas, "-v", "-arch=sm_90a", str(file), "-o", str(file.with_suffix(".cubin"))], capture_output=True, text=True)
    text = run.stdout + run.stderr
    bad = []
    if run.returncode != 0:
        bad.append(text.strip())
    for stack, stores, loads in re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", text):
        if (stack, stores, loads) != ("0", "0", "0"):
            bad.append(f"stack {stack}, spill stores {stores}, spill loads {loads}")
    bad += re.findall(r"\(C75\d\d\)[^\n]*", text)
    if coherent and "ld.global.nc" in file.read_text():
        bad.append("a load through the read-only path")
    registers = re.search(r"Used (\d+) registers", text)
    return bad, f"{file.stem}: {registers.group(1) if registers else '?'} registers" + "".join(f"\n    {b}" for b in bad)


def main() -> int:
    arguments = argparse.ArgumentParser()
    for name in ("printer", "work", "ptxas"):
        arguments.add_argument("--" + name, required=True)
    arguments.add_argument("--tool", help="the command line program")
    arguments.add_argument("--coherent", action="store_true", help="the kernels read only what earlier grids may have written")
    a = arguments.parse_args()
    work = pathlib.Path(a.work)
    work.mkdir(parents=True, exist_ok=True)
    for old in work.glob("*.ptx"):
        old.unlink()
    subprocess.run([a.printer, str(work)], check=True)
    files = sorted(work.glob("*.ptx"))
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        reports = list(pool.map(lambda f: report(a.ptxas, f, a.coherent), files))
    print("\n".join(line for _, line in reports))
    bad = sum(len(b) for b, _ in reports)
    if a.tool:  # the verifier has passed these kernels; read back from their text they are as right
        check = subprocess.run([a.tool, "check", *map(str, files)], capture_output=True, text=True)
        print(check.stderr, end="")
        bad += check.returncode != 0 or bool(check.stderr)
    print(f"{len(files)} kernels, {bad} complaints")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
