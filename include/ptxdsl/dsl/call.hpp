// SPDX-License-Identifier: Apache-2.0
// Device functions (PTX ISA 9.7.12.5). A plain constexpr helper that takes the builder is inlined, like any C++ code of
// a body; `k.call` emits a real `.func` once and one `call` each time.
#pragma once

#include <ptxdsl/detail/fixed_string.hpp>
#include <ptxdsl/dsl/control.hpp>

namespace ptxdsl::detail {

template <class...>
struct type_list_of {};

/// 0 … N - 1, without <utility>.
template <std::size_t...>
struct indices {};
template <std::size_t N, std::size_t... Index>
struct make_indices : make_indices<N - 1, N - 1, Index...> {};
template <std::size_t... Index>
struct make_indices<0, Index...> {
    using type = indices<Index...>;
};

template <class F>
struct function_traits;
template <target Tgt, template <target> class... Families, class R, class... P>
struct function_traits<R (*)(builder<Tgt, Families...>&, reg<P>...)> {
    static constexpr target the_target = Tgt;
    using result = R;
    static constexpr bool returns = !std::is_void_v<R>;
    static constexpr std::uint32_t params = sizeof...(P);
    template <class... A>
    static constexpr bool accepts = std::is_same_v<type_list_of<A...>, type_list_of<reg<P>...>>;
    static_assert(!returns || traits<R>::is_reg, "PTXDSL-A01: a device function returns one register, or nothing");

    /// Writes the body of function `index`: parameters and result are registers of the signature.
    template <auto Body>
    static constexpr void write(ir::program& p, std::uint32_t index) {
        ir::function f = p.functions[index];
        f.first_reg = p.function_regs.size();
        f.params = static_cast<std::uint16_t>(params);
        f.results = returns ? 1 : 0;
        const std::uint32_t result = add_result(p);
        const std::uint32_t first = p.function_regs.size();
        (p.function_regs.push_back(p.new_signature_reg(scalar_of<P>, "arg")), ...);
        p.functions[index] = f;
        builder<Tgt, Families...> k(p);
        run<Body>(k, result, first, typename make_indices<sizeof...(P)>::type());
        control_writer{p}.plain(tok::ret, location());
    }

private:
    static constexpr std::uint32_t add_result(ir::program& p) {
        if constexpr (returns) {
            p.function_regs.push_back(p.new_signature_reg(scalar_of<typename traits<R>::value>, "result"));
            return p.function_regs.back();
        } else {
            return 0;
        }
    }
    template <auto Body, std::size_t... Index>
    static constexpr void run(builder<Tgt, Families...>& k, std::uint32_t result, std::uint32_t first,
                              indices<Index...>) {
        ir::program& p = k.program();
        if constexpr (returns) {
            const R r = Body(k, reg<P>(p, p.function_regs[first + static_cast<std::uint32_t>(Index)])...);
            emit_mov(p, scalar_of<typename traits<R>::value>, result, reg_operand(p, r.id()), location());
        } else {
            Body(k, reg<P>(p, p.function_regs[first + static_cast<std::uint32_t>(Index)])...);
        }
    }
};

template <target Tgt>
class call_family : public family<Tgt, call_family<Tgt>> {
    using family<Tgt, call_family<Tgt>>::ctx;

public:
    /// `call (result), Name, (arguments);` — `k.call<"dot", dot>(a, b)`. The `.func` is written once, before the
    /// kernel.
    ///
    /// `Body` is `px::reg<R> (or void) f(px::builder<target>&, px::reg<A>…)`.
    template <fixed_string Name, auto Body, class... A>
    constexpr auto call(A&&... args) const {
        return call_at<Name, Body>(location::current(), static_cast<A&&>(args)...);
    }
    /// The same with the author's line, for messages.
    template <fixed_string Name, auto Body, class... A>
    constexpr auto call_at(location where, A&&... args) const {
        using F = function_traits<decltype(Body)>;
        static_assert(F::the_target == Tgt, "PTXDSL-A11: the device function is written for another target");
        static_assert(sizeof...(A) == F::params,
                      "PTXDSL-A01: another number of arguments than the device function has");
        ir::program& p = ctx().p;
        const std::uint32_t symbol = declare<Name, Body>(p);
        constexpr bool fits = F::template accepts<std::remove_cvref_t<A>...>;
        static_assert(fits,
                      "PTXDSL-A01: an argument of a device function is a register of exactly its parameter's type");
        if constexpr (fits) return emit_call<F>(p, symbol, where, typed_args<F>(p, where, static_cast<A&&>(args)...));
    }

private:
    template <fixed_string Name, auto Body>
    static constexpr std::uint32_t declare(ir::program& p) {
        for (std::uint32_t i = 0; i < p.symbols.size(); ++i)
            if (p.text(p.symbols[i]) == Name.view()) return i;
        const std::uint32_t symbol = p.new_symbol(Name.view());
        ir::function f;
        f.id = p.symbols[symbol];
        p.functions.push_back(f);
        p.function_writers.push_back(&function_traits<decltype(Body)>::template write<Body>);
        return symbol;
    }
    template <class F>
    struct argument_list {
        std::uint32_t words[F::params == 0 ? 1 : F::params] = {};
        ir::span fresh{};
    };
    /// Registers of the arguments, nested calls brought into their order.
    template <class F, class... A>
    static constexpr argument_list<F> typed_args(ir::program& p, location where, A&&... args) {
        argument_list<F> list;
        if constexpr (sizeof...(A) > 0) {
            ir::span spans[] = {span_of(static_cast<A&&>(args))...};
            if (!p.settle(spans, sizeof...(A), list.fresh))
                p.report(
                    "K05", where,
                    {"two nested calls in one argument list emit several instructions each; give the first a name"});
            std::uint32_t i = 0;
            ((list.words[i++] = ir::head(ir::operand_kind::reg, args.id())), ...);
        }
        return list;
    }
    template <class A>
    [[nodiscard]] static constexpr ir::span span_of(A&& a) noexcept {
        if constexpr (std::is_lvalue_reference_v<A>)
            return {};
        else
            return a.expression();
    }
    template <class F>
    constexpr auto emit_call(ir::program& p, std::uint32_t symbol, location where, const argument_list<F>& list) const {
        raw_operand name, in;
        name.words[0] = ir::head(ir::operand_kind::symbol, symbol);
        name.count = 2;
        in.prog = &p;
        in.words[0] = ir::head(ir::operand_kind::vec, F::params);
        in.more = list.words;
        in.more_count = F::params;
        if (list.fresh.end != list.fresh.begin) in.fresh = list.fresh;
        constexpr std::uint32_t packed = static_cast<std::uint32_t>(tok::call);
        const form_ref form{&packed, 1, isa::verdict::no_form, {2, 1}};
        if constexpr (F::returns) {
            using T = typename traits<typename F::result>::value;
            const std::uint32_t dst = p.new_reg(scalar_of<T>);
            const std::uint32_t out = ir::head(ir::operand_kind::reg, dst);
            raw_operand results;
            results.words[0] = ir::head(ir::operand_kind::vec, 1);
            results.more = &out;
            results.more_count = 1;
            const raw_operand operands[] = {results, name, in};
            const ir::span s = emit(p, form, ctx().guard, where, operands, 3);
            return reg<T>(p, dst, s);
        } else {
            const raw_operand operands[] = {name, in};
            emit(p, form, ctx().guard, where, operands, 2);
        }
    }
};

}  // namespace ptxdsl::detail
