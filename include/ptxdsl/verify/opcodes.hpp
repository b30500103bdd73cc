// SPDX-License-Identifier: Apache-2.0
// What the verifier does with each mnemonic: one byte per token, looked up instead of compared.
#pragma once

#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/isa/tokens.hpp>

#include <cstdint>

namespace ptxdsl::verify {

using isa::tok;

/// How the verifier treats an instruction. Up to `effect` nothing but its registers matters.
enum class op : std::uint8_t {
    value,    ///< writes its first operand (the default, also for mnemonics it has never heard of)
    effect,   ///< writes no register
    varying,  ///< writes its first operand with something that differs from thread to thread
    mov,
    add,
    bits,     ///< `and`, `shr`
    scale,    ///< `mad`, `mul`, `shl`, `sub`, `xor`, `rem`: followed where an address comes of it
    compare,  ///< `setp`
    load,
    store,
    atomic,
    reduce,
    stmatrix,
    two_word,  ///< its second word decides whether it has a result
    leave,
    bar,
    fence,
    copy,
    mapa,
    cvta,
    setmaxnreg,
    call,
    tcgen05,
    // From here on the first pass looks too.
    branch,
    mbarrier,
    wgmma,
    tensormap,
    indirect,  ///< a branch that may lead anywhere
};

namespace tables {

struct opcode_table {
    op of[isa::detail::token_count] = {};

    template <class... T>
    constexpr void set(op o, T... tokens) noexcept {
        ((of[static_cast<unsigned>(tokens)] = o), ...);
    }
};

[[nodiscard]] consteval opcode_table make_opcode_table() noexcept {
    opcode_table t;
    t.set(op::effect, tok::membar, tok::prefetch, tok::prefetchu, tok::nanosleep, tok::pmevent, tok::brkpt,
          tok::griddepcontrol, tok::discard, tok::applypriority, tok::stackrestore, tok::sured, tok::sust);
    t.set(op::varying, tok::shfl, tok::vote, tok::match, tok::redux, tok::elect, tok::activemask, tok::ldmatrix,
          tok::ldu, tok::alloca, tok::mma, tok::movmatrix, tok::tex, tok::tld4, tok::suld, tok::getctarank);
    t.set(op::leave, tok::ret, tok::exit, tok::trap);
    t.set(op::bar, tok::bar, tok::barrier);
    t.set(op::mov, tok::mov);
    t.set(op::add, tok::add);
    t.set(op::bits, tok::and_, tok::shr);
    t.set(op::scale, tok::mad, tok::mul, tok::shl, tok::sub, tok::xor_, tok::rem);
    t.set(op::compare, tok::setp);
    t.set(op::load, tok::ld);
    t.set(op::store, tok::st);
    t.set(op::atomic, tok::atom);
    t.set(op::reduce, tok::red);
    t.set(op::stmatrix, tok::stmatrix);
    t.set(op::two_word, tok::multimem, tok::clusterlaunchcontrol, tok::wmma);
    t.set(op::tcgen05, tok::tcgen05);
    t.set(op::fence, tok::fence);
    t.set(op::copy, tok::cp);
    t.set(op::mapa, tok::mapa);
    t.set(op::cvta, tok::cvta);
    t.set(op::tensormap, tok::tensormap);
    t.set(op::setmaxnreg, tok::setmaxnreg);
    t.set(op::branch, tok::bra);
    t.set(op::mbarrier, tok::mbarrier);
    t.set(op::wgmma, tok::wgmma);
    t.set(op::call, tok::call);
    t.set(op::indirect, tok::brx);
    return t;
}
inline constexpr opcode_table opcodes = make_opcode_table();

}  // namespace tables

[[nodiscard]] constexpr op opcode_of(const std::uint32_t* instruction) noexcept {
    return tables::opcodes.of[instruction[4] & 0xffffu];
}

namespace tables {

[[nodiscard]] consteval std::uint32_t mask_of(auto... o) noexcept {
    return (0u | ... | (1u << static_cast<unsigned>(o)));
}
inline constexpr std::uint32_t always_result = mask_of(op::value, op::varying, op::mov, op::add, op::bits, op::scale,
                                                       op::compare, op::load, op::atomic, op::mapa, op::cvta, op::call);
inline constexpr std::uint32_t maybe_result = mask_of(op::two_word, op::bar, op::mbarrier, op::tcgen05);

[[nodiscard]] constexpr bool second_word_has_result(op o, const ir::cursor& c) noexcept {
    const auto second = static_cast<tok>(c.token(1));
    if (o == op::two_word)
        return second == tok::ld_reduce || second == tok::query_cancel || second == tok::load || second == tok::mma;
    if (o == op::tcgen05) return second == tok::ld;
    if (o == op::bar) return second == tok::red || (c.tokens() > 2 && static_cast<tok>(c.token(2)) == tok::red);
    return second == tok::arrive || second == tok::arrive_drop || second == tok::try_wait || second == tok::test_wait ||
           second == tok::pending_count;
}

}  // namespace tables

/// Whether the first operand of an instruction is what it writes.
[[nodiscard]] constexpr bool has_result(op o, const ir::cursor& c) noexcept {
    const std::uint32_t bit = 1u << static_cast<unsigned>(o);
    return (bit & tables::always_result) != 0 ||
           ((bit & tables::maybe_result) != 0 && tables::second_word_has_result(o, c));
}

/// A line that declares a variable and does nothing.
[[nodiscard]] constexpr bool is_declaration(const std::uint32_t* text) noexcept {
    return ir::cursor{text}.code() == static_cast<std::uint32_t>(ir::text_kind::declaration);
}
/// A call of the device's `vprintf`, which touches nothing that a rule follows.
template <class View>
[[nodiscard]] constexpr bool only_prints(const View& m, const ir::cursor& c) noexcept {
    const std::uint32_t* o = c.first_operand();
    for (std::uint32_t i = 0; i < c.operands(); ++i, o += ir::operand_words(o[0])) {
        if (ir::kind_of(o[0]) != ir::operand_kind::symbol) continue;
        const std::uint32_t id = ir::payload_of(o[0]);
        if (m.from_text ? id == ir::print_symbol : m.text(m.symbols[id]) == "vprintf") return true;
    }
    return false;
}

}  // namespace ptxdsl::verify
