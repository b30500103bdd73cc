// SPDX-License-Identifier: Apache-2.0
// A01: calls of a module that do not fit their prototype.
#include <ptxdsl/module.hpp>

namespace px = ptxdsl;
using px::b32, px::b64;

template <class Body>
constexpr bool with_call(const Body& body) {
    px::ir::program p;
    px::module_builder<px::sm_90a> m(p);
    auto fn = m.entry("k");
    const auto k = fn.begin();
    const auto f = k.registers<b64>("%rd", 1);
    const auto in = k.variable<b32>(px::space::param, "in"), out = k.variable<b32>(px::space::param, "out");
    const auto prototype = k.named_prototype<px::formals<b32>, px::formals<b32, px::in_reg<b64>>>("prototype");
    k.place(prototype);
    body(k, f, in, out, prototype);
    fn.end();
    return p.findings.empty();
}

#if PTXDSL_CASE == 0

static_assert(with_call([](auto& k, auto& f, auto& in, auto& out, auto& prototype) {
    k.call_function(k.list(out), f[0], k.list(in, f[0]), prototype);
    const auto bytes = k.template named_prototype<px::formals<>, px::formals<px::param_bytes<16, 8>>>("bytes");
    k.place(bytes);
    k.call_function(px::sink, f[0], k.list(in), bytes);
}));

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A01 "number of arguments"

static_assert(with_call([](auto& k, auto& f, auto& in, auto& out, auto& prototype) {
    k.call_function(k.list(out), f[0], k.list(in), prototype);  // here-1
}));

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A01 "number of results"

static_assert(with_call([](auto& k, auto& f, auto& in, auto&, auto& prototype) {
    k.call_function(px::sink, f[0], k.list(in, f[0]), prototype);  // here-2
}));

#endif
