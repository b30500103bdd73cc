// SPDX-License-Identifier: Apache-2.0
// A program cut into instructions that the machine steps through: operands, types and branch targets are decoded once.
#pragma once

#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/isa/special_registers.hpp>
#include <ptxdsl/isa/tokens.hpp>
#include <ptxdsl/machine/list.hpp>

#include <bit>
#include <cstdint>

namespace ptxdsl::machine {

using isa::tok;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

inline constexpr uint32_t none = 0xffffffffu;

/// Two numbers made one, for identities and pseudo-random choices.
[[nodiscard]] constexpr uint64_t mix(uint64_t a, uint64_t b) noexcept {
    uint64_t x = (a ^ std::rotl(b, 29)) * 0x9e3779b97f4a7c15ull;
    x ^= x >> 31;
    return x * 0xbf58476d1ce4e5b9ull;
}

/// One operand. Special registers are registers behind the program's own, so that reading one is reading a register.
struct operand {
    enum class kind : uint8_t { nothing, reg, constant, address, list, range, label, other } what = kind::nothing;
    bool negated = false;    ///< reg: a predicate, read negated
    bool symbolic = false;   ///< constant, address: `smem` plus an offset
    uint32_t reg = none;     ///< reg; address: the base, `none` for a constant one; range: the first register
    uint32_t count = 0;      ///< list, range: how many
    uint32_t first = 0;      ///< list: index into `code::parts`
    uint32_t symbol = none;  ///< the symbol behind a constant or an address (parameters)
    uint64_t bits = 0;       ///< constant; address: the offset; label: its id
};

/// One instruction, decoded.
struct instruction {
    tok op = tok::none;
    isa::scalar type = isa::scalar::none;    ///< the last type the text names
    isa::scalar result = isa::scalar::none;  ///< the first type
    space sp = space::generic;
    uint8_t vector = 1;      ///< registers of a vector access
    bool has_space = false;  ///< the text names a state space
    bool guard_negated = false;
    uint32_t guard = none;  ///< predicate register
    uint32_t operands = 0;  ///< index of the first in `code::operands`
    uint32_t operand_count = 0;
    uint32_t where = 0;       ///< location index
    uint32_t target = none;   ///< of a branch: an instruction's index
    uint32_t bytes = 0;       ///< of a copy, by the notes; 0: not known
    uint32_t object = none;   ///< allocation the notes name
    uint32_t slot = none;     ///< of a load from a parameter: index into `code::slots`
    bool vouched = false;     ///< the author vouches for the arrivals at that barrier
    bool known_call = false;  ///< a call that only computes
    uint32_t first_token = 0, tokens = 0;
};

/// A piece of the kernel's parameters that something loads.
struct parameter_slot {
    uint32_t symbol = none;
    uint64_t offset = 0;
    isa::scalar type = isa::scalar::none;
};

/// The instructions of a kernel.
class code {
public:
    /// `parameters`: how many the kernel has; variables of the parameter space behind them are those of calls.
    constexpr explicit code(const ir::view& m, uint32_t parameters = none) : m_(&m), parameters_(parameters) {
        decode();
    }
    /// A call there touches no memory that is followed and waits for nobody: it gives data or, where it never returns,
    /// ends its threads.
    constexpr void know(uint32_t where, bool returns) {
        for (instruction& i : instructions)
            if (i.op == tok::call && i.where == where) i.op = returns ? tok::call : tok::trap, i.known_call = returns;
    }

