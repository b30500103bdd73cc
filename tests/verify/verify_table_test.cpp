// SPDX-License-Identifier: Apache-2.0
// What the verifier reads of an instruction by its words, against the row that the words belong to.
#include "findings.hpp"

#include <ptxdsl/isa/forms_text.hpp>

using namespace ptxdsl;

namespace {

using isa::tok;

/// A token list of a row, made with one of its choices other than the first or one of its options taken.
class words_of_row {
public:
    words_of_row(tok mnemonic, const isa::detail::row_view& row, unsigned variant) : variant_(variant) {
        list_[n_++] = mnemonic;
        pattern(row.pattern, row.pattern_end, true);
    }
    [[nodiscard]] bool exists() const { return variant_ == 0 || met_ >= variant_; }
    [[nodiscard]] ir::cursor record() {
        words_[0] = ir::record_head(ir::record::instruction, n_, 40);
        for (unsigned i = 0; i < n_; ++i)
            words_[4 + i / 2] |= static_cast<std::uint32_t>(list_[i]) << (i % 2 == 0 ? 0 : 16);
        words_[1] = 8u << 8;  // so many operands that none of the results is cut off
        return ir::cursor{words_};
    }
    [[nodiscard]] std::string text() const {
        std::string s;
        for (unsigned i = 0; i < n_; ++i) s += (i == 0 ? "" : ".") + std::string(isa::spelling(list_[i]));
        return s;
    }

private:
    void pattern(const char16_t* p, const char16_t* end, bool taken) {
        while (p != end) {
            const unsigned word = *p++;
            if ((word & isa::detail::word_optional) != 0) {
                const bool now = ++met_ == variant_;
                pattern(p, p + (word & 0xffu), taken && now);
                p += word & 0xffu;
            } else if ((word & isa::detail::word_set) != 0) {
                const char16_t* const s = isa::detail::sets + isa::detail::set_offset[word & 0x7ffu];
                unsigned choice = 1;
                for (unsigned k = 2; k <= s[0]; ++k)
                    if (++met_ == variant_) choice = k;
                if (taken) list_[n_++] = static_cast<tok>(s[choice]);
            } else if (taken) {
                list_[n_++] = static_cast<tok>(word);
            }
        }
    }

    unsigned variant_, met_ = 0, n_ = 0;
    tok list_[32] = {};
    std::uint32_t words_[40] = {};
};

TEST_CASE("what an instruction's words say it does is what its row says") {
    unsigned rows = 0, lists = 0, with_results = 0, two = 0;
    for (unsigned t = 1; t < isa::detail::token_count; ++t) {
        const unsigned first = isa::detail::opcode_first[t];
        if (first == 0) continue;
        const char16_t* at = isa::detail::code + first + 2;
        for (unsigned i = 0; i < isa::detail::code[first + 1]; at += at[0], ++i, ++rows) {
            const isa::detail::row_view row = isa::detail::row_at(at);
            const isa::behaviour said = isa::behaviour_of_form(isa::detail::code[first] + i);
            unsigned results = 0;
            for (const char16_t* o = row.pattern_end; o != row.operands_end; o += 4)
                results +=
                    (o[0] & isa::detail::operand_flag::dest) != 0 && (o[0] & isa::detail::operand_flag::joined) == 0;
            if (static_cast<tok>(t) == tok::call) results = 1;  // `_` stands for none
            CHECK(said.results() == results);
            with_results += results != 0, two += results == 2;
            for (unsigned variant = 0;; ++variant, ++lists) {
                words_of_row words(static_cast<tok>(t), row, variant);
                if (!words.exists()) break;
                INFO(words.text());
                CHECK(ir::behaviour_of(words.record().w) == said);
                CHECK(ir::action_of(words.record().w) == said.what());
            }
        }
    }
    CHECK(rows == isa::form_count());
    CHECK(lists > 4000);
    CHECK(with_results > 500);
    CHECK(two == 4);  // tcgen05.ld.red
}

TEST_CASE("every row says what it does, and what nobody knows may be anything") {
    for (unsigned i = 0; i < isa::form_count(); ++i) CHECK(isa::behaviour_of_form(i).what() != isa::action::unknown);
    const isa::behaviour unknown = isa::behaviour_of(0, [](std::uint32_t) { return false; });
    CHECK(unknown == isa::behaviour());
    CHECK(unknown.what() == isa::action::unknown);
    CHECK(unknown.varies());
    CHECK(unknown.varies_by_block());
    CHECK(unknown.reads());
    CHECK(unknown.writes());
    CHECK(unknown.orders());
    CHECK(unknown.by() == isa::proxy::any);
}

}  // namespace
