// SPDX-License-Identifier: Apache-2.0
// The builder: what a kernel body calls. One call emits one PTX instruction, in the order of the calls.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/arithmetic.hpp>
#include <ptxdsl/dsl/async_copy.hpp>
#include <ptxdsl/dsl/atomic.hpp>
#include <ptxdsl/dsl/call.hpp>
#include <ptxdsl/dsl/cluster_launch.hpp>
#include <ptxdsl/dsl/control.hpp>
#include <ptxdsl/dsl/convert.hpp>
#include <ptxdsl/dsl/inst.hpp>
#include <ptxdsl/dsl/matrix.hpp>
#include <ptxdsl/dsl/mbarrier.hpp>
#include <ptxdsl/dsl/memory.hpp>
#include <ptxdsl/dsl/operators.hpp>
#include <ptxdsl/dsl/pipeline.hpp>
#include <ptxdsl/dsl/shared.hpp>
#include <ptxdsl/dsl/special.hpp>
#include <ptxdsl/dsl/sync.hpp>
#include <ptxdsl/dsl/tags.hpp>
#include <ptxdsl/dsl/tcgen05.hpp>
#include <ptxdsl/dsl/tensor_copy.hpp>
#include <ptxdsl/dsl/warp.hpp>
#include <ptxdsl/dsl/wgmma.hpp>

namespace ptxdsl {

/// Writes a kernel for target `Tgt` (`px::sm_90a`, `px::sm_100a`). Cheap to copy: a program and a pending guard.
template <target Tgt>
class builder<Tgt> : public detail::arithmetic_family<Tgt>,
                     public detail::convert_family<Tgt>,
                     public detail::atomic_family<Tgt>,
                     public detail::warp_family<Tgt>,
                     public detail::inst_family<Tgt>,
                     public detail::control_family<Tgt>,
                     public detail::call_family<Tgt>,
                     public detail::memory_family<Tgt>,
                     public detail::shared_family<Tgt>,
                     public detail::mbarrier_family<Tgt>,
                     public detail::tensor_copy_family<Tgt>,
                     public detail::async_copy_family<Tgt>,
                     public detail::matrix_family<Tgt>,
                     public detail::pipeline_family<Tgt>,
                     public detail::sync_family<Tgt>,
                     public detail::cluster_launch_family<Tgt> {
public:
    static constexpr target the_target = Tgt;
    // One name, several families: without these the call would be ambiguous.
    using detail::convert_family<Tgt>::mapa;
    using detail::mbarrier_family<Tgt>::mapa;

    constexpr explicit builder(ir::program& p, std::uint32_t guard = 0) noexcept
        : wgmma(p, guard), tcgen05(p, guard), program_(&p), guard_(guard) {}

    /// `k.wgmma.fence()`, `k.wgmma.mma_async(…)`, … (sm_90a).
    detail::wgmma_calls<Tgt> wgmma;
    /// `k.tcgen05.alloc(…)`, `k.tcgen05.mma(…)`, … (sm_100a).
    detail::tcgen05_calls<Tgt> tcgen05;

    /// The next call's instruction executes where `p` is true: `k.at(p).st(address, value)` emits `@%p st…`.
    /// Address arithmetic in the arguments is not guarded.
    [[nodiscard]] constexpr builder at(const reg<pred>& p, location where = location::current()) const {
        detail::check_condition(*program_, p, where);
        return builder(*program_, detail::guard_of(p, false));
    }
    [[nodiscard]] constexpr builder at(reg<pred>&& p, location where = location::current()) const {
        return guarded(p, false, p.expression(), where);
    }
    /// `k.at(px::unless(p)).…` emits `@!%p …`.
    [[nodiscard]] constexpr builder at(negated p, location where = location::current()) const {
        return guarded(p.p, true, p.fresh, where);
    }
    template <class T>
        requires(!meta::is_same_v<T, pred>)
    [[nodiscard]] constexpr builder at(const reg<T>&) const noexcept {
        static_assert(detail::always_false<T>,
                      "PTXDSL-A02: a guard is a predicate register; compare first: k.at(x != 0)");
        return *this;
    }

    [[nodiscard]] constexpr detail::context context() const noexcept { return {*program_, guard_}; }
    [[nodiscard]] constexpr ir::program& program() const noexcept { return *program_; }
    [[nodiscard]] constexpr const ir::attributes& attributes() const noexcept { return program_->attrs; }

    template <class D = void>
    [[nodiscard]] constexpr builder at(detail::anything) const noexcept {
        static_assert(detail::always_false<D>,
                      "PTXDSL-A02: a guard is a predicate register; compare first: k.at(x != 0)");
        return *this;
    }

private:
    /// The instruction that makes the condition belongs to the guarded one, in the order of a call's arguments.
    [[nodiscard]] constexpr builder guarded(const reg<pred>& p, bool negate, ir::span made, location where) const {
        detail::check_condition(*program_, p, where);
        const std::uint32_t guard = detail::guard_of(p, negate);
        if (made.end != 0) program_->made_guard = guard, program_->guard_made = made;
        return builder(*program_, guard);
    }

    ir::program* program_;
    std::uint32_t guard_;
};

/// The same with families of calls that few kernels need, each from its own header: after `#include
/// <ptxdsl/dsl/texture.hpp>` a kernel takes a `px::builder<px::sm_90a, px::texture_calls>&`. It is a `builder<Tgt>&`
/// where one is asked for.
template <target Tgt, template <target> class First, template <target> class... Families>
class builder<Tgt, First, Families...> : public builder<Tgt>, public First<Tgt>, public Families<Tgt>... {
public:
    constexpr explicit builder(ir::program& p, std::uint32_t guard = 0) noexcept
        : builder<Tgt>(p, guard), First<Tgt>(p, guard), Families<Tgt>(p, guard)... {}

    /// As `builder::at`.
    template <class P>
    [[nodiscard]] constexpr builder at(P&& p, location where = location::current()) const {
        const auto guarded = builder<Tgt>::at(static_cast<P&&>(p), where).context();
        return builder(guarded.p, guarded.guard);
    }
};

}  // namespace ptxdsl
