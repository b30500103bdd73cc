// SPDX-License-Identifier: Apache-2.0
// The library's memory-bound kernels against the driver's device-to-device copy of as many bytes: what memory allows;
// and against pyptx's kernels, where bench/pyptx_peer.py has printed them. A wrong kernel gets no time.
#include "../tools/util/demo.hpp"
#include "harness.hpp"
#include "launch_recorder.hpp"
#include "printed_kernel.hpp"

#include <ptxdsl/kernels/rows.hpp>

#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace {

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;
using bench::contender;
using px::u32;

constexpr float eps = 1e-6f;
constexpr u32 head_size = 128;  ///< of a rotary embedding: a row is columns / 128 heads

struct shape {
    u32 rows, columns;
};

struct request : bench::run_options {
    std::string shapes = "65536x4096,8192x8192,2048x8192", work = "all", type = "f32", ptx, threads;
    bool flush = false, no_clear = false;
    request() { slice = 10; }
};

/// What a kernel reads and writes of each element, besides `x` read: for the bytes it moves.
struct work {
    std::string_view name;
    unsigned elements;  ///< of the type, read and written
    unsigned bytes;     ///< of fp8
    bool rowwise;       ///< has plans of rows to choose from; else of elements
};
constexpr work works[] = {{"rms_norm", 2, 0, true},      {"add_rms_norm", 4, 0, true},    {"layer_norm", 2, 0, true},
                          {"softmax", 2, 0, true},       {"swiglu", 3, 0, false},         {"rope", 2, 0, false},
                          {"quantize_rows", 1, 1, true}, {"quantize_blocks", 1, 1, false}};

/// How a kernel is asked to work: those of its kind count.
struct choice {
    kn::row_options row{};
    kn::element_options element{};
    u32 threads = 0, heads = 0;  ///< of `rope`
};

/// Where everything of one call lies.
template <class T>
struct tensors {
    shape s;
    std::uint64_t x, other, w, b, y, sum, q, scales, cosines, sines, positions;

    /// By the names that descriptions of printed kernels use.
    [[nodiscard]] std::map<std::string, std::uint64_t> by_name() const {
        return {{"x", x},
                {"other", other},
                {"w", w},
                {"b", b},
                {"y", y},
                {"sum", sum},
                {"q", q},
                {"scales", scales},
                {"cosines", cosines},
                {"sines", sines},
                {"positions", positions}};
    }

    px::result<void> launch(std::string_view work, const px::stream& on, const choice& how) const {
        const kn::row_options& row = how.row;
        const auto input = view<const T>(x), second = view<const T>(other);
        const auto weights = px::tensor_view(px::device_ptr<const T>(w), s.columns),
                   bias = px::tensor_view(px::device_ptr<const T>(b), s.columns);
        const auto result = view<T>(y), total = view<T>(sum);
        if (work == "rms_norm") return kn::rms_norm(on, input, weights, result, {.eps = eps, .row = row});
        if (work == "add_rms_norm")
            return kn::add_rms_norm(on, input, second, weights, total, result, {.eps = eps, .row = row});
        if (work == "layer_norm") return kn::layer_norm(on, input, weights, bias, result, {.eps = eps, .row = row});
        if (work == "softmax") return kn::softmax(on, input, result, 1.0f, row);
        if (work == "swiglu") return kn::swiglu(on, input, second, result, how.element);
        const auto small = view<px::e4m3>(q);
        const auto units = px::device_ptr<float>(scales);
        if (work == "quantize_rows") return kn::quantize_rows(on, input, small, px::tensor_view(units, s.rows), row);
        if (work == "quantize_blocks")
            return kn::quantize_blocks(on, input, small, px::tensor_view(units, s.rows, (s.columns + 127) / 128),
                                       how.element);
        const auto heads = [&]<class E>(px::device_ptr<E> m) {
            return px::tensor_view(m, s.rows, s.columns / head_size, head_size);
        };
        const auto angles = [&](std::uint64_t m) {
            return px::tensor_view(px::device_ptr<const float>(m), s.rows, head_size / 2);
        };
        return kn::rope(on, heads(px::device_ptr<const T>(x)),
                        px::tensor_view(px::device_ptr<const px::s32>(positions), s.rows), angles(cosines),
                        angles(sines), heads(px::device_ptr<T>(y)),
                        {.programmatic = how.element.programmatic, .threads = how.threads, .heads = how.heads});
    }

private:
    template <class E>
    [[nodiscard]] auto view(std::uint64_t address) const {
        return px::tensor_view(px::device_ptr<E>(address), s.rows, s.columns);
    }
};

