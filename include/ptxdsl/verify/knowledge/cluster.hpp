// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster: which of them run the code at hand, what their rank makes of a register, and whether an address
// that `mapa` made lies in another block. A block that maps its own rank stays at home (PTX ISA 9.7.9.23). And code
// that nothing runs: a guard or an `if` that cannot hold.
#pragma once

#include <ptxdsl/verify/knowledge/registers.hpp>

namespace ptxdsl::verify {

inline constexpr u32 max_ranks = 16;

template <class Facts>
[[nodiscard]] constexpr u32 all_ranks(const Facts& f) noexcept {
    const u32 size = f.m.attrs.cluster.given() ? f.m.attrs.cluster_size() : max_ranks;
    return size >= max_ranks ? 0xffffu : (1u << size) - 1;
}

// ---- registers that follow from the rank
// ----------------------------------------------------------------------------------------------------------------

/// `mov` of `%cluster_ctarank`, or of a coordinate in the cluster (ranks count x first, PTX ISA 10.27).
template <class Facts>
constexpr void learn_own_rank(Facts& f, u32 id, const u32* source) {
    if (ir::kind_of(source[0]) != ir::operand_kind::special || !is_only_value(f, id)) return;
    const auto which = static_cast<isa::special>(ir::payload_of(source[0]));
    const ir::attributes::dim3& size = f.m.attrs.cluster;
    const bool whole = which == sreg::cluster_ctarank;
    if (!whole && (!size.given() || (which != sreg::cluster_ctaid_x && which != sreg::cluster_ctaid_y &&
                                     which != sreg::cluster_ctaid_z)))
        return;
    rank_value v{id};
    for (u32 r = 0; r < max_ranks; ++r)
        v.of[r] = whole                            ? r
                  : which == sreg::cluster_ctaid_x ? r % size.x
                  : which == sreg::cluster_ctaid_y ? r / size.x % size.y
                                                   : r / (size.x * size.y);
    f.rank_values.push_back(v);
}
/// What an operand is in the block of this rank.
template <class Facts>
[[nodiscard]] constexpr bool value_in_block(const Facts& f, u32 head, u32 rank, u32& value) noexcept {
    std::int64_t n = 0;
    if (f.constant_of(head, n)) {
        value = static_cast<u32>(n);
        return true;
    }
    for (const rank_value& v : f.rank_values)
        if (ir::kind_of(head) == ir::operand_kind::reg && v.reg == ir::payload_of(head)) {
            value = v.of[rank];
            return true;
        }
    return false;
}
template <class Token>
[[nodiscard]] constexpr bool compares(Token how, std::int64_t a, std::int64_t b, bool& holds) noexcept {
    switch (how) {
        case Token::eq: holds = a == b; return true;
        case Token::ne: holds = a != b; return true;
        case Token::lt:
        case Token::lo: holds = a < b; return true;
        case Token::le:
        case Token::ls: holds = a <= b; return true;
        case Token::gt:
        case Token::hi: holds = a > b; return true;
        case Token::ge:
        case Token::hs: holds = a >= b; return true;
        default: return false;
    }
}
/// 32-bit arithmetic on two numbers.
template <class Token>
[[nodiscard]] constexpr bool computes(Token what, std::int64_t a, std::int64_t b, std::int64_t& d) noexcept {
    switch (what) {
        case Token::mov:
        case Token::cvt: d = a; return true;
        case Token::add: d = a + b; return true;
        case Token::sub: d = a - b; return true;
        case Token::mul: d = static_cast<std::int64_t>(static_cast<u64>(a) * static_cast<u64>(b)); return true;
        case Token::and_: d = a & b; return true;
        case Token::or_: d = a | b; return true;
        case Token::xor_: d = a ^ b; return true;
        case Token::min: d = a < b ? a : b; return true;
        case Token::max: d = a < b ? b : a; return true;
        case Token::shl: d = b < 0 || b > 31 ? 0 : a << b; return true;
        case Token::shr: d = a >> (b < 0 || b > 31 ? 31 : b); return a >= 0;
        case Token::div: d = b == 0 ? 0 : a / b; return b != 0;
        case Token::rem: d = b == 0 ? 0 : a % b; return b != 0;
        default: return false;
    }
}
/// The operands of an instruction in one block, as its type reads them.
template <class Facts>
[[nodiscard]] constexpr bool operands_in_block(const Facts& f, const ir::cursor& c, const u32* o, u32 rank,
                                               std::int64_t (&in)[3]) noexcept {
    const isa::type_class type = isa::info(isa::token_type(token_at(c, c.tokens() - 1))).cls;
    const bool negative = type == isa::type_class::signed_int;
    if (!negative && type != isa::type_class::unsigned_int && type != isa::type_class::bits) return false;
    for (u32 i = 0; i + 1 < c.operands(); ++i) {
        u32 value = 0;
        if (i == 3 || ir::operand_words(o[i]) != 1 || !value_in_block(f, o[i], rank, value)) return false;
        in[i] = negative ? std::int64_t{static_cast<std::int32_t>(value)} : std::int64_t{value};
    }
    return true;
}
template <class Facts>
constexpr void learn_by_rank(Facts& f, u32 id, const ir::cursor& c, const u32* o) {
    const tok what = token_at(c, 0);
    const u32 bits = isa::bits(f.m.regs[id].type);
    if (!is_only_value(f, id) || (bits != 32 && bits != 16) ||
        (c.tokens() > 2 && what != tok::cvt && token_at(c, 1) != tok::lo))
        return;
    rank_value v{id};
    for (u32 r = 0; r < max_ranks; ++r) {
        std::int64_t in[3] = {}, d = 0;
        if (!operands_in_block(f, c, o, r, in) || !computes(what == tok::mad ? tok::mul : what, in[0], in[1], d))
            return;
        v.of[r] = static_cast<u32>(what == tok::mad ? d + in[2] : d) & (bits == 16 ? 0xffffu : ~0u);
    }
    f.rank_values.push_back(v);
}

// ---- conditions
// ----------------------------------------------------------------------------------------------------------------

/// `setp` of what follows from the rank.
template <class Facts>
constexpr void learn_rank_test(Facts& f, u32 id, const ir::cursor& c, const u32* o) {
    if (!is_only_value(f, id) || c.operands() != 3 || c.tokens() != 3) return;
    u32 ranks = 0;
    for (u32 r = 0; r < max_ranks; ++r) {
        std::int64_t in[3] = {};
        bool holds = false;
        if (!operands_in_block(f, c, o, r, in) || !compares(token_at(c, 1), in[0], in[1], holds)) return;
        ranks |= holds ? 1u << r : 0;
    }
    f.rank_tests.push_back({id, {static_cast<u16>(ranks)}, {static_cast<u16>(~ranks)}});
}
/// `and.pred`, `or.pred`, `not.pred`: of conditions of which some follow from the rank.
template <class Facts>
constexpr void learn_rank_tests(Facts& f, u32 id, const ir::cursor& c, const u32* o) {
    const tok what = token_at(c, 0);
    if (!is_only_value(f, id) || f.rank_tests.empty() || o[0] >> 28 > 1) return;
    const u32 a = ir::payload_of(o[0]);
    const bool not_a = ir::kind_of(o[0]) != ir::operand_kind::reg;
    const block_set holds = f.blocks_of(a, not_a), fails = f.blocks_of(a, !not_a);
    if (what == tok::not_) return f.rank_tests.push_back({id, fails, holds, f.is_of_position(a)});
    if ((what != tok::and_ && what != tok::or_) || o[1] >> 28 > 1) return;
    const u32 b = ir::payload_of(o[1]);
    const bool not_b = ir::kind_of(o[1]) != ir::operand_kind::reg;
    const block_set too = f.blocks_of(b, not_b), neither = f.blocks_of(b, !not_b);
    const bool alone = f.is_of_position(a) && f.is_of_position(b);
    if (what == tok::and_)
        f.rank_tests.push_back({id, holds.both(too), fails.either(neither), alone});
    else
        f.rank_tests.push_back({id, holds.either(too), fails.both(neither), alone});
}
/// `setp` of two numbers.
template <class Facts>
constexpr void learn_constant_test(Facts& f, u32 id, const ir::cursor& c, const u32* o) {
    std::int64_t a = 0, b = 0;
    bool holds = false;
    if (!is_only_value(f, id) || c.operands() != 3 || c.tokens() != 3 || !f.constant_of(o[0], a) ||
        !f.constant_of(o[1], b))
        return;
    const isa::type_class type = isa::info(isa::token_type(token_at(c, 2))).cls;
    if (type != isa::type_class::signed_int && type != isa::type_class::unsigned_int && type != isa::type_class::bits)
        return;
    if (type != isa::type_class::signed_int) a = static_cast<u32>(a), b = static_cast<u32>(b);
    if (!compares(token_at(c, 1), a, b, holds)) return;
    f.regs[id] |= bit::constant;
    f.values[id] = holds ? 1 : 0;
}
/// Whether a condition holds for no thread of any block that is here.
template <class Facts>
[[nodiscard]] constexpr bool holds_never(const Facts& f, u32 predicate, bool negated) noexcept {
    const u32 bits = f.regs[predicate];
    if ((bits & bit::again) != 0) return false;
    if ((bits & bit::constant) != 0) return (f.values[predicate] != 0) == negated;
    if ((bits & bit::lanes) != 0) {
        const lane_form form = lane_form::of(f.values[predicate]);
        const u32 first = form.first_values && form.shift + form.width == 10 ? form.count << form.shift : 0;
        return negated && (form.count >= 1u << form.width || (first != 0 && first >= f.m.attrs.threads()));
    }
    if ((bits & bit::by_block) == 0 || f.rank_tests.empty()) return false;
    return (f.blocks.both(f.blocks_of(predicate, negated)).ranks & all_ranks(f)) == 0;
}

// ---- addresses
// ----------------------------------------------------------------------------------------------------------------

enum class owner : u8 { own, peer, unknown };

/// The blocks that run an instruction at hand with this guard.
template <class Facts>
[[nodiscard]] constexpr block_set blocks_here(const Facts& f, u32 guard) noexcept {
    block_set b = f.blocks;
    if (guard != 0) b = b.both(f.blocks_of((guard >> 1) - 1, (guard & 1u) != 0));
    b.ranks &= static_cast<u16>(all_ranks(f));
    return b;
}
/// Whether what the blocks that are here reach by `m` lies in another block for one of them.
template <class Facts>
[[nodiscard]] constexpr owner owner_of(const Facts& f, const mapping& m) noexcept {
    const block_set b = blocks_here(f, f.guard);
    if (!m.known) return m.alike && b.sure && (b.ranks & (b.ranks - 1u)) != 0 ? owner::peer : owner::unknown;
    const u32 others = b.ranks & ~u32{m.own};
    if (others == 0) return owner::own;
    return b.sure || others == b.ranks ? owner::peer : owner::unknown;
}
/// ... by an address; `place` is `place::mapped`.
template <class Facts>
[[nodiscard]] constexpr mapping mapping_at(const Facts& f, u32 place) noexcept {
    return place <= f.mapped_to.size() ? f.mapped_to[place - 1] : mapping{};
}
template <class Facts>
[[nodiscard]] constexpr owner owner_of(const Facts& f, u32 place) noexcept {
    return place == 0 ? owner::own : owner_of(f, mapping_at(f, place));
}
/// `itself` says of a block's rank and the operand's value whether the block reaches itself alone, `farthest` of the
/// value which block is the last that it reaches.
template <class Facts, class Itself, class Farthest>
[[nodiscard]] constexpr mapping mapping_of(const Facts& f, u32 head, const Itself& itself,
                                           const Farthest& farthest) noexcept {
    mapping m;
    u32 own = 0, value = 0, known = 0;
    for (u32 r = 0; r < max_ranks && value_in_block(f, head, r, value); ++r, ++known) {
        own |= itself(r, value) ? 1u << r : 0;
        const u32 last = farthest(value);
        m.farthest[r] = static_cast<u8>(last < max_ranks ? last : 255);
    }
    m.known = known == max_ranks, m.own = static_cast<u16>(own);
    if (m.known || ir::kind_of(head) != ir::operand_kind::reg) return m;
    const u32 bits = f.regs[ir::payload_of(head)];
    bool counts = false;  // a loop over all blocks
    for (u32 l = f.loop_now; l != 0; l = f.loops[l].parent) counts = counts || f.loops[l].counter == head + 1;
    m.alike = (bits & bit::by_block) == 0 && ((bits & bit::again) == 0 || counts);
    return m;
}

// ---- how large a cluster is that the launch chooses
// ----------------------------------------------------------------------------------------------------------------

/// The least number of blocks with which none is missing that the blocks at hand reach by `m`; 1 where it is not known.
template <class Facts>
[[nodiscard]] constexpr u32 least_cluster(const Facts& f, const mapping& m) noexcept {
    const block_set b = blocks_here(f, f.guard);
    u32 size = 1;
    for (u32 r = 0; r < size && b.sure; ++r) {
        if ((b.ranks >> r & 1u) == 0) continue;
        if (m.farthest[r] >= max_ranks) return 1;
        if (m.farthest[r] >= size) size = m.farthest[r] + 1u;
    }
    return size;
}
/// Whether what is at hand reaches another block of the cluster, whatever its size is.
template <class Facts>
[[nodiscard]] constexpr bool reaches_another(const Facts& f, const mapping& m) noexcept {
    if (owner_of(f, m) != owner::peer) return false;
    return f.m.attrs.cluster.given() ? f.m.attrs.cluster_size() > 1 : least_cluster(f, m) > 1;
}
/// Whether some thread executes the instruction at hand whatever the data are: no case distinction around it, no loop
/// that may run zero times or has been left before, and no guard but one on the thread's index and the block's rank.
template <class Facts>
[[nodiscard]] constexpr bool certainly_runs(const Facts& f) noexcept {
    if (f.is_function || f.opaque || f.unstructured || f.some_left || f.never || !f.is_certain()) return false;
    for (u32 l = f.loop_now; l != 0; l = f.loops[l].parent)
        if (f.loops[l].trips == unknown_count || f.loops[l].trips == 0 || f.loops[l].skips) return false;
    return f.guard == 0 || f.is_of_position((f.guard >> 1) - 1);
}
/// Where the size of the cluster is left to the launch, what certainly reaches another block goes into the report: a
/// launch with fewer blocks is refused (G02).
template <class Facts>
constexpr void learn_least_cluster(Facts& f, const mapping& m) {
    if (f.m.attrs.cluster.given() || !certainly_runs(f)) return;
    const u32 size = least_cluster(f, m);
    if (size > f.out.least_cluster) f.out.least_cluster = size;
}

}  // namespace ptxdsl::verify
