// SPDX-License-Identifier: Apache-2.0
// What the parser and the checker have to say about a text.
#pragma once

#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/parse/text.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

enum class severity : std::uint8_t { error, warning, note };

[[nodiscard]] constexpr std::string_view name(severity s) noexcept {
    using namespace std::string_view_literals;
    return s == severity::error ? "error"sv : s == severity::warning ? "warning"sv : "note"sv;
}

/// One message about `length` bytes at `offset`. `id` is the suffix of its stable name, PTXDSL-<id>.
struct diagnostic {
    ptx::severity severity = severity::error;
    char id[4] = {};
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    std::uint32_t text_begin = 0, text_size = 0;
    std::uint32_t order = 0;  ///< offset of the message a note belongs to
};

/// Line and column, both from 1; the column counts bytes.
struct position {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

[[nodiscard]] constexpr position position_of(std::string_view source, std::uint32_t offset) noexcept {
    position p;
    std::uint32_t line_start = 0;
    const auto n = offset < source.size() ? offset : static_cast<std::uint32_t>(source.size());
    for (std::uint32_t i = 0; i < n; ++i)
        if (source[i] == '\n') ++p.line, line_start = i + 1;
    p.column = offset - line_start + 1;
    return p;
}

/// The list of messages, in the order they were found.
class diagnostics {
public:
    /// More errors than this are counted but not kept.
    static constexpr std::uint32_t limit = 100;

    template <class... Parts>
    constexpr void add(severity s, const char (&id)[4], std::uint32_t offset, std::uint32_t length,
                       const Parts&... parts) {
        if (s == severity::error) ++errors_;
        if (items_.size() >= limit) return;
        diagnostic d;
        d.severity = s, d.offset = offset, d.length = length, d.text_begin = pool_.size();
        d.order = s == severity::note && items_.size() != 0 ? items_.back().order : offset;
        for (int i = 0; i < 4; ++i) d.id[i] = id[i];
        (append(parts), ...);
        d.text_size = pool_.size() - d.text_begin;
        items_.push_back(d);
    }

    /// Warnings with this id are errors.
    constexpr void raise(const char (&id)[4]) noexcept {
        for (diagnostic& d : items_) {
            if (d.severity != severity::warning || std::string_view(d.id, 3) != std::string_view(id, 3)) continue;
            d.severity = severity::error;
            ++errors_;
        }
    }
    /// Puts the messages into the order of the text; a note stays behind the message it belongs to.
    constexpr void sort() noexcept {
        for (std::uint32_t i = 1; i < items_.size(); ++i) {
            const diagnostic d = items_[i];
            std::uint32_t k = i;
            for (; k > 0 && items_[k - 1].order > d.order; --k) items_[k] = items_[k - 1];
            items_[k] = d;
        }
    }

    [[nodiscard]] constexpr std::uint32_t errors() const noexcept { return errors_; }
    [[nodiscard]] constexpr std::uint32_t size() const noexcept { return items_.size(); }
    [[nodiscard]] constexpr const diagnostic& operator[](std::uint32_t i) const noexcept { return items_[i]; }
    [[nodiscard]] constexpr const diagnostic* begin() const noexcept { return items_.begin(); }
    [[nodiscard]] constexpr const diagnostic* end() const noexcept { return items_.end(); }
    [[nodiscard]] constexpr std::string_view text(const diagnostic& d) const noexcept {
        return pool_.view().substr(d.text_begin, d.text_size);
    }
    /// The first error, or nullptr.
    [[nodiscard]] constexpr const diagnostic* first_error() const noexcept {
        for (const diagnostic& d : items_)
            if (d.severity == severity::error) return &d;
        return nullptr;
    }

private:
    constexpr void append(std::string_view s) {
        for (char c : s) {
            const auto u = static_cast<unsigned char>(c);
            pool_.put(u < 0x20 || u == 0x7f ? '?' : c);
        }
    }
    constexpr void append(const char* s) { append(std::string_view(s)); }
    constexpr void append(char c) { append(std::string_view(&c, 1)); }
    constexpr void append(std::uint64_t v) { pool_.put_number(v); }
    constexpr void append(std::uint32_t v) { pool_.put_number(v); }

    ptxdsl::detail::dynarray<diagnostic> items_;
    ptx::text pool_;
    std::uint32_t errors_ = 0;
};

}  // namespace ptxdsl::ptx