/// What the driver copies of parts of buffers, on the default stream: `copies(table)`, then waits.
template <class Copies>
void with_driver(const px::context& ctx, Copies&& copies) {
    const px::driver_table& t = ctx.driver();
    px::cu::context popped = nullptr;
    constexpr auto good = px::cu::status::success;
    if (t.ctx_push_current(ctx.handle()) != good || copies(t) != good || t.stream_synchronize(nullptr) != good ||
        t.ctx_pop_current(&popped) != good)
        throw std::runtime_error("the driver did not copy");
}

template <class T>
struct operands {
    shape s;
    px::device_buffer<T> x, other, w, b, y, sum;
    px::device_buffer<px::e4m3> q;
    px::device_buffer<float> scales, cosines, sines;
    px::device_buffer<px::s32> positions;

    operands(const px::context& ctx, shape e, const work& k, std::uint64_t seed)
        : s(e),
          x(random(ctx, count(), seed)),
          other(random(ctx, k.elements > 2 ? count() : 1, seed + 1)),
          w(random(ctx, e.columns, seed + 2)),
          b(random(ctx, e.columns, seed + 3)),
          y(empty<T>(ctx, k.bytes == 0 ? count() : 1)),
          sum(empty<T>(ctx, k.elements > 3 ? count() : 1)),
          q(empty<px::e4m3>(ctx, k.bytes != 0 ? count() : 1)),
          scales(empty<float>(ctx, std::size_t{e.rows} * ((e.columns + 127) / 128))),
          cosines(px::check(px::device_buffer<float>::from(
              ctx, demo::random_values<float>(std::size_t{e.rows} * head_size / 2, seed + 4)))),
          sines(px::check(px::device_buffer<float>::from(
              ctx, demo::random_values<float>(std::size_t{e.rows} * head_size / 2, seed + 5)))),
          positions(px::check(px::device_buffer<px::s32>::from(ctx, in_order(e.rows)))) {}

    [[nodiscard]] std::size_t count() const { return std::size_t{s.rows} * s.columns; }
    [[nodiscard]] tensors<T> on_device() {
        const auto at = [](auto& m) { return m.ptr().address; };
        return {s,       at(x), at(other),  at(w),       at(b),     at(y),
                at(sum), at(q), at(scales), at(cosines), at(sines), at(positions)};
    }
    /// Nothing of an earlier run is left in what kernels write.
    void poison() { demo::poison(y), demo::poison(sum), demo::poison(q), demo::poison(scales); }

private:
    /// More than L2 holds is random, the rest the same again: nothing here sees the difference, and a gigabyte takes a
    /// second to make.
    static px::device_buffer<T> random(const px::context& ctx, std::size_t n, std::uint64_t seed) {
        const auto piece = demo::random_values<T>(std::min(n, (std::size_t{256} << 20) / sizeof(T)), seed);
        auto all = px::check(px::device_buffer<T>::allocate(ctx, n));
        with_driver(ctx, [&](const px::driver_table& t) {
            const auto address = all.ptr().address;
            auto status = t.memcpy_htod_async(address, piece.data(), piece.size() * sizeof(T), nullptr);
            for (std::size_t at = piece.size(); at < n && status == px::cu::status::success; at += piece.size())
                status = t.memcpy_dtod_async(address + at * sizeof(T), address,
                                             std::min(piece.size(), n - at) * sizeof(T), nullptr);
            return status;
        });
        return all;
    }
    template <class E>
    static px::device_buffer<E> empty(const px::context& ctx, std::size_t n) {
        auto m = px::check(px::device_buffer<E>::allocate(ctx, n));
        demo::poison(m);
        return m;
    }
    static std::vector<px::s32> in_order(std::size_t n) {
        std::vector<px::s32> v(n);
        std::iota(v.begin(), v.end(), 0);
        return v;
    }
};

// ---- the gate: some rows against float64
// ------------------------------------------------------------------------------

