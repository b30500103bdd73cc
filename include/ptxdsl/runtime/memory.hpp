// SPDX-License-Identifier: Apache-2.0
// Device memory: typed pointers, owned buffers, copies and fills.
#pragma once

#include <ptxdsl/runtime/stream.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl {

/// A pointer to memory the device reads: an address with an element type. Owns nothing.
template <class T>
struct device_ptr {
    std::uint64_t address = 0;

    constexpr device_ptr() noexcept = default;
    constexpr explicit device_ptr(std::uint64_t a) noexcept : address(a) {}
    explicit device_ptr(T* p) noexcept : address(reinterpret_cast<std::uint64_t>(p)) {}
    /// Adding const is implicit, as for a pointer.
    template <class U>
        requires(std::same_as<const U, T> && !std::is_const_v<U>)
    constexpr device_ptr(device_ptr<U> p) noexcept : address(p.address) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] T* get() const noexcept { return reinterpret_cast<T*>(address); }
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return address != 0; }
    [[nodiscard]] friend constexpr device_ptr operator+(device_ptr p, std::uint64_t elements) noexcept {
        return device_ptr(p.address + elements * sizeof(T));
    }
    constexpr bool operator==(const device_ptr&) const noexcept = default;
};
template <class T>
device_ptr(T*) -> device_ptr<T>;

/// Another library's pointer (`void*`, `__nv_bfloat16*`, an integer address) as one to `T`.
template <class T>
[[nodiscard]] device_ptr<T> device_ptr_cast(const void* p) noexcept {
    return device_ptr<T>(reinterpret_cast<std::uint64_t>(p));
}
template <class T>
[[nodiscard]] constexpr device_ptr<T> device_ptr_cast(std::uint64_t address) noexcept {
    return device_ptr<T>(address);
}

namespace runtime_detail {

/// Runs an asynchronous operation on the legacy default stream and waits for it, so that "done" means done on the
/// device too (a plain `cuMemcpyHtoD` of pageable memory may return before the last bytes have landed).
template <class Call, class What>
result<void> run_and_wait(const context_state& c, Call&& call, What&& what) {
    return with_context(
        c,
        [&](const driver_table& t) {
            const auto s = call(t, cu::stream{nullptr});
            return s == cu::status::success ? t.stream_synchronize(nullptr) : s;
        },
        what);
}

}  // namespace runtime_detail

/// `count` elements of device memory, owned. Movable, not copyable.
///
/// The synchronous members run on the legacy default stream and wait; work on streams created `non_blocking` is not
/// ordered with them. The asynchronous members only enqueue: host memory must stay valid until the stream has passed
/// them.
template <class T>
class device_buffer {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                  "PTXDSL-J06: device memory holds trivially copyable, non-const elements");

