// SPDX-License-Identifier: Apache-2.0
// Typed handles: registers, addresses, special registers. A handle is a C++ value that names a register of the kernel
// under construction; copying a handle names the same register, it emits nothing.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/ir/program.hpp>
#include <ptxdsl/isa/special_registers.hpp>
#include <ptxdsl/isa/table.hpp>

#include <cstdint>
#include <source_location>

namespace ptxdsl {

using isa::tok;

namespace detail {
template <class>
inline constexpr bool always_false = false;
}  // namespace detail

/// A line of the author's, the last parameter of every call, which C++ fills in. What is written in its place is an
/// operand too many, and refused with a sentence (A16) where C++ would list candidates.
struct location : std::source_location {
    constexpr location() noexcept = default;
    // NOLINTBEGIN(google-explicit-constructor)
    constexpr location(std::source_location where) noexcept : std::source_location(where) {}
    template <class T>
    constexpr location(const T&) noexcept(refuse<T>()) {}
    // NOLINTEND(google-explicit-constructor)

private:
    /// In a `noexcept`, which g++ instantiates where the conversion stands.
    template <class T>
    [[nodiscard]] static constexpr auto refuse() noexcept {
        static_assert(
            detail::always_false<T>,
            "PTXDSL-A16: this call has an operand too many: a result is returned, d = k.add(a, b), and what the call "
            "takes is in docs/isa (the operand's type is in the note below)");
        return true;
    }
};

/// The same without that sentence, where another overload takes one more operand that is converted (a cache policy, a
/// number of bytes): to C++ `location` would be as good a place for it.
using call_site = std::source_location;

/// Empty base of all handles: its namespace holds the operators that refuse wrong operands (dsl/operators.hpp).
namespace handle_operators {
struct tag {};
}  // namespace handle_operators

template <class T>
class reg;

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

constexpr void write(ir::program& p, const raw_operand& o) {
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

/// Whether the operand is, or has first, a register; its program says whose.
[[nodiscard]] constexpr bool names_register(const raw_operand& o) noexcept {
    if (o.prog != nullptr) return true;
    switch (ir::kind_of(o.words[0])) {
        case ir::operand_kind::reg:
        case ir::operand_kind::not_pred: return true;
        case ir::operand_kind::address:
        case ir::operand_kind::tensor: return ir::kind_of(o.words[1]) == ir::operand_kind::reg;
        default: return false;  // a vector's words do not say whose its registers are
    }
}
/// Emits one instruction: settles the order of nested calls, checks that all operands belong to this kernel (A05),
/// writes the record. Returns the span of the whole expression.
///
/// `operands` are in PTX order; `dst` of them, at the front, are results and take no part in the ordering.
constexpr ir::span emit(ir::program& p, const form_ref& f, std::uint32_t guard, location where,
                        const raw_operand* operands, std::uint32_t n) {
    ir::span spans[24] = {};
    for (std::uint32_t i = 0; i < n; ++i) {
        spans[i] = operands[i].fresh;
        if (operands[i].prog != &p && names_register(operands[i]))
            p.report(
                operands[i].prog != nullptr ? "A05" : "A06", where,
                {"operand ", i + 1, " of ", isa::spelling(static_cast<tok>(f.packed[0] & 0xffffu)),
                 operands[i].prog != nullptr ? " is a register of another kernel"
                                             : " is a handle without a register: nothing has been assigned to it"});
    }
    ir::span all;
    if (!p.settle(spans, n, all))
        p.report(
            "K05", where,
            {"two nested calls in one argument list emit several instructions each, and C++ does not fix their order; "
             "give the first one a name"});
    p.flush_notes(where);
    p.begin_instruction(f.packed, f.tokens, f.form, f.since, guard, where);
    for (std::uint32_t i = 0; i < n; ++i) write(p, operands[i]);
    p.end_record();
    return {all.begin, p.words.size()};
}

template <class... O>
constexpr ir::span emit_all(ir::program& p, const form_ref& f, std::uint32_t guard, location where,
                            const O&... operands) {
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

constexpr void emit_mov(ir::program& p, isa::scalar type, std::uint32_t dst, const raw_operand& src, location where) {
    const std::uint32_t packed = static_cast<std::uint32_t>(tok::mov) |
                                 static_cast<std::uint32_t>(isa::type_token(ir::program::register_type(type))) << 16;
    const raw_operand list[] = {reg_operand(p, dst), src};
    emit(p, {&packed, 2, 0, {1, 0}}, 0, where, list, 2);
}

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

/// A value usable where an instruction reads a `T`: a register, or a literal of the right kind. Remembers where in the
/// author's file it was made, so that operators report their line.
template <class T>
struct operand : detail::raw_operand {
    location where;

    // NOLINTBEGIN(google-explicit-constructor): conversion is what this type is for.
    constexpr operand(const reg<T>& r, location at = location::current()) noexcept : where(at) { bind(r); }
    constexpr operand(reg<T>&& r, location at = location::current()) noexcept : where(at) {
        bind(r);
        fresh = r.expression();
    }
    template <class V>
        requires meta::is_arithmetic_v<V>
    constexpr operand(V v, location at = location::current()) noexcept(is_literal_of<V>()) : where(at) {
        set_literal(v);
    }
    // NOLINTEND(google-explicit-constructor)

private:
    constexpr void bind(const reg<T>& r) noexcept {
        prog = r.program();
        words[0] = ir::head(ir::operand_kind::reg, r.id());
    }

    /// Refuses literals of another class. The constructor asks in its `noexcept`, which g++ instantiates at the call.
    template <class V>
    [[nodiscard]] static constexpr auto is_literal_of() noexcept {
        constexpr isa::type_class cls = class_of<T>;
        constexpr bool floats = meta::is_same_v<T, f32> || meta::is_same_v<T, f64>;
        constexpr bool narrow = !floats && (cls == isa::type_class::floating || cls == isa::type_class::packed);
        static_assert(!meta::is_same_v<T, f32> || meta::is_floating_point_v<V>,
                      "PTXDSL-A03: integer literal for an f32 operand; write it as a float, for example 1.0f");
        static_assert(
            !meta::is_same_v<T, f64> || meta::is_floating_point_v<V>,
            "PTXDSL-A03: integer literal for an f64 operand; write it as a floating literal, for example 1.0");
        static_assert(
            !narrow,
            "PTXDSL-A14: this instruction takes no literal of a 16-bit or packed type; load it into a register "
            "first with k.mov or k.imm");
        static_assert(cls != isa::type_class::predicate,
                      "PTXDSL-A02: a literal where a predicate register is needed; use k.setp");
        static_assert(floats || narrow || cls == isa::type_class::predicate || !meta::is_floating_point_v<V>,
                      "PTXDSL-A03: floating literal for an integer operand; PTX would take its bits");
        return true;
    }
    template <class V>
    constexpr void set_literal(V v) noexcept {
        if constexpr (meta::is_same_v<T, f32>) {
            words[0] = ir::head(ir::operand_kind::f32, 0);
            words[1] = __builtin_bit_cast(std::uint32_t, static_cast<float>(v));
            count = 2;
        } else if constexpr (meta::is_same_v<T, f64>) {
            const auto bits = __builtin_bit_cast(std::uint64_t, static_cast<double>(v));
            words[0] = ir::head(ir::operand_kind::f64, 0);
            words[1] = static_cast<std::uint32_t>(bits);
            words[2] = static_cast<std::uint32_t>(bits >> 32);
            count = 3;
        } else {
            set_integer(static_cast<std::int64_t>(v));
        }
    }
    constexpr void set_integer(std::int64_t v) noexcept {
        constexpr unsigned w = bits_of<T>;
        if constexpr (w < 64) {
            if (v < -(std::int64_t{1} << (w - 1)) || v > (std::int64_t{1} << w) - 1) out_of_range = true;
        }
        if (ir::fits_small(v)) {
            words[0] = ir::head(ir::operand_kind::small_int, static_cast<std::uint32_t>(v));
        } else {
            words[0] = ir::head(ir::operand_kind::integer, static_cast<std::uint32_t>(scalar_of<T>));
            words[1] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(v));
            words[2] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(v) >> 32);
            count = 3;
        }
    }

public:
    bool out_of_range = false;  ///< A03: the literal does not fit `T`
    [[nodiscard]] constexpr bool is_literal() const noexcept { return prog == nullptr; }
};

namespace detail {

/// Emits `Ops.type d, a, b` for an operator; defined in dsl/operators.hpp.
template <class T, class R, tok... Ops, class U>
constexpr reg<R> operate(isa::scalar type, const operand<T>& a, const operand<U>& b);
template <class T, tok... Ops>
constexpr reg<T> operate(isa::scalar type, const operand<T>& a);
template <class T, tok... Ops, class U>
constexpr void operate_in_place(const reg<T>& d, isa::scalar type, const operand<U>& b);
template <class T>
constexpr void assign_literal(const reg<T>& d, const operand<T>& literal);

template <class T>
inline constexpr bool is_integral_class =
    class_of<T> == isa::type_class::unsigned_int || class_of<T> == isa::type_class::signed_int;
template <class T>
inline constexpr bool is_float_class =
    class_of<T> == isa::type_class::floating || class_of<T> == isa::type_class::packed;
template <class T>
inline constexpr bool has_arithmetic =
    (is_integral_class<T> && bits_of<T> >= 16) || meta::is_same_v<T, f32> || meta::is_same_v<T, f64> ||
    meta::is_same_v<T, f16> || meta::is_same_v<T, bf16> || meta::is_same_v<T, f16x2> || meta::is_same_v<T, bf16x2>;
template <class T>
inline constexpr bool has_logic =
    meta::is_same_v<T, pred> || (!is_float_class<T> && bits_of<T> >= 16 && bits_of<T> <= 64);

/// Type token of logic and left shifts, which PTX has for bit types only.
template <class T>
inline constexpr isa::scalar bits_type = meta::is_same_v<T, pred> ? isa::scalar::pred
                                         : bits_of<T> == 16       ? isa::scalar::b16
                                         : bits_of<T> == 32       ? isa::scalar::b32
                                         : bits_of<T> == 64       ? isa::scalar::b64
                                                                  : isa::scalar::none;
/// Type by which `ld`, `st`, `mov` and `selp` know a value: bit, integer and f32/f64 types are themselves, everything
/// else is bits of its size (PTX ISA 5.2.2).
[[nodiscard]] constexpr isa::scalar plain_type(isa::scalar s) noexcept {
    const isa::type_class cls = isa::info(s).cls;
    if (cls != isa::type_class::floating && cls != isa::type_class::packed) return s;
    if (s == isa::scalar::f32 || s == isa::scalar::f64) return s;
    switch (isa::bits(s)) {
        case 8: return isa::scalar::b8;
        case 16: return isa::scalar::b16;
        case 32: return isa::scalar::b32;
        default: return isa::scalar::b64;
    }
}
/// `.rn` where the type has roundings: without it ptxas may fuse a product and a sum behind the author's back.
template <class T>
inline constexpr tok rounding = is_float_class<T> ? tok::rn : tok::none;
template <class T>
inline constexpr tok low_half = is_float_class<T> ? tok::rn : tok::lo;
}  // namespace detail

/// A register of type `T` (`px::u32`, `px::f32`, `px::bf16x2`, `px::pred` …).
///
/// - Constructing or copying a handle emits nothing; both handles name one register.
/// - Assigning a call to a handle that already names a register makes the call's instruction write that register:
///   `x = k.add(x, y)` is `add x, x, y`. Registers behave like variables.
/// - Assigning another handle, or a literal of the register's type, emits one `mov`.
/// - An unbound handle (default constructed) takes the register it is first assigned.
template <class T>
class [[nodiscard]] reg : handle_operators::tag {
    static_assert(ptx_type<T>,
                  "PTXDSL-A08: this C++ type stands for no PTX type; use px::u32, px::f32, px::bf16 … "
                  "(ptxdsl/isa/types.hpp)");

public:
    using value_type = T;

