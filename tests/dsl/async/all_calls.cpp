// SPDX-License-Identifier: Apache-2.0
// Every typed call of the matrix, barrier and asynchronous families with its legal types, for both targets, through
// ptxas.
//
// Options and exit codes: ../all_calls.hpp.

#include "../all_calls.hpp"

#include <ptxdsl/ptxdsl.hpp>

#include <type_traits>

namespace px = ptxdsl;
using namespace px;         // NOLINT(google-build-using-namespace)
using namespace all_calls;  // NOLINT(google-build-using-namespace)

namespace {

// ---- warp-level matrices
// --------------------------------------------------------------------------------------------------

template <class D, u32 M, u32 K, class A, class B = A, tok... Mods, target Tgt>
constexpr void multiply(const source<Tgt>& s) {
    const auto a = s.k.template make_fragment<mma_a<A, M, K>>("a");
    const auto b = s.k.template make_fragment<mma_b<B, K>>("b");
    const auto c = s.k.template make_fragment<mma_acc<D, M>>("c");
    s.fill(a), s.fill(b), s.fill(c);
    s.k.template mma_sync<Mods...>(c, a, b, c);
    s.keep(c);
}
template <class D, u32 K, class A, class B, unsigned Selector, tok... Mods, target Tgt>
constexpr void multiply_sparse(const source<Tgt>& s) {
    const auto a = s.k.template make_fragment<mma_sparse_a<A, 16, K>>();
    const auto b = s.k.template make_fragment<mma_b<B, K>>();
    const auto c = s.k.template make_fragment<mma_acc<D>>();
    const auto d = s.k.template make_fragment<mma_acc<D>>();
    s.fill(a), s.fill(b), s.fill(c);
    s.k.template mma_sp_sync<Selector, px::ordered_metadata, Mods...>(d, a, b, c, s.template get<u32>());
    s.k.template mma_sp_sync<Selector, Mods...>(d, a, b, d, s.template get<b32>());
    s.keep(d);
}

template <target Tgt>
void matrices(builder<Tgt>& k, byte_ptr data) {
    const source<Tgt> s{k, data};
    const auto p = k.template smem_array<b16>(4096, "rows").template assume_aligned<16>();
    const auto v1 = k.template ldmatrix<px::x1>(p);
    const auto v2 = k.template ldmatrix<px::x2, px::trans>(p);
    const auto v4 = k.template ldmatrix<px::x4>(p.template byte_offset<16>(64));
    k.stmatrix(p, v1[0]), k.stmatrix(p, v2[0], v2[1]), k.stmatrix(p, v4[0], v4[1], v4[2], v4[3]);
    k.template stmatrix<px::trans>(p, v1[0]), k.template stmatrix<px::trans>(p, v2[0], k.movmatrix(v2[1]));
    const auto a = k.template make_fragment<mma_a<bf16, 16, 16>>();
    const auto b = k.template make_fragment<mma_b<bf16, 16>>();
    const auto q = k.template make_fragment<mma_a<e4m3, 16, 32>>();
    k.ldmatrix(a, p), k.template ldmatrix<px::trans>(b, p), k.ldmatrix(q, p);
    k.stmatrix(p, a), k.template stmatrix<px::trans>(p, b), k.stmatrix(p, q);
    const mma_a<f16, 16, 16> cast(v4);
    k.stmatrix(p, cast);
    if constexpr (is_blackwell(Tgt)) {
        const auto w = k.template ldmatrix<px::m16n16, px::x2, px::trans>(p);
        k.stmatrix(p, w[0], w[1], w[2], w[3]);
        static_cast<void>(k.template ldmatrix<px::m16n16, px::x1, px::trans, tok::b8x16, tok::b6x16_p32>(p));
        static_cast<void>(k.template ldmatrix<px::m8n16, px::x4, tok::b8x16, tok::b4x16_p64>(p));
        k.template stmatrix<px::m16n8, px::trans>(p, w[0]), k.template stmatrix<px::m16n8, px::trans>(p, w[0], w[1]);
        each<e4m3, e5m2>([&](auto x) {
            each<e4m3, e5m2>([&](auto y) {
                using X = typename decltype(x)::t;
                using Y = typename decltype(y)::t;
                multiply<f32, 16, 32, X, Y, tok::kind__f8f6f4>(s), multiply<f16, 16, 32, X, Y, tok::kind__f8f6f4>(s);
            });
        });
    }

    multiply<f16, 16, 8, f16>(s), multiply<f32, 16, 8, f16>(s), multiply<f16, 16, 16, f16>(s),
        multiply<f32, 16, 16, f16>(s);
    multiply<f32, 16, 8, bf16>(s), multiply<f32, 16, 16, bf16>(s), multiply<f32, 16, 4, tf32>(s),
        multiply<f32, 16, 8, tf32>(s);
    multiply<f64, 8, 4, f64>(s), multiply<f64, 16, 4, f64>(s), multiply<f64, 16, 8, f64>(s),
        multiply<f64, 16, 16, f64>(s);
    each<s8, u8>([&](auto x) {
        each<s8, u8>([&](auto y) {
            using X = typename decltype(x)::t;
            using Y = typename decltype(y)::t;
            multiply<s32, 8, 16, X, Y>(s), multiply<s32, 16, 16, X, Y, px::satfinite>(s),
                multiply<s32, 16, 32, X, Y>(s);
            multiply_sparse<s32, 32, X, Y, 1, px::satfinite>(s), multiply_sparse<s32, 64, X, Y, 0>(s);
        });
    });
    each<s4, u4>([&](auto x) {
        each<s4, u4>([&](auto y) {
            using X = typename decltype(x)::t;
            using Y = typename decltype(y)::t;
            multiply<s32, 8, 32, X, Y>(s), multiply<s32, 16, 32, X, Y>(s),
                multiply<s32, 16, 64, X, Y, px::satfinite>(s);
            multiply_sparse<s32, 64, X, Y, 1>(s), multiply_sparse<s32, 128, X, Y, 0>(s);
        });
    });
    multiply<s32, 8, 128, b1, b1, px::xor_, px::popc>(s), multiply<s32, 16, 128, b1, b1, px::and_, px::popc>(s);
    multiply<s32, 16, 256, b1, b1, px::xor_, px::popc>(s);
    each<e4m3, e5m2>([&](auto x) {
        each<e4m3, e5m2>([&](auto y) {
            using X = typename decltype(x)::t;
            using Y = typename decltype(y)::t;
            multiply<f32, 16, 16, X, Y>(s), multiply<f16, 16, 16, X, Y>(s), multiply<f32, 16, 32, X, Y>(s),
                multiply<f16, 16, 32, X, Y>(s);
            multiply_sparse<f32, 64, X, Y, 0>(s);
        });
    });
    multiply_sparse<f16, 16, f16, f16, 3>(s), multiply_sparse<f32, 16, f16, f16, 0>(s),
        multiply_sparse<f16, 32, f16, f16, 1>(s);
    multiply_sparse<f32, 16, bf16, bf16, 2>(s), multiply_sparse<f32, 32, bf16, bf16, 1>(s);
    multiply_sparse<f32, 8, tf32, tf32, 3>(s), multiply_sparse<f32, 16, tf32, tf32, 1>(s);
}

// ---- barriers
// ---------------------------------------------------------------------------------------------------------------

template <target Tgt>
void barriers(builder<Tgt>& k, byte_ptr data) {
    const source<Tgt> s{k, data};
    const auto n = s.template get<u32>();
    const auto q = s.template get<pred>();
    const auto bars = k.template make_mbarrier_ring<"bars">(4, arrivals<7>);
    const auto placed = k.template make_mbarrier_ring_at<"placed">(128, 1, arrivals_of(3));
    k.mbarrier_init(bars[0]), k.mbarrier_init(bars[n]), k.mbarrier_init(placed[0]), k.fence_mbarrier_init();
    const auto far = k.mapa(bars[1], n);
    const auto far_ring = k.mapa(bars, 1u);

    auto t = k.mbarrier_arrive(bars[1]);
    k.mbarrier_arrive(bars[n], 2), k.mbarrier_arrive(bars[1], n),
        k.template mbarrier_arrive<px::release, px::cta>(bars[0]);
    k.template mbarrier_arrive<px::release, px::cluster>(bars[0]),
        k.template mbarrier_arrive<px::relaxed, px::cluster>(bars[0], 3);
    k.mbarrier_arrive(far), k.mbarrier_arrive(far_ring[n], 2),
        k.template mbarrier_arrive<px::release, px::cluster>(far);
    k.template mbarrier_arrive<px::relaxed, px::cluster>(far, n);
    k.mbarrier_arrive_noComplete(bars[2], 1), k.mbarrier_arrive_noComplete(bars[2], n);
    k.mbarrier_arrive_expect_tx(bars[0], 4096), k.template mbarrier_arrive_expect_tx<px::relaxed, px::cta>(bars[0], n);
    k.mbarrier_arrive_expect_tx(far, 64), k.template mbarrier_arrive_expect_tx<px::release, px::cluster>(far, n);
    const auto with_state = k.mbarrier_arrive_expect_tx_state(bars[3], 16);
    k.mbarrier_arrive_drop(bars[0]), k.template mbarrier_arrive_drop<px::relaxed, px::cluster>(bars[0], 2),
        k.mbarrier_arrive_drop(far);
    k.template mbarrier_arrive_drop<px::release, px::cluster>(far), k.mbarrier_arrive_drop_noComplete(bars[0], 1);
    k.mbarrier_arrive_drop_expect_tx(bars[0], 32),
        k.template mbarrier_arrive_drop_expect_tx<px::release, px::cluster>(far, n);
    k.mbarrier_expect_tx(bars[0], 16), k.template mbarrier_expect_tx<px::cluster>(bars[0], n),
        k.mbarrier_expect_tx(far, 16);
    k.mbarrier_complete_tx(bars[0], 16), k.mbarrier_complete_tx(far, n);

    s.put(k.mbarrier_try_wait_parity(bars[0], 0)), s.put(k.mbarrier_try_wait_parity(bars[n], n, 100u));
    s.put(k.template mbarrier_try_wait_parity<px::acquire, px::cluster>(bars[0], 1)),
        s.put(k.template mbarrier_try_wait_parity<px::relaxed, px::cta>(bars[0], n));
    s.put(k.mbarrier_test_wait_parity(bars[0], n)),
        s.put(k.template mbarrier_test_wait_parity<px::acquire, px::cluster>(bars[0], 1));
    s.put(k.mbarrier_try_wait(bars[1], t)), s.put(k.mbarrier_try_wait(bars[1], t, n)),
        s.put(k.template mbarrier_try_wait<px::relaxed, px::cluster>(bars[1], with_state));
    s.put(k.mbarrier_test_wait(bars[1], t)), s.put(k.template mbarrier_test_wait<px::acquire, px::cluster>(bars[1], t));
    s.put(k.mbarrier_pending_count(t));
    k.wait(bars[0], 0), k.template wait<px::acquire, px::cluster>(bars[n], n);
    k.mbarrier_inval(bars[0]);

    const auto pipe = k.template make_pipeline<"pipe">(3, arrivals<1>, arrivals<2>);
    k.init(pipe);
    const auto in = k.producer_state(pipe);
    const auto out = k.consumer_state(pipe);
    k.wait_empty(pipe, in), k.mbarrier_arrive_expect_tx(pipe.full(in), 16), k.advance(in);
    k.wait_full(pipe, out), k.mbarrier_arrive(pipe.empty(out)), k.advance(out);

    k.bar_sync(), k.template bar_sync<1, 64>(), k.bar_sync(n, 64u), k.template bar_arrive<2, 128>(),
        k.bar_arrive(3u, n);
    s.put(k.bar_red_and(q)), s.put(k.bar_red_or(q)), s.put(k.bar_red_popc(q));
    s.put(k.template bar_red_and<1, 64>(q)), s.put(k.template bar_red_or<1, 64>(q)),
        s.put(k.template bar_red_popc<1, 64>(q));
    k.barrier_cta_sync(0u), k.barrier_cta_sync(n), k.barrier_cta_sync(1u, 64u), k.barrier_cta_arrive(n, 96u);
    s.put(k.barrier_cta_red_and(1u, 64u, q)), s.put(k.barrier_cta_red_or(n, n, q)),
        s.put(k.barrier_cta_red_popc(1u, 64u, q));
    k.barrier_cluster_arrive(), k.barrier_cluster_wait(), k.template barrier_cluster_arrive<px::relaxed>(),
        k.template barrier_cluster_wait<px::acquire>();
    k.template barrier_cluster_arrive<px::release>(), k.barrier_cluster_wait();
    k.barrier_cluster_arrive_nonaligned(), k.barrier_cluster_wait_nonaligned(),
        k.template barrier_cluster_arrive_nonaligned<px::relaxed>();
    k.template barrier_cluster_wait_nonaligned<px::acquire>();
    k.st(data.as<u32>(), k.template mov<u32>(k.cluster_size() + k.cluster_dim().x));

    k.fence_proxy_async(), k.fence_proxy_async_shared_cta(), k.fence_proxy_async_global(),
        k.fence_proxy_async_shared_cluster(), k.fence_proxy_alias();
    k.fence_proxy_async_generic_acquire(), k.fence_proxy_async_generic_release();
    k.template fence_proxy_tensormap_release<px::cta>(), k.template fence_proxy_tensormap_release<px::cluster>();
    k.template fence_proxy_tensormap_release<px::gpu>(), k.template fence_proxy_tensormap_release<px::sys>();
    k.template fence_proxy_tensormap_acquire<px::gpu>(data), k.template fence_proxy_tensormap_acquire<px::sys>(data);
}

// ---- copies
// -----------------------------------------------------------------------------------------------------------------

template <target Tgt>
void plain_copies(builder<Tgt>& k, byte_ptr data) {
    const source<Tgt> s{k, data};
    const auto n = s.template get<u32>();
    const auto m = s.template get<u16>();
    const auto q = s.template get<pred>();
    const auto policy = k.template createpolicy_fractional<px::L2::evict_first>();
    const auto sm = k.template smem_array<u8, 128>(4096, "buffer");
    const auto bar = k.template make_mbarrier_ring<"bar">(1, arrivals<1>)[0];
    const auto far = k.mapa(bar, 1u);
    const auto far_sm = k.mapa(sm, 1u);

    k.template cp_async<px::ca, 4>(sm, data), k.template cp_async<px::ca, 8>(sm, data),
        k.template cp_async<px::ca, 16>(sm, data), k.template cp_async<px::cg, 16>(sm, data);
    k.template cp_async<px::ca, 4>(sm, data, policy), k.template cp_async<px::cg, 16, px::L2::_128B>(sm, data),
        k.template cp_async<px::ca, 16, px::L2::_64B>(sm, data, policy);
    k.template cp_async<px::ca, 8>(sm, data, n), k.template cp_async<px::cg, 16, px::L2::_256B>(sm, data, 7u),
        k.template cp_async<px::cg, 16>(sm, data, n, policy);
    k.template cp_async<px::ca, 4>(sm, data, q), k.template cp_async<px::cg, 16>(sm, data, unless(q), policy);
    k.cp_async_commit_group(), k.template cp_async_wait_group<3>(), k.cp_async_wait_all();
    k.cp_async_mbarrier_arrive(bar), k.cp_async_mbarrier_arrive_noinc(bar);

    k.cp_async_bulk(sm, data, 256u, bar), k.cp_async_bulk(sm, data, n, bar, policy);
    k.template cp_async_bulk<px::shared_cta>(sm, data, 256u, bar),
        k.template cp_async_bulk<px::shared_cta>(sm, data, n, bar, policy);
    k.cp_async_bulk_multicast(sm, data, n, bar, m), k.cp_async_bulk_multicast(sm, data, 16u, bar, 1, policy);
    k.cp_async_bulk(data, sm, n), k.cp_async_bulk(data, sm, 64u, policy), k.cp_async_bulk(far_sm, sm, n, far);
    if constexpr (is_blackwell(Tgt)) k.cp_async_bulk_cp_mask(data, sm, n, m);
    k.cp_async_bulk_prefetch_L2(data, 128u), k.cp_async_bulk_prefetch_L2(data, n, policy);
    k.cp_async_bulk_commit_group(), k.template cp_async_bulk_wait_group<0>(),
        k.template cp_async_bulk_wait_group_read<1>();
    each<u32, s32, u64, s64, f32, f64, f16, bf16>([&](auto tag) {
        using T = typename decltype(tag)::t;
        k.template cp_reduce_async_bulk<tok::add>(data.as<T>(), sm.template as<T>(), n),
            k.template cp_reduce_async_bulk<tok::add>(data.as<T>(), sm.template as<T>(), 32u, policy);
    });
    each<u32, s32, u64, s64, f16, bf16>([&](auto tag) {
        using T = typename decltype(tag)::t;
        k.template cp_reduce_async_bulk<tok::min>(data.as<T>(), sm.template as<T>(), n),
            k.template cp_reduce_async_bulk<tok::max>(data.as<T>(), sm.template as<T>(), n);
    });
    each<u32, s32, b32, u64, s64, b64>([&](auto tag) {
        using T = typename decltype(tag)::t;
        k.template cp_reduce_async_bulk<tok::and_>(data.as<T>(), sm.template as<T>(), n),
            k.template cp_reduce_async_bulk<tok::or_>(data.as<T>(), sm.template as<T>(), n);
        k.template cp_reduce_async_bulk<tok::xor_>(data.as<T>(), sm.template as<T>(), n);
    });
    k.template cp_reduce_async_bulk<tok::inc>(data.as<u32>(), sm.template as<u32>(), n),
        k.template cp_reduce_async_bulk<tok::dec>(data.as<u32>(), sm.template as<u32>(), n);
    k.template cp_reduce_async_bulk<tok::add>(far_sm.template as<u32>(), sm.template as<u32>(), n, far),
        k.template cp_reduce_async_bulk<tok::add>(far_sm.template as<u64>(), sm.template as<u64>(), n, far);
    k.template cp_reduce_async_bulk<tok::min>(far_sm.template as<s32>(), sm.template as<s32>(), n, far),
        k.template cp_reduce_async_bulk<tok::xor_>(far_sm.template as<b32>(), sm.template as<b32>(), n, far);
    k.template cp_reduce_async_bulk<tok::inc>(far_sm.template as<u32>(), sm.template as<u32>(), n, far);

    each<u32, s32, b32, f32, u64, s64, b64, f64>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const auto v = s.template get<T>();
        k.st_async(far_sm.template as<T>(), v, far),
            k.st_async(far_sm.template as<packet<T, 2>>(), vec<T, 2>(v, v), far);
        if constexpr (bits_of<T> == 32) k.st_async(far_sm.template as<packet<T, 4>>(), vec<T, 4>(v, v, v, v), far);
        if constexpr (is_blackwell(Tgt))
            k.template st_async<px::release, px::gpu>(data.as<T>(), v),
                k.template st_async<px::mmio, px::release, px::sys>(data.as<T>(), v);
    });
    const auto u = s.template get<u32>();
    const auto i = s.template get<s32>();
    const auto w = s.template get<u64>();
    k.template red_async<tok::add>(far_sm.template as<u32>(), u, far),
        k.template red_async<tok::add>(far_sm.template as<s32>(), i, far),
        k.template red_async<tok::add>(far_sm.template as<u64>(), w, far);
    k.template red_async<tok::min>(far_sm.template as<u32>(), u, far),
        k.template red_async<tok::max>(far_sm.template as<s32>(), i, far),
        k.template red_async<tok::inc>(far_sm.template as<u32>(), 3u, far);
    k.template red_async<tok::and_>(far_sm.template as<u32>(), u, far),
        k.template red_async<tok::or_>(far_sm.template as<s32>(), i, far);
    if constexpr (is_blackwell(Tgt)) {
        k.template red_async<tok::add, px::release, px::gpu>(data.as<u32>(), u),
            k.template red_async<tok::add, px::release, px::sys>(data.as<u64>(), w);
        k.st_bulk(sm, 64u), k.st_bulk(sm, w);
    }
}

