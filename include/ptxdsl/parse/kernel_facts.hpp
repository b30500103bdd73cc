// SPDX-License-Identifier: Apache-2.0
// What a parsed kernel says about itself: parameters, directives, shared memory, barriers.
#pragma once

#include <ptxdsl/ir/signature.hpp>
#include <ptxdsl/parse/symbols.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

/// Size and alignment of what one declarator declares.
struct storage {
    isa::scalar type = isa::scalar::none;
    std::uint64_t bytes = 0;  ///< 0 for `name[]`
    std::uint64_t align = 1;
    bool is_array = false;
    bool is_pointer = false;  ///< has `.ptr`
};

namespace detail {

[[nodiscard]] constexpr std::uint64_t element_bytes(const tree_view& v, std::uint32_t n) noexcept {
    if (v.atom(n) == ".texref" || v.atom(n) == ".samplerref" || v.atom(n) == ".surfref") return 8;
    const unsigned bits = isa::bits(scalar_named(v.atom(n)));
    return bits < 8 ? 1 : bits / 8;
}

/// Sums and products of sizes: what is too large for 64 bits is their largest number.
[[nodiscard]] constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) noexcept {
    return a + b < a ? ~std::uint64_t{0} : a + b;
}
[[nodiscard]] constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
    return a != 0 && b > ~std::uint64_t{0} / a ? ~std::uint64_t{0} : a * b;
}

}  // namespace detail

/// The storage of `declarator`, a child of the declaration or parameter `n`.
[[nodiscard]] constexpr storage storage_of(const tree_view& v, std::uint32_t n, std::uint32_t declarator) noexcept {
    storage s;
    std::uint64_t count = 1;
    for (std::uint32_t c = n + 1; c < v[n].end; c = v[c].end) {
        switch (v.kind(c)) {
            case node_kind::align: s.align = integer_value(v.atom(c)); break;
            case node_kind::vector_type: count = static_cast<std::uint64_t>(v.atom(c)[2] - '0'); break;
            case node_kind::type:
                s.type = scalar_named(v.atom(c));
                s.bytes = count * detail::element_bytes(v, c);
                if (s.align < s.bytes) s.align = s.bytes;
                break;
            case node_kind::pointer: s.is_pointer = true; break;
            default: break;
        }
    }
    for (std::uint32_t c = declarator + 1; c < v[declarator].end; c = v[c].end) {
        if (v.kind(c) == node_kind::range) s.bytes = detail::times(s.bytes, integer_value(v.atom(c)));
        if (v.kind(c) != node_kind::dimension) continue;
        s.is_array = true;
        s.bytes = detail::times(s.bytes, v[c].atom == 0 ? 0 : integer_value(v.atom(c)));
    }
    return s;
}

/// Numbers of a directive such as `.maxntid 128, 1, 1`; missing ones are 1. Zero when the kernel has no such directive.
struct three {
    std::uint32_t value[3] = {0, 0, 0};
    [[nodiscard]] constexpr std::uint32_t product() const noexcept { return value[0] * value[1] * value[2]; }
};
[[nodiscard]] constexpr three tuning_of(const tree_view& v, std::uint32_t entry, std::string_view directive) noexcept {
    for (std::uint32_t c = entry + 1; c < v[entry].end; c = v[c].end) {
        if (v.kind(c) != node_kind::tuning || v.atom(c) != directive) continue;
        three t{{1, 1, 1}};
        unsigned i = 0;
        for (std::uint32_t k = c + 1; k < v[c].end && i < 3; ++k, ++i)
            t.value[i] = static_cast<std::uint32_t>(integer_value(v.atom(k)));
        return t;
    }
    return {};
}

/// Counts of one kernel.
struct kernel_facts {
    kernel_resources resources;
    std::uint32_t max_registers = 0;  ///< `.maxnreg`
    std::uint32_t min_blocks = 0;     ///< `.minnctapersm`
    std::uint32_t instructions = 0;
    std::uint32_t labels = 0;
    std::uint32_t named_barriers = 0;  ///< one more than the highest constant barrier number
    bool dynamic_shared = false;       ///< names an `.extern .shared` array
    std::uint32_t registers[8] = {};   ///< declared, by class: pred, 8, 16, 32, 64, 128 bits, f32, f64
};

/// Collects the facts of one entry of a module.
class fact_reader {
public:
    constexpr fact_reader(const tree_view& v, std::uint32_t entry) : v_(v), entry_(entry) {
        mentioned_.resize(v.n_words, 0);
    }

    [[nodiscard]] constexpr kernel_facts run() {
        directives();
        if (const std::uint32_t b = v_.child(entry_, node_kind::body)) walk(b);
        module_shared();
        return f_;
    }

private:
    using u32 = std::uint32_t;

