#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the calls that the rows of the instruction table name against what the calls emit.

The programs all_calls of tests/dsl write down which form each of their calls has emitted, and where it stands; the source says
what was called there.

- A form that a statement emitted has a row that names one of the statement's calls (where rows name all of them).
- A call that a row of our targets names has emitted an instruction with the row's mnemonic.

Exit status: 0 so it is, 1 not, 77 the programs have not run.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

CALL = re.compile(r"\bk\.(?:template )?((?:(?:tcgen05|wgmma)\.)?)(?:template )?(\w+)")

# Checked doors, and calls that add to an address as well where their operand needs it.
HELPERS = {"k.inst", "k.raw", "k.address"}
# Constructs emit these without looking their form up.
WITHOUT_FORM = {"bra", "brx", "call", "exit", "ret", "trap"}
# Operators and the indexing of pointers emit these as well.
OF_OPERATORS = {"add", "and", "div", "mad", "mul", "neg", "not", "or", "rem", "setp", "shl", "shr", "sub", "xor"}
# One spelling for rows that only operands tell apart.
BY_OPERANDS = {"mov"}
# What all_calls.cpp does not call.
UNREACHED = {
    ("k.select", "selp"): "of modules (dsl/module.hpp)", ("k.move", "mov"): "of modules (dsl/module.hpp)",
    ("k.setmaxnreg_inc", "setmaxnreg"): "needs a kernel of warpgroups: tests/verify", ("k.setmaxnreg_dec", "setmaxnreg"): "the same",
    ("k.tcgen05.fence_after_thread_sync", "tcgen05"): "behind a wait, which emits it: tests/dsl/async/golden.cpp",
}


def calls_of_statement(text, line, column):
    """The calls of the statement around a place: g++ says of a call in a template where a comma beside it stands."""
    lines = text.split("\n")
    at = sum(len(row) + 1 for row in lines[:line - 1]) + column - 1
    begin = max(text.rfind(c, 0, at) for c in ";{}") + 1
    end = min((e for e in (text.find(c, at) for c in ";{}") if e >= 0), default=len(text))
    pasted = re.findall(r"\bPTXDSL_\w+\((\w+)", text[begin:end])
    return {"k." + a + b for a, b in CALL.findall(text[begin:end])} | {"k." + n + end for n in pasted for end in ("", "_into")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxdsl program")
    parser.add_argument("--source", required=True, type=pathlib.Path, help="the repository")
    parser.add_argument("folders", nargs="+", type=pathlib.Path, help="where the programs all_calls wrote *.forms")
    args = parser.parse_args()
    files = [f for folder in args.folders for f in sorted(folder.glob("*.forms"))]
    if any(not list(folder.glob("*.forms")) for folder in args.folders):
        print("skipped: the programs all_calls have not run")
        return 77
    rows = json.loads(subprocess.run([args.tool, "isa", "--json"], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout)
    ours = set()
    for target in ("sm_90a", "sm_100a"):
        shown = json.loads(subprocess.run([args.tool, "isa", "--json", "--target", target], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout)
        ours |= {json.dumps(r) for r in shown}
    named = {name for r in rows for name in r["call"].split()} - HELPERS
    sources, seen, faults = {}, set(), []
    for f in files:
        for entry in set(f.read_text(encoding="utf-8").splitlines()):
            form, mnemonic, line, column, name = entry.split(" ", 4)
            row, where = rows[int(form)], name[name.find("tests/dsl/"):]
            if mnemonic != row["mnemonic"] or not where.startswith("tests/dsl/") or where.endswith("all_calls.hpp"):
                continue  # a branch of a construct; an instruction of a helper
            if where not in sources:
                sources[where] = re.sub(r"//.*", "", (args.source / where).read_text(encoding="utf-8"))
            found = calls_of_statement(sources[where], int(line), int(column))
            may = [r for r in rows if r["mnemonic"] == mnemonic] if mnemonic in BY_OPERANDS else [row]
            fits = found & {call for r in may for call in r["call"].split()}
            seen |= {(call, mnemonic) for call in fits}
            if found - HELPERS and not fits and found <= named and mnemonic not in OF_OPERATORS:
                faults.append(f"{where}:{line}: {' '.join(sorted(found))} emits {mnemonic}{row['modifiers']}, whose row names {row['call']}")
    pairs = {(call, r["mnemonic"]) for r in rows if json.dumps(r) in ours and r["mnemonic"] not in WITHOUT_FORM
             for call in r["call"].split() if call not in HELPERS} - set(UNREACHED)
    faults += [f"no call in tests/dsl/*/all_calls.cpp: {call} for {mnemonic}" for call, mnemonic in sorted(pairs - seen)]
    for fault in faults:
        print(fault)
    print(f"{len(rows)} rows, {len(pairs)} pairs of a call and a mnemonic, {len(seen)} of them seen, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
