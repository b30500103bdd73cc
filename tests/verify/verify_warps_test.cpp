// SPDX-License-Identifier: Apache-2.0
// What the warps of a block do together, followed warp by warp: registers that warpgroups ask for (H04), block barriers
// that some warps execute more often than others (H05). Each mistake beside its right neighbours.
#include "findings.hpp"

#include <array>
#include <type_traits>

using namespace ptxdsl_test;
using Catch::Matchers::ContainsSubstring;

namespace {

using reg = px::reg<u32>;
constexpr px::attributes three{.reqntid = {384}, .minnctapersm = 1};  // 168 registers a thread at entry
constexpr px::attributes four{.reqntid = {512}, .minnctapersm = 1};   // 128
constexpr px::attributes block(u32 threads) { return {.reqntid = {threads}}; }

constexpr void less(builder& k) { k.setmaxnreg_dec<40>(); }
constexpr void more(builder& k) { k.setmaxnreg_inc<240>(); }
constexpr void fits(builder& k) { k.setmaxnreg_inc<232>(); }

/// A body that gets the thread's index, the number of its warpgroup and one that the caller passes.
template <class Body>
std::string found(const Body& body, const px::attributes& attributes) {
    return texts(
        [&](builder& k, reg n) {
            const auto tid = k.mov(px::tid.x);
            const auto group = k.shr(tid, 7u);
            body(k, tid, group, n);
        },
        attributes);
}
template <class Body>
std::string found_ids(const Body& body, const px::attributes& attributes) {
    return ids_of(found(body, attributes));
}

}  // namespace

TEST_CASE("H04: warpgroups that an if each selects") {
    const auto ifs = [](auto consumer, std::array<u32, 3> order) {
        return found_ids(
            [=](builder& k, const reg&, const reg& group, const reg&) {
                k.if_(group == order[0], [&] { less(k); });
                k.if_(group == order[1], [&] { consumer(k); });
                k.if_(group == order[2], [&] { consumer(k); });
            },
            three);
    };
    CHECK(ifs(more, {0, 1, 2}) == "H04");
    CHECK(ifs(more, {2, 0, 1}) == "H04");
    CHECK(ifs(more, {1, 2, 0}) == "H04");
    CHECK(ifs(fits, {0, 1, 2}) == "");
    CHECK(ifs(fits, {2, 1, 0}) == "");
    CHECK(ifs(more, {0, 1, 7}) == "");  // nobody is the third: 40, 240 and 168 fit
}

TEST_CASE("H04: warpgroups that a switch selects") {
    const auto kernel = [](auto consumer) {
        return found_ids(
            [=](builder& k, const reg&, const reg& group, const reg&) {
                k.switch_(group, px::case_<0>([&] { less(k); }), px::case_<1>([&] { consumer(k); }),
                          px::case_<2>([&] { consumer(k); }));
            },
            three);
    };
    CHECK(kernel(more) == "H04");
    CHECK(kernel(fits) == "");
}

TEST_CASE("H04: what does not ask keeps what it has") {
    const auto kernel = [](auto consumer) {
        return found(
            [=](builder& k, const reg& tid, const reg&, const reg&) {
                k.if_(tid < 128u, [&] { k.setmaxnreg_dec<24>(); }).else_([&] {
                    k.if_(tid >= 256u, [&] { consumer(k); });
                });
            },
            four);
    };
    CHECK_THAT(kernel(more),
               ContainsSubstring("80896 registers (128 x 24 + 256 x 240 + 128 x 128), it has 65536 (512"));
    CHECK(kernel([](builder& k) { k.setmaxnreg_inc<176>(); }) == "");  // 24 + 128 + 176 + 176 of 4 x 128
    CHECK_THAT(kernel([](builder& k) { k.setmaxnreg_inc<184>(); }), ContainsSubstring("H04: "));
    CHECK(found_ids(
              [](builder& k, const reg& tid, const reg&, const reg&) {  // 24, 128, 128, 232
                  k.if_(tid < 128u, [&] { k.setmaxnreg_dec<24>(); }).else_([&] {
                      k.if_(tid >= 384u, [&] { k.setmaxnreg_inc<232>(); });
                  });
              },
              four) == "");
}

