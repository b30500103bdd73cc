// SPDX-License-Identifier: Apache-2.0
// Typed handles: registers, predicates, special registers. A handle is a C++ value that names a register of the kernel
// under construction; copying a handle names the same register, it emits nothing.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/dsl/emit.hpp>
#include <ptxdsl/dsl/location.hpp>
#include <ptxdsl/dsl/traits.hpp>
#include <ptxdsl/ir/program.hpp>
#include <ptxdsl/isa/special_registers.hpp>
#include <ptxdsl/isa/table.hpp>

#include <cstdint>

namespace ptxdsl {

template <class Reg>
class assigned;

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
    constexpr operand(const assigned<reg<T>>& a, location at = location::current()) noexcept : where(at) {
        bind(a.target());
    }
    constexpr operand(assigned<reg<T>>&& a, location at = location::current()) noexcept : where(at) {
        bind(a.target());
        fresh = a.made();
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
    [[nodiscard]] constexpr bool is_literal() const noexcept {
        return prog == nullptr && ir::kind_of(words[0]) != ir::operand_kind::reg;
    }
};

/// What an assignment, `x = y` or `x += y`, is: `x`, and the instruction that has just written it. Among the arguments
/// of a call it is refused where the order counts (K05).
template <class Reg>
class assigned {
public:
    using value_type = typename Reg::value_type;
    constexpr assigned(Reg& r, ir::span made) noexcept : reg_(&r), made_{made.begin, made.end, false, true} {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr operator Reg&() const noexcept { return *reg_; }
    [[nodiscard]] constexpr Reg& target() const noexcept { return *reg_; }
    [[nodiscard]] constexpr ir::span made() const noexcept { return made_; }

    // What is asked of a register, asked of `x`.
    [[nodiscard]] constexpr ir::program* program() const noexcept { return reg_->program(); }
    [[nodiscard]] constexpr auto id() const noexcept { return reg_->id(); }
    [[nodiscard]] constexpr ir::span expression() const noexcept { return made_; }
    [[nodiscard]] constexpr Reg same() const noexcept { return reg_->same(); }
    constexpr Reg& named(string_view prefix) const { return reg_->named(prefix); }
    template <class U>
    [[nodiscard]] constexpr auto as() const {
        return reg_->template as<U>();
    }

private:
    Reg* reg_;
    ir::span made_;
};

namespace detail {
template <class T>
struct handle_traits<assigned<reg<T>>> : handle_traits<reg<T>> {};

/// Emits `Ops.type d, a, b` for an operator; defined in dsl/operators.hpp.
template <class T, class R, isa::scalar Type, tok... Ops, class U>
constexpr reg<R> operate(const operand<T>& a, const operand<U>& b);
template <class T, isa::scalar Type, tok... Ops>
constexpr reg<T> operate(const operand<T>& a);
template <class T, isa::scalar Type, tok... Ops, class U>
constexpr ir::span operate_in_place(reg<T>& d, const operand<U>& b);
template <class T>
constexpr ir::span assign_literal(const reg<T>& d, const operand<T>& literal);

}  // namespace detail

/// A register of type `T` (`px::u32`, `px::f32`, `px::bf16x2`, `px::pred` …).
///
/// - Constructing or copying a handle emits nothing; both handles name one register.
/// - Assigning a call to a handle that already names a register makes the call's instruction write that register:
///   `x = k.add(x, y)` is `add x, x, y`. Registers behave like variables.
/// - Assigning another handle, or a literal of the register's type, emits one `mov`.
/// - An empty handle (default constructed) gets a register with its first assignment: that of the call it is assigned,
///   or a new one and a `mov` from the handle it is assigned, which stays a register of its own (`x.same()`: no `mov`).
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
    /// The same, or a handle without a register where `p` is null: parts of handles that name none.
    constexpr reg(ir::program* p, std::uint32_t id, ir::span expression) noexcept
        : prog_(p), id_(id), span_(expression) {}
    constexpr reg(const reg& other) noexcept : prog_(other.prog_), id_(other.id_) {
        if (other.span_.end != 0) span_ = prog_->copied(other.span_), other.keep();
    }
    constexpr reg(reg&& other) noexcept = default;
    constexpr ~reg() = default;

