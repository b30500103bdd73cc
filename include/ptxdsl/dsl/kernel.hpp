// SPDX-License-Identifier: Apache-2.0
// A kernel: a constexpr callable over a builder and typed parameters, a name, attributes and constants.
#pragma once

#include <ptxdsl/detail/fixed_string.hpp>
#include <ptxdsl/dsl/builder.hpp>
#include <ptxdsl/dsl/param.hpp>

namespace ptxdsl {

namespace detail {

/// Concatenates the signatures of those `P` that are parameters.
template <class List, class... P>
struct signature_of;
template <class... Done>
struct signature_of<param_list<Done...>> {
    using type = param_list<Done...>;
};
template <class... Done, class P, class... Rest>
struct signature_of<param_list<Done...>, P, Rest...> {
    template <bool Is, class Dummy = void>
    struct step {
        using type = typename signature_of<param_list<Done...>, Rest...>::type;
    };
    template <class Dummy>
    struct step<true, Dummy> {
        using type =
            typename signature_of<param_list<Done..., typename param_traits<std::remove_cvref_t<P>>::signature>,
                                  Rest...>::type;
    };
    using type = typename step<is_param_v<P>>::type;
};

template <class...>
struct type_pack {};

template <class F>
struct body_traits : body_traits<decltype(&F::operator())> {};
template <target Tgt, template <target> class... Families, class... P>
struct body_traits<void (*)(builder<Tgt, Families...>&, P...)> {
    static constexpr target the_target = Tgt;
    using params = typename signature_of<param_list<>, P...>::type;
    static constexpr std::size_t constants = (std::size_t{0} + ... + (is_param_v<P> ? 0u : 1u));

    /// Runs `body` on a program whose header is set, with the constants `c` in front of the parameters.
    template <class Body, class... C>
    static constexpr void run(const Body& body, ir::program& p, const C&... c) {
        static_assert(
            sizeof...(C) == constants,
            "PTXDSL-J07: the kernel body takes another number of constants than the kernel is given; what is no px::reg, px "
            "pointer or tensor map is a constant (T* is none of them: px::global_ptr<T>)");
        if constexpr (sizeof...(C) == constants) {
            builder<Tgt, Families...> k(p);
            skip<sizeof...(C)>(type_pack<P...>(), body, k, c...);
        }
    }

private:
    template <std::size_t N, class First, class... Rest, class Body, class... A>
    static constexpr void skip(type_pack<First, Rest...> all, const Body& body, builder<Tgt, Families...>& k,
                               const A&... args) {
        if constexpr (N == 0)
            bind(all, body, k, args...);
        else
            skip<N - 1>(type_pack<Rest...>(), body, k, args...);
    }
    template <std::size_t N, class Body, class... A>
    static constexpr void skip(type_pack<>, const Body& body, builder<Tgt, Families...>& k, const A&... args) {
        body(k, args...);
    }
    template <class First, class... Rest, class Body, class... A>
    static constexpr void bind(type_pack<First, Rest...>, const Body& body, builder<Tgt, Families...>& k,
                               const A&... args) {
        using Q = std::remove_cvref_t<First>;
        static_assert(is_param_v<Q>, "PTXDSL-J07: constants come before the parameters in a kernel body's signature");
        const std::uint32_t symbol = declare_param(k.program(), param_traits<Q>::describe());
        const Q handle = param_loader<Q>::load(k, symbol);
        bind(type_pack<Rest...>(), body, k, args..., handle);
    }
    template <class Body, class... A>
    static constexpr void bind(type_pack<>, const Body& body, builder<Tgt, Families...>& k, const A&... args) {
        body(k, args...);
    }
};
template <class B, class... P>
struct body_traits<void (*)(B&, P...) noexcept> : body_traits<void (*)(B&, P...)> {};
template <class L, class B, class... P>
struct body_traits<void (L::*)(B&, P...) const> : body_traits<void (*)(B&, P...)> {};
template <class L, class B, class... P>
struct body_traits<void (L::*)(B&, P...) const noexcept> : body_traits<void (*)(B&, P...)> {};

/// Writes the device functions the kernel calls, and those they call, into words of their own.
constexpr void write_functions(ir::program& p) {
    if (p.function_writers.empty()) return;
    dynarray<std::uint32_t> kernel_words = static_cast<dynarray<std::uint32_t>&&>(p.words);
    p.words = dynarray<std::uint32_t>(4096);
    for (std::uint32_t i = 0; i < p.function_writers.size(); ++i) {
        p.functions[i].begin = p.words.size();
        p.function_writers[i](p, i);
        p.functions[i].end = p.words.size();
    }
    p.function_words = static_cast<dynarray<std::uint32_t>&&>(p.words);
    p.words = static_cast<dynarray<std::uint32_t>&&>(kernel_words);
}

/// Closes what the body left to the library: the final `ret`, unplaced labels (K01), open loops.
constexpr void finish_program(ir::program& p) {
    control_writer{p}.plain(tok::ret, location());
    write_functions(p);
    for (std::uint32_t i = 0; i < p.labels.size(); ++i)
        if (p.labels[i].used != 0 && p.labels[i].placed == 0)
            p.add_finding("K01", false, p.labels[i].where,
                          {"branch to label '", p.text(p.labels[i].id), "', which is never placed"});
    if (p.version < p.target.floor()) p.raise_version(p.target.floor(), location());
    if (p.version < p.attrs.version) p.version = p.attrs.version;
}

/// Writes the whole program of one kernel.
template <class Body, class... C>
constexpr auto write_program(ir::program& p, string_view name, const ir::attributes& attrs, const Body& body,
                             const C&... c) {
    using traits = body_traits<Body>;
    p.target = traits::the_target;
    p.attrs = attrs;
    p.kernel = p.intern(name);
    p.new_symbol("smem");
    traits::run(body, p, c...);
    finish_program(p);
}

}  // namespace detail

using ir::attributes;

/// A kernel as a type: `px::kernel<"saxpy", saxpy>`, `px::kernel<"gemm", gemm, px::attributes{.reqntid = {384}},
/// config>`.
///
/// `Body` is a constexpr function (or captureless lambda) `void(px::builder<target>&, constants…, parameters…)`; what
/// is neither register, pointer nor tensor map is a constant and is bound here.
template <fixed_string Name, auto Body, ir::attributes Attributes = ir::attributes{}, auto... Constants>
struct kernel {
    using traits = detail::body_traits<decltype(Body)>;
    using params = typename traits::params;
    static_assert(Attributes.reqntid.count() <= 1024 && Attributes.maxntid.count() <= 1024,
                  "PTXDSL-H06: a block has at most 1024 threads");
    static_assert(Attributes.cluster_size() <= 16, "PTXDSL-G01: no device takes a cluster of more than 16 blocks");
    static_assert(
        Attributes.cluster_size() <= 8 || Attributes.cluster_size() > 16 || Attributes.non_portable_cluster,
        "PTXDSL-G01: a cluster of more than 8 blocks is not portable; allow it with .non_portable_cluster = true");
    static constexpr target the_target = traits::the_target;
    static constexpr ir::attributes attributes = Attributes;
    [[nodiscard]] static constexpr string_view name() noexcept { return Name.view(); }
    static constexpr void write(ir::program& p) {
        detail::write_program(p, Name.view(), Attributes, Body, Constants...);
    }
};

}  // namespace ptxdsl
