// SPDX-License-Identifier: Apache-2.0
// I06: options that the instruction descriptor of the kind has not.
//
// expect-1: PTXDSL-I06 "option"
// expect-2: PTXDSL-I06 "option"
// expect-3: PTXDSL-I06 "option"
// expect-4: PTXDSL-I06 "scale_input_d"

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u32;
using blackwell = px::builder<px::sm_100a>;

template <class T, class D>
constexpr void multiply(blackwell& k, const px::mma_options& o) {
    const auto slot = k.tcgen05.make_slot<64>();
    k.tcgen05.alloc(slot);
    k.bar_sync();
    const auto memory = k.tcgen05.load(slot);
    const auto t = k.tcgen05.descriptor(k.smem<px::tile<T, 64, 1024 / px::bits_of<T>>>());
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(done[0]);
        k.tcgen05.mma(memory.accumulator<D, 64, 64>(), t, t, false, o);  // here-1
        k.tcgen05.commit(done[0]);
        k.wait(done[0], 0u);
    });
    k.bar_sync();
    k.tcgen05.dealloc(memory);
}
constexpr void body(blackwell& k) {
#if PTXDSL_CASE == 0
    multiply<s8, s32>(k, {.saturate = true}), multiply<bf16, f32>(k, {.negate_a = true, .scale_input_d = 15});
#elif PTXDSL_CASE == 1  // saturation of floats
    multiply<bf16, f32>(k, {.saturate = true});
#elif PTXDSL_CASE == 2  // negation of integers
    multiply<s8, s32>(k, {.negate_b = true});
#elif PTXDSL_CASE == 3  // a sparsity selector of a dense instruction
    multiply<bf16, f32>(k, {.sparsity_selector = 1});
#elif PTXDSL_CASE == 4  // scaling of D in a kind that has none
    multiply<e4m3, f32>(k, {.scale_input_d = 1});
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {32}}>>();
