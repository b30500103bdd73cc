// SPDX-License-Identifier: Apache-2.0
// The main function of every Catch2 test program. Returns 77 when nothing failed and a test case was skipped; CTest
// runs one test case per process, so there it means: this one was skipped.
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
    const int result = Catch::Session().run(argc, argv);
    return result == 0 && skipped > 0 ? skip_return_code : result;
}
