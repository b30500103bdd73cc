// SPDX-License-Identifier: Apache-2.0
// Operands as PTX spells them, for `k.inst` and for modules that were PTX before: named symbols, `[register+offset]`,
// `[map, {x, y}]`, `{a, _, 4}`. The typed calls take pointers, tiles and vectors instead, which know more.
#pragma once

#include <ptxdsl/dsl/inst.hpp>

#include <type_traits>

namespace ptxdsl {

/// The name of a variable, parameter or function, perhaps with an offset: `table + 4`.
class symbol {
public:
    static constexpr isa::operand_shape shape{isa::shape_kind::symbol, isa::scalar::none, 1, space::generic, 0};

    constexpr symbol(ir::program& p, std::uint32_t id, std::int32_t offset = 0) noexcept
        : prog_(&p), id_(id), offset_(offset) {}

    friend constexpr symbol operator+(const symbol& s, std::int32_t bytes) noexcept {
        return {*s.prog_, s.id_, s.offset_ + bytes};
    }

    [[nodiscard]] constexpr std::uint32_t word() const noexcept { return ir::head(ir::operand_kind::symbol, id_); }
    [[nodiscard]] constexpr std::int32_t offset() const noexcept { return offset_; }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }
    [[nodiscard]] constexpr detail::raw_operand raw(const detail::context&) const noexcept {
        detail::raw_operand o;
        o.prog = prog_;
        o.words[0] = word();
        o.words[1] = static_cast<std::uint32_t>(offset_);
        o.count = 2;
        return o;
    }

private:
    ir::program* prog_;
    std::uint32_t id_;
    std::int32_t offset_;
};

/// `[base+offset]`, `Base` the type of the base register (none for a symbol or a number).
template <isa::scalar Base>
class memory_operand {
public:
    static constexpr isa::operand_shape shape{isa::shape_kind::address, Base, 1, space::generic, 0};

    constexpr memory_operand(ir::program* p, std::uint32_t base, std::int32_t offset, bool spell_zero = false) noexcept
        : prog_(p), base_(base), offset_(offset), spell_zero_(spell_zero) {}
    [[nodiscard]] constexpr detail::raw_operand raw(const detail::context&) const noexcept {
        detail::raw_operand o;
        o.prog = prog_;
        o.words[0] = ir::head(ir::operand_kind::address, spell_zero_ ? 1 : 0);
        o.words[1] = base_;
        o.words[2] = static_cast<std::uint32_t>(offset_);
        o.count = 3;
        return o;
    }

private:
    ir::program* prog_;
    std::uint32_t base_;
    std::int32_t offset_;
    bool spell_zero_;
};

/// `[base]` where the instruction says what lies there: `k.inst<"ld.global.u32">(d, px::mem(a))`.
template <class T>
[[nodiscard]] constexpr auto mem(const reg<T>& base) noexcept {
    return memory_operand<scalar_of<T>>(base.program(), detail::reg_word(base.id()), 0);
}
[[nodiscard]] constexpr auto mem(const symbol& base) noexcept {
    return memory_operand<isa::scalar::none>(base.program(), base.word(), base.offset());
}
/// `[base+bytes]`. An offset of 0 is printed: without optimisation ptxas makes another cubin of `[a+0]` than of `[a]`.
template <class T>
[[nodiscard]] constexpr auto mem(const reg<T>& base, std::int32_t bytes) noexcept {
    return memory_operand<scalar_of<T>>(base.program(), detail::reg_word(base.id()), bytes, true);
}
[[nodiscard]] constexpr auto mem(const symbol& base, std::int32_t bytes) noexcept {
    return memory_operand<isa::scalar::none>(base.program(), base.word(), base.offset() + bytes, true);
}
/// `[64]`: an address known as a number.
[[nodiscard]] constexpr auto mem(std::int32_t address) noexcept {
    return memory_operand<isa::scalar::none>(nullptr, ir::head(ir::operand_kind::small_int, 0), address);
}
/// `[base+bytes]` as a typed pointer to `T` in space `S`, for the typed calls: `k.ld(px::mem<px::space::global,
/// px::f32>(a, 8))`. The author vouches that it is as aligned as the access needs: `Align` bytes.
template <space S, class T, unsigned Align = 32, class Address>
[[nodiscard]] constexpr auto mem(const reg<Address>& base, std::int32_t bytes = 0) noexcept {
    static_assert(
        bits_of<Address> == (detail::is_narrow(S) ? 32u : 64u) || (bits_of<Address> == 64 && S == space::shared),
        "PTXDSL-B01: an address is a 64-bit register, a shared-memory address a 32-bit one");
    return ptr<S, T, Align>(base.program(), detail::reg_word(base.id()), bytes, {});
}
template <space S, class T, unsigned Align = 32>
[[nodiscard]] constexpr auto mem(const symbol& base, std::int32_t bytes = 0) noexcept {
    return ptr<S, T, Align>(*base.program(), base.word(), base.offset() + bytes);
}

