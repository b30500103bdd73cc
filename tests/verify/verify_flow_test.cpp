// SPDX-License-Identifier: Apache-2.0
// What needs paths: wgmma groups (D08 to D12, D14), bulk copies and proxies (F04 to F07, F09, F14), the cluster barrier
// (G05): every rule with its legal neighbours.
#include "findings.hpp"

using namespace ptxdsl_test;

namespace {

using tile_a = px::tile<bf16, 64, 64>;
using map_out = px::tma_map_out<tile_a>;
using map_in = px::tma_map<tile_a>;
using out_t = px::global_ptr<f32, 16>;
constexpr px::attributes group{.reqntid = {128}};

// ---- wgmma
// --------------------------------------------------------------------------------------------------------------

/// Two m64n64k16 accumulators and descriptors to multiply.
struct mma {
    px::accumulator<f32, 64> acc;
    px::matrix_descriptor<tile_a> a, b;
    builder& k;
    void operator()(bool accumulate = false) const { k.wgmma.mma_async(acc, a, b, accumulate); }
};
template <class Body>
auto with_mma(const Body& body) {
    return [body](builder& k, out_t out, px::reg<u32> n) {
        auto a = k.smem<tile_a>(1, "a");
        auto b = k.smem<tile_a>(1, "b");
        body(k, mma{k.wgmma.make_accumulator<f32, 64>(), k.wgmma.descriptor(a), k.wgmma.descriptor(b), k}, out, n);
    };
}
void finish(builder& k) {
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();
}
void set(builder& k, const px::reg<f32>& r, float v = 0.0f) { k.inst<"mov.f32">(r, v); }

TEST_CASE("D08: the first wgmma needs a fence") {
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto&) {
                  m();
                  finish(k);
              }),
              group) == "D08");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto&) {
                  k.wgmma.fence();
                  m();
                  m(true);  // same shape: no fence between
                  m(true);
                  finish(k);
                  m(true);  // nor after a wait, when nothing touched the registers
                  finish(k);
              }),
              group) == "");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {  // on one path only: not provable
                  k.if_(n != 0u, [&] { k.wgmma.fence(); });
                  m();
                  finish(k);
              }),
              group) == "");
}

TEST_CASE("D08: after a write to the accumulator") {
    const auto kernel = [](bool fence_again) {
        return with_mma([fence_again](builder& k, const mma& m, auto&, auto&) {
            k.wgmma.fence();
            m();
            finish(k);
            set(k, m.acc[3]);
            if (fence_again) k.wgmma.fence();
            m(true);
            finish(k);
        });
    };
    CHECK(ids(kernel(false), group) == "D08");
    CHECK(ids(kernel(true), group) == "");
    CHECK_THAT(texts(kernel(false), group),
               Catch::Matchers::ContainsSubstring("'%acc' was written since the last wgmma.fence"));
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {  // in a loop: the next iteration sees the write
                  k.wgmma.fence();
                  k.for_(n, [&](px::reg<u32>) {
                      m();
                      finish(k);
                      set(k, m.acc[0]);
                  });
              }),
              group) == "D08");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {
                  k.for_(n, [&](px::reg<u32>) {
                      k.wgmma.fence();
                      m();
                      finish(k);
                      set(k, m.acc[0]);
                  });
              }),
              group) == "");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto&) {  // zeroed by hand before the fence
                  for (u32 i = 0; i < m.acc.size; ++i) set(k, m.acc[i]);
                  k.wgmma.fence();
                  m(true);
                  finish(k);
              }),
              group) == "");
}

TEST_CASE("D08: a mere read is a warning") {
    CHECK(ids(with_mma([](builder& k, const mma& m, auto& out, auto&) {
                  k.wgmma.fence();
                  m();
                  finish(k);
                  k.st(out, m.acc[0]);
                  m(true);
                  finish(k);
              }),
              group) == "D08w");
}

