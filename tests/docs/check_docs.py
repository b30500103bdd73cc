#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documentation against the repository.

- every relative link in README.md, CHANGELOG.md and docs/ leads to a file, and its #anchor to a heading there
- every diagnostic id that a header can emit has a page in docs/misuse, and the reverse (docs/diagnostics.md is generated
  from the pages); the ids of the PTX reader (P01 …) are in docs/parser.md instead
- the messages that a page of docs/misuse shows are made of words the headers contain
- a code block opened with ```cpp file=<path> is, line for line, a part of that file
- what tools/docs/generate.py writes is current
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ID = re.compile(r"PTXDSL-([A-Z]\d+[a-z]?)\b")
SHORT_ID = re.compile(r'"([A-Z]\d\d)(?:"| (?:error|warning)\b)')  # how builder, verifier and parser name them
FENCE = re.compile(r"^```")


def pages():
    found = [ROOT / name for name in ("README.md", "CHANGELOG.md") if (ROOT / name).is_file()]
    return found + sorted((ROOT / "docs").rglob("*.md"))


def anchors(text):
    """The anchors of a page's headings, as the usual Markdown renderers make them."""
    names = set()
    fenced = False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and (match := re.match(r"#+\s+(.*?)\s*#*$", line)):
            words = re.sub(r"[`*]|\[|\]\([^)]*\)", "", match[1]).lower()
            names.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
        names.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return names


def check_links(page, text):
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= bool(FENCE.match(line))
        for target in [] if fenced else LINK.findall(line):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                yield f"{page.relative_to(ROOT)}:{number}: {target} leads nowhere"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
                yield f"{page.relative_to(ROOT)}:{number}: {path or page.name} has no heading #{anchor}"


def check_snippets(page, text):
    lines = text.splitlines()
    for start, line in enumerate(lines):
        match = re.match(r"^```\w+ file=(\S+)$", line)
        if not match:
            continue
        end = next((i for i in range(start + 1, len(lines)) if lines[i] == "```"), len(lines))
        block = [x.strip() for x in lines[start + 1:end]]
        file = ROOT / match[1]
        have = [x.strip() for x in file.read_text(encoding="utf-8").splitlines()] if file.is_file() else []
        if not any(have[i:i + len(block)] == block for i in range(len(have) - len(block) + 1)):
            yield f"{page.relative_to(ROOT)}:{start + 1}: this code is not in {match[1]}"


def emitted_ids():
    """(ids of misuse, ids of the PTX reader) that some header names in a string."""
    emitted = set()
    for header in (ROOT / "include").rglob("*.hpp"):
        text = re.sub(r"^\s*//.*$", "", header.read_text(encoding="utf-8"), flags=re.MULTILINE)
        emitted |= set(ID.findall(text)) | set(SHORT_ID.findall(text))
    reader = {name for name in emitted if name[0] == "P"}
    return emitted - reader, reader


def check_ids():
    emitted, reader = emitted_ids()
    written = {page.stem for page in (ROOT / "docs" / "misuse").glob("[A-Z]*.md")}
    for name in sorted(emitted - written):
        yield f"PTXDSL-{name} has no page docs/misuse/{name}.md"
    for name in sorted(written - emitted):
        yield f"docs/misuse/{name}.md describes an id that no header emits"
    parser = ROOT / "docs" / "parser.md"
    if parser.is_file():
        for name in sorted(reader - set(re.findall(r"\bP\d\d\b", parser.read_text(encoding="utf-8")))):
            yield f"docs/parser.md does not describe {name}"


def literals():
    """The string literals of the headers, neighbours joined, escapes resolved."""
    found = set()
    for header in (ROOT / "include" / "ptxdsl").rglob("*.hpp"):
        if "generated" in header.parts:
            continue
        for run in re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', header.read_text(encoding="utf-8")):
            text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', run)).replace('\\"', '"').replace("\\\\", "\\")
            found.update(part for part in re.split(r"\{[^{}]*\}", text) if len(part) >= 4)  # the places of fmt
            if row := re.match(r"[A-Z]\d\d (?:error|warning)[^:]*: ", text):  # of the verifier's catalogue
                found.update(part for part in re.split(r"\{\}|@", text[row.end():]) if len(part) >= 4)
            found.add(text)
    return found


def check_messages(known):
    """At least half of a message's letters are words of the headers; the rest are names."""
    for page in sorted((ROOT / "docs" / "misuse").glob("[A-Z][0-9]*.md")):
        block = re.search(r"^## Message\n\n```text\n(.*?)\n```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        if block is None:
            yield f"{page.relative_to(ROOT)}: no message in a ```text block under `## Message`"
            continue
        for message in block[1].splitlines():
            if not message.startswith(f"PTXDSL-{page.stem}: "):
                yield f"{page.relative_to(ROOT)}: a message begins with PTXDSL-{page.stem}: {message[:40]}"
                continue
            sentence = message.partition(": ")[2]
            covered = [False] * len(sentence)
            for text in known:
                words = text.partition(": ")[2] if text.startswith("PTXDSL-") else text
                at = sentence.find(words) if len(words) >= 4 else -1
                if at >= 0:
                    covered[at:at + len(words)] = [True] * len(words)
            letters = [known_letter for ch, known_letter in zip(sentence, covered) if ch.isalpha()]
            if 2 * sum(letters) < len(letters):
                yield f"{page.relative_to(ROOT)}: no header has the words of `{message[:60]}…`"


def check_generated():
    done = subprocess.run([sys.executable, ROOT / "tools" / "docs" / "generate.py", "--check"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    if done.returncode != 0:
        yield from done.stdout.splitlines() or ["tools/docs/generate.py --check failed"]


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    faults = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        faults += check_links(page, text)
        faults += check_snippets(page, text)
    faults += check_ids()
    faults += check_messages(literals())
    faults += check_generated()
    for fault in faults:
        print(fault)
    print(f"check_docs: {len(pages())} pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
