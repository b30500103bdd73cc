// SPDX-License-Identifier: Apache-2.0
// Kernels that leave the size of their cluster to the launch: nothing about other blocks is refused, and the least
// cluster that they certainly need is known (the launch refuses a smaller one, G02).
#include "findings.hpp"

using namespace ptxdsl_test;

namespace {

using tile = px::tile<bf16, 64, 64>;
using map = px::tma_map<tile>;
using reg = px::reg<u32>;
using out = px::global_ptr<u32>;
constexpr px::attributes open_size{.reqntid = {128}}, pair{.reqntid = {128}, .cluster = {2}};

/// The least cluster of a kernel without findings.
template <class Body>
u32 least(const Body& body, const px::attributes& attributes = open_size) {
    const auto kernel = px::assemble_at_run_time("test", body, attributes);
    INFO(std::string(kernel.error()));
    INFO(std::string(kernel.warning()));
    CHECK(kernel.ok());
    CHECK(kernel.warnings() == 0);
    return kernel.resources().least_cluster;
}

constexpr void meet(builder& k) { k.barrier_cluster_arrive(), k.barrier_cluster_wait(); }

/// Each thread stores into the block that `rank_of` names.
template <class Rank>
u32 least_of_store(const Rank& rank_of, const px::attributes& attributes = open_size) {
    return least(
        [&](builder& k, out p, reg n) {
            const auto box = k.smem_array<u32>(128, "box");
            const auto tid = k.mov(px::tid.x);
            meet(k);
            k.st(k.mapa(box + tid, rank_of(k, n)), tid);
            meet(k);
            k.st(p + tid, k.ld(box + tid));
        },
        attributes);
}

/// One thread of the blocks that `who` names multicasts to `mask`.
template <class Who>
u32 least_of_multicast(const Who& who, px::u16 mask) {
    return least([&](builder& k, map m, px::global_ptr<bf16> p) {
        const auto a = k.smem<tile>(1, "a");
        const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
        k.fence_mbarrier_init();
        meet(k);
        k.single_thread(tid == 0u, [&] {
            k.mbarrier_arrive_expect_tx(full[0], a);
            who(k, [&] { k.cp_async_bulk_tensor_multicast(a[0], m, px::coords(0u, 0u), full[0], mask); });
        });
        k.wait(full[0], 0u);
        k.st(p + tid, k.ld(k.tile_element(a[0], 0u, tid & 63u)));
        meet(k);
    });
}

}  // namespace

TEST_CASE("G02: the least cluster of a store into a peer") {
    CHECK(least_of_store([](builder&, const reg&) { return 0u; }) == 1);
    CHECK(least_of_store([](builder&, const reg&) { return 1u; }) == 2);
    CHECK(least_of_store([](builder&, const reg&) { return 7u; }) == 8);
    CHECK(least_of_store([](builder& k, const reg&) { return k.mov(px::cluster_ctarank); }) == 1);
    CHECK(least_of_store([](builder& k, const reg&) { return k.mov(px::cluster_ctarank) ^ 1u; }) == 2);
    CHECK(least_of_store([](builder& k, const reg&) { return k.mov(px::cluster_ctarank) ^ 2u; }) == 4);
    CHECK(least_of_store([](builder& k, const reg&) { return (k.mov(px::cluster_ctarank) + 1u) & 3u; }) == 4);
    CHECK(least_of_store([](builder& k, const reg&) { return k.sub(3u, k.mov(px::cluster_ctarank)); }) == 4);
    // What the launch or the data decides proves nothing.
    CHECK(least_of_store([](builder&, const reg& n) { return n; }) == 1);
    CHECK(least_of_store([](builder& k, const reg&) {
              return k.rem(k.mov(px::cluster_ctarank) + 1u, k.mov(px::cluster_nctarank));
          }) == 1);
    CHECK(least_of_store([](builder& k, const reg&) { return k.sub(k.mov(px::cluster_nctarank), 1u); }) == 1);
    // A declared cluster is the launch's.
    CHECK(least_of_store([](builder& k, const reg&) { return k.mov(px::cluster_ctarank) ^ 1u; }, pair) == 1);
}

