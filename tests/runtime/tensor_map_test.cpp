// SPDX-License-Identifier: Apache-2.0
// Every rule of tensor maps: a value just outside is named with tensor, dimension, value and rule; one just inside
// passes.
#include "catch.hpp"
#include "fake_driver.hpp"

#include <ptxdsl/dsl/tensor_map.hpp>

using namespace ptxdsl_test;
using Catch::Matchers::ContainsSubstring;
using px::map_rule;
using px::isa::scalar;

namespace {

constexpr px::tensor_map_spec plain(scalar element = scalar::bf16, unsigned rank = 2) {
    px::tensor_map_spec s;
    s.element = element;
    s.rank = static_cast<std::uint8_t>(rank);
    s.box[0] = 64;
    s.box[1] = 64;
    return s;
}
constexpr px::tensor_map_spec pixels(unsigned rank) {
    px::tensor_map_spec s = plain(scalar::f16, rank);
    s.kind = px::map_kind::im2col;
    s.channels = 64;
    s.pixels = 128;
    return s;
}
constexpr px::tensor_geometry matrix(std::uint64_t rows, std::uint64_t columns, std::uint64_t row_bytes,
                                     std::uint64_t address = 0x7000'0000) {
    px::tensor_geometry g;
    g.address = address;
    g.size[0] = columns;
    g.size[1] = rows;
    g.stride_bytes[1] = row_bytes;
    return g;
}
template <class Change>
constexpr px::map_rule spec_rule(px::tensor_map_spec s, Change change) {
    change(s);
    return px::check_map_spec(s).rule;
}

}  // namespace

// The spec's own rules hold in constant evaluation, where the DSL uses them.
static_assert(!px::check_map_spec(plain()));
static_assert(px::check_map_spec(px::tensor_map_spec{}).rule == map_rule::rank);
static_assert(spec_rule(plain(), [](auto& s) { s.rank = 6; }) == map_rule::rank);
static_assert(spec_rule(plain(), [](auto& s) { s.element = scalar::pred; }) == map_rule::element);
static_assert(spec_rule(plain(), [](auto& s) { s.box[1] = 0; }) == map_rule::box);
static_assert(spec_rule(plain(), [](auto& s) { s.box[1] = 257; }) == map_rule::box);
static_assert(spec_rule(plain(), [](auto& s) { s.box[1] = 256; }) == map_rule::none);
static_assert(spec_rule(plain(), [](auto& s) { s.box[0] = 60; }) == map_rule::inner_bytes);
static_assert(spec_rule(plain(), [](auto& s) { s.box[0] = 8; }) == map_rule::none);
static_assert(spec_rule(plain(), [](auto& s) { s.swizzle = px::map_swizzle::b128; }) == map_rule::none);
static_assert(spec_rule(plain(), [](auto& s) { s.swizzle = px::map_swizzle::b64; }) == map_rule::swizzle_span);
static_assert(spec_rule(plain(), [](auto& s) { s.swizzle = px::map_swizzle::b64, s.box[0] = 32; }) == map_rule::none);
static_assert(spec_rule(plain(), [](auto& s) { s.swizzle = px::map_swizzle::b32, s.box[0] = 32; }) ==
              map_rule::swizzle_span);
static_assert(spec_rule(plain(), [](auto& s) { s.swizzle = px::map_swizzle::b128_atom_32b, s.box[0] = 72; }) ==
              map_rule::swizzle_span);
static_assert(spec_rule(plain(), [](auto& s) { s.element_strides[1] = 9; }) == map_rule::element_stride);
static_assert(spec_rule(plain(), [](auto& s) { s.element_strides[1] = 0; }) == map_rule::element_stride);
static_assert(spec_rule(plain(), [](auto& s) { s.element_strides[1] = 8; }) == map_rule::none);
static_assert(spec_rule(plain(), [](auto& s) { s.element_strides[0] = 0; }) == map_rule::element_stride,
              "documented as ignored, refused all the same");
