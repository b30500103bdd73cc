// SPDX-License-Identifier: Apache-2.0
// Tensors as the host sees them, and the 128-byte tensor maps made from them for TMA.
// Every documented rule of the encoder is checked here first, because the driver answers any violation with the same
// number.
//
// One rule is beyond both: in the kernel, the innermost coordinate of a copy must fall on a multiple of 16 bytes. On an
// H200 a box at column 17 of an f32 tensor ends in CUDA_ERROR_ILLEGAL_INSTRUCTION, one at column 16 does not.
#pragma once

#include <ptxdsl/ir/signature.hpp>
#include <ptxdsl/runtime/memory.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace ptxdsl {

/// A tensor in device memory: element type and rank in the type, sizes and strides as values. Owns nothing.
/// Sizes come outermost first, as C++ arrays have them; `tensor_view{a, m, k}` is a row-major m × k matrix.
template <class T, std::size_t Rank>
class tensor_view {
    static_assert(Rank >= 1 && Rank <= 5, "PTXDSL-J02: a tensor view has 1 to 5 dimensions, as tensor maps do");

public:
    using element = T;
    static constexpr std::size_t rank = Rank;

    template <std::integral... N>
        requires(sizeof...(N) == Rank)
    explicit tensor_view(device_ptr<T> data, N... sizes) noexcept
        : data_(data), sizes_{static_cast<std::uint64_t>(sizes)...} {
        std::uint64_t step = 1;
        for (std::size_t i = Rank; i-- > 0;) {
            strides_[i] = step;
            step *= sizes_[i];
        }
    }
    template <std::integral... N>
        requires(sizeof...(N) == Rank)
    explicit tensor_view(T* data, N... sizes) noexcept : tensor_view(device_ptr<T>(data), sizes...) {}
    template <std::integral... N>
        requires(sizeof...(N) == Rank)
    explicit tensor_view(device_buffer<std::remove_const_t<T>>& data, N... sizes) noexcept
        : tensor_view(device_ptr<T>(data.ptr()), sizes...) {}
    template <std::integral... N>
        requires(sizeof...(N) == Rank && std::is_const_v<T>)
    explicit tensor_view(const device_buffer<std::remove_const_t<T>>& data, N... sizes) noexcept
        : tensor_view(data.ptr(), sizes...) {}

    /// The same tensor with explicit strides, in elements, outermost first.
    template <std::integral... N>
        requires(sizeof...(N) == Rank)
    [[nodiscard]] tensor_view with_strides(N... strides) const noexcept {
        tensor_view v = *this;
        std::size_t i = 0;
        ((v.strides_[i++] = static_cast<std::uint64_t>(strides)), ...);
        return v;
    }

    [[nodiscard]] device_ptr<T> data() const noexcept { return data_; }
    /// Elements along dimension `i`, 0 the outermost.
    [[nodiscard]] std::uint64_t size(std::size_t i) const noexcept { return sizes_[i]; }
    /// Elements from one index of dimension `i` to the next.
    [[nodiscard]] std::uint64_t stride(std::size_t i) const noexcept { return strides_[i]; }

private:
    device_ptr<T> data_;
    std::uint64_t sizes_[Rank];
    std::uint64_t strides_[Rank];
};
template <class T, std::integral... N>
tensor_view(device_ptr<T>, N...) -> tensor_view<T, sizeof...(N)>;
template <class T, std::integral... N>
tensor_view(T*, N...) -> tensor_view<T, sizeof...(N)>;
template <class T, std::integral... N>
tensor_view(device_buffer<T>&, N...) -> tensor_view<T, sizeof...(N)>;
template <class T, std::integral... N>
tensor_view(const device_buffer<T>&, N...) -> tensor_view<const T, sizeof...(N)>;

/// The part of a tensor map that only the launch knows. Dimension 0 is the innermost one; sizes count the elements of
/// the map's format (single values for the packed formats), strides are bytes and `stride_bytes[0]` is not used.
struct tensor_geometry {
    std::uint64_t address = 0;
    std::uint64_t size[5] = {1, 1, 1, 1, 1};
    std::uint64_t stride_bytes[5] = {0, 0, 0, 0, 0};
};

