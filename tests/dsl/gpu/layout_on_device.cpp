// SPDX-License-Identifier: Apache-2.0
// tile.hpp and fragment.hpp against a Hopper GPU. Shared memory is filled through `byte_offset`, one instruction runs
// with the descriptors and offsets the headers give, and what comes back is compared with a computation on the host:
//  - wgmma: every legal (type, major, swizzle, panels, K slice, row slice), A from shared memory and from registers;
//  - TMA: every copyable layout, one copy a panel, compared byte for byte;
//  - mma.sync, ldmatrix and stmatrix: the fragment maps.
// The PTX is written by hand here, so that a fault of the library's own emitter cannot hide one of its arithmetic.
// Needs the driver only. Exit code 77 without a GPU of compute capability 9.0. `--ptx` prints the kernels and stops.
#include <ptxdsl/dsl/fragment.hpp>
#include <ptxdsl/dsl/tile.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace ptxdsl;
using S = isa::scalar;

namespace {

// ---- the driver -----------------------------------------------------------------------------------------------------

struct driver {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);

    template <class... Args>
    int call(const char* name, Args... args) const {
        const auto function = reinterpret_cast<int (*)(Args...)>(dlsym(library, name));
        return function ? function(args...) : -1;
    }
    template <class... Args>
    void must(const char* name, Args... args) const {
        if (const int code = call(name, args...)) {
            std::printf("%s failed with %d\n", name, code);
            std::exit(1);
        }
    }
    [[nodiscard]] u64 upload(const void* data, std::size_t bytes) const {
        u64 device = 0;
        must("cuMemAlloc_v2", &device, bytes ? bytes : std::size_t{1});
        if (bytes) must("cuMemcpyHtoD_v2", device, data, bytes);
        return device;
    }
    template <class T>
    [[nodiscard]] u64 upload(const std::vector<T>& v) const {
        return upload(v.data(), v.size() * sizeof(T));
    }
    template <class T>
    void download(std::vector<T>& v, u64 device) const {
        must("cuMemcpyDtoH_v2", static_cast<void*>(v.data()), device, v.size() * sizeof(T));
    }
    void free(u64 device) const { must("cuMemFree_v2", device); }

    [[nodiscard]] void* load(const std::string& ptx) const {
        void *module = nullptr, *function = nullptr;
        std::vector<char> log(8192);
        int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER, its size
        void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
        if (call("cuModuleLoadDataEx", &module, static_cast<const void*>(ptx.c_str()), 2u, options, values)) {
            std::printf("the driver refused this PTX: %s\n%s\n", log.data(), ptx.c_str());
            std::exit(1);
        }
        must("cuModuleGetFunction", &function, module, "k");
        must("cuFuncSetAttribute", function, 8, 200 * 1024);  // dynamic shared memory
        return function;
    }
    void launch(void* function, u32 grid, u32 block, void** arguments) const {
        must("cuLaunchKernel", function, grid, 1u, 1u, block, 1u, 1u, 200u * 1024u, static_cast<void*>(nullptr),
             arguments, static_cast<void**>(nullptr));
        must("cuCtxSynchronize");
    }
};

bool open_hopper(const driver& cuda) {
    if (!cuda.library || cuda.call("cuInit", 0u)) return false;
    int device = 0, major_cc = 0;
    void* context = nullptr;
    if (cuda.call("cuDeviceGet", &device, 0)) return false;
    cuda.must("cuDeviceGetAttribute", &major_cc, 75, device);
    if (major_cc != 9) return false;
    cuda.must("cuDevicePrimaryCtxRetain", &context, device);
    cuda.must("cuCtxSetCurrent", context);
    return true;
}

// ---- numbers --------------------------------------------------------------------------------------------------------

/// Bits of a small integer in -2..2, exact in every type.
u32 encode(S type, int value) {
    const u32 sign = value < 0, size = static_cast<u32>(std::abs(value));
    switch (type) {
        case S::bf16: return sign << 15 | (size == 0 ? 0u : size == 1 ? 0x3F80u : 0x4000u);
        case S::f16: return sign << 15 | (size == 0 ? 0u : size == 1 ? 0x3C00u : 0x4000u);
        case S::tf32: return sign << 31 | (size == 0 ? 0u : size == 1 ? 0x3F800000u : 0x40000000u);
        case S::e4m3: return sign << 7 | (size == 0 ? 0u : size == 1 ? 0x38u : 0x40u);
        case S::e5m2: return sign << 7 | (size == 0 ? 0u : size == 1 ? 0x3Cu : 0x40u);
        default: return static_cast<u32>(value) & 0xFF;
    }
}