TEST_CASE("D08: register operands and other shapes") {
    const auto kernel = [](bool fence_again) {
        return with_mma([fence_again](builder& k, const mma& m, auto&, auto&) {
            auto a = k.wgmma.make_a_fragment<bf16>();
            for (u32 i = 0; i < 4; ++i) k.inst<"mov.b32">(a[i], 0u);
            k.wgmma.fence();
            k.wgmma.mma_async(m.acc, a, m.b, false);
            finish(k);
            k.inst<"mov.b32">(a[0], 1u);
            if (fence_again) k.wgmma.fence();
            k.wgmma.mma_async(m.acc, a, m.b, true);
            finish(k);
        });
    };
    CHECK(ids(kernel(false), group) == "D08");
    CHECK(ids(kernel(true), group) == "");

    const auto shapes = [](bool fence_between) {
        return [fence_between](builder& k) {
            using fp8 = px::tile<px::e4m3, 64, 64, px::k_major, px::swizzle_64b>;
            auto a = k.smem<tile_a>(1);
            auto q = k.smem<fp8>(1);
            auto acc = k.wgmma.make_accumulator<f32, 64>();
            auto da = k.wgmma.descriptor(a);
            auto dq = k.wgmma.descriptor(q);
            k.wgmma.fence();
            k.wgmma.mma_async(acc, da, da, false);
            if (fence_between) k.wgmma.fence();
            k.wgmma.mma_async(acc, dq, dq, true);
            finish(k);
        };
    };
    CHECK(ids(shapes(false), group) == "D08");
    CHECK(ids(shapes(true), group) == "");
}

TEST_CASE("D09: registers of a pending wgmma") {
    CHECK(ids(with_mma([](builder& k, const mma& m, auto& out, auto&) {
                  k.wgmma.fence();
                  m();
                  k.wgmma.commit_group();
                  k.st(out, m.acc[5]);
                  k.wgmma.wait_group<0>();
              }),
              group) == "D09");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto& out, auto&) {
                  k.wgmma.fence();
                  m();
                  finish(k);
                  k.st(out, m.acc[5]);
              }),
              group) == "");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto&) {
                  k.wgmma.fence();
                  m();
                  set(k, m.acc[5]);
                  finish(k);
              }),
              group) == "D09");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto& out,
                          auto&) {  // the group that covers it is not the one waited for
                  k.wgmma.fence();
                  m();
                  k.wgmma.commit_group();
                  k.wgmma.wait_group<1>();
                  k.st(out, m.acc[0]);
                  k.wgmma.wait_group<0>();
              }),
              group) == "D09");
}

TEST_CASE("D09: two accumulators, one group behind") {
    const auto kernel = [](bool read_old) {
        return [read_old](builder& k, out_t out) {
            auto a = k.smem<tile_a>(1);
            auto d = k.wgmma.descriptor(a);
            auto x = k.wgmma.make_accumulator<f32, 64>("x");
            auto y = k.wgmma.make_accumulator<f32, 64>("y");
            k.wgmma.fence();
            k.wgmma.mma_async(x, d, d, false);
            k.wgmma.commit_group();
            k.wgmma.mma_async(y, d, d, false);
            k.wgmma.commit_group();
            k.wgmma.wait_group<1>();
            k.st(out, read_old ? x[0] : y[0]);
            k.wgmma.wait_group<0>();
        };
    };
    CHECK(ids(kernel(true), group) == "");
    CHECK(ids(kernel(false), group) == "D09");
}

TEST_CASE("D09: a register operand may be read, not written") {
    const auto kernel = [](bool write) {
        return with_mma([write](builder& k, const mma& m, auto& out, auto&) {
            auto a = k.wgmma.make_a_fragment<bf16>();
            for (u32 i = 0; i < 4; ++i) k.inst<"mov.b32">(a[i], 0u);
            k.wgmma.fence();
            k.wgmma.mma_async(m.acc, a, m.b, false);
            k.wgmma.commit_group();
            if (write)
                k.inst<"mov.b32">(a[0], 1u);
            else
                k.st(out.template as<px::b32>(), a[0]);
            k.wgmma.wait_group<0>();
        });
    };
    CHECK(ids(kernel(true), group) == "D09");
    CHECK(ids(kernel(false), group) == "");
}

