// SPDX-License-Identifier: Apache-2.0
// Choices that were measured (gemm/tune.hpp): a table of them in the process, which goes before the cost model, and the
// text file that keeps it.
#pragma once

#include <ptxdsl/kernels/compiled.hpp>
#include <ptxdsl/kernels/gemm/problem.hpp>
#include <ptxdsl/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

/// A product by what its choice depends on. Extents count elements.
struct gemm_product {
    isa::scalar a = isa::scalar::none, b = isa::scalar::none, out = isa::scalar::none;
    bool gated = false;
    std::uint64_t m = 0, n = 0, k = 0, batch = 1;
    constexpr auto operator<=>(const gemm_product&) const = default;
};
/// And the configuration that was the fastest for it.
struct gemm_measured {
    gemm_product product;
    gemm_choice choice = gemm_choice::medium;
    double us = 0;  ///< of a launch among others
};

/// What a file of measurements holds for: this library's configurations, a device's name and size, a driver.
struct gemm_tuning_stamp {
    std::string library, device;
    int driver = 0;
    bool operator==(const gemm_tuning_stamp&) const = default;
};
/// What became of a file: what it holds, or why it is ignored.
struct gemm_tuning {
    std::vector<gemm_measured> products;
    std::string note;  ///< empty when the file was taken, or there is none
};

namespace detail {

/// The configurations as a number: an index means something only next to the list it counts.
[[nodiscard]] constexpr std::uint64_t fingerprint_of_configs() noexcept {
    std::uint64_t h = 0xcbf29ce484222325u;
    const auto mix = [&](std::uint64_t v) { h = (h ^ v) * 0x100000001b3u; };
    for (const gemm_config& c : gemm_configs) {
        for (const u32 v : {c.bm, c.bn, c.bk, c.stages, c.cluster, c.cluster_n, c.split_k, c.group, c.blocks_per_sm})
            mix(v);
        mix((c.stream_k ? 1u : 0u) + (c.serpentine ? 2u : 0u) + 4 * static_cast<std::uint64_t>(c.store) +
            16 * static_cast<std::uint64_t>(c.schedule));
    }
    return h;
}

/// Measured choices by device. Any thread may ask.
class gemm_tuning_table {
public:
    void put(int device, const gemm_measured& m) {
        const std::unique_lock lock(mutex_);
        choices_[{device, m.product}] = m.choice;
        generation_.fetch_add(1, std::memory_order_release);
    }
    void clear() {
        const std::unique_lock lock(mutex_);
        choices_.clear();
        generation_.fetch_add(1, std::memory_order_release);
    }
    [[nodiscard]] std::optional<gemm_choice> find(int device, const gemm_product& p) const {
        const std::shared_lock lock(mutex_);
        const auto it = choices_.find({device, p});
        return it == choices_.end() ? std::nullopt : std::optional(it->second);
    }
    /// Differs when the table does; 0 as long as nothing was measured.
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

private:
    mutable std::shared_mutex mutex_;
    std::map<std::pair<int, gemm_product>, gemm_choice> choices_;
    std::atomic<std::uint32_t> generation_{0};
};
/// The process's, whether the kernels come from the compiled library or from the headers.
[[nodiscard]] PTXDSL_KERNELS_API inline gemm_tuning_table& measured_choices() {
    static gemm_tuning_table table;
    return table;
}

/// Whether configuration `c` can be taken for `p`.
[[nodiscard]] constexpr bool takes(gemm_choice c, const gemm_shape& s, bool may_even, gemm_choices allowed) noexcept {
    const gemm_config& config = config_of(c);
    return has(allowed, c) && (may_even || !config.stream_k) && ceil_div(s.k, config.bk) >= config.split_k;
}

// ---- the file -------------------------------------------------------------------------------------------------------

inline constexpr std::string_view tuning_head = "ptxdsl gemm tuning, format 1";

[[nodiscard]] inline std::string text_of_tuning(const gemm_tuning_stamp& s, const std::vector<gemm_measured>& all) {
    const auto word = [](isa::scalar t) { return std::string_view(isa::name(t).data(), isa::name(t).size()); };
    std::string text =
        fmt::format("{}\nlibrary {}\ndevice {}\ndriver {}\n", tuning_head, s.library, s.device, s.driver);
    for (const gemm_measured& m : all) {
        const gemm_product& p = m.product;
        text += fmt::format("{} {} {} {} {} {} {} {} {} {:.2f}\n", word(p.a), word(p.b), word(p.out),
                            p.gated ? "gated" : "plain", p.m, p.n, p.k, p.batch, static_cast<unsigned>(m.choice), m.us);
    }
    return text + "end\n";
}

/// One line of measurements; nothing when it is none.
[[nodiscard]] inline std::optional<gemm_measured> measured_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at <= line.size();) {
        const std::size_t end = std::min(line.find(' ', at), line.size());
        words.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    if (words.size() != 10) return std::nullopt;
    gemm_measured m;
    const auto type = [](std::string_view w, isa::scalar& t) {
        for (const isa::scalar x : {isa::scalar::bf16, isa::scalar::f16, isa::scalar::e4m3, isa::scalar::e5m2,
                                    isa::scalar::s8, isa::scalar::f32, isa::scalar::s32})
            if (w == std::string_view(isa::name(x).data(), isa::name(x).size())) return t = x, true;
        return false;
    };
    const auto number = [](std::string_view w, auto& v) {
        const auto r = std::from_chars(w.data(), w.data() + w.size(), v);
        return r.ec == std::errc{} && r.ptr == w.data() + w.size();
    };
    gemm_product& p = m.product;
    unsigned choice = 0;
    const bool read = type(words[0], p.a) && type(words[1], p.b) && type(words[2], p.out) &&
                      (words[3] == "plain" || words[3] == "gated") && number(words[4], p.m) && number(words[5], p.n) &&
                      number(words[6], p.k) && number(words[7], p.batch) && number(words[8], choice) &&
                      number(words[9], m.us);
    if (!read || choice >= gemm_configs.size() || p.m * p.n * p.k * p.batch == 0 || !(m.us > 0)) return std::nullopt;
    p.gated = words[3] == "gated";
    m.choice = static_cast<gemm_choice>(choice);
    return m;
}

