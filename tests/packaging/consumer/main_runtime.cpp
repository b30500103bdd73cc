// SPDX-License-Identifier: Apache-2.0
#if __has_include(<ptxdsl/runtime.hpp>)
#include <ptxdsl/runtime.hpp>
#endif
#include <ptxdsl/ptxdsl.hpp>

#include <fmt/core.h>

#include <thread>

int main() {
    std::thread([] { fmt::print("ptxdsl {}\n", ptxdsl::library_version); }).join();
    return 0;
}
