// SPDX-License-Identifier: Apache-2.0
// E07, F13: two warps use the same bytes of shared memory, one of them writes, and neither waits for the other between
// (PTX ISA 8.10.1: there is no order but that of synchronisation). And bytes of a `cp.async` that are read before their
// group has been waited for (PTX ISA 9.7.9.25.3.3).
//
// Text order is time order for the code that threads have in common: what is looked at are pairs between which nobody
// waits for anything at all, in a stretch of the text that all come to by the same waits.
#pragma once

#include <ptxdsl/verify/knowledge/accesses.hpp>
#include <ptxdsl/verify/rules/copies.hpp>
#include <ptxdsl/verify/rules/rule.hpp>

namespace ptxdsl::verify {

template <class Facts>
struct shared_races : rule<Facts> {
    constexpr void instruction(Facts& f, op what, const ir::cursor& c) {
        if (f.loop_now != loop_) follow_loops(f);
        if (apart_ && what != op::bar) return;
        switch (what) {
            case op::bar: return on_barrier(f, c);
            case op::mbarrier:
                if (token_at(c, 1) == tok::try_wait || token_at(c, 1) == tok::test_wait) waits(f, differs(f, c, 1));
                return;
            case op::call:
            case op::unknown: forget_copies(), waits(f, true); return;
            case op::load: return on_load(f, c);
            case op::varying:
                if (token_at(c, 0) == tok::ldmatrix) use(f, access_kind::read, operand_at(c, 1), 16, true);
                return;
            case op::atomic: waits(f, false); [[fallthrough]];
            case op::store:
            case op::reduce:
                if ((has_token(c, tok::shared) || has_token(c, tok::shared__cta)) && !has_token(c, tok::async))
                    use(f, access_kind::write, operand_at(c, what == op::atomic ? 1 : 0), bytes_of(c), false);
                return;
            case op::stmatrix: return use(f, access_kind::write, c.first_operand(), 16, true);
            case op::copy: return on_copy(f, c);
            default: return;
        }
    }
    constexpr void finish(Facts& f) {
        if (!is_looked_at(f)) return;
        while (!open_.empty()) close_loop(f);
        if (!reads_ || !writes_ || f.some_left) return;
        evaluator<Facts> e(f);
        for (u32 b = 1; b < list_.all.size() && told_ < most_told; ++b)
            for (u32 a = b; a > 0 && told_ < most_told; --a) {
                if (list_.all[a - 1].epoch != list_.all[b].epoch && list_.all[a - 1].kind != access_kind::landing) {
                    if (!lands_) break;
                    continue;
                }
                judge(f, e, a - 1, b, ~0u);
            }
        for (const again& w : wraps_)
            for (u32 a = w.tail; a < w.end && told_ < most_told; ++a)
                for (u32 b = w.begin; b < w.head && told_ < most_told; ++b) judge(f, e, a, b, w.conditions);
    }

private:
    struct open_loop {
        u32 loop, begin, epoch, conditions;
    };
    /// Accesses `tail` to `end` of one round, and `begin` to `head` of the next one.
    struct again {
        u32 begin, head, tail, end, conditions;
    };
    static constexpr u32 most_told = 4, most_in_a_row = 8;