template <class T>
double wide(T v) {
    return static_cast<double>(demo::to_float(v));
}
double wide(px::e4m3 v) {
    const int e = v.bits >> 3 & 15, m = v.bits & 7;
    const double magnitude = e == 0 ? std::ldexp(m, -9) : std::ldexp(m + 8, e - 10);
    return (v.bits & 0x7f) == 0x7f ? std::nan("") : (v.bits & 0x80) != 0 ? -magnitude : magnitude;
}

/// The elements `first` to `first + count` of a buffer.
template <class E>
std::vector<E> part_of(const px::device_buffer<E>& m, std::size_t first, std::size_t count) {
    std::vector<E> v(count);
    with_driver(m.ctx(), [&](const px::driver_table& t) {
        return t.memcpy_dtoh_async(v.data(), m.ptr().address + first * sizeof(E), count * sizeof(E), nullptr);
    });
    return v;
}

/// Largest error of the sampled rows, in units of the allowed one; over 1 is wrong.
template <class T>
double error_of(std::string_view work, operands<T>& o) {
    const std::size_t n = o.s.columns;
    const auto w = part_of(o.w, 0, n), b = part_of(o.b, 0, n);
    // Row `r` of a buffer that this work has.
    const auto row = [](const auto& m, std::size_t r, std::size_t columns) {
        return m.size() > 1 ? part_of(m, r * columns, columns) : std::decay_t<decltype(part_of(m, 0, 0))>();
    };
    std::vector<double> in(n);
    double worst = 0;
    const auto see = [&](double found, double wanted, double allowed) {
        const double e = std::abs(found - wanted) / allowed;
        worst = std::isnan(e) ? 1e30 : std::max(worst, e);
    };
    const double half = demo::epsilon<T> / 2 * 1.01;
    for (std::size_t r = 0; r < o.s.rows; r += std::max<std::size_t>(1, o.s.rows / 61)) {
        const bool added = work == "add_rms_norm";
        const auto x = row(o.x, r, n), other = row(o.other, r, n), y = row(o.y, r, n), sum = row(o.sum, r, n);
        const auto q = row(o.q, r, n);
        const bool by_row = work == "quantize_rows";
        const auto scales = row(o.scales, r, by_row ? 1 : (n + 127) / 128);
        const auto cosines = row(o.cosines, r, head_size / 2), sines = row(o.sines, r, head_size / 2);
        for (std::size_t c = 0; c < n; ++c) {
            in[c] = added ? wide(sum[c]) : wide(x[c]);
            if (added) {
                const double v = wide(x[c]) + wide(other[c]);
                see(in[c], v, half * std::abs(v) + 1e-30);
            }
        }
        double mean = 0, squares = 0, power = 0;
        if (work == "layer_norm") mean = std::accumulate(in.begin(), in.end(), 0.0) / static_cast<double>(n);
        for (const double v : in) squares += (v - mean) * (v - mean), power += std::exp(v);
        const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + static_cast<double>(eps));
        for (std::size_t c = 0; c < n; ++c) {
            double v = (in[c] - mean) * scale * wide(w[c]), more = 1e-6;
            if (work == "layer_norm") v += wide(b[c]);
            if (work == "softmax") v = std::exp(in[c]) / power, more = 0;
            if (work == "swiglu") v = in[c] / (1 + std::exp(-in[c])) * wide(other[c]);
            if (work == "rope") {
                const std::size_t e = c % head_size, pair = e % (head_size / 2), first = c - e + pair;
                const double p = wide(x[first]), s = wide(x[first + head_size / 2]);
                const double cosine = wide(cosines[pair]), sine = wide(sines[pair]);
                v = e < head_size / 2 ? p * cosine - s * sine : s * cosine + p * sine;
            }
            if (work.starts_with("quantize")) {
                const double unit = wide(scales[by_row ? 0 : c / 128]);
                see(wide(q[c]) * unit, in[c], 1.001 * (std::abs(in[c]) / 16 + unit / 1024));
            } else {
                see(wide(y[c]), v, (half + 8e-6) * std::abs(v) + more);
            }
        }
    }
    return worst;
}

// ---- measuring ------------------------------------------------------------------------------------------------------

