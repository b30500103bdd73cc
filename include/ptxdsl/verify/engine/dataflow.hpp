// SPDX-License-Identifier: Apache-2.0
// The second pass: the events as a program. Branches join, loop bodies run twice, and what is pending, written or
// initialised is followed on the way.
//
// "Provably" fixes how paths join. A thread that takes an arm has done what the arm does; so when one arm of an `if`
// changes something and the other leaves it, the change counts for the code around the `if`, and a later `if` that
// undoes it counts too. Where both arms change it, only what both leave behind counts. A loop body is taken to run;
// only F05 names the path on which a loop runs zero times.
#pragma once

#include <ptxdsl/verify/engine/lattice.hpp>
#include <ptxdsl/verify/rules/named_barriers.hpp>

namespace ptxdsl::verify {

template <class Facts>
class flow {
public:
    constexpr explicit flow(Facts& f) noexcept
        : f_(f),
          fragments_(f.fragments.size()),
          slots_(f.slots.size()),
          rings_(f.rings.size() < max_rings ? f.rings.size() : max_rings),
          walkers_(f.walkers.size()),
          paths_(f) {}

    constexpr void run() {
        if (f_.is_function) forget();
        block(0);
        if (!s_.dead) leave(nullptr);
        warn_useless();
        check_parts();
    }

private:
    using S = flow_state;

    // ---- paths
    // --------------------------------------------------------------------------------------------------------

    struct loop_frame {
        u32 id = 0;
        loop_frame* outer = nullptr;
        bool has_exit = false, has_again = false, has_first = false;
        S exit{}, again{}, first{};
    };

    [[nodiscard]] constexpr item& of(fragment_item k, u32 i) noexcept { return s_.fragments[static_cast<u32>(k)][i]; }
    [[nodiscard]] constexpr item& of(slot_item k, u32 i) noexcept { return s_.slots[static_cast<u32>(k)][i]; }
    /// Whether the code at hand is sure to meet what `x` says.
    [[nodiscard]] constexpr bool meets(const item& x) const noexcept { return x.value != 0 && depth_ <= x.depth; }

