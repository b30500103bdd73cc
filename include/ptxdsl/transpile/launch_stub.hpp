// SPDX-License-Identifier: Apache-2.0
// The comment at the end of the output that shows how to launch its first kernel.
#pragma once

#include <ptxdsl/parse/facts.hpp>

#include <string>

namespace ptxdsl::ptx::detail {

inline void print_launch_stub(const tree_view&, std::string&) {}

}  // namespace ptxdsl::ptx::detail
