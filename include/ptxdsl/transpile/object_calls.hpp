// SPDX-License-Identifier: Apache-2.0
// Barriers, copies, matrix instructions and moves of several registers as calls of the builder. What the text does not
// say (rings, tiles) the calls do not need: objects are named by their addresses (dsl/module_objects.hpp).
#pragma once

#include <ptxdsl/transpile/cpp_text.hpp>
#include <ptxdsl/transpile/instruction.hpp>

#include <string>

namespace ptxdsl::ptx {

/// `Writer` has the words for operands.
template <class Writer>
class object_calls {
protected:
    using tok = isa::tok;
    using scalar = isa::scalar;

    [[nodiscard]] bool object_call(const instruction& i, std::string& out) {
        switch (i.op()) {
            case tok::mbarrier: return mbarrier(i, out);
            case tok::cp: return tensor_copy(i, out);
            case tok::wgmma: return matrix(i, out);
            case tok::barrier: return block_barrier(i, out);
            case tok::elect: return elect(i, out);
            case tok::shfl: return shuffle(i, out);
            case tok::cvta: return convert_address(i, out);
            case tok::selp: return select(i, out);
            default: return false;
        }
    }
    /// `mov.b64 {a, b}, c;` and `mov.b64 c, {a, b};`
    [[nodiscard]] bool several(const instruction& i, std::string& out) {
        const unsigned bits = isa::bits(i.type());
        if (i.a.size() != 2 || (i.type() != scalar::b32 && i.type() != scalar::b64)) return false;
        const bool cuts = i.a[0].kind == argument_kind::list;
        const argument& parts = cuts ? i.a[0] : i.a[1];
        const argument& whole = cuts ? i.a[1] : i.a[0];
        if (parts.kind != argument_kind::list || whole.kind != argument_kind::reg) return false;
        const std::size_t n = parts.parts.size();
        if ((n != 2 && n != 4) || bits / n < 16) return false;
        const scalar part = bits / n == 16 ? scalar::b16 : scalar::b32;
        std::string list;
        for (const argument& p : parts.parts) {
            if (p.kind != argument_kind::reg || !self().holds(p.reg, part)) return false;
            list += (list.empty() ? "" : ", ") + self().register_text(p, scalar::none);
        }
        if (!cuts) return self().assigned(i, i.type(), "mov_pack<" + cpp::type(i.type()) + ">(" + list + ")", out);
        const std::string from = self().as(whole, i.type());
        if (from.empty()) return false;
        out = "px::into(" + list + ") = " + self().builder(i) + ".mov_unpack<" + cpp::type(part) + ">(" + from + ");";
        return true;
    }

private:
    [[nodiscard]] Writer& self() { return static_cast<Writer&>(*this); }

    // ---- operands --------------------------------------------------------------------------------------------

    /// Template arguments in angle brackets.
    static void add(std::string& words, const std::string& word) { words += (words.empty() ? "" : ", ") + word; }
    [[nodiscard]] static std::string angled(const std::string& words) {
        return words.empty() ? words : "<" + words + ">";
    }
    [[nodiscard]] bool is_narrow_address(const argument& a) {
        return a.kind == argument_kind::address && self().is_shared_place(a);
    }
    [[nodiscard]] std::string barrier(const argument& a, bool peer) {
        return (peer ? "k.peer_barrier(" : "k.barrier(") + self().address(a) + ")";
    }
    /// A number, as the calls take it: untyped registers as they are. Empty when it is none.
    [[nodiscard]] std::string number(const argument& a, scalar t) {
        if (a.kind == argument_kind::reg && self().holds(a.reg, t) &&
            isa::info(self().declared(a.reg)).cls == isa::type_class::bits)
            return self().register_text(a, scalar::none);
        if (a.kind == argument_kind::integer && isa::bits(t) == 64) return {};
        return self().as(a, t);
    }

    // ---- mbarrier (PTX ISA 9.7.13.15) ------------------------------------------------------------------------

