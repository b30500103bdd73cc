// SPDX-License-Identifier: Apache-2.0
// A device's context. Handles are shared and cheap to copy; all members are safe from many threads.
#pragma once

#include <ptxdsl/runtime/device.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptxdsl {

namespace runtime_detail {

inline constexpr std::uint32_t shared_without_optin = 48u << 10;

/// One entry of a loaded module. Its address is stable for the life of the context.
struct kernel_slot {
    std::string name;
    cu::function function = nullptr;
    std::uint32_t static_shared = 0;
    std::uint32_t max_threads = 0;  ///< threads of a block, as its registers and launch bounds allow
    std::uint32_t registers = 0;
    std::uint32_t local_bytes = 0;
    std::atomic<std::uint32_t> dynamic_allowed{0};  ///< dynamic shared bytes the driver was told to allow
    std::atomic<bool> non_portable{false};          ///< clusters over 8 blocks were opted in
    std::mutex attributes;                          ///< held while either is raised
};

/// One loaded image. `mutex` guards everything but `image`, which never changes.
struct module_entry {
    std::string image;  ///< the PTX text or the cubin, owned: identity is its content
    std::mutex mutex;
    cu::module_ handle = nullptr;
    std::map<std::string, std::unique_ptr<kernel_slot>, std::less<>> kernels;
};

struct context_state;

/// Makes a context current for one scope, if it is not already, and restores the caller's.
class current_context {
public:
    explicit current_context(const context_state& c) noexcept;
    ~current_context();
    current_context(const current_context&) = delete;
    current_context& operator=(const current_context&) = delete;
    [[nodiscard]] cu::status status() const noexcept { return status_; }

private:
    const driver_table& driver_;
    cu::status status_ = cu::status::success;
    bool pushed_ = false;
};

/// What every handle of one context shares.
struct context_state {
    const driver_table* driver = nullptr;
    cu::context handle = nullptr;
    cu::device device = 0;
    bool retained = false;  ///< a primary context that is released with this state
    device_info info;
    const std::uint64_t id = next_id();  ///< never used twice in a process

    std::mutex cache_mutex;
    std::unordered_multimap<std::size_t, std::unique_ptr<module_entry>> cache;

    context_state() = default;
    context_state(const context_state&) = delete;
    context_state& operator=(const context_state&) = delete;
    ~context_state() {
        if (handle == nullptr) return;
        unload();
        if (retained) (void)driver->primary_ctx_release(device);
    }

    /// The entry for this image, made on first use; not loaded yet.
    module_entry& entry(std::string_view image) {
        const std::size_t key = std::hash<std::string_view>{}(image);
        const std::lock_guard lock(cache_mutex);
        const auto [first, last] = cache.equal_range(key);
        for (auto it = first; it != last; ++it)
            if (it->second->image == image) return *it->second;
        auto fresh = std::make_unique<module_entry>();
        fresh->image = image;
        return *cache.emplace(key, std::move(fresh))->second;
    }

private:
    static std::uint64_t next_id() noexcept {
        static std::atomic<std::uint64_t> counter{0};
        return ++counter;
    }
    void unload() {
        const current_context current(*this);
        if (current.status() != cu::status::success) return;
        for (auto& [key, m] : cache)
            if (m->handle != nullptr) (void)driver->module_unload(m->handle);
    }
};

inline current_context::current_context(const context_state& c) noexcept : driver_(*c.driver) {
    cu::context now = nullptr;
    status_ = driver_.ctx_get_current(&now);
    if (status_ != cu::status::success || now == c.handle) return;
    status_ = driver_.ctx_push_current(c.handle);
    pushed_ = status_ == cu::status::success;
}

inline current_context::~current_context() {
    cu::context popped = nullptr;
    if (pushed_) (void)driver_.ctx_pop_current(&popped);
}

/// The live state of each primary context, so that all handles of a device share one module cache.
struct primary_registry {
    std::mutex mutex;
    std::map<std::pair<const driver_table*, int>, std::weak_ptr<context_state>> states;
    static primary_registry& get() {
        static primary_registry r;
        return r;
    }
};

/// A status as a result: success, or the error that starts with `what()`.
template <class What>
result<void> to_result(const driver_table& t, cu::status s, What&& what) {
    if (s == cu::status::success) [[likely]]
        return {};
    return driver_failed(t, s, what());
}

/// Runs `call(driver)` with the context current.
template <class Call, class What>
result<void> with_context(const context_state& c, Call&& call, What&& what) {
    const current_context current(c);
    const auto s = current.status() == cu::status::success ? call(*c.driver) : current.status();
    return to_result(*c.driver, s, what);
}

}  // namespace runtime_detail

