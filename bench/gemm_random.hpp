// SPDX-License-Identifier: Apache-2.0
// bench_gemm --random: the library's product as it chooses against cuBLASLt on random token counts times the weights of
// language models, and what the ratios come to: geometric mean, worst, by tokens, the worst twenty.
#pragma once

#include "gemm_configs.hpp"
#include "gemm_pool.hpp"
#include "gemm_weights.hpp"

#include <atomic>

namespace bench {

struct random_request {
    std::uint64_t seed = 0, count = 300, rounds = 10, slice = 3000;
    std::string tokens = "1:8192", weights = "judging";
    bool rotate = false, best = false;
    /// Nothing when the words do not fit.
    [[nodiscard]] std::optional<std::vector<gemm_size>> sizes() const {
        const auto words = split(tokens, ':');
        const auto from = named_weights(weights);
        if (words.size() != 2 || !from) return std::nullopt;
        const auto low = std::strtoull(words[0].c_str(), nullptr, 10),
                   high = std::strtoull(words[1].c_str(), nullptr, 10);
        if (low == 0 || low > high || high > 8192) return std::nullopt;
        return random_sizes(*from, seed, count, low, high);
    }
};

/// One shape's ratios: over 1 is faster than the peer.
struct random_row {
    gemm_size size;
    kernels::gemm_choice choice;
    double us = 0, peer_us = 0, ratio = 0, best_ratio = 0;
};

/// Geometric mean and worst of the rows in `b`, and how many are below 1 and 0.97.
inline void print_bucket(const std::vector<random_row>& rows, const std::string& name, token_bucket b, bool best_too) {
    double sum = 0, best = 0, worst = 1e30;
    std::size_t n = 0, below = 0, far = 0;
    for (const random_row& r : rows) {
        if (r.size.m < b.low || r.size.m > b.high) continue;
        ++n, sum += std::log(r.ratio), worst = std::min(worst, r.ratio);
        best += best_too ? std::log(r.best_ratio) : 0;
        below += r.ratio < 1, far += r.ratio < 0.97;
    }
    if (n == 0) return;
    const auto mean = [n](double s) { return std::exp(s / static_cast<double>(n)); };
    demo::say("{:<12} {:>6} {:>8.3f} {:>8.3f} {:>8} {:>12}{}", name, n, mean(sum), worst, below, far,
              best_too ? fmt::format("   against the best of 8: {:.3f}", mean(best)) : std::string());
}
/// A line per bucket of tokens, one of all, and the worst twenty. `wrong`: results that were not timed.
inline void print_summary(const std::vector<random_row>& rows, std::size_t wrong, bool best_too) {
    if (rows.empty()) return;
    demo::say("\n{:<12} {:>6} {:>8} {:>8} {:>8} {:>12}", "tokens", "shapes", "mean", "worst", "below 1", "below 0.97");
    for (const token_bucket& b : token_buckets) print_bucket(rows, fmt::format("{}-{}", b.low, b.high), b, best_too);
    print_bucket(rows, "all", {1, ~std::uint64_t{0}}, best_too);
    std::vector<random_row> worst = rows;
    std::sort(worst.begin(), worst.end(), [](const auto& x, const auto& y) { return x.ratio < y.ratio; });
    demo::say("\nthe worst:");
    for (std::size_t i = 0; i < std::min<std::size_t>(20, worst.size()); ++i)
        demo::say("{:<18} {:.3f}  {:>9.2f} us, cuBLASLt {:>9.2f}  {}", text_of(worst[i].size), worst[i].ratio,
                  worst[i].us, worst[i].peer_us, choice_names[static_cast<std::size_t>(worst[i].choice)]);
    if (wrong != 0) demo::say("{} of {} results {}", wrong, rows.size() + wrong, demo::bad("wrong"));
}

/// Runs `work(i, stream, workspace, result)` for i below `count` on as many threads as there are processors: kernels
/// are assembled and loaded on first use.
template <class Work>
void load_in_parallel(const px::context& ctx, std::size_t count, const Work& work) {
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
        threads.emplace_back([&] {
            const auto s = px::check(px::stream::create(ctx));
            auto workspace = px::check(kernels::gemm_workspace::create(ctx));
            auto c = px::check(px::device_buffer<px::bf16>::allocate(ctx, 128 * 256));
            for (std::size_t i = next++; i < count; i = next++) work(i, s, workspace, c.ptr());
            px::check(s.synchronize());
        });
    for (auto& t : threads) t.join();
}

/// cuBLASLt's products of one shape whose weights lie at several places.
class rotated_peer {
public:
    rotated_peer(const px::context& ctx, const std::shared_ptr<const cublaslt>& lt, gemm_pool& pool, gemm_size s,
                 bool rotate) {
        for (std::uint64_t i = 0; i < pool.places(s, rotate); ++i)
            all_.push_back(std::make_shared<cublaslt_gemm>(px::check(cublaslt_gemm::make(
                ctx, lt, {pool.a().address, pool.b(s, i, rotate).address, pool.c().address, s.m, s.n, s.k}))));
    }
    [[nodiscard]] const cublaslt_gemm& first() const { return *all_[0]; }
    [[nodiscard]] contender as(std::string name, std::size_t choice) const {
        return {std::move(name), [all = all_, choice, i = std::make_shared<std::size_t>(0)](px::stream_ref s) {
                    return all[(*i)++ % all.size()]->launch(s, choice);
                }};
    }

private:
    std::vector<std::shared_ptr<cublaslt_gemm>> all_;
};

class random_products {
public:
    random_products(const px::context& ctx, const random_request& r, std::vector<gemm_size> sizes, results& table)
        : ctx_(ctx),
          r_(r),
          sizes_(std::move(sizes)),
          table_(table),
          lt_(load_cublaslt()),
          run_(ctx, {.rounds = static_cast<unsigned>(r.rounds),
                     .slice_ms = static_cast<double>(r.slice) * 1e-3,
                     .warm_up_ms = 15}),
          pool_(ctx, run_.stream(), sizes_, static_cast<std::uint32_t>(r.seed)),
          workspace_(px::check(kernels::gemm_workspace::create(ctx))) {}