    constexpr assigned<reg<T>> operator=(const reg& other) { return {*this, assign(other, {})}; }
    constexpr assigned<reg<T>> operator=(reg&& other) { return {*this, assign(other, other.span_)}; }
    constexpr assigned<reg<T>> operator=(const assigned<reg<T>>& other) { return {*this, assign(other.target(), {})}; }
    /// `x = 0.0f`: one `mov.T x, literal;`.
    constexpr assigned<reg<T>> operator=(const operand<T>& literal) {
        if (prog_ != nullptr) return {*this, detail::assign_literal(*this, literal)};
        lose();
        return {*this, {}};
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

    /// Another name of this register, for a handle that is still empty: `row_ = row.same()` emits nothing, as a copy,
    /// `auto row_ = row`, does not; and as with a copy, what is assigned to one is assigned to both.
    [[nodiscard]] constexpr reg same() const noexcept {
        if (prog_ == nullptr) return *this;
        keep();
        return reg(*prog_, id_, detail::to_be_named);
    }

    /// A handle without a register got a value that names no kernel: A06 where it is assigned again or used.
    constexpr void lose() noexcept {
        if (id_ == ir::no_register) id_ = ir::lost_literal;
    }
    [[nodiscard]] constexpr std::uint32_t id() const noexcept { return id_; }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }
    [[nodiscard]] constexpr bool bound() const noexcept { return prog_ != nullptr; }
    /// Span of the nested call that produced this value; empty once the value has a name.
    [[nodiscard]] constexpr ir::span expression() const noexcept { return span_; }

    /// Names the register in the PTX text: `%row0` instead of `%r7`. Emits nothing.
    constexpr reg& named(string_view prefix) & {
        rename(prefix);
        return *this;
    }
    constexpr reg named(string_view prefix) && {
        rename(prefix);
        return static_cast<reg&&>(*this);
    }

