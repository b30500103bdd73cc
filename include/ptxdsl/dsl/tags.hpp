// SPDX-License-Identifier: Apache-2.0
// Modifiers under their PTX spelling, for template arguments: `k.ld<px::relaxed, px::gpu>(p)`, `k.fma<px::rn,
// px::ftz>(…)`. Those not listed here are there as `px::tok::name`. `px::hi` and `px::lo` are in dsl/convert.hpp.
#pragma once

#include <ptxdsl/dsl/reg.hpp>

namespace ptxdsl {

// Rounding, range and kind of floating-point instructions and conversions.
using tok::ftz, tok::sat, tok::satfinite, tok::relu, tok::approx, tok::full, tok::oob;
using tok::NaN, tok::abs, tok::xorsign;
using tok::rn, tok::rz, tok::rm, tok::rp, tok::rni, tok::rzi, tok::rmi, tok::rpi, tok::rna, tok::rs;
// Comparisons and their combination, tests.
using tok::and_, tok::or_, tok::xor_;
using tok::eq, tok::ne, tok::lt, tok::le, tok::gt, tok::ge, tok::ls, tok::hs;
using tok::equ, tok::neu, tok::ltu, tok::leu, tok::gtu, tok::geu, tok::num, tok::nan;
using tok::finite, tok::infinite, tok::number, tok::notanumber, tok::normal, tok::subnormal;
// Integer modes.
using tok::cc, tok::shiftamt, tok::f4e, tok::b4e, tok::rc8, tok::ecl, tok::ecr, tok::rc16;
// Memory semantics, scopes, cache operators, vector lengths.
using tok::ca, tok::cg, tok::cs, tok::lu, tok::cv, tok::wb, tok::wt, tok::nc, tok::noftz;
using tok::cta, tok::cluster, tok::gpu, tok::sys, tok::gl;
using tok::v2, tok::v4, tok::v8;
using tok::weak, tok::volatile_, tok::relaxed, tok::acquire, tok::release, tok::acq_rel, tok::sc, tok::mmio;
inline constexpr tok sync_restrict_shared_cta = tok::sync_restrict__shared__cta;
inline constexpr tok sync_restrict_shared_cluster = tok::sync_restrict__shared__cluster;

/// `.L1::evict_last` is `px::L1::evict_last`.
namespace L1 {
inline constexpr tok evict_normal = tok::L1__evict_normal;
inline constexpr tok evict_unchanged = tok::L1__evict_unchanged;
inline constexpr tok evict_first = tok::L1__evict_first;
inline constexpr tok evict_last = tok::L1__evict_last;
inline constexpr tok no_allocate = tok::L1__no_allocate;
}  // namespace L1

/// `.L2::evict_last` is `px::L2::evict_last`, `.L2::128B` is `px::L2::_128B`.
namespace L2 {
inline constexpr tok evict_normal = tok::L2__evict_normal;
inline constexpr tok evict_unchanged = tok::L2__evict_unchanged;
inline constexpr tok evict_first = tok::L2__evict_first;
inline constexpr tok evict_last = tok::L2__evict_last;
inline constexpr tok cache_hint = tok::L2__cache_hint;
inline constexpr tok _64B = tok::L2__64B;
inline constexpr tok _128B = tok::L2__128B;
inline constexpr tok _256B = tok::L2__256B;
}  // namespace L2

}  // namespace ptxdsl
