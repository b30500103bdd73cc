// SPDX-License-Identifier: Apache-2.0
// The machine: steps the warps of a cluster through a kernel under one schedule until all have left, nobody can go on,
// or something is met that it does not follow.
#pragma once

#include <ptxdsl/machine/list.hpp>
#include <ptxdsl/machine/slice.hpp>
#include <ptxdsl/machine/tensor_core.hpp>

#include <bit>
#include <cstdint>

namespace ptxdsl::machine {

/// Who steps when. Every order is legal; each finds other mistakes.
enum class schedule : uint32_t {
    in_turn,          ///< each warp as far as it comes
    first_starved,    ///< the first warps only when nothing else can happen: copies land before they step
    last_starved,     ///< the same with the last warps
    in_turn_hurried,  ///< like `in_turn`, and waits that may end early do so once
    shuffled,         ///< short steps in an order from the seed, copies land at any time
    count_,
};

template <class Values>
class machine : public tensor_core<Values> {
public:
    using base = tensor_core<Values>;
    using typename base::block_type;
    using typename base::value;
    using typename base::warp_type;

    constexpr machine(const code& c, const choices& chosen, const limits& l) : base(c, chosen, l) { set_up(); }

    /// Plays to the end.
    constexpr void run() {
        const uint32_t n = static_cast<uint32_t>(warps_.size());
        const schedule s = static_cast<schedule>(chosen_.schedule);
        list<uint32_t> order(n, 0);
        const bool starving = s == schedule::first_starved || s == schedule::last_starved;
        const uint32_t blocks = static_cast<uint32_t>(blocks_.size()), each = n / blocks;
        for (uint32_t k = 0; k < n; ++k) {
            const uint32_t warp = s == schedule::first_starved ? each - 1 - k / blocks : k / blocks;
            order[k] = starving ? k % blocks * each + warp : k;
        }
        const bool shuffled = s == schedule::shuffled;
        uint32_t idle = 0;
        uint64_t seen = 0;
        while (!abandoned_) {
            if (shuffled) shuffle(order);
            bool any = starving ? run_first(order) : run_all(order, shuffled);
            if (this->steps_ > limits_.steps) this->abandon(0, "a run that does not end within the limit of steps");
            if (this->stopped_) this->abandon(0, "runs that were ended, for the time they take");
            if (shuffled && random() % 4 == 0 && land_one(false)) any = true;
            if (any && (this->releases_ != seen || !spinning())) {
                seen = this->releases_;
                idle = 0;
                continue;
            }
            if (all_left()) break;
            if (land_one(true)) continue;
            if (any && ++idle < 64) continue;
            if (!any && alone()) continue;
            if (any)
                this->abandon(0, "threads that look at memory again and again");
            else if (!unmeasured())
                deadlock();
            break;
        }
        if (!abandoned_) at_end();
    }

private:
    /// Every warp in turn; whether one could go on.
    constexpr bool run_all(const list<uint32_t>& order, bool shuffled) {
        bool any = false;
        for (const uint32_t k : order) {
            if (abandoned_) break;
            any = run_warp(warps_[k], shuffled ? 1 + random() % 64 : 100'000) || any;
        }
        return any;
    }
    /// The first warp that can go on, until it does something others may have waited for. One that looks at something
    /// again and again does not keep the others from it.
    constexpr bool run_first(const list<uint32_t>& order) {
        bool any = false;
        for (std::size_t k = 0; k < order.size() && !abandoned_; ++k) {
            warp_type& w = warps_[order[k]];
            if (w.index == warps_[order[order.size() - 1]].index && land_one(false)) return true;
            if (!run_warp(w, 100'000, k != 0)) continue;
            any = true;
            if (!spins(w)) break;
        }
        return any;
    }

    using base::abandoned_;
    using base::blocks_;
    using base::chosen_;
    using base::cluster_;
    using base::code_;
    using base::limits_;
    using base::warps_;

    // ---- setting up ---------------------------------------------------------------------------------------------

    constexpr void set_up() {
        const ir::view& m = code_.program();
        const uint32_t blocks = m.attrs.cluster_size() == 0 ? 1 : m.attrs.cluster_size();
        const uint32_t threads = m.attrs.threads() == 0 ? 128 : m.attrs.threads();
        const uint32_t each = (threads + 31) / 32;
        blocks_.resize(blocks);
        warps_.resize(std::size_t{blocks} * each);
        for (uint32_t b = 0; b < blocks; ++b) {
            blocks_[b].bytes.reset(code_.shared_bytes + 16, granule());
            blocks_[b].words.reset(code_.shared_bytes + 16);
            blocks_[b].warps_left = each;
            blocks_[b].first_warp = b * each;
            for (uint32_t k = 0; k < each; ++k) set_up(warps_[b * each + k], b, k, threads);
        }
        this->agents_ = static_cast<uint32_t>(warps_.size());
        this->cluster_met_ = this->new_agent();
        this->hurried_ = static_cast<schedule>(chosen_.schedule) == schedule::in_turn_hurried;
        random_ = mix(chosen_.seed + 1, chosen_.schedule + 77);
        taking_part_.assign(code_.size() + 1, 0);
        for (uint32_t k = 0; k < code_.size(); ++k)
            taking_part_[k + 1] = taking_part_[k] + (takes_part(code_[k]) ? 1 : 0);
    }
    constexpr void set_up(warp_type& w, uint32_t b, uint32_t k, uint32_t threads) {
        w.block = b;
        w.index = k;
        w.agent = static_cast<uint32_t>(&w - warps_.data());
        const uint32_t here = threads - k * 32 < 32 ? threads - k * 32 : 32;
        w.born = here == 32 ? all_lanes : (1u << here) - 1;
        w.live = w.born;
        w.pieces.push_back({});
        w.pieces[0].lanes = w.born;
        w.regs.reset(code_.registers());
        // What nobody has computed is data of each lane: accumulators of wgmma stay so.
        for (uint32_t r = 0; r < code_.registers(); ++r) {
            value data = Values::unknown(mix(r, 0x77));
            data.by_lane = true;
            w.regs.write(r, data, all_lanes, w.live);
        }
        special_registers(w, threads);
        if (code_.slots_used != 0) w.regs.lose(0);
    }
    constexpr void special_registers(warp_type& w, uint32_t threads) {
        using isa::special;
        const ir::attributes& a = code_.program().attrs;
        const ir::attributes::dim3 size = a.reqntid.given()   ? a.reqntid
                                          : a.maxntid.given() ? a.maxntid
                                                              : ir::attributes::dim3{threads, 1, 1};
        const ir::attributes::dim3 cluster = a.cluster.given() ? a.cluster : ir::attributes::dim3{1, 1, 1};
        const uint32_t blocks = static_cast<uint32_t>(blocks_.size());
        for (uint32_t s = 0; s < static_cast<uint32_t>(special::count_); ++s)
            if (const uint32_t r = code_.special(static_cast<special>(s)); r != none)
                w.regs.write(r, Values::unknown(mix(s, mix(w.agent, 0x5e))), all_lanes, w.live);
        const auto set = [&](special s, uint64_t v) {
            if (const uint32_t r = code_.special(s); r != none) w.regs.write(r, Values::exact(v), all_lanes, w.live);
        };
        const auto each = [&](special s, auto f) {
            if (code_.special(s) == none) return;
            value v[32];
            for (uint32_t l = 0; l < 32; ++l) v[l] = Values::exact(f(l));
            w.regs.write_each(code_.special(s), v, w.live, w.live);
        };
        const auto linear = [&](uint32_t l) { return uint64_t{w.index} * 32 + l; };
        each(special::tid_x, [&](uint32_t l) { return linear(l) % size.x; });
        each(special::tid_y, [&](uint32_t l) { return linear(l) / size.x % size.y; });
        each(special::tid_z, [&](uint32_t l) { return linear(l) / size.x / size.y; });
        each(special::laneid, [&](uint32_t l) { return uint64_t{l}; });
        each(special::lanemask_eq, [&](uint32_t l) { return uint64_t{1} << l; });
        each(special::lanemask_lt, [&](uint32_t l) { return (uint64_t{1} << l) - 1; });
        each(special::lanemask_le, [&](uint32_t l) { return (uint64_t{2} << l) - 1; });
        each(special::lanemask_gt, [&](uint32_t l) { return 0xffffffffu & ~((uint64_t{2} << l) - 1); });
        each(special::lanemask_ge, [&](uint32_t l) { return 0xffffffffu & ~((uint64_t{1} << l) - 1); });
        set(special::warpid, w.index);
        set(special::nwarpid, (threads + 31) / 32);
        set(special::ntid_x, size.x), set(special::ntid_y, size.y), set(special::ntid_z, size.z);
        set(special::cluster_ctarank, w.block), set(special::cluster_nctarank, blocks);
        set(special::cluster_nctaid_x, cluster.x), set(special::cluster_nctaid_y, cluster.y);
        set(special::cluster_nctaid_z, cluster.z);
        const uint32_t x = w.block % cluster.x, y = w.block / cluster.x % cluster.y,
                       z = w.block / cluster.x / cluster.y;
        set(special::cluster_ctaid_x, x), set(special::cluster_ctaid_y, y), set(special::cluster_ctaid_z, z);
        set(special::ctaid_x, x), set(special::ctaid_y, y), set(special::ctaid_z, z);
        set(special::nctaid_x, cluster.x), set(special::nctaid_y, cluster.y), set(special::nctaid_z, cluster.z);
        set(special::clusterid_x, 0), set(special::clusterid_y, 0), set(special::clusterid_z, 0);
        set(special::nclusterid_x, 1), set(special::nclusterid_y, 1), set(special::nclusterid_z, 1);
        set(special::is_explicit_cluster, a.cluster.given() ? 1 : 0);
    }
    /// The smallest access of shared memory by a thread: what the shadow tells apart.
    [[nodiscard]] constexpr uint32_t granule() const noexcept {
        uint32_t least = 16;
        for (const instruction& i : code_.instructions) {
            const bool plain = i.op == tok::ld || i.op == tok::st || i.op == tok::atom || i.op == tok::red;
            if (!plain || (i.has_space && i.sp != space::shared && i.sp != space::shared_cluster)) continue;
            const uint32_t bytes = isa::bits(i.type) / 8 * i.vector;
            if (bytes != 0 && bytes < least) least = bytes;
        }
        for (const instruction& i : code_.instructions)
            if (i.op == tok::cp && !code_.has(i, tok::bulk) && least > 4) least = 4;
        return least;
    }

    // ---- stepping -----------------------------------------------------------------------------------------------

    [[nodiscard]] constexpr uint32_t random() noexcept {
        random_ = mix(random_, 0x2545f4914f6cdd1dull);
        return static_cast<uint32_t>(random_ >> 33);
    }
    constexpr void shuffle(list<uint32_t>& order) noexcept {
        for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
    }
    [[nodiscard]] constexpr bool ready(warp_type& w, piece& p) {
        switch (p.what) {
            case waiting::nothing: return true;
            case waiting::phase: {
                const mbarrier& b = this->barrier_at(p.block, p.address);
                return b.total != p.generation || !b.live;
            }
            case waiting::named: return blocks_[w.block].named[p.address].generation != p.generation;
            case waiting::cluster: return cluster_.generation != p.generation;
            case waiting::lanes: return p.alone;
            case waiting::products: return this->group_issued(w, p.generation);
            case waiting::columns: return this->columns_free(w, p.generation);
        }
        return false;
    }
    /// The piece that comes first in the text among those that can go on.
    [[nodiscard]] constexpr std::size_t pick(warp_type& w) {
        std::size_t best = w.pieces.size();
        for (std::size_t k = 0; k < w.pieces.size(); ++k) {
            if (w.pieces[k].spun && w.pieces.size() > 1 && w.pieces[k].what == waiting::nothing && turn_ % 2 == 0)
                continue;
            if (ready(w, w.pieces[k]) && (best == w.pieces.size() || w.pieces[k].pc < w.pieces[best].pc)) best = k;
        }
        if (best == w.pieces.size())
            for (std::size_t k = 0; k < w.pieces.size(); ++k)
                if (ready(w, w.pieces[k])) best = k;
        return best;
    }
    /// At most `quantum` instructions of a warp, with `briefly` until it has released something; false when it could
    /// not take one.
    constexpr bool run_warp(warp_type& w, uint32_t quantum, bool briefly = false) {
        bool moved = false;
        const uint64_t before = this->releases_;
        for (piece& p : w.pieces) p.spun = false;
        for (uint32_t k = 0; k < quantum && !w.pieces.empty() && !abandoned_;) {
            ++turn_;
            const std::size_t at = pick(w);
            if (at == w.pieces.size()) break;
            w.pieces[at].what = waiting::nothing;
            const outcome o = step(w, at);
            if (o == outcome::again) continue;  // it waits now: another piece may go on
            ++k;
            moved = true;
            ++this->steps_;
            ++w.steps;
            if (o == outcome::done) ++w.pieces[at].pc;
            const bool spun = at < w.pieces.size() && w.pieces[at].spun;
            if (w.pieces.size() > 1) join_pieces(w);
            if (spun && w.pieces.size() == 1) break;
            if (this->steps_ % 4096 == 0 && limits_.stop != nullptr && limits_.stop()) this->stopped_ = true;
            if (this->stopped_ || this->steps_ > limits_.steps || (briefly && this->releases_ != before)) break;
        }
        return moved;
    }
    /// Pieces at one instruction are one, unless one of them waits for something of its own.
    static constexpr void join_pieces(warp_type& w) {
        for (std::size_t a = 0; a < w.pieces.size(); ++a)
            for (std::size_t b = w.pieces.size(); b-- > a + 1;) {
                piece &x = w.pieces[a], &y = w.pieces[b];
                if (x.pc != y.pc || !may_join(x) || !may_join(y)) continue;
                x.lanes |= y.lanes;
                x.what = waiting::nothing;
                x.alone = false;
                x.spun = x.spun || y.spun;
                w.pieces.remove(b);
            }
    }
    [[nodiscard]] static constexpr bool may_join(const piece& p) noexcept {
        return !p.arrived && (p.what == waiting::nothing || p.what == waiting::lanes);
    }
    /// Whether a warp only looks at something again and again.
    [[nodiscard]] constexpr bool spins(warp_type& w) {
        bool any = false;
        for (piece& p : w.pieces) {
            if (p.spun)
                any = true;
            else if (ready(w, p))
                return false;
        }
        return any;
    }
    /// Whether every warp that can go on does only that.
    [[nodiscard]] constexpr bool spinning() {
        bool any = false;
        for (warp_type& w : warps_) {
            if (spins(w))
                any = true;
            else
                for (piece& p : w.pieces)
                    if (ready(w, p)) return false;
        }
        return any;
    }

    constexpr outcome step(warp_type& w, std::size_t at) {
        const uint32_t pc = w.pieces[at].pc;
        if (pc >= code_.size()) return leave(w, at, w.pieces[at].lanes, pc - 1);
        const instruction& i = code_[pc];
        if (!gathered(w, at, i)) return outcome::again;
        const uint32_t before = w.pieces[at].lanes;
        // A computation under an unknown guard gives an unknown; effects need a decision.
        if (computes(i)) {
            const uint32_t on = i.guard != none && this->guard_is_unknown(w, i, before) && !is_load(i)
                                    ? before
                                    : this->guarded(w, i, before);
            if (on != 0) compute_or_exchange(w, i, pc, on);
            return outcome::done;
        }
        const uint32_t on = w.pieces[at].arrived ? before : this->guarded(w, i, before);
        if (i.guard != none && decides_who(pc) && this->lanes_differ_by_data(w, i, before)) this->doubtful_ = true;
        if (on == 0) return outcome::done;
        if (i.op == tok::bra) return branch(w, at, i, pc, on);
        if (i.op == tok::ret || i.op == tok::exit) return leave(w, at, on, pc);
        if (on != before && may_wait(i)) split(w, at, on);
        return effect(w, at, i, pc, on);
    }
    /// Instructions that only write registers, whether they look at memory or other lanes or not.
    [[nodiscard]] static constexpr bool computes(const instruction& i) noexcept {
        switch (i.op) {
            case tok::elect:
            case tok::vote:
            case tok::shfl:
            case tok::redux:
            case tok::match:
            case tok::activemask:
            case tok::ld:
            case tok::ldu: return true;
            default: return only_computes(i.op);
        }
    }
    [[nodiscard]] static constexpr bool is_load(const instruction& i) noexcept {
        return i.op == tok::ld || i.op == tok::ldu;
    }
    constexpr void compute_or_exchange(warp_type& w, const instruction& i, uint32_t pc, uint32_t on) {
        switch (i.op) {
            case tok::ld:
            case tok::ldu:
                this->load(w, i, pc, on);
                if (this->is_strong(i)) spin(w, pc);
                return;
            case tok::elect:
            case tok::vote:
            case tok::shfl:
            case tok::redux:
            case tok::match:
            case tok::activemask:
                if (this->needs(code_.at(i, 0))) this->exchange(w, i, on);
                return;
            default: return this->compute(w, i, on);
        }
    }
    static constexpr void spin(warp_type& w, uint32_t pc) noexcept {
        for (piece& p : w.pieces)
            if (p.pc == pc) p.spun = true;
    }
    /// Instructions whose threads somebody counts or waits for.
    [[nodiscard]] static constexpr bool takes_part(const instruction& i) noexcept {
        return i.op == tok::bar || i.op == tok::barrier || i.op == tok::mbarrier || i.op == tok::cp ||
               i.op == tok::wgmma || i.op == tok::tcgen05 || i.op == tok::ret || i.op == tok::exit;
    }
    /// Whether a guard there decides who takes part in something: of the instruction itself, or of what a branch leaves
    /// out.
    [[nodiscard]] constexpr bool decides_who(uint32_t pc) const noexcept {
        const instruction& i = code_[pc];
        if (i.op != tok::bra) return takes_part(i);
        if (i.target == none) return true;
        uint32_t low = pc + 1, high = i.target;
        if (high < low) low = i.target, high = pc;
        if (low < high && code_[high - 1].op == tok::bra && code_[high - 1].target != none &&
            code_[high - 1].target > high)
            high = code_[high - 1].target;
        return taking_part_[high] != taking_part_[low];
    }
    [[nodiscard]] constexpr bool may_wait(const instruction& i) const noexcept {
        return i.op == tok::bar || i.op == tok::barrier || i.op == tok::mbarrier;
    }
    /// The lanes `on` become a piece of their own; the others go on behind the instruction.
    constexpr void split(warp_type& w, std::size_t at, uint32_t on) {
        piece rest = w.pieces[at];
        rest.lanes &= ~on;
        rest.pc = w.pieces[at].pc + 1;
        w.pieces[at].lanes = on;
        w.pieces.push_back(rest);
    }
    constexpr outcome branch(warp_type& w, std::size_t at, const instruction& i, uint32_t pc, uint32_t on) {
        if (i.target == none) {
            this->abandon(pc, "a branch to a place that is not known");
            return outcome::done;
        }
        if (on != w.pieces[at].lanes) split(w, at, on);
        w.pieces[at].pc = i.target;
        return outcome::jumped;
    }
    constexpr outcome leave(warp_type& w, std::size_t at, uint32_t on, uint32_t pc) {
        this->leave_bulk_stores(w, pc < code_.size() ? pc : 0, on);
        if (on != w.pieces[at].lanes) split(w, at, on);
        w.live &= ~on;
        w.cluster_arrived &= w.live;
        w.pieces.remove(at);
        // Nobody waits for lanes that have exited: those that waited look again who is missing.
        for (piece& p : w.pieces)
            if (p.what == waiting::lanes) p.what = waiting::nothing;
        if (w.live == 0) leave_block(w, pc < code_.size() ? pc : 0);
        this->recheck_cluster();
        return outcome::jumped;
    }
    constexpr void leave_block(warp_type& w, uint32_t pc) {
        block_type& b = blocks_[w.block];
        w.left_at = pc;
        w.knows.raise(w.agent, w.event++);
        if (--b.warps_left != 0) return this->recheck_named(b);
        b.left_at = pc;
        this->leave_tensor_memory(w, pc);
        for (const landing& l : this->landings_) {
            if (l.block != w.block || (l.bytes == 0 && !l.open) || warps_[l.warp].block == w.block) continue;
            this->report(fault::pending_at_exit, w, all_lanes, pc, l.at, &warps_[l.warp], all_lanes,
                         "is the last of its block to exit, while the copy of % into " + this->object(l.address) +
                             "'s block is under way: nobody has waited for it");
        }
    }

    // ---- lanes together -----------------------------------------------------------------------------------------

    /// Whether the lanes an instruction needs together are here; else the piece waits for them.
    constexpr bool gathered(warp_type& w, std::size_t at, const instruction& i) {
        piece& p = w.pieces[at];
        if (p.lanes == w.live || p.alone || p.arrived) return true;
        uint32_t needed = 0;
        if (needs_warp(i)) needed = w.live;
        if (i.op == tok::shfl || i.op == tok::vote || i.op == tok::redux || i.op == tok::match || i.op == tok::elect ||
            is_warp_sync(i)) {
            if (i.op != tok::elect || code_.has(i, tok::sync)) {
                const value m =
                    this->lane(w, code_.at(i, i.operand_count - 1), static_cast<uint32_t>(std::countr_zero(p.lanes)));
                needed = m.is_known() ? static_cast<uint32_t>(m.bits) & w.live : p.lanes;
            }
        }
        if ((needed & ~p.lanes) == 0) return true;
        // Lanes that already wait here join; others are still on their way.
        p.what = waiting::lanes;
        join_pieces(w);
        return false;
    }
    [[nodiscard]] constexpr bool is_warp_sync(const instruction& i) const noexcept {
        return (i.op == tok::bar || i.op == tok::barrier) && code_.word(i, 1) == tok::warp;
    }
    [[nodiscard]] constexpr bool needs_warp(const instruction& i) const noexcept {
        if (is_warp_sync(i)) return false;
        if (i.op == tok::bar || i.op == tok::barrier) return true;
        return code_.has(i, tok::aligned) || i.op == tok::wgmma;
    }
    /// Nobody can go on but lanes that wait for the others of their warp. Those others have left for good, or are at
    /// another instruction of the kind: then the lanes go on without them, which an `.aligned` instruction may not.
    constexpr bool alone() {
        for (warp_type& w : warps_)
            for (piece& p : w.pieces) {
                if (p.what != waiting::lanes || p.alone || blocked_elsewhere(w, p)) continue;
                const instruction& i = code_[p.pc];
                if (code_.has(i, tok::aligned) || i.op == tok::bar) {
                    this->report(fault::part_of_a_warp, w, p.lanes, p.pc, other_place(w, p), &w, w.live & ~p.lanes,
                                 "executes an .aligned instruction in part of its warp only; the other lanes are at %");
                    abandoned_ = true;
                }
                p.alone = true;
                return true;
            }
        // A barrier that one lane runs for its warp, while the others wait for what lies behind it.
        for (warp_type& w : warps_)
            for (piece& p : w.pieces) {
                const instruction& i = code_[p.pc];
                if (p.what != waiting::lanes || p.alone || code_.has(i, tok::aligned) || i.op == tok::bar) continue;
                p.alone = true;
                return true;
            }
        return false;
    }
    [[nodiscard]] static constexpr bool blocked_elsewhere(const warp_type& w, const piece& p) noexcept {
        for (const piece& q : w.pieces)
            if (&q != &p && (q.what == waiting::phase || q.what == waiting::named || q.what == waiting::cluster))
                return true;
        return false;
    }
    [[nodiscard]] static constexpr uint32_t other_place(const warp_type& w, const piece& p) noexcept {
        for (const piece& q : w.pieces)
            if (q.pc != p.pc) return q.pc;
        return p.pc;
    }

    // ---- effects ------------------------------------------------------------------------------------------------

    constexpr outcome effect(warp_type& w, std::size_t at, const instruction& i, uint32_t pc, uint32_t on) {
        switch (i.op) {
            case tok::st: return store(w, i, pc, on);
            case tok::atom:
            case tok::red: return reduce(w, i, pc, on);
            case tok::ldmatrix:
            case tok::stmatrix: this->matrix(w, i, pc, on); return outcome::done;
            case tok::cp: copy_instruction(w, i, pc, on); return outcome::done;
            case tok::mbarrier: return this->mbarrier_instruction(w, at, i, pc, on);
            case tok::bar:
            case tok::barrier: return barrier(w, at, i, pc, on);
            case tok::fence:
            case tok::membar: this->fence(w, i, on); return outcome::done;
            case tok::wgmma: return this->wgmma(w, at, i, pc, on);
            case tok::tcgen05: return this->tcgen05(w, at, i, pc, on);
            case tok::call:
                if (!i.known_call) this->abandon(pc, reason(i));
                this->forget(w, i, on);
                return outcome::done;
            case tok::brx:
            case tok::none: this->abandon(pc, reason(i)); return outcome::done;
            case tok::clusterlaunchcontrol: launch_control(w, i, pc, on); return outcome::done;
            case tok::setmaxnreg: ++w.budgets, w.budget_at = pc; return outcome::done;
            case tok::trap: trapped_ = true; return leave(w, at, on, pc);
            default: this->forget(w, i, on); return outcome::done;
        }
    }
    [[nodiscard]] static constexpr const char* reason(const instruction& i) noexcept {
        switch (i.op) {
            case tok::call: return "calls of device functions";
            case tok::brx: return "branches through a table";
            default: return "a line of text that nobody reads";
        }
    }
    constexpr outcome store(warp_type& w, const instruction& i, uint32_t pc, uint32_t on) {
        if (code_.has(i, tok::async))
            async_store(w, i, pc, on);
        else
            base::store(w, i, pc, on);
        return outcome::done;
    }
    constexpr outcome reduce(warp_type& w, const instruction& i, uint32_t pc, uint32_t on) {
        if (code_.has(i, tok::async))
            async_store(w, i, pc, on);
        else
            this->update(w, i, pc, on);
        return outcome::done;
    }
    /// `st.async`, `red.async`: a copy of a few bytes that lands on an mbarrier of the block it writes.
    constexpr void async_store(warp_type& w, const instruction& i, uint32_t pc, uint32_t on) {
        const uint32_t bytes = isa::bits(i.type) / 8 * i.vector;
        for (uint32_t m = on; m != 0 && !abandoned_; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const place to = this->resolve(w, this->address(w, code_.at(i, 0), l), i.sp);
            const place bar = this->resolve(w, this->address(w, code_.at(i, 2), l), i.sp);
            if (!to.known || !to.shared || !bar.known || !bar.shared)
                return this->abandon(pc, "an st.async to an address that is not followed");
            if (to.block != w.block) this->visit(w, pc, 1u << l, to.block, "stores into");
            mbarrier* const b = this->barrier_for(w, pc, 1u << l, bar.block, bar.offset);
            if (b != nullptr) this->start_copy(w, pc, 1u << l, to.block, to.offset, bytes, *b, bar.block, false);
        }
    }
    /// `clusterlaunchcontrol`: a response of 16 bytes lands on an mbarrier, of the own block or of all; the first few
    /// say that a cluster was cancelled. Its first word stands for the response.
    constexpr void launch_control(warp_type& w, const instruction& i, uint32_t pc, uint32_t on) {
        if (code_.word(i, 1) == tok::query_cancel) {
            const bool asks = code_.has(i, tok::is_canceled);
            value v[32];
            for (uint32_t m = on; m != 0; m &= m - 1) {
                const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
                const value response = this->lane(w, code_.at(i, 1), l);
                v[l] = response;
                if (response.is_known())
                    v[l] = {asks && response.bits > 1 + 4 * (chosen_.seed % 2) ? 0 : response.bits, knowledge::data};
                if (asks && response.is_known()) v[l].bits = v[l].bits != 0 ? 1 : 0;
            }
            if (code_.at(i, 0).what == operand::kind::reg) return this->put_each(w, code_.at(i, 0), v, on);
            return this->forget(w, i, on);
        }
        const bool all = code_.has(i, tok::multicast__cluster__all);
        for (uint32_t m = on; m != 0 && !abandoned_; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const place to = this->resolve(w, this->address(w, code_.at(i, 0), l), space::shared);
            const place bar = this->resolve(w, this->address(w, code_.at(i, 1), l), space::shared);
            if (!to.known || !bar.known) return this->abandon(pc, "a response to an address that is not followed");
            ++responses_;
            for (uint32_t b = all ? 0 : to.block; b < (all ? blocks_.size() : to.block + 1) && !abandoned_; ++b) {
                if (b != w.block) this->visit(w, pc, 1u << l, b, "asks for");
                mbarrier* const x = this->barrier_for(w, pc, 1u << l, b, bar.offset);
                if (x == nullptr) return;
                this->start_copy(w, pc, 1u << l, b, to.offset, 16, *x, b, true);
                blocks_[b].words.store(to.offset, 4, value{responses_, knowledge::data}, Values::joined);
            }
        }
    }
    constexpr void copy_instruction(warp_type& w, const instruction& i, uint32_t pc, uint32_t on) {
        if (code_.has(i, tok::bulk)) return this->bulk(w, i, pc, on);
        if (code_.has(i, tok::reduce)) return this->bulk(w, i, pc, on);
        if (code_.has(i, tok::mbarrier)) return this->arrive_behind_copies(w, i, pc, on);
        if (code_.has(i, tok::async)) this->thread_copy(w, i, pc, on);
    }
    constexpr outcome barrier(warp_type& w, std::size_t at, const instruction& i, uint32_t pc, uint32_t on) {
        const tok kind = code_.word(i, 1);
        if (kind == tok::warp) return outcome::done;  // the lanes are together: `gathered` has seen to it
        if (kind == tok::cluster) return this->cluster_barrier_instruction(w, at, i, pc, on);
        return this->named(w, at, i, pc, on);
    }

    // ---- ends ---------------------------------------------------------------------------------------------------

    [[nodiscard]] constexpr bool all_left() const noexcept {
        for (const warp_type& w : warps_)
            if (w.live != 0) return false;
        return true;
    }
    /// A copy or an arrival ends. `stuck`: nobody can go on, so that sizes nobody has said show.
    constexpr bool land_one(bool stuck) {
        const std::size_t n = this->landings_.size();
        if (n == 0) return false;
        const schedule s = static_cast<schedule>(chosen_.schedule);
        const std::size_t first = s == schedule::shuffled ? random() % n : s == schedule::last_starved ? n - 1 : 0;
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t at = (first + k) % n;
            if (this->landings_[at].open && !(stuck && this->measure(this->landings_[at]))) continue;
            this->land(at);
            return true;
        }
        return false;
    }
    /// All have left: what is still under way lands, and no barrier may have got bytes nobody expected.
    /// Whether a copy is left whose size nothing shows, onto a barrier that lacks nothing else: then a wait for it says
    /// nothing. Ends the run.
    constexpr bool unmeasured() {
        for (const landing& l : this->landings_) {
            if (!l.open || this->barrier_at(l.block, l.address).pending > 0) continue;
            this->abandon(l.at, "a copy of a number of bytes that is not known");
            return true;
        }
        return false;
    }
    constexpr void at_end() {
        while (land_one(true)) {}
        for (const warp_type& w : warps_) {
            const warp_type& first = warps_[w.agent - w.index % 4];
            if (w.budgets == first.budgets) continue;
            const warp_type &more = w.budgets > first.budgets ? w : first, &less = &more == &w ? first : w;
            this->report(fault::register_budget, more, all_lanes, more.budget_at,
                         "executes setmaxnreg, and warp " + number(less.index) +
                             " of its warpgroup does not: all four warps execute it");
            return;
        }
    }
    constexpr void deadlock() {
        if (trapped_) return this->abandon(0, "what comes behind a trap or a failed assertion of other threads");
        // The wait that explains most comes first: for a phase, then for a named barrier, then the rest.
        for (const waiting kind :
             {waiting::phase, waiting::named, waiting::products, waiting::columns, waiting::cluster, waiting::lanes})
            for (warp_type& w : warps_)
                for (piece& p : w.pieces) {
                    if (p.what != kind) continue;
                    message text = "waits for " + waits_for(w, p) + others(w, p);
                    this->report(deadlock_kind(w, p), w, p.lanes, p.pc, none, nullptr, 0, std::move(text));
                    return;
                }
    }
    [[nodiscard]] constexpr fault deadlock_kind(const warp_type& w, const piece& p) const noexcept {
        switch (p.what) {
            case waiting::named:
                return blocks_[w.block].named[p.address].whole_block ? fault::block_deadlock : fault::named_deadlock;
            case waiting::cluster: return fault::cluster_deadlock;
            case waiting::products: return fault::product_deadlock;
            case waiting::columns: return fault::column_deadlock;
            default: return fault::deadlock;
        }
    }
    [[nodiscard]] constexpr message waits_for(const warp_type& w, const piece& p) {
        switch (p.what) {
            case waiting::phase: {
                const mbarrier& b = this->barrier_at(p.block, p.address);
                message s = "phase " + number(b.phase) + " of the mbarrier " + this->object(p.address);
                if (p.block != w.block) s += " of block " + number(p.block);
                if (b.pending != 0) s += ", which lacks " + number(b.pending) + " of " + number(b.count) + " arrivals";
                if (b.bytes > 0)
                    s += (b.pending != 0 ? " and " : ", which lacks ") + number(b.bytes) + " bytes no copy brings";
                if (b.bytes < 0)
                    s += (b.pending != 0 ? " and " : ", which ") + message("has ") + number(-b.bytes) +
                         " bytes more than expected";
                return s;
            }
            case waiting::named: {
                const named_barrier& b = blocks_[w.block].named[p.address];
                message s = "named barrier " + number(p.address) + ", where " + number(b.arrived) + " of ";
                if (b.whole_block)
                    s += "all";
                else
                    s += number(b.expected);
                s += " threads are";
                return s;
            }
            case waiting::cluster: return "the cluster barrier, where not all threads arrive";
            case waiting::columns: return number(p.generation) + " free columns of tensor memory";
            case waiting::products: return "wgmma that not all four warps of its warpgroup have started";
            default: return "the other lanes of its warp";
        }
    }
    /// What everybody else does, so that nobody can help.
    [[nodiscard]] constexpr message others(const warp_type& me, const piece& mine) {
        message s;
        uint32_t left = 0, said = 0;
        list<uint64_t> seen = {mix(mine.pc, me.block)};
        for (warp_type& w : warps_) {
            if (w.live == 0) ++left;
            for (piece& p : w.pieces) {
                const uint64_t key = mix(p.pc, w.block);
                bool known = false;
                for (const uint64_t k : seen) known = known || k == key;
                if (known || said == 3) continue;
                seen.push_back(key);
                ++said;
                s += "; " + this->who(w, p.lanes) + " waits for " + waits_for(w, p);
            }
        }
        if (left != 0) s += "; " + number(left) + (left == 1 ? " warp has" : " warps have") + " exited";
        // Not `?:`: of two messages g++ 12 destroys the chosen one in constant evaluation.
        if (s.empty()) s += "; nobody else is left to complete it";
        return s;
    }

    list<uint32_t> taking_part_;  ///< how many instructions before each one somebody counts or waits for
    uint64_t random_ = 1;
    uint64_t turn_ = 0;
    uint64_t responses_ = 0;  ///< of launch control, so far
    bool trapped_ = false;    ///< threads have ended the grid: whoever waits for them is not stuck
};

}  // namespace ptxdsl::machine
