// SPDX-License-Identifier: Apache-2.0
// Which registers a kernel's protocol depends on: addresses of shared memory, conditions, operands of whatever
// synchronises, and what they are computed from. The rest is data, and what only computes data need not be stepped
// through.
#pragma once

#include <ptxdsl/machine/code.hpp>
#include <ptxdsl/machine/list.hpp>

#include <cstdint>

namespace ptxdsl::machine {

/// Instructions that only write registers.
[[nodiscard]] constexpr bool only_computes(tok op) noexcept {
    switch (op) {
        case tok::mov:
        case tok::add:
        case tok::sub:
        case tok::mul:
        case tok::mad:
        case tok::div:
        case tok::rem:
        case tok::and_:
        case tok::or_:
        case tok::xor_:
        case tok::not_:
        case tok::shl:
        case tok::shr:
        case tok::min:
        case tok::max:
        case tok::neg:
        case tok::abs:
        case tok::selp:
        case tok::setp:
        case tok::set:
        case tok::cvt:
        case tok::cvta:
        case tok::mapa:
        case tok::getctarank:
        case tok::isspacep:
        case tok::fma:
        case tok::lop3:
        case tok::shf:
        case tok::prmt:
        case tok::bfe:
        case tok::bfi:
        case tok::bfind:
        case tok::brev:
        case tok::popc:
        case tok::clz:
        case tok::cnot:
        case tok::mul24:
        case tok::ex2:
        case tok::lg2:
        case tok::rcp:
        case tok::rsqrt:
        case tok::sqrt:
        case tok::sin:
        case tok::cos:
        case tok::tanh: return true;
        default: return false;
    }
}

/// Takes the instructions out of `c` whose results no barrier, address or condition depends on.
class slice {
public:
    constexpr explicit slice(code& c) : c_(c), needed_(c.registers(), 0), number_(c.registers(), 0) {
        find_numbers();
        for (bool again = true; again;) {
            again = false;
            for (std::uint32_t k = c_.size(); k-- > 0;) again = follow(c_[k]) || again;
        }
        drop();
        c_.needed = needed_;
        c_.reads_memory = memory_;
    }

private:
    [[nodiscard]] static constexpr bool loads(const instruction& i) noexcept {
        return i.op == tok::ld || i.op == tok::ldu;
    }
    [[nodiscard]] static constexpr bool is_shared(const instruction& i) noexcept {
        return !i.has_space || i.sp == space::shared || i.sp == space::shared_cluster;
    }

