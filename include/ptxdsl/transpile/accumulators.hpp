// SPDX-License-Identifier: Apache-2.0
// Registers that wgmma instructions of one function take as accumulators: with a name of their own, each is `acc[i]` in
// the hardware's order, also where the results are stored.
#pragma once

#include <ptxdsl/isa/tokens.hpp>
#include <ptxdsl/isa/types.hpp>
#include <ptxdsl/parse/tree.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxdsl::ptx {

/// Registers `prefix<first>`, `prefix<first + step>`, … of an m64nN accumulator of type `type`.
struct accumulator_group {
    std::string_view prefix;
    std::uint32_t first = 0;
    int step = 1;
    unsigned size = 0, n = 0;
    isa::scalar type = isa::scalar::none;
    std::string cpp = {};                ///< its name, once it has one
    std::uint32_t handle = 0xffffffffu;  ///< the range the registers belong to, once it is known

    /// The place of a register of the range, -1 when it is none of these.
    [[nodiscard]] int place_of(std::uint32_t number) const noexcept {
        const std::int64_t i = (std::int64_t{number} - first) * step;
        return i >= 0 && i < std::int64_t{size} ? static_cast<int>(i) : -1;
    }
};

/// Finds the accumulators of one function.
class accumulator_finder {
public:
    explicit accumulator_finder(const tree_view& v) : v_(v) {}

    [[nodiscard]] std::vector<accumulator_group> run(std::uint32_t function) {
        for (u32 n = function; n < v_[function].end; ++n)
            if (v_.kind(n) == node_kind::instruction && v_.atom(n) == "wgmma") instruction(n);
        return std::move(groups_);
    }

private:
    using u32 = std::uint32_t;

    void instruction(u32 n) {
        accumulator_group g;
        u32 c = n + 1;
        for (; c < v_[n].end && (v_.kind(c) == node_kind::guard || v_.kind(c) == node_kind::modifier); c = v_[c].end)
            if (v_.kind(c) == node_kind::modifier) word(v_.atom(c).substr(1), g);
        if (c >= v_[n].end || v_.kind(c) != node_kind::vector || g.n == 0 || g.type == isa::scalar::none) return;
        g.size = g.type == isa::scalar::f16 ? g.n / 4 : g.n / 2;
        if (v_.children(c) == g.size && registers(c, g) && is_new(g)) groups_.push_back(g);
    }
    /// The first type is D's.
    static void word(std::string_view s, accumulator_group& g) {
        if (s.substr(0, 4) == "m64n") {
            for (std::size_t i = 4; i < s.size() && s[i] >= '0' && s[i] <= '9'; ++i)
                g.n = g.n * 10 + static_cast<unsigned>(s[i] - '0');
        } else if (g.n != 0 && g.type == isa::scalar::none) {
            g.type = isa::token_type(isa::find_token(s));
        }
    }
    /// Cuts a name in front of its number. Names with a zero there (`%f01`) are none of a range.
    [[nodiscard]] static bool cut(std::string_view name, std::string_view& prefix, u32& number) {
        std::size_t at = name.size();
        while (at != 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
        if (at == name.size() || name.size() - at > 8 || (name[at] == '0' && at + 1 != name.size())) return false;
        prefix = name.substr(0, at);
        number = 0;
        for (char c : name.substr(at)) number = number * 10 + static_cast<u32>(c - '0');
        return true;
    }
    [[nodiscard]] bool registers(u32 list, accumulator_group& g) const {
        u32 i = 0;
        for (u32 c = list + 1; c < v_[list].end; c = v_[c].end, ++i) {
            std::string_view prefix;
            u32 number = 0;
            if (v_.kind(c) != node_kind::name || v_.has_children(c) || !cut(v_.atom(c), prefix, number)) return false;
            if (i == 0) g.prefix = prefix, g.first = number;
            if (i == 1) g.step = number == g.first + 1 ? 1 : -1;
            if (prefix != g.prefix || g.place_of(number) != static_cast<int>(i)) return false;
        }
        return true;
    }
    /// A register belongs to one accumulator at most.
    [[nodiscard]] bool is_new(const accumulator_group& g) const {
        const auto low = [](const accumulator_group& x) { return x.step > 0 ? x.first : x.first - (x.size - 1); };
        for (const accumulator_group& o : groups_)
            if (o.prefix == g.prefix && low(o) < low(g) + g.size && low(g) < low(o) + o.size) return false;
        return true;
    }

    const tree_view& v_;
    std::vector<accumulator_group> groups_;
};

}  // namespace ptxdsl::ptx