static_assert(spec_rule(plain(), [](auto& s) { s.interleave = px::map_interleave::b16; }) == map_rule::interleave_rank);
static_assert(spec_rule(plain(scalar::f16, 3), [](auto& s) { s.interleave = px::map_interleave::b32; }) ==
              map_rule::interleave_swizzle);
static_assert(spec_rule(plain(scalar::f16, 3), [](auto& s) {
                  s.interleave = px::map_interleave::b32, s.swizzle = px::map_swizzle::b32;
              }) == map_rule::none);
static_assert(spec_rule(plain(scalar::u8), [](auto& s) { s.fill = px::oob_fill::nan; }) == map_rule::fill_float);
static_assert(spec_rule(plain(scalar::e4m3), [](auto& s) { s.fill = px::oob_fill::nan; }) == map_rule::fill_float,
              "fp8 travels as bytes");
static_assert(spec_rule(plain(scalar::f32), [](auto& s) { s.fill = px::oob_fill::nan; }) == map_rule::none);
static_assert(spec_rule(plain(scalar::f32), [](auto& s) { s.format = px::map_format::tf32_ftz; }) == map_rule::none);
static_assert(spec_rule(plain(scalar::u8), [](auto& s) { s.format = px::map_format::u4_align16; }) ==
              map_rule::packed_box);
static_assert(spec_rule(plain(scalar::u8), [](auto& s) { s.format = px::map_format::u4_align16, s.box[0] = 128; }) ==
              map_rule::none);
static_assert(spec_rule(plain(scalar::u8), [](auto& s) {
                  s.format = px::map_format::u6_align16, s.box[0] = 128, s.swizzle = px::map_swizzle::b64;
              }) == map_rule::packed_swizzle);
static_assert(spec_rule(plain(scalar::u8), [](auto& s) { s.format = px::map_format::u4_align8; }) == map_rule::none);
static_assert(!px::check_map_spec(pixels(3)) && !px::check_map_spec(pixels(4)) && !px::check_map_spec(pixels(5)));
static_assert(px::check_map_spec(pixels(2)).rule == map_rule::im2col_rank);
static_assert(spec_rule(pixels(4), [](auto& s) { s.channels = 257; }) == map_rule::channels);
static_assert(spec_rule(pixels(4), [](auto& s) { s.pixels = 1025; }) == map_rule::pixels);
static_assert(spec_rule(pixels(4), [](auto& s) { s.lower[0] = -129; }) == map_rule::corner);
static_assert(spec_rule(pixels(4), [](auto& s) { s.lower[0] = -128, s.upper[1] = 127; }) == map_rule::none);
static_assert(spec_rule(pixels(5), [](auto& s) { s.upper[2] = 16; }) == map_rule::corner);
static_assert(spec_rule(pixels(3), [](auto& s) { s.lower[0] = -32768; }) == map_rule::none);

