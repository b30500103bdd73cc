#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`dev` and `.ci/run`: they parse, help is help, a wrong word is refused with exit status 2."""
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SUBCOMMANDS = ["demo", "test", "build", "bench-compile", "format", "lint", "docs", "clean"]


def dev(*arguments):
    return subprocess.run([str(ROOT / "dev"), *arguments], capture_output=True, text=True, check=False, cwd="/",
                          stdin=subprocess.DEVNULL)


class Dev(unittest.TestCase):
    def test_scripts_parse(self):
        for script in ("dev", ".ci/run", "tests/packaging/conan/create.sh"):
            done = subprocess.run(["bash", "-n", str(ROOT / script)], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), script)

    def test_help_names_every_subcommand_and_has_no_colour(self):
        done = dev("--help")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("\x1b", done.stdout)
        for name in SUBCOMMANDS:
            self.assertRegex(done.stdout, rf"(?m)^  {name}\b")

    def test_every_subcommand_has_help(self):
        for name in SUBCOMMANDS:
            done = dev(name, "--help")
            self.assertEqual(done.returncode, 0, name)
            self.assertRegex(done.stdout, rf"^usage: ./dev {name}\b")

    def test_wrong_words_are_refused(self):
        for arguments in (["no-such-thing"], ["build", "--no-such-option"], ["test", "--preset"], []):
            done = dev(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertRegex(done.stderr, "./dev .*--help")

    def test_readme_names_the_two_commands(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertRegex(readme, re.compile(r"^\s*\./dev demo", re.MULTILINE))
        self.assertRegex(readme, re.compile(r"^\s*\./dev test", re.MULTILINE))


if __name__ == "__main__":
    unittest.main()
