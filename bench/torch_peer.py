#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory-bound kernels against torch, interleaved in one process.

Takes the PTX and the launches that `bench_rows --ptx` writes, loads them through the driver next to torch, checks the results
against float64 and times them in the same rounds as torch eager, torch.compile and torch's copy. Needs torch with CUDA; nothing
else.
"""
import argparse
import ctypes
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

EPS = 1e-6
WORKS = "rms_norm,add_rms_norm,layer_norm,softmax,swiglu,rope,quantize_rows,quantize_blocks"
HEAD = 128  # elements of a head, of `rope`
BLOCK = 128  # columns with a scale of their own, of `quantize_blocks`
LARGEST = 448.0  # of e4m3
DEVICE = "cuda"


def quantile(values, q):
    return sorted(values)[int(q * (len(values) - 1) + 0.5)]


# ---- our kernels ------------------------------------------------------------------------------------------------------

class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint32 * 16)]


class Launch(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint) for n in ("gx", "gy", "gz", "bx", "by", "bz", "shared")] + [("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


TYPES = {"u32": (ctypes.c_uint32, int), "u64": (ctypes.c_uint64, int), "f32": (ctypes.c_float, float)}


class Description:
    """The lines of bench/printed_kernel.hpp, as far as row kernels have them."""

    def __init__(self, file: pathlib.Path):
        self.work, self.type, rows, columns, self.plan = re.fullmatch(r"(\w+)_(f32|bf16)_(\d+)x(\d+)(?:\+(.+))?", file.stem).groups()
        self.rows, self.columns = int(rows), int(columns)
        self.grid, self.block, self.shared, self.programmatic, self.parameters = (), (), 0, False, []
        for number, line in enumerate(file.read_text().splitlines(), 1):
            word, *rest = line.partition("#")[0].split() or [""]
            if word in ("kernel", "ptx"):
                setattr(self, word, rest[0])
            elif word in ("grid", "block"):
                setattr(self, word, tuple(int(n) for n in rest))
            elif word == "shared":
                self.shared = int(rest[0])
            elif word == "programmatic":
                self.programmatic = True
            elif word == "tensor" or word in TYPES:
                self.parameters.append((word, rest[0]))
            elif word:
                raise ValueError(f"{file}:{number}: `{line}` is no line of a row kernel's description")

    def name(self):
        return f"{self.work} {self.type} {self.rows}x{self.columns}"

    def bytes(self):
        """Read and written."""
        of = {"add_rms_norm": 4, "swiglu": 3, "quantize_rows": 1, "quantize_blocks": 1}.get(self.work, 2)
        angles = self.rows * HEAD * 4 if self.work == "rope" else 0  # two f32 for a pair of a token
        return self.rows * self.columns * (of * (4 if self.type == "f32" else 2) + self.work.startswith("quantize")) + angles


class Kernel:
    """One kernel of ours, launched on torch's current stream as the library launches it."""

    driver = None

    def __init__(self, file: pathlib.Path):
        if Kernel.driver is None:
            Kernel.driver = ctypes.CDLL("libcuda.so.1")
        self.data = Description(file)
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), (file.parent / self.data.ptx).read_bytes() + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(self.function), module, self.data.kernel.encode())
        if self.data.shared > 48 << 10:
            self.call("cuFuncSetAttribute", self.function, 8, self.data.shared)

    def call(self, name, *arguments):
        status = getattr(Kernel.driver, name)(*arguments)
        if status != 0:
            sys.exit(f"{name} failed with status {status}")

    def bind(self, tensors):
        """A function that launches with these tensors."""
        values = [ctypes.c_void_p(tensors[word].data_ptr()) if kind == "tensor" else TYPES[kind][0](TYPES[kind][1](word))
                  for kind, word in self.data.parameters]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        programmatic = Attribute(6, 0, (ctypes.c_uint32 * 16)(1))
        config = Launch(*self.data.grid, *self.data.block, self.data.shared, None, ctypes.addressof(programmatic), int(self.data.programmatic))

        def launch():
            import torch

            config.stream = torch.cuda.current_stream().cuda_stream
            self.call("cuLaunchKernelEx", ctypes.byref(config), self.function, pointers, None)

        launch.keep = (values, tensors, programmatic)
        return launch


# ---- the same in torch --------------------------------------------------------------------------------------------------

