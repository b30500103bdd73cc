// SPDX-License-Identifier: Apache-2.0
#include <ptxdsl/ptxdsl.hpp>
#include <ptxdsl/version.hpp>

static_assert(ptxdsl::library_version == PTXDSL_VERSION);
static_assert(ptxdsl::sm_90a.sm == 90);

int main() { return ptxdsl::library_version > 0 ? 0 : 1; }
