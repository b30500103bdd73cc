// SPDX-License-Identifier: Apache-2.0
// Modifiers under their PTX spelling, for template arguments: `k.ld<px::relaxed, px::gpu>(p)`, `k.fma<px::rn, px::ftz>(…)`.
#pragma once

#include <ptxdsl/dsl/handles.hpp>

namespace ptxdsl {

using tok::rn;
using tok::rz;
using tok::rm;
using tok::rp;
using tok::ftz;
using tok::sat;
using tok::relaxed;
using tok::gpu;
using tok::lt;
using tok::le;
using tok::eq;
using tok::ne;
using tok::gt;
using tok::ge;

namespace detail {
template <isa::sreg X, isa::sreg Y, isa::sreg Z>
struct special3 {
    special_register<u32, X> x;
    special_register<u32, Y> y;
    special_register<u32, Z> z;
};
}  // namespace detail

inline constexpr detail::special3<isa::sreg::tid_x, isa::sreg::tid_y, isa::sreg::tid_z> tid{};
inline constexpr detail::special3<isa::sreg::ntid_x, isa::sreg::ntid_y, isa::sreg::ntid_z> ntid{};
inline constexpr detail::special3<isa::sreg::ctaid_x, isa::sreg::ctaid_y, isa::sreg::ctaid_z> ctaid{};
inline constexpr detail::special3<isa::sreg::nctaid_x, isa::sreg::nctaid_y, isa::sreg::nctaid_z> nctaid{};
inline constexpr special_register<u32, isa::sreg::laneid> laneid{};

}  // namespace ptxdsl
