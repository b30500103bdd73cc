// SPDX-License-Identifier: Apache-2.0
// The same assembly at run time: the same body, the same checks, constants that are known late (shapes, tile sizes).
#pragma once

#include <ptxdsl/assemble/assemble.hpp>

namespace ptxdsl {

namespace detail {

/// `value`, in a type that depends on `T`: what is called with it is instantiated with the template around it, not when
/// that is parsed. (clang instantiates constexpr functions as soon as it reads a call: the verifier, in each file.)
template <class T, class V>
[[nodiscard]] constexpr const V& once_used(const V& value) noexcept {
    return value;  // NOLINT(bugprone-return-const-ref-from-parameter): used up in the call's own expression
}

/// What plays kernels that are assembled at run time (`machine::play_at_run_time` of <ptxdsl/machine.hpp>) and adds
/// what it finds; null: nobody does. Read and set with the atomic builtins: <atomic> costs more than this header.
using kernel_player = void (*)(const ir::view&, diagnosis&);
inline kernel_player player_at_run_time = nullptr;

/// What the builder, the verifier and, where one is installed, the player say.
template <class View>
[[nodiscard]] diagnosis diagnose_at_run_time(const View& m) {
    diagnosis d = diagnose(m);
    const kernel_player play = __atomic_load_n(&player_at_run_time, __ATOMIC_ACQUIRE);
    if (play != nullptr && !d.error.found) play(m, d);
    return d;
}

}  // namespace detail

/// A kernel assembled at run time. Owns its text; move-only. Launches like an `assembled` one.
///
/// Errors are a value: `ok()` is false and `error()` one sentence with file and line when the body breaks a rule.
template <class Params>
class assembled_program {
public:
    using params = Params;

    explicit assembled_program(const ir::program& p)
        : name_(p.kernel.length + 1), diagnosis_(detail::diagnose_at_run_time(detail::once_used<Params>(p).read())) {
        const auto m = detail::once_used<Params>(p).read();
        target_ = m.target;
        version_ = m.version;
        resources_ = detail::resources_of(m, diagnosis_);
        for (char c : m.text(m.kernel)) name_.push_back(c);
        detail::emitter e(m, 64 * m.n.locations + 4096);
        e.run();
        text_.resize(e.out.size() + 1, '\0');
        detail::copy_n(text_.data(), e.out.data(), e.out.size());
        for (std::uint32_t at : e.line_locations)
            lines_.push_back(at == 0 ? std::source_location() : m.locations[at - 1]);
    }

    /// True when neither the body nor the verifier, nor the player where one is asked for, found an error.
    [[nodiscard]] bool ok() const noexcept { return !diagnosis_.error.found; }
    [[nodiscard]] explicit operator bool() const noexcept { return ok(); }
    /// The first error, "file.cpp:12: PTXDSL-E01: …"; empty when there is none.
    [[nodiscard]] string_view error() const noexcept { return diagnosis_.error.view(); }
    /// How many warnings the verifier has, and the first of them; empty when there is none.
    [[nodiscard]] std::uint32_t warnings() const noexcept { return diagnosis_.warnings; }
    [[nodiscard]] string_view warning() const noexcept { return diagnosis_.warning.view(); }
    /// The PTX text; `text().data()` ends with a NUL.
    [[nodiscard]] string_view text() const noexcept { return {text_.data(), text_.size() - 1}; }
    [[nodiscard]] string_view name() const noexcept { return {name_.data(), name_.size()}; }
    [[nodiscard]] ptxdsl::target target() const noexcept { return target_; }
    [[nodiscard]] ptx_version version() const noexcept { return version_; }
    [[nodiscard]] const kernel_resources& resources() const noexcept { return resources_; }
    /// The C++ line that emitted line `ptx_line` (from 1) of the text; line 0 when none did.
    [[nodiscard]] source_line source_of(std::uint32_t ptx_line) const noexcept {
        if (ptx_line == 0 || ptx_line > lines_.size()) return {};
        return {lines_[ptx_line - 1].file_name(), lines_[ptx_line - 1].line()};
    }

private:
    detail::dynarray<char> text_;
    detail::dynarray<char> name_;
    detail::dynarray<std::source_location> lines_;
    detail::diagnosis diagnosis_;
    ptxdsl::target target_{};
    ptx_version version_{};
    kernel_resources resources_{};
};

/// Assembles `body` now, under `name`, with `constants` for the leading parameters that are no kernel parameters.
template <class Body, class... C>
[[nodiscard]] assembled_program<typename detail::body_traits<Body>::params> assemble_at_run_time(
    string_view name, const Body& body, const ir::attributes& attributes = {}, const C&... constants) {
    static_assert(
        detail::kernel_body<Body> && !detail::body_traits<Body>::returns,
        "PTXDSL-J07: a kernel body is a constexpr function or lambda void(px::builder<target>& k, constants…, "
        "parameters…), no template, and k is a reference");
    ir::program p;
    detail::write_program(p, name, attributes, body, constants...);
    return assembled_program<typename detail::body_traits<Body>::params>(p);
}

}  // namespace ptxdsl