public:
    using element = T;

    /// Errors: `out_of_memory` (names bytes asked and free; the context stays usable), `context_lost`.
    static result<device_buffer> allocate(const context& ctx, std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
            return error{
                errc::out_of_memory,
                fmt::format("a buffer of {} elements of {} bytes exceeds the address space", count, sizeof(T))};
        device_buffer b(ctx, count);
        if (count == 0) return b;
        const runtime_detail::current_context current(*ctx.state());
        const driver_table& t = ctx.driver();
        const auto s =
            current.status() == cu::status::success ? t.mem_alloc(&b.address_, count * sizeof(T)) : current.status();
        if (s == cu::status::out_of_memory) return exhausted(ctx, count * sizeof(T));
        if (s != cu::status::success)
            return runtime_detail::driver_failed(
                t, s, fmt::format("allocating {} bytes on {}", count * sizeof(T), ctx.device().text()));
        return b;
    }

    /// A buffer with a copy of `host`.
    static result<device_buffer> from(const context& ctx, std::span<const T> host) {
        auto b = allocate(ctx, host.size());
        if (!b) return b;
        if (const auto r = b->upload(host); !r) return r.error();
        return b;
    }

    device_buffer(device_buffer&& other) noexcept
        : ctx_(other.ctx_), address_(std::exchange(other.address_, 0)), count_(std::exchange(other.count_, 0)) {}
    device_buffer& operator=(device_buffer&& other) noexcept {
        if (this != &other) {
            release();
            ctx_ = other.ctx_;
            address_ = std::exchange(other.address_, 0);
            count_ = std::exchange(other.count_, 0);
        }
        return *this;
    }
    ~device_buffer() { release(); }

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return count_ * sizeof(T); }
    [[nodiscard]] device_ptr<T> ptr() noexcept { return device_ptr<T>(address_); }
    [[nodiscard]] device_ptr<const T> ptr() const noexcept { return device_ptr<const T>(address_); }
    [[nodiscard]] const context& ctx() const noexcept { return ctx_; }

    /// Host to device and back; `host.size()` must be `size()`.
    [[nodiscard]] result<void> upload(std::span<const T> host) {
        if (auto e = same_count("upload", host.size())) return e;
        return wait(
            [&](const driver_table& t, cu::stream s) { return t.memcpy_htod_async(address_, host.data(), bytes(), s); },
            "copying host memory to the device");
    }
    [[nodiscard]] result<void> download(std::span<T> host) const {
        if (auto e = same_count("download", host.size())) return e;
        return wait(
            [&](const driver_table& t, cu::stream s) { return t.memcpy_dtoh_async(host.data(), address_, bytes(), s); },
            "copying device memory to the host");
    }
    [[nodiscard]] result<void> copy_from(const device_buffer& other) {
        if (auto e = same_count("copy", other.size())) return e;
        return wait([&](const driver_table& t,
                        cu::stream s) { return t.memcpy_dtod_async(address_, other.address_, bytes(), s); },
                    "copying device memory");
    }
    /// Every byte to `value`.
    [[nodiscard]] result<void> fill_bytes(std::uint8_t value) {
        return wait([&](const driver_table& t, cu::stream s) { return t.memset_d8_async(address_, value, bytes(), s); },
                    "filling device memory");
    }

    [[nodiscard]] result<void> upload_async(stream_ref s, std::span<const T> host) {
        if (auto e = same_count("upload", host.size())) return e;
        return enqueue(
            [&](const driver_table& t) { return t.memcpy_htod_async(address_, host.data(), bytes(), s.handle); },
            "copying host memory to the device");
    }
    [[nodiscard]] result<void> download_async(stream_ref s, std::span<T> host) const {
        if (auto e = same_count("download", host.size())) return e;
        return enqueue(
            [&](const driver_table& t) { return t.memcpy_dtoh_async(host.data(), address_, bytes(), s.handle); },
            "copying device memory to the host");
    }
    [[nodiscard]] result<void> copy_from_async(stream_ref s, const device_buffer& other) {
        if (auto e = same_count("copy", other.size())) return e;
        return enqueue(
            [&](const driver_table& t) { return t.memcpy_dtod_async(address_, other.address_, bytes(), s.handle); },
            "copying device memory");
    }
    [[nodiscard]] result<void> fill_bytes_async(stream_ref s, std::uint8_t value) {
        return enqueue([&](const driver_table& t) { return t.memset_d8_async(address_, value, bytes(), s.handle); },
                       "filling device memory");
    }
    /// Every 32-bit word to `value`; for elements of 4 bytes or a multiple.
    [[nodiscard]] result<void> fill_words_async(stream_ref s, std::uint32_t value) {
        static_assert(sizeof(T) % 4 == 0,
                      "PTXDSL-J06: fill_words needs elements of a multiple of 4 bytes; use fill_bytes");
        return enqueue(
            [&](const driver_table& t) { return t.memset_d32_async(address_, value, bytes() / 4, s.handle); },
            "filling device memory");
    }

private:
    device_buffer(const context& ctx, std::size_t count) : ctx_(ctx), count_(count) {}

    static error exhausted(const context& ctx, std::size_t bytes) {
        std::size_t free = 0;
        std::size_t total = 0;
        (void)ctx.driver().mem_get_info(&free, &total);
        return {
            errc::out_of_memory,
            fmt::format(
                "allocating {} bytes on {} failed: {} of {} bytes are free; free buffers or ask for less (the context stays usable)",
                bytes, ctx.device().text(), free, total),
            cu::status::out_of_memory};
    }
    error same_count(const char* what, std::size_t found) const {
        if (found == count_) [[likely]]
            return {};
        return {errc::bad_argument,
                fmt::format("{}: the device buffer has {} elements, the other side {}; pass exactly {} elements", what,
                            count_, found, count_)};
    }
    template <class Call>
    result<void> wait(Call&& call, const char* what) const {
        if (count_ == 0) return {};
        return runtime_detail::run_and_wait(
            *ctx_.state(), call, [&] { return fmt::format("{} ({} bytes, {})", what, bytes(), ctx_.device().text()); });
    }
    template <class Call>
    result<void> enqueue(Call&& call, const char* what) const {
        if (count_ == 0) return {};
        return runtime_detail::with_context(
            *ctx_.state(), call, [&] { return fmt::format("{} ({} bytes, {})", what, bytes(), ctx_.device().text()); });
    }
    void release() noexcept {
        if (address_ == 0) return;
        const runtime_detail::current_context current(*ctx_.state());
        if (current.status() == cu::status::success) (void)ctx_.driver().mem_free(address_);
        address_ = 0;
    }

    context ctx_;
    cu::deviceptr address_ = 0;
    std::size_t count_ = 0;
};

}  // namespace ptxdsl

#include <ptxdsl/detail/epilogue.hpp>
