// SPDX-License-Identifier: Apache-2.0
// Typed launches: the compiler checks number, types and constness of the arguments, the library checks shapes before
// the driver sees them, and after the first launch nothing allocates or locks.
//
// A kernel is any object (or type with static members) that models `kernel_like`: the DSL's assembled kernels do.
#pragma once

#include <ptxdsl/runtime/launch_arguments.hpp>

#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl {

template <class First, class... Rest>
struct assembled_set;  // ptxdsl/assemble/kernel_set.hpp
/// Whether it is a kernel for several targets, of which each context loads the text that fits its device
/// (`px::assemble_for`).
template <class K>
inline constexpr bool is_kernel_set = false;
template <class First, class... Rest>
inline constexpr bool is_kernel_set<assembled_set<First, Rest...>> = true;

/// What a launch needs to know of a kernel. Optional members: `param_name(i)`, the name of a parameter, and
/// `source_of(ptx_line)`, a `source_line`.
template <class K>
concept kernel_like = is_kernel_set<K> || requires(const K& k) {
    { k.text() } -> std::convertible_to<std::string_view>;
    { k.name() } -> std::convertible_to<std::string_view>;
    { k.target() } -> std::convertible_to<target>;
    { k.version() } -> std::convertible_to<ptx_version>;
    { k.resources() } -> std::convertible_to<kernel_resources>;
    typename K::params;
};

namespace runtime_detail {

/// Whether it is known at compile time that kernel `K` declares no block size.
template <class K>
inline constexpr bool lacks_block = [] {
    if constexpr (requires { typename std::bool_constant<K::resources().threads[0] == 0>; })
        return K::resources().threads[0] == 0;
    else
        return false;
}();

/// Stops the compilation where a bare grid launches a kernel that declares no block size. Called like
/// `require_arguments`, and true like it.
template <class K>
consteval bool require_block() {
    static_assert(
        !lacks_block<K>,
        "PTXDSL-G02: a bare grid launches a kernel that declares no block size: pass px::launch_config{.grid = "
        "..., .block = ...}, or declare it with px::attributes{.reqntid = {threads}}");
    return !lacks_block<K>;
}

template <class K>
load_options options_for(const K& k) {
    load_options o;
    o.name = k.name();
    if constexpr (requires {
                      { k.source_of(std::uint32_t{1}) } -> std::convertible_to<source_line>;
                  })
        o.source = [&k](std::uint32_t line) -> source_line { return k.source_of(line); };
    return o;
}

/// Loads a kernel: target and version first, then the text, then its entry; raises its dynamic shared memory.
template <class K>
result<bound_kernel> bind_kernel(context_state& c, const K& k) {
    if (auto e = check_target(c, k.name(), k.target())) return e;
    if (auto e = check_version(c, k.name(), k.version())) return e;
    const auto m = load_text(c, k.text(), options_for(k));
    if (!m) return m.error();
    const auto slot = find_kernel(c, **m, k.name());
    if (!slot) return slot.error();
    bound_kernel b{&c, *slot, k.resources()};
    if (b.resources.dynamic_shared_bytes > b.slot->dynamic_allowed.load()) {
        const current_context current(c);
        if (auto e = allow_dynamic(b, b.resources.dynamic_shared_bytes)) return e;
    }
    return b;
}

/// J03: a kernel for several targets, of which the device is none.
template <class... K>
error no_target_fits(const context_state& c, const assembled_set<K...>& set) {
    std::string targets;
    for (const target t : set.targets) targets += (targets.empty() ? "" : ", ") + target_text(t);
    return {errc::wrong_target,
            fmt::format(
                "PTXDSL-J03: kernel '{}' is for {} but {} runs none of them; assemble the kernel for {} too or choose "
                "another device",
                std::string_view(set.name()), targets, c.info.text(), target_text(own_target(c)))};
}

/// Of a kernel for several targets the text that fits the device best.
template <class... K>
result<bound_kernel> bind_kernel(context_state& c, const assembled_set<K...>& set) {
    const std::size_t number = set.best_for(static_cast<unsigned>(c.info.major * 10 + c.info.minor));
    if (number == set.size) return no_target_fits(c, set);
    return set.with(number, [&](const auto& kernel) { return bind_kernel(c, kernel); });
}

}  // namespace runtime_detail

/// Whether these arguments can be passed to the kernel, in a form that does not stop the compilation.
template <class K, class... A>
concept launchable_with = kernel_like<K> && runtime_detail::arguments_fit<typename K::params, A...>;

