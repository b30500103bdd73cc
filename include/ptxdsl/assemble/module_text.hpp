// SPDX-License-Identifier: Apache-2.0
// The text of a module at run time.
#pragma once

#include <ptxdsl/assemble/assemble.hpp>
#include <ptxdsl/dsl/module.hpp>

namespace ptxdsl {

/// A module written at run time. Owns its text; move-only.
///
/// `ok()` is false and `error()` one sentence with the file and line when the writer broke a rule the builder sees. The
/// verifier's rules are about kernels (assemble.hpp) and are not applied here.
class assembled_module {
public:
    explicit assembled_module(const ir::program& p) {
        const ir::view m = p.read();
        for (std::uint32_t i = 0; i < m.n.findings && !error_.found; ++i)
            if (!m.findings[i].warning) error_ = detail::describe(m, m.findings[i], m.text(m.findings[i].text));
        detail::emitter e(m, 64 * m.n.locations + 4096);
        e.run_module();
        text_.resize(e.out.size() + 1, '\0');
        detail::copy_n(text_.data(), e.out.data(), e.out.size());
        for (std::uint32_t at : e.line_locations)
            lines_.push_back(at == 0 ? std::source_location() : m.locations[at - 1]);
    }

    [[nodiscard]] bool ok() const noexcept { return !error_.found; }
    [[nodiscard]] string_view error() const noexcept { return error_.view(); }
    /// The PTX text; `text().data()` ends with a NUL.
    [[nodiscard]] string_view text() const noexcept { return {text_.data(), text_.size() - 1}; }
    /// The C++ line that emitted line `ptx_line` (from 1) of the text; line 0 when none did.
    [[nodiscard]] source_line source_of(std::uint32_t ptx_line) const noexcept {
        if (ptx_line == 0 || ptx_line > lines_.size()) return {};
        return {lines_[ptx_line - 1].file_name(), lines_[ptx_line - 1].line()};
    }

private:
    detail::dynarray<char> text_;
    detail::dynarray<std::source_location> lines_;
    detail::sentence error_;
};

/// Writes a module with `write(px::module_builder<target>&)`.
template <target Tgt>
[[nodiscard]] assembled_module assemble_module(void (*write)(module_builder<Tgt>&)) {
    ir::program p;
    module_builder<Tgt> m(p);
    write(m);
    return assembled_module(p);
}

}  // namespace ptxdsl