TEST_CASE("D09, D10: branches and loops") {
    CHECK(ids(with_mma([](builder& k, const mma& m, auto& out, auto& n) {  // waits in a later if of the same threads
                  k.if_(n != 0u, [&] {
                      k.wgmma.fence();
                      m();
                      k.wgmma.commit_group();
                  });
                  k.if_(n != 0u, [&] {
                      k.wgmma.wait_group<0>();
                      k.st(out, m.acc[0]);
                  });
              }),
              group) == "");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto& out, auto& n) {  // the arm leaves it pending, nobody waits
                  k.if_(n != 0u, [&] {
                      k.wgmma.fence();
                      m();
                      k.wgmma.commit_group();
                  });
                  k.st(out, m.acc[0]);
              }),
              group) == "D09");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto& out, auto& n) {  // one step behind, drained after the loop
                  k.wgmma.fence();
                  m();
                  k.wgmma.commit_group();
                  k.for_(n, [&](px::reg<u32>) {
                      k.wgmma.fence();
                      m(true);
                      k.wgmma.commit_group();
                      k.wgmma.wait_group<1>();
                  });
                  k.wgmma.wait_group<0>();
                  k.st(out, m.acc[0]);
              }),
              group) == "");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto& out, auto& n) {  // pending from the iteration before
                  k.for_(n, [&](px::reg<u32>) {
                      k.st(out, m.acc[0]);
                      k.wgmma.fence();
                      m();
                      k.wgmma.commit_group();
                  });
                  k.wgmma.wait_group<0>();
              }),
              group)
              .find("D09") != std::string::npos);
}

TEST_CASE("D08, D09, D10: what one arm does concerns the threads that take it") {
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& wg) {  // two warpgroups, one register name
                  k.if_(wg == 0u, [&] {
                      k.wgmma.fence();
                      m();
                      k.wgmma.commit_group();
                  });
                  k.if_(wg != 0u, [&] { set(k, m.acc[0]); });
                  k.if_(wg == 0u, [&] { k.wgmma.wait_group<0>(); });
              }),
              group) == "");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& wg) {  // the others leave early
                  k.if_(wg == 0u, [&] {
                      k.wgmma.fence();
                      m();
                      k.wgmma.commit_group();
                  });
                  k.if_(wg != 0u, [&] { k.exit(); });
                  k.wgmma.wait_group<0>();
              }),
              group) == "");
    CHECK(ids(with_mma(
                  [](builder& k, const mma& m, auto& out, auto& n) {  // but the code around both is run by all of them
                      k.if_(n != 5u, [&] {
                          k.if_(n != 0u, [&] {
                              k.wgmma.fence();
                              m();
                              k.wgmma.commit_group();
                          });
                          k.st(out, m.acc[0]);
                          k.wgmma.wait_group<0>();
                      });
                  }),
              group) == "D09");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {
                  k.wgmma.fence();
                  k.if_(n == 0u, [&] { set(k, m.acc[0]); });
                  k.if_(n != 0u, [&] {
                      m();
                      finish(k);
                  });
              }),
              group) == "");
}

TEST_CASE("D10: pending at exit") {
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto&) {
                  k.wgmma.fence();
                  m();
              }),
              group) == "D10");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto&) {
                  k.wgmma.fence();
                  m();
                  k.wgmma.commit_group();
              }),
              group) == "D10");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {  // an early exit past the wait
                  k.wgmma.fence();
                  m();
                  k.wgmma.commit_group();
                  k.if_(n == 0u, [&] { k.exit(); });
                  k.wgmma.wait_group<0>();
              }),
              group) == "D10");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {
                  k.if_(n == 0u, [&] { k.exit(); });
                  k.wgmma.fence();
                  m();
                  finish(k);
              }),
              group) == "");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {
                  k.wgmma.fence();
                  m();
                  k.wgmma.commit_group();
                  k.if_(n == 0u, [&] { k.trap(); });
                  k.wgmma.wait_group<0>();
              }),
              group) == "");
}

TEST_CASE("D10: empty on every path is a warning") {
    CHECK(ids(with_mma([](builder& k, const mma&, auto&, auto&) { k.wgmma.commit_group(); }), group) == "D10w");
    CHECK(ids(with_mma([](builder& k, const mma&, auto&, auto&) { k.wgmma.wait_group<0>(); }), group) == "D10w");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {  // empty on some path
                  k.if_(n != 0u, [&] {
                      k.wgmma.fence();
                      m();
                  });
                  finish(k);
              }),
              group) == "");
}