using row = tile<bf16, 1, 64, k_major, no_swizzle>;
using square = tile<bf16, 64, 64>;
using wide = tile<bf16, 64, 256>;
using turned = tile<f32, 128, 32, mn_major, swizzle_128b>;
using pixels = tile<f16, 128, 64>;
using four = tile<bf16, 4, 64>;

template <class Map, target Tgt>
void tensor_copies(builder<Tgt>& k, Map map, tma_map<typename Map::tile_type, Map::rank, true> out, reg<s32> x,
                   reg<u32> y) {
    using T = typename Map::tile_type;
    const auto policy = k.template createpolicy_fractional<px::L2::evict_last>(0.5f);
    const auto t = k.template smem<T>(2, "t");
    const auto bar = k.template make_mbarrier_ring<"bar">(2, arrivals<1>);
    const auto at = [&] {
        if constexpr (Map::rank == 1)
            return coords(x);
        else if constexpr (Map::rank == 2)
            return coords(x, y);
        else if constexpr (Map::rank == 3)
            return coords(0, x, y);
        else if constexpr (Map::rank == 4)
            return coords(x, 64, y, 1);
        else
            return coords(x, y, x, y, 7);
    };
    k.prefetch_tensormap(map);
    k.cp_async_bulk_tensor(t[0], map, at(), bar[0]), k.cp_async_bulk_tensor(t[y], map, at(), bar[y], policy);
    k.template cp_async_bulk_tensor<px::shared_cta>(t[0], map, at(), bar[0]),
        k.template cp_async_bulk_tensor<px::shared_cta>(t[0], map, at(), bar[0], policy);
    k.cp_async_bulk_tensor_multicast(t[0], map, at(), bar[0], 1),
        k.cp_async_bulk_tensor_multicast(t[0], map, at(), bar[0], k.template cvt<u16>(y), policy);
    if constexpr (is_blackwell(Tgt)) {
        k.template cp_async_bulk_tensor<px::cta_group_1>(t[0], map, at(), bar[0]),
            k.template cp_async_bulk_tensor<px::cta_group_2>(t[0], map, at(), bar[0], policy);
        k.template cp_async_bulk_tensor<px::cta_group_2>(t[0], map, at(), k.mapa(bar[0], 0u)),
            k.template cp_async_bulk_tensor<px::shared_cta, px::cta_group_2>(t[0], map, at(), bar[0]);
        k.template cp_async_bulk_tensor_multicast<px::cta_group_2>(t[0], map, at(), bar[0], 1),
            k.template cp_async_bulk_tensor_multicast<px::cta_group_1>(t[0], map, at(), bar[0], 1, policy);
    }
    k.load_tile(t[0], map, at(), bar[0]);
    k.cp_async_bulk_tensor(out, at(), t[1]), k.cp_async_bulk_tensor(out, at(), t[y], policy);
    k.template cp_reduce_async_bulk_tensor<tok::add>(out, at(), t[0]),
        k.template cp_reduce_async_bulk_tensor<tok::add>(out, at(), t[0], policy);
    k.cp_async_bulk_prefetch_tensor(map, at()), k.cp_async_bulk_prefetch_tensor(map, at(), policy);
    k.store_tile(out, at(), t[0]);
}

