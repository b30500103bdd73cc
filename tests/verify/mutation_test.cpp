// SPDX-License-Identifier: Apache-2.0
// Every shipped kernel with one synchronisation statement left out, or one of its numbers changed: each mutant is
// refused (by the verifier, or where blocks hand over by st.async by the machine that plays it), or stands in the list
// below with the reason why it is not. A mutant that gets through and is not listed
// fails, and so does a row that no mutant needs any more.
//
// (examples/saxpy, the plain matrix product and the row kernels of one warp hold no statement of this kind that could
// be wrong.)
#include "mutation.hpp"

#include "../catch.hpp"
#include "mutation_kernels.hpp"

#include <ptxdsl/machine.hpp>

#include <cstdint>
#include <cstdio>
#include <set>

namespace {

/// What is so of a mutant that is not refused.
enum class fate {
    right,    ///< it is a right kernel: why says so
    advised,  ///< the same, and where copies complete on the barrier the verifier warns (E03)
    warned,   ///< the verifier warns (a row of the catalogue that never stops a build); it is wrong
    missed,   ///< it is wrong, and nobody notices
};
using enum fate;

struct survivor {
    const char* kernels;  ///< separated by blanks; "*": all
    const char* what;     ///< `mutant::key`
    fate is;
    const char* why;
};

#define PTXDSL_TCGEN05_WITH_LOADS                                                             \
    "tcgen05_ld tcgen05_product_1 tcgen05_product_4 tcgen05_product_split tcgen05_roundtrip " \
    "tcgen05_ld_registers tcgen05_ld_x128"

constexpr survivor known[] = {
    // ---- right
    {"*", "fence.mbarrier_init.release.cluster: left out", advised,
     "the barrier behind it (bar.sync; barrier.cluster with its release and acquire) orders the initialisation as well"},
    {"*", "setmaxnreg.inc.sync.aligned.u32: left out", right, "consumers keep fewer registers: slower"},
    {"*", "griddepcontrol.launch_dependents: left out", right, "the next grid starts later: slower"},
    {"*", "griddepcontrol.wait: left out", right,
     "a launch without programmatic overlap has nothing to wait for, and the kernel does not say how it is launched"},
    {"early_b", "griddepcontrol.wait #2: left out", right, "the same"},
    {"*", "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned: left out", right,
     "other blocks of the multiprocessor allocate when this one has ended: slower"},
    {"blackwell_pair", "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned: left out", right, "the same"},
    {"turned turned_split library medium few_columns stream_k cluster_2x2 nn ping_pong early_b blocked blocked_192 blocked_256 "
     "blocked_256_even",
     "bar.warp.sync: left out", right,
     "the stmatrix.sync behind it waits for all lanes, also for the one that has waited for the bulk stores"},
    {"blackwell", "barrier.cta.sync.aligned: left out", right,
     "the next bar.sync, behind tcgen05.alloc, comes before any use of the mbarriers too"},
    {"*", "tcgen05.fence::before_thread_sync: left out", right,
     "orders asynchronous tcgen05 operations before it; there are none: tcgen05.alloc is none (PTX ISA 9.7.16.6)"},
    {"*", "tcgen05.fence::after_thread_sync: left out", right,
     "orders asynchronous tcgen05 operations behind those of others; only tcgen05.alloc came before"},
    {"blackwell blackwell_pair", "tcgen05.fence::after_thread_sync #2: left out", right,
     "the fence behind the wait for the operands comes before the first mma as well"},
    {"blackwell blackwell_pair", "tcgen05.fence::after_thread_sync #3: left out", right,
     "the fence in front of the loop orders the loads of others; the operands come by copies, not by tcgen05"},
    {"nvfp4", "tcgen05.fence::after_thread_sync #2: left out", right, "the operands come by copies, not by tcgen05"},
    {"blackwell blackwell_pair", "tcgen05.fence::after_thread_sync #4: left out", right,
     "tcgen05.dealloc is no asynchronous operation"},
    {"nvfp4", "tcgen05.fence::after_thread_sync #3: left out", right, "the same"},
    {"tcgen05_alloc tcgen05_mma " PTXDSL_TCGEN05_WITH_LOADS, "tcgen05.fence::after_thread_sync #2: left out", right,
     "the same"},
    {"blackwell blackwell_pair", "tcgen05.fence::before_thread_sync #3: left out", right,
     "the last load of each tile has such a fence behind it already"},
    {"tcgen05_alloc tcgen05_mma", "tcgen05.fence::before_thread_sync #2: left out", right,
     "the threads have no asynchronous tcgen05 operation of their own that has not been waited for"},
    {"tcgen05_mma", "mbarrier.try_wait.parity.shared::cta.b64: without its tcgen05.fence::after_thread_sync", right,
     "no asynchronous tcgen05 operation follows"},
    {"tcgen05_product_split", "mbarrier.try_wait.parity.shared::cta.b64: without its tcgen05.fence::after_thread_sync",
     right, "the mma behind it follows those of the same thread, which are executed in order"},
    {"tcgen05_alloc", "barrier.cta.sync.aligned #2: left out", right, "nobody uses the tensor memory that is freed"},
    {"tcgen05_mma", "barrier.cta.sync.aligned #3: left out", right,
     "the warp that frees has waited for the mma, and the others do not use the tensor memory"},
    {"tcgen05_product_1 tcgen05_product_4", "barrier.cta.sync.aligned #3: left out", right,
     "the wait behind it is for the first phase, which nobody can miss"},

    {"nvfp4 " PTXDSL_TCGEN05_WITH_LOADS, "tcgen05.fence::before_thread_sync #2: left out", right,
     "wait::ld has completed the loads (PTX ISA 9.7.16.8.5), the barrier behind it orders what is complete (9.7.16.6.3), "
     "and tcgen05.dealloc is no asynchronous operation"},

    // ---- warned of
    {"blackwell blackwell_pair", "tcgen05.fence::before_thread_sync #2: left out", warned, "I11"},

    // ---- missed
    {"any_n", "barrier.cta.sync.aligned: left out", missed,
     "loads of a staging tile against the stores of the next chunk: which thread has which element is not computed"},
    {"any_n", "barrier.cta.sync.aligned #2: left out", missed, "the same, stores against loads"},
    {"turned turned_split", "bar.warp.sync #2: left out", missed, "the same inside a warp, loads against stmatrix"},
    {"early_b", "mbarrier.init.shared::cta.b64: full, one arrival more", missed,
     "two statements arrive, each for slots of its own: both together would make the wrong number"},
    {"early_b", "parity: starts on the other parity", missed,
     "the state is advanced before the first wait: the parity of that is not computed"},
    {"stream_k", "barrier.cta.sync.aligned: left out", missed,
     "which stores the release of a flag is meant to cover is not known"},
    {"blocked_256_even", "barrier.cta.sync.aligned #3: left out", missed, "the same"},
    {"stream_k blocked_256_even", "st.release.gpu.global.u32: left out", missed, "another kernel might set the flag"},
    {"ping_pong", "mbarrier.init.shared::cta.b64: empty, one arrival more", missed,
     "how many of the two warpgroups free a stage is not known: each leaves a run-time number of them to the other"},
    {"stream_k", "advance #2: left out", right,
     "no phase: it turns the order in which the next tile's K is walked, and the sums are those of another order"},
    {"stream_k", "advance #2: no phase toggle", right, "the same"},
    {"ping_pong", "barrier.cta.sync.aligned #2: left out", right,
     "slower: the turns are an order of work, the stages' barriers order the data; arrivals alone complete a barrier"},
};

bool names(const char* list, const std::string& kernel) {
    const std::string all = ' ' + std::string(list) + ' ';
    return all == " * " || all.find(' ' + kernel + ' ') != std::string::npos;
}
const survivor* find(const std::string& kernel, const std::string& key) {
    for (const survivor& s : known)
        if (key == s.what && names(s.kernels, kernel)) return &s;
    return nullptr;
}

struct tally {
    int mutants = 0, refused = 0, warned = 0, missed = 0;
    [[nodiscard]] int wrong() const { return refused + warned + missed; }
    [[nodiscard]] bool enough() const { return refused * 100 >= 95 * wrong(); }
    void operator+=(const tally& t) {
        mutants += t.mutants, refused += t.refused, warned += t.warned, missed += t.missed;
    }
    void print(const char* name) const {
        std::printf("%-24s %5d %5d %7d %6d %6d\n", name, mutants, wrong(), refused, warned, missed);
    }
};

/// Whether the machine finds an error in a mutant when it plays it, as `ptxdsl check` does. Asked of kernels whose
/// blocks hand over by st.async: the verifier's rules count no bytes next to one, the machine does.
bool played_is_refused(const ptxdsl::ir::view& original, const mutation::mutant& x) {
    ptxdsl::ir::view m = original;
    m.words = x.words.data();
    m.n.words = static_cast<std::uint32_t>(x.words.size());
    if (!x.allocations.empty()) m.allocations = x.allocations.data();
    for (const ptxdsl::machine::finding& f : ptxdsl::machine::play(m).findings)
        if (!f.warning) return true;
    return false;
}

/// All mutants of one kernel; `met` collects the rows of `known` that were needed.
tally examine(const mutation::shipped& kernel, std::set<const survivor*>& met) {
    namespace m = mutation;
    const ptxdsl::ir::view v = kernel.program->read();
    REQUIRE(m::verdict_of(v, {"", "", {v.words, v.words + v.n.words}, {}}).silent());
    const bool hands_over = kernel.name.find("split") != std::string::npos;
    tally t;
    for (const m::mutant& x : m::maker(v).all()) {
        CAPTURE(kernel.name, x.what);
        ++t.mutants;
        const m::verdict said = m::verdict_of(v, x);
        if (said.refused || (hands_over && played_is_refused(v, x))) {
            ++t.refused;
            continue;
        }
        const survivor* const row = find(kernel.name, x.key);
        if (row == nullptr) FAIL_CHECK("gets through and is not listed");
        met.insert(row);
        const fate is = row == nullptr ? missed : row->is;
        if (is != advised) CHECK((is == warned) == said.warned);
        t.warned += is == warned, t.missed += is == missed;
    }
    t.print(kernel.name.c_str());
    CHECK(t.enough());
    return t;
}

tally examine_all(const char* family, const mutation::kernel_list& list, std::set<const survivor*>& met) {
    tally sum;
    for (const mutation::shipped& kernel : list) sum += examine(kernel, met);
    sum.print(family);
    return sum;
}

}  // namespace

TEST_CASE("mutants of the shipped kernels are refused") {
    std::set<const survivor*> met;
    std::printf("%-24s %5s %5s %7s %6s %6s\n", "", "all", "wrong", "refused", "warned", "missed");
    tally sum = examine_all("Hopper GEMMs", mutation::hopper_kernels(), met);
    CHECK(sum.enough());
    sum += examine_all("row kernels", mutation::row_kernels(), met);
    const tally blackwell = examine_all("Blackwell", mutation::blackwell_kernels(), met);
    CHECK(blackwell.enough());
    sum += blackwell;
    sum.print("all");
    CHECK(sum.enough());
    for (const survivor& s : known) {
        CAPTURE(s.kernels, s.what, s.why);
        CHECK(met.count(&s) == 1);  // a row that nothing needs any more goes
    }
}
