#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `ptxdsl isa --json` against what must be there: a typed call for every form of the targets that kernels are written for, and the
instructions that the issue behind the table names.

A form that only the checked door `k.inst` emits is an exception, and stands below with its reason.

Exit status: 0 all there, 1 something is not.
"""
import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "isa"))
import targets as target_rows  # noqa: E402

OURS = [t for t in target_rows.load() if t.held]

# (mnemonic, modifiers): why `k.inst` (or <ptxdsl/module.hpp>) emits it.
BY_HAND = {
    **{("bar", f"{{.cta}}.{what}"): "the older spelling of barrier.cta.….aligned, which k.bar_sync and its kin emit: the same instruction (check_bar_spellings.py)"
       for what in ("sync", "arrive", "red.popc.u32", "red.<and,or>.pred")},
    **{("tcgen05", f".ld.red.sync.aligned.{shape}.<N=x2,x4,x8,x16,x32,x64,x128>.<min,max>{rest}"): "a load that also reduces, with a second result: sm_103 and sm_110 alone have it"
       for shape in ("32x32b", "16x32bx2") for rest in ("{.abs}{.NaN}.f32", ".<T=u32,s32>")},
}

BLACKWELL = """
tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.mma tcgen05.mma.sp tcgen05.mma.ws tcgen05.cp
tcgen05.ld tcgen05.st tcgen05.shift tcgen05.commit tcgen05.wait::ld tcgen05.wait::st tcgen05.fence::before_thread_sync
tcgen05.fence::after_thread_sync st.bulk clusterlaunchcontrol.try_cancel clusterlaunchcontrol.query_cancel
""".split()
HOPPER = "wgmma.fence wgmma.commit_group wgmma.wait_group wgmma.mma_async wgmma.mma_async.sp".split()
BOTH = """
tensormap.replace tensormap.cp_fenceproxy fence.proxy cp.async.bulk cp.async.bulk.tensor cp.async.bulk.prefetch
cp.reduce.async.bulk cp.reduce.async.bulk.tensor prefetch prefetchu st.async red.async multimem.ld_reduce multimem.st
multimem.red mma mma.sp wmma.load wmma.mma wmma.store movmatrix ldmatrix stmatrix vadd vsub vabsdiff vmin vmax vshl vshr
vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4 tex tld4 txq
istypep suld sust sured suq isspacep match.any match.all lop3 prmt bfe bfi bfind fns dp2a dp4a add.cc addc sub.cc subc
mad.lo.cc madc.lo szext copysign testp call brx.idx alloca stacksave stackrestore pmevent discard applypriority
""".split()
OF_ONE_ARCHITECTURE = ("tcgen05.shift",)  # `f` targets have it not
MXF4 = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale"
OF_OTHER_TARGETS = {"": ("tcgen05.ld.red", MXF4), "sm_103a": (MXF4,), "sm_103f": (MXF4,)}


def words(form):
    """What every instruction of the form begins with, as far as its modifiers are fixed."""
    return form["mnemonic"] + form["modifiers"]


def begins(form, name):
    text = words(form)
    return text.startswith(name) and (len(text) == len(name) or not (text[len(name)].isalnum() or text[len(name)] in "_:"))


def could_be(form, name):
    """`begins`, where the word behind the mnemonic is one of alternatives or optional."""
    head, _, rest = name.partition(".")
    return begins(form, name) or (form["mnemonic"] == head and all(w in form["modifiers"] for w in rest.split(".")))


def forms_for(tool, target):
    done = subprocess.run([tool, "isa", "--json", "--target", target], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxdsl program")
    args = parser.parse_args()
    faults = []
    counts = []
    for row in OURS:
        target = row.name
        forms = forms_for(args.tool, target)
        untyped = 0
        for form in forms:
            calls = form["call"].split()
            if calls and calls != ["k.inst"]:
                continue
            untyped += 1
            if (form["mnemonic"], form["modifiers"]) not in BY_HAND:
                faults.append(f"{target}: no typed call for {words(form)} {form['operands']}")
        named = BOTH + (HOPPER if "wgmma" in row.features else BLACKWELL)
        named = [n for n in named if row.suffix == "a" or n not in OF_ONE_ARCHITECTURE]
        faults += [f"{target}: no form of {name}" for name in named if not any(could_be(f, name) for f in forms)]
        faults += [f"{target}: {name} is another target's" for name in OF_OTHER_TARGETS.get(target, OF_OTHER_TARGETS[""]) if any(begins(f, name) for f in forms)]
        counts.append(f"{target} {len(forms)} forms, {untyped} of them by k.inst, {len(named)} names of the issue")
    for fault in faults:
        print(fault)
    print("; ".join(counts))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
