// SPDX-License-Identifier: Apache-2.0
// Names for registers by what they hold: a special register's value, a parameter, an address, a sum.
#pragma once

#include <ptxdsl/parse/tree.hpp>
#include <ptxdsl/transpile/cpp_text.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ptxdsl::ptx {

/// Finds roles of one function's registers, by their spelling. A name is only another handle of the same register, so
/// none can change what is emitted; registers written in several places get one only as accumulators.
class role_finder {
public:
    explicit role_finder(const tree_view& v) : v_(v) {}

    [[nodiscard]] std::unordered_map<std::string_view, std::string> run(std::uint32_t function) {
        const u32 body = v_.child(function, node_kind::body);
        if (body == 0) return {};
        scan(body);
        for (u32 n = body; n < v_[body].end; ++n)
            if (v_.kind(n) == node_kind::instruction) instruction(n);
        few(accumulators_, "acc");
        few(addresses_, "address");
        for (const std::string_view name : hidden_) roles_.erase(name);
        return std::move(roles_);
    }

private:
    using u32 = std::uint32_t;
    static constexpr std::size_t most = 6;  ///< more of a kind are better told apart by their numbers

    /// Counts definitions, and leaves out what scopes inside the body declare anew.
    void scan(u32 body) {
        std::unordered_set<std::string_view> inner;
        for (u32 n = body; n < v_[body].end; ++n) {
            if (v_.kind(n) == node_kind::instruction) count_results(n);
            if (v_.kind(n) != node_kind::body || n == body) continue;
            for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
                if (v_.kind(c) == node_kind::declaration)
                    for (u32 d = c + 1; d < v_[c].end; d = v_[d].end)
                        if (v_.kind(d) == node_kind::declarator) inner.insert(v_.atom(d));
        }
        for (const auto& [name, times] : written_)
            for (const std::string_view i : inner)
                if (name.substr(0, i.size()) == i) hidden_.insert(name);
    }
    [[nodiscard]] u32 first_operand(u32 n) const {
        u32 c = n + 1;
        while (c < v_[n].end && (v_.kind(c) == node_kind::guard || v_.kind(c) == node_kind::modifier)) c = v_[c].end;
        return c;
    }
    void count_results(u32 n) {
        const u32 c = first_operand(n);
        if (c >= v_[n].end || v_.kind(c) == node_kind::address) return;
        for (u32 x = c; x < v_[c].end; ++x)
            if (v_.kind(x) == node_kind::name) ++written_[v_.atom(x)];
    }
    [[nodiscard]] std::string words(u32 n) const {
        std::string s(v_.atom(n));
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
            if (v_.kind(c) == node_kind::modifier) s += v_.atom(c);
        return s;
    }
    [[nodiscard]] bool is_register(u32 n) const {
        return v_.kind(n) == node_kind::name && !v_.has_children(n) && written_.find(v_.atom(n)) != written_.end();
    }
    [[nodiscard]] std::string_view role(u32 n) const {
        const auto r = roles_.find(v_.atom(n));
        return r == roles_.end() ? std::string_view() : std::string_view(r->second);
    }
    void name_once(u32 n, std::string role) {
        if (written_[v_.atom(n)] == 1 && roles_.find(v_.atom(n)) == roles_.end()) roles_[v_.atom(n)] = std::move(role);
    }
    void instruction(u32 n) {
        std::vector<u32> o;
        for (u32 c = first_operand(n); c < v_[n].end; c = v_[c].end) o.push_back(c);
        for (const u32 x : o)
            if (v_.kind(x) == node_kind::address && is_register(x + 1)) addresses_.push_back(v_.atom(x + 1));
        if (o.size() < 2 || !is_register(o[0])) return;
        const std::string w = words(n);
        if (v_.atom(n) == "mov" && v_.kind(o[1]) == node_kind::name && v_.atom(o[1])[0] == '%' && !is_register(o[1]))
            special(o[0], o[1]);
        else if (v_.atom(n) == "mov" && v_.kind(o[1]) == node_kind::name && !is_register(o[1]) &&
                 !v_.has_children(o[1]))
            name_once(o[0], short_name(v_.atom(o[1])) + "_address");
        else if (w.substr(0, 8) == "ld.param" && v_.kind(o[1]) == node_kind::address &&
                 v_.kind(o[1] + 1) == node_kind::name)
            parameter(o[0], v_.atom(o[1] + 1));
        else if (w == "cvta.to.global.u64" && v_.kind(o[1]) == node_kind::name && !role(o[1]).empty())
            name_once(o[0], std::string(role(o[1])) + "_global");
        else if (w.substr(0, 6) == "mad.lo" && o.size() == 4)
            thread(o);
        else if (v_.atom(n) == "fma" && o.size() == 4 && v_.kind(o[3]) == node_kind::name &&
                 v_.atom(o[3]) == v_.atom(o[0]))
            accumulators_.push_back(v_.atom(o[0]));
    }
    void special(u32 to, u32 from) {
        std::string name(v_.atom(from).substr(1));
        if (v_.has_children(from)) name += v_.atom(from + 1);
        for (char& c : name)
            if (c == '.') c = '_';
        name_once(to, name);
    }
    /// `kernel_param_3` is param_3.
    [[nodiscard]] static std::string short_name(std::string_view symbol) {
        const std::size_t at = symbol.rfind("_param_");
        return at == symbol.npos ? std::string(cpp::base_name(symbol)) : std::string(symbol.substr(at + 1));
    }
    void parameter(u32 to, std::string_view symbol) {
        name_once(to, symbol.rfind("_param_") == symbol.npos ? std::string(symbol) : short_name(symbol));
    }
    /// `ctaid * ntid + tid`
    void thread(const std::vector<u32>& o) {
        if (v_.kind(o[1]) != node_kind::name || v_.kind(o[2]) != node_kind::name || v_.kind(o[3]) != node_kind::name)
            return;
        const std::string_view a = role(o[1]), b = role(o[2]), c = role(o[3]);
        const bool block = (a.substr(0, 5) == "ctaid" && b.substr(0, 4) == "ntid") ||
                           (b.substr(0, 5) == "ctaid" && a.substr(0, 4) == "ntid");
        if (block && c.substr(0, 3) == "tid") name_once(o[0], "thread_" + std::string(c.substr(c.size() - 1)));
    }
    /// Names all of a kind when they are few.
    void few(const std::vector<std::string_view>& all, const char* name) {
        std::vector<std::string_view> distinct;
        std::unordered_set<std::string_view> seen;
        for (const std::string_view s : all)
            if (roles_.find(s) == roles_.end() && seen.insert(s).second) distinct.push_back(s);
        if (distinct.size() > most) return;
        for (const std::string_view s : distinct) roles_[s] = name;
    }

    const tree_view& v_;
    std::unordered_map<std::string_view, unsigned> written_;
    std::unordered_map<std::string_view, std::string> roles_;
    std::unordered_set<std::string_view> hidden_;
    std::vector<std::string_view> accumulators_, addresses_;
};

}  // namespace ptxdsl::ptx