/// The rules a tensor map can break.
enum class map_rule : std::uint8_t {
    none,
    element,
    rank,
    interleave_rank,
    im2col_rank,
    box,
    inner_bytes,
    swizzle_span,
    interleave_swizzle,
    element_stride,
    box_bytes,
    packed_box,
    packed_interleave,
    packed_swizzle,
    fill_float,
    channels,
    pixels,
    corner,
    pixel_box,
    base_null,
    base_align,
    size,
    packed_size,
    inner_stride,
    stride_multiple,
    stride_range,
};

/// The first rule a map breaks, where and by which value.
struct map_problem {
    map_rule rule = map_rule::none;
    unsigned dimension = 0;  ///< 0 is the innermost
    std::int64_t value = 0;  ///< what was found
    std::int64_t limit = 0;  ///< what was allowed
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return rule != map_rule::none; }
};

namespace runtime_detail {

[[nodiscard]] constexpr bool is_packed(map_format f) noexcept {
    return f == map_format::u4_align8 || f == map_format::u4_align16 || f == map_format::u6_align16;
}
[[nodiscard]] constexpr bool is_padded(map_format f) noexcept {
    return f == map_format::u4_align16 || f == map_format::u6_align16;
}

/// The driver's data type for an element; -1 when tensor maps have none.
[[nodiscard]] constexpr int map_data_type(isa::scalar s, map_format f) noexcept {
    using d = cu::data_type;
    const auto v = [](d x) { return static_cast<int>(x); };
    switch (f) {
        case map_format::f32_ftz: return s == isa::scalar::f32 ? v(d::float32_ftz) : -1;
        case map_format::tf32_ftz: return s == isa::scalar::f32 || s == isa::scalar::tf32 ? v(d::tfloat32_ftz) : -1;
        case map_format::u4_align8: return v(d::u4_align8);
        case map_format::u4_align16: return v(d::u4_align16);
        case map_format::u6_align16: return v(d::u6_align16);
        case map_format::natural: break;
    }
    switch (s) {
        case isa::scalar::f16: return v(d::float16);
        case isa::scalar::bf16: return v(d::bfloat16);
        case isa::scalar::f32: return v(d::float32);
        case isa::scalar::tf32: return v(d::tfloat32);
        case isa::scalar::f64: return v(d::float64);
        case isa::scalar::s32: return v(d::int32);
        case isa::scalar::s64: return v(d::int64);
        case isa::scalar::none:
        case isa::scalar::pred: return -1;
        default: break;
    }
    switch (isa::bits(s)) {
        case 8: return v(d::uint8);
        case 16: return v(d::uint16);
        case 32: return v(d::uint32);
        case 64: return v(d::uint64);
        default: return -1;
    }
}

/// Bits one value takes in global memory.
[[nodiscard]] constexpr unsigned map_value_bits(const tensor_map_spec& s) noexcept {
    if (s.format == map_format::u4_align8 || s.format == map_format::u4_align16) return 4;
    if (s.format == map_format::u6_align16) return 6;
    return isa::bits(s.element);
}

/// Bytes a swizzle permutes within; 0 without one.
[[nodiscard]] constexpr unsigned swizzle_span(map_swizzle m) noexcept {
    if (m == map_swizzle::none) return 0;
    if (m == map_swizzle::b32) return 32;
    return m == map_swizzle::b64 ? 64 : 128;
}

[[nodiscard]] constexpr std::int64_t as_signed(std::uint64_t v) noexcept { return static_cast<std::int64_t>(v); }

[[nodiscard]] constexpr map_problem check_format(const tensor_map_spec& s) noexcept {
    using fmt_ = map_format;
    if (map_data_type(s.element, s.format) < 0) return {map_rule::element, 0, 0, 0};
    const bool floating = s.format == fmt_::f32_ftz || s.format == fmt_::tf32_ftz || s.element == isa::scalar::f16 ||
                          s.element == isa::scalar::bf16 || s.element == isa::scalar::f32 ||
                          s.element == isa::scalar::f64 || s.element == isa::scalar::tf32;
    if (s.fill == oob_fill::nan && (!floating || is_packed(s.format))) return {map_rule::fill_float, 0, 0, 0};
    if (s.format == fmt_::u6_align16 && s.interleave != map_interleave::none)
        return {map_rule::packed_interleave, 0, 0, 0};
    if (is_padded(s.format)) {
        const bool legal = s.swizzle == map_swizzle::none || s.swizzle == map_swizzle::b128 ||
                           s.swizzle == map_swizzle::b128_atom_32b ||
                           (s.format == fmt_::u6_align16 && s.swizzle == map_swizzle::b128_atom_64b);
        if (!legal) return {map_rule::packed_swizzle, 0, 0, 0};
    }
    if (s.interleave == map_interleave::b32 && s.swizzle != map_swizzle::b32)
        return {map_rule::interleave_swizzle, 0, 0, 0};
    return {};
}

/// The bytes of the innermost side: a multiple of 16, and within the swizzle's span.
[[nodiscard]] constexpr map_problem check_inner(const tensor_map_spec& s, std::uint32_t values) noexcept {
    if (is_padded(s.format)) return values == 128 ? map_problem{} : map_problem{map_rule::packed_box, 0, values, 128};
    if (s.interleave != map_interleave::none) return {};
    const std::uint32_t inner_bits = values * map_value_bits(s);
    if (inner_bits % 128 != 0) return {map_rule::inner_bytes, 0, inner_bits / 8, 16};
    const unsigned span = swizzle_span(s.swizzle);
    if (span != 0 && inner_bits / 8 > span) return {map_rule::swizzle_span, 0, inner_bits / 8, span};
    return {};
}

[[nodiscard]] constexpr map_problem check_tiled(const tensor_map_spec& s) noexcept {
    for (unsigned i = 0; i < s.rank; ++i)
        if (s.box[i] == 0 || s.box[i] > 256) return {map_rule::box, i, s.box[i], 256};
    if (const auto p = check_inner(s, s.box[0])) return p;
    // Undocumented, but the encoder refuses it (200,000 random maps on an H200) and no block could hold it anyway.
    std::uint64_t bits = isa::bits(s.element);
    for (unsigned i = 0; i < s.rank; ++i) bits *= (s.box[i] + s.element_strides[i] - 1) / s.element_strides[i];
    constexpr std::uint64_t most = 227u << 10;
    if (bits / 8 > most) return {map_rule::box_bytes, 0, as_signed(bits / 8), as_signed(most)};
    return {};
}

[[nodiscard]] constexpr map_problem check_im2col(const tensor_map_spec& s) noexcept {
    if (s.rank < 3) return {map_rule::im2col_rank, 0, s.rank, 3};
    if (s.channels == 0 || s.channels > 256) return {map_rule::channels, 0, s.channels, 256};
    if (s.pixels == 0 || s.pixels > 1024) return {map_rule::pixels, 1, s.pixels, 1024};
    const unsigned corners = s.kind == map_kind::im2col ? s.rank - 2u : 1u;
    const std::int32_t half = corners == 1 ? 32768 : corners == 2 ? 128 : 16;
    for (unsigned i = 0; i < corners; ++i)
        for (const auto corner : {s.lower[i], s.upper[i]})
            if (corner < -half || corner > half - 1) return {map_rule::corner, i + 1, corner, half};
    return check_inner(s, s.channels);
}

}  // namespace runtime_detail

