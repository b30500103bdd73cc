// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels: vector loads, predicates, launch bounds, restrict, read-only loads.
struct pair_of_floats { float x, y; };

extern "C" __global__ void scale_add(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void __launch_bounds__(256, 2) copy4(const float4* in, float4* out, long long n) {
    for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) out[i] = in[i];
}

extern "C" __global__ void narrow(const unsigned char* a, const signed char* b, short* c, unsigned short* d, int n) {
    const int i = threadIdx.x;
    if (i >= n) return;
    c[i] = static_cast<short>(a[i] * b[i]);
    d[i] = static_cast<unsigned short>(a[i] >> (b[i] & 7));
}

extern "C" __global__ void by_value(pair_of_floats p, pair_of_floats* out, bool flip) {
    out[threadIdx.x] = flip ? pair_of_floats{p.y, p.x} : p;
}

template <class T, int N>
__global__ void templated(T (*rows)[N], T bias) {
    for (int i = 0; i < N; ++i) rows[threadIdx.x][i] += bias;
}
template __global__ void templated<double, 3>(double (*)[3], double);
template __global__ void templated<unsigned long long, 2>(unsigned long long (*)[2], unsigned long long);
