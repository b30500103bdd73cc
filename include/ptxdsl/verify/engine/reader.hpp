// SPDX-License-Identifier: Apache-2.0
// The first pass: every record once, in text order. It judges what needs no control flow, and leaves events for the
// second one.
#pragma once

#include <ptxdsl/verify/engine/prescan.hpp>
#include <ptxdsl/verify/knowledge/values.hpp>
#include <ptxdsl/verify/rules/barriers.hpp>
#include <ptxdsl/verify/rules/copies.hpp>
#include <ptxdsl/verify/rules/list.hpp>
#include <ptxdsl/verify/rules/tensor_memory.hpp>
#include <ptxdsl/verify/rules/warp_values.hpp>
#include <ptxdsl/verify/rules/warps.hpp>
#include <ptxdsl/verify/rules/wgmma.hpp>

namespace ptxdsl::verify {

/// The first pass: every record once, in text order.
template <class Facts>
class text_pass {
public:
    constexpr text_pass(Facts& f, const label_facts& labels) noexcept : f_(f), structure_(f, labels), rounds_(f) {}

    constexpr void run() {
        if (f_.unstructured || f_.opaque) f_.threads = f_.together = f_.roles[0].threads = 0;
        const u32* const end = f_.m.words + f_.m.n.words;
        const u32* to = nullptr;
        for (const u32* w = f_.m.words; w < end; w = to != nullptr ? to : w + (w[0] & 0xffffu)) {
            to = f_.counted.empty() ? nullptr : go_round(w);
            before_ = to != nullptr ? nullptr : before_;
            if (to != nullptr) continue;
            switch (static_cast<ir::record>(w[0] >> 24)) {
                case ir::record::instruction: f_.never ? skip(w) : instruction(w); break;
                case ir::record::region:
                    f_.where = w[1];
                    if (static_cast<ir::region>(ir::cursor{w}.code()) == ir::region::else_begin) other_arm();
                    structure_.region(ir::cursor{w});
                    break;
                case ir::record::note: note(ir::cursor{w}); break;
                case ir::record::label:
                    if (ir::cursor{w}.code() == static_cast<u32>(ir::label_kind::branch_targets))
                        f_.where = w[1], structure_.table(ir::cursor{w});
                    break;
                case ir::record::text:
                    if (!is_declaration(w)) thread_copies_arrive(f_), f_.void_wait = 0, f_.push(event_kind::opaque);
                    break;
                default: break;
            }
            before_ = w;
        }
        structure_.finish();
        settle_unproved(f_);
    }
    /// What rules say at the end of the program.
    constexpr void finish() { rules_.finish(f_); }

private:
    /// Where to go on, when a round begins or ends here.
    constexpr const u32* go_round(const u32* w) {
        const ir::cursor c{w};
        if (c.kind() != ir::record::region) return nullptr;
        if (static_cast<ir::region>(c.code()) == ir::region::loop_step) return rounds_.leave(w);
        return static_cast<ir::region>(c.code()) == ir::region::loop_begin ? rounds_.enter(w) : nullptr;
    }
    /// The arm that begins has done nothing of what the one before has.
    constexpr void other_arm() {
        settle_loads(f_);
        f_.tm.store_base = 0, f_.tm.issued = false;
    }
    constexpr void instruction(const u32* w) {
        const ir::cursor c{w};
        const isa::behaviour does = ir::behaviour_of(w);
        const op k = does.what();
        const u32 guard = guard_of(f_, w);
        f_.where = w[3], f_.guard = guard, f_.acc = f_.divergent, f_.provenance = 0, f_.places_used = 0;
        f_.stores = k == op::store || k == op::reduce || k == op::atomic;
        if (w[2] != 0) take_deciding(f_, (w[2] >> 1) - 1);
        if (w[2] != 0 && holds_never(f_, (w[2] >> 1) - 1, (w[2] & 1u) != 0)) return skip(w);
        if (k == op::wgmma) {
            on_wgmma(f_, c);
        } else {
            const u32* const dst = w + 4 + ((w[0] >> 16 & 0xffu) + 1) / 2;
            const u32* o = dst;
            u32 n = w[1] >> 8 & 0xffu;
            const u32 results = does.results() < n ? does.results() : n;
            const bool result = results != 0;
            for (u32 i = 0; i < results; ++i, --n) o = o[0] >> 28 <= 1 ? o + 1 : o + ir::operand_words(o[0]);
            for (; n != 0; --n) {
                if (o[0] >> 28 <= 1)
                    take(f_, *o++ & 0x0fffffffu);
                else
                    o = take_other(f_, o);
            }
            if (k != op::value) special(does, c), rules_.instruction(f_, k, c);
            if (f_.split || guard != 0) check_convergence(f_, k, c);
            for (u32 i = 0; i < f_.places_used && i < 4; ++i)
                if (f_.places[i].mapped != 0) learn_least_cluster(f_, mapping_at(f_, f_.places[i].mapped));
            if (f_.places_used != 0 && f_.places[0].mapped != 0) on_mapped_access(f_, k, c);
            if (result) {
                finish_result(k, c, dst);
                if (results > 1) finish_others(w, dst);
                if (dst[0] >> 28 == 0 && (f_.regs[dst[0]] & bit::walks) != 0) walk(f_, dst[0], c, dst + 1);
            }
            if (result && k == op::tcgen05) ir::each_result(w, [this](const u32* r) { load_begins(f_, r); });
        }
        f_.noted = f_.noted_barrier = f_.noted_wait = 0;
    }
    /// Nothing runs it, so nothing is wrong with it. What it would write counts as written: no more is known.
    constexpr void skip(const u32* w) {
        const ir::cursor c{w};
        const op k = opcode_of(w);
        if (k == op::leave || k == op::branch || k == op::indirect) structure_.abort();
        ir::each_result(w, [this](const u32* o) { write_unseen(f_, o); });
        if (k == op::mbarrier && ir::results_of(w) != 0 && ir::kind_of(c.first_operand()[0]) == ir::operand_kind::reg)
            f_.regs[ir::payload_of(c.first_operand()[0])] &= ~bit::watched;
        f_.noted = f_.noted_barrier = f_.noted_wait = 0;
    }
    /// Whether a note stands in front of an instruction, or in code, that nothing runs.
    [[nodiscard]] constexpr bool tells_of_nothing(ir::note kind, const ir::cursor& c) const noexcept {
        switch (kind) {
            case ir::note::role_begin:
            case ir::note::role_end:
            case ir::note::single_thread_begin:
            case ir::note::single_thread_end:
            case ir::note::barrier_noarity:
            case ir::note::pipeline: return false;
            default: break;
        }
        if (f_.never) return true;
        const u32* const w = behind(c);
        return w != nullptr && w[2] != 0 && holds_never(f_, (w[2] >> 1) - 1, (w[2] & 1u) != 0);
    }
    constexpr void finish_result(op k, const ir::cursor& c, const u32* dst) {
        if (dst[0] >> 28 != 0) {
            define_operand(f_, dst);
            if (k == op::varying && token_at(c, 0) == tok::elect) learn_elect(f_, dst);
            return;
        }
        const u32 id = dst[0];
        define(f_, id);
        if ((f_.acc & bit::by_block) != 0 && !f_.rank_values.empty()) by_rank(k, c, dst);
        switch (k) {
            case op::mov: learn_own_rank(f_, id, dst + 1); return learn_mov(f_, id, dst + 1);
            case op::add:
                learn_add(f_, id, dst + 1), learn_descriptor(f_, id, c, dst + 1);
                return learn_value(f_, id, c, dst + 1);
            case op::bits:
                learn_index(f_, id, dst + 1);
                learn_bits(f_, id, dst + 1, token_at(c, 0) == tok::shr);
                learn_both(f_, id, c, dst + 1);
                return learn_value(f_, id, c, dst + 1);
            case op::value:
                if (f_.m.regs[id].type == isa::scalar::pred) learn_condition(f_, id, c, dst + 1);
                return;
            case op::scale: learn_descriptor(f_, id, c, dst + 1); return learn_value(f_, id, c, dst + 1);
            case op::mapa: return learn_mapped(f_, id, dst[1]);
            case op::varying: return learn_shuffle(f_, id, c, dst + 1);
            case op::compare:
                learn_index(f_, id, dst + 1);
                learn_wrap(f_, id, c, dst + 1);
                learn_constant_test(f_, id, c, dst + 1);
                learn_warps(f_, id, c, dst + 1);
                test_flag(f_, id, c, dst + 1);
                return learn_compare(f_, id, dst + 1, token_at(c, 1));
            default: return;
        }
    }
    /// The results behind the first one, of which no rule learns a value.
    constexpr void finish_others(const u32* w, const u32* first) {
        ir::each_result(w, [this, first](const u32* o) {
            if (o != first) define_operand(f_, o);
        });
    }
    /// What follows from the rank of the block in its cluster.
    constexpr void by_rank(op k, const ir::cursor& c, const u32* dst) {
        if (k == op::compare) return learn_rank_test(f_, dst[0], c, dst + 1);
        if (f_.m.regs[dst[0]].type == isa::scalar::pred) return learn_rank_tests(f_, dst[0], c, dst + 1);
        if (k <= op::scale && k != op::varying) learn_by_rank(f_, dst[0], c, dst + 1);
    }
    constexpr void special(isa::behaviour does, const ir::cursor& c) {
        // What it writes; a parameter is the same for all threads of the launch.
        if (does.results() != 0 && (does.what() != op::load || !has_token(c, tok::param)))
            f_.acc |= (does.varies_by_block() ? bit::by_block : 0) | (does.varies() ? bit::varies : 0);
        switch (does.what()) {
            case op::effect:
                if (token_at(c, 0) == tok::griddepcontrol) on_grid_wait(f_, c);
                return;
            case op::varying: return varying(c);
            case op::load: return load(c);
            case op::reduce: return on_shared_write(f_, c);
            case op::store: reset_flag(f_, c); [[fallthrough]];
            case op::stmatrix: on_shared_write(f_, c); return own_write(c);
            case op::atomic:
                f_.provenance = 0;
                listen();
                return on_shared_write(f_, c);
            case op::leave: return leave(c);
            case op::bar:
                tensor_memory_met(f_, false), f_.void_wait = 0;
                meet_lone_masks(f_);
                return on_bar(f_, c);
            case op::tcgen05:
                if (has_token(c, tok::aligned)) f_.push(event_kind::converge);
                if (token_at(c, 1) == tok::alloc && f_.places_used != 0) part_write(f_, f_.places[0], true);
                return on_tcgen05(f_, c);
            case op::fence: return fence(c);
            case op::copy: return on_copy(f_, c);
            case op::mapa: return on_mapa(f_, c);
            case op::cvta: return on_cvta(f_, c);
            case op::tensormap: return on_map_change(f_, c);
            case op::foreign: return on_cancel(f_, c);
            case op::branch:
                if (f_.loop_now != 0) f_.lone_masks.truncate(0);  // perhaps the other lanes leave the loop
                return structure_.branch(c, announces_branch(before_));
            case op::indirect:
                if (f_.loop_now != 0) f_.lone_masks.truncate(0);
                return structure_.branch_by_table(c);
            case op::mbarrier: return mbarrier(c);
            case op::call:
                if (only_prints(f_.m, c)) return;
                [[fallthrough]];
            case op::unknown:
                f_.tm.calls = true, f_.void_wait = 0;
                thread_copies_arrive(f_);
                f_.arrivals_unknown = f_.bytes_unknown = true;
                return f_.push(event_kind::opaque);
            default: return;
        }
    }
    /// Another thread may have told something here.
    constexpr void listen() {
        f_.listens = true, f_.void_wait = 0;
        tensor_memory_met(f_, false);
        f_.push(event_kind::told);
    }
    constexpr void load(const ir::cursor& c) {
        poll_flag(f_, c);
        check_early_load(f_, c);
        if (has_token(c, tok::acquire) || has_token(c, tok::relaxed) || has_token(c, tok::volatile_)) listen();
        if (!has_token(c, tok::shared) && !has_token(c, tok::shared__cta)) return;
        check_access(f_, c);
        if (const u32 s = f_.slot_at(f_.places[0]); s < max_slots) f_.push(event_kind::generic_read, s);
        if (f_.places[0].exact && f_.m.target.has_tensor_memory() &&
            ir::kind_of(c.first_operand()[0]) == ir::operand_kind::reg)
            f_.tm.addresses.push_back(ir::payload_of(c.first_operand()[0]));
        shared_read(f_, f_.places[0]);
        read_own_copy(f_, operand_at(c, 1));
        if (!is_weak(c)) return f_.push(event_kind::told);
        cross_read(f_, f_.places[0]);
        peer_read(f_, f_.places[0]);
    }
    constexpr void own_write(const ir::cursor& c) {
        if (f_.places_used == 0 || !is_weak(c)) return;
        if (has_token(c, tok::shared__cluster)) peer_write(f_, f_.places[0]);
        if (!has_token(c, tok::shared) && !has_token(c, tok::shared__cta)) return;
        if (const u32 to = f_.places[0].allocation; to != 0 && to <= 32) f_.own_writes |= 1u << (to - 1);
        part_write(f_, f_.places[0], false);
    }
    constexpr void leave(const ir::cursor& c) {
        const bool trap = token_at(c, 0) == tok::trap;
        if (trap)
            structure_.abort();
        else
            structure_.leave(f_.guard);
        if (!trap && f_.guard == 0 && !f_.m.from_text) warn_of_rest(behind(c));
        f_.push(event_kind::leave, trap ? 1 : 0);
    }
    /// K04: what stands behind `ret` in the same body. (A jump there and the kernel's own `ret` are the library's.)
    constexpr void warn_of_rest(const u32* next) {
        if (next == nullptr || opcode_of(next) == op::branch || f_.source(next[3])->line() == 0) return;
        f_.out.add(catalogue::K04_behind_the_end, next[3]);
    }
    constexpr void fence(const ir::cursor& c) {
        if (token_at(c, 1) == tok::proxy) {
            if (token_at(c, 2) == tok::async) f_.push(event_kind::proxy_fence), f_.unfenced_init = 0;
            if (token_at(c, 2) == tok::tensormap__generic) on_map_fence(f_, c);
        } else if (has_token(c, tok::cluster) || has_token(c, tok::gpu) || has_token(c, tok::sys)) {
            releases_to_cluster(f_);
        }
        // `fence.mbarrier_init.release.cluster`
        if (c.tokens() == 4 && has_token(c, tok::cluster) && has_token(c, tok::release)) f_.unfenced_init = 0;
    }
    constexpr void mbarrier(const ir::cursor& c) {
        const tok what = token_at(c, 1);
        misplaced(f_, f_.places[0], 8, catalogue::E02_misplaced);
        check_stage(f_, f_.places[0]);
        if (what == tok::init) return initialise(c);
        if (what == tok::inval) return invalidate();
        const bool counted = noted(f_, ir::note::barrier_arrive) || noted(f_, ir::note::barrier_noarity);
        if ((what == tok::arrive || what == tok::arrive_drop) && !counted) f_.arrivals_unknown = true;
        if (what == tok::arrive && f_.tm.unordered == stand(f_) + 1) warn_unordered(f_);
        if (what == tok::complete_tx && !noted(f_, ir::note::barrier_copy)) f_.bytes_unknown = true;
        if (has_token(c, tok::expect_tx) && !noted(f_, ir::note::barrier_expect)) f_.bytes_unknown = true;
        if (has_token(c, tok::cluster) && what != tok::try_wait && what != tok::test_wait) releases_to_cluster(f_);
        if (what == tok::arrive) keep_token(f_, c);
        if (what != tok::try_wait && what != tok::test_wait) return;
        check_token(f_, c);
        tensor_memory_met(f_, true);
        if (!noted(f_, ir::note::barrier_wait)) {
            f_.waits_unknown = true;
            if (f_.unknown_wait == 0) f_.unknown_wait = f_.where + 1;
        }
        f_.waits = true;
        thread_copies_arrive(f_);
        f_.push(event_kind::rendezvous, f_.noted_wait);
        learn_parity(c);
        for (u32 l = f_.loop_now; l != 0; l = f_.loops[l].parent)
            if (f_.in_each_round_of(l)) f_.loops[l].paced |= 1u << (f_.role_now < 31 ? f_.role_now : 31);
    }
    constexpr void varying(const ir::cursor& c) {
        check_members(f_, c);
        if (!f_.lone_masks.empty() && has_token(c, tok::sync)) meet_lone_masks(f_);
        if ((!f_.rings.empty() || !f_.late_copies.empty()) && has_token(c, tok::sync)) f_.push(event_kind::converge);
        if (token_at(c, 0) == tok::ldmatrix) {
            shared_read(f_, f_.places[0]);
            read_own_copy(f_, operand_at(c, 1));
        }
    }
    /// E08: the parity of a wait whose register always holds the same.
    constexpr void learn_parity(const ir::cursor& c) noexcept {
        std::int64_t parity = 0;
        if (f_.noted_wait != 0 && has_token(c, tok::parity) && f_.constant_of(operand_at(c, 2)[0], parity))
            f_.sites.back().amount = static_cast<u32>(parity);
    }
    /// Number of an mbarrier among all stages of all rings.
    [[nodiscard]] constexpr u32 index_of(u32 allocation, u32 stage) const noexcept {
        u32 index = stage;
        for (u32 a = 0; a < allocation; ++a)
            if (f_.m.allocations[a].kind == ir::allocation_kind::barrier) index += f_.m.allocations[a].stages;
        return index;
    }
    constexpr void invalidate() {
        const place& p = f_.places[0];
        f_.begins_anew = true;
        const u32 stage = p.allocation != 0 && p.exact ? f_.stage_of(p) : unknown_count;
        f_.push(event_kind::barrier_inval, p.allocation,
                stage == unknown_count ? unknown_count : index_of(p.allocation - 1, stage));
    }
    constexpr void initialise(const ir::cursor& c) {
        std::int64_t n = 0;
        f_.initialises = true;
        if (f_.unfenced_init == 0) f_.unfenced_init = f_.where + 1;
        if (!noted(f_, ir::note::barrier_init)) f_.inits_unknown = true;
        if (noted(f_, ir::note::barrier_init) || c.operands() < 2 || !f_.constant_of(operand_at(c, 1)[0], n)) return;
        if (n <= 0 || n > max_count) f_.out.add(catalogue::E02_count, f_.where).with(n).with(max_count);
    }

