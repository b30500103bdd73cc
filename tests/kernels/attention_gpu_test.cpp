// SPDX-License-Identifier: Apache-2.0
// Attention against float64: random lengths, heads, head sizes, masks, strides and packed sequences. Results and their
// surroundings are poisoned before the call, keys and values that no sequence has are NaN.
//
//   attention_gpu_test [problems] [seed]     on a GPU
//   attention_gpu_test --self-test           whether the comparison notices results that are slightly wrong; no GPU
#include "attention_reference.hpp"

#include <ptxdsl/kernels/attention.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
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

// ---- 16-bit numbers -------------------------------------------------------------------------------------------------

constexpr std::uint16_t poison = 0x7fff;  ///< NaN, as bf16 and as f16

// ---- a problem ------------------------------------------------------------------------------------------------------

/// [batch][row][head][element] with gaps; `rows` of a packed tensor are all sequences'.
struct layout {
    std::int64_t batch = 1, rows = 0, heads = 0, size = 0, batch_stride = 0, row_stride = 0, head_stride = 0;
    static constexpr std::int64_t guard = 64;  ///< elements in front and behind

    static layout of(std::int64_t batch, std::int64_t rows, std::int64_t heads, std::int64_t size) {
        layout l{batch, rows, heads, size};
        const std::int64_t gap = one_in(2) ? 0 : 8 * between(0, 5);
        if (one_in(2)) {  // heads of a row next to each other
            l.head_stride = size + gap, l.row_stride = heads * l.head_stride + gap;
            l.batch_stride = rows * l.row_stride + gap;
        } else {  // rows of a head
            l.row_stride = size + gap, l.head_stride = rows * l.row_stride + gap;
            l.batch_stride = heads * l.head_stride + gap;
        }
        return l;
    }
    [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(batch * batch_stride + 2 * guard); }
    [[nodiscard]] std::size_t at(std::int64_t b, std::int64_t row, std::int64_t head, std::int64_t e) const {
        return static_cast<std::size_t>(guard + b * batch_stride + row * row_stride + head * head_stride + e);
    }
};

struct sequence {
    std::int64_t batch, q_first, q_len, k_first, k_len;
};

struct problem {
    layout q, k, v, out;
    bool packed = false, causal = false, used = false, lse = true;
    std::optional<std::uint32_t> left, right;
    double scale = 1, softcap = 0, size = 1;  ///< `size`: how large queries are
    std::vector<sequence> sequences;
    std::vector<std::int32_t> q_starts, k_starts, k_used;
    std::int64_t most_queries = 0;

    /// Query i of a sequence sees key j.
    [[nodiscard]] bool sees(const sequence& s, std::int64_t i, std::int64_t j) const {
        const std::int64_t at = i + s.k_len - s.q_len;
        if (j < 0 || j >= s.k_len || (causal && j > at)) return false;
        return !(right && j > at + *right) && !(left && j < at - *left);
    }
    [[nodiscard]] std::size_t lse_at(const sequence& s, std::int64_t i, std::int64_t head) const {
        return static_cast<std::size_t>((s.batch * q.heads + head) * q.rows + s.q_first + i);
    }
    [[nodiscard]] std::string text() const {
        std::string t = "d " + std::to_string(q.size) + "/" + std::to_string(v.size) + " heads " +
                        std::to_string(q.heads) + "/" + std::to_string(k.heads) + (packed ? " packed" : "") +
                        (causal ? " causal" : "") + (used ? " used" : "") + (lse ? " lse" : "");
        if (left) t += " left " + std::to_string(*left);
        if (right) t += " right " + std::to_string(*right);
        if (softcap != 0) t += " softcap " + std::to_string(softcap);
        if (size != 1) t += " size " + std::to_string(size);
        t += " lengths";
        for (const sequence& s : sequences) t += " " + std::to_string(s.q_len) + "x" + std::to_string(s.k_len);
        return t;
    }
};

using words = std::vector<std::uint16_t>;

/// What a call reads and writes.
struct memory {
    words q, k, v, out;
    std::vector<float> lse;
};

