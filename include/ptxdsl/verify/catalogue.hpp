// SPDX-License-Identifier: Apache-2.0
// What the verifier says: a row for each sentence, by id (docs/misuse has a page for each id). A rule names the row and
// gives the pieces; whether a finding stops a build, and in whose words its advice is, stands here.
//
//     E12 error: mbarrier '{}' is initialised a second time; invalidate it first (@k.mbarrier_inval@mbarrier.inval@), …
//
// - `error` stops a build, a `warning` is reported; `error, warning in texts` tells them apart for texts of others.
//   `mild in texts`: there a warning where compilers keep accumulators in memory (for a debugger, in functions).
// - `{}` stands for the next piece.
// - `@…@…@` is advice: as calls of the builder, and the same as instructions, for readers of PTX.
//
// One literal a row: a struct with members costs the umbrella header three times as much.
#pragma once

namespace ptxdsl::verify::catalogue {

// clang-format off

inline constexpr char A06_partly_written[] =
    "A06 error: register %{} ({}) is read here by all threads, and only those have written it for which the guard held; give it a value in the others too";
inline constexpr char A06_decides[] =
    "A06 error: register %{} ({}) is read here, and nothing has written it; give it a value on every path first";
inline constexpr char A06_unwritten[] =
    "A06 error, warning in texts: register %{} ({}) is read here, and nothing has written it; give it a value on every path first";
inline constexpr char A12_target[] =
    "A12 error: .version {}.{} does not know target sm_{}{}; it needs {}.{}";

inline constexpr char B03_access[] =
    "B03 error: {} of {} bytes at byte {} of shared memory, which is not a multiple of {}";
inline constexpr char B07_group_1[] =
    "B07 error: this copy completes on a barrier of another block; with cta_group::1 the barrier is in the block of the destination";

inline constexpr char C01_swizzle[] =
    "C01 error: tile '{}' lies at byte {} of shared memory, but its swizzle repeats every {} bytes: the base must be a multiple of that";
inline constexpr char C01_alignment[] =
    "C01 error: '{}' lies at byte {} of shared memory, but needs an alignment of {}";
inline constexpr char C03_stage[] =
    "C03 error: stage {} of '{}', which has {}";
inline constexpr char C03_part[] =
    "C03 error: warp {} takes part {} of '{}', which has parts 0 to {} (rows_at)";
inline constexpr char C04_size[] =
    "C04 error: shared memory: {} bytes, a block of sm_{} has {}:";
inline constexpr char C05_overlap[] =
    "C05 error: '{}' (bytes {} to {}) overlaps ";
inline constexpr char C08_end[] =
    "C08 error: {} {} bytes from byte {} of '{}', which has {}: it goes {} bytes past its end";

inline constexpr char D08_no_fence[] =
    "D08 error, mild in texts: no wgmma.fence before this wgmma: the hardware may read registers and shared memory too early; call @k.wgmma.fence()@wgmma.fence.sync.aligned@ first";
inline constexpr char D08_other_shape[] =
    "D08 error, mild in texts: wgmma of shape {} on accumulator '%{}' after one of shape {} needs a wgmma.fence between";
inline constexpr char D08_written[] =
    "D08 error, mild in texts: {} '%{}' was written since the last wgmma.fence; fence again before this wgmma";
inline constexpr char D08_read[] =
    "D08 warning: {} '%{}' was read since the last wgmma.fence; ptxas injects one here";
inline constexpr char D09_pending_a[] =
    "D09 error, mild in texts: A operand '%{}' is an accumulator that an earlier wgmma still writes; wait for it: @k.wgmma.wait_group<0>()@wgmma.wait_group.sync.aligned 0@";
inline constexpr char D09_in_flight[] =
    "D09 error, mild in texts: {} '%{}' is {} while a wgmma that uses it is pending: @k.wgmma.wait_group<0>()@wgmma.wait_group.sync.aligned 0@ comes first";
inline constexpr char D09_not_committed[] =
    "D09 error, mild in texts: {} '%{}' is {} while a wgmma that uses it is pending: @k.wgmma.commit_group(), then k.wgmma.wait_group<0>()@wgmma.commit_group.sync.aligned, then wgmma.wait_group.sync.aligned 0@ comes first";
inline constexpr char D10_commits_nothing[] =
    "D10 warning: wgmma.commit_group commits nothing: no wgmma before it on any path";
inline constexpr char D10_waits_for_nothing[] =
    "D10 warning: wgmma.wait_group waits for nothing: no group is pending on any path";
inline constexpr char D10_in_flight[] =
    "D10 error, mild in texts: the kernel can end while this wgmma on '%{}' is pending: @wait_group<0>@wgmma.wait_group.sync.aligned 0@ before the threads exit";
inline constexpr char D10_not_committed[] =
    "D10 error, mild in texts: the kernel can end while this wgmma on '%{}' is pending: @commit_group, then wait_group<0>@wgmma.commit_group.sync.aligned, then wgmma.wait_group.sync.aligned 0@ before the threads exit";
inline constexpr char D11_not_fenced[] =
    "D11 error, mild in texts: '{}' was written with ordinary stores and this wgmma reads it through the async proxy: every writer needs fence.proxy.async, then all meet at a barrier";
inline constexpr char D11_not_met[] =
    "D11 error, mild in texts: '{}' was written by several threads and fenced, but this wgmma reads it before they have met: a barrier comes between the fence and the read";
inline constexpr char D12_one_thread[] =
    "D12 error, mild in texts: wgmma is executed by one thread here; all 128 threads of a warpgroup execute it together";
inline constexpr char D12_threads[] =
    "D12 error, mild in texts: wgmma is executed by {} threads here, which are no whole number of warpgroups of 128";
inline constexpr char D12_first[] =
    "D12 error, mild in texts: the threads that execute wgmma here begin with thread {} of the block; a warpgroup is four warps from one whose number is a multiple of 4, so from a multiple of 128";
inline constexpr char D14_overwritten[] =
    "D14 error, mild in texts: '{}' is {} while a wgmma may still read it; @k.wgmma.wait_group<0>()@wgmma.wait_group.sync.aligned 0@ first";
inline constexpr char D14_freed[] =
    "D14 error, mild in texts: this frees a slot of pipeline '{}' while a wgmma may still read it: @k.wgmma.wait_group@wgmma.wait_group.sync.aligned@ comes first, for all groups but those of later slots; read at {}";

inline constexpr char E01_handed_over_twice[] =
    "E01 error: pipeline '{}': the slot handed over here is the one of the round before, though another was waited for since ({}): its phase gets one arrival too many@ (k.advance)@@";
inline constexpr char E01_frees_other[] =
    "E01 error: this frees slot {} of pipeline '{}' in a round that has waited for slot {} ({}): its phase gets an arrival too many, and the slot that was used none";
inline constexpr char E01_in_a_row[] =
    "E01 error: this ends a second phase of mbarrier '{}' before anyone can have seen the end of the first: a phase counts what one of the two arrivals makes, and nothing is waited for between them; the other arrival is at ";
inline constexpr char E01_parts[] =
    "E01 error: mbarrier '{}' of pipeline '{}' expects {}{} per phase, but each slot that is waited for is freed once, by {}: the phase never ends; init with {}";
inline constexpr char E01_nobody_fills[] =
    "E01 error: this waits for a slot of pipeline '{}' that nothing fills: it waits for ever";
inline constexpr char E01_nobody_frees[] =
    "E01 error: this waits for a free slot of pipeline '{}', but nothing frees any: with more than {} slots filled it waits for ever";
inline constexpr char E01_adds_nothing[] =
    "E01 error: {} expects {} per phase, but its code provides {}: cp.async.mbarrier.arrive adds nothing to the count, cp.async.mbarrier.arrive.noinc does";
inline constexpr char E01_one_arrives[] =
    "E01 error: {} expects {} per phase, but its code provides {}: init with {} or let all {} threads arrive";
inline constexpr char E01_arrivals[] =
    "E01 error: {} expects {} per phase, but its code provides {}: init with {} or change who arrives@ (k.assume_arrivals states what the verifier cannot count)@@";
inline constexpr char E01_last_phase[] =
    "E01 error: {} is waited for in {} phases one after the other, but all its arrivals, of which {} end a phase, are {}: the last wait never returns";
inline constexpr char E01_early[] =
    "E01 error: {} expects {} arrivals per phase, but all threads wait here for phase {}, and the code before provides {} arrivals: the wait never returns";
inline constexpr char E01_missed[] =
    "E01 error: {}: this waits for the first phase, and the arrivals before it can end the second as well: a thread that comes late waits for ever; a phase is waited for before the next one begins";
inline constexpr char E01_no_arrival[] =
    "E01 error: {} expects {} arrivals per phase, but nothing arrives on it: expect_tx counts bytes only, use @mbarrier_arrive_expect_tx@mbarrier.arrive.expect_tx@";
inline constexpr char E01_lonely_wait[] =
    "E01 error: this waits for a phase of {}, and nothing arrives on it: it waits for ever";
inline constexpr char E02_count[] =
    "E02 error: mbarrier.init with a count of {}; 1 to {} arrivals a phase are possible";
inline constexpr char E02_count_of[] =
    "E02 error: mbarrier '{}' is initialised for {} arrivals a phase; 1 to {} are possible";
inline constexpr char E02_misaligned[] =
    "E02 error: mbarrier '{}' lies at byte {} of shared memory; an mbarrier is 8-byte aligned";
inline constexpr char E02_misplaced[] =
    "E02 error: this mbarrier lies at byte {} of shared memory; it must be a multiple of {}";
inline constexpr char E03_not_met[] =
    "E03 error: mbarrier '{}' is used here by threads that have not met the one that initialised it: @k.bar_sync()@bar.sync 0@ (in a cluster: the cluster barrier) comes between";
inline constexpr char E03_stage[] =
    "E03 error: mbarrier '{}'{} is used here, but never initialised: @k.mbarrier_init@mbarrier.init@";
inline constexpr char E03_no_fence[] =
    "E03 warning: this copy completes on an mbarrier, and no fence comes between its initialisation and copies: @k.fence_mbarrier_init(), or k.fence_proxy_async()@fence.mbarrier_init.release.cluster, or fence.proxy.async@";
inline constexpr char E03_none[] =
    "E03 error: this waits for an mbarrier, and the kernel initialises none: @k.mbarrier_init@mbarrier.init@";
inline constexpr char E03_pipeline[] =
    "E03 error: the barriers of pipeline '{}' are used, but never initialised: @k.init(pipe)@mbarrier.init@ in one thread";
inline constexpr char E04_too_few[] =
    "E04 error: {} expects {} bytes a phase, but the copies on it bring {}: the phase never ends@; take the bytes from the tiles (mbarrier_arrive_expect_tx(bar, a, b))@@";
inline constexpr char E04_too_many[] =
    "E04 error: {} expects {} bytes a phase, but the copies on it bring {}: it ends before the data is there@; take the bytes from the tiles (mbarrier_arrive_expect_tx(bar, a, b))@@";
inline constexpr char E05_nobody_expects[] =
    "E05 error: a copy completes on {}, on which nobody expects bytes: arrive with expect_tx first";
inline constexpr char E05_no_copy[] =
    "E05 error: {} expects {} bytes, but no copy completes on it: its phase never ends";
inline constexpr char E05_no_copy_of_register[] =
    "E05 error: {} expects the bytes that a register counts, but no copy completes on it: its phase never ends";
inline constexpr char E06_bytes[] =
    "E06 error: mbarrier '{}' expects {} bytes in a phase; it counts at most {}; split the copy over stages";
inline constexpr char E07_not_met[] =
    "E07 error: threads read here what others have written to '{}', and have not met them since: a barrier comes between (@k.bar_sync@a named barrier@)";
inline constexpr char E07_races[] =
    "E07 error: '{}' is read here by warps that have not met the one that wrote it ({}): a barrier comes between (@k.bar_sync@a named barrier@)";
inline constexpr char E07_written_over[] =
    "E07 error: '{}' is written here while other warps may still read it ({}): a barrier comes between (@k.bar_sync@a named barrier@)";
inline constexpr char E07_group_pending[] =
    "E07 error: '{}' is read here while the cp.async that brings it ({}) may be under way: its group is none of those that have been waited for";
inline constexpr char E07_relaxed[] =
    "E07 error: '{}' is read here behind a barrier.cluster.arrive.relaxed ({}), which makes no write visible to other blocks: arrive without .relaxed, or behind a fence.acq_rel.cluster";
inline constexpr char E07_others_wait[] =
    "E07 error: '{}' is read here by warps that neither have waited for the copies that fill it nor met those that have ({}): all wait, or a barrier comes between (@k.bar_sync@a named barrier@)";
inline constexpr char E07_other_slot[] =
    "E07 error: stage {} of '{}' is read here in every round, and each round waits for another slot of pipeline '{}' ({}): the copy for the next round may be under way; read the slot that was waited for";
inline constexpr char E07_not_waited_for_peers[] =
    "E07 error: '{}' is read behind a barrier.cluster.arrive for which nobody has waited: blocks of the cluster may still be writing to it; @k.barrier_cluster_wait()@barrier.cluster.wait@ comes before";
inline constexpr char E07_under_way[] =
    "E07 error: {} '{}' while the copy that fills it may be under way: a wait on its mbarrier comes before@ (k.wait(bar, parity))@@, and for other threads a barrier behind that";
inline constexpr char E07_no_wait_for[] =
    "E07 error: '{}' is read, and nothing in this kernel waits for the copies that fill it: @k.wait(bar, parity)@mbarrier.try_wait@ on mbarrier '{}' comes before";
inline constexpr char E07_own_cp_async[] =
    "E07 error: this reads what a cp.async before it brings ({}), which may be under way: cp.async.wait_all, or a group and cp.async.wait_group, comes before";
inline constexpr char E07_no_wait[] =
    "E07 error: slots of pipeline '{}' are filled here, but nothing waits until they are: @k.wait_full@mbarrier.try_wait@";
inline constexpr char E07_cp_async_read[] =
    "E07 error: shared memory is read, and nothing in this kernel waits for its cp.async ({}): cp.async.wait_all, or a group and cp.async.wait_group, and a barrier come before";
inline constexpr char E07_cp_async_perhaps[] =
    "E07 warning: shared memory is read, and nothing in this kernel waits for its cp.async ({}): cp.async.wait_all, or a group and cp.async.wait_group, and a barrier come before";
inline constexpr char E07_bulk_read[] =
    "E07 error: shared memory is read, and nothing in this kernel waits on the mbarrier of its bulk copies ({}): @k.wait(bar, parity)@mbarrier.try_wait@ comes before";
inline constexpr char E07_bulk_perhaps[] =
    "E07 warning: shared memory is read, and nothing in this kernel waits on the mbarrier of its bulk copies ({}): @k.wait(bar, parity)@mbarrier.try_wait@ comes before";
inline constexpr char E08_same_slot[] =
    "E08 error: pipeline '{}: this wait is for the same slot and phase as the one before, which has been handed over since ({}): it returns at once; the state advances behind each hand-over@ (k.advance)@@";
inline constexpr char E08_same_parity[] =
    "E08 error: pipeline '{}: the slot has returned to the first one since the last wait, and the parity is that of the round before: it changes with each round@ (k.advance)@@";
inline constexpr char E08_filled_slot[] =
    "E08 error: pipeline '{}: this slot has been filled before without a wait, and this wait for the phase before the first returns at once: the state advances with each slot that is filled@ (k.advance)@@";
inline constexpr char E08_filled_round[] =
    "E08 error: pipeline '{}: the slot has returned to the first one, which has been filled before, and the parity is that of the round before: it changes with each round@ (k.advance)@@";
inline constexpr char E08_parity[] =
    "E08 error: {} completes a phase in every round of its loop, but this waits for parity {} in all of them, so every other wait does not wait; flip the parity each round @(k.xor_, or a pipeline state)@(xor.b32)@";
inline constexpr char E08_again[] =
    "E08 error: {}: this waits for parity {} as the wait before did ({}), though the arrivals between end a phase: it returns at once, or never";
inline constexpr char E08_unseen[] =
    "E08 error: {}: one thread has waited for the phase before ({}), and others that have not met it wait for parity 1 here, which counts as complete until then; @k.bar_sync()@bar.sync 0@ comes between";
inline constexpr char E09_other_barrier[] =
    "E09 error: this waits with the state of an arrival at another barrier ({}): a state belongs to the barrier, and the stage, whose arrive returned it";
inline constexpr char E11_never_read[] =
    "E11 error: the predicate of this mbarrier wait is never read: the thread goes on whether or not the phase is complete; loop on it@, or use k.wait@@";
inline constexpr char E12_twice[] =
    "E12 error: mbarrier '{}' is initialised a second time; invalidate it first (@k.mbarrier_inval@mbarrier.inval@), or initialise each stage once";
inline constexpr char E12_all_threads[] =
    "E12 error: {} threads initialise this mbarrier, and the second one finds it initialised: one does it@: k.single_thread(elected, [&] { ... })@, such as the one that elect.sync picks@";
inline constexpr char E12_waited_for[] =
    "E12 error: mbarrier '{}' is invalidated by one thread while others may still wait for it; a barrier comes between: @k.bar_sync()@bar.sync 0@";
inline constexpr char E12_gone[] =
    "E12 error: mbarrier '{}' is used here after it was invalidated; initialise it again first";
inline constexpr char E13_too_many[] =
    "E13 error: this goes through {} slots of pipeline '{}' before it returns to the first, which has {}: all states of a pipeline go through the same slots";
inline constexpr char E13_elsewhere[] =
    "E13 error: this goes through {} slots of pipeline '{}' before it returns to the first, elsewhere they are {}: all states of a pipeline go through the same slots";
inline constexpr char E13_slot_by_parity[] =
    "E13 error: pipeline '{}': the slot is chosen by what waits take for the parity; a state has both (state.slot(), state.parity())";
inline constexpr char E13_parity_by_slot[] =
    "E13 error: pipeline '{}': this waits for a parity that is the number of a slot; a state has both (state.slot(), state.parity())";
inline constexpr char E14_flag[] =
    "E14 error: one thread sets this flag back while others that load it in a loop until it changes may not have seen that: they can wait for ever; a barrier of them comes before (@k.bar_sync@a named barrier@)";
inline constexpr char E14_other_warps[] =
    "E14 error: one thread frees a slot of pipeline '{}' while other warps may still wait for it to fill: they can miss the phase; @k.bar_sync@a named barrier@ over the role comes first";
inline constexpr char E14_other_lanes[] =
    "E14 warning: one thread frees a slot of pipeline '{}' while other lanes may still wait for it to fill; @k.bar_warp_sync()@bar.warp.sync@ comes first";
inline constexpr char E15_full[] =
    "E15 error: the first wait for a full slot of pipeline '{}' has parity 1, the phase before the first, which counts as complete: it returns at once; a consumer starts on parity 0";
inline constexpr char E15_free[] =
    "E15 error: the first wait for a free slot of pipeline '{}' has parity 0, and slots are freed only after they were filled: it never returns; a producer starts on parity 1";
inline constexpr char E15_void[] =
    "E15 error: the first wait for mbarrier '{}' has parity 1, the phase before the first, which counts as complete: it returns at once, and '{}' is read ({}) before any copy has come; the first phase has parity 0";
inline constexpr char E16_own_block[] =
    "E16 error: this copy fills the slot of pipeline '{}' in other blocks too, but only the own block says when its slot is free: consumers arrive on the empty barrier of every block that sends (@k.mapa@mapa@), which counts them all";

inline constexpr char F04_not_met[] =
    "F04 error: '{}' is written by threads that have not met the one that waited for its bulk store: a barrier comes between the wait_group_read and the writes";
inline constexpr char F04_not_drained[] =
    "F04 error: '{}' is {} while a bulk store may still read it; @wait_group_read<0>@cp.async.bulk.wait_group.read 0@ first";
inline constexpr char F04_not_committed[] =
    "F04 error: '{}' is {} while a bulk store may still read it; @commit_group and wait_group_read<0>@cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0@ first";
inline constexpr char F04_exit[] =
    "F04 error, warning in texts: the block can exit while this bulk store still reads '{}': @wait_group_read<0>@cp.async.bulk.wait_group.read 0@ before the exit";
inline constexpr char F04_exit_not_committed[] =
    "F04 error, warning in texts: the block can exit while this bulk store still reads '{}': @commit_group, then wait_group_read<0>@cp.async.bulk.commit_group, then cp.async.bulk.wait_group.read 0@ before the exit";
inline constexpr char F05_not_fenced[] =
    "F05 error: '{}' was written with ordinary stores and this copy reads it through the async proxy: every writer needs fence.proxy.async, then all meet at a barrier";
inline constexpr char F05_not_met[] =
    "F05 error: '{}' was written by several threads and fenced, but this copy reads it before they have met: a barrier comes between the fence and the read";
inline constexpr char F06_nobody[] =
    "F06 error: multicast mask 0 delivers to nobody";
inline constexpr char F06_outside[] =
    "F06 error: multicast mask {} names a block outside the cluster of {}";
inline constexpr char F07_all_threads[] =
    "F07 error: all {} threads issue this bulk copy with the same operands; issue it in one@: k.single_thread(elected, [&] { ... })@, such as the one that elect.sync picks@";
inline constexpr char F09_size[] =
    "F09 error: a bulk copy moves a multiple of 16 bytes, this one {}";
inline constexpr char F09_destination[] =
    "F09 error: the destination of this copy lies at byte {} of shared memory; it must be a multiple of {}";
inline constexpr char F09_source[] =
    "F09 error: the source of this copy lies at byte {} of shared memory; it must be a multiple of {}";
inline constexpr char F10_changed_map[] =
    "F10 error: this tensor map was changed, and nothing has made the change visible to copies: @k.fence_proxy_tensormap_acquire<px::gpu>(map)@fence.proxy.tensormap::generic.acquire.gpu@";
inline constexpr char F13_still_read[] =
    "F13 error: '{}' is copied into here while threads that read it before may not have finished: a barrier comes between (@k.bar_sync@a named barrier@)";
inline constexpr char F13_read_before[] =
    "F13 error: '{}' is copied into here while other warps may still read what was there ({}): a barrier comes between (@k.bar_sync@a named barrier@)";
inline constexpr char F13_live_slot[] =
    "F13 error: stage {} of '{}' is written here while the producer of pipeline '{}' goes on filling slots that were freed ({}): it may be filling this one; keep a tile of its own for it";
inline constexpr char F13_written[] =
    "F13 error: '{}' was written with ordinary stores and is copied into here through the async proxy: its writers need fence.proxy.async, then all meet at a barrier";
inline constexpr char F13_refilled[] =
    "F13 error: slots of pipeline '{}' are filled again here without a wait until they are free: @k.wait_empty@mbarrier.try_wait@; freed at {}";
inline constexpr char F14_allowed[] =
    "F14 error: '{}' is {} while its bulk store is one of the groups that the last wait_group still allows; wait for fewer";
inline constexpr char F15_in_use[] =
    "F15 error: this tensor map is changed while a copy that reads it may be under way: wait for the copy first";
inline constexpr char F15_other_map[] =
    "F15 error: this tensor map was changed, and the fence behind the change names another one: each map needs its own @k.fence_proxy_tensormap_acquire<px::gpu>(map)@fence.proxy.tensormap::generic.acquire.gpu@";
inline constexpr char F16_stride[] =
    "F16 error: stages of '{}' are {} bytes apart, so stage 1 is not aligned to {} bytes; round the stage up";

inline constexpr char G03_no_cluster[] =
    "G03 error: block {} of a cluster, which has {} at most; ranks are 0 to {}";
inline constexpr char G03_rank[] =
    "G03 error: block {} of a cluster of {}; ranks are 0 to {}";
inline constexpr char G04_nobody_waits[] =
    "G04 error: blocks of this cluster write into each other's shared memory and exit behind this barrier.cluster.arrive, for which nobody waits: a block may be gone while a peer still writes into it; @k.barrier_cluster_wait()@barrier.cluster.wait@ comes before the exit";
inline constexpr char G04_gone[] =
    "G04 error: this reaches into block {} of the cluster, which has exited ({}): a block stays until its peers are done with it, behind a barrier.cluster that all of them wait for";
inline constexpr char G04_frees_late[] =
    "G04 error: slots of pipeline '{}' are freed here in other blocks of the cluster, and nothing makes those stay until the last one is: @k.barrier_cluster_arrive() and k.barrier_cluster_wait()@barrier.cluster.arrive and barrier.cluster.wait@ come at the end";
inline constexpr char G04_may_be_gone[] =
    "G04 error: this uses the shared memory of another block of the cluster, which may have exited: nothing makes a block wait for its peers before the end; @k.barrier_cluster_arrive() and k.barrier_cluster_wait()@barrier.cluster.arrive and barrier.cluster.wait@ come behind it";
inline constexpr char G05_second_arrive[] =
    "G05 error: second barrier.cluster.arrive without a barrier.cluster.wait between";
inline constexpr char G05_no_arrive[] =
    "G05 error: barrier.cluster.wait without a barrier.cluster.arrive before it";
inline constexpr char G06_before_entry[] =
    "G06 error: this reaches into another block of the cluster, which may not have started: barrier.cluster.arrive and wait come before the first such access";
inline constexpr char G07_scope[] =
    "G07 warning: scope .cta orders for the own block, and this address lies in another one: its threads are in no common scope@; take px::cluster@; .cluster names both@";
inline constexpr char G07_release[] =
    "G07 error: this arrive releases to the own block (.release.cta), but the stores before it went into another one: @k.mbarrier_arrive<px::release, px::cluster>(bar)@mbarrier.arrive.release.cluster@";
inline constexpr char G07_perhaps[] =
    "G07 warning: this arrive releases to the own block (.release.cta), but the stores before it went into another one: @k.mbarrier_arrive<px::release, px::cluster>(bar)@mbarrier.arrive.release.cluster@";
inline constexpr char G08_own_store[] =
    "G08 warning: ld.global.nc reads here what the thread has stored before ({}): .nc promises that nobody writes there while the kernel runs, and may return the old value; load without nc";
inline constexpr char G08_nc[] =
    "G08 warning: ld.global.nc follows griddepcontrol.wait, but ptxas may move it in front: .nc promises that nobody writes there while this kernel runs, and the kernel ahead still does; load without nc, or constants before the wait";

inline constexpr char H01_warps[] =
    "H01 error: named barrier {} counts {} threads; it counts whole warps, a multiple of 32";
inline constexpr char H01_count[] =
    "H01 error: named barrier {} counts {} threads, but the block has {}";
inline constexpr char H01_number[] =
    "H01 error: barrier id {}; a block has named barriers 0 to 15";
inline constexpr char H02_never_enough[] =
    "H02 error: named barrier {} counts {} threads, but no more than {} can arrive before those that wait here go on: it never completes";
inline constexpr char H02_groups[] =
    "H02 error: this barrier counts {} threads, and the {} threads that execute it do not make whole groups of that size: some wait for ever";
inline constexpr char H02_total[] =
    "H02 error: named barrier {} counts {} threads, but at most {} arrive at it: it never completes; the count is the total over all roles";
inline constexpr char H03_aligned[] =
    "H03 error: {} with .aligned is executed by all lanes of a warp together, but only a part of them gets here";
inline constexpr char H03_waits[] =
    "H03 error: the mask names all 32 lanes of the warp, but a part of them executes this: it waits for lanes that wait at {}; name the lanes that do";
inline constexpr char H03_mask[] =
    "H03 warning: the mask names all 32 lanes, but a part of the warp executes this and waits until the others have left; name the lanes that do";
inline constexpr char H03_left_out[] =
    "H03 error: {} is executed by all 32 lanes of the warp, but its mask leaves some of them out; a lane must be in the mask it names";
inline constexpr char H04_number[] =
    "H04 error: setmaxnreg {}; it takes a multiple of 8 from 24 to 256";
inline constexpr char H04_sum[] =
    "H04 error: the roles of this block ask for {} registers (";
inline constexpr char H04_direction[] =
    "H04 error: setmaxnreg.{} {}, but threads of this kernel start with {} registers";
inline constexpr char H04_warp_missing[] =
    "H04 error: all warps of a warpgroup execute setmaxnreg together, but {} warp of threads {} to {} never comes here: the others wait for it for ever; move it to where the whole warpgroup is";
inline constexpr char H04_warps_missing[] =
    "H04 error: all warps of a warpgroup execute setmaxnreg together, but {} warps of threads {} to {} never come here: the others wait for them for ever; move it to where the whole warpgroup is";
inline constexpr char H05_one_thread[] =
    "H05 error: barrier 0 waits for all {} threads of the block, but one thread executes it here; move it out of the single-thread region";
inline constexpr char H05_apart[] =
    "H05 error: barrier 0 waits for all {} threads of the block, but only {} of them execute this one, while the others wait at {}: from here on they are a barrier apart; use a named barrier: @k.bar_sync<1, {}>()@bar.sync 1, {}@";
inline constexpr char H05_role[] =
    "H05 error: barrier 0 waits for all {} threads of the block, but only the {} of this role execute it; use a named barrier: @k.bar_sync<1, {}>()@bar.sync 1, {}@";
inline constexpr char H07_ignored[] =
    "H07 error, warning in texts: setmaxnreg is ignored in this kernel: the entry register count is not fixed; give maxnreg, or reqntid (maxntid) together with minnctapersm";

inline constexpr char I01_group[] =
    "I01 error: tcgen05 with cta_group::{} in a kernel that uses cta_group::{}; all its tcgen05 instructions have one";
inline constexpr char I02_columns[] =
    "I02 error: {} columns of tensor memory are live here; there are 512";
inline constexpr char I03_relinquished[] =
    "I03 error: tcgen05.alloc after relinquish_alloc_permit: this block may allocate no more";
inline constexpr char I03_still_loaded[] =
    "I03 error: tensor memory is freed while other warps may still load from it: a barrier comes between (@k.bar_sync@a named barrier@)";
inline constexpr char I03_twice[] =
    "I03 error: tensor memory '%{}' is freed a second time";
inline constexpr char I03_other_size[] =
    "I03 error: this frees {} columns, {} were allocated";
inline constexpr char I03_never_freed[] =
    "I03 error: this tensor memory is never freed: @k.tcgen05.dealloc(memory)@tcgen05.dealloc@ before the kernel ends";
inline constexpr char I03_not_allocated[] =
    "I03 error: tensor memory is freed here that this kernel has not allocated: @k.tcgen05.alloc(slot)@tcgen05.alloc@";
inline constexpr char I08_not_arrived[] =
    "I08 error: register %{} is read before its tcgen05.ld has arrived: @k.tcgen05.wait_ld()@tcgen05.wait::ld.sync.aligned@ comes first";
inline constexpr char I08_store[] =
    "I08 error: tcgen05.ld of columns that a tcgen05.st before it wrote, without @k.tcgen05.wait_st()@tcgen05.wait::st.sync.aligned@ between";
inline constexpr char I08_no_wait[] =
    "I08 error: tcgen05.ld in a kernel that never waits for one: @k.tcgen05.wait_ld()@tcgen05.wait::ld.sync.aligned@ comes before its registers are read";
inline constexpr char I08_no_wait_for_stores[] =
    "I08 warning: nothing in this kernel waits for its tcgen05.st: @k.tcgen05.wait_st()@tcgen05.wait::st.sync.aligned@ comes before the columns are used";
inline constexpr char I10_quarter[] =
    "I10 error: {} threads use the lanes of one warp here; each warp has its own: @k.tcgen05.quarter(memory, warp) with the number of the warp@bits 16 to 31 of the address are 32 times its number@";
inline constexpr char I10_other_lanes[] =
    "I10 error: warp {} uses lanes {} to {} of tensor memory here, and can reach lanes {} to {} only: @k.tcgen05.quarter(memory, warp) with its own number@bits 16 to 31 of the address are 32 times its number@";
inline constexpr char I11_no_fence_before[] =
    "I11 warning: no tcgen05.fence::before_thread_sync between tcgen05.ld and what tells others that it is done";
inline constexpr char I11_right_behind[] =
    "I11 error: tcgen05.ld right after tcgen05.mma: the accumulator is not there before a commit has arrived on an mbarrier and this thread has waited for it@ (k.tcgen05.wait)@@";
inline constexpr char I11_no_commit[] =
    "I11 error: tcgen05.ld in a kernel that never commits its tcgen05.mma: nothing tells when an accumulator is there (@k.tcgen05.commit@tcgen05.commit@)";
inline constexpr char I11_no_fence_after[] =
    "I11 error: no tcgen05.fence::after_thread_sync between the wait and this tcgen05.ld@: k.tcgen05.wait(bar, parity) has it@@";
inline constexpr char I11_no_fence_perhaps[] =
    "I11 warning: no tcgen05.fence::after_thread_sync between the wait and this tcgen05.ld";
inline constexpr char I11_no_wait[] =
    "I11 error: {} with no wait for a commit since its tcgen05.mma: the mma may still be writing@ (k.tcgen05.commit, k.tcgen05.wait)@@";
inline constexpr char I12_multiplied[] =
    "I12 error: this arrive frees the slot of pipeline '{}' that a tcgen05.mma before it may still read: free it with @k.tcgen05.commit(empty)@tcgen05.commit@, or wait for a commit first";
inline constexpr char I12_plain_arrive[] =
    "I12 error: this arrive frees a slot while the tcgen05.mma that reads it may be in flight: free it with @k.tcgen05.commit(empty)@tcgen05.commit@, which arrives when the mma is done";
inline constexpr char I13_mask[] =
    "I13 error: commit mask {} leaves out one block of a pair, whose shared memory the mma reads as well";
inline constexpr char I14_first[] =
    "I14 error: the first tcgen05.mma accumulates into columns that nothing has written; the first K step starts at zero @(accumulate = false, or k.tcgen05.multiply)@(enable-input-d false)@";

inline constexpr char K01_structure[] =
    "K01 error: {}";
inline constexpr char K02_other_function[] =
    "K02 error: branch to label '{}', which lies in another function";
inline constexpr char K02_scope[] =
    "K02 error: branch to label '{}', which lies inside a scope this branch is not in; PTX labels are local to their { }";
inline constexpr char K03_step[] =
    "K03 error: this loop never ends: a step of {} never reaches its bound";
inline constexpr char K03_no_round[] =
    "K03 warning: this loop runs zero times: its first value is past its bound";
inline constexpr char K03_no_end[] =
    "K03 error: this loop never ends: nothing in it breaks, returns, exits or traps";
inline constexpr char K04_behind_the_end[] =
    "K04 warning: nothing runs this: the statement before it leaves the kernel for all threads that come there@ (k.at(p).ret() leaves for some)@@";
// clang-format on

}  // namespace ptxdsl::verify::catalogue
