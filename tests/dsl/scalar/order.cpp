// SPDX-License-Identifier: Apache-2.0
// Nested calls, which C++ may evaluate in any order, give one text: constant evaluation and run time are compared here,
// compilers and optimisation levels by ../determinism.py, which compares what this prints.

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <cstdio>

namespace px = ptxdsl;
using px::bf16x2, px::f32, px::s32, px::u32, px::u64;

constexpr void nested(px::builder<px::sm_90a>& k, px::global_ptr<const f32, 16> x, px::global_ptr<f32, 16> y,
                      px::reg<u32> n, px::reg<f32> a) {
    const auto i = k.mad_lo(k.mov(px::ctaid.x), k.mov(px::ntid.x), k.mov(px::tid.x));
    k.st(y + i, k.fma_rn(k.ld(x + i), k.ld(x + (i + 1u)), k.add(k.ld(x + (i + 2u)), k.mul<px::rn>(a, k.ld(x)))));
    k.st(y + k.shl(i, k.and_(n, 3u)), k.selp(k.ld(x), k.ld(x + 1), k.setp<px::lt>(k.add(i, n), k.sub(n, i))));
    k.st((y + i).as<px::packet<f32, 4>>().assume_aligned<16>(),
         px::vec{k.ld(x), k.ld(x + i), k.add(a, k.ld(x + 2)), a});
    k.st(y.as<bf16x2>(), k.cvt<bf16x2, px::rn>(px::hi(k.ld(x + i)), px::lo(k.ld(x + 7))));
    k.st(y.as<u64>(), k.mov_pack<u64>(k.popc(i), k.clz(k.add(i, n))));
    k.st(y, k.shfl_sync_bfly(k.ld(x), k.xor_(i, 1u), 31u, k.activemask()));
    k.red_add(k.cvta(y + i), k.mul<px::rn>(k.ld(x + 1), k.ld(x + 2)));
    k.st(y, (k.ld(x) + k.ld(x + 1)) * (k.ld(x + 2) - k.ld(x + 3)));
    k.st(y.as<u32>(), ((i << k.popc(n)) & (n >> 3u)) + (i ^ n) * k.mov(px::laneid));
    k.inst<"st.global.f32">(y + i, k.fma_rn(k.ld(x), k.ld(x + 1), k.ld(x + 2)));
    k.if_((k.ld(x) < k.ld(y)) && !(k.ld(x + 1) > k.ld(y + 1)),
          [&] { k.st(y + k.mov(px::tid.x), k.slct(a, k.ld(x), k.cvt<s32>(k.sub(i, n)))); });
    k.st(y, k.mov_b32<f32>(k.lop3<0x96>(k.mov(px::tid.x), k.mov(px::tid.y), k.mov(px::tid.z)).as<px::b32>()));
    k.st(y, k.atom_add((y + i), k.ld(x + i)));
    k.st(y, k.ld(k.to_generic(k.to_shared(k.cvta(y + i)))));
}

constexpr auto compiled = px::assemble<px::kernel<"nested", nested>>();

int main() {
    const auto late = px::assemble_at_run_time("nested", &nested);
    std::fputs(compiled.text().data(), stdout);
    if (late.text() == compiled.text()) return 0;
    std::puts("// run time differs:");
    std::fputs(late.text().data(), stdout);
    return 1;
}
