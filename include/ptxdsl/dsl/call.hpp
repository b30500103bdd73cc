// SPDX-License-Identifier: Apache-2.0
// Device functions (PTX ISA 9.7.12.5). A plain constexpr helper that takes the builder is inlined, like any C++ code of
// a body; `k.call` emits a real `.func` once and one `call` each time. Through its address, which a register holds as a
// `px::function_ptr<R(A…)>`, a function is called with the prototype that type says.
#pragma once

#include <ptxdsl/detail/fixed_string.hpp>
#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/control.hpp>

namespace ptxdsl {

/// The type of a device function's address: `px::function_ptr<px::f32(px::f32, px::f32)>`. A register of it is made by
/// `k.address_of`, chosen between with `k.selp`, kept in memory like any value of 64 bits, and called by `k.call`.
template <class Signature>
struct function_ptr;
template <class R, class... A>
struct function_ptr<R(A...)> {
    std::uint64_t address;
};
template <class R, class... A>
inline constexpr isa::scalar scalar_of<function_ptr<R(A...)>> = isa::scalar::b64;

/// A device function and its name, where a type is due: `k.call<px::callee<"dot", dot>, px::callee<"sum", sum>>(f, a,
/// b)`.
template <fixed_string Name, auto Body>
struct callee {};

namespace detail {

/// 0 … N - 1, without <utility>.
template <std::size_t...>
struct indices {};
template <std::size_t N, std::size_t... Index>
struct make_indices : make_indices<N - 1, N - 1, Index...> {};
template <std::size_t... Index>
struct make_indices<0, Index...> {
    using type = indices<Index...>;
};

/// The type that a function's address says it returns.
template <class R>
struct result_value {
    using type = void;
};
template <class T>
struct result_value<reg<T>> {
    using type = T;
};

/// Whether device functions take it, or return it.
template <class T>
inline constexpr bool crosses_calls = !meta::is_same_v<T, pred>;
template <>
inline constexpr bool crosses_calls<reg<pred>> = false;
/// By value or as `const reg<T>&`.
template <class P>
inline constexpr bool is_parameter = traits<meta::remove_cvref_t<P>>::is_reg &&
                                     (!meta::is_lvalue_reference_v<P> || meta::is_const_v<meta::remove_reference_t<P>>);

template <class F>
struct function_traits {
    static_assert(
        always_false<F>,
        "PTXDSL-A01: a device function takes the builder, px::builder<…>&, and then registers, px::reg<T>; an "
        "address goes as a register of 32 or 64 bits");
};
template <class F>
    requires(__is_class(F))
struct function_traits<F> {
    static_assert(
        always_false<F>,
        "PTXDSL-A01: a device function is a function and no lambda: write constexpr px::reg<T> name(px::builder<…>& "
        "k, px::reg<T> x) outside of the body");
};
template <target Tgt, template <target> class... Families, class R, class... P>
    requires(is_parameter<P> && ...)
struct function_traits<R (*)(builder<Tgt, Families...>&, P...)>
    : function_traits<R (*)(builder<Tgt, Families...>&, meta::remove_cvref_t<P>...)> {};
template <class R, class... P>
struct function_traits<R (*)(P...) noexcept> : function_traits<R (*)(P...)> {};
template <target Tgt, template <target> class... Families, class R, class... P>
    requires(is_parameter<reg<P>> && ...)
struct function_traits<R (*)(builder<Tgt, Families...>&, reg<P>...)> {
    static constexpr target the_target = Tgt;
    using result = R;
    static constexpr bool returns = !meta::is_void_v<R>;
    static constexpr std::uint32_t params = sizeof...(P);
    static_assert(!returns || traits<R>::is_reg, "PTXDSL-A01: a device function returns one register, or nothing");
    static_assert((crosses_calls<R> && ... && crosses_calls<P>),
                  "PTXDSL-A02: device functions take and return no predicates; k.selp turns one into a value");
    using pointer = function_ptr<typename result_value<R>::type(P...)>;

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
        run<Body>(k, f.id, result, first, typename make_indices<sizeof...(P)>::type());
        control_writer{p}.plain<tok::ret>(location());
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
    static constexpr void run(builder<Tgt, Families...>& k, ir::name name, std::uint32_t result, std::uint32_t first,
                              indices<Index...>) {
        ir::program& p = k.program();
        static_cast<void>(name);
        if constexpr (returns) {
            const R r = Body(k, reg<P>(p, p.function_regs[first + static_cast<std::uint32_t>(Index)])...);
            if (r.program() == &p && retarget(p, r.expression(), r.id(), result)) return;
            raw_operand value = reg_operand(p, r.id());
            value.prog = r.program();
            if (value.prog == nullptr) {
                value.prog = &p;
                p.report("A06", location(),
                         {"device function '", p.text(name),
                          "' returns a handle without a register: nothing has been assigned to it"});
            }
            emit_mov<scalar_of<typename traits<R>::value>>(p, result, value, location());
        } else {
            Body(k, reg<P>(p, p.function_regs[first + static_cast<std::uint32_t>(Index)])...);
        }
    }
};

/// Whether the arguments that were given are registers of exactly the parameters' types.
template <class Parameters, class... A>
inline constexpr bool arguments_fit = false;
template <class... A>
inline constexpr bool arguments_fit<type_list_of<>, A...> = (is_absent<A> && ...);
template <class P, class... Rest, class First, class... A>
inline constexpr bool arguments_fit<type_list_of<P, Rest...>, First, A...> =
    traits<First>::is_reg && meta::is_same_v<typename traits<First>::value, P> &&
    arguments_fit<type_list_of<Rest...>, A...>;

/// What a function's address says about calls.
template <class T>
inline constexpr bool is_function_ptr = false;
template <class R, class... P>
inline constexpr bool is_function_ptr<function_ptr<R(P...)>> = true;
template <class T>
struct signature;
template <class R, class... P>
struct signature<function_ptr<R(P...)>> {
    static constexpr std::uint32_t params = sizeof...(P);
    template <class... A>
    static constexpr bool accepts = arguments_fit<type_list_of<P...>, A...>;
};
/// Refuses arguments that a function of this address does not take.
template <class Pointer, class... A>
constexpr auto check_arguments() noexcept {
    constexpr std::uint32_t given = (0u + ... + (is_absent<A> ? 0u : 1u));
    constexpr bool count = given == signature<Pointer>::params;
    static_assert(count, "PTXDSL-A01: another number of arguments than the device function has");
    static_assert(!count || signature<Pointer>::template accepts<A...>,
                  "PTXDSL-A01: an argument of a device function is a register of exactly its parameter's type");
}

template <class C, class Pointer>
inline constexpr bool is_callee = false;
template <fixed_string Name, auto Body, class Pointer>
inline constexpr bool is_callee<callee<Name, Body>, Pointer> =
    meta::is_same_v<typename function_traits<decltype(Body)>::pointer, Pointer>;

/// The symbol of a device function or declaration, which `writer` writes once.
template <class Program>
constexpr std::uint32_t declare_symbol(Program& p, string_view name, void (*writer)(Program&, std::uint32_t),
                                       location where, bool declaration = false) {
    bool same = p.text(p.kernel) != name;
    for (std::uint32_t i = 0; i < p.symbols.size(); ++i) {
        if (p.text(p.symbols[i]) != name) continue;
        same = false;
        for (std::uint32_t f = 0; f < p.functions.size(); ++f)
            same = same || (p.text(p.functions[f].id) == name && p.function_writers[f] == writer);
        if (same) return i;
    }
    if (!same)
        p.report("K01", where,
                 {"'", name,
                  "' is the name of something else in this kernel; a device function has "
                  "one of its own"});
    const std::uint32_t symbol = p.new_symbol(name);
    ir::function f;
    f.id = p.symbols[symbol], f.declaration = declaration;
    p.functions.push_back(f);
    p.function_writers.push_back(writer);
    return symbol;
}
template <fixed_string Name, auto Body>
constexpr std::uint32_t declare_function(ir::program& p, location where) {
    constexpr auto writer = &function_traits<decltype(Body)>::template write<Body>;
    if (!ir::is_function_name(Name.view()) && Name.view() != "smem")  // which is the name of something else
        p.report("K01", where,
                 {"'", Name.view(),
                  "' is no name for a device function; PTX takes letters, digits, _ and $, not a digit in front"});
    return declare_symbol(p, Name.view(), writer, where);
}
template <class C>
struct callee_symbol;
template <fixed_string Name, auto Body>
struct callee_symbol<callee<Name, Body>> {
    static constexpr std::uint32_t declare(ir::program& p, location where) {
        return declare_function<Name, Body>(p, where);
    }
};

/// What `k.printf` does, where <ptxdsl/dsl/printf.hpp> says it.
template <target Tgt, class = void>
struct printer {
    template <fixed_string Format, class Context, class... A>
    static constexpr auto run(const Context&, const A&...) {
        static_assert(always_false<Context>,
                      "PTXDSL-A17: k.printf wants #include <ptxdsl/dsl/printf.hpp> in this file");
    }
};

template <target Tgt>
class call_family : public family<Tgt, call_family<Tgt>> {
    using family<Tgt, call_family<Tgt>>::ctx;

public:
    /// `call (result), Name, (arguments);` — `k.call<"dot", dot>(a, b)`. The `.func` is written once, before the
    /// kernel.
    ///
    /// `Body` is `px::reg<R> (or void) f(px::builder<target>&, px::reg<A>…)`, with up to 12 parameters here.
    template <fixed_string Name, auto Body, class A = absent, class B = absent, class C = absent, class D = absent,
              class E = absent, class G = absent, class H = absent, class Index = absent, class J = absent,
              class K = absent, class L = absent, class N = absent>
    constexpr auto call(A&& a = A{}, B&& b = B{}, C&& c = C{}, D&& d = D{}, E&& e = E{}, G&& g = G{}, H&& h = H{},
                        Index&& i = Index{}, J&& j = J{}, K&& k = K{}, L&& l = L{}, N&& n = N{},
                        location where = location::current()) const {
        return call_at<Name, Body>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                   static_cast<D&&>(d), static_cast<E&&>(e), static_cast<G&&>(g), static_cast<H&&>(h),
                                   static_cast<Index&&>(i), static_cast<J&&>(j), static_cast<K&&>(k),
                                   static_cast<L&&>(l), static_cast<N&&>(n));
    }
    /// The same with any number of parameters, and a line for messages.
    template <fixed_string Name, auto Body, class... A>
    constexpr auto call_at(location where, A&&... args) const {
        using F = function_traits<decltype(Body)>;
        using Pointer = typename F::pointer;
        static_assert(F::the_target == Tgt, "PTXDSL-A11: the device function is written for another target");
        check_arguments<Pointer, meta::remove_cvref_t<A>...>();
        constexpr bool fits = signature<Pointer>::template accepts<meta::remove_cvref_t<A>...>;
        if constexpr (fits && F::the_target == Tgt)
            return direct(Pointer(), declare_function<Name, Body>(ctx().p, where), where, static_cast<A&&>(args)...);
    }