/// What a file says, if it is whole and of this library, device and driver; else nothing but a note.
[[nodiscard]] inline gemm_tuning tuning_of(std::string_view text, const gemm_tuning_stamp& here) {
    std::size_t number = 0, at = 0;
    const auto line = [&]() -> std::optional<std::string_view> {
        const std::size_t end = text.find('\n', at);
        if (end == std::string_view::npos) return std::nullopt;  // each line ends, the last one too
        const std::string_view l = text.substr(at, end - at);
        at = end + 1, ++number;
        return l;
    };
    const auto broken = [&](std::string_view why) {
        return gemm_tuning{{}, fmt::format("ignored: {} in line {}", why, number)};
    };
    if (line() != tuning_head) return {{}, "ignored: this is no file of measurements of this format"};
    const std::string wanted[] = {fmt::format("library {}", here.library), fmt::format("device {}", here.device),
                                  fmt::format("driver {}", here.driver)};
    for (const std::string& w : wanted) {
        const auto l = line();
        if (!l) return broken("the end of the file is missing");
        if (*l != w) return {{}, fmt::format("ignored: it was measured with '{}', and here is '{}'", *l, w)};
    }
    gemm_tuning found;
    for (;;) {
        const auto l = line();
        if (!l) return broken("the end of the file is missing");
        if (*l == "end") return at == text.size() ? found : broken("something behind the end");
        const auto m = measured_of(*l);
        if (!m) return broken(fmt::format("'{}' is no measurement", l->substr(0, 60)));
        found.products.push_back(*m);
    }
}

/// Reads `file`; nothing and no note where there is none.
[[nodiscard]] inline gemm_tuning read_tuning(const std::string& file, const gemm_tuning_stamp& here) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return {};
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    gemm_tuning t = tuning_of(text, here);
    if (!t.note.empty()) t.note = fmt::format("{}: {}", file, t.note);
    return t;
}
/// Writes a file beside it and moves that there: whoever reads sees a whole one.
[[nodiscard]] inline error write_tuning(const std::string& file, const gemm_tuning_stamp& here,
                                        const std::vector<gemm_measured>& all) {
    const std::string beside = file + ".new";
    {
        std::ofstream out(beside, std::ios::binary | std::ios::trunc);
        out << text_of_tuning(here, all);
        out.close();
        if (!out) return {errc::bad_argument, fmt::format("tune: {} cannot be written", beside)};
    }
    if (std::rename(beside.c_str(), file.c_str()) != 0)
        return {errc::bad_argument, fmt::format("tune: {} cannot be moved to {}", beside, file)};
    return {};
}

/// What measurements on the device of `ctx` hold for.
[[nodiscard]] inline gemm_tuning_stamp stamp_of(const context& ctx) {
    return {fmt::format("{} {:016x}", library_version, fingerprint_of_configs()),
            fmt::format("{} {}", ctx.device().sm_count, ctx.device().name), ctx.driver().version};
}

}  // namespace detail

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
