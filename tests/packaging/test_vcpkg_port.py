#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the overlay port's portfile as far as that goes without vcpkg.

vcpkg itself is not run: its helper functions are stood in for by the few lines below, which do what they are
documented to do for a release-only, header-only port. So this shows that the port's own steps work (options, paths,
what ends up in the package, that a project finds it there) and that the manifests agree with each other and with
version.hpp; it cannot show that vcpkg's registry has the dependencies under these names.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

STAND_INS = r"""cmake_minimum_required(VERSION 3.25)
function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 a "" "OUT_FEATURE_OPTIONS" "FEATURES;INVERTED_FEATURES")
    set(options "")
    while(a_FEATURES)
        list(POP_FRONT a_FEATURES feature variable)
        if(feature IN_LIST FEATURES)
            list(APPEND options "-D${variable}=ON")
        else()
            list(APPEND options "-D${variable}=OFF")
        endif()
    endwhile()
    set(${a_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 a "" "SOURCE_PATH" "OPTIONS")
    if(a_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "vcpkg_cmake_configure was passed: ${a_UNPARSED_ARGUMENTS}")
    endif()
    execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND "${CMAKE_COMMAND}" -S "${a_SOURCE_PATH}" -B "${BUILD}"
        -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Release
        "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" --warn-uninitialized ${a_OPTIONS})
endfunction()
function(vcpkg_cmake_install)
    execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" --target install)
endfunction()
function(vcpkg_cmake_config_fixup)
    if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/share/${PORT}/${PORT}Config.cmake")
        message(FATAL_ERROR "share/${PORT} has no ${PORT}Config.cmake")
    endif()
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 a "" "" "FILE_LIST")
    file(INSTALL ${a_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}" RENAME copyright)
endfunction()
include("${PORT_DIR}/portfile.cmake")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--cmake", "--generator", "--compiler"):
        parser.add_argument(option, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    args = parser.parse_args()

    root = pathlib.Path(__file__).resolve().parent.parent.parent
    port = root / "cmake" / "vcpkg-port" / "ptxdsl"
    problems = []

    text = (root / "include" / "ptxdsl" / "version.hpp").read_text(encoding="utf-8")
    version = ".".join(re.search(rf"#define PTXDSL_VERSION_{p} (\d+)", text)[1] for p in ("MAJOR", "MINOR", "PATCH"))
    manifests = [json.loads((d / "vcpkg.json").read_text(encoding="utf-8")) for d in (root, port)]
    for manifest, where in zip(manifests, ("vcpkg.json", "the port's vcpkg.json")):
        if manifest["version"] != version:
            problems.append(f"{where} says version {manifest['version']}, version.hpp {version}")
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"]):
            problems.append(f"{where}: {manifest['name']} is no legal port name")
    for key in ("name", "license", "description", "supports", "default-features"):
        if manifests[0][key] != manifests[1][key]:
            problems.append(f"the two manifests differ in {key}")
    for feature in ("runtime", "kernels"):
        if manifests[0]["features"][feature] != manifests[1]["features"][feature]:
            problems.append(f"the two manifests differ in the feature `{feature}`")

    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    script = args.work / "run_port.cmake"
    script.write_text(STAND_INS, encoding="utf-8")
    for features in ("core;runtime", "core"):
        package = args.work / features.replace(";", "_")
        values = {"PORT": "ptxdsl", "PORT_DIR": port, "FEATURES": features, "CURRENT_PACKAGES_DIR": package,
                  "BUILD": args.work / f"build_{package.name}", "GENERATOR": args.generator,
                  "COMPILER": args.compiler}
        done = subprocess.run([args.cmake, *(f"-D{k}={v}" for k, v in values.items()), "-P", str(script)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout + done.stderr)
            problems.append(f"the portfile fails with features {features}")
            continue
        if "not used by the project" in done.stderr:
            problems.append(f"the port passes an option the project does not know: {done.stderr}")
        # vcpkg's post-build checks for such a port.
        for wanted in ("share/ptxdsl/copyright", "share/ptxdsl/usage", "include/ptxdsl/version.hpp"):
            if not (package / wanted).is_file():
                problems.append(f"{features}: the package has no {wanted}")
        for unwanted in ("lib", "bin", "debug", "share/cmake", "share/licenses"):
            if (package / unwanted).exists():
                problems.append(f"{features}: the package has {unwanted}, which vcpkg warns of")
        runtime = "ON" if "runtime" in features else "OFF"
        consumer = args.work / f"consumer_{package.name}"
        for command in (
                [args.cmake, "-S", str(root / "tests" / "packaging" / "consumer"), "-B", str(consumer),
                 "-G", args.generator, f"-DCMAKE_CXX_COMPILER={args.compiler}", "-DCONSUMER_MODE=find_package",
                 f"-DCMAKE_PREFIX_PATH={package}", f"-DCONSUMER_RUNTIME={runtime}"],
                [args.cmake, "--build", str(consumer)]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(done.stdout + done.stderr)
                problems.append(f"{features}: a project that uses the package does not build")
                break

    for problem in problems:
        print(f"FAILED: {problem}")
    print(f"test_vcpkg_port: {len(problems)} problems (vcpkg itself was not run)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