    /// The words of an mbarrier instruction, taken apart.
    struct barrier_words {
        std::string call, semantics;
        bool peer = false, expects = false, parity = false;
    };
    [[nodiscard]] static bool read_words(const instruction& i, barrier_words& w) {
        bool has_space = false;
        if (i.n < 3 || i.t[i.n - 1] != tok::b64) return false;
        for (unsigned t = 2; t + 1 < i.n; ++t) {
            switch (i.t[t]) {
                case tok::expect_tx: w.expects = true; break;
                case tok::parity: w.parity = true; break;
                case tok::shared:
                    add(w.semantics, cpp::word(i.t[t]));
                    has_space = true;
                    break;
                case tok::shared__cta: has_space = true; break;
                case tok::shared__cluster: has_space = w.peer = true; break;
                case tok::release:
                case tok::acquire:
                case tok::relaxed:
                case tok::cta:
                case tok::cluster:
                    if (has_space) return false;
                    add(w.semantics, cpp::word(i.t[t]));
                    break;
                default: return false;
            }
        }
        return has_space;
    }
    [[nodiscard]] bool mbarrier(const instruction& i, std::string& out) {
        barrier_words w;
        if (!read_words(i, w)) return false;
        switch (i.t[1]) {
            case tok::init: return initialise(i, w, out);
            case tok::inval:
                if (i.a.size() != 1 || !is_narrow_address(i.a[0]) || w.peer) return false;
                out = self().builder(i) + ".mbarrier_inval" + angled(w.semantics) + "(" + barrier(i.a[0], false) + ");";
                return true;
            case tok::arrive: return arrive(i, w, out);
            case tok::try_wait:
            case tok::test_wait: return wait(i, w, out);
            default: return false;
        }
    }
    [[nodiscard]] bool initialise(const instruction& i, const barrier_words& w, std::string& out) {
        if (i.a.size() != 2 || !is_narrow_address(i.a[0]) || w.peer) return false;
        const std::string n = number(i.a[1], scalar::u32);
        if (n.empty()) return false;
        out =
            self().builder(i) + ".mbarrier_init" + angled(w.semantics) + "(" + barrier(i.a[0], false) + ", " + n + ");";
        return true;
    }
    [[nodiscard]] bool arrive(const instruction& i, const barrier_words& w, std::string& out) {
        if (i.a.size() < 2 || i.a.size() > 3 || !is_narrow_address(i.a[1]) || (w.peer && !i.a[1].has_base))
            return false;
        std::string list = barrier(i.a[1], w.peer);
        if (w.expects && i.a.size() != 3) return false;
        if (i.a.size() == 3) {
            const std::string n = number(i.a[2], scalar::u32);
            if (n.empty()) return false;
            list += ", " + n;
        }
        std::string call = w.expects ? "mbarrier_arrive_expect_tx" : "mbarrier_arrive";
        if (i.a[0].kind != argument_kind::sink) {
            if (w.peer) return false;
            if (w.expects) call += "_state";
            return self().assigned(i, scalar::u64, call + angled(w.semantics) + "(" + list + ")", out);
        }
        const bool sink = !w.peer && !w.expects;
        out = self().builder(i) + "." + call + angled(w.semantics) + "(" + (sink ? "px::sink, " : "") + list + ");";
        return true;
    }
    [[nodiscard]] bool wait(const instruction& i, const barrier_words& w, std::string& out) {
        const bool tries = i.t[1] == tok::try_wait;
        if (i.a.size() < 3 || i.a.size() > (tries ? 4u : 3u) || !is_narrow_address(i.a[1]) || w.peer) return false;
        const std::string phase = number(i.a[2], w.parity ? scalar::u32 : scalar::u64);
        if (phase.empty()) return false;
        std::string list = barrier(i.a[1], false) + ", " + phase;
        if (i.a.size() == 4) {
            const std::string ns = number(i.a[3], scalar::u32);
            if (ns.empty()) return false;
            list += ", " + ns;
        }
        const std::string call =
            std::string(tries ? "mbarrier_try_wait" : "mbarrier_test_wait") + (w.parity ? "_parity" : "");
        return self().assigned(i, scalar::pred, call + angled(w.semantics) + "(" + list + ")", out);
    }

    // ---- tensor copies (PTX ISA 9.7.9.27) --------------------------------------------------------------------

