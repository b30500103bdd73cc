#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No public call may lose what a nested call among its arguments has emitted: a register that is bound to `const reg<T>&`
forgets it, and then C++ decides the order of that call and of those it is an argument of (K05). A call takes each handle by
value, as `T&&` or in a type that remembers (`operand`, `scale_d`, `cache_policy`).

    check_arguments.py [--list] DIRECTORY      of the headers that declare the builder's calls

Exit codes: 0 all calls do, 1 one does not."""
import argparse
import pathlib
import re
import sys

# Modules hold what was PTX before: their calls take registers that the text has named.
NOT_CALLS = {"module.hpp", "module_objects.hpp", "module_instructions.hpp", "declared.hpp", "operators.hpp", "reg.hpp"}
# They begin a branch or loop, and are no argument themselves.
STATEMENTS = {"if_", "switch_", "single_thread", "break_if", "continue_if", "at"}
CALL = re.compile(r"constexpr\s+(?:\[\[nodiscard\]\]\s*)?[\w:<>,\s&*]*?\b(\w+)\(")
HANDLE = re.compile(
    r"&&|\breg<|\boperand<|\bptr<|\bmbarrier<|\btile_stage<|\bmatrix_descriptor<|\bcoordinates<|\bscale_d\b|"
    r"\barrival_token<|\bcache_policy\b|^[ABCDE] "
)
FORGETS = re.compile(r"const (?:reg|arrival_token|mbarrier|tile_stage|matrix_descriptor|coordinates|vec|ptr)<[^&]*>&\s*\w")


def parameters(text, at):
    """The parameters behind the bracket at `at`, split where no bracket is open."""
    depth, begin, out = 0, at + 1, []
    for i in range(at, len(text)):
        c = text[i]
        if c in "(<{[":
            depth += 1
        elif c in ")>}]":
            depth -= 1
        if (c == "," and depth == 1) or depth == 0:
            out.append(" ".join(text[begin:i].split()))
            begin = i + 1
        if depth == 0:
            return [p for p in out if p], i
    return [], at


def calls(file):
    text = re.sub(r"//[^\n]*", "", file.read_text())
    in_private = False
    for m in re.finditer(r"\n(public|private|protected):|" + CALL.pattern, text):
        if m[1]:
            in_private = m[1] != "public"
            continue
        given, end = parameters(text, m.end() - 1)
        if re.search(m[2] + r"\(reg<\w+>&&", text):
            continue  # one function for registers with a name, another for nested calls
        behind = text[end + 1 : end + 8]
        if in_private or not behind.startswith(" const"):
            continue
        yield m[2], text.count("\n", 0, m.start()) + 1, given


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="print every call that takes two handles or more")
    args = parser.parse_args()
    several = bad = 0
    for file in sorted(args.directory.rglob("*.hpp")):
        if file.name in NOT_CALLS:
            continue
        for name, line, given in calls(file):
            handles = [p for p in given if HANDLE.search(p) and not re.search(r"\b(Body|Then|Cases|First|Cond)&&", p)]
            if name in STATEMENTS or not any("location" in p or "call_site" in p for p in given):
                continue
            several += len(handles) > 1
            if args.list and len(handles) > 1:
                print(f"{file.name}:{line} {name}({', '.join(handles)})")
            for p in given:
                if FORGETS.search(p):
                    print(f"{file}:{line}: {name} takes '{p}': a nested call there has no place in the order (K05)")
                    bad += 1
    print(f"{several} calls take two handles or more, {bad} of their parameters forget a nested call")
    return 1 if bad or several < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