/// The first rule (misuse F02 and kin) that a spec breaks by itself; usable in a `static_assert`.
[[nodiscard]] constexpr map_problem check_map_spec(const tensor_map_spec& s) noexcept {
    if (s.rank < 1 || s.rank > 5) return {map_rule::rank, 0, s.rank, 5};
    if (const auto p = runtime_detail::check_format(s)) return p;
    if (s.interleave != map_interleave::none && s.rank < 3) return {map_rule::interleave_rank, 0, s.rank, 3};
    // The innermost one is documented as ignored without interleave, yet drivers up to CUDA 13.0 refuse 0 and 9 there
    // too.
    for (unsigned i = 0; i < s.rank; ++i)
        if (s.element_strides[i] == 0 || s.element_strides[i] > 8)
            return {map_rule::element_stride, i, s.element_strides[i], 8};
    return s.kind == map_kind::tiled ? runtime_detail::check_tiled(s) : runtime_detail::check_im2col(s);
}

/// The first rule (misuse F11) that a tensor breaks for a valid spec.
[[nodiscard]] constexpr map_problem check_geometry(const tensor_map_spec& s, const tensor_geometry& g) noexcept {
    using runtime_detail::as_signed;
    const bool wide = s.interleave == map_interleave::b32 || runtime_detail::is_padded(s.format);
    const std::uint64_t unit = wide ? 32 : 16;
    if (g.address == 0) return {map_rule::base_null, 0, 0, 0};
    if (g.address % unit != 0) return {map_rule::base_align, 0, as_signed(g.address), as_signed(unit)};
    for (unsigned i = 0; i < s.rank; ++i)
        if (g.size[i] == 0 || g.size[i] > (1ull << 32))
            return {map_rule::size, i, as_signed(g.size[i]), as_signed(1ull << 32)};
    const std::uint64_t packed = runtime_detail::is_padded(s.format) ? 128 : s.format == map_format::u4_align8 ? 2 : 1;
    if (g.size[0] % packed != 0) return {map_rule::packed_size, 0, as_signed(g.size[0]), as_signed(packed)};
    for (unsigned i = 1; i < s.rank; ++i) {
        if (g.stride_bytes[i] % unit != 0)
            return {map_rule::stride_multiple, i, as_signed(g.stride_bytes[i]), as_signed(unit)};
        if (g.stride_bytes[i] >= (1ull << 40))
            return {map_rule::stride_range, i, as_signed(g.stride_bytes[i]), as_signed(1ull << 40)};
    }
    if (s.kind == map_kind::im2col)
        for (unsigned i = 0; i + 2 < s.rank; ++i) {
            const auto extent = as_signed(g.size[i + 1]) + s.upper[i] - s.lower[i];
            if (extent <= 0) return {map_rule::pixel_box, i + 1, extent, 1};
        }
    return {};
}

