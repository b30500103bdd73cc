// SPDX-License-Identifier: Apache-2.0
// A12 for every row of the table that is newer than its target: a kernel that fixes the version before the row's is
// refused and named both versions; one that fixes the row's is not, and one that fixes none gets it. (That the table's
// versions are ptxas' is isa.ptxas' business.)

#include <ptxdsl/ptxdsl.hpp>

#include <cstdio>
#include <string>

namespace {

namespace px = ptxdsl;
using px::isa::tok;

/// What the builder says to one instruction of PTX `since`, the author having fixed `version`; "" for nothing.
std::string said(px::target target, px::ptx_version since, px::ptx_version version, px::ptx_version& result) {
    px::ir::program p;
    p.target = target;
    p.attrs.version = version;
    const std::uint32_t packed = static_cast<std::uint32_t>(tok::fence);
    px::detail::emit(p, {&packed, 1, 0, since}, 0, px::location::current(), nullptr, 0);
    px::detail::finish_program(p);
    result = p.version;
    std::string all;
    for (const px::ir::finding& f : p.findings) all += std::string(f.id, 3) + ": " + std::string(p.text(f.text)) + "\n";
    return all;
}
std::string text(px::ptx_version v) { return std::to_string(v.major) + "." + std::to_string(v.minor); }
px::ptx_version before(px::ptx_version v) {
    return v.minor != 0
               ? px::ptx_version{v.major, static_cast<std::uint8_t>(v.minor - 1)}
               : px::ptx_version{static_cast<std::uint8_t>(v.major - 1), 8};  // the last minor versions: 7.8, 8.8
}

}  // namespace

int main() {
    int rows = 0, newer = 0, faults = 0;
    for (const px::target target : {px::sm_90a, px::sm_100a, px::sm_100f, px::sm_103a, px::sm_103f})
        for (unsigned opcode = 1; opcode < px::isa::detail::token_count; ++opcode) {
            const unsigned first = px::isa::detail::opcode_first[opcode];
            if (first == 0) continue;
            const char16_t* at = px::isa::detail::code + first + 2;
            for (unsigned f = px::isa::detail::code[first + 1]; f != 0; --f, at += at[0]) {
                const auto row = px::isa::detail::row_at(at);
                if (!px::isa::detail::on_target(row.target_rule(), target)) continue;
                ++rows;
                const px::ptx_version since = row.version(), floor = target.floor();
                px::ptx_version got{};
                const std::string free = said(target, since, {}, got);
                bool right = free.empty() && got == (floor < since ? since : floor);
                if (floor < since) {
                    ++newer;
                    const std::string early = said(target, since, before(since), got);
                    right = right && early.starts_with("A12: this instruction needs PTX " + text(since)) &&
                            early.find("fix " + text(before(since))) != std::string::npos;
                    right = right && said(target, since, since, got).empty() && got == since;
                }
                if (right) continue;
                ++faults;
                const px::string_view name = px::isa::spelling(static_cast<tok>(opcode));
                std::printf("%.*s, PTX %s on sm_%u%c\n", static_cast<int>(name.size()), name.data(),
                            text(since).c_str(), static_cast<unsigned>(target.sm), target.suffix);
            }
        }
    std::printf("%d rows, %d newer than their target, %d wrong\n", rows, newer, faults);
    return faults == 0 && newer > 50 ? 0 : 1;
}
