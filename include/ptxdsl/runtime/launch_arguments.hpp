// SPDX-License-Identifier: Apache-2.0
// The arguments of a launch: what the compiler checks of their types, and how they become what the driver copies.
#pragma once

#include <ptxdsl/runtime/launch_config.hpp>
#include <ptxdsl/runtime/tensor_map.hpp>

#include <boost/hana/tuple.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::runtime_detail {

/// Where an argument stands, for messages; and what its checks may need.
struct argument_site {
    const bound_kernel* kernel;
    unsigned index;
    std::string_view parameter;  ///< its name, or empty
    bool check_pointers;
};

inline std::string place(const argument_site& s) {
    return s.parameter.empty()
               ? fmt::format("kernel '{}', parameter {}", s.kernel->slot->name, s.index)
               : fmt::format("kernel '{}', parameter {} ('{}')", s.kernel->slot->name, s.index, s.parameter);
}
inline std::string tensor_name(const argument_site& s) {
    return s.parameter.empty()
               ? fmt::format("parameter {} of kernel '{}'", s.index, s.kernel->slot->name)
               : fmt::format("{}' (parameter {}) of kernel '{}", s.parameter, s.index, s.kernel->slot->name);
}

/// How an argument's type fails to fit a parameter.
enum class mismatch : std::uint8_t {
    none,
    scalar,
    not_pointer,
    element,
    drops_const,
    null,
    not_tensor,
    tensor_element,
    tensor_rank,
    other_map,
    tensor_const
};

template <class T>
inline constexpr bool is_plain_integer =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> &&
    !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>;

template <class T, class V>
[[gnu::cold]] error out_of_range(const argument_site& s, V value) {
    return {errc::bad_argument,
            fmt::format("PTXDSL-J01: {}: {} does not fit {}, which holds {} to {}", place(s), value,
                        isa::name(scalar_of<T>), std::numeric_limits<T>::min() + 0, std::numeric_limits<T>::max() + 0)};
}

/// How one parameter takes its argument: `storage` is what the driver copies, `fit<A>()` the compile-time verdict on an
/// argument of type `A`, `bind` the conversion with its run-time checks. The primary template is a scalar.
template <class P>
struct parameter {
    static_assert(ptx_type<P> && !std::is_same_v<P, pred>,
                  "PTXDSL-J01: a kernel's parameter is a scalar type, a pointer_param or a tensor_map_param");
    using storage = P;

    /// Integers convert to integers with a range check at run time; everything else must be the very type.
    template <class A>
    static constexpr mismatch fit() {
        using value = std::remove_cv_t<A>;
        return std::is_same_v<value, P> || (is_plain_integer<value> && is_plain_integer<P>) ? mismatch::none
                                                                                            : mismatch::scalar;
    }
    template <class A>
    static error bind(storage& out, const A& a, const argument_site& site) {
        if constexpr (std::is_same_v<A, P>) {
            out = a;
        } else {
            if (!std::in_range<P>(a)) [[unlikely]]
                return out_of_range<P>(site, a);
            out = static_cast<P>(a);
        }
        return {};
    }
};

[[gnu::cold]] inline error bad_pointer(const argument_site& s, std::uint64_t address, unsigned align) {
    if (address == 0)
        return {
            errc::bad_argument,
            fmt::format("PTXDSL-J06: {}: null pointer; pass memory of the device, or declare the parameter nullable",
                        place(s))};
    return {
        errc::bad_argument,
        fmt::format(
            "PTXDSL-J06: {}: the address 0x{:x} is not a multiple of {} bytes, which the kernel relies on; pass an aligned pointer",
            place(s), address, align)};
}