    constexpr reg() noexcept = default;
    constexpr reg(ir::program& p, std::uint32_t id, ir::span expression = {}) noexcept
        : prog_(&p), id_(id), span_(expression) {}
    constexpr reg(const reg& other) noexcept : prog_(other.prog_), id_(other.id_) { other.keep(); }
    constexpr reg(reg&& other) noexcept = default;
    constexpr ~reg() = default;

    constexpr reg& operator=(const reg& other) {
        assign(other, {});
        return *this;
    }
    constexpr reg& operator=(reg&& other) {
        assign(other, other.span_);
        return *this;
    }
    /// `x = 0.0f`: one `mov.T x, literal;`.
    constexpr reg& operator=(const operand<T>& literal) {
        detail::assign_literal(*this, literal);
        return *this;
    }
    /// Refuses registers of another type (A01) and special registers (A14) with a sentence.
    template <class V>
        requires(meta::is_base_of_v<handle_operators::tag, V>)
    constexpr auto operator=(const V&) {
        constexpr bool special = meta::is_empty_v<V>;
        static_assert(
            !special,
            "PTXDSL-A14: a special register is an operand of mov only; read it first: auto t = k.mov(px::tid.x)");
        static_assert(
            special,
            "PTXDSL-A01: a register is assigned one of another scalar type; convert it with k.cvt, copy its bits with "
            "k.mov_b32, rename it with x.as<T>() (both types are in the note below)");
    }
    constexpr auto operator=(const reg&) const { refuse_const<T>(); }
    constexpr auto operator=(reg&&) const { refuse_const<T>(); }

