// SPDX-License-Identifier: Apache-2.0
// setmaxnreg down for all, up for some, and back. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: setmaxnreg down up") {
    CHECK(ids(
              [](builder& k, words o, reg) {
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 128u, [&] {
                       k.setmaxnreg_dec<80>();
                       k.st(o + tid, 1u);
                       k.bar_sync<1, 256>();
                   }).else_([&] {
                      k.bar_sync<1, 256>();
                      k.st(o + tid, 2u);
                  });
              },
              px::attributes{.reqntid = {256}, .minnctapersm = 1}) == "");
}
