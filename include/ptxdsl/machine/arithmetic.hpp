// SPDX-License-Identifier: Apache-2.0
// What registers hold: operands by lane, computing instructions, warp-wide exchanges, parameters, addresses, and which
// way an unknown condition goes.
#pragma once

#include <ptxdsl/machine/list.hpp>
#include <ptxdsl/machine/state.hpp>
#include <ptxdsl/machine/values.hpp>

#include <array>
#include <cstdint>

namespace ptxdsl::machine {

/// Generic addresses of shared memory have this bit; a block's rank stands in bits 24 to 31 of a shared address.
inline constexpr uint64_t generic_shared = uint64_t{1} << 56;
inline constexpr unsigned rank_shift = 24;

/// An address of shared memory, resolved.
struct place {
    bool known = false;  ///< false: not followed
    bool shared = false;
    uint32_t block = 0, offset = 0;
};

template <class Values>
class arithmetic : public state<Values> {
public:
    using base = state<Values>;
    using base::base;
    using typename base::value;
    using typename base::warp_type;

    /// How often an unknown condition was decided.
    [[nodiscard]] constexpr uint64_t forks() const noexcept { return forks_; }

protected:
    using base::blocks_;
    using base::chosen_;
    using base::code_;

    using row = typename registers<value>::row;

    /// The values of an operand before its negation; what is no register is kept in `scratch`, which outlives the row.
    [[nodiscard]] constexpr row source_row(const warp_type& w, const operand& o, value& scratch) const {
        if (o.what == operand::kind::reg) return w.regs.read(o.reg);
        scratch = o.what == operand::kind::constant ? constant(w, o) : Values::unknown(0x5151);
        return {&scratch, false};
    }
    [[nodiscard]] constexpr value lane(const warp_type& w, const operand& o, uint32_t l) const {
        if (o.what == operand::kind::reg) {
            const value v = w.regs.read(o.reg)[l];
            return o.negated ? Values::negate(v) : v;
        }
        if (o.what == operand::kind::constant) return constant(w, o);
        return Values::unknown(0x5151);
    }
    [[nodiscard]] constexpr value constant(const warp_type& w, const operand& o) const {
        if (o.symbolic) return Values::exact((o.bits & 0xffffffu) | uint64_t{w.block} << rank_shift);
        if (o.symbol != none) return Values::exact((uint64_t{1} << 46) + (uint64_t{o.symbol} << 16) + o.bits);
        return Values::exact(o.bits);
    }
    /// The address `[base + offset]` of a lane.
    [[nodiscard]] constexpr value address(const warp_type& w, const operand& o, uint32_t l) const {
        if (o.reg == none) return constant(w, o);
        value v = w.regs.read(o.reg)[l];
        if (v.is_known())
            v.bits += o.bits;
        else if (o.bits != 0)
            v = Values::unknown(mix(v.bits, o.bits));
        return v;
    }
    /// Where a shared or generic address points.
    [[nodiscard]] constexpr place resolve(const warp_type& w, const value& v, space sp) const {
        place p;
        if (sp != space::generic && sp != space::shared && sp != space::shared_cluster) {
            p.known = true;
            return p;
        }
        if (!v.is_address()) {
            p.shared = sp != space::generic;
            return p;
        }
        if (sp == space::generic && (v.bits & generic_shared) == 0) {
            p.known = true;
            return p;
        }
        p.shared = true;
        p.block = static_cast<uint32_t>(v.bits >> rank_shift & 0xffu);
        p.offset = static_cast<uint32_t>(v.bits & 0xffffffu);
        if (sp == space::shared && p.block == 0) p.block = w.block;
        p.known = p.block < blocks_.size() && p.offset < code_.shared_bytes;
        return p;
    }

    /// Calls `f(lanes, lane)` for each group of lanes in which all `n` operands are the same.
    template <class F>
    constexpr void each_group(const warp_type& w, uint32_t lanes, const operand* const* o, uint32_t n,
                              const F& f) const {
        bool varies = false;
        for (uint32_t k = 0; k < n; ++k) varies = varies || (o[k]->reg != none && w.regs.read(o[k]->reg).varies);
        if (!varies) return f(lanes, static_cast<uint32_t>(std::countr_zero(lanes)));
        for (uint32_t rest = lanes; rest != 0;) {
            const uint32_t first = static_cast<uint32_t>(std::countr_zero(rest));
            uint32_t group = 0;
            for (uint32_t m = rest; m != 0; m &= m - 1) {
                const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
                bool same = true;
                for (uint32_t k = 0; k < n && same; ++k)
                    same = o[k]->reg == none || w.regs.read(o[k]->reg)[l] == w.regs.read(o[k]->reg)[first];
                if (same) group |= 1u << l;
            }
            rest &= ~group;
            f(group, first);
        }
    }

