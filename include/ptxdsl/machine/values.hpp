// SPDX-License-Identifier: Apache-2.0
// What registers hold while a kernel is played for its protocol: addresses, counters and predicates are numbers, data
// is unknown. The machine is a template over such a policy; a simulator brings one whose values are all known.
#pragma once

#include <ptxdsl/machine/code.hpp>

#include <bit>
#include <cstdint>

namespace ptxdsl::machine {

/// How a value is known, from best to worst. A result is known as well as its worst operand.
enum class knowledge : uint8_t {
    exact,    ///< from constants and from who the thread is
    chosen,   ///< from a kernel parameter, which the player chose
    data,     ///< from memory the player chose: it may steer, but an address made of it is not judged
    unknown,  ///< `bits` only tells equal unknowns from others
};

/// A value of 64 bits, or an unknown one with an identity: the same computation of the same unknowns is the same value.
/// The lowest bit of an unknown predicate's identity says whether it is negated.
/// `protocol_value{}` is the number 0; without the braces it is not initialised, since arrays of 32 are what costs
/// here.
struct protocol_value {
    uint64_t bits;
    knowledge known;
    bool by_lane;  ///< unknown, and another in each lane although the register has one entry

    constexpr protocol_value() = default;
    constexpr protocol_value(uint64_t b, knowledge k, bool each_lane = false) noexcept
        : bits(b), known(k), by_lane(each_lane) {}

    [[nodiscard]] constexpr bool is_known() const noexcept { return known != knowledge::unknown; }
    [[nodiscard]] constexpr bool is_address() const noexcept { return known <= knowledge::chosen; }
    constexpr bool operator==(const protocol_value&) const = default;
};

/// The policy of protocol values: arithmetic on what is known, identities for the rest.
struct protocol_values {
    using value = protocol_value;

    [[nodiscard]] static constexpr value exact(uint64_t bits) noexcept { return {bits, knowledge::exact, false}; }
    [[nodiscard]] static constexpr value unknown(uint64_t identity) noexcept {
        return {identity & ~uint64_t{1}, knowledge::unknown, false};
    }

    /// The result of a computing instruction; `n` sources in the order of the text. `carry_in` etc. are data.
    [[nodiscard]] static constexpr value compute(const code& c, const instruction& i, const value* in,
                                                 uint32_t n) noexcept {
        value r = computed(c, i, in, n);
        if (r.is_known()) return r;
        for (uint32_t k = 0; k < n; ++k) r.by_lane = r.by_lane || (!in[k].is_known() && in[k].by_lane);
        return r;
    }

    [[nodiscard]] static constexpr value negate(value v) noexcept {
        v.bits ^= 1u;
        return v;
    }
    /// `compute` for all of `lanes` at once, where every source is known in each of them and the instruction is one of
    /// those that addresses and counters are made of. False: not that; `out` may have been written.
    template <class Row>
    [[nodiscard]] static constexpr bool compute_each(const code& c, const instruction& i, const Row* in, uint32_t n,
                                                     uint32_t lanes, value* out) noexcept {
        if (i.op == tok::selp) return select_each(in, lanes, out);
        if (i.type == scalar::pred || !is_integer_type(i.type) || n == 0 || n > 3) return false;
        if (i.op == tok::setp) return n == 2 && compare_each(i, c.word(i, 1), in, lanes, out);
        if (!is_integer_type(i.result)) return false;
        const form f(c, i);
        if (f.bits == 32 && !f.wide && !f.hi && lanes == 0xffffffffu) {
            switch (i.op) {  // what comes of the lower 32 bits alone, signed or not
                case tok::add: return each_word<tok::add>(in, out);
                case tok::sub: return each_word<tok::sub>(in, out);
                case tok::and_: return each_word<tok::and_>(in, out);
                case tok::or_: return each_word<tok::or_>(in, out);
                case tok::xor_: return each_word<tok::xor_>(in, out);
                case tok::shl: return each_word<tok::shl>(in, out);
                case tok::mul: return each_word<tok::mul>(in, out);
                case tok::mad: return each_word<tok::mad>(in, out);
                default: break;
            }
        }
        switch (i.op) {
            case tok::add: return each<tok::add, 2>(f, in, lanes, out);
            case tok::sub: return each<tok::sub, 2>(f, in, lanes, out);
            case tok::and_: return each<tok::and_, 2>(f, in, lanes, out);
            case tok::or_: return each<tok::or_, 2>(f, in, lanes, out);
            case tok::xor_: return each<tok::xor_, 2>(f, in, lanes, out);
            case tok::shl: return each<tok::shl, 2>(f, in, lanes, out);
            case tok::shr: return each<tok::shr, 2>(f, in, lanes, out);
            case tok::min: return each<tok::min, 2>(f, in, lanes, out);
            case tok::max: return each<tok::max, 2>(f, in, lanes, out);
            case tok::mul: return each<tok::mul, 2>(f, in, lanes, out);
            case tok::mad: return each<tok::mad, 3>(f, in, lanes, out);
            case tok::cvt: return each<tok::cvt, 1>(f, in, lanes, out);
            default: return false;
        }
    }

