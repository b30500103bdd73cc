// SPDX-License-Identifier: Apache-2.0
// What the machine computes: a kernel whose barriers depend on the result hangs where the result is wrong.
#include "played.hpp"

using namespace machine_test;

namespace {

/// Hangs unless `body` returns a predicate that holds in all threads of the block.
template <class F>
std::string holds(const F& body) {
    return played(
        [body](builder& k, words out, reg n) {
            k.if_(body(k, n), [&] { k.bar_sync(1u, 64u); }).else_([&] { k.bar_sync(1u, 96u); });
            k.st(out, 1u);
        },
        block(64));
}

}  // namespace

TEST_CASE("integers are computed as PTX defines them") {
    CHECK(holds([](builder& k, const reg&) { return k.add(k.mov<u32>(0xffffffffu), 2u) == 1u; }) == "");
    CHECK(holds([](builder& k, const reg&) { return k.add(k.mov<u32>(0xffffffffu), 2u) == 2u; }) == "deadlock");
    CHECK(holds([](builder& k, const reg&) { return k.mul_hi(k.mov<u32>(0x80000000u), 6u) == 3u; }) == "");
    CHECK(holds([](builder& k, const reg&) { return k.div(k.mov<px::s32>(-7), 2) == -3; }) == "");
    CHECK(holds([](builder& k, const reg&) { return k.rem(k.mov<px::s32>(-7), 2) == -1; }) == "");
    CHECK(holds([](builder& k, const reg&) { return k.shr(k.mov<px::s32>(-8), 1u) == -4; }) == "");
    CHECK(holds([](builder& k, const reg&) { return k.shl(k.mov<u32>(1u), 32u) == 0u; }) == "");
    CHECK(holds([](builder& k, const reg&) { return k.mov<px::s32>(-1) < 0; }) == "");
    CHECK(holds([](builder& k, const reg&) { return k.popc(k.mov<u32>(0xf0u)) == 4u; }) == "");
    CHECK(holds([](builder& k, const reg&) { return k.clz(k.mov<u32>(1u)) == 31u; }) == "");
    CHECK(holds([](builder& k, const reg&) { return k.mad_lo(k.mov<u32>(3u), 4u, 5u) == 17u; }) == "");
    CHECK(holds([](builder& k, const reg& n) { return k.sub(k.add(n, 5u), n) == 5u; }) == "");
}

TEST_CASE("threads know who they are") {
    CHECK(holds([](builder& k, const reg&) {
              return k.mad_lo(k.shr(k.mov(px::tid.x), 5u), 32u, k.mov(px::laneid)) == k.mov(px::tid.x);
          }) == "");
    CHECK(holds([](builder& k, const reg&) { return k.mov(px::ntid.x) == 64u; }) == "");
}
