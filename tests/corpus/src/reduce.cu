// SPDX-License-Identifier: Apache-2.0
// Shared memory, barriers, shuffles, votes, atomics.
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

extern "C" __global__ void block_sum(const float* in, float* out, int n) {
    __shared__ float part[32];
    extern __shared__ float dynamic[];
    float v = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) v += in[i];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    dynamic[threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : dynamic[0];
        v = warp_sum(v);
        if (threadIdx.x == 0) atomicAdd(out, v);
    }
}

extern "C" __global__ void votes(int* out, unsigned* histogram) {
    const int v = out[threadIdx.x];
    const unsigned b = __ballot_sync(0xffffffffu, v > 0);
    if (__any_sync(0xffffffffu, v == 7) && !__all_sync(0xffffffffu, v == 8)) out[threadIdx.x] = __popc(b) + __clz(v) + __ffs(v) + __brev(v);
    atomicMax(&histogram[v & 255], 3u);
    atomicCAS(&histogram[0], 1u, 2u);
    atomicExch(reinterpret_cast<unsigned long long*>(histogram) + 8, 5ull);
    __threadfence();
    __syncwarp();
    if (__match_any_sync(0xffffffffu, v) == b) __nanosleep(20);
}