    void all() {
        if (lt_ == nullptr) return;
        load_in_parallel(ctx_, kernels::gemm_configs.size(), [&](std::size_t i, const px::stream& s, auto& w, auto c) {
            px::check(launch(s, {pool_.a(), pool_.b({128, 256, 1024}, 0, false), c, 128, 256, 1024}, w,
                             static_cast<kernels::gemm_choice>(i)));
        });
        for (const gemm_size s : sizes_) shape(s);
    }
    /// Geometric means and the worst, of what was measured.
    void summary() const { print_summary(rows_, wrong_, r_.best); }
    [[nodiscard]] std::size_t wrong() const { return wrong_; }

private:
    static px::result<void> launch(const px::stream& s, const gemm_operands& o, kernels::gemm_workspace& w,
                                   std::optional<kernels::gemm_choice> choice = {}) {
        return kernels::gemm<weights_form>(s, px::tensor_view(o.a, o.m, o.k), px::tensor_view(o.b, o.n, o.k),
                                           px::tensor_view(o.c, o.m, o.n), {.workspace = &w, .choice = choice});
    }
    [[nodiscard]] gemm_operands operands(gemm_size s, std::uint64_t i) {
        return {pool_.a(), pool_.b(s, i, r_.rotate), pool_.c(), s.m, s.n, s.k};
    }
    /// cuBLASLt's result is right by a sample, and ours is the same but for rounding.
    [[nodiscard]] bool right(gemm_size s, const rotated_peer& peer) {
        pool_.poison(run_.stream());
        px::check(peer.first().launch(run_.stream(), 0));
        pool_.keep(run_.stream());
        const auto inexact = pool_.inexact(run_.stream(), s);
        pool_.poison(run_.stream());
        px::check(launch(run_.stream(), operands(s, 0), workspace_));
        const auto wrong = pool_.wrong(run_.stream(), s);
        if (inexact + wrong == 0) return true;
        ++wrong_;
        demo::say("{}: {} elements {}, {} of 256 of cuBLASLt's; not timed", text_of(s), wrong, demo::bad("wrong"),
                  inexact);
        return false;
    }
    void shape(gemm_size s) {
        check_stop();
        const rotated_peer peer(ctx_, lt_, pool_, s, r_.rotate);
        if (!right(s, peer)) return;
        std::vector<contender> all;
        all.push_back({"library", [&, i = std::make_shared<std::uint64_t>(0)](px::stream_ref) {
                           return launch(run_.stream(), operands(s, (*i)++ % pool_.places(s, r_.rotate)), workspace_);
                       }});
        all.push_back(peer.as("cuBLASLt default", 0));
        if (r_.best) all.push_back(peer.as("cuBLASLt best of 8", best_choice(run_, peer.first())));
        const times t = run_.run(all);
        random_row row{
            s,
            kernels::choose_gemm_config({s.m, s.n, s.k, 1}, static_cast<std::uint64_t>(ctx_.device().sm_count), true),
            t.microseconds(0),
            t.microseconds(1),
            t.ratio(0, 1).p50,
            r_.best ? t.ratio(0, 2).p50 : 0};
        rows_.push_back(row);
        const double tflop = tflop_of(s);
        for (std::size_t i = 1; i < all.size(); ++i)
            table_.add({r_.rotate ? "gemm bf16, weights in turn" : "gemm bf16", text_of(s), tflop / t.microseconds(0),
                        tflop / t.microseconds(i), all[i].name, t.ratio(0, i), 0, "TFLOP/s", "random"});
    }
    const px::context& ctx_;
    const random_request& r_;
    std::vector<gemm_size> sizes_;
    results& table_;
    std::shared_ptr<const cublaslt> lt_;
    runner run_;
    gemm_pool pool_;
    kernels::gemm_workspace workspace_;
    std::vector<random_row> rows_;
    std::size_t wrong_ = 0;
};

}  // namespace bench