TEST_CASE("D12: four whole warps") {
    const auto body = with_mma([](builder& k, const mma& m, auto&, auto&) {
        k.wgmma.fence();
        m();
        finish(k);
    });
    CHECK(ids(body, {.reqntid = {128}}) == "");
    CHECK(ids(body, {.reqntid = {256}}) == "");
    CHECK(ids(body, {.reqntid = {96}}) == "D12");
    CHECK(ids(body) == "");
    const auto roles = [](u32 consumers) {
        return with_mma([consumers](builder& k, const mma& m, auto&, auto&) {
            auto tid = k.mov(px::tid.x);
            k.if_(tid < 32u * (consumers / 32u), [&] {
                k.role(consumers, [&] {
                    k.wgmma.fence();
                    m();
                    finish(k);
                });
            });
        });
    };
    CHECK(ids(roles(256), {.reqntid = {288}}) == "");  // 288 threads, one producer warp behind them
    CHECK(ids(roles(160), {.reqntid = {288}}) == "D12");
    const auto from = [](u32 first, bool named) {
        return with_mma([=](builder& k, const mma& m, auto&, auto&) {
            const auto multiply = [&] {
                k.wgmma.fence();
                m();
                finish(k);
            };
            k.if_(k.mov(px::tid.x) >= first, [&] { named ? k.role(256, multiply) : multiply(); });
        });
    };
    for (const bool named : {false, true}) {
        CHECK(ids(from(32, named), {.reqntid = {288}}) == "D12");  // warps 1 to 8
        CHECK(ids(from(128, named), {.reqntid = {384}}) == "");
    }
}

// ---- copies
// ---------------------------------------------------------------------------------------------------------------

/// All 128 threads write tile `c`; then `publish`, then one thread stores it, then `end`.
template <class Publish, class End>
auto with_store(const Publish& publish, const End& end) {
    return [publish, end](builder& k, map_out map, px::reg<u32> n) {
        auto c = k.smem<tile_a>(1, "c");
        auto tid = k.mov(px::tid.x);
        auto leader = tid == 0u;
        const auto write = [&] {
            k.st(k.shared_pointer<f32, 4>(k.mad_lo(tid, 4u, c.stage(0).address())), k.mov<f32>(1.0f));
        };
        const auto store = [&] { k.cp_async_bulk_tensor(map, px::coords(0u, 0u), c.stage(0)); };
        write();
        publish(k, n, leader);
        k.single_thread(leader, [&] { store(); });
        end(k, n, leader, write, store);
    };
}
const auto fence_and_meet = [](builder& k, auto&, auto&) {
    k.fence_proxy_async_shared_cta();
    k.bar_sync();
};
const auto drain = [](builder& k, auto&, const px::reg<px::pred>& leader, auto&, auto&) {
    k.single_thread(leader, [&] {
        k.cp_async_bulk_commit_group();
        k.cp_async_bulk_wait_group_read<0>();
    });
};

TEST_CASE("F05: generic writes, then a bulk store") {
    CHECK(ids(with_store(fence_and_meet, drain), group) == "");
    CHECK(ids(with_store([](builder& k, auto&, auto&) { k.bar_sync(); }, drain), group) == "F05");
    CHECK(ids(with_store([](builder& k, auto&, auto&) { k.fence_proxy_async_shared_cta(); }, drain), group) == "F05");
    CHECK(ids(with_store(
                  [](builder& k, auto&, const px::reg<px::pred>& leader) {  // only one of the writers fences
                      k.single_thread(leader, [&] { k.fence_proxy_async_shared_cta(); });
                      k.bar_sync();
                  },
                  drain),
              group) == "F05");
    CHECK(ids(with_store(
                  [](builder& k, auto&, auto&) {
                      k.fence_proxy_async();
                      k.barrier_cluster_arrive();
                      k.barrier_cluster_wait();
                  },
                  drain),
              group) == "");
}

TEST_CASE("F05: paths") {
    CHECK(ids(with_store(
                  [](builder& k, auto& n, auto&) {  // the loop with the fence may run zero times
                      k.for_(n, [&](px::reg<u32>) { k.fence_proxy_async_shared_cta(); });
                      k.bar_sync();
                  },
                  drain),
              group) == "F05");
    CHECK(ids(with_store(
                  [](builder& k, auto&, auto&) {  // this one runs twice
                      k.for_(2u, [&](px::reg<u32>) { k.fence_proxy_async_shared_cta(); });
                      k.bar_sync();
                  },
                  drain),
              group) == "");
    CHECK(ids(with_store(
                  [](builder& k, auto& n, auto&) {  // under a condition: not provable
                      k.if_(n != 0u, [&] { k.fence_proxy_async_shared_cta(); });
                      k.bar_sync();
                  },
                  drain),
              group) == "");
}

TEST_CASE("F05: one writer, who stores") {
    CHECK(ids(
              [](builder& k, map_out map) {
                  auto c = k.smem<tile_a>(1, "c");
                  auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.st(k.shared_pointer<f32, 4>(c.stage(0).address()), k.mov<f32>(1.0f));
                      k.fence_proxy_async_shared_cta();
                      k.cp_async_bulk_tensor(map, px::coords(0u, 0u), c.stage(0));
                      k.cp_async_bulk_commit_group();
                      k.cp_async_bulk_wait_group_read<0>();
                  });
              },
              group) == "");
}

