// SPDX-License-Identifier: Apache-2.0
// Attention over keys in pages against float64: random page sizes, lengths (0 too), heads, queries, masks, strides and
// cuts of the keys. Slots of pages that no sequence has are NaN, entries of the table that nobody uses are no pages,
// results, their surroundings and the workspace are poisoned before the call.
//
//   attention_paged_gpu_test [problems] [seed]
#include "attention_reference.hpp"

#include <ptxdsl/kernels/attention.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;
using ptxdsl_test::row_reference;

namespace {

std::mt19937 random_bits(1);
std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_bits() % static_cast<std::uint64_t>(high - low + 1));
}
bool one_in(unsigned n) { return random_bits() % n == 0; }

constexpr std::uint16_t poison = 0x7fff;  ///< NaN, as bf16 and as f16
using words = std::vector<std::uint16_t>;

/// [batch or page][row][head][element] with gaps; heads inside rows or rows inside heads.
struct layout {
    std::int64_t batch = 1, rows = 0, heads = 0, size = 0, batch_stride = 0, row_stride = 0, head_stride = 0;
    static constexpr std::int64_t guard = 64;  ///< elements in front and behind

    static layout of(std::int64_t batch, std::int64_t rows, std::int64_t heads, std::int64_t size) {
        layout l{batch, rows, heads, size};
        const std::int64_t gap = one_in(2) ? 0 : 8 * between(0, 3);
        const bool heads_inside = one_in(2);
        (heads_inside ? l.head_stride : l.row_stride) = size + gap;
        (heads_inside ? l.row_stride : l.head_stride) = (heads_inside ? heads : rows) * (size + gap) + gap;
        l.batch_stride = heads_inside ? rows * l.row_stride : heads * l.head_stride;
        return l;
    }
    [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(batch * batch_stride + 2 * guard); }
    [[nodiscard]] std::size_t at(std::int64_t b, std::int64_t row, std::int64_t head, std::int64_t e) const {
        return static_cast<std::size_t>(guard + b * batch_stride + row * row_stride + head * head_stride + e);
    }
    template <class Buffer>
    [[nodiscard]] auto view(Buffer& b) const {
        return px::tensor_view(b.ptr() + guard, batch, rows, heads, size)
            .with_strides(batch_stride, row_stride, head_stride, std::int64_t{1});
    }
};

struct problem {
    layout q, k, v, out;
    bool causal = false, lse = true;
    std::optional<std::uint32_t> left, right;
    double scale = 1, softcap = 0, size = 1;  ///< `size`: how large queries are
    std::int64_t pages_per_sequence = 0;
    std::vector<std::int32_t> lengths, table;
    std::uint64_t workspace = 0;
    std::uint32_t split_keys = 0;

    [[nodiscard]] std::int64_t length(std::int64_t b) const { return lengths[static_cast<std::size_t>(b)]; }
    [[nodiscard]] bool sees(std::int64_t b, std::int64_t i, std::int64_t j) const {
        const std::int64_t at = i + length(b) - q.rows;
        if (causal && j > at) return false;
        return !(right && j > at + *right) && !(left && j < at - *left);
    }
    [[nodiscard]] std::size_t place(const layout& l, std::int64_t b, std::int64_t j, std::int64_t head) const {
        return l.at(table[static_cast<std::size_t>(b * pages_per_sequence + j / l.rows)], j % l.rows, head, 0);
    }
    [[nodiscard]] std::size_t lse_at(std::int64_t b, std::int64_t i, std::int64_t head) const {
        return static_cast<std::size_t>((b * q.heads + head) * q.rows + i);
    }
    [[nodiscard]] std::string text() const {
        std::string t = "d " + std::to_string(q.size) + " heads " + std::to_string(q.heads) + "/" +
                        std::to_string(k.heads) + " queries " + std::to_string(q.rows) + " pages of " +
                        std::to_string(k.rows) + (causal ? " causal" : "") + (lse ? " lse" : "");
        if (left) t += " left " + std::to_string(*left);
        if (right) t += " right " + std::to_string(*right);
        if (softcap != 0) t += " softcap " + std::to_string(softcap);
        if (size != 1) t += " size " + std::to_string(size);
        t += " workspace " + std::to_string(workspace) + " split " + std::to_string(split_keys) + " lengths";
        for (const auto n : lengths) t += " " + std::to_string(n);
        return t;
    }
};

