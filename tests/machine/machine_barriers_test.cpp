// SPDX-License-Identifier: Apache-2.0
// mbarriers, named barriers, the cluster's barrier: each kind of mistake beside its right neighbour.
#include "played.hpp"

using namespace machine_test;

namespace {

/// A producer thread fills a ring of four tiles, 128 consumers read it.
struct ring {
    u32 arrivals = 128;  ///< the empty barriers count
    u32 bytes = 0;       ///< expected instead of the tile's
    bool wait_empty = true;
    bool wait_full = true;
    bool free = true;
    bool other_parity = false;
    bool late_read = false;  ///< reads once more after freeing
    u32 less = 0;            ///< rounds the producer does not make

    constexpr void operator()(builder& k, load_map map, floats out, reg n) const {
        const auto a = k.smem<tile>(4, "a");
        const auto pipe = k.make_pipeline<"ring">(4, px::arrivals<1>, px::arrivals_of(arrivals));
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.init(pipe); });
        k.fence_mbarrier_init();
        k.bar_sync();
        k.if_(tid < 128u, [&] { k.single_thread(tid == 0u, [&] { produce(k, pipe, a, map, n); }); }).else_([&] {
            consume(k, pipe, a, tid, out, n);
        });
    }
    template <class P, class A>
    constexpr void produce(builder& k, const P& pipe, const A& a, const load_map& map, const reg& n) const {
        const auto at = k.producer_state(pipe);
        k.for_(less == 0 ? n : k.sub(n, less), [&](const reg& i) {
            if (wait_empty) k.wait_empty(pipe, at);
            if (bytes == 0)
                k.mbarrier_arrive_expect_tx(pipe.full(at), a);
            else
                k.mbarrier_arrive_expect_tx(pipe.full(at), bytes);
            k.cp_async_bulk_tensor(a[at.slot()], map, px::coords(i, 0u), pipe.full(at));
            k.advance(at);
        });
    }
    template <class P, class A>
    constexpr void consume(builder& k, const P& pipe, const A& a, const reg& tid, const floats& out,
                           const reg& n) const {
        const auto at = k.consumer_state(pipe);
        auto sum = k.mov<f32>(0.0f);
        const auto add = [&] { sum = k.add(sum, k.cvt<f32>(k.ld(k.tile_element(a[at.slot()], 1u, 2u)))); };
        k.for_(n, [&](const reg&) {
            if (other_parity)
                k.wait(pipe.full(at), k.xor_(at.parity(), 1u));
            else if (wait_full)
                k.wait_full(pipe, at);
            add();
            if (free) k.mbarrier_arrive(pipe.empty(at));
            if (late_read) add();
            k.advance(at);
        });
        k.st(out + tid, sum);
    }
};

std::string ring_says(const ring& r) { return played(r, block(256)); }

}  // namespace

TEST_CASE("a ring filled by the copy engine") {
    CHECK(ring_says({}) == "");
    CHECK(has(ring_says({.wait_empty = false}), "too many arrivals"));
    CHECK(has(ring_says({.wait_full = false}), "copy in flight"));
    CHECK(ring_says({.free = false}) == "deadlock");
    CHECK(ring_says({.arrivals = 64}) != "");
    CHECK(ring_says({.arrivals = 129}) == "deadlock");
    CHECK(ring_says({.bytes = 4096}) != "");
    CHECK(ring_says({.bytes = 16384}) == "deadlock");
    CHECK(ring_says({.other_parity = true}) != "");
    CHECK(ring_says({.late_read = true}) != "");
    CHECK(ring_says({.less = 1}) == "deadlock");
}

TEST_CASE("a deadlock says who waits for what") {
    px::ir::program p;
    px::detail::write_program(p, "test", block(256), ring{.arrivals = 129});
    const px::ir::view m = p.read();
    const px::machine::result r = px::machine::play(m);
    REQUIRE(r.findings.size() == 1);
    const std::string said = sentence_of(m, r.findings[0]);
    CHECK(said.find("(warp 0 lane 0) waits for phase 0 of the mbarrier 'empty' stage 0, which lacks 1 of 129 "
                    "arrivals") != std::string::npos);
    CHECK(said.find("waits for phase 1 of the mbarrier 'full' stage 0") != std::string::npos);
    CHECK_FALSE(r.findings[0].trace.empty());
    // The run is the same again.
    const px::machine::result again = px::machine::replay(m, r.findings[0].run);
    REQUIRE(again.findings.size() == 1);
    CHECK(again.findings[0].text == r.findings[0].text);
}

