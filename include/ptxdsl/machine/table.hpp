// SPDX-License-Identifier: Apache-2.0
// A hash table from numbers to values that works in constant evaluation too.
#pragma once

#include <ptxdsl/machine/code.hpp>
#include <ptxdsl/machine/list.hpp>

#include <cstdint>
#include <utility>

namespace ptxdsl::machine {

/// Values by number. A reference to a value lives until a key is added.
template <class T>
class table {
public:
    [[nodiscard]] constexpr bool empty() const noexcept { return values_.empty(); }
    constexpr void clear() noexcept {
        for (uint32_t& s : slots_) s = 0;
        keys_.clear();
        values_.clear();
    }
    /// Null where nothing has that key.
    [[nodiscard]] constexpr T* find(uint64_t key) noexcept {
        if (slots_.empty()) return nullptr;
        const uint32_t at = slots_[place(key)];
        return at == 0 ? nullptr : &values_[at - 1];
    }
    [[nodiscard]] constexpr const T* find(uint64_t key) const noexcept {
        if (slots_.empty()) return nullptr;
        const uint32_t at = slots_[place(key)];
        return at == 0 ? nullptr : &values_[at - 1];
    }
    /// The value with that key, made where there was none; `second` says whether.
    constexpr std::pair<T*, bool> insert(uint64_t key) {
        if (2 * (keys_.size() + 1) > slots_.size()) grow();
        uint32_t& at = slots_[place(key)];
        const bool fresh = at == 0;
        if (fresh) {
            keys_.push_back(key);
            values_.emplace_back();
            at = static_cast<uint32_t>(keys_.size());
        }
        return {&values_[at - 1], fresh};
    }
    constexpr T& operator[](uint64_t key) { return *insert(key).first; }

private:
    /// Where a key stands or would stand. There is always a free slot.
    [[nodiscard]] constexpr std::size_t place(uint64_t key) const noexcept {
        const std::size_t last = slots_.size() - 1;
        std::size_t at = static_cast<std::size_t>(mix(key, 0x7ab1e) >> 32) & last;
        while (slots_[at] != 0 && keys_[slots_[at] - 1] != key) at = (at + 1) & last;
        return at;
    }
    constexpr void grow() {
        slots_.assign(slots_.empty() ? 8 : 2 * slots_.size(), 0);
        for (uint32_t k = 0; k < keys_.size(); ++k) slots_[place(keys_[k])] = k + 1;
    }

    list<uint32_t> slots_;  ///< a power of two; index into the values plus one, 0: free
    list<uint64_t> keys_;
    list<T> values_;
};

}  // namespace ptxdsl::machine
