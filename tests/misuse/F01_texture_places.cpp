// SPDX-License-Identifier: Apache-2.0
// F01, F08, A14 of textures and surfaces (an opt-in header): coordinates, offsets and derivatives of another geometry.
#include <ptxdsl/dsl/texture.hpp>
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::s32, px::u32, px::u64;
using hopper = px::builder<px::sm_90a, px::texture_calls>;

constexpr void body(hopper& k, px::reg<u64> image, px::reg<f32> x, px::reg<s32> i, [[maybe_unused]] px::reg<u32> layer,
                    px::global_ptr<f32> out) {
#if PTXDSL_CASE == 0
    k.st(out, k.tex<px::_2d, f32>(image, px::coord(x, x))[0]);
    k.st(out, k.tex<px::_2d, f32>(image, px::coord(i, i))[1]);
    k.st(out, k.tex<px::a2d, f32>(image, px::coord(layer, x, x), px::coord(i, i))[2]);
    k.st(out, k.tex_grad<px::_2d, f32>(image, px::coord(x, x), px::coord(x, x), px::coord(x, x))[3]);
    k.st(out, k.tex<px::cube, f32>(image, px::coord(x, x, x), x)[0]);
    static_cast<void>(k.suld_b<px::_2d, px::b32, px::trap>(image, px::coord(i, i)));
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-F01
    k.st(out, k.tex<px::_2d, f32>(image, px::coord(x))[0]);  // here-1
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-F01
    k.st(out, k.tex<px::_2d, f32>(image, px::coord(x, i))[0]);  // here-2
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-F01
    static_cast<void>(k.suld_b<px::_2d, px::b32, px::trap>(image, px::coord(x, x)));  // here-3
#elif PTXDSL_CASE == 4
    // expect-4: PTXDSL-F01
    k.st(out, k.tex_grad<px::_2d, f32>(image, px::coord(x, x), px::coord(x), px::coord(x))[0]);  // here-4
#elif PTXDSL_CASE == 5
    // expect-5: PTXDSL-F01
    k.st(out, k.tex<px::cube, f32>(image, px::coord(x, x, x), px::coord(i, i))[0]);  // here-5
#elif PTXDSL_CASE == 6
    // expect-6: PTXDSL-F01
    k.st(out, k.tex<px::_2d, f32>(image, px::coord(x, x), px::coord(i))[0]);  // here-6
#elif PTXDSL_CASE == 7
    // expect-7: PTXDSL-F08
    k.st(out, k.tex<px::_3d, f32>(image, px::coord(x, x, x), px::coord(i, i, i), x)[0]);  // here-7
#elif PTXDSL_CASE == 8
    // expect-8: PTXDSL-A14
    k.st(out, k.tex<px::_2d, f32>(image, px::coord(x, 0.5f))[0]);  // here-8
#elif PTXDSL_CASE == 9
    // expect-9: PTXDSL-A14
    k.st(out, k.tex<px::_1d, f32>(image, x)[0]);  // here-9
#elif PTXDSL_CASE == 10
    // expect-10: PTXDSL-A14
    static_cast<void>(k.txq<px::tok::width>(17u));  // here-10
#elif PTXDSL_CASE == 11
    // expect-11: PTXDSL-A14
    k.st(out, k.tex<px::_2d, f32>(image, px::coord(x, x), i, x)[0]);  // here-11
#elif PTXDSL_CASE == 12
    // expect-12: PTXDSL-A07
    k.st(out, k.tex<px::_2d, f32>(image, px::coord(x, x, x, x, x))[0]);  // here-12
#endif
    static_cast<void>(i), static_cast<void>(x);
}
#if PTXDSL_CASE == 0  // the others are refused as they are written
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
#endif