/// One more contender: a plan, and how it starts.
struct variant {
    std::string name;
    choice how;
};
/// "512": 512 threads a row; "1024/2" in a cluster of 2; "512@3" with three blocks a multiprocessor; "256*2": 256
/// threads a block, two accesses (heads) a thread; "0" the library's plan. With "n" it may not start early; with "k"
/// results stay in L2, with "p" values of 16 bits wait as they came; "b8" asks L2 8 MiB ahead (rows), "e8" early for
/// the first 8 MiB (SwiGLU, fp8 for 1 x 128).
std::optional<variant> variant_of(const std::string& word, const work& k, u32 columns, u32 width) {
    const auto has = [&](char c) { return word.find(c) != std::string::npos; };
    const auto number = [&](char after, u32 otherwise) {
        return has(after) ? static_cast<u32>(std::strtoul(word.c_str() + word.find(after) + 1, nullptr, 10))
                          : otherwise;
    };
    const auto threads = static_cast<u32>(std::strtoul(word.c_str(), nullptr, 10));
    const u32 inputs = k.name == "add_rms_norm" || k.name == "swiglu" ? 2 : 1;
    const auto reach = [&](char letter, u32 values) -> std::optional<u32> {  // `values` of one input a block
        if (!has(letter)) return std::nullopt;
        return number(letter, 0) * (1u << 20) / (values * (16 / width) * inputs);
    };
    variant v{word, {}};
    if (!k.rowwise) {
        if (has('/') || has('@')) return std::nullopt;
        v.how.threads = threads, v.how.heads = number('*', 0);
        if (has('n')) v.how.element.programmatic = false;
        kn::element_plan p = k.name == "swiglu" ? kn::plan_swiglu(width, ~0u) : kn::plan_blocks(1);
        if (threads != 0) p.threads = threads;
        p.accesses = number('*', p.accesses);
        v.how.element.plan = p;
        v.how.element.prefetch_blocks = reach('e', p.threads * p.accesses * width);
        if (has('b') || has('k') || (k.name == "rope" && has('e'))) return std::nullopt;
        if (k.name == "quantize_blocks" && p.accesses != 1 && p.accesses != 2 && p.accesses != 4) return std::nullopt;
        return v;
    }
    if (has('*') || has('e')) return std::nullopt;
    const u32 limit = k.name == "layer_norm" ? kn::layer_norm_threads(width) : 1024;
    const u32 first = k.name == "quantize_rows" ? 4 : 2;
    kn::row_plan p = threads == 0 ? kn::plan_rows(columns / width, width, first, limit, k.name != "add_rms_norm")
                                  : kn::make_row_plan(columns / width, width, threads, number('/', 1));
    p.resident = number('@', p.resident);
    p.evict_first = !has('k');
    if (threads != 0) p.held = has('p') && width == 8;
    if (!p.reread && p.accesses * width > (p.held ? kn::held_values : kn::row_values)) return std::nullopt;
    v.how.row.plan = p;
    v.how.row.prefetch_rows = reach('b', columns);
    v.how.row.programmatic = !has('n');
    return v;
}

/// The widest access that divides rows.
template <class T>
[[nodiscard]] u32 widest(u32 columns) {
    u32 width = 16 / sizeof(T);
    while (columns % width != 0) width /= 2;
    return width;
}

/// pyptx's kernel of this work and shape, if it has been printed.
template <class T>
std::optional<contender> printed_peer(const px::context& ctx, operands<T>& o, shape s, const work& k,
                                      const request& r) {
    if (r.pyptx.empty()) return std::nullopt;
    const auto file =
        std::filesystem::path(r.pyptx) / fmt::format("{}_{}_{}x{}.txt", k.name, demo::type_name<T>, s.rows, s.columns);
    if (!std::filesystem::exists(file)) return std::nullopt;
    auto made = bench::printed_kernel::load(ctx, file, o.on_device().by_name());
    if (!made) return demo::say("{}", made.error().message()), std::nullopt;
    const auto printed = std::make_shared<bench::printed_kernel>(std::move(*made));
    return contender{"pyptx", [printed](px::stream_ref on) { return printed->launch(on); }};
}

/// What to reach (0: no target).
double target_of(shape s, std::string_view peer) {
    if (peer == "pyptx") return s.rows == 2048 && s.columns == 8192 ? 1.05 : 0.0;
    return std::size_t{s.rows} * s.columns >= (std::size_t{64} << 20) ? 0.95 : 0.0;
}

