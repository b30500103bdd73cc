// SPDX-License-Identifier: Apache-2.0
// Printing from a kernel, `k.printf<"x = %d\n">(x)`: a file that does includes this. The device's `vprintf`, which the
// driver provides (CUDA C++ Programming Guide, "Formatted Output"). The format is a constant of the module; the
// arguments lie one behind the other in local memory, aligned to their sizes, after C's promotions.
#pragma once

#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/detail/fixed_string.hpp>
#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder.hpp>

namespace ptxdsl::detail {

/// What a conversion reads from the arguments, and what an argument is: 4 bytes, 8 bytes, a double, an address.
enum class printed : std::uint8_t { nothing, word, wide, real, address };

/// The arguments a format asks for.
struct print_format {
    static constexpr std::uint32_t most = 32;  ///< the device's printf ignores what comes behind
    printed wants[most + 1] = {};
    std::uint32_t n = 0;
    bool known = true;  ///< every conversion is one that the device has

    constexpr void add(printed p) noexcept {
        if (n <= most) wants[n++] = p;
    }
};
[[nodiscard]] constexpr bool is_in(char c, string_view set) noexcept {
    for (const char s : set)
        if (s == c) return true;
    return false;
}
/// `%[flags][width][.precision][size]type`: what the type reads, with `longs` times `l` in front.
[[nodiscard]] constexpr printed conversion(char type, std::uint32_t longs) noexcept {
    if (is_in(type, "diouxX")) return longs == 0 ? printed::word : printed::wide;
    if (type == 'c' && longs == 0) return printed::word;
    if (is_in(type, "eEfgGaA") && longs < 2) return printed::real;
    return (type == 's' || type == 'p') && longs == 0 ? printed::address : printed::nothing;
}
[[nodiscard]] constexpr print_format read_format(string_view s) noexcept {
    print_format f;
    std::size_t i = 0;
    const auto is = [&](string_view set) { return i < s.size() && is_in(s[i], set); };
    const auto digits = [&] {
        while (is("0123456789")) ++i;
    };
    while (i < s.size()) {
        if (s[i++] != '%') continue;
        if (is("%")) {
            ++i;
            continue;
        }
        while (is("#0- +")) ++i;
        is("*") ? (++i, f.add(printed::word)) : digits();
        if (is(".")) ++i, digits();  // no `*`: the device prints such a conversion as it stands
        std::uint32_t longs = 0;
        if (is("h")) ++i;
        while (longs < 2 && is("l")) ++i, ++longs;
        const printed p = i < s.size() ? conversion(s[i++], longs) : printed::nothing;
        f.known = f.known && p != printed::nothing;
        f.add(p);
    }
    return f;
}

/// What an argument is to printf.
template <class A>
[[nodiscard]] consteval printed printed_as() noexcept {
    if constexpr (meta::is_arithmetic_v<A>) {
        return meta::is_floating_point_v<A> ? printed::real : sizeof(A) > 4 ? printed::wide : printed::word;
    } else if constexpr (is_ptr_v<A>) {
        return is_narrow(A::state_space) ? printed::nothing : printed::address;
    } else if constexpr (traits<A>::is_reg) {
        using T = typename traits<A>::value;
        if (is_integral_class<T> || class_of<T> == isa::type_class::bits)
            return bits_of<T> <= 32 ? printed::word : bits_of<T> == 64 ? printed::wide : printed::nothing;
        const bool real =
            meta::is_same_v<T, f32> || meta::is_same_v<T, f64> || meta::is_same_v<T, f16> || meta::is_same_v<T, bf16>;
        return real ? printed::real : printed::nothing;
    } else {
        return printed::nothing;
    }
}

/// Argument `N` of several, from 1; 0: none.
template <std::uint32_t N, class... A>
struct argument {
    using type = void;
};
template <class First, class... A>
struct argument<1, First, A...> {
    using type = First;
};
template <std::uint32_t N, class First, class... A>
    requires(N > 1)
struct argument<N, First, A...> : argument<N - 1, A...> {};

/// One call: what its format asks for and what it is given.
template <fixed_string Format, class... A>
struct print_call {
    static constexpr print_format format = read_format(Format.view());
    static constexpr std::uint32_t n = (0u + ... + (is_absent<A> ? 0u : 1u));
    static constexpr bool counts = format.known && format.n == n && n <= print_format::most;
    static constexpr std::uint32_t wrong = [] {  // the first argument that does not fit, from 1
        constexpr printed given[] = {printed_as<A>()..., printed::nothing};
        for (std::uint32_t i = 0; counts && i < n; ++i)
            if (given[i] != format.wants[i] && (given[i] != printed::wide || format.wants[i] != printed::address))
                return i + 1;
        return 0u;
    }();
    static constexpr printed wants = wrong == 0 ? printed::nothing : format.wants[wrong - 1];
    using wrong_type = typename argument<wrong, A...>::type;
    static constexpr bool ok = counts && wrong == 0;
    static constexpr std::uint32_t bytes = [] {
        std::uint32_t at = 0;
        for (std::uint32_t i = 0; i < format.n && i < print_format::most; ++i)
            at = format.wants[i] == printed::word ? at + 4 : (at + 7) / 8 * 8 + 8;
        return at;
    }();
};

/// Refuses a format and arguments that do not belong together; the first wrong argument is among the parameters.
template <class Call, std::uint32_t Number = Call::wrong, class Argument = typename Call::wrong_type>
constexpr auto check_print() noexcept {
    constexpr bool special = traits<Argument>::is_special,
                   data = meta::is_same_v<typename traits<Argument>::value, pred>, other = !special && !data;
    static_assert(
        Call::format.known,
        "PTXDSL-A17: the device's printf lacks a conversion of this format; it has %d %i %u %o %x %X %c %e %E %f "
        "%g %G %a %A %s %p and %%, with flags, width (* too), precision (a number), h, l and ll");
    static_assert(
        !Call::format.known || Call::format.n == Call::n,
        "PTXDSL-A17: this format asks for another number of arguments than the call has (a width of * is one, too)");
    static_assert(Call::n <= print_format::most, "PTXDSL-A17: the device's printf takes at most 32 arguments");
    static_assert(!special,
                  "PTXDSL-A14: a special register is an operand of mov only; read it first: auto t = k.mov(px::tid.x)");
    static_assert(!data, "PTXDSL-A02: a predicate is used as data; print k.selp(k.mov<u32>(1), 0u, p) with %u");
    static_assert(
        !other || Call::wants != printed::word,
        "PTXDSL-A17: %d %i %u %x %o %c and a width of * print an integer of at most 32 bits (64 bits: %ld %lu %lx); the "
        "argument is something else (its number and type are in the note below)");
    static_assert(!other || Call::wants != printed::wide,
                  "PTXDSL-A17: %ld %lu %lx and %lld print an integer of 64 bits; the argument is something else (its "
                  "number and type are in the note below)");
    static_assert(
        !other || Call::wants != printed::real,
        "PTXDSL-A17: %f %e %g and %a print an f32, f64, f16 or bf16; the argument is something else (its number "
        "and type are in the note below)");
    static_assert(
        !other || Call::wants != printed::address,
        "PTXDSL-A17: %p and %s print a 64-bit address; the argument is something else (its number and type are "
        "in the note below)");
}

/// The constant that holds a format, and the declaration of `vprintf`, as lines in front of the kernel.
template <fixed_string Format>
struct print_text {
    static constexpr void write(ir::program& p, std::uint32_t index) {
        const ir::name id = p.functions[index].id;
        const std::uint32_t begin = p.pool.size();
        const auto put = [&](string_view s) {
            for (const char c : s) p.pool.push_back(c);
        };
        put(".global .align 1 .b8 ");
        for (std::uint32_t i = 0; i < id.length; ++i) {
            const char c = p.pool[id.offset + i];
            p.pool.push_back(c);
        }
        put("["), put(decimal(Format.size() + 1).view()), put("] = {");
        for (std::size_t i = 0; i <= Format.size(); ++i) {
            if (i != 0) put(", ");
            put(decimal(static_cast<unsigned char>(Format.data[i])).view());
        }
        put("};");
        p.add_text(ir::text_kind::directive, {begin, p.pool.size() - begin}, location());
    }
};
struct print_function {
    static constexpr string_view name = "vprintf";
    static constexpr void write(ir::program& p, std::uint32_t) {
        p.add_text(ir::text_kind::directive,
                   p.intern(".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);"),
                   location());
    }
};
/// The symbol of a format; the same text is declared once.
template <fixed_string Format>
constexpr std::uint32_t declare_format(ir::program& p, location where) {
    constexpr auto writer = &print_text<Format>::write;
    std::uint32_t before = 0;
    for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
        if (p.function_writers[i] == writer) return declare_symbol(p, p.text(p.functions[i].id), writer, where);
        before += p.functions[i].declaration && p.function_writers[i] != &print_function::write ? 1 : 0;
    }
    char name[32] = "printf_format_";
    std::size_t n = 14;
    for (const char c : decimal(before)) name[n++] = c;
    return declare_symbol(p, {name, n}, writer, where, true);
}

