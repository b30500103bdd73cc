// SPDX-License-Identifier: Apache-2.0
// The rows of isa/targets.isa against ptxas: for every target the first version, the features and what its code is
// assembled for. Without a ptxas what needs none is still checked, and the rest skipped.
//
//   isa_targets_test [--ptxas PATH] [--work DIR]
//
// Exit codes: 0 right, 1 wrong, 77 no ptxas (skipped).

#include <ptxdsl/isa/table.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace ptxdsl;

static_assert(sm_90a == target{90, 'a'} && sm_90a.known() && sm_103f.known() && !target{90, 'f'}.known());
static_assert(sm_90a.has_wgmma() && !sm_90.has_wgmma() && !sm_100a.has_wgmma());
static_assert(sm_100f.has_tensor_memory() && sm_103a.has_tensor_memory() && !sm_100.has_tensor_memory());
static_assert(!sm_120a.has_tensor_memory() && sm_120f.has_setmaxnreg() && !sm_120.has_setmaxnreg());
static_assert(sm_100a.floor() == ptx_version{8, 6} && sm_100f.floor() == ptx_version{8, 8});
static_assert(sm_80.max_shared_bytes() == 163u << 10 && sm_90a.max_shared_bytes() == 227u << 10);
// One that has no row is taken for the newest portable one below it.
static_assert(!target{99, 0}.known() && target{99, 0}.floor() == sm_90.floor() && !target{99, 'a'}.has_wgmma());
static_assert(!target{200, 0}.known() && target{200, 0}.floor() == sm_121.floor());
static_assert(target_numbered("100f") == sm_100f && target_numbered("75") == sm_75);
static_assert(target_numbered("") == target{} && target_numbered("a") == target{} &&
              target_numbered("90b") == target{});
static_assert(target_numbered("90aa") == target{} && target_numbered("90000") == target{});
// `a` runs on its own GPU, `f` on the later ones of its family, portable code on all later ones.
static_assert(sm_100a.runs_on(100) && !sm_100a.runs_on(103) && !sm_100a.runs_on(90));
static_assert(sm_100f.runs_on(100) && sm_100f.runs_on(103) && !sm_100f.runs_on(110) && !sm_103f.runs_on(100));
static_assert(sm_90.runs_on(103) && sm_90.runs_on(121) && !sm_90.runs_on(89));
static_assert(sm_101a.runs_on(101) && sm_101a.runs_on(110) && sm_101f.runs_on(110) && !sm_101a.runs_on(100));

struct options {
    std::string ptxas = "ptxas";
    std::string work = ".";
};

std::string name(target t) {
    std::string s = "sm_" + std::to_string(t.sm);
    if (t.suffix != 0) s += t.suffix;
    return s;
}
std::string number(ptx_version v) { return std::to_string(v.major) + "." + std::to_string(v.minor); }

/// Every version that ptxas 13 reads, ascending.
constexpr std::uint8_t versions[] = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 30, 31, 32, 40, 41,
                                     42, 43, 50, 60, 61, 62, 63, 64, 65, 70, 71, 72, 73, 74, 75,
                                     76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};
constexpr ptx_version newest{9, 0};

ptx_version unpack(unsigned v) { return {static_cast<std::uint8_t>(v / 10), static_cast<std::uint8_t>(v % 10)}; }

class asking {
public:
    explicit asking(options o) : o_(std::move(o)) {}

    [[nodiscard]] bool usable() const {
        return std::system(("'" + o_.ptxas + "' --version > /dev/null 2>&1").c_str()) == 0;
    }
    /// Whether ptxas assembles a kernel of this one statement.
    bool assembles(ptx_version v, target t, target as, const std::string& statement) {
        ++runs;
        {
            std::ofstream out(o_.work + "/target.ptx");
            out << ".version " << number(v) << "\n.target " << name(t) << "\n";
            if (v >= ptx_version{2, 3}) out << ".address_size 64\n";
            out << ".entry k { .reg .f32 %f<4>; .reg .b16 %h; .reg .b32 %r<4>; " << statement << " ret; }\n";
        }
        return std::system(("'" + o_.ptxas + "' -arch=" + name(as) + " '" + o_.work + "/target.ptx' -o '" + o_.work +
                            "/target.cubin' > /dev/null 2>&1")
                               .c_str()) == 0;
    }
    void expect(bool right, const std::string& what) {
        if (right) return;
        ++faults;
        std::printf("WRONG %s\n", what.c_str());
    }

