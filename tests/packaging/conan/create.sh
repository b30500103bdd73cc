#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `conan create .` in a Conan home of its own (CONAN_HOME), with no remotes: whatever it needs is on this machine.
set -euo pipefail

source_dir=$1
case "$("$CONAN" --version)" in
    *" 2."*) ;;
    *) echo "skipped: Conan 2 is needed, this is $("$CONAN" --version)"; exit 77 ;;
esac

mkdir -p "$CONAN_HOME"
"$CONAN" profile detect --force
"$CONAN" remote disable '*' >/dev/null 2>&1 || true
"$CONAN" create "$source_dir" --build=missing \
    -s compiler.cppstd=20 \
    -c tools.cmake.cmake_layout:test_folder="$CONAN_HOME/test_package" \
    -c tools.cmake.cmaketoolchain:generator="${CMAKE_GENERATOR:-Ninja}"
