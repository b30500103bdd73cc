// SPDX-License-Identifier: Apache-2.0
// Floating point: half, bfloat16, double, library functions, conversions, rounding.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void halves(const __half2* a, __half2* b, const __nv_bfloat162* c, __nv_bfloat162* d) {
    const int i = threadIdx.x;
    b[i] = __hfma2(a[i], b[i], __float2half2_rn(2.f));
    d[i] = __hmul2(c[i], __floats2bfloat162_rn(1.f, -1.f));
    if (__hgt(__low2half(a[i]), __high2half(a[i]))) b[i] = h2exp2(b[i]);
}
extern "C" __global__ void functions(float* f, double* d, int n) {
    const int i = threadIdx.x;
    f[i] = __expf(f[i]) + rsqrtf(f[i]) + fminf(f[i], 3.f) + __fdividef(f[i], 3.f) + truncf(f[i]);
    f[i + n] = __fmaf_rz(f[i], 2.f, 1.f) + __frcp_ru(f[i]) + __int_as_float(n) + copysignf(f[i], -1.f);
    d[i] = sqrt(d[i]) + fma(d[i], d[i], 1.0) + static_cast<double>(f[i]) + __dadd_rd(d[i], 1.0) + 1.0 / d[i];
    f[i] = static_cast<float>(static_cast<long long>(d[i])) + static_cast<unsigned>(f[i]) + isnan(f[i]) + isinf(d[i]);
}
extern "C" __global__ void angles(float* f) { f[threadIdx.x] = sinf(f[threadIdx.x]); }