    /// Whether a symbol of the parameter space is not the kernel's, but an argument or a result of a call.
    [[nodiscard]] constexpr bool of_a_call(uint32_t symbol) const noexcept {
        return parameters_ != none && symbol != none && symbol > ir::print_symbol + parameters_;
    }
    [[nodiscard]] constexpr const ir::view& program() const noexcept { return *m_; }
    [[nodiscard]] constexpr uint32_t size() const noexcept { return static_cast<uint32_t>(instructions.size()); }
    [[nodiscard]] constexpr const instruction& operator[](uint32_t i) const noexcept { return instructions[i]; }
    [[nodiscard]] constexpr const operand& at(const instruction& i, uint32_t n) const noexcept {
        return n < i.operand_count ? operands[i.operands + n] : missing;
    }
    [[nodiscard]] constexpr bool has(const instruction& i, tok t) const noexcept {
        for (uint32_t k = 1; k < i.tokens; ++k)
            if (words[i.first_token + k] == t) return true;
        return false;
    }
    [[nodiscard]] constexpr tok word(const instruction& i, uint32_t k) const noexcept {
        return k < i.tokens ? words[i.first_token + k] : tok::none;
    }
    /// The slot of a parameter's bytes from `offset` on; `none` where nothing loads them.
    [[nodiscard]] constexpr uint32_t slot_of(const operand& from, uint64_t offset) const noexcept {
        for (uint32_t k = 0; k < slots.size() && from.reg == none; ++k)
            if (slots[k].symbol == from.symbol && slots[k].offset == offset) return k;
        return none;
    }
    /// Registers a thread has, special ones included.
    [[nodiscard]] constexpr uint32_t registers() const noexcept {
        return slots_used != 0 ? slots_used : m_->n.regs + static_cast<uint32_t>(isa::special::count_);
    }
    [[nodiscard]] constexpr uint32_t special(isa::special s) const noexcept {
        const uint32_t n = static_cast<uint32_t>(s);
        return slots_used != 0 ? special_slots[n] : m_->n.regs + n;
    }

    static constexpr operand missing{};
    list<instruction> instructions;
    list<operand> operands;
    list<operand> parts;        ///< of lists and coordinates
    list<tok> words;            ///< the tokens of all instructions
    list<uint32_t> unfollowed;  ///< locations of lines nobody can read: raw text
    list<parameter_slot> slots;
    uint32_t shared_bytes = 0;     ///< shared memory of a block; more than a text can name
    uint32_t slots_used = 0;       ///< registers a thread has once they are renamed (`register_slots`)
    list<uint32_t> special_slots;  ///< by special register: its slot, `none` where nothing reads it
    list<uint8_t> needed;          ///< by register: whether the protocol depends on it (`slice`); empty: all
    bool reads_memory = true;      ///< something the protocol depends on is loaded from memory
    bool shares_global = false;    ///< strong stores or atomics go to global memory
    list<uint8_t> vouched;         ///< by allocation: the author vouches for its arrivals

private:
    constexpr void decode() {
        constexpr uint32_t room = 8u << 20;  // a text's variables have places of their own, with room between
        shared_bytes = m_->from_text ? room : m_->shared_bytes;
        list<uint32_t> place(m_->n.labels, none);
        uint32_t bytes = 0, object = none;
        vouched.assign(m_->n.allocations, 0);
        const uint32_t* const end = m_->words + m_->n.words;
        for (const uint32_t* w = m_->words; w < end; w += w[0] & 0xffffu) {
            const ir::cursor c{w};
            switch (c.kind()) {
                case ir::record::label:
                    if (c.is_place() && c.payload(0) < place.size()) place[c.payload(0)] = size();
                    break;
                case ir::record::note: note(c, bytes, object); break;
                case ir::record::region:
                    if (m_->from_text) region(c);
                    break;
                case ir::record::text:
                    if (static_cast<ir::text_kind>(c.code()) == ir::text_kind::raw) raw(c);
                    break;
                case ir::record::instruction:
                    add(c);
                    instructions.back().bytes = bytes;
                    instructions.back().object = object;
                    bytes = 0, object = none;
                    break;
                default: break;
            }
        }
        for (instruction& i : instructions)
            if (i.op == tok::bra && i.operand_count != 0) {
                const operand& o = operands[i.operands];
                if (o.what == operand::kind::label && o.bits < place.size())
                    i.target = place[static_cast<uint32_t>(o.bits)];
            }
        find_parameters();
    }
    constexpr void note(const ir::cursor& c, uint32_t& bytes, uint32_t& object) {
        switch (static_cast<ir::note>(c.code())) {
            case ir::note::barrier_copy:
            case ir::note::bulk_store: object = c.payload(0), bytes = c.payload(2); break;
            case ir::note::barrier_init:
            case ir::note::barrier_arrive:
            case ir::note::barrier_expect:
            case ir::note::barrier_wait: object = c.payload(0); break;
            case ir::note::barrier_noarity:
                if (c.size() <= 3 && c.payload(0) < vouched.size()) vouched[c.payload(0)] = 1;
                break;
            default: break;
        }
    }
    // ---- a text's flow: its branches have become constructs -----------------------------------------------------

