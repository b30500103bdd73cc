#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A project of the lines that README shows under FetchContent, and of its first kernel: configured, built, run. The
repository is fetched from this checkout; where that is none, the sources stand in for what would be fetched."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

URL = "<url of this repository>"
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
{fetch}
add_executable(app main.cpp)
target_link_libraries(app PRIVATE ptxdsl::ptxdsl)
"""
MAIN = """\
#include <ptxdsl/ptxdsl.hpp>

#include <cstdio>
#include <string_view>

{kernel}
int main() {{ std::puts(saxpy_ptx.text().data()); }}
"""


def blocks(readme):
    """The lines behind "As FetchContent:", and the first program."""
    fetch = re.search(r"^As FetchContent:\n\n((?:    .*\n)+)", readme, re.MULTILINE)
    kernel = re.search(r"^```cpp file=examples/saxpy\.cpp\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    if not fetch or not kernel or fetch[1].count(URL) != 1:
        sys.exit(f"README.md has no block 'As FetchContent:' with one {URL}, or no kernel")
    return fetch[1], kernel[1]


def repository(source, directory):
    """A repository whose branch `main` is what is checked out; none when git is not there or this is no checkout."""
    to = directory / "repository.git"
    for command in (["git", "clone", "-q", "--bare", str(source), str(to)], ["git", "-C", str(to), "update-ref", "refs/heads/main", "HEAD"]):
        if not shutil.which("git") or subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return None
    return to


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--cmake", "--generator", "--source", "--compiler"):
        parser.add_argument(option, required=True)
    args = parser.parse_args()
    source = pathlib.Path(args.source)
    fetch, kernel = blocks((source / "README.md").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        url = repository(source, root)
        options = [] if url else [f"-DFETCHCONTENT_SOURCE_DIR_PTXDSL={source}"]
        (root / "CMakeLists.txt").write_text(PROJECT.format(fetch=fetch.replace(URL, f"file://{url or source}")), encoding="utf-8")
        (root / "main.cpp").write_text(MAIN.format(kernel=kernel), encoding="utf-8")
        configure = [args.cmake, "-S", name, "-B", f"{name}/b", "-G", args.generator, f"-DCMAKE_CXX_COMPILER={args.compiler}",
                     "-DPTXDSL_RUNTIME=OFF", *options]
        for command in (configure, [args.cmake, "--build", f"{name}/b"], [f"{name}/b/app"]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{command}\n{done.stdout}{done.stderr}")
    if "fma.rn.f32" not in done.stdout:
        sys.exit("the program of README.md printed no kernel")
    print("fetched from", "a repository" if url else "the sources")


main()