template <class T>
void measure(const px::context& ctx, shape s, const work& k, const request& r, bench::mode mode,
             bench::results& table) {
    bench::settings settings = r.settings_for(mode);
    settings.flush = r.flush, settings.clear = !r.no_clear, settings.warm_up_ms = 100;
    bench::runner run(ctx, settings);
    operands<T> o(ctx, s, k, r.seed);
    std::vector<contender> all;
    const auto add = [&](contender c) {
        bench::check_stop();
        o.poison();
        px::check(c.launch(run.stream()));
        px::check(run.stream().synchronize());
        const double error = r.no_check ? 0 : error_of(k.name, o);
        if (error > 1)
            return demo::say("{} {} {}x{}, {}: {}, {:.3g} of the allowed error; not timed", k.name, demo::type_name<T>,
                             s.rows, s.columns, c.name, demo::bad("wrong"), error);
        all.push_back(std::move(c));
    };
    const auto add_ours = [&](const std::string& name, const choice& how) {
        add({name,
             [at = o.on_device(), &run, &k, how](px::stream_ref) { return at.launch(k.name, run.stream(), how); }});
    };
    add_ours("ours", {});
    if (all.empty()) return;
    for (const std::string& word : bench::split(r.threads))
        if (const auto v = variant_of(word, k, s.columns, widest<T>(s.columns))) add_ours(v->name, v->how);
    const std::size_t first_peer = all.size();
    if (auto printed = printed_peer(ctx, o, s, k, r)) add(std::move(*printed));
    // The angles of each row are read once; its scales, weights and positions are too few to matter.
    const double angles = k.name == "rope" ? static_cast<double>(s.rows) * head_size * sizeof(float) : 0;
    const double bytes =
        static_cast<double>(o.count()) * static_cast<double>(k.elements * sizeof(T) + k.bytes) + angles;
    // A copy of the kernel's own input to its result where that is as many bytes, else between two other buffers.
    const bool own = k.elements == 2 && k.bytes == 0 && angles == 0;
    const auto half = own ? std::size_t{1} : static_cast<std::size_t>(bytes / 2);
    const auto from = px::check(px::device_buffer<char>::allocate(ctx, half));
    auto to = px::check(px::device_buffer<char>::allocate(ctx, half));
    const auto copy = [&](px::stream_ref on) {
        return own ? o.y.copy_from_async(on, o.x) : to.copy_from_async(on, from);
    };
    all.push_back({"driver copy", copy, false});
    const auto t = run.run(all);
    const auto rate = [&](std::size_t i) { return 1e-3 * bytes / t.microseconds(i); };
    for (std::size_t i = 0; i < all.size() && !r.threads.empty(); ++i)
        demo::say("{:<16} {:<5} {:>6}x{:<7} {:<12} {:>9.2f} us {:>7.0f} GB/s {:>7.3f}", k.name, demo::type_name<T>,
                  s.rows, s.columns, all[i].name, t.microseconds(i), rate(i), t.ratio(i, all.size() - 1).p50);
    for (std::size_t peer = first_peer; peer < all.size(); ++peer)
        table.add({fmt::format("{} {}", k.name, demo::type_name<T>), fmt::format("{}x{}", s.rows, s.columns), rate(0),
                   rate(peer), all[peer].name + (r.flush ? ", L2 flushed" : ""), t.ratio(0, peer),
                   target_of(s, all[peer].name), "GB/s", std::string(bench::name(mode))});
}

// ---- for torch_peer.py ----------------------------------------------------------------------------------------------

/// Writes what the library launches for this work: `<work>_<type>_<rows>x<columns>.ptx` and `.txt`, and with
/// `+<plan>` for each plan asked for. The tensors lie nowhere, at multiples of 2^32.
template <class T>
void write_ptx(const px::context& ctx, const bench::launch_recorder& recorder, shape s, const work& k,
               const request& r) {
    const auto at = [](std::uint64_t i) { return i << 32; };
    const tensors<T> t{s, at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10), at(11)};
    std::map<std::uint64_t, std::string> names;
    for (const auto& [name, address] : t.by_name()) names[address] = name;
    std::filesystem::create_directories(r.ptx);
    const auto write = [&](const std::string& plan, const choice& how) {
        px::check(t.launch(k.name, px::check(px::stream::create(ctx)), how));
        const auto stem = fmt::format("{}_{}_{}x{}{}", k.name, demo::type_name<T>, s.rows, s.columns, plan);
        if (!recorder.write(std::filesystem::path(r.ptx) / stem, names))
            throw std::runtime_error("cannot write to " + r.ptx);
    };
    write("", {});
    for (const std::string& word : bench::split(r.threads))
        if (const auto v = variant_of(word, k, s.columns, widest<T>(s.columns));
            v && word.find('/') == std::string::npos)
            write("+" + word, v->how);
}

