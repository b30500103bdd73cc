// SPDX-License-Identifier: Apache-2.0
// Kernels that are assembled and loaded on first use.
#pragma once

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/runtime.hpp>

#include <fmt/format.h>

#include <compare>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

namespace ptxdsl::kernels::detail {

/// For bodies of which there is one kernel only.
struct no_key {
    constexpr auto operator<=>(const no_key&) const = default;
};

/// The kernels of one body, by what is constant in them, bound once for each context. Any thread may ask.
template <class Key = no_key>
class kernel_cache {
public:
    /// `assemble()` makes the program of `key`. Error: its sentence, or the driver's.
    template <class Assemble>
    result<runtime_detail::bound_kernel> get(const context& ctx, const Key& key, const Assemble& assemble) {
        const std::pair<std::uint64_t, Key> id(ctx.state()->id, key);
        {
            const std::shared_lock lock(mutex_);
            if (const auto it = bound_.find(id); it != bound_.end()) return it->second;
        }
        const auto program = assemble();
        if (!program.ok()) return error{errc::ptx_rejected, std::string(program.error())};
        auto bound = runtime_detail::bind_kernel(*ctx.state(), program);
        if (!bound) return bound.error();
        const std::unique_lock lock(mutex_);
        return bound_.try_emplace(id, *bound).first->second;
    }
    template <class Assemble>
    result<runtime_detail::bound_kernel> get(const context& ctx, const Assemble& assemble) {
        return get(ctx, Key{}, assemble);
    }

private:
    std::shared_mutex mutex_;
    std::map<std::pair<std::uint64_t, Key>, runtime_detail::bound_kernel> bound_;
};

}  // namespace ptxdsl::kernels::detail