def torch_function(d, exact=False):
    """Inputs by name → the outputs that the kernel writes, by name. `exact`: in the type of the inputs, which is then float64."""
    import torch
    import torch.nn.functional as f

    n = (d.columns,)

    def rms_norm(x, w):
        return {"y": f.rms_norm(x, n, w, EPS)}

    def add_rms_norm(x, other, w):
        total = x + other
        return {"sum": total, "y": f.rms_norm(total, n, w, EPS)}

    def layer_norm(x, w, b):
        return {"y": f.layer_norm(x, n, w, b, EPS)}

    def softmax(x):
        return {"y": torch.softmax(x, -1)}

    def swiglu(x, other):
        return {"y": f.silu(x) * other}

    def rope(x, positions, cosines, sines):
        heads = x.view(x.shape[0], -1, HEAD)
        c, s = cosines[positions][:, None, :], sines[positions][:, None, :]
        first, second = heads.chunk(2, -1)
        return {"y": torch.cat((first * c - second * s, second * c + first * s), -1).to(x.dtype).view(x.shape)}

    def quantized(x, groups):
        wide = (x if exact else x.float()).view(x.shape[0], groups, -1)
        most = wide.abs().amax(-1, keepdim=True)
        q = wide * (LARGEST / most)
        return {"q": (q if exact else q.to(torch.float8_e4m3fn)).view(x.shape), "scales": (most / LARGEST).view(x.shape[0], groups)}

    def quantize_rows(x):
        return quantized(x, 1)

    def quantize_blocks(x):
        return quantized(x, d.columns // BLOCK)

    return locals()[d.work]


def inputs_of(d):
    """Random ones, in [-1, 1)."""
    import torch

    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[d.type]

    def random(*size, dtype=dtype):
        return (torch.rand(*size, device=DEVICE) * 2 - 1).to(dtype)

    make = {
        "x": lambda: random(d.rows, d.columns), "other": lambda: random(d.rows, d.columns),
        "w": lambda: random(d.columns), "b": lambda: random(d.columns),
        "positions": lambda: torch.arange(d.rows, device=DEVICE, dtype=torch.int32),
        "cosines": lambda: random(d.rows, HEAD // 2, dtype=torch.float32), "sines": lambda: random(d.rows, HEAD // 2, dtype=torch.float32),
    }
    function = torch_function(d)
    return {name: make[name]() for name in function.__code__.co_varnames[:function.__code__.co_argcount]}


def outputs_of(d, inputs):
    """Room for our results, poisoned."""
    import torch

    x = inputs["x"]
    if not d.work.startswith("quantize"):
        return {"y": torch.full_like(x, float("nan")), "sum": torch.full_like(x, float("nan"))}
    groups = 1 if d.work == "quantize_rows" else d.columns // BLOCK
    return {"q": torch.full(x.shape, 0x7F, device=DEVICE, dtype=torch.uint8).view(torch.float8_e4m3fn),
            "scales": torch.full((d.rows, groups), float("nan"), device=DEVICE)}


def wrong(d, inputs, outputs, rows=512):
    """Why our results are wrong, next to float64; none when they are right. Every row is looked at for poison, `rows` in full."""
    import torch

    if any(bool(torch.isnan(t.float()).any()) for name, t in outputs.items() if name != "sum" or d.work == "add_rms_norm"):
        return "a result is NaN, or was not written"
    step = max(1, d.rows // rows)
    by_row = ("x", "other", "positions")
    some = {name: t[::step] if name in by_row else t for name, t in inputs.items()}
    exact = torch_function(d, exact=True)(**{name: t.double() if t.is_floating_point() else t for name, t in some.items()})
    for name, wanted in exact.items():
        found = outputs[name][::step].float().double()  # there is no direct way from fp8 everywhere
        if name == "q":  # half a step of e4m3, in units of the element that is quantised
            scales = outputs["scales"][::step].double().repeat_interleave(d.columns // outputs["scales"].shape[1], 1)
            x = some["x"].double()
            error = ((found * scales - x).abs() / (1.001 * (x.abs() / 16 + scales / 1024))).max().item()
            limit = 1.0
        else:
            error = ((found - wanted).norm() / wanted.norm()).item()
            limit = 8e-3 if d.type == "bf16" and name != "scales" else 1e-5
        if not error < limit:
            return f"{name} has the relative error {error:.3g}; allowed is {limit:g}"
    return None


def contenders(kernels, eager):
    """Name → function that does the work once, of ours each plan that is right."""
    import torch

    d = kernels[0].data
    torch.manual_seed(1)
    inputs = inputs_of(d)
    functions = {}
    outputs = outputs_of(d, inputs)
    for kernel in kernels:
        for t in outputs.values():
            t.view(torch.uint8).fill_(0xFF)
        ours = kernel.bind({**inputs, **outputs})
        ours()
        torch.cuda.synchronize()
        why = wrong(d, inputs, outputs)
        name = " ".join(filter(None, ("ours", kernel.data.plan)))
        if why:
            print(f"{d.name()}, {name}: wrong: {why}; not timed", flush=True)
        else:
            functions[name] = ours
    if "ours" not in functions:
        return None
    plain = torch_function(d)
    torch._dynamo.reset()  # else the second shape is compiled for all shapes, and slower
    compiled = torch.compile(plain, dynamic=False)
    if eager:
        functions["torch eager"] = lambda: plain(**inputs)
    functions["torch.compile"] = lambda: compiled(**inputs)
    if d.bytes() == 2 * inputs["x"].nbytes:
        functions["torch copy"] = lambda: outputs["y"].copy_(inputs["x"])
    return functions


# ---- measuring --------------------------------------------------------------------------------------------------------------

def prepare(function, captured, flush, slice_ms):
    """A function that does a slice of the work, and how often it does it."""
    import torch

    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(3):
        function()
    begin.record()
    for _ in range(3):
        function()
    end.record()
    end.synchronize()
    launches = 1 if flush else int(min(max(slice_ms * 3 / begin.elapsed_time(end), 3), 200))
    if not captured:
        return launches, lambda: [function() for _ in range(launches)]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            function()
    return launches, graph.replay


def measure(functions, options):
    """Microseconds of each function in each round."""
    import torch

    trash = None if options.no_clear and not options.flush else torch.empty(256 << 20, dtype=torch.int8, device=DEVICE)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    # A graph's copies run slower than a stream's.
    slices = {name: prepare(function, name != "torch copy", options.flush, options.slice) for name, function in functions.items()}
    times = {name: [] for name in functions}
    for turn in range(options.rounds + 3):  # the first three warm up
        for name, (launches, run) in slices.items():
            if trash is not None:
                # Lines that a kernel has marked to leave last (torch.compile's do) do not give way to what is written over them.
                Kernel.driver.cuCtxResetPersistingL2Cache()
                trash.zero_()
            begin.record()
            run()
            end.record()
            end.synchronize()
            if turn >= 3:
                times[name].append(1e3 * begin.elapsed_time(end) / launches)
    return times


def rows_of(d, times, options):
    """The library's own plan against every peer; other plans are only printed."""
    import torch

    gigabytes = 1e-3 * d.bytes()
    ours = times["ours"]
    result = []
    for peer in times:
        if peer.split()[0] == "ours":
            continue
        ratios = [b / a for a, b in zip(ours, times[peer])]
        result.append({
            "work": f"{d.work} {d.type}", "shape": f"{d.rows}x{d.columns}",
            "ours": round(gigabytes / statistics.median(ours), 1), "peer": round(gigabytes / statistics.median(times[peer]), 1),
            "peer_name": peer + (", L2 flushed" if options.flush else ""), "ratio": round(statistics.median(ratios), 4),
            "spread": [round(quantile(ratios, 0.1), 4), round(quantile(ratios, 0.9), 4)],
            "target": None if peer == "torch copy" else 1.05 if (d.rows, d.columns, d.type) == (2048, 8192, "f32") else 1.0,
            "unit": "GB/s", "mode": "sustained", "device": torch.cuda.get_device_name(), "driver": f"torch {torch.__version__}",
            "command": " ".join(pathlib.Path(word).name if word[0] in "/." else word for word in sys.argv), "commit": options.commit,
        })
    return result


def append(file, rows):
    """The file is whole at every moment: whoever is killed leaves what was there before."""
    path = pathlib.Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    old = json.loads(path.read_text()) if path.exists() else []
    part = path.with_name(path.name + ".part")
    part.write_text("[\n" + ",\n".join(json.dumps(r) for r in old + rows) + "\n]\n")
    part.replace(path)


def run(options, folder):
    """Works through the kernels in `folder`; what is measured is kept even if a later one fails."""
    import torch

    files = sorted(folder.glob("*.txt"))
    # The order of the command line, so that what is asked for first is there when time is up.
    place = {work: i for i, work in enumerate(options.work.split(","))}
    firsts = sorted((f for f in files if "+" not in f.stem), key=lambda f: place[Description(f).work])
    all_right = True
    for file in firsts:
        kernels = [Kernel(f) for f in [file] + [g for g in files if g.stem.startswith(file.stem + "+")]]
        d = kernels[0].data
        functions = contenders(kernels, not options.no_eager)
        ours = sum(name.split()[0] == "ours" for name in functions or ())
        all_right = all_right and ours == len(kernels)
        if functions is None:
            continue
        times = measure(functions, options)
        rows = rows_of(d, times, options)
        compiled = times["torch.compile"]
        for name in times if len(kernels) > 1 else ():
            ratio = statistics.median(c / t for c, t in zip(compiled, times[name]))
            print(f"  {d.name():<34} {name:<22} {statistics.median(times[name]):>9.2f} us  {ratio:.3f} of torch.compile")
        for r in rows:
            print(f"{r['work']:<20} {r['shape']:<12} ours {r['ours']:>7} {r['peer_name']:<26} {r['peer']:>7} GB/s  ratio {r['ratio']:.3f} ({r['spread'][0]:.3f} to {r['spread'][1]:.3f})", flush=True)
        if options.out:
            append(options.out, rows)
        torch.cuda.empty_cache()
    return 0 if all_right else 1


def self_test(options):
    """On the CPU: what the check of our results accepts (torch's own) and what it does not (poison, some rows halved)."""
    global DEVICE
    DEVICE = "cpu"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.bench, "--ptx", folder, "--shapes", "600x1024", "--type", "both", "--work", WORKS], check=True)
        files = sorted(pathlib.Path(folder).glob("*.txt"))
        for file in files:
            d = Description(file)
            inputs = inputs_of(d)
            outputs = outputs_of(d, inputs)
            taken = {name for kind, name in d.parameters if kind == "tensor"}
            assert taken <= {*inputs, *outputs} and "x" in taken, (d.name(), taken)
            assert wrong(d, inputs, outputs) is not None, d.name()
            for name, value in torch_function(d)(**inputs).items():
                outputs[name].copy_(value.view(outputs[name].shape))
            assert wrong(d, inputs, outputs) is None, (d.name(), wrong(d, inputs, outputs))
            result = outputs["q" if "q" in outputs else "y"]
            result[300:] = (result[300:].float() / 2).to(result.dtype)
            assert wrong(d, inputs, outputs) is not None, d.name()
    assert len(files) == 2 * len(WORKS.split(",")), files
    print(f"{len(files)} kernels: right results accepted, wrong ones refused")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/release/bin/bench_rows", help="the program that writes the kernels")
    parser.add_argument("--shapes", default="2048x8192,8192x8192,65536x4096")
    parser.add_argument("--work", default=WORKS, help=f"some of {WORKS} (default: all)")
    parser.add_argument("--type", default="f32", choices=["f32", "bf16", "both"])
    parser.add_argument("--threads", default="", help="other plans to time, as for bench_rows")
    parser.add_argument("--no-eager", action="store_true", help="leave out torch eager")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--slice", type=float, default=5, help="milliseconds a slice (default 5)")
    parser.add_argument("--flush", action="store_true", help="overwrite L2 before every launch")
    parser.add_argument("--no-clear", action="store_true", help="do not overwrite L2 before every slice")
    parser.add_argument("--out", help="append rows to this file")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--self-test", action="store_true", help="check the check, on the CPU")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("skipped: torch is not installed, so there is nothing to compare with (PTXDSL_TORCH=1 ./dev test fetches it)")
        return 77
    if options.self_test:
        return self_test(options)
    if not torch.cuda.is_available():
        print("skipped: torch sees no GPU")
        return 77
    torch.zeros(1, device=DEVICE)  # makes the primary context, which the kernels are loaded into, current
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.bench, "--ptx", folder, "--shapes", options.shapes, "--type", options.type, "--work", options.work, "--threads", options.threads], check=True)
        return run(options, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
