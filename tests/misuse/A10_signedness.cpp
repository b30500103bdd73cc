// SPDX-License-Identifier: Apache-2.0
// A10: shift, compare, min and max follow the sign of their registers.
#include <ptxdsl/ptxdsl.hpp>

#include <string_view>

namespace px = ptxdsl;
using px::s32, px::s64, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<s32> s, px::reg<u32> u, px::global_ptr<u32> out) {
    const auto i = s >> 3u;
    const auto j = u >> 3u;
    const auto p = s < -1 && u < 0xffffffffu;
    k.st(out, k.selp(k.min(u, j), k.max(s, i).as<u32>(), p));
    k.st(out, k.cvt<u32>(k.bfe(s, 0u, 8u)) / k.rem(u, 7u));
    k.st(out, k.selp(u, u, k.setp<px::ls>(u, j)));
    const auto d = k.new_reg<s32>();
    k.inst<"shr.s32">(d, s, u);
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(ptx.text().find("shr.s32") != std::string_view::npos &&
              ptx.text().find("shr.u32") != std::string_view::npos &&
              ptx.text().find("setp.lt.s32") != std::string_view::npos &&
              ptx.text().find("setp.lt.u32") != std::string_view::npos &&
              ptx.text().find("min.u32") != std::string_view::npos &&
              ptx.text().find("max.s32") != std::string_view::npos &&
              ptx.text().find("bfe.s32") != std::string_view::npos &&
              ptx.text().find("div.u32") != std::string_view::npos);

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A10

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> s) {
    static_cast<void>(k.setp<px::lo>(s, 3));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A10

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s64> s) {
    static_cast<void>(k.setp_pq<px::hs>(s, s));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A10

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> s) {
    static_cast<void>(k.set<u32, px::ls>(s, s));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A10

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> s) {
    static_cast<void>(k.setp<px::ltu>(s, s));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A10

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> s) {
    k.inst<"shr.u32">(k.new_reg<s32>(), s, 3);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A10

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    k.inst<"min.s32">(k.new_reg<u32>(), u, u);  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A10

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> s, px::reg<px::pred> p) {
    k.inst<"setp.lt.u32">(p, s, s);  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> s, px::reg<u32> u) {
    static_cast<void>(k.min(s, u));  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> s, px::reg<u32> u) {
    static_cast<void>(s < u);  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A10

constexpr void wrong(hopper&, px::reg<u32> u) {
    static_cast<void>(-u);  // here-10
}

#endif