    /// The lanes of `lanes` for which the guard holds; unknown ones are decided.
    [[nodiscard]] constexpr uint32_t guarded(const warp_type& w, const instruction& i, uint32_t lanes) {
        if (i.guard == none) return lanes;
        const row r = w.regs.read(i.guard);
        if (!r.varies) return holds(r.first[0], i.guard_negated) ? lanes : 0;
        uint32_t on = 0;
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            if (holds(r[l], i.guard_negated)) on |= 1u << l;
        }
        return on;
    }
    [[nodiscard]] constexpr bool guard_is_unknown(const warp_type& w, const instruction& i, uint32_t lanes) const {
        if (i.guard == none) return false;
        const row r = w.regs.read(i.guard);
        if (!r.varies) return !r.first[0].is_known();
        for (uint32_t m = lanes; m != 0; m &= m - 1)
            if (!r[static_cast<uint32_t>(std::countr_zero(m))].is_known()) return true;
        return false;
    }

    /// Whether a guard is unknown and not the same for all lanes: each thread's own data decides.
    [[nodiscard]] constexpr bool lanes_differ_by_data(const warp_type& w, const instruction& i, uint32_t lanes) const {
        const row r = w.regs.read(i.guard);
        if (!r.varies) return r.first[0].by_lane && !r.first[0].is_known();
        for (uint32_t m = lanes; m != 0; m &= m - 1)
            if (r[static_cast<uint32_t>(std::countr_zero(m))].known >= knowledge::data) return true;
        return false;
    }

    /// Whether a condition holds. An unknown one is decided by its identity, so that the same unknown goes the same way
    /// everywhere.
    [[nodiscard]] constexpr bool holds(const value& v, bool negated) {
        bool yes = (v.bits & 1u) != 0;
        if (!v.is_known()) {
            const auto [at, fresh] = decided_.insert(v.bits & ~uint64_t{1});
            if (fresh) *at = decide(v.bits & ~uint64_t{1}) ? 1 : 0;
            yes = (*at != 0) != yes;
            ++forks_;
        }
        return yes != negated;
    }

