// SPDX-License-Identifier: Apache-2.0
// Kernels whose results need no more than their neighbourhood: SwiGLU, rotary position embedding, and fp8 with one
// scale for 128 columns or for a square of 128. f32, bf16 or f16 in memory, f32 in registers.
#pragma once

#include <ptxdsl/kernels/row_kernels.hpp>

// Some system headers define min and max as macros.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

namespace ptxdsl::kernels {

/// How elements are spread over threads: constants of the kernel.
struct element_plan {
    u32 width = 1;     ///< values of one access
    u32 accesses = 2;  ///< of a thread, `threads` apart
    u32 threads = 256;
    bool flat = false;  ///< all matrices are without gaps: they are one row
    constexpr auto operator<=>(const element_plan&) const = default;
    [[nodiscard]] constexpr attributes launch() const noexcept { return {.reqntid = {threads}}; }
};

/// Columns (and rows, where a square shares a scale) of a block of quantised values.
inline constexpr u32 scale_block = 128;

namespace detail {

/// Loads access `unit` of the row at `row` into `v[0 … width)`.
template <class T, tok... M>
constexpr void load_unit(k_t& k, const global_ptr<const T>& row, const words& unit, u32 width, floats* v) {
    with_width<T>(width, [&]<u32 W>() {
        using access = row_access<T, W>;
        const auto start = row.template as<typename access::unit>().template assume_aligned<W * sizeof(T)>();
        const auto at = start + unit;
        access::expand(k, k.template ld<M...>(at), v);
    });
}
/// Stores them where `in` holds.
template <class T, tok... M>
constexpr void store_unit(k_t& k, const global_ptr<T>& row, const words& unit, u32 width, const floats* v,
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
struct divided {
    words quotient, rest;
    constexpr divided(k_t& k, const words& a, const words& by) : quotient(k.div(a, by)) {
        rest = k.sub(a, k.mul_lo(quotient, by));
    }
};

/// Asks L2 for what `block` works on where `wanted` holds: the `block`-th `accesses` of flat `matrices`, which have
/// `total`.
template <class T, std::size_t N>
constexpr void ask_for_block(k_t& k, const element_plan& c, const words& block, const reg<pred>& wanted, u32 accesses,
                             const words& total, const global_ptr<const T> (&matrices)[N]) {
    if (c.width * sizeof(T) != 16 || !c.flat) return;
    const auto first = k.mul_lo(block, accesses);
    const auto asks = k.mov(tid.x) == 0u && wanted && k.add(first, accesses) <= total;
    for (const auto& m : matrices) ask_l2(k, asks, m.template as<packet<u32, 4>>() + first, k.mov<u32>(16 * accesses));
}

}  // namespace detail

// ---- SwiGLU ---------------------------------------------------------------------------------------------------------

/// The plan of `swiglu` for `units` accesses. On an H200 one access of each input a thread beats more, and large blocks
/// beat smaller ones where there are very many.
[[nodiscard]] constexpr element_plan plan_swiglu(u32 width, u32 units) noexcept {
    return {.width = width, .accesses = 1, .threads = units >= 1u << 23 ? 1024u : 256u};
}

/// y = silu(gate) * up. `units`: accesses of a row; `total`: of all rows. The first `early` blocks ask L2 for their
/// input before they wait for the kernel ahead of this one: memory has little to do while that one ends, and what it
/// has yet to write it writes to L2 as well.
template <class T>
constexpr void swiglu_body(builder<sm_90a>& k, const element_plan& c, global_ptr<const T> gate, global_ptr<const T> up,
                           global_ptr<T> y, reg<u32> units, reg<u32> total, reg<u64> gate_stride, reg<u64> up_stride,
                           reg<u64> y_stride, reg<u32> early) {
    using namespace detail;
    const auto first = k.mad_lo(k.mov(ctaid.x), c.threads * c.accesses, k.mov(tid.x)).named("first");
    const auto block = k.mov(ctaid.x);
    k.griddepcontrol_launch_dependents();
    ask_for_block<T, 2>(k, c, block, block < early, c.threads * c.accesses, total, {gate, up});
    k.griddepcontrol_wait();
    struct item {
        global_ptr<T> to;
        words unit;
        reg<pred> in;
        floats gate[8], up[8];
    };
    item items[8];
    for (u32 j = 0; j < c.accesses; ++j) {
        item& i = items[j];
        const auto wanted = j == 0 ? first : words(k.add(first, j * c.threads));
        i.in = wanted < total;
        const auto inside = k.min(wanted, k.sub(total, 1u));
        auto from_gate = gate, from_up = up;
        i.to = y, i.unit = inside;
        if (!c.flat) {
            const divided d(k, inside, units);
            from_gate = row_at(k, gate, d.quotient, gate_stride), from_up = row_at(k, up, d.quotient, up_stride);
            i.to = row_at(k, y, d.quotient, y_stride), point(i.unit, d.rest);
        }
        load_unit<T>(k, from_gate, i.unit, c.width, i.gate);
        load_unit<T>(k, from_up, i.unit, c.width, i.up);
    }
    for (u32 j = 0; j < c.accesses; ++j) {
        item& i = items[j];
        for (u32 e = 0; e < c.width; ++e) {
            const auto power = k.ex2<approx, ftz>(k.mul<rn>(i.gate[e], -std::numbers::log2e_v<float>));
            const auto sigmoid = k.rcp<approx, ftz>(k.add<rn>(power, 1.0f));
            point(i.up[e], floats(k.mul<rn>(k.mul<rn>(i.gate[e], sigmoid), i.up[e])));
        }
        store_unit<T>(k, i.to, i.unit, c.width, i.up, i.in);
    }
}

// ---- rotary position embedding --------------------------------------------------------------------------------------

/// Which elements of a head are rotated together.
enum class rope_pairs : u8 {
    halves,       ///< i and i + rotated / 2 (Llama, NeoX)
    interleaved,  ///< 2 i and 2 i + 1 (GPT-J)
};

/// Extents and strides of a rotary embedding, in elements.
struct rope_plan {
    u32 width = 1;  ///< pairs of one access
    rope_pairs pairs = rope_pairs::halves;
    bool partial = false;  ///< some elements of a head are not rotated, only copied
    bool apart = false;    ///< interleaved pairs that are not aligned to their size: one access an element
    u32 threads = 128;
    u32 heads = 1;  ///< of a token that a thread rotates by the angles it has loaded; divides their number
    constexpr auto operator<=>(const rope_plan&) const = default;
    [[nodiscard]] constexpr attributes launch() const noexcept { return {.reqntid = {threads}}; }
};

namespace detail {

/// `width` f32 values from access `unit`, at most four at a time.
constexpr void load_angles(k_t& k, const global_ptr<const f32>& row, const words& unit, u32 width, floats* v) {
    if (width <= 4) return load_unit<f32>(k, row, unit, width, v);
    const auto pair = k.shl(unit, 1u);
    load_unit<f32>(k, row, pair, 4, v);
    load_unit<f32>(k, row, k.add(pair, 1u), 4, v + 4);
}

/// The pairs of one thread: their accesses in the row (in units of `width`), then the pair's values.
template <class T>
class rope_pairs_of_thread {
public:
    constexpr rope_pairs_of_thread(const rope_plan& c, const words& unit, const words& distance)
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
            floats both[16];
            load_unit<T>(k, row, unit_, 2 * c_.width, both);
            for (u32 i = 0; i < c_.width; ++i) point(a[i], both[2 * i]), point(b[i], both[2 * i + 1]);
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
            floats both[16];
            for (u32 i = 0; i < c_.width; ++i) point(both[2 * i], a[i]), point(both[2 * i + 1], b[i]);
            store_unit<T>(k, row, unit_, 2 * c_.width, both, in);
        }
    }
    constexpr void rotate(k_t& k, const floats* c, const floats* s) {
        for (u32 i = 0; i < c_.width; ++i) {
            const floats x = k.sub<rn>(k.mul<rn>(a[i], c[i]), k.mul<rn>(b[i], s[i]));
            const floats y = k.fma<rn>(b[i], c[i], k.mul<rn>(a[i], s[i]));
            point(a[i], x), point(b[i], y);
        }
    }
    floats a[8], b[8];

private:
    rope_plan c_;
    words unit_, distance_;
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
    start_after_previous(k);
    const auto in = wanted < total;
    const auto inside = k.min(wanted, k.sub(total, 1u));
    const divided group(k, inside, k.add(half, rest));
    const divided token(k, group.quotient, groups);
    const auto first_head = c.heads == 1 ? words(token.rest) : words(k.mul_lo(token.rest, c.heads));
    const auto from = row_at(k, row_at(k, x, token.quotient, x_token), first_head, x_head);
    const auto to = row_at(k, row_at(k, y, token.quotient, y_token), first_head, y_head);
    using pairs_t = rope_pairs_of_thread<T>;
    // Loads of all heads, then `work` on each, then the stores.
    const auto each_head = [&](const words& first, const words& distance, auto&& between, auto&& work) {
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
        floats cosine[8], sine[8];
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
        const auto start = c.pairs == rope_pairs::halves ? words(k.add(own, k.shl(half, 1u))) : words(group.rest);
        each_head(start, rest, [] {}, [](pairs_t&) {});
    });
}