/// A kernel loaded in one context. Launching through it neither allocates nor locks. Copies share everything; it keeps
/// its context alive and may be used from many threads at once.
template <kernel_like K>
class loaded {
public:
    using params = typename K::params;
    loaded(std::shared_ptr<runtime_detail::context_state> state, const runtime_detail::bound_kernel& kernel) noexcept
        : state_(std::move(state)), kernel_(kernel) {}

    /// Launches with the kernel's own block and cluster. Errors (before the driver is asked): `bad_grid`, `bad_block`,
    /// `bad_cluster`, `bad_shared_size`, `bad_argument`, `bad_tensor`; then what the driver reports. A kernel that
    /// declares no block size is refused by the compiler (PTXDSL-G02).
    template <class... A>
    result<void> launch(stream_ref s, grid g, A&&... arguments) const {
        if constexpr (runtime_detail::require_block<K>() && runtime_detail::require_arguments<K, A...>())
            return runtime_detail::checked_launch<K>(kernel_, s, launch_config{.grid = g}, typename K::params{},
                                                     arguments...);
        else
            return {};
    }
    template <class... A>
    result<void> launch(stream_ref s, const launch_config& config, A&&... arguments) const {
        if constexpr (runtime_detail::require_arguments<K, A...>())
            return runtime_detail::checked_launch<K>(kernel_, s, config, typename K::params{}, arguments...);
        else
            return {};
    }

    [[nodiscard]] context ctx() const noexcept { return context(state_); }
    [[nodiscard]] cu::function function() const noexcept { return kernel_.slot->function; }
    /// As the driver's assembler decided: registers a thread, spilled bytes a thread, static shared bytes a block.
    [[nodiscard]] std::uint32_t registers() const noexcept { return kernel_.slot->registers; }
    [[nodiscard]] std::uint32_t local_bytes() const noexcept { return kernel_.slot->local_bytes; }
    [[nodiscard]] std::uint32_t static_shared_bytes() const noexcept { return kernel_.slot->static_shared; }

private:
    std::shared_ptr<runtime_detail::context_state> state_;
    runtime_detail::bound_kernel kernel_;
};

/// Loads a kernel into a context; the same text is loaded once. Errors: those of `load_module`, `kernel_not_found`,
/// `bad_shared_size`.
template <kernel_like K>
result<loaded<K>> load(const context& ctx, const K& kernel) {
    const auto b = runtime_detail::bind_kernel(*ctx.state(), kernel);
    if (!b) return b.error();
    return loaded<K>(ctx.state(), *b);
}

/// Launches a loaded kernel.
template <class K, class... A>
result<void> launch(stream_ref s, const loaded<K>& kernel, grid g, A&&... arguments) {
    if constexpr (runtime_detail::require_block<K>() && runtime_detail::require_arguments<K, A...>())
        return kernel.launch(s, g, std::forward<A>(arguments)...);
    else
        return {};
}
template <class K, class... A>
result<void> launch(stream_ref s, const loaded<K>& kernel, const launch_config& config, A&&... arguments) {
    if constexpr (runtime_detail::require_arguments<K, A...>())
        return kernel.launch(s, config, std::forward<A>(arguments)...);
    else
        return {};
}

namespace runtime_detail {
template <class... P>
constexpr auto hana_types(param_list<P...>) noexcept {
    return boost::hana::tuple_t<P...>;
}
}  // namespace runtime_detail

/// The parameters of a kernel as Hana types, in PTX order: what code that is derived from a signature goes over, such
/// as bindings of another language. Each is a scalar type, a `pointer_param` or a `tensor_map_param`.
///
///     hana::for_each(px::parameter_types(kernel), [](auto type) { using P = typename decltype(type)::type; … });
template <kernel_like K>
[[nodiscard]] constexpr auto parameter_types(const K&) noexcept {
    return runtime_detail::hana_types(typename K::params{});
}

namespace runtime_detail {

/// A kernel that is wholly its type: every member can be called without an object, so its type identifies its text.
template <class K>
concept static_kernel = is_kernel_set<K> || requires {
    K::text();
    K::name();
    K::resources();
};

/// The kernel bound to a context, remembered per thread and device for kernels that are wholly their type.
template <class K>
result<bound_kernel> bind_remembered(context_state& c, const K& kernel) {
    if constexpr (static_kernel<K>) {
        struct memory {
            std::uint64_t context_id = 0;
            bound_kernel kernel;
        };
        static thread_local std::array<memory, 8> remembered;
        memory& m = remembered[static_cast<unsigned>(c.info.ordinal) % 8];
        if (m.context_id != c.id) {
            const auto b = bind_kernel(c, kernel);
            if (!b) return b;
            m = memory{c.id, *b};
        }
        return m.kernel;
    } else {
        return bind_kernel(c, kernel);
    }
}

}  // namespace runtime_detail

