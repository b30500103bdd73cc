// SPDX-License-Identifier: Apache-2.0
// Findings of the verifier: an id of docs/misuse, a sentence, the place in the author's source.
#pragma once

#include <cstdint>
#include <ptxdsl/detail/string_view.hpp>

#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/ir/sentence.hpp>

namespace ptxdsl::verify {

/// Where the verifier puts what it finds. Works in constant evaluation and at run time.
class report {
public:
    ::ptxdsl::detail::dynarray<ir::finding> findings;
    ::ptxdsl::detail::dynarray<char> pool;

    /// An error: stops the build. The parts (text or numbers) are joined to one sentence.
    constexpr void error(const char (&id)[4], std::uint32_t where, std::initializer_list<ir::part> parts) { add(id, false, where, parts); }
    /// A warning: reported, never stops a build.
    constexpr void warning(const char (&id)[4], std::uint32_t where, std::initializer_list<ir::part> parts) { add(id, true, where, parts); }
    /// Continues the sentence of the latest finding.
    constexpr void more(std::initializer_list<ir::part> parts) { findings.back().text.length += join(parts); }

    [[nodiscard]] constexpr string_view text(const ir::finding& f) const noexcept {
        return {pool.data() + f.text.offset, f.text.length};
    }

private:
    constexpr void add(const char (&id)[4], bool warning, std::uint32_t where, std::initializer_list<ir::part> parts) {
        ir::finding f;
        for (int i = 0; i < 4; ++i) f.id[i] = id[i];
        f.warning = warning;
        f.where = where;
        f.text.offset = pool.size();
        f.text.length = join(parts);
        findings.push_back(f);
    }
    constexpr std::uint32_t join(std::initializer_list<ir::part> parts) {
        ir::sentence_text joined;
        joined.add(parts);
        for (std::uint32_t i = 0; i < joined.size; ++i) pool.push_back(joined.text[i]);
        return joined.size;
    }
};

}  // namespace ptxdsl::verify
