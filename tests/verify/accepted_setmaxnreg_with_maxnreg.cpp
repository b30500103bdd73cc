// SPDX-License-Identifier: Apache-2.0
// setmaxnreg in a kernel that declares .maxnreg. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: setmaxnreg with maxnreg") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto tid = k.mov(px::tid.x);
                  const auto wg = k.shr(tid, 7u);
                  k.if_(wg == 1u, [&] {
                       k.setmaxnreg_dec<40>();
                       k.st(o + tid, 1u);
                   }).else_([&] {
                      k.setmaxnreg_inc<232>();
                      k.st(o + tid, 2u);
                  });
              },
              px::attributes{.reqntid = {384}, .maxnreg = 168}) == "");
}