TEST_CASE("F05: untyped buffers, when the copy covers them") {
    const auto kernel = [](u32 bytes, bool fence) {
        return [bytes, fence](builder& k, px::global_ptr<f32, 16> out) {
            auto c = k.smem_array<f32>(256, "c");
            auto tid = k.mov(px::tid.x);
            k.st(c + tid, k.mov<f32>(1.0f));
            if (fence) k.fence_proxy_async_shared_cta();
            k.bar_sync();
            k.single_thread(tid == 0u, [&] {
                k.cp_async_bulk(out, c, bytes);
                k.cp_async_bulk_commit_group();
                k.cp_async_bulk_wait_group_read<0>();
            });
        };
    };
    CHECK(ids(kernel(1024, false), group) == "F05");
    CHECK(ids(kernel(1024, true), group) == "");
    CHECK(ids(kernel(512, false), group) == "");  // may be the other half
}

TEST_CASE("D11: generic writes, then wgmma") {
    const auto kernel = [](bool fence, bool meet) {
        return [fence, meet](builder& k) {
            auto a = k.smem<tile_a>(1, "a");
            auto tid = k.mov(px::tid.x);
            auto d = k.wgmma.descriptor(a);
            auto acc = k.wgmma.make_accumulator<f32, 64>();
            k.st(k.shared_pointer<f32, 4>(k.mad_lo(tid, 4u, a.stage(0).address())), k.mov<f32>(1.0f));
            if (fence) k.fence_proxy_async_shared_cta();
            if (meet) k.bar_sync();
            k.wgmma.fence();
            k.wgmma.mma_async(acc, d, d, false);
            finish(k);
        };
    };
    CHECK(ids(kernel(true, true), group) == "");
    CHECK(ids(kernel(false, true), group) == "D11");
    CHECK(ids(kernel(true, false), group) == "D11");
}

TEST_CASE("D14: a tile overwritten under a pending wgmma") {
    const auto kernel = [](bool wait) {
        return [wait](builder& k) {
            auto a = k.smem<tile_a>(1, "a");
            auto tid = k.mov(px::tid.x);
            auto d = k.wgmma.descriptor(a);
            auto acc = k.wgmma.make_accumulator<f32, 64>();
            k.wgmma.fence();
            k.wgmma.mma_async(acc, d, d, false);
            k.wgmma.commit_group();
            if (wait) k.wgmma.wait_group<0>();
            k.st(k.shared_pointer<f32, 4>(k.mad_lo(tid, 4u, a.stage(0).address())), k.mov<f32>(1.0f));
            if (!wait) k.wgmma.wait_group<0>();
        };
    };
    CHECK(ids(kernel(true), group) == "");
    CHECK(ids(kernel(false), group) == "D14");
}

TEST_CASE("F04: store without commit and wait before exit") {
    CHECK(ids(with_store(fence_and_meet, [](builder&, auto&, auto&, auto&, auto&) {}), group) == "F04");
    CHECK(
        ids(with_store(fence_and_meet, [](builder& k, auto&, const px::reg<px::pred>& leader, auto&,
                                          auto&) { k.single_thread(leader, [&] { k.cp_async_bulk_commit_group(); }); }),
            group) == "F04");
    CHECK(ids(with_store(fence_and_meet,
                         [](builder& k, auto&, const px::reg<px::pred>& leader, auto&, auto&) {
                             k.at(leader).cp_async_bulk_commit_group();
                             k.at(leader).cp_async_bulk_wait_group<0>();
                         }),
              group) == "");
}

TEST_CASE("F04, F14: the source is written again") {
    const auto again = [](auto before) {
        return with_store(fence_and_meet,
                          [before](builder& k, auto&, const px::reg<px::pred>& leader, auto& write, auto& store) {
                              before(k, leader);
                              write();
                              k.fence_proxy_async_shared_cta();
                              k.bar_sync();
                              k.single_thread(leader, [&] {
                                  store();
                                  k.cp_async_bulk_commit_group();
                                  k.cp_async_bulk_wait_group_read<0>();
                              });
                          });
    };
    CHECK(ids(again([](builder& k, const px::reg<px::pred>& leader) {
                  k.single_thread(leader, [&] { k.cp_async_bulk_commit_group(); });
              }),
              group) == "F04");
    CHECK(ids(again([](builder& k, const px::reg<px::pred>& leader) {
                  k.single_thread(leader, [&] {
                      k.cp_async_bulk_commit_group();
                      k.cp_async_bulk_wait_group_read<1>();
                  });
                  k.bar_sync();
              }),
              group) == "F14");
    CHECK(ids(again([](builder& k, const px::reg<px::pred>& leader) {
                  k.single_thread(leader, [&] {
                      k.cp_async_bulk_commit_group();
                      k.cp_async_bulk_wait_group_read<0>();
                  });
                  k.bar_sync();
              }),
              group) == "");
}

