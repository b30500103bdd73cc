// SPDX-License-Identifier: Apache-2.0
// What kernels share whose results need no more than their neighbourhood. f32, bf16 or f16 in memory, f32 in registers.
#pragma once

#include <ptxdsl/kernels/rows/passes.hpp>

#include <compare>
#include <cstddef>

namespace ptxdsl::kernels {

namespace detail {

/// Loads access `unit` of the row at `row` into `v[0 … width)`.
template <class T, tok... M>
constexpr void load_unit(k_t& k, const global_ptr<const T>& row, const reg32& unit, u32 width, regf32* v) {
    with_width<T>(width, [&]<u32 W>() {
        using access = row_access<T, W>;
        const auto start = row.template as<typename access::unit>().template assume_aligned<W * sizeof(T)>();
        const auto at = start + unit;
        access::expand(k, k.template ld<M...>(at), v);
    });
}
/// Stores them where `in` holds.
template <class T, tok... M>
constexpr void store_unit(k_t& k, const global_ptr<T>& row, const reg32& unit, u32 width, const regf32* v,
                          const reg<pred>& in) {
    with_width<T>(width, [&]<u32 W>() {
        using access = row_access<T, W>;
        const auto start = row.template as<typename access::unit>().template assume_aligned<W * sizeof(T)>();
        const auto packed = access::pack(k, v);
        const auto at = start + unit;
        k.at(in).template st<M...>(at, packed);
    });
}

/// Quotient and remainder.
struct divmod {
    reg32 quotient, rest;
    constexpr divmod(k_t& k, const reg32& a, const reg32& by) : quotient(k.div(a, by)) {
        rest = k.sub(a, k.mul_lo(quotient, by));
    }
};

/// Prefetches what `block` works on into L2 where `wanted` holds: the `block`-th `accesses` of flat `matrices`, which
/// have `total`.
template <class T, std::size_t N>
constexpr void prefetch_block(k_t& k, const element_plan& c, const reg32& block, const reg<pred>& wanted, u32 accesses,
                              const reg32& total, const global_ptr<const T> (&matrices)[N]) {
    if (c.width * sizeof(T) != 16 || !c.flat) return;
    const auto first = k.mul_lo(block, accesses);
    const auto leads = k.mov(tid.x) == 0u && wanted && k.add(first, accesses) <= total;
    for (const auto& m : matrices)
        prefetch_l2(k, leads, m.template as<packet<u32, 4>>() + first, k.mov<u32>(16 * accesses));
}

}  // namespace detail

}  // namespace ptxdsl::kernels
