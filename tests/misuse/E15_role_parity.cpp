// SPDX-License-Identifier: Apache-2.0
// A pipeline state of the wrong role, which starts on the other parity.
//
// expect-1: PTXDSL-E15
// expect-2: PTXDSL-E15

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;

constexpr void body(px::builder<px::sm_90a>& k) {
    const auto pipe = k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals<1>);
    const auto in = k.producer_state(pipe);
    const auto out = k.consumer_state(pipe);
#if PTXDSL_CASE == 0
    k.wait_empty(pipe, in);
    k.advance(in);
    k.wait_full(pipe, out);
    k.advance(out);
#elif PTXDSL_CASE == 1  // a consumer waits for an empty slot
    k.wait_empty(pipe, out);  // here-1
#elif PTXDSL_CASE == 2  // a producer waits for a full slot
    k.wait_full(pipe, in);  // here-2
#endif
}
