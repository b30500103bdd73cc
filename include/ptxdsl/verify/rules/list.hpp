// SPDX-License-Identifier: Apache-2.0
// The rules that are structs of their own, in the order in which they speak.
#pragma once

#include <ptxdsl/verify/rules/init_by_all.hpp>
#include <ptxdsl/verify/rules/loads_of_own_stores.hpp>
#include <ptxdsl/verify/rules/register_budget.hpp>

namespace ptxdsl::verify {

/// A new rule: its file above, its name here.
// clang-format off
template <class Facts>
using all_rules = rule_list<Facts,
    init_by_all,
    loads_of_own_stores,
    register_budget
>;
// clang-format on

}  // namespace ptxdsl::verify
