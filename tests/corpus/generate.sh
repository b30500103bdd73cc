#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes tests/corpus/nvcc/*.ptx anew from src/*.cu. Needs nvcc 13.0. The directory of the sources is the working
# directory, so that no path of this machine gets into `.file` lines.
set -eu
cd "$(dirname "$0")/src"
nvcc=${NVCC:-nvcc}
one() {  # source, suffix, options
    source=$1; suffix=$2; shift 2
    "$nvcc" -std=c++17 -ptx "$@" "$source.cu" -o "../nvcc/$source.$suffix.ptx"
    # Only our own file stays in the line tables; the toolkit's headers lie elsewhere on each machine.
    sed -i -E 's#"/[^"]*/([^/"]+)"#"\1"#' "../nvcc/$source.$suffix.ptx"
}
for s in vectors reduce switches variables math integers calls textures; do
    one $s sm_80 -arch=compute_80
    one $s sm_90a -gencode arch=compute_90a,code=compute_90a
done
for s in vectors reduce switches integers calls; do
    one $s sm_100a -gencode arch=compute_100a,code=compute_100a
    one $s lineinfo -lineinfo -gencode arch=compute_90a,code=compute_90a
done
for s in vectors switches variables calls; do
    one $s debug -G -gencode arch=compute_90a,code=compute_90a
done
for s in vectors calls; do
    one $s rdc -rdc=true -gencode arch=compute_90a,code=compute_90a
done
one tensor_cores sm_80 -arch=compute_80
one tensor_cores sm_90a -gencode arch=compute_90a,code=compute_90a
one hopper sm_90a -gencode arch=compute_90a,code=compute_90a
one hopper lineinfo -lineinfo -gencode arch=compute_90a,code=compute_90a
one blackwell sm_100a -gencode arch=compute_100a,code=compute_100a
