// SPDX-License-Identifier: Apache-2.0
// Typed launches: the compiler checks number, types and constness of the arguments, the library checks shapes before
// the driver sees them, and after the first launch nothing allocates or locks.
//
// A kernel is any object (or type with static members) that models `kernel_like`: the DSL's assembled kernels do.
#pragma once

#include <ptxdsl/ir/signature.hpp>
#include <ptxdsl/runtime/module.hpp>
#include <ptxdsl/runtime/tensor_map.hpp>

#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
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

// ---- arguments ----

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