/// Launches a kernel in the stream's context, loading it there on first use. For a kernel that is an object of a
/// run-time text this looks the text up each time: use `load` once for those.
template <kernel_like K, class... A>
result<void> launch(const stream& s, const K& kernel, const launch_config& config, A&&... arguments) {
    if constexpr (runtime_detail::require_arguments<K, A...>()) {
        const auto b = runtime_detail::bind_remembered(*s.ctx().state(), kernel);
        if (!b) return b.error();
        return runtime_detail::checked_launch<K>(*b, s, config, typename K::params{}, arguments...);
    } else {
        return {};
    }
}
template <kernel_like K, class... A>
result<void> launch(const stream& s, const K& kernel, grid g, A&&... arguments) {
    if constexpr (runtime_detail::require_block<K>() && runtime_detail::require_arguments<K, A...>())
        return launch(s, kernel, launch_config{.grid = g}, std::forward<A>(arguments)...);
    else
        return {};
}

namespace runtime_detail {
template <class K>
inline constexpr bool is_loaded = false;
template <class K>
inline constexpr bool is_loaded<loaded<K>> = true;
template <class K>
inline constexpr bool is_launchable = kernel_like<K> || is_loaded<K>;
template <class S, class K>
inline constexpr bool is_stream_for =
    std::is_convertible_v<const S&, const stream&> || (is_loaded<K> && std::is_convertible_v<const S&, stream_ref>);
template <class... A>
inline constexpr bool begins_with_grid = false;
template <class G, class... A>
inline constexpr bool begins_with_grid<G, A...> =
    std::is_convertible_v<const G&, grid> || std::is_convertible_v<const G&, const launch_config&>;
}  // namespace runtime_detail

/// Refuses what is no stream, kernel and grid with a sentence (J01).
template <class S, class K, class... A>
    requires(!runtime_detail::is_stream_for<S, K> || !runtime_detail::is_launchable<K> ||
             !runtime_detail::begins_with_grid<A...>)
result<void> launch(const S&, const K&, const A&...) {
    constexpr bool kernel = runtime_detail::is_launchable<K>;
    constexpr bool on_stream = runtime_detail::is_stream_for<S, K>;
    static_assert(kernel,
                  "PTXDSL-J01: the second argument of launch is the kernel that px::assemble or px::load returned");
    static_assert(
        !kernel || on_stream,
        "PTXDSL-J01: the first argument of launch is a stream: px::stream::create(ctx), px::stream::borrow(ctx, handle)");
    static_assert(
        !kernel || !on_stream,
        "PTXDSL-J01: the third argument of launch is px::grid{blocks} or a px::launch_config; the kernel's arguments follow");
    return {};
}

/// Launches with the arguments of a Hana tuple, which may be put together piece by piece: bound once, launched often.
/// Checked like arguments that are spelled out; the same errors.
template <class Kernel, class... A>
result<void> launch_with(const stream& s, const Kernel& kernel, const launch_config& config,
                         const boost::hana::tuple<A...>& arguments) {
    if constexpr (runtime_detail::require_arguments<Kernel, const A&...>())
        return boost::hana::unpack(arguments, [&](const auto&... a) { return launch(s, kernel, config, a...); });
    else
        return {};
}

/// Launches an entry of a module without types: `arguments` are pointers to the values, in parameter order. For PTX
/// that comes as text; the configuration is checked as far as `resources` tells.
inline result<void> launch_untyped(const loaded_module& m, std::string_view kernel, stream_ref s,
                                   const launch_config& config, std::span<void*> arguments,
                                   const kernel_resources& resources = {}) {
    const auto slot = m.kernel(kernel);
    if (!slot) return slot.error();
    const runtime_detail::current_context current(*m.state());
    if (current.status() != cu::status::success)
        return runtime_detail::driver_failed(*m.state()->driver, current.status(),
                                             fmt::format("launching kernel '{}'", kernel));
    return runtime_detail::launch_bound({m.state().get(), *slot, resources}, s, config, arguments.data());
}

}  // namespace ptxdsl

#include <ptxdsl/detail/epilogue.hpp>
