#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Row kernels against torch, interleaved in one process.

Takes the PTX that `bench_rows --ptx` writes, loads it through the driver next to torch, checks it against float64 and
times it in the same rounds as torch eager, torch.compile and torch's copy. Needs torch with CUDA; nothing else.
"""
import argparse
import ctypes
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

EPS = 1e-6


def quantile(values, q):
    return sorted(values)[int(q * (len(values) - 1) + 0.5)]


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint32 * 16)]


class Launch(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint) for n in ("gx", "gy", "gz", "bx", "by", "bz", "shared")] + [("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


class Kernel:
    """One kernel of ours, launched on torch's current stream as the library launches it: it may be placed on the device
    before the kernel ahead of it has ended."""

    driver = None

    def __init__(self, stem: pathlib.Path):
        if Kernel.driver is None:
            Kernel.driver = ctypes.CDLL("libcuda.so.1")
        self.data = json.loads(stem.with_suffix(".json").read_text())
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), stem.with_suffix(".ptx").read_bytes() + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(self.function), module, self.data["kernel"].encode())
        if self.data["shared"] > 48 << 10:
            self.call("cuFuncSetAttribute", self.function, 8, self.data["shared"])

    def call(self, name, *arguments):
        status = getattr(Kernel.driver, name)(*arguments)
        if status != 0:
            sys.exit(f"{name} failed with status {status}")

    def bind(self, tensors):
        """Returns a function that launches with these tensors, by the names the program gave."""
        types = {"u32": (ctypes.c_uint32, int), "u64": (ctypes.c_uint64, int), "f32": (ctypes.c_float, float)}
        values = []
        for word in self.data["arguments"]:
            kind, colon, number = word.partition(":")
            values.append(types[kind][0](types[kind][1](number)) if colon else ctypes.c_void_p(tensors[word].data_ptr()))
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        programmatic = Attribute(6, 0, (ctypes.c_uint32 * 16)(1))
        config = Launch(self.data["grid"], 1, 1, self.data["block"], 1, 1, self.data["shared"], None, ctypes.addressof(programmatic), 1)

        def launch():
            import torch

            config.stream = torch.cuda.current_stream().cuda_stream
            self.call("cuLaunchKernelEx", ctypes.byref(config), self.function, pointers, None)

        launch.keep = (values, tensors, programmatic)
        return launch


def contenders(kernel):
    """Name → function that does the work once, and the check of ours."""
    import torch
    import torch.nn.functional as f

    d = kernel.data
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[d["type"]]
    random = lambda *size: (torch.rand(*size, device="cuda") * 2 - 1).to(dtype)  # noqa: E731
    x, r, w, b = random(d["rows"], d["columns"]), random(d["rows"], d["columns"]), random(d["columns"]), random(d["columns"])
    y, total = torch.full_like(x, float("nan")), torch.full_like(x, float("nan"))
    n = (d["columns"],)
    plain = {
        "rms_norm": lambda x, r, w, b: f.rms_norm(x, n, w, EPS),
        "add_rms_norm": lambda x, r, w, b: (x + r, f.rms_norm(x + r, n, w, EPS)),
        "layer_norm": lambda x, r, w, b: f.layer_norm(x, n, w, b, EPS),
        "softmax": lambda x, r, w, b: torch.softmax(x, -1),
        "swiglu": lambda x, r, w, b: f.silu(x) * r,
    }[d["work"]]
    ours = kernel.bind({"x": x, "r": r, "w": w, "b": b, "y": y, "sum": total})
    ours()
    part = slice(0, min(d["rows"], 512))
    exact = plain(x[part].double(), r[part].double(), w.double(), b.double())
    exact = exact[1] if isinstance(exact, tuple) else exact
    error = ((y[part].double() - exact).norm() / exact.norm()).item()
    if not error < (1e-5 if dtype == torch.float32 else 8e-3) or bool(torch.isnan(y).any()):
        sys.exit(f"{d['work']} {d['type']} {d['rows']}x{d['columns']}: wrong, relative error {error:.3g}; not timed")
    compiled = torch.compile(plain)
    peers = {"torch eager": lambda: plain(x, r, w, b), "torch.compile": lambda: compiled(x, r, w, b)}
    if d["moved"] == 2:
        peers["torch copy"] = lambda: y.copy_(x)
    return {"ours": ours, **peers}


def measure(functions, rounds, flush):
    """Microseconds of each function in each round."""
    import torch

    trash = torch.empty(256 << 20, dtype=torch.int8, device="cuda") if flush else None
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    graphs = {}
    for name, function in functions.items():
        for _ in range(3):
            function()
        torch.cuda.synchronize()
        if name == "torch copy":  # a graph's copies run slower than a stream's
            continue
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(1 if flush else 10):
                function()
        graphs[name] = graph.replay
    launches = 1 if flush else 10
    times = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            if trash is not None:
                trash.zero_()
            begin.record()
            if name in graphs:
                graphs[name]()
            else:
                for _ in range(launches):
                    function()
            end.record()
            end.synchronize()
            times[name].append(1e3 * begin.elapsed_time(end) / launches)
    return times


def rows_of(kernel, times, options):
    import torch

    d = kernel.data
    gigabytes = 1e-3 * d["moved"] * d["rows"] * d["columns"] * (4 if d["type"] == "f32" else 2)
    ours = times["ours"]
    result = []
    for peer in times:
        if peer == "ours":
            continue
        ratios = [b / a for a, b in zip(ours, times[peer])]
        result.append({
            "work": f"{d['work']} {d['type']}", "shape": f"{d['rows']}x{d['columns']}",
            "ours": round(gigabytes / statistics.median(ours), 1), "peer": round(gigabytes / statistics.median(times[peer]), 1),
            "peer_name": peer + (", L2 flushed" if options.flush else ""), "ratio": round(statistics.median(ratios), 4),
            "spread": [round(quantile(ratios, 0.1), 4), round(quantile(ratios, 0.9), 4)],
            "target": None if peer == "torch copy" else 1.05 if (d["rows"], d["columns"], d["type"]) == (2048, 8192, "f32") else 1.0,
            "unit": "GB/s", "mode": "sustained", "device": torch.cuda.get_device_name(), "driver": f"torch {torch.__version__}",
            "command": "torch_peer.py " + " ".join(sys.argv[1:]), "commit": options.commit,
        })
    return result


def append(file, rows):
    path = pathlib.Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    old = json.loads(path.read_text()) if path.exists() else []
    path.write_text("[\n" + ",\n".join(json.dumps(r) for r in old + rows) + "\n]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/release/bin/bench_rows", help="the program that writes the kernels")
    parser.add_argument("--shapes", default="2048x8192,8192x8192,65536x4096")
    parser.add_argument("--work", default="rms_norm,add_rms_norm,layer_norm,softmax,swiglu")
    parser.add_argument("--type", default="f32", choices=["f32", "bf16", "both"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--flush", action="store_true", help="overwrite L2 before every launch")
    parser.add_argument("--out", help="append rows to this file")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("torch is not installed, so there is nothing to compare with")
        return 77
    if not torch.cuda.is_available():
        print("torch sees no GPU")
        return 77
    torch.zeros(1, device="cuda")  # makes the primary context, which the kernels are loaded into, current
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.bench, "--ptx", folder, "--shapes", options.shapes, "--type", options.type, "--work", options.work], check=True)
        for stem in sorted(pathlib.Path(folder).glob("*.ptx")):
            kernel = Kernel(stem.with_suffix(""))
            rows += rows_of(kernel, measure(contenders(kernel), options.rounds, options.flush), options)
            torch.cuda.empty_cache()
    for r in rows:
        print(f"{r['work']:<14} {r['shape']:<12} ours {r['ours']:>7} {r['peer_name']:<26} {r['peer']:>7} GB/s  ratio {r['ratio']:.3f} ({r['spread'][0]:.3f} to {r['spread'][1]:.3f})")
    if options.out:
        append(options.out, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
