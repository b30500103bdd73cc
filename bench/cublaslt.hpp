// SPDX-License-Identifier: Apache-2.0
// cuBLASLt as a peer: loaded at run time, the few declarations of its binary interface written down here, so that the
// benchmark builds without a CUDA toolkit.
#pragma once

#include <ptxdsl/runtime.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {

namespace px = ptxdsl;

/// The library, and one handle.
class cublaslt {
public:
    using handle = void*;
    using object = void*;  ///< operation, layout and preference descriptors

    /// `cublasLtMatmulHeuristicResult_t`.
    struct choice {
        std::array<std::uint64_t, 8> algorithm;
        std::size_t workspace;
        int status;
        float waves;
        int reserved[4];
    };
    static_assert(sizeof(choice) == 96);

    /// Looks for PTXDSL_CUBLASLT, then for the library's usual names. Error: a sentence about what was tried.
    static px::result<std::shared_ptr<const cublaslt>> load() {
        std::vector<std::string> names{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
        if (const char* named = std::getenv("PTXDSL_CUBLASLT")) names.insert(names.begin(), named);
        for (const std::string& n : names)
            if (void* library = dlopen(n.c_str(), RTLD_NOW | RTLD_LOCAL)) return open(library, n);
        return px::error{
            px::errc::not_supported,
            "cuBLASLt was not found as libcublasLt.so.13 or .12; set LD_LIBRARY_PATH, or PTXDSL_CUBLASLT to the file"};
    }

    handle lt = nullptr;
    int (*create)(handle*) = nullptr;
    std::size_t (*version)() = nullptr;
    int (*operation_create)(object*, int compute, int scale) = nullptr;
    int (*operation_set)(object, int attribute, const void*, std::size_t) = nullptr;
    int (*layout_create)(object*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) = nullptr;
    int (*preference_create)(object*) = nullptr;
    int (*preference_set)(object, int attribute, const void*, std::size_t) = nullptr;
    int (*heuristic)(handle, object operation, object a, object b, object c, object d, object preference, int wanted,
                     choice*, int* found) = nullptr;
    int (*matmul)(handle, object operation, const void* alpha, const void* a, object la, const void* b, object lb,
                  const void* beta, const void* c, object lc, void* d, object ld, const void* algorithm,
                  void* workspace, std::size_t workspace_bytes, px::cu::stream) = nullptr;

private:
    static px::result<std::shared_ptr<const cublaslt>> open(void* library, const std::string& file) {
        auto l = std::make_shared<cublaslt>();
        bool all = true;
        const auto find = [&](auto& function, const char* symbol) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
            all = all && function != nullptr;
        };
        find(l->create, "cublasLtCreate");
        find(l->version, "cublasLtGetVersion");
        find(l->operation_create, "cublasLtMatmulDescCreate");
        find(l->operation_set, "cublasLtMatmulDescSetAttribute");
        find(l->layout_create, "cublasLtMatrixLayoutCreate");
        find(l->preference_create, "cublasLtMatmulPreferenceCreate");
        find(l->preference_set, "cublasLtMatmulPreferenceSetAttribute");
        find(l->heuristic, "cublasLtMatmulAlgoGetHeuristic");
        find(l->matmul, "cublasLtMatmul");
        if (!all) return px::error{px::errc::not_supported, file + " lacks functions of cuBLASLt 12 or newer"};
        if (const int s = l->create(&l->lt); s != 0)
            return px::error{px::errc::not_supported, fmt::format("cublasLtCreate failed with status {}", s)};
        return std::shared_ptr<const cublaslt>(std::move(l));
    }
};

/// What cuBLASLt multiplies: bf16, or e4m3 (or A of e4m3 and B of e5m2) with a scale an operand; the result is bf16.
enum class lt_operands { bf16, e4m3, e4m3_fast, e4m3_e5m2, e4m3_e5m2_fast };

/// C = A B^T, row-major, f32 sums: one problem with the algorithms that the library's heuristic offers for it.
class cublaslt_gemm {
public:
    static constexpr std::size_t workspace_bytes = 32u << 20;  ///< what torch gives it on Hopper

    /// Addresses of A (m x k), B (n x k), C (m x n) and, for e4m3, of the scales.
    struct problem {
        std::uint64_t a, b, c, m, n, k, a_scale = 0, b_scale = 0;
    };