    [[nodiscard]] bool tensor_copy(const instruction& i, std::string& out) {
        if (i.n < 8 || i.t[1] != tok::async || i.t[2] != tok::bulk || i.t[3] != tok::tensor || i.a.size() < 2)
            return false;
        return i.a[0].kind == argument_kind::tensor ? tensor_store(i, out) : tensor_load(i, out);
    }
    [[nodiscard]] bool tensor_load(const instruction& i, std::string& out) {
        if ((i.t[5] != tok::shared__cluster && i.t[5] != tok::shared__cta) || i.t[6] != tok::global) return false;
        std::string words = cpp::word(i.t[5]);
        bool mask = false, policy = false;
        for (unsigned t = 7; t < i.n; ++t) {
            switch (i.t[t]) {
                case tok::mbarrier__complete_tx__bytes: continue;
                case tok::multicast__cluster: mask = true; break;
                case tok::L2__cache_hint: policy = true; break;
                case tok::tile:
                case tok::cta_group__1:
                case tok::cta_group__2: break;
                default: return false;
            }
            add(words, i.t[t] == tok::L2__cache_hint ? "px::L2::cache_hint" : cpp::word(i.t[t]));
        }
        if (i.a.size() != 3u + mask + policy || !is_narrow_address(i.a[0]) || i.a[1].kind != argument_kind::tensor ||
            !is_narrow_address(i.a[2]))
            return false;
        std::string list = self().operand(i.a[0], i) + ", " + self().operand(i.a[1], i) + ", " + barrier(i.a[2], false);
        for (std::size_t a = 3; a < i.a.size(); ++a) {
            const std::string n = number(i.a[a], mask && a == 3 ? scalar::u16 : scalar::u64);
            if (n.empty()) return false;
            list += ", " + n;
        }
        out = self().builder(i) + ".cp_async_bulk_tensor<" + words + ">(" + list + ");";
        return true;
    }
    [[nodiscard]] bool tensor_store(const instruction& i, std::string& out) {
        if (i.t[5] != tok::global || i.t[6] != tok::shared__cta) return false;
        std::string words;
        bool policy = false, group = false;
        for (unsigned t = 7; t < i.n; ++t) {
            if (i.t[t] == tok::L2__cache_hint)
                policy = true;
            else if (i.t[t] == tok::bulk_group)
                group = true;
            else if (i.t[t] == tok::tile && !group)
                add(words, cpp::word(i.t[t]));
            else
                return false;
        }
        if (!group || i.a.size() != 2u + policy || !is_narrow_address(i.a[1])) return false;
        std::string list = self().operand(i.a[0], i) + ", " + self().operand(i.a[1], i);
        if (policy) {
            const std::string n = number(i.a[2], scalar::u64);
            if (n.empty()) return false;
            list += ", " + n;
        }
        out = self().builder(i) + ".cp_async_bulk_tensor" + angled(words) + "(" + list + ");";
        return true;
    }

    // ---- wgmma (PTX ISA 9.7.15.5.2) --------------------------------------------------------------------------

    /// A number that is 1 or -1, or 0 or 1.
    [[nodiscard]] static bool is_number(const argument& a, std::int64_t low) {
        return a.kind == argument_kind::integer && (a.value == low || a.value == 1);
    }
    [[nodiscard]] bool matrix(const instruction& i, std::string& out) {
        if (i.n != 8 || i.t[1] != tok::mma_async || i.a.size() < 4) return false;
        const std::string d = self().accumulator_name(i.a[0]);
        if (d.empty()) return false;
        const scalar element = isa::token_type(i.t[6]);
        const bool fragment = i.a[1].kind == argument_kind::list;
        std::string words = cpp::type(element) + ", " + cpp::type(isa::token_type(i.t[7])), more;
        if (!flags(i, element, fragment, more)) return false;
        std::string scale = self().operand(i.a[3], i);
        if (i.a[3].kind == argument_kind::reg) scale = self().register_text(i.a[3], scalar::none);
        const std::string a = fragment ? self().operand(i.a[1], i) : number(i.a[1], scalar::b64);
        const std::string b = number(i.a[2], scalar::b64);
        if (a.empty() || b.empty() || scale.empty()) return false;
        out = self().builder(i) + ".wgmma.mma_async<" + words + more + ">(" + d + ", " + a + ", " + b + ", " + scale +
              ");";
        return true;
    }
    /// Majors and signs, as far as they are not those of the call without template arguments.
    [[nodiscard]] static bool flags(const instruction& i, scalar element, bool fragment, std::string& more) {
        const bool integers = isa::info(element).cls != isa::type_class::floating && isa::bits(element) == 8 &&
                              element != scalar::e4m3 && element != scalar::e5m2;
        const std::size_t transposed = isa::bits(element) == 16 ? (fragment ? 1 : 2) : 0, signs = integers ? 0 : 2;
        if (i.a.size() != 4 + signs + transposed) return false;
        const auto major_of = [&](std::size_t a) {
            return i.a[a].value == 0 ? std::string(", px::k_major") : std::string(", px::mn_major");
        };
        std::string majors, scales;
        bool own = false;
        for (std::size_t a = 4; a < i.a.size(); ++a) {
            if (!is_number(i.a[a], a < 4 + signs ? -1 : 0)) return false;
            if (a < 4 + signs)
                scales += ", " + std::to_string(i.a[a].value), own |= i.a[a].value != 1;
            else
                majors += major_of(a);
        }
        while (transposed == 0 && !fragment && majors.size() < 1 && own) majors = ", px::k_major, px::k_major";
        if (transposed == 0 && fragment && own) majors = ", px::k_major";
        if (own)
            more = majors + scales;
        else if (majors.find("mn_major") != majors.npos)
            more = majors;
        return true;
    }

    // ---- addresses and selections ----------------------------------------------------------------------------