/// The opt-in check that an address is memory the device can read. Managed, pinned and pageable-access memory is.
inline error query_pointer(const argument_site& s, std::uint64_t address) {
    unsigned type = 0;
    const context_state& c = *s.kernel->state;
    if (c.info.pageable_access) return {};
    if (c.driver->pointer_get_attribute(&type, cu::pointer_attribute::memory_type, address) == cu::status::success &&
        type != 0)
        return {};
    return {
        errc::bad_argument,
        fmt::format(
            "PTXDSL-J06: {}: 0x{:x} is not memory that {} can read (ordinary host memory, or freed); copy the data into a device_buffer",
            place(s), address, c.info.text())};
}

template <class T>
inline constexpr bool is_device_ptr = false;
template <class T>
inline constexpr bool is_device_ptr<device_ptr<T>> = true;
template <class T>
inline constexpr bool is_device_buffer = false;
template <class T>
inline constexpr bool is_device_buffer<device_buffer<T>> = true;

/// Element type of a pointer-like argument (const of a const buffer), or void.
template <class A>
struct pointee {
    using type = void;
};
template <class T>
struct pointee<T*> {
    using type = T;
};
template <class T>
struct pointee<device_ptr<T>> {
    using type = T;
};
template <class T>
struct pointee<device_buffer<T>> {
    using type = T;
};

template <class T, unsigned Align, bool Nullable>
struct parameter<pointer_param<T, Align, Nullable>> {
    using storage = std::uint64_t;

    template <class A>
    static constexpr mismatch fit() {
        using bare = std::remove_const_t<A>;
        if constexpr (std::is_same_v<bare, std::nullptr_t>) return Nullable ? mismatch::none : mismatch::null;
        using found = typename pointee<bare>::type;
        using element = std::conditional_t<is_device_buffer<bare> && std::is_const_v<A>, const found, found>;
        if constexpr (std::is_void_v<element>) return mismatch::not_pointer;
        if constexpr (!std::is_same_v<std::remove_const_t<element>, std::remove_const_t<T>>) return mismatch::element;
        return std::is_const_v<element> && !std::is_const_v<T> ? mismatch::drops_const : mismatch::none;
    }
    template <class A>
    static error bind(storage& out, const A& a, const argument_site& site) {
        if constexpr (std::is_same_v<A, std::nullptr_t>)
            out = 0;
        else if constexpr (is_device_buffer<A>)
            out = a.ptr().address;
        else if constexpr (is_device_ptr<A>)
            out = a.address;
        else
            out = reinterpret_cast<std::uint64_t>(a);
        if ((out == 0 && !Nullable) || out % Align != 0) [[unlikely]]
            return bad_pointer(site, out, Align);
        if (site.check_pointers && out != 0) return query_pointer(site, out);
        return {};
    }
};

template <class Map, bool Writes>
struct parameter<tensor_map_param<Map, Writes>> {
    using storage = cu::tensor_map;

    template <class A>
    struct verdict {
        static constexpr mismatch value = mismatch::not_tensor;
    };
    template <class Other>
    struct verdict<tensor_map<Other>> {
        static constexpr mismatch value =
            std::is_same_v<Other, Map> || Other::spec == Map::spec ? mismatch::none : mismatch::other_map;
    };
    template <class T, std::size_t Rank>
    struct verdict<tensor_view<T, Rank>> {
        static constexpr mismatch value = !map_takes_element<T>(Map::spec) ? mismatch::tensor_element
                                          : Rank != Map::spec.rank         ? mismatch::tensor_rank
                                          : Writes && std::is_const_v<T>   ? mismatch::tensor_const
                                                                           : mismatch::none;
    };
    template <class A>
    static constexpr mismatch fit() {
        return verdict<std::remove_const_t<A>>::value;
    }