    /// Runs events from `i` to the one that closes the construct; returns the index of that one.
    constexpr u32 block(u32 i) {
        for (; i < f_.events.size(); ++i) {
            event& e = f_.events[i];
            switch (e.kind) {
                case event_kind::if_begin: i = branch(i); break;
                case event_kind::loop_begin: i = loop(i); break;
                case event_kind::block_begin: i = scope(i); break;
                case event_kind::else_begin:
                case event_kind::if_end:
                case event_kind::block_end:
                case event_kind::loop_end: return i;
                default:
                    if (!s_.dead) step(e);
                    break;
            }
        }
        return i;
    }
    constexpr u32 branch(u32 i) {
        const S before = s_;
        const bool selects = (f_.events[i].flags & event_flag::selects) != 0;
        const u8 inner =
            (f_.events[i].flags & event_flag::one) != 0 ? 0 : 1;  // one thread of those that run the code around
        const u8 distinguishes = (f_.events[i].flags & event_flag::cases) != 0 ? 1 : 0;
        const u8 divides = distinguishes == 0 || selects ? 1 : 0;
        depth_ = static_cast<u8>(depth_ + inner);
        cases_ = static_cast<u8>(cases_ + distinguishes);
        parts_ = static_cast<u8>(parts_ + divides);
        u32 end = block(i + 1);
        const S then = s_;
        s_ = before;
        const bool has_else = end < f_.events.size() && f_.events[end].kind == event_kind::else_begin;
        if (has_else) end = block(end + 1);
        depth_ = static_cast<u8>(depth_ - inner);
        cases_ = static_cast<u8>(cases_ - distinguishes);
        parts_ = static_cast<u8>(parts_ - divides);
        const bool one = (f_.events[i].flags & event_flag::one) != 0;
        const S other = s_;
        s_ = paths_.join(before, then, other, depth_);
        paths_.join_copies(s_, before, then, other, distinguishes != 0, has_else, depth_);
        // What one thread does for the others counts for all; what a role does is its own affair.
        for (u32 r = 0; r < rings_ && selects; ++r) {
            const S& own = one && !then.dead ? then : before;
            s_.rings[r] = own.rings[r], s_.filled[r] = own.filled[r];
            s_.unanswered[r] = own.unanswered[r], s_.waits[r] = own.waits[r];
            for (u32 k = 0; k < 2; ++k) s_.walks[r][k] = own.walks[r][k];
        }
        if (f_.events[i].a != 0 && !then.dead) keep_walks(then);
        const bool certain = (f_.events[i].flags & event_flag::certain) != 0;
        if (selects && certain && !then.dead) s_.initialised |= then.initialised, s_.invalid |= then.invalid;
        return end;
    }
    /// Behind an `if` that one block of the cluster takes: what is wrong for that block is wrong, in code that all run.
    constexpr void keep_walks(const S& then) noexcept {
        for (u32 r = 0; r < rings_; ++r)
            for (u32 k = 0; k < 2; ++k) {
                walk_flow& w = s_.walks[r][k];
                const bool changed = !(w == then.walks[r][k]);
                w = then.walks[r][k];
                if (changed && cases_ < w.cases) w.cases = cases_;
            }
    }
    /// Code that a `break_` can leave.
    constexpr u32 scope(u32 i) {
        loop_frame fr;
        fr.id = f_.events[i].a;
        fr.outer = loops_;
        loops_ = &fr;
        const u32 end = block(i + 1);
        loops_ = fr.outer;
        if (fr.has_exit) paths_.meet(s_, fr.exit);
        return end;
    }
    constexpr u32 loop(u32 i) {
        loop_frame fr;
        fr.id = f_.events[i].a;
        fr.outer = loops_;
        loops_ = &fr;
        const S before = s_;
        u32 end = block(i + 1);
        if (fr.has_again) paths_.meet(s_, fr.again);
        const u32 trips = f_.events[i].b;
        if (!s_.dead && trips > 1 && !(s_ == before)) {
            forget_uncounted(i, end);
            for (u32 r = 0; r < rings_; ++r)
                if (s_.unanswered[r] != before.unanswered[r]) s_.unanswered[r] = 255;
            const bool had_exit = fr.has_exit;
            const S exit = fr.exit;
            fr.has_exit = fr.has_again = false;
            end = block(i + 1);
            if (!fr.has_exit && had_exit) fr.exit = exit, fr.has_exit = true;
        }
        loops_ = fr.outer;
        if (fr.has_exit)
            s_ = fr.exit;
        else
            s_.dead = true;
        if (trips == unknown_count && fr.has_first) {
            keep_dirty(before, fr.first);
            loosen(before, fr.first);
        }
        return end;
    }
    /// A wait that the loop repeats without a read between is for one slot when the loop spins on it, else for several.
    constexpr void forget_uncounted(u32 begin, u32 end) noexcept {
        bool spins = true;
        for (u32 i = begin + 1; i < end && spins; ++i) {
            const event_kind k = f_.events[i].kind;
            spins = k == event_kind::ring_wait || k == event_kind::barrier_use || k == event_kind::barrier_wait ||
                    k == event_kind::rendezvous || k == event_kind::break_;
        }
        for (u32 r = 0; r < rings_ && !spins; ++r)
            if (s_.rings[r].waited > begin && s_.rings[r].waited <= end) s_.rings[r] = {ring_flow::unknown};
    }
    /// F05: what a loop that may run zero times fences stays unfenced.
    constexpr void keep_dirty(const S& before, const S& first) noexcept {
        constexpr auto k = static_cast<u32>(slot_item::proxy);
        for (u32 i = 0; i < slots_ && !s_.dead; ++i) {
            const item& dirty = before.slots[k][i];
            const bool was =
                dirty.value == proxy_written && dirty.depth == 255 && first.slots[k][i].value == proxy_written;
            if (!was || s_.slots[k][i].value == proxy_written) continue;
            s_.slots[k][i] = before.slots[k][i];
            s_.many |= before.many & 1u << i;
            s_.met |= before.met & 1u << i;
        }
    }
    /// What only the body leaves behind is there when the body has run: an `if` behind the loop may stand for the case
    /// that it has not.
    constexpr void loosen(const S& before, const S& first) noexcept {
        const auto cap = [&](item& now, const item& was, const item& skipped) {
            if (skipped.value == was.value && now.value != was.value && now.depth > depth_) now.depth = depth_;
        };
        for (u32 k = 0; k < 3 && !s_.dead; ++k) {
            for (u32 i = 0; i < fragments_; ++i) cap(s_.fragments[k][i], before.fragments[k][i], first.fragments[k][i]);
            for (u32 i = 0; i < slots_; ++i) cap(s_.slots[k][i], before.slots[k][i], first.slots[k][i]);
        }
    }
    constexpr void jump(const event& e) {
        loop_frame* fr = loops_;
        while (fr != nullptr && fr->id != e.a) fr = fr->outer;
        if (fr == nullptr) return;
        const bool out = e.kind == event_kind::break_;
        if (out && !fr->has_first) fr->first = s_, fr->has_first = true;
        bool& has = out ? fr->has_exit : fr->has_again;
        S& to = out ? fr->exit : fr->again;
        if (has)
            paths_.meet(to, s_);
        else
            to = s_, has = true;
        if ((e.flags & event_flag::guarded) == 0) s_.dead = true;
    }

    // ---- events
    // -------------------------------------------------------------------------------------------------------

