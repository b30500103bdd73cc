// SPDX-License-Identifier: Apache-2.0
// Every shipped Hopper GEMM with one synchronisation statement left out, or one of its numbers changed. What the
// verifier lets through is listed here with the reason; anything else that gets through, or is listed and no longer
// does, fails.
#include "mutation.hpp"

#include "../../examples/gemm_hopper_kernel.hpp"
#include "../catch.hpp"

#include <ptxdsl/kernels/gemm_heuristic.hpp>
#include <ptxdsl/kernels/gemm_kernel.hpp>

#include <cstdio>
#include <set>

namespace {

namespace px = ptxdsl;

struct survivor {
    const char* what;  ///< the end of the mutant's name
    bool wrong;  ///< a mistake that is not caught; otherwise the mutant is a right kernel, or nothing in it can tell
    const char* why;
};

constexpr survivor known[] = {
    {"fence.mbarrier_init.release.cluster: left out", false,
     "catalogued as a warning: the cluster barrier orders generic accesses"},
    {"setmaxnreg.inc.sync.aligned.u32: left out", false, "slower, not wrong"},
    {"griddepcontrol.launch_dependents: left out", false, "slower, not wrong"},
    {"griddepcontrol.wait: left out", false,
     "wrong only where the launch asks for overlap, which the kernel does not say"},
    {"cp.async.bulk.wait_group.read: left out", true,
     "staging tile chosen by a register: which stage is meant is not followed"},
    {"cp.async.bulk.wait_group.read: waits for one group less", true, "the same"},
    {"fence.proxy.async.shared::cta: left out", true, "the same"},
    {"barrier.cta.sync.aligned: left out", true, "the same: who has read or written the staging tile is not followed"},
    {"bar.warp.sync: left out", true, "the same, within a warp"},
    {"mbarrier.init.shared::cta.b64: one arrival more", true,
     "arrivals at block `sharer(t)`: the rank is computed, not counted"},
    {"mbarrier.init.shared::cta.b64: one arrival less", true, "the same"},
    {"barrier.cluster.wait.aligned: left out", true,
     "split-K: whether a peer's partial sums are there is not followed"},
};

const survivor* find(const std::string& name) {
    for (const survivor& s : known)
        if (name.ends_with(s.what)) return &s;
    return nullptr;
}

struct tally {
    int refused = 0, missed = 0, harmless = 0;
};

/// All mutants of one kernel; `met` collects the rows of `known` that were needed.
template <class Body>
tally examine(const char* name, const Body& body, const px::attributes& attributes, std::set<const survivor*>& met) {
    namespace m = mutation;
    px::ir::program p;
    px::detail::write_program(p, name, attributes, body);
    const px::ir::view v = p.read();
    REQUIRE(m::verdict(v, {"the kernel itself", {v.words, v.words + v.n.words}}).empty());
    tally t;
    for (const m::mutant& x : m::maker(v).all()) {
        CAPTURE(name, x.what);
        if (!m::verdict(v, x).empty()) {
            ++t.refused;
            continue;
        }
        const survivor* const row = find(x.what);
        if (row == nullptr) FAIL_CHECK("gets through and is not listed");
        met.insert(row);
        ++(row == nullptr || row->wrong ? t.missed : t.harmless);
    }
    std::printf("%-12s %3d refused, %2d missed, %2d harmless\n", name, t.refused, t.missed, t.harmless);
    return t;
}

}  // namespace

TEST_CASE("mutants of the GEMM kernels are refused") {
    namespace gh = gemm_hopper;
    using namespace ptxdsl::kernels;
    static constexpr gh::config pair{}, single{.cluster = 1};
    static constexpr gemm_config library{}, split = config_of(gemm_choice::few_rows_split);
    std::set<const survivor*> met;
    const tally all[] = {
        examine("pair", &gh::gemm<pair, px::bf16>, gh::attributes<pair>, met),
        examine("single_f32", &gh::gemm<single, px::f32>, gh::attributes<single>, met),
        examine("any_n", &gh::gemm_any_n<pair, px::bf16>, gh::attributes<pair>, met),
        examine("library", &gemm_body<library, px::bf16, px::bf16, gemm_epilogue{}>, gemm_attributes<library>, met),
        examine("split_k", &gemm_body<split, px::bf16, px::bf16, gemm_epilogue{}>, gemm_attributes<split>, met),
    };
    tally sum;
    for (const tally& t : all) sum.refused += t.refused, sum.missed += t.missed, sum.harmless += t.harmless;
    std::printf("%d of %d wrong mutants refused\n", sum.refused, sum.refused + sum.missed);
    for (const survivor& s : known) {
        CAPTURE(s.what);
        CHECK(met.count(&s) == 1);  // a row that nothing needs any more goes
    }
    CHECK(sum.refused * 100 >= 82 * (sum.refused + sum.missed));
}
