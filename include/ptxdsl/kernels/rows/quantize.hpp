// SPDX-License-Identifier: Apache-2.0
// fp8 with one scale a row, for 128 columns, or for a square of 128.
#pragma once

#include <ptxdsl/kernels/rows/elements.hpp>

#include <type_traits>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

namespace detail {

template <class Q>
inline constexpr float fp8_most = std::is_same_v<Q, e5m2> ? 57344.0f : 448.0f;
/// Below this largest element, rows are scaled as if it were this: 1 / scale stays finite.
inline constexpr float fp8_least = 1e-30f;

/// The scale for a largest element, and its inverse.
template <class Q>
struct fp8_scale {
    regf32 scale, inverse;
    constexpr fp8_scale(k_t& k, const regf32& largest) {
        const auto m = k.max(largest, fp8_least);
        scale = k.mul<rn>(m, 1.0f / fp8_most<Q>);
        inverse = k.mul<rn>(k.rcp<rn>(m), fp8_most<Q>);
    }
    constexpr void apply(k_t& k, values& v) const { apply(k, v, inverse); }
    static constexpr void apply(k_t& k, values& v, const regf32& by) {
        for (u32 i = 0; i < v.count; ++i) rebind(v[i], regf32(k.mul<rn>(v[i], by)));
    }
};

}  // namespace detail

/// q = x / scale in fp8, scale = max|x| / (largest fp8) of each row.
template <class T, class Q>
constexpr void quantize_rows_body(builder<sm_90a>& k, const row_plan& c, global_ptr<const T> x, global_ptr<Q> q,
                                  global_ptr<f32> scales, reg<u32> rows, reg<u32> columns, reg<u64> x_stride,
                                  reg<u64> q_stride, reg<u32> prefetch_rows) {
    using namespace detail;
    const auto units = k.div(columns, c.width).named("units");
    row_team team(k, c);
    start_rows<T, 1>(k, c, team, rows, columns, prefetch_rows, {x}, {x_stride});
    team.if_inside(k, rows, [&] {
        const auto in = row_at(k, x, team.row, x_stride);
        const auto out = row_at(k, q, team.row, q_stride);
        const auto over_row = [&](const regf32& mine) {
            return team.reduce(k, warp_max(k, mine), 0.0f,
                               [&](const regf32& v, u32 lanes) { return warp_max(k, v, lanes); });
        };
        const auto scale_of = [&](const regf32& mine) {
            fp8_scale<Q> s(k, over_row(mine));
            k.at(team.leads()).st(scales + team.row, s.scale);
            return s;
        };
        const auto write = [&](const fp8_scale<Q>& s, const positions& p, values& v) {
            s.apply(k, v);
            store_result<Q>(k, c, out, p, v);
        };
        if (!c.reread && !c.held) {
            const auto p = partition(k, c, c.accesses, c.exact, team.thread, units);
            values v = load_row<T>(k, in, p, 0.0f);
            write(scale_of(thread_reduce(v, abs_max_op{k})), p, v);
            return;
        }
        row_passes<T> passes(k, c, in, team.thread, units, 0.0f);
        auto largest = k.mov<f32>(0.0f).named("largest");
        passes.next(
            k, [&](const positions&, const values& v) { largest = k.max(largest, thread_reduce(v, abs_max_op{k})); });
        const auto s = scale_of(largest);
        passes.next(k, [&](const positions& p, values& v) { write(s, p, v); });
    });
}