    /// A construct that is open: where it begins, and the branches that lead behind it.
    struct construct {
        uint32_t id = none;
        uint32_t begin = 0;
        uint32_t arm = none;  ///< the branch around an arm of an if
        list<uint32_t> leave;
    };
    constexpr uint32_t branch(uint32_t where, uint32_t target, uint32_t guard, bool negated) {
        instruction i;
        i.op = tok::bra;
        i.where = where;
        i.target = target;
        i.guard = guard < m_->n.regs ? guard : none;
        i.guard_negated = negated;
        instructions.push_back(i);
        return size() - 1;
    }
    constexpr void region(const ir::cursor& c) {
        const uint32_t where = c.location();
        switch (static_cast<ir::region>(c.code())) {
            case ir::region::if_begin:
                open_.push_back({});
                open_.back().arm = branch(where, none, c.payload(0) >> 1, (c.payload(0) & 1u) == 0);
                break;
            case ir::region::else_begin:
                if (open_.empty()) return;
                open_.back().leave.push_back(branch(where, none, none, false));
                instructions[open_.back().arm].target = size();
                open_.back().arm = none;
                break;
            case ir::region::loop_begin:
            case ir::region::block_begin: open_.push_back({c.payload(0), size(), none, {}}); break;
            case ir::region::loop_end:
                if (!open_.empty()) static_cast<void>(branch(where, open_.back().begin, none, false));
                close();
                break;
            case ir::region::if_end:
            case ir::region::block_end: close(); break;
            case ir::region::break_:
            case ir::region::continue_: jump(c, static_cast<ir::region>(c.code()) == ir::region::break_); break;
            default: break;
        }
    }
    constexpr void jump(const ir::cursor& c, bool out) {
        const uint32_t guard = c.size() > 3 ? c.payload(1) : 0;
        for (std::size_t k = open_.size(); k-- > 0;) {
            if (open_[k].id != c.payload(0)) continue;
            const uint32_t at = branch(c.location(), out ? none : open_[k].begin, guard == 0 ? none : (guard >> 1) - 1,
                                       (guard & 1u) != 0);
            if (out) open_[k].leave.push_back(at);
            return;
        }
    }
    constexpr void close() {
        if (open_.empty()) return;
        for (const uint32_t at : open_.back().leave) instructions[at].target = size();
        if (open_.back().arm != none) instructions[open_.back().arm].target = size();
        open_.pop_back();
    }