template <class T>
memory fill(const problem& p) {
    memory m{words(p.q.elements(), poison),
             words(p.k.elements(), poison),
             words(p.v.elements(), poison),
             words(p.out.elements(), poison),
             {}};
    m.lse.assign(static_cast<std::size_t>(p.q.batch * p.q.heads * p.q.rows) + 1, std::nanf(""));
    std::normal_distribution<double> d(0.0, 1.0);
    const auto rows = [&](words& to, const layout& l, std::int64_t b, std::int64_t first, std::int64_t count,
                          double by) {
        for (std::int64_t r = first; r < first + count; ++r)
            for (std::int64_t h = 0; h < l.heads; ++h)
                for (std::int64_t e = 0; e < l.size; ++e) to[l.at(b, r, h, e)] = narrow<T>(by * d(random_bits)).bits;
    };
    for (const sequence& s : p.sequences) {
        rows(m.q, p.q, s.batch, s.q_first, s.q_len, p.size);
        rows(m.k, p.k, s.batch, s.k_first, s.k_len, 1);
        rows(m.v, p.v, s.batch, s.k_first, s.k_len, 1);
    }
    return m;
}

// ---- the reference --------------------------------------------------------------------------------------------------

using sees_key = std::function<bool(std::int64_t)>;

/// Query `i` of head `h` of sequence `s`.
template <class T>
row_reference reference(const problem& p, const memory& m, const sequence& s, std::int64_t i, std::int64_t h,
                        const sees_key& sees) {
    const std::int64_t hk = h / (p.q.heads / p.k.heads);
    return ptxdsl_test::attention_row<T>(
        {.query = &m.q[p.q.at(s.batch, s.q_first + i, h, 0)],
         .keys = s.k_len,
         .size = static_cast<std::size_t>(p.q.size),
         .value_size = static_cast<std::size_t>(p.v.size),
         .scale = p.scale,
         .softcap = p.softcap},
        [&](std::int64_t j) { return &m.k[p.k.at(s.batch, s.k_first + j, hk, 0)]; },
        [&](std::int64_t j) { return &m.v[p.v.at(s.batch, s.k_first + j, hk, 0)]; }, sees);
}

/// The rows that are compared: all of a small problem; of others those next to the edges of tiles, and some more.
std::vector<std::int64_t> rows_to_compare(const problem& p, const sequence& s) {
    std::vector<std::int64_t> rows;
    const double cost = static_cast<double>(s.q_len) * static_cast<double>(s.k_len + 1) *
                        static_cast<double>(p.q.heads * p.q.size) * static_cast<double>(p.sequences.size());
    if (cost < 3e7) {
        for (std::int64_t i = 0; i < s.q_len; ++i) rows.push_back(i);
        return rows;
    }
    for (const std::int64_t i : {std::int64_t{0}, std::int64_t{63}, std::int64_t{64}, std::int64_t{127},
                                 std::int64_t{128}, std::int64_t{191}, std::int64_t{192}, s.q_len - 65, s.q_len - 1})
        if (i >= 0 && i < s.q_len) rows.push_back(i);
    for (int n = 0; n < 6; ++n) rows.push_back(between(0, s.q_len - 1));
    return rows;
}

/// A row is off when an element is, or its logarithm.
template <class T>
bool is_off(const problem& p, const memory& m, const sequence& s, std::int64_t i, std::int64_t h) {
    const row_reference r = reference<T>(p, m, s, i, h, [&](std::int64_t j) { return p.sees(s, i, j); });
    return ptxdsl_test::is_off<T>(r, &m.out[p.out.at(s.batch, s.q_first + i, h, 0)],
                                  p.lse ? &m.lse[p.lse_at(s, i, h)] : nullptr);
}
/// How many compared rows are off.
template <class T>
std::size_t rows_off(const problem& p, const memory& m) {
    struct row {
        const sequence* s;
        std::int64_t i, h;
    };
    std::vector<row> rows;
    for (const sequence& s : p.sequences)
        for (const std::int64_t i : rows_to_compare(p, s))
            for (std::int64_t h = 0; h < p.q.heads; ++h) rows.push_back({&s, i, h});
    std::atomic<std::size_t> off = 0, next = 0;
    const auto work = [&] {
        for (std::size_t n = next++; n < rows.size(); n = next++)
            off += is_off<T>(p, m, *rows[n].s, rows[n].i, rows[n].h) ? 1u : 0u;
    };
    std::vector<std::thread> threads;
    const std::size_t most = rows.size() < 32 ? 1 : std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t n = 1; n < most; ++n) threads.emplace_back(work);
    work();
    for (std::thread& t : threads) t.join();
    return off;
}

