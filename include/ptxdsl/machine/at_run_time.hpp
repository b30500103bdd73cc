// SPDX-License-Identifier: Apache-2.0
// Kernels that are assembled at run time, played before they are used: in every program one of whose files includes
// this.
#pragma once

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/machine/play.hpp>
#include <ptxdsl/machine/words.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace ptxdsl::machine {

/// What becomes of that which playing a kernel finds.
enum class playing : std::uint8_t {
    off,      ///< kernels are not played
    warns,    ///< findings are warnings of the assembled kernel: `warnings()`, `warning()`
    refuses,  ///< errors among them are errors: `ok()` is false and `error()` the sentence
};

namespace detail {

/// One sentence for the diagnosis, with the place in front: "file.cpp:12: PTXDSL-E07: warp 4 reads …".
[[nodiscard]] constexpr ptxdsl::detail::sentence described(const ir::view& m, const finding& f) {
    ptxdsl::detail::sentence s;
    s.found = true;
    const message place = source_place(m, f.first.where);
    s.put(place);
    s.put(": PTXDSL-");
    s.put(string_view(id_of(f.kind), 3));
    s.put(": ");
    s.put(sentence(m, f));
    return s;
}
/// Adds findings to a diagnosis.
constexpr void add_findings(const ir::view& m, const list<finding>& findings, bool refuse,
                            ptxdsl::detail::diagnosis& d) {
    for (const finding& f : findings) {
        const bool warning = f.warning || !refuse;
        d.warnings += warning ? 1 : 0;
        if (ptxdsl::detail::sentence& first = warning ? d.warning : d.error; !first.found) first = described(m, f);
    }
}

/// The results of kernels that have been played, by what they are made of.
class played_kernels {
public:
    [[nodiscard]] static played_kernels& all() {
        static played_kernels one;
        return one;
    }
    void set(playing how, const options& o) {
        const std::lock_guard guard(mutex_);
        how_ = how;
        options_ = o;
        results_.clear();
    }
    void play_once(const ir::view& m, ptxdsl::detail::diagnosis& d) {
        const std::string key = contents_of(m);
        std::shared_ptr<const result> r;
        options o;
        bool refuse = false;
        {
            const std::lock_guard guard(mutex_);
            if (how_ == playing::off) return;
            refuse = how_ == playing::refuses;
            o = options_;
            if (const auto at = results_.find(key); at != results_.end()) r = at->second;
        }
        if (r == nullptr) {
            r = std::make_shared<const result>(play(m, o));
            const std::lock_guard guard(mutex_);
            if (results_.size() >= most) results_.clear();
            results_.emplace(key, r);
        }
        add_findings(m, r->findings, refuse, d);
    }

private:
    static constexpr std::size_t most = 4096;  ///< kernels remembered

    /// All that a play depends on. Places are part of it: findings name them.
    [[nodiscard]] static std::string contents_of(const ir::view& m) {
        std::string s;
        const auto add = [&](const auto* first, std::uint32_t n) {
            s.append(reinterpret_cast<const char*>(first), n * sizeof(*first));
        };
        add(m.words, m.n.words);
        for (std::uint32_t k = 0; k < m.n.allocations; ++k) {
            const ir::allocation& a = m.allocations[k];
            const std::uint32_t numbers[] = {a.offset, a.bytes(), a.stages, a.stage_bytes,
                                             static_cast<std::uint32_t>(a.kind)};
            add(numbers, 5);
        }
        const ir::attributes& t = m.attrs;
        const std::uint32_t numbers[] = {t.reqntid.x, t.reqntid.y, t.reqntid.z, t.maxntid.x, t.maxntid.y,
                                         t.maxntid.z, t.cluster.x, t.cluster.y, t.cluster.z, m.shared_bytes};
        add(numbers, 10);
        for (std::uint32_t k = 0; k < m.n.locations; ++k) {
            const std::uint32_t line = m.locations[k].line();
            add(&line, 1);
        }
        return s;
    }

    std::mutex mutex_;
    playing how_ = playing::off;
    options options_;
    std::unordered_map<std::string, std::shared_ptr<const result>> results_;
};

}  // namespace detail

/// From now on, every kernel that the program assembles at run time (`assemble_at_run_time`, and with it the kernel
/// library's) is played; kernels without an error of another kind, each once. A program that includes this header
/// starts with `playing::refuses`: `play_at_run_time(playing::off)` keeps it from it. Any thread may call it.
inline void play_at_run_time(playing how, const options& o = {}) {
    detail::played_kernels::all().set(how, o);
    const ptxdsl::detail::kernel_player play = [](const ir::view& m, ptxdsl::detail::diagnosis& d) {
        detail::played_kernels::all().play_once(m, d);
    };
    __atomic_store_n(&ptxdsl::detail::player_at_run_time, how == playing::off ? nullptr : play, __ATOMIC_RELEASE);
}

namespace detail {

/// Kernels are played from the start of a program that includes this header.
inline const bool plays_from_the_start = [] {
    play_at_run_time(playing::refuses);
    return true;
}();

}  // namespace detail

}  // namespace ptxdsl::machine