    constexpr void step(event& e) {
        switch (e.kind) {
            case event_kind::break_:
            case event_kind::continue_: return jump(e);
            case event_kind::leave: return leave(&e);
            case event_kind::opaque: return forget();
            case event_kind::wgmma_fence: return fence();
            case event_kind::wgmma: return multiply(e);
            case event_kind::wgmma_commit: return commit(e);
            case event_kind::wgmma_wait: return wait(e);
            case event_kind::register_read:
            case event_kind::register_write: return touch(e);
            case event_kind::generic_write: return generic_write(e);
            case event_kind::async_write: return copy_into(e);
            case event_kind::copy_begins:
                if ((e.flags & event_flag::guarded) == 0) of(slot_item::copy, e.a) = {1};
                return;
            case event_kind::plain_read: return read_copied(e, "this reads");
            case event_kind::told: hear(); return;
            case event_kind::generic_read: return generic_read(e);
            case event_kind::peer_touch:
                if (!s_.touched) touched_ = e.where;
                s_.touched = true;
                return;
            case event_kind::proxy_fence: return proxy_fence(e);
            case event_kind::rendezvous: return meeting(e);
            case event_kind::converge: copies_arrive(); return converge(0);
            case event_kind::barrier_wait: return wait_apart(e);
            case event_kind::map_use: return use_map(e);
            case event_kind::map_change: return change_map(e);
            case event_kind::map_fence:
                s_.map_fenced = true;
                s_.map_changed = e.a < max_maps ? static_cast<u8>(s_.map_changed & ~(1u << e.a)) : u8{0};
                return;
            case event_kind::barrier_use: return use_barrier(e);
            case event_kind::async_read: return async_read(e, false);
            case event_kind::matrix_read:
                async_read(e, true);
                of(slot_item::matrix, e.a) = {1};
                if (const u32 r = f_.ring_of_tile(f_.slots[e.a].allocation); r < max_rings)
                    read_slot(s_.rings[r]), read_at_[r] = e.where;
                return;
            case event_kind::peer_write: s_.peers |= 1u << e.a; return;
            case event_kind::peer_read: return peer_read(e);
            case event_kind::part_write: s_.partly |= 1u << e.a; return;
            case event_kind::cross_read: return cross_read(e);
            case event_kind::bulk_store: return bulk_store(e);
            case event_kind::bulk_commit: return bulk_commit(e);
            case event_kind::bulk_wait: return bulk_wait(e);
            case event_kind::cluster_arrive:
            case event_kind::cluster_wait: return cluster(e);
            case event_kind::barrier_init: return initialise(e);
            case event_kind::barrier_inval: return invalidate(e);
            case event_kind::ring_wait: return ring_wait(e, static_cast<u32>(&e - f_.events.data()) + 1);
            case event_kind::ring_hand: return ring_hand(e, static_cast<u32>(&e - f_.events.data()) + 1);
            case event_kind::tensor_read: s_.multiplied = static_cast<u8>(s_.multiplied | 1u << e.a); return;
            case event_kind::flag_polled: s_.polled |= e.a < 32 ? 1u << e.a : 0; return;
            case event_kind::flag_reset: return reset_flag(e);
            case event_kind::walk: return walk(e);
            default: return;
        }
    }
    /// The threads of a warp know no more than one of them, and some of them may have initialised barriers. Those of a
    /// role that has none who did know nothing of it.
    constexpr void meeting(const event& e) noexcept {
        const bool alone = e.a != 0 && (e.flags & event_flag::single) != 0;  // a wait that the others have not made
        const bool kept = s_.fresh != 0 && (e.b == 1 || alone || (e.b > 1 && is_among_others(f_, e.b - 2)));
        const u32 fresh = kept ? s_.fresh : 0, partly = e.b == 1 ? s_.partly : 0;
        rendezvous();
        s_.partly = partly;
        if (e.a != 0) s_.peers = s_.told = 0;  // the wait may be for what peers tell
        s_.fresh = fresh;
        if (e.b == 1) s_.of_warp |= fresh;
        converge(e.a == 0 ? 0 : 1u << (e.a - 1));
    }
    /// Others may have told this thread what they have done, by a flag.
    constexpr void hear() noexcept {
        rendezvous();
        s_.peers = s_.told = 0;
        converge(0);
    }
    constexpr void rendezvous() noexcept {
        s_.met = ~0u, s_.multiplied = 0, s_.polled = 0, s_.fresh = s_.waited = s_.partly = s_.readers = 0;
        s_.map_busy = 0;
        copies_arrive();
    }
    constexpr bool first_time(event& e) noexcept {
        const bool first = !e.told;
        e.told = true;
        return first;
    }
    constexpr void forget() noexcept {
        s_ = S{};
        s_.unfenced = false;
        s_.cluster = 2;
    }
    [[nodiscard]] constexpr register_name fragment_name(u32 i) const noexcept {
        return f_.reg_name(f_.fragments[i].first);
    }
    [[nodiscard]] constexpr string_view slot_name(u32 i) const noexcept { return f_.name_of(f_.slots[i].allocation); }
    static constexpr void age(item* items, u32 n) noexcept {
        for (u32 i = 0; i < n; ++i)
            items[i].value = static_cast<u8>(items[i].value + (items[i].value != 0 && items[i].value < 100 ? 1 : 0));
    }
    static constexpr void retire(item* items, u32 n, u32 allowed) noexcept {
        for (u32 i = 0; i < n; ++i)
            if (items[i].value >= 2 + allowed) items[i] = {};
    }

    // ---- wgmma: D08, D09, D10, D14
    // ------------------------------------------------------------------------------------

