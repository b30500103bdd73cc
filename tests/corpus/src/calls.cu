// SPDX-License-Identifier: Apache-2.0
// Device functions that stay functions: recursion, pointers to functions, virtual calls, printf, assert, structs by value.
#include <cassert>
#include <cstdio>

struct big { int v[6]; double d; };

__noinline__ __device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__noinline__ __device__ big twice(big b) {
    for (int& i : b.v) i *= 2;
    b.d += b.v[0];
    return b;
}
__noinline__ __device__ float plus(float a, float b) { return a + b; }
__noinline__ __device__ float times(float a, float b) { return a * b; }
__device__ float (*const table[2])(float, float) = {plus, times};

struct shape {
    __device__ virtual float area(float) const = 0;
    __device__ virtual ~shape() {}
};
struct square : shape {
    __device__ float area(float s) const override { return s * s; }
};

extern "C" __global__ void call_all(int* out, big* b, const shape* s, int which) {
    out[0] = fibonacci(which);
    b[1] = twice(b[0]);
    out[1] = static_cast<int>(table[which & 1](3.f, 4.f) + s->area(2.f));
    assert(out[0] >= 0);
    if (threadIdx.x == 0) printf("%d %f\n", out[0], b[1].d);
}
extern "C" __global__ void make(shape** s) { *s = new square; }