template <target Tgt>
void panels(builder<Tgt>& k, tma_map<wide> map, tma_map_out<wide> out, tma_map<turned> other, reg<s32> x, reg<u32> y) {
    const auto policy = k.template createpolicy_fractional<px::L2::evict_last, px::L2::evict_first>(0.5f);
    const auto t = k.template smem<wide>(2, "t");
    const auto o = k.template smem<turned>(1, "o");
    const auto bar = k.template make_mbarrier_ring<"bar">(2, arrivals<1>);
    k.load_tile(t[y], map, coords(x, y), bar[y]), k.load_tile(t[0], map, coords(64, y), bar[0], policy),
        k.load_tile_multicast(t[0], map, coords(x, y), bar[0], 1);
    k.load_tile_multicast(t[0], map, coords(x, y), bar[0], 1, policy), k.load_tile(o[0], other, coords(x, y), bar[1]);
    k.cp_async_bulk_tensor(t[y].panel(1), map, coords(k.add(x, 64), y), bar[y]);
    k.store_tile(out, coords(x, y), t[y]), k.store_tile(out, coords(0, 0), t[1], policy);
}

template <unsigned Rank, target Tgt>
void image_columns(builder<Tgt>& k, im2col_map<pixels, Rank> map, im2col_map<pixels, Rank, im2col_corners{}, true> out,
                   reg<s32> x, reg<u16> o) {
    const auto policy = k.template createpolicy_fractional<px::L2::evict_last>();
    const auto t = k.template smem<pixels>(2, "t");
    const auto bar = k.template make_mbarrier_ring<"bar">(1, arrivals<1>);
    const auto at = [&] {
        if constexpr (Rank == 3)
            return coords(0, x, x);
        else if constexpr (Rank == 4)
            return coords(64, x, 2, x);
        else
            return coords(x, x, x, x, x);
    };
    const auto by = [&] {
        if constexpr (Rank == 3)
            return offsets(o);
        else if constexpr (Rank == 4)
            return offsets(o, k.add(o, 1));
        else
            return offsets(o, 1, 2);
    };
    k.cp_async_bulk_tensor(t[0], map, at(), bar[0], by()),
        k.cp_async_bulk_tensor(t[1], map, at(), bar[0], by(), policy);
    k.cp_async_bulk_tensor_multicast(t[0], map, at(), bar[0], by(), 1),
        k.cp_async_bulk_tensor_multicast(t[0], map, at(), bar[0], by(), 1, policy);
    k.template cp_async_bulk_tensor<px::shared_cta>(t[0], map, at(), bar[0], by());
    if constexpr (is_blackwell(Tgt))
        k.template cp_async_bulk_tensor<px::cta_group_2>(t[0], map, at(), bar[0], by(), policy);
    k.cp_async_bulk_tensor(out, at(), t[0]), k.cp_async_bulk_tensor(out, at(), t[0], policy),
        k.template cp_reduce_async_bulk_tensor<tok::min>(out, at(), t[0]);
    k.cp_async_bulk_prefetch_tensor(map, at(), by()), k.cp_async_bulk_prefetch_tensor(map, at(), by(), policy);
}

