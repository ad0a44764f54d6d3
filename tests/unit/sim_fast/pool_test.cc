// SPDX-License-Identifier: Apache-2.0
// Fast pools against the clear path: random int8 pools, the whole memory compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "src/sim/fast_pool.h"
#include "src/sim/ppu.h"

namespace npu::sim {
namespace {

constexpr uint32_t kPools = 400;
constexpr size_t kMemory = 1 << 20;

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int Of(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<uint32_t>(high - low + 1));
  }

 private:
  std::mt19937 engine_;
};

PoolConfig RandomPool(uint32_t seed) {
  Random random(seed);
  PoolConfig p;
  p.method = static_cast<PoolMethod>(random.Of(0, 2));
  p.channels = random.Of(1, 70);
  p.ih = random.Of(1, 24);
  p.iw = random.Of(1, 24);
  p.kh = random.Of(1, 16);
  p.kw = random.Of(1, 16);
  p.sy = random.Of(1, 4);
  p.sx = random.Of(1, 4);
  p.pad_top = random.Of(0, 7);
  p.pad_left = random.Of(0, 7);
  p.oh = std::max(1, (p.ih + p.pad_top + random.Of(0, 7) - p.kh) / p.sy + 1);
  p.ow = std::max(1, (p.iw + p.pad_left + random.Of(0, 7) - p.kw) / p.sx + 1);
  p.pad_value = static_cast<int8_t>(random.Of(-128, 127));
  p.recip_width = random.Of(0, 3) == 0 ? random.Of(0, 0x1FFFF) : 65536 / p.kw;
  p.recip_height = 65536 / p.kh;
  p.src_line_stride = 16 * (p.iw + random.Of(0, 2));
  p.src_surf_stride = p.src_line_stride * p.ih + 16 * random.Of(0, 3);
  p.dst_base = 0x80000;
  p.dst_surf_stride = 16 * (int64_t{p.oh} * p.ow + random.Of(0, 2));
  return p;
}

TEST(FastPool, EqualsTheClearPath) {
  std::vector<std::byte> image(kMemory);
  std::mt19937 random(1);
  for (std::byte& b : image) b = static_cast<std::byte>(random());
  WorkerPool pool(2);
  uint32_t ran = 0;
  for (uint32_t seed = 0; seed < kPools; ++seed) {
    const PoolConfig p = RandomPool(seed);
    std::vector<std::byte> clear = image, fast = image;
    AddressSpace clear_space, fast_space;
    ASSERT_TRUE(clear_space.Map(0, clear).ok() && fast_space.Map(0, fast).ok());
    if (!RunPoolFast(p, &fast_space, seed % 2 == 0 ? &pool : nullptr)) {
      ASSERT_EQ(fast, image) << seed << ": declined after touching memory";
      continue;
    }
    ++ran;
    ASSERT_FALSE(RunPoolClear(p, &clear_space).has_value());
    ASSERT_EQ(clear, fast) << seed;
  }
  EXPECT_GT(ran, kPools * 9 / 10);
}

TEST(FastPool, DeclinesWhatItDoesNotCover) {
  std::vector<std::byte> bytes(kMemory);
  AddressSpace space;
  ASSERT_TRUE(space.Map(0, bytes).ok());
  const PoolConfig good = RandomPool(3);
  ASSERT_TRUE(RunPoolFast(good, &space, nullptr));
  PoolConfig p = good;
  p.fp16 = true;
  EXPECT_FALSE(RunPoolFast(p, &space, nullptr));
  p = good;
  p.dst_base = p.src_base;
  EXPECT_FALSE(RunPoolFast(p, &space, nullptr));
  p = good;
  p.src_base = kMemory - 16;
  EXPECT_FALSE(RunPoolFast(p, &space, nullptr));
  p = good;
  p.channels = 32;
  p.dst_surf_stride = 0;
  EXPECT_FALSE(RunPoolFast(p, &space, nullptr));
}

}  // namespace
}  // namespace npu::sim
