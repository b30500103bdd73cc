// SPDX-License-Identifier: Apache-2.0
// A05: a register of another kernel in a list: a vector, a fragment, or an assignment.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::bf16x2, px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;
using pair = px::packet<f32, 2>;

#if PTXDSL_CASE == 0
constexpr void body(hopper& k, px::global_ptr<pair, 8> to, px::reg<f32> a) { k.st(to, px::vec{a, k.ld(to)[1]}); }
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A05 "operand 2 of st"
constexpr void wrong(hopper& k, px::global_ptr<pair, 8> to, px::reg<f32> a) {
    px::ir::program other;
    hopper elsewhere(other);
    const auto foreign = elsewhere.mov<f32>(1.0f);
    k.st(to, px::vec{a, foreign});  // here-1
}
#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A05 "operand 2 of st"
constexpr void wrong(hopper& k, px::global_ptr<pair, 8> to, px::reg<f32> a) {
    px::ir::program other;
    hopper elsewhere(other);
    const auto foreign = elsewhere.mov<f32>(1.0f);
    k.st(to, px::vec{foreign, a});  // here-2
}
#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A05 "operand 2 of add"
constexpr void wrong(hopper& k, px::global_ptr<f32> to, px::reg<f32> a) {
    px::ir::program other;
    hopper elsewhere(other);
    const px::vec v{a, elsewhere.mov<f32>(1.0f)};
    k.st(to, k.add(v[1], a));  // here-3
}
#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A05
constexpr void wrong(hopper& k, px::reg<bf16x2> r) {
    px::ir::program other;
    hopper elsewhere(other);
    const px::mma_a<bf16, 16, 16> a(r, elsewhere.mov_b32<bf16x2>(elsewhere.mov<u32>(1)), r, r);
    const px::mma_b<bf16, 16> b(r, r);
    const auto c = k.make_fragment<px::mma_acc<f32>>();
    k.mma_sync(c, a, b, c);  // here-4
}
#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A05 "operand 2 of mov"
constexpr void wrong(hopper& k, px::global_ptr<u32> to, px::reg<u32> n) {
    px::ir::program other;
    hopper elsewhere(other);
    auto x = k.add(n, 1u);
    x = elsewhere.mov<u32>(1);
    k.st(to, x);
}
#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A05 "operand 2 of cp is a register of another kernel"
using tile = px::tile<bf16, 64, 64>;
constexpr void wrong(hopper& k, px::tma_map<tile> map) {
    px::ir::program other;
    hopper elsewhere(other);
    const auto s = k.smem<tile>(1, "s");
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    k.cp_async_bulk_tensor(s[0], map, px::coords(0u, elsewhere.mov<u32>(1)), full[0]);  // here-6
}
#endif