void blackwell_copies(builder<sm_100a>& k, gather_map<four> rows, gather_map<four, true> out,
                      im2col_wide_map<pixels, 3> w3, im2col_wide_map<pixels, 5, im2col_wide_mode::w128> w5, reg<s32> x,
                      reg<u16> o) {
    const auto policy = k.createpolicy_fractional<px::L2::evict_last>();
    const auto t = k.smem<tile<bf16, 16, 64>>(2, "t");
    const auto p = k.smem<pixels>(1, "p");
    const auto bar = k.make_mbarrier_ring<"bar">(1, arrivals<1>);
    const auto r = k.mov(x);
    k.cp_async_bulk_tensor(t[0].part<four>(1), rows, coords(x, r, r, r, 9), bar[0]);
    k.cp_async_bulk_tensor(t[1].part<four>(r.as<u32>()), rows, coords(x, r, r, r, 9), bar[0], policy);
    k.cp_async_bulk_tensor<px::shared_cta>(t[0].part<four>(3), rows, coords(x, r, r, r, 9), bar[0]);
    k.cp_async_bulk_tensor_multicast<px::cta_group_2>(t[0].part<four>(3), rows, coords(x, r, r, r, 9), bar[0], 1);
    k.cp_async_bulk_tensor(out, coords(x, r, r, r, r), t[0].part<four>(2)),
        k.cp_async_bulk_prefetch_tensor(rows, coords(x, r, r, r, r));
    k.cp_async_bulk_tensor(p[0], w3, coords(x, x, x), bar[0], offsets(o, o)),
        k.cp_async_bulk_tensor(p[0], w5, coords(x, x, x, x, x), bar[0], offsets(o, o), policy);
    k.cp_async_bulk_tensor<px::shared_cta>(p[0], w3, coords(x, x, x), bar[0], offsets(o, o)),
        k.cp_async_bulk_prefetch_tensor(w5, coords(x, x, x, x, x), offsets(o, o));
}

