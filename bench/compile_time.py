#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ptxdsl costs to compile, in time and memory, and whether that is within budget.

Measured per compiler, each the median of several runs, taken in turn so that a slow moment of the machine hits all of
them alike: a file that only includes <string>, one that only includes <ptxdsl/ptxdsl.hpp>, and the translation units of
the Hopper and the Blackwell GEMM kernel, each also with the verifier left out. The compilers run with their default constexpr limits.

A file with three forms of the library's matrix product and a norm is compiled too, at -O2, as one that links ptxdsl::kernels.

Budget: the header at most 1.5 times <string>; a GEMM kernel at most 15 times <string> and 700 MB; the verifier at most
what the rest of the assembly takes, which is the unverified unit without the header; the file with calls of the kernel
library 2.5 s and 350 MB with g++.
Exit status: 0 within budget, 1 over it, 77 when no compiler was found.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER_RATIO = 1.5
GEMM_RATIO = 15.0
GEMM_MEGABYTES = 700.0
VERIFIER_RATIO = 1.0
CALLS = "calls of ptxdsl::kernels"
CALLS_SECONDS = 2.5
CALLS_MEGABYTES = 350.0
KERNELS = {"GEMM kernel": "gemm_hopper", "Blackwell GEMM": "gemm_blackwell"}
UNVERIFIED = ", unverified"