    template <class Other>
    static error bind(storage& out, const tensor_map<Other>& m, const argument_site& site) {
        if (Writes && m.of_const()) [[unlikely]]
            return {
                errc::bad_argument,
                fmt::format(
                    "PTXDSL-J01: {}: the kernel writes through this tensor map, which was made from a view of const elements; make it from a mutable view",
                    place(site))};
        out = m.value();
        return {};
    }
    template <class T, std::size_t Rank>
    static error bind(storage& out, const tensor_view<T, Rank>& v, const argument_site& site) {
        tensor_geometry g;
        if (const auto p = geometry_of(Map::spec, v, g)) return map_error(tensor_name(site), Map::spec, p);
        if (check_geometry(Map::spec, g)) [[unlikely]]
            return map_error(tensor_name(site), Map::spec, check_geometry(Map::spec, g));
        return encode_checked(*site.kernel->state, out, Map::spec, g, "argument");
    }
};

template <class P, class A>
inline constexpr mismatch fit_of = parameter<P>::template fit<std::remove_reference_t<A>>();

template <class Params, class... A>
inline constexpr bool arguments_fit = false;
template <class... P, class... A>
    requires(sizeof...(P) == sizeof...(A))
inline constexpr bool arguments_fit<param_list<P...>, A...> = ((fit_of<P, A> == mismatch::none) && ...);

template <class K>
concept names_parameters = requires {
    { K::param_name(std::size_t{0}) } -> std::convertible_to<std::string_view>;
};

template <class K>
[[nodiscard]] std::string_view parameter_name([[maybe_unused]] std::size_t i) noexcept {
    if constexpr (names_parameters<K>)
        return K::param_name(i);
    else
        return {};
}

/// Binds every argument in order, stopping at the first error, then launches.
template <class K, class... P, class... A, std::size_t... Index>
error bind_and_launch(const bound_kernel& k, stream_ref s, const launch_config& config, param_list<P...>,
                      std::index_sequence<Index...>, const A&... arguments) {
    const current_context current(*k.state);
    if (current.status() != cu::status::success) [[unlikely]]
        return driver_failed(*k.state->driver, current.status(), fmt::format("launching kernel '{}'", k.slot->name));
    boost::hana::tuple<typename parameter<P>::storage...> storage;
    error problem;
    const bool bound = (!static_cast<bool>(problem = parameter<P>::bind(
                                               boost::hana::at_c<Index>(storage), arguments,
                                               argument_site{&k, static_cast<unsigned>(Index), parameter_name<K>(Index),
                                                             config.check_pointers})) &&
                        ...);
    if (!bound) [[unlikely]]
        return problem;
    void* pointers[sizeof...(P) + 1] = {&boost::hana::at_c<Index>(storage)..., nullptr};
    return launch_bound(k, s, config, pointers);
}

/// Whether values of type `V` are what the driver copies for parameter `P`: its storage, or for a pointer a
/// `device_ptr` to the same elements.
template <class P, class V>
inline constexpr bool passes_one = std::is_same_v<typename parameter<P>::storage, V>;
template <class T, unsigned Align, bool Nullable, class V>
inline constexpr bool passes_one<pointer_param<T, Align, Nullable>, V> =
    std::is_same_v<V, std::uint64_t> || std::is_same_v<V, device_ptr<T>>;
template <class Params, class Members>
inline constexpr bool passes_all = false;
template <class... P, class... V>
    requires(sizeof...(P) == sizeof...(V))
inline constexpr bool passes_all<param_list<P...>, std::tuple<V&...>> = (passes_one<P, V> && ...);
/// Whether the struct `Call` holds the arguments of a kernel with these parameters: `members()` gives them, by
/// reference and in order.
template <class Params, class Call>
inline constexpr bool passes = passes_all<Params, decltype(std::declval<Call&>().members())>;

/// Launches with the arguments that a struct holds, for which `passes` was asserted; the context is current. Pointers
/// are not checked.
template <class Call>
error launch_members(const bound_kernel& k, stream_ref s, const launch_config& config, Call& call) {
    return std::apply(
        [&](auto&... argument) {
            void* pointers[] = {&argument...};
            return launch_bound(k, s, config, pointers);
        },
        call.members());
}