template <target Tgt>
void tensor_maps(builder<Tgt>& k, byte_ptr data, reg<u32> n, reg<u64> a) {
    const auto sm = k.template smem_array<b8, 128>(128, "map");
    const auto change = [&](auto p) {
        k.template tensormap_replace<tok::global_address>(p, a), k.template tensormap_replace<tok::rank>(p, n);
        k.template tensormap_replace<tok::box_dim, 0>(p, n), k.template tensormap_replace<tok::global_dim, 1>(p, n),
            k.template tensormap_replace<tok::global_stride, 2>(p, a);
        k.template tensormap_replace<tok::element_stride, 4>(p, n), k.template tensormap_replace<tok::elemtype, 10>(p),
            k.template tensormap_replace<tok::interleave_layout, 0>(p);
        k.template tensormap_replace<tok::swizzle_mode, 3>(p), k.template tensormap_replace<tok::fill_mode, 0>(p);
        if constexpr (is_blackwell(Tgt)) k.template tensormap_replace<tok::swizzle_atomicity, 0>(p);
    };
    change(sm), change(data);
    k.template tensormap_cp_fenceproxy<px::gpu>(data, sm), k.template tensormap_cp_fenceproxy<px::cluster>(data, sm);
    const auto map = k.template map_in_memory<tma_map<square>>(data);
    const auto second = k.template map_in_memory<tma_map<square>>(data.template byte_offset<128>(128));
    k.template fence_proxy_tensormap_acquire<px::gpu>(map);
    const auto t = k.template smem<square>(1, "t");
    const auto bar = k.template make_mbarrier_ring<"bar">(1, arrivals<1>);
    k.cp_async_bulk_tensor(t[0], map, coords(n, 0), bar[0]), k.cp_async_bulk_tensor(t[0], second, coords(n, 0), bar[0]);
}