TEST_CASE("G02: the least cluster of a multicast") {
    const auto all = [](builder&, const auto& copy) { copy(); };
    const auto first = [](builder& k, const auto& copy) { k.if_(k.mov(px::cluster_ctarank) == 0u, copy); };
    CHECK(least_of_multicast(all, 1) == 1);
    CHECK(least_of_multicast(first, 3) == 2);
    CHECK(least_of_multicast(first, 0x11) == 5);
}

TEST_CASE("G02: what may not run needs no cluster") {
    const auto store = [](const auto& condition) {
        return least([&](builder& k, out p, reg n) {
            const auto box = k.smem_array<u32>(128, "box");
            const auto tid = k.mov(px::tid.x);
            meet(k);
            k.if_(condition(k, n), [&] { k.st(k.mapa(box + tid, 1u), tid); });
            meet(k);
            k.st(p + tid, k.ld(box + tid));
        });
    };
    CHECK(store([](builder& k, const reg&) { return k.mov(px::tid.x) == 5u; }) == 2);
    CHECK(store([](builder& k, const reg&) { return k.mov(px::cluster_ctarank) == 0u; }) == 2);
    CHECK(store([](builder& k, const reg&) { return k.mov(px::cluster_nctarank) > 1u; }) == 1);
    CHECK(store([](builder&, const reg& n) { return n != 0u; }) == 1);
    CHECK(store([](builder& k, const reg&) { return k.mov(px::cluster_ctarank) == 1u; }) == 1);
    CHECK(least([](builder& k, out p, reg n) {
              const auto box = k.smem_array<u32>(128, "box");
              const auto tid = k.mov(px::tid.x);
              k.if_(n == 0u, [&] { k.ret(); });
              meet(k);
              k.st(k.mapa(box + tid, 1u), tid);
              meet(k);
              k.st(p + tid, k.ld(box + tid));
          }) == 1);
}

TEST_CASE("G02: an address of another block that is not used needs no cluster") {
    // The address is made in front, as CUTLASS does with the barriers of a peer, and used in a loop or in an `if`.
    const auto hoisted = [](const auto& use) {
        return least([&](builder& k, out p, reg n) {
            const auto box = k.smem_array<u32>(128, "box");
            const auto tid = k.mov(px::tid.x);
            const auto peer = k.mapa(box + tid, k.mov(px::cluster_ctarank) ^ 1u);
            meet(k);
            use(k, peer, tid, n);
            meet(k);
            k.st(p + tid, k.ld(box + tid));
        });
    };
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg&) { k.st(peer, tid); }) == 2);
    CHECK(hoisted([](builder&, const auto&, const reg&, const reg&) {}) == 1);
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg& n) {
              k.if_(n != 0u, [&] { k.st(peer, tid); });
          }) == 1);
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg& n) { k.at(n != 0u).st(peer, tid); }) ==
          1);
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg&) {
              k.if_(k.mov(px::cluster_nctarank) > 1u, [&] { k.st(peer, tid); });
          }) == 1);
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg&) { k.at(tid == 5u).st(peer, tid); }) ==
          2);
    // A loop of perhaps no round; of a known number; one that is left before.
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg& n) {
              k.for_(n, [&](reg) { k.st(peer, tid); });
          }) == 1);
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg&) {
              k.for_(3u, [&](reg) { k.st(peer, tid); });
          }) == 2);
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg& n) {
              k.for_(40u, [&](reg, px::loop_handle l) {
                  l.break_if(n != 0u);
                  k.st(peer, tid);
              });
          }) == 1);
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg& n) {
              k.for_(40u, [&](reg, px::loop_handle l) {
                  l.continue_if(n != 0u);
                  k.st(peer, tid);
              });
          }) == 1);
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg& n) {
              k.for_(n, [&](reg) { static_cast<void>(k.atom_add(peer, tid)); });
          }) == 1);
    // A condition on the rank and on the data is one on the data.
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg& n) {
              k.if_(k.and_(k.mov(px::cluster_ctarank) == 0u, n != 0u), [&] { k.st(peer, tid); });
          }) == 1);
    CHECK(hoisted([](builder& k, const auto& peer, const reg& tid, const reg&) {
              k.if_(k.and_(k.mov(px::cluster_ctarank) == 0u, tid == 5u), [&] { k.st(peer, tid); });
          }) == 2);
    // A multicast in a loop over the tiles of a matrix.
    CHECK(least_of_multicast(
              [](builder& k, const auto& copy) {
                  k.for_(k.mov(px::nctaid.x), [&](reg) { k.if_(k.mov(px::cluster_ctarank) == 0u, copy); });
              },
              3) == 1);
}

