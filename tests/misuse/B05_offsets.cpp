// SPDX-License-Identifier: Apache-2.0
// B05: a byte offset computed in 32 bits where the tensor can pass 4 GiB.
#include <ptxdsl/ptxdsl.hpp>

#include <string_view>

namespace px = ptxdsl;
using px::f32, px::s32, px::u32, px::u64;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::global_ptr<f32> p, px::reg<u32> i, px::reg<s32> j, px::reg<u64> w) {
    const auto s = px::as_ptr<px::space::shared, f32>(k.mov<u32>(0u));
    k.st(p + i, k.ld(p + j));                // mad.wide
    k.st(p + w, k.ld(p + 3) + k.ld(p - 3));  // mad.lo.u64, immediate offsets
    k.st(s + i, 1.0f);                       // shared addresses have 32 bits
    k.st(p + k.mov<u64>(0x40000000ull), 0.0f);
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(ptx.text().find("mad.wide.u32") != std::string_view::npos &&
              ptx.text().find("mad.wide.s32") != std::string_view::npos &&
              ptx.text().find("mad.lo.u64") != std::string_view::npos);

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-B05

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p, px::reg<u32> bytes) {
    static_cast<void>(k.ld(p.byte_offset(bytes)));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-B05

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32> p, px::reg<u64> i) {
    static_cast<void>(k.ld(p + i));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-B05 "B05_offsets.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    k.st(p + 0x40000000, k.ld(p));  // here-3
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-B05 "B05_offsets.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    k.st(p + 0x100000001ull, k.ld(p));  // here-4
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A01

constexpr void wrong(hopper&, px::reg<u64> base, px::reg<u32> offset) {
    static_cast<void>(base + offset);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u64> base, px::reg<u32> i) {
    static_cast<void>(k.mad_lo(i, 4u, base));  // here-6
}

#endif