template <target Tgt>
void elements(builder<Tgt>& k, byte_ptr data, reg<u32> i, reg<u32> j) {
    const source<Tgt> s{k, data};
    const auto visit = [&](auto tag) {
        using T = typename decltype(tag)::t;
        const auto t = k.template smem<T>(2, "t");
        s.put(k.ld(k.tile_element(t[0], i, j))), s.put(k.ld(k.tile_element(t[i], i, 3u))),
            s.put(k.ld(k.tile_element(t[1], 2u, j)));
        s.put(k.ld(k.tile_element(t[1], k.add(i, 1), k.sub(j, 1)))), s.put(k.ld(t[1].at(1, 2)));
        k.st(k.tile_line(t[i], j).chunk(0).template as<u32>(), i),
            k.st(k.tile_line(t[1], 3u).chunk(1).template as<u32>(), i);
        if constexpr (T::layout.panels() == 1) k.st(k.tile_line(t[1], i).from(j).chunk(1).template as<u32>(), i);
    };
    visit(type<square>()), visit(type<wide>()), visit(type<turned>()),
        visit(type<tile<f32, 64, 16, k_major, no_swizzle>>());
    visit(type<tile<u8, 32, 64, k_major, swizzle_64b>>()), visit(type<tile<u16, 32, 16, k_major, swizzle_32b>>()),
        visit(type<tile<u16, 32, 64, k_major, core_matrices>>());
    const auto t = k.template smem<tile<f32, 8, 4, k_major, no_swizzle>>();
    s.put(k.ld(t[0].pointer() + i));
}

