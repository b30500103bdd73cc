// SPDX-License-Identifier: Apache-2.0
// Findings of the verifier: an id of docs/misuse, a sentence, the place in the author's source.
#pragma once

#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/ir/module.hpp>

#include <cstdint>

namespace ptxdsl::verify {

/// A register's name: that of its prefix, and its number where the author has numbered it.
struct register_name {
    string_view prefix;
    std::uint32_t number = 0;
    bool numbered = false;
};

/// Where the verifier puts what it finds. Works in constant evaluation and at run time.
///
///     out.error("E01", where).say("mbarrier '").with(name).say("' expects ").with(count).say(" arrivals");
///
/// Pieces are said one by one: a list of pieces of different types is overload resolution and an array for each
/// sentence, and the sentences of the verifier were a tenth of what the umbrella header cost to compile.
class report {
public:
    ::ptxdsl::detail::dynarray<ir::finding> findings;
    ::ptxdsl::detail::dynarray<char> pool;
    /// Blocks that a cluster has at least, where the kernel leaves its size to the launch: it reaches so far.
    std::uint32_t least_cluster = 1;

    /// An error: stops the build.
    constexpr report& error(const char (&id)[4], std::uint32_t where) { return add(id, false, where); }
    /// A warning: reported, never stops a build.
    constexpr report& warning(const char (&id)[4], std::uint32_t where) { return add(id, true, where); }

    // The next piece of the latest finding's sentence.
    constexpr report& say(const char* words) {
        for (; *words != '\0'; ++words) put(*words);
        return *this;
    }
    constexpr report& with(string_view name) {
        for (const char c : name) put(c);
        return *this;
    }
    constexpr report& name(const register_name& r) {
        return r.numbered ? with(r.prefix).with(r.number) : with(r.prefix);
    }
    /// Another place in the author's source: `gemm.cpp:41`.
    constexpr report& at(const std::source_location* place) {
        if (place == nullptr) return say("another line");  // of a text
        const string_view file = place->file_name();
        const auto slash = file.rfind('/');
        return with(slash == string_view::npos ? file : file.substr(slash + 1))
            .say(":")
            .with(std::uint64_t{place->line()});
    }
    constexpr report& with(std::uint32_t n) { return with(std::uint64_t{n}); }
    constexpr report& with(std::int32_t n) { return with(std::int64_t{n}); }
    constexpr report& with(std::int64_t n) {
        if (n >= 0) return with(static_cast<std::uint64_t>(n));
        put('-');
        return with(std::uint64_t{0} - static_cast<std::uint64_t>(n));
    }
    constexpr report& with(std::uint64_t n) { return with(::ptxdsl::detail::decimal(n).view()); }

    [[nodiscard]] constexpr string_view text(const ir::finding& f) const noexcept {
        return {pool.data() + f.text.offset, f.text.length};
    }

private:
    constexpr report& add(const char (&id)[4], bool warning, std::uint32_t where) {
        ir::finding f;
        for (int i = 0; i < 4; ++i) f.id[i] = id[i];
        f.warning = warning;
        f.where = where;
        f.text.offset = pool.size();
        findings.push_back(f);
        return *this;
    }
    constexpr void put(char c) {
        pool.push_back(c);
        ++findings.back().text.length;
    }
};

}  // namespace ptxdsl::verify
