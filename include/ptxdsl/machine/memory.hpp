// SPDX-License-Identifier: Apache-2.0
// The shared memory of a block as the machine sees it: who touched which bytes last, and what the words hold.
//
// A page has a bit a granule (the smallest access of the program), so that a copy of a tile is a few words and an
// access of a lane is exact to the byte.
#pragma once

#include <ptxdsl/machine/list.hpp>

#include <cstdint>

namespace ptxdsl::machine {

/// How an access reaches memory.
enum class access : std::uint8_t {
    read,         ///< a thread's load
    write,        ///< a thread's store
    atomic,       ///< a thread's atomic or other strong operation
    async_read,   ///< wgmma, a bulk store, tcgen05: through the async proxy
    copy,         ///< a bulk copy's write: through the async proxy
    thread_copy,  ///< a `cp.async`: asynchronous, through the generic proxy
};

/// One access that later ones are held against. `agent` and `event` say when it has ended; a copy's are those of the
/// barrier it completes on, known once it has landed.
struct touch {
    std::uint64_t granules = 0;
    access how = access::read;
    bool landed = true;       ///< a copy: whether it is complete
    std::uint32_t agent = 0;  ///< a copy in flight: its number
    std::uint32_t event = 0;
    std::uint32_t lanes = 0;  ///< lanes of the warp that took part
    std::uint32_t warp = 0;   ///< the warp that issued it
    std::uint32_t at = 0;     ///< its instruction
};

/// The bytes of one access within one page.
struct page_span {
    std::uint32_t page = 0;
    std::uint64_t granules = 0;
};

/// Who touched what in one block.
class shadow {
public:
    struct page {
        list<touch> writes, reads;
    };

    constexpr void reset(std::uint32_t bytes, std::uint32_t granule) {
        granule_ = granule;
        const std::uint32_t n = bytes / (64 * granule) + 1;
        for (page& p : pages_) p.writes.clear(), p.reads.clear();
        pages_.resize(n);
    }
    [[nodiscard]] constexpr std::uint32_t granule() const noexcept { return granule_; }
    [[nodiscard]] constexpr page* at(std::uint32_t i) noexcept { return i < pages_.size() ? &pages_[i] : nullptr; }

    /// Adds the pages of bytes `[low, high)` to `out`, joined with its last page where that is the same.
    constexpr void span(std::uint32_t low, std::uint32_t high, list<page_span>& out) const {
        const std::uint32_t first = low / granule_, last = (high + granule_ - 1) / granule_;
        for (std::uint32_t g = first; g < last;) {
            const std::uint32_t n = g / 64, from = g % 64;
            const std::uint32_t to = last - n * 64 < 64 ? last - n * 64 : 64;
            const std::uint64_t bits =
                (to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1) & ~((std::uint64_t{1} << from) - 1);
            add(n, bits, out);
            g = n * 64 + to;
        }
    }
    /// Adds granules of a page, joined with what the list has of it. Lanes come in any order, but in few pages; long
    /// lists are in order.
    static constexpr void add(std::uint32_t page, std::uint64_t bits, list<page_span>& out) {
        const bool behind = out.empty() || page > out.back().page;
        const std::size_t first = behind ? out.size() : out.size() > 16 ? out.size() - 16 : 0;
        for (std::size_t k = out.size(); k-- > first;)
            if (out[k].page == page) {
                out[k].granules |= bits;
                return;
            }
        out.push_back({page, bits});
    }
    /// Whether anything has touched bytes of `[low, high)`.
    [[nodiscard]] constexpr bool touched(std::uint32_t low, std::uint32_t high) const {
        list<page_span> all;
        span(low, high, all);
        for (const page_span& s : all) {
            if (s.page >= pages_.size()) continue;
            for (const touch& t : pages_[s.page].writes)
                if ((t.granules & s.granules) != 0) return true;
            for (const touch& t : pages_[s.page].reads)
                if ((t.granules & s.granules) != 0) return true;
        }
        return false;
    }
    /// The first byte of the lowest granule set, for messages.
    [[nodiscard]] constexpr std::uint32_t byte_of(std::uint32_t index, std::uint64_t granules) const noexcept {
        std::uint32_t k = 0;
        while (k < 63 && (granules >> k & 1u) == 0) ++k;
        return (index * 64 + k) * granule_;
    }

