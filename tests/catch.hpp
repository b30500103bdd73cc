// SPDX-License-Identifier: Apache-2.0
// Catch2 2.13 and 3 under one include, and a way to skip that both understand.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif

namespace ptxdsl_test {
/// Notes that a test case could not run on this machine. Use PTXDSL_SKIP.
void note_skipped(const char* reason);
}  // namespace ptxdsl_test

/// Leaves the test case: it is counted as skipped, not as passed. For what this machine lacks, never for what fails.
#define PTXDSL_SKIP(reason)                    \
    do {                                       \
        ::ptxdsl_test::note_skipped((reason)); \
        return;                                \
    } while (false)