    static px::result<cublaslt_gemm> make(const px::context& ctx, std::shared_ptr<const cublaslt> lt, const problem& p,
                                          lt_operands kind = lt_operands::bf16) {
        auto workspace = px::device_buffer<char>::allocate(ctx, workspace_bytes);
        if (!workspace) return workspace.error();
        cublaslt_gemm g(std::move(lt), std::move(*workspace), p);
        // cuBLAS is column-major: a row-major matrix is its transpose, so C^T = B A^T with B given as its transpose.
        const bool mixed = kind == lt_operands::e4m3_e5m2 || kind == lt_operands::e4m3_e5m2_fast;
        const int transpose = 1, plain = 0, type = kind == lt_operands::bf16 ? type_bf16 : type_e4m3;
        const int type_of_first = mixed ? type_e5m2 : type;
        const cublaslt& l = *g.lt_;
        int s = l.operation_create(&g.operation_, compute_f32, type_f32);
        if (s == 0) s = l.operation_set(g.operation_, transpose_first, &transpose, sizeof transpose);
        if (s == 0) s = l.operation_set(g.operation_, transpose_second, &plain, sizeof plain);
        if (kind != lt_operands::bf16) {
            const signed char fast = kind == lt_operands::e4m3_fast || kind == lt_operands::e4m3_e5m2_fast ? 1 : 0;
            if (s == 0) s = l.operation_set(g.operation_, scale_of_first, &p.b_scale, sizeof p.b_scale);
            if (s == 0) s = l.operation_set(g.operation_, scale_of_second, &p.a_scale, sizeof p.a_scale);
            if (s == 0) s = l.operation_set(g.operation_, fast_accumulation, &fast, sizeof fast);
        }
        if (s == 0) s = l.layout_create(&g.first_, type_of_first, p.k, p.n, static_cast<std::int64_t>(p.k));
        if (s == 0) s = l.layout_create(&g.second_, type, p.k, p.m, static_cast<std::int64_t>(p.k));
        if (s == 0) s = l.layout_create(&g.result_, type_bf16, p.n, p.m, static_cast<std::int64_t>(p.n));
        if (s == 0) s = g.ask();
        if (s != 0 || g.choices_.empty())
            return px::error{px::errc::not_supported,
                             fmt::format("cuBLASLt has no algorithm for {}x{}x{} (status {})", p.m, p.n, p.k, s)};
        return g;
    }

    /// Algorithms, the heuristic's first choice first; at most 8.
    [[nodiscard]] std::size_t choices() const { return choices_.size(); }
    [[nodiscard]] px::result<void> launch(px::stream_ref s, std::size_t choice) const {
        const float alpha = 1, beta = 0;
        const auto at = [](std::uint64_t address) { return reinterpret_cast<void*>(address); };
        const int status = lt_->matmul(lt_->lt, operation_, &alpha, at(p_.b), first_, at(p_.a), second_, &beta,
                                       at(p_.c), result_, at(p_.c), result_, &choices_[choice].algorithm,
                                       at(workspace_.ptr().address), workspace_bytes, s.handle);
        if (status != 0)
            return px::error{px::errc::driver_error, fmt::format("cublasLtMatmul failed with status {}", status)};
        return {};
    }

private:
    // Values of cuBLAS's enumerations.
    static constexpr int compute_f32 = 68, type_f32 = 0, type_bf16 = 14, type_e4m3 = 28, type_e5m2 = 29,
                         transpose_first = 3, transpose_second = 4, scale_of_first = 17, scale_of_second = 18,
                         fast_accumulation = 25, preference_workspace = 1;

    cublaslt_gemm(std::shared_ptr<const cublaslt> lt, px::device_buffer<char> workspace, const problem& p)
        : lt_(std::move(lt)), workspace_(std::move(workspace)), p_(p) {}

    int ask() {
        cublaslt::object preference = nullptr;
        int s = lt_->preference_create(&preference);
        const std::size_t bytes = workspace_bytes;
        if (s == 0) s = lt_->preference_set(preference, preference_workspace, &bytes, sizeof bytes);
        choices_.resize(8);
        int found = 0;
        if (s == 0)
            s = lt_->heuristic(lt_->lt, operation_, first_, second_, result_, result_, preference, 8, choices_.data(),
                               &found);
        choices_.resize(s == 0 ? static_cast<std::size_t>(found) : 0);
        return s;
    }

    std::shared_ptr<const cublaslt> lt_;
    px::device_buffer<char> workspace_;
    problem p_;
    cublaslt::object operation_ = nullptr, first_ = nullptr, second_ = nullptr, result_ = nullptr;
    std::vector<cublaslt::choice> choices_;
};

/// The fastest of the algorithms, by three short runs of each.
template <class Runner>
[[nodiscard]] std::size_t best_choice(Runner& run, const cublaslt_gemm& g) {
    std::vector<double> us(g.choices(), 1e30);
    for (int round = 0; round < 3; ++round)
        for (std::size_t i = 0; i < us.size(); ++i)
            us[i] = std::min(us[i], run.estimate({"", [&g, i](px::stream_ref s) { return g.launch(s, i); }}, 8));
    return static_cast<std::size_t>(std::min_element(us.begin(), us.end()) - us.begin());
}

}  // namespace bench
