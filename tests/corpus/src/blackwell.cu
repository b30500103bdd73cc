// SPDX-License-Identifier: Apache-2.0
// Blackwell: tensor memory and its matrix instruction.
#include <cstdint>

extern "C" __global__ void __launch_bounds__(128, 1) tensor_memory(std::uint64_t a, std::uint64_t b, unsigned idesc, unsigned* out) {
    __shared__ unsigned where;
    __shared__ std::uint64_t barrier;
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&where));
    const auto bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x < 32) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(at) : "memory");
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
    __syncthreads();
    const unsigned d = where;
    if (threadIdx.x == 0) {
        asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %4, 0;\n\ttcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n\t}" ::"r"(d), "l"(a), "l"(b), "r"(idesc), "r"(0) : "memory");
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar) : "memory");
    }
    unsigned r[4];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(d));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = r[i];
    __syncthreads();
    if (threadIdx.x < 32) asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n\ttcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(d));
}