    /// Replaces what was written there.
    static constexpr void write(page& to, const touch& t) {
        forget(to.writes, t.granules);
        to.writes.push_back(t);
    }
    /// Nobody needs to be asked again about reads that a write has been ordered behind.
    static constexpr void forget_reads(page& p, std::uint64_t granules) { forget(p.reads, granules); }
    static constexpr void read(page& p, touch t) {
        for (touch& old : p.reads) {
            if (old.agent != t.agent || old.how != t.how) continue;
            if (old.event > t.event) {  // another warp of the group is ahead
                t.granules &= ~old.granules;
            } else if (old.event == t.event && old.at == t.at) {
                old.granules |= t.granules;
                old.lanes |= t.lanes;
                return;
            } else {
                old.granules &= ~t.granules;
            }
        }
        drop_empty(p.reads);
        if (t.granules != 0) p.reads.push_back(t);
    }

private:
    static constexpr void forget(list<touch>& all, std::uint64_t granules) {
        for (touch& t : all) t.granules &= ~granules;
        drop_empty(all);
    }
    static constexpr void drop_empty(list<touch>& all) {
        std::size_t keep = 0;
        for (std::size_t k = 0; k < all.size(); ++k)
            if (all[k].granules != 0) {
                if (keep != k) all[keep] = all[k];
                ++keep;
            }
        all.resize(keep);
    }

    list<page> pages_;
    std::uint32_t granule_ = 4;
};

/// What words of shared memory hold, as far as threads wrote it. Everything else is unknown.
template <class Value>
class contents {
public:
    constexpr void reset(std::uint32_t bytes) {
        pages_.clear();
        pages_.resize(bytes / page_bytes + 1);
        ++age_;
    }
    /// `join(whole, v, shift, bits)` puts a part into a word that is known: bytes 1 and 2 change it.
    template <class Join>
    constexpr void store(std::uint32_t at, std::uint32_t bytes, const Value& v, const Join& join) {
        if (bytes < 4) {
            const std::uint32_t low = at / 4 * 4;
            const Value* const whole = load(low, 4);
            if (whole == nullptr || at + bytes > low + 4) return forget(at, at + bytes);
            return store(low, 4, join(*whole, v, 8 * (at - low), 8 * bytes), join);
        }
        if (at % 4 != 0 || bytes != 4 || at / page_bytes >= pages_.size()) {
            forget(at, at + bytes);
            if (at % 4 != 0 || bytes != 8 || at / page_bytes >= pages_.size()) return;
        }
        ++age_;
        list<word>& p = pages_[at / page_bytes];
        if (p.empty()) p.resize(page_bytes / 4);
        const std::uint32_t n = at % page_bytes / 4;
        if (n > 0 && p[n - 1].bytes == 8) p[n - 1].bytes = 0;
        p[n] = {v, static_cast<std::uint8_t>(bytes)};
    }
    /// Bytes `[low, high)` are written with something nobody follows.
    constexpr void forget(std::uint32_t low, std::uint32_t high) noexcept {
        ++age_;
        const std::uint32_t first = low / page_bytes;
        for (std::uint32_t n = first; n < pages_.size() && n * page_bytes < high; ++n) {
            list<word>& p = pages_[n];
            if (p.empty()) continue;
            const std::uint32_t from = n == first ? low % page_bytes / 4 : 0;
            const std::uint32_t to =
                high - n * page_bytes < page_bytes ? (high - n * page_bytes + 3) / 4 : page_bytes / 4;
            for (std::uint32_t w = from; w < to; ++w) p[w].bytes = 0;
            if (n == first && from > 0 && p[from - 1].bytes == 8) p[from - 1].bytes = 0;
        }
    }
    /// Null: unknown, or written in other pieces.
    [[nodiscard]] constexpr const Value* load(std::uint32_t at, std::uint32_t bytes) const noexcept {
        if (at % 4 != 0 || at / page_bytes >= pages_.size() || pages_[at / page_bytes].empty()) return nullptr;
        const word& w = pages_[at / page_bytes][at % page_bytes / 4];
        return w.bytes == bytes ? &w.value : nullptr;
    }
    /// The word that has these bytes, and how many bits below them; null: unknown.
    [[nodiscard]] constexpr const Value* around(std::uint32_t at, std::uint32_t bytes,
                                                std::uint32_t& shift) const noexcept {
        for (const std::uint32_t size : {4u, 8u}) {
            const std::uint32_t low = at / size * size;
            if (at + bytes > low + size) continue;
            if (const Value* const v = load(low, size)) {
                shift = 8 * (at - low);
                return v;
            }
        }
        return nullptr;
    }
    /// Changes with every store, so that two loads of unknown words between stores are the same unknown.
    [[nodiscard]] constexpr std::uint32_t age() const noexcept { return age_; }

private:
    static constexpr std::uint32_t page_bytes = 256;
    struct word {
        Value value{};
        std::uint8_t bytes = 0;
    };
    list<list<word>> pages_;
    std::uint32_t age_ = 0;
};

}  // namespace ptxdsl::machine
