// SPDX-License-Identifier: Apache-2.0
// A kernel on its way from the text to the program: its records, and what they prove of registers and addresses
// without looking at the flow. Fragments get numbers in a row, registers written once their values, addresses their
// places in shared memory.
#pragma once

#include <ptxdsl/ir/behaviour.hpp>
#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/isa/tokens.hpp>
#include <ptxdsl/parse/structure.hpp>
#include <ptxdsl/parse/tree.hpp>

#include <cstdint>

namespace ptxdsl::ptx {

/// One kernel or device function, lowered. Locations of its records are nodes of the tree; names lie in the tree's
/// pool.
class lowered_kernel {
public:
    template <class T>
    using list = ptxdsl::detail::dynarray<T>;

    list<std::uint32_t> words;
    list<ir::reg_info> regs;
    list<ir::prefix_info> prefixes;
    list<ir::allocation> allocations;
    ir::attributes attrs;
    ir::name kernel;
    ir::function function;          ///< a device function: its words are all, its registers those of its parameters
    list<std::uint32_t> signature;  ///< its parameters' registers
    bool is_function = false;

    [[nodiscard]] constexpr ir::view read(const tree_view& v) const noexcept {
        ir::view m;
        m.words = words.data(), m.n.words = words.size();
        m.regs = regs.data(), m.n.regs = regs.size();
        m.prefixes = prefixes.data(), m.n.prefixes = prefixes.size();
        m.allocations = allocations.data(), m.n.allocations = allocations.size();
        m.pool = v.pool;
        m.kernel = kernel;
        if (is_function) {
            m.n.words = 0;
            m.functions = &function, m.n.functions = 1;
            m.function_words = words.data(), m.n.function_words = words.size();
            m.function_regs = signature.data(), m.n.function_regs = signature.size();
        }
        m.attrs = attrs;
        m.from_text = true;
        m.target = v.target();
        // What the version lacks is the checker's business.
        m.version = v.version() < m.target.floor() ? m.target.floor() : v.version();
        return m;
    }
};

namespace detail {

/// What `lowering` has read of the kernel at hand.
class lowered_code {
public:
    /// Barriers beyond which none is followed.
    static constexpr std::uint32_t max_barriers = 32;

    constexpr explicit lowered_code(const tree_view& v) : v_(v) {}

protected:
    using u32 = std::uint32_t;
    using u64 = std::uint64_t;
    using tok = isa::tok;
    using op = isa::action;
    template <class T>
    using list = ptxdsl::detail::dynarray<T>;

    // Symbols of operands. Places in shared memory are numbered through all variables of the module.
    static constexpr u32 other_symbol = 1, shared_symbol = 2;  // and ir::print_symbol

    /// A shared variable and where it is taken to lie.
    struct variable {
        u32 name, begin, bytes, align;
    };
    /// An instruction or a branch, in the order of the text.
    struct item {
        u32 at = 0;     ///< record in `code_`
        u32 label = 0;  ///< branch: node of the label
        bool branch = false;
        bool ends = false;  ///< control does not get behind it
    };
    /// What is known of a register's value.
    struct value {
        enum class kind : std::uint8_t { unseen, open, unknown, number, shared } is = kind::unseen;
        std::int64_t v = 0;
    };

    // ---- fragments ---------------------------------------------------------------------------------------------

