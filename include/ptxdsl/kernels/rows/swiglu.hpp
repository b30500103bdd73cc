// SPDX-License-Identifier: Apache-2.0
// SwiGLU.
#pragma once

#include <ptxdsl/kernels/rows/elements.hpp>

#include <numbers>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

/// y = silu(gate) * up. `units`: accesses of a row; `total`: of all rows. The first `prefetch_blocks` blocks prefetch
/// their input into L2 before they wait for the kernel ahead of this one: memory has little to do while that one ends,
/// and what it has yet to write it writes to L2 as well.
template <class T>
constexpr void swiglu_body(builder<sm_90a>& k, const element_plan& c, global_ptr<const T> gate, global_ptr<const T> up,
                           global_ptr<T> y, reg<u32> units, reg<u32> total, reg<u64> gate_stride, reg<u64> up_stride,
                           reg<u64> y_stride, reg<u32> prefetch_blocks) {
    using namespace detail;
    const auto first = k.mad_lo(k.mov(ctaid.x), c.threads * c.accesses, k.mov(tid.x)).named("first");
    const auto block = k.mov(ctaid.x);
    k.griddepcontrol_launch_dependents();
    prefetch_block<T, 2>(k, c, block, block < prefetch_blocks, c.threads * c.accesses, total, {gate, up});
    k.griddepcontrol_wait();
    struct item {
        global_ptr<T> to;
        reg32 unit;
        reg<pred> in;
        regf32 gate[8], up[8];
    };
    item items[8];
    for (u32 j = 0; j < c.accesses; ++j) {
        item& i = items[j];
        const auto wanted = j == 0 ? first : reg32(k.add(first, j * c.threads));
        i.in = wanted < total;
        const auto inside = k.min(wanted, k.sub(total, 1u));
        auto from_gate = gate, from_up = up;
        i.to = y, rebind(i.unit, inside);
        if (!c.flat) {
            const divmod d(k, inside, units);
            from_gate = row_at(k, gate, d.quotient, gate_stride), from_up = row_at(k, up, d.quotient, up_stride);
            i.to = row_at(k, y, d.quotient, y_stride), rebind(i.unit, d.rest);
        }
        load_unit<T>(k, from_gate, i.unit, c.width, i.gate);
        load_unit<T>(k, from_up, i.unit, c.width, i.up);
    }
    for (u32 j = 0; j < c.accesses; ++j) {
        item& i = items[j];
        for (u32 e = 0; e < c.width; ++e) {
            const auto power = k.ex2<approx, ftz>(k.mul<rn>(i.gate[e], -std::numbers::log2e_v<float>));
            const auto sigmoid = k.rcp<approx, ftz>(k.add<rn>(power, 1.0f));
            rebind(i.up[e], regf32(k.mul<rn>(k.mul<rn>(i.gate[e], sigmoid), i.up[e])));
        }
        store_unit<T>(k, i.to, i.unit, c.width, i.up, i.in);
    }
}

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
