#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the targets of PTX (include/ptxdsl/isa/targets.isa) and packs them for C++.

    targets.py                 list them, one a line
    targets.py --held          only the names of those against which every instruction form is held

A target is one row:

    name ; family ; first .version ; shared memory ; ptxas ; features

    name        as `.target` has it; `a`: this architecture alone, `f`: this and the later ones of its family, else all later ones
    family      a number that the targets of one family have in common: `f` code of one runs on the later ones
    .version    the first PTX ISA version whose `.target` takes it
    shared      KiB of shared memory that one block may use, static and dynamic together
    ptxas       what ptxas 13 assembles its texts for: itself, the oldest that it still knows, or the name it has now
    features    what decisions ask for, of FEATURES below; `held`: every instruction form is held against ptxas for it

generate.py imports this; so do the tests, and CMake reads the rows marked `held` for the tests that it makes of them.
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include", "ptxdsl", "isa")
ROWS = os.path.join(ROOT, "targets.isa")

# Bits of a target's features in this order, and what `target::has_NAME()` says about one.
FEATURES = [
    ("addresses_32", "modules with 32-bit addresses (`.address_size 32`)"),
    ("unrounded_mad", "`mad.f32` without a rounding modifier"),
    ("independent_threads", "threads of a warp that advance one by one: `vote` and `shfl` want `.sync`"),
    ("fp8", "conversions and products of 8-bit floats"),
    ("clusters", "clusters of blocks and distributed shared memory"),
    ("tma", "bulk and tensor copies"),
    ("narrow_tma", "tensor maps of 4- and 6-bit elements and of the 128-byte swizzle in units of 32"),
    ("setmaxnreg", "register budgets that warpgroups hand over"),
    ("wgmma", "products of a warpgroup (`wgmma`)"),
    ("tensor_memory", "tensor memory and `tcgen05`"),
]
FEATURE_NAMES = [name for name, _ in FEATURES]
SUFFIXES = ["", "a", "f"]


class TargetError(Exception):
    pass


def split_name(name):
    """(number, suffix) of `sm_100a`."""
    m = re.fullmatch(r"sm_(\d+)([af]?)", name)
    if not m:
        raise TargetError("bad target '%s'" % name)
    return int(m.group(1)), m.group(2)


class Target:
    def __init__(self, line):
        fields = [f.strip() for f in line.split(";")]
        if len(fields) != 6:
            raise TargetError("a target has 6 fields: name ; family ; first .version ; shared KiB ; ptxas ; features")
        self.name = fields[0]
        self.sm, self.suffix = split_name(fields[0])
        self.family = int(fields[1])
        version = re.fullmatch(r"(\d+)\.(\d+)", fields[2])
        if not version:
            raise TargetError("bad PTX version '%s'" % fields[2])
        self.version = (int(version.group(1)), int(version.group(2)))
        self.shared_kib = int(fields[3])
        self.ptxas = fields[4]
        split_name(self.ptxas)
        words = [w.strip() for w in fields[5].split(",") if w.strip()]
        self.held = "held" in words
        self.features = [w for w in words if w != "held"]
        for w in self.features:
            if w not in FEATURE_NAMES:
                raise TargetError("no feature is called '%s'" % w)

    @property
    def key(self):
        """Number and suffix in one word; ascending in the packed table."""
        return self.sm << 2 | SUFFIXES.index(self.suffix)


def load(path=ROWS):
    """All targets, ascending."""
    out = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        try:
            out.append(Target(line))
        except (TargetError, ValueError) as e:
            raise SystemExit("targets.isa:%d: %s\n    %s" % (number, e, line))
    out.sort(key=lambda t: t.key)
    names = [t.name for t in out]
    if len(set(names)) != len(names):
        raise SystemExit("targets.isa: a target stands twice")
    return out


def in_family(targets, sm):
    """The numbers that a rule `sm_<sm>f` of an instruction form means: `sm` and what is later in its family."""
    family = {t.family for t in targets if t.sm == sm}
    if not family:
        raise TargetError("no target has the number %d" % sm)
    return sorted({t.sm for t in targets if t.family in family and t.sm >= sm})


def targets_hpp(banner, words):
    """The generated header; `words` packs numbers into a string literal."""
    targets = load()
    packed = []
    for t in targets:
        sm, suffix = split_name(t.ptxas)
        packed += [t.key, t.version[0] * 10 + t.version[1], t.family, t.shared_kib, sm << 2 | SUFFIXES.index(suffix),
                   sum(1 << FEATURE_NAMES.index(f) for f in t.features)]
    out = [banner, "#pragma once\n\n#include <cstdint>\n\nnamespace ptxdsl::isa::detail {\n// clang-format off\n\n",
           "/// Bits of a target's features.\nenum class feature : std::uint16_t {\n"]
    out += ["    %s = 1u << %d,  ///< %s\n" % (name, i, doc) for i, (name, doc) in enumerate(FEATURES)]
    out += ["};\n\ninline constexpr unsigned target_count = %d;\n" % len(targets),
            "/// Per target, ascending: number << 2 | suffix (0 none, 1 `a`, 2 `f`); first PTX version (86 = 8.6); family; KiB of\n"
            "/// shared memory a block may use; what ptxas assembles it for, as the first word; features.\n",
            "inline constexpr const char16_t* target_words =\n"] + words(packed) + [";\n"]
    out += ["\n// clang-format on\n}  // namespace ptxdsl::isa::detail\n"]
    return "".join(out)


def constants_hpp(banner):
    """A constant for each target."""
    out = [banner, "#pragma once\n\n#include <ptxdsl/isa/targets.hpp>\n\nnamespace ptxdsl {\n// clang-format off\n\n"]
    for t in load():
        suffix = "'%s'" % t.suffix if t.suffix else "0"
        out.append("inline constexpr target %s{%d, %s};\n" % (t.name, t.sm, suffix))
    out.append("\n// clang-format on\n}  // namespace ptxdsl\n")
    return "".join(out)


def main():
    held = "--held" in sys.argv[1:]
    for t in load():
        if held and not t.held:
            continue
        print(t.name if held else "%-8s family %3d  PTX %d.%d  %3d KiB  ptxas %-7s  %s" %
              (t.name, t.family, *t.version, t.shared_kib, t.ptxas, " ".join(t.features)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
