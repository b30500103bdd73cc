// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine and what each can do.
#pragma once

#include <ptxdsl/runtime/driver.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ptxdsl {

/// Facts of one GPU. Sizes in bytes.
struct device_info {
    int ordinal = -1;
    std::string name;
    int major = 0;  ///< compute capability, e.g. 9.0 on Hopper
    int minor = 0;
    int sm_count = 0;
    std::size_t total_memory = 0;
    std::size_t l2_bytes = 0;
    std::uint32_t shared_per_block = 0;        ///< without opting in
    std::uint32_t shared_per_block_optin = 0;  ///< the most a block can have
    std::uint32_t shared_per_sm = 0;
    std::uint32_t max_threads_per_block = 0;
    std::uint32_t max_block[3] = {0, 0, 0};
    std::uint32_t max_grid[3] = {0, 0, 0};
    bool clusters = false;
    bool cooperative = false;
    bool pageable_access = false;  ///< kernels may read ordinary host memory

    /// "device 0 (NVIDIA H200, compute capability 9.0)", for messages.
    [[nodiscard]] std::string text() const {
        return fmt::format("device {} ({}, compute capability {}.{})", ordinal, name, major, minor);
    }
};

/// `sm_90a` of a target.
[[nodiscard]] inline std::string target_text(target t) {
    return t.suffix != 0 ? fmt::format("sm_{}{}", t.sm, t.suffix) : fmt::format("sm_{}", t.sm);
}

/// Whether code for `t` runs on a GPU of this compute capability: architecture-specific (`a`) on exactly that one,
/// family-specific (`f`) on it and the later ones of its family, portable code on it and all later ones.
[[nodiscard]] constexpr bool runs_on(target t, int major, int minor) noexcept {
    return t.runs_on(static_cast<unsigned>(major * 10 + minor));
}

namespace runtime_detail {

inline error fill_device_info(const driver_table& t, cu::device handle, device_info& d) {
    using a = cu::device_attribute;
    cu::status failed = cu::status::success;
    const auto get = [&](a which) {
        int value = 0;
        if (const auto s = t.device_get_attribute(&value, which, handle); s != cu::status::success) failed = s;
        return value;
    };
    const auto size = [&](a which) { return static_cast<std::uint32_t>(get(which)); };
    char text[256] = {};
    if (const auto s = t.device_get_name(text, sizeof(text) - 1, handle); s != cu::status::success) failed = s;
    if (const auto s = t.device_total_mem(&d.total_memory, handle); s != cu::status::success) failed = s;
    d.name = text;
    d.major = get(a::compute_capability_major);
    d.minor = get(a::compute_capability_minor);
    d.sm_count = get(a::multiprocessor_count);
    d.l2_bytes = size(a::l2_cache_size);
    d.shared_per_block = size(a::max_shared_memory_per_block);
    d.shared_per_block_optin = size(a::max_shared_memory_per_block_optin);
    d.shared_per_sm = size(a::max_shared_memory_per_multiprocessor);
    d.max_threads_per_block = size(a::max_threads_per_block);
    d.max_block[0] = size(a::max_block_dim_x);
    d.max_block[1] = size(a::max_block_dim_y);
    d.max_block[2] = size(a::max_block_dim_z);
    d.max_grid[0] = size(a::max_grid_dim_x);
    d.max_grid[1] = size(a::max_grid_dim_y);
    d.max_grid[2] = size(a::max_grid_dim_z);
    d.clusters = get(a::cluster_launch) != 0;
    d.cooperative = get(a::cooperative_launch) != 0;
    d.pageable_access = get(a::pageable_memory_access) != 0;
    if (failed != cu::status::success)
        return driver_failed(t, failed, fmt::format("reading the properties of device {}", d.ordinal));
    return {};
}

}  // namespace runtime_detail

/// How many GPUs the driver offers; at least 1. Errors: `no_driver`, `driver_too_old`, `no_device`.
inline result<int> device_count() {
    const auto t = driver();
    if (!t) return t.error();
    int count = 0;
    const auto s = (*t)->device_get_count(&count);
    if (s == cu::status::no_device || (s == cu::status::success && count == 0))
        return runtime_detail::init_failed(cu::status::no_device);
    if (s != cu::status::success) return runtime_detail::driver_failed(**t, s, "counting the GPUs");
    return count;
}

/// Facts of GPU `ordinal` (as CUDA_VISIBLE_DEVICES numbers them). Errors: those of `device_count`, and `no_device` for
/// a wrong number.
inline result<device_info> query_device(int ordinal) {
    const auto count = device_count();
    if (!count) return count.error();
    if (ordinal < 0 || ordinal >= *count)
        return error{errc::no_device,
                     fmt::format("there is no device {}: this machine offers {} GPU{}, numbered from 0", ordinal,
                                 *count, *count == 1 ? "" : "s")};
    const driver_table& t = **driver();
    cu::device handle = 0;
    if (const auto s = t.device_get(&handle, ordinal); s != cu::status::success)
        return runtime_detail::driver_failed(t, s, fmt::format("opening device {}", ordinal));
    device_info d;
    d.ordinal = ordinal;
    if (auto e = runtime_detail::fill_device_info(t, handle, d)) return e;
    return d;
}

/// All GPUs, in the driver's order.
inline result<std::vector<device_info>> devices() {
    const auto count = device_count();
    if (!count) return count.error();
    std::vector<device_info> all;
    for (int i = 0; i < *count; ++i) {
        auto d = query_device(i);
        if (!d) return d.error();
        all.push_back(std::move(*d));
    }
    return all;
}

}  // namespace ptxdsl
