// SPDX-License-Identifier: Apache-2.0
// Producer/consumer pipelines over a ring of stages: a "full" and an "empty" barrier for each stage, and the two kinds
// of state that walk the ring. Stage, phase and role are types, so that a full wait with the producer's state, or the
// state of another pipeline, does not compile (E13, E15).
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/mbarrier.hpp>

namespace ptxdsl {

enum class pipeline_role : std::uint8_t { producer, consumer };

/// Where a role stands in a pipeline: the stage (0 … stages-1) and the parity it waits for next.
///
/// A producer starts on parity 1 (the phase before the first counts as complete: every slot is free), a consumer on 0.
template <fixed_string Name, pipeline_role Role>
class [[nodiscard]] pipeline_state {
public:
    constexpr pipeline_state(reg<u32> slot, reg<u32> parity, std::uint32_t stages) noexcept
        : slot_(slot), parity_(parity), stages_(stages) {}
    /// Stage index, for tiles: `a[state.slot()]`.
    [[nodiscard]] constexpr const reg<u32>& slot() const noexcept { return slot_; }
    [[nodiscard]] constexpr const reg<u32>& parity() const noexcept { return parity_; }
    [[nodiscard]] constexpr std::uint32_t stages() const noexcept { return stages_; }

private:
    reg<u32> slot_, parity_;
    std::uint32_t stages_;
};

/// `stages` slots with a full and an empty barrier each.
template <fixed_string Name>
class [[nodiscard]] pipeline {
public:
    struct full_ring {};
    struct empty_ring {
        static constexpr bool counts_releases = true;
    };
    using producer_state = pipeline_state<Name, pipeline_role::producer>;
    using consumer_state = pipeline_state<Name, pipeline_role::consumer>;

    constexpr pipeline(mbarrier_ring<full_ring> full, mbarrier_ring<empty_ring> empty) noexcept
        : full_(full), empty_(empty) {}
    [[nodiscard]] constexpr const mbarrier_ring<full_ring>& full() const noexcept { return full_; }
    [[nodiscard]] constexpr const mbarrier_ring<empty_ring>& empty() const noexcept { return empty_; }
    [[nodiscard]] constexpr std::uint32_t stages() const noexcept { return full_.stages(); }
    /// Full barrier of the state's stage: one `mad.lo.u32`.
    template <pipeline_role Role>
    [[nodiscard]] constexpr mbarrier<full_ring> full(const pipeline_state<Name, Role>& s) const {
        return full_[operand<u32>(s.slot())];
    }
    /// Empty barrier of the state's stage: one `mad.lo.u32`.
    template <pipeline_role Role>
    [[nodiscard]] constexpr mbarrier<empty_ring> empty(const pipeline_state<Name, Role>& s) const {
        return empty_[operand<u32>(s.slot())];
    }