    /// The address of a device function, `mov.b64 d, Name;`, as a register of `px::function_ptr<R(A…)>`.
    template <fixed_string Name, auto Body>
    [[nodiscard]] constexpr auto address_of(location where = location::current()) const {
        using F = function_traits<decltype(Body)>;
        static_assert(F::the_target == Tgt, "PTXDSL-A11: the device function is written for another target");
        return value<form<Tgt, tok::mov, tok::b64>, typename F::pointer>(
            ctx(), where, symbol_operand(declare_function<Name, Body>(ctx().p, where)));
    }
    /// `call (result), f, (arguments), prototype;` through the address `f`, and in front of it the line `prototype:
    /// .callprototype …` that `f`'s type says.
    ///
    /// With `px::callee<"name", function>`s between the brackets, `f` is one of those: a line `targets: .calltargets …`
    /// names them in the prototype's place, so that ptxas knows what the functions do.
    template <class... Callees, class F, class A = absent, class B = absent, class C = absent, class D = absent,
              class E = absent, class G = absent, class H = absent, class Index = absent, class J = absent,
              class K = absent, class L = absent, class N = absent>
    constexpr auto call(F&& f, A&& a = A{}, B&& b = B{}, C&& c = C{}, D&& d = D{}, E&& e = E{}, G&& g = G{},
                        H&& h = H{}, Index&& i = Index{}, J&& j = J{}, K&& k = K{}, L&& l = L{}, N&& n = N{},
                        location where = location::current()) const {
        return indirect<type_list_of<Callees...>>(
            where, static_cast<F&&>(f), static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
            static_cast<D&&>(d), static_cast<E&&>(e), static_cast<G&&>(g), static_cast<H&&>(h), static_cast<Index&&>(i),
            static_cast<J&&>(j), static_cast<K&&>(k), static_cast<L&&>(l), static_cast<N&&>(n));
    }

