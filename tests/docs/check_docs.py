#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documentation against the repository.

- every relative link in README.md, CHANGELOG.md and docs/ leads to a file, and its #anchor to a heading there
- every diagnostic id that a header can emit is described in docs/diagnostics.md, and the reverse
- a code block opened with ```cpp file=<path> is, line for line, a part of that file
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ID = re.compile(r"PTXDSL-[A-Z]\d+[a-z]?\b")
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
    for number, line in enumerate(text.splitlines(), 1):
        for target in LINK.findall(line):
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


def check_ids():
    page = ROOT / "docs" / "diagnostics.md"
    if not page.is_file():
        return
    described = set(ID.findall(page.read_text(encoding="utf-8")))
    emitted = set()
    for header in (ROOT / "include").rglob("*.hpp"):
        emitted |= set(ID.findall(header.read_text(encoding="utf-8")))
    for name in sorted(emitted - described):
        yield f"docs/diagnostics.md does not describe {name}"
    for name in sorted(described - emitted):
        yield f"docs/diagnostics.md describes {name}, which no header emits"


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    faults = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        faults += check_links(page, text)
        faults += check_snippets(page, text)
    faults += check_ids()
    for fault in faults:
        print(fault)
    print(f"check_docs: {len(pages())} pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
