// SPDX-License-Identifier: Apache-2.0
// Mutants of a kernel: the program with one synchronisation statement left out or one of its numbers changed.
//
// A statement is what one call of the author emitted: neighbouring records with one place in the source. It is a
// synchronisation when one of its instructions is.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace mutation {

namespace px = ptxdsl;
namespace ir = px::ir;
using px::isa::tok;
using px::verify::has_token;
using px::verify::operand_at;

struct mutant {
    std::string what;  ///< "file.hpp:12 mbarrier.arrive: left out"
    std::vector<std::uint32_t> words;
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
        case tok::bar:
        case tok::barrier:
        case tok::setmaxnreg:
        case tok::griddepcontrol: return true;
        case tok::wgmma: return !has_token(c, tok::mma_async);
        case tok::cp:
            return has_token(c, tok::commit_group) || has_token(c, tok::wait_group) || has_token(c, tok::wait_all);
        case tok::tcgen05:
            return has_token(c, tok::commit) || has_token(c, tok::wait) || has_token(c, tok::fence) ||
                   has_token(c, tok::alloc) || has_token(c, tok::dealloc) || has_token(c, tok::relinquish_alloc_permit);
        default: return false;
    }
}

/// Makes the mutants of one program. A statement that was unrolled, or stands in a helper that is called twice, is one
/// statement of the author: all its copies change together.
class maker {
public:
    explicit maker(const ir::view& m) : m_(m), records_(records_of(m)) {}

    std::vector<mutant> all() {
        for (std::size_t i = 0; i < records_.size(); i = statement_end(i))
            for (std::size_t k = i; k < statement_end(i); ++k)
                if (synchronises(ir::cursor{records_[k]})) {
                    statement(i, k);
                    break;
                }
        return std::move(mutants_);
    }

private:
    struct edit {
        const std::uint32_t* at;
        std::uint32_t value;
    };
    using edits = std::vector<edit>;

    [[nodiscard]] std::size_t statement_end(std::size_t i) const {
        std::size_t end = i + 1;
        while (end < records_.size() && same_place(i, end)) ++end;
        return end;
    }
    [[nodiscard]] const std::source_location& location(std::size_t record) const {
        return m_.locations[ir::cursor{records_[record]}.location()];
    }
    [[nodiscard]] bool same_place(std::size_t a, std::size_t b) const {
        const auto &x = location(a), &y = location(b);
        return x.line() == y.line() && x.column() == y.column() && px::string_view(x.file_name()) == y.file_name();
    }
    [[nodiscard]] std::string name(std::size_t k) const {
        const std::string file = location(k).file_name();
        return file.substr(file.rfind('/') + 1) + ':' + std::to_string(location(k).line()) + ' ' +
               spelled(ir::cursor{records_[k]});
    }

    /// One statement: left out, and with each of its numbers changed.
    void statement(std::size_t begin, std::size_t k) {
        for (std::size_t i = 0; i < begin; ++i)
            if (same_place(i, begin)) return;  // a later copy of one that was dealt with
        leave_out(begin, k);
        const char* const changes[] = {"waits for one group less", "counts a warp more", "counts a warp less",
                                       "one arrival more",         "one arrival less",   "16 bytes more",
                                       "half the bytes",           "8 registers more"};
        for (const char* how : changes)
            for (std::uint32_t barrier = 0; barrier <= m_.n.allocations; ++barrier) change(begin, k, how, barrier);
    }
    void leave_out(std::size_t begin, std::size_t k) {
        mutant x{name(k) + ": left out", {}};
        for (std::size_t i = 0; i < records_.size(); ++i)
            if (!same_place(i, begin))
                x.words.insert(x.words.end(), records_[i], records_[i] + ir::cursor{records_[i]}.size());
        mutants_.push_back(std::move(x));
    }
    /// `barrier`: the changes that concern this allocation; the number of allocations stands for "none".
    void change(std::size_t begin, std::size_t k, px::string_view how, std::uint32_t barrier) {
        edits list;
        for (std::size_t i = 0; i < records_.size(); ++i)
            if (same_place(i, begin) && synchronises(ir::cursor{records_[i]})) numbers(i, how, barrier, list);
        if (list.empty()) return;
        mutant x{name(k) + ": " + std::string(how), {m_.words, m_.words + m_.n.words}};
        for (const edit& e : list) x.words[static_cast<std::size_t>(e.at - m_.words)] = e.value;
        mutants_.push_back(std::move(x));
    }

    /// The note of kind `n` right before record `k`, or null.
    [[nodiscard]] const std::uint32_t* note_before(std::size_t k, ir::note n) const {
        while (k-- > 0) {
            const ir::cursor c{records_[k]};
            if (c.kind() != ir::record::note) return nullptr;
            if (static_cast<ir::note>(c.code()) == n) return c.w;
        }
        return nullptr;
    }
    void numbers(std::size_t k, px::string_view how, std::uint32_t barrier, edits& list) const {
        const ir::cursor c{records_[k]};
        const tok first = static_cast<tok>(c.token(0));
        const auto add = [&](std::uint32_t i, std::int64_t change, const std::uint32_t* noted = nullptr) {
            const std::uint32_t* const o = operand_at(c, i);
            if (ir::kind_of(*o) != ir::operand_kind::small_int || ir::small_value(*o) + change < 0) return;
            const auto value = static_cast<std::uint32_t>(ir::small_value(*o) + change);
            list.push_back({o, ir::head(ir::operand_kind::small_int, value)});
            if (noted != nullptr) list.push_back({noted, value});
        };
        if (const auto* n = note_before(k, ir::note::barrier_init);
            n != nullptr && n[2] == barrier && c.operands() == 2) {
            if (how == "one arrival more") add(1, 1, n + 5);
            if (how == "one arrival less" && n[5] > 1) add(1, -1, n + 5);
        }
        if (const auto* n = note_before(k, ir::note::barrier_expect); n != nullptr && n[2] == barrier) {
            if (how == "16 bytes more") add(c.operands() - 1, 16, n + 4);
            if (how == "half the bytes") add(c.operands() - 1, -static_cast<std::int64_t>(n[4] / 2), n + 4);
        }
        if (barrier != m_.n.allocations) return;
        const bool is_bar = (first == tok::bar || first == tok::barrier) && c.operands() == 2;
        if (is_bar && how == "counts a warp more") add(1, 32);
        if (is_bar && how == "counts a warp less") add(1, -32);
        if (how == "waits for one group less" && has_token(c, tok::wait_group) && c.operands() == 1) add(0, 1);
        if (how == "8 registers more" && first == tok::setmaxnreg) add(0, 8);
    }

    const ir::view& m_;
    std::vector<const std::uint32_t*> records_;
    std::vector<mutant> mutants_;
};

/// The first error in a mutant, or an empty string when it is not refused.
inline std::string verdict(const ir::view& original, const mutant& x) {
    ir::view m = original;
    m.words = x.words.data();
    m.n.words = static_cast<std::uint32_t>(x.words.size());
    px::verify::report out;
    px::verify::run(m, out);
    for (const auto& f : out.findings)
        if (!f.warning) return std::string(f.id, 3) + ": " + std::string(out.text(f));
    return {};
}

}  // namespace mutation