// ---- wgmma
// ------------------------------------------------------------------------------------------------------------------

template <class D, class A, class B, unsigned N, major Major = k_major>
void warpgroup(builder<sm_90a>& k, const source<sm_90a>& s) {
    constexpr u32 step = 256 / bits_of<A>;
    using a_tile = tile<A, 64, 4 * step, Major>;
    using b_tile = tile<B, N, 4 * step, Major, Major == k_major ? swizzle_128b : core_matrices>;
    using a_half = tile<A, 64, 2 * step, k_major, swizzle_64b>;
    const auto a = k.smem<a_tile>(2, "a");
    const auto b = k.smem<b_tile>(2, "b");
    const auto h = k.smem<a_half>(1, "h");
    const auto d = k.wgmma.make_accumulator<D, N>();
    const auto r = k.wgmma.make_a_fragment<A>();
    const auto da = k.wgmma.descriptor(a);
    const auto db = k.wgmma.descriptor(b);
    const auto dh = k.wgmma.descriptor(h[0]);
    const auto n = s.get<u32>();
    const auto go = s.get<pred>();
    for (unsigned i = 0; i < d.size; ++i) s.set(d[i], s.get<typename accumulator<D, N>::register_type>());
    for (unsigned i = 0; i < 4; ++i) s.set(r[i], s.get<b32>());
    k.wgmma.fence();
    k.wgmma.mma_async(d, da, db, false), k.wgmma.mma_async(d, da.k_slice(1), db.k_slice(1)),
        k.wgmma.mma_async(d, da[n].k_slice(3), db[n].k_slice(3), go);
    k.wgmma.mma_async(d, da.stage(1), db.stage(1), unless(go));
    k.wgmma.mma_async(d, r, db.k_slice(2));
    k.wgmma.mma_async(d, k.wgmma.raw_descriptor<a_tile>(s.get<u64>()), db);
    if constexpr (bits_of<A> != 1) {
        if constexpr (!std::is_same_v<D, s32>)
            k.wgmma.mma_async<-1, 1>(d, da, db), k.wgmma.mma_async<1, -1>(d, r, db);
        else
            k.wgmma.mma_async<px::satfinite>(d, da, db), k.wgmma.mma_async<px::satfinite>(d, r, db);
        if constexpr (Major == k_major) {
            k.wgmma.mma_async_sp<0>(d, dh, db, n),
                k.wgmma.mma_async_sp<bits_of<A> == 8 ? 0 : 1>(d, dh.k_slice(1), db.k_slice(2), n, go),
                k.wgmma.mma_async_sp<0>(d, r, db, n, false);
        }
    }
    k.wgmma.commit_group(), k.wgmma.wait_group<0>();
    for (unsigned i = 0; i < d.size; ++i) s.put(d[i]);
}