/// "2048x8192,…"
[[nodiscard]] std::optional<std::vector<shape>> parse_shapes(std::string_view list) {
    std::vector<shape> all;
    for (const std::string& word : bench::split(list)) {
        const auto n = bench::split(word, 'x');
        if (n.size() != 2) return std::nullopt;
        const auto number = [](const std::string& t) { return static_cast<u32>(std::strtoul(t.c_str(), nullptr, 10)); };
        all.push_back({number(n[0]), number(n[1])});
        if (all.back().rows == 0 || all.back().columns == 0) return std::nullopt;
    }
    return all;
}

/// Calls `f.template operator()<T>(shape, work)` for what the request asks.
template <class F>
void for_each_work(const request& r, const std::vector<shape>& shapes, F&& f) {
    const auto wanted = bench::split(r.work);
    for (const work& k : works) {
        if (r.work != "all" && std::find(wanted.begin(), wanted.end(), k.name) == wanted.end()) continue;
        for (const shape s : shapes) {
            if (k.name == "rope" && s.columns % head_size != 0) continue;
            if (r.type != "bf16") f.template operator()<float>(s, k);
            if (r.type != "f32") f.template operator()<px::bf16>(s, k);
        }
    }
}

int run(const request& r, const std::vector<shape>& shapes, int argc, char** argv) {
    if (!r.ptx.empty()) {
        const bench::launch_recorder recorder;
        const auto ctx = px::check(px::context::primary());
        for_each_work(r, shapes, [&]<class T>(shape s, const work& k) { write_ptx<T>(ctx, recorder, s, k, r); });
        return demo::right;
    }
    return bench::with_device(r.out, argc, argv, [&](const px::context& ctx, bench::results& table) {
        for_each_work(r, shapes, [&]<class T>(shape s, const work& k) {
            for (const auto mode : r.modes()) measure<T>(ctx, s, k, r, mode, table);
        });
    });
}

}  // namespace

int main(int argc, char** argv) {
    request r;
    const auto options = r.behind({
        {.name = "--shapes",
         .value = "LIST",
         .help = "rows x columns; default 65536x4096,8192x8192,2048x8192",
         .text = &r.shapes},
        {.name = "--work",
         .value = "LIST",
         .help = "all (default), or some of "
                 "rms_norm,add_rms_norm,layer_norm,softmax,swiglu,rope,quantize_rows,quantize_blocks",
         .text = &r.work},
        {.name = "--type", .value = "TYPE", .help = "f32 (default), bf16 or both", .text = &r.type},
        {.name = "--flush", .value = "", .help = "overwrite L2 before every launch", .flag = &r.flush},
        {.name = "--no-clear",
         .value = "",
         .help = "do not overwrite L2 before every slice: a contender then finds there what the one before it left",
         .flag = &r.no_clear},
        {.name = "--threads",
         .value = "LIST",
         .help =
             "also time these thread counts a row: 512, 1024/2 (a cluster of 2), 512@3 (three blocks a "
             "multiprocessor), 256*2 (threads a block, accesses or heads a thread), 0 (ours); n: no early start, "
             "k: results stay in L2, p: 16-bit values wait as they came, b8: L2 is asked 8 MiB ahead (rows), e8: early "
             "for the first 8 MiB (swiglu, quantize_blocks)",
         .text = &r.threads},
        {.name = "--ptx",
         .value = "DIR",
         .help = "only write the kernels' PTX and how they are launched there (torch_peer.py)",
         .text = &r.ptx},
        r.pyptx_option(),
    });
    std::optional<std::vector<shape>> shapes;
    const auto usage = [&]() -> std::string {
        shapes = parse_shapes(r.shapes);
        return shapes && !r.modes().empty()
                   ? ""
                   : "--shapes takes rows x columns, like 2048x8192, --mode sustained, burst or both";
    };
    return bench::program(argc, argv, "Memory-bound kernels against a device copy, interleaved in one process", options,
                          usage, [&] { return run(r, *shapes, argc, argv); });
}
