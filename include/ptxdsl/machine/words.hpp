// SPDX-License-Identifier: Apache-2.0
// What the machine says, in words: numbers, objects of the source, steps of a trace.
#pragma once

#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/machine/findings.hpp>

#include <cstdint>

namespace ptxdsl::machine {

/// The decimal digits of a number that is not negative.
template <class Integer>
[[nodiscard]] constexpr message number(Integer n) {
    message s;
    for (const char c : detail::decimal(static_cast<std::uint64_t>(n))) s += c;
    return s;
}

/// A shared address in the words of the source: `'a' stage 2`.
[[nodiscard]] constexpr message object_name(const ir::view& m, std::uint32_t address) {
    for (std::uint32_t k = 0; k < m.n.allocations; ++k) {
        const ir::allocation& a = m.allocations[k];
        if (address < a.offset || address >= a.offset + a.bytes() || a.id.length == 0) continue;
        const string_view id = m.text(a.id);
        message s = "'" + message(id.data(), id.size()) + "'";
        if (a.stages > 1 && a.stage_bytes != 0) s += " stage " + number((address - a.offset) / a.stage_bytes);
        return s;
    }
    return "shared memory at byte " + number(address);
}

/// A step of a trace: "arrives at 'full' stage 1, phase 3".
[[nodiscard]] constexpr message words(const ir::view& m, const event& e) {
    const auto there = [&] { return object_name(m, e.address); };
    switch (e.what) {
        case deed::copies: return "starts a copy of " + number(e.number) + " bytes into " + there();
        case deed::arrives: return "arrives at " + there() + ", phase " + number(e.number);
        case deed::initialises: return "initialises " + there() + " for " + number(e.number) + " arrivals";
        case deed::sees_phase: return "sees phase " + number(e.number) + " of " + there();
        case deed::comes_to_named: return "comes to named barrier " + number(e.number);
        case deed::arrives_at_cluster: return "arrives at the cluster barrier";
        case deed::allocates:
            return "allocates " + number(e.number) + " columns of tensor memory from column " + number(e.address);
        case deed::commits: return "commits to " + there();
    }
    return {};
}

/// A place of the source: "gemm.cpp:41". In a program lowered from text, places are nodes of its tree: those who have
/// the tree say the line.
[[nodiscard]] constexpr message source_place(const ir::view& m, std::uint32_t where) {
    if (m.from_text || where >= m.n.locations) return {};
    const string_view file = m.locations[where].file_name();
    const std::size_t slash = file.rfind('/');
    const string_view base = slash == string_view::npos ? file : file.substr(slash + 1);
    return message(base.data(), base.size()) + ":" + number(m.locations[where].line());
}
constexpr void add_party(message& s, const message& place, const message& who) {
    s += place;
    if (who.empty()) return;
    s += place.empty() ? "" : " (";
    s += who;
    s += place.empty() ? "" : ")";
}
/// A finding in one sentence without the first party's place: "warp 4 reads 'a' stage 2 while the copy of gemm.cpp:41
/// (warp 0 lane 0) may be in flight". `place_of(party)` says a place; by default that of the C++ source.
template <class Place>
[[nodiscard]] constexpr message sentence(const finding& f, const Place& place_of) {
    message s = f.first.who + " ";
    for (const char c : f.text) {
        if (c != '%')
            s += c;
        else
            add_party(s, place_of(f.second), f.second.who);
    }
    return s;
}
[[nodiscard]] constexpr message sentence(const ir::view& m, const finding& f) {
    return sentence(f, [&](const party& p) { return source_place(m, p.where); });
}

/// What was followed, a line each: barriers, allocations and roles.
[[nodiscard]] constexpr list<message> followed_in_words(const ir::view& m, const result& r) {
    list<message> lines;
    for (const followed_object& o : r.objects) {
        message s = (o.is_barrier ? "mbarrier " : "") + object_name(m, o.address);
        if (o.is_barrier)
            s += o.phases == 0 ? message(": no phase of it completed")
                               : ": " + number(o.phases) + (o.phases == 1 ? " phase" : " phases");
        else
            s += o.used ? ": followed" : ": nothing that is followed touches it";
        lines.push_back(s);
    }
    for (const followed_warps& w : r.warps) {
        message s =
            w.first == w.last ? "warp " + number(w.first) : "warps " + number(w.first) + " to " + number(w.last);
        s += ": " + number(w.steps) + " instructions";
        if (w.stopped != 0) s += "; " + number(w.stopped) + " runs ended before their end";
        lines.push_back(s);
    }
    message made = number(r.runs) + (r.runs == 1 ? " run, " : " runs, ") + number(r.steps) + " instructions";
    if (r.left_out != 0) made += "; " + number(r.left_out) + " more were planned and not made, for the time they take";
    lines.push_back(made);
    return lines;
}

/// A schedule in words.
[[nodiscard]] constexpr const char* schedule_name(std::uint32_t schedule) noexcept {
    constexpr const char* names[] = {"the warps in turn", "the first warps starved", "the last warps starved",
                                     "the warps in turn, waits that may end early do", "shuffled"};
    return schedule < 5 ? names[schedule] : "";
}
/// The run that leads to a finding: "the first warps starved; seed 1; m = 1280, k = 64". `name_of(symbol)` is a
/// parameter's name.
template <class Name>
[[nodiscard]] constexpr message run_in_words(const choices& c, const Name& name_of) {
    message s = schedule_name(c.schedule);
    s += "; seed " + number(c.seed);
    const char* between = "; ";
    for (const chosen_parameter& p : c.parameters) {
        if (!p.counts) continue;
        s += between;
        s += name_of(p.symbol);
        if (p.offset != 0) s += "+" + number(p.offset);
        s += " = " + number(p.value);
        between = ", ";
    }
    return s;
}
/// Who took a step of a trace: "block 1, warp 0 lane 0".
[[nodiscard]] constexpr message who(const ir::view& m, const event& e) {
    message s;
    if (m.attrs.cluster_size() > 1) s = "block " + number(e.block) + ", ";
    s += "warp " + number(e.warp);
    if (e.lanes != 0 && (e.lanes & (e.lanes - 1)) == 0) {
        std::uint32_t lane = 0;
        while ((e.lanes >> lane & 1u) == 0) ++lane;
        s += " lane " + number(lane);
    }
    return s;
}

}  // namespace ptxdsl::machine
