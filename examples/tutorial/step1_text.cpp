// SPDX-License-Identifier: Apache-2.0
#include <ptxdsl/ptxdsl.hpp>

#include <cstdio>

namespace px = ptxdsl;

constexpr void add_one(px::builder<px::sm_90a>& k, px::global_ptr<float> data, px::reg<px::u32> count) {
    const auto i = k.mad_lo(k.mov(px::ctaid.x), k.mov(px::ntid.x), k.mov(px::tid.x));
    k.if_(i < count, [&] {
        const auto p = data + i;
        k.st(p, k.ld(p) + 1.0f);
    });
}

constexpr auto add_one_ptx = px::assemble<px::kernel<"add_one", add_one>>();

int main() { std::puts(add_one_ptx.text().data()); }