problem random_problem() {
    static constexpr std::int64_t sizes[] = {64, 128, 128, 256}, pages[] = {16, 32, 48, 64, 80, 128, 256};
    problem p;
    const std::int64_t d = sizes[random_bits() % 4], page = pages[random_bits() % 7];
    const std::int64_t kv_heads = between(1, 3), group = one_in(3) ? 1 : between(2, 16), batch = between(1, 5);
    const std::int64_t queries = one_in(2) ? 1 : one_in(8) ? between(17, 90) : between(2, 16);
    const std::int64_t longest = one_in(3) ? between(0, 3 * page) : between(1, 3000);
    p.pages_per_sequence = (longest + page - 1) / page + between(0, 3);
    std::int64_t used = 0;
    for (std::int64_t b = 0; b < batch; ++b) {
        const std::int64_t n = one_in(8) ? 0 : one_in(4) ? longest / page * page : between(0, longest);
        p.lengths.push_back(static_cast<std::int32_t>(n));
        used += (n + page - 1) / page;
    }
    const std::int64_t count = used + between(1, 5);
    std::vector<std::int32_t> order(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    std::shuffle(order.begin(), order.end(), random_bits);
    p.table.assign(static_cast<std::size_t>(batch * p.pages_per_sequence), one_in(2) ? -1 : 0x7fffff00);
    std::size_t next = 0;
    for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t n = 0; n * page < p.length(b); ++n)
            p.table[static_cast<std::size_t>(b * p.pages_per_sequence + n)] = order[next++];
    p.causal = one_in(2), p.lse = !one_in(3);
    if (one_in(4)) p.left = static_cast<std::uint32_t>(between(0, 700));
    if (one_in(8)) p.right = static_cast<std::uint32_t>(between(0, 20));
    if (one_in(6)) p.softcap = static_cast<double>(between(1, 50));
    if (one_in(6)) p.size = one_in(2) ? 4000 : 30;
    if (one_in(8)) p.size = 0;
    p.q = layout::of(batch, queries, kv_heads * group, d), p.out = layout::of(batch, queries, kv_heads * group, d);
    p.k = layout::of(count, page, kv_heads, d), p.v = layout::of(count, page, kv_heads, d);
    p.scale = static_cast<double>(static_cast<float>((one_in(3) ? 0.5 : 1.0) / std::sqrt(static_cast<double>(d))));
    const std::uint64_t part = static_cast<std::uint64_t>(batch * queries * kv_heads * group * (d + 1));
    p.workspace = one_in(4) ? 0 : part * static_cast<std::uint64_t>(one_in(2) ? between(1, 6) : 64);
    if (p.workspace == 64 * part && one_in(2))
        p.split_keys = static_cast<std::uint32_t>(std::max<std::int64_t>(between(1, 800), (longest + 3 * page) / 60));
    return p;
}

struct memory {
    words q, k, v, out;
    std::vector<float> lse;
};

template <class T>
memory fill(const problem& p) {
    memory m{words(p.q.elements(), poison), words(p.k.elements(), poison), words(p.v.elements(), poison),
             words(p.out.elements(), poison),
             std::vector<float>(static_cast<std::size_t>(p.q.batch * p.q.rows * p.q.heads) + 1, std::nanf(""))};
    std::normal_distribution<double> d(0.0, 1.0);
    const auto write = [&](words& to, std::size_t first, std::int64_t n, double by) {
        for (std::size_t e = 0; e < static_cast<std::size_t>(n); ++e)
            to[first + e] = narrow<T>(by * d(random_bits)).bits;
    };
    for (std::int64_t b = 0; b < p.q.batch; ++b) {
        for (std::int64_t i = 0; i < p.q.rows; ++i)
            for (std::int64_t h = 0; h < p.q.heads; ++h) write(m.q, p.q.at(b, i, h, 0), p.q.size, p.size);
        for (std::int64_t j = 0; j < p.length(b); ++j)
            for (std::int64_t h = 0; h < p.k.heads; ++h) {
                write(m.k, p.place(p.k, b, j, h), p.k.size, 1);
                write(m.v, p.place(p.v, b, j, h), p.v.size, 1);
            }
    }
    return m;
}