TEST_CASE("F04: a conditional exit of other threads; parts of a tile") {
    CHECK(ids(with_store(fence_and_meet,
                         [](builder& k, auto&, const px::reg<px::pred>& leader, auto&, auto&) {
                             k.at(px::unless(leader)).exit();
                             k.cp_async_bulk_commit_group();
                             k.cp_async_bulk_wait_group_read<0>();
                         }),
              group) == "");
    CHECK(ids(
              [](builder& k,
                 px::tma_map_out<px::tile<bf16, 32, 64>> map) {  // one half is filled while the other is stored
                  using half = px::tile<bf16, 32, 64>;
                  auto c = k.smem<tile_a>(1, "c");
                  auto tid = k.mov(px::tid.x);
                  auto leader = tid == 0u;
                  for (u32 i = 0; i < 2; ++i) {
                      k.st(k.shared_pointer<f32, 4>(k.mad_lo(tid, 4u, c.stage(0).address()), i * 4096),
                           k.mov<f32>(1.0f));
                      k.fence_proxy_async_shared_cta();
                      k.bar_sync();
                      k.single_thread(leader, [&] {
                          k.cp_async_bulk_tensor(map, px::coords(0u, 0u), c.stage(0).part<half>(i));
                          k.cp_async_bulk_commit_group();
                      });
                  }
                  k.at(leader).cp_async_bulk_wait_group<0>();
              },
              group) == "");
}

TEST_CASE("F04: a loop that drains late") {
    const auto kernel = [](bool drains) {
        return [drains](builder& k, map_out map, px::reg<u32> n) {
            auto c = k.smem<tile_a>(1, "c");
            auto tid = k.mov(px::tid.x);
            auto leader = tid == 0u;
            k.for_(n, [&](px::reg<u32>) {
                if (drains) k.at(leader).cp_async_bulk_wait_group_read<0>();
                k.bar_sync();
                k.st(k.shared_pointer<f32, 4>(k.mad_lo(tid, 4u, c.stage(0).address())), k.mov<f32>(1.0f));
                k.fence_proxy_async_shared_cta();
                k.bar_sync();
                k.single_thread(leader, [&] {
                    k.cp_async_bulk_tensor(map, px::coords(0u, 0u), c.stage(0));
                    k.cp_async_bulk_commit_group();
                });
            });
            k.at(leader).cp_async_bulk_wait_group<0>();
        };
    };
    CHECK(ids(kernel(true), group) == "");
    CHECK(ids(kernel(false), group) == "F04");
}

// ---- who issues, masks, sizes
// ------------------------------------------------------------------------------------------------

template <class Body>
auto with_load(const Body& body) {
    return [body](builder& k, map_in map, px::reg<u32> n) {
        auto bar = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
        auto a = k.smem<tile_a>(1, "a");
        k.assume_arrivals(bar);
        body(k, bar, a, map, n);
    };
}
void expect_and_load(builder& k, auto& bar, auto& a, auto& map, const px::reg<u32>& row) {
    k.mbarrier_arrive_expect_tx(bar.stage(0), a);
    k.cp_async_bulk_tensor(a.stage(0), map, px::coords(0u, row), bar.stage(0));
}