/// How many elements were left unwritten that are results, or written that are not.
std::size_t misplaced(const problem& p, const memory& m) {
    words expected(m.out.size(), 1);
    std::vector<bool> logarithm(m.lse.size(), false);
    for (const sequence& s : p.sequences)
        for (std::int64_t i = 0; i < s.q_len; ++i)
            for (std::int64_t h = 0; h < p.q.heads; ++h) {
                for (std::int64_t e = 0; e < p.out.size; ++e) expected[p.out.at(s.batch, s.q_first + i, h, e)] = 0;
                if (p.lse) logarithm[p.lse_at(s, i, h)] = true;
            }
    std::size_t wrong = 0;
    for (std::size_t e = 0; e < expected.size(); ++e) wrong += (m.out[e] == poison) != (expected[e] == 1) ? 1 : 0;
    for (std::size_t e = 0; e < m.lse.size(); ++e) wrong += std::isnan(m.lse[e]) == logarithm[e] ? 1 : 0;
    return wrong;
}

// ---- problems -------------------------------------------------------------------------------------------------------

std::int64_t some_length() {
    switch (random_bits() % 6) {
        case 0: return between(0, 3);
        case 1: return 64 * between(1, 12) + between(-1, 1);
        case 2: return between(1, 130);
        case 3: return between(700, 1500);
        default: return between(1, 700);
    }
}

problem random_problem() {
    static constexpr std::int64_t sizes[][2] = {{64, 64}, {128, 128}, {128, 128}, {96, 96}, {192, 128}, {256, 256}};
    problem p;
    const auto& size = sizes[random_bits() % std::size(sizes)];
    const std::int64_t kv_heads = between(1, 3), heads = kv_heads * (one_in(2) ? 1 : between(2, 5));
    p.packed = one_in(3);
    p.used = one_in(4);
    p.causal = one_in(2);
    p.lse = !one_in(4);
    if (one_in(4)) p.left = static_cast<std::uint32_t>(between(0, 400));
    if (one_in(6)) p.right = static_cast<std::uint32_t>(between(0, 300));
    if (one_in(6)) p.softcap = static_cast<double>(between(1, 50));
    if (one_in(6)) p.size = one_in(2) ? 4000 : 30;
    if (one_in(8)) p.size = 0;
    const std::int64_t count = between(1, p.packed ? 6 : 3);
    const std::int64_t q_len = some_length(), k_len = one_in(2) ? q_len : some_length();
    std::int64_t q_rows = 0, k_rows = 0;
    for (std::int64_t n = 0; n < count; ++n) {
        sequence s{n, 0, q_len, 0, k_len};
        if (p.packed) {
            s = {0, q_rows, some_length(), k_rows, 0};
            s.k_len = one_in(2) ? s.q_len : some_length();
            p.q_starts.push_back(static_cast<std::int32_t>(q_rows)),
                p.k_starts.push_back(static_cast<std::int32_t>(k_rows));
            q_rows += s.q_len, k_rows += s.k_len;
        }
        if (p.used) s.k_len = between(0, s.k_len);
        p.k_used.push_back(static_cast<std::int32_t>(s.k_len));
        p.most_queries = std::max(p.most_queries, s.q_len);
        p.sequences.push_back(s);
    }
    p.q_starts.push_back(static_cast<std::int32_t>(q_rows)), p.k_starts.push_back(static_cast<std::int32_t>(k_rows));
    const std::int64_t batch = p.packed ? 1 : count;
    if (!p.packed) q_rows = q_len, k_rows = k_len;
    if (p.packed && one_in(2)) q_rows += 5, k_rows += 70;  // rows of nobody
    p.q = layout::of(batch, q_rows, heads, size[0]), p.k = layout::of(batch, k_rows, kv_heads, size[0]);
    p.v = layout::of(batch, k_rows, kv_heads, size[1]), p.out = layout::of(batch, q_rows, heads, size[1]);
    p.scale =
        static_cast<double>(static_cast<float>((one_in(3) ? 0.5 : 1.0) / std::sqrt(static_cast<double>(size[0]))));
    return p;
}

// ---- the comparison itself ------------------------------------------------------------------------------------------

