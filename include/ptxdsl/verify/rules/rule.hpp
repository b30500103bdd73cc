// SPDX-License-Identifier: Apache-2.0
// A rule as a struct: what it must remember are its members, what it says are rows of verify/catalogue.hpp, what it may
// ask is in verify/knowledge. Rules do not know each other and change nothing that others read.
#pragma once

#include <ptxdsl/verify/engine/facts.hpp>

namespace ptxdsl::verify {

/// What a rule may look at; a rule has those it needs. Rules are templates over the facts, so that a translation unit
/// that verifies nothing only parses them.
template <class Facts>
struct rule {
    /// An instruction, other than plain arithmetic, where the reader has come to it: what it reads is known
    /// (`f.places`, `f.acc`), who executes it too (`f.threads`, `f.warps`, `f.guard`), what it writes is not yet.
    constexpr void instruction(Facts& /*f*/, op /*what*/, const ir::cursor& /*c*/) {}
    /// The end of the program.
    constexpr void finish(Facts& /*f*/) {}
};

/// Rules, asked one after the other.
template <class Facts, template <class> class... Rules>
class rule_list : Rules<Facts>... {
public:
    constexpr void instruction(Facts& f, op what, const ir::cursor& c) { (Rules<Facts>::instruction(f, what, c), ...); }
    constexpr void finish(Facts& f) { (Rules<Facts>::finish(f), ...); }
};

}  // namespace ptxdsl::verify
