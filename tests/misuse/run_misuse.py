#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles programs that must not compile, and holds the compiler's words against what the files promise.

A file holds numbered cases, selected by the macro PTXDSL_CASE, and says in comments what each must do:

    // expect-1: PTXDSL-A01                 case 1 does not compile; the first line with `error:` has this id
    // expect-2: PTXDSL-A01 "fma" "s32"     ... and these words as well
    // warn-3: PTXDSL-W07 "unused"          case 3 compiles; the first line with the id has these words
    // control-4: what the legal neighbour is    case 4 compiles without a word
    ...;  // here-2                         case 2 is wrong on this line: the output names `<file>:<this line>`, or another of the statement
    // flags: -fno-exceptions               more options for every case of the file
    // compile: object                      generate code too; otherwise -fsyntax-only

Case 0 is the positive control every file has: it compiles without a warning. Where a case is refused, the first line
that names the file (with `here-N`: a line of that statement) comes after at most 12 others; "In file included from" does not
count as naming it. A wrong case whose function is called `wrong` is assembled as well, as in a user's program: g++ then
instantiates what it has not yet in the middle of constant evaluation. A case that the source selects (`PTXDSL_CASE == 5`) and no
comment declares is an error, and so is the reverse. The compilers run with their default constexpr limits.
"""
import argparse
import concurrent.futures
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow"]
MAX_LINES_BEFORE_USER_FILE = 12
SHOWN_LINES = 14

DECLARATION = re.compile(r"^\s*//\s*(expect|warn|control)-(\d+):\s*(.*?)\s*$")
HERE = re.compile(r"//.*?\bhere-(\d+)\b")
SELECTION = re.compile(r"\bPTXDSL_CASE\s*==\s*(\d+)")
UMBRELLA = "ptxdsl/ptxdsl.hpp"
WRONG_KERNEL = re.compile(r"^constexpr void wrong\(")
ASSEMBLE_IT = 'constexpr auto assembled = ptxdsl::assemble<ptxdsl::kernel<"wrong", wrong>>();'
INCLUDED = re.compile(r"^(In file included )?\s*from ")  # names the line of the #include, not of the mistake
OPTION = re.compile(r"^\s*//\s*(flags|compile):\s*(.*?)\s*$")
ID = re.compile(r"PTXDSL-[A-Z]\d+[a-z]?")
# A computed sentence is an argument of one of these templates: whole with g++, in pieces with clang.
COMPUTED = re.compile(r"ptx_(?:error|warning)<|ptx_warning\(\) \[with .*?Sentence = ")
PIECE = re.compile(r'(?:, )?(?:ptxdsl::)?fixed_string<(\d+)(UL - 1)?>\s*\{"((?:[^"\\]|\\.)*)"(\.\.\.)?\}')


class BadFile(Exception):
    """The file itself is wrong: a declaration is missing, doubled or not understood."""


@dataclasses.dataclass
class Case:
    number: int
    kind: str  # expect, warn, control
    id: str = ""
    words: tuple = ()
    line: int = 0  # of the `here-N` comment; 0: none
    first: int = 0  # of the statement that ends on that line: a compiler may name any line of it
    assembled: bool = False  # by a line of the runner's own


@dataclasses.dataclass
class File:
    path: pathlib.Path
    cases: list
    flags: list
    mode: str
    umbrella: bool = False  # includes UMBRELLA


def statement_begin(source, number):
    """The first line of the statement that ends on line `number`, which clang-format may have broken."""
    while number > 1:
        before = source[number - 2].split("//")[0].rstrip()
        if not before or before[-1] in ";{}:>" or before.lstrip().startswith("#"):
            break
        number -= 1
    return number


def includes_umbrella(path, source):
    """Whether the file does, itself or through a header beside it."""
    local = [path.parent / match[1] for line in source if (match := re.match(r'#include "([^"]+)"', line))]
    texts = ["\n".join(source), *(header.read_text(encoding="utf-8") for header in local if header.exists())]
    return any(f"#include <{UMBRELLA}>" in text for text in texts)


def parse(path):
    """Reads the declarations of one file."""
    cases, here, selected, kernels, block = {0: Case(0, "control")}, {}, set(), set(), set()
    flags, mode = [], "syntax"
    source = path.read_text(encoding="utf-8").splitlines()
    umbrella = includes_umbrella(path, source)
    for number, line in enumerate(source, 1):
        if match := DECLARATION.match(line):
            kind, case, rest = match[1], int(match[2]), match[3]
            if case in cases:
                raise BadFile(f"{path.name}:{number}: case {case} is declared twice (case 0 is always a control)")
            if kind == "control":
                cases[case] = Case(case, kind)
                continue
            try:
                tokens = shlex.split(rest)
            except ValueError as error:
                raise BadFile(f"{path.name}:{number}: {error}") from error
            if not tokens or not ID.fullmatch(tokens[0]):
                raise BadFile(f"{path.name}:{number}: `{kind}-{case}:` wants an id such as PTXDSL-A01, then words")
            cases[case] = Case(case, kind, tokens[0], tuple(tokens[1:]))
            continue
        if match := OPTION.match(line):
            if match[1] == "flags":
                flags += shlex.split(match[2])
            elif match[2] in ("object", "syntax"):
                mode = match[2]
            else:
                raise BadFile(f"{path.name}:{number}: `compile:` is `object` or `syntax`")
            continue
        if match := HERE.search(line):
            here[int(match[1])] = number
            line = line[: match.start()]
        chosen = {int(n) for n in SELECTION.findall(line.split("//")[0])}
        selected |= chosen
        if line.startswith("#"):
            block = chosen
        elif WRONG_KERNEL.match(line):
            kernels |= block

    for case in sorted(selected - cases.keys()):
        raise BadFile(f"{path.name}: case {case} is selected in the source but no comment says what it must do")
    for case in sorted(cases.keys() - selected - {0}):
        raise BadFile(f"{path.name}: case {case} is declared but nothing in the source selects it")
    for case, number in here.items():
        if case not in cases or cases[case].kind == "control":
            raise BadFile(f"{path.name}:{number}: `here-{case}` belongs to no wrong case")
        cases[case].line, cases[case].first = number, statement_begin(source, number)
    for case in kernels & cases.keys():
        cases[case].assembled = cases[case].kind == "expect"
    if not any(case.kind != "control" for case in cases.values()):
        raise BadFile(f"{path.name}: no case is declared wrong (`// expect-1: PTXDSL-A01`)")
    return File(path, [cases[n] for n in sorted(cases)], flags, mode, umbrella)


def sentence(line):
    """The computed sentence in a compiler's line, its pieces joined and the place in front of the id left out; "" when
    there is none, None when the compiler has cut it."""
    begin = COMPUTED.search(line)
    if not begin:
        return ""
    at, text = begin.end(), ""
    while piece := PIECE.match(line, at):
        words = re.sub(r"\\(.)", r"\1", piece[3])
        if piece[4] or len(words.encode()) != int(piece[1]) - (1 if piece[2] else 0):
            return None
        at, text = piece.end(), text + words
    if line[at : at + 1] not in (">", "]"):
        return None
    return text[max(text.find("PTXDSL-"), 0):]


def judge(path, case, status, output):
    """What is wrong with the compiler's answer to one case; empty when nothing is."""
    lines = output.splitlines()
    if case.kind == "control":
        if status != 0:
            return "the control does not compile"
        return "the control compiles with warnings" if output.strip() else ""

    if case.kind == "warn":
        if status != 0:
            return f"does not compile; {case.id} is a warning"
        said = next((line for line in lines if case.id in line), None)
        if said is None:
            return f"compiles, but nothing says {case.id}"
    else:
        if status == 0:
            return f"compiles, but {case.id} must refuse it"
        said = next((line for line in lines if "error:" in line), None)
        if said is None:
            return f"fails without a line that has `error:` (exit status {status})"
        if case.id not in said:
            return f"the first error does not say {case.id}"
        # `PTXDSL-A01` must not be satisfied by `PTXDSL-A012`.
        if case.id not in ID.findall(said):
            return f"the first error has another id than {case.id}: {', '.join(ID.findall(said))}"
    whole = sentence(said)
    if whole is None:
        return "the sentence is cut"
    for word in case.words:
        if word not in said and word not in whole:
            return f"the line with {case.id} does not say \"{word}\""

    place = f"{path.name}:{case.line}" if case.line else path.name
    numbers = "|".join(str(n) for n in range(case.first, case.line + 1))
    named = re.compile(re.escape(path.name) + (f":(?:{numbers})" if case.line else "") + r"(?!\d)")
    before = next((i for i, line in enumerate(lines) if named.search(line) and not INCLUDED.match(line)), None)
    if before is None:
        return f"nothing in the output names {place}" + (", where the mistake is" if case.line else "")
    if before > MAX_LINES_BEFORE_USER_FILE:
        return f"{before} lines come before the first that names {place}; {MAX_LINES_BEFORE_USER_FILE} may"
    return ""


