#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Grouped products against torch, interleaved in one process.

Loads the library that bench/grouped_library.cpp is compiled to next to torch, checks its results against float32 products of torch
and times both in the same rounds: contiguous groups of one size and of random sizes against torch._grouped_mm and (one size only)
torch.bmm; masked groups of few rows against the copy rate over the bytes of the weights. bf16. Needs torch with CUDA; nothing else.
"""
import argparse
import ctypes
import json
import pathlib
import random
import statistics
import subprocess
import sys

UNIFORM = [(4, 2048, 256, 2048), (8, 2048, 64, 2048), (8, 2048, 4096, 7168), (64, 256, 2048, 7168), (4, 8192, 4096, 7168), (4, 8192, 7168, 2048),
           (16, 1024, 2816, 2048), (32, 512, 14336, 4096)]
MASKED = [(8, 64, 14336, 4096), (64, 16, 2048, 7168), (64, 64, 4096, 7168), (128, 8, 1536, 2048), (16, 128, 4096, 14336)]


def build_call(library):
    call = ctypes.CDLL(str(library)).grouped_gemm_bf16
    call.argtypes = [ctypes.c_uint64] * 8 + [ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p]
    return call


class Problem:
    def __init__(self, torch, call, groups, rows, n, k, masked, split, seed):
        self.torch, self.call, self.groups, self.rows, self.n, self.k, self.masked = torch, call, groups, rows, n, k, masked
        generator = torch.Generator(device="cuda").manual_seed(seed)
        new = lambda *shape: torch.randn(*shape, generator=generator, device="cuda", dtype=torch.bfloat16)
        self.sizes = split
        self.b = new(groups, n, k) / k ** 0.5
        if masked:
            self.a, self.c = new(groups, rows, k), torch.full((groups, rows, n), float("nan"), device="cuda", dtype=torch.bfloat16)
            self.numbers = torch.tensor(split, dtype=torch.int32, device="cuda")
        else:
            total = sum(split)
            self.a, self.c = new(total, k), torch.full((total, n), float("nan"), device="cuda", dtype=torch.bfloat16)
            starts = [0]
            for size in split:
                starts.append(starts[-1] + size)
            self.numbers = torch.tensor(starts, dtype=torch.int32, device="cuda")
            self.ends = self.numbers[1:].contiguous()
        self.result = None

    def ours(self):
        rows = self.rows if self.masked else self.a.shape[0]
        expected = max(self.sizes) if self.masked else 0
        stream = self.torch.cuda.current_stream().cuda_stream
        if self.call(self.a.data_ptr(), self.b.data_ptr(), self.c.data_ptr(), self.numbers.data_ptr(), self.groups, rows, self.n, self.k,
                     int(self.masked), expected, stream):
            sys.exit("a launch failed")

    def grouped_mm(self):
        self.result = self.torch._grouped_mm(self.a, self.b.transpose(1, 2), offs=self.ends)

    def bmm(self):
        self.result = self.torch.bmm(self.a.view(self.groups, -1, self.k), self.b.transpose(1, 2))

    def worst(self):
        """The largest difference to float32 products, in units of what bf16 may be off."""
        torch, worst, at = self.torch, 0.0, 0
        for g, size in enumerate(self.sizes):
            a = self.a[g, :size] if self.masked else self.a[at:at + size]
            c = self.c[g, :size] if self.masked else self.c[at:at + size]
            at += size
            if size == 0:
                continue
            want = a.float() @ self.b[g].float().T
            off = ((c.float() - want).abs() / (want.abs() * 2 ** -8 + 1e-3)).max().item()
            if not off <= 1:  # NaN, of what was not written, is none either
                sys.exit(f"group {g} of {size} rows is off: {off}")
            worst = max(worst, off)
            if self.masked and size < self.rows and not self.c[g, size:].isnan().all():
                sys.exit("a row that is no group's was written")
        return worst


def graph_of(torch, launch, times):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(times):
            launch()
    return graph


def time_in_turn(torch, contenders, rounds, slice_ms):
    """Microseconds of a launch, a list for each contender, by rounds."""
    graphs, counts = {}, {}
    for name, launch in contenders.items():
        launch()
        torch.cuda.synchronize()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record(), launch(), end.record()
        torch.cuda.synchronize()
        counts[name] = max(1, min(200, int(slice_ms / max(start.elapsed_time(end), 0.01))))
        graphs[name] = None if name == "copy" else graph_of(torch, launch, counts[name])  # copies are slower in a graph
    times = {name: [] for name in contenders}
    for turn in range(rounds + 2):
        for name, graph in graphs.items():
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            if graph:
                graph.replay()
            else:
                for _ in range(counts[name]):
                    contenders[name]()
            end.record()
            torch.cuda.synchronize()
            if turn >= 2:
                times[name].append(start.elapsed_time(end) * 1000 / counts[name])
    return times


def random_split(total, groups, rng):
    cuts = sorted(rng.randint(0, total) for _ in range(groups - 1))
    return [b - a for a, b in zip([0] + cuts, cuts + [total])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, required=True, help="bench/grouped_library.cpp, compiled")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--slice-ms", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the random sizes and contents")
    parser.add_argument("--out", type=pathlib.Path, help="where the results go, as JSON")
    args = parser.parse_args()
    import torch
    call, rng, found = build_call(args.library), random.Random(args.seed), []
    device = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    print(device, "torch", torch.__version__)
    source, target = (torch.empty(1 << 29, dtype=torch.uint8, device="cuda") for _ in range(2))
    copy = lambda: target.copy_(source)
    for groups, rows, n, k in UNIFORM:
        for split in ([rows] * groups, random_split(rows * groups, groups, rng)):
            p = Problem(torch, call, groups, rows, n, k, False, split, args.seed)
            p.ours()
            worst = p.worst()
            contenders = {"ours": p.ours, "grouped_mm": p.grouped_mm}
            if split == [rows] * groups:
                contenders["bmm"] = p.bmm
            t = time_in_turn(torch, contenders, args.rounds, args.slice_ms)
            flops = 2 * rows * groups * n * k
            line = {"groups": groups, "rows": rows, "n": n, "k": k, "ragged": "bmm" not in contenders, "worst": round(worst, 3)}
            for name, times in t.items():
                line[name + " TFLOP/s"] = round(flops / statistics.median(times) / 1e6, 1)
                if name != "ours":
                    line["ours / " + name] = round(statistics.median(b / a for a, b in zip(t["ours"], times)), 3)
            found.append(line)
            print(json.dumps(line), flush=True)
            del p
            torch.cuda.empty_cache()
    for groups, rows, n, k in MASKED:
        split = [rng.randint(1, rows) for _ in range(groups)]
        p = Problem(torch, call, groups, 2 * rows, n, k, True, split, args.seed)
        p.ours()
        worst = p.worst()
        t = time_in_turn(torch, {"ours": p.ours, "copy": copy}, args.rounds, args.slice_ms)
        rate = p.b.numel() * 2 / statistics.median(t["ours"]) / 1e3
        copied = 2 * source.numel() / statistics.median(t["copy"]) / 1e3
        line = {"groups": groups, "rows up to": rows, "n": n, "k": k, "masked": True, "worst": round(worst, 3), "weights GB/s": round(rate),
                "copy GB/s": round(copied), "of the copy": round(rate / copied, 3)}
        found.append(line)
        print(json.dumps(line), flush=True)
        del p
        torch.cuda.empty_cache()
    if args.out:
        args.out.write_text(json.dumps({"device": device, "torch": torch.__version__, "seed": args.seed, "results": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