template <class T>
std::size_t rows_off(const problem& p, const memory& m) {
    const std::int64_t rows = p.q.batch * p.q.rows * p.q.heads;
    const std::int64_t every = std::max<std::int64_t>(1, rows / 96);
    std::atomic<std::int64_t> next = 0;
    std::atomic<std::size_t> off = 0;
    const auto work = [&] {
        for (std::int64_t n = every * next++; n < rows; n = every * next++) {
            const std::int64_t h = n % p.q.heads, i = n / p.q.heads % p.q.rows, b = n / p.q.heads / p.q.rows;
            const std::int64_t hk = h / (p.q.heads / p.k.heads);
            const row_reference r = ptxdsl_test::attention_row<T>(
                {.query = &m.q[p.q.at(b, i, h, 0)],
                 .keys = p.length(b),
                 .size = static_cast<std::size_t>(p.q.size),
                 .value_size = static_cast<std::size_t>(p.v.size),
                 .scale = p.scale,
                 .softcap = p.softcap},
                [&](std::int64_t j) { return &m.k[p.place(p.k, b, j, hk)]; },
                [&](std::int64_t j) { return &m.v[p.place(p.v, b, j, hk)]; },
                [&](std::int64_t j) { return p.sees(b, i, j); });
            off += ptxdsl_test::is_off<T>(r, &m.out[p.out.at(b, i, h, 0)], p.lse ? &m.lse[p.lse_at(b, i, h)] : nullptr);
        }
    };
    std::vector<std::thread> threads;
    for (unsigned n = 1; n < std::max(1u, std::thread::hardware_concurrency() / 2); ++n) threads.emplace_back(work);
    work();
    for (std::thread& t : threads) t.join();
    return off;
}

/// How many elements were left unwritten that are results, or written that are not.
std::size_t misplaced(const problem& p, const memory& m) {
    std::vector<bool> result(m.out.size(), false);
    for (std::int64_t b = 0; b < p.q.batch; ++b)
        for (std::int64_t i = 0; i < p.q.rows; ++i)
            for (std::int64_t h = 0; h < p.q.heads; ++h)
                for (std::int64_t e = 0; e < p.out.size; ++e) result[p.out.at(b, i, h, e)] = true;
    std::size_t wrong = 0;
    for (std::size_t e = 0; e < result.size(); ++e) wrong += (m.out[e] != poison) != result[e] ? 1 : 0;
    for (std::size_t e = 0; e + 1 < m.lse.size(); ++e) wrong += std::isnan(m.lse[e]) == p.lse ? 1 : 0;
    return wrong + (std::isnan(m.lse.back()) ? 0 : 1);
}

template <class T>
px::result<void> call(const px::stream& s, const problem& p, memory& m) {
    const auto& ctx = s.ctx();
    const auto upload = [&](const words& w) {
        auto b = px::check(px::device_buffer<T>::allocate(ctx, w.size()));
        std::vector<T> v(w.size());
        std::memcpy(static_cast<void*>(v.data()), w.data(), 2 * w.size());
        px::check(b.upload(v));
        return b;
    };
    auto q = upload(m.q), k = upload(m.k), v = upload(m.v), out = upload(m.out);
    auto lse = px::check(px::device_buffer<float>::from(ctx, m.lse));
    auto table = p.table;
    table.push_back(-1);
    const auto pages = px::check(px::device_buffer<px::s32>::from(ctx, table)),
               lengths = px::check(px::device_buffer<px::s32>::from(ctx, p.lengths));
    auto workspace = px::check(px::device_buffer<float>::from(
        ctx, std::vector<float>(static_cast<std::size_t>(std::max<std::uint64_t>(p.workspace, 1)), std::nanf(""))));
    kn::attention_options o{
        .scale = static_cast<float>(p.scale), .causal = p.causal, .softcap = static_cast<float>(p.softcap)};
    o.window_left = p.left, o.window_right = p.right;
    if (p.lse) o.lse = lse.ptr();
    kn::paged_keys keys{.pages = pages.ptr(),
                        .pages_per_sequence = static_cast<std::uint64_t>(p.pages_per_sequence),
                        .lengths = lengths.ptr(),
                        .split_keys = p.split_keys};
    if (p.workspace != 0) keys.workspace = workspace.ptr(), keys.workspace_size = p.workspace;
    auto r = kn::attention(s, p.q.view(q), p.k.view(k), p.v.view(v), p.out.view(out), keys, o);
    if (!r) return r;
    if (auto done = s.synchronize(); !done) return done;
    std::vector<T> result(m.out.size());
    if (auto done = out.download(result); !done) return done;
    std::memcpy(m.out.data(), static_cast<const void*>(result.data()), 2 * result.size());
    return lse.download(m.lse);
}

