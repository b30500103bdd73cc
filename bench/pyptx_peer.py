#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints pyptx's Hopper kernels for bench_gemm and bench_rows.

    pip install pyptx numpy
    python3 bench/pyptx_peer.py --out /tmp/pyptx
    bench_gemm --pyptx /tmp/pyptx --shapes 4096,6144,8192
    bench_rows --pyptx /tmp/pyptx

Needs no GPU. Writes the PTX texts as pyptx prints them and, for each shape, how pyptx launches them
(bench/printed_kernel.hpp says what a line means). pyptx's kernels are pyptx's: do not commit what this writes.
"""
import argparse
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

GEMM_SHAPES = "1024,2048,4096,6144,8192,4096x11008x4096,8192x28672x8192"
ROW_SHAPES = "2048x8192,8192x8192,65536x4096"
EPS = 1e-6  # that of bench_rows


def example(name):
    """A module of pyptx's examples. Those of the row kernels import jax for their own checks, which do not run here."""
    for absent in ("jax", "jax.numpy"):
        try:
            importlib.import_module(absent)
        except ImportError:
            sys.modules[absent] = types.ModuleType(absent)
    if not hasattr(sys.modules["jax"], "numpy"):
        sys.modules["jax"].numpy = sys.modules["jax.numpy"]
    return importlib.import_module("pyptx.examples.hopper." + name)


def entry_of(ptx):
    return re.search(r"\.entry\s+(\w+)", ptx).group(1)


def parameters_of(ptx):
    """Name and type of each, in order."""
    signature = re.search(r"\.entry\s+\w+\s*\(([^)]*)\)", ptx).group(1)
    return [(name, kind) for kind, name in re.findall(r"\.param\s+\.(\w+)\s+(\w+)", signature)]


def head(kernel, ptx, file):
    """The lines that are no parameters, from what the kernel's decorator was given."""
    lines = [f"kernel {entry_of(ptx)}", f"ptx {file}", "grid " + " ".join(map(str, kernel._resolve_grid({}))),
             "block " + " ".join(map(str, kernel._block))]
    if tuple(kernel._cluster) != (1, 1, 1):
        lines.append("cluster " + " ".join(map(str, kernel._cluster)))
    shared = max(kernel._smem, kernel._last_trace_smem)
    return lines + ([f"shared {shared}"] if shared else [])


def map_line(tensor, tile, rows, columns):
    """A map as pyptx encodes it for `tma_rank=3`: a matrix as panels of 64 columns (jax_support.synthesize_tma_descriptor_3d)."""
    assert tile.tma_rank == 3 and tile.dtype.name == "bf16" and columns % 64 == 0
    high, wide = tile.tma_box
    inner = 72 if tile.tma_padding else 64
    swizzle = 128 if tile.layout.name == "TMA_128B" else 0
    return (f"map {tensor} bf16 size 64 {rows} {columns // 64} stride {2 * columns} 128 box {inner} {high} {wide // 64} swizzle {swizzle}")


