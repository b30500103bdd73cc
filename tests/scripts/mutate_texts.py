#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes one synchronisation out of PTX texts, or changes a number of it, and asks `ptxdsl check --play` each time.

    mutate_texts.py PTXDSL FILE... [--each N] [--seed S] [--missed DIRECTORY]

The texts are others' and stay where they are. A file that is refused as it is counts as a false refusal and is not mutated.
Of every other file N mutants are drawn, the kinds in turn. A mutant is caught where an error is new, and warned of where a
warning is. The table has a row a kind; mutants that nothing notices are left in DIRECTORY, to be judged by hand: some are
right kernels, as a second barrier in a row is.
"""
import argparse
import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile

DELETED = {  # kind: a line with this instruction goes
    "bar.sync": r"\b(bar|barrier)(\.cta)?\.sync(\.aligned)?\b",
    "mbarrier.arrive": r"\bmbarrier\.arrive\.(?!.*expect_tx)",
    "expect_tx": r"\bmbarrier\.(arrive\.)?expect_tx\b",
    "wgmma.wait_group": r"\bwgmma\.wait_group\b",
    "wgmma.commit_group": r"\bwgmma\.commit_group\b",
    "cp.async.wait_group": r"\bcp\.async\.wait_(group|all)\b",
    "cp.async.commit_group": r"\bcp\.async\.commit_group\b",
    "bulk wait_group": r"\bcp\.async\.bulk\.wait_group\b",
    "bulk commit_group": r"\bcp\.async\.bulk\.commit_group\b",
    "fence.proxy.async": r"\bfence\.proxy\.async\b",
    "tcgen05.wait": r"\btcgen05\.wait::",
    "tcgen05.commit": r"\btcgen05\.commit\b",
    "barrier.cluster.arrive": r"\bbarrier\.cluster\.arrive\b",
    "mbarrier.init": r"\bmbarrier\.init\b",
    "tensor copy": r"\bcp\.async\.bulk\.tensor\..*mbarrier::complete_tx",
}
WAIT = re.compile(r"\bmbarrier\.try_wait\.parity\S*\s+(\S+),\s*\[(\S+?)\],\s*([^,;]+)")
BYTES = re.compile(r"(\bmbarrier\.arrive\.expect_tx\S*\s+\S+\s+)(\d+);")
COUNT = re.compile(r"(\bmbarrier\.init\S*\s+\[\S+\],\s*)(\d+);")
GROUP = re.compile(r"(\b(?:wgmma|cp\.async|cp\.async\.bulk)\.wait_group\S*\s+)(\d+);")


def branch_behind(lines, at):
    """The line of the loop around a wait, or None."""
    for k in range(at + 1, min(at + 6, len(lines))):
        if re.search(r"@!?%?\w+\s+bra", lines[k]):
            return k
    return None


def mutants(text):
    """All mutants: (kind, line, changed text)."""
    lines = text.split("\n")

    def without(*gone):
        return "\n".join("" if k in gone else line for k, line in enumerate(lines))

    def with_line(k, line):
        return "\n".join(lines[:k] + [line] + lines[k + 1 :])

    for k, line in enumerate(lines):
        code = line.split("//")[0]
        if not code.rstrip().endswith(";") and not code.rstrip().endswith("; }"):
            continue
        for kind, pattern in DELETED.items():
            if re.search(pattern, code):
                yield "no " + kind, k, without(k)
        if m := WAIT.search(code):
            b = branch_behind(lines, k)
            if b is not None:
                yield "no mbarrier wait", k, without(k, b)
            parity = m.group(3).strip()
            if parity.isdigit():
                yield "other parity", k, with_line(k, code[: m.start(3)] + str(1 - int(parity)) + code[m.end(3) :])
        if m := BYTES.search(code):
            yield "half the bytes", k, with_line(k, code[: m.start(2)] + str(int(m.group(2)) // 2) + ";")
        if m := COUNT.search(code):
            yield "one arrival more", k, with_line(k, code[: m.start(2)] + str(int(m.group(2)) + 1) + ";")
        if m := GROUP.search(code):
            yield "one group more pending", k, with_line(k, code[: m.start(2)] + str(int(m.group(2)) + 1) + ";")


def said(ptxdsl, text, timeout=60):
    """Errors and warnings of a text, as sets of (id, words without numbers)."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        f.write(text)
        f.flush()
        try:
            p = subprocess.run([ptxdsl, "check", "--play", f.name], capture_output=True, text=True, errors="replace", timeout=timeout)
        except subprocess.TimeoutExpired:
            return None
    found = {"error": set(), "warning": set()}
    for m in re.finditer(r": (error|warning): (.*)", p.stdout + p.stderr):
        found[m.group(1)].add(re.sub(r"\d+", "N", m.group(2)))
    return found


def draw(all_mutants, n, dice):
    """`n` of them, the kinds in turn."""
    by_kind = collections.defaultdict(list)
    for m in all_mutants:
        by_kind[m[0]].append(m)
    for group in by_kind.values():
        dice.shuffle(group)
    chosen = []
    while by_kind and len(chosen) < n:
        for kind in sorted(by_kind):
            chosen.append(by_kind[kind].pop())
            if not by_kind[kind]:
                del by_kind[kind]
            if len(chosen) == n:
                break
    return chosen


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ptxdsl")
    p.add_argument("files", nargs="+", type=pathlib.Path)
    p.add_argument("--each", type=int, default=10)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--missed", type=pathlib.Path)
    o = p.parse_args()
    dice = random.Random(o.seed)
    count = collections.defaultdict(lambda: [0, 0, 0])
    refused, kept = [], 0
    for file in sorted(o.files):
        text = file.read_text(errors="replace")
        before = said(o.ptxdsl, text)
        if before is None or before["error"]:
            refused.append(file.name)
            continue
        kept += 1
        for kind, line, changed in draw(mutants(text), o.each, dice):
            after = said(o.ptxdsl, changed)
            if after is None:
                continue
            row = count[kind]
            row[0] += 1
            if after["error"]:
                row[1] += 1
            elif after["warning"] - before["warning"]:
                row[2] += 1
            elif o.missed:
                o.missed.mkdir(parents=True, exist_ok=True)
                name = f"{file.stem}_{line + 1}_{re.sub('[^a-z]+', '_', kind)}.ptx"
                (o.missed / name).write_text(f"// {kind}, line {line + 1} of {file.name}\n{changed}")
    total = [sum(row[k] for row in count.values()) for k in range(3)]
    print(f"{kept} texts, {len(refused)} refused as they are{': ' + ', '.join(refused) if refused else ''}")
    print(f"{'mutant':28} {'all':>6} {'error':>6} {'warning':>8} {'silent':>7}")
    for kind, (n, errors, warnings) in sorted(count.items()) + [("all", total)]:
        print(f"{kind:28} {n:6} {errors:6} {warnings:8} {n - errors - warnings:7}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
