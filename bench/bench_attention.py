#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attention next to FlashAttention-3 and cuDNN, in one process, in turn.

    python3 bench/bench_attention.py --library build/release/bin/libbench_attention.so --fa3 libdew_flash_attn3.so --out FILE

FlashAttention-3's kernels come from the wheel dew-flash-attn-cu13 (PyPI), which calls them through jax; cuDNN is what torch's
scaled_dot_product_attention takes. A slice is as many calls as take about `--slice` ms, timed on the host's clock around a synchronised
stream; contenders take turns, and a ratio is the median over the rounds. Each of our results is compared with the peers' first.
Without --fa3 FlashAttention-3 is left out. Every line of FILE is a shape, as JSON.
"""
import argparse
import ctypes
import json
import os
import random
import statistics
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel


class Request(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint64) for n in ("q", "k", "v", "out", "stream", "query_starts", "key_starts", "batch", "queries", "keys",
                                               "heads", "kv_heads", "size", "rows")] + [("causal", ctypes.c_uint32), ("window_left", ctypes.c_uint32)] + [
        (n, ctypes.c_uint64) for n in ("pages", "lengths", "workspace", "page", "pages_per_sequence", "workspace_size", "tables")]


class Ours:
    """The library: `bench_attention.cpp`."""

    def __init__(self, path):
        self.call_ = ctypes.CDLL(path).bench_attention_call
        self.message = ctypes.create_string_buffer(2000)

    def contender(self, q, k, v, out, causal, window=0, starts=None, longest=0):
        r = Request(q=q.data_ptr(), k=k.data_ptr(), v=v.data_ptr(), out=out.data_ptr(), stream=torch.cuda.current_stream().cuda_stream,
                    heads=q.shape[-2], kv_heads=k.shape[-2], size=q.shape[-1], causal=int(causal), window_left=window)
        if starts is None:
            r.batch, r.queries, r.keys = q.shape[0], q.shape[1], k.shape[1]
        else:
            r.query_starts = r.key_starts = starts.data_ptr()
            r.batch, r.queries, r.keys, r.rows = len(starts) - 1, longest, k.shape[0], q.shape[0]

        return self.runner(r)

    def runner(self, r):
        def run(times):
            if self.call_(ctypes.byref(r), times, self.message, len(self.message)):
                sys.exit(f"bench_attention: {self.message.value.decode()}")
            torch.cuda.synchronize()
        return run


class Flash3:
    """FlashAttention-3 as jax sees it: a loop on the device of as many calls, each with the result of the one before as its queries."""

    def __init__(self, path):
        import jax
        import jax.numpy as jnp
        import numpy as np
        self.jax, self.jnp, self.np = jax, jnp, np
        library = ctypes.cdll.LoadLibrary(path)
        for name in ("dew_flash3_mha_fwd", "dew_flash3_mha_varlen_fwd"):
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, name)), platform="CUDA")

    def contender(self, q, k, v, causal, window=0, starts=None, longest=0):
        jax, jnp, np = self.jax, self.jnp, self.np
        q, k, v = (jax.dlpack.from_dlpack(t) for t in (q, k, v))
        packed = starts is not None
        lse = (q.shape[1], q.shape[0]) if packed else (q.shape[0], q.shape[2], q.shape[1])
        results = (jax.ShapeDtypeStruct(q.shape, q.dtype), jax.ShapeDtypeStruct(lse, jnp.float32),
                   jax.ShapeDtypeStruct((1, 1, 1, 1), jnp.float32), jax.ShapeDtypeStruct((1, 1, 1), jnp.float32))
        attributes = dict(softmax_scale=np.float64(q.shape[-1] ** -0.5), is_causal=bool(causal),
                          window_size_left=np.int64(window or -1), window_size_right=np.int64(0 if window else -1))
        if packed:
            s = jax.dlpack.from_dlpack(starts)
            attributes |= dict(max_seqlen=np.int64(longest), max_seqlen_k=np.int64(longest))
            call = lambda x, k, v: jax.ffi.ffi_call("dew_flash3_mha_varlen_fwd", results)(x, k, v, s, s, **attributes)[0]
        else:
            call = lambda x, k, v: jax.ffi.ffi_call("dew_flash3_mha_fwd", results)(x, k, v, **attributes)[0]
        loop = jax.jit(lambda n, q, k, v: jax.lax.fori_loop(0, n, lambda i, x: call(x, k, v), q))
        self.last = None

        def run(times):
            self.last = loop(times, q, k, v)
            self.last.block_until_ready()
        return run

    def result(self):
        return torch.from_dlpack(self.last)


def cudnn(q, k, v, causal):
    a, b, c = (t.transpose(1, 2) for t in (q, k, v))

    def run(times):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            for _ in range(times):
                out = F.scaled_dot_product_attention(a, b, c, is_causal=causal, enable_gqa=q.shape[2] != k.shape[2])
        torch.cuda.synchronize()
        run.last = out.transpose(1, 2)
    return run


def measure(contenders, flops, rounds, slice_ms):
    """TFLOP/s of each, and the median of ours over the better peer's in the same round."""
    counts, took = {}, {n: [] for n in contenders}
    for name, run in contenders.items():
        run(1)
        times = 3
        start = time.perf_counter()
        run(times)
        one = (time.perf_counter() - start) / times
        counts[name] = max(2, min(500, int(slice_ms * 1e-3 / one)))
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            run(counts[name])
            took[name].append((time.perf_counter() - start) / counts[name])
    line = {name: round(flops / statistics.median(t) / 1e12, 1) for name, t in took.items()}
    peers = [n for n in contenders if n != "ours"]
    if peers:
        best = max(peers, key=lambda n: line[n])
        line["ratio"] = round(statistics.median(p / o for p, o in zip(took[best], took["ours"])), 4)
    return line


