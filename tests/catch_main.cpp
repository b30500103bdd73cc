// SPDX-License-Identifier: Apache-2.0
// The main function of every Catch2 test program. Returns 0, 1 when something failed, or 77 when nothing failed and a
// test case was skipped; CTest runs one test case per process, so there it means: this one was skipped.
// (Catch2's own results would not do: they are the number of failed assertions, in some versions, and that may be 77.)
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

#include <cstdio>

namespace {
int skipped = 0;
constexpr int skip_return_code = 77;
}  // namespace

void ptxdsl_test::note_skipped(const char* reason) {
    ++skipped;
    std::printf("skipped: %s\n", reason);
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    Catch::Session session;
    if (const int wrong_usage = session.applyCommandLine(argc, argv); wrong_usage != 0) return wrong_usage;
    const int result = session.run();
#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR < 3
    // Catch2 2 returns the number of what it listed.
    const auto& config = session.configData();
    if (config.listTests || config.listTestNamesOnly || config.listTags || config.listReporters) return 0;
#endif
    if (result != 0) return 1;
    return skipped > 0 ? skip_return_code : 0;
}