// ---- fp8, a scale for 128 columns, or for a square of 128
// ---------------------------------------------------------------

namespace detail {

/// How 128 columns are spread over lanes.
struct block_lanes {
    u32 width, values, lanes;
    constexpr explicit block_lanes(u32 w) : width(w), values(w > 4 ? w : 4), lanes(scale_block / values) {}
    [[nodiscard]] constexpr u32 accesses() const noexcept { return values / width; }
};

/// One thread's values of one row of a block: accesses `first + i * lanes`, those from `end` on are 0. Without an end,
/// they are all there if the block is.
template <class T>
class block_part {
public:
    constexpr block_part() = default;
    constexpr block_part(const block_lanes& b, const words& first, const words& end)
        : b_(b), first_(first), end_(end) {}
    constexpr void load(k_t& k, const global_ptr<const T>& row, const reg<pred>& exists, floats* v) {
        for (u32 i = 0; i < b_.accesses(); ++i) {
            at_[i] = i == 0 ? first_ : words(k.add(first_, i * b_.lanes));
            const bool whole = !end_.bound();
            in_[i] = whole ? exists : reg<pred>(at_[i] < end_ && exists);
            const auto inside = whole ? at_[i] : words(k.min(at_[i], k.sub(end_, 1u)));
            load_unit<T>(k, row, inside, b_.width, v + i * b_.width);
            for (u32 e = 0; e < b_.width && !whole; ++e)
                point(v[i * b_.width + e], floats(k.selp(v[i * b_.width + e], 0.0f, in_[i])));
        }
    }
    template <class Q>
    constexpr void store(k_t& k, const global_ptr<Q>& row, const floats* v) const {
        for (u32 i = 0; i < b_.accesses(); ++i) store_unit<Q, cs>(k, row, at_[i], b_.width, v + i * b_.width, in_[i]);
    }

private:
    block_lanes b_{4};
    words first_, end_, at_[4];
    reg<pred> in_[4];
};

/// The maxima over `lanes` lanes of `count` (1, 2 or 4) values each, at once: where lanes have two values yet, a half
/// of them goes on with the one and a half with the other, so that all take as many exchanges as one, and one more or
/// three. Lane `i` ends with the maximum of the value `i / (lanes / count)`.
struct each_max {
    floats value;
    words group;      ///< which value's; unbound where there is one
    reg<pred> leads;  ///< one lane of each group
    u32 count, lanes;
    constexpr each_max(k_t& k, floats* of, u32 n, const words& lane, u32 all) : count(n), lanes(all) {
        u32 step = all / 2;
        for (u32 left = n; left > 1; left /= 2, step /= 2) {
            const auto upper = k.and_(lane, step) != 0u;
            for (u32 i = 0; i < left / 2; ++i) {
                const auto kept = k.selp(of[i + left / 2], of[i], upper);
                const auto given = k.selp(of[i], of[i + left / 2], upper);
                point(of[i], floats(k.max(kept, k.shfl_sync_bfly(given, step, 31u, full_mask))));
            }
        }
        for (; step > 0; step /= 2) point(of[0], floats(k.max(of[0], k.shfl_sync_bfly(of[0], step, 31u, full_mask))));
        point(value, of[0]);
        if (n > 1) point(group, words(k.div(lane, all / n)));
        leads = k.and_(lane, all / n - 1) == 0u;
    }
    /// What the lanes of value `j` have in `v`, in all lanes.
    [[nodiscard]] constexpr floats of(k_t& k, const floats& v, u32 j) const {
        if (count == 1) return v;
        return k.shfl_sync_idx(v, j * (lanes / count), (32 - lanes) << 8 | 31u, full_mask);
    }
};

}  // namespace detail