void wgmma_halves(builder<sm_90a>& k, byte_ptr data) {
    const source<sm_90a> s{k, data};
    counts<8, 64, 256>([&](auto n) {
        warpgroup<f32, f16, f16, n()>(k, s), warpgroup<f16, f16, f16, n()>(k, s), warpgroup<f32, bf16, bf16, n()>(k, s),
            warpgroup<f32, bf16, bf16, n(), mn_major>(k, s);
    });
    counts<24, 136, 248>([&](auto n) { warpgroup<f32, tf32, tf32, n()>(k, s), warpgroup<f32, f32, f32, n()>(k, s); });
}
void wgmma_bytes(builder<sm_90a>& k, byte_ptr data) {
    const source<sm_90a> s{k, data};
    counts<16, 256>([&](auto n) {
        warpgroup<f32, e4m3, e4m3, n()>(k, s), warpgroup<f16, e4m3, e5m2, n()>(k, s),
            warpgroup<f32, e5m2, e4m3, n()>(k, s), warpgroup<f16, e5m2, e5m2, n()>(k, s);
    });
    counts<24, 112>([&](auto n) {
        warpgroup<s32, s8, s8, n()>(k, s), warpgroup<s32, s8, u8, n()>(k, s), warpgroup<s32, u8, s8, n()>(k, s),
            warpgroup<s32, u8, u8, n()>(k, s);
        warpgroup<s32, b1, b1, n()>(k, s);
    });
}

// ---- the run
// ------------------------------------------------------------------------------------------------------------------

template <target Tgt>
void all(runner& r, const char* arch) {
    r.calls("matrices", &matrices<Tgt>, arch), r.calls("barriers", &barriers<Tgt>, arch),
        r.calls("plain_copies", &plain_copies<Tgt>, arch);
    r.calls("tensor_1d", &tensor_copies<tma_map<row, 1>, Tgt>, arch),
        r.calls("tensor_2d", &tensor_copies<tma_map<square>, Tgt>, arch);
    r.calls("tensor_3d", &tensor_copies<tma_map<square, 3>, Tgt>, arch),
        r.calls("tensor_4d", &tensor_copies<tma_map<square, 4>, Tgt>, arch);
    r.calls("tensor_5d", &tensor_copies<tma_map<square, 5>, Tgt>, arch), r.calls("panels", &panels<Tgt>, arch);
    r.calls("im2col_3d", &image_columns<3, Tgt>, arch), r.calls("im2col_4d", &image_columns<4, Tgt>, arch),
        r.calls("im2col_5d", &image_columns<5, Tgt>, arch);
    r.calls("tensor_maps", &tensor_maps<Tgt>, arch), r.calls("elements", &elements<Tgt>, arch);
}

}  // namespace

int main(int argc, char** argv) {
    runner r(argc, argv, "async");
    all<sm_90a>(r, "sm_90a");
    all<sm_100a>(r, "sm_100a");
    all<sm_100f>(r, "sm_100f"), all<sm_103a>(r, "sm_103a"), all<sm_103f>(r, "sm_103f");
    r.calls("blackwell_copies", &blackwell_copies, "sm_100a");
    r.calls("wgmma_halves", &wgmma_halves, "sm_90a");
    r.calls("wgmma_bytes", &wgmma_bytes, "sm_90a");
    return r.result();
}