    [[nodiscard]] constexpr std::uint32_t id() const noexcept { return id_; }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }
    [[nodiscard]] constexpr bool bound() const noexcept { return prog_ != nullptr; }
    /// Span of the nested call that produced this value; empty once the value has a name.
    [[nodiscard]] constexpr ir::span expression() const noexcept { return span_; }

    /// Names the register in the PTX text: `%row0` instead of `%r7`. Emits nothing.
    constexpr reg& named(string_view prefix) & {
        prog_->rename(id_, prefix);
        return *this;
    }
    constexpr reg named(string_view prefix) && {
        prog_->rename(id_, prefix);
        return static_cast<reg&&>(*this);
    }

    /// The same register as a `U` of its register class (`u32` as `b32`, `bf16x2` …). Emits nothing; between classes,
    /// as from f32 to u32, `k.mov_b32<U>(x)` copies the bits.
    template <class U>
    [[nodiscard]] constexpr auto as() const& {
        check_class<U>();
        return reg<U>(*prog_, id_);
    }
    template <class U>
    [[nodiscard]] constexpr auto as() && {
        check_class<U>();
        return reg<U>(*prog_, id_, span_);
    }

    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr explicit operator bool() const {
        static_assert(
            detail::always_false<T>,
            "PTXDSL-A04: a register has no value while the kernel is being written, so `if (reg == 2)` cannot "
            "decide anything; emit a branch with k.if_(reg == 2, [&] { … })");
        return false;
    }

