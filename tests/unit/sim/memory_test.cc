// SPDX-License-Identifier: Apache-2.0
#include "src/sim/memory.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace npu::sim {
namespace {

TEST(AddressSpace, RefusesEmptyOverlappingAndTooLongRegions) {
  std::vector<std::byte> a(4096), b(4096);
  AddressSpace space;
  EXPECT_FALSE(space.Map(0x1000, {}).ok());
  ASSERT_TRUE(space.Map(0x2000, a).ok());
  EXPECT_FALSE(space.Map(0x2000, b).ok());
  EXPECT_FALSE(space.Map(0x1001, b).ok());
  EXPECT_FALSE(space.Map(0x2FFF, b).ok());
  EXPECT_FALSE(space.Map(0xFFFFF001u, b).ok());
  EXPECT_TRUE(space.Map(0xFFFFF000u, b).ok());
}

TEST(AddressSpace, TranslatesOnlyInsideOneRegion) {
  std::vector<std::byte> a(4096), b(4096);
  AddressSpace space;
  ASSERT_TRUE(space.Map(0x1000, a).ok());
  ASSERT_TRUE(space.Map(0x2000, b).ok());
  EXPECT_EQ(space.Translate(0x1000, 4096), a.data());
  EXPECT_EQ(space.Translate(0x2FFF, 1), b.data() + 4095);
  EXPECT_EQ(space.Translate(0x1FFF, 2), nullptr);
  EXPECT_EQ(space.Translate(0x0FFF, 1), nullptr);
  EXPECT_EQ(space.Translate(0x3000, 1), nullptr);
  EXPECT_EQ(space.Translate(0x1000, 0), nullptr);
  EXPECT_EQ(space.Translate(-1, 1), nullptr);
}

TEST(AddressSpace, ReadsAndWritesAcrossAdjacentRegionsOrNotAtAll) {
  std::vector<std::byte> a(4096, std::byte{1}), b(4096, std::byte{2});
  AddressSpace space;
  ASSERT_TRUE(space.Map(0x2000, b).ok());
  ASSERT_TRUE(space.Map(0x1000, a).ok());
  std::array<std::byte, 4> bytes;
  ASSERT_TRUE(space.Read(0x1FFE, bytes));
  EXPECT_EQ(bytes, (std::array{std::byte{1}, std::byte{1}, std::byte{2}, std::byte{2}}));
  EXPECT_FALSE(space.Read(0x2FFE, bytes));
  bytes.fill(std::byte{9});
  EXPECT_FALSE(space.Write(0x2FFE, bytes));
  EXPECT_EQ(b[4095], std::byte{2});
  ASSERT_TRUE(space.Write(0x1FFE, bytes));
  EXPECT_EQ(a[4095], std::byte{9});
  EXPECT_EQ(b[1], std::byte{9});
}

TEST(AddressSpace, EndsAtFourGigabytes) {
  std::vector<std::byte> page(4096);
  AddressSpace space;
  ASSERT_TRUE(space.Map(0xFFFFF000u, page).ok());
  EXPECT_TRUE(space.IsMapped(AddressSpace::kEnd - 16, 16));
  EXPECT_FALSE(space.IsMapped(AddressSpace::kEnd - 16, 17));
  EXPECT_FALSE(space.IsMapped(AddressSpace::kEnd, 1));
  EXPECT_FALSE(space.IsMapped(INT64_MAX, 1));
}

TEST(AddressSpace, ForgetsUnmappedRegions) {
  std::vector<std::byte> page(4096);
  AddressSpace space;
  ASSERT_TRUE(space.Map(0x1000, page).ok());
  EXPECT_FALSE(space.Unmap(0x1004).ok());
  EXPECT_TRUE(space.Unmap(0x1000).ok());
  EXPECT_FALSE(space.IsMapped(0x1000, 1));
}

}  // namespace
}  // namespace npu::sim
