// SPDX-License-Identifier: Apache-2.0
// The first look: which labels belong to constructs, which registers form fragments, which predicates are waits'. What
// the first pass must know before it meets it.
#pragma once

#include <ptxdsl/verify/engine/rounds.hpp>
#include <ptxdsl/verify/engine/structure.hpp>

namespace ptxdsl::verify {

template <class Facts>
class prescan {
public:
    label_facts labels;
    ::ptxdsl::detail::dynarray<u32> wait_predicates;

    constexpr explicit prescan(Facts& f) : f_(f), rounds_(f) {
        labels.labels.resize(f.m.n.labels);
        labels.scopes.push_back({0, f.m.n.words, 0});
    }

    constexpr void run() {
        const u32* const end = f_.m.words + f_.m.n.words;
        for (const u32* w = f_.m.words; w < end; w += w[0] & 0xffffu) {
            switch (static_cast<ir::record>(w[0] >> 24)) {
                case ir::record::instruction: {
                    const op k = opcode_of(w);
                    ir::each_result(w, [this](const u32* o) { note_results(o); });
                    if (k == op::scale) note_index(ir::cursor{w});
                    rounds_.instruction(w, k);
                    if (k >= op::branch) instruction(ir::cursor{w});
                    break;
                }
                case ir::record::label: label(ir::cursor{w}); break;
                case ir::record::region: region(ir::cursor{w}); break;
                case ir::record::note: barrier_note(w); break;
                case ir::record::text: f_.opaque = f_.opaque || !is_declaration(w); break;
                default: break;
            }
            before_ = w;
        }
        for (const u32 target : branches_)
            if (target >= f_.m.n.labels || labels.labels[target].kind == label_facts::use::wild) f_.unstructured = true;
        if (!f_.unstructured && !f_.opaque) rounds_.finish();
        find_rings();
    }

private:
    // ---- pipelines made by hand: a barrier that copies complete on, and the one waited for before they begin

    constexpr void barrier_note(const u32* w) {
        const auto kind = static_cast<ir::note>(ir::cursor{w}.code());
        if (kind == ir::note::pipeline) told_of_rings_ = true;
        const bool counts = kind == ir::note::barrier_wait || kind == ir::note::barrier_arrive ||
                            kind == ir::note::barrier_expect || kind == ir::note::barrier_copy ||
                            kind == ir::note::barrier_noarity;
        if (counts && !f_.m.from_text) barriers_.push_back({kind, w[2]});
    }
    struct barrier_step {
        ir::note kind;
        u32 barrier;
    };
    [[nodiscard]] constexpr bool has(ir::note kind, u32 barrier) const noexcept {
        for (const barrier_step& s : barriers_)
            if (s.kind == kind && s.barrier == barrier) return true;
        return false;
    }
    /// Each `expect` on `full` stands right behind a wait for `empty`, and each arrival at `empty` behind one for
    /// `full`: the last wait before.
    [[nodiscard]] constexpr bool are_one_ring(u32 full, u32 empty) const noexcept {
        u32 last = unknown_count, filled = 0, freed = 0;
        for (const barrier_step& s : barriers_) {
            if (s.kind == ir::note::barrier_wait) last = s.barrier;
            const bool fills = s.barrier == full && s.kind == ir::note::barrier_expect;
            const bool frees = s.barrier == empty && s.kind == ir::note::barrier_arrive;
            if ((fills && last != empty) || (frees && last != full)) return false;
            filled += fills ? 1 : 0, freed += frees ? 1 : 0;
        }
        return filled != 0 && (freed != 0 || !has(ir::note::barrier_arrive, empty));
    }
    /// Barriers of several stages that no pipeline is told of.
    constexpr void find_rings() {
        if (told_of_rings_ || f_.unstructured || f_.opaque) return;
        const auto& all = f_.m;
        for (u32 full = 0; full < all.n.allocations; ++full) {
            if (!may_be_side(full) || !has(ir::note::barrier_copy, full)) continue;
            for (u32 empty = 0; empty < all.n.allocations; ++empty) {
                if (empty == full || !may_be_side(empty) ||
                    all.allocations[empty].stages != all.allocations[full].stages ||
                    has(ir::note::barrier_copy, empty) || has(ir::note::barrier_expect, empty) ||
                    !are_one_ring(full, empty))
                    continue;
                f_.rings.push_back({full, empty, all.allocations[full].where, all.allocations[full].id});
                break;
            }
        }
    }
    [[nodiscard]] constexpr bool may_be_side(u32 i) const noexcept {
        const ir::allocation& a = f_.m.allocations[i];
        return a.kind == ir::allocation_kind::barrier && a.stages > 1 && a.id.length != 0 &&
               !has(ir::note::barrier_noarity, i);
    }

