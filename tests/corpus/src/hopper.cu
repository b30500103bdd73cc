// SPDX-License-Identifier: Apache-2.0
// Hopper: clusters, distributed shared memory, mbarriers, tensor copies, wgmma, programmatic launch.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cstdint>

extern "C" __global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
    namespace cg = cooperative_groups;
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    mine = threadIdx.x;
    cluster.sync();
    out[threadIdx.x] = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
    cluster.sync();
}

extern "C" __global__ void __launch_bounds__(128, 1) multiply(const __grid_constant__ CUtensorMap map, float* out, std::uint64_t descriptor) {
    __shared__ alignas(1024) unsigned char tile[8192];
    __shared__ std::uint64_t barrier;
    const auto bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    const auto dst = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(bar));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 8192;" ::"r"(bar));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(dst), "l"(&map), "r"(0), "r"(static_cast<int>(blockIdx.x)), "r"(bar) : "memory");
    }
    __syncthreads();
    asm volatile(
        "{\n"
        ".reg .pred P1;\n"
        "WAIT_%=:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
        "@P1 bra DONE_%=;\n"
        "bra WAIT_%=;\n"
        "DONE_%=:\n"
        "}\n" ::"r"(bar), "r"(0));
    float d[4] = {};
    asm volatile(
        "wgmma.fence.sync.aligned;\n"
        "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n}\n"
        "wgmma.commit_group.sync.aligned;\n"
        "wgmma.wait_group.sync.aligned 0;\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor), "l"(descriptor + 64), "r"(1));
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}
