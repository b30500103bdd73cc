// SPDX-License-Identifier: Apache-2.0
// Tensor memory and tcgen05 (I01 to I14): warnings, and what the rules must be silent about.
#include "findings.hpp"

using namespace ptxdsl_test;

namespace {

using blackwell = px::builder<px::sm_100a>;
using tile = px::tile<bf16, 128, 64>;
constexpr px::attributes block{.reqntid = {128}};

/// One block that allocates, multiplies once, reads and frees; `read` says how a thread comes to the accumulator.
template <class Read>
auto one_product(const Read& read) {
    return [read](blackwell& k) {
        const auto a = k.smem<tile>(1, "a"), b = k.smem<tile>(1, "b");
        const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
        const auto slot = k.tcgen05.make_slot<128>();
        const auto tid = k.mov(px::tid.x);
        k.if_(tid < 32u, [&] { k.tcgen05.alloc(slot); });
        k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]); });
        k.fence_mbarrier_init();
        k.bar_sync();
        const auto memory = k.tcgen05.load(slot);
        const auto da = k.tcgen05.descriptor(a), db = k.tcgen05.descriptor(b);
        k.single_thread(tid == 0u, [&] {
            k.tcgen05.multiply(memory.accumulator<f32, 128, 128>(), da, db, false);
            k.tcgen05.commit(done[0]);
        });
        read(k, done, k.tcgen05.quarter(memory, k.shr(tid, 5u)).template accumulator<f32, 128, 128>());
        k.bar_sync();
        k.if_(tid < 32u, [&] {
            k.tcgen05.dealloc(memory);
            k.tcgen05.relinquish_alloc_permit(slot);
        });
    };
}
const auto load = [](blackwell& k, const auto& rows) {
    const auto v = k.tcgen05.ld<px::shape_32x32b, px::x2>(rows);
    k.tcgen05.wait_ld();
    k.st(k.smem_array<f32>(1, "out"), v[0]);
};

}  // namespace

TEST_CASE("I11: the fence behind the wait") {
    CHECK(ids(one_product([](blackwell& k, const auto& done, const auto& rows) {
                  k.tcgen05.wait(done[0], 0u);
                  load(k, rows);
              }),
              block) == "");
    CHECK(ids(one_product([](blackwell& k, const auto& done, const auto& rows) {
                  k.wait(done[0], 0u);
                  load(k, rows);
              }),
              block) == "I11");
    // The fence of another wait for a commit: which accumulator each is for is not known.
    CHECK(ids(one_product([](blackwell& k, const auto& done, const auto& rows) {
                  k.tcgen05.wait(done[0], 0u);
                  load(k, rows);
                  k.wait(done[0], 0u);
                  load(k, rows);
              }),
              block) == "I11w");
    CHECK(ids(one_product([](blackwell& k, const auto& done, const auto& rows) {
                  k.wait(done[0], 0u);
                  k.tcgen05.fence_after_thread_sync();
                  load(k, rows);
              }),
              block) == "");
}

TEST_CASE("I08: loads under way") {
    const auto twice = [](bool wait_between) {
        return one_product([wait_between](blackwell& k, const auto& done, const auto& rows) {
            k.tcgen05.wait(done[0], 0u);
            const auto out = k.smem_array<f32>(2, "out");
            const auto v = k.tcgen05.ld<px::shape_32x32b, px::x2>(rows);
            if (wait_between) k.tcgen05.wait_ld();
            k.st(out, v[0]);
            k.tcgen05.wait_ld();
            k.st(out + 1, v[1]);
        });
    };
    CHECK(ids(twice(true), block) == "");
    CHECK(ids(twice(false), block) == "I08");
    // A register that another instruction has written since is not the load's any more.
    CHECK(ids(one_product([](blackwell& k, const auto& done, const auto& rows) {
                  k.tcgen05.wait(done[0], 0u);
                  const auto v = k.tcgen05.ld<px::shape_32x32b, px::x1>(rows);
                  k.tcgen05.wait_ld();
                  k.for_(4u, [&](px::reg<u32>) {
                      k.st(k.smem_array<f32>(1, "out"), v[0]);
                      static_cast<void>(k.tcgen05.ld<px::shape_32x32b, px::x1>(rows));
                      k.tcgen05.wait_ld();
                  });
              }),
              block) == "");
}

TEST_CASE("I14: who starts at zero") {
    const auto rounds = [](bool first_arm_accumulates) {
        return [first_arm_accumulates](blackwell& k, px::reg<u32> n) {
            const auto a = k.smem<tile>(1, "a"), b = k.smem<tile>(1, "b");
            const auto slot = k.tcgen05.make_slot<128>();
            k.tcgen05.alloc(slot);
            k.bar_sync();
            const auto memory = k.tcgen05.load(slot);
            const auto d = memory.accumulator<f32, 128, 128>();
            const auto da = k.tcgen05.descriptor(a), db = k.tcgen05.descriptor(b);
            const auto step = [&](px::reg<u32> i) {
                // Which arm comes first in the text says nothing about the order of execution.
                k.if_(i != 0u, [&] { k.tcgen05.multiply(d, da, db, true); }).else_([&] {
                    k.tcgen05.multiply(d, da, db, false);
                });
            };
            if (first_arm_accumulates) k.tcgen05.multiply(d, da, db, true);
            k.for_(n, step);
            k.tcgen05.dealloc(memory);
            k.tcgen05.relinquish_alloc_permit(slot);
        };
    };
    CHECK(ids(rounds(false), {.reqntid = {32}}) == "");
    CHECK(ids(rounds(true), {.reqntid = {32}}) == "I14");
}

TEST_CASE("I12: a release in a loop that commits, and one outside") {
    CHECK(ids(one_product([](blackwell& k, const auto& done, const auto& rows) {
                  const auto pipe = k.make_pipeline<"other">(2, px::arrivals<128>, px::arrivals<128>);
                  k.tcgen05.wait(done[0], 0u);
                  load(k, rows);
                  k.mbarrier_arrive(pipe.empty()[0]);
              }),
              block)
              .find("I12") == std::string::npos);
}