    // ---- operators: one instruction each ------------------------------------------------------------------------
    /// `add.T` (floats: `add.rn.T`)
    friend constexpr reg operator+(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, T, tok::add, detail::rounding<T>>(scalar_of<T>, a, b);
    }
    /// `sub.T` (floats: `sub.rn.T`)
    friend constexpr reg operator-(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, T, tok::sub, detail::rounding<T>>(scalar_of<T>, a, b);
    }
    /// `mul.lo.T` (floats: `mul.rn.T`)
    friend constexpr reg operator*(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, T, tok::mul, detail::low_half<T>>(scalar_of<T>, a, b);
    }
    /// `div.T` (f32, f64: `div.rn.T`)
    friend constexpr reg operator/(const operand<T>& a, const operand<T>& b)
        requires(detail::is_integral_class<T> || meta::is_same_v<T, f32> || meta::is_same_v<T, f64>)
    {
        return detail::operate<T, T, tok::div, detail::rounding<T>>(scalar_of<T>, a, b);
    }
    /// `rem.T`
    friend constexpr reg operator%(const operand<T>& a, const operand<T>& b)
        requires(detail::is_integral_class<T>)
    {
        return detail::operate<T, T, tok::rem>(scalar_of<T>, a, b);
    }
    /// `and.b32`, `and.pred` …
    friend constexpr reg operator&(const operand<T>& a, const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        return detail::operate<T, T, tok::and_>(detail::bits_type<T>, a, b);
    }
    friend constexpr reg operator|(const operand<T>& a, const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        return detail::operate<T, T, tok::or_>(detail::bits_type<T>, a, b);
    }
    friend constexpr reg operator^(const operand<T>& a, const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        return detail::operate<T, T, tok::xor_>(detail::bits_type<T>, a, b);
    }
    /// `and.pred`, `or.pred`: both sides are always evaluated, a kernel has no short circuit. (The left side is a
    /// register itself, so that C++ prefers these to its own operators on bool, which row A04 refuses.)
    friend constexpr reg operator&&(const reg& a, const operand<T>& b)
        requires(meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, tok::and_>(isa::scalar::pred, operand<T>(a, b.where), b);
    }
    friend constexpr reg operator&&(reg&& a, const operand<T>& b)
        requires(meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, tok::and_>(isa::scalar::pred, operand<T>(static_cast<reg&&>(a), b.where), b);
    }
    friend constexpr reg operator||(const reg& a, const operand<T>& b)
        requires(meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, tok::or_>(isa::scalar::pred, operand<T>(a, b.where), b);
    }
    friend constexpr reg operator||(reg&& a, const operand<T>& b)
        requires(meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, tok::or_>(isa::scalar::pred, operand<T>(static_cast<reg&&>(a), b.where), b);
    }
    /// `not.pred`; as a guard, `px::unless(p)` costs no instruction.
    friend constexpr reg operator!(const reg& a)
        requires(meta::is_same_v<T, pred>)
    {
        return detail::operate<T, tok::not_>(isa::scalar::pred, operand<T>(a, a.prog_->locations.back()));
    }
    friend constexpr reg operator!(reg&& a)
        requires(meta::is_same_v<T, pred>)
    {
        const location where = a.prog_->locations.back();
        return detail::operate<T, tok::not_>(isa::scalar::pred, operand<T>(static_cast<reg&&>(a), where));
    }
    /// `not.b32` …
    friend constexpr reg operator~(const operand<T>& a)
        requires(detail::has_logic<T> && !meta::is_same_v<T, pred>)
    {
        return detail::operate<T, tok::not_>(detail::bits_type<T>, a);
    }
    /// `neg.T`; PTX negates signed and floating types only.
    friend constexpr reg operator-(const operand<T>& a)
        requires(detail::has_arithmetic<T> && class_of<T> != isa::type_class::unsigned_int)
    {
        return detail::operate<T, tok::neg>(scalar_of<T>, a);
    }
    /// `shl.b32` …; counts past the width give zero.
    friend constexpr reg operator<<(const operand<T>& a, const operand<u32>& n)
        requires(detail::has_logic<T> && !meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, tok::shl>(detail::bits_type<T>, a, n);
    }
    /// `shr.T`: arithmetic for signed registers, logical for unsigned and bit registers.
    friend constexpr reg operator>>(const operand<T>& a, const operand<u32>& n)
        requires(detail::has_logic<T> && !meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, tok::shr>(scalar_of<T>, a, n);
    }
    /// `setp.eq.T` … for every comparison; floats compare ordered except `!=`, which is `setp.neu`.
    friend constexpr reg<pred> operator==(const operand<T>& a, const operand<T>& b)
        requires(!meta::is_same_v<T, pred>)
    {
        return detail::operate<T, pred, tok::setp, tok::eq>(compare_type(), a, b);
    }
    friend constexpr reg<pred> operator!=(const operand<T>& a, const operand<T>& b)
        requires(!meta::is_same_v<T, pred>)
    {
        return detail::operate<T, pred, tok::setp, detail::is_float_class<T> ? tok::neu : tok::ne>(compare_type(), a,
                                                                                                   b);
    }
    friend constexpr reg<pred> operator<(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, pred, tok::setp, tok::lt>(scalar_of<T>, a, b);
    }
    friend constexpr reg<pred> operator<=(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, pred, tok::setp, tok::le>(scalar_of<T>, a, b);
    }
    friend constexpr reg<pred> operator>(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, pred, tok::setp, tok::gt>(scalar_of<T>, a, b);
    }
    friend constexpr reg<pred> operator>=(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, pred, tok::setp, tok::ge>(scalar_of<T>, a, b);
    }
    /// In place, `x += y` is `add.T x, x, y`.
    constexpr reg& operator+=(const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        detail::operate_in_place<T, tok::add, detail::rounding<T>>(*this, scalar_of<T>, b);
        return *this;
    }
    constexpr reg& operator-=(const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        detail::operate_in_place<T, tok::sub, detail::rounding<T>>(*this, scalar_of<T>, b);
        return *this;
    }
    constexpr reg& operator*=(const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        detail::operate_in_place<T, tok::mul, detail::low_half<T>>(*this, scalar_of<T>, b);
        return *this;
    }
    constexpr reg& operator&=(const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        detail::operate_in_place<T, tok::and_>(*this, detail::bits_type<T>, b);
        return *this;
    }
    constexpr reg& operator|=(const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        detail::operate_in_place<T, tok::or_>(*this, detail::bits_type<T>, b);
        return *this;
    }
    constexpr reg& operator^=(const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        detail::operate_in_place<T, tok::xor_>(*this, detail::bits_type<T>, b);
        return *this;
    }
    constexpr reg& operator<<=(const operand<u32>& n)
        requires(detail::has_logic<T> && !meta::is_same_v<T, pred>)
    {
        detail::operate_in_place<T, tok::shl>(*this, detail::bits_type<T>, n);
        return *this;
    }
    constexpr reg& operator>>=(const operand<u32>& n)
        requires(detail::has_logic<T> && !meta::is_same_v<T, pred>)
    {
        detail::operate_in_place<T, tok::shr>(*this, scalar_of<T>, n);
        return *this;
    }

private:
    template <class U>
    static constexpr auto refuse_const() noexcept {
        static_assert(
            detail::always_false<U>,
            "PTXDSL-A14: this handle is const, and the assignment writes its register; declare it `auto x`, not "
            "`const auto x`, and let lambdas take it by reference, [&]");
    }
    template <class U>
    static constexpr auto check_class() noexcept {
        static_assert(ptx_type<U>, "PTXDSL-A08: this C++ type stands for no PTX type");
        static_assert(
            ir::program::register_type(scalar_of<U>) == ir::program::register_type(scalar_of<T>),
            "PTXDSL-A01: as<U>() renames a register within its class (size, float or not); copy the bits with "
            "k.mov_b32<U>(x) or convert the value with k.cvt<U>(x)");
    }
    [[nodiscard]] static constexpr isa::scalar compare_type() noexcept { return scalar_of<T>; }
    /// From now on two handles name the value: the call it comes from writes this register.
    constexpr void keep() const noexcept {
        if (span_.end != 0 && span_.end == prog_->words.size()) prog_->open_record = span_.end;
    }
    constexpr void assign(const reg& other, ir::span expression) {
        if (prog_ == nullptr) {
            prog_ = other.prog_, id_ = other.id_;
            if (expression.end == 0) other.keep();
            return;
        }
        if (other.prog_ == nullptr) return;
        if (expression.end != 0 && other.prog_ == prog_ && detail::retarget(*prog_, expression, other.id_, id_)) return;
        detail::raw_operand src = detail::reg_operand(*other.prog_, other.id_);
        src.fresh = expression;
        const location where = prog_->locations.empty() ? location() : prog_->locations.back();
        detail::emit_mov(*prog_, scalar_of<T>, id_, src, where);
    }