    /// An instruction that only computes, for `lanes`.
    constexpr void compute(warp_type& w, const instruction& i, uint32_t lanes) {
        const operand& to = code_.at(i, 0);
        if (to.what == operand::kind::list && i.op == tok::mov) return unpack(w, i, to, lanes);
        const operand* in[8];
        uint32_t n = 0;
        uint32_t sources = 0;
        const auto add = [&](const operand& o) {
            if (sources++ < 8) in[n++] = &o;
        };
        for (uint32_t k = 1; k < i.operand_count; ++k) {
            const operand& o = code_.at(i, k);
            if (o.what == operand::kind::list)
                for (uint32_t p = 0; p < o.count; ++p) add(code_.parts[o.first + p]);
            else
                add(o);
        }
        if (n == 0 || sources > 8) return forget(w, i, lanes);
        row rows[8];
        value scratch[8], v[8];
        bool varies = false;
        for (uint32_t k = 0; k < n; ++k) {
            rows[k] = source_row(w, *in[k], scratch[k]);
            varies = varies || rows[k].varies;
        }
        const bool merge = guard_is_unknown(w, i, lanes);
        if (varies || (merge && guard_varies(w, i))) return compute_lanes(w, i, in, rows, n, lanes, merge);
        const uint32_t one = static_cast<uint32_t>(std::countr_zero(lanes));
        for (uint32_t k = 0; k < n; ++k) v[k] = in[k]->negated ? Values::negate(rows[k][one]) : rows[k][one];
        value result = Values::compute(code_, i, v, n);
        special_result(w, i, v, n, result);
        put(w, to, merge ? merged(w, i, to, one, result) : result, lanes);
    }
    /// The same where lanes differ.
    constexpr void compute_lanes(warp_type& w, const instruction& i, const operand* const* in, const row* rows,
                                 uint32_t n, uint32_t lanes, bool merge) {
        const operand& to = code_.at(i, 0);
        bool plain = !merge;
        for (uint32_t k = 0; k < n; ++k) plain = plain && !in[k]->negated;
        value result[32];
        if (plain && Values::compute_each(code_, i, rows, n, lanes, result)) return put_each(w, to, result, lanes);
        value v[8];
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            for (uint32_t k = 0; k < n; ++k) v[k] = in[k]->negated ? Values::negate(rows[k][l]) : rows[k][l];
            result[l] = Values::compute(code_, i, v, n);
            special_result(w, i, v, n, result[l]);
            if (merge) result[l] = merged(w, i, to, l, result[l]);
        }
        put_each(w, to, result, lanes);
    }
    /// All results of an instruction are data, other data in each lane.
    constexpr void forget(warp_type& w, const instruction& i, uint32_t lanes) {
        if (!needs(code_.at(i, 0))) return;
        const uint64_t id = mix(mix(static_cast<uint64_t>(i.where) << 8, w.agent), ++fresh_);
        const auto data = [id](uint32_t p) {
            value v = Values::unknown(mix(id, p));
            v.by_lane = true;
            return v;
        };
        for (uint32_t k = 0; k < i.operand_count && k < 1; ++k) {
            const operand& to = code_.at(i, k);
            if (to.what == operand::kind::reg) put(w, to, data(0), lanes);
            if (to.what == operand::kind::list)
                for (uint32_t p = 0; p < to.count; ++p) put(w, code_.parts[to.first + p], data(p), lanes);
            if (to.what == operand::kind::range)
                for (uint32_t p = 0; p < to.count; ++p) put_register(w, to.reg + p, data(p), lanes);
        }
    }
    [[nodiscard]] constexpr bool needs(const operand& o) const noexcept {
        if (code_.needed.empty()) return true;
        if (o.what == operand::kind::reg) return code_.needed[o.reg] != 0;
        const operand* const parts = o.what == operand::kind::list ? &code_.parts[o.first] : nullptr;
        for (uint32_t k = 0; k < o.count; ++k)
            if (code_.needed[parts != nullptr ? (parts[k].reg == none ? 0 : parts[k].reg) : o.reg + k] != 0)
                return true;
        return false;
    }
    /// Whether a source is registers that nothing needs: data.
    [[nodiscard]] constexpr bool is_data(const operand& o) const noexcept {
        if (code_.needed.empty()) return false;
        if (o.what == operand::kind::reg) return code_.needed[o.reg] == 0;
        bool data = o.what == operand::kind::list;
        for (uint32_t k = 0; data && k < o.count; ++k)
            data =
                code_.parts[o.first + k].what == operand::kind::reg && code_.needed[code_.parts[o.first + k].reg] == 0;
        return data;
    }
    constexpr void put(warp_type& w, const operand& to, const value& v, uint32_t lanes) {
        if (to.what == operand::kind::reg) put_register(w, to.reg, v, lanes);
        if (to.what == operand::kind::list && to.count > 0) {  // p|q: q is the complement
            const operand &p = code_.parts[to.first], &q = code_.parts[to.first + 1];
            if (p.what == operand::kind::reg) put_register(w, p.reg, v, lanes);
            if (to.count > 1 && q.what == operand::kind::reg) put_register(w, q.reg, Values::negate(v), lanes);
        }
    }
    constexpr void put_register(warp_type& w, uint32_t r, const value& v, uint32_t lanes) {
        w.regs.write(r, v, lanes, w.live);
    }
    constexpr void put_each(warp_type& w, const operand& to, const value* v, uint32_t lanes) {
        if (to.what == operand::kind::reg) w.regs.write_each(to.reg, v, lanes, w.live);
        if (to.what != operand::kind::list) return;
        for (uint32_t m = lanes; m != 0; m &= m - 1) put(w, to, v[std::countr_zero(m)], 1u << std::countr_zero(m));
    }

    /// `ld.param`: what the player chose.
    constexpr void load_parameter(warp_type& w, const instruction& i, uint32_t lanes) {
        const operand& from = code_.at(i, 1);
        const operand& to = code_.at(i, 0);
        if (code_.of_a_call(from.symbol)) return forget(w, i, lanes);
        if (to.what != operand::kind::list) return put(w, to, parameter(i, from, from.bits), lanes);
        for (uint32_t k = 0; k < to.count; ++k)
            put(w, code_.parts[to.first + k], parameter(i, from, from.bits + k * isa::bits(i.type) / 8), lanes);
    }
    [[nodiscard]] constexpr value parameter(const instruction& i, const operand& from, uint64_t offset) const {
        const uint32_t slot = code_.slot_of(from, offset);
        if (slot < chosen_.parameters.size() && isa::info(i.type).cls != isa::type_class::floating)
            return {chosen_.parameters[slot].value, knowledge::chosen};
        return Values::unknown(mix(0x9a3a, mix(from.symbol, offset)));
    }
    /// `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`: lanes see one another.
    constexpr void exchange(warp_type& w, const instruction& i, uint32_t lanes) {
        switch (i.op) {
            case tok::elect: return elect(w, i, lanes);
            case tok::vote: return vote(w, i, lanes);
            case tok::shfl: return shuffle(w, i, lanes);
            case tok::activemask: return put(w, code_.at(i, 0), Values::exact(lanes), lanes);
            default: return reduce(w, i, lanes);
        }
    }

    table<uint8_t> decided_;
    uint64_t forks_ = 0;  ///< unknown conditions decided so far
    uint64_t fresh_ = 0;