/// `{a, _, 4}`: `N` elements of type `T`, registers, numbers and sinks. Made by `k.list`.
template <class T, unsigned N>
class element_list {
public:
    static constexpr isa::operand_shape shape{isa::shape_kind::vec, scalar_of<T>, N, space::generic, 0};

    constexpr void set(unsigned i, std::uint32_t word) noexcept { words_[i] = word; }
    constexpr void belongs_to(ir::program* p) noexcept { prog_ = p; }
    [[nodiscard]] constexpr detail::raw_operand raw(const detail::context&) const noexcept {
        return detail::vector_of(prog_, words_, N);
    }

private:
    ir::program* prog_ = nullptr;
    std::uint32_t words_[N == 0 ? 1 : N] = {};
};

/// `[map, {x, y}]`: an element of a tensor, with its `N` coordinates. Made by `k.tensor`.
template <unsigned N>
class tensor_operand {
public:
    static constexpr isa::operand_shape shape{isa::shape_kind::tensor_address, isa::scalar::none, N, space::generic, 0};

    constexpr explicit tensor_operand(ir::program* p) noexcept : prog_(p) {}
    constexpr void set(unsigned i, std::uint32_t word) noexcept { words_[i] = word; }
    [[nodiscard]] constexpr detail::raw_operand raw(const detail::context&) const noexcept {
        detail::raw_operand o;
        o.prog = prog_;
        o.words[0] = ir::head(ir::operand_kind::tensor, N);
        o.more = words_;
        o.more_count = N + 1;
        return o;
    }

private:
    ir::program* prog_;
    std::uint32_t words_[N + 1] = {};
};

/// The f32 whose bits these are: NaNs with their payload, infinities, `0f7FC00000`.
[[nodiscard]] constexpr f32 f32_bits(std::uint32_t bits) noexcept { return __builtin_bit_cast(f32, bits); }
/// The f64 whose bits these are.
[[nodiscard]] constexpr f64 f64_bits(std::uint64_t bits) noexcept { return __builtin_bit_cast(f64, bits); }

namespace detail {

/// Text of a number, for elements that do not fit a word.
struct number_text {
    char text[24] = {};
    std::uint32_t size = 0;

    constexpr void put(char c) noexcept { text[size++] = c; }
    constexpr void hex(char kind, std::uint64_t bits, int digits) noexcept {
        put('0'), put(kind);
        for (int i = digits; i-- > 0;) put("0123456789ABCDEF"[bits >> (4 * i) & 15u]);
    }
    [[nodiscard]] constexpr string_view view() const noexcept { return {text, size}; }
};
template <class V>
[[nodiscard]] constexpr number_text text_of(V v) noexcept {
    number_text t;
    if constexpr (std::is_same_v<V, float>)
        t.hex('f', __builtin_bit_cast(std::uint32_t, v), 8);
    else if constexpr (std::is_same_v<V, double>)
        t.hex('d', __builtin_bit_cast(std::uint64_t, v), 16);
    else
        t.hex('x', static_cast<std::uint64_t>(static_cast<std::int64_t>(v)), 16);
    return t;
}

/// One word for an element of a list: a register, `_`, a symbol or a number.
template <class E>
[[nodiscard]] constexpr std::uint32_t element_word(ir::program& p, const E& e) {
    if constexpr (traits<E>::is_reg) {
        ir::program* own = &p;
        return list_word(own, e.program(), reg_word(e.id()));
    } else if constexpr (std::is_same_v<E, sink_t>) {
        return ir::head(ir::operand_kind::sink, 0);
    } else if constexpr (std::is_same_v<E, symbol>) {
        return e.word();
    } else {
        static_assert(std::is_arithmetic_v<E>,
                      "PTXDSL-A14: an element of a list is a register, a number, a symbol or px::sink");
        if constexpr (std::is_integral_v<E>)
            if (ir::fits_small(static_cast<std::int64_t>(e)))
                return ir::head(ir::operand_kind::small_int, static_cast<std::uint32_t>(e));
        return ir::head(ir::operand_kind::symbol, p.new_symbol(text_of(e).view()));
    }
}

/// The element type of a list that does not name one: that of its first register.
template <class T, class... E>
using list_type = std::conditional_t<!std::is_void_v<T>, T,
                                     std::conditional_t<std::is_void_v<first_value_t<E...>>, u32, first_value_t<E...>>>;

}  // namespace detail
}  // namespace ptxdsl