    /// (Where a text leaves constructs in the middle, the conditions around do not tell who comes to what follows.)
    [[nodiscard]] static constexpr bool is_looked_at(const Facts& f) noexcept {
        return f.roles[0].threads > 32 && is_one_dimensional(f.m.attrs) && !f.unstructured && !f.opaque &&
               !f.is_function && !f.has_blocks;
    }
    /// Whether one of the operands from `first` on may differ from thread to thread.
    [[nodiscard]] static constexpr bool differs(const Facts& f, const ir::cursor& c, u32 first) noexcept {
        for (u32 i = first; i < c.operands(); ++i) {
            const u32* o = operand_at(c, i);
            const u32 head = ir::kind_of(o[0]) == ir::operand_kind::address ? o[1] : o[0];
            if (ir::kind_of(head) == ir::operand_kind::reg && (f.regs[ir::payload_of(head)] & bit::varies) != 0)
                return true;
        }
        return false;
    }
    /// Somebody waits for something. `apart`: not all threads, or not for the same.
    constexpr void waits(const Facts& f, bool apart) noexcept {
        ++epoch_;
        apart_ = apart_ || apart || f.guard != 0 || f.in_single || f.role_now != 0;
        for (const auto& c : f.conditions) apart_ = apart_ || (f.regs[c.holds >> 1] & bit::varies) != 0;
    }
    constexpr void on_barrier(const Facts& f, const ir::cursor& c) noexcept {
        const tok second = token_at(c, 1);
        if (second == tok::warp || (second == tok::cta ? token_at(c, 2) : second) == tok::arrive) return;
        waits(f, differs(f, c, 0));
        const bool all = second != tok::cluster && f.whole_block() && f.guard == 0 && f.conditions.empty();
        if (all) apart_ = false;
    }
    constexpr void on_load(const Facts& f, const ir::cursor& c) {
        if (!is_weak(c)) return waits(f, false);
        if (has_token(c, tok::shared) || has_token(c, tok::shared__cta))
            use(f, access_kind::read, operand_at(c, 1), bytes_of(c), false);
    }
    constexpr void use(const Facts& f, access_kind kind, const u32* address, u32 bytes, bool rows) {
        if (apart_ || f.some_left || bytes == 0 || !is_looked_at(f) || f.never ||
            ir::kind_of(address[0]) != ir::operand_kind::address)
            return;
        for (u32 l = f.loop_now; l != 0; l = f.loops[l].parent)
            if (f.loops[l].skips) return;
        const u32 place = f.arms_begun << 3 | static_cast<u32>(kind);
        row_ = place == row_place_ && epoch_ == row_epoch_ ? row_ + 1 : 0;
        row_place_ = place, row_epoch_ = epoch_;
        if (row_ >= most_in_a_row && kind != access_kind::landing) return;
        list_.add(f, kind, address, bytes, epoch_);
        list_.all.back().lanes_of_rows = rows;
        reads_ = reads_ || kind == access_kind::read;
        writes_ = writes_ || kind != access_kind::read;
    }

    // ---- copies

    constexpr void on_copy(const Facts& f, const ir::cursor& c) {
        const tok third = token_at(c, token_at(c, 1) == tok::reduce ? 3 : 2);
        if (third == tok::mbarrier) return forget_copies();
        if (third == tok::commit_group) return commit();
        if (third == tok::wait_all) return land(~0u);
        if (third == tok::wait_group) {
            std::int64_t n = 0;
            return land(f.constant_of(c.first_operand()[0], n) ? static_cast<u32>(n) : ~0u);
        }
        const u32* const to = c.first_operand();
        if (third != tok::bulk) {
            std::int64_t n = 0;
            if (c.operands() < 3 || !f.constant_of(operand_at(c, 2)[0], n)) return;
            lands_ = true;
            return use(f, access_kind::landing, to, static_cast<u32>(n), false);
        }
        const bool fills = has_token(c, tok::mbarrier__complete_tx__bytes) && !has_token(c, tok::multicast__cluster);
        if (!fills || f.sites.size() == 0 || !f.places[0].exact) return;
        const site& s = f.sites[f.sites.size() - 1];  // what a note in front of it has told
        if (s.kind != site_kind::copy || s.amount == unknown_count) return;
        const u32 place[] = {ir::head(ir::operand_kind::address, 0), ir::head(ir::operand_kind::small_int, 0),
                             f.places[0].offset};
        use(f, access_kind::copy, place, s.amount, false);
    }
    constexpr void forget_copies() noexcept {
        for (auto& a : list_.all) a.kind = a.kind == access_kind::landing ? access_kind::none : a.kind;
    }
    constexpr void commit() noexcept {
        for (auto& a : list_.all)
            if (a.kind == access_kind::landing && a.group == unknown_count) a.group = groups_;
        ++groups_;
    }
    /// All groups but the latest `allowed` have ended. (`~0`: not known how many; then nothing is held against anyone.)
    constexpr void land(u32 allowed) noexcept {
        const bool all = allowed == ~0u;
        for (auto& a : list_.all)
            if (a.kind == access_kind::landing && a.landed == unknown_count &&
                (all || (a.group != unknown_count && a.group + allowed < groups_)))
                a.landed = list_.all.size(), a.landed_epoch = epoch_;
    }

