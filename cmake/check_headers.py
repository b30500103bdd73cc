#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that cmake/headers.cmake lists every header under include/, each once and for the right target.

A header belongs to ptxdsl::runtime when it includes fmt or another header of ptxdsl::runtime, directly or not; all
others belong to ptxdsl::ptxdsl, whose users need not have fmt. `--update` writes the file anew.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "cmake" / "headers.cmake"
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', re.MULTILINE)

BANNER = """\
# SPDX-License-Identifier: Apache-2.0
# Every header of the library, by the target it belongs to, relative to include/.
# The test `headers.list` fails when this is not so; `python3 cmake/check_headers.py --update` writes it anew.
"""


def find_headers():
    include = ROOT / "include"
    return sorted(p.relative_to(include).as_posix() for p in include.rglob("*") if p.suffix in {".hpp", ".inc", ".ipp"})


def included_by(header):
    text = (ROOT / "include" / header).read_text(encoding="utf-8")
    here = pathlib.PurePosixPath(header).parent
    for angle, quoted in INCLUDE.findall(text):
        yield angle or quoted
        if quoted:
            yield (here / quoted).as_posix()


def classify(headers):
    """Splits into (core, runtime)."""
    includes = {h: set(included_by(h)) for h in headers}
    runtime = {h for h, names in includes.items() if any(n.startswith("fmt/") for n in names)}
    runtime |= {h for h in headers if h == "ptxdsl/runtime.hpp" or h.startswith("ptxdsl/runtime/")}
    grown = True
    while grown:
        more = {h for h, names in includes.items() if h not in runtime and names & runtime}
        runtime |= more
        grown = bool(more)
    return [h for h in headers if h not in runtime], sorted(runtime)


def render(core, runtime):
    out = [BANNER]
    for name, headers in (("PTXDSL_CORE_HEADERS", core), ("PTXDSL_RUNTIME_HEADERS", runtime)):
        out.append(f"set({name}")
        out.extend(f"    {h}" for h in headers)
        out.append(")")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write cmake/headers.cmake")
    args = parser.parse_args()

    core, runtime = classify(find_headers())
    if "ptxdsl/ptxdsl.hpp" in runtime:
        print("check_headers: ptxdsl/ptxdsl.hpp reaches fmt or the runtime; it must not", file=sys.stderr)
        return 1
    wanted = render(core, runtime)
    have = LIST.read_text(encoding="utf-8") if LIST.exists() else ""
    if wanted == have:
        print(f"check_headers: {len(core)} core and {len(runtime)} runtime headers, all listed")
        return 0
    if args.update:
        LIST.write_text(wanted, encoding="utf-8")
        print(f"check_headers: wrote {len(core)} core and {len(runtime)} runtime headers")
        return 0
    old, new = set(have.splitlines()), set(wanted.splitlines())
    for line in sorted(new - old):
        print(f"check_headers: not listed: {line.strip()}", file=sys.stderr)
    for line in sorted(old - new):
        print(f"check_headers: listed but not there: {line.strip()}", file=sys.stderr)
    if old == new:
        print("check_headers: a header is listed under the wrong target or out of order", file=sys.stderr)
    print("check_headers: run `python3 cmake/check_headers.py --update`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