    unsigned runs = 0, faults = 0;

private:
    options o_;
};

void check_floor(asking& a, target t) {
    const target as = t.assembled_as();
    a.expect(a.assembles(t.floor(), t, as, ""), name(t) + ": ptxas does not know it in PTX " + number(t.floor()));
    ptx_version before{};
    for (const unsigned v : versions)
        if (unpack(v) < t.floor()) before = unpack(v);
    if (before != ptx_version{})
        a.expect(!a.assembles(before, t, as, ""), name(t) + ": ptxas knows it in PTX " + number(before) + " already");
}

/// One statement for each feature: ptxas takes it exactly where the row names the feature. (32-bit addresses are not
/// among them: ptxas 13 assembles none.)
void check_features(asking& a, target t) {
    struct one {
        const char* feature;
        bool said;
        const char* statement;
    };
    const one all[] = {
        {"unrounded_mad", t.has_unrounded_mad(), "mad.f32 %f0, %f1, %f2, %f3;"},
        {"independent_threads", t.has_independent_threads(),
         "shfl.sync.idx.b32 %r0, %r1, 0, 31, -1; fence.acq_rel.gpu;"},
        {"fp8", t.has_fp8(), "cvt.rn.satfinite.e4m3x2.f32 %h, %f0, %f1;"},
        {"clusters", t.has_clusters(), "mov.u32 %r0, %cluster_ctarank;"},
        {"tma", t.has_tma(), "cp.async.bulk.commit_group;"},
        {"setmaxnreg", t.has_setmaxnreg(), "setmaxnreg.inc.sync.aligned.u32 64;"},
        {"wgmma", t.has_wgmma(), "wgmma.fence.sync.aligned;"},
        {"tensor_memory", t.has_tensor_memory(), "tcgen05.fence::before_thread_sync;"},
    };
    for (const one& f : all)
        a.expect(a.assembles(newest, t, t.assembled_as(), f.statement) == f.said,
                 name(t) + (f.said ? ": ptxas does not have " : ": ptxas has ") + f.feature);
}

/// ptxas assembles a text for the GPUs that its code runs on.
void check_devices(asking& a, target t, const std::vector<target>& gpus) {
    for (const target gpu : gpus)
        a.expect(a.assembles(newest, t, gpu, "") == t.runs_on(gpu.sm),
                 name(t) + (t.runs_on(gpu.sm) ? ": ptxas does not assemble it for " : ": ptxas assembles it for ") +
                     name(gpu));
}

std::vector<target> all_targets() {
    std::vector<target> out;
    for (unsigned number = 1; number != 1000; ++number)
        for (const char suffix : {'\0', 'a', 'f'})
            if (const target t{static_cast<std::uint16_t>(number), suffix}; t.known()) out.push_back(t);
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    options o;
    for (int i = 1; i + 1 < argc; i += 2) (std::string(argv[i]) == "--ptxas" ? o.ptxas : o.work) = argv[i + 1];
    asking a(o);
    const std::vector<target> all = all_targets();
    a.expect(all.size() == isa::detail::target_count, "a row cannot be found by its number and suffix");
    if (!a.usable()) {
        std::printf("SKIP isa_targets_test: no ptxas runs at '%s'; the targets were not compared\n", o.ptxas.c_str());
        return a.faults == 0 ? 77 : 1;
    }
    // The GPUs: what is assembled for itself. An `a` GPU takes all that its number takes.
    std::vector<target> gpus;
    for (const target t : all)
        if (t.assembled_as() == t && t.suffix != 'f') gpus.push_back(t);
    for (const target t : all) {
        check_floor(a, t);
        check_features(a, t);
        if (t.suffix != 0) {
            std::vector<target> own;
            for (const target gpu : gpus)
                if (gpu.suffix == 'a') own.push_back(gpu);
            check_devices(a, t, own);
        }
    }
    std::printf("%zu targets, %u ptxas runs, %u wrong\n", all.size(), a.runs, a.faults);
    return a.faults == 0 ? 0 : 1;
}
