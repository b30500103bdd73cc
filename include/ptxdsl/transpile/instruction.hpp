// SPDX-License-Identifier: Apache-2.0
// One instruction as the table sees it: its words and operands, read from the tree.
#pragma once

#include <ptxdsl/dsl/inst.hpp>
#include <ptxdsl/parse/check.hpp>
#include <ptxdsl/transpile/scopes.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace ptxdsl::ptx {

/// What an operand is, beyond the shape the table wants.
enum class argument_kind : std::uint8_t {
    unknown,  ///< nothing the builder writes: the instruction stays text
    reg,
    not_pred,
    special,
    integer,
    truth,  ///< 0 or 1 where a predicate is read
    floating,
    sink,
    label,
    symbol,
    address,
    tensor,
    list,
    pair,
};

/// One operand of an instruction.
struct argument {
    argument_kind kind = argument_kind::unknown;
    isa::operand_shape shape;
    std::uint32_t node = 0;
    register_ref reg;  ///< reg, not_pred; the base of an address
    isa::special special = isa::special::count_;
    std::int64_t value = 0;  ///< integer; offset of an address or symbol
    bool hex = false;
    bool has_base = false;        ///< addresses: the base is a register
    bool zero = false;            ///< addresses: `+0` is written
    bool is_decimal = false;      ///< floating: written in decimal, so it has no width of its own
    std::uint64_t bits = 0;       ///< floating: of the double, or of the float when `shape.type` is f32
    std::string name;             ///< symbols and labels, as C++ expression
    std::vector<argument> parts;  ///< of lists, tensors and pairs
};

/// One instruction.
struct instruction {
    std::uint32_t node = 0;
    bool guarded = false, negated = false;
    register_ref guard;
    isa::tok t[detail::reordering::most] = {};
    unsigned n = 0;
    bool known = false;  ///< all its words are the table's
    std::vector<argument> a;

    [[nodiscard]] isa::tok op() const { return t[0]; }
    /// The last word when it is a type.
    [[nodiscard]] isa::scalar type() const { return isa::token_type(t[n - 1]); }
    [[nodiscard]] bool is(isa::tok word) const {
        for (unsigned i = 0; i < n; ++i)
            if (t[i] == word) return true;
        return false;
    }
};

namespace detail {

/// The table's view of the operands, as `k.inst` makes it from the C++ types.
[[nodiscard]] inline bool shapes_of(const std::vector<argument>& a, ptxdsl::detail::inst_shapes& out) {
    for (const argument& x : a) {
        if (x.kind == argument_kind::unknown) return false;
        if (x.kind == argument_kind::pair) {
            if (!shapes_of(x.parts, out)) return false;
            continue;
        }
        if (out.n == 16) return false;
        out.chosen[out.n] = x.kind == argument_kind::integer;
        out.s[out.n] = x.shape;
        if (x.kind == argument_kind::integer) out.s[out.n].value = 0;
        ++out.n;
    }
    return true;
}
inline void put_values(const std::vector<argument>& a, ptxdsl::detail::inst_shapes& out, unsigned& at) {
    for (const argument& x : a) {
        if (x.kind == argument_kind::pair)
            put_values(x.parts, out, at);
        else if (out.s[at].value = x.value; true)
            ++at;
    }
}

/// Whether `k.inst` takes these words and operands, by the code that it runs itself.
[[nodiscard]] inline bool inst_takes(const isa::tok* t, unsigned n, const std::vector<argument>& a, ptxdsl::target on) {
    ptxdsl::detail::inst_tokens words;
    for (unsigned i = 0; i < n; ++i) words.t[i] = t[i];
    words.n = n;
    ptxdsl::detail::inst_shapes shapes;
    if (!shapes_of(a, shapes)) return false;
    ptxdsl::detail::inst_shapes guessed = shapes;
    if (!ptxdsl::detail::match_inst(words, guessed, on).ok()) return false;
    unsigned at = 0;
    put_values(a, shapes, at);
    return isa::find(t, n, shapes.s, shapes.n, on).ok();
}

}  // namespace detail

/// Where a predicate is read, 0 and 1 may stand for false and true: finds out whether one of the numbers does.
[[nodiscard]] inline bool settle_truth(instruction& i, ptxdsl::target on) {
    for (argument& a : i.a) {
        if (a.kind != argument_kind::integer || (a.value != 0 && a.value != 1)) continue;
        const argument as_number = a;
        a.kind = argument_kind::truth;
        a.shape.kind = isa::shape_kind::pred;
        a.shape.type = isa::scalar::none;
        if (detail::inst_takes(i.t, i.n, i.a, on)) return true;
        a = as_number;
    }
    return false;
}

/// Finds the order of the words that `k.inst` takes: PTX in the wild has modifiers in others. False: there is none.
[[nodiscard]] inline bool settle_words(instruction& i, ptxdsl::target on) {
    if (!i.known) return false;
    if (detail::inst_takes(i.t, i.n, i.a, on) || settle_truth(i, on)) return true;
    const unsigned first = isa::detail::opcode_first[static_cast<unsigned>(i.t[0])];
    const char16_t* at = isa::detail::code + first + 2;
    const unsigned forms = isa::detail::code[first + 1];
    for (unsigned f = 0; f < forms; at += at[0], ++f) {
        if (!isa::detail::takes_count(at, i.n - 1)) continue;
        detail::reordering r;
        if (!r.try_form(isa::detail::row_at(at), i.t, i.n) || !detail::inst_takes(r.result, r.count, i.a, on)) continue;
        for (unsigned w = 0; w < i.n; ++w) i.t[w] = r.result[w];
        return true;
    }
    return false;
}

}  // namespace ptxdsl::ptx
