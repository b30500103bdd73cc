#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls every typed call on registers and addresses with one operand fewer than it takes, with one more, and with registers
of one type: whatever a compiler says to such a line begins with a sentence and its id.

The calls are read from the headers, so that a new one is asked, too. `A&& a = {}` is an operand that must be there (the
call says so itself), `A&& a = A{}` one that may be left out. Template arguments that no operand gives are filled in: types by
`px::u32`, numbers by 1, names by a string. The lines of one header are compiled together; the first error of each line must
have an id. Lines that mean something are no mistake, and nothing is asked of them.

Exit status: 0 every line has its sentence, 1 one has not (or one of the exceptions below has one by now), 77 no compiler.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAMILIES = ("arithmetic", "convert", "atomic", "memory", "warp")
CALL = re.compile(r"^    (?:template <(?P<template>[^;]*?)>\s+(?:requires[^;{]*?\s)?)?(?:\[\[nodiscard\]\] )?constexpr (?!explicit)"
                  r"[\w:<>, ]+? (?P<name>[a-z]\w*)\((?P<parameters>(?:[^{};]|\{\})*?)\) const", re.M | re.S)
PRIVATE = re.compile(r"^private:.*?(?=^public:|^};)", re.M | re.S)
COMMENT = re.compile(r"//.*")

# (call, operands): why C++ itself speaks.
EXCEPTIONS = {
    ("mov", 0): "what a mov of nothing should have been, no sentence knows",
    ("new_reg", 1): "takes the register's name, a string",
    ("new_reg", 2): "takes the register's name, a string",
}


def split(text):
    """At the commas outside of brackets."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "<({[") - (c in ">)}]")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()] if part.strip() else parts


def template_arguments(template, parameters):
    """What stands between < and >: the leading arguments that no operand gives."""
    given = []
    for parameter in split(template or ""):
        if "=" in parameter or "..." in parameter:
            break
        kind, name = parameter.rsplit(None, 1)
        if kind == "class" and re.search(rf"\b{name}\b", parameters):
            break
        value = {"class": "px::u32", "fixed_string": '"a"', "tok": "px::tok::add", "auto": None, "target": None,
                 "space": "px::space::global"}.get(kind, "1")
        if value is None:
            return None
        given.append(value)
    return given


def calls(header):
    """name -> (template arguments, fewest operands, most operands)"""
    source = header.read_text(encoding="utf-8")
    source = source[re.search(r"^class \w+_family ", source, re.M).start():]
    source = COMMENT.sub("", PRIVATE.sub("", source))
    found = collections.defaultdict(set)
    for match in CALL.finditer(source):
        operands = [p for p in split(match["parameters"]) if not re.match(r"location\b", p)]
        if any("..." in p for p in operands):
            continue
        given = template_arguments(match["template"], match["parameters"])
        if given is None:
            continue
        least = len([p for p in operands if "=" not in p or p.endswith("= {}")])
        found[match["name"]].add((tuple(given), least, len(operands)))
    return found


def program(found):
    """The text, and the call each of its lines has."""
    lines, of_line = [], {}
    for name, forms in sorted(found.items()):
        counts = set()
        for given, least, most in forms:
            counts |= {(given, n) for n in (least - 1, least, most, most + 1) if n >= 0}
        for given, n in sorted(counts):
            arguments = f"<{', '.join(given)}>" if given else ""
            lines.append(f"    static_cast<void>(k.{name}{arguments}"
                         f"({', '.join(['n'] * n)}));")
    head = ["#include <ptxdsl/ptxdsl.hpp>", "namespace px = ptxdsl;",
            "void wrong(px::builder<px::sm_90a>& k, px::reg<px::u32> n) {"]
    text = head + lines + ["}", ""]
    for number, line in enumerate(text, 1):
        if line.startswith("    static_cast"):
            of_line[number] = line.strip()
    return "\n".join(text), of_line


def first_errors(output, clang):
    """line -> its first error."""
    errors, place, pending = {}, None, None
    for line in output.splitlines():
        here = re.match(r"(?:In file included from |\s+from )?<stdin>:(\d+)", line)
        if line.startswith("In file included") or line.lstrip().startswith("from "):
            here = None
        if clang:
            if "error:" in line:
                pending = line
                if here:
                    errors.setdefault(int(here[1]), line)
                    pending = None
            elif here and pending and "note:" in line:
                errors.setdefault(int(here[1]), pending)
                pending = None
        else:
            if here:
                place = int(here[1])
            if "error:" in line and place:
                errors.setdefault(place, line)
            if re.match(r"\S.*: In (instantiation|substitution|member|function|lambda)", line):
                place = None
    return errors


def compiled(compiler, include, text):
    command = [compiler, "-std=c++20", f"-I{include}", "-fsyntax-only", "-w", "-x", "c++", "-"]
    command += ["-ferror-limit=0"] if "clang" in compiler else ["-fmax-errors=0"]
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          errors="replace", env={**os.environ, "LC_ALL": "C"}, check=False).stdout


def is_exception(line):
    call = re.search(r"k\.(\w+)(?:<.*>)?\((.*)\)\);", line)
    return (call[1], len(split(call[2]))) in EXCEPTIONS


def ask(compiler, include, found):
    """How many lines are refused, and those without a sentence: line -> error."""
    text, of_line = program(found)
    errors = first_errors(compiled(compiler, include, text), "clang" in compiler)
    silent = {}
    for number, line in of_line.items():
        if number not in errors or "PTXDSL-" in errors[number] or is_exception(line):
            continue
        # A template that one line has broken says something else to the next: asked alone.
        alone = "\n".join(t for n, t in enumerate(text.split("\n"), 1) if n == number or n not in of_line)
        first = next((t for t in compiled(compiler, include, alone).splitlines() if "error:" in t), "")
        if "PTXDSL-" not in first:
            silent[line] = first
    return len(errors), silent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", default=[])
    parser.add_argument("--include", default=str(ROOT / "include"))
    parser.add_argument("--family", action="append")
    args = parser.parse_args()
    faults = refused = asked = 0
    for family in FAMILIES:
        if args.family and family not in args.family:
            continue
        found = calls(pathlib.Path(args.include) / "ptxdsl" / "dsl" / f"{family}.hpp")
        asked += len(found)
        for compiler in args.compiler:
            n, silent = ask(compiler, args.include, found)
            refused += n
            for line, error in silent.items():
                faults += 1
                print(f"{family}: {os.path.basename(compiler)} says no id to {line}\n    {error[:200]}")
    print(f"operand_counts: {asked} calls, {refused} lines refused, {faults} without a sentence")
    return 1 if faults or not refused else 0


if __name__ == "__main__":
    sys.exit(main())
