// SPDX-License-Identifier: Apache-2.0
// Errors of the runtime as values (`error`, `result<T>`), and one throwing wrapper for those who prefer exceptions.
#pragma once

#include <ptxdsl/runtime/driver_api.hpp>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ptxdsl {

/// What went wrong, for code that decides on it. The sentence for people is `error::message()`.
enum class errc : std::uint8_t {
    none,
    no_driver,         ///< libcuda cannot be loaded
    driver_too_old,    ///< the driver lacks something this program needs
    no_device,         ///< the driver runs but sees no GPU, or not the one asked for
    wrong_target,      ///< the kernel's `.target` does not run on this device
    ptx_too_new,       ///< the kernel's `.version` is newer than the driver's assembler
    ptx_rejected,      ///< the driver's assembler refused the text
    kernel_not_found,  ///< the module has no entry of that name
    bad_grid,          ///< grid zero, too large or not divisible by the cluster
    bad_block,         ///< block zero, too large or not the one the kernel requires
    bad_cluster,       ///< cluster too large, or not the one the kernel requires
    bad_shared_size,   ///< more shared memory than a block may have
    bad_argument,      ///< an argument out of range, null, misaligned, or of another device
    bad_tensor,        ///< a tensor or box that breaks a rule of tensor maps
    out_of_memory,     ///< an allocation failed; the context stays usable
    context_lost,      ///< sticky: a kernel failed earlier and every later call on this context fails
    not_supported,     ///< the device or driver has no such feature
    driver_error,      ///< any other failure the driver reports
};

[[nodiscard]] constexpr std::string_view name(errc c) noexcept {
    constexpr std::string_view names[] = {
        "none",         "no_driver",        "driver_too_old", "no_device",    "wrong_target",  "ptx_too_new",
        "ptx_rejected", "kernel_not_found", "bad_grid",       "bad_block",    "bad_cluster",   "bad_shared_size",
        "bad_argument", "bad_tensor",       "out_of_memory",  "context_lost", "not_supported", "driver_error"};
    return names[static_cast<unsigned>(c)];
}

/// An error, or none. Two words, cheap to copy; without an error it owns nothing.
class [[nodiscard]] error {
public:
    error() noexcept = default;

    /// `sentence` names the object, what was expected, what was found and what to do. `log`: further text, e.g. the
    /// assembler's.
    error(errc code, std::string sentence, cu::status driver_status = cu::status::success, std::string log = {})
        : what_(std::make_shared<payload>(payload{code, driver_status, std::move(sentence), std::move(log)})) {}

    /// True when there is an error.
    [[nodiscard]] explicit operator bool() const noexcept { return what_ != nullptr; }
    [[nodiscard]] errc code() const noexcept { return what_ ? what_->code : errc::none; }
    /// The driver's own code; `success` when the driver was not asked.
    [[nodiscard]] cu::status driver_status() const noexcept { return what_ ? what_->status : cu::status::success; }
    [[nodiscard]] const char* message() const noexcept { return what_ ? what_->sentence.c_str() : "no error"; }
    /// The assembler's complete log where there is one.
    [[nodiscard]] std::string_view log() const noexcept {
        return what_ ? std::string_view{what_->log} : std::string_view{};
    }
    /// True when the context cannot be used any more (see `errc::context_lost`).
    [[nodiscard]] bool sticky() const noexcept { return code() == errc::context_lost; }

private:
    struct payload {
        errc code;
        cu::status status;
        std::string sentence;
        std::string log;
    };
    std::shared_ptr<const payload> what_;
};

/// The exception of the throwing wrapper (`value_or_throw`, `check`).
class exception : public std::runtime_error {
public:
    explicit exception(error e) : std::runtime_error(e.message()), error_(std::move(e)) {}
    [[nodiscard]] const error& what_happened() const noexcept { return error_; }
    [[nodiscard]] errc code() const noexcept { return error_.code(); }

private:
    error error_;
};

namespace runtime_detail {
/// Throws; in a program built without exceptions prints the sentence and aborts.
[[noreturn]] inline void raise(const error& e) {
#if defined(__cpp_exceptions)
    throw exception(e);
#else
    std::fprintf(stderr, "%s\n", e.message());
    std::abort();
#endif
}
}  // namespace runtime_detail

/// A value or an error.
template <class T>
class [[nodiscard]] result {
public:
    using value_type = T;

    result(const T& value)  // NOLINT(google-explicit-constructor)
        requires(std::is_copy_constructible_v<T>)
        : value_(value) {}
    result(T&& value) : value_(std::move(value)) {}   // NOLINT(google-explicit-constructor)
    result(ptxdsl::error e) : error_(std::move(e)) {  // NOLINT(google-explicit-constructor)
        assert(error_ && "a result without a value needs an error");
    }

    [[nodiscard]] explicit operator bool() const noexcept { return value_.has_value(); }
    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
    [[nodiscard]] const ptxdsl::error& error() const noexcept { return error_; }
    [[nodiscard]] errc code() const noexcept { return error_.code(); }

    /// The value; undefined without one, as for `std::expected`.
    [[nodiscard]] T& operator*() & noexcept { return *value_; }
    [[nodiscard]] const T& operator*() const& noexcept { return *value_; }
    [[nodiscard]] T&& operator*() && noexcept { return std::move(*value_); }
    [[nodiscard]] T* operator->() noexcept { return &*value_; }
    [[nodiscard]] const T* operator->() const noexcept { return &*value_; }

    /// The value, or `exception` with the error's sentence.
    [[nodiscard]] T& value_or_throw() & { return require(), *value_; }
    [[nodiscard]] const T& value_or_throw() const& { return require(), *value_; }
    [[nodiscard]] T value_or_throw() && { return require(), std::move(*value_); }

private:
    void require() const {
        if (!value_) runtime_detail::raise(error_);
    }
    std::optional<T> value_;
    ptxdsl::error error_;
};

template <>
class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() noexcept = default;
    result(ptxdsl::error e) noexcept : error_(std::move(e)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] explicit operator bool() const noexcept { return !error_; }
    [[nodiscard]] bool has_value() const noexcept { return !error_; }
    [[nodiscard]] const ptxdsl::error& error() const noexcept { return error_; }
    [[nodiscard]] errc code() const noexcept { return error_.code(); }
    void value_or_throw() const {
        if (error_) runtime_detail::raise(error_);
    }

private:
    ptxdsl::error error_;
};

/// `check(f())`: the value of `f()`, or `exception`.
template <class T>
T check(result<T> r) {
    return std::move(r).value_or_throw();
}
inline void check(const result<void>& r) { r.value_or_throw(); }

}  // namespace ptxdsl