def common_options(args):
    """What every case is compiled with, and the precompiled header as well."""
    options = ["-std=c++20", *WARNINGS, *(f"-I{directory}" for directory in args.include)]
    for directory in args.isystem:
        options += ["-isystem", directory]
    return options


def state_of(compiler, args):
    """Names everything that the precompiled header depends on: the compiler, its options, each header as it is now."""
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    parts = [compiler, version, *common_options(args)]
    for directory in args.include:
        for header in sorted(pathlib.Path(directory).rglob("*.hpp")):
            status = header.stat()
            parts.append(f"{header} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def precompile(name, compiler, args):
    """The options that give a case the umbrella header precompiled; none where there is no --pch or it does not compile.

    The compiler's words stay the same but for the chain of "In file included from". Several runs may share the folder:
    one of them builds, the others wait."""
    if args.pch is None or args.flag:
        return []
    folder = args.pch.resolve() / name
    folder.mkdir(parents=True, exist_ok=True)
    header, state = folder / "umbrella.hpp", folder / "state"
    built = folder / "umbrella.hpp.gch"  # g++ and clang look for this name when they are told to include the header
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            now = state_of(compiler, args)
        except OSError:
            return []  # no such compiler: each case says so
        if not (built.exists() and state.exists() and state.read_text() == now):
            for old in (built, state):
                old.unlink(missing_ok=True)
            header.write_text(f"#include <{UMBRELLA}>\n")
            half = folder / "half"
            done = subprocess.run([compiler, *common_options(args), "-x", "c++-header", str(header), "-o", str(half)],
                                  capture_output=True, check=False)
            if done.returncode != 0:
                return []  # each case says what is wrong with the header
            half.replace(built)
            state.write_text(now)
    return ["-include", str(header)]


def compile_case(compiler, file, case, precompiled, args):
    command = [compiler, *common_options(args), f"-DPTXDSL_CASE={case.number}"]
    if file.umbrella and not file.flags:
        command += precompiled
    command += ["-fsyntax-only"] if file.mode == "syntax" else ["-c", "-o", os.devnull]
    command += [*file.flags, *args.flag]
    program = f'#include "{file.path}"\n{ASSEMBLE_IT}\n' if case.assembled else None
    command += ["-x", "c++", "-"] if case.assembled else [str(file.path)]
    environment = {**os.environ, "LC_ALL": "C"}
    environment.pop("GCC_COLORS", None)
    try:
        done = subprocess.run(command, input=program or "", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, timeout=args.timeout, check=False, encoding="utf-8", errors="replace")
    except subprocess.TimeoutExpired:
        return command, f"the compiler ran longer than {args.timeout:.0f} s", ""
    except OSError as error:
        return command, f"the compiler does not run: {error}", ""
    return command, judge(file.path, case, done.returncode, done.stdout), done.stdout


def report(name, file, case, command, complaint, output):
    print(f"FAILED {file.path.name} case {case.number} ({case.kind}) with {name}: {complaint}")
    lines = output.splitlines()
    for line in lines[:SHOWN_LINES]:
        print(f"    {line[:400]}")
    if len(lines) > SHOWN_LINES:
        print(f"    ... {len(lines) - SHOWN_LINES} more lines")
    program = f"printf '#include \"{file.path}\"\\n{ASSEMBLE_IT}\\n' | " if case.assembled else ""
    print(f"    again: {program}{shlex.join(command)}")


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="+", type=pathlib.Path)
    parser.add_argument("--compiler", action="append", metavar="NAME=PATH",
                        help="may be given more than once; without it: g++ and clang++-19, those that are there")
    parser.add_argument("-I", dest="include", action="append", metavar="DIR")
    parser.add_argument("--isystem", action="append", default=[], metavar="DIR[:DIR...]")
    parser.add_argument("--flag", action="append", default=[], help="one more option for the compiler")
    parser.add_argument("--case", type=int, action="append", help="run these cases only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one case")
    parser.add_argument("--pch", type=pathlib.Path, metavar="DIR",
                        help="precompile the umbrella header there, once for each compiler; built anew when a header changes")
    parser.add_argument("--count", type=pathlib.Path, metavar="FILE", help="also write `<refused> <controls>` there")
    parser.add_argument("--show", action="store_true", help="print what the compiler says to every wrong case")
    args = parser.parse_args(argv)
    if args.include is None:
        args.include = [str(pathlib.Path(__file__).resolve().parent.parent.parent / "include")]
    # The compiler has /usr/include already, and in another place of the search order.
    args.isystem = [d for group in args.isystem for d in group.split(":") if d and d != "/usr/include"]
    if args.compiler is None:
        found = [("gcc", "g++"), ("clang", "clang++-19")]
        args.compiler = [f"{n}={p}" for n, p in found
                         if any(os.access(os.path.join(d, p), os.X_OK) for d in os.get_exec_path())]
    return args