TEST_CASE("E01: arrivals from other blocks of a cluster that the launch gives") {
    const auto arrive = [](auto arrivals, const px::attributes& a, bool both) {
        return ids(
            [=](builder& k, out p) {
                const auto done = k.make_mbarrier_ring<"done">(1, arrivals);
                const auto tid = k.mov(px::tid.x);
                k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]); });
                k.fence_mbarrier_init();
                meet(k);
                k.mbarrier_arrive<px::release, px::cluster>(k.mapa(done[0], 1u));
                if (both) k.mbarrier_arrive<px::release, px::cluster>(k.mapa(done[0], 0u));
                k.wait<px::acquire, px::cluster>(done[0], 0u);
                k.st(p + tid, 1u);
                meet(k);
            },
            a);
    };
    CHECK(arrive(px::arrivals<256>, open_size, true) == "");
    CHECK(arrive(px::arrivals<512>, open_size, true) == "");
    CHECK(arrive(px::arrivals<256>, pair, true) == "");
}

TEST_CASE("attributes of a kernel that is assembled at run time are judged as a constant's are") {
    const auto error_of = [](const px::attributes& a) {
        const auto kernel = px::assemble_at_run_time("test", [](builder& k, out p) { k.st(p, 1u); }, a);
        CHECK(kernel.ok() == kernel.error().empty());
        return std::string(kernel.error());
    };
    CHECK(error_of({}) == "");
    CHECK(error_of({.reqntid = {32, 32}, .cluster = {8}}) == "");
    CHECK(error_of({.maxntid = {1024}, .cluster = {16}, .non_portable_cluster = true}) == "");
    const struct {
        px::attributes attributes;
        const char* sentence;
    } wrong[] = {
        {{.cluster = {17}, .non_portable_cluster = true},
         "PTXDSL-G01: no device takes a cluster of more than 16 blocks"},
        {{.cluster = {65536, 65536}}, "PTXDSL-G01: no device takes a cluster of more than 16 blocks"},
        {{.cluster = {9}}, "PTXDSL-G01: a cluster of more than 8 blocks is not portable"},
        {{.cluster = {2, 4, 2}}, "PTXDSL-G01: a cluster of more than 8 blocks is not portable"},
        {{.cluster = {2, 0}}, "PTXDSL-H06: an extent of .reqntid, .maxntid or .cluster is 0"},
        {{.reqntid = {1025}}, "PTXDSL-H06: a block has at most 1024 threads"},
        {{.reqntid = {65536, 65536}}, "PTXDSL-H06: a block has at most 1024 threads"},
        {{.reqntid = {1, 1, 65}}, "PTXDSL-H06: a block has at most 64 threads along z"},
        {{.reqntid = {128}, .maxntid = {128}}, "PTXDSL-H06: .reqntid and .maxntid exclude each other"},
    };
    for (const auto& w : wrong) CHECK_THAT(error_of(w.attributes), Catch::Matchers::ContainsSubstring(w.sentence));
}