def off(a, b):
    return round((a.float() - b.float()).abs().max().item(), 4)


def dense(ours, fa3, shape, o):
    b, h, hk, s, d, causal, window = shape
    torch.manual_seed(o.seed)
    q, k, v = (torch.randn(b, s, n, d, device="cuda", dtype=torch.bfloat16) for n in (h, hk, hk))
    out = torch.full_like(q, float("nan"))
    contenders = {"ours": ours.contender(q, k, v, out, causal, window)}
    if not window:
        contenders["cudnn"] = cudnn(q, k, v, causal)
    if fa3:
        contenders["fa3"] = fa3.contender(q, k, v, causal, window)
    line = {"shape": f"b{b} h{h}/{hk} s{s} d{d} {'causal' if causal else 'full'}{f' window {window}' if window else ''}"}
    for run in contenders.values():
        run(1)
    line["off"] = max([off(out, contenders["cudnn"].last)] if not window else [] + ([off(out, fa3.result())] if fa3 else []), default=None)
    pairs = s * s - (s * (s - 1) // 2 if causal else 0)
    if window:
        pairs = sum(min(i, window) + 1 for i in range(s))
    return line | measure(contenders, 4 * b * h * pairs * d, o.rounds, o.slice)


def packed(ours, fa3, seed, o):
    """A random mix of sequences: causal, 4 or 8 heads of queries for each of the keys."""
    r = random.Random(seed)
    group, hk, d = r.choice([4, 8]), r.choice([1, 2, 4, 8]), r.choice([64, 128, 128])
    lengths, total = [], r.choice([4096, 8192, 16384, 32768])
    most = r.choice([512, 2048, 8192, 16384])
    while sum(lengths) < total:
        lengths.append(min(total - sum(lengths), max(1, int(most * r.random() ** r.choice([1, 2, 4])))))
    torch.manual_seed(seed)
    q, k, v = (torch.randn(total, n, d, device="cuda", dtype=torch.bfloat16) for n in (hk * group, hk, hk))
    starts = torch.tensor([sum(lengths[:i]) for i in range(len(lengths) + 1)], device="cuda", dtype=torch.int32)
    out = torch.full_like(q, float("nan"))
    contenders = {"ours": ours.contender(q, k, v, out, True, 0, starts, max(lengths))}
    line = {"mix": seed, "shape": f"{len(lengths)} sequences of at most {max(lengths)}, {total} tokens, h{hk * group}/{hk} d{d}"}
    contenders["ours"](1)
    if fa3:
        contenders["fa3"] = fa3.contender(q, k, v, True, 0, starts, max(lengths))
        contenders["fa3"](1)
        line["off"] = off(out, fa3.result())
    pairs = sum(n * (n + 1) // 2 for n in lengths)
    return line | measure(contenders, 4 * hk * group * pairs * d, o.rounds, o.slice)


def decode(ours, shape, copy_rate, o):
    """A step of decoding: K and V in pages at random places, more of them than L2 holds, which calls take turns with."""
    b, h, hk, s, d, page, queries = shape
    torch.manual_seed(o.seed)
    per_sequence = -(-s // page)
    once = b * per_sequence * page * hk * d * 4
    tables = max(1, -(-(400 << 20) // once))
    count = tables * b * per_sequence
    k, v = (torch.randn(count, page, hk, d, device="cuda", dtype=torch.bfloat16) for _ in "kv")
    pages = torch.randperm(count, device="cuda").to(torch.int32).view(tables, b, per_sequence).contiguous()
    lengths = torch.full((b,), s, device="cuda", dtype=torch.int32)
    q = torch.randn(b, queries, h, d, device="cuda", dtype=torch.bfloat16)
    out = torch.full_like(q, float("nan"))
    workspace = torch.full((300 * b * queries * h * (d + 1),), float("nan"), device="cuda")
    run = ours.runner(Request(q=q.data_ptr(), k=k.data_ptr(), v=v.data_ptr(), out=out.data_ptr(), stream=torch.cuda.current_stream().cuda_stream,
                              batch=b, queries=queries, keys=count, heads=h, kv_heads=hk, size=d, causal=1, pages=pages.data_ptr(),
                              lengths=lengths.data_ptr(), workspace=workspace.data_ptr(), page=page, pages_per_sequence=per_sequence,
                              workspace_size=workspace.numel(), tables=tables))
    run(1)
    one = [t[pages[0, 0].long()].reshape(-1, hk, d)[:s, 0].float() for t in (k, v)]
    rows = torch.arange(queries, device="cuda")[:, None] + s - queries
    logits = (q[0, :, 0].float() @ one[0].T * d ** -0.5).masked_fill(torch.arange(s, device="cuda")[None] > rows, float("-inf"))
    line = {"decode": f"b{b} h{h}/{hk} s{s} d{d} pages of {page} queries {queries}", "off": off(out[0, :, 0], logits.softmax(-1) @ one[1])}
    took = []
    times = max(4, min(400, int(o.slice * 1e-3 / (once / 3e12 + 5e-6))))
    run(times)
    for _ in range(o.rounds):
        start = time.perf_counter()
        run(times)
        took.append((time.perf_counter() - start) / times)
    rate = b * s * hk * d * 4 / statistics.median(took) / 1e9
    return line | {"us": round(statistics.median(took) * 1e6, 1), "GB/s": round(rate), "of the copy": round(rate / copy_rate, 3)}


def copy_rate(o):
    """GB/s of the driver's copy of 2 GiB, read and written."""
    a, b = (torch.empty(2 << 30, device="cuda", dtype=torch.uint8) for _ in "ab")
    took = []
    for _ in range(o.rounds + 2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(10):
            b.copy_(a)
        torch.cuda.synchronize()
        took.append((time.perf_counter() - start) / 10)
    return 2 * a.numel() / statistics.median(took[2:]) / 1e9


DECODE = [(b, hk * g, hk, s, d, page, 1)
          for b, hk, g, s, d in ((8, 8, 4, 4096, 128), (16, 8, 8, 8192, 128), (32, 8, 4, 8192, 128), (8, 8, 8, 32768, 128), (64, 8, 4, 4096, 128), (16, 8, 4, 8192, 64))
          for page in (16, 64, 256)] + [(1, 32, 8, 131072, 128, 64, 1), (1, 8, 1, 131072, 128, 16, 1), (16, 64, 8, 8192, 128, 64, 4), (16, 64, 8, 8192, 128, 64, 16), (16, 32, 4, 8192, 256, 64, 1), (13, 24, 6, 5000, 128, 32, 1)]


def shapes(which):
    """batch, heads of queries, of keys, length, head size, causal, window in front"""
    square = [(max(1, 16384 // s), 2048 // d, 2048 // d, s, d, causal, 0)
              for d in (64, 128, 256) for s in (1024, 4096, 8192, 16384) for causal in (False, True)]
    shared = [(4, 32, 8, 4096, 128, True, 0), (1, 64, 8, 8192, 128, True, 0), (1, 32, 4, 2048, 128, True, 0), (1, 16, 16, 16384, 128, True, 1024)]
    every = square + shared
    return every if which == "all" else [every[int(i)] for i in which.split(",")] if which else []


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--library", required=True, help="libbench_attention.so")
    p.add_argument("--fa3", help="libdew_flash_attn3.so")
    p.add_argument("--shapes", default="all", help="'all', numbers of the list, or '' for none")
    p.add_argument("--mixes", default="", help="first:last, seeds of random packed mixes")
    p.add_argument("--decode", action="store_true", help="keys in pages, next to the driver's copy")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--slice", type=float, default=25, help="ms")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--out")
    o = p.parse_args()
    ours, fa3 = Ours(o.library), Flash3(o.fa3) if o.fa3 else None
    out = open(o.out, "a") if o.out else None

    def say(line):
        print(json.dumps(line), flush=True)
        if out:
            print(json.dumps(line), file=out, flush=True)

    say({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "cudnn": torch.backends.cudnn.version(), "rounds": o.rounds,
         "slice_ms": o.slice})
    for shape in shapes(o.shapes):
        say(dense(ours, fa3, shape, o))
    if o.decode:
        rate = copy_rate(o)
        say({"copy GB/s": round(rate)})
        for shape in DECODE:
            say(decode(ours, shape, rate, o))
    first, _, last = o.mixes.partition(":")
    ratios = []
    for seed in range(int(first or 0), int(last or 0)):
        line = packed(ours, fa3, seed, o)
        ratios.append(line.get("ratio"))
        say(line)
    if ratios and all(ratios):
        say({"mixes": len(ratios), "geometric mean": round(statistics.geometric_mean(ratios), 4), "worst": min(ratios)})


if __name__ == "__main__":
    main()