    /// Registers that wgmma and tcgen05.ld name together get numbers in a row, as the DSL gives them: compilers number
    /// them as they please.
    constexpr void gather_fragments() {
        renamed_.truncate(0);
        for (const item& it : items_) {
            const ir::cursor c{code_.data() + it.at};
            const auto opcode = static_cast<tok>(c.token(0)), second = static_cast<tok>(c.token(1));
            if ((opcode != tok::wgmma || second != tok::mma_async) && (opcode != tok::tcgen05 || second != tok::ld))
                continue;
            const u32* o = c.first_operand();
            gather(o);
            if (opcode == tok::wgmma) gather(o + ir::operand_words(o[0]));
        }
        if (renamed_.empty()) return;
        for (const item& it : items_) rename(code_.data() + it.at);
    }
    constexpr void gather(const u32* o) {
        const u32 n = ir::payload_of(o[0]);
        if (ir::kind_of(o[0]) != ir::operand_kind::vec || n < 2) return;
        bool in_a_row = true, free = k_.prefixes.size() + n < 0xffff;
        for (u32 i = 1; i <= n; ++i) {
            if (ir::kind_of(o[i]) != ir::operand_kind::reg) return;
            in_a_row = in_a_row && ir::payload_of(o[i]) == ir::payload_of(o[1]) + i - 1;
            free = free && (renamed_.empty() || renamed_[ir::payload_of(o[i])] == 0);
        }
        if (in_a_row || !free) return;
        if (renamed_.empty()) renamed_.resize(k_.regs.size(), 0);
        for (u32 i = 1; i <= n; ++i) {
            const u32 old = ir::payload_of(o[i]);
            if (renamed_[old] != 0) return;  // named twice
            const ir::prefix_info p = k_.prefixes[k_.regs[old].prefix];
            renamed_[old] = k_.regs.size() + 1;
            // A prefix of its own, numbered from where its number is the old one.
            k_.prefixes.push_back({p.id, p.type, false, p.how, k_.regs.size() - (old - p.first)});
            k_.regs.push_back({p.type, static_cast<std::uint16_t>(k_.prefixes.size() - 1)});
        }
    }
    constexpr void rename(u32* w) noexcept {
        const ir::cursor c{w};
        if (w[2] != 0) {
            const u32 old = (w[2] >> 1) - 1;
            if (old < renamed_.size() && renamed_[old] != 0) w[2] = renamed_[old] << 1 | (w[2] & 1u);
        }
        u32* o = w + (c.first_operand() - w);
        for (u32 i = 0; i < c.operands(); ++i) {
            const u32 words = ir::operand_words(o[0]);
            switch (ir::kind_of(o[0])) {
                case ir::operand_kind::address: rename_word(o[1]); break;
                case ir::operand_kind::tensor:
                case ir::operand_kind::vec:
                case ir::operand_kind::pair:
                    for (u32 k = 1; k < words; ++k) rename_word(o[k]);
                    break;
                default: rename_word(o[0]); break;
            }
            o += words;
        }
    }
    constexpr void rename_word(u32& head) noexcept {
        const ir::operand_kind kind = ir::kind_of(head);
        if (kind != ir::operand_kind::reg && kind != ir::operand_kind::not_pred) return;
        const u32 old = ir::payload_of(head);
        if (old < renamed_.size() && renamed_[old] != 0) head = ir::head(kind, renamed_[old] - 1);
    }

    // ---- values ------------------------------------------------------------------------------------------------

    /// Which instruction writes each register, where it is only one.
    constexpr void find_values() {
        constexpr u32 several = flow_block::none;
        sources_.resize(k_.regs.size(), 0);
        values_.resize(k_.regs.size());
        for (const item& it : items_) {
            const ir::cursor c{code_.data() + it.at};
            const bool alone = c.guard() == 0 && ir::results_of(c.w) == 1;
            ir::each_result(c.w, [&](const u32* o) {
                if (ir::kind_of(o[0]) == ir::operand_kind::reg) {
                    u32& s = sources_[ir::payload_of(o[0])];
                    s = s == 0 && alone ? it.at + 1 : several;
                }
                if (ir::kind_of(o[0]) != ir::operand_kind::vec && ir::kind_of(o[0]) != ir::operand_kind::pair) return;
                for (u32 i = 1; i <= ir::payload_of(o[0]); ++i)
                    if (ir::kind_of(o[i]) == ir::operand_kind::reg) sources_[ir::payload_of(o[i])] = several;
            });
        }
    }
    [[nodiscard]] constexpr value value_of(u32 reg, u32 depth = 0) {
        using known = value::kind;
        value& v = values_[reg];
        if (v.is == known::open || depth > 64) return {known::unknown, 0};
        if (v.is != known::unseen) return v;
        v.is = known::open;
        value found{known::unknown, 0};
        if (sources_[reg] != 0 && sources_[reg] != flow_block::none)
            found = computed(ir::cursor{code_.data() + sources_[reg] - 1}, depth);
        values_[reg] = found;
        return found;
    }
    [[nodiscard]] constexpr value operand_value(const u32* o, u32 depth) {
        using known = value::kind;
        switch (ir::kind_of(o[0])) {
            case ir::operand_kind::small_int: return {known::number, ir::small_value(o[0])};
            case ir::operand_kind::symbol:
                if (ir::payload_of(o[0]) == shared_symbol) return {known::shared, o[1]};
                return {known::unknown, 0};
            case ir::operand_kind::reg: return value_of(ir::payload_of(o[0]), depth + 1);
            default: return {known::unknown, 0};
        }
    }
    [[nodiscard]] constexpr value computed(const ir::cursor& c, u32 depth) {
        using known = value::kind;
        constexpr value unknown{known::unknown, 0};
        const auto opcode = static_cast<tok>(c.token(0));
        const u32* o = c.first_operand();
        o += ir::operand_words(o[0]);
        if (c.operands() < 2 || !is_integer(c)) return unknown;
        const value a = operand_value(o, depth);
        if (a.is == known::unknown) return unknown;
        const bool shared_window = static_cast<tok>(c.token(1)) == tok::shared ||
                                   (c.tokens() > 2 && static_cast<tok>(c.token(2)) == tok::shared);
        if (opcode == tok::mov || opcode == tok::cvt || (opcode == tok::cvta && shared_window)) return a;
        if (c.operands() != 3) return unknown;
        const value b = operand_value(o + ir::operand_words(o[0]), depth);
        if (b.is == known::unknown) return unknown;
        const bool one_address = (a.is == known::shared) != (b.is == known::shared);
        const known is = a.is == known::shared || b.is == known::shared ? known::shared : known::number;
        if (opcode == tok::add && (one_address || is == known::number)) return {is, a.v + b.v};
        if (opcode == tok::sub && b.is == known::number) return {a.is, a.v - b.v};
        if (opcode == tok::shl && is == known::number && b.v >= 0 && b.v < 31 && a.v >= 0 && a.v < 1 << 27)
            return {is, a.v << b.v};
        return unknown;
    }
    /// 32- or 64-bit integers throughout, so that what was converted is what it was.
    [[nodiscard]] static constexpr bool is_integer(const ir::cursor& c) noexcept {
        for (u32 i = 1; i < c.tokens(); ++i) {
            const isa::scalar t = isa::token_type(static_cast<tok>(c.token(i)));
            if (t == isa::scalar::none) continue;
            if (isa::bits(t) < 32 || isa::info(t).cls == isa::type_class::floating) return false;
        }
        return true;
    }