// ---- a scale for 128 columns, or for a square of 128 ----------------------------------------------------------------

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
    constexpr block_part(const block_lanes& b, const reg32& first, const reg32& end)
        : b_(b), first_(first), end_(end) {}
    constexpr void load(k_t& k, const global_ptr<const T>& row, const reg<pred>& exists, regf32* v) {
        for (u32 i = 0; i < b_.accesses(); ++i) {
            rebind(at_[i], i == 0 ? first_ : reg32(k.add(first_, i * b_.lanes)));
            const bool whole = !end_.bound();
            rebind(in_[i], whole ? exists : reg<pred>(at_[i] < end_ && exists));
            const auto inside = whole ? at_[i] : reg32(k.min(at_[i], k.sub(end_, 1u)));
            load_unit<T>(k, row, inside, b_.width, v + i * b_.width);
            for (u32 e = 0; e < b_.width && !whole; ++e)
                rebind(v[i * b_.width + e], regf32(k.selp(v[i * b_.width + e], 0.0f, in_[i])));
        }
    }
    template <class Q>
    constexpr void store(k_t& k, const global_ptr<Q>& row, const regf32* v) const {
        for (u32 i = 0; i < b_.accesses(); ++i) store_unit<Q, cs>(k, row, at_[i], b_.width, v + i * b_.width, in_[i]);
    }

private:
    block_lanes b_{4};
    reg32 first_, end_, at_[4];
    reg<pred> in_[4];
};

/// The maxima over `lanes` lanes of `count` (1, 2 or 4) values each, at once: where lanes have two values yet, a half
/// of them goes on with the one and a half with the other, so that all take as many exchanges as one, and one more or
/// three. Lane `i` ends with the maximum of the value `i / (lanes / count)`.
struct each_max {
    regf32 value;
    reg32 group;      ///< which value's; unbound where there is one
    reg<pred> leads;  ///< one lane of each group
    u32 count, lanes;
    constexpr each_max(k_t& k, regf32* of, u32 n, const reg32& lane, u32 all) : count(n), lanes(all) {
        u32 step = all / 2;
        for (u32 left = n; left > 1; left /= 2, step /= 2) {
            const auto upper = k.and_(lane, step) != 0u;
            for (u32 i = 0; i < left / 2; ++i) {
                const auto kept = k.selp(of[i + left / 2], of[i], upper);
                const auto given = k.selp(of[i], of[i + left / 2], upper);
                rebind(of[i], regf32(k.max(kept, k.shfl_sync_bfly(given, step, 31u, full_mask))));
            }
        }
        for (; step > 0; step /= 2) rebind(of[0], regf32(k.max(of[0], k.shfl_sync_bfly(of[0], step, 31u, full_mask))));
        rebind(value, of[0]);
        if (n > 1) rebind(group, reg32(k.div(lane, all / n)));
        leads = k.and_(lane, all / n - 1) == 0u;
    }
    /// What the lanes of value `j` have in `v`, in all lanes.
    [[nodiscard]] constexpr regf32 of(k_t& k, const regf32& v, u32 j) const {
        if (count == 1) return v;
        return k.shfl_sync_idx(v, j * (lanes / count), (32 - lanes) << 8 | 31u, full_mask);
    }
};

}  // namespace detail