/// Writes one `printf` whose arguments are in order already.
template <target Tgt>
struct print_writer {
    const context& k;
    location where;
    std::uint32_t buffer;  ///< symbol
    std::uint32_t at = 0;

    template <class V>
    constexpr auto put(const V& v) {
        constexpr printed kind = printed_as<V>();
        if constexpr (is_absent<V>) {
            return;
        } else if constexpr (kind == printed::address) {
            store<tok::b64, 8>(address(v));
        } else if constexpr (meta::is_arithmetic_v<V>) {
            constexpr tok type = kind == printed::real ? tok::f64 : kind == printed::wide ? tok::b64 : tok::b32;
            using T =
                meta::conditional_t<kind == printed::real, f64, meta::conditional_t<kind == printed::wide, s64, s32>>;
            store<type, kind == printed::word ? 4 : 8>(operand<T>(static_cast<T>(v), where));
        } else if constexpr (kind == printed::real) {
            store<tok::f64, 8>(operand<f64>(promoted(v), where));
        } else {
            using T = typename traits<V>::value;
            if constexpr (bits_of<T> < 32)
                store<tok::b32, 4>(operand<u32>(promoted(v), where));
            else
                store<bits_type<T> == isa::scalar::b32 ? tok::b32 : tok::b64, bits_of<T> / 8>(operand<T>(v, where));
        }
    }

private:
    template <tok Type, std::uint32_t Bytes, class O>
    constexpr auto store(const O& value) {
        raw_operand to;
        at = (at + Bytes - 1) / Bytes * Bytes;
        to.words[0] = ir::head(ir::operand_kind::address, 0);
        to.words[1] = ir::head(ir::operand_kind::symbol, buffer);
        to.words[2] = at, to.count = 3;
        at += Bytes;
        effect<form<Tgt, tok::st, tok::local, Type>>(k, where, to, value);
    }
    /// Integers of 8 and 16 bits become 32, floats become f64.
    template <class T>
    constexpr auto promoted(const reg<T>& v) const {
        if constexpr (meta::is_same_v<T, f64>) {
            return reg<f64>(v);
        } else if constexpr (is_float_class<T>) {
            return value<form<Tgt, tok::cvt, tok::f64, isa::type_token(scalar_of<T>)>, f64>(k, where,
                                                                                            operand<T>(v, where));
        } else if constexpr (class_of<T> == isa::type_class::signed_int) {
            return value<form<Tgt, tok::cvt, tok::s32, isa::type_token(scalar_of<T>)>, u32>(k, where,
                                                                                            operand<T>(v, where));
        } else {
            return value<form<Tgt, tok::cvt, tok::u32, bits_of<T> == 8 ? tok::u8 : tok::u16>, u32>(
                k, where, operand<T>(v, where));
        }
    }
    /// The address a pointer stands for: its register, or one more when something is added to it.
    template <class P>
    constexpr raw_operand address(const P& v) const {
        if (v.offset() == 0 && ir::kind_of(v.base()) == ir::operand_kind::reg)
            return operand<u64>(reg<u64>(v.program(), ir::payload_of(v.base()), {}), where);
        return operand<u64>(builder<Tgt>(k.p).address(v, where), where);
    }
};

