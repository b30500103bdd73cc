// SPDX-License-Identifier: Apache-2.0
// B03: vector, atomic or bulk access whose known alignment is too small.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::b128, px::f32, px::u32, px::u64;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::global_ptr<f32, 16> p, px::global_ptr<f32> q, px::reg<u32> i) {
    k.st(p.as<px::packet<f32, 4>>(), k.ld<px::v4>(p));
    k.st(q.assume_aligned<8>().as<px::packet<f32, 2>>(), k.ld(p.as<px::packet<f32, 2>>()));
    static_cast<void>(k.ld(p.as<px::packet<f32, 4>>() + i));  // an index of packets keeps the packet's alignment
    static_cast<void>(k.atom_exch(p.as<b128>(), k.ld(p.as<b128>())));
    k.discard_L2(p.assume_aligned<128>());
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-B03

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.ld<px::v4>(p));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-B03

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 16> p, px::reg<u32> i) {
    static_cast<void>(k.ld<px::v2>(p + i));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-B03

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.ld(p.as<u64>()));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-B03

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 8> p, px::reg<f32> x) {
    k.st(p.as<px::packet<f32, 4>>(), px::vec{x, x, x, x});  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-B03

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u32, 8> p) {
    static_cast<void>(k.atom_cas(p.as<b128>(), k.ld(p.as<b128>()), k.ld(p.as<b128>())));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-B03

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p, px::reg<f32> x) {
    k.red_add<px::v2>(p, px::vec{x, x});  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-B03

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 16> p) {
    static_cast<void>(k.ld(p.byte_offset<1>(1)));  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-B03

constexpr void wrong(hopper&, px::global_ptr<f32, 16> p) {
    static_cast<void>(p.assume_aligned<12>());  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-B03

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 16> p) {
    k.discard_L2(p);  // here-9
}

#endif
