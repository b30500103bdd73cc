#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what was installed: every header and table, the licence, the package; and nothing that names this machine."""
import argparse
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    args = parser.parse_args()

    problems = []
    include = args.source / "include"
    for path in sorted(include.rglob("*")):
        if path.suffix in {".hpp", ".isa"} and not (args.prefix / "include" / path.relative_to(include)).is_file():
            problems.append(f"not installed: {path.relative_to(args.source)}")
    package = args.prefix / "share" / "cmake" / "ptxdsl"
    for name in ("ptxdslConfig.cmake", "ptxdslConfigVersion.cmake", "ptxdslCoreTargets.cmake", "PtxdslHana.cmake"):
        if not (package / name).is_file():
            problems.append(f"not installed: share/cmake/ptxdsl/{name}")
    if not list(args.prefix.glob("lib*/libptxdsl_kernels.*")) and not list(args.prefix.glob("lib/*/libptxdsl_kernels.*")):
        problems.append("not installed: the kernel library")
    if not (args.prefix / "share" / "licenses" / "ptxdsl" / "LICENSE").is_file():
        problems.append("not installed: the licence")
    for path in package.glob("*.cmake"):
        text = path.read_text(encoding="utf-8")
        for directory in (args.source, args.build):
            if str(directory) in text:
                problems.append(f"{path.name} names the directory {directory}")

    # Headers have no architecture: a 32-bit project may use the package that a 64-bit CMake installed.
    for wanted, size, found in (("0.1", 8, True), ("0.1", 4, True), ("99", 8, False), ("0.0", 8, False)):
        probe = args.build / "check_version.cmake"
        probe.write_text(
            f'cmake_minimum_required(VERSION 3.25)\nset(CMAKE_SIZEOF_VOID_P {size})\nset(PACKAGE_FIND_VERSION {wanted})\n'
            f'string(REPLACE "." ";" parts {wanted}.0)\nlist(GET parts 0 PACKAGE_FIND_VERSION_MAJOR)\n'
            f'list(GET parts 1 PACKAGE_FIND_VERSION_MINOR)\ninclude("{package}/ptxdslConfigVersion.cmake")\n'
            'if(PACKAGE_VERSION_COMPATIBLE AND NOT PACKAGE_VERSION_UNSUITABLE)\n    message("yes")\nendif()\n',
            encoding="utf-8")
        done = subprocess.run([args.cmake, "-P", str(probe)], capture_output=True, text=True, check=False)
        if done.returncode != 0 or ("yes" in done.stderr) != found:
            problems.append(f"the version file answers wrongly to {wanted} with {size}-byte pointers: {done.stderr}")

    for problem in problems:
        print(problem)
    print(f"check_install: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