/// Results computed on the host with weights rounded as the kernels round them; `sees` may differ from the problem's.
template <class T>
void host_results(const problem& p, memory& m,
                  const std::function<bool(const sequence&, std::int64_t, std::int64_t, std::int64_t)>& sees) {
    for (const sequence& s : p.sequences)
        for (std::int64_t i = 0; i < s.q_len; ++i)
            for (std::int64_t h = 0; h < p.q.heads; ++h) {
                const row_reference r = reference<T>(p, m, s, i, h, [&](std::int64_t j) { return sees(s, i, h, j); });
                std::normal_distribution<double> d(0.0, 1.0);
                for (std::size_t e = 0; e < r.out.size(); ++e) {
                    constexpr double rounding = half_step<T>;
                    const double noise = (r.allowed[e] - 1.02 * rounding * std::abs(r.out[e])) / 7;
                    m.out[p.out.at(s.batch, s.q_first + i, h, 0) + e] =
                        narrow<T>(r.out[e] + noise * std::clamp(d(random_bits), -5.0, 5.0)).bits;
                }
                if (p.lse) m.lse[p.lse_at(s, i, h)] = static_cast<float>(r.lse);
            }
}

/// One dense problem of one head.
problem plain_problem(std::int64_t q_len, std::int64_t k_len, std::int64_t d, bool causal, bool lse) {
    problem p;
    p.causal = causal, p.lse = lse;
    p.sequences = {{0, 0, q_len, 0, k_len}};
    p.most_queries = q_len;
    p.q = layout::of(1, q_len, 1, d), p.k = layout::of(1, k_len, 1, d), p.v = layout::of(1, k_len, 1, d);
    p.out = layout::of(1, q_len, 1, d);
    p.scale = 1 / std::sqrt(static_cast<double>(d));
    return p;
}

