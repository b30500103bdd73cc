// SPDX-License-Identifier: Apache-2.0
// Atomics, small asynchronous copies, matrix moves and changes of tensor maps: calls of the builder that take pointers,
// which `px::mem` makes of the text's addresses.
#pragma once

#include <ptxdsl/dsl/async_copy.hpp>
#include <ptxdsl/transpile/cpp_text.hpp>
#include <ptxdsl/transpile/instruction.hpp>

#include <string>

namespace ptxdsl::ptx {

/// `Writer` has the words for operands.
template <class Writer>
class memory_calls {
protected:
    using tok = isa::tok;
    using scalar = isa::scalar;

    [[nodiscard]] bool memory_call(const instruction& i, std::string& out) {
        switch (i.op()) {
            case tok::atom:
            case tok::red: return atomic(i, out);
            case tok::cp: return small_copy(i, out);
            case tok::ldmatrix: return matrix_load(i, out);
            case tok::stmatrix: return matrix_store(i, out);
            case tok::tensormap: return i.t[1] == tok::replace ? replace(i, out) : publish(i, out);
            case tok::fence: return fence(i, out);
            case tok::mapa: return map_address(i, out);
            default: return false;
        }
    }

private:
    [[nodiscard]] Writer& self() { return static_cast<Writer&>(*this); }
    static void add(std::string& words, const std::string& word) { words += (words.empty() ? "" : ", ") + word; }
    [[nodiscard]] static std::string angled(const std::string& words) {
        return words.empty() ? words : "<" + words + ">";
    }
    /// `px::mem<space, T, align>(base, offset)`; empty when the address is none of that space.
    [[nodiscard]] std::string pointer(const argument& a, space s, scalar type, unsigned align = 0) {
        typename Writer::access x;
        x.sp = s, x.type = type, x.align = align;
        return self().typed_address(a, x);
    }

    // ---- atomics (PTX ISA 9.7.13.7, 9.7.13.8) ----------------------------------------------------------------

    [[nodiscard]] static bool is_operation(tok t) {
        return t == tok::add || t == tok::min || t == tok::max || t == tok::inc || t == tok::dec || t == tok::and_ ||
               t == tok::or_ || t == tok::xor_ || t == tok::exch || t == tok::cas;
    }
    struct atomic_words {
        std::string more;
        space sp = space::generic;
        tok operation = tok::none;
        bool noftz = false;
    };
    /// The builder's atomics follow the pointer's type: the words say the same, or the text keeps its own.
    [[nodiscard]] static bool read_atomic(const instruction& i, atomic_words& w) {
        for (unsigned t = 1; t + 1 < i.n; ++t) {
            const tok word = i.t[t];
            if (Writer::space_of(word, w.sp)) continue;
            if (word == tok::noftz)
                w.noftz = true;
            else if (is_operation(word) && w.operation == tok::none)
                w.operation = word;
            else if (word == tok::sc || word == tok::relaxed || word == tok::acquire || word == tok::release ||
                     word == tok::acq_rel || word == tok::cta || word == tok::cluster || word == tok::gpu ||
                     word == tok::sys)
                add(w.more, cpp::word(word));
            else
                return false;
        }
        const scalar t = i.type();
        if (w.operation == tok::none || t == scalar::none || isa::bits(t) < 16 || isa::bits(t) > 64) return false;
        const bool on_bits = w.operation == tok::and_ || w.operation == tok::or_ || w.operation == tok::xor_ ||
                             w.operation == tok::exch || w.operation == tok::cas;
        const bool half = t == scalar::f16 || t == scalar::f16x2 || t == scalar::bf16 || t == scalar::bf16x2;
        return on_bits == (isa::info(t).cls == isa::type_class::bits) && half == w.noftz;
    }
    [[nodiscard]] bool atomic(const instruction& i, std::string& out) {
        atomic_words w;
        if (!read_atomic(i, w)) return false;
        const bool result = i.op() == tok::atom;
        const std::size_t values = w.operation == tok::cas ? 2 : 1;
        if (i.a.size() != result + 1 + values) return false;
        std::string list = pointer(i.a[result], w.sp, i.type());
        if (list.empty()) return false;
        for (std::size_t v = 0; v < values; ++v) {
            const std::string value = self().as(i.a[result + 1 + v], i.type());
            if (value.empty()) return false;
            list += ", " + value;
        }
        const std::string call =
            (result ? "atom_" : "red_") + std::string(isa::spelling(w.operation)) + angled(w.more) + "(" + list + ")";
        if (result) return self().assigned(i, i.type(), call, out);
        out = self().builder(i) + "." + call + ";";
        return true;
    }

