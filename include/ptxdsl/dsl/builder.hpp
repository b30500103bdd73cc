// SPDX-License-Identifier: Apache-2.0
// The builder: what a kernel body calls. One call emits one PTX instruction, in the order of the calls.
#pragma once

#include <ptxdsl/dsl/arithmetic.hpp>
#include <ptxdsl/dsl/control.hpp>
#include <ptxdsl/dsl/memory.hpp>
#include <ptxdsl/dsl/operators.hpp>
#include <ptxdsl/dsl/tags.hpp>

namespace ptxdsl {

/// Writes a kernel for target `Tgt` (`px::sm_90a`, `px::sm_100a`). Cheap to copy: a program and a pending guard.
template <target Tgt>
class builder : public detail::arithmetic_family<Tgt>, public detail::control_family<Tgt>, public detail::memory_family<Tgt> {
public:
    static constexpr target the_target = Tgt;

    constexpr explicit builder(ir::program& p, std::uint32_t guard = 0) noexcept : program_(&p), guard_(guard) {}

    /// The next call's instruction executes where `p` is true: `k.at(p).st(address, value)` emits `@%p st…`.
    /// Address arithmetic in the arguments is not guarded.
    [[nodiscard]] constexpr builder at(const reg<pred>& p) const noexcept {
        return builder(*program_, detail::control_writer::guard_of(p, false));
    }
    /// `k.at(px::unless(p)).…` emits `@!%p …`.
    [[nodiscard]] constexpr builder at(negated p) const noexcept {
        return builder(*program_, detail::control_writer::guard_of(p.p, true));
    }
    template <class T>
        requires(!std::is_same_v<T, pred>)
    [[nodiscard]] constexpr builder at(const reg<T>&) const noexcept {
        static_assert(detail::always_false<T>, "PTXDSL-A02: a guard is a predicate register; compare first: k.at(x != 0)");
        return *this;
    }

    [[nodiscard]] constexpr detail::context context() const noexcept { return {*program_, guard_}; }
    [[nodiscard]] constexpr ir::program& program() const noexcept { return *program_; }
    [[nodiscard]] constexpr const ir::attributes& attributes() const noexcept { return program_->attrs; }

private:
    ir::program* program_;
    std::uint32_t guard_;
};

}  // namespace ptxdsl
