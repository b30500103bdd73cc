// SPDX-License-Identifier: Apache-2.0
// A08: types without a PTX register map to a legal one by themselves; C++ types that are no PTX type do not compile.
#include <ptxdsl/ptxdsl.hpp>

#include <string_view>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::e4m3x2, px::f32, px::tf32, px::u8;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<bf16> b, px::reg<tf32> t, px::global_ptr<e4m3, 16> p, px::reg<u8> u) {
    k.st(p.as<bf16>(), b + b);  // .b16
    k.st(p.as<tf32>(), t);      // .b32
    k.st(p, k.ld(p + 1));       // ld.b8 into .b16
    k.st(p.as<px::f16x2>(), k.cvt<px::f16x2, px::rn>(k.ld(p.as<e4m3x2>())));
    k.st(p.as<px::u32>(), k.cvt<px::u32>(u));
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(ptx.text().find(".reg .b16 %rs") != std::string_view::npos &&
              ptx.text().find(".reg .bf16") == std::string_view::npos &&
              ptx.text().find(".reg .tf32") == std::string_view::npos &&
              ptx.text().find(".reg .b8") == std::string_view::npos);

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A08

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<long double> x) {  // here-1
    static_cast<void>(x);
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A08

constexpr void wrong([[maybe_unused]] hopper& k) {
    px::reg<bool> flag;  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A08

constexpr void wrong([[maybe_unused]] hopper& k) {
    px::reg<long long> wide;  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A08

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<wchar_t> p) {  // here-4
    static_cast<void>(k.ld(p));
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A08

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    static_cast<void>(x.as<char*>());  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A15

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u8> x) {
    static_cast<void>(x + x);  // here-6
}

#endif
