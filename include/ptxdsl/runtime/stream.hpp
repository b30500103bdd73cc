// SPDX-License-Identifier: Apache-2.0
// Streams, events and captured graphs.
#pragma once

#include <ptxdsl/runtime/context.hpp>

#include <type_traits>
#include <utility>

namespace ptxdsl {

class event;

/// A stream of a context: owned (`create`) or somebody else's (`borrow`).
class stream {
public:
    struct options {
        bool non_blocking = false;  ///< does not order itself with the legacy default stream
        int priority = 0;           ///< lower numbers run first
    };

    static result<stream> create(const context& ctx, options o) {
        stream s(ctx, nullptr, true);
        const unsigned flags = o.non_blocking ? cu::stream_non_blocking : cu::stream_default;
        const auto r = runtime_detail::with_context(
            *ctx.state(),
            [&](const driver_table& t) { return t.stream_create_with_priority(&s.handle_, flags, o.priority); },
            [&] { return "creating a stream on " + ctx.device().text(); });
        if (!r) return r.error();
        return s;
    }
    static result<stream> create(const context& ctx) { return create(ctx, options{}); }

    /// A stream that stays its owner's, e.g. torch's current stream; `nullptr` is the legacy default stream.
    static stream borrow(const context& ctx, cu::stream handle) { return stream(ctx, handle, false); }

    stream(stream&& other) noexcept
        : ctx_(other.ctx_),
          handle_(std::exchange(other.handle_, nullptr)),
          owned_(std::exchange(other.owned_, false)) {}
    stream& operator=(stream&& other) noexcept {
        if (this != &other) {
            destroy();
            ctx_ = other.ctx_;
            handle_ = std::exchange(other.handle_, nullptr);
            owned_ = std::exchange(other.owned_, false);
        }
        return *this;
    }
    ~stream() { destroy(); }

    [[nodiscard]] cu::stream handle() const noexcept { return handle_; }
    [[nodiscard]] const context& ctx() const noexcept { return ctx_; }

    /// Waits for the work given to the stream so far.
    [[nodiscard]] result<void> synchronize() const {
        return runtime_detail::with_context(
            *ctx_.state(), [&](const driver_table& t) { return t.stream_synchronize(handle_); },
            [&] { return "waiting for a stream of " + ctx_.device().text(); });
    }
    /// Whether that work is done.
    [[nodiscard]] result<bool> done() const {
        const runtime_detail::current_context current(*ctx_.state());
        const auto s = current.status() == cu::status::success ? ctx_.driver().stream_query(handle_) : current.status();
        if (s == cu::status::not_ready) return false;
        if (s != cu::status::success)
            return runtime_detail::driver_failed(ctx_.driver(), s, "asking a stream of " + ctx_.device().text());
        return true;
    }
    /// Later work of this stream starts after `e`.
    [[nodiscard]] result<void> wait(const event& e) const;

private:
    stream(const context& ctx, cu::stream handle, bool owned) : ctx_(ctx), handle_(handle), owned_(owned) {}
    void destroy() noexcept {
        if (!owned_ || handle_ == nullptr) return;
        const runtime_detail::current_context current(*ctx_.state());
        if (current.status() == cu::status::success) (void)ctx_.driver().stream_destroy(handle_);
    }

    context ctx_;
    cu::stream handle_ = nullptr;
    bool owned_ = false;
};

/// What calls take: a `stream`, or a bare `CUstream`/`cudaStream_t` of the context in question.
struct stream_ref {
    cu::stream handle = nullptr;
    const runtime_detail::context_state* state = nullptr;  ///< null when unknown

