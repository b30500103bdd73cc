#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the instruction table against the PTX that CCCL's <cuda/ptx> writes.

Every `asm` statement of the headers below cuda/__ptx/instructions becomes a kernel of its own, its operands registers of
the constraint's width and its constants small numbers that ptxas takes. What ptxas assembles for the target, the table must
know with these modifiers and operands: `ptxdsl check` finds nothing wrong with it. What ptxas refuses belongs to another
target and is not judged.

Exit status: 0 all known, 1 something is not, 77 no ptxas or no CCCL headers (skipped).
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

WIDTH = {"h": ".b16", "r": ".b32", "l": ".b64", "f": ".f32", "d": ".f64", "q": ".b128"}
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
ERROR_LINE = re.compile(r"line (\d+); (?:error|fatal)")
CONSTANTS = (0, 1, 16, 32, 128)


def headers(root):
    found = sorted((root / "cuda" / "__ptx" / "instructions").rglob("*.h"))
    return [h for h in found if h.is_file()]


def split_top(text, separator):
    """Pieces of `text` between separators that stand in no parentheses and no string."""
    pieces, depth, begin, quoted = [], 0, 0, False
    for i, ch in enumerate(text):
        if ch == '"' and text[i - 1] != "\\":
            quoted = not quoted
        depth += 0 if quoted else (ch in "([{") - (ch in ")]}")
        if quoted or ch != separator or depth != 0 or text[i - 1:i + 2].count("::"):
            continue
        pieces.append(text[begin:i])
        begin = i + 1
    return pieces + [text[begin:]]


def statements(source):
    """(text, constraints) of every asm statement."""
    for match in re.finditer(r"\basm\s*(?:volatile)?\s*\(", source):
        depth, at, quoted = 1, match.end(), False
        while depth:
            ch = source[at]
            if ch == '"' and source[at - 1] != "\\":
                quoted = not quoted
            depth += 0 if quoted else (ch == "(") - (ch == ")")
            at += 1
        parts = split_top(source[match.end():at - 1], ":")
        text = "".join(STRING.findall(parts[0])).replace("\\n", "\n").replace("\\t", " ")
        constraints = []
        for part in parts[1:3]:
            for operand in split_top(part, ","):
                if found := STRING.search(operand):
                    constraints.append(found[1].lstrip("=+&"))
        yield re.sub(r"//[^\n]*", "", text), constraints


def kernel(number, text, constraints, constant):
    """One statement as the lines of a kernel; None for what names no instruction."""
    registers = [f"    .reg {WIDTH[c]} %o{i};" for i, c in enumerate(constraints) if c in WIDTH]
    names = [f"%o{i}" if c in WIDTH else str(constant) for i, c in enumerate(constraints)]
    text = text.replace("%%", "\0")
    text = re.sub(r"%(\d+)", lambda m: names[int(m[1])] if int(m[1]) < len(names) else "%bad", text).replace("\0", "%")
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    body = " ".join(lines)
    if not body.rstrip().endswith((";", "}")):
        body += ";"
    return [f".visible .entry k{number}()", "{", *registers, "    " + body, "    ret;", "}"]


def module(target, bodies):
    """The text of a module, and the statement behind each of its lines."""
    lines, owner = [".version 9.0", f".target {target}", ".address_size 64", ".extern .shared .align 1024 .b8 smem[];"], {}
    for number, body in bodies.items():
        for line in body:
            lines.append(line)
            owner[len(lines)] = number
    return "\n".join(lines) + "\n", owner


def assemble(ptxas, target, bodies, file):
    """The bodies that ptxas takes."""
    good = dict(bodies)
    for _ in range(40):
        text, owner = module(target, good)
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([ptxas, f"-arch={target}", "-O0", str(file), "-o", "/dev/null"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", check=False)
        if done.returncode == 0:
            return good
        bad = {owner[int(n)] for n in ERROR_LINE.findall(done.stdout) if int(n) in owner}
        bad |= {int(n) for n in re.findall(r"\bk(\d+)\b", done.stdout) if int(n) in good}
        if not bad:
            raise SystemExit(f"ptxas refuses, and names no line:\n{done.stdout[:1000]}")
        good = {n: b for n, b in good.items() if n not in bad}
    raise SystemExit("ptxas goes on refusing")


def judge(tool, text, owner, file):
    """(statement, message) for everything the table does not know."""
    file.write_text(text, encoding="utf-8")
    done = subprocess.run([tool, "check", "--no-verify", "--json", str(file)], stdout=subprocess.PIPE, encoding="utf-8",
                          check=False)
    for m in json.loads(done.stdout or "[]"):
        if m["severity"] == "error":
            yield owner.get(m["line"]), f"{m['id']}: {m['message']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxdsl program")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--target", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--cccl", type=pathlib.Path, help="the folder that has cuda/ptx; default: beside ptxas")
    args = parser.parse_args()
    ptxas = shutil.which(args.ptxas)
    if ptxas is None:
        print("skipped: no ptxas")
        return 77
    toolkit = pathlib.Path(ptxas).resolve().parent.parent
    roots = [args.cccl] if args.cccl else [toolkit / "include" / "cccl", toolkit / "include",
                                           *toolkit.glob("targets/*/include/cccl")]
    root = next((r for r in roots if (r / "cuda" / "__ptx" / "instructions").is_dir()), None)
    if root is None:
        print("skipped: no CCCL headers beside ptxas")
        return 77

    found = {}
    for header in headers(root):
        for text, constraints in statements(header.read_text(encoding="utf-8")):
            found.setdefault((text, tuple(constraints)), header.name)
    work = args.work
    work.mkdir(parents=True, exist_ok=True)
    taken, left = {}, list(enumerate(found))
    for constant in CONSTANTS:  # a constant of the template may have any value its static_assert allows
        bodies = {n: kernel(n, *statement, constant) for n, statement in left}
        taken |= assemble(ptxas, args.target, bodies, work / "all.ptx")
        left = [(n, s) for n, s in left if n not in taken and any(c not in WIDTH for c in s[1])]
        if not left:
            break
    text, owner = module(args.target, taken)
    wrong = list(judge(args.tool, text, owner, work / "taken.ptx"))
    names = dict(enumerate(found))
    for number, message in wrong:
        where = found[names[number]] if number is not None else "the module"
        print(f"{where}: {message}\n    {taken[number][-3].strip() if number is not None else ''}")
    print(f"{args.target}: {len(headers(root))} headers, {len(found)} statements, {len(taken)} that ptxas takes, "
          f"{len({n for n, _ in wrong})} that the table does not know")
    return 1 if wrong or not taken else 0


if __name__ == "__main__":
    sys.exit(main())
