// SPDX-License-Identifier: Apache-2.0
// One kernel for several targets: a body that takes any builder, assembled for each; a launch takes the text that fits
// the device.
//
//   constexpr auto scale = [](auto& k, px::global_ptr<f32> x, px::reg<f32> a) { … };
//   using scale_kernel = px::generic_kernel<"scale", scale, px::attributes{.reqntid = {128}}>;
//   constexpr auto scale_ptx = px::assemble_for<scale_kernel, px::sm_90a, px::sm_100f>();
#pragma once

#include <ptxdsl/ptxdsl.hpp>

namespace ptxdsl {

namespace detail {

/// The body for one target, with parameters of known types: what `body_traits` asks of a body.
template <target Tgt, auto Body, class Call>
struct body_on_target;
template <target Tgt, auto Body, class R, class L, class B, class... P>
struct body_on_target<Tgt, Body, R (L::*)(B&, P...) const> {
    constexpr R operator()(builder<Tgt>& k, P... p) const { return Body(k, p...); }
};
template <target Tgt, auto Body, class R, class L, class B, class... P>
struct body_on_target<Tgt, Body, R (L::*)(B&, P...) const noexcept>
    : body_on_target<Tgt, Body, R (L::*)(B&, P...) const> {};

/// The type of a generic body's call with the builder of one target: of `[](auto& k, …)` and of
/// `[]<px::target T>(px::builder<T>& k, …)`. (To ask for it instantiates the body, so only the targets wanted are
/// asked.)
template <target Tgt, class F>
[[nodiscard]] consteval auto call_type() {
    constexpr bool takes_builder = requires { &F::template operator()<builder<Tgt>>; };
    constexpr bool takes_target = requires { &F::template operator()<Tgt>; };
    static_assert(
        takes_builder || takes_target,
        "PTXDSL-J07: the body of a generic kernel is a lambda that takes the builder of any target: [](auto& k, …)");
    if constexpr (takes_builder)
        return &F::template operator()<builder<Tgt>>;
    else if constexpr (takes_target)
        return &F::template operator()<Tgt>;
}

/// How well code of a target that runs on a device uses it: exactly its own, its family's, what all have; the newer
/// first.
[[nodiscard]] constexpr unsigned fitness(target t) noexcept {
    return (t.suffix == 'a' ? 2u : t.suffix == 'f' ? 1u : 0u) << 16 | t.sm;
}

}  // namespace detail

/// A kernel whose body takes the builder of any target: a lambda `[](auto& k, px::reg<u32> n, …)`, or one with
/// `[]<px::target T>(px::builder<T>& k, …)`, which may ask `T.has_wgmma()` and its kin in `if constexpr`. The
/// parameters' types are the same for every target.
template <fixed_string Name, auto Body, attributes Attributes = attributes{}>
struct generic_kernel {
    /// The kernel for one target, as `px::assemble` takes it.
    template <target Tgt>
    using on = kernel<Name, detail::body_on_target<Tgt, Body, decltype(detail::call_type<Tgt, decltype(Body)>())>{},
                      Attributes>;
};

/// One kernel assembled for several targets. `px::launch` and `px::load` take it like a kernel and use the text of
/// `best_for(device)`.
template <class First, class... Rest>
struct assembled_set {
    using params = typename First::params;
    static_assert((meta::is_same_v<params, typename Rest::params> && ...),
                  "PTXDSL-J07: the kernel's parameters differ between its targets");
    static constexpr std::size_t size = 1 + sizeof...(Rest);
    /// The targets, in the order they were given.
    static constexpr ptxdsl::target targets[size] = {First::target(), Rest::target()...};

    [[nodiscard]] static constexpr string_view name() noexcept { return First::name(); }
    /// Of the first target's text; what a launch needs is asked of the text it takes.
    [[nodiscard]] static constexpr const kernel_resources& resources() noexcept { return First::resources(); }

    /// The number of the text for a GPU of compute capability `device` (90 for 9.0); `size` when none runs on it. The
    /// device's own `a` target comes before its family's `f`, that before portable code, and the newer before the
    /// older.
    [[nodiscard]] static constexpr std::size_t best_for(unsigned device) noexcept {
        std::size_t best = size;
        for (std::size_t i = 0; i != size; ++i)
            if (targets[i].runs_on(device) &&
                (best == size || detail::fitness(targets[best]) < detail::fitness(targets[i])))
                best = i;
        return best;
    }
    /// Calls `f` with the text of that number, an `assembled<K>`.
    template <class F>
    static constexpr auto with(std::size_t number, const F& f) {
        if constexpr (sizeof...(Rest) != 0) {
            if (number != 0) return assembled_set<Rest...>::with(number - 1, f);
        }
        return f(First{});
    }
};

namespace detail {
template <class... Assembled>
[[nodiscard]] constexpr assembled_set<Assembled...> set_of(const Assembled&...) noexcept {
    return {};
}
}  // namespace detail

/// Assembles and verifies a generic kernel for each target; a mistake on any of them stops the build, as in `assemble`.
template <class Kernel, target... Tgt>
[[nodiscard]] constexpr auto assemble_for() {
    static_assert(sizeof...(Tgt) != 0,
                  "PTXDSL-J07: assemble_for takes the targets: px::assemble_for<K, px::sm_90a, px::sm_100f>()");
    // Called, not only named: the refusals of `assemble` are in its body.
    return detail::set_of(assemble<typename Kernel::template on<Tgt>>()...);
}

}  // namespace ptxdsl