    stream_ref(const stream& s) noexcept
        : handle(s.handle()), state(s.ctx().state().get()) {}  // NOLINT(google-explicit-constructor)
    stream_ref(cu::stream s) noexcept : handle(s) {}           // NOLINT(google-explicit-constructor)
};

/// A point in a stream's work.
class event {
public:
    /// `timing`: the event records its time (needed by `elapsed_ms`).
    static result<event> create(const context& ctx, bool timing = true) {
        event e(ctx);
        const auto r = runtime_detail::with_context(
            *ctx.state(),
            [&](const driver_table& t) {
                return t.event_create(&e.handle_, timing ? cu::event_default : cu::event_disable_timing);
            },
            [&] { return "creating an event on " + ctx.device().text(); });
        if (!r) return r.error();
        return e;
    }
    event(event&& other) noexcept : ctx_(other.ctx_), handle_(std::exchange(other.handle_, nullptr)) {}
    event& operator=(event&& other) noexcept {
        if (this != &other) {
            destroy();
            ctx_ = other.ctx_;
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~event() { destroy(); }

    [[nodiscard]] cu::event handle() const noexcept { return handle_; }
    [[nodiscard]] result<void> record(stream_ref s) const {
        return runtime_detail::with_context(
            *ctx_.state(), [&](const driver_table& t) { return t.event_record(handle_, s.handle); },
            [] { return "recording an event"; });
    }
    [[nodiscard]] result<void> synchronize() const {
        return runtime_detail::with_context(
            *ctx_.state(), [&](const driver_table& t) { return t.event_synchronize(handle_); },
            [] { return "waiting for an event"; });
    }
    /// Milliseconds from `start` to `stop`; both recorded and reached.
    static result<float> elapsed_ms(const event& start, const event& stop) {
        float ms = 0;
        const auto r = runtime_detail::with_context(
            *start.ctx_.state(),
            [&](const driver_table& t) { return t.event_elapsed_time(&ms, start.handle_, stop.handle_); },
            [] { return "measuring between two events (both must be recorded with timing, and reached)"; });
        if (!r) return r.error();
        return ms;
    }

private:
    explicit event(const context& ctx) : ctx_(ctx) {}
    void destroy() noexcept {
        if (handle_ == nullptr) return;
        const runtime_detail::current_context current(*ctx_.state());
        if (current.status() == cu::status::success) (void)ctx_.driver().event_destroy(handle_);
    }
    context ctx_;
    cu::event handle_ = nullptr;
};

inline result<void> stream::wait(const event& e) const {
    return runtime_detail::with_context(
        *ctx_.state(), [&](const driver_table& t) { return t.stream_wait_event(handle_, e.handle(), 0); },
        [] { return "making a stream wait for an event"; });
}

/// A recorded sequence of launches and copies that replays as one. Arguments and tensor maps are captured by value.
class graph {
public:
    /// Runs `work()` (returning `result<void>`) with `s` capturing: what it gives to the stream is recorded, not run.
    /// Capture is thread-local, other threads are not disturbed. `s` must not be the default stream.
    template <class Work>
    static result<graph> capture(const stream& s, Work&& work) {
        const context& ctx = s.ctx();
        const driver_table& t = ctx.driver();
        if (t.stream_begin_capture == nullptr || t.graph_instantiate_with_flags == nullptr)
            return error{errc::not_supported, "this driver cannot capture graphs; it needs CUDA 11.4 or newer"};
        if (s.handle() == nullptr)
            return error{errc::bad_argument,
                         "the default stream cannot be captured; capture a stream made with stream::create"};
        const runtime_detail::current_context current(*ctx.state());
        auto status = current.status();
        if (status == cu::status::success) status = t.stream_begin_capture(s.handle(), cu::capture_mode::thread_local_);
        if (status != cu::status::success)
            return runtime_detail::driver_failed(t, status, "starting to capture a graph");
        const result<void> worked = work();
        cu::graph recorded = nullptr;
        status = t.stream_end_capture(s.handle(), &recorded);
        graph g(ctx);
        if (worked && status == cu::status::success) status = t.graph_instantiate_with_flags(&g.handle_, recorded, 0);
        if (recorded != nullptr) (void)t.graph_destroy(recorded);
        if (!worked) return worked.error();
        if (status != cu::status::success)
            return runtime_detail::driver_failed(
                t, status, "finishing a captured graph (no synchronous call may happen while a stream captures)");
        return g;
    }
    graph(graph&& other) noexcept : ctx_(other.ctx_), handle_(std::exchange(other.handle_, nullptr)) {}
    graph& operator=(graph&&) = delete;
    ~graph() {
        if (handle_ == nullptr) return;
        const runtime_detail::current_context current(*ctx_.state());
        if (current.status() == cu::status::success) (void)ctx_.driver().graph_exec_destroy(handle_);
    }
    [[nodiscard]] result<void> launch(stream_ref s) const {
        return runtime_detail::with_context(
            *ctx_.state(), [&](const driver_table& t) { return t.graph_launch(handle_, s.handle); },
            [] { return "launching a graph"; });
    }

private:
    explicit graph(const context& ctx) : ctx_(ctx) {}
    context ctx_;
    cu::graph_exec handle_ = nullptr;
};

}  // namespace ptxdsl