/// Value of one accumulator element.
double decode(S type, u32 bits) {
    if (type == S::s32) return static_cast<s32>(bits);
    if (type == S::f32) {
        float f;
        std::memcpy(&f, &bits, 4);
        return f;
    }
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = bits & 1023;
    const double size =
        exponent ? (1 + fraction / 1024) * static_cast<double>(1ull << exponent) / 32768.0 : fraction / 16777216.0;
    return bits >> 15 & 1 ? -size : size;
}

struct matrix {
    u32 rows, cols;
    std::vector<s8> value;
    [[nodiscard]] int at(u32 r, u32 c) const { return value[std::size_t{r} * cols + c]; }
};

matrix random_matrix(u32 rows, u32 cols, std::mt19937& random) {
    matrix m{rows, cols, std::vector<s8>(std::size_t{rows} * cols)};
    for (s8& v : m.value) v = static_cast<s8>(static_cast<int>(random() % 5) - 2);
    return m;
}

void store(std::vector<u8>& image, std::size_t at, u32 bits, u32 bytes) {
    std::memcpy(image.data() + at, &bits, bytes);
}

/// Writes a matrix into a tile at `base`, through the layout's own arithmetic.
void fill(std::vector<u8>& image, u32 base, const tile_layout& t, const matrix& m) {
    for (u32 r = 0; r < t.rows; ++r)
        for (u32 c = 0; c < t.cols; ++c)
            store(image, base + t.byte_offset(r, c), encode(t.element, m.at(r, c)), t.element_bits / 8u);
}

/// The registers of a fragment, thread after thread, for the part of `m` that starts at (row, col).
std::vector<u32> registers_of(const fragment_layout& f, const matrix& m, u32 row, u32 col, bool transpose = false) {
    std::vector<u32> out(std::size_t{f.threads()} * f.registers());
    for (u32 t = 0; t < f.threads(); ++t)
        for (u32 r = 0; r < f.registers(); ++r)
            for (u32 p = 0; p < f.packed; ++p) {
                const matrix_index e = f.at({t, r, p});
                const int v = transpose ? m.at(row + e.col, col + e.row) : m.at(row + e.row, col + e.col);
                out[std::size_t{t} * f.registers() + r] |= encode(f.element, v) << (p * isa::bits(f.element) % 32);
            }
    return out;
}

/// Elements of D that differ from A times B transposed (A and B both have K along their columns).
u32 product_mismatches(const fragment_layout& d, const u32* regs, const matrix& a, u32 a_row, u32 a_col,
                       const matrix& b, u32 b_row, u32 b_col, u32 k_extent) {
    u32 wrong = 0;
    for (u32 t = 0; t < d.threads(); ++t)
        for (u32 r = 0; r < d.registers(); ++r)
            for (u32 p = 0; p < d.packed; ++p) {
                const matrix_index e = d.at({t, r, p});
                int want = 0;
                for (u32 k = 0; k < k_extent; ++k)
                    want += a.at(a_row + e.row, a_col + k) * b.at(b_row + e.col, b_col + k);
                const u32 word = regs[std::size_t{t} * d.registers() + r];
                wrong += decode(d.element, d.packed == 2 ? word >> (16 * p) & 0xFFFF : word) != want;
            }
    return wrong;
}

// ---- PTX ------------------------------------------------------------------------------------------------------------

std::string list(const char* prefix, u32 count) {
    std::string s = "{";
    for (u32 i = 0; i < count; ++i) s += (i ? ", " : "") + (prefix + std::to_string(i));
    return s + "}";
}

/// Common start: %base is shared memory rounded up to 1024, thread in %t.
std::string prologue(const std::string& parameters) {
    return ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 dynamic[];\n"
           ".visible .entry k(" +
           parameters +
           ")\n{\n"
           ".reg .b32 %t, %base, %x, %y, %z, %n, %d<128>, %a<4>, %b<2>;\n.reg .b64 %p, %q, %c, %s<8>;\n.reg .pred %go, %no;\n"
           "mov.u32 %t, %tid.x;\nmov.u32 %base, dynamic;\nadd.u32 %base, %base, 1023;\nand.b32 %base, %base, -1024;\n";
}

/// Copies %n bytes (a multiple of 4) between global %p and shared %base, all threads, with labels of their own.
std::string copy_loop(const std::string& label, bool to_shared, u32 threads) {
    const std::string move = to_shared ? "ld.global.b32 %y, [%q];\nst.shared.b32 [%z], %y;\n"
                                       : "ld.shared.b32 %y, [%z];\nst.global.b32 [%q], %y;\n";
    return "shl.b32 %x, %t, 2;\n" + label + ":\nsetp.ge.u32 %go, %x, %n;\n@%go bra " + label +
           "_end;\n"
           "cvt.u64.u32 %q, %x;\nadd.u64 %q, %q, %p;\nadd.u32 %z, %base, %x;\n" +
           move + "add.u32 %x, %x, " + std::to_string(4 * threads) + ";\nbra " + label + ";\n" + label + "_end:\n";
}

