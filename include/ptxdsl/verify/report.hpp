// SPDX-License-Identifier: Apache-2.0
// Findings of the verifier: an id of docs/misuse, a sentence, the place in the author's source.
#pragma once

#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/verify/catalogue.hpp>

#include <cstdint>

namespace ptxdsl::verify {

/// A register's name: that of its prefix, and its number where the author has numbered it.
struct register_name {
    string_view prefix;
    std::uint32_t number = 0;
    bool numbered = false;
};

/// In whose words advice is.
enum class wording : std::uint8_t { dsl, ptx };

/// Where the verifier puts what it finds. Works in constant evaluation and at run time.
///
///     out.add(catalogue::E12_twice, where).with(name);
///
/// Pieces are given one by one: a list of pieces of different types is overload resolution and an array for each
/// sentence, and the sentences of the verifier were a tenth of what the umbrella header cost to compile.
class report {
public:
    ::ptxdsl::detail::dynarray<ir::finding> findings;
    ::ptxdsl::detail::dynarray<char> pool;
    /// Blocks that a cluster has at least, where the kernel leaves its size to the launch: it reaches so far.
    std::uint32_t least_cluster = 1;
    wording words = wording::dsl;
    bool of_text = false;            ///< the program is a text of others
    bool accumulators_move = false;  ///< compilers keep accumulators in memory here

    /// A finding at a place, a row of the catalogue: its sentence up to the first piece.
    constexpr report& add(const char* row, std::uint32_t where) {
        ir::finding f;
        for (int i = 0; i < 3; ++i) f.id[i] = row[i];
        const char* const colon = end_of_head(row);
        const char* how = row + 4;
        if (of_text && colon[-1] == 's')  // `error, … in texts`
            while (*how++ != ',') {}
        how += *how == ' ' ? 1 : 0;
        f.warning = *how == 'w' || (*how == 'm' && accumulators_move);
        f.where = where;
        f.text.offset = pool.size();
        findings.push_back(f);
        next_ = colon + 2;
        return next();
    }

    /// Whether a place has been told of under an id already.
    [[nodiscard]] constexpr bool has(const char* row, std::uint32_t where) const noexcept {
        for (const ir::finding& f : findings)
            if (f.where == where && f.id[0] == row[0] && f.id[1] == row[1] && f.id[2] == row[2]) return true;
        return false;
    }

    // A piece, and the sentence up to the next one.
    constexpr report& with(string_view piece) { return say(piece).next(); }
    constexpr report& with(std::uint32_t n) { return say(n).next(); }
    constexpr report& with(std::int32_t n) { return with(std::int64_t{n}); }
    constexpr report& with(std::int64_t n) {
        if (n < 0) put('-');
        return say(n < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n)).next();
    }
    constexpr report& with(std::uint64_t n) { return say(n).next(); }
    constexpr report& name(const register_name& r) {
        say(r.prefix);
        return r.numbered ? with(r.number) : next();
    }
    /// Another place in the author's source: `gemm.cpp:41`.
    constexpr report& at(const std::source_location* place) {
        if (place == nullptr) return with("another line");  // of a text
        const string_view file = place->file_name();
        const auto slash = file.rfind('/');
        return say(slash == string_view::npos ? file : file.substr(slash + 1)).say(":").with(place->line());
    }

    // A part of a piece; behind the sentence, more of it.
    constexpr report& say(string_view piece) {
        for (const char c : piece) put(c);
        return *this;
    }
    constexpr report& say(std::uint32_t n) { return say(std::uint64_t{n}); }
    constexpr report& say(std::uint64_t n) { return say(::ptxdsl::detail::decimal(n).view()); }
    /// A stage of a ring. (In a text every mbarrier is one of its own.)
    constexpr report& stage(std::uint32_t n) { return n == 0 && words == wording::ptx ? *this : say(" stage ").say(n); }
    /// The piece is whole: the sentence up to the next one.
    constexpr report& next() {
        for (; *next_ != '\0'; ++next_) {
            if (next_[0] == '{' && next_[1] == '}') {
                next_ += 2;
                return *this;
            }
            if (*next_ != '@')
                put(*next_);
            else
                choose();
        }
        return *this;
    }

    [[nodiscard]] constexpr string_view text(const ir::finding& f) const noexcept {
        return {pool.data() + f.text.offset, f.text.length};
    }

private:
    constexpr void put(char c) {
        pool.push_back(c);
        ++findings.back().text.length;
    }

    [[nodiscard]] static constexpr const char* end_of_head(const char* row) noexcept {
        while (*row != ':') ++row;
        return row;
    }
    /// At one of the three `@` of an advice: the part for other readers is passed over.
    constexpr void choose() noexcept {
        part_ = part_ == 2 ? 0 : part_ + 1;
        if (part_ != (words == wording::ptx ? 1 : 2)) return;
        for (++next_; *next_ != '@'; ++next_) {}
        part_ = part_ == 2 ? 0 : 2;
    }

    const char* next_ = "";  ///< the rest of the latest sentence
    int part_ = 0;           ///< of an advice: 1 the calls, 2 the instructions
};

}  // namespace ptxdsl::verify
