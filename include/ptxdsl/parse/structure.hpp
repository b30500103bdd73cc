// SPDX-License-Identifier: Apache-2.0
// Structure of a function that has only labels and branches: loops, ifs and blocks with exits.
//
// A node of the dominator tree is printed with everything it dominates. What only one branch reaches stands in the
// branch's place; what several reach follows the construct they leave (N. Ramsey, "Beyond Relooper", ICFP 2022). Code
// behind a loop stands behind it, too, even when only one branch of the loop leads there. Flow that has a loop with two
// entries has no such order.
#pragma once

#include <ptxdsl/detail/dynarray.hpp>

#include <cstdint>

namespace ptxdsl::ptx {

/// Instructions without a branch between, and what comes behind them.
struct flow_block {
    static constexpr std::uint32_t none = 0xffffffffu;

    std::uint32_t first = 0, last = 0;  ///< instructions [first, last), without the branch
    std::uint32_t to = none;            ///< target of the branch
    std::uint32_t next = none;          ///< block behind it, where control gets there
    std::uint32_t guard = 0;            ///< of the branch: (register + 1) << 1 | negated, 0: none
    std::uint32_t where = 0;            ///< of the branch
};

/// The blocks of a function in the order of their text, and how they hang together. Block 0 is the entry.
class flow_graph {
public:
    using u32 = std::uint32_t;
    template <class T>
    using list = ptxdsl::detail::dynarray<T>;
    static constexpr u32 none = flow_block::none;

    list<flow_block> blocks;
    bool wild = false;  ///< has branches that may lead anywhere

    /// Blocks beyond which nothing is analysed: dominators can take the square of their number.
    static constexpr u32 max_blocks = 1u << 14;

    /// Finds order, dominators and loops. False when the flow has no structure.
    constexpr bool analyse() {
        if (wild || blocks.empty() || blocks.size() > max_blocks) return false;
        number();
        dominators();
        return find_loops() && attach();
    }

