// SPDX-License-Identifier: Apache-2.0
// One instruction on its way into the program: operands as words, the form's tokens, the order of nested calls.
#pragma once

#include <ptxdsl/dsl/location.hpp>
#include <ptxdsl/ir/program.hpp>
#include <ptxdsl/isa/table.hpp>

#include <cstdint>

namespace ptxdsl {

using isa::tok;

namespace detail {

/// One instruction operand, ready to be written: the words of `ir::operand_kind` and the span of the nested call it
/// comes from.
struct raw_operand {
    ir::program* prog = nullptr;
    std::uint32_t words[3] = {};
    std::uint32_t count = 1;              ///< words used
    const std::uint32_t* more = nullptr;  ///< further one-word operands of a vector
    std::uint32_t more_count = 0;
    ir::span fresh{};
};

/// `size` registers as one vector operand; `words` outlives it.
[[nodiscard]] constexpr raw_operand vector_of(ir::program* prog, const std::uint32_t* words,
                                              std::uint32_t size) noexcept {
    raw_operand o;
    o.prog = prog;
    o.words[0] = ir::head(ir::operand_kind::vec, size);
    o.more = words, o.more_count = size;
    return o;
}

template <class Program>
constexpr void write(Program& p, const raw_operand& o) {
    for (std::uint32_t i = 0; i < o.count; ++i) p.push(o.words[i]);
    for (std::uint32_t i = 0; i < o.more_count; ++i) p.push(o.more[i]);
    p.count_operand();
}

/// Tokens two to a word, as a record holds them.
template <std::uint32_t Count>
struct packed_tokens {
    std::uint32_t w[(Count + 1) / 2] = {};
};
template <tok... Toks>
[[nodiscard]] constexpr packed_tokens<sizeof...(Toks)> pack_tokens() noexcept {
    packed_tokens<sizeof...(Toks)> p;
    std::uint32_t i = 0;
    ((p.w[i / 2] |= static_cast<std::uint32_t>(Toks) << (i % 2 == 0 ? 0 : 16), ++i), ...);
    return p;
}

/// Tokens of one instruction, packed as the record wants them, with the table's verdict for a target.
template <target Tgt, tok... Toks>
struct form {
    static constexpr tok tokens[] = {Toks...};
    static constexpr std::uint32_t count = sizeof...(Toks);
    static constexpr isa::verdict verdict = isa::find(tokens, count, Tgt);
    static constexpr packed_tokens<count> packed = pack_tokens<Toks...>();
};

/// What `emit` needs of a form, without its type.
struct form_ref {
    const std::uint32_t* packed;
    std::uint32_t tokens;
    std::uint32_t form;
    ptx_version since;
};

template <class F>
[[nodiscard]] constexpr form_ref ref() noexcept {
    return {F::packed.w, F::count, F::verdict.form, F::verdict.since};
}

/// A form that handles emit, which do not know their kernel's target: every target has it.
template <tok... Toks>
struct common_form : form<sm_90a, Toks...> {
    static_assert(form<sm_90a, Toks...>::verdict.ok());
};

/// Whether the operand is, or has first, a register; its program says whose.
[[nodiscard]] constexpr bool names_register(const raw_operand& o) noexcept {
    if (o.prog != nullptr) return true;
    switch (ir::kind_of(o.words[0])) {
        case ir::operand_kind::reg:
        case ir::operand_kind::not_pred: return true;
        case ir::operand_kind::address:
        case ir::operand_kind::tensor: return ir::kind_of(o.words[1]) == ir::operand_kind::reg;
        default: return false;  // a list's elements are looked at one by one
    }
}

/// Whose registers an operand names.
enum class owner : std::uint8_t { kernel, nobody, another_kernel, lost_literal };

/// What a handle without a register has lost: it names no kernel, so that a literal finds no place.
inline constexpr string_view literal_is_lost =
    "a literal was assigned to it before it had one, and is lost; begin with auto m = k.mov<px::u32>(0) or "
    "k.new_reg<px::u32>()";

[[nodiscard]] constexpr owner owner_of(std::uint32_t word) noexcept {
    if (ir::kind_of(word) != ir::operand_kind::reg || ir::payload_of(word) < ir::lost_literal) return owner::kernel;
    if (ir::payload_of(word) == ir::lost_literal) return owner::lost_literal;
    return ir::payload_of(word) == ir::foreign_register ? owner::another_kernel : owner::nobody;
}
[[nodiscard]] constexpr owner owner_of(const ir::program& p, const raw_operand& o) noexcept {
    if (o.prog != nullptr && o.prog != &p && names_register(o)) return owner::another_kernel;
    const ir::operand_kind kind = ir::kind_of(o.words[0]);
    if (o.prog == nullptr && names_register(o))
        return owner_of(o.words[0]) == owner::lost_literal ? owner::lost_literal : owner::nobody;
    if (kind == ir::operand_kind::reg) return owner_of(o.words[0]);
    if (kind == ir::operand_kind::address) return owner_of(o.words[1]);
    for (std::uint32_t i = 0; i < o.more_count; ++i)
        if (const owner x = owner_of(o.more[i]); x != owner::kernel) return x;
    return owner::kernel;
}
/// The word of a list's next register, which is of kernel `of`; `list` is the kernel of those before it. One of another
/// kernel is marked, so that the instruction that gets the list refuses it (A05).
constexpr std::uint32_t list_word(ir::program*& list, ir::program* of, std::uint32_t word) noexcept {
    if (list == nullptr) list = of;
    return of == nullptr || of == list ? word : ir::head(ir::operand_kind::reg, ir::foreign_register);
}

/// A05, A06: operand `number` of an instruction that begins with `mnemonic` names no register of this kernel.
template <class Program>
constexpr void refuse_operand(Program& p, owner whose, std::uint32_t number, std::uint32_t mnemonic, location where) {
    if (whose == owner::kernel) return;
    const string_view name = isa::spelling(static_cast<tok>(mnemonic & 0xffffu));
    if (whose == owner::another_kernel)
        p.report("A05", where, {"operand ", number, " of ", name, " is a register of another kernel"});
    else if (whose == owner::lost_literal)
        p.report("A06", where,
                 {"operand ", number, " of ", name, " is a handle without a register: ", literal_is_lost});
    else
        p.report(
            "A06", where,
            {"operand ", number, " of ", name, " is a handle without a register: nothing has been assigned to it"});
}

/// K05: operand `which` assigns the register that another one reads.
template <class Program>
constexpr void refuse_assigned(Program& p, const raw_operand* operands, std::uint32_t n, std::uint32_t which,
                               location where) {
    for (std::uint32_t i = 0; i < n; ++i)
        if (i != which && operands[i].fresh.end == 0 && operands[i].count > operands[which].count - 1 &&
            operands[i].words[operands[i].count == 3 ? 1 : 0] == operands[which].words[0])
            p.report("K05", where,
                     {"an operand assigns the register that another one reads, and C++ does not fix which comes first; "
                      "write the assignment as a statement of its own"});
}

/// Emits one instruction: settles the order of nested calls, checks that all operands belong to this kernel (A05),
/// writes the record. Returns the span of the whole expression.
///
/// `operands` are in PTX order; `dst` of them, at the front, are results and take no part in the ordering.
template <class Program>
constexpr ir::span emit(Program& p, const form_ref& f, std::uint32_t guard, location where, const raw_operand* operands,
                        std::uint32_t n) {
    ir::span spans[24] = {};
    for (std::uint32_t i = 0; i < n; ++i) {
        spans[i] = operands[i].fresh;
        refuse_operand(p, owner_of(p, operands[i]), i + 1, f.packed[0], where);
    }
    ir::span all;
    if (!p.settle(spans, n, all, where))
        p.report(
            "K05", where,
            {"two nested calls in one argument list emit several instructions each, and C++ does not fix their order; "
             "give the first one a name"});
    for (std::uint32_t i = 0; i < n; ++i)
        if (operands[i].fresh.assigns) refuse_assigned(p, operands, n, i, where);
    if (guard != 0 && guard == p.made_guard && p.guard_made.end == all.begin) all.begin = p.guard_made.begin;
    p.flush_notes(where);
    p.begin_instruction(f.packed, f.tokens, f.form, f.since, guard, where);
    for (std::uint32_t i = 0; i < n; ++i) write(p, operands[i]);
    p.end_record();
    return {all.begin, p.words.size()};
}

template <class Program, class... O>
constexpr ir::span emit_all(Program& p, const form_ref& f, std::uint32_t guard, location where, const O&... operands) {
    if constexpr (sizeof...(O) == 0) {
        return emit(p, f, guard, where, nullptr, 0);
    } else {
        const raw_operand list[] = {static_cast<const raw_operand&>(operands)...};
        return emit(p, f, guard, where, list, sizeof...(O));
    }
}

[[nodiscard]] constexpr raw_operand reg_operand(ir::program& p, std::uint32_t id) noexcept {
    raw_operand o;
    o.prog = &p;
    o.words[0] = ir::head(ir::operand_kind::reg, id);
    return o;
}

template <isa::scalar Type, class Program>
constexpr ir::span emit_mov(Program& p, std::uint32_t dst, const raw_operand& src, location where) {
    const raw_operand list[] = {reg_operand(p, dst), src};
    return emit(p, ref<common_form<tok::mov, isa::type_token(ir::program::register_type(Type))>>(), 0, where, list, 2);
}

/// What a register remembers instead of a call where an empty handle is to stand for it: it was just declared, or its
/// author says so (`reg::same`).
inline constexpr ir::span to_be_named{1, 0};

/// Makes the instruction just emitted, whose fresh result is register `from`, write `to` instead. False: the last thing
/// emitted is no such instruction. `s` is what the result remembers of the call it comes from.
template <class Program>
constexpr bool retarget(Program& p, ir::span s, std::uint32_t from, std::uint32_t to) noexcept {
    if (s.end == 0 || s.end != p.words.size() || p.open_record >= s.end) return false;
    const ir::cursor c{&p.words[p.open_record]};
    if (!c.is_instruction() || c.operands() == 0) return false;
    std::uint32_t* const o = &p.words[p.open_record + static_cast<std::uint32_t>(c.first_operand() - c.w)];
    const std::uint32_t wanted = ir::head(ir::operand_kind::reg, from), given = ir::head(ir::operand_kind::reg, to);
    if (o[0] == wanted) return o[0] = given, true;
    const ir::operand_kind kind = ir::kind_of(o[0]);
    if (kind != ir::operand_kind::vec && kind != ir::operand_kind::pair) return false;
    for (std::uint32_t i = 1; i <= ir::payload_of(o[0]); ++i)
        if (o[i] == wanted) return o[i] = given, true;
    return false;
}

}  // namespace detail

}  // namespace ptxdsl
