// SPDX-License-Identifier: Apache-2.0
// The configuration of a launch, and its checks against kernel and device before the driver sees it.
#pragma once

#include <ptxdsl/ir/signature.hpp>
#include <ptxdsl/runtime/module.hpp>
#include <ptxdsl/runtime/stream.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl {

/// Blocks of a grid.
struct grid {
    std::uint32_t x = 1, y = 1, z = 1;
    constexpr bool operator==(const grid&) const = default;
};

/// Three extents of a block (threads) or a cluster (blocks). All zero: as the kernel declares it.
struct extent3 {
    std::uint32_t x = 0, y = 0, z = 0;
    [[nodiscard]] constexpr bool given() const noexcept { return (x | y | z) != 0; }
    [[nodiscard]] constexpr std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
    constexpr bool operator==(const extent3&) const = default;
};

/// Everything about a launch but its arguments.
struct launch_config {
    ptxdsl::grid grid{};
    extent3 block{};                                      ///< threads; default: the kernel's `.reqntid`
    extent3 cluster{};                                    ///< blocks; default: what the kernel declares, or none
    std::optional<std::uint32_t> dynamic_shared_bytes{};  ///< default: what the kernel declares
    bool non_portable_cluster = false;                    ///< allow clusters of 9 to 16 blocks
    bool programmatic = false;  ///< start before the previous kernel of the stream ends; has effect only if the kernel
                                ///< waits (griddepcontrol.wait)
    bool cooperative = false;   ///< all blocks run at the same time, or the launch fails
    bool check_pointers = false;  ///< debug: ask the driver whether each pointer is memory the device can read
};

