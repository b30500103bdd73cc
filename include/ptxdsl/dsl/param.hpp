// SPDX-License-Identifier: Apache-2.0
// Kernel parameters: what a body's parameter types mean to the launch, and the `ld.param` that reads each one.
#pragma once

#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/pointer.hpp>
#include <ptxdsl/ir/signature.hpp>

namespace ptxdsl::detail {

/// What a body's parameter is to the launch: a scalar, a pointer, a tensor map; or no parameter at all (a constant).
template <class P>
struct param_traits {
    static constexpr bool is_param = false;
};
template <class T>
struct param_traits<reg<T>> {
    static constexpr bool is_param = true;
    using signature = T;
    static constexpr ir::param describe() noexcept {
        ir::param p;
        p.kind = ir::param_kind::scalar;
        p.type = scalar_of<T>;
        return p;
    }
};
template <space S, class T, unsigned A>
struct param_traits<ptr<S, T, A>> {
    static_assert(S == space::global || S == space::generic || S == space::constant,
                  "PTXDSL-B01: a kernel parameter points to global, constant or generic memory");
    static constexpr bool is_param = true;
    using signature = pointer_param<T, A>;
    static constexpr ir::param describe() noexcept {
        ir::param p;
        p.kind = ir::param_kind::pointer;
        p.type = isa::scalar::u64;
        p.sp = S;
        p.is_const = meta::is_const_v<T>;
        p.align = static_cast<std::uint16_t>(A);
        return p;
    }
};

template <class P>
inline constexpr bool is_param_v = param_traits<meta::remove_cvref_t<P>>::is_param;

/// Not a `common_form`: there is no `ld.param.pred`, and texts that are only compared have such parameters.
template <isa::scalar Type>
constexpr void load_param(ir::program& p, std::uint32_t dst, std::uint32_t symbol) {
    raw_operand from;
    from.words[0] = ir::head(ir::operand_kind::address, 0);
    from.words[1] = ir::head(ir::operand_kind::symbol, symbol);
    from.count = 3;
    const raw_operand list[] = {reg_operand(p, dst), from};
    emit(p, ref<form<sm_90a, tok::ld, tok::param, isa::type_token(Type)>>(), 0, location(), list, 2);
}

/// Loads one parameter in the kernel's prologue: one `ld.param`, nothing else.
template <class P>
struct param_loader;
template <class T>
struct param_loader<reg<T>> {
    template <target Tgt>
    static constexpr reg<T> load(builder<Tgt>& k, std::uint32_t symbol) {
        ir::program& p = k.program();
        const std::uint32_t dst = p.new_reg(scalar_of<T>, {});
        load_param<ir::param_type(scalar_of<T>)>(p, dst, symbol);
        return {p, dst};
    }
};
template <space S, class T, unsigned A>
struct param_loader<ptr<S, T, A>> {
    template <target Tgt>
    static constexpr ptr<S, T, A> load(builder<Tgt>& k, std::uint32_t symbol) {
        ir::program& p = k.program();
        const std::uint32_t dst = p.new_reg(isa::scalar::u64);
        load_param<isa::scalar::u64>(p, dst, symbol);
        return {p, ir::head(ir::operand_kind::reg, dst)};
    }
};

/// Declares one parameter; returns the symbol its name is printed as: `<kernel>_param_<i>`.
template <class Program>
constexpr std::uint32_t declare_param(Program& p, ir::param description) {
    const std::uint32_t index = p.params.size();
    const std::uint32_t begin = p.pool.size();
    for (std::uint32_t i = 0; i < p.kernel.length; ++i) {
        const char c = p.pool[p.kernel.offset + i];
        p.pool.push_back(c);
    }
    for (char c : string_view("_param_")) p.pool.push_back(c);
    for (const char c : decimal(index)) p.pool.push_back(c);
    description.id = {begin, p.pool.size() - begin};
    p.params.push_back(description);
    p.symbols.push_back(description.id);
    return p.symbols.size() - 1;
}

}  // namespace ptxdsl::detail