/// The plan of `quantize_blocks`. On an H200 the loads of two blocks under way beat those of one, three and four.
[[nodiscard]] constexpr element_plan plan_blocks(u32 width) noexcept {
    return {.width = width, .accesses = 2, .threads = 512};
}

/// fp8 with a scale for each 128 columns of a row: scales[row * scale_row + block * scale_column]. `blocks` of a row,
/// `total` of all rows, `units` accesses of a row. Each of the kernel's blocks asks L2 for the input of the one
/// `ahead`.
template <class T, class Q>
constexpr void quantize_blocks_body(builder<sm_90a>& k, const element_plan& c, global_ptr<const T> x, global_ptr<Q> q,
                                    global_ptr<f32> scales, reg<u32> units, reg<u32> blocks, reg<u32> total,
                                    reg<u64> x_stride, reg<u64> q_stride, reg<u64> scale_row, reg<u64> scale_column,
                                    reg<u32> early) {
    using namespace detail;
    const block_lanes lanes(c.width);
    const u32 apart = 32 / lanes.lanes, of_warp = apart * c.accesses;
    const auto tid = k.mov(ptxdsl::tid.x);
    const auto lane = k.and_(tid, lanes.lanes - 1);
    const auto warp = k.mad_lo(k.mov(ctaid.x), c.threads / 32, k.shr(tid, 5u));
    const auto first = k.mad_lo(warp, of_warp, k.div(k.and_(tid, 31u), lanes.lanes)).named("block");
    const auto block_of_kernel = k.mov(ctaid.x);
    k.griddepcontrol_launch_dependents();
    ask_for_block<T, 1>(k, c, block_of_kernel, block_of_kernel < early,
                        c.threads / 32 * of_warp * (scale_block / c.width), k.mul_lo(total, scale_block / c.width),
                        {x});
    k.griddepcontrol_wait();
    struct item {
        words row, block;
        reg<pred> exists;
        block_part<T> part;
        values v;
    };
    item items[4];
    for (u32 j = 0; j < c.accesses; ++j) {  // all of a thread's loads are under way before the first maximum
        item& i = items[j];
        const auto wanted = j == 0 ? first : words(k.add(first, j * apart));
        i.exists = wanted < total;
        const auto inside = k.min(wanted, k.sub(total, 1u));
        i.v.count = lanes.values;
        if (c.flat) {
            point(i.block, inside);
            i.part = block_part<T>(lanes, k.mad_lo(inside, scale_block / c.width, lane), {});
            i.part.load(k, x, i.exists, i.v.v);
            continue;
        }
        const divided d(k, inside, blocks);
        i.row = d.quotient, i.block = d.rest;
        const auto start = k.mad_lo(d.rest, scale_block / c.width, lane);
        const auto end = k.min(units, k.mul_lo(k.add(d.rest, 1u), scale_block / c.width));
        i.part = block_part<T>(lanes, start, end);
        i.part.load(k, row_at(k, x, d.quotient, x_stride), i.exists, i.v.v);
    }
    floats largest[4];
    for (u32 j = 0; j < c.accesses; ++j) point(largest[j], in_chains(items[j].v, abs_step{k}));
    const each_max own(k, largest, c.accesses, lane, lanes.lanes);
    const fp8_scale<Q> s(k, own.value);
    for (u32 j = 0; j < c.accesses; ++j) {
        item& i = items[j];
        s.apply(k, i.v, own.of(k, s.inverse, j));
        i.part.store(k, c.flat ? q : row_at(k, q, i.row, q_stride), i.v.v);
    }
    const auto block = c.accesses == 1 ? first : words(k.mad_lo(own.group, apart, first));
    auto to = scales;
    if (c.flat) {
        to = scales + block;
    } else {
        const divided d(k, block, blocks);
        to = row_at(k, row_at(k, scales, d.quotient, scale_row), d.rest, scale_column);
    }
    k.at(own.leads && block < total).st(to, s.scale);
}

