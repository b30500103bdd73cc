// SPDX-License-Identifier: Apache-2.0
// Tokens of PTX text, and the pool that keeps each spelling once.
//
// A parsed text is not stored as a whole. Each token names its spelling and the spelling of the trivia (blanks,
// comments, line markers) in front of it; both live once in the pool. Printing them in order gives the bytes back.
#pragma once

#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/parse/text.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ptxdsl::ptx {

/// What a token is. From `dot_word` on the spelling starts with a dot.
enum class kind : std::uint8_t {
    trivia,
    end,
    bad,
    identifier,
    underscore,
    warp_sz,
    function_name,
    inlined_at,
    integer,
    decimal_float,
    hex_float,
    string,
    dwarf,
    left_brace,
    right_brace,
    left_paren,
    right_paren,
    left_bracket,
    right_bracket,
    comma,
    semicolon,
    colon,
    at,
    bar,
    exclamation,
    minus,
    plus,
    tilde,
    star,
    slash,
    percent,
    ampersand,
    caret,
    question,
    less,
    greater,
    equal,
    less_less,
    greater_greater,
    less_equal,
    greater_equal,
    equal_equal,
    not_equal,
    and_and,
    or_or,
    dot_word,
    type,
    vector,
    version,
    target,
    address_size,
    entry,
    func,
    visible,
    extern_,
    weak,
    common,
    global,
    shared,
    const_,
    local,
    param,
    reg,
    tex,
    align,
    attribute,
    ptr,
    file,
    loc,
    section,
    pragma,
    alias,
    branchtargets,
    calltargets,
    callprototype,
    maxntid,
    reqntid,
    reqnctapercluster,  // one to three numbers
    minnctapersm,
    maxnctapersm,
    maxnreg,
    local_maxnreg,
    maxclusterrank,
    abi_preserve,
    abi_preserve_control,  // one number
    explicitcluster,
    blocksareclusters,
    noreturn,  // none
};

[[nodiscard]] constexpr bool starts_with_dot(kind k) noexcept { return k >= kind::dot_word; }
/// What can stand behind the word of an instruction: directives cannot, but for those that are modifiers too.
[[nodiscard]] constexpr bool is_modifier(kind k) noexcept {
    return k == kind::dot_word || k == kind::type || k == kind::vector || k == kind::weak || k == kind::alias ||
           k == kind::alias || (k >= kind::global && k <= kind::param);
}
[[nodiscard]] constexpr bool is_space(kind k) noexcept { return k >= kind::global && k <= kind::tex; }
[[nodiscard]] constexpr bool is_linkage(kind k) noexcept { return k >= kind::visible && k <= kind::common; }
[[nodiscard]] constexpr bool is_tuning(kind k) noexcept { return k >= kind::maxntid; }

/// One token. `offset` is the byte where it starts in the text it was read from.
struct token {
    std::uint32_t offset = 0;
    std::uint32_t spelling = 0;
    std::uint32_t trivia = 0;  ///< spelling of what stands in front of it; 0: nothing
    ptx::kind kind = kind::end;
};

/// One entry of the pool.
struct spelling {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
    std::uint32_t hash = 0;
    ptx::kind kind = kind::trivia;
};

