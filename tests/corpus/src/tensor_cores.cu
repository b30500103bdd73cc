// SPDX-License-Identifier: Apache-2.0
// Matrix instructions through wmma and inline PTX, asynchronous copies to shared memory.
#include <cuda_fp16.h>
#include <mma.h>

extern "C" __global__ void wmma16(const half* a, const half* b, float* c) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
extern "C" __global__ void __launch_bounds__(32) mma16816(const uint4* a, const uint2* b, float4* c) {
    __shared__ alignas(16) uint4 tile[32];
    const unsigned where = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(where), "l"(a + threadIdx.x) : "memory");
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    uint4 f;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(f.x), "=r"(f.y), "=r"(f.z), "=r"(f.w) : "r"(where));
    const uint2 g = b[threadIdx.x];
    float4 d = c[threadIdx.x];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d.x), "+f"(d.y), "+f"(d.z), "+f"(d.w) : "r"(f.x), "r"(f.y), "r"(f.z), "r"(f.w), "r"(g.x), "r"(g.y));
    c[threadIdx.x] = d;
}