namespace runtime_detail {

/// "tensor 'a', dimension 1 of 2 (the outermost)".
inline std::string map_place(std::string_view name, const tensor_map_spec& s, unsigned dimension) {
    const char* where = dimension == 0 ? " (the innermost)" : dimension + 1u == s.rank ? " (the outermost)" : "";
    return fmt::format("tensor '{}', dimension {} of {}{}", name, dimension, s.rank, where);
}

/// The part of the sentence after the place, for the rules of a spec.
inline std::string spec_rule_text(const tensor_map_spec& s, const map_problem& p) {
    switch (p.rule) {
        case map_rule::element:
            return fmt::format(
                "element type {} has no tensor-map format; choose a type of 8, 16, 32 or 64 bits or a packed format",
                isa::name(s.element));
        case map_rule::rank: return fmt::format("the map has {} dimensions; tensor maps have 1 to 5", p.value);
        case map_rule::interleave_rank:
            return fmt::format(
                "an interleaved layout needs at least 3 dimensions, the map has {}; add dimensions or set interleave to none",
                p.value);
        case map_rule::im2col_rank:
            return fmt::format("im2col maps have 3 to 5 dimensions (channels, 1 to 3 of space, batch), the map has {}",
                               p.value);
        case map_rule::box:
            return fmt::format("the box has {} elements; it must have 1 to 256: split the tile into several copies",
                               p.value);
        case map_rule::inner_bytes:
            return fmt::format(
                "the innermost side of the box is {} bytes; it must be a multiple of 16: choose another tile width",
                p.value);
        case map_rule::swizzle_span:
            return fmt::format(
                "the innermost side of the box is {} bytes but the swizzle spans {}; make the box narrower or the swizzle wider",
                p.value, p.limit);
        case map_rule::interleave_swizzle:
            return "the 32-byte interleaved layout needs the 32-byte swizzle; set swizzle to b32";
        case map_rule::element_stride: return fmt::format("the element stride is {}; it must be 1 to 8", p.value);
        case map_rule::box_bytes:
            return fmt::format(
                "the box holds {} bytes; a block has {} bytes of shared memory: split the tile into several copies",
                p.value, p.limit);
        case map_rule::packed_box:
            return fmt::format("the innermost side of the box is {} values; this packed format needs exactly 128",
                               p.value);
        case map_rule::packed_interleave:
            return "the 6-bit packed format cannot be interleaved; set interleave to none";
        case map_rule::packed_swizzle:
            return "this packed format takes no swizzle, b128 or b128_atom_32b (6-bit also b128_atom_64b); choose one of them";
        case map_rule::fill_float:
            return fmt::format("NaN fill needs an unpacked floating-point element, the map has {}; set fill to zero",
                               isa::name(s.element));
        case map_rule::channels: return fmt::format("{} channels per pixel; an im2col map takes 1 to 256", p.value);
        case map_rule::pixels:
            return fmt::format("{} pixels per column; an im2col map takes 1 to {}", p.value, p.limit);
        case map_rule::corner:
            return fmt::format("a corner of the pixel box is {}; with {} dimensions it must lie in [{}, {}]", p.value,
                               s.rank, -p.limit, p.limit - 1);
        default: return {};
    }
}

/// The same for the rules of a tensor.
inline std::string geometry_rule_text(const map_problem& p) {
    switch (p.rule) {
        case map_rule::pixel_box:
            return fmt::format("the pixel box is empty: size plus upper minus lower corner is {}; move the corners",
                               p.value);
        case map_rule::base_null: return "the address is null; pass memory of the device";
        case map_rule::base_align:
            return fmt::format("the address 0x{:x} is not a multiple of {} bytes; align the tensor's first element",
                               static_cast<std::uint64_t>(p.value), p.limit);
        case map_rule::size:
            return fmt::format("the size is {}; it must be 1 to 2^32", static_cast<std::uint64_t>(p.value));
        case map_rule::packed_size:
            return fmt::format("the size is {} values; this packed format needs a multiple of {}: pad the rows",
                               p.value, p.limit);
        case map_rule::inner_stride:
            return fmt::format(
                "the stride is {} elements; the innermost dimension must be contiguous (stride 1): transpose the view or copy the tensor",
                p.value);
        case map_rule::stride_multiple:
            return fmt::format("the stride is {} bytes; it must be a multiple of {}: pad the rows to that",
                               static_cast<std::uint64_t>(p.value), p.limit);
        case map_rule::stride_range:
            return fmt::format("the stride is {} bytes; it must be less than 2^40",
                               static_cast<std::uint64_t>(p.value));
        default: return {};
    }
}

}  // namespace runtime_detail