    constexpr void raw(const ir::cursor& c) {
        unfollowed.push_back(c.location());
        instruction i;
        i.where = c.location();
        instructions.push_back(i);
    }
    constexpr void add(const ir::cursor& c) {
        instruction i;
        i.where = c.location();
        i.first_token = static_cast<uint32_t>(words.size());
        i.tokens = c.tokens();
        for (uint32_t k = 0; k < c.tokens(); ++k) words.push_back(static_cast<tok>(c.token(k)));
        i.op = word(i, 0);
        for (uint32_t k = 1; k < i.tokens; ++k) read_word(i, words[i.first_token + k]);
        if (c.guard() != 0) i.guard = (c.guard() >> 1) - 1, i.guard_negated = (c.guard() & 1u) != 0;
        const uint32_t* o = c.first_operand();
        i.operands = static_cast<uint32_t>(operands.size());
        for (uint32_t k = 0; k < c.operands(); ++k, o += ir::operand_words(o[0])) operands.push_back(read(o));
        i.operand_count = c.operands();
        const bool strong_store =
            i.op == tok::st && (has(i, tok::release) || has(i, tok::relaxed) || has(i, tok::volatile_));
        if (i.op == tok::atom || i.op == tok::red || strong_store)
            shares_global = shares_global || !i.has_space || i.sp == space::global;
        instructions.push_back(i);
    }

    // ---- parameters ---------------------------------------------------------------------------------------------

    /// Gives every load from a parameter its slots, also where the address stands in a register that nothing else
    /// changes.
    constexpr void find_parameters() {
        list<uint32_t> written(m_->n.regs, none);  // by register: the instruction that alone writes it
        for (uint32_t k = 0; k < size(); ++k) note_writes(written, k, at(instructions[k], 0));
        for (instruction& i : instructions) {
            if (i.op != tok::ld || i.sp != space::param || i.operand_count < 2) continue;
            operand& from = operands[i.operands + 1];
            if (from.reg != none && !parameter_address(written, from, 8)) continue;
            for (uint32_t k = 0; k < i.vector; ++k) {
                const uint32_t slot = add_slot(from, from.bits + k * isa::bits(i.type) / 8, i.type);
                if (k == 0) i.slot = slot;
            }
        }
    }
    constexpr void note_writes(list<uint32_t>& written, uint32_t k, const operand& to) const {
        if (to.what == operand::kind::list)
            for (uint32_t n = 0; n < to.count; ++n) note_writes(written, k, parts[to.first + n]);
        if (to.what != operand::kind::reg || to.reg >= written.size()) return;
        written[to.reg] = written[to.reg] == none ? k : several;
    }
    /// Makes an address in a register one of a symbol; false where it follows from something else.
    [[nodiscard]] constexpr bool parameter_address(const list<uint32_t>& written, operand& a, uint32_t depth) const {
        const uint32_t by = a.reg < written.size() ? written[a.reg] : none;
        if (by >= size() || depth == 0) return false;
        const instruction& i = instructions[by];
        const operand &x = at(i, 1), &y = at(i, 2);
        const bool moves = i.op == tok::mov && i.operand_count == 2;
        const bool adds = i.op == tok::add && i.operand_count == 3 && y.what == operand::kind::constant;
        if (i.guard != none || !(moves || adds)) return false;
        operand base = x;
        base.bits = (x.what == operand::kind::constant ? x.bits : 0) + (adds ? y.bits : 0) + a.bits;
        if (x.what == operand::kind::reg && !parameter_address(written, base, depth - 1)) return false;
        if (base.symbol == none || base.symbolic) return false;
        a.reg = none;
        a.symbol = base.symbol;
        a.bits = base.bits;
        return true;
    }
    constexpr uint32_t add_slot(const operand& from, uint64_t offset, isa::scalar type) {
        const uint32_t old = slot_of(from, offset);
        if (old != none || from.symbol == none || of_a_call(from.symbol)) return old;
        slots.push_back({from.symbol, offset, type});
        return static_cast<uint32_t>(slots.size() - 1);
    }
    static constexpr uint32_t several = none - 1;
    static constexpr void read_word(instruction& i, tok t) noexcept {
        if (const isa::scalar s = isa::token_type(t); s != isa::scalar::none) {
            if (i.result == isa::scalar::none) i.result = s;
            i.type = s;
        }
        switch (t) {
            case tok::v2: i.vector = 2; break;
            case tok::v4: i.vector = 4; break;
            case tok::v8: i.vector = 8; break;
            case tok::global: set_space(i, space::global); break;
            case tok::shared:
            case tok::shared__cta: set_space(i, space::shared); break;
            case tok::shared__cluster: set_space(i, space::shared_cluster); break;
            case tok::const_: set_space(i, space::constant); break;
            case tok::local: set_space(i, space::local); break;
            case tok::param:
            case tok::param__entry:
            case tok::param__func: set_space(i, space::param); break;
            default: break;
        }
    }
    static constexpr void set_space(instruction& i, space s) noexcept {
        if (!i.has_space) i.sp = s;
        i.has_space = true;
    }

