// SPDX-License-Identifier: Apache-2.0
// A growing array for the machine: what std::vector offers of it, for less in constant evaluation.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>

namespace ptxdsl::machine {

/// Values in a row. What is cleared keeps its place: a list that is filled and cleared again and again allocates once.
template <class T>
class list {
public:
    constexpr list() noexcept = default;
    constexpr list(std::initializer_list<T> all) {
        reserve(all.size());
        for (const T& v : all) first_[size_++] = v;
    }
    constexpr list(std::size_t n, const T& v) { assign(n, v); }
    constexpr list(const list& other) { *this = other; }
    constexpr list(list&& other) noexcept { swap(other); }
    constexpr list& operator=(const list& other) {
        if (this == &other) return *this;
        size_ = 0;
        reserve(other.size_);
        for (std::size_t k = 0; k < other.size_; ++k) first_[k] = other.first_[k];
        size_ = other.size_;
        return *this;
    }
    constexpr list& operator=(list&& other) noexcept {
        swap(other);
        return *this;
    }
    constexpr ~list() { delete[] first_; }

    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr T* data() noexcept { return first_; }
    [[nodiscard]] constexpr const T* data() const noexcept { return first_; }
    [[nodiscard]] constexpr T& operator[](std::size_t k) noexcept { return first_[k]; }
    [[nodiscard]] constexpr const T& operator[](std::size_t k) const noexcept { return first_[k]; }
    [[nodiscard]] constexpr T& back() noexcept { return first_[size_ - 1]; }
    [[nodiscard]] constexpr const T& back() const noexcept { return first_[size_ - 1]; }
    [[nodiscard]] constexpr T& front() noexcept { return first_[0]; }
    [[nodiscard]] constexpr const T& front() const noexcept { return first_[0]; }
    [[nodiscard]] constexpr T* begin() noexcept { return first_; }
    [[nodiscard]] constexpr T* end() noexcept { return first_ + size_; }
    [[nodiscard]] constexpr const T* begin() const noexcept { return first_; }
    [[nodiscard]] constexpr const T* end() const noexcept { return first_ + size_; }

    constexpr void reserve(std::size_t n) {
        if (n <= room_) return;
        T* const more = new T[n];
        for (std::size_t k = 0; k < size_; ++k) more[k] = std::move(first_[k]);
        delete[] first_;
        first_ = more;
        room_ = n;
    }
    constexpr void clear() noexcept { size_ = 0; }
    constexpr void push_back(const T& v) {
        if (size_ == room_) {
            T copy = v;  // it may lie in this list
            reserve(room_ == 0 ? 4 : 2 * room_);
            first_[size_++] = std::move(copy);
        } else {
            first_[size_++] = v;
        }
    }
    constexpr void push_back(T&& v) {
        if (size_ == room_) {
            T moved = std::move(v);
            reserve(room_ == 0 ? 4 : 2 * room_);
            first_[size_++] = std::move(moved);
        } else {
            first_[size_++] = std::move(v);
        }
    }
    constexpr T& emplace_back() {
        push_back(T{});
        return back();
    }
    constexpr void pop_back() noexcept { --size_; }
    /// New values are fresh, also where the list has had values before.
    constexpr void resize(std::size_t n) {
        reserve(n);
        for (std::size_t k = size_; k < n; ++k) first_[k] = T{};
        size_ = n;
    }
    constexpr void assign(std::size_t n, const T& v) {
        reserve(n);
        for (std::size_t k = 0; k < n; ++k) first_[k] = v;
        size_ = n;
    }
    /// Takes out the value at `k`; those behind it move up.
    constexpr void remove(std::size_t k) {
        for (; k + 1 < size_; ++k) first_[k] = std::move(first_[k + 1]);
        --size_;
    }

private:
    constexpr void swap(list& other) noexcept {
        T* const first = first_;
        first_ = other.first_, other.first_ = first;
        std::size_t n = size_;
        size_ = other.size_, other.size_ = n;
        n = room_;
        room_ = other.room_, other.room_ = n;
    }

    T* first_ = nullptr;
    std::size_t size_ = 0, room_ = 0;
};

}  // namespace ptxdsl::machine