/// fp8 with a scale for each square of 128 rows and columns; one block of 512 threads a square, `ctaid.x` along
/// columns.
template <class T, class Q>
constexpr void quantize_squares_body(builder<sm_90a>& k, const element_plan& c, global_ptr<const T> x, global_ptr<Q> q,
                                     global_ptr<f32> scales, reg<u32> units, reg<u32> rows, reg<u64> x_stride,
                                     reg<u64> q_stride, reg<u64> scale_row, reg<u64> scale_column) {
    using namespace detail;
    const block_lanes lanes(c.width);
    const u32 at_once = c.threads / lanes.lanes, count = scale_block / at_once;
    row_seat seat(k, {.threads = c.threads});
    const auto lane = k.and_(seat.thread, lanes.lanes - 1);
    const auto line = k.div(seat.thread, lanes.lanes);
    const auto across = k.mov(ctaid.x);
    const auto down = k.mov(ctaid.y);
    start_after_previous(k);
    const auto start = k.mad_lo(across, scale_block / c.width, lane);
    const auto end = k.min(units, k.mul_lo(k.add(across, 1u), scale_block / c.width));
    const auto first = k.mad_lo(down, scale_block, line);
    values v{.count = count * lanes.values, .v = {}};
    block_part<T> parts[8] = {{lanes, start, end}, {lanes, start, end}, {lanes, start, end}, {lanes, start, end},
                              {lanes, start, end}, {lanes, start, end}, {lanes, start, end}, {lanes, start, end}};
    words row[8];
    for (u32 j = 0; j < count; ++j) {
        row[j] = k.add(first, j * at_once);
        const auto exists = row[j] < rows;
        const auto inside = k.min(row[j], k.sub(rows, 1u));
        parts[j].load(k, row_at(k, x, inside, x_stride), exists, v.v + j * lanes.values);
    }
    const auto largest = seat.over_row(k, max_over(k, in_chains(v, abs_step{k})), 0.0f,
                                       [&](const floats& m, u32 n) { return max_over(k, m, n); });
    const fp8_scale<Q> s(k, largest);
    s.apply(k, v);
    for (u32 j = 0; j < count; ++j) parts[j].store(k, row_at(k, q, row[j], q_stride), v.v + j * lanes.values);
    const auto to = row_at(k, row_at(k, scales, down, scale_row), across, scale_column);
    k.at(seat.leads()).st(to, s.scale);
}

}  // namespace ptxdsl::kernels

#pragma pop_macro("max")
#pragma pop_macro("min")