TEST_CASE("initialising mbarriers") {
    const auto kernel = [](int how) {
        return [how](builder& k, words out) {
            const auto ready = k.make_mbarrier_ring<"ready">(1, px::arrivals<64>);
            const auto tid = k.mov(px::tid.x);
            if (how == 1)
                k.if_(tid < 32u, [&] { k.mbarrier_init(ready[0]); });
            else if (how == 3)
                k.single_thread(k.elect_sync(), [&] { k.mbarrier_init(ready[0]); });
            else
                k.single_thread(tid == 0u, [&] { k.mbarrier_init(ready[0]); });
            if (how != 2) k.bar_sync();
            k.mbarrier_arrive(ready[0]);
            k.wait(ready[0], 0u);
            k.st(out + tid, 1u);
        };
    };
    CHECK(played(kernel(0), block(64)) == "");
    CHECK(played(kernel(1), block(64)) == "mbarrier used");
    CHECK(has(played(kernel(2), block(64)), "mbarrier not initialised"));
    CHECK(played(kernel(3), block(64)) == "mbarrier used");
}

TEST_CASE("named barriers of two groups") {
    const auto kernel = [](int how) {
        return [how](builder& k, words out, reg n) {
            const auto tid = k.mov(px::tid.x), group = k.shr(tid, 7u);
            const auto box = k.smem_array<u32>(256, "box");
            k.for_(n, [&](const reg& i) {
                k.st(box + tid, i);
                if (how == 1) k.bar_sync(1u, 128u);
                if (how == 2) k.bar_sync(k.add(group, 1u), 256u);
                if (how == 0 || how == 3) k.bar_sync(k.add(group, 1u), 128u);
                k.st(out + tid, k.ld(box + k.xor_(tid, 64u)));
                if (how != 3) k.bar_sync(k.add(group, 3u), 128u);
            });
        };
    };
    CHECK(played(kernel(0), block(256)) == "");
    CHECK(has(played(kernel(1), block(256)), "race"));
    CHECK(played(kernel(2), block(256)) == "deadlock");
    CHECK(has(played(kernel(3), block(256)), "overwritten while read"));
}

TEST_CASE("bar.arrive hands over without waiting") {
    const auto kernel = [](int how) {
        return [how](builder& k, words out, reg n) {
            const auto tid = k.mov(px::tid.x);
            const auto box = k.smem_array<u32>(32, "box");
            k.if_(tid < 32u, [&] {
                 k.for_(n, [&](const reg& i) {
                     if (how != 2) k.bar_sync(2u, 64u);
                     k.st(box + tid, i);
                     if (how != 1) k.bar_arrive(1u, 64u);
                 });
             }).else_([&] {
                k.for_(n, [&](const reg&) {
                    if (how != 2) k.bar_arrive(2u, 64u);
                    if (how != 1) k.bar_sync(1u, 64u);
                    k.st(out + tid, k.ld(box + k.sub(tid, 32u)));
                });
            });
        };
    };
    CHECK(played(kernel(0), block(64)) == "");
    CHECK(played(kernel(1), block(64)) != "");
    CHECK(played(kernel(2), block(64)) != "");
}

TEST_CASE("a barrier of the block in one arm") {
    const auto kernel = [](bool wrong) {
        return [wrong](builder& k, words out) {
            const auto tid = k.mov(px::tid.x);
            k.if_(tid < (wrong ? 16u : 32u), [&] { k.bar_sync(1u, 32u); });
            k.bar_sync();
            k.st(out + tid, 1u);
        };
    };
    CHECK(played(kernel(false), block(64)) == "");
    CHECK(played(kernel(true), block(64)) == "part of a warp");
}

TEST_CASE("the cluster's barrier") {
    const auto kernel = [](int how) {
        return [how](builder& k, words out) {
            const auto box = k.smem_array<u32>(64, "box");
            const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
            const auto peer = k.mapa(box + tid, k.xor_(rank, 1u));
            if (how != 1) k.barrier_cluster_arrive();
            if (how != 1) k.barrier_cluster_wait();
            k.st(peer, rank);
            k.barrier_cluster_arrive();
            if (how == 2) k.barrier_cluster_arrive();
            if (how != 3) k.barrier_cluster_wait();
            k.st(out + tid, k.ld(box + tid));
            if (how == 3) k.barrier_cluster_wait();
        };
    };
    CHECK(played(kernel(0), block(64, 2)) == "");
    CHECK(has(played(kernel(1), block(64, 2)), "block gone"));
    CHECK(played(kernel(2), block(64, 2)) == "cluster barrier");
    CHECK(has(played(kernel(3), block(64, 2)), "race"));
}

TEST_CASE("a block stays until its peers are done") {
    const auto kernel = [](bool wrong) {
        return [wrong](builder& k, words out) {
            const auto box = k.smem_array<u32>(64, "box");
            const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
            k.st(box + tid, rank);
            k.barrier_cluster_arrive();
            k.barrier_cluster_wait();
            k.st(out + tid, k.ld(k.mapa(box + tid, k.xor_(rank, 1u))));
            if (wrong) return;
            k.barrier_cluster_arrive();
            k.barrier_cluster_wait();
        };
    };
    CHECK(played(kernel(false), block(64, 2)) == "");
    CHECK(played(kernel(true), block(64, 2)) == "block gone");
}