    constexpr operand read(const uint32_t* o) {
        operand r;
        const uint32_t payload = ir::payload_of(o[0]);
        switch (ir::kind_of(o[0])) {
            case ir::operand_kind::address: return address(o[1], static_cast<std::int32_t>(o[2]));
            case ir::operand_kind::tensor: {
                r = address(o[1], 0);
                r.first = static_cast<uint32_t>(parts.size());
                r.count = payload;
                for (uint32_t k = 0; k < payload; ++k) parts.push_back(single(o[2 + k]));
                return r;
            }
            case ir::operand_kind::vec:
            case ir::operand_kind::pair:
                r.what = operand::kind::list;
                r.first = static_cast<uint32_t>(parts.size());
                r.count = payload;
                for (uint32_t k = 0; k < payload; ++k) parts.push_back(single(o[1 + k]));
                return r;
            case ir::operand_kind::range:
                r.what = operand::kind::range;
                r.reg = o[1];
                r.count = payload;
                return r;
            case ir::operand_kind::integer:
            case ir::operand_kind::f64: return constant(uint64_t{o[1]} | uint64_t{o[2]} << 32);
            case ir::operand_kind::f32: return constant(o[1]);
            case ir::operand_kind::symbol:
                r = constant(static_cast<uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(o[1]))));
                r.symbolic = is_shared(payload);
                r.symbol = payload;
                return r;
            default: return single(o[0]);
        }
    }
    /// In a text, places of shared variables are numbered through (parse/lower.hpp).
    [[nodiscard]] constexpr bool is_shared(uint32_t symbol) const noexcept {
        return symbol == ir::smem_symbol || (m_->from_text && symbol == 2);
    }
    [[nodiscard]] constexpr operand single(uint32_t word) const noexcept {
        operand r;
        const uint32_t payload = ir::payload_of(word);
        switch (ir::kind_of(word)) {
            case ir::operand_kind::reg: r.what = operand::kind::reg, r.reg = payload; break;
            case ir::operand_kind::not_pred: r.what = operand::kind::reg, r.reg = payload, r.negated = true; break;
            case ir::operand_kind::small_int:
                return constant(static_cast<uint64_t>(static_cast<std::int64_t>(ir::small_value(word))));
            case ir::operand_kind::special: r.what = operand::kind::reg, r.reg = m_->n.regs + payload; break;
            case ir::operand_kind::label: r.what = operand::kind::label, r.bits = payload; break;
            case ir::operand_kind::symbol:
                r = constant(0);
                r.symbolic = is_shared(payload);
                r.symbol = payload;
                break;
            default: r.what = operand::kind::other; break;
        }
        return r;
    }
    [[nodiscard]] static constexpr operand constant(uint64_t bits) noexcept {
        operand r;
        r.what = operand::kind::constant;
        r.bits = bits;
        return r;
    }
    [[nodiscard]] constexpr operand address(uint32_t base, std::int32_t offset) const noexcept {
        operand r = single(base);
        if (r.what == operand::kind::constant)
            r.bits += static_cast<uint64_t>(static_cast<std::int64_t>(offset));
        else
            r.bits = static_cast<uint64_t>(static_cast<std::int64_t>(offset));
        r.what = operand::kind::address;
        return r;
    }

    const ir::view* m_;
    uint32_t parameters_;
    list<construct> open_;
};

}  // namespace ptxdsl::machine