    // Of blocks that control can reach:
    [[nodiscard]] constexpr bool is_header(u32 b) const noexcept { return header_[b] != 0; }
    [[nodiscard]] constexpr bool ends(u32 b) const noexcept { return blocks[b].to == none && blocks[b].next == none; }
    /// The first block that stands behind `b` itself (`outer`: behind the loop that `b` begins), and the one after it.
    [[nodiscard]] constexpr u32 follower(u32 b, bool outer) const noexcept {
        return outer ? first_outer_[b] : first_inner_[b];
    }
    [[nodiscard]] constexpr u32 next_follower(u32 f) const noexcept { return next_follower_[f]; }

private:
    [[nodiscard]] constexpr u32 successor(u32 b, u32 i) const noexcept {
        const flow_block& x = blocks[b];
        if (i == 0) return x.to;
        return x.next == x.to ? none : x.next;
    }
    /// Reverse postorder; a block's text successor comes before its branch's target.
    constexpr void number() {
        const u32 n = blocks.size();
        position_.resize(n, none);
        list<u32> stack, state;
        list<u32> finished;
        state.resize(n, 0);
        stack.push_back(0);
        state[0] = 1;
        while (!stack.empty()) {
            const u32 b = stack.back();
            if (state[b] > 2) {
                stack.pop_back();
                finished.push_back(b);
                continue;
            }
            const u32 s = successor(b, state[b]++ - 1);
            if (s != none && state[s] == 0) stack.push_back(s), state[s] = 1;
        }
        for (u32 i = finished.size(); i > 0; --i) {
            position_[finished[i - 1]] = order_.size();
            order_.push_back(finished[i - 1]);
        }
        predecessors();
    }
    constexpr void predecessors() {
        const u32 n = blocks.size();
        first_edge_.resize(n, none);
        for (const u32 b : order_)
            for (u32 i = 0; i < 2; ++i) {
                const u32 s = successor(b, i);
                if (s == none) continue;
                edge_next_.push_back(first_edge_[s]);
                edge_from_.push_back(b);
                first_edge_[s] = edge_from_.size() - 1;
            }
    }
    /// K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm".
    constexpr void dominators() {
        dominator_.resize(blocks.size(), none);
        dominator_[0] = 0;
        for (bool changed = true; changed;) {
            changed = false;
            for (const u32 b : order_) {
                if (b == 0) continue;
                u32 d = none;
                for (u32 e = first_edge_[b]; e != none; e = edge_next_[e])
                    if (dominator_[edge_from_[e]] != none)
                        d = d == none ? edge_from_[e] : common_dominator(d, edge_from_[e]);
                if (d != dominator_[b]) dominator_[b] = d, changed = true;
            }
        }
    }
    [[nodiscard]] constexpr u32 common_dominator(u32 a, u32 b) const noexcept {
        while (a != b) {
            while (position_[a] > position_[b]) a = dominator_[a];
            while (position_[b] > position_[a]) b = dominator_[b];
        }
        return a;
    }
    [[nodiscard]] constexpr bool dominates(u32 a, u32 b) const noexcept {
        while (position_[b] > position_[a]) b = dominator_[b];
        return a == b;
    }
    /// Bodies of loops, inner ones first. False when a loop has two entries.
    constexpr bool find_loops() {
        const u32 n = blocks.size();
        header_.resize(n, 0);
        loop_.resize(n, none);
        outer_loop_.resize(n, none);
        list<u32> open;
        for (u32 i = order_.size(); i > 0; --i) {
            const u32 h = order_[i - 1];
            for (u32 e = first_edge_[h]; e != none; e = edge_next_[e]) {
                const u32 from = edge_from_[e];
                if (position_[from] < position_[h]) continue;
                if (!dominates(h, from)) return false;
                header_[h] = 1;
                open.push_back(from);
            }
            if (header_[h] == 0) continue;
            loop_[h] = h;
            while (!open.empty()) {
                u32 b = open.back();
                open.pop_back();
                b = loop_[b] == none ? b : outermost(loop_[b]);
                if (b == h) continue;
                if (loop_[b] == none)
                    loop_[b] = h;
                else
                    outer_loop_[b] = h;
                for (u32 e = first_edge_[b]; e != none; e = edge_next_[e])
                    if (position_[edge_from_[e]] > position_[h] && !is_in(edge_from_[e], h))
                        open.push_back(edge_from_[e]);
            }
        }
        return true;
    }
    [[nodiscard]] constexpr u32 outermost(u32 h) const noexcept {
        while (outer_loop_[h] != none) h = outer_loop_[h];
        return h;
    }
    [[nodiscard]] constexpr bool is_in(u32 b, u32 header) const noexcept {
        for (u32 h = loop_[b]; h != none; h = outer_loop_[h])
            if (h == header) return true;
        return false;
    }
    /// Which blocks stand behind a construct, and behind which. Lists are in order, so this goes backwards.
    constexpr bool attach() {
        const u32 n = blocks.size();
        first_inner_.resize(n, none);
        first_outer_.resize(n, none);
        next_follower_.resize(n, none);
        for (u32 i = order_.size(); i > 1; --i) {
            const u32 b = order_[i - 1];
            u32 owner = dominator_[b];
            bool outer = false;
            for (u32 h = loop_[owner]; h != none; h = outer_loop_[h])
                if (!is_in(b, h)) owner = h, outer = true;
            if (!outer && entries(b) < 2) continue;
            u32& first = outer ? first_outer_[owner] : first_inner_[owner];
            next_follower_[b] = first;
            first = b;
        }
        return true;
    }
    /// Ways into a block from before it.
    [[nodiscard]] constexpr u32 entries(u32 b) const noexcept {
        u32 count = 0;
        for (u32 e = first_edge_[b]; e != none; e = edge_next_[e])
            if (position_[edge_from_[e]] < position_[b]) ++count;
        return count;
    }

    list<u32> order_, position_, dominator_;
    list<u32> first_edge_, edge_next_, edge_from_;
    list<u32> header_, loop_, outer_loop_;
    list<u32> first_inner_, first_outer_, next_follower_;
};

/// Prints a function in the order of its structure to a writer:
///
///     begin_if(guard, where) begin_else() end_if()
///     begin_loop(id, where) end_loop(id)      begin_block(id) end_block(id, used)
///     jump(out, id, guard, where)             leaves a loop or block, or begins a loop's next turn
///     instructions(first, last)
///     synchronises(first, last)               whether those have to do with other threads
template <class Writer>
class structure_printer {
public:
    using u32 = std::uint32_t;
    static constexpr u32 none = flow_block::none;
    /// Deepest nesting; what is deeper is taken for flow without structure.
    static constexpr u32 max_depth = 200;
    /// And of loops: who follows the flow may walk each one twice as often as the one around it.
    static constexpr u32 max_loops = 10;

    constexpr structure_printer(const flow_graph& g, Writer& w) noexcept : g_(g), w_(w) {}

    /// False when the nesting is too deep.
    constexpr bool run() {
        tree(0, none);
        return !too_deep_;
    }

private:
    struct exit {
        u32 target, id;
        bool out;  ///< false: the next turn of a loop
        bool used;
    };

