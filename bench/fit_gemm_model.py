#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the cost model behind px::kernels::gemm's choice to sweeps of bench_gemm_sweep.

    python3 bench/fit_gemm_model.py SWEEP.jsonl ... [--judge SWEEP.jsonl ...] [--only NAME,...] [--write HEADER]

One model of a few constants for each configuration (model() below; its C++ twin is predict() in
include/ptxdsl/kernels/gemm/cost_model.hpp), fitted by least squares of the logarithm of time. Printed: the error of each
fit, and for each sweep what the choice by the model costs against the best configuration of each shape. With --write
the constants become the library's table. No shape is in it. Standard library only.
"""

import argparse
import concurrent.futures
import json
import math
import sys

SMS = 132
BLEND = 0.15  # of a stage's products and its way into a multiprocessor, what the longer does not hide of the shorter
L2_MEGABYTES = 40.0
ALONE_PORT, ALONE_REACH = 0.62, 1.75  # of two multiprocessors that share a way, the one whose neighbour is idle
EARLY = 2.2  # behind whole waves: clusters do not end together, and what is left begins earlier
FOUND, LOST = 20.0, 50.0  # megabytes up to which a launch that repeats finds all in L2, and from which nothing
CONSTANTS = ["start", "step", "dense", "empty", "tile", "byte", "overlap", "share", "cut", "reach", "port"]


def up(a, b):
    return -(-a // b)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def load(files, first):
    """Configurations by name (`first` has the name of each shape of tile), and shapes: extents, times of the peer and of the
    configurations (from memory, and if there is a second one of launches that repeat), their means, rough times."""
    configs, shapes = {}, []
    for file in files:
        with open(file) as f:
            head = json.loads(f.readline())
            # Kernels have changed since: their results are left out.
            before = head.get("before", [] if head.get("kernels") == 2 else ["ends"])
            if "per_sm" not in head["configs"][0]:
                before = before + ["even_columns", "moves_last_rows"]
            names, gone = [], set()
            for c in head["configs"]:  # one that was tried before it got a name has that of the first file
                c.setdefault("per_sm", 1)
                shape = tuple(sorted((k, v) for k, v in c.items() if k not in ("name", "stages")))
                names.append(first.setdefault(shape, c["name"]))
                configs.setdefault(names[-1], c)
                if any(globals()[change](c) for change in before):
                    gone.add(names[-1])
            for line in f:
                s = json.loads(line)
                both = {names[int(i)]: v for i, v in s["us"].items() if names[int(i)] not in gone}
                if both:
                    shapes.append({
                        "m": s["m"], "n": s["n"], "k": s["k"], "peer": mean(s["peer"]), "modes": len(s["peer"]),
                        "both": both, "us": {name: mean(v) for name, v in both.items()},
                        "rough": {names[int(i)]: v for i, v in s["rough"].items() if names[int(i)] not in gone},
                    })
    return configs, shapes


def ends(c):
    """How swapped products store, how blocks that share K add up, and the barriers of clusters."""
    return c["turned"] or c["even"] or c["cluster"] * c["cluster_n"] * c["split"] > 1


def turned_pairs(c):
    """gemm_config::turns_behind."""
    return c["turned"] and c["cluster_n"] > 1 and c["bm"] > 64


def even_columns(c):
    """gemm_config::even_columns: tiles have as many tokens each, and no more are loaded."""
    return c["turned"]


def moves_last_rows(c):
    """gemm_config::moves_last_rows: a tile that reaches past the last token starts higher."""
    return (not c["turned"] and not c["pong"] and c["split"] == 1 and c["bn"] % 16 == 0
            and c["bm"] * c["bn"] < 128 * 224 and c["name"] not in ("narrow", "narrow_64"))


def loaded_part(c, m):
    """Of a stage's bytes those that are loaded."""
    if not even_columns(c):
        return 1.0
    tiles = up(m, c["bn"] * c["cluster_n"]) * c["cluster_n"]
    columns, shares = up(m, tiles), c["cluster"]
    loaded = up(columns, shares)
    weights = c["bm"] / c["cluster_n"]
    return (weights + loaded) / (weights + c["bn"] / shares)


