// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces through objects.
extern "C" __global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float4* out, float x, float y) {
    const int i = threadIdx.x;
    out[i] = tex2D<float4>(t, x + i, y);
    out[i + 1] = tex3D<float4>(t, x, y, 1.f);
    out[i + 2] = tex2DLod<float4>(t, x, y, 2.f);
    out[i + 3] = tex2Dgather<float4>(t, x, y, 1);
    out[i + 4].x = tex1Dfetch<float>(t, i);
    out[i + 5] = tex2DGrad<float4>(t, x, y, make_float2(1.f, 2.f), make_float2(3.f, 4.f));
    out[i + 6] = texCubemap<float4>(t, x, y, 1.f);
    out[i + 7] = tex2DLayered<float4>(t, x, y, 3);
    surf2Dwrite(out[i], s, i * 16, 0);
    surf2Dread(&out[i + 8], s, i * 16, 1, cudaBoundaryModeZero);
}
