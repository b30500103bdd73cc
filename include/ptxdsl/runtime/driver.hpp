// SPDX-License-Identifier: Apache-2.0
// The CUDA driver as a table of functions, found at run time: a program built without CUDA runs where a driver is.
#pragma once

#include <ptxdsl/isa/targets.hpp>
#include <ptxdsl/runtime/driver_api.hpp>
#include <ptxdsl/runtime/error.hpp>

#include <fmt/format.h>

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace ptxdsl {

/// Entry points of the driver. A null entry is one this driver does not have (`for_each_entry` says which may be null).
/// Tests install a table of their own with `driver_override`.
struct driver_table {
    using st = cu::status;
    int version = 0;  ///< `cuDriverGetVersion`: 1000 * major + 10 * minor of the newest CUDA the driver supports

    st (*init)(unsigned) = nullptr;
    st (*driver_get_version)(int*) = nullptr;
    st (*get_error_name)(st, const char**) = nullptr;
    st (*get_error_string)(st, const char**) = nullptr;
    st (*device_get_count)(int*) = nullptr;
    st (*device_get)(cu::device*, int) = nullptr;
    st (*device_get_name)(char*, int, cu::device) = nullptr;
    st (*device_get_attribute)(int*, cu::device_attribute, cu::device) = nullptr;
    st (*device_total_mem)(std::size_t*, cu::device) = nullptr;
    st (*primary_ctx_retain)(cu::context*, cu::device) = nullptr;
    st (*primary_ctx_release)(cu::device) = nullptr;
    st (*ctx_push_current)(cu::context) = nullptr;
    st (*ctx_pop_current)(cu::context*) = nullptr;
    st (*ctx_get_current)(cu::context*) = nullptr;
    st (*ctx_get_device)(cu::device*) = nullptr;
    st (*ctx_synchronize)() = nullptr;
    st (*module_load_data_ex)(cu::module_*, const void*, unsigned, cu::jit_option*, void**) = nullptr;
    st (*module_unload)(cu::module_) = nullptr;
    st (*module_get_function)(cu::function*, cu::module_, const char*) = nullptr;
    st (*func_set_attribute)(cu::function, cu::function_attribute, int) = nullptr;
    st (*func_get_attribute)(int*, cu::function_attribute, cu::function) = nullptr;
    st (*launch_kernel_ex)(const cu::launch_config*, cu::function, void**, void**) = nullptr;
    st (*occupancy_max_active_clusters)(int*, cu::function, const cu::launch_config*) = nullptr;
    st (*occupancy_max_active_blocks)(int*, cu::function, int, std::size_t) = nullptr;
    st (*stream_create_with_priority)(cu::stream*, unsigned, int) = nullptr;
    st (*stream_destroy)(cu::stream) = nullptr;
    st (*stream_synchronize)(cu::stream) = nullptr;
    st (*stream_query)(cu::stream) = nullptr;
    st (*stream_wait_event)(cu::stream, cu::event, unsigned) = nullptr;
    st (*stream_begin_capture)(cu::stream, cu::capture_mode) = nullptr;
    st (*stream_end_capture)(cu::stream, cu::graph*) = nullptr;
    st (*graph_instantiate_with_flags)(cu::graph_exec*, cu::graph, unsigned long long) = nullptr;
    st (*graph_launch)(cu::graph_exec, cu::stream) = nullptr;
    st (*graph_destroy)(cu::graph) = nullptr;
    st (*graph_exec_destroy)(cu::graph_exec) = nullptr;
    st (*event_create)(cu::event*, unsigned) = nullptr;
    st (*event_destroy)(cu::event) = nullptr;
    st (*event_record)(cu::event, cu::stream) = nullptr;
    st (*event_synchronize)(cu::event) = nullptr;
    st (*event_query)(cu::event) = nullptr;
    st (*event_elapsed_time)(float*, cu::event, cu::event) = nullptr;
    st (*mem_get_info)(std::size_t*, std::size_t*) = nullptr;
    st (*mem_alloc)(cu::deviceptr*, std::size_t) = nullptr;
    st (*mem_free)(cu::deviceptr) = nullptr;
    st (*memcpy_htod_async)(cu::deviceptr, const void*, std::size_t, cu::stream) = nullptr;
    st (*memcpy_dtoh_async)(void*, cu::deviceptr, std::size_t, cu::stream) = nullptr;
    st (*memcpy_dtod_async)(cu::deviceptr, cu::deviceptr, std::size_t, cu::stream) = nullptr;
    st (*memset_d8_async)(cu::deviceptr, unsigned char, std::size_t, cu::stream) = nullptr;
    st (*memset_d32_async)(cu::deviceptr, unsigned, std::size_t, cu::stream) = nullptr;
    st (*pointer_get_attribute)(void*, cu::pointer_attribute, cu::deviceptr) = nullptr;
    st (*tensor_map_encode_tiled)(cu::tensor_map*, cu::data_type, std::uint32_t, void*, const std::uint64_t*,
                                  const std::uint64_t*, const std::uint32_t*, const std::uint32_t*, int, int, int,
                                  int) = nullptr;
    st (*tensor_map_encode_im2col)(cu::tensor_map*, cu::data_type, std::uint32_t, void*, const std::uint64_t*,
                                   const std::uint64_t*, const int*, const int*, std::uint32_t, std::uint32_t,
                                   const std::uint32_t*, int, int, int, int) = nullptr;
    st (*tensor_map_encode_im2col_wide)(cu::tensor_map*, cu::data_type, std::uint32_t, void*, const std::uint64_t*,
                                        const std::uint64_t*, int, int, std::uint32_t, std::uint32_t,
                                        const std::uint32_t*, int, int, int, int, int) = nullptr;
};

namespace runtime_detail {

enum class entry_need : bool { required, optional };

/// Every entry once: the driver's name, the CUDA version whose prototype is declared above, the slot, whether it may be
/// absent. The version is the one asked for; asking for the driver's own would hand out functions of another signature
/// (cuCtxGetDevice and cuStreamGetCtx have changed that way).
template <class Visit>
void for_each_entry(driver_table& t, Visit&& visit) {
    constexpr auto required = entry_need::required;
    constexpr auto optional = entry_need::optional;
    visit("cuInit", 2000, t.init, required);
    visit("cuDriverGetVersion", 2020, t.driver_get_version, required);
    visit("cuGetErrorName", 6000, t.get_error_name, required);
    visit("cuGetErrorString", 6000, t.get_error_string, required);
    visit("cuDeviceGetCount", 2000, t.device_get_count, required);
    visit("cuDeviceGet", 2000, t.device_get, required);
    visit("cuDeviceGetName", 2000, t.device_get_name, required);
    visit("cuDeviceGetAttribute", 2000, t.device_get_attribute, required);
    visit("cuDeviceTotalMem", 3020, t.device_total_mem, required);
    visit("cuDevicePrimaryCtxRetain", 7000, t.primary_ctx_retain, required);
    visit("cuDevicePrimaryCtxRelease", 11000, t.primary_ctx_release, required);
    visit("cuCtxPushCurrent", 4000, t.ctx_push_current, required);
    visit("cuCtxPopCurrent", 4000, t.ctx_pop_current, required);
    visit("cuCtxGetCurrent", 4000, t.ctx_get_current, required);
    visit("cuCtxGetDevice", 2000, t.ctx_get_device, required);
    visit("cuCtxSynchronize", 2000, t.ctx_synchronize, required);
    visit("cuModuleLoadDataEx", 2010, t.module_load_data_ex, required);
    visit("cuModuleUnload", 2000, t.module_unload, required);
    visit("cuModuleGetFunction", 2000, t.module_get_function, required);
    visit("cuFuncSetAttribute", 9000, t.func_set_attribute, required);
    visit("cuFuncGetAttribute", 2020, t.func_get_attribute, required);
    visit("cuLaunchKernelEx", 11060, t.launch_kernel_ex, required);
    visit("cuOccupancyMaxActiveClusters", 11070, t.occupancy_max_active_clusters, optional);
    visit("cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050, t.occupancy_max_active_blocks, optional);
    visit("cuStreamCreateWithPriority", 5050, t.stream_create_with_priority, required);
    visit("cuStreamDestroy", 4000, t.stream_destroy, required);
    visit("cuStreamSynchronize", 2000, t.stream_synchronize, required);
    visit("cuStreamQuery", 2000, t.stream_query, required);
    visit("cuStreamWaitEvent", 3020, t.stream_wait_event, required);
    visit("cuStreamBeginCapture", 10010, t.stream_begin_capture, optional);
    visit("cuStreamEndCapture", 10000, t.stream_end_capture, optional);
    visit("cuGraphInstantiateWithFlags", 11040, t.graph_instantiate_with_flags, optional);
    visit("cuGraphLaunch", 10000, t.graph_launch, optional);
    visit("cuGraphDestroy", 10000, t.graph_destroy, optional);
    visit("cuGraphExecDestroy", 10000, t.graph_exec_destroy, optional);
    visit("cuEventCreate", 2000, t.event_create, required);
    visit("cuEventDestroy", 4000, t.event_destroy, required);
    visit("cuEventRecord", 2000, t.event_record, required);
    visit("cuEventSynchronize", 2000, t.event_synchronize, required);
    visit("cuEventQuery", 2000, t.event_query, required);
    visit("cuEventElapsedTime", 2000, t.event_elapsed_time, required);
    visit("cuMemGetInfo", 3020, t.mem_get_info, required);
    visit("cuMemAlloc", 3020, t.mem_alloc, required);
    visit("cuMemFree", 3020, t.mem_free, required);
    visit("cuMemcpyHtoDAsync", 3020, t.memcpy_htod_async, required);
    visit("cuMemcpyDtoHAsync", 3020, t.memcpy_dtoh_async, required);
    visit("cuMemcpyDtoDAsync", 3020, t.memcpy_dtod_async, required);
    visit("cuMemsetD8Async", 3020, t.memset_d8_async, required);
    visit("cuMemsetD32Async", 3020, t.memset_d32_async, required);
    visit("cuPointerGetAttribute", 4000, t.pointer_get_attribute, required);
    visit("cuTensorMapEncodeTiled", 12000, t.tensor_map_encode_tiled, optional);
    visit("cuTensorMapEncodeIm2col", 12000, t.tensor_map_encode_im2col, optional);
    visit("cuTensorMapEncodeIm2colWide", 12080, t.tensor_map_encode_im2col_wide, optional);
}

/// `13000` as "13.0".
inline std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

using get_proc_address = cu::status (*)(const char*, void**, int, std::uint64_t, int*);
inline constexpr int oldest_driver = 12000;  // PTX 8.0, the first with sm_90a

inline error driver_too_old(int version) {
    return {
        errc::driver_too_old,
        fmt::format(
            "the installed NVIDIA driver supports CUDA {} but ptxdsl needs CUDA 12.0 or newer (the first with sm_90a); "
            "install driver 525.60.13 or newer",
            version > 0 ? cuda_version_text(version) : std::string("before 12.0"))};
}

/// Fills every slot of `t` that the driver has.
inline error resolve_entries(driver_table& t, get_proc_address get) {
    error problem;
    for_each_entry(t, [&](const char* symbol, int version, auto& slot, entry_need need) {
        void* found = nullptr;
        int query = 0;
        if (get(symbol, &found, version, 0, &query) == cu::status::success && found != nullptr) {
            slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(found);
        } else if (need == entry_need::required && !problem) {
            problem = {errc::driver_too_old,
                       fmt::format("the installed NVIDIA driver has no {} of CUDA {}; install a newer driver", symbol,
                                   cuda_version_text(version))};
        }
    });
    return problem;
}

/// The sentence for a failed `cuInit`.
inline error init_failed(cu::status s) {
    if (s == cu::status::no_device)
        return {
            errc::no_device,
            "the NVIDIA driver is installed but finds no GPU; check nvidia-smi, CUDA_VISIBLE_DEVICES and the container's GPU options",
            s};
    if (s == cu::status::stub_library)
        return {
            errc::no_driver,
            "libcuda.so.1 is the CUDA toolkit's stub library, not a driver; take the stubs folder out of LD_LIBRARY_PATH",
            s};
    if (s == cu::status::system_driver_mismatch)
        return {errc::driver_error,
                "the NVIDIA kernel module and libcuda.so.1 have different versions; reboot or reinstall the driver", s};
    return {
        errc::driver_error,
        fmt::format("cuInit failed with CUDA error {}; check that nvidia-smi works for this user", static_cast<int>(s)),
        s};
}

struct loaded_driver {
    driver_table table;
    error problem;
};

/// Loads the library and resolves the table. The library is never unloaded: contexts and streams outlive any handle.
inline loaded_driver load_driver(const char* library) {
    loaded_driver d;
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* why = dlerror();
        d.problem = {
            errc::no_driver,
            fmt::format(
                "no NVIDIA driver on this machine: {} cannot be loaded ({}); install the driver, or run where there is a GPU",
                library, why != nullptr ? why : "no reason given")};
        return d;
    }
    const auto version = reinterpret_cast<decltype(d.table.driver_get_version)>(dlsym(handle, "cuDriverGetVersion"));
    if (version != nullptr) (void)version(&d.table.version);
    const auto get = reinterpret_cast<get_proc_address>(dlsym(handle, "cuGetProcAddress_v2"));
    if (get == nullptr || (version != nullptr && d.table.version < oldest_driver)) {
        d.problem = driver_too_old(d.table.version);
        return d;
    }
    d.problem = resolve_entries(d.table, get);
    if (!d.problem)
        if (const auto s = d.table.init(0); s != cu::status::success) d.problem = init_failed(s);
    return d;
}

inline std::atomic<const driver_table*>& driver_override_slot() noexcept {
    static std::atomic<const driver_table*> slot{nullptr};
    return slot;
}

}  // namespace runtime_detail

/// The driver's table, loaded and initialised at the first call; every later call (from any thread) gives the same
/// answer. Errors: `no_driver`, `driver_too_old`, `no_device`, `driver_error`.
inline result<const driver_table*> driver() {
    if (const auto* fake = runtime_detail::driver_override_slot().load(std::memory_order_acquire)) return fake;
    static const runtime_detail::loaded_driver real = runtime_detail::load_driver("libcuda.so.1");
    if (real.problem) return real.problem;
    return &real.table;
}

/// While it lives, `driver()` answers with `table`. For tests; `table` must outlive all that was made with it.
class driver_override {
public:
    explicit driver_override(const driver_table& table)
        : previous_(runtime_detail::driver_override_slot().exchange(&table)) {}
    ~driver_override() { runtime_detail::driver_override_slot().store(previous_); }
    driver_override(const driver_override&) = delete;
    driver_override& operator=(const driver_override&) = delete;

private:
    const driver_table* previous_;
};

/// The newest PTX version that a driver of this CUDA version assembles; nothing for drivers newer than this table
/// (PTX ISA, "Release history"), which take every version listed here.
[[nodiscard]] constexpr std::optional<ptx_version> ptx_of_driver(int cuda_version) noexcept {
    struct row {
        int cuda;
        ptx_version ptx;
    };
    constexpr row rows[] = {{11080, {7, 8}}, {12000, {8, 0}}, {12010, {8, 1}}, {12020, {8, 2}}, {12030, {8, 3}},
                            {12040, {8, 4}}, {12050, {8, 5}}, {12060, {8, 5}}, {12070, {8, 6}}, {12080, {8, 7}},
                            {12090, {8, 8}}, {13000, {9, 0}}, {13010, {9, 1}}, {13020, {9, 2}}, {13030, {9, 3}},
                            {13040, {9, 4}}, {13050, {9, 5}}};
    constexpr auto last = sizeof(rows) / sizeof(rows[0]) - 1;
    if (cuda_version >= rows[last].cuda + 10) return std::nullopt;
    ptx_version found{};
    for (const auto& r : rows)
        if (cuda_version >= r.cuda) found = r.ptx;
    return found;
}

/// The first CUDA version whose driver assembles this PTX version; 0 where the table has none.
[[nodiscard]] constexpr int driver_for_ptx(ptx_version v) noexcept {
    for (int cuda = 11080; cuda <= 13050; cuda += 10)
        if (const auto p = ptx_of_driver(cuda); p && *p >= v) return cuda;
    return 0;
}

namespace runtime_detail {

/// The driver's name of a status, e.g. "CUDA_ERROR_INVALID_VALUE".
inline std::string status_text(const driver_table& t, cu::status s) {
    const char* id = nullptr;
    const char* words = nullptr;
    if (t.get_error_name != nullptr) (void)t.get_error_name(s, &id);
    if (t.get_error_string != nullptr) (void)t.get_error_string(s, &words);
    if (id == nullptr) return fmt::format("CUDA error {}", static_cast<int>(s));
    return words != nullptr ? fmt::format("{} ({}: {})", id, static_cast<int>(s), words)
                            : fmt::format("{} ({})", id, static_cast<int>(s));
}

/// Whether a status means that the context is gone for good.
[[nodiscard]] constexpr bool is_sticky(cu::status s) noexcept {
    switch (s) {
        case cu::status::deinitialized:
        case cu::status::ecc_uncorrectable:
        case cu::status::nvlink_uncorrectable:
        case cu::status::contained:
        case cu::status::illegal_address:
        case cu::status::launch_timeout:
        case cu::status::context_is_destroyed:
        case cu::status::device_assert:
        case cu::status::hardware_stack_error:
        case cu::status::illegal_instruction:
        case cu::status::misaligned_address:
        case cu::status::invalid_address_space:
        case cu::status::invalid_pc:
        case cu::status::launch_failed:
        case cu::status::tensor_memory_leak: return true;
        default: return false;
    }
}

/// The error for a failed driver call. `what`: what was being done and to which object, as the start of a sentence.
[[gnu::cold]] inline error driver_failed(const driver_table& t, cu::status s, std::string_view what) {
    if (is_sticky(s)) {
        return {
            errc::context_lost,
            fmt::format(
                "{}: {}; a kernel launched before this call failed, and the context is lost: every later call on this device fails until the process "
                "restarts; run the program under compute-sanitizer to find the kernel{}",
                what, status_text(t, s),
                s == cu::status::illegal_instruction
                    ? " (a tensor copy whose innermost coordinate is not a multiple of 16 bytes ends this way)"
                    : ""),
            s};
    }
    if (s == cu::status::out_of_memory)
        return {errc::out_of_memory,
                fmt::format("{}: out of device memory; free buffers or ask for less (the context stays usable)", what),
                s};
    if (s == cu::status::not_supported) return {errc::not_supported, fmt::format("{}: {}", what, status_text(t, s)), s};
    return {errc::driver_error, fmt::format("{}: {}", what, status_text(t, s)), s};
}

}  // namespace runtime_detail

}  // namespace ptxdsl