    /// `bits` bits of a value from `shift` on, as a load of a part of a word gives them.
    [[nodiscard]] static constexpr value part(const value& v, uint32_t shift, uint32_t bits, bool sign) noexcept {
        if (!v.is_known()) return shift == 0 && bits >= 32 ? v : unknown(mix(v.bits, shift << 8 | bits));
        const uint64_t low = masked(v.bits >> shift, bits);
        return {sign ? static_cast<uint64_t>(extended(low, bits)) : low, v.known};
    }
    /// `whole` with `bits` bits of `v` at `shift`.
    [[nodiscard]] static constexpr value joined(const value& whole, const value& v, uint32_t shift,
                                                uint32_t bits) noexcept {
        const knowledge worst = whole.known > v.known ? whole.known : v.known;
        if (worst == knowledge::unknown) return unknown(mix(mix(whole.bits, v.bits), shift));
        const uint64_t mask = masked(~uint64_t{0}, bits) << shift;
        return {(whole.bits & ~mask) | (v.bits << shift & mask), worst};
    }

private:
    /// What of an instruction its arithmetic depends on, looked up once for all lanes.
    struct form {
        const code& c;
        const instruction& i;
        unsigned bits;
        bool sign;
        bool wide, hi;

        constexpr form(const code& all, const instruction& one) noexcept
            : c(all),
              i(one),
              bits(isa::bits(one.type)),
              sign(is_signed(one.type)),
              wide(multiplies(one.op) && all.has(one, tok::wide)),
              hi(multiplies(one.op) && all.has(one, tok::hi)) {}
        [[nodiscard]] static constexpr bool multiplies(tok op) noexcept { return op == tok::mul || op == tok::mad; }
    };
    template <class Row>
    [[nodiscard]] static constexpr bool compare_each(const instruction& i, tok cmp, const Row* in, uint32_t lanes,
                                                     value* out) noexcept {
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const value &a = in[0][l], &b = in[1][l];
            const knowledge worst = a.known > b.known ? a.known : b.known;
            if (worst == knowledge::unknown) return false;
            out[l] = {holds(i, cmp, a.bits, b.bits), worst};
        }
        return true;
    }
    template <class Row>
    [[nodiscard]] static constexpr bool select_each(const Row* in, uint32_t lanes, value* out) noexcept {
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const value& p = in[2][l];
            if (!p.is_known()) return false;
            out[l] = (p.bits & 1u) != 0 ? in[0][l] : in[1][l];
            if (!out[l].is_known()) return false;
            if (out[l].known < p.known) out[l].known = p.known;
        }
        return true;
    }
    /// One of the commonest instructions on 32 bits, for a whole warp: without a branch a lane.
    template <tok Op, class Row>
    [[nodiscard]] static constexpr bool each_word(const Row* in, value* out) noexcept {
        constexpr uint32_t n = Op == tok::mad ? 3 : 2;
        const value* at[n];
        uint32_t step[n];
        for (uint32_t k = 0; k < n; ++k) at[k] = in[k].first, step[k] = in[k].varies ? 1 : 0;
        knowledge worst = knowledge::exact;
        for (uint32_t l = 0; l < 32; ++l) {
            const value &a = *at[0], &b = *at[1];
            knowledge k = a.known > b.known ? a.known : b.known;
            const uint32_t x = static_cast<uint32_t>(a.bits), y = static_cast<uint32_t>(b.bits);
            uint32_t r = 0;
            if constexpr (Op == tok::add) r = x + y;
            if constexpr (Op == tok::sub) r = x - y;
            if constexpr (Op == tok::and_) r = x & y;
            if constexpr (Op == tok::or_) r = x | y;
            if constexpr (Op == tok::xor_) r = x ^ y;
            if constexpr (Op == tok::shl) r = y >= 32 ? 0 : x << y;
            if constexpr (Op == tok::mul) r = x * y;
            if constexpr (Op == tok::mad) {
                const value& c = *at[2];
                k = c.known > k ? c.known : k;
                r = x * y + static_cast<uint32_t>(c.bits);
                at[2] += step[2];
            }
            worst = k > worst ? k : worst;
            out[l] = {r, k};
            at[0] += step[0], at[1] += step[1];
        }
        return worst != knowledge::unknown;
    }
    template <tok Op, uint32_t N, class Row>
    [[nodiscard]] static constexpr bool each(const form& f, const Row* in, uint32_t lanes, value* out) noexcept {
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            value v[N];
            for (uint32_t k = 0; k < N; ++k) v[k] = in[k][l];
            const knowledge worst = worst_of(v, N);
            uint64_t bits = 0;
            if (worst == knowledge::unknown || !integer(f, Op, v, bits)) return false;
            out[l] = {bits, worst};
        }
        return true;
    }
    [[nodiscard]] static constexpr value computed(const code& c, const instruction& i, const value* in,
                                                  uint32_t n) noexcept {
        switch (i.op) {
            case tok::mov: return n == 1 ? cut(in[0], isa::bits(i.type)) : pack(i, in, n);
            case tok::cvta: return in[0];
            case tok::selp: return select(in);
            case tok::setp: return setp(c, i, in, n);
            case tok::not_:
                if (i.type == scalar::pred) return negate(in[0]);
                break;
            default: break;
        }
        if (i.type == scalar::pred) return logic(i, in, n);
        const knowledge worst = worst_of(in, n);
        if (worst != knowledge::unknown && is_integer(i)) {
            uint64_t bits = 0;
            if (integer(form(c, i), i.op, in, bits)) return {bits, worst};
        }
        if (worst == knowledge::unknown && (i.op == tok::and_ || i.op == tok::mul) && is_integer(i))
            for (uint32_t k = 0; k < 2; ++k)
                if (in[k].is_known() && in[k].bits == 0) return {0, in[k].known};
        return unknown(identity(c, i, in, n));
    }

    [[nodiscard]] static constexpr uint64_t identity(const code& c, const instruction& i, const value* in,
                                                     uint32_t n) noexcept {
        uint64_t h = mix(static_cast<uint64_t>(i.op), static_cast<uint64_t>(i.type) << 16 | n);
        for (uint32_t k = 1; k < i.tokens; ++k) h = mix(h, static_cast<uint64_t>(c.word(i, k)));
        for (uint32_t k = 0; k < n; ++k) h = mix(h, in[k].bits + (in[k].is_known() ? 0 : 0x1234567));
        return h;
    }

    using scalar = isa::scalar;
    using signed64 = std::int64_t;

    [[nodiscard]] static constexpr knowledge worst_of(const value* in, uint32_t n) noexcept {
        knowledge worst = knowledge::exact;
        for (uint32_t k = 0; k < n; ++k) worst = in[k].known > worst ? in[k].known : worst;
        return worst;
    }
    [[nodiscard]] static constexpr bool is_integer_type(scalar s) noexcept {
        const isa::type_class t = isa::info(s).cls;
        return t == isa::type_class::bits || t == isa::type_class::unsigned_int || t == isa::type_class::signed_int;
    }
    [[nodiscard]] static constexpr bool is_integer(const instruction& i) noexcept {
        return is_integer_type(i.type) && is_integer_type(i.result);
    }
    [[nodiscard]] static constexpr bool is_signed(scalar s) noexcept {
        return isa::info(s).cls == isa::type_class::signed_int;
    }
    [[nodiscard]] static constexpr uint64_t masked(uint64_t v, unsigned bits) noexcept {
        return bits >= 64 ? v : v & ((uint64_t{1} << bits) - 1);
    }
    [[nodiscard]] static constexpr signed64 extended(uint64_t v, unsigned bits) noexcept {
        return bits >= 64 ? static_cast<signed64>(v) : static_cast<signed64>(v << (64 - bits)) >> (64 - bits);
    }
    [[nodiscard]] static constexpr value cut(value v, unsigned bits) noexcept {
        if (v.is_known()) v.bits = masked(v.bits, bits == 0 ? 64 : bits);
        return v;
    }
    /// `mov` of a vector into one register. Of 128 bits the lower half stands for all, as in `arithmetic::unpack`.
    [[nodiscard]] static constexpr value pack(const instruction& i, const value* in, uint32_t n) noexcept {
        if (isa::bits(i.type) > 64) return n == 2 ? in[0] : unknown(mix(in[0].bits, n));
        const knowledge worst = worst_of(in, n);
        const unsigned each = isa::bits(i.type) / n;
        uint64_t bits = 0;
        for (uint32_t k = 0; k < n; ++k)
            bits = worst == knowledge::unknown ? mix(bits, in[k].bits) : bits | masked(in[k].bits, each) << k * each;
        return worst == knowledge::unknown ? unknown(bits) : value{bits, worst};
    }
    [[nodiscard]] static constexpr value select(const value* in) noexcept {
        if (in[2].is_known()) {
            value v = (in[2].bits & 1u) != 0 ? in[0] : in[1];
            if (v.known < in[2].known) v.known = in[2].known;
            return v;
        }
        return in[0] == in[1] ? in[0] : unknown(mix(mix(in[0].bits, in[1].bits), in[2].bits));
    }

    // ---- predicates ---------------------------------------------------------------------------------------------

    [[nodiscard]] static constexpr value logic(const instruction& i, const value* in, uint32_t n) noexcept {
        if (n != 2) return unknown(mix(in[0].bits, 3));
        const value a = in[0], b = in[1];
        if (a.is_known() && b.is_known()) {
            const uint64_t x = a.bits & 1u, y = b.bits & 1u;
            return {i.op == tok::and_  ? x & y
                    : i.op == tok::or_ ? x | y
                                       : x ^ y,
                    a.known > b.known ? a.known : b.known};
        }
        const value& k = a.is_known() ? a : b;
        const value& u = a.is_known() ? b : a;
        if (k.is_known()) {
            if (i.op == tok::and_) return (k.bits & 1u) != 0 ? u : k;
            if (i.op == tok::or_) return (k.bits & 1u) != 0 ? k : u;
            return (k.bits & 1u) != 0 ? negate(u) : u;
        }
        if (a.bits == b.bits) return i.op == tok::xor_ ? value{0, knowledge::data} : a;
        return unknown(mix(mix(static_cast<uint64_t>(i.op), a.bits), b.bits));
    }
    [[nodiscard]] static constexpr value setp(const code& c, const instruction& i, const value* in,
                                              uint32_t n) noexcept {
        const tok cmp = c.word(i, 1);
        const value r = compared(i, cmp, in[0], in[1]);
        if (n < 3) return r;
        instruction join;
        join.op = c.word(i, 2);
        const value both[2] = {r, in[2]};
        return logic(join, both, 2);
    }
    [[nodiscard]] static constexpr value compared(const instruction& i, tok cmp, const value& a,
                                                  const value& b) noexcept {
        const knowledge worst = a.known > b.known ? a.known : b.known;
        if (worst != knowledge::unknown && is_integer_type(i.type)) return {holds(i, cmp, a.bits, b.bits), worst};
        // Complements share one identity: ge is not lt, le is not gt, ne is not eq; gt is lt with the sides exchanged.
        bool negated = false, swapped = false;
        tok base = cmp;
        switch (cmp) {
            case tok::ne: base = tok::eq, negated = true; break;
            case tok::ge:
            case tok::hs: base = tok::lt, negated = true; break;
            case tok::gt:
            case tok::hi: base = tok::lt, swapped = true; break;
            case tok::le:
            case tok::ls: base = tok::lt, swapped = negated = true; break;
            case tok::lo: base = tok::lt; break;
            default: break;
        }
        if (isa::info(i.type).cls == isa::type_class::floating) base = cmp, negated = swapped = false;  // NaN
        const value &x = swapped ? b : a, &y = swapped ? a : b;
        const value r = unknown(mix(mix(static_cast<uint64_t>(base), x.bits), y.bits));
        return negated ? negate(r) : r;
    }
    [[nodiscard]] static constexpr bool holds(const instruction& i, tok cmp, uint64_t a, uint64_t b) noexcept {
        const unsigned bits = isa::bits(i.type);
        const uint64_t x = masked(a, bits), y = masked(b, bits);
        const signed64 s = extended(a, bits), t = extended(b, bits);
        const bool sign = is_signed(i.type);
        switch (cmp) {
            case tok::eq: return x == y;
            case tok::ne: return x != y;
            case tok::lt: return sign ? s < t : x < y;
            case tok::le: return sign ? s <= t : x <= y;
            case tok::gt: return sign ? s > t : x > y;
            case tok::ge: return sign ? s >= t : x >= y;
            case tok::lo: return x < y;
            case tok::ls: return x <= y;
            case tok::hi: return x > y;
            default: return x >= y;
        }
    }

    // ---- integers -----------------------------------------------------------------------------------------------

    /// False where the instruction is none this policy computes.
    [[nodiscard, gnu::always_inline]] static constexpr bool integer(const form& f, tok op, const value* in,
                                                                    uint64_t& r) noexcept {
        const unsigned bits = f.bits;
        const bool sign = f.sign;
        const auto v = [&](uint32_t k) __attribute__((always_inline)) {
            return sign ? static_cast<uint64_t>(extended(in[k].bits, bits)) : masked(in[k].bits, bits);
        };
        const uint64_t a = v(0);
        unsigned width = bits;
        switch (op) {
            case tok::add: r = a + v(1); break;
            case tok::sub: r = a - v(1); break;
            case tok::mul: r = multiplied(f, a, v(1), width); break;
            case tok::mad: {
                const uint64_t p = multiplied(f, a, v(1), width);
                r = p + in[2].bits;
                break;
            }
            case tok::mul24: r = (a & 0xffffffu) * (v(1) & 0xffffffu); break;
            case tok::div:
                if (v(1) == 0) return false;
                r = !sign ? a / v(1) : divided(static_cast<signed64>(a), static_cast<signed64>(v(1)));
                break;
            case tok::rem:
                if (v(1) == 0) return false;
                r = !sign ? a % v(1) : a - divided(static_cast<signed64>(a), static_cast<signed64>(v(1))) * v(1);
                break;
            case tok::and_: r = a & v(1); break;
            case tok::or_: r = a | v(1); break;
            case tok::xor_: r = a ^ v(1); break;
            case tok::not_: r = ~a; break;
            case tok::cnot: r = a == 0 ? 1 : 0; break;
            case tok::neg: r = 0 - a; break;
            case tok::abs: r = static_cast<signed64>(a) < 0 ? 0 - a : a; break;
            case tok::min:
                r = sign ? (static_cast<signed64>(a) < static_cast<signed64>(v(1)) ? a : v(1)) : (a < v(1) ? a : v(1));
                break;
            case tok::max:
                r = sign ? (static_cast<signed64>(a) > static_cast<signed64>(v(1)) ? a : v(1)) : (a > v(1) ? a : v(1));
                break;
            case tok::shl: r = (in[1].bits & 0xffffffffu) >= bits ? 0 : a << (in[1].bits & 0xffffffffu); break;
            case tok::shr: r = shifted_right(a, in[1].bits & 0xffffffffu, bits, sign); break;
            case tok::bfe: r = extracted(in, bits, sign); break;
            case tok::bfi: r = inserted(in, bits); break;
            case tok::popc: r = static_cast<uint64_t>(std::popcount(masked(in[0].bits, bits))), width = 32; break;
            case tok::clz:
                r = static_cast<uint64_t>(std::countl_zero(masked(in[0].bits, bits))) - (64 - bits), width = 32;
                break;
            case tok::bfind: {
                const uint64_t x = masked(sign && static_cast<signed64>(a) < 0 ? ~a : a, bits);
                const unsigned zeros = static_cast<unsigned>(std::countl_zero(x));
                r = x == 0 ? 0xffffffffu : f.c.has(f.i, tok::shiftamt) ? zeros - (64 - bits) : 63 - zeros;
                width = 32;
                break;
            }
            case tok::brev:
                r = 0;
                for (unsigned k = 0; k < bits; ++k) r |= (a >> k & 1u) << (bits - 1 - k);
                break;
            case tok::lop3: r = looked_up(in); break;
            case tok::shf: r = funnel(f.c, f.i, in); break;
            case tok::prmt: r = permuted(in); break;
            case tok::cvt: r = converted(f.i, in[0].bits), width = isa::bits(f.i.result); break;
            default: return false;
        }
        r = masked(r, width);
        return true;
    }
    [[nodiscard]] static constexpr uint64_t divided(signed64 a, signed64 b) noexcept {
        return b == -1 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a / b);
    }
    [[nodiscard]] static constexpr uint64_t multiplied(const form& f, uint64_t a, uint64_t b,
                                                       unsigned& width) noexcept {
        if (f.wide) {
            width = 2 * f.bits;
            return a * b;
        }
        if (!f.hi) return a * b;
        if (f.bits < 64) return a * b >> f.bits;
        const uint64_t high = high_half(a, b);
        if (!f.sign) return high;
        return high - (static_cast<signed64>(a) < 0 ? b : 0) - (static_cast<signed64>(b) < 0 ? a : 0);
    }
    /// The upper 64 bits of a product.
    [[nodiscard]] static constexpr uint64_t high_half(uint64_t a, uint64_t b) noexcept {
        const uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
        const uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & 0xffffffffu);
        return ah * bh + (middle >> 32) + (other >> 32);
    }
    [[nodiscard]] static constexpr uint64_t shifted_right(uint64_t a, uint64_t by, unsigned bits, bool sign) noexcept {
        if (by >= bits) return sign && static_cast<signed64>(a) < 0 ? ~uint64_t{0} : 0;
        return sign ? static_cast<uint64_t>(static_cast<signed64>(a) >> by) : a >> by;
    }
    [[nodiscard]] static constexpr uint64_t extracted(const value* in, unsigned bits, bool sign) noexcept {
        const uint64_t pos = in[1].bits & 0xffu, len = in[2].bits & 0xffu;
        if (len == 0 || pos >= bits) return 0;
        const uint64_t field = masked(masked(in[0].bits, bits) >> pos, static_cast<unsigned>(len));
        return sign ? static_cast<uint64_t>(extended(field, static_cast<unsigned>(len))) : field;
    }
    [[nodiscard]] static constexpr uint64_t inserted(const value* in, unsigned bits) noexcept {
        const uint64_t pos = in[2].bits & 0xffu, len = in[3].bits & 0xffu;
        if (pos >= bits) return in[1].bits;
        const uint64_t mask = masked(~uint64_t{0}, static_cast<unsigned>(len)) << pos;
        return (in[1].bits & ~mask) | (in[0].bits << pos & mask);
    }
    [[nodiscard]] static constexpr uint64_t looked_up(const value* in) noexcept {
        uint64_t r = 0;
        for (unsigned k = 0; k < 32; ++k) {
            const uint64_t at = (in[0].bits >> k & 1u) << 2 | (in[1].bits >> k & 1u) << 1 | (in[2].bits >> k & 1u);
            r |= (in[3].bits >> at & 1u) << k;
        }
        return r;
    }
    [[nodiscard]] static constexpr uint64_t funnel(const code& c, const instruction& i, const value* in) noexcept {
        const uint64_t both = masked(in[1].bits, 32) << 32 | masked(in[0].bits, 32);
        uint64_t by = in[2].bits & 0xffffffffu;
        by = c.has(i, tok::wrap) ? by & 31u : by > 32 ? 32 : by;
        return c.has(i, tok::l) ? both << by >> 32 : both >> by;
    }
    [[nodiscard]] static constexpr uint64_t permuted(const value* in) noexcept {
        const uint64_t both = masked(in[1].bits, 32) << 32 | masked(in[0].bits, 32);
        uint64_t r = 0;
        for (unsigned k = 0; k < 4; ++k) {
            const uint64_t sel = in[2].bits >> 4 * k & 0xfu;
            uint64_t byte = both >> 8 * (sel & 7u) & 0xffu;
            if ((sel & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xff : 0;
            r |= byte << 8 * k;
        }
        return r;
    }
    [[nodiscard]] static constexpr uint64_t converted(const instruction& i, uint64_t a) noexcept {
        const unsigned from = isa::bits(i.type);
        return is_signed(i.type) ? static_cast<uint64_t>(extended(a, from)) : masked(a, from);
    }
};

}  // namespace ptxdsl::machine