    // ---- places ------------------------------------------------------------------------------------------------

    /// Replaces the addresses that are known, and makes allocations of mbarriers and variables.
    constexpr void find_places() {
        for (const item& it : items_) {
            u32* const w = code_.data() + it.at;
            const ir::cursor c{w};
            u32* o = w + (c.first_operand() - w);
            for (u32 i = 0; i < c.operands(); ++i, o += ir::operand_words(o[0])) {
                if (ir::kind_of(o[0]) != ir::operand_kind::address || ir::kind_of(o[1]) != ir::operand_kind::reg)
                    continue;
                const value v = value_of(ir::payload_of(o[1]));
                if (v.is != value::kind::shared) continue;
                o[1] = ir::head(ir::operand_kind::symbol, ir::smem_symbol);
                o[2] += static_cast<u32>(v.v);
            }
        }
        for (const item& it : items_) {
            const ir::cursor c{code_.data() + it.at};
            if (static_cast<tok>(c.token(0)) != tok::mbarrier || c.operands() == 0) continue;
            const u32* const o = c.first_operand();
            barrier(ir::results_of(c.w) != 0 ? o + ir::operand_words(o[0]) : o, c.location());
        }
        if (k_.allocations.size() > max_barriers) k_.allocations.truncate(0);
        barriers_ = k_.allocations.size();
        for (const variable& x : variables_)
            k_.allocations.push_back(
                allocation(x, ir::allocation_kind::raw, x.begin, x.bytes == 0 ? 1u << 20 : x.bytes, 0));
        // Where a bulk store reads when its address is not known: nowhere that anything else could be.
        k_.allocations.push_back({ir::allocation_kind::raw, false, 2, 0xffffff00u, 16, 1, 0, {}, 0});
    }
    [[nodiscard]] constexpr ir::allocation allocation(const variable& x, ir::allocation_kind kind, u32 begin, u32 bytes,
                                                      u32 where) const noexcept {
        const spelling& name = v_.words[x.name];
        return {kind, false, 1, begin, bytes, x.align, 0, {name.begin, name.size}, where};
    }
    constexpr void barrier(const u32* address, u32 where) {
        if (!is_exact(address) || barrier_at(address) != flow_block::none) return;
        for (const variable& x : variables_) {
            const bool dynamic = x.bytes == 0;
            if (address[2] < x.begin || address[2] - x.begin + 8 > (dynamic ? 1u << 20 : x.bytes)) continue;
            if (x.align >= 8)
                k_.allocations.push_back(allocation(x, ir::allocation_kind::barrier, address[2], 8, where));
            return;
        }
    }
    [[nodiscard]] static constexpr bool is_exact(const u32* o) noexcept {
        return ir::kind_of(o[0]) == ir::operand_kind::address &&
               o[1] == ir::head(ir::operand_kind::symbol, ir::smem_symbol);
    }
    [[nodiscard]] constexpr u32 barrier_at(const u32* o) const noexcept {
        if (is_exact(o))
            for (u32 i = 0; i < k_.allocations.size(); ++i)
                if (k_.allocations[i].kind == ir::allocation_kind::barrier && k_.allocations[i].offset == o[2])
                    return i;
        return flow_block::none;
    }

    const tree_view& v_;
    lowered_kernel k_;
    list<variable> variables_;
    u32 barriers_ = 0;

    list<u32> code_;  ///< instruction records in the order of the text
    list<item> items_;
    list<u32> renamed_;  ///< by register: its number in a fragment + 1
    list<u32> sources_;  ///< by register: record + 1 of the instruction that writes it, 0: none, `none`: several
    list<value> values_;
};

}  // namespace detail
}  // namespace ptxdsl::ptx