TEST_CASE("H04: a part of a warpgroup asks") {
    const auto only = [](u32 first, u32 end) {
        return found([=](builder& k, const reg& tid, const reg&,
                         const reg&) { k.if_(tid >= first, [&] { k.if_(tid < end, [&] { less(k); }); }); },
                     three);
    };
    CHECK_THAT(only(0, 32), ContainsSubstring("3 warps of threads 0 to 127 never come here"));
    CHECK_THAT(only(0, 96), ContainsSubstring("1 warp of threads 0 to 127 never comes here"));
    CHECK_THAT(only(128, 320), ContainsSubstring("2 warps of threads 256 to 383 never come here"));
    CHECK(only(128, 256) == "");
    CHECK(only(0, 384) == "");
    // The others ask at another place: which of the two the hardware takes is not for this rule.
    CHECK(found_ids([](builder& k, const reg& tid, const reg&,
                       const reg&) { k.if_(tid < 32u, [&] { less(k); }).else_([&] { less(k); }); },
                    px::attributes{.reqntid = {128}, .minnctapersm = 4}) == "");
}

TEST_CASE("H04: what is not known, or asked for twice, is nobody's mistake") {
    CHECK(found_ids(
              [](builder& k, const reg&, const reg& group, const reg& n) {  // perhaps
                  k.if_(group == 0u, [&] { less(k); }).else_([&] { k.if_(n != 0u, [&] { more(k); }); });
              },
              three) == "");
    CHECK(found_ids(
              [](builder& k, const reg&, const reg& group, const reg&) {  // back to what it had, then the next
                  k.if_(group == 0u, [&] { less(k), k.setmaxnreg_inc<168>(); }).else_([&] { fits(k); });
              },
              three) == "");
    CHECK(found_ids(
              [](builder& k, const reg&, const reg& group, const reg&) {
                  k.if_(group == 0u, [&] { less(k); });
                  k.role(384, [&] { k.bar_sync(); });
                  k.if_(group == 0u, [&] { k.setmaxnreg_inc<168>(); });  // below what it began with: it asked before
              },
              three) == "");
}

TEST_CASE("H05: some warps execute a block barrier more") {
    const auto some = [](auto who, bool behind) {
        return found_ids(
            [=](builder& k, const reg& tid, const reg& group, const reg& n) {
                k.bar_sync();
                k.if_(who(k, tid, group, n), [&] { k.bar_sync(); });
                if (behind) k.bar_sync();
            },
            block(256));
    };
    const auto front = [](builder&, const reg& tid, const reg&, const reg&) { return tid < 64u; };
    const auto even = [](builder& k, const reg& tid, const reg&, const reg&) { return (k.shr(tid, 5u) & 1u) == 0u; };
    const auto second = [](builder&, const reg&, const reg& group, const reg&) { return group == 1u; };
    const auto one_warp = [](builder& k, const reg& tid, const reg&, const reg&) { return k.shr(tid, 5u) == 3u; };
    const auto not_first = [](builder& k, const reg& tid, const reg&, const reg&) { return k.shr(tid, 5u) != 0u; };
    const auto everyone = [](builder&, const reg& tid, const reg&, const reg&) { return tid < 256u; };
    const auto alike = [](builder&, const reg&, const reg&, const reg& n) { return n != 0u; };
    const auto by_data = [](builder&, const reg& tid, const reg&, const reg& n) { return tid < n; };
    CHECK(some(front, true) == "H05");
    CHECK(some(even, true) == "H05");
    CHECK(some(second, true) == "H05");
    CHECK(some(one_warp, true) == "H05");
    CHECK(some(not_first, true) == "H05");
    CHECK(some(front, false) == "");  // those that exit are not waited for
    CHECK(some(everyone, true) == "");
    CHECK(some(alike, true) == "");
    CHECK(some(by_data, true) == "");
}