    // The state of another pipeline counts other slots.
    template <fixed_string Other, pipeline_role Role>
        requires(!meta::is_same_v<pipeline<Other>, pipeline>)
    constexpr mbarrier<full_ring> full(const pipeline_state<Other, Role>&) const {
        static_assert(detail::always_false<pipeline<Other>>, "PTXDSL-E13: this state walks another pipeline");
        return full_.stage(0);
    }
    template <fixed_string Other, pipeline_role Role>
        requires(!meta::is_same_v<pipeline<Other>, pipeline>)
    constexpr mbarrier<empty_ring> empty(const pipeline_state<Other, Role>&) const {
        static_assert(detail::always_false<pipeline<Other>>, "PTXDSL-E13: this state walks another pipeline");
        return empty_.stage(0);
    }

private:
    mbarrier_ring<full_ring> full_;
    mbarrier_ring<empty_ring> empty_;
};

namespace detail {

template <target Tgt>
class pipeline_family : public family<Tgt, pipeline_family<Tgt>> {
    using family<Tgt, pipeline_family<Tgt>>::ctx;

public:
    /// Reserves the barriers of a pipeline of `stages` stages: emits two `mov.u32`. `producers` arrivals fill a slot
    /// (each `arrive_expect_tx` is one), `consumers` arrivals free it. Initialise with `k.init(pipe)`.
    template <fixed_string Name>
    constexpr pipeline<Name> make_pipeline(std::uint32_t stages, arrival_count producers, arrival_count consumers,
                                           location where = location::current()) const {
        using P = pipeline<Name>;
        const auto full = reserve<typename P::full_ring>("full", stages, producers, where);
        const auto empty = reserve<typename P::empty_ring>("empty", stages, consumers, where);
        const ir::name name = ctx().p.intern(Name.view());
        ctx().p.add_note(ir::note::pipeline, where, full.region().allocation, empty.region().allocation, name.offset,
                         name.length);
        return {full, empty};
    }
    /// Initialises every barrier of the pipeline: 2 x stages `mbarrier.init`. One thread executes it; publish with
    /// `k.fence_mbarrier_init()` and a barrier.
    template <fixed_string Name>
    constexpr auto init(const pipeline<Name>& pipe, location where = location::current()) const {
        for (std::uint32_t i = 0; i < pipe.stages(); ++i) {
            this->self().mbarrier_init(pipe.full()[static_cast<int>(i)], where);
            this->self().mbarrier_init(pipe.empty()[static_cast<int>(i)], where);
        }
    }
    /// State of a producer: two `mov.u32` (slot 0, parity 1).
    template <fixed_string Name>
    constexpr pipeline_state<Name, pipeline_role::producer> producer_state(const pipeline<Name>& pipe,
                                                                           location where = location::current()) const {
        return start<Name, pipeline_role::producer>(pipe.stages(), 1, where);
    }
    /// State of a consumer: two `mov.u32` (slot 0, parity 0).
    template <fixed_string Name>
    constexpr pipeline_state<Name, pipeline_role::consumer> consumer_state(const pipeline<Name>& pipe,
                                                                           location where = location::current()) const {
        return start<Name, pipeline_role::consumer>(pipe.stages(), 0, where);
    }
    /// Producer: waits until the slot is free. Emits `mad.lo.u32` and the wait loop of `k.wait`.
    template <fixed_string Name, fixed_string Other, pipeline_role Role>
    constexpr auto wait_empty(const pipeline<Name>& pipe, const pipeline_state<Other, Role>& s,
                              location where = location::current()) const {
        static_assert(Name == Other, "PTXDSL-E13: this state walks another pipeline");
        static_assert(
            Role == pipeline_role::producer,
            "PTXDSL-E15: a producer waits for an empty slot; a consumer state starts on the other parity and would "
            "wait for ever");
        if constexpr (Name == Other && Role == pipeline_role::producer)
            this->self().wait(pipe.empty(s), s.parity(), where);
    }
    /// Consumer: waits until the slot is full. Emits `mad.lo.u32` and the wait loop of `k.wait`.
    template <fixed_string Name, fixed_string Other, pipeline_role Role>
    constexpr auto wait_full(const pipeline<Name>& pipe, const pipeline_state<Other, Role>& s,
                             location where = location::current()) const {
        static_assert(Name == Other, "PTXDSL-E13: this state walks another pipeline");
        static_assert(
            Role == pipeline_role::consumer,
            "PTXDSL-E15: a consumer waits for a full slot; a producer state starts on the other parity and would read "
            "the slot before it is filled");
        if constexpr (Name == Other && Role == pipeline_role::consumer)
            this->self().wait(pipe.full(s), s.parity(), where);
    }
    /// Next slot: `add.u32 slot, slot, 1; setp.eq.u32 p, slot, stages; @p mov.u32 slot, 0; @p xor.b32 parity, parity,
    /// 1;`
    template <fixed_string Name, pipeline_role Role>
    constexpr auto advance(const pipeline_state<Name, Role>& s, location where = location::current()) const {
        ir::program& p = ctx().p;
        const control_writer w{p};
        const operand<u32> slot(s.slot(), where), parity(s.parity(), where);
        w.counter<tok::add, isa::scalar::u32>(s.slot().id(), slot, operand<u32>(1u, where), where);
        const reg<pred> wrap = w.compare<tok::eq, isa::scalar::u32>(slot, operand<u32>(s.stages(), where), where);
        const std::uint32_t guard = guard_of(wrap, false);
        const raw_operand reset[] = {slot, operand<u32>(0u, where)};
        emit(p, ref<common_form<tok::mov, tok::u32>>(), guard, where, reset, 2);
        const raw_operand toggle[] = {parity, parity, operand<u32>(1u, where)};
        emit(p, ref<common_form<tok::xor_, tok::b32>>(), guard, where, toggle, 3);
    }