/// What `k.printf` does (dsl/call.hpp).
template <target Tgt>
struct printer<Tgt, void> {
    template <fixed_string Format, class... A>
    static constexpr auto run(const context& k, location where, A&&... args) {
        using call = print_call<Format, meta::remove_cvref_t<A>...>;
        check_print<call>();
        if constexpr (call::ok) {
            refuse_guard(k, where);
            ir::span spans[sizeof...(A) + 1] = {};
            std::uint32_t n = 0;
            ((spans[n++] = span_of(static_cast<A&&>(args))), ...);
            settle_spans(k.p, spans, n, where);
            const std::uint32_t symbols[] = {
                declare_format<Format>(k.p, where),
                declare_symbol(k.p, print_function::name, &print_function::write, where, true)};
            if constexpr (call::n == 0) {
                call_vprintf(k.p, symbols, ir::head(ir::operand_kind::small_int, 0), where);
            } else {
                const std::uint32_t buffer = open_buffer(k.p, call::bytes, where);
                print_writer<Tgt> out{{k.p, 0}, where, buffer};
                (out.put(args), ...);
                call_vprintf(k.p, symbols, generic<tok::local>(k.p, buffer, where), where);
                k.p.add_region(ir::region::scope_end, where);
            }
        }
    }

private:
    template <class A>
    [[nodiscard]] static constexpr ir::span span_of(A&& a) noexcept {
        if constexpr (!meta::is_lvalue_reference_v<A> && (traits<A>::is_reg || is_ptr_v<A>)) return a.expression();
        return {};
    }
    /// `{ .local .align 8 .b8 printf_arguments[bytes];` and its symbol.
    [[nodiscard]] static constexpr std::uint32_t open_buffer(ir::program& p, std::uint32_t bytes, location where) {
        constexpr string_view name = "printf_arguments";
        const std::uint32_t begin = p.pool.size();
        const auto put = [&](string_view s) {
            for (const char c : s) p.pool.push_back(c);
        };
        put(".local .align 8 .b8 "), put(name), put("["), put(decimal(bytes).view()), put("];");
        p.add_region(ir::region::scope_begin, where);
        p.add_text(ir::text_kind::declaration, {begin, p.pool.size() - begin}, where);
        for (std::uint32_t i = 0; i < p.symbols.size(); ++i)
            if (p.text(p.symbols[i]) == name) return i;
        return p.new_symbol(name);
    }
    /// `cvta.Space.u64 d, symbol;`
    template <tok Space>
    [[nodiscard]] static constexpr std::uint32_t generic(ir::program& p, std::uint32_t symbol, location where) {
        raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::symbol, symbol), o.count = 2;
        return reg_word(value<form<Tgt, tok::cvta, Space, tok::u64>, u64>({p, 0}, where, o).id());
    }
    /// `call (n), vprintf, (format, arguments);`
    static constexpr void call_vprintf(ir::program& p, const std::uint32_t (&symbols)[2], std::uint32_t arguments,
                                       location where) {
        const std::uint32_t in[] = {generic<tok::global>(p, symbols[0], where), arguments};
        const std::uint32_t out = reg_word(p.new_reg(isa::scalar::b32));
        raw_operand operands[] = {vector_of(&p, &out, 1), {}, vector_of(&p, in, 2)};
        operands[1].words[0] = ir::head(ir::operand_kind::symbol, symbols[1]), operands[1].count = 2;
        emit(p, ref<form<Tgt, tok::call>>(), 0, where, operands, 3);
    }
};

}  // namespace ptxdsl::detail
