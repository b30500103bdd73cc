// SPDX-License-Identifier: Apache-2.0
// The rules that are structs of their own, in the order in which they speak.
#pragma once

#include <ptxdsl/verify/rules/arrivals_in_a_row.hpp>
#include <ptxdsl/verify/rules/exited_blocks.hpp>
#include <ptxdsl/verify/rules/init_by_all.hpp>
#include <ptxdsl/verify/rules/loads_of_own_stores.hpp>
#include <ptxdsl/verify/rules/register_budget.hpp>
#include <ptxdsl/verify/rules/relaxed_cluster_arrive.hpp>
#include <ptxdsl/verify/rules/shared_races.hpp>
#include <ptxdsl/verify/rules/waits_of_others.hpp>

namespace ptxdsl::verify {

/// A new rule: its file above, its name here.
// clang-format off
template <class Facts>
using all_rules = rule_list<Facts,
    arrivals_in_a_row,
    exited_blocks,
    init_by_all,
    loads_of_own_stores,
    register_budget,
    relaxed_cluster_arrive,
    shared_races,
    waits_of_others
>;
// clang-format on

}  // namespace ptxdsl::verify