namespace runtime_detail {

[[nodiscard]] inline std::string text_of(const extent3& e) { return fmt::format("{}x{}x{}", e.x, e.y, e.z); }

/// What a launch of one kernel in one context needs; checked configurations go from here to the driver.
struct bound_kernel {
    const context_state* state = nullptr;
    kernel_slot* slot = nullptr;
    kernel_resources resources;
};

[[gnu::cold]] inline error grid_error(const bound_kernel& k, std::string words) {
    return {errc::bad_grid, fmt::format("PTXDSL-G02: kernel '{}': {}", k.slot->name, words)};
}
[[gnu::cold]] inline error block_error(const bound_kernel& k, std::string words) {
    return {errc::bad_block, fmt::format("PTXDSL-G02: kernel '{}': {}", k.slot->name, words)};
}

[[gnu::cold]] inline error explain_grid(const bound_kernel& k, const grid& g) {
    const auto& most = k.state->info.max_grid;
    if (g.x == 0 || g.y == 0 || g.z == 0)
        return grid_error(
            k, fmt::format(
                   "the grid {}x{}x{} has a zero extent; launch at least one block, or nothing at all for empty work",
                   g.x, g.y, g.z));
    return grid_error(
        k, fmt::format(
               "the grid {}x{}x{} exceeds the device's limit {}x{}x{}; put more blocks along x or loop in the kernel",
               g.x, g.y, g.z, most[0], most[1], most[2]));
}

inline error check_grid(const bound_kernel& k, const grid& g) {
    const auto& most = k.state->info.max_grid;
    const bool good = g.x != 0 && g.y != 0 && g.z != 0 && g.x <= most[0] && g.y <= most[1] && g.z <= most[2];
    if (good) [[likely]]
        return {};
    return explain_grid(k, g);
}

[[gnu::cold]] inline error explain_block(const bound_kernel& k, const extent3& b) {
    const device_info& d = k.state->info;
    const auto& need = k.resources.threads;
    if (!b.given()) return block_error(k, "no block size: the kernel declares none; set launch_config::block");
    if (b.count() == 0)
        return block_error(k, fmt::format("the block {} has a zero extent; every extent is at least 1", text_of(b)));
    if (need[0] != 0 && b != extent3{need[0], need[1], need[2]})
        return block_error(
            k,
            fmt::format(
                "the block is {} threads but the kernel requires {}x{}x{} (.reqntid); leave launch_config::block empty",
                text_of(b), need[0], need[1], need[2]));
    if (k.resources.max_threads != 0 && b.count() > k.resources.max_threads)
        return block_error(k, fmt::format("the block has {} threads but the kernel allows {} (.maxntid); launch fewer",
                                          b.count(), k.resources.max_threads));
    if (b.count() <= d.max_threads_per_block && b.x <= d.max_block[0] && b.y <= d.max_block[1] && b.z <= d.max_block[2])
        return block_error(
            k,
            fmt::format(
                "the block has {} threads but only {} fit with the kernel's {} registers a thread; launch fewer or lower its registers",
                b.count(), k.slot->max_threads, k.slot->registers));
    return block_error(
        k, fmt::format("the block {} exceeds the device's limit of {} threads and {}x{}x{}; use a smaller block",
                       text_of(b), d.max_threads_per_block, d.max_block[0], d.max_block[1], d.max_block[2]));
}

inline error check_block(const bound_kernel& k, const extent3& b) {
    const device_info& d = k.state->info;
    const auto& need = k.resources.threads;
    const std::uint64_t count = b.count();
    const bool matches = need[0] == 0 || (b.x == need[0] && b.y == need[1] && b.z == need[2]);
    const bool fits =
        b.x <= d.max_block[0] && b.y <= d.max_block[1] && b.z <= d.max_block[2] && count <= d.max_threads_per_block;
    const bool allowed = (k.resources.max_threads == 0 || count <= k.resources.max_threads) &&
                         (k.slot->max_threads == 0 || count <= k.slot->max_threads);
    if (count != 0 && matches && fits && allowed) [[likely]]
        return {};
    return explain_block(k, b);
}

[[gnu::cold]] inline error cluster_error(const bound_kernel& k, const char* id, std::string words) {
    return {errc::bad_cluster, fmt::format("{}: kernel '{}': {}", id, k.slot->name, words)};
}

/// Raises a kernel's attribute in the driver, once.
[[gnu::cold]] inline error allow_non_portable(const bound_kernel& k) {
    const std::lock_guard lock(k.slot->attributes);
    if (k.slot->non_portable.load(std::memory_order_relaxed)) return {};
    const auto s = k.state->driver->func_set_attribute(k.slot->function,
                                                       cu::function_attribute::non_portable_cluster_size_allowed, 1);
    if (s != cu::status::success)
        return driver_failed(*k.state->driver, s,
                             fmt::format("allowing kernel '{}' clusters over 8 blocks", k.slot->name));
    k.slot->non_portable.store(true, std::memory_order_release);
    return {};
}

/// Checks the cluster against the kernel, the grid and the limits; `c` is the one in force.
inline error check_cluster(const bound_kernel& k, const launch_config& config, const extent3& c) {
    const auto& own = k.resources.cluster;
    const grid& g = config.grid;
    const std::uint64_t size = c.count();
    if (own[0] != 0 && c != extent3{own[0], own[1], own[2]})
        return cluster_error(
            k, "PTXDSL-G02",
            fmt::format(
                "the cluster is {} but the kernel requires {}x{}x{} (.reqnctapercluster); leave launch_config::cluster empty",
                text_of(c), own[0], own[1], own[2]));
    if (size == 0)
        return cluster_error(k, "PTXDSL-G02",
                             fmt::format("the cluster {} has a zero extent; every extent is at least 1", text_of(c)));
    if (size > 1 && !k.state->info.clusters)
        return cluster_error(k, "PTXDSL-G01",
                             fmt::format("{} has no thread block clusters; they need compute capability 9.0 or newer",
                                         k.state->info.text()));
    if (size > 16)
        return cluster_error(
            k, "PTXDSL-G01",
            fmt::format("the cluster {} has {} blocks; no device takes more than 16: use a smaller cluster", text_of(c),
                        size));
    if (size > 8 && !config.non_portable_cluster)
        return cluster_error(
            k, "PTXDSL-G01",
            fmt::format(
                "the cluster {} has {} blocks; over 8 is not portable: set launch_config::non_portable_cluster, or use at most 8",
                text_of(c), size));
    if (g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0)
        return grid_error(
            k,
            fmt::format(
                "the grid {}x{}x{} is not a multiple of the cluster {}; round each extent up and let surplus blocks return",
                g.x, g.y, g.z, text_of(c)));
    if (size > 8 && !k.slot->non_portable.load(std::memory_order_acquire)) return allow_non_portable(k);
    return {};
}

/// A kernel that leaves its cluster to the launch and reaches into other blocks.
[[gnu::cold]] inline error cluster_too_small(const bound_kernel& k, std::uint64_t blocks) {
    const std::uint32_t least = k.resources.least_cluster;
    return cluster_error(
        k, "PTXDSL-G02",
        fmt::format(
            "it reaches block {} of its cluster, but the launch gives {}; set launch_config::cluster to {} blocks or more, or declare the cluster with the kernel (attributes::cluster)",
            least - 1, blocks == 1 ? std::string("no cluster") : fmt::format("clusters of {} blocks", blocks), least));
}

/// A launch may give more dynamic shared memory than the kernel declares, never less: its own variables lie there.
[[gnu::cold]] inline error too_little_dynamic(const bound_kernel& k, std::uint32_t bytes) {
    return {
        errc::bad_shared_size,
        fmt::format(
            "PTXDSL-C04: kernel '{}' declares {} bytes of dynamic shared memory but the launch gives {}; leave launch_config::dynamic_shared_bytes empty, or give at least what the kernel declares",
            k.slot->name, k.resources.dynamic_shared_bytes, bytes)};
}

/// Tells the driver about a larger dynamic shared size than it allows so far.
[[gnu::cold]] inline error allow_dynamic(const bound_kernel& k, std::uint32_t bytes) {
    const std::uint32_t most = k.state->info.shared_per_block_optin;
    const std::uint32_t fixed = std::max(k.slot->static_shared, k.resources.static_shared_bytes);
    if (std::uint64_t{bytes} + fixed > most)
        return {
            errc::bad_shared_size,
            fmt::format(
                "PTXDSL-C04: kernel '{}' needs {} bytes of shared memory ({} static, {} dynamic) but a block of {} has at most {}; use fewer stages or smaller tiles",
                k.slot->name, std::uint64_t{bytes} + fixed, fixed, bytes, k.state->info.text(), most)};
    const std::lock_guard lock(k.slot->attributes);
    if (bytes <= k.slot->dynamic_allowed.load(std::memory_order_relaxed)) return {};
    const auto s = k.state->driver->func_set_attribute(
        k.slot->function, cu::function_attribute::max_dynamic_shared_size_bytes, static_cast<int>(bytes));
    if (s != cu::status::success)
        return driver_failed(*k.state->driver, s,
                             fmt::format("giving kernel '{}' {} bytes of dynamic shared memory", k.slot->name, bytes));
    k.slot->dynamic_allowed.store(bytes, std::memory_order_release);
    return {};
}

/// The sentence for a launch the driver refused.
[[gnu::cold]] inline error launch_failed(const bound_kernel& k, const cu::launch_config& c, cu::status s) {
    const std::string what = fmt::format(
        "launching kernel '{}' with grid {}x{}x{}, block {}x{}x{} and {} bytes of dynamic shared memory on {}",
        k.slot->name, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, c.shared_bytes,
        k.state->info.text());
    if (s == cu::status::cooperative_launch_too_large)
        return {errc::bad_grid, what + ": a cooperative grid must fit on the device at once; launch fewer blocks", s};
    if (s == cu::status::invalid_cluster_size)
        return {errc::bad_cluster,
                what + ": no multiprocessor group can hold such a cluster; use a smaller cluster or less shared memory",
                s};
    return driver_failed(*k.state->driver, s, what);
}

/// The attributes a configuration asks for, in the driver's form.
struct attribute_list {
    std::array<cu::launch_attribute, 3> items;
    unsigned count = 0;
    cu::launch_attribute_value& add(cu::launch_attribute_id id) noexcept {
        items[count].id = id;
        return items[count++].value;
    }
};

inline void collect_attributes(const bound_kernel& k, const launch_config& config, attribute_list& list) noexcept {
    if (config.cluster.given() && k.resources.cluster[0] == 0) {
        auto& v = list.add(cu::launch_attribute_id::cluster_dimension);
        v.cluster_dim.x = config.cluster.x;
        v.cluster_dim.y = config.cluster.y;
        v.cluster_dim.z = config.cluster.z;
    }
    if (config.programmatic && k.resources.uses_pdl_wait)
        list.add(cu::launch_attribute_id::programmatic_stream_serialization).programmatic_stream_serialization_allowed =
            1;
    if (config.cooperative) list.add(cu::launch_attribute_id::cooperative).cooperative = 1;
}

/// The configuration checks of every launch, and the two attributes that are set on first need.
inline error check_config(const bound_kernel& k, const launch_config& config, const extent3& block,
                          std::uint32_t dynamic) {
    if (auto e = check_grid(k, config.grid)) return e;
    if (auto e = check_block(k, block)) return e;
    const auto& own = k.resources.cluster;
    if (config.cluster.given() || own[0] != 0)
        if (auto e =
                check_cluster(k, config, config.cluster.given() ? config.cluster : extent3{own[0], own[1], own[2]}))
            return e;
    if (own[0] == 0 && k.resources.least_cluster > 1) [[unlikely]]
        if (const std::uint64_t blocks = config.cluster.given() ? config.cluster.count() : 1;
            blocks < k.resources.least_cluster)
            return cluster_too_small(k, blocks);
    if (dynamic < k.resources.dynamic_shared_bytes) [[unlikely]]
        return too_little_dynamic(k, dynamic);
    if (dynamic > k.slot->dynamic_allowed.load(std::memory_order_acquire))
        if (auto e = allow_dynamic(k, dynamic)) return e;
    if (config.cooperative && !k.state->info.cooperative)
        return {errc::not_supported,
                fmt::format("kernel '{}': {} has no cooperative launches", k.slot->name, k.state->info.text())};
    return {};
}

[[gnu::cold]] inline error stream_of_other_context(const bound_kernel& k, const stream_ref& s) {
    return {
        errc::bad_argument,
        fmt::format(
            "kernel '{}' is loaded on {} but the stream belongs to another context, of {}; load the kernel there too or use a stream of its device",
            k.slot->name, k.state->info.text(), s.state->info.text())};
}

/// Checks the configuration and launches; the context is current.
inline error launch_bound(const bound_kernel& k, stream_ref s, const launch_config& config, void** arguments) {
    if (s.state != nullptr && s.state->handle != k.state->handle) [[unlikely]]
        return stream_of_other_context(k, s);
    const auto& need = k.resources.threads;
    const extent3 block = config.block.given() ? config.block : extent3{need[0], need[1], need[2]};
    const std::uint32_t dynamic = config.dynamic_shared_bytes.value_or(k.resources.dynamic_shared_bytes);
    if (auto e = check_config(k, config, block, dynamic)) return e;
    attribute_list attributes;
    collect_attributes(k, config, attributes);
    const cu::launch_config c{config.grid.x, config.grid.y, config.grid.z,           block.x,         block.y, block.z,
                              dynamic,       s.handle,      attributes.items.data(), attributes.count};
    const auto status = k.state->driver->launch_kernel_ex(&c, k.slot->function, arguments, nullptr);
    if (status == cu::status::success) [[likely]]
        return {};
    return launch_failed(k, c, status);
}

}  // namespace runtime_detail

}  // namespace ptxdsl

#include <ptxdsl/detail/epilogue.hpp>