static_assert(!px::check_geometry(plain(), matrix(100, 64, 128)));
static_assert(px::check_geometry(plain(), matrix(100, 64, 128, 0)).rule == map_rule::base_null);
static_assert(px::check_geometry(plain(), matrix(100, 64, 128, 0x7000'0008)).rule == map_rule::base_align);
static_assert(px::check_geometry(plain(), matrix(0, 64, 128)).rule == map_rule::size);
static_assert(!px::check_geometry(plain(), matrix(1ull << 32, 64, 128)));
static_assert(px::check_geometry(plain(), matrix((1ull << 32) + 1, 64, 128)).rule == map_rule::size);
static_assert(px::check_geometry(plain(), matrix(100, 64, 130)).rule == map_rule::stride_multiple);
static_assert(px::check_geometry(plain(), matrix(100, 64, 1ull << 40)).rule == map_rule::stride_range);
static_assert(!px::check_geometry(plain(), matrix(100, 64, (1ull << 40) - 16)));

TEST_CASE("the sentence names tensor, dimension, value and rule") {
    auto s = plain();
    const auto text = [&](const px::tensor_geometry& g) {
        return std::string(px::map_error("A", s, px::check_geometry(s, g)).message());
    };
    CHECK(
        text(matrix(100, 64, 130)) ==
        "PTXDSL-F11: tensor 'A', dimension 1 of 2 (the outermost): the stride is 130 bytes; it must be a multiple of 16: pad the rows to that");
    CHECK_THAT(text(matrix(100, 64, 128, 0x70000008)),
               ContainsSubstring("PTXDSL-F11: tensor 'A': the address 0x70000008 is not a multiple of 16 bytes"));
    CHECK_THAT(text(matrix(100, 64, 128, 0)), ContainsSubstring("PTXDSL-J06: tensor 'A': the address is null"));
    CHECK_THAT(text(matrix(100, 0, 128)), ContainsSubstring("dimension 0 of 2 (the innermost): the size is 0"));
    s.swizzle = px::map_swizzle::b64;
    CHECK_THAT(
        px::map_error("A", s, px::check_map_spec(s)).message(),
        ContainsSubstring(
            "PTXDSL-F02: tensor 'A', dimension 0 of 2 (the innermost): the innermost side of the box is 128 bytes but the swizzle spans 64"));
    auto wide = plain(scalar::f16, 3);
    wide.interleave = px::map_interleave::b32;
    wide.swizzle = px::map_swizzle::b32;
    auto g = matrix(10, 16, 32, 0x70000010);
    g.stride_bytes[2] = 320;
    CHECK_THAT(px::map_error("B", wide, px::check_geometry(wide, g)).message(),
               ContainsSubstring("not a multiple of 32 bytes"));
    auto p = pixels(4);
    p.lower[0] = 3;
    px::tensor_geometry image;
    image.address = 0x70000000;
    image.size[0] = 64;
    image.size[1] = 3;
    image.stride_bytes[1] = image.stride_bytes[2] = image.stride_bytes[3] = 128;
    CHECK_THAT(px::map_error("image", p, px::check_geometry(p, image)).message(),
               ContainsSubstring("the pixel box is empty"));
}

TEST_CASE("every rule has words") {
    px::tensor_map_spec s = plain();
    for (int r = 1; r <= static_cast<int>(map_rule::stride_range); ++r) {
        const std::string text = px::map_error("A", s, {static_cast<map_rule>(r), 0, 7, 5}).message();
        INFO(text);
        CHECK(text.size() > std::string("PTXDSL-F11: tensor 'A', dimension 0 of 2 (the innermost): ").size());
    }
}

struct f32_as_tf32 {
    static constexpr px::tensor_map_spec spec = [] {
        auto s = plain(scalar::tf32);
        s.box[0] = 32;
        return s;
    }();
};
struct fp4 {
    static constexpr px::tensor_map_spec spec = [] {
        auto s = plain(scalar::e2m1);
        s.format = px::map_format::u4_align16;
        s.box[0] = 128;
        return s;
    }();
};
struct image_map {
    static constexpr px::tensor_map_spec spec = [] {
        auto s = pixels(4);
        s.lower[0] = -1;
        s.upper[0] = 1;
        return s;
    }();
};

TEST_CASE("views are turned innermost first, in bytes and format values") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    REQUIRE(px::make_tensor_map<px::map_constant<plain()>>(
        ctx, px::tensor_view{px::device_ptr<px::bf16>(0x70000000), 100, 64}.with_strides(80, 1)));
    CHECK(f.tensor_numbers == std::vector<unsigned long long>{64, 100, 160, 64, 64});
    // f32 data for a tf32 map; one row, whose stride is never used and may be anything.
    REQUIRE(px::make_tensor_map<f32_as_tf32>(ctx, px::tensor_view{px::device_ptr<const float>(0x70000000), 1, 33}));
    CHECK(f.tensor_numbers == std::vector<unsigned long long>{33, 1, 144, 32, 64});
    REQUIRE(px::make_tensor_map<fp4>(ctx, px::tensor_view{px::device_ptr<const px::e2m1x2>(0x70000000), 10, 128}));
    CHECK(f.tensor_numbers[0] == 256);
    // The maps of tiles: 4-bit values that the copy gives a byte each, and that it leaves two to a byte; 6-bit values.
    using padded = px::tma_map<px::tile<px::in_bytes<px::e2m1>, 64, 256>>;
    REQUIRE(px::make_tensor_map<padded>(ctx, px::tensor_view{px::device_ptr<const px::e2m1>(0x70000000), 10, 256}));
    CHECK(f.tensor_numbers == std::vector<unsigned long long>{256, 10, 128, 128, 64});
    REQUIRE(px::make_tensor_map<padded>(ctx, px::tensor_view{px::device_ptr<const px::u8>(0x70000000), 10, 128}));
    CHECK(f.tensor_numbers == std::vector<unsigned long long>{256, 10, 128, 128, 64});
    using dense = px::tma_map<px::tile<px::e2m1, 64, 256>>;
    REQUIRE(px::make_tensor_map<dense>(ctx, px::tensor_view{px::device_ptr<const px::e2m1>(0x70000000), 10, 256}));
    CHECK(f.tensor_numbers == std::vector<unsigned long long>{256, 10, 128, 256, 64});
    using sixes = px::tma_map<px::tile<px::e3m2, 64, 128>>;
    REQUIRE(px::make_tensor_map<sixes>(ctx, px::tensor_view{px::device_ptr<const px::e3m2>(0x70000000), 10, 128}));
    CHECK(f.tensor_numbers == std::vector<unsigned long long>{128, 10, 96, 128, 64});
    REQUIRE(px::make_tensor_map<image_map>(ctx, px::tensor_view{px::device_ptr<px::f16>(0x70000000), 2, 8, 8, 64}));
    CHECK(f.tensor_numbers == std::vector<unsigned long long>{999, 1001, 64, 128});

    const auto transposed = px::make_tensor_map<px::map_constant<plain()>>(
        ctx, px::tensor_view{px::device_ptr<px::bf16>(0x70000000), 64, 64}.with_strides(1, 64), "B");
    CHECK(transposed.code() == px::errc::bad_tensor);
    CHECK_THAT(
        transposed.error().message(),
        ContainsSubstring(
            "tensor 'B', dimension 0 of 2 (the innermost): the stride is 64 elements; the innermost dimension must be contiguous"));
}

TEST_CASE("a map that only the driver refuses is told with its numbers") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    f.fail["tensor_map_encode_tiled"] = cu::status::invalid_value;
    const auto r = px::encode_tensor_map(ctx, plain(), matrix(100, 64, 128), "A");
    CHECK(r.code() == px::errc::bad_tensor);
    CHECK_THAT(r.error().message(),
               ContainsSubstring("tensor 'A': the driver's encoder refuses this map, of tiled bf16 at 0x70000000"));
    CHECK_THAT(r.error().message(),
               ContainsSubstring("dimension 1: size 100, stride 128 bytes, box 64, element stride 1"));
}

TEST_CASE("what the driver or device lacks is said") {
    fake_driver f;
    const auto ctx = px::context::primary().value_or_throw();
    auto wide = pixels(4);
    wide.kind = px::map_kind::im2col_wide;
    px::tensor_geometry g;
    g.address = 0x70000000;
    for (int i = 0; i < 5; ++i) {
        g.size[i] = 64;
        g.stride_bytes[i] = 128;
    }
    const auto r = px::encode_tensor_map(ctx, wide, g, "image");
    CHECK(r.code() == px::errc::driver_too_old);
    CHECK_THAT(r.error().message(), ContainsSubstring("CUDA 12.8 or newer"));
}