TEST_CASE("F07: every thread issues the same copy") {
    CHECK(ids(with_load([](builder& k, auto& bar, auto& a, auto& map, auto& n) { expect_and_load(k, bar, a, map, n); }),
              group) == "F07");
    CHECK(ids(with_load([](builder& k, auto& bar, auto& a, auto& map, auto& n) {
                  k.single_thread(k.mov(px::tid.x) == 0u, [&] { expect_and_load(k, bar, a, map, n); });
              }),
              group) == "");
    CHECK(ids(with_load(
                  [](builder& k, auto& bar, auto& a, auto& map, auto& n) {  // any condition that depends on the thread
                      k.if_(k.elect_sync(), [&] { expect_and_load(k, bar, a, map, n); });
                  }),
              group) == "");
    CHECK(ids(with_load([](builder& k, auto& bar, auto& a, auto& map, auto&) {  // a row for each thread
                  expect_and_load(k, bar, a, map, k.mov(px::tid.x));
              }),
              group) == "");
    CHECK(ids(with_load([](builder& k, auto& bar, auto& a, auto& map, auto& n) {  // a condition all threads share
                  k.if_(n != 0u, [&] { expect_and_load(k, bar, a, map, n); });
              }),
              group) == "F07");
    CHECK(ids(with_load([](builder& k, auto& bar, auto& a, auto& map, auto& n) { expect_and_load(k, bar, a, map, n); }),
              {.reqntid = {1}}) == "");
    CHECK(ids(with_load(
              [](builder& k, auto& bar, auto& a, auto& map, auto& n) { expect_and_load(k, bar, a, map, n); })) == "");
}

TEST_CASE("a branch by a table: its cases are the arms of ifs, the author's own targets are unknown") {
    const auto in_cases = [](bool first, bool second, bool other) {
        return with_mma([=](builder& k, const mma& m, auto&, auto& n) {
            const auto fence = [&](bool wanted) {
                if (wanted) k.wgmma.fence();
            };
            k.switch_table(n, px::case_<0>([&] { fence(first); }), px::case_<3>([&] { fence(second); }),
                           px::default_([&] { fence(other); }));
            m();
            finish(k);
        });
    };
    CHECK(ids(in_cases(true, true, true), group) == "");
    CHECK(ids(in_cases(true, false, true), group) == "");  // on some paths: not provable
    CHECK(ids(in_cases(false, false, false), group) == "D08");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {
                  k.wgmma.fence();
                  m();
                  k.wgmma.commit_group();
                  k.switch_table(n, px::case_<0>([&] {}), px::case_<1>([&] { set(k, m.acc[0]); }));
                  k.wgmma.wait_group<0>();
              }),
              group) == "D09");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {  // in every case another wait
                  k.wgmma.fence();
                  m();
                  k.wgmma.commit_group();
                  k.switch_table(n, px::case_<0>([&] { k.wgmma.wait_group<0>(); }),
                                 px::case_<1>([&] { k.wgmma.wait_group<0>(); }));
                  set(k, m.acc[0]);
              }),
              group) == "");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {
                  const auto a = k.new_label("a"), b = k.new_label("b");
                  k.brx_idx(n, {a, b});
                  k.place(a);
                  k.wgmma.fence();
                  k.place(b);
                  m();
                  finish(k);
              }),
              group) == "");
    CHECK(ids([](builder& k, out_t, px::reg<u32> n) {  // nothing is known of who leaves the loop
              k.loop([&] {
                  const auto out = k.new_label("out"), on = k.new_label("on");
                  k.brx_idx(n, {on, out});
                  k.place(out);
                  k.nanosleep(1u);
                  k.place(on);
              });
          }) == "");
    CHECK(ids([](builder& k, out_t, px::reg<u32> n) {
              k.loop([&] { k.switch_table(n, px::case_<0>([&] {}), px::case_<1>([&] {})); });
          }) == "K03");
    CHECK(ids([](builder& k, out_t, px::reg<u32> n) {
              k.loop([&](px::loop_handle l) {
                  k.switch_table(n, px::case_<0>([&] { l.break_(); }), px::case_<1>([&] {}));
              });
          }) == "");
}

TEST_CASE("F07: roles are threads, the author's own branches are unknown") {
    CHECK(ids(with_load([](builder& k, auto& bar, auto& a, auto& map, auto& n) {  // all 32 lanes of the producer warp
                  k.if_(k.mov(px::tid.x) < 32u, [&] { k.role(32, [&] { expect_and_load(k, bar, a, map, n); }); });
              }),
              group) == "F07");
    CHECK(ids(with_load([](builder& k, auto& bar, auto& a, auto& map, auto& n) {
                  k.if_(k.mov(px::tid.x) < 32u, [&] {
                      k.role(32, [&] { k.single_thread(k.elect_sync(), [&] { expect_and_load(k, bar, a, map, n); }); });
                  });
              }),
              group) == "");
    CHECK(ids(with_load([](builder& k, auto& bar, auto& a, auto& map, auto& n) {
                  auto skip = k.new_label("skip");
                  k.at(k.mov(px::tid.x) != 0u).bra(skip);
                  expect_and_load(k, bar, a, map, n);
                  k.place(skip);
              }),
              group) == "");
}