def print_gemm(out, shapes):
    """C = A B^T of ours, row-major. pyptx's kernel stores the transposed product, so its A is our B and its B our A."""
    module = example("gemm_highperf_hopper")
    kernel = module.gemm_warp_specialized
    ptx = kernel.ptx()
    (out / "gemm_bf16.ptx").write_text(ptx)
    tile_m, tile_n, clusters = module.BM * module.CLUSTER_M, module.BN, module.NUM_CLUSTERS
    a_tile, b_tile, _ = kernel._in_specs
    (c_tile,) = kernel._out_specs
    for m, n, k in shapes:
        name = f"gemm_bf16_{m}x{n}x{k}"
        tiles = (n // tile_m) * (m // tile_n)
        if n % tile_m or m % tile_n or k % module.BK or -(-tiles // clusters) >= module.SPACE_LEN:
            print(f"{name}: pyptx's kernel takes multiples of {tile_m}, {tile_n} and {module.BK}, up to {module.SPACE_LEN - 1} tiles a cluster")
            continue
        schedule = module.create_hilbert_schedule(n // tile_m, m // tile_n)
        (out / f"{name}.table").write_text(" ".join(str(int(v) & 0xFFFFFFFF) for v in schedule) + "\n")
        buffers = {"A": "tensor b", "B": "tensor a", "C": "tensor c", "hilbert_schedule": f"table {name}.table",
                   "M": f"u32 {n}", "N": f"u32 {m}", "K": f"u32 {k}",
                   "A_tma_desc": map_line("b", a_tile, n, k), "B_tma_desc": map_line("a", b_tile, m, k),
                   "C_tma_desc": map_line("c", c_tile, m, n)}
        lines = head(kernel, ptx, "gemm_bf16.ptx") + [buffers[p] for p, _ in parameters_of(ptx)]
        (out / f"{name}.txt").write_text("\n".join(lines) + "\n")


ROW_KERNELS = {  # work: module, builder, its further arguments, our tensors in the order of its parameters
    "rms_norm": ("rms_norm", "build_rms_norm", {"eps": EPS}, ("x", "w", "y")),
    "layer_norm": ("layer_norm", "build_layer_norm", {"eps": EPS}, ("x", "w", "b", "y")),
    "softmax": ("softmax", "build_softmax", {}, ("x", "y")),
    "swiglu": ("swiglu", "build_fused_silu_mul", {}, ("x", "other", "y")),
}


def print_rows(out, shapes):
    """f32 is what pyptx's row kernels take."""
    for work, (module, builder, further, tensors) in ROW_KERNELS.items():
        for rows, columns in shapes:
            kernel = getattr(example(module), builder)(rows, columns, **further)
            ptx = kernel.ptx()
            parameters = parameters_of(ptx)
            if len(parameters) != len(tensors) or any(kind != "u64" for _, kind in parameters):
                sys.exit(f"{work}: this pyptx's kernel has the parameters {parameters}; expected are addresses of {tensors}")
            stem = f"{work}_f32_{rows}x{columns}"
            (out / f"{stem}.ptx").write_text(ptx)
            lines = head(kernel, ptx, f"{stem}.ptx") + [f"tensor {t}" for t in tensors]
            (out / f"{stem}.txt").write_text("\n".join(lines) + "\n")


def shapes_of(text, numbers):
    """"4096,16x8192x8192": a single number is a cube."""
    shapes = []
    for word in text.split(","):
        shape = tuple(int(n) for n in word.split("x"))
        shapes.append(shape * numbers if len(shape) == 1 else shape)
        if len(shapes[-1]) != numbers:
            sys.exit(f"a shape is {numbers} numbers, like {'x'.join(['4096'] * numbers)}; found {word}")
    return shapes


def write(out, gemm, rows):
    out.mkdir(parents=True, exist_ok=True)
    print_gemm(out, gemm)
    print_rows(out, rows)
    return sorted(out.glob("*.txt"))


def self_test():
    """Small shapes: every description names its text and has as many parameters as the entry, and ptxas takes the texts."""
    with tempfile.TemporaryDirectory() as folder:
        files = write(pathlib.Path(folder), [(512, 768, 256)], [(4, 512)])
        assert len(files) == 5, files
        for file in files:
            lines = file.read_text().splitlines()
            text = (file.parent / lines[1].split()[1]).read_text()
            parameters = [line for line in lines if line.split()[0] in ("tensor", "table", "map", "u32")]
            assert lines[0] == f"kernel {entry_of(text)}" and len(parameters) == len(parameters_of(text)), file
        ptxas = shutil.which(os.environ.get("PTXDSL_PTXAS") or "ptxas")
        for text in sorted(pathlib.Path(folder).glob("*.ptx")) if ptxas else []:
            subprocess.run([ptxas, "-arch=sm_90a", text, "-o", text.with_suffix(".cubin")], check=True)
    print(f"{len(files)} kernels printed" + (", and assembled" if ptxas else "; no ptxas here"))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, help="folder for the texts and descriptions")
    parser.add_argument("--gemm", default=GEMM_SHAPES, help=f"m x n x k or cubes (default {GEMM_SHAPES})")
    parser.add_argument("--rows", default=ROW_SHAPES, help=f"rows x columns (default {ROW_SHAPES})")
    parser.add_argument("--self-test", action="store_true", help="print small kernels and check what was written")
    options = parser.parse_args()
    try:
        importlib.import_module("numpy")
        importlib.import_module("pyptx")
    except ImportError as missing:
        print(f"skipped: {missing}; pip install pyptx numpy")
        return 77
    if options.self_test:
        return self_test()
    if options.out is None:
        parser.error("--out names the folder to write to")
    files = write(options.out, shapes_of(options.gemm, 3), shapes_of(options.rows, 2))
    print(f"{len(files)} kernels written to {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