    // ---- loops

    constexpr void follow_loops(const Facts& f) {
        loop_ = f.loop_now;
        while (!open_.empty()) {
            u32 l = f.loop_now;
            while (l != 0 && l != open_.back().loop) l = f.loops[l].parent;
            if (l != 0) break;
            close_loop(f);
        }
        u32 chain[8] = {}, n = 0;
        const u32 known = open_.empty() ? 0 : open_.back().loop;
        for (u32 l = f.loop_now; l != 0 && l != known && n < 8; l = f.loops[l].parent) chain[n++] = l;
        for (; n != 0; --n) open_.push_back({chain[n - 1], list_.all.size(), epoch_, f.conditions.size()});
    }
    constexpr void close_loop(const Facts& f) {
        const open_loop o = open_.back();
        open_.pop_back();
        const loop& l = f.loops[o.loop];
        if (l.trips < 2 || l.skips || l.spins || apart_ || o.begin == list_.all.size()) return;
        const u32 end = list_.all.size();
        u32 head = o.begin, tail = end;
        while (head < end && list_.all[head].epoch == o.epoch) ++head;
        while (tail > o.begin && list_.all[tail - 1].epoch == epoch_) --tail;
        wraps_.push_back({o.begin, head, tail, end, o.conditions});
    }

    // ---- pairs

    /// `a` comes first; `within`: so many conditions hold for both at once.
    constexpr void judge(Facts& f, evaluator<Facts>& e, u32 a, u32 b, u32 within) {
        const access_kind x = list_.all[a].kind, y = list_.all[b].kind;
        const bool landing = x == access_kind::landing && y == access_kind::read;
        const bool early = landing && b < list_.all[a].landed;
        const bool landed = landing && !early && list_.all[a].landed_epoch == list_.all[b].epoch;
        const bool reads = landed || (x == access_kind::write && y == access_kind::read);
        const bool over = x == access_kind::read && y != access_kind::read && y != access_kind::none;
        if ((!reads && !early && !over) || !list_.overlap(f, e, a, b, within, early)) return;
        const u32 where = list_.all[b].where;
        if (f.out.has(y == access_kind::read || y == access_kind::write ? catalogue::E07_races : catalogue::F13_written,
                      where))
            return;
        ++told_;
        const u32 array = list_.all[b].allocation != 0 ? list_.all[b].allocation : list_.all[a].allocation;
        f.out
            .add(early                     ? catalogue::E07_group_pending
                 : reads                   ? catalogue::E07_races
                 : y != access_kind::write ? catalogue::F13_read_before
                                           : catalogue::E07_written_over,
                 where)
            .with(array == 0 ? string_view("shared memory") : f.name_of(array - 1))
            .at(f.source(list_.all[a].where));
    }

    access_list<Facts> list_;
    ::ptxdsl::detail::dynarray<open_loop> open_;
    ::ptxdsl::detail::dynarray<again> wraps_;
    u32 loop_ = 0, epoch_ = 0, groups_ = 0, told_ = 0;
    u32 row_ = 0, row_place_ = 0, row_epoch_ = 0;
    bool apart_ = false;  ///< some threads have waited for what others have not
    bool reads_ = false, writes_ = false, lands_ = false;
};

}  // namespace ptxdsl::verify
