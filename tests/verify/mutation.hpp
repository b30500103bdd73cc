// SPDX-License-Identifier: Apache-2.0
// Mutants of a kernel: the program with one synchronisation statement left out or one of its numbers changed.
//
// A statement is what one call of the author emitted: neighbouring records with one place in the source. It is a
// synchronisation when one of its instructions is. A statement that was unrolled, or stands in a helper that is called
// twice, is one statement of the author: all its copies change together.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mutation {

namespace px = ptxdsl;
namespace ir = px::ir;
using px::isa::tok;
using px::verify::has_token;
using px::verify::operand_at;
using px::verify::token_at;

struct mutant {
    std::string what;  ///< "gemm.hpp:12 mbarrier.arrive #2: left out", without the place: `key`
    std::string key;
    std::vector<std::uint32_t> words;
    std::vector<ir::allocation> allocations;
};

inline std::vector<const std::uint32_t*> records_of(const ir::view& m) {
    std::vector<const std::uint32_t*> list;
    for (const std::uint32_t* w = m.words; w < m.words + m.n.words; w += ir::cursor{w}.size()) list.push_back(w);
    return list;
}

inline std::string spelled(const ir::cursor& c) {
    std::string s;
    for (std::uint32_t i = 0; i < c.tokens() && i < 5; ++i) {
        if (i != 0) s += '.';
        s += std::string(px::isa::spelling(static_cast<tok>(c.token(i))));
    }
    return s;
}

inline bool synchronises(const ir::cursor& c) {
    if (!c.is_instruction()) return false;
    switch (static_cast<tok>(c.token(0))) {
        case tok::mbarrier:
        case tok::fence:
        case tok::membar:
        case tok::bar:
        case tok::barrier:
        case tok::setmaxnreg:
        case tok::griddepcontrol: return true;
        case tok::st:
        case tok::ld: return has_token(c, tok::release) || has_token(c, tok::acquire);
        case tok::wgmma: return !has_token(c, tok::mma_async);
        case tok::cp:
            return has_token(c, tok::commit_group) || has_token(c, tok::wait_group) || has_token(c, tok::wait_all);
        case tok::tcgen05:
            return has_token(c, tok::commit) || token_at(c, 1) == tok::wait__ld || token_at(c, 1) == tok::wait__st ||
                   token_at(c, 1) == tok::fence__before_thread_sync ||
                   token_at(c, 1) == tok::fence__after_thread_sync || has_token(c, tok::alloc) ||
                   has_token(c, tok::dealloc) || has_token(c, tok::relinquish_alloc_permit);
        default: return false;
    }
}
inline bool is_literal(std::uint32_t head) { return ir::kind_of(head) == ir::operand_kind::small_int; }
inline bool is_register(std::uint32_t head) { return ir::kind_of(head) == ir::operand_kind::reg; }
/// `xor.b32 parity, parity, 1`
inline bool toggles(const ir::cursor& c) {
    return c.is_instruction() && token_at(c, 0) == tok::xor_ && c.operands() == 3 && is_register(*operand_at(c, 0)) &&
           *operand_at(c, 0) == *operand_at(c, 1) && is_literal(*operand_at(c, 2)) &&
           ir::small_value(*operand_at(c, 2)) == 1;
}
inline bool waits_by_parity(const ir::cursor& c) {
    return c.is_instruction() && token_at(c, 0) == tok::mbarrier && has_token(c, tok::parity) && c.operands() >= 3;
}
inline bool has_group(const ir::cursor& c) {
    return c.is_instruction() && (has_token(c, tok::cta_group__1) || has_token(c, tok::cta_group__2));
}

class maker {
public:
    explicit maker(const ir::view& m) : m_(m), records_(records_of(m)) {
        for (std::size_t i = 0; i < records_.size(); ++i)
            if (const ir::cursor c = at(i); waits_by_parity(c) && is_register(*operand_at(c, 2)))
                parities_.push_back(*operand_at(c, 2));
    }

    std::vector<mutant> all() {
        for (std::size_t i = 0; i < records_.size(); i = statement_end(i)) statement(i);
        for (std::uint32_t a = 0; a < m_.n.allocations; ++a) misplace(a);
        return std::move(mutants_);
    }

private:
    struct edit {
        const std::uint32_t* at;
        std::uint32_t value;
    };
    using edits = std::vector<edit>;