    // ---- cp.async (PTX ISA 9.7.9.25.3.1) ---------------------------------------------------------------------

    [[nodiscard]] bool small_copy(const instruction& i, std::string& out) {
        if (i.n < 5 || i.n > 6 || i.t[1] != tok::async || (i.t[2] != tok::ca && i.t[2] != tok::cg) ||
            i.t[3] != tok::shared || i.t[4] != tok::global || i.a.size() < 3 || i.a.size() > 4 ||
            i.a[2].kind != argument_kind::integer)
            return false;
        std::string words = cpp::word(i.t[2]) + ", " + std::to_string(i.a[2].value);
        if (i.n == 6) {
            const std::string_view prefetch = isa::spelling(i.t[5]);  // `L2::128B` is `px::L2::_128B`
            if (i.t[5] != tok::L2__64B && i.t[5] != tok::L2__128B && i.t[5] != tok::L2__256B) return false;
            words += ", px::L2::_" + std::string(prefetch.substr(4));
        }
        const std::string to = pointer(i.a[0], space::shared, scalar::b8),
                          from = pointer(i.a[1], space::global, scalar::b8);
        if (to.empty() || from.empty()) return false;
        std::string list = to + ", " + from;
        if (i.a.size() == 4) {
            const std::string ignored = self().predicate(i.a[3]);
            const std::string n = ignored.empty() ? self().as(i.a[3], scalar::u32) : ignored;
            if (n.empty()) return false;
            list += ", " + n;
        }
        out = self().builder(i) + ".cp_async<" + words + ">(" + list + ");";
        return true;
    }

    // ---- ldmatrix, stmatrix (PTX ISA 9.7.14.5.15, 9.7.14.5.16) -----------------------------------------------

    /// `.sync.aligned.m8n8.xN{.trans}.shared.b16`: how many, and whether transposed.
    [[nodiscard]] static bool read_matrices(const instruction& i, unsigned& n, bool& transposed) {
        transposed = i.n == 8;
        if (i.n < 7 || i.n > 8 || i.t[1] != tok::sync || i.t[2] != tok::aligned || i.t[3] != tok::m8n8 ||
            (transposed && i.t[5] != tok::trans) || i.t[i.n - 2] != tok::shared || i.t[i.n - 1] != tok::b16)
            return false;
        n = i.t[4] == tok::x1 ? 1 : i.t[4] == tok::x2 ? 2 : i.t[4] == tok::x4 ? 4 : 0;
        return n != 0;
    }
    /// The registers of a list, one by one.
    [[nodiscard]] bool registers(const argument& a, unsigned n, std::string& out) {
        if (a.kind != argument_kind::list || a.parts.size() != n) return false;
        for (const argument& p : a.parts) {
            if (p.kind != argument_kind::reg || isa::bits(self().declared(p.reg)) != 32) return false;
            add(out, self().register_text(p, scalar::none));
        }
        return true;
    }
    [[nodiscard]] bool matrix_load(const instruction& i, std::string& out) {
        unsigned n = 0;
        bool transposed = false;
        std::string to;
        if (i.a.size() != 2 || !read_matrices(i, n, transposed) || !registers(i.a[0], n, to)) return false;
        for (const argument& p : i.a[0].parts)
            if (!self().holds(p.reg, scalar::b32)) return false;
        const std::string from = pointer(i.a[1], space::shared, scalar::b16);
        if (from.empty()) return false;
        out = "px::into(" + to + ") = " + self().builder(i) + ".ldmatrix<px::x" + std::to_string(n) +
              (transposed ? ", px::trans" : "") + ">(" + from + ");";
        return true;
    }
    [[nodiscard]] bool matrix_store(const instruction& i, std::string& out) {
        unsigned n = 0;
        bool transposed = false;
        std::string from;
        if (i.a.size() != 2 || !read_matrices(i, n, transposed) || !registers(i.a[1], n, from)) return false;
        const std::string to = pointer(i.a[0], space::shared, scalar::b16);
        if (to.empty()) return false;
        out = self().builder(i) + ".stmatrix" + (transposed ? "<px::trans>" : "") + "(" + to + ", " + from + ");";
        return true;
    }

    // ---- tensor maps that the kernel changes (PTX ISA 9.7.9.29, 9.7.9.30) ------------------------------------

    static constexpr unsigned map_alignment = 128;