struct wgmma_kind {
    S type = S::none, d = S::none;
    u32 n = 0;
    major a = k_major, b = k_major;
    bool a_in_registers = false;
    auto operator<=>(const wgmma_kind&) const = default;
};

/// One block a case; the case is {image, out, a descriptor, b descriptor, a offset, b offset, image bytes, 0}.
struct wgmma_case {
    u64 image, out, a_base, b_base;
    u32 a_offset, b_offset, bytes, unused;
};

std::string wgmma_ptx(const wgmma_kind& w) {
    const u32 registers = wgmma_accumulator(w.d, w.n).registers();
    std::string s = prologue(".param .u64 cases");
    s += "ld.param.u64 %c, [cases];\nmov.u32 %x, %ctaid.x;\nmad.wide.u32 %c, %x, 48, %c;\n"
         "ld.global.u64 %p, [%c];\nld.global.u32 %n, [%c+40];\n";
    s += copy_loop("fill", true, 128);
    for (u32 i = 0; i < registers; ++i) s += "mov.b32 %d" + std::to_string(i) + ", 0;\n";
    s += "mad.wide.u32 %q, %t, 16, %p;\nld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%q];\n";
    s += "fence.proxy.async;\nbar.sync 0;\n";
    for (const char* which : {"16 32 0", "24 36 1"}) {
        int base = 0, offset = 0, index = 0;
        std::sscanf(which, "%d %d %d", &base, &offset, &index);
        const std::string r = "%s" + std::to_string(index);
        s += "ld.global.u64 " + r + ", [%c+" + std::to_string(base) + "];\nld.global.u32 %x, [%c+" +
             std::to_string(offset) +
             "];\nadd.u32 %x, %x, %base;\nshr.u32 %x, %x, 4;\nand.b32 %x, %x, 0x3FFF;\ncvt.u64.u32 %q, %x;\nor.b64 " +
             r + ", " + r + ", %q;\n";
    }
    const std::string t{isa::name(w.type)}, d{isa::name(w.d)};
    s += "setp.ne.b32 %no, 0, 0;\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n" + std::to_string(w.n) +
         "k" + std::to_string(256 / isa::bits(w.type)) + "." + d + "." + t + "." + t + " " + list("%d", registers) +
         ", " + (w.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%s0") + ", %s1, %no";
    if (w.type != S::s8) s += ", 1, 1";
    if (isa::bits(w.type) == 16) {
        if (!w.a_in_registers) s += w.a == mn_major ? ", 1" : ", 0";
        s += w.b == mn_major ? ", 1" : ", 0";
    }
    s += ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    s += "ld.global.u64 %p, [%c+8];\nmad.wide.u32 %p, %t, " + std::to_string(4 * registers) + ", %p;\n";
    for (u32 i = 0; i < registers; ++i)
        s += "st.global.b32 [%p+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
    return s + "ret;\n}\n";
}

/// Arguments: map, out, offset of the tile, panels, panel stride, coordinate step, coordinates, expected bytes, bytes.
std::string tma_ptx() {
    std::string s = prologue(
        ".param .align 64 .b8 map[128], .param .u64 out, .param .u32 offset, .param .u32 panels, "
        ".param .u32 stride, .param .u32 step, .param .u32 c0, .param .u32 c1, .param .u32 tx, "
        ".param .u32 bytes");
    s +=
        ".shared .align 8 .b8 bar[8];\n.reg .b32 %e<8>;\nld.param.u32 %x, [offset];\nadd.u32 %base, %base, %x;\n"
        "ld.param.u32 %n, [bytes];\nshl.b32 %x, %t, 2;\n"
        "clear:\nsetp.ge.u32 %go, %x, %n;\n@%go bra cleared;\nadd.u32 %z, %base, %x;\nst.shared.b32 [%z], 0xEEEEEEEE;\n"
        "add.u32 %x, %x, 512;\nbra clear;\ncleared:\n"
        "setp.ne.u32 %no, %t, 0;\nmov.u32 %e0, bar;\n@%no bra ready;\nmbarrier.init.shared::cta.b64 [%e0], 1;\nready:\n"
        "fence.proxy.async;\nbar.sync 0;\n@%no bra issued;\n"
        "ld.param.u32 %x, [tx];\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%e0], %x;\n"
        "mov.b64 %p, map;\ncvta.param.u64 %p, %p;\nld.param.u32 %e1, [c0];\nld.param.u32 %e2, [c1];\nld.param.u32 %e3, [panels];\n"
        "ld.param.u32 %e4, [stride];\nld.param.u32 %e5, [step];\nmov.u32 %z, %base;\n"
        "panel:\ncp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%z], [%p, {%e1, %e2}], [%e0];\n"
        "add.u32 %z, %z, %e4;\nadd.u32 %e1, %e1, %e5;\nsub.u32 %e3, %e3, 1;\nsetp.ne.u32 %go, %e3, 0;\n@%go bra panel;\n"
        "issued:\nmov.u32 %e6, 0;\nmov.u32 %e7, 0;\n"
        "wait:\nmbarrier.try_wait.parity.shared::cta.b64 %go, [%e0], %e7;\n@%go bra arrived;\nadd.u32 %e6, %e6, 1;\n"
        "setp.lt.u32 %go, %e6, 1000;\n@%go bra wait;\nret;\narrived:\nld.param.u64 %p, [out];\n";
    return s + copy_loop("dump", false, 128) + "ret;\n}\n";
}

/// One warp: A, B fragments from global, D to global.
std::string mma_ptx(S type, S d) {
    const std::string t{isa::name(type)}, acc{isa::name(d)};
    const u32 registers = mma_accumulator(d).registers();
    std::string s = prologue(".param .u64 a, .param .u64 b, .param .u64 out");
    s += "ld.param.u64 %p, [a];\nmad.wide.u32 %p, %t, 16, %p;\nld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p];\n"
         "ld.param.u64 %p, [b];\nmad.wide.u32 %p, %t, 8, %p;\nld.global.v2.b32 {%b0, %b1}, [%p];\n";
    for (u32 i = 0; i < registers; ++i) s += "mov.b32 %d" + std::to_string(i) + ", 0;\n";
    const std::string regs = list("%d", registers);
    s += "mma.sync.aligned.m16n8k" + std::to_string(256 / isa::bits(type)) + ".row.col." + acc + "." + t + "." + t +
         "." + acc + " " + regs + ", {%a0, %a1, %a2, %a3}, {%b0, %b1}, " + regs + ";\n";
    s += "ld.param.u64 %p, [out];\nmad.wide.u32 %p, %t, " + std::to_string(4 * registers) + ", %p;\n";
    for (u32 i = 0; i < registers; ++i)
        s += "st.global.b32 [%p+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
    return s + "ret;\n}\n";
}

/// Image in, one address a thread, four registers a thread (out for ldmatrix, in for stmatrix), image out.
std::string matrix_move_ptx(bool load, bool trans, u32 threads) {
    std::string s = prologue(".param .u64 image, .param .u64 rows, .param .u64 regs, .param .u32 bytes");
    s +=
        "ld.param.u64 %p, [image];\nld.param.u32 %n, [bytes];\n" + copy_loop("fill", true, threads) +
        "bar.sync 0;\nld.param.u64 %q, [rows];\nmad.wide.u32 %q, %t, 4, %q;\nld.global.u32 %x, [%q];\nadd.u32 %x, %x, %base;\n"
        "ld.param.u64 %q, [regs];\nmad.wide.u32 %q, %t, 16, %q;\n";
    const std::string shape = std::string(".sync.aligned.m8n8.x4") + (trans ? ".trans" : "") + ".shared.b16 ";
    if (load)
        s += "ldmatrix" + shape + "{%a0, %a1, %a2, %a3}, [%x];\nst.global.v4.b32 [%q], {%a0, %a1, %a2, %a3};\n";
    else
        s += "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%q];\nstmatrix" + shape +
             "[%x], {%a0, %a1, %a2, %a3};\nbar.sync 0;\n" + copy_loop("dump", false, threads);
    return s + "ret;\n}\n";
}

// ---- wgmma ----------------------------------------------------------------------------------------------------------

/// What a case needs to be judged once its registers are back.
struct judged_case {
    u32 operands, a_row, a_col, b_row, b_col;
    std::string what;
};

struct operands {
    matrix a, b;
};

struct wgmma_batch {
    std::vector<wgmma_case> cases;
    std::vector<judged_case> judged;
};

struct wgmma_suite {
    explicit wgmma_suite(const driver& driver_in) : cuda(driver_in) {}

    const driver& cuda;
    std::mt19937 random{20240611};
    std::vector<operands> data;
    std::map<wgmma_kind, wgmma_batch> batches;
    u32 tried = 0, failed = 0;

    /// First address after `at` that is aligned as the layout asks and not better.
    static u32 place(const tile_layout& t, u32 at) {
        const u32 a = t.alignment();
        const u32 base = (at + a - 1) / a * a;
        return a < 1024 && base / a % 2 == 0 ? base + a : base;
    }

    /// Adds all K steps of `a` against step 0 of `b`, or the other way round, for the given first rows.
    void add(wgmma_kind kind, const tile_layout& a, const tile_layout& b, const std::vector<u32>& a_rows,
             const std::vector<u32>& b_rows) {
        const fragment_layout fragment = wgmma_a_fragment(kind.type);
        const u32 a_base = place(a, 2048), b_base = place(b, a_base + a.bytes());
        operands o{random_matrix(a.rows, a.cols, random), random_matrix(b.rows, b.cols, random)};
        std::vector<u8> image((b_base + b.bytes() + 3) / 4 * 4);
        if (kind.a_in_registers) {
            const std::vector<u32> regs = registers_of(fragment, o.a, 0, 0);
            std::memcpy(image.data(), regs.data(), regs.size() * 4);
        }
        fill(image, a_base, a, o.a);
        fill(image, b_base, b, o.b);
        const u64 device = cuda.upload(image);
        data.push_back(std::move(o));
        wgmma_batch& batch = batches[kind];
        for (const u32 ar : a_rows)
            for (const u32 br : b_rows)
                for (u32 ka = 0; ka < (kind.a_in_registers ? 1 : a.k_slices()); ++ka)
                    for (u32 kb = 0; kb < b.k_slices(); ++kb) {
                        if (ka != 0 && kb != 0) continue;
                        batch.cases.push_back({device, 0, wgmma_descriptor_base(a), wgmma_descriptor_base(b),
                                               a_base + a.row_slice(ar) + a.k_slice(ka),
                                               b_base + b.row_slice(br) + b.k_slice(kb), static_cast<u32>(image.size()),
                                               0});
                        batch.judged.push_back(
                            {static_cast<u32>(data.size()) - 1, ar, ka * a.k_step(), br, kb * b.k_step(),
                             describe(a) + " row " + std::to_string(ar) + " step " + std::to_string(ka) + " x " +
                                 describe(b) + " row " + std::to_string(br) + " step " + std::to_string(kb)});
                    }
    }

    static std::string describe(const tile_layout& t) {
        static const char* const swizzles[] = {"none", "32B", "64B", "128B", "cores", "base32"};
        return std::string(isa::name(t.element)) + " " + std::to_string(t.rows) + "x" + std::to_string(t.cols) +
               (t.order == k_major ? " K " : " MN ") + swizzles[static_cast<unsigned>(t.swizzle)];
    }

    void run(const wgmma_kind& kind, wgmma_batch& batch) {
        const fragment_layout d = wgmma_accumulator(kind.d, kind.n);
        const std::size_t words = std::size_t{128} * d.registers();
        std::vector<u32> out(words * batch.cases.size());
        const u64 results = cuda.upload(out);
        for (std::size_t i = 0; i < batch.cases.size(); ++i) batch.cases[i].out = results + i * words * 4;
        u64 cases = cuda.upload(batch.cases);
        void* arguments[] = {&cases};
        cuda.launch(cuda.load(wgmma_ptx(kind)), static_cast<u32>(batch.cases.size()), 128, arguments);
        cuda.download(out, results);
        cuda.free(results);
        cuda.free(cases);
        for (std::size_t i = 0; i < batch.cases.size(); ++i) {
            const judged_case& j = batch.judged[i];
            const operands& o = data[j.operands];
            const u32 wrong = product_mismatches(d, out.data() + i * words, o.a, j.a_row, j.a_col, o.b, j.b_row,
                                                 j.b_col, 256 / isa::bits(kind.type));
            ++tried;
            if (wrong == 0) continue;
            if (++failed <= 40)
                std::printf("  wgmma n%u %s: %u of %u wrong\n", kind.n, j.what.c_str(), wrong, 64 * kind.n);
        }
    }
};

/// All operand layouts of a type worth trying: each swizzle and major-ness, one panel and several.
std::vector<tile_layout> operand_layouts(S type, std::initializer_list<u32> rows) {
    std::vector<tile_layout> out;
    const u32 step = 256 / isa::bits(type);
    for (const swizzle_mode s : {swizzle_32b, swizzle_64b, swizzle_128b, core_matrices})
        for (const major order : {k_major, mn_major})
            for (const u32 r : rows)
                for (const u32 steps : {1u, 2u, 3u, 4u, 8u})
                    if (const tile_layout t = make_tile_layout(type, r, steps * step, order, s);
                        operand_error(t, sm_90a) == tile_error::ok && t.bytes() <= 64 * 1024)
                        out.push_back(t);
    return out;
}

std::vector<u32> slices(const tile_layout& t, u32 count) {
    std::vector<u32> out;
    for (u32 r = 0; r + count <= t.rows; r += 8)
        if (row_slice_error(t, r, count) == tile_error::ok && (r % 64 == 0 || r == 8 || r == 24 || r == 40))
            out.push_back(r);
    return out;
}

u32 check_wgmma(const driver& cuda) {
    wgmma_suite suite{cuda};
    for (const S type : {S::bf16, S::f16, S::tf32, S::e4m3, S::e5m2, S::s8}) {
        const S d = type == S::s8 ? S::s32 : S::f32;
        const u32 span = 1024 / isa::bits(type);
        const tile_layout plain_a = make_tile_layout(type, 64, span), plain_b = make_tile_layout(type, 64, span);
        const tile_layout one_step = make_tile_layout(type, 64, span / 4, k_major, swizzle_32b);
        for (const tile_layout& a : operand_layouts(type, {64, 128, 192}))
            suite.add({type, d, 64, a.order, k_major}, a, one_step, slices(a, 64), {0});
        for (const tile_layout& b : operand_layouts(type, {64, 128, 256})) {
            suite.add({type, d, 64, k_major, b.order}, one_step, b, {0}, slices(b, 64));
            suite.add({type, d, 8, k_major, b.order}, one_step, b, {0}, slices(b, 8));
            if (b.rows == 256) suite.add({type, d, 256, k_major, b.order}, one_step, b, {0}, {0});
        }
        suite.add({type, d, 64, k_major, k_major, true}, plain_a, plain_b, {0}, {0});
        if (type == S::f16) suite.add({type, S::f16, 64}, plain_a, plain_b, {0}, {0});
        if (isa::bits(type) == 16)  // both MN-major, several panels each
            suite.add({type, d, 64, mn_major, mn_major}, make_tile_layout(type, 128, 64, mn_major),
                      make_tile_layout(type, 128, 32, mn_major, swizzle_64b), {0, 64}, {0, 64});
    }
    for (auto& [kind, batch] : suite.batches) suite.run(kind, batch);
    std::printf("wgmma: %u cases in %zu kernels, %u wrong\n", suite.tried, suite.batches.size(), suite.failed);
    return suite.failed;
}

/// Not a check: what a base off the swizzle repeat does, with the pattern anchored to the address or to the tile, and
/// with the base-offset field 0 or set.
void probe_base_offset(const driver& cuda) {
    const wgmma_kind kind{S::bf16, S::f32, 64};
    const tile_layout t = make_tile_layout(S::bf16, 64, 64),
                      one = make_tile_layout(S::bf16, 64, 16, k_major, swizzle_32b);
    const fragment_layout d = wgmma_accumulator(S::f32, 64);
    void* const function = cuda.load(wgmma_ptx(kind));
    std::mt19937 random{5};
    for (const u32 shift : {128u, 384u, 512u, 896u})
        for (const bool by_address : {true, false})
            for (const bool field : {false, true}) {
                const u32 base = 4096 + shift;
                const matrix a = random_matrix(64, 64, random), b = random_matrix(64, 16, random);
                std::vector<u8> image(32 * 1024);
                for (u32 r = 0; r < 64; ++r)
                    for (u32 c = 0; c < 64; ++c) {
                        const u32 linear = t.linear_offset(r, c);
                        const u32 at = by_address ? t.pattern().apply(base + linear) : base + t.pattern().apply(linear);
                        store(image, at, encode(S::bf16, a.at(r, c)), 2);
                    }
                fill(image, 16384, one, b);
                std::vector<u32> out(std::size_t{128} * d.registers());
                u64 memory = cuda.upload(image), results = cuda.upload(out);
                std::vector<wgmma_case> one_case{{memory, results, wgmma_descriptor_base(t, field ? shift : 0),
                                                  wgmma_descriptor_base(one), base, 16384, 32 * 1024, 0}};
                u64 cases = cuda.upload(one_case);
                void* arguments[] = {&cases};
                cuda.launch(function, 1, 128, arguments);
                cuda.download(out, results);
                const u32 wrong = product_mismatches(d, out.data(), a, 0, 0, b, 0, 0, 16);
                std::printf("  base %u past the repeat, pattern by %s, base offset field %s: %s\n", shift,
                            by_address ? "address" : "tile", field ? "set" : "0", wrong ? "differs" : "right");
                for (const u64 p : {memory, results, cases}) cuda.free(p);
            }
}

// ---- TMA ------------------------------------------------------------------------------------------------------------

struct alignas(128) tensor_map {
    unsigned char bytes[128];
};

/// Runs the copies of one layout from the middle of a larger tensor. Returns the shared memory, or nothing on refusal.
std::vector<u8> tma_copy(const driver& cuda, void* function, const tile_layout& t, u64 tensor_device, u32 pitch,
                         u32 lines, u32 c0, u32 c1) {
    const u32 element = t.element_bits / 8u;
    tensor_map map{};
    u64 sizes[] = {pitch / element, lines};
    u64 strides[] = {pitch};
    u32 box[] = {t.box().inner, t.box().outer};
    u32 steps[] = {1, 1};
    static const int swizzle_codes[] = {0, 1, 2, 3, 0, 4};
    const int code = cuda.call("cuTensorMapEncodeTiled", &map,
                               element == 1   ? 0
                               : element == 2 ? 1
                                              : 2,
                               2u, tensor_device, sizes, strides, box, steps, 0,
                               swizzle_codes[static_cast<unsigned>(t.swizzle)], 0, 0);
    if (code) return {};
    std::vector<u8> out((t.bytes() + 3) / 4 * 4);
    u64 results = cuda.upload(out);
    u32 offset = t.alignment() % 1024, panels = t.panels(), stride = t.panel_stride(), step = t.panel_inner();
    u32 tx = t.tx_bytes(), bytes = static_cast<u32>(out.size());
    void* arguments[] = {&map, &results, &offset, &panels, &stride, &step, &c0, &c1, &tx, &bytes};
    cuda.launch(function, 1, 128, arguments);
    cuda.download(out, results);
    cuda.free(results);
    return out;
}

u32 check_tma(const driver& cuda) {
    void* const function = cuda.load(tma_ptx());
    constexpr u32 pitch = 4096, lines = 512;
    std::mt19937 random{7};
    std::vector<u8> tensor(std::size_t{pitch} * lines);
    for (u8& b : tensor) b = static_cast<u8>(random());
    const u64 device = cuda.upload(tensor);
    u32 tried = 0, narrow = 0, failed = 0;
    for (const S type : {S::bf16, S::e4m3, S::tf32})
        for (const swizzle_mode s : {no_swizzle, swizzle_32b, swizzle_64b, swizzle_128b, core_matrices})
            for (const major order : {k_major, mn_major})
                for (const u32 rows : {8u, 16u, 20u, 32u, 64u, 128u, 256u})
                    for (const u32 cols : {8u, 16u, 24u, 32u, 64u, 128u, 256u}) {
                        const tile_layout t = make_tile_layout(type, rows, cols, order, s);
                        if (tma_error(t) != tile_error::ok || t.bytes() > 128 * 1024) continue;
                        const u32 element = t.element_bits / 8u, c0 = 48, c1 = 5;
                        const std::vector<u8> got = tma_copy(cuda, function, t, device, pitch, lines, c0, c1);
                        u32 wrong = got.empty();
                        for (u32 r = 0; r < rows && !got.empty(); ++r)
                            for (u32 c = 0; c < cols; ++c) {
                                const u32 i = order == k_major ? c : r, o = order == k_major ? r : c;
                                const std::size_t from = std::size_t{c1 + o} * pitch + std::size_t{c0 + i} * element;
                                wrong += std::memcmp(&tensor[from], &got[t.byte_offset(r, c)], element) != 0;
                            }
                        ++tried;
                        narrow += t.tx_bytes() != t.bytes();
                        if (wrong && ++failed <= 20)
                            std::printf("  TMA %s: %s, %u wrong\n", wgmma_suite::describe(t).c_str(),
                                        got.empty() ? "map refused" : "copied", wrong);
                    }
    std::printf("TMA: %u layouts (%u narrower than their span), %u wrong\n", tried, narrow, failed);
    return failed;
}

// ---- mma.sync, ldmatrix, stmatrix -----------------------------------------------------------------------------------

u32 check_mma(const driver& cuda) {
    std::mt19937 random{11};
    u32 failed = 0, tried = 0;
    for (const auto& [type, d] : {std::pair{S::bf16, S::f32},
                                  {S::f16, S::f32},
                                  {S::f16, S::f16},
                                  {S::tf32, S::f32},
                                  {S::s8, S::s32},
                                  {S::e4m3, S::f32},
                                  {S::e5m2, S::f32}}) {
        const u32 k = 256 / isa::bits(type);
        const matrix a = random_matrix(16, k, random), b = random_matrix(8, k, random);
        u64 a_regs = cuda.upload(registers_of(mma_a_fragment(type, k), a, 0, 0));
        u64 b_regs = cuda.upload(registers_of(mma_b_fragment(type, k), b, 0, 0, true));
        std::vector<u32> out(std::size_t{32} * mma_accumulator(d).registers());
        u64 results = cuda.upload(out);
        void* arguments[] = {&a_regs, &b_regs, &results};
        std::string ptx = mma_ptx(type, d);
        if (isa::bits(type) == 8 && type != S::s8) ptx.replace(ptx.find("8.0"), 3, "8.4");
        cuda.launch(cuda.load(ptx), 1, 32, arguments);
        cuda.download(out, results);
        const u32 wrong = product_mismatches(mma_accumulator(d), out.data(), a, 0, 0, b, 0, 0, k);
        ++tried;
        failed += wrong != 0;
        if (wrong) std::printf("  mma.sync %s: %u wrong\n", isa::name(type).data(), wrong);
    }
    std::printf("mma.sync: %u types, %u wrong\n", tried, failed);
    return failed;
}

/// Moves registers first..first+3 of every warp of a fragment between registers and a row-major (or, transposed,
/// column-major) 16-bit matrix in shared memory.
u32 matrix_move_mismatches(const driver& cuda, const fragment_layout& f, u32 first, bool load, bool trans,
                           std::mt19937& random) {
    const matrix m = random_matrix(f.rows(), f.cols(), random);
    const bool rows_contiguous = f.lines_are_columns == trans;  // memory rows run along the matrix row
    const auto offset = [&](matrix_index e) {
        return 2 * (rows_contiguous ? e.row * f.cols() + e.col : e.col * f.rows() + e.row);
    };
    std::vector<u8> full(std::size_t{f.rows()} * f.cols() * 2);
    for (u32 r = 0; r < f.rows(); ++r)
        for (u32 c = 0; c < f.cols(); ++c) store(full, offset({r, c}), encode(f.element, m.at(r, c)), 2);
    std::vector<u32> addresses(f.threads());
    for (u32 t = 0; t < f.threads(); ++t) addresses[t] = offset(f.matrix_row(t % 32, first, trans, t / 32));
    const std::vector<u32> all = registers_of(f, m, 0, 0);
    std::vector<u32> regs(std::size_t{f.threads()} * 4);
    for (u32 t = 0; t < f.threads(); ++t)
        for (u32 j = 0; j < 4; ++j) regs[t * 4 + j] = all[std::size_t{t} * f.registers() + first + j];
    std::vector<u32> got_regs(regs.size());
    std::vector<u8> got_image(full.size(), 0xEE);
    u64 image = cuda.upload(load ? full : got_image), rows = cuda.upload(addresses),
        data = cuda.upload(load ? got_regs : regs);
    u32 bytes = static_cast<u32>(full.size());
    void* arguments[] = {&image, &rows, &data, &bytes};
    cuda.launch(cuda.load(matrix_move_ptx(load, trans, f.threads())), 1, f.threads(), arguments);
    cuda.download(got_regs, data);
    cuda.download(got_image, image);
    u32 wrong = 0;
    for (std::size_t i = 0; load && i < regs.size(); ++i) wrong += regs[i] != got_regs[i];
    for (u32 t = 0; !load && t < f.threads(); ++t)
        for (u32 j = 0; j < 4; ++j)
            for (u32 p = 0; p < 2; ++p) {
                const u32 at = offset(f.at({t, first + j, p}));
                wrong += std::memcmp(&full[at], &got_image[at], 2) != 0;
            }
    return wrong;
}

u32 check_matrix_moves(const driver& cuda) {
    std::mt19937 random{13};
    u32 tried = 0, failed = 0;
    const fragment_layout fragments[] = {mma_a_fragment(S::bf16, 16), wgmma_a_fragment(S::f16),
                                         wgmma_accumulator(S::f16, 64)};
    for (const fragment_layout& f : fragments)
        for (const bool load : {true, false})
            for (const bool trans : {false, true})
                for (u32 first = 0; first < f.registers(); first += 4) {
                    const u32 wrong = matrix_move_mismatches(cuda, f, first, load, trans, random);
                    ++tried;
                    failed += wrong != 0;
                    if (wrong)
                        std::printf("  %s%s first %u of %ux%u: %u wrong\n", load ? "ldmatrix" : "stmatrix",
                                    trans ? ".trans" : "", first, f.rows(), f.cols(), wrong);
                }
    std::printf("ldmatrix and stmatrix: %u moves, %u wrong\n", tried, failed);
    return failed;
}

void print_ptx() {
    const wgmma_kind kinds[] = {{S::bf16, S::f32, 64, mn_major, mn_major},
                                {S::f16, S::f16, 256},
                                {S::tf32, S::f32, 8},
                                {S::s8, S::s32, 64},
                                {S::e4m3, S::f32, 64, k_major, k_major, true},
                                {S::bf16, S::f32, 64, k_major, k_major, true}};
    for (const wgmma_kind& k : kinds) std::printf("%s//----\n", wgmma_ptx(k).c_str());
    for (const bool load : {true, false})
        for (const bool trans : {true, false}) std::printf("%s//----\n", matrix_move_ptx(load, trans, 128).c_str());
    std::printf("%s//----\n%s//----\n%s//----\n%s", tma_ptx().c_str(), mma_ptx(S::bf16, S::f32).c_str(),
                mma_ptx(S::f16, S::f16).c_str(), mma_ptx(S::tf32, S::f32).c_str());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--ptx") == 0) {
        print_ptx();
        return 0;
    }
    const driver cuda;
    if (!open_hopper(cuda)) {
        std::printf("skipped: no driver, or no GPU of compute capability 9.0\n");
        return 77;
    }
    u32 failed = check_mma(cuda) + check_matrix_moves(cuda) + check_wgmma(cuda);
    probe_base_offset(cuda);
    failed += check_tma(cuda);
    std::printf(failed ? "FAILED\n" : "all as computed\n");
    return failed != 0;
}