    /// `cvta.to.global.u64 d, a;`, `cvta.shared.u64 d, a;`
    [[nodiscard]] bool convert_address(const instruction& i, std::string& out) {
        const bool to = i.n == 4 && i.t[1] == tok::to;
        ptxdsl::space s;
        if ((!to && i.n != 3) || i.type() != scalar::u64 || i.a.size() != 2 || i.a[1].kind != argument_kind::reg ||
            !Writer::space_of(i.t[i.n - 2], s) || s == space::shared_cluster || !self().holds(i.a[1].reg, scalar::u64))
            return false;
        return self().assigned(
            i, scalar::u64,
            (to ? "cvta_to<" : "cvta<") + cpp::space_name(s) + ">(" + self().register_text(i.a[1], scalar::none) + ")",
            out);
    }
    /// Of two numbers; the builder's `selp` takes its type from a register.
    [[nodiscard]] bool select(const instruction& i, std::string& out) {
        const auto is_number = [](const argument& a) {
            return a.kind == argument_kind::integer || a.kind == argument_kind::floating;
        };
        if (i.n != 2 || i.a.size() != 4 || !is_number(i.a[1]) || !is_number(i.a[2])) return false;
        const std::string a = self().as(i.a[1], i.type()), b = self().as(i.a[2], i.type()),
                          p = self().predicate(i.a[3]);
        if (a.empty() || b.empty() || p.empty()) return false;
        return self().assigned(i, i.type(), "select<" + cpp::type(i.type()) + ">(" + a + ", " + b + ", " + p + ")",
                               out);
    }

    // ---- block barriers, votes, shuffles ---------------------------------------------------------------------

    /// `barrier.cta.sync.aligned`. Not `bar.sync`, though it means the same (PTX ISA 9.7.13.1): ptxas 13.0 may make
    /// another cubin of it.
    [[nodiscard]] bool block_barrier(const instruction& i, std::string& out) {
        if (i.n != 4 || i.t[1] != tok::cta || (i.t[2] != tok::sync && i.t[2] != tok::arrive) ||
            i.t[3] != tok::aligned || i.a.empty() || i.a.size() > 2)
            return false;
        const std::string call = self().builder(i) + (i.t[2] == tok::sync ? ".bar_sync" : ".bar_arrive");
        if (i.a.size() == 1) {
            if (i.t[2] != tok::sync || i.a[0].kind != argument_kind::integer || i.a[0].value != 0) return false;
            out = call + "();";
            return true;
        }
        const bool constant[] = {i.a[0].kind == argument_kind::integer, i.a[1].kind == argument_kind::integer};
        if ((constant[0] && (i.a[0].value < 0 || i.a[0].value > 15)) ||
            (constant[1] && (i.a[1].value < 32 || i.a[1].value > 1024 || i.a[1].value % 32 != 0)))
            return false;
        if (constant[0] && constant[1]) {
            out = call + "<" + std::to_string(i.a[0].value) + ", " + std::to_string(i.a[1].value) + ">();";
            return true;
        }
        const std::string id = self().as(i.a[0], scalar::u32), threads = self().as(i.a[1], scalar::u32);
        if (id.empty() || threads.empty()) return false;
        out = call + "(" + id + ", " + threads + ");";
        return true;
    }
    [[nodiscard]] bool pair_of(const argument& a, scalar first, std::string& out) {
        if (a.kind != argument_kind::pair || a.parts[0].kind != argument_kind::reg ||
            a.parts[1].kind != argument_kind::reg || !self().holds(a.parts[0].reg, first) ||
            !self().holds(a.parts[1].reg, scalar::pred))
            return false;
        out = "px::into(" + self().register_text(a.parts[0], scalar::none) + ", " +
              self().register_text(a.parts[1], scalar::none) + ")";
        return true;
    }
    [[nodiscard]] bool elect(const instruction& i, std::string& out) {
        if (i.n != 2 || i.a.size() != 2) return false;
        const std::string mask = self().as(i.a[1], scalar::u32);
        std::string results;
        if (mask.empty() || !pair_of(i.a[0], scalar::u32, results)) return false;
        out = results + " = " + self().builder(i) + ".elect_sync_p(" + mask + ");";
        return true;
    }
    [[nodiscard]] bool shuffle(const instruction& i, std::string& out) {
        if (i.n != 4 || i.t[1] != tok::sync || i.a.size() != 5 || i.a[1].kind != argument_kind::reg) return false;
        std::string list = self().as(i.a[1], scalar::b32);
        if (list.empty()) return false;
        for (std::size_t a = 2; a < 5; ++a) {
            const std::string n = self().as(i.a[a], scalar::u32);
            if (n.empty()) return false;
            list += ", " + n;
        }
        const std::string call = "shfl_sync_" + std::string(isa::spelling(i.t[2]));
        if (i.a[0].kind != argument_kind::pair) return self().assigned(i, scalar::b32, call + "(" + list + ")", out);
        std::string results;
        if (!pair_of(i.a[0], scalar::b32, results)) return false;
        out = results + " = " + self().builder(i) + "." + call + "_p(" + list + ");";
        return true;
    }
};

}  // namespace ptxdsl::ptx
