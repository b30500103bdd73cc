// SPDX-License-Identifier: Apache-2.0
// Findings of the verifier: an id of docs/misuse, a sentence, the place in the author's source.
#pragma once

#include <cstdint>
#include <string_view>

#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/ir/module.hpp>

namespace ptxdsl::verify {

/// Where the verifier puts what it finds. Works in constant evaluation and at run time.
class report {
public:
    detail::dynarray<ir::finding> findings;
    detail::dynarray<char> pool;

    /// An error: stops the build. `parts` (text or numbers) are joined to one sentence.
    template <class... Parts>
    constexpr void error(const char (&id)[4], std::uint32_t where, const Parts&... parts) {
        add(id, false, where, parts...);
    }
    /// A warning: reported, never stops a build.
    template <class... Parts>
    constexpr void warning(const char (&id)[4], std::uint32_t where, const Parts&... parts) {
        add(id, true, where, parts...);
    }

    /// Continues the sentence of the latest finding.
    template <class... Parts>
    constexpr void more(const Parts&... parts) {
        const std::uint32_t before = pool.size();
        (append(parts), ...);
        ir::finding& f = findings.back();
        f.text.length += pool.size() - before;
    }

    [[nodiscard]] constexpr std::string_view text(const ir::finding& f) const noexcept {
        return {pool.data() + f.text.offset, f.text.length};
    }

private:
    template <class... Parts>
    constexpr void add(const char (&id)[4], bool warning, std::uint32_t where, const Parts&... parts) {
        ir::finding f;
        for (int i = 0; i < 4; ++i) f.id[i] = id[i];
        f.warning = warning;
        f.where = where;
        f.text.offset = pool.size();
        (append(parts), ...);
        f.text.length = pool.size() - f.text.offset;
        findings.push_back(f);
    }
    constexpr void append(std::string_view s) {
        for (char c : s) pool.push_back(c);
    }
    constexpr void append(const char* s) { append(std::string_view(s)); }
    constexpr void append(std::uint64_t v) {
        char digits[20] = {};
        int n = 0;
        do digits[n++] = static_cast<char>('0' + v % 10);
        while ((v /= 10) != 0);
        while (n > 0) pool.push_back(digits[--n]);
    }
    constexpr void append(std::uint32_t v) { append(std::uint64_t{v}); }
    constexpr void append(std::int64_t v) {
        if (v < 0) pool.push_back('-');
        append(v < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v));
    }
    constexpr void append(std::int32_t v) { append(std::int64_t{v}); }
};

}  // namespace ptxdsl::verify