def measure(command):
    """Runs a compiler once: (seconds of processor time, seconds by the clock, peak resident megabytes)."""
    # wait4 gives the usage of this one child and what it waited for: the driver and the compiler proper.
    started = time.perf_counter()
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
        if child.returncode != 0:
            log.seek(0)
            sys.stderr.write(log.read().decode(errors="replace"))
            raise RuntimeError(f"does not compile: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024.0


def subjects(directory, gemm):
    """Name, source file, budget as a multiple of <string>, budget in megabytes."""
    string = directory / "string.cpp"
    string.write_text("#include <string>\n", encoding="utf-8")
    header = directory / "header.cpp"
    header.write_text("#include <ptxdsl/ptxdsl.hpp>\n", encoding="utf-8")
    yield "<string>", string, None, None
    yield "<ptxdsl/ptxdsl.hpp>", header, HEADER_RATIO, None
    if gemm:
        yield "GEMM kernel", gemm, GEMM_RATIO, GEMM_MEGABYTES
        return
    calls = directory / "calls.cpp"
    calls.write_text(CALLS_SOURCE, encoding="utf-8")
    yield CALLS, calls, None, CALLS_MEGABYTES
    for subject, kernel in KERNELS.items():
        yield subject, gemm_unit(directory, kernel, True), GEMM_RATIO, GEMM_MEGABYTES
        yield subject + UNVERIFIED, gemm_unit(directory, kernel, False), None, None


CALLS_SOURCE = """#define PTXDSL_KERNELS_COMPILED
#include <ptxdsl/kernels.hpp>
namespace px = ptxdsl;
namespace kn = px::kernels;
template <class T> using matrix = px::tensor_view<T, 2>;
px::result<void> layer(const px::stream& s, matrix<const px::bf16> a, matrix<const px::bf16> b, matrix<px::bf16> c,
                       px::device_ptr<const px::bf16> bias, px::tensor_view<const px::bf16, 1> weight) {
    if (auto r = kn::gemm(s, a, b, c); !r) return r;
    if (auto r = kn::gemm<kn::gemm_form{.act = kn::activation::gelu, .bias = true}>(s, a, b, c, {.bias = bias}); !r) return r;
    if (auto r = kn::gemm<kn::gemm_form{.act = kn::activation::silu, .gated = true}>(s, a, b, c); !r) return r;
    return kn::rms_norm(s, a, weight, c);
}
"""

GEMM_SOURCE = """#include "{header}"
namespace px = ptxdsl;
namespace gh = {kernel};
constexpr gh::config shape{{}};
using kernel = px::kernel<"gemm", gh::gemm<shape, px::bf16>, gh::attributes<shape>>;
{verifier}
constexpr auto gemm = px::assemble<kernel>();
const char* gemm_ptx() {{ return gemm.text().data(); }}
"""


NO_VERIFIER = "template <> inline constexpr px::detail::diagnosis px::detail::program_diagnosis<kernel>{};"


def gemm_unit(directory, kernel, verified):
    """A translation unit with a GEMM kernel of tools/util/ assembled in it and nothing of the host program."""
    source = directory / f"{kernel}{'' if verified else '_unverified'}.cpp"
    header = ROOT / f"tools/util/{kernel}_kernel.hpp"
    source.write_text(GEMM_SOURCE.format(header=header, kernel=kernel, verifier="" if verified else NO_VERIFIER), encoding="utf-8")
    return source


def holds_gemm(object_file):
    """Whether the compiler did the work that is timed: the PTX is a constant of the object file."""
    return max(object_file.read_bytes().count(mma) for mma in (b"wgmma.mma_async", b"tcgen05.mma")) > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", help="default: g++ and clang++-19, those that are there")
    parser.add_argument("--runs", type=int, default=5, help="runs of each; the median counts (default 5)")
    parser.add_argument("--gemm", type=pathlib.Path, help="the GEMM's translation unit, when it is not found by itself")
    parser.add_argument("--json", type=pathlib.Path, help="also write the numbers there")
    parser.add_argument("-I", dest="include", action="append", default=[], help="one more include directory")
    args = parser.parse_args()

    compilers = [c for c in (args.compiler or ["g++", "clang++-19"]) if shutil.which(c)]
    for missing in sorted(set(args.compiler or ["g++", "clang++-19"]) - set(compilers)):
        print(f"compile_time: {missing} was not found, it is not measured", file=sys.stderr)
    if not compilers:
        return 77

    results, over = [], []
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        files = list(subjects(directory, args.gemm))
        print(f"{'compiler':<12} {'translation unit':<27} {'cpu s':>7} {'wall s':>7} {'ratio':>6} {'MB':>6}  budget")
        for compiler in compilers:
            samples = {subject: [] for subject, *_ in files}
            try:
                for turn in range(args.runs + 1):
                    for subject, source, _, _ in files:
                        optimised = "-O2" if subject == CALLS else "-O1"
                        command = [compiler, "-std=c++20", "-c", optimised, f"-I{ROOT / 'include'}",
                                   *(f"-I{d}" for d in args.include), "-o", str(directory / "out.o"), str(source)]
                        sample = measure(command)
                        if "GEMM" in subject and not holds_gemm(directory / "out.o"):
                            raise RuntimeError("the object file has no GEMM in it, its time would say nothing")
                        if turn > 0:  # the first turn warms the file cache
                            samples[subject].append(sample)
            except RuntimeError as error:
                print(f"{compiler}: {error}", file=sys.stderr)
                over.append(f"{compiler}: a translation unit could not be measured")
                continue
            base = statistics.median(cpu for cpu, _, _ in samples["<string>"])
            for subject, _, ratio_budget, megabyte_budget in files:
                cpu, wall, megabytes = (statistics.median(column) for column in zip(*samples[subject]))
                ratio = cpu / base
                budget = []
                if ratio_budget is not None:
                    budget.append(f"{ratio_budget:g}x")
                    if ratio > ratio_budget:
                        over.append(f"{compiler}: {subject} takes {ratio:.2f} times <string>, {ratio_budget:g} may be")
                if subject == CALLS and "g++" in compiler and "clang" not in compiler:
                    budget.append(f"{CALLS_SECONDS:g} s")
                    if cpu > CALLS_SECONDS:
                        over.append(f"{compiler}: {subject} take {cpu:.2f} s, {CALLS_SECONDS:g} may be")
                if megabyte_budget is not None:
                    budget.append(f"{megabyte_budget:g} MB")
                    if megabytes > megabyte_budget:
                        over.append(f"{compiler}: {subject} takes {megabytes:.0f} MB, {megabyte_budget:g} may be")
                print(f"{compiler:<12} {subject:<27} {cpu:7.3f} {wall:7.3f} {ratio:6.2f} {megabytes:6.0f}  "
                      f"{', '.join(budget)}", flush=True)
                results.append({"compiler": compiler, "subject": subject, "cpu_s": cpu, "wall_s": wall,
                                "ratio": ratio, "megabytes": megabytes, "runs": args.runs})

            for subject in (s for s, *_ in files if s + UNVERIFIED in samples):
                with_verifier, without, header = (statistics.median(cpu for cpu, _, _ in samples[s])
                                                  for s in (subject, subject + UNVERIFIED, "<ptxdsl/ptxdsl.hpp>"))
                ratio = (with_verifier - without) / (without - header)
                print(f"{compiler:<12} {subject + ': verifier':<25} {with_verifier - without:7.3f} s, {ratio:.2f} times the rest of the assembly, "
                      f"{VERIFIER_RATIO:g} may be", flush=True)
                results.append({"compiler": compiler, "subject": subject + ": verifier", "cpu_s": with_verifier - without,
                                "ratio_to_assembly": ratio, "runs": args.runs})
                if ratio < 0.02:
                    over.append(f"{compiler}: the {subject} without the verifier takes as long as with it: it was not left out")
                if ratio > VERIFIER_RATIO:
                    over.append(f"{compiler}: verifying the {subject} takes {ratio:.2f} times what assembling it does")

    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    for line in over:
        print(f"over budget: {line}")
    print("compile_time: over budget" if over else "compile_time: within budget")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