/// The compile-time checks, then the launch.
template <class K, class... P, class... A>
error checked_launch(const bound_kernel& k, stream_ref s, const launch_config& config, param_list<P...> params,
                     const A&... arguments) {
    return bind_and_launch<K>(k, s, config, params, std::index_sequence_for<P...>{}, arguments...);
}

/// The position, from 1, of the first argument that does not fit, if it fails in the way `kind`; otherwise 0. The
/// compiler prints it next to the sentence.
template <class... P, class... A>
constexpr unsigned position_of(mismatch kind, param_list<P...>, const std::type_identity<A>&...) {
    const mismatch found[] = {mismatch::none, fit_of<P, A>...};
    for (unsigned i = 1; i <= sizeof...(P); ++i)
        if (found[i] != mismatch::none) return found[i] == kind ? i : 0;
    return 0;
}

/// True when the arguments fit; otherwise stops the compilation with the sentence for the first that does not. Every
/// public launch function calls it itself, so that the author's line is near the top of what the compiler prints.
template <class K, class... A>
consteval bool require_arguments() {
    constexpr std::size_t wanted = K::params::size;
    static_assert(sizeof...(A) >= wanted,
                  "PTXDSL-J01: too few launch arguments: pass one for each parameter of the kernel");
    static_assert(sizeof...(A) <= wanted,
                  "PTXDSL-J01: too many launch arguments: pass one for each parameter of the kernel");
    if constexpr (sizeof...(A) == wanted) {
        constexpr auto wrong_argument = [](mismatch kind) {
            return position_of(kind, typename K::params{}, std::type_identity<A>{}...);
        };
        using m = mismatch;
        static_assert(
            wrong_argument(m::scalar) == 0,
            "PTXDSL-J01: a launch argument is not of its parameter's type: pass exactly the scalar type the kernel declares (an integer for an integer, 2.0f for f32)");
        static_assert(
            wrong_argument(m::not_pointer) == 0,
            "PTXDSL-J01: a launch argument is not a pointer but its parameter is: pass T*, device_ptr<T> or a device_buffer<T> (device_ptr_cast<T> for other libraries' pointers; px::check takes a px::result's value)");
        static_assert(
            wrong_argument(m::element) == 0,
            "PTXDSL-J01: a launch argument points to another element type than its parameter: pass a pointer to the kernel's element type");
        static_assert(
            wrong_argument(m::drops_const) == 0,
            "PTXDSL-J01: a launch argument points to const elements but the kernel writes through its parameter: pass mutable memory");
        static_assert(
            wrong_argument(m::null) == 0,
            "PTXDSL-J06: a launch argument is nullptr but its parameter is not nullable: pass memory, or declare the parameter nullable");
        static_assert(
            wrong_argument(m::not_tensor) == 0,
            "PTXDSL-J01: a launch argument is not a tensor but its parameter is a tensor map: pass a tensor_view or a tensor_map");
        static_assert(
            wrong_argument(m::tensor_element) == 0,
            "PTXDSL-J02: a tensor view has another element type than its parameter's tensor map: pass a tensor of the kernel's element type");
        static_assert(
            wrong_argument(m::tensor_rank) == 0,
            "PTXDSL-J02: a tensor view has another rank than its parameter's tensor map: pass a view with as many dimensions");
        static_assert(
            wrong_argument(m::other_map) == 0,
            "PTXDSL-J02: a tensor map was made for another parameter type (box, swizzle, ...): make it with the map type of this parameter");
        static_assert(
            wrong_argument(m::tensor_const) == 0,
            "PTXDSL-J01: a tensor view is of const elements but the kernel writes through its tensor map: pass a view of mutable elements");
        return arguments_fit<typename K::params, A...>;
    } else {
        return false;
    }
}

}  // namespace ptxdsl::runtime_detail

#include <ptxdsl/detail/epilogue.hpp>
