// SPDX-License-Identifier: Apache-2.0
// The shipped kernels, played: nothing is found, and what it costs is printed.
#include "../verify/mutation_kernels.hpp"
#include "played.hpp"

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace {

/// Processor time, in milliseconds.
double now() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

TEST_CASE("the shipped kernels are played without a finding") {
    std::vector<mutation::kernel_list> families;
    families.push_back(mutation::hopper_kernels());
    families.push_back(mutation::row_kernels());
    families.push_back(mutation::blackwell_kernels());
    std::printf("%-24s %8s %5s %9s\n", "", "ms", "runs", "steps");
    double sum = 0, worst = 0;
    std::uint64_t most = 0;
    int n = 0;
    std::string dearest;
    for (const mutation::kernel_list& family : families)
        for (const mutation::shipped& kernel : family) {
            CAPTURE(kernel.name);
            const ptxdsl::ir::view m = kernel.program->read();
            const double before = now();
            const ptxdsl::machine::result r = ptxdsl::machine::play(m);
            const double ms = now() - before;
            for (const ptxdsl::machine::finding& f : r.findings) {
                CAPTURE(machine_test::sentence_of(m, f));
                CHECK(f.warning);
            }
            CHECK(r.complete);
            std::printf("%-24s %8.2f %5u %9llu\n", kernel.name.c_str(), ms, static_cast<unsigned>(r.runs),
                        static_cast<unsigned long long>(r.steps));
            sum += ms, ++n;
            most = r.steps > most ? r.steps : most;
            if (ms > worst) worst = ms, dearest = kernel.name;
        }
    std::printf("mean %.2f ms of %d kernels, the dearest %.2f ms (%s)\n", sum / n, n, worst, dearest.c_str());
    // Steps do not depend on the machine: more of them are a regression of the choice of runs.
    CHECK(most <= 1'000'000);
}
