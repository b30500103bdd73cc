// SPDX-License-Identifier: Apache-2.0
// Every typed call of tensor memory, tcgen05 and clusterlaunchcontrol, with every kind, form and shape, through ptxas.
//
// Options and exit codes: ../all_calls.hpp.

#include "../all_calls.hpp"

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using namespace px;         // NOLINT(google-build-using-namespace)
using namespace all_calls;  // NOLINT(google-build-using-namespace)

namespace {

using bw = builder<sm_100a>;

template <class... T>
struct types {};

/// A pair of shared tiles for a product of M x N in a group of blocks, and its accumulator.
template <class D, class A, class B, unsigned M, unsigned N, tok Group, major AMajor = k_major, major BMajor = k_major,
          swizzle_mode Swizzle = swizzle_128b>
struct product {
    static constexpr unsigned pair = Group == cta_group_2 ? 2 : 1;
    static constexpr unsigned depth(unsigned bits) { return 1024 / bits; }
    using tile_a = tile<A, M / pair, depth(tile<A, 8, 1024>::layout.element_bits), AMajor, Swizzle>;
    using tile_b = tile<B, N / pair, depth(tile<B, 8, 1024>::layout.element_bits), BMajor, Swizzle>;
    using half_a = tile<A, M / pair, depth(tile<A, 8, 1024>::layout.element_bits) / 2, AMajor, swizzle_64b>;
};

template <class D, class A, class B, unsigned M, unsigned N, tok Group, major AMajor = k_major, major BMajor = k_major,
          swizzle_mode Swizzle = swizzle_128b>
constexpr void dense(bw& k, const tensor_memory<512, Group>& mem) {
    k.bar_sync();  // all products are in the same columns: who waits may have read those before (I07)
    using P = product<D, A, B, M, N, Group, AMajor, BMajor, Swizzle>;
    const auto a = k.tcgen05.descriptor(k.smem<typename P::tile_a>());
    const auto b = k.tcgen05.descriptor(k.smem<typename P::tile_b>());
    const auto acc = mem.template accumulator<D, M, N>();
    k.tcgen05.mma(acc, a, b, false);
    const auto go = k.mov(px::tid.x) == 0u;
    k.tcgen05.mma(acc, a, b, go);
    k.tcgen05.mma(acc, a, b, px::unless(go));
    each_tok<collector_a_fill, collector_a_use, collector_a_lastuse, collector_a_discard>(
        [&](auto c) { k.tcgen05.template mma<c()>(acc, a, b, true); });
    const auto zero = k.mov<b32>(0u);
    if constexpr (P::pair == 1)
        k.tcgen05.mma(acc, a, b, true, vec{zero, zero, zero, zero});
    else
        k.tcgen05.mma(acc, a, b, true, vec{zero, zero, zero, zero, zero, zero, zero, zero});
}
/// A in tensor memory; N of a pair in steps of 32.
template <class D, class A, class B, unsigned M, unsigned N, tok Group>
constexpr void from_tensor_memory(bw& k, const tensor_memory<512, Group>& mem) {
    k.bar_sync();
    using P = product<D, A, B, M, N, Group>;
    const auto b = k.tcgen05.descriptor(k.smem<typename P::tile_b>());
    const auto acc = mem.template accumulator<D, M, N>();
    const auto a = mem.template a_operand<A, M / P::pair, P::tile_a::cols, 256>();
    k.tcgen05.mma(acc, a.k_slice(1), b.k_slice(1), true);
    k.tcgen05.template mma<ashift>(acc, a, b, true);
    k.tcgen05.template mma<ashift, collector_a_discard>(acc, a, b, true);
    k.tcgen05.template mma<collector_a_fill>(acc, a, b, true);
}
template <class D, class A, class B, unsigned M, unsigned N, tok Group>
constexpr void sparse(bw& k, const tensor_memory<512, Group>& mem) {
    k.bar_sync();
    using P = product<D, A, B, M, N, Group>;
    const auto a = k.tcgen05.descriptor(k.smem<typename P::half_a>());
    const auto b = k.tcgen05.descriptor(k.smem<typename P::tile_b>());
    const auto acc = mem.template accumulator<D, M, N>();
    const auto meta = mem.template slice<b32, 16, 480>();
    k.tcgen05.mma_sp(acc, a, b, meta, false);
    k.tcgen05.template mma_sp<collector_a_lastuse>(acc, a, b, meta, true);
}
template <class D, class A, class B, unsigned M, unsigned N>
constexpr void weight_stationary(bw& k, const tensor_memory<512, cta_group_1>& mem) {
    k.bar_sync();
    using P = product<D, A, B, M, N, cta_group_1>;
    const auto a = k.tcgen05.descriptor(k.smem<typename P::tile_a>());
    const auto b = k.tcgen05.descriptor(k.smem<typename P::tile_b>());
    const auto acc = mem.ws_accumulator<D, M, N>();
    k.tcgen05.mma_ws(acc, a, b, false);
    k.tcgen05.mma_ws<px::tok::collector__b2__fill>(acc, a, b, true, k.mov<u64>(0u));
    k.tcgen05.mma_ws(acc, mem.a_operand<A, M, P::tile_a::cols, 256>(), b, true);
    k.tcgen05.mma_ws(acc, a, b, true, mma_options{.max_shift = 16});
    const auto half = k.tcgen05.descriptor(k.smem<typename P::half_a>());
    const auto meta = mem.slice<b32, 16, 480>();
    k.tcgen05.mma_ws_sp(acc, half, b, meta, true);
    k.tcgen05.mma_ws_sp<px::tok::collector__b0__use>(acc, half, b, meta, true, k.mov<u64>(0u));
}
template <class A, class B, class S, unsigned M, unsigned N, tok Group, tok... Vec>
constexpr void scaled(bw& k, const tensor_memory<512, Group>& mem) {
    k.bar_sync();
    using P = product<f32, A, B, M, N, Group>;
    const auto a = k.tcgen05.descriptor(k.smem<typename P::tile_a>());
    const auto b = k.tcgen05.descriptor(k.smem<typename P::tile_b>());
    const auto half = k.tcgen05.descriptor(k.smem<typename P::half_a>());
    const auto acc = mem.template accumulator<f32, M, N>();
    const auto sa = mem.template scales<S, 128, 384, 2>();
    const auto sb = mem.template scales<S, 256, 400, 2>();
    const auto meta = mem.template slice<b32, 16, 480>();
    k.tcgen05.template mma<Vec...>(acc, a, b, sa[0], sb[0], false);
    k.tcgen05.template mma<Vec..., collector_a_fill>(acc, a, b, sa[1], sb[1], true);
    k.tcgen05.template mma<Vec...>(acc, mem.template a_operand<A, M / P::pair, P::tile_a::cols, 256>(), b, sa[0], sb[0],
                                   true);
    k.tcgen05.template mma_sp<Vec...>(acc, half, b, meta, sa[0], sb[0], true);
}

template <tok Group>
constexpr void floats(bw& k, const tensor_memory<512, Group>& mem) {
    constexpr unsigned wide = Group == cta_group_2 ? 256 : 128, low = wide / 2;
    dense<f32, f16, f16, wide, 256, Group>(k, mem), dense<f16, f16, f16, low, 32, Group>(k, mem);
    dense<f32, bf16, bf16, wide, 128, Group, mn_major, mn_major>(k, mem);
    dense<f32, tf32, tf32, wide, 64, Group>(k, mem), dense<f32, f32, f32, low, 64, Group>(k, mem);
    dense<f32, tf32, tf32, wide, 64, Group, mn_major, mn_major, swizzle_128b_base32>(k, mem);
    dense<f32, bf16, bf16, wide, 64, Group, k_major, k_major, core_matrices>(k, mem);
    from_tensor_memory<f32, bf16, bf16, wide, 64, Group>(k, mem),
        from_tensor_memory<f16, f16, f16, low, 64, Group>(k, mem);
    from_tensor_memory<f32, tf32, tf32, wide, 64, Group>(k, mem);
    sparse<f32, bf16, bf16, wide, 64, Group>(k, mem), sparse<f32, tf32, tf32, wide, 64, Group>(k, mem);
    const auto a = k.tcgen05.descriptor(k.smem<tile<f16, 128, 64>>());
    const auto b = k.tcgen05.descriptor(k.smem<tile<f16, 64, 64>>());
    k.tcgen05.mma(mem.template accumulator<f32, wide, Group == cta_group_2 ? 128 : 64>(), a, b, true,
                  mma_options{.negate_a = true, .negate_b = true, .scale_input_d = 3});
}
template <tok Group>
constexpr void bytes(bw& k, const tensor_memory<512, Group>& mem) {
    constexpr unsigned wide = Group == cta_group_2 ? 256 : 128, low = wide / 2;
    dense<f32, e4m3, e4m3, wide, 256, Group>(k, mem), dense<f16, e5m2, e4m3, low, 32, Group>(k, mem);
    dense<f32, e4m3, e5m2, wide, 256, Group, mn_major, mn_major>(k, mem);
    dense<f32, e2m3, e3m2, wide, 64, Group>(k, mem), dense<f32, in_bytes<e2m1>, e4m3, wide, 64, Group>(k, mem);
    from_tensor_memory<f32, e4m3, e4m3, wide, 64, Group>(k, mem), sparse<f32, e4m3, e4m3, wide, 64, Group>(k, mem);
    dense<s32, s8, s8, wide, 256, Group>(k, mem), dense<s32, u8, s8, low, 32, Group>(k, mem);
    from_tensor_memory<s32, s8, u8, wide, 64, Group>(k, mem), sparse<s32, u8, u8, wide, 64, Group>(k, mem);
}
template <tok Group>
constexpr void scaled_kinds(bw& k, const tensor_memory<512, Group>& mem) {
    constexpr unsigned wide = Group == cta_group_2 ? 256 : 128;
    scaled<e4m3, e5m2, ue8m0, wide, 64, Group>(k, mem),
        scaled<e4m3, in_bytes<e2m1>, ue8m0, wide, 32, Group, block32>(k, mem);
    scaled<e2m1, e2m1, ue8m0, wide, 64, Group>(k, mem), scaled<e2m1x2, e2m1x2, ue8m0, 128, 64, Group, block32>(k, mem);
    scaled<e2m1, e2m1, ue4m3, wide, 256, Group>(k, mem), scaled<e2m1x2, e2m1x2, ue4m3, 128, 64, Group, block16>(k, mem);
    scaled<e2m1, e2m1, ue8m0, wide, 64, Group, px::tok::scale_vec__4X>(k, mem);
}
template <tok Group>
constexpr void stationary(bw& k, const tensor_memory<512, Group>& mem) {
    if constexpr (Group == cta_group_1) {
        weight_stationary<f32, bf16, bf16, 128, 64>(k, mem), weight_stationary<f32, f16, f16, 64, 128>(k, mem);
        weight_stationary<f32, tf32, tf32, 32, 256>(k, mem), weight_stationary<f16, e4m3, e5m2, 64, 64>(k, mem);
        weight_stationary<s32, s8, s8, 32, 64>(k, mem);
    }
}

template <tok Shape, unsigned Most, class Q>
constexpr void moves(bw& k, const Q& q) {
    each_tok<x1, x2, x4, x8, x16, x32, x64, x128>([&](auto n) {
        if constexpr (px::isa::token_count_of(n()) <= Most) {
            const auto all = q.template slice<b32, 512>();
            const auto plain = k.tcgen05.template ld<Shape, n()>(all);
            const auto packed = k.tcgen05.template ld<Shape, n(), pack_16b>(all);
            k.tcgen05.wait_ld();
            k.tcgen05.template st<Shape, n()>(all, plain);
            k.tcgen05.template st<Shape, n(), unpack_16b>(all, packed);
            k.tcgen05.wait_st();
        }
    });
}
template <tok Group>
constexpr void registers(bw& k, const tensor_memory<512, Group>& mem) {
    const auto q = k.tcgen05.quarter(mem, k.mov(px::warpid));
    moves<shape_32x32b, 128>(k, q), moves<shape_16x64b, 128>(k, q), moves<shape_16x128b, 64>(k, q),
        moves<shape_16x256b, 32>(k, q);
    const auto all = k.tcgen05.quarter(mem, 3u).template slice<b32, 512>();
    each_tok<x1, x2, x4, x8, x16, x32, x64, x128>([&](auto n) {
        const auto v = k.tcgen05.template ld_16x32bx2<n(), 32>(all, 8);
        const auto w = k.tcgen05.template ld_16x32bx2<n(), 32, pack_16b>(all);
        k.tcgen05.wait_ld();
        k.tcgen05.template st_16x32bx2<n(), 64>(all, v);
        k.tcgen05.template st_16x32bx2<n(), 64, unpack_16b>(all, w);
    });
    k.tcgen05.wait_st();
}
template <tok Group>
constexpr void copies(bw& k, const tensor_memory<512, Group>& mem) {
    const auto from = k.tcgen05.descriptor(k.smem<tile<u8, 128, 16, k_major, core_matrices>>());
    const auto to = mem.template slice<b32, 16, 64, 4>();
    k.tcgen05.template cp<shape_128x256b>(to[0], from), k.tcgen05.template cp<shape_4x256b>(to[1], from);
    k.tcgen05.template cp<shape_128x128b>(to[2], from), k.tcgen05.template cp<shape_64x128b, warpx2_02_13>(to[0], from);
    k.tcgen05.template cp<shape_64x128b, warpx2_01_23>(to[0], from),
        k.tcgen05.template cp<shape_32x128b, warpx4>(to[k.mov(px::tid.x)], from);
    each_tok<b6x16_p32, b4x16_p64>([&](auto f) {
        k.tcgen05.template cp<shape_128x256b, b8x16, f()>(to[0], from),
            k.tcgen05.template cp<shape_4x256b, b8x16, f()>(to[0], from);
        k.tcgen05.template cp<shape_128x128b, b8x16, f()>(to[0], from);
        k.tcgen05.template cp<shape_64x128b, warpx2_01_23, b8x16, f()>(to[0], from);
        k.tcgen05.template cp<shape_32x128b, warpx4, b8x16, f()>(to[0], from);
    });
    k.tcgen05.shift(to[3]);
}
template <tok Group>
constexpr void completion(bw& k, const tensor_memory<512, Group>&) {
    const auto bars = k.make_mbarrier_ring<"done">(2, arrivals<1>);
    k.tcgen05.template commit<Group>(bars[0]), k.tcgen05.template commit<Group>(bars[k.mov(px::tid.x)]);
    k.tcgen05.template commit_multicast<Group>(bars[1], 3),
        k.tcgen05.template commit_multicast<Group>(bars[1], k.mov<u16>(15));
    k.tcgen05.fence_before_thread_sync();
    k.tcgen05.wait(bars[0], 0u);
    const auto response = k.smem_array<b128>(1, "response");
    k.clusterlaunchcontrol_try_cancel(response, bars[0]),
        k.clusterlaunchcontrol_try_cancel_multicast(response, bars[1]);
    const auto r = k.ld(response);
    const auto got = k.clusterlaunchcontrol_query_cancel_is_canceled(r);
    const auto id = k.clusterlaunchcontrol_query_cancel_get_first_ctaid(r);
    const auto sum = k.add(k.add(id.x, id.y), id.z);
    k.at(got).st(k.smem_array<u32>(1, "sum"), k.add(sum, k.clusterlaunchcontrol_query_cancel_get_first_ctaid_x(r)));
    k.st(k.smem_array<u32>(1, "yz"), k.add(k.clusterlaunchcontrol_query_cancel_get_first_ctaid_y(r),
                                           k.clusterlaunchcontrol_query_cancel_get_first_ctaid_z(r)));
}

/// The allocation around a list of calls.
template <tok Group, void (*Calls)(bw&, const tensor_memory<512, Group>&)>
constexpr void kernel(bw& k) {
    const auto slot = k.tcgen05.make_slot<512, Group>();
    k.tcgen05.alloc(slot);
    k.bar_sync();
    const auto mem = k.tcgen05.load(slot);
    Calls(k, mem);
    k.tcgen05.dealloc(mem);
    k.tcgen05.relinquish_alloc_permit(slot);
}

// ---- the run
// -----------------------------------------------------------------------------------------------------------

template <tok Group>
void all(runner& r, const std::string& group) {
    const attributes attrs{.reqntid = {128}, .cluster = {Group == cta_group_2 ? 4u : 0u}};
    r.calls("floats_" + group, &kernel<Group, &floats<Group>>, "sm_100a", attrs),
        r.calls("bytes_" + group, &kernel<Group, &bytes<Group>>, "sm_100a", attrs);
    r.calls("scaled_" + group, &kernel<Group, &scaled_kinds<Group>>, "sm_100a", attrs);
    r.calls("stationary_" + group, &kernel<Group, &stationary<Group>>, "sm_100a", attrs);
    r.calls("registers_" + group, &kernel<Group, &registers<Group>>, "sm_100a", attrs);
    r.calls("copies_" + group, &kernel<Group, &copies<Group>>, "sm_100a", attrs);
    r.calls("completion_" + group, &kernel<Group, &completion<Group>>, "sm_100a", attrs);
}

}  // namespace

int main(int argc, char** argv) {
    // Shared memory is a list of tiles here, more than a block has: -c leaves the limit alone.
    runner r(argc, argv, "tcgen05", "-c");
    all<cta_group_1>(r, "1");
    all<cta_group_2>(r, "2");
    return r.result();
}