private:
    [[nodiscard]] constexpr bool guard_varies(const warp_type& w, const instruction& i) const {
        return i.guard != none && w.regs.read(i.guard).varies;
    }
    [[nodiscard]] constexpr bool decide(uint64_t identity) const noexcept {
        if (chosen_.seed < 2) return forks_ < 64 ? chosen_.seed == 1 : (mix(identity, forks_) >> 17 & 1u) != 0;
        return (mix(identity, chosen_.seed) >> 17 & 1u) != 0;
    }
    [[nodiscard]] constexpr value merged(const warp_type& w, const instruction& i, const operand& to, uint32_t l,
                                         const value& fresh) {
        const value p = w.regs.read(i.guard)[l];
        if (p.is_known() || to.what != operand::kind::reg) return fresh;
        const value old = w.regs.read(to.reg)[l];
        if (i.type == isa::scalar::pred || old == fresh)
            return old == fresh ? old : Values::unknown(mix(p.bits, mix(old.bits, fresh.bits)));
        return holds(p, i.guard_negated) ? fresh : old;
    }
    /// Instructions whose results depend on the machine: addresses of other blocks, and conversions of addresses.
    constexpr void special_result(const warp_type& w, const instruction& i, const value* v, uint32_t n,
                                  value& r) const {
        static_cast<void>(w);
        if (i.op == tok::mapa && n == 2) {
            const knowledge k = v[0].known > v[1].known ? v[0].known : v[1].known;
            r = k == knowledge::unknown
                    ? Values::unknown(mix(v[0].bits, v[1].bits))
                    : value{(v[0].bits & ~uint64_t{0xff000000u}) | (v[1].bits & 0xffu) << rank_shift, k};
        }
        if (i.op == tok::getctarank && v[0].is_known()) r = {v[0].bits >> rank_shift & 0xffu, v[0].known};
        if (i.op == tok::cvta && v[0].is_known() && (i.sp == space::shared || i.sp == space::shared_cluster))
            r = {code_.has(i, tok::to) ? v[0].bits & 0xffffffffu : (v[0].bits & 0xffffffffu) | generic_shared,
                 v[0].known};
        if (i.op == tok::isspacep && v[0].is_known() && (i.sp == space::shared || i.sp == space::shared_cluster))
            r = {(v[0].bits & generic_shared) != 0 ? 1u : 0u, v[0].known};
    }
    /// `mov {a, b}, r`.
    constexpr void unpack(warp_type& w, const instruction& i, const operand& to, uint32_t lanes) {
        const unsigned each = isa::bits(i.type) / (to.count == 0 ? 1 : to.count);
        for (uint32_t p = 0; p < to.count; ++p) {
            std::array<value, 32> result;
            for (uint32_t m = lanes; m != 0; m &= m - 1) {
                const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
                value v = lane(w, code_.at(i, 1), l);
                // Of 128 bits only the lower half is known (`Values::pack`).
                if (v.is_known() && p * each < 64)
                    v.bits = v.bits >> p * each & (each >= 64 ? ~uint64_t{0} : (uint64_t{1} << each) - 1);
                else
                    v = Values::unknown(mix(v.bits, p));
                result[l] = v;
            }
            if (code_.parts[to.first + p].what == operand::kind::reg)
                w.regs.write_each(code_.parts[to.first + p].reg, result.data(), lanes, w.live);
        }
    }

    // ---- lanes among themselves ---------------------------------------------------------------------------------

    constexpr void elect(warp_type& w, const instruction& i, uint32_t lanes) {
        const operand& to = code_.at(i, 0);
        const uint32_t leader = static_cast<uint32_t>(std::countr_zero(lanes));
        const operand* p = &to;
        if (to.what == operand::kind::list) {
            if (code_.parts[to.first].what == operand::kind::reg)
                put_register(w, code_.parts[to.first].reg, Values::exact(leader), lanes);
            p = &code_.parts[to.first + to.count - 1];
        }
        if (p->what != operand::kind::reg) return;
        std::array<value, 32> v{};
        for (uint32_t m = lanes; m != 0; m &= m - 1) v[static_cast<uint32_t>(std::countr_zero(m))] = Values::exact(0);
        v[leader] = Values::exact(1);
        w.regs.write_each(p->reg, v.data(), lanes, w.live);
    }
    constexpr void vote(warp_type& w, const instruction& i, uint32_t lanes) {
        uint32_t ballot = 0;
        bool known = true;
        uint64_t id = mix(7, static_cast<uint64_t>(code_.word(i, 2)));
        knowledge worst = knowledge::exact;
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const value v = lane(w, code_.at(i, 1), l);
            known = known && v.is_known();
            worst = v.known > worst ? v.known : worst;
            if ((v.bits & 1u) != 0) ballot |= 1u << l;
            id = mix(id, v.bits);
        }
        if (!known) return put(w, code_.at(i, 0), Values::unknown(id), lanes);
        uint64_t r = ballot;
        if (code_.has(i, tok::all)) r = ballot == lanes ? 1 : 0;
        if (code_.has(i, tok::any)) r = ballot != 0 ? 1 : 0;
        if (code_.has(i, tok::uni)) r = ballot == lanes || ballot == 0 ? 1 : 0;
        put(w, code_.at(i, 0), {r, worst}, lanes);
    }
    constexpr void shuffle(warp_type& w, const instruction& i, uint32_t lanes) {
        const operand& to = code_.at(i, 0);
        const operand& d = to.what == operand::kind::list ? code_.parts[to.first] : to;
        std::array<value, 32> r{};
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const value from = lane(w, code_.at(i, 2), l), c = lane(w, code_.at(i, 3), l);
            if (!from.is_known() || !c.is_known()) {
                r[l] = Values::unknown(mix(lane(w, code_.at(i, 1), l).bits, from.bits));
                continue;
            }
            r[l] = lane(w, code_.at(i, 1), source(i, l, from.bits & 31u, static_cast<uint32_t>(c.bits)));
            if (code_.has(i, tok::idx) && code_.at(i, 2).what == operand::kind::constant) r[l].by_lane = false;
        }
        if (d.what == operand::kind::reg) w.regs.write_each(d.reg, r.data(), lanes, w.live);
        if (to.what == operand::kind::list && to.count > 1 && code_.parts[to.first + 1].what == operand::kind::reg)
            put_register(w, code_.parts[to.first + 1].reg, Values::exact(1), lanes);
    }
    /// The lane a shuffle reads (PTX ISA 9.7.9.6).
    [[nodiscard]] constexpr uint32_t source(const instruction& i, uint32_t l, uint64_t b, uint32_t c) const noexcept {
        const uint32_t segment = c >> 8 & 31u, clamp = c & 31u;
        const uint32_t high = (l & segment) | (clamp & ~segment), low = l & segment;
        const int at = static_cast<int>(l), by = static_cast<int>(b);
        int j = at;
        if (code_.has(i, tok::up)) j = at - by >= static_cast<int>(high) ? at - by : at;
        if (code_.has(i, tok::down)) j = at + by <= static_cast<int>(high) ? at + by : at;
        if (code_.has(i, tok::bfly)) j = (at ^ by) <= static_cast<int>(high) ? at ^ by : at;
        if (code_.has(i, tok::idx)) j = static_cast<int>(low | (static_cast<uint32_t>(by) & ~segment));
        return static_cast<uint32_t>(j) & 31u;
    }
    /// `redux` and `match`: one result for all lanes that hold the same.
    constexpr void reduce(warp_type& w, const instruction& i, uint32_t lanes) {
        uint64_t id = mix(11, static_cast<uint64_t>(i.op));
        for (uint32_t m = lanes; m != 0; m &= m - 1)
            id = mix(id, lane(w, code_.at(i, 1), static_cast<uint32_t>(std::countr_zero(m))).bits);
        const operand& to = code_.at(i, 0);
        put(w, to.what == operand::kind::list ? code_.parts[to.first] : to, Values::unknown(id), lanes);
    }
};

}  // namespace ptxdsl::machine
