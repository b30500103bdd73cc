// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for lowering and verifier. Laws of every module the checker has nothing against: a lowered kernel is
// a row of whole records whose registers exist and whose constructs nest; what is found lies in the text.
#include "laws.hpp"

#include <ptxdsl/parse.hpp>
#include <ptxdsl/parse/verify.hpp>

namespace ptx = ptxdsl::ptx;
namespace ir = ptxdsl::ir;

namespace {

void well_formed(const ir::view& m, std::uint32_t nodes) {
    std::vector<ir::region> open;
    for (std::uint32_t at = 0; at < m.n.words;) {
        const ir::cursor c{m.words + at};
        fuzz::law(c.size() >= 2 && c.size() <= m.n.words - at, "records follow each other");
        at += c.size();
        fuzz::law(c.location() < nodes, "records lie in the text");
        if (c.is_instruction()) {
            fuzz::law(c.guard() == 0 || (c.guard() >> 1) - 1 < m.n.regs, "guards are registers");
            const std::uint32_t* o = c.first_operand();
            for (std::uint32_t i = 0; i < c.operands(); ++i) {
                const bool reg =
                    ir::kind_of(o[0]) == ir::operand_kind::reg || ir::kind_of(o[0]) == ir::operand_kind::not_pred;
                fuzz::law(!reg || ir::payload_of(o[0]) < m.n.regs, "operands are registers that exist");
                o += ir::operand_words(o[0]);
            }
            fuzz::law(o == c.w + c.size(), "operands fill their record");
        }
        if (c.kind() != ir::record::region) continue;
        const auto code = static_cast<ir::region>(c.code());
        if (code == ir::region::loop_begin)
            fuzz::law(c.counts().counter < m.n.regs || c.counts().counter == ir::unknown_count, "counters exist");
        if (code == ir::region::if_begin || code == ir::region::loop_begin || code == ir::region::block_begin)
            open.push_back(code);
        const ir::region begin = code == ir::region::if_end     ? ir::region::if_begin
                                 : code == ir::region::loop_end ? ir::region::loop_begin
                                                                : ir::region::block_begin;
        if (code != ir::region::if_end && code != ir::region::loop_end && code != ir::region::block_end) continue;
        // A block that nobody leaves has lost its beginning and has no end.
        fuzz::law(!open.empty() && open.back() == begin, "constructs nest");
        open.pop_back();
    }
    fuzz::law(open.empty(), "constructs are closed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ptx::tree t = ptxdsl::parse(fuzz::text(data, size));
    if (t.ok()) ptx::check_module(t.read(), t.messages);
    if (!t.ok()) return 0;
    const ptx::tree_view v = t.read();
    ptx::lowering(v).run([&](const ptx::lowered_kernel& k, std::uint32_t) { well_formed(k.read(v), v.n_nodes); });
    ptx::verify_module(v, t.messages);
    for (const ptx::diagnostic& d : t.messages) {
        fuzz::law(d.offset + d.length <= size, "messages lie in the text");
        fuzz::law(!t.messages.text(d).empty(), "messages say something");
        fuzz::law(std::string_view(d.id, 3) != "K01", "constructs of branches nest");
    }
    return 0;
}
