// SPDX-License-Identifier: Apache-2.0
// Registers under the author's own names. Assigning a call's result to one makes that instruction write it:
// `r[4] = k.add(a, b)` emits `add.s32 %r4, …`, as for every handle, but here also where the declaration has another
// type of the register's size, and never binds the handle.
#pragma once

#include <ptxdsl/dsl/pointer.hpp>
#include <ptxdsl/dsl/reg.hpp>

#include <concepts>

namespace ptxdsl {

namespace detail {

/// Whether a register declared as `T` may stand for a `U`: the same class, or untyped bits of the size (PTX ISA 9.4.1).
template <class T, class U>
inline constexpr bool declared_fits = [] {
    constexpr isa::scalar have = ir::program::register_type(scalar_of<T>),
                          want = ir::program::register_type(scalar_of<U>);
    const bool untyped = class_of<T> == isa::type_class::bits || class_of<U> == isa::type_class::bits;
    return have == want || (untyped && isa::bits(have) == isa::bits(want));
}();
template <class T, class U>
constexpr void check_declared() noexcept {
    static_assert(declared_fits<T, U>,
                  "PTXDSL-A01: the result has another size or class (float or not) than the declared register");
}
template <isa::scalar Type>
constexpr void assign_declared(ir::program& p, std::uint32_t to, std::uint32_t from, ir::span s) {
    if (retarget(p, s, from, to)) return;
    raw_operand source = reg_operand(p, from);
    source.fresh = s;
    emit_mov<Type>(p, to, source, p.locations.empty() ? location() : p.locations.back());
}

}  // namespace detail

/// A register its author has declared. A `reg<T>` in every other respect.
template <class T>
class declared_reg : public reg<T> {
public:
    using reg<T>::reg;
    constexpr declared_reg(const declared_reg&) noexcept = default;
    constexpr ~declared_reg() = default;

    /// The instruction whose result `value` is writes this register. A value that has a name is copied: one `mov`.
    template <class U>
    constexpr const declared_reg& operator=(reg<U>&& value) const {
        detail::check_declared<T, U>();
        detail::assign_declared<scalar_of<T>>(*this->program(), this->id(), value.id(), value.expression());
        return *this;
    }
    /// One `mov`.
    template <class U>
    constexpr const declared_reg& operator=(const reg<U>& value) const {
        detail::check_declared<T, U>();
        detail::assign_declared<scalar_of<T>>(*this->program(), this->id(), value.id(), {});
        return *this;
    }
    /// One `mov`.
    constexpr const declared_reg& operator=(const declared_reg& value) const {
        detail::assign_declared<scalar_of<T>>(*this->program(), this->id(), value.id(), {});
        return *this;
    }
    template <class U>
    [[nodiscard]] constexpr declared_reg<U> as() const {
        static_assert(detail::declared_fits<T, U>,
                      "PTXDSL-A01: as<U>() renames a register within its class (size, float or not)");
        return {*this->program(), this->id()};
    }
};

namespace detail {
template <class T>
struct handle_traits<declared_reg<T>> : handle_traits<reg<T>> {};
}  // namespace detail

/// Registers `name0` … `name<n-1>` of one declaration.
template <class T>
class register_array {
public:
    constexpr register_array(ir::program& p, std::uint32_t first, std::uint32_t n) noexcept
        : prog_(&p), first_(first), size_(n) {}

    /// Register `i`, signed or unsigned: a loop's counter may be either.
    template <std::integral Index>
    [[nodiscard]] constexpr declared_reg<T> operator[](Index index) const {
        const auto i = static_cast<std::uint32_t>(index);
        if (i >= size_) prog_->report("A06", location(), {"register ", i, " of a declaration of ", size_});
        return {*prog_, first_ + (i < size_ ? i : 0)};
    }
    /// The same registers as `U`s of their class. Emits nothing.
    template <class U>
    [[nodiscard]] constexpr register_array<U> as() const noexcept {
        static_assert(detail::declared_fits<T, U>,
                      "PTXDSL-A01: as<U>() renames registers within their class (size, float or not)");
        return {*prog_, first_, size_};
    }
    [[nodiscard]] constexpr std::uint32_t size() const noexcept { return size_; }

private:
    ir::program* prog_;
    std::uint32_t first_, size_;
};

/// Declared registers that take the results of one instruction: `px::into(f[0], f[1]) = k.ld(p)`.
template <class... T>
class declared_results {
public:
    constexpr explicit declared_results(ir::program& p, const std::uint32_t (&ids)[sizeof...(T)]) noexcept : prog_(&p) {
        for (std::size_t i = 0; i < sizeof...(T); ++i) ids_[i] = ids[i];
    }
    template <class U, unsigned N>
    constexpr const declared_results& operator=(vec<U, N>&& values) const {
        static_assert(N == sizeof...(T), "PTXDSL-A07: the instruction has another number of results");
        (detail::check_declared<T, U>(), ...);
        for (unsigned i = 0; i < N; ++i)
            if (!detail::retarget(*prog_, values.expression(), ir::payload_of(values.words()[i]), ids_[i]))
                prog_->report("K05", location(), {"px::into takes the results of a call directly"});
        return *this;
    }
    /// Two results, `d|p`.
    template <class Pair>
        requires requires { typename Pair::first_type; }
    constexpr const declared_results& operator=(Pair&& values) const {
        static_assert(sizeof...(T) == 2, "PTXDSL-A07: the instruction has two results");
        auto& [d, p] = values;
        if (!detail::retarget(*prog_, d.expression(), d.id(), ids_[0]) ||
            !detail::retarget(*prog_, p.expression(), p.id(), ids_[1]))
            prog_->report("K05", location(), {"px::into takes the results of a call directly"});
        return *this;
    }

private:
    ir::program* prog_;
    std::uint32_t ids_[sizeof...(T)] = {};
};
template <class First, class... T>
[[nodiscard]] constexpr declared_results<First, T...> into(const declared_reg<First>& first,
                                                           const declared_reg<T>&... more) noexcept {
    return declared_results<First, T...>(*first.program(), {first.id(), more.id()...});
}

}  // namespace ptxdsl
