#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reason why the builder has no calls for `bar.…`: the newer spelling, which it has calls for, is the same instruction to ptxas. In
these kernels the cubins are the same; in larger ones ptxas 13.0 may allocate registers differently (docs/transpiler.md).

Exit status: 0 the same, 1 not, 77 no ptxas (skipped).
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

# The older spelling, and what k.bar_sync, k.bar_arrive and k.bar_red_… emit.
PAIRS = [
    ("bar.sync 0", "barrier.cta.sync.aligned 0"),
    ("bar.cta.sync 1, 64", "barrier.cta.sync.aligned 1, 64"),
    ("bar.sync %r1, 64", "barrier.cta.sync.aligned %r1, 64"),
    ("bar.arrive 1, 64", "barrier.cta.arrive.aligned 1, 64"),
    ("bar.red.popc.u32 %r1, 1, 64, %p1", "barrier.cta.red.popc.aligned.u32 %r1, 1, 64, %p1"),
    ("bar.red.and.pred %p2, 1, !%p1", "barrier.cta.red.and.aligned.pred %p2, 1, !%p1"),
    ("bar.cta.red.or.pred %p2, 1, 64, %p1", "barrier.cta.red.or.aligned.pred %p2, 1, 64, %p1"),
]
KERNEL = """.version 8.6
.target {target}
.address_size 64
.visible .entry k(.param .u64 to)
{{
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    mov.u32 %r2, %tid.x;
    setp.eq.u32 %p1, %r2, 3;
    setp.eq.u32 %p2, %r2, 4;
    and.b32 %r1, %r2, 1;
    {instruction};
    @%p2 st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r1;
    ret;
}}
"""


def cubin(ptxas, folder, target, instruction):
    text, out = folder / "k.ptx", folder / "k.cubin"
    text.write_text(KERNEL.format(target=target, instruction=instruction), encoding="utf-8")
    subprocess.run([ptxas, f"-arch={target}", str(text), "-o", str(out)], check=True)
    return out.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ptxas", default="ptxas")
    args = parser.parse_args()
    if shutil.which(args.ptxas) is None:
        print("skipped: no ptxas")
        return 77
    faults = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        other = cubin(args.ptxas, folder, "sm_90a", "bar.sync 2, 64")
        for target in ("sm_90a", "sm_100a"):
            for old, new in PAIRS:
                first = cubin(args.ptxas, folder, target, old)
                if first != cubin(args.ptxas, folder, target, new):
                    print(f"{target}: '{old}' and '{new}' are different instructions")
                    faults += 1
                if first == other:
                    print(f"{target}: '{old}' makes no difference: the comparison says nothing")
                    faults += 1
    print(f"{len(PAIRS)} pairs of spellings on two targets, {faults} differ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