    constexpr void fence() noexcept {
        converge(0);
        s_.unfenced = false, s_.looked = 0;
        for (u32 i = 0; i < fragments_; ++i) s_.shape[i] = 0, of(fragment_item::dirty, i) = {};
    }
    constexpr void multiply(event& e) {
        converge(0);
        const u32 d = e.a & 0xffu, a = e.a >> 8;
        if (s_.unfenced && first_time(e)) f_.out.add(catalogue::D08_no_fence, e.where);
        s_.unfenced = false;
        if (d == max_fragments) {  // of this one nothing is followed
            s_.open = true;
            return;
        }
        check_fence(e, d, "accumulator");
        if (a < max_fragments) check_fence(e, a, "A operand");
        if (a < max_fragments && a != d && meets(of(fragment_item::d, a)) && !f_.fragments[a].fuzzy && first_time(e))
            f_.out.add(catalogue::D09_pending_a, e.where).name(fragment_name(a));
        if (s_.shape[d] != 0 && s_.shape[d] != e.b && !f_.fragments[d].fuzzy && first_time(e))
            f_.out.add(catalogue::D08_other_shape, e.where)
                .with(isa::spelling(static_cast<tok>(e.b)))
                .name(fragment_name(d))
                .with(isa::spelling(static_cast<tok>(s_.shape[d])));
        s_.shape[d] = static_cast<u16>(e.b);
        of(fragment_item::d, d) = {1};
        if (a < max_fragments) of(fragment_item::a, a) = {1};
        s_.open = true;
        issued_[d] = e.where;
    }
    constexpr void check_fence(event& e, u32 which, string_view what) {
        const u32 mask = 1u << which;
        if (f_.fragments[which].fuzzy) return;
        item& dirty = of(fragment_item::dirty, which);
        if (meets(dirty) && first_time(e))
            f_.out.add(catalogue::D08_written, e.where).with(what).name(fragment_name(which));
        else if ((s_.looked & mask) != 0 && dirty.value == 0 && first_time(e))
            f_.out.add(catalogue::D08_read, e.where).with(what).name(fragment_name(which));
        dirty = {};
        s_.looked &= ~mask;
    }
    constexpr void commit(event& e) noexcept {
        e.useful = e.useful || s_.open;
        s_.pending = s_.pending || s_.open;
        s_.open = false;
        age(s_.fragments[static_cast<u32>(fragment_item::d)], fragments_);
        age(s_.fragments[static_cast<u32>(fragment_item::a)], fragments_);
        age(s_.slots[static_cast<u32>(slot_item::matrix)], slots_);
        for (u32 i = 0; i < rings_; ++i)
            s_.rings[i].groups = s_.rings[i].groups << 4 | s_.rings[i].open, s_.rings[i].open = 0;
    }
    constexpr void wait(event& e) noexcept {
        converge(0);
        e.useful = e.useful || s_.pending;
        if (e.a == 0) s_.pending = false;
        retire(s_.fragments[static_cast<u32>(fragment_item::d)], fragments_, e.a);
        retire(s_.fragments[static_cast<u32>(fragment_item::a)], fragments_, e.a);
        retire(s_.slots[static_cast<u32>(slot_item::matrix)], slots_, e.a);
        for (u32 i = 0; i < fragments_; ++i)
            if (of(fragment_item::d, i).value == 0) s_.shape[i] = 0;
        for (u32 i = 0; i < rings_; ++i) {
            if (e.a < 16) s_.rings[i].groups &= (u64{1} << 4 * e.a) - 1;
            s_.rings[i].fresh = true;
        }
    }
    constexpr void touch(event& e) {
        const bool writes = e.kind == event_kind::register_write;
        if (f_.fragments[e.a].fuzzy) return;
        item &d = of(fragment_item::d, e.a), &a = of(fragment_item::a, e.a);
        if ((meets(d) || (writes && meets(a))) && first_time(e)) {
            const bool committed = (meets(d) ? d : a).value != 1;
            f_.out.add(committed ? catalogue::D09_in_flight : catalogue::D09_not_committed, e.where)
                .with(meets(d) ? "accumulator" : "A operand")
                .name(fragment_name(e.a))
                .with(writes ? "written" : "read");
            d = {}, a = {};  // told once
        }
        if ((e.flags & event_flag::guarded) != 0) return;
        if (writes)
            of(fragment_item::dirty, e.a) = {1};
        else
            s_.looked |= 1u << e.a;
    }

    // ---- shared memory and proxies: F04, F05, F14, D11, D14
    // ---------------------------------------------------------------

    constexpr void generic_write(event& e) {
        overwrite(e, "written");
        const u32 mask = 1u << e.a;
        const bool others = (s_.waited & mask) != 0 && (e.flags & event_flag::many) != 0 && !f_.slots[e.a].fuzzy;
        const bool by_warp = e.b != 0 && f_.slots[e.a].share == 5;  // its threads meet in the store itself
        if (others && !by_warp && (e.flags & event_flag::guarded) == 0 && first_time(e))
            f_.out.add(catalogue::F04_not_met, e.where).with(slot_name(e.a));
        of(slot_item::proxy, e.a) = {proxy_written};
        s_.met &= ~mask;
        s_.many = (e.flags & event_flag::many) != 0 ? s_.many | mask : s_.many & ~mask;
        s_.partial = (e.flags & event_flag::partial) != 0 ? s_.partial | mask : s_.partial & ~mask;
    }
    /// The slot gets new contents: nothing may still read the old ones.
    constexpr void overwrite(event& e, string_view how) {
        const slot& s = f_.slots[e.a];
        const bool part = (e.flags & event_flag::partial) != 0;
        if (s.fuzzy || (e.flags & event_flag::guarded) != 0 || (part && (stored_whole_ >> e.a & 1u) == 0)) return;
        const item& store = of(slot_item::store, e.a);
        if (meets(store) && !s.scattered && first_time(e)) {
            if ((s_.lax >> e.a & 1u) != 0 && store.value >= 2)
                f_.out.add(catalogue::F14_allowed, e.where).with(slot_name(e.a)).with(how);
            else
                f_.out.add(store.value == 1 ? catalogue::F04_not_committed : catalogue::F04_not_drained, e.where)
                    .with(slot_name(e.a))
                    .with(how);
        }
        if (!part && meets(of(slot_item::matrix, e.a)) && first_time(e))
            f_.out.add(catalogue::D14_overwritten, e.where).with(slot_name(e.a)).with(how);
    }
    /// A slot of which one knows what it is: a stage that is a constant, of a tile.
    [[nodiscard]] constexpr bool is_certain(u32 s) const noexcept {
        const slot& x = f_.slots[s];
        return !f_.m.from_text && !x.fuzzy && x.root == 0 &&
               f_.m.allocations[x.allocation].kind == ir::allocation_kind::tile;
    }
    /// F13: a copy over what others may still read, or over what has been written through the other proxy.
    constexpr void copy_into(event& e) {
        overwrite(e, "copied into");
        if (!is_certain(e.a) || (e.flags & event_flag::guarded) != 0) return;
        const u32 mask = 1u << e.a;
        if ((s_.readers & mask) != 0 && first_time(e))
            f_.out.add(catalogue::F13_still_read, e.where).with(slot_name(e.a));
        if (meets(of(slot_item::proxy, e.a)) && of(slot_item::proxy, e.a).value == proxy_written && first_time(e))
            f_.out.add(catalogue::F13_written, e.where).with(slot_name(e.a));
    }
    constexpr void generic_read(event& e) {
        if (!is_certain(e.a)) return;
        if ((e.flags & (event_flag::many | event_flag::guarded)) == event_flag::many) s_.readers |= 1u << e.a;
    }
    /// E07
    constexpr void cross_read(event& e) {
        if ((s_.partly >> e.a & 1u) == 0 || f_.out.has(catalogue::E07_not_met, e.where) || !first_time(e)) return;
        f_.out.add(catalogue::E07_not_met, e.where).with(slot_name(e.a));
    }
    /// E07: the others have said that they have written, and nobody has listened.
    constexpr void peer_read(event& e) {
        if ((s_.told >> e.a & 1u) == 0 || s_.cluster != 1 || !first_time(e)) return;
        f_.out.add(catalogue::E07_not_waited_for_peers, e.where).with(f_.name_of(e.a));
    }
    constexpr void proxy_fence(const event& e) noexcept {
        const bool single = (e.flags & event_flag::single) != 0;
        for (u32 i = 0; i < slots_; ++i) {
            const bool others = single && (s_.many >> i & 1u) != 0 && (s_.met >> i & 1u) == 0;
            if (of(slot_item::proxy, i).value == proxy_written && !others) of(slot_item::proxy, i).value = proxy_fenced;
        }
    }
    // ---- copies into shared memory: E07
    // ------------------------------------------------------------------------------------------------

