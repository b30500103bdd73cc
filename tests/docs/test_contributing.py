#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the recipes of docs/contributing.md, as they are printed, in a copy of the tree.

A recipe is a section (`## Add ...`). Its code blocks are steps; what stands behind the language says which:

    ```text append=FILE            these lines go to the end of FILE
    ```cpp create=FILE             FILE is new and has this text
    ```text insert=FILE before=X   these lines go in front of the line of FILE that is X
    ```sh run                      commands, in the root of the tree
    ```sh check                    commands that fail before the recipe is followed, and succeed after it

Each recipe is followed in a copy of its own. How many files it touches by hand is held against LIMITS.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "contributing.md"
LIMITS = {"Add an instruction": 1, "Add a kernel": 5, "Add a rule": 5, "Add a target": 1}  # files by hand
STEP = re.compile(r"^```\w+ (append|create|insert|run|check)\b(?:=(\S+))?(?: before=([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def recipes(page):
    """{title: [(kind, file, before, text)]} of every section that has steps."""
    found = {}
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        if steps := [match.groups() for match in STEP.finditer(text)]:
            found[title.strip()] = steps
    return found


def copy_of_tree(folder):
    """Everything but version control and what was built."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", "build", ".cache", "__pycache__"))
    return folder


class Tree:
    """A copy in which a recipe is followed."""

    def __init__(self, folder):
        self.root = copy_of_tree(folder)
        self.touched = set()

    def run(self, commands):
        # LC_ALL: the page shows what the tools say in English.
        return subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=self.root, text=True, capture_output=True,
                              check=False, env={**os.environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL)

    def write(self, kind, file, before, text):
        path = self.root / file
        self.touched.add(file)
        if kind == "create":
            if path.exists():
                raise AssertionError(f"{file} exists already")
            path.write_text(text, encoding="utf-8")
            return
        old = path.read_text(encoding="utf-8")
        if kind == "append":
            path.write_text(old + text, encoding="utf-8")
            return
        lines = old.splitlines(keepends=True)
        places = [i for i, line in enumerate(lines) if line.strip() == before]
        if len(places) != 1:
            raise AssertionError(f"{file} has {len(places)} lines that are `{before}`")
        lines.insert(places[0], text)
        path.write_text("".join(lines), encoding="utf-8")


class Contributing(unittest.TestCase):
    maxDiff = None

    def test_the_page_has_the_recipes(self):
        self.assertEqual(sorted(recipes(PAGE.read_text(encoding="utf-8"))), sorted(LIMITS))

    def follow(self, title):
        steps = recipes(PAGE.read_text(encoding="utf-8"))[title]
        checks = [text for kind, _, _, text in steps if kind == "check"]
        self.assertTrue(checks, f"{title}: nothing is checked")
        with tempfile.TemporaryDirectory() as folder:
            tree = Tree(pathlib.Path(folder) / "ptxdsl")
            for text in checks:
                self.assertNotEqual(tree.run(text).returncode, 0, f"succeeds before the recipe is followed:\n{text}")
            for kind, file, before, text in steps:
                if kind in ("append", "create", "insert"):
                    tree.write(kind, file, before, text)
                    continue
                done = tree.run(text)
                self.assertEqual(done.returncode, 0, f"{title}:\n{text}{done.stdout[-2000:]}{done.stderr[-4000:]}")
            self.assertLessEqual(len(tree.touched), LIMITS[title], sorted(tree.touched))


def recipe_test(title):
    return lambda self: self.follow(title)


for _title in LIMITS:
    setattr(Contributing, "test_" + _title.lower().replace(" ", "_"), recipe_test(_title))


if __name__ == "__main__":
    if shutil.which("g++") is None:
        print("skipped: the recipes are compiled with g++")
        sys.exit(77)
    unittest.main()