    /// Several instructions, and `#include <ptxdsl/dsl/printf.hpp>`: prints from each thread that gets here, as C's
    /// printf does — `k.printf<"x = %d, y = %f\n">(x, y)`. Arguments are registers, C++ numbers and, for `%p`,
    /// addresses; up to 12. What is printed appears when the host synchronises.
    template <fixed_string Format, class A = absent, class B = absent, class C = absent, class D = absent,
              class E = absent, class G = absent, class H = absent, class Index = absent, class J = absent,
              class K = absent, class L = absent, class N = absent>
    constexpr auto printf(A&& a = A{}, B&& b = B{}, C&& c = C{}, D&& d = D{}, E&& e = E{}, G&& g = G{}, H&& h = H{},
                          Index&& i = Index{}, J&& j = J{}, K&& k = K{}, L&& l = L{}, N&& n = N{},
                          location where = location::current()) const {
        printer<Tgt>::template run<Format>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                           static_cast<D&&>(d), static_cast<E&&>(e), static_cast<G&&>(g),
                                           static_cast<H&&>(h), static_cast<Index&&>(i), static_cast<J&&>(j),
                                           static_cast<K&&>(k), static_cast<L&&>(l), static_cast<N&&>(n));
    }
    /// The same with up to 32 arguments, and a line for messages.
    template <fixed_string Format, class... A>
    constexpr auto printf_at(location where, A&&... args) const {
        printer<Tgt>::template run<Format>(ctx(), where, static_cast<A&&>(args)...);
    }

private:
    [[nodiscard]] static constexpr raw_operand symbol_operand(std::uint32_t symbol) noexcept {
        raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::symbol, symbol);
        o.count = 2;
        return o;
    }
    /// Registers of the callee and the arguments, and the nested calls they come from.
    template <std::uint32_t N>
    struct call_operands {
        std::uint32_t words[N + 1] = {};
        ir::span spans[N + 1] = {};
        std::uint32_t n = 0;
        ir::program* owner = nullptr;  ///< of the first register that is none of this kernel

        template <class A>
        constexpr void add(ir::program& p, A&& a) noexcept {
            if constexpr (!is_absent<A>) {
                if (n == 0 || owner == &p) owner = a.program();
                if constexpr (!meta::is_lvalue_reference_v<A>) spans[n] = a.expression();
                words[n++] = reg_word(a.id());
            }
        }
    };
    template <class R, class... P, class... A>
    constexpr auto direct(function_ptr<R(P...)>, std::uint32_t symbol, location where, A&&... args) const {
        call_operands<sizeof...(P)> list;
        (list.add(ctx().p, static_cast<A&&>(args)), ...);
        const ir::span all = settle_spans(ctx().p, list.spans, list.n, where);
        raw_operand operands[3] = {{}, symbol_operand(symbol), vector_of(list.owner, list.words, sizeof...(P))};
        return finish<R>(operands, 3, all, where);
    }
    template <class Targets, class F, class... A>
    constexpr auto indirect(location where, F&& f, A&&... args) const {
        using P = typename traits<F>::value;
        static_assert(
            is_function_ptr<P>,
            "PTXDSL-A14: what is called here is no function's address; k.address_of<\"name\", function>() makes a "
            "register that holds one");
        if constexpr (is_function_ptr<P>) {
            check_arguments<P, meta::remove_cvref_t<A>...>();
            if constexpr (signature<P>::template accepts<meta::remove_cvref_t<A>...>)
                return through(P(), Targets(), where, static_cast<F&&>(f), static_cast<A&&>(args)...);
        }
    }
    template <class R, class... P, class... Callees, class F, class... A>
    constexpr auto through(function_ptr<R(P...)>, type_list_of<Callees...>, location where, F&& f, A&&... args) const {
        constexpr bool known = (is_callee<Callees, function_ptr<R(P...)>> && ...);
        static_assert(
            known,
            "PTXDSL-A01: what stands between the brackets is no px::callee<\"name\", function> of the address' "
            "type: all have the same parameters and result");
        if constexpr (known) {
            ir::program& p = ctx().p;
            call_operands<sizeof...(P) + 1> list;
            list.add(p, static_cast<F&&>(f));
            (list.add(p, static_cast<A&&>(args)), ...);
            const ir::span all = settle_spans(p, list.spans, list.n, where);
            raw_operand operands[4] = {
                vector_of(nullptr, nullptr, 0), {}, vector_of(list.owner, list.words + 1, sizeof...(P)), {}};
            operands[1].prog = list.owner;
            operands[1].words[0] = list.words[0];
            operands[3].words[0] =
                ir::head(ir::operand_kind::label, list_targets<R, P...>(type_list_of<Callees...>(), where));
            return finish<R>(operands, 4, all, where);
        }
    }
    template <class R, class... P, class... Callees>
    constexpr std::uint32_t list_targets(type_list_of<Callees...>, location where) const {
        ir::program& p = ctx().p;
        if constexpr (sizeof...(Callees) != 0) {
            const std::uint32_t symbols[] = {callee_symbol<Callees>::declare(p, where)...};
            return p.table_next(ir::label_kind::call_targets, "targets", where, symbols, sizeof...(Callees));
        } else if constexpr (meta::is_void_v<R>) {
            const std::uint32_t formals[] = {0, formal<P>...};
            return p.table_next(ir::label_kind::prototype, "prototype", where, formals, 1 + sizeof...(P));
        } else {
            const std::uint32_t formals[] = {1, formal<R>, formal<P>...};
            return p.table_next(ir::label_kind::prototype, "prototype", where, formals, 2 + sizeof...(P));
        }
    }
    template <class T>
    static constexpr auto formal = static_cast<std::uint32_t>(ir::program::register_type(scalar_of<T>));

    /// Emits the call with its first operand, the list of results, filled in; a direct one without results has none.
    template <class R>
    constexpr auto finish(raw_operand* operands, std::uint32_t n, ir::span all, location where) const {
        ir::program& p = ctx().p;
        constexpr form_ref called = ref<form<Tgt, tok::call>>();
        if constexpr (meta::is_void_v<R>) {
            const std::uint32_t skip = n == 3 ? 1 : 0;
            emit(p, called, ctx().guard, where, operands + skip, n - skip);
        } else {
            const std::uint32_t dst = p.new_reg(scalar_of<R>), out = reg_word(dst);
            operands[0] = vector_of(&p, &out, 1);
            const ir::span s = emit(p, called, ctx().guard, where, operands, n);
            return reg<R>(p, dst, {all.end != 0 ? all.begin : s.begin, s.end});
        }
    }
};

}  // namespace detail
}  // namespace ptxdsl
