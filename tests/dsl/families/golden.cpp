// SPDX-License-Identifier: Apache-2.0
// The text of representative calls of the opt-in families, line by line, and the PTX version each ends with.

#include "../golden.hpp"

#include <ptxdsl/dsl/multimem.hpp>
#include <ptxdsl/dsl/texture.hpp>
#include <ptxdsl/dsl/video.hpp>
#include <ptxdsl/dsl/wmma.hpp>
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::b32, px::f16, px::f16x2, px::f32, px::s32, px::u32, px::u64;
template <template <px::target> class... Families>
using hopper = px::builder<px::sm_90a, Families...>;

namespace {

using golden::calls::check;

}  // namespace

// The calls and their lines are excerpts of docs/isa.
// clang-format off
int main() {
    check("textures", {8, 0}, +[](hopper<px::texture_calls>& k, px::reg<u64> image, px::reg<u64> surface, px::reg<f32> x, px::reg<s32> i, px::reg<u32> layer) {
        const auto pixel = k.tex<px::_2d, f32>(image, px::coord(x, k.add(x, 1.0f)));
        static_cast<void>(k.tex<px::a2d, f16x2>(image, px::coord(layer, i, i), px::coord(i, i)));
        const auto [texel, resident] = k.tex_p<px::_1d, u32>(image, px::coord(x), px::coord(i), 0.5f);
        static_cast<void>(k.tex_level<px::_3d, f32>(image, px::coord(x, x, x), pixel[3]));
        static_cast<void>(k.tex_grad<px::_2d, s32>(image, px::coord(x, x), px::coord(x, x), px::coord(x, x)));
        static_cast<void>(k.tld4<px::tok::g, px::cube, f32>(image, px::coord(x, x, x)));
        static_cast<void>(k.txq<px::tok::width>(image));
        k.at(resident).sust_b<px::_2d, px::trap>(surface, px::coord(i, i), texel);
        const auto [low, high] = k.suld_b<px::a1d, b32, px::cg, px::v2, px::clamp>(surface, px::coord(layer, i));
        k.sured_b<px::tok::add, px::_1d, px::zero>(surface, px::coord(i), layer);
        static_cast<void>(high), static_cast<void>(low);
    },
          "add.f32 %f1, %f0, 0f3F800000;\n"
          "tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd0, {%f0, %f1}];\n"
          "tex.a2d.v2.f16x2.s32 {%r2, %r3}, [%rd0, {%r1, %r0, %r0, %r0}], {%r0, %r0};\n"
          "tex.1d.v4.u32.f32 {%r4, %r5, %r6, %r7}|%p0, [%rd0, {%f0}], {%r0}, 0f3F000000;\n"
          "tex.level.3d.v4.f32.f32 {%f6, %f7, %f8, %f9}, [%rd0, {%f0, %f0, %f0, %f0}], %f5;\n"
          "tex.grad.2d.v4.s32.f32 {%r8, %r9, %r10, %r11}, [%rd0, {%f0, %f0}], {%f0, %f0}, {%f0, %f0};\n"
          "tld4.g.cube.v4.f32.f32 {%f10, %f11, %f12, %f13}, [%rd0, {%f0, %f0, %f0, %f0}];\n"
          "txq.width.b32 %r12, [%rd0];\n"
          "@%p0 sust.b.2d.v4.b32.trap [%rd1, {%r0, %r0}], {%r4, %r5, %r6, %r7};\n"
          "suld.b.a1d.cg.v2.b32.clamp {%r13, %r14}, [%rd1, {%r1, %r0}];\n"
          "sured.b.add.1d.u32.zero [%rd1, {%r0}], %r1;");

    check("video", {8, 0}, +[](hopper<px::video_calls>& k, px::reg<s32> a, px::reg<u32> b, px::reg<s32> c) {
        static_cast<void>(k.vadd<s32, px::sat>(px::part<"b0">(a), px::part<"h1">(b)));
        static_cast<void>(k.vmin<s32, px::tok::add>(a, k.add(b, 1u), c));
        static_cast<void>(k.vsub_into<"h1", s32>(a, b, c));
        static_cast<void>(k.vshr<u32, px::tok::wrap>(b, b));
        static_cast<void>(k.vmad<s32, px::tok::shr7>(px::minus(px::part<"b2">(a)), b, c));
        static_cast<void>(k.vset<px::lt>(a, b));
        static_cast<void>(k.vadd2<s32, px::sat>(px::part<"h32">(a), b, c));
        static_cast<void>(k.vabsdiff4_into<"b20", u32, px::tok::add>(b, px::part<"b7654">(b), b));
    },
          "vadd.s32.s32.u32.sat %r3, %r0.b0, %r1.h1;\n"
          "add.u32 %r4, %r1, 1;\n"
          "vmin.s32.s32.u32.add %r5, %r0, %r4, %r2;\n"
          "vsub.s32.s32.u32 %r6.h1, %r0, %r1, %r2;\n"
          "vshr.u32.u32.u32.wrap %r7, %r1, %r1;\n"
          "vmad.s32.s32.u32.shr7 %r8, -%r0.b2, %r1, %r2;\n"
          "vset.s32.u32.lt %r9, %r0, %r1;\n"
          "vadd2.s32.s32.u32.sat %r10, %r0.h32, %r1, %r2;\n"
          "vabsdiff4.u32.u32.u32.add %r11.b20, %r1, %r1.b7654, %r1;");

    check("wmma", {8, 0}, +[](hopper<px::wmma_calls>& k, px::global_ptr<const f16, 32> a, px::global_ptr<const f16, 32> b, px::global_ptr<f32, 32> d) {
        const auto left = k.wmma_make<px::wmma_a<f16, 16, 16, 16>>("a");
        const auto right = k.wmma_make<px::wmma_b<f16, 16, 16, 16>>("b");
        const auto sum = k.wmma_make<px::wmma_acc<f32, 16, 16, 16>>("d");
        k.wmma_load<px::row>(left, a, 64u);
        k.wmma_load<px::col>(right, b);
        k.wmma_load<px::row>(sum, d);
        k.wmma_mma<px::row, px::col>(sum, left, right, sum);
        k.wmma_store<px::row>(d, sum, 16u);
    },
          "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%rd0], 64;\n"
          "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, [%rd1];\n"
          "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, [%rd2];\n"
          "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b"
          "1, %b2, %b3, %b4, %b5, %b6, %b7}, {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7};\n"
          "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd2], {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, 16;");

    check("multimem", {8, 2}, +[](hopper<px::multimem_calls>& k, px::global_ptr<px::packet<f32, 4>, 16> p, px::global_ptr<u32> n, px::global_ptr<f16x2> h) {
        k.multimem_st<px::relaxed, px::sys>(p, k.multimem_ld_reduce_add<px::relaxed, px::sys>(p));
        k.multimem_red_max(n, 7u);
        static_cast<void>(k.multimem_ld_reduce_add<px::acc::f32>(h));
    },
          "multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];\n"
          "multimem.st.relaxed.sys.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};\n"
          "multimem.red.global.max.u32 [%rd1], 7;\n"
          "multimem.ld_reduce.global.add.acc::f32.f16x2 %r0, [%rd2];");

    return golden::result();
}