namespace detail {

struct keyword {
    std::string_view text;
    ptx::kind kind;
};

using namespace std::string_view_literals;

/// Words with a meaning of their own, sorted. Everything else with a dot is a `dot_word`.
inline constexpr keyword keywords[] = {
    {".abi_preserve"sv, kind::abi_preserve},
    {".abi_preserve_control"sv, kind::abi_preserve_control},
    {".address_size"sv, kind::address_size},
    {".alias"sv, kind::alias},
    {".align"sv, kind::align},
    {".attribute"sv, kind::attribute},
    {".b128"sv, kind::type},
    {".b16"sv, kind::type},
    {".b32"sv, kind::type},
    {".b64"sv, kind::type},
    {".b8"sv, kind::type},
    {".blocksareclusters"sv, kind::blocksareclusters},
    {".branchtargets"sv, kind::branchtargets},
    {".callprototype"sv, kind::callprototype},
    {".calltargets"sv, kind::calltargets},
    {".common"sv, kind::common},
    {".const"sv, kind::const_},
    {".entry"sv, kind::entry},
    {".explicitcluster"sv, kind::explicitcluster},
    {".extern"sv, kind::extern_},
    {".f16"sv, kind::type},
    {".f16x2"sv, kind::type},
    {".f32"sv, kind::type},
    {".f64"sv, kind::type},
    {".file"sv, kind::file},
    {".func"sv, kind::func},
    {".global"sv, kind::global},
    {".loc"sv, kind::loc},
    {".local"sv, kind::local},
    {".local_maxnreg"sv, kind::local_maxnreg},
    {".maxclusterrank"sv, kind::maxclusterrank},
    {".maxnctapersm"sv, kind::maxnctapersm},
    {".maxnreg"sv, kind::maxnreg},
    {".maxntid"sv, kind::maxntid},
    {".minnctapersm"sv, kind::minnctapersm},
    {".noreturn"sv, kind::noreturn},
    {".param"sv, kind::param},
    {".pragma"sv, kind::pragma},
    {".pred"sv, kind::type},
    {".ptr"sv, kind::ptr},
    {".reg"sv, kind::reg},
    {".reqnctapercluster"sv, kind::reqnctapercluster},
    {".reqntid"sv, kind::reqntid},
    {".s16"sv, kind::type},
    {".s32"sv, kind::type},
    {".s64"sv, kind::type},
    {".s8"sv, kind::type},
    {".samplerref"sv, kind::type},
    {".section"sv, kind::section},
    {".shared"sv, kind::shared},
    {".surfref"sv, kind::type},
    {".target"sv, kind::target},
    {".tex"sv, kind::tex},
    {".texref"sv, kind::type},
    {".u16"sv, kind::type},
    {".u32"sv, kind::type},
    {".u64"sv, kind::type},
    {".u8"sv, kind::type},
    {".v2"sv, kind::vector},
    {".v4"sv, kind::vector},
    {".v8"sv, kind::vector},
    {".version"sv, kind::version},
    {".visible"sv, kind::visible},
    {".weak"sv, kind::weak},
    {"WARP_SZ"sv, kind::warp_sz},
    {"_"sv, kind::underscore},
    {"function_name"sv, kind::function_name},
    {"inlined_at"sv, kind::inlined_at},
};

[[nodiscard]] constexpr kind keyword_kind(std::string_view word, kind otherwise) noexcept {
    unsigned low = 0;
    unsigned high = sizeof keywords / sizeof keywords[0];
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        const int order = keywords[middle].text.compare(word);
        if (order == 0) return keywords[middle].kind;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return otherwise;
}

[[nodiscard]] constexpr bool same_bytes(const char* a, const char* b, std::uint32_t n) noexcept {
#if !defined(__clang__)  // g++ 12 does not fold it
    if (std::is_constant_evaluated()) {
        for (std::uint32_t i = 0; i < n; ++i)
            if (a[i] != b[i]) return false;
        return true;
    }
#endif
    return __builtin_memcmp(a, b, n) == 0;
}

inline constexpr std::uint32_t hash_seed = 2166136261u;
inline constexpr std::uint32_t hash_factor = 16777619u;

[[nodiscard]] inline std::uint64_t eight_bytes(const char* p) noexcept {
    std::uint64_t v;
    __builtin_memcpy(&v, p, 8);
    return v;
}
/// byte_masks.of[8 + n]: the first n bytes of a word, all where there are more than 8.
struct byte_mask_table {
    std::uint64_t of[8 + 16 + 1] = {};
    constexpr byte_mask_table() {
        for (unsigned n = 0; n <= 16; ++n) of[8 + n] = n < 8 ? (std::uint64_t{1} << 8 * n) - 1 : ~std::uint64_t{0};
    }
};
inline constexpr byte_mask_table byte_masks{};

/// The bytes of a spelling of at most 16; the rest is 0. Most spellings are that short, and a loop over them would end
/// where no branch predictor expects it.
struct short_bytes {
    static constexpr std::uint32_t most = 16;
    std::uint64_t low, high;

    /// 16 bytes at `p` can be read.
    [[nodiscard]] static short_bytes at(const char* p, std::uint32_t n) noexcept {
        return {eight_bytes(p) & byte_masks.of[8 + n], eight_bytes(p + 8) & byte_masks.of[n]};
    }
    [[nodiscard]] bool operator==(const short_bytes& o) const noexcept { return low == o.low && high == o.high; }
};

inline constexpr std::uint64_t mixing_factor = 0x9e3779b97f4a7c15u;
[[nodiscard]] inline std::uint32_t hash_of(const short_bytes& s, std::uint32_t n, std::uint32_t seed) noexcept {
    const std::uint64_t high = (s.high + n) * 0xd6e8feb86659fd93u;
    const std::uint64_t w = (s.low ^ seed) * mixing_factor ^ (high >> 32 | high << 32);
    return static_cast<std::uint32_t>(w ^ w >> 32);
}
/// Of longer ones: at run time by words of eight bytes, the last of which overlaps the one before.
[[nodiscard]] constexpr std::uint32_t hash_of(const char* p, std::uint32_t n, std::uint32_t seed) noexcept {
    if (std::is_constant_evaluated()) {
        std::uint32_t h = seed;
        for (std::uint32_t i = 0; i < n; ++i) h = (h ^ static_cast<unsigned char>(p[i])) * hash_factor;
        return h ^ h >> 15;
    }
    std::uint64_t w = seed + n;
    const auto mix = [&w](std::uint64_t v) {
        w = (w ^ v) * mixing_factor;
        w ^= w >> 32;
    };
    for (std::uint32_t i = 0; i + 8 < n; i += 8) mix(eight_bytes(p + i));
    mix(eight_bytes(p + n - 8));
    return static_cast<std::uint32_t>(w);
}

}  // namespace detail