    /// `count` slots on, for a role that leaves that many to another: `add.u32 slot, slot, count; div.u32 rounds, slot,
    /// stages; rem.u32 slot, slot, stages; and.b32 rounds, rounds, 1; xor.b32 parity, parity, rounds;`
    template <fixed_string Name, pipeline_role Role, class Count>
    constexpr auto advance(const pipeline_state<Name, Role>& s, Count&& count,
                           location where = location::current()) const {
        ir::program& p = ctx().p;
        const control_writer w{p};
        const operand<u32> n = as_operand<u32>(static_cast<Count&&>(count), where);
        const operand<u32> slot(s.slot(), where), parity(s.parity(), where), stages(s.stages(), where);
        const reg<u32> rounds(p, p.new_reg(isa::scalar::u32, "rounds"));
        w.counter<tok::add, isa::scalar::u32>(s.slot().id(), slot, n, where);
        w.counter<tok::div, isa::scalar::u32>(rounds.id(), slot, stages, where);
        w.counter<tok::rem, isa::scalar::u32>(s.slot().id(), slot, stages, where);
        w.counter<tok::and_, isa::scalar::b32>(rounds.id(), operand<u32>(rounds, where), operand<u32>(1u, where),
                                               where);
        w.counter<tok::xor_, isa::scalar::b32>(s.parity().id(), parity, operand<u32>(rounds, where), where);
    }

    // What takes something else, with its sentence.
    template <class D = void>
    constexpr auto init(anything, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: init takes a pipeline; a barrier of a ring is initialised by k.mbarrier_init(full[i])");
    }
    template <class D = void>
    constexpr auto producer_state(anything, anything = {}) const {
        static_assert(always_false<D>, "PTXDSL-A14: producer_state takes a pipeline: k.producer_state(load)");
    }
    template <class D = void>
    constexpr auto consumer_state(anything, anything = {}) const {
        static_assert(always_false<D>, "PTXDSL-A14: consumer_state takes a pipeline: k.consumer_state(load)");
    }
    template <class D = void>
    constexpr auto wait_full(anything, anything = {}, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: wait_full takes a pipeline and a state that walks it: k.wait_full(load, state)");
    }
    template <class D = void>
    constexpr auto wait_empty(anything, anything = {}, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: wait_empty takes a pipeline and a state that walks it: k.wait_empty(load, state)");
    }
    template <class D = void>
    constexpr auto advance(anything, anything = {}, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: advance takes a state, and perhaps a number of slots: k.advance(state)");
    }
    template <fixed_string Name, class D = void>
    constexpr auto make_pipeline(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: make_pipeline takes a number of stages and two counts of arrivals: "
                      "k.make_pipeline<\"load\">(4, px::arrivals<1>, px::arrivals<128>)");
    }

private:
    template <class Ring>
    [[nodiscard]] constexpr mbarrier_ring<Ring> reserve(string_view name, std::uint32_t stages, arrival_count count,
                                                        location where) const {
        if (count.n == 0 || count.n > (1u << 20) - 1)
            ctx().p.report("E02", where, {"an mbarrier expects 1 to 1048575 arrivals a phase, this one ", count.n});
        ir::allocation a;
        a.kind = ir::allocation_kind::barrier;
        a.stages = static_cast<std::uint16_t>(stages);
        a.stage_bytes = 8;
        a.align = 8;
        return {allocate_shared(ctx().p, a, name, -1, where), stages, count.n};
    }
    template <fixed_string Name, pipeline_role Role>
    [[nodiscard]] constexpr pipeline_state<Name, Role> start(std::uint32_t stages, std::uint32_t parity,
                                                             location where) const {
        ir::program& p = ctx().p;
        const reg<u32> slot(p, p.new_reg(isa::scalar::u32, "slot")), phase(p, p.new_reg(isa::scalar::u32, "parity"));
        emit_mov<isa::scalar::u32>(p, slot.id(), operand<u32>(0u, where), where);
        emit_mov<isa::scalar::u32>(p, phase.id(), operand<u32>(parity, where), where);
        p.slot_registers.push_back(slot.id()), p.slot_registers.push_back(stages);
        return {slot, phase, stages};
    }
};

}  // namespace detail
}  // namespace ptxdsl
