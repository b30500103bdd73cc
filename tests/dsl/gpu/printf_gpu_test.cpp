// SPDX-License-Identifier: Apache-2.0
// What a kernel prints is what C's printf prints of the same values: standard output is captured while the kernel runs,
// and its lines are compared, sorted, with those of snprintf. Exits 77 without a GPU.
#include <ptxdsl/dsl/printf.hpp>
#include <ptxdsl/ptxdsl.hpp>
#include <ptxdsl/runtime.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

namespace px = ptxdsl;
using px::bf16, px::f16, px::f32, px::f64, px::s16, px::s32, px::s64, px::s8, px::u16, px::u32, px::u64, px::u8;
using hopper = px::builder<px::sm_90a>;
constexpr u32 threads = 64;

constexpr px::reg<f32> told(hopper& k, px::reg<f32> x) {
    k.printf<"in a function: %g\n">(x);
    return k.add(x, 1.0f);
}

constexpr void speak(hopper& k, px::global_ptr<const u8> text, px::global_ptr<u64> address, px::reg<u32> n) {
    const auto i = k.mov(px::tid.x);
    const auto x = k.cvt<f32, px::rn>(i);
    const auto minus = k.sub(0, i.as<s32>());
    k.if_(i == 0u, [&] {
        k.printf<"no arguments, 100%%\n">();
        k.printf<"text: %s|%10s\n">(text, text);
        k.printf<"from the second character: %s\n">(text + 1);
        k.st(address, k.address(text));
        k.printf<"at %p\n">(text);
        // C++ numbers, as they stand in a loop that is unrolled
        for (u32 j = 0; j < 3; ++j) k.printf<"number %u of %d, %.3f, %c, %lld\n">(j, -3, 0.5 * j, 'a' + 1, 1LL << 40);
        k.printf_at<
            "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n">(
            px::location::current(), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
            24, 25, 26, 27, 28, 29, 30, 31, n);
    });
    k.if_(i < n, [&] {  // some of the threads
        k.printf<"[%u] %d %x %#o %+5d|%-5d|%05d\n">(i, minus, i, i, minus, i, i);
        k.printf<"[%2u] %f %e %G %.2f %a\n">(i, k.mul(x, 0.1f), x, k.cvt<f64>(x), k.cvt<f16, px::rn>(x),
                                             k.cvt<bf16, px::rn>(x));
        k.printf<"[%u] %d %u %d %hu %ld %lx\n">(i, k.cvt<s16>(minus), k.cvt<u16>(i), k.cvt<s8>(minus), k.cvt<u8>(i),
                                                k.cvt<s64>(minus), k.mul_wide(i, i));
        // 4 and 8 bytes by turns, and a width from a register
        k.printf<"[%u] %f %d %f %*d %8.3f|\n">(i, x, i, k.cvt<f64>(x), k.and_(i, 15u), i, x);
    });
    static_cast<void>(k.call<"told", told>(x));
}

template <class... A>
std::string line(const char* format, A... a) {
    char text[512];
    std::snprintf(text, sizeof text, format, a...);
    return text;
}

std::vector<std::string> expected(u32 n, const char* text, u64 address) {
    std::vector<std::string> lines = {
        "no arguments, 100%", line("text: %s|%10s", text, text), line("from the second character: %s", text + 1),
        line("at %p", reinterpret_cast<void*>(address)),
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 " + std::to_string(n)};
    for (u32 j = 0; j < 3; ++j)
        lines.push_back(line("number %u of %d, %.3f, %c, %lld", j, -3, 0.5 * j, 'b', 1LL << 40));
    for (u32 i = 0; i < n; ++i) {
        const int minus = -static_cast<int>(i);
        const auto x = static_cast<double>(i);
        lines.push_back(line("[%u] %d %x %#o %+5d|%-5u|%05u", i, minus, i, i, minus, i, i));
        lines.push_back(
            line("[%2u] %f %e %G %.2f %a", i, static_cast<double>(static_cast<float>(i) * 0.1f), x, x, x, x));
        lines.push_back(line("[%u] %d %u %d %u %ld %lx", i, minus, i, minus, i, static_cast<long>(minus),
                             static_cast<unsigned long>(i) * i));
        lines.push_back(line("[%u] %f %u %f %*u %8.3f|", i, x, i, x, static_cast<int>(i & 15), i, x));
    }
    for (u32 i = 0; i < threads; ++i) lines.push_back(line("in a function: %g", static_cast<double>(i)));
    std::sort(lines.begin(), lines.end());
    return lines;
}

/// Standard output goes to a file while this lives.
class captured {
public:
    captured() : to_(std::tmpfile()) {
        std::fflush(stdout);
        saved_ = dup(STDOUT_FILENO);
        if (to_ == nullptr || saved_ < 0 || dup2(fileno(to_), STDOUT_FILENO) < 0) std::abort();
    }
    captured(const captured&) = delete;
    captured& operator=(const captured&) = delete;
    ~captured() { finish(); }

    std::vector<std::string> finish() {
        std::vector<std::string> lines;
        if (to_ == nullptr) return lines;
        std::fflush(stdout);
        dup2(saved_, STDOUT_FILENO);
        close(saved_);
        if (std::fseek(to_, 0, SEEK_SET) != 0) std::abort();
        char text[512];
        while (std::fgets(text, sizeof text, to_) != nullptr) {
            text[std::strcspn(text, "\n")] = '\0';
            lines.emplace_back(text);
        }
        std::fclose(to_);
        to_ = nullptr;
        std::sort(lines.begin(), lines.end());
        return lines;
    }

private:
    std::FILE* to_;
    int saved_ = -1;
};

int compare(const std::vector<std::string>& got, const std::vector<std::string>& want) {
    int wrong = 0;
    for (std::size_t i = 0; i < std::max(got.size(), want.size()); ++i) {
        const std::string g = i < got.size() ? got[i] : "(nothing)", w = i < want.size() ? want[i] : "(nothing)";
        if (g != w && wrong++ < 10)
            std::printf("line %zu, sorted:\n  printed:  %s\n  expected: %s\n", i, g.c_str(), w.c_str());
    }
    std::printf("%zu lines printed, %zu expected: %s\n", got.size(), want.size(), wrong == 0 ? "the same" : "WRONG");
    return wrong == 0 ? 0 : 1;
}

int run(const px::context& ctx) {
    constexpr u32 n = 37;
    const char text[] = "Hello from the host";
    constexpr auto ptx = px::assemble<px::kernel<"speak", speak, px::attributes{.reqntid = {threads}}>>();
    const auto stream = px::check(px::stream::create(ctx));
    auto words = px::check(px::device_buffer<u8>::from(ctx, std::vector<u8>(text, text + sizeof text)));
    auto address = px::check(px::device_buffer<u64>::allocate(ctx, 1));
    captured out;
    px::check(px::launch(stream, ptx, px::grid{1}, words, address, n));
    px::check(stream.synchronize());
    const auto lines = out.finish();
    std::vector<u64> at(1);
    px::check(address.download(at));
    return compare(lines, expected(n, text, at[0]));
}

}  // namespace

int main() {
    const auto ctx = px::context::primary(0);
    if (!ctx) {
        std::printf("skipped: %s\n", ctx.error().message());
        return 77;
    }
    try {
        return run(*ctx);
    } catch (const std::exception& e) {
        std::printf("%s\n", e.what());
        return 1;
    }
}
