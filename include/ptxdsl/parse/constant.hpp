// SPDX-License-Identifier: Apache-2.0
// Value of constant expressions (PTX ISA 9.0, 4.5): 64-bit integers with C's operators and precedences.
#pragma once

#include <ptxdsl/parse/tree.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

/// What a constant is: an integer and its value, or a float of which only the form is known.
struct constant_value {
    std::int64_t value = 0;
    bool is_float = false;
    bool is_bits = false;  ///< 0f… or 0d…: the width is fixed
    bool is_double = false;
};

/// Evaluates the node of a constant: literal, group or expression.
class constant_reader {
public:
    constexpr explicit constant_reader(const tree_view& v) noexcept : v_(v) {}

    [[nodiscard]] constexpr constant_value of(std::uint32_t n) noexcept {
        switch (v_.kind(n)) {
            case node_kind::literal: return literal(v_.atom(n));
            case node_kind::group: return of(n + 1);
            case node_kind::expression: break;
            default: return {};
        }
        const std::uint32_t at = at_, end = end_;
        at_ = n + 1, end_ = v_[n].end;
        const constant_value c = conditional();
        at_ = at, end_ = end;
        return c;
    }

    [[nodiscard]] static constexpr constant_value literal(std::string_view s) noexcept {
        if (s == "WARP_SZ") return {32, false, false, false};
        const bool prefixed = s.size() > 2 && s[0] == '0';
        const char second = prefixed ? static_cast<char>(s[1] | 0x20) : '\0';
        if (second == 'f' && s.size() == 10) return {0, true, true, false};
        if (second == 'd' && s.size() == 18) return {0, true, true, true};
        if (second != 'x' && s.find_first_of(".eE") != std::string_view::npos) return {0, true, false, true};
        return {static_cast<std::int64_t>(integer_value(s)), false, false, false};
    }

private:
    using u64 = std::uint64_t;

    [[nodiscard]] constexpr std::string_view operation() const noexcept {
        return at_ < end_ && v_.kind(at_) == node_kind::operation ? v_.atom(at_) : std::string_view();
    }
    [[nodiscard]] static constexpr unsigned level(std::string_view op) noexcept {
        using namespace std::string_view_literals;
        constexpr std::string_view levels[] = {"||"sv,    "&&"sv,        "|"sv,     "^"sv,   "&"sv,
                                               "== !="sv, "< > <= >="sv, "<< >>"sv, "+ -"sv, "* / %"sv};
        for (unsigned i = 0; i < 10; ++i) {
            const std::string_view l = levels[i];
            for (std::size_t b = 0; b < l.size();) {
                std::size_t e = l.find(' ', b);
                if (e == std::string_view::npos) e = l.size();
                if (l.substr(b, e - b) == op) return i + 1;
                b = e + 1;
            }
        }
        return 0;
    }
    [[nodiscard]] constexpr constant_value conditional() noexcept {
        const constant_value condition = binary(1);
        if (operation() != "?") return condition;
        ++at_;
        const constant_value yes = conditional();
        ++at_;  // the parser has seen to it that this is a ':'
        const constant_value no = conditional();
        return condition.value != 0 ? yes : no;
    }
    [[nodiscard]] constexpr constant_value binary(unsigned lowest) noexcept {
        constant_value left = unary();
        for (;;) {
            const std::string_view op = operation();
            const unsigned l = level(op);
            if (l < lowest || l == 0) return left;
            ++at_;
            const constant_value right = binary(l + 1);
            left = {left.is_float || right.is_float ? 0 : apply(op, left.value, right.value), left.is_float, false,
                    left.is_double};
        }
    }
    [[nodiscard]] constexpr constant_value unary() noexcept {
        if (at_ >= end_) return {};
        if (v_.kind(at_) == node_kind::cast) {
            ++at_;
            return unary();
        }
        const std::string_view op = operation();
        if (op.empty()) {
            const std::uint32_t n = at_;
            at_ = v_[n].end;
            return of(n);
        }
        ++at_;
        constant_value c = unary();
        const auto u = static_cast<u64>(c.value);
        if (op == "-")
            c.value = static_cast<std::int64_t>(0 - u);
        else if (op == "~")
            c.value = static_cast<std::int64_t>(~u);
        else if (op == "!")
            c.value = c.value == 0;
        return c;
    }
    [[nodiscard]] static constexpr std::int64_t apply(std::string_view op, std::int64_t a, std::int64_t b) noexcept {
        const auto x = static_cast<u64>(a), y = static_cast<u64>(b);
        const auto wrapped = [](u64 v) { return static_cast<std::int64_t>(v); };
        if (op == "+") return wrapped(x + y);
        if (op == "-") return wrapped(x - y);
        if (op == "*") return wrapped(x * y);
        if (op == "/" || op == "%") {
            if (b == 0) return 0;
            if (b == -1) return op == "/" ? wrapped(0 - x) : 0;
            return op == "/" ? a / b : a % b;
        }
        if (op == "<<") return y > 63 ? 0 : wrapped(x << y);
        if (op == ">>") return y > 63 ? 0 : a >> y;
        if (op == "&") return wrapped(x & y);
        if (op == "|") return wrapped(x | y);
        if (op == "^") return wrapped(x ^ y);
        if (op == "&&") return a != 0 && b != 0;
        if (op == "||") return a != 0 || b != 0;
        if (op == "==") return a == b;
        if (op == "!=") return a != b;
        if (op == "<") return a < b;
        if (op == ">") return a > b;
        return op == "<=" ? a <= b : a >= b;
    }

    const tree_view& v_;
    std::uint32_t at_ = 0;
    std::uint32_t end_ = 0;
};

}  // namespace ptxdsl::ptx
