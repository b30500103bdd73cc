// SPDX-License-Identifier: Apache-2.0
// Ordinary shared memory: exact to the byte, flags in memory, what is not followed.
#include "played.hpp"

using namespace machine_test;

TEST_CASE("neighbours in one word do not race") {
    const auto kernel = [](u32 distance) {
        return [distance](builder& k, words out) {
            const auto box = k.smem_array<px::u16>(256, "box");
            const auto tid = k.mov(px::tid.x);
            k.if_(tid < 32u, [&] { k.st(box + k.shl(tid, 1u), px::u16(1)); }).else_([&] {
                k.st(box + k.add(k.shl(k.sub(tid, 32u), 1u), distance), px::u16(2));
            });
            k.bar_sync();
            k.st(out + tid, k.cvt<u32>(k.ld(box + tid)));
        };
    };
    CHECK(played(kernel(1), block(64)) == "");
    CHECK(played(kernel(2), block(64)) == "race");
}

TEST_CASE("a flag in shared memory orders those who use it as one") {
    const auto kernel = [](bool wrong) {
        return [wrong](builder& k, words out) {
            const auto box = k.smem_array<u32>(1, "box");
            const auto flag = k.smem_array<u32>(1, "flag");
            const auto tid = k.mov(px::tid.x);
            k.if_(tid == 0u, [&] { k.st(flag + 0u, 0u); });
            k.bar_sync();
            k.if_(tid == 0u, [&] {
                k.st(box + 0u, 7u);
                if (!wrong) k.st<px::release, px::cta>(flag + 0u, 1u);
            });
            k.if_(tid == 32u, [&] {
                if (!wrong) k.while_([&] { return k.ld<px::acquire, px::cta>(flag + 0u) != 1u; }, [&] {});
                k.st(out + tid, k.ld(box + 0u));
            });
        };
    };
    CHECK(played(kernel(false), block(64)) == "");
    CHECK(played(kernel(true), block(64)) != "");
}

TEST_CASE("what is not followed is said") {
    const auto by_data = [](builder& k, words in, words out) {
        const auto bins = k.smem_array<u32>(64, "bins");
        const auto tid = k.mov(px::tid.x);
        k.st(bins + k.and_(k.ld(in + tid), 63u), tid);
        k.bar_sync();
        k.st(out + tid, k.ld(bins + tid));
    };
    CHECK(played(by_data, block(64)) == "|an access of shared memory at an address that is not followed");
    CHECK(played([](builder& k, words out) { k.st(out, 1u); }, {}) == "|the block size is not declared");
    const auto raw = [](builder& k, words out) {
        k.raw("// nothing");
        k.st(out, 1u);
    };
    CHECK(played(raw, block(32)) == "|a line of text that nobody reads");
}

TEST_CASE("a condition on unknown data goes the same way for all who test it") {
    const auto kernel = [](bool wrong) {
        return [wrong](builder& k, px::global_ptr<const f32> in, words out) {
            const auto tid = k.mov(px::tid.x);
            const auto big = k.ld(in) > 1.0f;
            const auto other = k.ld(in + 1u) > 1.0f;
            k.if_(tid < 32u, [&] { k.if_(big, [&] { k.bar_sync(1u, 64u); }); }).else_([&] {
                k.if_(wrong ? other : big, [&] { k.bar_sync(1u, 64u); });
            });
            k.st(out + tid, 1u);
        };
    };
    CHECK(played(kernel(false), block(64)) == "");
    CHECK(played(kernel(true), block(64)) == "deadlock");
}