    [[nodiscard]] ir::cursor at(std::size_t record) const { return ir::cursor{records_[record]}; }
    [[nodiscard]] std::size_t statement_end(std::size_t i) const {
        std::size_t end = i + 1;
        while (end < records_.size() && same_place(i, end)) ++end;
        return end;
    }
    [[nodiscard]] const std::source_location& location(std::size_t record) const {
        return m_.locations[at(record).location()];
    }
    [[nodiscard]] bool same_place(std::size_t a, std::size_t b) const {
        const auto &x = location(a), &y = location(b);
        return x.line() == y.line() && x.column() == y.column() && px::string_view(x.file_name()) == y.file_name();
    }
    [[nodiscard]] bool starts_parity(const ir::cursor& c) const {
        return c.is_instruction() && token_at(c, 0) == tok::mov && c.operands() == 2 && c.guard() == 0 &&
               is_literal(*operand_at(c, 1)) &&
               std::find(parities_.begin(), parities_.end(), *operand_at(c, 0)) != parities_.end();
    }
    [[nodiscard]] bool concerned(const ir::cursor& c) const {
        return synchronises(c) || toggles(c) || has_group(c) || starts_parity(c) ||
               (c.is_instruction() && has_token(c, tok::multicast__cluster));
    }

    /// One statement: left out, and with each of its numbers changed.
    void statement(std::size_t begin) {
        std::size_t k = begin;
        const std::size_t end = statement_end(begin);
        while (k < end && !concerned(at(k))) ++k;
        if (k == end) return;
        for (std::size_t i = 0; i < begin; ++i)
            if (same_place(i, begin)) return;  // a later copy of one that was dealt with
        name(k);
        leave_out(begin, k);
        const char* const changes[] = {"waits for one group less",
                                       "counts a warp more",
                                       "counts a warp less",
                                       "one arrival more",
                                       "one arrival less",
                                       "16 bytes more",
                                       "half the bytes",
                                       "8 registers more",
                                       "the other parity",
                                       "starts on the other parity",
                                       "the other cta_group",
                                       "half the columns",
                                       "mask without the last block",
                                       "wraps a slot later",
                                       "wraps a slot earlier"};
        for (const char* how : changes)
            for (std::uint32_t barrier = 0; barrier <= m_.n.allocations; ++barrier) change(begin, how, barrier);
    }
    void name(std::size_t k) {
        std::string instruction = toggles(at(k)) ? "advance" : spelled(at(k));
        if (starts_parity(at(k))) instruction = "parity";
        const std::string file = location(k).file_name();
        const int n = ++seen_[instruction];
        key_ = instruction + (n == 1 ? "" : " #" + std::to_string(n));
        place_ = file.substr(file.rfind('/') + 1) + ':' + std::to_string(location(k).line()) + ' ';
    }
    void push(const std::string& how, std::vector<std::uint32_t> words, std::vector<ir::allocation> allocations = {}) {
        mutants_.push_back({place_ + key_ + ": " + how, key_ + ": " + how, std::move(words), std::move(allocations)});
    }
    template <class Keep>
    void without(const std::string& how, const Keep& drop) {
        std::vector<std::uint32_t> words;
        for (std::size_t i = 0; i < records_.size(); ++i)
            if (!drop(i)) words.insert(words.end(), records_[i], records_[i] + at(i).size());
        push(how, std::move(words));
    }
    /// The whole statement; and each of its parts that an author could forget alone.
    void leave_out(std::size_t begin, std::size_t k) {
        if (synchronises(at(k)) || toggles(at(k)))
            without("left out", [&](std::size_t i) { return same_place(i, begin); });
        std::vector<std::string> parts;
        bool wait = false;
        for (std::size_t i = begin; i < statement_end(begin); ++i) {
            wait = wait || waits_by_parity(at(i));
            if (toggles(at(i))) {
                without("no phase toggle", [&](std::size_t r) { return same_place(r, begin) && toggles(at(r)); });
                return;
            }
            if (synchronises(at(i)) && std::find(parts.begin(), parts.end(), spelled(at(i))) == parts.end())
                parts.push_back(spelled(at(i)));
        }
        if (parts.size() < 2) return;
        for (const std::string& part : parts)
            if (!part.starts_with("mbarrier.try_wait"))
                without("without its " + part, [&](std::size_t r) {
                    return same_place(r, begin) && synchronises(at(r)) && spelled(at(r)) == part;
                });
    }
    /// `barrier`: the changes that concern this allocation; the number of allocations stands for "none".
    void change(std::size_t begin, px::string_view how, std::uint32_t barrier) {
        edits list;
        for (std::size_t i = 0; i < records_.size(); ++i)
            if (same_place(i, begin) && at(i).is_instruction()) numbers(i, how, barrier, list);
        if (list.empty()) return;
        std::vector<std::uint32_t> words(m_.words, m_.words + m_.n.words);
        for (const edit& e : list) words[static_cast<std::size_t>(e.at - m_.words)] = e.value;
        const bool both = barrier != m_.n.allocations;
        push((both ? std::string(m_.text(m_.allocations[barrier].id)) + ", " : "") + std::string(how),
             std::move(words));
    }
    /// A tile 16 bytes from where it should be, or something else by half of its alignment; its address with it.
    void misplace(std::uint32_t a) {
        const std::uint32_t by = m_.allocations[a].kind == ir::allocation_kind::tile ? 16 : m_.allocations[a].align / 2;
        key_ = "alignment of '" + std::string(m_.text(m_.allocations[a].id)) + "'";
        place_.clear();
        std::vector<ir::allocation> moved(m_.allocations, m_.allocations + m_.n.allocations);
        moved[a].offset += by;
        std::vector<std::uint32_t> words(m_.words, m_.words + m_.n.words);
        for (const std::uint32_t* r : records_) {
            const ir::cursor c{r};
            if (!c.is_instruction() || token_at(c, 0) != tok::mov || c.operands() != 2) continue;
            const std::uint32_t* const o = operand_at(c, 1);
            if (ir::kind_of(*o) == ir::operand_kind::symbol && ir::payload_of(*o) == ir::smem_symbol &&
                o[1] == m_.allocations[a].offset)
                words[static_cast<std::size_t>(o + 1 - m_.words)] = o[1] + by;
        }
        push(std::to_string(by) + " bytes off", std::move(words), std::move(moved));
    }