    ir::program* prog_ = nullptr;
    std::uint32_t id_ = 0;
    ir::span span_{};
};

/// `unless(p)`: the guard that holds where `p` is false (`@!p`). Emits nothing.
struct negated {
    const reg<pred>& p;
};
[[nodiscard]] constexpr negated unless(const reg<pred>& p) noexcept { return {p}; }

/// A special register; only `k.mov` reads it (A14).
template <class T, isa::special Id>
struct special_register : handle_operators::tag {
    using value_type = T;
    static constexpr isa::special id = Id;
};

namespace detail {
template <class T>
struct handle_traits {
    static constexpr bool is_reg = false;
    static constexpr bool is_special = false;
    using value = void;
};
template <class T>
struct handle_traits<reg<T>> {
    static constexpr bool is_reg = true;
    static constexpr bool is_special = false;
    using value = T;
};
template <class T, isa::special Id>
struct handle_traits<special_register<T, Id>> {
    static constexpr bool is_reg = false;
    static constexpr bool is_special = true;
    using value = T;
};
template <class A>
using traits = handle_traits<meta::remove_cvref_t<A>>;

/// First register type among the arguments, or void.
template <class...>
struct first_value {
    using type = void;
};
template <class A, class... Rest>
struct first_value<A, Rest...> {
    using type = typename meta::conditional_t<traits<A>::is_reg, meta::type_identity<typename traits<A>::value>,
                                              first_value<Rest...>>::type;
};
template <class... A>
using first_value_t = typename first_value<A...>::type;

/// True when every register among the arguments holds a `T`.
template <class T, class... A>
inline constexpr bool all_values = ((!traits<A>::is_reg || meta::is_same_v<typename traits<A>::value, T>) && ...);
template <class... A>
inline constexpr bool any_special = (traits<A>::is_special || ...);
}  // namespace detail

}  // namespace ptxdsl
