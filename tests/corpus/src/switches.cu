// SPDX-License-Identifier: Apache-2.0
// Branches: a jump table, nested loops with break and continue, early returns.
extern "C" __global__ void __launch_bounds__(128) dispatch(int* p, int k) {
    int v = p[threadIdx.x];
    switch (k) {
        case 0: v += 11; break;
        case 1: v *= 3; break;
        case 2: v ^= v >> 3; break;
        case 3: v = ~v; break;
        case 4: v = v / 7; break;
        case 5: v = v % 13; break;
        case 6: v = __funnelshift_l(v, v, 5); break;
        case 7: p[0] = 1; return;
        default: v = -v;
    }
    p[threadIdx.x] = v;
}
extern "C" __global__ void loops(const int* a, int* out, int n) {
    int best = 0;
    for (int i = 0; i < n; ++i) {
        if (a[i] < 0) continue;
        int j = i;
        while (j < n && a[j] != a[i] + 3) {
            if (a[j] == 100) { best = -1; break; }
            j += a[j] & 3;
#pragma unroll 1
            for (int k = 0; k < 3; ++k) best = max(best, a[k] + j);
        }
    }
    *out = best;
}
