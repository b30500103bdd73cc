#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The installed package finds Hana under each of its names: Boost::headers, Boost::hana, hana, or headers alone; and
says what is missing when there is none."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(p LANGUAGES CXX)
find_package(ptxdsl REQUIRED COMPONENTS core)
get_target_property(link ptxdsl::hana_headers INTERFACE_LINK_LIBRARIES)
message(STATUS "provider: ${link}")
add_library(o OBJECT o.cpp)
target_link_libraries(o PRIVATE ptxdsl::ptxdsl)
"""
SOURCE = "#include <boost/hana/tuple.hpp>\n#include <ptxdsl/version.hpp>\nstatic_assert(HANA_STAND_IN == 1);\n"

# Who provides the headers: the package's file and its target.
PROVIDERS = {
    "boost": ("BoostConfig.cmake", "Boost::headers"),
    "boost in parts": ("boost_hanaConfig.cmake", "Boost::hana"),
    "hana alone": ("HanaConfig.cmake", "hana"),
    "headers without a package": (None, None),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--cmake", "--generator", "--prefix", "--compiler"):
        parser.add_argument(option, required=True)
    args = parser.parse_args()

    failures = 0
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "src").mkdir()
        (root / "src" / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        (root / "src" / "o.cpp").write_text(SOURCE, encoding="utf-8")

        def configure(label, prefix):
            build = root / "build" / label.replace(" ", "_")
            command = [args.cmake, "-S", str(root / "src"), "-B", str(build), "-G", args.generator,
                       f"-DCMAKE_CXX_COMPILER={args.compiler}", f"-DCMAKE_PREFIX_PATH={args.prefix};{prefix}",
                       # Nothing from the system, or the system's own Boost would answer.
                       "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF",
                       "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF", "-DCMAKE_FIND_USE_CMAKE_ENVIRONMENT_PATH=OFF"]
            if "Ninja" in args.generator:
                command.append(f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja') or 'ninja'}")
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            out = done.stdout + done.stderr
            if done.returncode == 0:
                done = subprocess.run([args.cmake, "--build", str(build)], capture_output=True, text=True, check=False)
                out += done.stdout + done.stderr
            return done.returncode, out

        for label, (file, target) in PROVIDERS.items():
            prefix = root / "prefix" / label.replace(" ", "_")
            header = prefix / "include" / "boost" / "hana" / "tuple.hpp"
            header.parent.mkdir(parents=True)
            header.write_text("#define HANA_STAND_IN 1\n", encoding="utf-8")
            if file:
                package = prefix / "share" / "cmake" / file.removesuffix("Config.cmake")
                package.mkdir(parents=True)
                (package / file).write_text(
                    f"if(NOT TARGET {target})\n    add_library({target} INTERFACE IMPORTED)\n"
                    f'    target_include_directories({target} INTERFACE "{prefix}/include")\nendif()\n',
                    encoding="utf-8")
                version = package / file.replace("Config.cmake", "ConfigVersion.cmake")
                version.write_text("set(PACKAGE_VERSION 1.81.0)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n",
                                   encoding="utf-8")
            status, out = configure(label, prefix)
            wanted = f"provider: {target or 'link-NOTFOUND'}"
            good = status == 0 and wanted in out
            print(f"{'ok' if good else 'FAILED'}: {label}")
            if not good:
                failures += 1
                print(out)

        status, out = configure("none", root / "empty")
        good = status != 0 and "Boost.Hana headers" in " ".join(out.split())
        print(f"{'ok' if good else 'FAILED'}: none at all is refused in words")
        if not good:
            failures += 1
            print(out)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