TEST_CASE("H05: barriers that make up for each other") {
    const auto kernel = [](u32 first, u32 others, u32 in_loop) {
        return found_ids(
            [=](builder& k, const reg& tid, const reg&, const reg& n) {
                k.bar_sync();
                k.if_(tid < 64u, [&] {
                     for (u32 i = 0; i < first; ++i) k.bar_sync();
                 }).else_([&] {
                    for (u32 i = 0; i < others; ++i) k.bar_sync();
                });
                k.bar_sync();
                if (in_loop != 0)
                    k.for_(0u, n, 1u, [&](auto) {
                        if (in_loop == 2) k.if_(tid < 64u, [&] { k.bar_sync(); });
                        k.bar_sync();
                    });
            },
            block(128));
    };
    CHECK(kernel(1, 1, 0) == "");
    CHECK(kernel(3, 3, 1) == "");
    CHECK(kernel(2, 1, 0) == "H05");
    CHECK(kernel(0, 1, 0) == "H05");
    CHECK(kernel(1, 1, 1) == "");
    CHECK(kernel(1, 1, 2) == "H05");
}

TEST_CASE("H05: named barriers of the warps that come are their own") {
    CHECK(found_ids(
              [](builder& k, const reg& tid, const reg&, const reg&) {
                  k.bar_sync();
                  k.if_(tid < 64u, [&] { k.bar_sync<1, 64>(); });
                  k.bar_sync();
              },
              block(128)) == "");
    CHECK(found_ids(
              [](builder& k, const reg& tid, const reg&, const reg&) {  // a guarded one is counted by nobody
                  const auto first = tid < 64u;
                  k.at(first).bar_sync<1, 64>();
                  k.bar_sync();
              },
              block(128)) == "");
}

TEST_CASE("elected lanes, guards and joined conditions as other libraries write them") {
    using out = px::global_ptr<u32>;
    // One lane of each warp arrives: the count is the warps.
    const auto elected = [](auto count) {
        return [](builder& k) {
            const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<decltype(count)::value>);
            k.single_thread(k.mov(px::tid.x) == 0u, [&] { k.mbarrier_init(bar[0]); });
            k.bar_sync();
            k.if_(k.elect_sync(), [&] { k.mbarrier_arrive(bar[0]); });
            k.wait(bar[0], 0u);
        };
    };
    CHECK(ids(elected(std::integral_constant<u32, 4>{}), block(128)) == "");
    CHECK(ids(elected(std::integral_constant<u32, 128>{}), block(128)) == "E01");
    // CUTLASS: the elected lane of warp 0 initialises, where the number of the warp comes from lane 0.
    CHECK(ids(
              [](builder& k) {
                  const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
                  const auto warp = k.shfl_sync_idx(k.shr(k.mov(px::tid.x), 5u), 0u, 31u, px::full_mask);
                  k.if_(k.and_(warp == 0u, k.elect_sync()), [&] { k.mbarrier_init(bar[0]); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.mbarrier_arrive(bar[0]);
                  k.wait(bar[0], 0u);
              },
              block(128)) == "");
    // Triton: a predicate in front of the init.
    CHECK(ids(
              [](builder& k) {
                  const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
                  k.at(k.mov(px::tid.x) == 0u).mbarrier_init(bar[0]);
                  k.bar_sync();
                  k.mbarrier_arrive(bar[0]);
                  k.wait(bar[0], 0u);
              },
              block(128)) == "");
    // Each warp at one of two barriers; and barriers under conditions on data, which all take alike.
    CHECK(ids(
              [](builder& k, reg n) {
                  const auto tid = k.mov(px::tid.x);
                  const auto edge = k.or_(tid < 32u, tid >= 96u);
                  k.if_(k.not_(edge), [&] { k.bar_sync(); }).else_([&] { k.bar_sync(); });
                  k.at(edge).bar_sync<1, 64>();
                  k.at(!edge).bar_sync<2, 64>();
                  k.at(n > 5u).bar_sync();
                  k.if_(k.or_(n == 0u, n > 3u), [&] { k.bar_sync(); });
                  k.bar_sync();
              },
              block(128)) == "");
    // Helper warps whose other lanes are done: one lane stands for each at a barrier that is not aligned.
    CHECK(ids(
              [](builder& k, out p) {
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid >= 32u, [&] {
                       k.if_((tid & 31u) == 0u, [&] { k.inst<"barrier.cta.sync">(0u); });
                   }).else_([&] {
                      k.inst<"barrier.cta.sync">(0u);
                      k.st(p + tid, tid);
                  });
              },
              block(128)) == "");
}
