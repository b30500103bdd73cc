// SPDX-License-Identifier: Apache-2.0
// J09: what is no call of the kernel library, or one that it has no kernels for.
// flags: -DPTXDSL_KERNELS_COMPILED
#include <ptxdsl/kernels.hpp>

namespace px = ptxdsl;
namespace pk = px::kernels;
using px::bf16, px::e4m3, px::f16, px::f32, px::s8, px::s32;
template <class T, std::size_t Rank>
using view = px::tensor_view<T, Rank>;

#if PTXDSL_CASE == 0

px::result<void> control(const px::stream& s, view<const bf16, 2> a, view<bf16, 2> b, view<bf16, 2> c,
                         px::device_ptr<bf16> bias, pk::gemm_workspace& w, view<bf16, 3> batch) {
    if (auto r = pk::gemm(s, a, b, c); !r) return r;
    if (auto r = pk::gemm(s, batch, batch, batch); !r) return r;
    if (auto r = pk::gemm<pk::gemm_form{.bias = true}>(s, a, b, c, {.bias = bias, .workspace = &w}); !r) return r;
    pk::gemm_options<bf16> o{.alpha = 1.0f};
    o.bias = bias, o.workspace = &w, o.workspace = nullptr;
    return pk::gemm<pk::gemm_form{.bias = true}>(s, a, b, c, o);
}
px::result<void> control(const px::stream& s, view<const e4m3, 2> a, view<const f32, 2> scales, view<f32, 2> c,
                         px::device_ptr<const f32> one) {
    if (auto r = pk::gemm(s, a, a, c, {.a_scale = one, .b_scale = one}); !r) return r;
    return pk::gemm_block_scaled(s, a, scales, a, scales, c, {});
}
px::result<void> control(const px::stream& s, view<const f32, 2> x, view<const f32, 1> w, view<f32, 2> y,
                         view<e4m3, 2> q, view<f32, 1> scales, view<f32, 3> heads, view<s32, 1> positions) {
    if (auto r = pk::rms_norm(s, x, w, y, {.eps = 1e-5f}); !r) return r;
    if (auto r = pk::layer_norm(s, x, w, w, y); !r) return r;
    if (auto r = pk::add_rms_norm(s, x, x, w, y, y, pk::norm_options{}); !r) return r;
    if (auto r = pk::softmax(s, x, y, 2.0f, {.programmatic = false}); !r) return r;
    if (auto r = pk::swiglu(s, x, x, y, {}); !r) return r;
    if (auto r = pk::rope(s, heads, positions, x, x, heads); !r) return r;
    if (auto r = pk::quantize_rows(s, x, q, scales); !r) return r;
    if (auto r = pk::quantize_blocks(s, x, q, y, {.programmatic = true}); !r) return r;
    return pk::quantize_squares(s, x, q, y, false);
}
px::result<void> control(const px::stream& s, view<const bf16, 4> q, view<bf16, 4> out, view<f16, 3> rows,
                         pk::packed_sequences sequences) {
    if (auto r = pk::attention(s, q, q, q, out); !r) return r;
    if (auto r = pk::attention(s, q, q, q, out, {.causal = true}); !r) return r;
    if (auto r = pk::attention(s, rows, rows, rows, rows, sequences); !r) return r;
    if (auto r = pk::attention(s, rows, rows, rows, rows, {.count = 1}, {.causal = true}); !r) return r;
    return pk::attention(s, rows, rows, rows, rows, sequences, {.softcap = 30.0f});
}

px::result<void> control(const px::stream& s, view<const bf16, 2> a, view<const bf16, 3> b, view<bf16, 2> c,
                         view<bf16, 3> rows, px::device_ptr<s32> starts) {
    if (auto r = pk::grouped_gemm(s, a, b, c, starts); !r) return r;
    constexpr pk::grouped_form gates{.act = pk::activation::silu, .gated = true};
    if (auto r = pk::grouped_gemm<gates>(s, a, b, c, starts, {.expected_rows = 64}); !r) return r;
    return pk::grouped_gemm_masked(s, rows, b, rows, px::device_ptr<const s32>(starts), pk::grouped_options{});
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-J09 "gemm multiplies bf16, f16, e4m3, e5m2 or s8"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<double, 2> a) {
    return pk::gemm(s, a, a, a);  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-J09 "have one element type"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a, view<f16, 2> b) {
    return pk::gemm(s, a, b, a);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-J09 "another rank"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a, view<bf16, 1> b) {
    return pk::gemm(s, a, b, a);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-J09 "is no tensor_view"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a, px::device_ptr<bf16> p) {
    return pk::gemm(s, a, p, a, {.alpha = 1.0f});  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-J09 "px::check takes a px::result"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a, px::result<view<bf16, 2>> c) {
    return pk::gemm(s, a, a, c);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-J09 "the bias of a gemm" "px::device_ptr_cast"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a, px::device_ptr<f32> bias) {
    return pk::gemm<pk::gemm_form{.bias = true}>(s, a, a, a, {.bias = bias});  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-J09 "the workspace of a gemm"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a, pk::gemm_workspace& w) {
    return pk::gemm(s, a, a, a, {.workspace = w});  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-J09 "gemm takes: stream, A, B, C, options"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a) {
    return pk::gemm(s, a, a);  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-J09 "what follows the views" "options"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a) {
    return pk::gemm(s, a, a, a, 2.0f);  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-J09 "compiled library has no kernels of these element types" "PTXDSL_KERNELS_HEADER_ONLY"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a) {
    return pk::gemm<pk::gemm_form{.gated = true, .any_layout = true}>(s, a, a, a);  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-J09 "compiled library has no kernels of a caller's gemm_config" "PTXDSL_KERNELS_HEADER_ONLY"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a) {
    return pk::gemm_with<pk::gemm_config{}>(s, a, a, a);  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-J09 "gemm_block_scaled multiplies e4m3 or e5m2"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a, view<f32, 2> x) {
    return pk::gemm_block_scaled(s, a, x, a, x, a);  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-J09 "another rank"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<e4m3, 2> a, view<bf16, 2> c, view<f32, 1> x) {
    return pk::gemm_block_scaled(s, a, x, a, x, c, {});  // here-13
}

