// SPDX-License-Identifier: Apache-2.0
// Structure from branches: a structured function does what its branches did, block by block.
#include "catch.hpp"

#include <ptxdsl/parse.hpp>
#include <ptxdsl/parse/verify.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace ptx = ptxdsl::ptx;

namespace {

using u32 = std::uint32_t;
constexpr u32 none = ptx::flow_block::none;

/// Takes down what `structure_printer` prints, and runs it.
class recorder {
public:
    explicit recorder(const ptx::flow_graph& g) : g_(g) {}
    void begin_if(u32 guard, u32 where) { add({kind::if_, where, guard}); }
    void begin_else() { add({kind::else_, 0, 0}); }
    void end_if() { add({kind::end, 0, 0}); }
    void begin_loop(u32 id, u32) { add({kind::loop, id, 0}); }
    void end_loop(u32) { add({kind::end, 0, 0}); }
    void begin_block(u32 id) { add({kind::block, id, 0}); }
    void end_block(u32, bool used) {
        used_ = used_ || used;
        add({kind::end, 0, 0});
    }
    void jump(bool out, u32 id, u32 guard, u32 where) {
        add({out ? kind::leave : kind::repeat, id, guard});
        ops_.back().where = where;
    }
    void instructions(u32 first, u32) { add({kind::visit, first, 0}); }
    [[nodiscard]] static bool synchronises(u32 first, u32) { return first % 3 == 0; }

    /// The blocks it goes through; `taken(block)` says whether the branch behind a block is.
    template <class Taken>
    std::vector<u32> run(std::size_t most, Taken taken) {
        most_ = most;
        path_.clear();
        std::size_t at = 0;
        static_cast<void>(part(at, true, taken));
        return path_;
    }
    [[nodiscard]] bool used_blocks() const { return used_; }

private:
    enum class kind : std::uint8_t { if_, else_, loop, block, end, leave, repeat, visit };
    struct op {
        kind k;
        u32 id, guard;
        u32 where = 0;
    };
    struct flow {
        enum class way : std::uint8_t { on, leave, repeat, stop } w = way::on;
        u32 id = 0;
    };
    void add(op o) { ops_.push_back(o); }

    /// A guard is (block + 1) << 1 | negated here; a block decides once a visit.
    template <class Taken>
    bool holds(u32 guard, Taken& taken) {
        if (guard == 0) return true;
        const u32 block = (guard >> 1) - 1;
        if (decided_ != block) decision_ = taken(block), decided_ = block;
        return decision_ != ((guard & 1u) != 0);
    }
    /// Runs (or skips) up to the end of the construct at hand; `at` gets behind it.
    template <class Taken>
    flow part(std::size_t& at, bool live, Taken& taken) {
        flow f;
        for (; at < ops_.size(); ++at) {
            const op o = ops_[at];
            const bool on = live && f.w == flow::way::on;
            switch (o.k) {
                case kind::end:
                case kind::else_: return f;
                case kind::visit:
                    if (!on) break;
                    if (path_.size() == most_) {
                        f.w = flow::way::stop;
                        break;
                    }
                    path_.push_back(o.id);
                    decided_ = none;
                    if (g_.ends(o.id)) f.w = flow::way::stop;  // where a text has its ret
                    break;
                case kind::leave:
                case kind::repeat:
                    if (on && holds(o.guard, taken))
                        f = {o.k == kind::leave ? flow::way::leave : flow::way::repeat, o.id};
                    break;
                case kind::if_: {
                    const bool yes = on && holds(o.guard, taken);
                    flow arm = part(++at, yes, taken);
                    if (ops_[at].k == kind::else_) {
                        const flow other = part(++at, on && !yes, taken);
                        if (!yes) arm = other;
                    }
                    if (on) f = arm;
                    break;
                }
                case kind::block: {
                    const flow inside = part(++at, on, taken);
                    if (on && !(inside.w == flow::way::leave && inside.id == o.id)) f = inside;
                    break;
                }
                case kind::loop: {
                    const std::size_t begin = ++at;
                    for (bool again = true; again;) {
                        at = begin;
                        const flow inside = part(at, on, taken);
                        again =
                            on && (inside.w == flow::way::on || (inside.w == flow::way::repeat && inside.id == o.id));
                        if (on && !again && !(inside.w == flow::way::leave && inside.id == o.id)) f = inside;
                    }
                    break;
                }
            }
        }
        return f;
    }