template <class T>
int self_test_of(const char* type) {
    int wrong = 0;
    const auto expect = [&](bool noticed, bool wanted, const char* what, const problem& p) {
        if (noticed == wanted) return;
        ++wrong;
        std::printf("FAIL self-test %s: %s is %s in %s\n", type, what, noticed ? "refused" : "not noticed",
                    p.text().c_str());
    };
    for (int n = 0; n < 60; ++n) {
        const std::int64_t keys = n < 20 ? between(2, 64) : between(65, n < 40 ? 400 : 1500);
        const problem p = plain_problem(between(2, 24), keys, one_in(2) ? 64 : 128, one_in(2), one_in(2));
        const sequence& s = p.sequences[0];
        memory m = fill<T>(p);
        const auto right = [&](const sequence& q, std::int64_t i, std::int64_t, std::int64_t j) {
            return p.sees(q, i, j);
        };
        host_results<T>(p, m, right);
        expect(rows_off<T>(p, m) != 0 || misplaced(p, m) != 0, false, "a right result", p);
        // One element of the mask: the last key the last query sees, or one in the middle of what it sees.
        const std::int64_t row = s.q_len - 1, drop = one_in(2) ? s.k_len - 1 : s.k_len / 2;
        memory one = m;
        host_results<T>(p, one, [&](const sequence& q, std::int64_t i, std::int64_t h, std::int64_t j) {
            return right(q, i, h, j) && !(i == row && j == drop);
        });
        // A weight far under the average shows in no result of 16 bits; it does in the logarithm.
        const row_reference full = reference<T>(p, m, s, row, 0, [&](std::int64_t j) { return p.sees(s, row, j); });
        const row_reference less =
            reference<T>(p, m, s, row, 0, [&](std::int64_t j) { return p.sees(s, row, j) && j != drop; });
        const double weight = 1 - std::exp(less.lse - full.lse);
        if (p.lse || weight * static_cast<double>(keys) > 0.9)
            expect(rows_off<T>(p, one) != 0, true, "a mask that is wrong in one element", p);
        memory half = m;
        for (std::int64_t e = p.v.size / 2; e < p.v.size; ++e)
            half.out[p.out.at(0, row, 0, e)] = m.out[p.out.at(0, row - 1, 0, e)];
        expect(rows_off<T>(p, half) != 0, true, "half of a row that is another's", p);
        memory scaled = m;
        for (std::int64_t e = 0; e < p.v.size; ++e) {
            auto& x = scaled.out[p.out.at(0, row, 0, e)];
            x = narrow<T>(1.03 * wide(T{x})).bits;
        }
        expect(rows_off<T>(p, scaled) != 0, true, "a row 3 % too large", p);
        memory hole = m;
        hole.out[p.out.at(0, row, 0, 3)] = poison;
        expect(misplaced(p, hole) != 0 && rows_off<T>(p, hole) != 0, true, "an element that was not written", p);
        memory outside = m;
        outside.out[p.out.at(0, row, 0, p.v.size - 1) + 1 + layout::guard / 2] = 0;
        expect(misplaced(p, outside) != 0, true, "an element written outside", p);
        memory logarithm = m;
        logarithm.lse.back() = 0;
        expect(misplaced(p, logarithm) != 0, true, "a logarithm written outside", p);
    }
    return wrong;
}
int self_test() {
    random_bits.seed(7);
    const int wrong = self_test_of<px::bf16>("bf16") + self_test_of<px::f16>("f16");
    std::printf("the comparison: %d wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}

// ---- on the device --------------------------------------------------------------------------------------------------

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
    const auto numbers = [&](const std::vector<std::int32_t>& v) {
        return px::check(px::device_buffer<px::s32>::from(ctx, v));
    };
    auto q = upload(m.q), k = upload(m.k), v = upload(m.v), out = upload(m.out);
    auto lse = px::check(px::device_buffer<float>::from(ctx, m.lse));
    const auto q_starts = numbers(p.q_starts.empty() ? std::vector<std::int32_t>{0} : p.q_starts),
               k_starts = numbers(p.k_starts.empty() ? std::vector<std::int32_t>{0} : p.k_starts),
               used = numbers(p.k_used.empty() ? std::vector<std::int32_t>{0} : p.k_used);
    kn::attention_options o{
        .scale = static_cast<float>(p.scale), .causal = p.causal, .softcap = static_cast<float>(p.softcap)};
    o.window_left = p.left, o.window_right = p.right;
    if (p.lse) o.lse = lse.ptr();
    if (p.used) o.used_keys = used.ptr();
    const auto dense = [&](auto& b, const layout& l) {
        return px::tensor_view(b.ptr() + layout::guard, l.batch, l.rows, l.heads, l.size)
            .with_strides(l.batch_stride, l.row_stride, l.head_stride, std::int64_t{1});
    };
    const auto rows = [&](auto& b, const layout& l) {
        return px::tensor_view(b.ptr() + layout::guard, l.rows, l.heads, l.size)
            .with_strides(l.row_stride, l.head_stride, std::int64_t{1});
    };
    const auto r = p.packed ? kn::attention(s, rows(q, p.q), rows(k, p.k), rows(v, p.v), rows(out, p.out),
                                            {.query_starts = q_starts.ptr(),
                                             .key_starts = k_starts.ptr(),
                                             .count = p.sequences.size(),
                                             .most_queries = static_cast<std::uint64_t>(p.most_queries)},
                                            o)
                            : kn::attention(s, dense(q, p.q), dense(k, p.k), dense(v, p.v), dense(out, p.out), o);
    if (!r) return r;
    if (auto done = s.synchronize(); !done) return done;
    std::vector<T> result(m.out.size());
    if (auto done = out.download(result); !done) return done;
    std::memcpy(m.out.data(), static_cast<const void*>(result.data()), 2 * result.size());
    return lse.download(m.lse);
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
    if (off + places == 0) return;
    ++failures;
    std::printf("FAIL %s %s: %zu rows off, %zu elements misplaced\n", type, p.text().c_str(), off, places);
}

int run(int problems, unsigned seed) {
    const auto ctx = px::context::primary(0);
    if (!ctx || ctx->device().major != 9) {
        std::printf("skipped: %s\n", ctx ? "the device is no Hopper GPU" : ctx.error().message());
        return 77;
    }
    const auto s = px::check(px::stream::create(*ctx));
    std::printf("%d problems of seed %u\n", problems, seed);
    random_bits.seed(seed);
    for (const std::int64_t d : {128, 64})
        for (const auto& [q, k] : {std::pair{1, 1}, {64, 64}, {128, 128}, {128, 256}, {200, 333}, {300, 130}, {5, 0}})
            for (const bool causal : {false, true}) check<px::bf16>(s, plain_problem(q, k, d, causal, true), "bf16");
    for (int n = 0; n < problems; ++n) {
        const problem p = random_problem();
        if (one_in(3))
            check<px::f16>(s, p, "f16");
        else
            check<px::bf16>(s, p, "bf16");
    }
    std::printf("%d problems checked, %d wrong\n", checked, failures);
    return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (argc > 1 && std::string_view(argv[1]) == "--self-test") return self_test();
    return run(argc > 1 ? std::atoi(argv[1]) : 120, argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 20261201u);
}