#elif PTXDSL_CASE == 14
// expect-14: PTXDSL-J09 "layer_norm takes"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<f32, 2> x, view<f32, 1> w) {
    return pk::layer_norm(s, x, w, x, {.eps = 1e-5f});  // here-14
}

#elif PTXDSL_CASE == 15
// expect-15: PTXDSL-B02 "result of rms_norm"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<const f32, 2> x, view<f32, 1> w) {
    return pk::rms_norm(s, x, w, x);  // here-15
}

#elif PTXDSL_CASE == 16
// expect-16: PTXDSL-J09 "what follows the views"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<f32, 2> x, view<f32, 1> w) {
    return pk::rms_norm(s, x, w, x, 1e-5f);  // here-16
}

#elif PTXDSL_CASE == 17
// expect-17: PTXDSL-B02 "scales of a quantization are written"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<f32, 2> x, view<e4m3, 2> q,
                       view<const f32, 1> scales) {
    return pk::quantize_rows(s, x, q, scales);  // here-17
}

#elif PTXDSL_CASE == 18
// expect-18: PTXDSL-J09 "scales of a quantization are f32"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<f32, 2> x, view<e4m3, 2> q, view<f16, 2> scales) {
    return pk::quantize_blocks(s, x, q, scales);  // here-18
}

#elif PTXDSL_CASE == 19
// expect-19: PTXDSL-J09 "positions of rope are s32"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<f32, 3> x, view<px::u32, 1> p, view<f32, 2> t) {
    return pk::rope(s, x, p, t, t, x);  // here-19
}

#elif PTXDSL_CASE == 20
// expect-20: PTXDSL-J09 "another number of arguments than grouped_gemm takes: stream, A, B, C, starts, options"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a, view<bf16, 3> b) {
    return pk::grouped_gemm(s, a, b, a);  // here-20
}

#elif PTXDSL_CASE == 21
// expect-21: PTXDSL-J09 "another rank"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 2> a, px::device_ptr<s32> starts) {
    return pk::grouped_gemm(s, a, a, a, starts);  // here-21
}

#elif PTXDSL_CASE == 22
// expect-22: PTXDSL-J09 "what follows the views"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 3> a, px::device_ptr<px::u64> counts) {
    return pk::grouped_gemm_masked(s, a, a, a, counts, {.expected_rows = 8});  // here-22
}

#elif PTXDSL_CASE == 23
// expect-23: PTXDSL-J09 "grouped_gemm multiplies bf16 or f16"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<e4m3, 2> a, view<e4m3, 3> b,
                       px::device_ptr<s32> starts) {
    return pk::grouped_gemm(s, a, b, a, starts);  // here-23
}

#elif PTXDSL_CASE == 24
// expect-24: PTXDSL-B02 "the result of grouped_gemm"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<const bf16, 2> a, view<bf16, 3> b,
                       px::device_ptr<s32> starts) {
    return pk::grouped_gemm(s, a, b, a, starts);  // here-24
}

#elif PTXDSL_CASE == 25
// expect-25: PTXDSL-J09 "attention takes bf16 or f16"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<f32, 4> q) {
    return pk::attention(s, q, q, q, q);  // here-25
}

#elif PTXDSL_CASE == 26
// expect-26: PTXDSL-J09 "attention takes: stream, q, k, v, out, options"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 3> q) {
    return pk::attention(s, q, q, q, q);  // here-26
}

#elif PTXDSL_CASE == 27
// expect-27: PTXDSL-J09 "another rank"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 4> q, view<bf16, 3> k) {
    return pk::attention(s, q, k, k, q, {.causal = true});  // here-27
}

#elif PTXDSL_CASE == 28
// expect-28: PTXDSL-J09 "attention takes: stream, q, k, v, out, options"

px::result<void> wrong([[maybe_unused]] const px::stream& s, view<bf16, 4> q) {
    return pk::attention(s, q, q, q, {.causal = true});  // here-28
}

#endif