    [[nodiscard]] bool replace(const instruction& i, std::string& out) {
        space s = space::generic;
        if (i.n != 7 || i.t[2] != tok::tile || i.t[5] != tok::b1024 || i.a.size() < 2) return false;
        if (i.t[4] == tok::shared__cta)
            s = space::shared;
        else if (i.t[4] == tok::global)
            s = space::global;
        else
            return false;
        const tok field = i.t[3];
        const bool indexed = ptxdsl::detail::is_indexed_field(field),
                   enumerated = ptxdsl::detail::is_enumerated_field(field);
        const std::string map = pointer(i.a[0], s, scalar::b8, map_alignment);
        if (map.empty() || i.a.size() != (indexed ? 3u : 2u)) return false;
        std::string words = "px::tok::" + std::string(isa::spelling(field)), list = map;
        if (indexed || enumerated) {
            if (i.a[1].kind != argument_kind::integer || i.a[1].value < 0 || i.a[1].value > 15) return false;
            words += ", " + std::to_string(i.a[1].value);
        }
        if (!enumerated) {
            const argument& v = i.a.back();
            const scalar t = i.type() == scalar::b64 ? scalar::b64 : scalar::b32;
            const std::string value = v.kind == argument_kind::reg ? self().as(v, t) : self().as(v, unsigned_of(t));
            if (value.empty()) return false;
            list += ", " + value;
        }
        out = self().builder(i) + ".tensormap_replace<" + words + ">(" + list + ");";
        return true;
    }
    [[nodiscard]] static scalar unsigned_of(scalar t) { return t == scalar::b64 ? scalar::u64 : scalar::u32; }
    [[nodiscard]] static bool is_scope(tok t) {
        return t == tok::cta || t == tok::cluster || t == tok::gpu || t == tok::sys;
    }
    /// `tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned [to], [from], 128;`
    [[nodiscard]] bool publish(const instruction& i, std::string& out) {
        if (i.n != 9 || i.t[1] != tok::cp_fenceproxy || i.t[2] != tok::global || i.t[3] != tok::shared__cta ||
            !is_scope(i.t[6]) || i.a.size() != 3 || i.a[2].kind != argument_kind::integer || i.a[2].value != 128)
            return false;
        const std::string to = pointer(i.a[0], space::global, scalar::b8, map_alignment),
                          from = pointer(i.a[1], space::shared, scalar::b8, map_alignment);
        if (to.empty() || from.empty()) return false;
        out = self().builder(i) + ".tensormap_cp_fenceproxy<" + cpp::word(i.t[6]) + ">(" + to + ", " + from + ");";
        return true;
    }
    /// `fence.acq_rel.gpu;`, `fence.proxy.tensormap::generic.acquire.gpu [map], 128;`
    [[nodiscard]] bool fence(const instruction& i, std::string& out) {
        if (i.n == 3 && i.a.empty() && (i.t[1] == tok::sc || i.t[1] == tok::acq_rel) && is_scope(i.t[2])) {
            out = self().builder(i) + ".fence<" + cpp::word(i.t[1]) + ", " + cpp::word(i.t[2]) + ">();";
            return true;
        }
        if (i.n != 5 || i.t[1] != tok::proxy || i.t[2] != tok::tensormap__generic || !is_scope(i.t[4])) return false;
        const std::string call = self().builder(i) + ".fence_proxy_tensormap_";
        if (i.t[3] == tok::release && i.a.empty()) {
            out = call + "release<" + cpp::word(i.t[4]) + ">();";
            return true;
        }
        if (i.t[3] != tok::acquire || i.a.size() != 2 || i.a[1].kind != argument_kind::integer || i.a[1].value != 128)
            return false;
        const std::string map = pointer(i.a[0], space::generic, scalar::b8, map_alignment);
        if (map.empty()) return false;
        out = call + "acquire<" + cpp::word(i.t[4]) + ">(" + map + ");";
        return true;
    }

    // ---- mapa (PTX ISA 9.7.9.23) -----------------------------------------------------------------------------

    [[nodiscard]] bool map_address(const instruction& i, std::string& out) {
        if (i.n != 3 || i.t[1] != tok::shared__cluster || i.a.size() != 3) return false;
        const std::string a = self().operand(i.a[1], i), rank = self().operand(i.a[2], i);
        if (a.empty() || rank.empty()) return false;
        return self().assigned(
            i, i.type(), "mapa<px::tok::shared__cluster, " + cpp::type(i.type()) + ">(" + a + ", " + rank + ")", out);
    }
};

}  // namespace ptxdsl::ptx
