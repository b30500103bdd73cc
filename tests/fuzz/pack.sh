#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds all fuzz targets into a folder that runs on another Linux machine of this architecture without anything
# installed: stripped programs, seeds from the corpus, a dictionary, fuzz_all.sh.
#
#   pack.sh FOLDER [CLANG]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
to=$1
clang=${2:-clang++-19}
mkdir -p "$to/bin" "$to/seeds"
for target in lexer parser printer transpiler verifier; do
    "$clang" -std=c++20 -O2 -DNDEBUG -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -static-libstdc++ -static-libgcc -s \
        -I "$root/include" "$here/$target.cpp" -o "$to/bin/$target"
done
n=0
find "$root/tests/corpus" -name '*.ptx' -size -20k | sort | while read -r file; do
    n=$((n + 1))
    cp "$file" "$to/seeds/$n.ptx"
done
cp "$here/fuzz_all.sh" "$to/"
# Words of the corpus, for the fuzzer to put together.
find "$root/tests/corpus" -name '*.ptx' -exec cat {} + | LC_ALL=C grep -aohE '\.[A-Za-z_][A-Za-z0-9_:]*|[A-Za-z_][A-Za-z0-9_]{1,12}|@@DWARF|%[A-Za-z0-9_]+' |
    LC_ALL=C sort -u | awk 'length($0) < 24 { printf "\"%s\"\n", $0 }' | head -n 2000 >"$to/words.dict"
