// SPDX-License-Identifier: Apache-2.0
// Kernels that the compiler plays while it assembles them.
#pragma once

#include <ptxdsl/machine/at_run_time.hpp>

#include <cstdint>

namespace ptxdsl {

namespace machine::detail {

/// What one run of a kernel gave, in a form that outlives the constant evaluation.
struct constant_run {
    ptxdsl::detail::diagnosis said;
    std::uint64_t steps = 0;
    bool made = false;      ///< there is such a run
    bool complete = false;  ///< it came to its end, and everything in it was followed
};
/// Run `number` of those chosen for the kernel.
template <class View>
[[nodiscard]] constexpr constant_run run_in_constant_evaluation(const View& m, std::uint32_t number) {
    constant_run r;
    player p(m, {});
    const result played = p.play_one(number, r.made);
    if (!r.made) return r;
    r.steps = played.steps;
    r.complete = played.complete && played.coverage.empty();
    add_findings(m, played.findings, true, r.said);
    return r;
}
/// One constant evaluation a run: the compiler's limit of steps holds for each alone.
template <class K, std::uint32_t Number>
inline constexpr constant_run constant_run_of =
    run_in_constant_evaluation(ptxdsl::detail::program_image<K>.read(), Number);

/// The runs together: the first error and the first warning among them.
template <class K, std::uint32_t Number = 0>
[[nodiscard]] constexpr constant_run play_in_constant_evaluation(const constant_run& before = {}) {
    constexpr const constant_run& now = constant_run_of<K, Number>;
    constant_run all = before;
    if constexpr (!now.made) {
        return all;
    } else {
        all.made = true;
        all.complete = now.complete && (Number == 0 || before.complete);
        all.steps += now.steps;
        all.said.warnings += now.said.warnings;
        if (!all.said.error.found) all.said.error = now.said.error;
        if (!all.said.warning.found) all.said.warning = now.said.warning;
        if constexpr (now.said.error.found)
            return all;
        else
            return play_in_constant_evaluation<K, Number + 1>(all);
    }
}

}  // namespace machine::detail

/// Kernel `K`, which the compiler also plays while it assembles it: `px::assemble<px::played<px::kernel<…>>>()`. What
/// playing finds (docs/verifier.md, "Playing a kernel") stops the build as a rule of the verifier does.
///
/// Each of the runs chosen for the kernel is a constant evaluation of its own. Kernels of a few hundred instructions
/// fit the compilers' default limits; larger ones want those that the CMake target passes.
template <class K>
struct played : K {
    /// What the runs found.
    [[nodiscard]] static constexpr const detail::diagnosis& findings() noexcept { return runs.said; }
    /// Whether every run came to its end and everything in it was followed.
    [[nodiscard]] static constexpr bool followed() noexcept { return runs.complete; }
    /// Instructions of warps that were executed.
    [[nodiscard]] static constexpr std::uint64_t steps() noexcept { return runs.steps; }

private:
    static constexpr machine::detail::constant_run runs = machine::detail::play_in_constant_evaluation<K>();
};

}  // namespace ptxdsl
