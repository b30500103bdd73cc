// SPDX-License-Identifier: Apache-2.0
// The program layer of diagnosis: rules over the finished program.
#pragma once

#include <ptxdsl/verify/report.hpp>

namespace ptxdsl::verify {

/// Checks the finished program `m` and adds what it finds to `out`.
constexpr void run(const ir::view& m, report& out) {
    static_cast<void>(m);
    static_cast<void>(out);
}

}  // namespace ptxdsl::verify