    constexpr void note(const ir::cursor& c) {
        const auto kind = static_cast<ir::note>(c.code());
        f_.where = c.location();
        if (tells_of_nothing(kind, c)) return;
        f_.noted |= note_bit(kind);
        const u32* p = c.w + 2;
        switch (kind) {
            case ir::note::role_begin: return structure_.select(p[0], false);
            case ir::note::single_thread_begin: return structure_.select(1, true);
            case ir::note::role_end:
            case ir::note::single_thread_end: return structure_.unselect();
            case ir::note::barrier_init: return initialise(c, p);
            case ir::note::barrier_arrive:
                if ((p[3] & 4u) != 0) on_release(f_);
                return use(c, site_kind::arrive, p[2], 0,
                           static_cast<u8>((p[3] & 1u) | ((p[3] & 8u) != 0 ? site_flag::several : 0)));
            case ir::note::barrier_expect: return use(c, site_kind::expect, p[2], 0, 0);
            case ir::note::barrier_copy: return use(c, site_kind::copy, p[2], p[3], 0);
            case ir::note::barrier_wait: return use(c, site_kind::wait, p[2], 0, 0);
            case ir::note::barrier_noarity: return uncounted(c, p[0]);
            case ir::note::tile_write: return on_slot(event_kind::generic_write, p);
            case ir::note::tile_async_read:
                read_behind(c, p[0]);
                if (!f_.late_copies.empty()) note_first_read(f_, p[0] + 1);
                if (const u32 r = f_.ring_of_tile(p[0]); r < max_rings && opcode_behind(c) == op::tcgen05)
                    f_.push(event_kind::tensor_read, r);
                return on_slot(opcode_behind(c) == op::wgmma ? event_kind::matrix_read : event_kind::async_read, p);
            case ir::note::bulk_store:
                read_behind(c, p[0]);
                if (!f_.late_copies.empty()) note_first_read(f_, p[0] + 1);
                f_.noted_slot = f_.slot_of(p[0], p[1]);
                return;
            case ir::note::thread_dependent: return;
            case ir::note::part_of_tile: return guarded(c) ? void() : check_part(f_, p[0], p[1], p[2], p[3]);
            case ir::note::warp_number: return guarded(c) ? void() : check_warp_number(f_, p[0], p[1]);
            case ir::note::pipeline: f_.rings.push_back({p[0], p[1], f_.where, {p[2], p[3]}}); return;
        }
    }
    constexpr void read_behind(const ir::cursor& c, u32 allocation) noexcept {
        f_.guard = guarded(c) ? 1 : 0;
        read_behind_wait(f_, allocation + 1);
    }
    constexpr void use(const ir::cursor& c, site_kind kind, u32 amount, u32 extra, u8 flags) {
        const u32* p = c.w + 2;
        add_site(f_, kind, p[0], p[1], amount, extra, flags, guarded(c));
        f_.sites.back().lanes = lanes_of_guard(c);
        f_.guard = 0;
        if (kind == site_kind::wait && before_ != nullptr && ir::cursor{before_}.is_place())
            f_.sites.back().loop = f_.loops[f_.loop_now].parent, f_.sites.back().spins = true;
        const u32* const w = behind(c);
        if (w != nullptr && opcode_of(w) == op::tcgen05) f_.sites.back().flags |= site_flag::commit;
        if (w != nullptr) {
            bool apart = false;
            site& s = f_.sites.back();
            s.slot = stage_code(f_, ir::cursor{w}, p[1], apart);
            if (s.slot == 0 && !f_.rings.empty()) note_period(f_, ir::cursor{w}, s);
            if (f_.in_rounds != 0 && s.slot >= walker_code::constant) s.stage = s.slot - walker_code::constant;
            if (apart && !f_.in_single && (flags & site_flag::remote) == 0) f_.sites.back().flags |= site_flag::apart;
        }
        if (w != nullptr && (kind == site_kind::wait || kind == site_kind::arrive))
            ring_event(ir::cursor{w}, kind == site_kind::wait);
        if (w != nullptr && kind == site_kind::copy && extra > 1) narrow_multicast(ir::cursor{w});
        if (w != nullptr && kind == site_kind::copy && extra > 1 && has_token(ir::cursor{w}, tok::multicast__cluster))
            f_.sites.back().flags |= site_flag::multicast;
        if (w != nullptr && kind == site_kind::copy && extra > 1 && is_leaders(ir::cursor{w}))
            f_.sites.back().flags |= site_flag::leader;
        if (kind == site_kind::arrive && (flags & site_flag::remote) != 0 && w != nullptr)
            f_.sites.back().to_block = block_of_address(ir::cursor{w});
        if (kind == site_kind::copy) f_.noted_barrier = p[0] + 1;
        if (p[0] >= 32 || (flags & site_flag::remote) != 0) return;
        const u32 stage = f_.sites.back().stage;
        const bool others = f_.init_warps != 0 && (f_.init_warps & f_.warps) == 0;
        f_.push(event_kind::barrier_use, p[0], stage == unknown_count ? stage : index_of(p[0], stage),
                static_cast<u8>((f_.threads > 32 || others ? event_flag::partial : 0) |  // here: of several warps
                                (others ? event_flag::many : 0)));
        if (kind != site_kind::wait) return;
        f_.noted_wait = p[0] + 1;
        f_.push(event_kind::barrier_wait, p[0], f_.in_single ? 1 : f_.threads);
    }
    /// A block that a constant mask leaves out gets none of the copy's bytes.
    constexpr void narrow_multicast(const ir::cursor& c) {
        const u32 behind = has_token(c, tok::L2__cache_hint) ? 2 : 1;
        std::int64_t mask = 0;
        if (!has_token(c, tok::multicast__cluster)) return;
        const u32 head = operand_at(c, c.operands() - behind)[0];
        if (ir::kind_of(head) == ir::operand_kind::reg) f_.sites.back().mask = head + 1;
        if (!f_.constant_of(head, mask)) return;
        const u32 all = (1u << f_.m.attrs.cluster_size()) - 1;
        if ((static_cast<u32>(mask) & all) != static_cast<u32>(mask) || mask == 0) return;  // F06
        (static_cast<u32>(mask) == all ? f_.sites.back().to_all : f_.sites.back().left_out) = true;
    }
    /// A copy of a pair of blocks onto the barrier of one of them.
    [[nodiscard]] constexpr bool is_leaders(const ir::cursor& c) const noexcept {
        if (f_.mapped_lanes != one_block || f_.m.attrs.cluster_size() != 2 || !has_token(c, tok::cta_group__2) ||
            has_token(c, tok::multicast__cluster) || c.operands() < 3)
            return false;
        const u32* o = operand_at(c, 2);
        if (ir::kind_of(o[0]) != ir::operand_kind::address || ir::kind_of(o[1]) != ir::operand_kind::reg) return false;
        const u32 id = ir::payload_of(o[1]);
        return (f_.regs[id] & bit::form) != 0 && f_.forms[f_.values[id]].peer != 0;
    }
    /// The block of the cluster, + 1, in which an arrival's address lies whichever block arrives; 0: not just one.
    [[nodiscard]] constexpr u32 block_of_address(const ir::cursor& c) const noexcept {
        for (u32 i = 0; i < c.operands(); ++i) {
            const u32* o = operand_at(c, i);
            if (ir::kind_of(o[0]) != ir::operand_kind::address || ir::kind_of(o[1]) != ir::operand_kind::reg) continue;
            const u32 points = f_.regs[ir::payload_of(o[1])] >> bit::place;
            if (points < mapped) return 0;
            const mapping m = mapping_at(f_, points - mapped + 1);
            for (u32 r = 1; r < f_.m.attrs.cluster_size() && r < max_ranks; ++r)
                if (m.farthest[r] != m.farthest[0]) return 0;
            return m.known && m.farthest[0] < max_ranks ? m.farthest[0] + 1u : 0;
        }
        return 0;
    }
    /// What a wait or an arrival is in a pipeline.
    constexpr void ring_event(const ir::cursor& c, bool waits) {
        site& s = f_.sites.back();
        if (waits && c.operands() > 2) {
            u32 value = unknown_count;
            s.parity = parity_code(f_, c, value);
            // In a loop another iteration may be the first that comes here.
            bool first = true;
            for (u32 l = f_.loop_now; l != 0; l = f_.loops[l].parent) first = first && f_.in_each_round_of(l);
            for (u32 i = 0; i + 1 < f_.sites.size(); ++i)
                first = first && (f_.sites[i].kind != site_kind::wait || f_.sites[i].barrier != s.barrier);
            const u32 head = operand_at(c, 2)[0];
            if (first && value == unknown_count && f_.loop_now != 0 && ir::kind_of(head) == ir::operand_kind::reg &&
                (f_.regs[ir::payload_of(head)] & bit::again) == 0) {
                u32 v = 0;  // computed from a loop's counter
                evaluator<Facts> round(f_, true);
                if (round.value(ir::payload_of(head), 0, 0, v)) value = v & 1u;
            }
            if (first) s.first_parity = value;
            f_.void_wait = first && value == 1 ? f_.sites.size() : 0;
        }
        u32 side = 0;
        u32 r = f_.ring_of(s.barrier, false);
        if (r == max_rings) side = 1, r = f_.ring_of(s.barrier, true);
        if (r == max_rings) return;
        // A hand-over answers the wait for the other barrier.
        const bool cases = guard_of(f_, c.w) != 0 && (f_.regs[(c.guard() >> 1) - 1] & bit::by_index) == 0;
        const u8 flags =
            static_cast<u8>((f_.arm_now != 0 ? event_flag::selects : 0) | (cases ? event_flag::cases : 0) |
                            (goes_round(f_, s, f_.m.allocations[s.barrier].stages) ? 0 : event_flag::partial) |
                            ((s.flags & site_flag::commit) != 0 ? event_flag::one : 0));
        f_.push(waits ? event_kind::ring_wait : event_kind::ring_hand, r | (waits ? side : 1 - side) << 8,
                s.slot | s.parity << 16, flags);
    }
    /// Arrivals nobody can count; or `k.assume_arrivals`, which stands in front of anything.
    constexpr void uncounted(const ir::cursor& c, u32 barrier) {
        f_.no_arity |= 1u << (barrier & 31u);
        const op k = opcode_behind(c);
        if (k == op::mbarrier || k == op::tcgen05 || k == op::copy)
            add_site(f_, site_kind::uncounted, barrier, unknown_count, unknown_count, 0, 0, guarded(c));
    }
    constexpr void on_slot(event_kind kind, const u32* p) {
        const u32* const w = f_.in_rounds != 0 && p[1] == unknown_count ? behind(ir::cursor{p - 2}) : nullptr;
        const u32 s = f_.slot_of(p[0], w == nullptr ? p[1] : stage_of_descriptor(f_, ir::cursor{w}, p[0]));
        f_.guard = 0;
        if (s < max_slots) f_.push(kind, s);
    }
    constexpr void initialise(const ir::cursor& c, const u32* p) {
        bool apart = false;
        u32 first = p[1];
        const u32 code =
            f_.in_rounds == 0 || behind(c) == nullptr ? 0 : stage_code(f_, ir::cursor{behind(c)}, first, apart);
        if (code >= walker_code::constant) first = code - walker_code::constant;
        const u32 stages = first == unknown_count ? 1 : p[2];
        for (u32 i = 0; i < stages && i < 64; ++i) {
            add_site(f_, site_kind::init, p[0], first == unknown_count ? first : first + i, p[3], 0, 0, guarded(c));
            if (first == unknown_count) continue;
            const u32 index = index_of(p[0], first + i);
            f_.guard = guarded(c) ? 1 : 0;
            f_.push(event_kind::barrier_init, p[0], index);
            f_.init_warps |= f_.warps;
        }
    }
    /// The instruction a note stands in front of.
    [[nodiscard]] constexpr const u32* behind(const ir::cursor& c) const noexcept {
        const u32* w = c.w + c.size();
        const u32* const end = f_.m.words + f_.m.n.words;
        while (w < end && ir::cursor{w}.kind() == ir::record::note) w += ir::cursor{w}.size();
        return w < end && ir::cursor{w}.is_instruction() ? w : nullptr;
    }
    [[nodiscard]] constexpr bool guarded(const ir::cursor& c) const noexcept {
        const u32* w = behind(c);
        return w != nullptr && guard_of(f_, w) != 0;
    }
    /// The threads for which the guard of the instruction behind the note holds, as a `lane_form`; 0: unknown.
    [[nodiscard]] constexpr u32 lanes_of_guard(const ir::cursor& c) const noexcept {
        const u32* w = behind(c);
        if (w == nullptr || w[2] == 0 || (w[2] & 1u) != 0) return 0;
        const u32 id = (w[2] >> 1) - 1;
        return (f_.regs[id] & (bit::lanes | bit::again)) == bit::lanes ? f_.values[id] : 0;
    }
    [[nodiscard]] constexpr op opcode_behind(const ir::cursor& c) const noexcept {
        const u32* w = behind(c);
        return w == nullptr ? op::effect : opcode_of(w);
    }

    Facts& f_;
    structure<Facts> structure_;
    round_walk<Facts> rounds_;
    all_rules<Facts> rules_;
    const u32* before_ = nullptr;
};

}  // namespace ptxdsl::verify