    /// The note of kind `n` right before record `k`, or null.
    [[nodiscard]] const std::uint32_t* note_before(std::size_t k, ir::note n) const {
        while (k-- > 0) {
            const ir::cursor c = at(k);
            if (c.kind() != ir::record::note) return nullptr;
            if (static_cast<ir::note>(c.code()) == n) return c.w;
        }
        return nullptr;
    }
    static void add(const std::uint32_t* o, std::int64_t change, edits& list, const std::uint32_t* noted = nullptr) {
        if (!is_literal(*o) || ir::small_value(*o) + change < 0) return;
        const auto value = static_cast<std::uint32_t>(ir::small_value(*o) + change);
        list.push_back({o, ir::head(ir::operand_kind::small_int, value)});
        if (noted != nullptr) list.push_back({noted, value});
    }
    void numbers(std::size_t k, px::string_view how, std::uint32_t barrier, edits& list) const {
        const ir::cursor c = at(k);
        const tok first = token_at(c, 0);
        if (const auto* n = note_before(k, ir::note::barrier_init);
            n != nullptr && n[2] == barrier && c.operands() == 2) {
            if (how == "one arrival more") add(operand_at(c, 1), 1, list, n + 5);
            if (how == "one arrival less" && n[5] > 1) add(operand_at(c, 1), -1, list, n + 5);
        }
        if (const auto* n = note_before(k, ir::note::barrier_expect); n != nullptr && n[2] == barrier) {
            const auto* const bytes = operand_at(c, c.operands() - 1);
            if (how == "16 bytes more") add(bytes, 16, list, n + 4);
            if (how == "half the bytes") add(bytes, -static_cast<std::int64_t>(n[4] / 2), list, n + 4);
        }
        if (barrier != m_.n.allocations) return;
        const bool is_bar = (first == tok::bar || first == tok::barrier) && c.operands() == 2;
        if (is_bar && how == "counts a warp more") add(operand_at(c, 1), 32, list);
        if (is_bar && how == "counts a warp less") add(operand_at(c, 1), -32, list);
        if (how == "waits for one group less" && has_token(c, tok::wait_group) && c.operands() == 1)
            add(operand_at(c, 0), 1, list);
        if (how == "8 registers more" && first == tok::setmaxnreg) add(operand_at(c, 0), 8, list);
        if (how == "the other parity" && waits_by_parity(c) && is_literal(*operand_at(c, 2)))
            flip(operand_at(c, 2), list);
        if (how == "starts on the other parity" && starts_parity(c)) flip(operand_at(c, 1), list);
        if (how == "the other cta_group" && has_group(c)) other_group(c, list);
        if (how == "half the columns" && first == tok::tcgen05 && has_token(c, tok::alloc))
            halve(operand_at(c, 1), list);
        if (how == "half the columns" && first == tok::tcgen05 && has_token(c, tok::dealloc))
            halve(operand_at(c, 1), list);
        if (how == "mask without the last block") smaller_mask(k, list);
        if (wraps(k) && how == "wraps a slot later") add(operand_at(c, 2), 1, list);
        if (wraps(k) && how == "wraps a slot earlier") add(operand_at(c, 2), -1, list);
    }
    static void flip(const std::uint32_t* o, edits& list) {
        list.push_back({o, ir::head(ir::operand_kind::small_int, static_cast<std::uint32_t>(ir::small_value(*o) ^ 1))});
    }
    static void halve(const std::uint32_t* o, edits& list) {
        if (is_literal(*o)) add(o, -(ir::small_value(*o) / 2), list);
    }
    /// The comparison of the statement that advances a pipeline state.
    [[nodiscard]] bool wraps(std::size_t k) const {
        if (token_at(at(k), 0) != tok::setp || token_at(at(k), 1) != tok::eq) return false;
        for (std::size_t i = k; i < records_.size() && same_place(i, k); ++i)
            if (toggles(at(i))) return true;
        return false;
    }
    static void other_group(const ir::cursor& c, edits& list) {
        for (std::uint32_t i = 0; i < c.tokens(); ++i) {
            const tok t = token_at(c, i);
            if (t != tok::cta_group__1 && t != tok::cta_group__2) continue;
            const tok other = t == tok::cta_group__1 ? tok::cta_group__2 : tok::cta_group__1;
            const std::uint32_t shift = i % 2 * 16;
            list.push_back(
                {c.w + 4 + i / 2, (c.w[4 + i / 2] & ~(0xffffu << shift)) | static_cast<std::uint32_t>(other) << shift});
        }
    }
    /// A literal mask of a multicast; that of a commit is moved to a register in the same statement.
    void smaller_mask(std::size_t k, edits& list) const {
        const ir::cursor c = at(k);
        const std::uint32_t* mask = nullptr;
        if (token_at(c, 0) == tok::mov && c.operands() == 2 && is_literal(*operand_at(c, 1))) {
            for (std::size_t i = k; i < records_.size() && same_place(i, k); ++i)
                if (at(i).is_instruction() && token_at(at(i), 0) == tok::tcgen05 &&
                    has_token(at(i), tok::multicast__cluster))
                    mask = operand_at(c, 1);
        } else if (token_at(c, 0) == tok::cp && has_token(c, tok::multicast__cluster)) {
            mask = operand_at(c, c.operands() - 1);
        }
        if (mask == nullptr || !is_literal(*mask)) return;
        std::int64_t top = 1;
        while (top * 2 <= ir::small_value(*mask)) top *= 2;
        add(mask, -top, list);
    }

    const ir::view& m_;
    std::vector<const std::uint32_t*> records_;
    std::vector<std::uint32_t> parities_;  ///< operands
    std::map<std::string, int> seen_;
    std::string key_, place_;
    std::vector<mutant> mutants_;
};

/// What the verifier says of a mutant.
struct verdict {
    bool refused = false, warned = false;
    std::string first;  ///< the first error, or else warning
    [[nodiscard]] bool silent() const { return !refused && !warned; }
};
inline verdict verdict_of(const ir::view& original, const mutant& x) {
    ir::view m = original;
    m.words = x.words.data();
    m.n.words = static_cast<std::uint32_t>(x.words.size());
    if (!x.allocations.empty()) m.allocations = x.allocations.data();
    px::verify::report out;
    px::verify::run(m, out);
    verdict v;
    for (const auto& f : out.findings) {
        if (v.silent() || (!f.warning && !v.refused)) v.first = std::string(f.id, 3) + ": " + std::string(out.text(f));
        (f.warning ? v.warned : v.refused) = true;
    }
    return v;
}

}  // namespace mutation
