// SPDX-License-Identifier: Apache-2.0
// More constant evaluation than any compiler allows by default: it compiles only with the limits that ptxdsl::ptxdsl
// raises as a usage requirement.
#include <ptxdsl/version.hpp>

constexpr int count() {
    int n = 0;
    for (int i = 0; i < 600'000; ++i) {
        n += i & 1;
    }
    return n;
}
static_assert(count() == 300'000);
