// SPDX-License-Identifier: Apache-2.0
// Module variables: constants, initialised tables, addresses in tables, managed memory, strings, alignment.
__constant__ float weights[8] = {1.f, -2.5f, 3.e-5f, 1e30f, 0.f, -0.f, 7.f, 8.f};
__constant__ struct { int a; char b; double c; } record = {1, 'x', 2.5};
__device__ int counter = 42;
__device__ int zeroed[5];
__device__ unsigned char bytes[7] = {1, 2, 255, 0, 9, 8, 7};
__device__ long long wide[3] = {-1, 1ll << 40, 5};
__device__ int* pointers[3] = {&counter, zeroed + 2, nullptr};
__managed__ int shared_with_host = 3;
__device__ const char text[] = "text with \"quotes\" and a tab\t";
static __device__ double local_to_file = 1.0 / 3.0;
__device__ float2 aligned_pair[2] = {{1.f, 2.f}, {3.f, 4.f}};

extern "C" __global__ void use(float* out, int i) {
    int scratch[16];
    for (int k = 0; k < 16; ++k) scratch[k] = k * i;
    out[0] = weights[i] + record.a + record.b + static_cast<float>(record.c) + *pointers[i];
    out[1] = text[i] + bytes[i] + static_cast<float>(wide[i]) + scratch[i & 15] + aligned_pair[i].y;
    out[2] = static_cast<float>(local_to_file) + shared_with_host + zeroed[i];
    atomicAdd(&counter, 1);
    local_to_file += 1;
}
