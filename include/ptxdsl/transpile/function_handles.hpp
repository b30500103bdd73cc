// SPDX-License-Identifier: Apache-2.0
// The C++ names of what the statements of a function use.
#pragma once

#include <ptxdsl/transpile/accumulators.hpp>
#include <ptxdsl/transpile/calls.hpp>
#include <ptxdsl/transpile/scopes.hpp>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxdsl::ptx {

/// Gives registers, labels and symbols their names, and remembers which of them a statement used.
class function_handles : public handle_source {
public:
    void keep(bool used) override {
        if (used)
            for (const asked& a : asked_) mark(a);
        if (used)
            for (const u32 spelling : asked_symbols_) used_symbols_[spelling] = true;
        asked_.clear();
        asked_symbols_.clear();
    }
    [[nodiscard]] std::string reg(register_ref r, isa::scalar as) override {
        const handle& h = scope_.handles[r.handle];
        const bool same = as == isa::scalar::none || as == h.type;
        const std::string cast = same ? std::string() : ".as<" + cpp::type(as) + ">()";
        if (const std::string element = element_of(r); !element.empty()) return element + cast;
        if (const std::string& alias = alias_of(r); !alias.empty()) {
            asked_.push_back({r.handle, isa::scalar::none, alias, true, r.number});
            return alias + cast;
        }
        const std::string name = h.array && !same ? view_name(r.handle, as) : h.cpp;
        asked_.push_back({r.handle, h.array && !same ? as : isa::scalar::none, name, false, 0});
        return h.array ? name + "[" + std::to_string(r.number) + "]" : name + cast;
    }
    [[nodiscard]] std::string array(register_ref r) override {
        asked_.push_back({r.handle, isa::scalar::none, {}, false, 0});
        return scope_.handles[r.handle].cpp;
    }
    [[nodiscard]] std::string accumulator(const std::vector<argument>& registers) override {
        if (registers.empty() || registers[0].kind != argument_kind::reg) return {};
        accumulator_group* const g = group_of(registers[0].reg);
        if (g == nullptr || g->size != registers.size()) return {};
        for (std::size_t i = 0; i < registers.size(); ++i) {
            const register_ref r = registers[i].reg;
            if (registers[i].kind != argument_kind::reg || r.handle != g->handle ||
                g->place_of(r.number) != static_cast<int>(i))
                return {};
        }
        ask_for(*g);
        return g->cpp;
    }
    [[nodiscard]] std::string label(u32 spelling) override {
        const symbol* const s = scope_.find_label(spelling);
        const u32 h = scope_.handle_of(*s);
        asked_.push_back({h, isa::scalar::none, {}, false, 0});
        return scope_.handles[h].cpp;
    }
    [[nodiscard]] std::string named(u32 spelling) override {
        const symbol* const s = scope_.find(spelling);
        if (s != nullptr && s->kind != symbol_kind::reg && scope_.handle_of(*s) >= first_handle_) {
            const u32 h = scope_.handle_of(*s);
            asked_.push_back({h, isa::scalar::none, {}, false, 0});
            return scope_.handles[h].cpp;
        }
        std::string& name = symbols_[spelling];
        if (name.empty()) name = names_.make(readable(v_.word(spelling))), symbol_order_.push_back(spelling);
        asked_symbols_.push_back(spelling);
        return name;
    }

protected:
    using u32 = std::uint32_t;

    function_handles(const tree_view& v, bool sugar) : v_(v), scope_(v), sugar_(sugar) {}

    /// What a mangled name is called in its source; other names as they are, and all without `--sugar`.
    [[nodiscard]] std::string readable(std::string_view name) const {
        return sugar_ ? cpp::base_name(name) : std::string(name);
    }

    const tree_view& v_;
    naming_scope scope_;
    cpp::names names_;
    bool sugar_ = false;
    u32 first_handle_ = 0;                          ///< handles from here on are the function's
    std::unordered_map<u32, std::string> symbols_;  ///< handles of what the module declares, by spelling
    std::unordered_map<u32, bool> used_symbols_;
    std::vector<u32> symbol_order_;
    std::unordered_map<std::string, std::string> roles_;  ///< by the PTX name of a register
    std::vector<accumulator_group> accumulators_;         ///< of the function being written

