// SPDX-License-Identifier: Apache-2.0
// What the machine finds: both parties, the schedule and the choices that lead there.
#pragma once

#include <ptxdsl/machine/list.hpp>
#include <ptxdsl/machine/message.hpp>

#include <cstdint>

namespace ptxdsl::machine {

/// What went wrong. `name` and `id_of` give the word and the row of docs/diagnostics.md that the kind belongs to.
enum class fault : std::uint8_t {
    race,                     ///< two threads touch the same bytes, nothing orders them
    copy_in_flight,           ///< bytes are used that a copy may not have brought yet
    overwritten,              ///< bytes are written that somebody may still read
    read_in_flight,           ///< bytes are written that a wgmma may still read
    proxy_fence,              ///< the async proxy meets ordinary writes no fence shows it
    deadlock,                 ///< nobody can go on
    arrivals,                 ///< more arrivals than the phase counts
    no_barrier,               ///< an mbarrier that is not initialised, or not known to be
    barrier_in_use,           ///< an mbarrier initialised or invalidated while others use it
    bytes,                    ///< a phase ends with bytes nobody expects
    gone,                     ///< a block is used that has exited
    cluster_barrier,          ///< arrive and wait do not alternate
    named_barrier,            ///< threads disagree about a barrier's count
    part_of_a_warp,           ///< an aligned instruction runs in part of its warp
    pending_at_exit,          ///< a block leaves with copies under way
    no_tensor_memory,         ///< tensor memory outside of what is allocated
    tensor_memory_used,       ///< tensor memory read or written while another instruction works on it
    tensor_memory_kept,       ///< tensor memory that nobody frees
    accumulator_overwritten,  ///< a product summed up where another one's result still stands
    stored_from,              ///< bytes are written that a bulk store or copy may still read
    multiplied_from,          ///< bytes are written that the fifth-generation tensor core may still read
    store_at_exit,            ///< threads leave while their bulk stores may still read shared memory
    unfenced_product,         ///< a product of the tensor core meets ordinary writes no fence shows it
    unfenced_copy,            ///< a copy replaces ordinary writes no fence shows it
    named_deadlock,           ///< nobody can go on, and threads wait for a named barrier
    block_deadlock,           ///< the same with a barrier of the whole block
    cluster_deadlock,         ///< the same with the cluster barrier
    product_deadlock,         ///< the same with wgmma that not all warps of the warpgroup have started
    column_deadlock,          ///< the same with tensor memory that nobody frees
    register_budget,          ///< setmaxnreg by part of a warpgroup
    count_,
};

/// The word for a fault and its row of docs/diagnostics.md.
struct fault_row {
    const char* name;
    const char* id;
};
inline constexpr fault_row fault_rows[] = {
    {"race", "E07"},
    {"copy in flight", "E07"},
    {"overwritten while read", "F13"},
    {"overwritten while read asynchronously", "D14"},
    {"proxy fence", "F05"},
    {"deadlock", "E01"},
    {"too many arrivals", "E01"},
    {"mbarrier not initialised", "E03"},
    {"mbarrier used", "E12"},
    {"bytes of a phase", "E04"},
    {"block gone", "G04"},
    {"cluster barrier", "G05"},
    {"named barrier", "H02"},
    {"part of a warp", "H05"},
    {"pending at exit", "G04"},
    {"no tensor memory there", "I02"},
    {"tensor memory", "I11"},
    {"tensor memory kept", "I03"},
    {"accumulator overwritten", "I07"},
    {"overwritten while read asynchronously", "F04"},
    {"overwritten while read asynchronously", "I12"},
    {"pending at exit", "F04"},
    {"proxy fence", "D11"},
    {"proxy fence", "F13"},
    {"deadlock", "H02"},
    {"deadlock", "H05"},
    {"deadlock", "G05"},
    {"deadlock", "D12"},
    {"deadlock", "I03"},
    {"setmaxnreg in part of a warpgroup", "H04"},
};
static_assert(sizeof(fault_rows) / sizeof(fault_rows[0]) == static_cast<unsigned>(fault::count_));

/// The kind in a few words. Kinds that differ in their row only have the same ones.
[[nodiscard]] constexpr const char* name(fault f) noexcept { return fault_rows[static_cast<unsigned>(f)].name; }
/// The row of docs/diagnostics.md nearest to the fault.
[[nodiscard]] constexpr const char* id_of(fault f) noexcept { return fault_rows[static_cast<unsigned>(f)].id; }

/// One of the two that a finding is about.
struct party {
    std::uint32_t where = 0;  ///< location index; meaningless where `known` is false
    bool known = false;
    message who;  ///< "warp 4", "block 1, warp 0, lane 0"
};

/// What a kernel parameter, or a piece of one, is in a run.
struct chosen_parameter {
    std::uint64_t value = 0;
    std::uint32_t symbol = 0;  ///< of the parameter
    std::uint64_t offset = 0;  ///< bytes into it
    bool counts = false;       ///< loops or conditions depend on it
};

/// What the player chose before a run: with it the run is the same again.
struct choices {
    list<chosen_parameter> parameters;  ///< those that something loads
    std::uint32_t schedule = 0;         ///< number of the schedule
    std::uint64_t seed = 0;             ///< decides unknown conditions and, with it, the schedule
    bool zero_rounds = false;           ///< some loop over a parameter runs zero times
};

/// What a step of a trace did. `words` (machine/words.hpp) says it.
enum class deed : std::uint8_t {
    copies,          ///< `number` bytes to `address`
    arrives,         ///< at the mbarrier `address`, for its phase `number`
    initialises,     ///< the mbarrier `address`, for `number` arrivals
    sees_phase,      ///< phase `number` of the mbarrier `address`
    comes_to_named,  ///< named barrier `number`
    arrives_at_cluster,
    allocates,  ///< `number` columns of tensor memory from column `address`
    commits,    ///< what the tensor core was given, to the mbarrier `address`
};

/// One step of a trace that synchronises or moves data.
struct event {
    std::uint32_t where = 0;
    std::uint32_t warp = 0;  ///< in its block
    std::uint32_t block = 0;
    std::uint32_t lanes = 0;
    deed what = deed::copies;
    std::uint32_t address = 0;  ///< of shared memory
    std::uint64_t number = 0;
};

struct finding {
    fault kind = fault::race;
    bool warning = false;
    bool disputed = false;  ///< others do so, and their kernels run: a fence of the proxies behind the meeting, none
                            ///< between a store and the copy that replaces it, copies one on top of the other, an
                            ///< mbarrier that a whole warp initialises; errors in kernels, warnings in texts
    party first;            ///< who comes too early, or waits
    party second;           ///< whom it meets
    message text;
    choices run;
    list<event> trace;  ///< the last events before it, oldest first
};

/// What is known of a call whose function the program does not have: that of a text is elsewhere in its module.
struct known_call {
    std::uint32_t where = 0;  ///< location of the call
    bool returns = true;      ///< false: it ends the threads (`__assertfail`); true: it only computes
};

/// What was not followed, and why.
struct uncovered {
    std::uint32_t where = 0;
    bool placed = false;
    message reason;
    bool ends = false;  ///< runs ended there; else they went on without it
};

/// What was followed of an mbarrier, or of another allocation of shared memory.
struct followed_object {
    std::uint32_t address = 0;
    bool is_barrier = false;
    std::uint32_t phases = 0;  ///< of a barrier: most in one run
    bool used = false;         ///< of another allocation: something touched its bytes
};
/// What was followed of the warps `first` to `last` of a block, in all runs together.
struct followed_warps {
    std::uint32_t first = 0, last = 0;
    std::uint64_t steps = 0;    ///< instructions of each, most in one run
    std::uint32_t stopped = 0;  ///< runs that ended before they exited
};

/// What playing a kernel gave.
struct result {
    list<finding> findings;
    list<uncovered> coverage;
    list<followed_object> objects;  ///< with `options::objects`
    list<followed_warps> warps;     ///< the same
    std::uint32_t runs = 0;
    std::uint32_t left_out = 0;  ///< runs that were planned, and not made since those before took `options::most_work`
    std::uint64_t steps = 0;
    std::uint64_t work = 0;  ///< what `options::most_work` counts
    bool complete = true;    ///< every run came to an end
    bool stopped = false;    ///< `limits::stop` has ended a run, and those behind it were not made

    [[nodiscard]] constexpr bool clean() const noexcept { return findings.empty(); }
};

}  // namespace ptxdsl::machine