    /// The thread has waited for something, or heard of others: copies that were under way may be complete.
    constexpr void copies_arrive() noexcept {
        for (u32 i = 0; i < slots_; ++i) of(slot_item::copy, i) = {};
    }
    constexpr void read_copied(event& e, const char* reader) {
        const slot& s = f_.slots[e.a];
        if (f_.told_late || !meets(of(slot_item::copy, e.a)) || s.fuzzy || s.copies_differ ||
            (e.flags & event_flag::guarded) != 0 || !first_time(e))
            return;
        of(slot_item::copy, e.a) = {};
        f_.out.add(catalogue::E07_under_way, e.where).with(reader).with(slot_name(e.a));
    }
    constexpr void async_read(event& e, bool matrix) {
        if ((e.flags & event_flag::partial) == 0) read_copied(e, matrix ? "this wgmma reads" : "this copy reads");
        item& written = of(slot_item::proxy, e.a);
        if (f_.slots[e.a].fuzzy || !meets(written)) return;
        const u32 mask = 1u << e.a;
        if ((e.flags & event_flag::partial) != 0 && (s_.partial & mask) != 0) return;
        if (written.value == proxy_written) {
            if (first_time(e))
                f_.out.add(matrix ? catalogue::D11_not_fenced : catalogue::F05_not_fenced, e.where)
                    .with(slot_name(e.a));
        } else if ((s_.met & mask) == 0 && (s_.many & mask) != 0 && (matrix || (e.flags & event_flag::single) != 0) &&
                   first_time(e)) {
            f_.out.add(matrix ? catalogue::D11_not_met : catalogue::F05_not_met, e.where).with(slot_name(e.a));
        }
        written = {};
    }
    constexpr void bulk_store(event& e) {
        async_read(e, false);
        of(slot_item::store, e.a) = {1};
        s_.lax &= ~(1u << e.a);
        const bool part = (e.flags & event_flag::partial) != 0;  // of all stores the slot is whole
        stored_whole_ = part || (stored_[e.a] != 0 && (stored_whole_ >> e.a & 1u) == 0) ? stored_whole_ & ~(1u << e.a)
                                                                                        : stored_whole_ | 1u << e.a;
        stored_by_[e.a] = stored_[e.a] == 0 || stored_by_[e.a] == e.b ? e.b : 0;
        stored_[e.a] = e.where;
    }
    /// Groups are each thread's own (PTX ISA 9.7.9.25.3.1).
    constexpr void bulk_commit(const event& e) noexcept {
        for (u32 i = 0; i < slots_; ++i)
            if (!owner_code::differ(e.b, stored_by_[i])) age(&of(slot_item::store, i), 1);
    }
    constexpr void bulk_wait(const event& e) noexcept {
        s_.map_busy = 0;
        item* const stores = s_.slots[static_cast<u32>(slot_item::store)];
        for (u32 i = 0; i < slots_; ++i) {
            if (owner_code::differ(e.b, stored_by_[i])) continue;
            const u32 mask = stores[i].value >= 2 ? 1u << i : 0;
            if (stores[i].value < 2 + e.a)
                s_.lax |= mask;
            else if (f_.slots[i].one)
                s_.waited |= mask;
            retire(stores + i, 1, e.a);
        }
    }

    // ---- barriers
    // -----------------------------------------------------------------------------------------------------