/// Every spelling once; a spelling's number identifies it. Number 0 is the empty spelling.
class spellings {
public:
    constexpr explicit spellings(std::uint32_t expected = 64) : pool_(16 * expected), items_(expected) {
        std::uint32_t slots = 64;
        while (slots < 2 * expected) slots *= 2;
        slots_.resize(slots, 0);
        items_.push_back({});
        if (!std::is_constant_evaluated())
            seed_ ^= static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(items_.data()) >> 4);
    }

    [[nodiscard]] constexpr std::uint32_t size() const noexcept { return items_.size(); }
    [[nodiscard]] constexpr const spelling& operator[](std::uint32_t id) const noexcept { return items_[id]; }
    [[nodiscard]] constexpr std::string_view text(std::uint32_t id) const noexcept {
        return {pool_.view().data() + items_[id].begin, items_[id].size};
    }
    [[nodiscard]] constexpr std::uint32_t pool_size() const noexcept { return pool_.size(); }
    [[nodiscard]] constexpr const char* pool() const noexcept { return pool_.view().data(); }

    /// The number of the spelling `p[0, n)`, behind which `more` bytes can be read; new ones get kind `k`, or that of
    /// the keyword they are. The bytes of a byte order mark are trivia at the start and a bad token elsewhere: two
    /// spellings.
    constexpr std::uint32_t intern(const char* p, std::uint32_t n, std::uint32_t more, kind k) {
        if (!std::is_constant_evaluated() && n <= short_bytes::most && n + more >= short_bytes::most)
            return intern_short(p, n, k);
        const std::uint32_t h = hash(p, n);
        const std::uint32_t mask = slots_.size() - 1;
        std::uint32_t s = h & mask;
        const char* const pool = pool_.view().data();
        while (slots_[s] != 0) {
            const spelling& other = items_[slots_[s]];
            if (is(other, n, h, k) && detail::same_bytes(pool + other.begin, p, n)) return slots_[s];
            s = (s + 1) & mask;
        }
        return insert(p, n, h, k, s);
    }

    /// The number of a spelling, 0 when the text does not have it.
    [[nodiscard]] constexpr std::uint32_t find(std::string_view word) const noexcept {
        const std::uint32_t h = hash(word.data(), static_cast<std::uint32_t>(word.size()));
        const std::uint32_t mask = slots_.size() - 1;
        for (std::uint32_t s = h & mask; slots_[s] != 0; s = (s + 1) & mask)
            if (items_[slots_[s]].hash == h && text(slots_[s]) == word) return slots_[s];
        return 0;
    }

private:
    using short_bytes = detail::short_bytes;

    [[nodiscard]] constexpr std::uint32_t hash(const char* p, std::uint32_t n) const noexcept {
        if (std::is_constant_evaluated() || n > short_bytes::most) return detail::hash_of(p, n, seed_);
        char bytes[short_bytes::most] = {};
        ptx::text::copy(bytes, p, n);
        return detail::hash_of(short_bytes::at(bytes, n), n, seed_);
    }
    [[nodiscard]] static constexpr bool is(const spelling& s, std::uint32_t n, std::uint32_t h, kind k) noexcept {
        return s.hash == h && s.size == n && (s.kind == kind::trivia) == (k == kind::trivia);
    }
    std::uint32_t intern_short(const char* p, std::uint32_t n, kind k) {
        const short_bytes bytes = short_bytes::at(p, n);
        const std::uint32_t h = detail::hash_of(bytes, n, seed_);
        const std::uint32_t mask = slots_.size() - 1;
        std::uint32_t s = h & mask;
        const char* const pool = pool_.view().data();
        for (; slots_[s] != 0; s = (s + 1) & mask) {
            const spelling& other = items_[slots_[s]];
            if (is(other, n, h, k) && short_bytes::at(pool + other.begin, n) == bytes) return slots_[s];
        }
        return insert(p, n, h, k, s);
    }
    constexpr std::uint32_t insert(const char* p, std::uint32_t n, std::uint32_t h, kind k, std::uint32_t slot) {
        const std::uint32_t id = items_.size();
        if (k == kind::identifier || k == kind::dot_word) k = detail::keyword_kind({p, n}, k);
        items_.push_back({pool_.size(), n, h, k});
        pool_.reserve(n + short_bytes::most);  // bytes behind the last spelling are read, and not looked at
        pool_.put(std::string_view(p, n));
        slots_[slot] = id;
        if (2 * id > slots_.size()) rehash();
        return id;
    }
    constexpr void rehash() {
        const std::uint32_t n = 4 * slots_.size();
        slots_.truncate(0);
        slots_.resize(n, 0);
        for (std::uint32_t id = 1; id < items_.size(); ++id) {
            std::uint32_t s = items_[id].hash & (n - 1);
            while (slots_[s] != 0) s = (s + 1) & (n - 1);
            slots_[s] = id;
        }
    }

    ptx::text pool_;
    ptxdsl::detail::dynarray<spelling> items_;
    ptxdsl::detail::dynarray<std::uint32_t> slots_;
    std::uint32_t seed_ = detail::hash_seed;  ///< differs from run to run, so that no text can be made to collide
};

}  // namespace ptxdsl::ptx
