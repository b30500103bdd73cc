// SPDX-License-Identifier: Apache-2.0
// setmaxnreg in four warpgroups, of which one gives back. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: setmaxnreg four groups") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto tid = k.mov(px::tid.x);
                  const auto group = k.shr(tid, 7u);
                  k.if_(group == 3u, [&] {
                       k.role(128, [&] {
                           k.setmaxnreg_dec<24>();
                           k.st(o + tid, 1u);
                       });
                   }).else_([&] {
                      k.role(384, [&] {
                          k.setmaxnreg_inc<152>();
                          k.st(o + tid, 2u);
                          k.bar_sync<1, 384>();
                      });
                  });
              },
              px::attributes{.reqntid = {512}, .minnctapersm = 1}) == "");
}
