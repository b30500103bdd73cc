// SPDX-License-Identifier: Apache-2.0
// verify/opcodes.hpp against the instruction table: does an instruction have a result, and is it its first operand?
#include "findings.hpp"

using namespace ptxdsl;

namespace {

/// Calls `f(tokens, count, row)` for one token list of every row of the table.
template <class F>
void for_each_row(const F& f) {
    using namespace isa;
    for (unsigned t = 1; t < isa::detail::token_count; ++t) {
        const unsigned first = isa::detail::opcode_first[t];
        if (first == 0) continue;
        const char16_t* at = isa::detail::code + first + 2;
        for (unsigned i = 0; i < isa::detail::code[first + 1]; at += at[0], ++i) {
            const isa::detail::row_view row = isa::detail::row_at(at);
            tok list[32] = {static_cast<tok>(t)};
            unsigned n = 1;
            for (const char16_t* p = row.pattern; p != row.pattern_end;) {
                const unsigned word = *p++;
                if ((word & isa::detail::word_optional) != 0) {
                    p += word & 0xffu;
                    continue;
                }
                const bool set = (word & isa::detail::word_set) != 0;
                list[n++] = set ? static_cast<tok>(isa::detail::sets[isa::detail::set_offset[word & 0x7ffu] + 1])
                                : static_cast<tok>(word);
            }
            f(list, n, row);
        }
    }
}

TEST_CASE("the verifier knows which instructions have a result") {
    unsigned rows = 0;
    for_each_row([&](const isa::tok* list, unsigned n, const isa::detail::row_view& row) {
        std::uint32_t record[24] = {ir::record_head(ir::record::instruction, n, 20)};
        for (unsigned i = 0; i < n; ++i)
            record[4 + i / 2] |= static_cast<std::uint32_t>(list[i]) << (i % 2 == 0 ? 0 : 16);
        const bool dest =
            row.pattern_end != row.operands_end && (row.pattern_end[0] & isa::detail::operand_flag::dest) != 0;
        const bool known = verify::has_result(verify::opcode_of(record), ir::cursor{record});
        std::string text;
        for (unsigned i = 0; i < n; ++i) text += (i == 0 ? "" : ".") + std::string(isa::spelling(list[i]));
        INFO(text);
        // wgmma and call are read operand by operand.
        if (list[0] != isa::tok::wgmma && list[0] != isa::tok::call) CHECK(known == dest);
        ++rows;
    });
    CHECK(rows > 300);
}

}  // namespace
