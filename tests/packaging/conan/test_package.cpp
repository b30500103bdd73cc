// SPDX-License-Identifier: Apache-2.0
#include <ptxdsl/ptxdsl.hpp>
#include <ptxdsl/version.hpp>

static_assert(ptxdsl::sm_90a.sm == 90 && ptxdsl::library_version == PTXDSL_VERSION);

int main() { return 0; }