/// A context of one device. The library makes it current only during its own calls.
class context {
public:
    /// The device's primary context, which the CUDA runtime, torch and JAX use too; retained while any handle lives.
    /// Errors: those of `query_device`; `driver_error` when the device cannot be used (exclusive mode, no memory).
    static result<context> primary(int ordinal = 0) {
        auto info = query_device(ordinal);
        if (!info) return info.error();
        const driver_table& t = **ptxdsl::driver();
        auto& registry = runtime_detail::primary_registry::get();
        const std::lock_guard lock(registry.mutex);
        auto& known = registry.states[{&t, ordinal}];
        if (auto state = known.lock()) return context(std::move(state));
        auto state = std::make_shared<runtime_detail::context_state>();
        state->driver = &t;
        state->info = std::move(*info);
        auto s = t.device_get(&state->device, ordinal);
        if (s == cu::status::success) s = t.primary_ctx_retain(&state->handle, state->device);
        if (s != cu::status::success)
            return runtime_detail::driver_failed(t, s, fmt::format("opening {}", state->info.text()));
        state->retained = true;
        known = state;
        return context(std::move(state));
    }

    /// A context somebody else owns and keeps alive; `handle` is a `CUcontext`. Each call makes a handle with its own
    /// module cache.
    static result<context> adopt(cu::context handle) {
        const auto t = ptxdsl::driver();
        if (!t) return t.error();
        auto state = std::make_shared<runtime_detail::context_state>();
        state->driver = *t;
        state->handle = handle;
        {
            const runtime_detail::current_context current(*state);
            auto s = current.status();
            if (s == cu::status::success) s = (*t)->ctx_get_device(&state->device);
            if (s != cu::status::success) return runtime_detail::driver_failed(**t, s, "adopting a CUDA context");
        }
        state->info.ordinal = state->device;
        if (auto e = runtime_detail::fill_device_info(**t, state->device, state->info)) return e;
        return context(std::move(state));
    }

    /// The calling thread's current context, adopted. Error `driver_error` when there is none.
    static result<context> current() {
        const auto t = ptxdsl::driver();
        if (!t) return t.error();
        cu::context handle = nullptr;
        if (const auto s = (*t)->ctx_get_current(&handle); s != cu::status::success)
            return runtime_detail::driver_failed(**t, s, "asking for the current context");
        if (handle == nullptr)
            return error{errc::driver_error, "this thread has no current CUDA context; use context::primary(ordinal)"};
        return adopt(handle);
    }

    [[nodiscard]] const device_info& device() const noexcept { return state_->info; }
    [[nodiscard]] cu::context handle() const noexcept { return state_->handle; }
    [[nodiscard]] const driver_table& driver() const noexcept { return *state_->driver; }

    /// Waits for all work of the context. A kernel's failure shows here at the latest, as `context_lost`.
    [[nodiscard]] result<void> synchronize() const {
        return runtime_detail::with_context(
            *state_, [](const driver_table& t) { return t.ctx_synchronize(); },
            [&] { return "waiting for " + device().text(); });
    }

    struct memory_info {
        std::size_t free;
        std::size_t total;
    };
    /// Device memory in bytes.
    [[nodiscard]] result<memory_info> memory() const {
        memory_info m{};
        const auto r = runtime_detail::with_context(
            *state_, [&](const driver_table& t) { return t.mem_get_info(&m.free, &m.total); },
            [&] { return "asking for the memory of " + device().text(); });
        if (!r) return r.error();
        return m;
    }

    /// The shared state, for the library's own parts.
    [[nodiscard]] const std::shared_ptr<runtime_detail::context_state>& state() const noexcept { return state_; }
    explicit context(std::shared_ptr<runtime_detail::context_state> state) noexcept : state_(std::move(state)) {}

private:
    std::shared_ptr<runtime_detail::context_state> state_;
};

}  // namespace ptxdsl