    constexpr void note_result(u32 head) noexcept {
        if (ir::kind_of(head) != ir::operand_kind::reg) return;
        u32& v = f_.regs[ir::payload_of(head)];
        v |= (v & bit::seen) != 0 ? bit::again : bit::seen;
    }
    constexpr void note_results(const u32* dst) noexcept {
        if (dst[0] >> 28 == 0) return note_result(dst[0]);
        const ir::operand_kind kind = ir::kind_of(dst[0]);
        if (kind != ir::operand_kind::vec && kind != ir::operand_kind::pair) return;
        for (u32 i = 1; i <= ir::payload_of(dst[0]); ++i) note_result(dst[i]);
    }
    /// `mad` with the size of a barrier: its index may choose a stage.
    constexpr void note_index(const ir::cursor& c) noexcept {
        const u32* o = c.first_operand();
        if (token_at(c, 0) == tok::mad && c.operands() == 4 && o[2] == ir::head(ir::operand_kind::small_int, 8) &&
            ir::kind_of(o[1]) == ir::operand_kind::reg)
            f_.regs[ir::payload_of(o[1])] |= bit::walks;
    }
    [[nodiscard]] constexpr bool after(ir::region a, ir::region b) const noexcept {
        if (before_ == nullptr || ir::cursor{before_}.kind() != ir::record::region) return false;
        const auto code = static_cast<ir::region>(ir::cursor{before_}.code());
        return code == a || code == b;
    }
    constexpr void instruction(const ir::cursor& c) {
        const u32* o = c.first_operand();
        switch (opcode_of(c.w)) {
            case op::branch:
                if (!announces_branch(before_) && c.operands() != 0 && ir::kind_of(o[0]) == ir::operand_kind::label)
                    branches_.push_back(ir::payload_of(o[0]));
                break;
            case op::mbarrier:
                if (token_at(c, 1) == tok::try_wait || token_at(c, 1) == tok::test_wait) wait(c);
                break;
            case op::wgmma:
                if (token_at(c, 1) == tok::mma_async) multiply(o);
                break;
            case op::tensormap: f_.changes_maps = true; break;
            case op::indirect:  // by a table of labels: they are what it may lead to
                if (c.operands() < 2 || ir::kind_of(operand_at(c, 1)[0]) != ir::operand_kind::label)
                    f_.unstructured = true;
                break;
            default: f_.unstructured = true; break;
        }
    }
    constexpr void wait(const ir::cursor& c) {
        const u32 head = c.first_operand()[0];
        if (c.operands() > 2 && ir::kind_of(operand_at(c, 2)[0]) == ir::operand_kind::reg)
            f_.regs[ir::payload_of(operand_at(c, 2)[0])] |= bit::walks;
        if (ir::kind_of(head) != ir::operand_kind::reg) return;
        f_.regs[ir::payload_of(head)] |= bit::watched;
        f_.values[ir::payload_of(head)] = c.location();
        wait_predicates.push_back(ir::payload_of(head));
    }
    constexpr void multiply(const u32* o) {
        const fragment d = registers_of(o);
        if (d.count != 0) fragment_of(f_, d.first, d.count);
        o += ir::operand_words(o[0]);
        const fragment a = registers_of(o);
        if (a.count != 0) fragment_of(f_, a.first, a.count);
    }
    /// A label next to a region record belongs to the construct; the one before `loop_end` is the loop's exit.
    constexpr void label(const ir::cursor& c) {
        if (c.payload(0) >= f_.m.n.labels) return;
        if (c.code() == static_cast<u32>(ir::label_kind::branch_targets))
            for (u32 i = 1; i < c.size() - 2; ++i) branches_.push_back(c.payload(i));
        label_facts::entry& e = labels.labels[c.payload(0)];
        e.scope = scope_;
        e.here = true;
        if (after(ir::region::else_begin, ir::region::loop_begin) || after(ir::region::if_begin, ir::region::if_begin))
            e.kind = label_facts::use::structural;
    }
    constexpr void region(const ir::cursor& c) {
        const auto code = static_cast<ir::region>(c.code());
        const bool after_label = before_ != nullptr && ir::cursor{before_}.is_place();
        if (after_label &&
            (code == ir::region::if_end || code == ir::region::else_begin || code == ir::region::loop_end)) {
            label_facts::entry& e = labels.labels[ir::cursor{before_}.payload(0)];
            e.kind = code == ir::region::loop_end ? label_facts::use::loop_exit : label_facts::use::structural;
            if (code == ir::region::loop_end) e.loop = c.payload(0);
        }
        if (code == ir::region::loop_begin) rounds_.begin(c);
        if (code == ir::region::loop_body) rounds_.body(c);
        if (code == ir::region::loop_step) rounds_.step(c);
        if (code == ir::region::loop_end) rounds_.end(c);
        if (code == ir::region::break_ || code == ir::region::continue_) rounds_.leaves(c.payload(0));
        if (code == ir::region::scope_begin) open_scope(c);
        if (code == ir::region::scope_end) close_scope(c);
    }
    constexpr void open_scope(const ir::cursor& c) {
        labels.scopes.push_back({static_cast<u32>(c.w - f_.m.words), f_.m.n.words, scope_});
        scope_ = labels.scopes.size() - 1;
    }
    constexpr void close_scope(const ir::cursor& c) {
        if (scope_ == 0) return;
        labels.scopes[scope_].end = static_cast<u32>(c.w - f_.m.words);
        scope_ = labels.scopes[scope_].parent;
    }

    Facts& f_;
    round_finder<Facts> rounds_;
    const u32* before_ = nullptr;
    u32 scope_ = 0;
    ::ptxdsl::detail::dynarray<u32> branches_;
    ::ptxdsl::detail::dynarray<barrier_step> barriers_;
    bool told_of_rings_ = false;
};

}  // namespace ptxdsl::verify