def features(c, m, n, k):
    """What the model knows of a product: steps of a cluster while all are busy, steps while a part is, how large a part,
    how much is empty, tiles of a cluster, megabytes, how much of a stage is loaded; for a cut along K the parts of a tile
    and the megabytes that are read again; which part of the tiles is left when only a part is busy, on which part of the
    multiprocessors, and whether no two of those share a way."""
    rows, columns = (n, m) if c["turned"] else (m, n)
    blocks = c["cluster"] * c["cluster_n"] * c["split"]
    tiles = up(rows, c["bm"] * c["cluster"]) * up(columns, c["bn"] * c["cluster_n"])
    clusters = (SMS if blocks <= 2 else SMS * 10 // 11) * c["per_sm"] // blocks
    steps = up(k, 64) / c["split"]
    full, rest = divmod(tiles, clusters)
    parts = again = part_busy = part = late = spread = 0.0
    alone = False
    if c["even"] and rest:
        dealt = max(full - 1, 0)
        loose = (tiles - dealt * clusters) * steps / clusters
        parts = clusters / (tiles - dealt * clusters)
        # Clusters that share operands stand at different steps of K, and read again what has left L2.
        sharing = loose * clusters / (tiles * steps) * max(0.0, 1 - L2_MEGABYTES / (2e-6 * k * (m + n)))
        again = 2e-6 * k * sharing * (n * (up(columns if c["turned"] else rows, c["bn" if c["turned"] else "bm"]) - 1))
        all_busy, items = dealt * steps + loose, tiles / clusters
    else:
        all_busy, part_busy, part = full * steps, (steps if rest else 0.0), rest / clusters
        items, late = full + (1 if rest else 0), rest / tiles
        spread = min(1.0, rest * blocks / SMS)
        alone = spread <= (0.5 if blocks == 1 else 0.45)  # blocks of a cluster may sit side by side
    # Rows of a tile behind the end of A cost more than others: TMA fills them with zeros. Of a cluster's tiles the last in
    # the order of tokens has them, where there are any.
    token_tile, token_cluster = (c["bn"], c["cluster_n"]) if c["turned"] else (c["bm"], c["cluster"])
    high = up(m, token_tile * token_cluster) * token_cluster
    empty = (up(m, token_tile) * token_tile - m) / token_tile + (high - up(m, token_tile))
    empty = min(empty, 1.0) / min(max(items, 1.0), high)
    if even_columns(c):
        empty = 0.0
    elif moves_last_rows(c):
        empty = max(0.0, 1 - m / c["bm"])
    megabytes = 2e-6 * (n * k + m * k + m * n)
    return (all_busy, part_busy, part, empty, items, megabytes, loaded_part(c, m), parts, again, late, spread, alone)


def model(p, f, repeats):
    """Microseconds: start of a kernel; products or bytes whichever takes longer and a part of the other, while all
    multiprocessors are busy and while some are; stores. `repeats`: the launch before this one was the same."""
    all_busy, part_busy, part, empty, items, megabytes, loaded, parts, again, late, spread, alone = f
    start, step, dense, void, tile, byte, overlap, share, cut, reach, port = p
    dense, port, void = dense * loaded, port * loaded, 1 + void * empty

    def stage(way):
        return (max(step, way) + BLEND * min(step, way)) * void

    def both(products, memory):
        return max(products, memory) + overlap * min(products, memory)

    memory = megabytes * byte
    if repeats:
        memory *= min(1.0, max(0.0, (megabytes - FOUND) / (LOST - FOUND)))
    us = both(all_busy * stage(max(dense, port)), memory * (1 - late))
    if late:
        products = part_busy * stage(max(dense * part, port * ALONE_PORT if alone else port))
        faster = (ALONE_REACH if alone else 1.0) * (EARLY if all_busy else 1.0)
        us += both(products, memory * late / min(1.0, reach * spread * faster))
    return start + us + tile * items + share * parts + cut * again * byte


def predict(p, f):
    return (model(p, f, False) + model(p, f, True)) / 2


def start_of(c):
    step = c["bm"] * c["bn"] * 64 / 2048 / 1.8e3 + 0.03
    dense = (c["bm"] / c["cluster_n"] + c["bn"] / c["cluster"]) * 128 * SMS / 12e6
    even = 1.0 if c["even"] else 1e-9
    port = (c["bm"] + c["bn"]) * 128 / 1e5 * c["per_sm"]
    return [2.5, step, dense, 0.3, 0.5 if c["split"] == 1 else 2.0, 0.24, 0.2, even, 0.1 * even, 1.17, port]


# How far a constant may be from where it starts, and how much it is held there: bytes cannot be faster than memory.
BOUNDS = [(0.1, 4.0), (0.5, 3.0), (0.3, 4.0), (0.02, 4.0), (0.02, 8.0), (0.85, 1.8), (0.05, 5.0), (0.05, 6.0), (0.001, 10.0),
          (0.7, 1.4), (0.5, 2.0)]
PRIOR = [0.1, 0.3, 0.3, 0.1, 0.1, 0.5, 0.1, 0.1, 0.05, 1.0, 0.6]


def solve(a, b):
    n = len(b)
    a = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        best = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[best] = a[best], a[i]
        if a[i][i] == 0:
            return [0.0] * n
        for r in range(i + 1, n):
            q = a[r][i] / a[i][i]
            for j in range(i, n + 1):
                a[r][j] -= q * a[i][j]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (a[i][n] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return x


def fit(c, points):
    """Levenberg-Marquardt on log(us), in the logarithms of the constants; points are (features, us, weight, repeats)."""
    start = start_of(c)
    theta = [math.log(v) for v in start]
    free = [i for i in range(len(theta)) if c["even"] or i not in (7, 8)]

    def residuals(th):
        p = [math.exp(v) for v in th]
        out = []
        for f, us, w, repeats in points:
            r = math.log(model(p, f, repeats) / us)
            if w < 0 and r > 0:  # too slow to matter: the model must only not take it for fast
                r = 0.0
            # An outlier counts in proportion, not squared.
            if abs(r) > 0.1:
                r = math.copysign(math.sqrt(0.2 * abs(r) - 0.01), r)
            out.append(abs(w) * r)
        # Constants that no point says anything about stay where they are.
        out += [PRIOR[i] * (th[i] - math.log(start[i])) for i in free]
        return out

    r = residuals(theta)
    cost, damp = sum(v * v for v in r), 1e-2
    for _ in range(40):
        columns = []
        for i in free:
            moved = theta[:]
            moved[i] += 1e-5
            columns.append([(x - y) / 1e-5 for x, y in zip(residuals(moved), r)])
        g = [sum(x * y for x, y in zip(col, r)) for col in columns]
        h = [[sum(x * y for x, y in zip(a, b)) for b in columns] for a in columns]
        gained = False
        for _ in range(6):
            step = solve([[h[i][j] + (damp * (h[i][i] + 1e-9) if i == j else 0) for j in range(len(free))]
                          for i in range(len(free))], [-v for v in g])
            tried = theta[:]
            for i, d in zip(free, step):
                low, high = (math.log(start[i] * v) for v in BOUNDS[i])
                tried[i] = min(max(tried[i] + max(-1.0, min(1.0, d)), low), high)
            new = residuals(tried)
            new_cost = sum(v * v for v in new)
            if new_cost < cost:
                gained = cost - new_cost > 1e-7 * cost
                theta, r, cost, damp = tried, new, new_cost, damp / 3
                break
            damp *= 4
        if not gained:
            break
    return [math.exp(v) if i in free else 0.0 for i, v in enumerate(theta)]


def fit_all(configs, shapes, names):
    """Fits each configuration, then again with what all of a shape's have in common taken out of its times: the clock that
    power allows differs from shape to shape, and does not say which configuration is the fastest."""
    common = [[0.0, 0.0] for _ in shapes]
    constants, errors = {}, {}
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for _ in range(3):
            fit_turn(pool, configs, shapes, names, common, constants, errors)
    return constants, errors


def weight(us, least):
    return 1.0 if us < 1.15 * least else 0.5 if us < 1.4 * least else -0.5


def fit_turn(pool, configs, shapes, names, common, constants, errors):
    jobs = {}
    for name in names:
        points = []
        for s, shift in zip(shapes, common):
            f = features(configs[name], s["m"], s["n"], s["k"])
            if name in s["both"]:
                for mode, us in enumerate(s["both"][name]):
                    least = min(v[mode] for v in s["both"].values())
                    points.append((f, us * math.exp(shift[mode]), weight(us, least) / math.sqrt(s["modes"]), mode == 1))
            elif name in s["rough"]:
                least = min(s["us"].values())
                points.append((f, max(s["rough"][name] - 1.0, 1.36 * least) * math.exp(shift[0]), -0.5, False))
        if points:
            jobs[name] = points, pool.submit(fit, configs[name], points)
    for name, (points, fitted) in jobs.items():
        constants[name] = p = fitted.result()
        near = [abs(math.log(model(p, f, r) / us)) for f, us, w, r in points if w > 0.6]
        errors[name] = (len(near), sum(near) / max(1, len(near)))
    for i, s in enumerate(shapes):
        for mode in range(s["modes"]):
            least = min(v[mode] for v in s["both"].values())
            near = [math.log(model(constants[n], features(configs[n], s["m"], s["n"], s["k"]), mode == 1) / v[mode])
                    for n, v in s["both"].items() if n in constants and v[mode] < 1.25 * least]
            common[i][mode] = 0.8 * sum(near) / max(1, len(near))


def choose(configs, constants, s):
    best, least = None, 1e30
    for name, p in constants.items():
        if configs[name]["split"] > up(s["k"], 64):
            continue
        us = predict(p, features(configs[name], s["m"], s["n"], s["k"]))
        if us < least:
            best, least = name, us
    return best


BUCKETS = [(1, 8), (9, 32), (33, 64), (65, 128), (129, 256), (257, 512), (513, 1024), (1025, 2048), (2049, 4096),
           (4097, 8192)]


def judge(title, configs, constants, shapes, verbose):
    print(f"\n{title}: tokens, shapes, geometric mean against the peer by the model's choice (worst), by the best choice")
    rows = []
    for s in shapes:
        name = choose(configs, constants, s)
        us = s["us"].get(name) or s["rough"].get(name) or 2 * min(s["us"].values())
        known = [v for k, v in s["us"].items() if k in constants] or [us]
        rows.append((s, name, s["peer"] / us, s["peer"] / min(known + [us])))
    for low, high in BUCKETS + [(1, 10 ** 9)]:
        own = [r for r in rows if low <= r[0]["m"] <= high]
        if own:
            label = "all" if high > 8192 else f"{low}-{high}"
            print(f"  {label:>10} {len(own):4} {mean([r[2] for r in own]):.3f} ({min(r[2] for r in own):.3f})"
                  f" {mean([r[3] for r in own]):.3f}")
    if verbose:
        for s, name, ratio, best in sorted(rows, key=lambda r: r[2] / r[3])[:verbose]:
            first = min((k for k in s["us"] if k in constants), key=lambda k: s["us"][k], default="?")
            print(f"  {s['m']}x{s['n']}x{s['k']}: {ratio:.3f} by {name}, {best:.3f} by {first}")
    return rows


def thin_out(configs, constants, shapes, keep, always):
    """Leaves out, one by one, the configuration that the model's choices miss least, until `keep` are left."""
    order, took = [], []
    for s in shapes:
        usable = [n for n in constants if configs[n]["split"] <= up(s["k"], 64)]
        us = {n: predict(constants[n], features(configs[n], s["m"], s["n"], s["k"])) for n in usable}
        order.append(sorted(usable, key=us.get))
        # Where one was not in the sweep, what the model says, next to what it says of those that were.
        known = [math.log(us[n] / v) for n, v in s["us"].items() if n in us and v < 1.25 * min(s["us"].values())]
        common = math.exp(sum(known) / max(1, len(known)))
        took.append({n: s["us"].get(n) or s["rough"].get(n) or v / common for n, v in us.items()})
    left = set(constants)
    while len(left) > keep:
        loss = {n: 0.0 for n in left if n not in always}
        for us, names in zip(took, order):
            own = [n for n in names if n in left]
            if own[0] in loss:
                loss[own[0]] += math.log(us[own[1]] / us[own[0]])
        worst = min(loss, key=lambda n: loss[n])
        print(f"without {worst}: {100 * loss[worst] / len(shapes):+.3f} %, {len(left) - 1} left")
        left.remove(worst)
    return [n for n in constants if n in left]


HEADER = """// SPDX-License-Identifier: Apache-2.0
// Generated by bench/fit_gemm_model.py; do not edit. The command:
{command}
// {shapes} random shapes on one {device}. Of configurations within 15 % of a shape's fastest the model is {error:.1f} % off in
// the mean, once what all configurations of a shape have in common is taken out.
#pragma once

#include <ptxdsl/kernels/gemm/cost_model.hpp>

namespace ptxdsl::kernels {{

// clang-format off
// NOLINTBEGIN(modernize-use-std-numbers): a fitted number that is near one of mathematics is not that one
/// The cost model's constants, in the order of `gemm_choice`.
inline constexpr gemm_cost gemm_costs[] = {{
    // {columns}
{lines}
}};
// NOLINTEND(modernize-use-std-numbers)
// clang-format on

}}  // namespace ptxdsl::kernels
"""


def write(file, names, constants, errors, shapes, sweeps, device):
    used = sum(errors[n][0] for n in names)
    lines = "\n".join("    {" + ", ".join(f"{v:.4g}" for v in constants[n]) + f"}},  // {n}" for n in names)
    base = lambda f: f[f.find("bench/results"):] if "bench/results" in f else f.split("/")[-1]
    with open(file, "w") as f:
        f.write(HEADER.format(shapes=len(shapes), device=device,
                              command="\n".join("//   " + word for word in ["python3 bench/fit_gemm_model.py", *map(base, sweeps),
                                                                          "--write include/ptxdsl/kernels/gemm/cost_table.hpp"]),
                              error=100 * sum(errors[n][0] * errors[n][1] for n in names) / max(1, used),
                              columns=", ".join(CONSTANTS), lines=lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweeps", nargs="+")
    parser.add_argument("--judge", nargs="*", default=[])
    parser.add_argument("--only", default="", help="these configurations, or all; else the library's, the first of the first sweep")
    parser.add_argument("--keep", type=int, default=0, help="thin out to so many configurations")
    parser.add_argument("--always", default="", help="but never these")
    parser.add_argument("--verbose", type=int, default=0, help="so many of the worst choices")
    parser.add_argument("--write", help="the header to write")
    a = parser.parse_args()
    first = {}
    configs, shapes = load(a.sweeps, first)
    with open(a.sweeps[0]) as f:
        head = json.loads(f.readline())
    own = [c["name"] for c in head["configs"]][:head["library"]]
    names = list(configs) if a.only == "all" else a.only.split(",") if a.only else own
    constants, errors = fit_all(configs, shapes, names)
    if a.keep:
        names = thin_out(configs, constants, shapes, a.keep, a.always.split(","))
        constants, errors = fit_all(configs, shapes, names)
    for name in constants:
        n, e = errors[name]
        print(f"{name:18} {n:4} points, mean error {100 * e:4.1f} %  "
              + " ".join(f"{label} {v:.4g}" for label, v in zip(CONSTANTS, constants[name])))
    judge("fitted on", configs, constants, shapes, a.verbose)
    if a.write:
        write(a.write, names, constants, errors, shapes, a.sweeps, head["device"])
    if a.judge:
        more, others = load(a.judge, first)
        judge("judged on", {**more, **configs}, constants, others, a.verbose)


if __name__ == "__main__":
    sys.exit(main())