    /// The same register as a `U` of its register class (`u32` as `b32`, `bf16x2` …). Emits nothing; between classes,
    /// as from f32 to u32, `k.mov_b32<U>(x)` copies the bits.
    template <class U>
    [[nodiscard]] constexpr auto as() const& {
        check_class<U>();
        return reg<U>(prog_, id_, {});
    }
    template <class U>
    [[nodiscard]] constexpr auto as() && {
        check_class<U>();
        return reg<U>(prog_, id_, span_);
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
        return detail::operate<T, T, scalar_of<T>, tok::add, detail::rounding<T>>(a, b);
    }
    /// `sub.T` (floats: `sub.rn.T`)
    friend constexpr reg operator-(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, T, scalar_of<T>, tok::sub, detail::rounding<T>>(a, b);
    }
    /// `mul.lo.T` (floats: `mul.rn.T`)
    friend constexpr reg operator*(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, T, scalar_of<T>, tok::mul, detail::low_half<T>>(a, b);
    }
    /// `div.T` (f32, f64: `div.rn.T`)
    friend constexpr reg operator/(const operand<T>& a, const operand<T>& b)
        requires(detail::is_integral_class<T> || meta::is_same_v<T, f32> || meta::is_same_v<T, f64>)
    {
        return detail::operate<T, T, scalar_of<T>, tok::div, detail::rounding<T>>(a, b);
    }
    /// `rem.T`
    friend constexpr reg operator%(const operand<T>& a, const operand<T>& b)
        requires(detail::is_integral_class<T>)
    {
        return detail::operate<T, T, scalar_of<T>, tok::rem>(a, b);
    }
    /// `and.b32`, `and.pred` …
    friend constexpr reg operator&(const operand<T>& a, const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        return detail::operate<T, T, detail::bits_type<T>, tok::and_>(a, b);
    }
    friend constexpr reg operator|(const operand<T>& a, const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        return detail::operate<T, T, detail::bits_type<T>, tok::or_>(a, b);
    }
    friend constexpr reg operator^(const operand<T>& a, const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        return detail::operate<T, T, detail::bits_type<T>, tok::xor_>(a, b);
    }
    /// `and.pred`, `or.pred`: both sides are always evaluated, a kernel has no short circuit. (The left side is a
    /// register itself, so that C++ prefers these to its own operators on bool, which row A04 refuses.)
    friend constexpr reg operator&&(const reg& a, const operand<T>& b)
        requires(meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, isa::scalar::pred, tok::and_>(operand<T>(a, b.where), b);
    }
    friend constexpr reg operator&&(reg&& a, const operand<T>& b)
        requires(meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, isa::scalar::pred, tok::and_>(operand<T>(static_cast<reg&&>(a), b.where), b);
    }
    friend constexpr reg operator||(const reg& a, const operand<T>& b)
        requires(meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, isa::scalar::pred, tok::or_>(operand<T>(a, b.where), b);
    }
    friend constexpr reg operator||(reg&& a, const operand<T>& b)
        requires(meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, isa::scalar::pred, tok::or_>(operand<T>(static_cast<reg&&>(a), b.where), b);
    }
    /// `not.pred`; as a guard, `px::unless(p)` costs no instruction.
    friend constexpr reg operator!(const reg& a)
        requires(meta::is_same_v<T, pred>)
    {
        return detail::operate<T, isa::scalar::pred, tok::not_>(operand<T>(a, a.last_line()));
    }
    friend constexpr reg operator!(reg&& a)
        requires(meta::is_same_v<T, pred>)
    {
        const location where = a.last_line();
        return detail::operate<T, isa::scalar::pred, tok::not_>(operand<T>(static_cast<reg&&>(a), where));
    }
    /// `not.b32` …
    friend constexpr reg operator~(const operand<T>& a)
        requires(detail::has_logic<T> && !meta::is_same_v<T, pred>)
    {
        return detail::operate<T, detail::bits_type<T>, tok::not_>(a);
    }
    /// `neg.T`; PTX negates signed and floating types only.
    friend constexpr reg operator-(const operand<T>& a)
        requires(detail::has_arithmetic<T> && class_of<T> != isa::type_class::unsigned_int)
    {
        return detail::operate<T, scalar_of<T>, tok::neg>(a);
    }
    /// `shl.b32` …; counts past the width give zero.
    friend constexpr reg operator<<(const operand<T>& a, const operand<u32>& n)
        requires(detail::has_logic<T> && !meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, detail::bits_type<T>, tok::shl>(a, n);
    }
    /// `shr.T`: arithmetic for signed registers, logical for unsigned and bit registers.
    friend constexpr reg operator>>(const operand<T>& a, const operand<u32>& n)
        requires(detail::has_logic<T> && !meta::is_same_v<T, pred>)
    {
        return detail::operate<T, T, scalar_of<T>, tok::shr>(a, n);
    }
    /// `setp.eq.T` … for every comparison; floats compare ordered except `!=`, which is `setp.neu`.
    friend constexpr reg<pred> operator==(const operand<T>& a, const operand<T>& b)
        requires(!meta::is_same_v<T, pred>)
    {
        return detail::operate<T, pred, scalar_of<T>, tok::setp, tok::eq>(a, b);
    }
    friend constexpr reg<pred> operator!=(const operand<T>& a, const operand<T>& b)
        requires(!meta::is_same_v<T, pred>)
    {
        return detail::operate<T, pred, scalar_of<T>, tok::setp, detail::is_float_class<T> ? tok::neu : tok::ne>(a, b);
    }
    friend constexpr reg<pred> operator<(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, pred, scalar_of<T>, tok::setp, tok::lt>(a, b);
    }
    friend constexpr reg<pred> operator<=(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, pred, scalar_of<T>, tok::setp, tok::le>(a, b);
    }
    friend constexpr reg<pred> operator>(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, pred, scalar_of<T>, tok::setp, tok::gt>(a, b);
    }
    friend constexpr reg<pred> operator>=(const operand<T>& a, const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return detail::operate<T, pred, scalar_of<T>, tok::setp, tok::ge>(a, b);
    }
    /// In place, `x += y` is `add.T x, x, y`.
    constexpr assigned<reg<T>> operator+=(const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return {*this, detail::operate_in_place<T, scalar_of<T>, tok::add, detail::rounding<T>>(*this, b)};
    }
    constexpr assigned<reg<T>> operator-=(const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return {*this, detail::operate_in_place<T, scalar_of<T>, tok::sub, detail::rounding<T>>(*this, b)};
    }
    constexpr assigned<reg<T>> operator*=(const operand<T>& b)
        requires(detail::has_arithmetic<T>)
    {
        return {*this, detail::operate_in_place<T, scalar_of<T>, tok::mul, detail::low_half<T>>(*this, b)};
    }
    constexpr assigned<reg<T>> operator&=(const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        return {*this, detail::operate_in_place<T, detail::bits_type<T>, tok::and_>(*this, b)};
    }
    constexpr assigned<reg<T>> operator|=(const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        return {*this, detail::operate_in_place<T, detail::bits_type<T>, tok::or_>(*this, b)};
    }
    constexpr assigned<reg<T>> operator^=(const operand<T>& b)
        requires(detail::has_logic<T>)
    {
        return {*this, detail::operate_in_place<T, detail::bits_type<T>, tok::xor_>(*this, b)};
    }
    constexpr assigned<reg<T>> operator<<=(const operand<u32>& n)
        requires(detail::has_logic<T> && !meta::is_same_v<T, pred>)
    {
        return {*this, detail::operate_in_place<T, detail::bits_type<T>, tok::shl>(*this, n)};
    }
    constexpr assigned<reg<T>> operator>>=(const operand<u32>& n)
        requires(detail::has_logic<T> && !meta::is_same_v<T, pred>)
    {
        return {*this, detail::operate_in_place<T, scalar_of<T>, tok::shr>(*this, n)};
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
    /// From now on two handles name the value: the call it comes from writes this register.
    constexpr void keep() const noexcept {
        if (span_.end != 0 && span_.end == prog_->words.size()) prog_->open_record = span_.end;
    }
    constexpr void rename(string_view prefix) {
        if (prog_ != nullptr && id_ < ir::foreign_register) prog_->rename(id_, prefix);
    }
    /// The line of what was emitted last: assignments and `!` cannot know their own.
    [[nodiscard]] constexpr location last_line() const noexcept {
        return prog_ == nullptr || prog_->locations.empty() ? location() : prog_->locations.back();
    }
    /// Returns what the assignment emitted.
    constexpr ir::span assign(const reg& other, ir::span expression) {
        if (prog_ == nullptr) {
            if (other.prog_ == nullptr) {
                if (id_ == ir::no_register) id_ = other.id_;
                return {};
            }
            if (id_ == ir::lost_literal) {
                other.prog_->report(
                    "A06", other.last_line(),
                    {"what is assigned to here is a handle without a register: ", detail::literal_is_lost});
                return {};
            }
            if (take(other, expression)) return expression;
            if (id_ == ir::lost_register) {
                other.prog_->report("A06", other.last_line(),
                                    {"what is assigned to here is part of a handle without registers, and lost; make "
                                     "the whole from registers first: px::vec{a, b}"});
                return {};
            }
            prog_ = other.prog_, id_ = prog_->new_reg(scalar_of<T>);
        } else if (expression.end != 0 && other.prog_ == prog_ &&
                   detail::retarget(*prog_, expression, other.id_, id_)) {
            return expression;
        }
        detail::raw_operand src;
        src.prog = other.prog_;
        src.words[0] = ir::head(ir::operand_kind::reg, other.id_);
        src.fresh = expression;
        return detail::emit_mov<scalar_of<T>>(*prog_, id_, src, last_line());
    }
    /// A handle without a register takes that of the call it is assigned, or what `same` or `k.new_reg` gives: no
    /// `mov`.
    constexpr bool take(const reg& other, ir::span expression) noexcept {
        if (id_ == ir::lost_register) return false;
        const bool named = expression.end == 0 && expression.begin == detail::to_be_named.begin;
        if (!named && !detail::retarget(*other.prog_, expression, other.id_, other.id_)) return false;
        prog_ = other.prog_, id_ = other.id_;
        return true;
    }

    ir::program* prog_ = nullptr;
    std::uint32_t id_ = ir::no_register;
    ir::span span_{};
};

/// `unless(p)`: the guard that holds where `p` is false (`@!p`). Emits nothing.
struct negated {
    const reg<pred>& p;
    ir::span fresh{};
};
[[nodiscard]] constexpr negated unless(const reg<pred>& p) noexcept { return {p}; }
[[nodiscard]] constexpr negated unless(reg<pred>&& p) noexcept { return {p, p.expression()}; }

/// A special register; only `k.mov` reads it (A14).
template <class T, isa::special Id>
struct special_register : handle_operators::tag {
    using value_type = T;
    static constexpr isa::special id = Id;
};

}  // namespace ptxdsl