def main(argv=None):
    args = arguments(argv)
    compilers = []
    for item in args.compiler:
        name, _, path = item.partition("=")
        compilers.append((name, path or name))
    if not compilers:
        print("run_misuse: neither g++ nor clang++-19 was found", file=sys.stderr)
        return 77

    files, failed = [], 0
    for path in args.file:
        try:
            files.append(parse(path.resolve()))
        except (BadFile, OSError) as error:
            print(f"FAILED {error}")
            failed += 1

    work = [(name, path, file, case) for file in files for name, path in compilers for case in file.cases
            if not args.case or case.number in args.case]
    precompiled = {name: precompile(name, path, args) for name, path in compilers} if work else {}
    refused = controls = 0
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        results = pool.map(lambda item: compile_case(item[1], item[2], item[3], precompiled[item[0]], args), work)
        spoken = {}  # what the first compiler said to a case
        for (name, _, file, case), (command, complaint, output) in zip(work, results):
            if not complaint and case.kind != "control":
                said = next(line for line in output.splitlines() if case.id in line)
                first, words = spoken.setdefault((file.path, case.number), (name, sentence(said)))
                if words != sentence(said):
                    complaint = f"says another sentence than {first}, \"{words}\""
            if complaint:
                failed += 1
                report(name, file, case, command, complaint, output)
                continue
            if args.show and case.kind != "control":
                print(f"{file.path.name} case {case.number} with {name}:")
                print("\n".join(f"    {line[:400]}" for line in output.splitlines()[:SHOWN_LINES]))
            if case.kind == "control":
                controls += 1
            else:
                refused += 1

    if args.count:
        args.count.parent.mkdir(parents=True, exist_ok=True)
        args.count.write_text(f"{refused} {controls}\n", encoding="utf-8")
    names = " and ".join(name for name, _ in compilers)
    print(f"{names}: {refused} wrong cases refused, {controls} controls accepted, {failed} failed")
    return 1 if failed or not work else 0


if __name__ == "__main__":
    sys.exit(main())