/// fp8 with a scale for each 128 columns of a row: scales[row * scale_row + block * scale_column]. `blocks` of a row,
/// `total` of all rows, `units` accesses of a row. The first `prefetch_blocks` blocks prefetch their
/// input into L2 before they wait for the kernel ahead of this one.
template <class T, class Q>
constexpr void quantize_blocks_body(builder<sm_90a>& k, const element_plan& c, global_ptr<const T> x, global_ptr<Q> q,
                                    global_ptr<f32> scales, reg<u32> units, reg<u32> blocks, reg<u32> total,
                                    reg<u64> x_stride, reg<u64> q_stride, reg<u64> scale_row, reg<u64> scale_column,
                                    reg<u32> prefetch_blocks) {
    using namespace detail;
    const block_lanes lanes(c.width);
    const u32 apart = 32 / lanes.lanes, of_warp = apart * c.accesses;
    const auto tid = k.mov(ptxdsl::tid.x);
    const auto lane = k.and_(tid, lanes.lanes - 1);
    const auto warp = k.mad_lo(k.mov(ctaid.x), c.threads / 32, k.shr(tid, 5u));
    const auto first = k.mad_lo(warp, of_warp, k.div(k.and_(tid, 31u), lanes.lanes)).named("block");
    const auto block_of_kernel = k.mov(ctaid.x);
    k.griddepcontrol_launch_dependents();
    prefetch_block<T, 1>(k, c, block_of_kernel, block_of_kernel < prefetch_blocks,
                         c.threads / 32 * of_warp * (scale_block / c.width), k.mul_lo(total, scale_block / c.width),
                         {x});
    k.griddepcontrol_wait();
    struct item {
        reg32 row, block;
        reg<pred> exists;
        block_part<T> part;
        values v;
    };
    item items[4];
    for (u32 j = 0; j < c.accesses; ++j) {  // all of a thread's loads are under way before the first maximum
        item& i = items[j];
        const auto wanted = j == 0 ? first : reg32(k.add(first, j * apart));
        i.exists = wanted < total;
        const auto inside = k.min(wanted, k.sub(total, 1u));
        i.v.count = lanes.values;
        if (c.flat) {
            rebind(i.block, inside);
            rebind(i.part, block_part<T>(lanes, k.mad_lo(inside, scale_block / c.width, lane), {}));
            i.part.load(k, x, i.exists, i.v.v);
            continue;
        }
        const divmod d(k, inside, blocks);
        rebind(i.row, d.quotient), rebind(i.block, d.rest);
        const auto start = k.mad_lo(d.rest, scale_block / c.width, lane);
        const auto end = k.min(units, k.mul_lo(k.add(d.rest, 1u), scale_block / c.width));
        rebind(i.part, block_part<T>(lanes, start, end));
        i.part.load(k, row_at(k, x, d.quotient, x_stride), i.exists, i.v.v);
    }
    regf32 largest[4];
    for (u32 j = 0; j < c.accesses; ++j) rebind(largest[j], thread_reduce(items[j].v, abs_max_op{k}));
    const each_max own(k, largest, c.accesses, lane, lanes.lanes);
    const fp8_scale<Q> s(k, own.value);
    for (u32 j = 0; j < c.accesses; ++j) {
        item& i = items[j];
        s.apply(k, i.v, own.of(k, s.inverse, j));
        i.part.store(k, c.flat ? q : row_at(k, q, i.row, q_stride), i.v.v);
    }
    const auto block = c.accesses == 1 ? first : reg32(k.mad_lo(own.group, apart, first));
    auto to = scales;
    if (c.flat) {
        to = scales + block;
    } else {
        const divmod d(k, block, blocks);
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
    row_team team(k, {.threads = c.threads});
    const auto lane = k.and_(team.thread, lanes.lanes - 1);
    const auto line = k.div(team.thread, lanes.lanes);
    const auto across = k.mov(ctaid.x);
    const auto down = k.mov(ctaid.y);
    wait_for_previous_grid(k);
    const auto start = k.mad_lo(across, scale_block / c.width, lane);
    const auto end = k.min(units, k.mul_lo(k.add(across, 1u), scale_block / c.width));
    const auto first = k.mad_lo(down, scale_block, line);
    values v{.count = count * lanes.values, .v = {}};
    block_part<T> parts[8] = {{lanes, start, end}, {lanes, start, end}, {lanes, start, end}, {lanes, start, end},
                              {lanes, start, end}, {lanes, start, end}, {lanes, start, end}, {lanes, start, end}};
    reg32 row[8];
    for (u32 j = 0; j < count; ++j) {
        row[j] = k.add(first, j * at_once);
        const auto exists = row[j] < rows;
        const auto inside = k.min(row[j], k.sub(rows, 1u));
        parts[j].load(k, row_at(k, x, inside, x_stride), exists, v.v + j * lanes.values);
    }
    const auto largest = team.reduce(k, warp_max(k, thread_reduce(v, abs_max_op{k})), 0.0f,
                                     [&](const regf32& m, u32 n) { return warp_max(k, m, n); });
    const fp8_scale<Q> s(k, largest);
    s.apply(k, v);
    for (u32 j = 0; j < count; ++j) parts[j].store(k, row_at(k, q, row[j], q_stride), v.v + j * lanes.values);
    const auto to = row_at(k, row_at(k, scales, down, scale_row), across, scale_column);
    k.at(team.leads()).st(to, s.scale);
}

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