TEST_CASE("F06: multicast masks in registers") {
    const auto kernel = [](int mask, u32 bytes = 8192) {
        return with_load([mask, bytes](builder& k, auto& bar, auto& a, auto& map, auto& n) {
            auto m = k.mov<px::u16>(mask);
            k.barrier_cluster_arrive();
            k.barrier_cluster_wait();
            k.single_thread(k.mov(px::tid.x) == 0u, [&] {
                k.mbarrier_arrive_expect_tx(bar.stage(0), bytes);
                k.cp_async_bulk_tensor_multicast(a.stage(0), map, px::coords(0u, n), bar.stage(0), m);
            });
        });
    };
    CHECK(ids(kernel(3, 2 * 8192), {.reqntid = {128}, .cluster = {2}}) == "");
    CHECK(ids(kernel(3), {.reqntid = {128}, .cluster = {2}}) == "E04");  // both blocks send to both
    CHECK(ids(kernel(0), {.reqntid = {128}, .cluster = {2}}) == "F06");
    CHECK(ids(kernel(4), {.reqntid = {128}, .cluster = {2}}) == "F06");
    CHECK(ids(kernel(4), group) == "");  // the cluster is a launch attribute
}

TEST_CASE("F09: sizes and places of bulk copies") {
    const auto kernel = [](int bytes, int offset) {
        return [bytes, offset](builder& k, px::global_ptr<const f32, 16> in) {
            auto bar = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
            auto a = k.smem_array<f32>(256, "a");
            k.assume_arrivals(bar);
            auto n = k.mov<u32>(bytes);
            k.single_thread(k.mov(px::tid.x) == 0u, [&] {
                k.mbarrier_arrive_expect_tx(bar.stage(0), n);
                k.cp_async_bulk(a.byte_offset<16>(offset), in, n, bar.stage(0));
            });
        };
    };
    CHECK(ids(kernel(64, 16), group) == "");
    CHECK(ids(kernel(60, 16), group) == "F09");
    CHECK(ids(kernel(64, 8), group) == "F09");
}

// ---- cluster barrier
// ---------------------------------------------------------------------------------------------------------

TEST_CASE("G05: arrive and wait alternate") {
    const px::attributes pair{.reqntid = {128}, .cluster = {2}};
    CHECK(ids(
              [](builder& k) {
                  k.barrier_cluster_arrive();
                  k.barrier_cluster_wait();
                  k.barrier_cluster_arrive();
                  k.barrier_cluster_wait();
              },
              pair) == "");
    CHECK(ids([](builder& k) { k.barrier_cluster_arrive(); }, pair) == "");  // arrive, then exit
    CHECK(ids([](builder& k) { k.barrier_cluster_wait(); }, pair) == "G05");
    CHECK(ids(
              [](builder& k) {
                  k.barrier_cluster_arrive();
                  k.barrier_cluster_arrive();
                  k.barrier_cluster_wait();
              },
              pair) == "G05");
    CHECK(ids([](builder& k, px::reg<u32> n) { k.for_(n, [&](px::reg<u32>) { k.barrier_cluster_arrive(); }); }, pair) ==
          "G05");
    CHECK(ids(
              [](builder& k, px::reg<u32> n) {  // split over two ifs of one condition: unknown
                  k.if_(n != 0u, [&] { k.barrier_cluster_arrive(); });
                  k.if_(n != 0u, [&] { k.barrier_cluster_wait(); });
              },
              pair) == "");
    CHECK(ids(
              [](builder& k, px::reg<u32> n) {
                  k.for_(n, [&](px::reg<u32>) {
                      k.barrier_cluster_arrive();
                      k.barrier_cluster_wait();
                  });
              },
              pair) == "");
}

// ---- what the verifier must not pretend to know
// --------------------------------------------------------------------------------

TEST_CASE("author's own branches, raw text and calls end the proof") {
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto& n) {
                  auto skip = k.new_label("skip");
                  k.at(n == 0u).bra(skip);
                  k.wgmma.fence();
                  k.place(skip);
                  m();
              }),
              group) == "");
    CHECK(ids(with_mma([](builder& k, const mma& m, auto&, auto&) {
                  k.raw("wgmma.fence.sync.aligned;");
                  m();
                  finish(k);
              }),
              group) == "");
}

}  // namespace