    constexpr void directives() noexcept {
        kernel_resources& r = f_.resources;
        const three required = tuning_of(v_, entry_, ".reqntid");
        const three most = tuning_of(v_, entry_, ".maxntid");
        const three cluster = tuning_of(v_, entry_, ".reqnctapercluster");
        for (int i = 0; i < 3; ++i) r.threads[i] = required.value[i], r.cluster[i] = cluster.value[i];
        r.max_threads = required.product() != 0 ? required.product() : most.product();
        f_.max_registers = tuning_of(v_, entry_, ".maxnreg").value[0];
        f_.min_blocks = tuning_of(v_, entry_, ".minnctapersm").value[0];
    }
    constexpr void walk(u32 body) {
        for (u32 n = body; n < v_[body].end; ++n) {
            switch (v_.kind(n)) {
                case node_kind::instruction: instruction(n); break;
                case node_kind::label: ++f_.labels; break;
                case node_kind::declaration: declaration(n); break;
                case node_kind::name: mentioned_[v_[n].atom] = 1; break;
                default: break;
            }
        }
    }
    constexpr void instruction(u32 n) noexcept {
        ++f_.instructions;
        const std::string_view op = v_.atom(n);
        u32 c = n + 1;
        if (c < v_[n].end && v_.kind(c) == node_kind::guard) ++c;
        const std::string_view first =
            c < v_[n].end && v_.kind(c) == node_kind::modifier ? v_.atom(c) : std::string_view();
        if (op == "griddepcontrol" && first == ".wait") f_.resources.uses_pdl_wait = true;
        if ((op == "bar" || op == "barrier") && first != ".cluster" && first != ".warp") barrier(n);
    }
    constexpr void barrier(u32 n) noexcept {
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::literal) continue;
            const std::uint64_t id = integer_value(v_.atom(c));
            if (id < 16 && id >= f_.named_barriers) f_.named_barriers = static_cast<u32>(id) + 1;
            return;
        }
    }
    constexpr void declaration(u32 n) noexcept {
        const u32 s = v_.child(n, node_kind::space);
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::declarator) continue;
            const storage st = storage_of(v_, n, c);
            if (v_.atom(s) == ".shared") shared(st);
            if (v_.atom(s) == ".reg") registers(c, st);
        }
    }
    constexpr void registers(u32 declarator, const storage& st) noexcept {
        const u32 r = v_.child(declarator, node_kind::range);
        const u32 count = r == 0 ? 1 : static_cast<u32>(integer_value(v_.atom(r)));
        using isa::scalar;
        unsigned k = 0;
        if (st.type == scalar::f32)
            k = 6;
        else if (st.type == scalar::f64)
            k = 7;
        else if (st.type != scalar::pred)
            switch (isa::bits(st.type)) {
                case 8: k = 1; break;
                case 16: k = 2; break;
                case 64: k = 4; break;
                case 128: k = 5; break;
                default: k = 3; break;
            }
        f_.registers[k] += count;
    }
    constexpr void shared(const storage& st) noexcept {
        u32& bytes = f_.resources.static_shared_bytes;
        const std::uint64_t align = st.align == 0 ? 1 : st.align;
        const std::uint64_t end = detail::plus((bytes + align - 1) / align * align, st.bytes);
        bytes = end > 0xffffffffu ? 0xffffffffu : static_cast<u32>(end);
    }
    /// Module-level arrays that the kernel names; what its functions use is theirs.
    constexpr void module_shared() noexcept {
        for (u32 n = 1; n < v_[0].end; n = v_[n].end) {
            if (v_.kind(n) != node_kind::declaration || v_.atom(v_.child(n, node_kind::space)) != ".shared") continue;
            const u32 l = v_.child(n, node_kind::linkage);
            for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
                if (v_.kind(c) != node_kind::declarator || mentioned_[v_[c].atom] == 0) continue;
                const storage st = storage_of(v_, n, c);
                if (l != 0 && v_.atom(l) == ".extern" && st.bytes == 0)
                    f_.dynamic_shared = true;
                else
                    shared(st);
            }
        }
    }

    const tree_view& v_;
    u32 entry_;
    kernel_facts f_;
    ptxdsl::detail::dynarray<std::uint8_t> mentioned_;  ///< by spelling
};

[[nodiscard]] constexpr kernel_facts facts_of(const tree_view& v, std::uint32_t entry) {
    return fact_reader(v, entry).run();
}

/// The entry called `name`, or the only one when `name` is empty; 0 when there is none or more than one.
[[nodiscard]] constexpr std::uint32_t find_entry(const tree_view& v, std::string_view name) noexcept {
    std::uint32_t found = 0;
    for (std::uint32_t n = 1; v.n_nodes != 0 && n < v[0].end; n = v[n].end) {
        if (v.kind(n) != node_kind::entry || v.child(n, node_kind::body) == 0) continue;
        if (!name.empty() && v.atom(n) != name) continue;
        if (found != 0) return 0;
        found = n;
    }
    return found;
}

}  // namespace ptxdsl::ptx
