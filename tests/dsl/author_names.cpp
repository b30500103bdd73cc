// SPDX-License-Identifier: Apache-2.0
// An author's globals may have any name: warnings are errors here, -Wshadow among them, and g++ would say of parameters
// of the library's templates that they shadow these.
#include <ptxdsl/dsl/texture.hpp>
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;

constexpr u32 at = 1, where = 2, stages = 3, stage = 4, n = 5, count = 6, bytes = 7, size = 8, p = 9, a = 10, b = 11,
              c = 12, d = 13, i = 14, r = 15, s = 16, t = 17, x = 18, y = 19, value = 20, tile = 21, map = 22, bar = 23,
              slot = 24, parity = 25, mask = 26, rank = 27, dst = 28, src = 29, from = 30, to = 31, offset = 32,
              row = 33, col = 34, name = 35, text = 36, base = 37, region = 38, operand = 39, body = 40, cond = 41,
              first = 42, bound = 43, step = 44;
static_assert(at + where + stages + stage + n + count + bytes + size + p + a + b + c + d + i + r + s + t + x + y +
                  value + tile + map + bar + slot + parity + mask + rank + dst + src + from + to + offset + row + col +
                  name + text + base + region + operand + body + cond + first + bound + step ==
              44 * 45 / 2);

using square = px::tile<bf16, 64, 64>;

constexpr void everything(px::builder<px::sm_90a, px::texture_calls>& k, px::tma_map<square> in,
                          px::tma_map_out<square> out, px::global_ptr<f32, 16> to_memory, px::reg<px::u64> image,
                          px::reg<u32> blocks) {
    const auto ring_a = k.smem<square>(2, "a"), ring_b = k.smem<square>(2, "b");
    const auto pipe = k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals<128>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.init(pipe); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.if_(tid < 128u, [&] {
         const auto consumer = k.consumer_state(pipe);
         const auto acc = k.wgmma.make_accumulator<f32, 64>();
         const auto a_desc = k.wgmma.descriptor(ring_a), b_desc = k.wgmma.descriptor(ring_b);
         k.for_(blocks, [&](px::reg<u32> block) {
             k.wait_full(pipe, consumer);
             k.wgmma.fence();
             k.wgmma.mma_async(acc, a_desc[consumer.slot()], b_desc[consumer.slot()], block != 0u);
             for (u32 slice = 1; slice < 4; ++slice)
                 k.wgmma.mma_async(acc, a_desc[consumer.slot()].k_slice(slice), b_desc[consumer.slot()].k_slice(slice));
             k.wgmma.commit_group();
             k.wgmma.wait_group<0>();
             k.mbarrier_arrive(pipe.empty(consumer));
             k.advance(consumer);
         });
         const auto column = k.cvt<px::s32>(tid);
         const auto pixel = k.tex<px::_2d, f32>(image, px::coord(column, column));
         k.st((to_memory + tid * 32u).assume_aligned<16>(), acc[0] + pixel[0]);
     }).else_([&] {
        k.single_thread(tid == 128u, [&] {
            const auto producer = k.producer_state(pipe);
            k.for_(blocks, [&](px::reg<u32> block) {
                k.wait_empty(pipe, producer);
                k.mbarrier_arrive_expect_tx(pipe.full(producer), ring_a, ring_b);
                k.cp_async_bulk_tensor(ring_a[producer.slot()], in, px::coords(block * 64u, 0), pipe.full(producer));
                k.cp_async_bulk_tensor(ring_b[producer.slot()], in, px::coords(block * 64u, 64), pipe.full(producer));
                k.advance(producer);
            });
        });
    });
    static_cast<void>(out);
}

constexpr auto everything_ptx = px::assemble<px::kernel<"everything", everything, px::attributes{.reqntid = {160}}>>();

int main() { return everything_ptx.text().empty() ? 1 : 0; }