    constexpr void cluster(event& e) {
        const bool arrives = e.kind == event_kind::cluster_arrive;
        if (s_.cluster == (arrives ? 1 : 0) && (e.flags & event_flag::guarded) == 0 && first_time(e))
            f_.out.add(arrives ? catalogue::G05_second_arrive : catalogue::G05_no_arrive, e.where);
        s_.cluster = arrives ? 1 : 0;
        if (arrives) arrived_ = e.where;
        if (arrives)
            s_.told |= s_.peers;
        else
            rendezvous(), s_.peers = s_.told = 0, s_.touched = false, converge(0);
        if ((e.flags & event_flag::guarded) != 0) s_.cluster = 2;
    }
    constexpr void initialise(event& e) {
        const u64 mask = e.b >= 64 ? 0 : u64{1} << e.b;
        for (u32 i = 0; i < rings_; ++i)
            if (f_.rings[i].full == e.a || f_.rings[i].empty == e.a)
                s_.walks[i][0] = s_.walks[i][1] = {}, s_.filled[i] = 0;
        if ((s_.initialised & mask) != 0 && first_time(e))
            f_.out.add(catalogue::E12_twice, e.where).with(f_.name_of(e.a));
        if ((e.flags & event_flag::guarded) == 0) s_.initialised |= mask;
        s_.invalid &= ~mask;
        if ((e.flags & event_flag::single) != 0 && (e.flags & event_flag::guarded) == 0 && e.a < 32)
            s_.fresh |= 1u << e.a, s_.of_warp &= ~(1u << e.a);
    }
    /// E12: nobody may still be waiting, and the barrier is gone.
    constexpr void invalidate(event& e) {
        const u64 mask = e.b >= 64 ? 0 : u64{1} << e.b;
        s_.initialised = mask == 0 ? 0 : s_.initialised & ~mask;
        if ((e.flags & event_flag::guarded) != 0) return;
        s_.invalid |= mask;
        const bool waits = e.a != 0 && e.a <= 32 && (s_.apart >> (e.a - 1) & 1u) != 0;
        if (waits && (e.flags & event_flag::single) != 0 && first_time(e))
            f_.out.add(catalogue::E12_waited_for, e.where).with(f_.name_of(e.a - 1));
    }
    /// E03: the thread that initialised it may go on; all others must have met it first.
    constexpr void use_barrier(event& e) {
        if (e.b < 64 && (s_.invalid >> e.b & 1u) != 0 && first_time(e)) {
            s_.invalid &= ~(u64{1} << e.b);
            f_.out.add(catalogue::E12_gone, e.where).with(f_.name_of(e.a));
        }
        if ((s_.fresh >> e.a & 1u) == 0 || (e.flags & event_flag::many) == 0) return;
        if ((s_.of_warp >> e.a & 1u) != 0 && (e.flags & event_flag::partial) == 0) return;
        s_.fresh = 0;
        if (first_time(e)) f_.out.add(catalogue::E03_not_met, e.where).with(f_.name_of(e.a));
    }

    // ---- threads that wait together: E14
    // --------------------------------------------------------------------------------------------------

    constexpr void converge(u32 but) noexcept { s_.apart &= but, s_.apart_lanes &= but, s_.readers = 0; }
    constexpr void wait_apart(const event& e) noexcept {
        if (e.a >= 32 || e.b < 2 || e.b == unknown_count) return;
        (e.b > 32 ? s_.apart : s_.apart_lanes) |= 1u << e.a;
    }
    /// One thread frees the slot: have the others left their wait?
    constexpr void release_apart(event& e, u32 which) {
        const ring& r = f_.rings[which];
        const u32 mask = r.full < 32 ? 1u << r.full : 0;
        const bool warps = (s_.apart & mask) != 0;
        if ((e.flags & event_flag::single) == 0 || ((s_.apart | s_.apart_lanes) & mask) == 0 || !first_time(e)) return;
        f_.out.add(warps ? catalogue::E14_other_warps : catalogue::E14_other_lanes, e.where).with(f_.m.text(r.name));
    }

    constexpr void reset_flag(event& e) {
        if (e.a >= 32 || (s_.polled >> e.a & 1u) == 0 || !first_time(e)) return;
        f_.out.add(catalogue::E14_flag, e.where);
    }

    // ---- tensor maps: F10, F15
    // --------------------------------------------------------------------------------------------------

    constexpr void use_map(event& e) {
        const u8 mask = static_cast<u8>(1u << e.a);
        if ((s_.map_changed & mask) != 0 && first_time(e)) {
            s_.map_changed = static_cast<u8>(s_.map_changed & ~mask);
            f_.out.add(s_.map_fenced ? catalogue::F15_other_map : catalogue::F10_changed_map, e.where);
        }
        s_.map_busy |= mask;
    }
    constexpr void change_map(event& e) {
        const u8 mask = static_cast<u8>(1u << e.a);
        if ((s_.map_busy & mask) != 0 && (e.flags & event_flag::guarded) == 0 && first_time(e))
            f_.out.add(catalogue::F15_in_use, e.where);
        s_.map_busy = static_cast<u8>(s_.map_busy & ~mask);
        if ((s_.map_changed & mask) == 0) s_.map_fenced = false;
        s_.map_changed |= mask;
    }

    // ---- pipelines
    // ----------------------------------------------------------------------------------------------------

