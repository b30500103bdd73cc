// SPDX-License-Identifier: Apache-2.0
// A01: results and views of declared registers of another size or class.
#include <ptxdsl/module.hpp>

namespace px = ptxdsl;
using px::b32, px::f32, px::u32, px::u64;
using module_builder = px::module_builder<px::sm_90a>;

#if PTXDSL_CASE == 0

void control(module_builder& m) {
    auto fn = m.entry("k");
    const auto k = fn.begin();
    const auto r = k.registers<b32>("%r", 4);
    const auto f = k.named_reg<f32>("%f");
    f = k.mov<f32>(1.0f);
    r[0] = k.add(r.as<f32>()[1], f);   // untyped bits hold a float
    r[1] = k.add(r.as<u32>()[2], 1u);  // or an integer
    px::into(r[2], r[3]) = k.ld<px::v2>(px::mem<px::space::shared, u32>(r[0]));
    static_cast<void>(f.as<b32>());
    fn.end();
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A01

void wrong(module_builder& m) {
    auto fn = m.entry("k");
    const auto k = fn.begin();
    const auto f = k.named_reg<f32>("%f");
    f = k.mov<u32>(1u);  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A01

void wrong(module_builder& m) {
    auto fn = m.entry("k");
    const auto k = fn.begin();
    const auto r = k.registers<b32>("%r", 4);
    r[1] = k.mov<u64>(1u);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A01

void wrong(module_builder& m) {
    auto fn = m.entry("k");
    const auto k = fn.begin();
    const auto r = k.registers<u32>("%r", 4);
    static_cast<void>(r.as<f32>());  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A01

void wrong(module_builder& m) {
    auto fn = m.entry("k");
    const auto k = fn.begin();
    const auto r = k.registers<u64>("%r", 4);
    px::into(r[0], r[1]) = k.ld<px::v2>(px::mem<px::space::global, u32>(r[2]));  // here-4
}

#endif