/// The typed error for a broken rule, naming tensor, dimension, value and rule.
[[nodiscard]] inline error map_error(std::string_view tensor, const tensor_map_spec& s, const map_problem& p) {
    const bool of_spec = p.rule < map_rule::pixel_box;
    const char* id = of_spec ? "PTXDSL-F02" : p.rule == map_rule::base_null ? "PTXDSL-J06" : "PTXDSL-F11";
    const bool whole = p.rule == map_rule::base_null || p.rule == map_rule::base_align ||
                       p.rule == map_rule::box_bytes || p.rule == map_rule::element || p.rule == map_rule::rank;
    const std::string place =
        whole ? fmt::format("tensor '{}'", tensor) : runtime_detail::map_place(tensor, s, p.dimension);
    return {errc::bad_tensor,
            fmt::format("{}: {}: {}", id, place,
                        of_spec ? runtime_detail::spec_rule_text(s, p) : runtime_detail::geometry_rule_text(p))};
}

namespace runtime_detail {

inline cu::status encode_with(const driver_table& t, cu::tensor_map& out, const tensor_map_spec& s,
                              const tensor_geometry& g, cu::data_type type) {
    void* const base = reinterpret_cast<void*>(g.address);
    const std::uint64_t* const strides = g.stride_bytes + 1;
    const auto n = [](auto e) { return static_cast<int>(e); };
    if (s.kind == map_kind::tiled)
        return t.tensor_map_encode_tiled(&out, type, s.rank, base, g.size, strides, s.box, s.element_strides,
                                         n(s.interleave), n(s.swizzle), n(s.promotion), n(s.fill));
    if (s.kind == map_kind::im2col)
        return t.tensor_map_encode_im2col(&out, type, s.rank, base, g.size, strides, s.lower, s.upper, s.channels,
                                          s.pixels, s.element_strides, n(s.interleave), n(s.swizzle), n(s.promotion),
                                          n(s.fill));
    return t.tensor_map_encode_im2col_wide(&out, type, s.rank, base, g.size, strides, s.lower[0], s.upper[0],
                                           s.channels, s.pixels, s.element_strides, n(s.interleave), n(s.wide),
                                           n(s.swizzle), n(s.promotion), n(s.fill));
}

[[nodiscard]] inline bool has_encoder(const driver_table& t, map_kind k) noexcept {
    if (k == map_kind::tiled) return t.tensor_map_encode_tiled != nullptr;
    return k == map_kind::im2col ? t.tensor_map_encode_im2col != nullptr : t.tensor_map_encode_im2col_wide != nullptr;
}

/// The error for a map that keeps every rule known here and that the driver refuses all the same: with all its numbers.
[[gnu::cold]] inline error encoder_refused(const context_state& c, cu::status status, const tensor_map_spec& s,
                                           const tensor_geometry& g, std::string_view name) {
    if (status != cu::status::invalid_value)
        return driver_failed(*c.driver, status, fmt::format("encoding the tensor map of tensor '{}'", name));
    std::string sides;
    for (unsigned i = 0; i < s.rank; ++i)
        sides += fmt::format("; dimension {}: size {}, stride {} bytes, box {}, element stride {}", i, g.size[i],
                             g.stride_bytes[i], s.box[i], s.element_strides[i]);
    return {
        errc::bad_tensor,
        fmt::format(
            "PTXDSL-F11: tensor '{}': the driver's encoder refuses this map, of {} {} at 0x{:x}, swizzle {}, interleave {}{}; compare with the rules of cuTensorMapEncode",
            name, s.kind == map_kind::tiled ? "tiled" : "im2col", isa::name(s.element), g.address,
            static_cast<int>(s.swizzle), static_cast<int>(s.interleave), sides),
        status};
}

/// Checks and encodes; the context is current.
inline error encode_checked(const context_state& c, cu::tensor_map& out, const tensor_map_spec& s,
                            const tensor_geometry& g, std::string_view name) {
    if (const auto p = check_map_spec(s)) return map_error(name, s, p);
    if (const auto p = check_geometry(s, g)) return map_error(name, s, p);
    if (c.info.major < 9)
        return {
            errc::not_supported,
            fmt::format("tensor '{}': {} has no tensor memory accelerator; it needs compute capability 9.0 or newer",
                        name, c.info.text())};
    if (!has_encoder(*c.driver, s.kind))
        return {
            errc::driver_too_old,
            fmt::format(
                "tensor '{}': the installed driver (CUDA {}) cannot encode this kind of tensor map; install a driver for CUDA {} or newer",
                name, cuda_version_text(c.driver->version), s.kind == map_kind::im2col_wide ? "12.8" : "12.0")};
    const auto status =
        encode_with(*c.driver, out, s, g, static_cast<cu::data_type>(map_data_type(s.element, s.format)));
    if (status == cu::status::success) [[likely]]
        return {};
    return encoder_refused(c, status, s, g, name);
}

/// Rounds the stride of a dimension of one element, which is never used, up to the encoder's unit.
inline void repair_unused_strides(const tensor_map_spec& s, tensor_geometry& g) noexcept {
    const std::uint64_t unit = s.interleave == map_interleave::b32 || is_padded(s.format) ? 32 : 16;
    for (unsigned i = 1; i < s.rank && i < 5; ++i)
        if (g.size[i] == 1) g.stride_bytes[i] = (g.stride_bytes[i] + unit - 1) / unit * unit % (1ull << 40);
}

/// A view in the encoder's order and units; a problem when its innermost dimension is not contiguous.
template <class T, std::size_t Rank>
map_problem geometry_of(const tensor_map_spec& s, const tensor_view<T, Rank>& v, tensor_geometry& g) noexcept {
    // A view of 4- or 6-bit elements counts them, though each has a byte in C++; a view of bytes counts bytes.
    constexpr unsigned own_bits = isa::bits(scalar_of<std::remove_const_t<T>>);
    constexpr unsigned bits = own_bits != 0 && own_bits < 8 ? own_bits : 8 * sizeof(T);
    g.address = v.data().address;
    for (std::size_t i = 0; i < Rank; ++i) {
        g.size[i] = v.size(Rank - 1 - i);
        g.stride_bytes[i] = v.stride(Rank - 1 - i) * bits / 8;
    }
    if (v.stride(Rank - 1) != 1 && v.size(Rank - 1) != 1)
        return {map_rule::inner_stride, 0, as_signed(v.stride(Rank - 1)), 1};
    if (is_packed(s.format)) g.size[0] = g.size[0] * bits / map_value_bits(s);
    repair_unused_strides(s, g);
    return {};
}

/// Whether tensors of `T` may be described by a map of this element: the same type; f32 for tf32 (the copy rounds);
/// byte-sized storage for the packed formats.
template <class T>
[[nodiscard]] constexpr bool map_takes_element(const tensor_map_spec& s) noexcept {
    constexpr isa::scalar have = scalar_of<std::remove_const_t<T>>;
    if (is_packed(s.format))
        return have == s.element || have == isa::scalar::u8 || have == isa::scalar::b8 ||
               (s.format != map_format::u6_align16 && have == isa::scalar::e2m1x2);
    return have == s.element || (s.element == isa::scalar::tf32 && have == isa::scalar::f32);
}

}  // namespace runtime_detail