    void forget_function() {
        names_ = cpp::names();
        symbols_.clear(), used_symbols_.clear(), symbol_order_.clear(), view_names_.clear();
        alias_names_.clear(), roles_.clear(), accumulators_.clear();
    }

private:
    /// What a statement under construction has named.
    struct asked {
        u32 handle;
        isa::scalar type;  ///< of a view
        std::string name;  ///< of a view or alias
        bool is_alias;
        u32 number;
        bool is_group = false;  ///< `name` is the declaration of an accumulator
    };

    /// The accumulator a register is part of; null when there is none.
    [[nodiscard]] accumulator_group* group_of(register_ref r) {
        const handle& h = scope_.handles[r.handle];
        if (!h.array || !h.plain || h.ptx.empty() || isa::bits(h.type) != 32) return nullptr;
        for (accumulator_group& g : accumulators_) {
            if (g.prefix != h.ptx || g.place_of(r.number) < 0) continue;
            if (g.handle == 0xffffffffu) g.handle = r.handle;
            return g.handle == r.handle ? &g : nullptr;  // a scope may declare the name again
        }
        return nullptr;
    }
    void ask_for(accumulator_group& g) {
        if (g.cpp.empty()) g.cpp = names_.make("acc");
        const handle& h = scope_.handles[g.handle];
        const std::string step = g.step < 0 ? ", -1" : "";
        asked_.push_back({g.handle, isa::scalar::none,
                          "const auto " + g.cpp + " = k.accumulator<" + cpp::type(g.type) + ", " + std::to_string(g.n) +
                              ">(" + h.cpp + ", " + std::to_string(g.first) + step + ");",
                          false, 0, true});
    }
    /// A register of an accumulator as `acc[i]`; empty for others.
    [[nodiscard]] std::string element_of(register_ref r) {
        accumulator_group* const g = accumulators_.empty() ? nullptr : group_of(r);
        if (g == nullptr) return {};
        ask_for(*g);
        return g->cpp + "[" + std::to_string(g->place_of(r.number)) + "]";
    }

    void mark(const asked& a) {
        handle& x = scope_.handles[a.handle];
        x.used = true;
        if (a.is_group) {
            for (const std::string& known : x.groups)
                if (known == a.name) return;
            return x.groups.push_back(a.name);
        }
        if (a.is_alias) {
            for (const auto& known : x.aliases)
                if (known.first == a.number) return;
            return void(x.aliases.emplace_back(a.number, a.name));
        }
        if (a.type == isa::scalar::none) return;
        for (const auto& v : x.views)
            if (v.first == a.type) return;
        x.views.emplace_back(a.type, a.name);
    }
    /// The name of a register of a range by its role; empty when it has none.
    [[nodiscard]] const std::string& alias_of(register_ref r) {
        static const std::string none;
        const handle& h = scope_.handles[r.handle];
        if (!h.array || roles_.empty() || !h.plain) return none;
        std::string& name = alias_names_[{r.handle, r.number}];
        if (!name.empty()) return name;
        const auto role = roles_.find(std::string(h.ptx) + std::to_string(r.number));
        if (role == roles_.end()) return none;
        return name = names_.make(role->second);
    }
    [[nodiscard]] std::string view_name(u32 h, isa::scalar as) {
        std::string& name = view_names_[{h, as}];
        if (name.empty()) name = names_.make(scope_.handles[h].cpp + "_" + std::string(isa::name(as)));
        return name;
    }

    struct view_key_hash {
        std::size_t operator()(const std::pair<u32, isa::scalar>& k) const noexcept {
            return k.first * 64u + static_cast<unsigned>(k.second);
        }
        std::size_t operator()(const std::pair<u32, u32>& k) const noexcept {
            return k.first * std::size_t{1000003} + k.second;
        }
    };

    std::unordered_map<std::pair<u32, isa::scalar>, std::string, view_key_hash> view_names_;
    std::unordered_map<std::pair<u32, u32>, std::string, view_key_hash> alias_names_;
    std::vector<asked> asked_;
    std::vector<u32> asked_symbols_;
};

}  // namespace ptxdsl::ptx