    /// Everything `b` dominates; control that falls off its end gets to `next`.
    constexpr void tree(u32 b, u32 next) {
        if (++depth_ > max_depth) too_deep_ = true;
        for (;;) {
            if (too_deep_) break;
            const u32 behind = g_.is_header(b) ? loop(b, next) : inner(b, next);
            if (behind == none) break;
            b = behind;
        }
        --depth_;
    }
    /// A loop and what stands behind it but for the last block, which it returns.
    constexpr u32 loop(u32 b, u32 next) {
        const u32 first = g_.follower(b, true);
        const u32 marks = exits_.size();
        open_blocks(first == none ? none : g_.next_follower(first));
        const u32 id = ++ids_;
        if (++loops_ > max_loops) too_deep_ = true;
        exits_.push_back({first != none ? first : next, id, true, false});
        exits_.push_back({b, id, false, false});
        w_.begin_loop(id, b);
        const u32 last = inner(b, b);
        if (last != none) tree(last, b);
        w_.end_loop(id);
        --loops_;
        exits_.truncate(exits_.size() - 2);
        return followers(first, marks);
    }
    constexpr u32 inner(u32 b, u32 next) {
        const u32 first = g_.follower(b, false);
        const u32 marks = exits_.size();
        open_blocks(first);
        const flow_block& x = g_.blocks[b];
        w_.instructions(x.first, x.last);
        const u32 rest = branch(x, first != none ? first : next);
        if (first == none) return rest;
        if (rest != none) tree(rest, first);
        close_block();
        return followers(first, marks);
    }
    /// Prints the blocks behind a construct; returns the last one instead, when there is nothing behind it.
    constexpr u32 followers(u32 f, u32 marks) {
        while (f != none) {
            const u32 behind = g_.next_follower(f);
            if (behind == none) return f;
            tree(f, behind);
            if (exits_.size() > marks) close_block();
            f = behind;
        }
        return none;
    }
    /// A block for each follower, the last one's outermost.
    constexpr void open_blocks(u32 f) {
        const u32 begin = exits_.size();
        for (; f != none; f = g_.next_follower(f)) exits_.push_back({f, 0, true, false});
        for (u32 i = begin, k = exits_.size(); i + 1 < k; ++i, --k) {
            const exit e = exits_[i];
            exits_[i] = exits_[k - 1], exits_[k - 1] = e;
        }
        for (u32 i = begin; i < exits_.size(); ++i) w_.begin_block(exits_[i].id = ++ids_);
    }
    constexpr void close_block() {
        w_.end_block(exits_.back().id, exits_.back().used);
        exits_.pop_back();
    }

    /// Prints where control goes behind a block but for the block in which it goes on, which it returns.
    constexpr u32 branch(const flow_block& x, u32 next) {
        if (x.guard == 0 || x.to == x.next || x.to == none || x.next == none)
            return go(x.to != none && (x.guard == 0 || x.next == none) ? x.to : x.next, next, 0, x.where);
        const u32 otherwise = x.guard ^ 1u;
        if (is_jump(x.to, next)) {
            static_cast<void>(go(x.to, next, x.guard, x.where));
            return go(x.next, next, 0, x.where);
        }
        if (is_jump(x.next, next)) {
            static_cast<void>(go(x.next, next, otherwise, x.where));
            return go(x.to, next, 0, x.where);
        }
        if (x.next == next || (x.to != next && is_way_out(x.to))) {
            arm(x.guard, x.to, next, x.where);
            return go(x.next, next, 0, x.where);
        }
        const bool one_arm = x.to == next || is_way_out(x.next);
        arm(otherwise, x.next, next, x.where, one_arm ? none : x.to);
        return one_arm ? go(x.to, next, 0, x.where) : none;
    }
    /// An arm that only leaves the kernel: what comes behind is no arm for that.
    [[nodiscard]] constexpr bool is_way_out(u32 b) const noexcept {
        return g_.ends(b) && !g_.is_header(b) && !w_.synchronises(g_.blocks[b].first, g_.blocks[b].last);
    }
    constexpr void arm(u32 guard, u32 b, u32 next, u32 where, u32 other = none) {
        w_.begin_if(guard, where);
        tree(b, next);
        if (other != none) {
            w_.begin_else();
            tree(other, next);
        }
        w_.end_if();
    }
    [[nodiscard]] constexpr exit* exit_to(u32 b) noexcept {
        for (u32 i = exits_.size(); i > 0; --i)
            if (exits_[i - 1].target == b) return &exits_[i - 1];
        return nullptr;
    }
    [[nodiscard]] constexpr bool is_jump(u32 b, u32 next) noexcept { return b != next && exit_to(b) != nullptr; }
    /// Jumps to `b` where it stands elsewhere; returns it where it can stand here.
    constexpr u32 go(u32 b, u32 next, u32 guard, u32 where) {
        if (b == next || b == none) return none;
        exit* const e = exit_to(b);
        if (e == nullptr) return b;
        e->used = true;
        w_.jump(e->out, e->id, guard, where);
        return none;
    }

    const flow_graph& g_;
    Writer& w_;
    ptxdsl::detail::dynarray<exit> exits_;
    u32 ids_ = 0;
    u32 depth_ = 0;
    u32 loops_ = 0;
    bool too_deep_ = false;
};

}  // namespace ptxdsl::ptx