    const ptx::flow_graph& g_;
    std::vector<op> ops_;
    std::vector<u32> path_;
    std::size_t most_ = 0;
    u32 decided_ = none;
    bool decision_ = false, used_ = false;
};

/// The path through the blocks themselves.
template <class Taken>
std::vector<u32> walk(const ptx::flow_graph& g, std::size_t most, Taken taken) {
    std::vector<u32> path;
    for (u32 b = 0; b != none && path.size() < most;) {
        path.push_back(b);
        const ptx::flow_block& x = g.blocks[b];
        if (x.to == none)
            b = x.next;
        else if (x.guard == 0 || x.next == none || x.next == x.to)
            b = x.to;
        else
            b = taken(b) ? x.to : x.next;
    }
    return path;
}

/// What a block decides at its nth visit.
class choices {
public:
    explicit choices(unsigned seed) : seed_(seed) {}
    bool operator()(u32 block) {
        if (counts_.size() <= block) counts_.resize(block + 1, 0);
        std::minstd_rand r(seed_ * 7919u + block * 104729u + counts_[block]++ * 31u + 1);
        r.discard(2);
        return r() % 2 == 0;
    }

private:
    unsigned seed_;
    std::vector<unsigned> counts_;
};

void add_block(ptx::flow_graph& g, u32 to, u32 next, bool guarded) {
    ptx::flow_block b;
    b.first = g.blocks.size(), b.last = b.first + 1, b.to = to, b.next = next, b.where = b.first;
    b.guard = guarded ? (b.first + 1) << 1 : 0;
    g.blocks.push_back(b);
}

/// Branches to anywhere, mostly near.
void scatter(ptx::flow_graph& g, std::minstd_rand& r) {
    const u32 n = 2 + static_cast<u32>(r() % 14);
    for (u32 i = 0; i < n; ++i) {
        const u32 next = i + 1 < n ? i + 1 : none;
        const u32 reach = r() % 4 == 0 ? n : 4;
        const u32 low = i > reach / 2 ? i - reach / 2 : 0;
        const u32 to = std::min(low + static_cast<u32>(r() % reach), n - 1);
        switch (r() % 6) {
            case 0: add_block(g, to, none, false); break;
            case 1: add_block(g, none, none, false); break;
            case 2: add_block(g, none, next, false); break;
            default: add_block(g, to, next, true); break;
        }
    }
}

}  // namespace

TEST_CASE("structured functions take the paths of their branches") {
    std::minstd_rand r(1);
    u32 structured = 0, wild = 0, with_blocks = 0;
    for (int round = 0; round < 20000; ++round) {
        ptx::flow_graph g;
        scatter(g, r);
        if (!g.analyse()) {
            ++wild;
            continue;
        }
        recorder text(g);
        REQUIRE(ptx::structure_printer(g, text).run());
        ++structured;
        with_blocks += text.used_blocks() ? 1 : 0;
        for (unsigned seed = 0; seed < 8; ++seed) REQUIRE(text.run(60, choices(seed)) == walk(g, 60, choices(seed)));
    }
    CHECK(structured > 10000);
    CHECK(wild > 500);
    CHECK(with_blocks > 1000);
}

TEST_CASE("loops with two entries have no structure") {
    ptx::flow_graph g;
    add_block(g, 2, 1, true);
    add_block(g, none, 2, false);
    add_block(g, 1, 3, true);
    add_block(g, none, none, false);
    CHECK_FALSE(g.analyse());
}

TEST_CASE("nesting that is too deep has no structure, long chains have") {
    for (const u32 n : {100u, 5000u}) {
        ptx::flow_graph chain;  // if (…) {…} if (…) {…} …
        for (u32 i = 0; i < n; ++i)
            add_block(chain, 2 * i + 2, 2 * i + 1, true), add_block(chain, none, 2 * i + 2, false);
        add_block(chain, none, none, false);
        recorder text(chain);
        REQUIRE(chain.analyse());
        CHECK(ptx::structure_printer(chain, text).run());
    }
    ptx::flow_graph nested;  // if (…) { if (…) { … } }
    constexpr u32 n = 300;
    for (u32 i = 0; i < n; ++i) add_block(nested, 2 * n - i, i + 1, true);
    for (u32 i = 0; i < n; ++i) add_block(nested, none, n + i + 1, false);
    add_block(nested, none, none, false);
    recorder text(nested);
    REQUIRE(nested.analyse());
    CHECK_FALSE(ptx::structure_printer(nested, text).run());
    for (const u32 loops : {10u, 11u}) {
        ptx::flow_graph around;  // do do … while (…) while (…)
        for (u32 i = 0; i < loops; ++i) add_block(around, none, i + 1, false);
        for (u32 i = 0; i < loops; ++i) add_block(around, loops - 1 - i, loops + i + 1, true);
        add_block(around, none, none, false);
        recorder many(around);
        REQUIRE(around.analyse());
        CHECK(ptx::structure_printer(around, many).run() == (loops == 10));
    }
}

namespace {

constexpr std::string_view short_text =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k(.param .u64 p)\n.reqntid 128\n{\n.reg .b32 %r<4>;\n"
    ".reg .pred %p;\n.shared .align 8 .b64 bar;\nmov.u32 %r1, bar;\nmov.u32 %r2, %tid.x;\nsetp.eq.u32 %p, %r2, 0;\n"
    "@%p mbarrier.init.shared.b64 [%r1], 64;\nbar.sync 0;\n"
    "mbarrier.arrive.shared.b64 _, [%r1];\nret;\n}\n";

/// Line of the first error, 0: none.
constexpr u32 first_error_line(std::string_view source) {
    ptx::tree t(static_cast<u32>(source.size()));
    ptx::read(source, t, false);
    ptx::diagnostics d;
    ptx::verify_module(t.read(), d);
    return d.first_error() == nullptr ? 0 : ptx::position_of(source, d.first_error()->offset).line;
}

}  // namespace

TEST_CASE("a text is verified in constant evaluation, too") {
    static_assert(first_error_line(short_text) == 15);
    CHECK(first_error_line(short_text) == 15);
}

// A text from before PTX 3.0 may have registers that are no function's. In constant evaluation a read outside of the
// kernel's own would not compile.
TEST_CASE("a condition that is a register of the module keeps a kernel from being verified") {
    constexpr std::string_view text =
        ".version 2.2\n.target sm_20\n.reg .pred %p<4>;\n.entry k()\n{\n@!%p1 bra done;\nret;\ndone:\nret;\n}\n";
    static_assert(first_error_line(text) == 0);
    CHECK(first_error_line(text) == 0);
}