    /// Marks what an instruction needs; true when that was news.
    constexpr bool follow(const instruction& i) {
        bool news = i.guard != none && keeps(i) && mark(i.guard);
        if (only_computes(i.op) || exchanges(i.op)) return wants(c_.at(i, 0)) ? mark_from(i, 1) || news : news;
        if (loads(i)) {
            const bool wanted = wants(c_.at(i, 0));
            if (wanted && i.sp != space::param && !memory_) news = memory_ = true;
            return ((wanted || is_shared(i)) && mark(c_.at(i, 1))) || news;
        }
        if (i.op == tok::st || i.op == tok::red || i.op == tok::atom) {
            if (i.op == tok::atom && wants(c_.at(i, 0)) && !memory_) news = memory_ = true;
            if (!is_shared(i) && !memory_) return news;
            if (!keeps(i)) return news;
            // Data that is stored matters where something needed is loaded, and where it is one number.
            const std::uint32_t at = i.op == tok::atom ? 1 : 0;
            if (memory_ && is_number(i)) return mark_numbers(i, at) || news;
            if (c_.has(i, tok::async)) return mark_from(i, at) || news;
            return mark(c_.at(i, at)) || news;
        }
        if (i.op == tok::ldmatrix) return mark(c_.at(i, 1)) || news;
        if (i.op == tok::stmatrix) return mark(c_.at(i, 0)) || news;
        if (i.op == tok::mma || i.op == tok::wmma || i.op == tok::movmatrix) return news;
        if (i.op == tok::wgmma || i.op == tok::tcgen05) {
            for (std::uint32_t k = 0; k < i.operand_count; ++k)
                if (const operand& o = c_.at(i, k); o.what == operand::kind::reg || o.what == operand::kind::address)
                    news = mark(o) || news;
            return news;
        }
        if (i.known_call) return news;
        return mark_from(i, 0) || news;
    }
    /// Whether what is stored can be a counter or a flag, or part of one.
    [[nodiscard]] static constexpr bool counts(const instruction& i) noexcept {
        return isa::info(i.type).cls != isa::type_class::floating;
    }
    /// Whether what is stored is followed as a number: neither floating-point nor, in global memory, a vector.
    [[nodiscard]] static constexpr bool is_number(const instruction& i) noexcept {
        return counts(i) && (i.vector == 1 || is_shared(i));
    }
    [[nodiscard]] static constexpr bool exchanges(tok op) noexcept {
        return op == tok::elect || op == tok::vote || op == tok::shfl || op == tok::redux || op == tok::match ||
               op == tok::activemask;
    }
    /// Whether the instruction stays: it does something, or something needs its result.
    [[nodiscard]] constexpr bool keeps(const instruction& i) const {
        if (only_computes(i.op)) return wants(c_.at(i, 0));
        if (loads(i) && i.has_space && !is_shared(i)) return wants(c_.at(i, 0)) || c_.has(i, tok::acquire);
        if (i.op == tok::st && i.has_space && !is_shared(i) && !(memory_ && counts(i))) return c_.has(i, tok::release);
        return i.op != tok::mma && i.op != tok::movmatrix;
    }
    [[nodiscard]] constexpr bool wants(const operand& o) const {
        if (o.what == operand::kind::reg) return needed_[o.reg] != 0;
        if (o.what != operand::kind::list) return false;
        for (std::uint32_t k = 0; k < o.count; ++k)
            if (wants(c_.parts[o.first + k])) return true;
        return false;
    }
    constexpr bool mark(std::uint32_t reg) {
        const bool news = needed_[reg] == 0;
        needed_[reg] = 1;
        return news;
    }
    constexpr bool mark(const operand& o) {
        bool news = false;
        if ((o.what == operand::kind::reg || o.what == operand::kind::address) && o.reg != none) news = mark(o.reg);
        if (o.what == operand::kind::list)
            for (std::uint32_t k = 0; k < o.count; ++k) news = mark(c_.parts[o.first + k]) || news;
        return news;
    }
    /// The address and, of what is stored there, what can be a number.
    constexpr bool mark_numbers(const instruction& i, std::uint32_t address) {
        bool news = mark(c_.at(i, address));
        for (std::uint32_t k = address + 1; k < i.operand_count; ++k)
            if (can_be_number(c_.at(i, k))) news = mark(c_.at(i, k)) || news;
        return news;
    }
    /// Which registers can hold a number the machine follows: all that come from constants, parameters, indices and
    /// memory by way of integers. What products, tensor memory and floating-point arithmetic give is never one.
    constexpr void find_numbers() {
        for (std::uint32_t s = c_.program().n.regs; s < number_.size(); ++s) number_[s] = 1;
        for (bool again = true; again;) {
            again = false;
            for (const instruction& i : c_.instructions)
                if (gives_number(i)) again = set_number(c_.at(i, 0)) || again;
        }
    }
    [[nodiscard]] constexpr bool gives_number(const instruction& i) const noexcept {
        switch (i.op) {
            case tok::mma:
            case tok::wgmma:
            case tok::wmma:
            case tok::tcgen05:
            case tok::ldmatrix:
            case tok::movmatrix: return false;
            case tok::ld:
            case tok::ldu: return counts(i) || is_shared(i) || i.sp == space::param;
            case tok::mov:
            case tok::selp:
            case tok::shfl: break;
            default:
                if (!only_computes(i.op)) return true;
                if (!counts(i) || isa::info(i.result).cls == isa::type_class::floating) return i.op == tok::setp;
        }
        bool constant = true;
        for (std::uint32_t k = 1; k < i.operand_count; ++k) {
            if (can_be_number(c_.at(i, k))) return true;
            constant = constant && c_.at(i, k).what == operand::kind::constant;
        }
        return constant;
    }
    [[nodiscard]] constexpr bool can_be_number(const operand& o) const noexcept {
        if (o.what == operand::kind::reg) return number_[o.reg] != 0;
        if (o.what != operand::kind::list) return false;
        for (std::uint32_t k = 0; k < o.count; ++k)
            if (can_be_number(c_.parts[o.first + k])) return true;
        return false;
    }
    constexpr bool set_number(const operand& o) {
        bool news = false;
        if (o.what == operand::kind::reg) {
            news = number_[o.reg] == 0;
            number_[o.reg] = 1;
        }
        for (std::uint32_t k = 0; o.what == operand::kind::list && k < o.count; ++k)
            news = set_number(c_.parts[o.first + k]) || news;
        for (std::uint32_t k = 0; o.what == operand::kind::range && k < o.count; ++k) {
            news = news || number_[o.reg + k] == 0;
            number_[o.reg + k] = 1;
        }
        return news;
    }
    constexpr bool mark_from(const instruction& i, std::uint32_t first) {
        bool news = false;
        for (std::uint32_t k = first; k < i.operand_count; ++k) news = mark(c_.at(i, k)) || news;
        return news;
    }

    constexpr void drop() {
        list<std::uint32_t> now(c_.size() + 1, 0);
        list<instruction> kept;
        for (std::uint32_t k = 0; k < c_.size(); ++k) {
            now[k] = static_cast<std::uint32_t>(kept.size());
            if (keeps(c_[k])) kept.push_back(c_[k]);
        }
        now[c_.size()] = static_cast<std::uint32_t>(kept.size());
        for (instruction& i : kept)
            if (i.target != none) i.target = now[i.target];
        c_.instructions = std::move(kept);
    }

    code& c_;
    list<std::uint8_t> needed_;  ///< by register
    list<std::uint8_t> number_;  ///< by register: whether it can hold a number that is followed
    bool memory_ = false;        ///< something needed comes from memory
};

}  // namespace ptxdsl::machine
