// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding.
#pragma once

#include <ptxdsl/kernels/rows/elements.hpp>

#include <compare>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

namespace detail {

/// `width` f32 values from access `unit`, at most four at a time.
constexpr void load_angles(k_t& k, const global_ptr<const f32>& row, const reg32& unit, u32 width, regf32* v) {
    if (width <= 4) return load_unit<f32>(k, row, unit, width, v);
    const auto pair = k.shl(unit, 1u);
    load_unit<f32>(k, row, pair, 4, v);
    load_unit<f32>(k, row, k.add(pair, 1u), 4, v + 4);
}

/// The pairs of one thread: their accesses in the row (in units of `width`), then the pair's values.
template <class T>
class rope_thread {
public:
    constexpr rope_thread(const rope_plan& c, const reg32& unit, const reg32& distance)
        : c_(c), unit_(unit), distance_(distance) {}
    constexpr void load(k_t& k, const global_ptr<const T>& row) {
        if (c_.pairs == rope_pairs::halves) {
            load_unit<T>(k, row, unit_, c_.width, a);
            load_unit<T>(k, row, k.add(unit_, distance_), c_.width, b);
        } else if (c_.apart) {
            const auto first = k.shl(unit_, 1u);
            load_unit<T>(k, row, first, 1, a);
            load_unit<T>(k, row, k.add(first, 1u), 1, b);
        } else {
            regf32 both[16];
            load_unit<T>(k, row, unit_, 2 * c_.width, both);
            for (u32 i = 0; i < c_.width; ++i) rebind(a[i], both[2 * i]), rebind(b[i], both[2 * i + 1]);
        }
    }
    constexpr void store(k_t& k, const global_ptr<T>& row, const reg<pred>& in) const {
        if (c_.pairs == rope_pairs::halves) {
            store_unit<T>(k, row, unit_, c_.width, a, in);
            store_unit<T>(k, row, k.add(unit_, distance_), c_.width, b, in);
        } else if (c_.apart) {
            const auto first = k.shl(unit_, 1u);
            store_unit<T>(k, row, first, 1, a, in);
            store_unit<T>(k, row, k.add(first, 1u), 1, b, in);
        } else {
            regf32 both[16];
            for (u32 i = 0; i < c_.width; ++i) rebind(both[2 * i], a[i]), rebind(both[2 * i + 1], b[i]);
            store_unit<T>(k, row, unit_, 2 * c_.width, both, in);
        }
    }
    constexpr void rotate(k_t& k, const regf32* c, const regf32* s) {
        for (u32 i = 0; i < c_.width; ++i) {
            const regf32 x = k.sub<rn>(k.mul<rn>(a[i], c[i]), k.mul<rn>(b[i], s[i]));
            const regf32 y = k.fma<rn>(b[i], c[i], k.mul<rn>(a[i], s[i]));
            rebind(a[i], x), rebind(b[i], y);
        }
    }
    regf32 a[8], b[8];

private:
    rope_plan c_;
    reg32 unit_, distance_;
};

}  // namespace detail

/// Rotates the pairs of every head by the angles of its token's position. `half` and `rest` are the rotated pairs and
/// the pairs of what is only copied, in accesses; `groups` of `heads` are a token's, and `total` counts threads.
template <class T>
constexpr void rope_body(builder<sm_90a>& k, const rope_plan& c, global_ptr<const T> x, global_ptr<const s32> positions,
                         global_ptr<const f32> cosines, global_ptr<const f32> sines, global_ptr<T> y, reg<u32> half,
                         reg<u32> rest, reg<u32> groups, reg<u32> total, reg<u64> x_token, reg<u64> x_head,
                         reg<u64> y_token, reg<u64> y_head, reg<u64> angle_stride) {
    using namespace detail;
    const auto wanted = k.mad_lo(k.mov(ctaid.x), c.threads, k.mov(tid.x)).named("unit");
    wait_for_previous_grid(k);
    const auto in = wanted < total;
    const auto inside = k.min(wanted, k.sub(total, 1u));
    const divmod group(k, inside, k.add(half, rest));
    const divmod token(k, group.quotient, groups);
    const auto first_head = c.heads == 1 ? reg32(token.rest) : reg32(k.mul_lo(token.rest, c.heads));
    const auto from = row_at(k, row_at(k, x, token.quotient, x_token), first_head, x_head);
    const auto to = row_at(k, row_at(k, y, token.quotient, y_token), first_head, y_head);
    using pairs_t = rope_thread<T>;
    // Loads of all heads, then `work` on each, then the stores.
    const auto each_head = [&](const reg32& first, const reg32& distance, auto&& between, auto&& work) {
        const pairs_t none(c, first, distance);
        pairs_t pairs[4] = {none, none, none, none};
        auto row = from;
        for (u32 h = 0; h < c.heads; ++h) {
            if (h != 0) row = row + x_head;
            pairs[h].load(k, row);
        }
        between();
        auto out = to;
        for (u32 h = 0; h < c.heads; ++h) {
            if (h != 0) out = out + y_head;
            work(pairs[h]);
            pairs[h].store(k, out, in);
        }
    };
    const auto turn = [&] {
        const auto position = k.ld(positions + token.quotient);
        regf32 cosine[8], sine[8];
        const auto load_both = [&] {  // after the pairs, which are under way while the position is
            const auto at = k.cvt<u32>(position);
            load_angles(k, row_at(k, cosines, at, angle_stride), group.rest, c.width, cosine);
            load_angles(k, row_at(k, sines, at, angle_stride), group.rest, c.width, sine);
        };
        each_head(group.rest, half, load_both, [&](pairs_t& pairs) { pairs.rotate(k, cosine, sine); });
    };
    if (!c.partial) return turn();
    k.if_(group.rest < half, turn).else_([&] {
        // The part that is not rotated starts after `half` pairs, and its own halves are `rest` apart.
        const auto own = k.sub(group.rest, half);
        const auto start = c.pairs == rope_pairs::halves ? reg32(k.add(own, k.shl(half, 1u))) : reg32(group.rest);
        each_head(start, rest, [] {}, [](pairs_t&) {});
    });
}

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