/// Sequence `b` of a problem by itself.
std::pair<problem, memory> alone(const problem& p, const memory& m, std::int64_t b) {
    problem one = p;
    memory of = m;
    one.q.batch = one.out.batch = 1;
    const auto shift = [&](const words& from, const layout& l) {
        const auto first = from.begin() + b * l.batch_stride;
        return words(first, first + l.batch_stride + 2 * layout::guard);
    };
    of.q = shift(m.q, p.q), of.out = words(one.out.elements(), poison);
    of.lse.assign(static_cast<std::size_t>(p.q.rows * p.q.heads) + 1, std::nanf(""));
    one.lengths = {p.lengths[static_cast<std::size_t>(b)]};
    one.table.assign(p.table.begin() + b * p.pages_per_sequence, p.table.begin() + (b + 1) * p.pages_per_sequence);
    return {one, of};
}
/// With a cut that the caller names, a sequence's results are the same bits whatever else is in the batch.
template <class T>
std::size_t bits_differ(const px::stream& s, const problem& p, const memory& m) {
    const std::int64_t b = p.q.batch - 1;
    auto [one, of] = alone(p, m, b);
    px::check(call<T>(s, one, of));
    std::size_t differ = 0;
    for (std::int64_t i = 0; i < p.q.rows; ++i)
        for (std::int64_t h = 0; h < p.q.heads; ++h)
            for (std::int64_t e = 0; e < p.out.size; ++e)
                differ += m.out[p.out.at(b, i, h, e)] != of.out[one.out.at(0, i, h, e)] ? 1 : 0;
    return differ;
}

int checked = 0, failures = 0;

template <class T>
void check(const px::stream& s, const problem& p, const char* type) {
    memory m = fill<T>(p);
    const auto r = call<T>(s, p, m);
    ++checked;
    if (!r) {
        ++failures;
        std::printf("FAIL %s %s: %s\n", type, p.text().c_str(), r.error().message());
        if (failures > 3) std::exit(1);  // a device that has failed answers nothing more
        return;
    }
    const std::size_t off = rows_off<T>(p, m), places = misplaced(p, m);
    const std::size_t bits = p.split_keys != 0 ? bits_differ<T>(s, p, m) : 0;
    if (off + places + bits == 0) return;
    ++failures;
    std::printf("FAIL %s %s: %zu rows off, %zu elements misplaced, %zu other bits alone\n", type, p.text().c_str(), off,
                places, bits);
}

int run(int problems, unsigned seed) {
    const auto ctx = px::context::primary(0);
    if (!ctx || ctx->device().major != 9) {
        std::printf("skipped: %s\n", ctx ? "the device is no Hopper GPU" : ctx.error().message());
        return 77;
    }
    const auto s = px::check(px::stream::create(*ctx));
    random_bits.seed(seed);
    for (int n = 0; n < problems; ++n) {
        const problem p = random_problem();
        if (one_in(3))
            check<px::f16>(s, p, "f16");
        else
            check<px::bf16>(s, p, "bf16");
    }
    std::printf("%d problems of seed %u checked, %d wrong\n", checked, seed, failures);
    return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return run(argc > 1 ? std::atoi(argv[1]) : 100, argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 20261201u);
}
