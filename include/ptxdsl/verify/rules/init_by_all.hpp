// SPDX-License-Identifier: Apache-2.0
// E12: several threads initialise one mbarrier. The second one finds a valid mbarrier there, on which `mbarrier.init`
// is undefined (PTX ISA 9.7.13.15.9).
#pragma once

#include <ptxdsl/verify/rules/rule.hpp>

namespace ptxdsl::verify {

template <class Facts>
struct init_by_all : rule<Facts> {
    constexpr void instruction(Facts& f, op what, const ir::cursor& c) {
        if (what != op::mbarrier || token_at(c, 1) != tok::init) return;
        const bool one_place = (f.acc & bit::varies) == 0 && f.places_used != 0;
        if (f.in_single || 2 > f.threads || f.guard != 0 || !one_place || f.some_left || f.unstructured ||
            f.is_function)
            return;
        f.out.add(catalogue::E12_all_threads, f.where).with(f.threads);
    }
};

}  // namespace ptxdsl::verify
