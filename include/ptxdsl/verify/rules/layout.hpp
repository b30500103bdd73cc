// SPDX-License-Identifier: Apache-2.0
// Shared memory as laid out: C01, C04, C05, F16, and addresses that are known to the byte (B03, E02, F09).
#pragma once

#include <ptxdsl/verify/engine/facts.hpp>

namespace ptxdsl::verify {

template <class Facts>
constexpr void check_alignment(Facts& f, u32 i) {
    const ir::allocation& a = f.m.allocations[i];
    if (a.kind == ir::allocation_kind::barrier) {
        if (a.offset % 8 != 0) f.out.add(catalogue::E02_misaligned, a.where).with(f.name_of(i)).with(a.offset);
        return;
    }
    if (a.repeat > 1 && a.offset % a.repeat != 0)
        f.out.add(catalogue::C01_swizzle, a.where).with(f.name_of(i)).with(a.offset).with(a.repeat);
    else if (a.align > 1 && a.offset % a.align != 0)
        f.out.add(catalogue::C01_alignment, a.where).with(f.name_of(i)).with(a.offset).with(a.align);
    if (a.stages <= 1 || a.kind != ir::allocation_kind::tile) return;
    const u32 step = a.repeat > 128 ? a.repeat : 128;
    if (a.stage_bytes % step != 0)
        f.out.add(catalogue::F16_stride, a.where).with(f.name_of(i)).with(a.stage_bytes).with(step);
}

template <class Facts>
constexpr void check_overlap(Facts& f, u32 i) {
    const ir::allocation& a = f.m.allocations[i];
    for (u32 k = 0; k < i; ++k) {
        const ir::allocation& b = f.m.allocations[k];
        if ((!a.placed_by_author && !b.placed_by_author) || a.offset >= b.offset + b.bytes() ||
            b.offset >= a.offset + a.bytes())
            continue;
        f.out.add(catalogue::C05_overlap, a.where).with(f.name_of(i)).with(a.offset).with(a.offset + a.bytes());
        f.out.say("'")
            .with(f.name_of(k))
            .say("' (bytes ")
            .with(b.offset)
            .say(" to ")
            .with(b.offset + b.bytes())
            .say("); move one, or let the library place both");
    }
}

template <class Facts>
constexpr void check_size(Facts& f) {
    const u32 limit = f.m.target.max_shared_bytes();
    if (f.m.shared_bytes <= limit) return;
    const u32 where = f.m.n.allocations == 0 ? 0 : f.m.allocations[f.m.n.allocations - 1].where;
    f.out.add(catalogue::C04_size, where).with(f.m.shared_bytes).with(u32{f.m.target.sm}).with(limit);
    for (u32 i = 0; i < f.m.n.allocations; ++i) {
        const ir::allocation& a = f.m.allocations[i];
        f.out.say(i == 0 ? " '" : ", '").with(f.name_of(i)).say("' ");
        if (a.stages > 1)
            f.out.with(u32{a.stages}).say(" x ").with(a.stage_bytes);
        else
            f.out.with(a.bytes());
    }
}

template <class Facts>
constexpr void check_layout(Facts& f) {
    bool placed = false;
    for (u32 i = 0; i < f.m.n.allocations; ++i) {
        check_alignment(f, i);
        placed = placed || f.m.allocations[i].placed_by_author;
    }
    for (u32 i = 1; placed && i < f.m.n.allocations; ++i) check_overlap(f, i);
    check_size(f);
}

/// Whether the place is known to the alignment asked for: in a text a variable has no more than it declares.
template <class Facts>
[[nodiscard]] constexpr bool is_placed(const Facts& f, const place& p, u32 align) noexcept {
    if (!p.exact) return false;
    return !f.m.from_text || (p.allocation != 0 && f.m.allocations[p.allocation - 1].align >= align);
}

/// The array an access begins in, + 1: the one its address was made of, or the longest that has the byte. (Arrays
/// placed by the author may lie in each other.)
template <class Facts>
[[nodiscard]] constexpr u32 array_of(const Facts& f, const place& p) noexcept {
    if (p.allocation != 0 && !f.m.from_text && !f.m.allocations[p.allocation - 1].placed_by_author) return p.allocation;
    u32 end = 0, array = 0;
    for (u32 i = 0; i < f.m.n.allocations; ++i) {
        const ir::allocation& a = f.m.allocations[i];
        if (p.offset < a.offset || p.offset - a.offset >= a.bytes() || a.offset + a.bytes() <= end) continue;
        end = a.offset + a.bytes(), array = i + 1;
    }
    return array;
}
/// C08: an access whose address and size are known goes past the end of its array.
template <class Facts>
constexpr void check_end(Facts& f, const place& p, u64 bytes, string_view what) {
    const u32 array = p.exact && bytes != 0 ? array_of(f, p) : 0;
    if (array == 0) return;
    const ir::allocation& a = f.m.allocations[array - 1];
    // A compiler's variable of three words that is aligned to four has a fourth.
    const u32 padding = f.m.from_text && a.align != 0 ? (a.align - a.bytes() % a.align) % a.align : 0;
    if (p.offset < a.offset || p.offset - a.offset + bytes <= a.bytes() + padding) return;
    f.out.add(catalogue::C08_end, f.where)
        .with(what)
        .with(bytes)
        .with(p.offset - a.offset)
        .with(f.name_of(array - 1))
        .with(a.bytes())
        .with(p.offset - a.offset + bytes - a.bytes());
}

/// C03: an address made of a tile or ring and a register whose value is known lies outside of it.
template <class Facts, class Place>
constexpr void check_stage(Facts& f, const Place& p) {
    if (!p.exact || p.allocation == 0 || p.mapped != 0 || f.m.from_text) return;
    const auto& a = f.m.allocations[p.allocation - 1];
    if (a.stages <= 1 || a.stage_bytes == 0 || (p.offset >= a.offset && p.offset - a.offset < a.bytes())) return;
    const std::int64_t from = std::int64_t{p.offset} - a.offset, bytes = a.stage_bytes;
    f.out.add(catalogue::C03_stage, f.where)
        .with((from < 0 ? from - bytes + 1 : from) / bytes)
        .with(f.name_of(p.allocation - 1))
        .with(u32{a.stages});
}

/// B03: an access whose address is known to the byte, wider than its alignment.
template <class Facts>
constexpr void check_access(Facts& f, const ir::cursor& c) {
    const place& p = f.places[0];
    if (!p.exact || f.places_used == 0) return;
    u32 bytes = 0, lanes = 1;
    for (u32 i = 1; i < c.tokens(); ++i) {
        const tok t = token_at(c, i);
        if (t == tok::v2 || t == tok::v4 || t == tok::v8) lanes = isa::token_count_of(t);
        const u32 bits = isa::bits(isa::token_type(t));
        if (bits != 0) bytes = bits / 8;
    }
    bytes *= lanes;
    check_end(f, p, bytes, token_at(c, 0) == tok::ld ? "this loads" : "this writes");
    if (bytes == 0 || p.offset % bytes == 0 || !is_placed(f, p, bytes)) return;
    f.out.add(catalogue::B03_access, f.where)
        .with(isa::spelling(token_at(c, 0)))
        .with(bytes)
        .with(p.offset)
        .with(bytes);
}

/// Says `what` where an exact address is not a multiple of `align`.
template <class Facts>
constexpr bool misplaced(Facts& f, const place& p, u32 align, const char* what) {
    if (!is_placed(f, p, align) || p.offset % align == 0) return false;
    f.out.add(what, f.where).with(p.offset).with(align);
    return true;
}

}  // namespace ptxdsl::verify
