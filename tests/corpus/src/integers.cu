// SPDX-License-Identifier: Apache-2.0
// Integer instructions: bit fields, multiply-high, dot products, byte permutation, 64-bit and 128-bit arithmetic.
extern "C" __global__ void bits(unsigned* a, unsigned long long* b, int n) {
    const unsigned i = threadIdx.x;
    a[i] = __byte_perm(a[i], a[i + 1], 0x3201) + __umulhi(a[i], 77u) + __dp4a(a[i], a[i + 1], 3u) + __vadd4(a[i], a[i + 2]);
    b[i] = __umul64hi(b[i], b[i + 1]) + __popcll(b[i]) + __clzll(b[i]) + __brevll(b[i]);
    a[i + 1] = (a[i] >> 3 & 0x1f) | (a[i] << 7) | (n > 3 ? a[i] * 5 : a[i] + 1);
    const unsigned __int128 w = static_cast<unsigned __int128>(b[i]) * b[i + 1] + n;
    b[i + 2] = static_cast<unsigned long long>(w >> 64) ^ static_cast<unsigned long long>(w);
    a[i + 3] = __usad(a[i], a[i + 1], 4u) + __sad(n, 3, 1u) + min(a[i], 9u) + abs(n);
}
extern "C" __global__ void inline_asm(unsigned* out) {
    unsigned lane, r;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    r = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        ".reg .b32 t;\n\t"
        "elect.sync t|p, 0xffffffff;\n\t"
        "selp.b32 %0, 1, 0, p; // which lane\n\t"
        "}" : "=r"(r));
#endif
    out[threadIdx.x] = lane + r;
}