/// Encodes a map from plain data, for code without types (parsed PTX, other front ends). `name` is for messages.
inline result<cu::tensor_map> encode_tensor_map(const context& ctx, const tensor_map_spec& spec,
                                                const tensor_geometry& geometry, std::string_view name) {
    const runtime_detail::current_context current(*ctx.state());
    if (current.status() != cu::status::success)
        return runtime_detail::driver_failed(ctx.driver(), current.status(), "encoding a tensor map");
    cu::tensor_map map{};
    if (auto e = runtime_detail::encode_checked(*ctx.state(), map, spec, geometry, name)) return e;
    return map;
}

/// A tensor map made for the parameters of one `Map` type: 128 bytes by value, valid as long as the tensor stays where
/// it is.
template <class Map>
class tensor_map {
public:
    using map = Map;
    [[nodiscard]] const cu::tensor_map& value() const noexcept { return value_; }
    explicit tensor_map(const cu::tensor_map& v, bool of_const) noexcept : value_(v), of_const_(of_const) {}
    /// Made from a view of const elements: a kernel that writes through the map refuses it.
    [[nodiscard]] bool of_const() const noexcept { return of_const_; }

private:
    cu::tensor_map value_;
    bool of_const_;
};

/// The map of a tensor. A view of another element type or rank does not compile (PTXDSL-J02).
/// Errors: `bad_tensor` naming tensor, dimension, value and rule; `not_supported`; `driver_too_old`.
template <class Map, class T, std::size_t Rank>
result<tensor_map<Map>> make_tensor_map(const context& ctx, const tensor_view<T, Rank>& view,
                                        std::string_view name = "tensor") {
    constexpr bool same_element = runtime_detail::map_takes_element<T>(Map::spec);
    static_assert(
        !check_map_spec(Map::spec),
        "PTXDSL-F02: the map's spec breaks a rule of tensor maps (box sides 1 to 256, inner bytes a multiple of 16 and within the swizzle, ...)");
    static_assert(
        same_element,
        "PTXDSL-J02: the tensor's element type is not the map's; pass a tensor of the type the kernel declares");
    static_assert(Rank == Map::spec.rank,
                  "PTXDSL-J02: the tensor's rank is not the map's; pass a view with as many dimensions as the map");
    if constexpr (same_element && Rank == Map::spec.rank) {
        tensor_geometry g;
        if (const auto p = runtime_detail::geometry_of(Map::spec, view, g)) return map_error(name, Map::spec, p);
        auto map = encode_tensor_map(ctx, Map::spec, g, name);
        if (!map) return map.error();
        return tensor_map<Map>(*map, std::is_const_v<T>);
    } else {
        return error{errc::bad_tensor, "PTXDSL-J02"};
    }
}

}  // namespace ptxdsl