    constexpr void walk(const event& e) noexcept {
        const u32 bit = 1u << e.a;
        s_.version[e.a] = e.b != 0 && e.b < wraps ? s_.version[e.b - 1] : ++versions_;
        s_.at_start = e.b == begins ? s_.at_start | bit : s_.at_start & ~bit;
        s_.moved |= bit;
        if (e.b == wraps) s_.wrapped |= bit;
    }
    [[nodiscard]] constexpr u32 version_of(u32 code) const noexcept {
        return walker_code::is_walker(code) ? s_.version[code - 1] : code << 16;
    }
    /// E08: a wait for a phase that this role has ended itself, or with the parity of the round before.
    constexpr void ring_wait(event& e, u32 site) {
        const u32 r = e.a & 0xffu, side = e.a >> 8;
        if (side == 0) wait_for_slot(s_.rings[r], site);
        const u32 slot_code = e.b & 0xffffu, parity_code = e.b >> 16;
        walk_flow& w = s_.walks[r][side];
        const u32 slot = version_of(slot_code), parity = version_of(parity_code);
        const bool same = slot != 0 && parity != 0 && w.parity == parity && cases_ <= w.cases;
        const bool round = (e.flags & event_flag::partial) == 0;
        if (same && round && w.slot == slot && w.passed && f_.rings[r].whole[1 - side] &&
            (w.site == site || w.handed == slot) && first_time(e))
            void_wait(catalogue::E08_same_slot, e).at(f_.source(f_.events[w.hand_site - 1].where));
        if (side == 0) expect_answer(r, slot_code, site);
        const bool walks = walker_code::is_walker(slot_code) && walker_code::is_walker(parity_code);
        if (side == 1) wait_for_filled(e, r, walks);
        if (same && round && walks && (s_.wrapped >> (slot_code - 1) & 1u) != 0 && !f_.walkers[parity_code - 1].odd &&
            first_time(e))
            void_wait(catalogue::E08_same_parity, e);
        if (walker_code::is_walker(slot_code)) s_.wrapped &= ~(1u << (slot_code - 1));
        w.slot = slot, w.parity = parity, w.site = site, w.passed = false, w.waited = true, w.cases = 255;
    }
    constexpr report& void_wait(const char* what, const event& e) {
        f_.out.add(what, e.where).say(f_.m.text(f_.rings[e.a & 0xffu].name)).say("'");
        const u32 slot = e.b & 0xffffu;
        if (slot >= walker_code::constant) f_.out.stage(slot - walker_code::constant);
        return f_.out.next();
    }
    /// E01: the same statement hands the same slot over twice.
    constexpr void ring_hand(event& e, u32 site) {
        const u32 r = e.a & 0xffu, side = e.a >> 8;
        if (side == 0) release_slot(e, r), answer(r);
        walk_flow& w = s_.walks[r][side];
        const u32 slot = version_of(e.b & 0xffffu);
        if (const u32 n = number_of(e.b & 0xffffu); side == 1 && n < 32 && !w.waited) s_.filled[r] |= 1u << n;
        const bool sure = (e.flags & event_flag::selects) == 0;
        const bool latest = slot != 0 && slot == s_.walks[r][0].slot && (e.flags & event_flag::one) == 0;
        if (side == 0 && latest && (s_.multiplied >> r & 1u) != 0 && !f_.tm.told_release && first_time(e))
            f_.out.add(catalogue::I12_multiplied, e.where).with(f_.m.text(f_.rings[r].name));
        const bool other = w.waited && w.slot != 0 && w.slot != slot && cases_ <= w.cases;
        if (slot != 0 && w.handed == slot && w.hand_site == site && other && sure && f_.rings[r].whole[1 - side] &&
            first_time(e))
            f_.out.add(catalogue::E01_handed_over_twice, e.where)
                .with(f_.m.text(f_.rings[r].name))
                .at(f_.source(f_.events[w.site - 1].where));
        w.handed = slot, w.hand_site = site, w.waited = false;
        w.passed = w.passed || sure;
    }
    /// The number that a stage or parity is, where a walker has its first value or there is none; else `unknown_count`.
    [[nodiscard]] constexpr u32 number_of(u32 code) const noexcept {
        if (!walker_code::is_walker(code)) return code == 0 ? unknown_count : code - walker_code::constant;
        return (s_.at_start >> (code - 1) & 1u) != 0 ? f_.walkers[code - 1].start : unknown_count;
    }
    /// E08: the slot has been filled, and since then nobody has waited until it is free: parity 1 is that of the phase
    /// before the first.
    constexpr void wait_for_filled(event& e, u32 r, bool walks) {
        const u32 filled = s_.filled[r], code = e.b & 0xffffu, stage = number_of(code);
        s_.filled[r] = 0;
        if (filled == 0 || number_of(e.b >> 16) != 1 || cases_ != 0) return;
        const bool again = stage < 32 && (filled >> stage & 1u) != 0;
        const bool round = walks && (s_.wrapped >> (code - 1) & 1u) != 0 && !f_.walkers[code - 1].odd &&
                           !f_.walkers[(e.b >> 16) - 1].odd;
        if ((again || round) && first_time(e))
            void_wait(again ? catalogue::E08_filled_slot : catalogue::E08_filled_round, e);
    }
    /// A slot is waited for: one more must be freed. A wait that is repeated without another slot is none.
    constexpr void expect_answer(u32 r, u32 code, u32 site) noexcept {
        const bool walks = walker_code::is_walker(code) && !f_.walkers[code - 1].odd;
        const bool other = walks && (s_.moved >> (code - 1) & 1u) != 0;
        if (other)
            s_.unanswered[r] = static_cast<u8>(s_.unanswered[r] < 250 ? s_.unanswered[r] + 1 : 255);
        else if (!walks || s_.waits[r] != site)
            s_.unanswered[r] = 255;
        if (walks) s_.moved &= ~(1u << (code - 1));
        s_.waits[r] = site;
    }
    constexpr void answer(u32 r) noexcept {
        uneven_ |= s_.unanswered[r] == 0 || s_.unanswered[r] == 255 ? 1u << r : 0;
        if (s_.unanswered[r] != 0 && s_.unanswered[r] != 255) --s_.unanswered[r];
        s_.waits[r] = 0;
    }
    /// E01: each slot waited for is freed by one statement, which makes a part of the count.
    constexpr void check_parts() {
        for (u32 r = 0; r < rings_; ++r) {
            const ring& p = f_.rings[r];
            if (p.part == 0 || (uneven_ >> r & 1u) != 0 || f_.begins_anew) continue;
            f_.out.add(catalogue::E01_parts, p.part_where)
                .with(f_.name_of(p.empty))
                .with(f_.m.text(p.name))
                .with(p.count)
                .with(p.count == 1 ? " arrival" : " arrivals")
                .with(p.part)
                .with(p.part);
        }
    }
    constexpr void wait_for_slot(ring_flow& r, u32 event) noexcept {
        if (r.waited == event) return;
        count_wait(r);
        r.waited = event;
        r.cases = cases_;
    }
    constexpr void read_slot(ring_flow& r) noexcept {
        count_wait(r);
        if (r.open == 0) r.open = 1;
    }
    constexpr void count_wait(ring_flow& r) noexcept {
        if (r.waited == 0) return;
        r.waited = 0;
        if (r.held == ring_flow::unknown || r.held >= ring_flow::most) {
            r = {ring_flow::unknown};
            return;
        }
        ++r.held;
        r.fresh = true;
        if (r.open != 0) ++r.open;
        for (u32 i = 0; i < 64; i += 4)
            if ((r.groups >> i & 15u) != 0) r.groups += u64{1} << i;
    }
    /// D14: the slot released is the oldest one held, and a group that is not known to have ended reads it.
    constexpr void release_slot(event& e, u32 ring) {
        release_apart(e, ring);
        ring_flow& r = s_.rings[ring];
        count_wait(r);
        if (r.held == ring_flow::unknown || r.held == 0 || !r.fresh) return;
        if (cases_ > r.cases || (e.flags & event_flag::cases) != 0) {  // which iterations release is not known
            r = {ring_flow::unknown};
            return;
        }
        bool read = r.open >= r.held;
        for (u32 i = 0; i < 64; i += 4) read = read || (r.groups >> i & 15u) >= r.held;
        if (read && first_time(e))
            f_.out.add(catalogue::D14_freed, e.where)
                .with(f_.m.text(f_.rings[ring].name))
                .at(f_.source(read_at_[ring]));
        --r.held;
        r.fresh = false;
    }

    // ---- ends
    // ---------------------------------------------------------------------------------------------------------

    constexpr void leave(const event* e) {
        const bool guarded = e != nullptr && (e->flags & event_flag::guarded) != 0;
        if (e != nullptr && !guarded) s_.dead = true;
        if (s_.cluster == 1 && depth_ == 0 && !guarded && f_.reaches_peers && !f_.is_function &&
            (e == nullptr || e->a == 0))
            leave_cluster();
        if (f_.is_function || (e != nullptr && e->a != 0)) return;  // `a`: trap
        if (s_.touched && !guarded && parts_ == 0 && !f_.waits && !f_.tells_peers && !f_.listens)
            leave_peer();  // behind an `if` on threads others may stay
        depth_ = static_cast<u8>(depth_ + (guarded ? 1 : 0));
        for (u32 i = 0; i < fragments_; ++i)
            if (meets(of(fragment_item::d, i)) && !f_.fragments[i].fuzzy) leave_mma(i);
        for (u32 i = 0; i < slots_; ++i)
            if (meets(of(slot_item::store, i))) leave_store(i);
        depth_ = static_cast<u8>(depth_ - (guarded ? 1 : 0));
    }
    /// G04: all threads of all blocks have arrived and none waits, so the barrier holds nobody back.
    constexpr void leave_cluster() {
        if (told_cluster_) return;
        told_cluster_ = true;
        f_.out.add(catalogue::G04_nobody_waits, arrived_);
    }
    /// G04: nothing has told the block whose memory was used that it may go.
    constexpr void leave_peer() {
        if (told_cluster_) return;
        told_cluster_ = true;
        f_.out.add(catalogue::G04_may_be_gone, touched_);
    }
    constexpr void leave_mma(u32 i) {
        if ((told_at_exit_ >> i & 1u) != 0) return;
        told_at_exit_ |= 1u << i;
        f_.out
            .add(of(fragment_item::d, i).value == 1 ? catalogue::D10_not_committed : catalogue::D10_in_flight,
                 issued_[i])
            .name(fragment_name(i));
    }
    constexpr void leave_store(u32 i) {
        if ((told_store_ >> i & 1u) != 0) return;
        told_store_ |= 1u << i;
        f_.out
            .add(of(slot_item::store, i).value == 1 ? catalogue::F04_exit_not_committed : catalogue::F04_exit,
                 stored_[i])
            .with(slot_name(i));
    }
    /// In another round.
    [[nodiscard]] constexpr bool is_useful_elsewhere(const event& e) const noexcept {
        if ((e.kind != event_kind::wgmma_commit && e.kind != event_kind::wgmma_wait) || f_.counted.empty())
            return false;
        for (const event& x : f_.events)
            if (x.where == e.where && x.kind == e.kind && x.useful) return true;
        return false;
    }
    /// D10: commits and waits that had nothing to do on any path.
    constexpr void warn_useless() {
        if (f_.is_function) return;
        for (const event& e : f_.events) {
            if (e.useful || is_useful_elsewhere(e)) continue;
            if (e.kind == event_kind::wgmma_commit) f_.out.add(catalogue::D10_commits_nothing, e.where);
            if (e.kind == event_kind::wgmma_wait) f_.out.add(catalogue::D10_waits_for_nothing, e.where);
        }
    }

    Facts& f_;
    u32 fragments_, slots_, rings_, walkers_;
    lattice<Facts> paths_;
    u32 versions_ = 0;
    S s_{};
    loop_frame* loops_ = nullptr;
    u8 depth_ = 0;  ///< ifs around the event at hand
    u8 cases_ = 0;  ///< those of them that distinguish cases, not threads
    u8 parts_ = 0;  ///< all ifs around the event, also those for one thread, that select threads
    u32 issued_[max_fragments] = {};
    u32 stored_whole_ = 0;                                    ///< bit per slot: its bulk stores read all of it
    u32 stored_[max_slots] = {}, stored_by_[max_slots] = {};  ///< where, and by whom (`owner_code`)
    u32 read_at_[max_rings] = {};
    u32 told_at_exit_ = 0, told_store_ = 0;
    u32 arrived_ = 0, touched_ = 0;
    u32 uneven_ = 0;  ///< bit per ring: slots are not freed once for each wait, as far as is known
    bool told_cluster_ = false;
};

}  // namespace ptxdsl::verify
