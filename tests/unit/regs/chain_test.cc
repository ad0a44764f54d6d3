// SPDX-License-Identifier: Apache-2.0
#include "src/regs/chain.h"

#include <gtest/gtest.h>

#include <vector>

#include "src/regs/command.h"

namespace npu::regs {
namespace {

std::vector<uint64_t> List(size_t words) {
  std::vector<uint64_t> list(words, kNopWord);
  list[words - 3] = MakeWord(Target::kPc, 0, rk3588::PcRegisterAmounts::kOffset);
  list[words - 2] = kSyncWord;
  list[words - 1] = EnableWord(0x1d);
  return list;
}

// The lengths of registers-rk3588 3.3: 112 words are code 55, 30 words are 14.
TEST(LinkToNext, WritesAddressAndLengthCode) {
  std::vector<uint64_t> list = List(112);
  ASSERT_TRUE(LinkToNext(list, 0x12340040, 112).ok());
  const CommandWord base = Split(list[108]);
  EXPECT_EQ(base.offset, rk3588::PcBaseAddress::kOffset);
  EXPECT_EQ(base.value, 0x12340040U);
  const CommandWord amount = Split(list[109]);
  EXPECT_EQ(amount.offset, rk3588::PcRegisterAmounts::kOffset);
  EXPECT_EQ(amount.value, 55U);
  EXPECT_EQ(list[110], kSyncWord);

  list = List(112);
  ASSERT_TRUE(LinkToNext(list, 0, 30).ok());
  EXPECT_EQ(Split(list[109]).value, 14U);
}

TEST(LinkToNext, RefusesWhatThePcWouldMisread) {
  std::vector<uint64_t> list = List(112);
  const std::vector<uint64_t> before = list;
  EXPECT_EQ(LinkToNext(list, 0x1008, 112).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(LinkToNext(list, 0x1000, 111).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(LinkToNext(list, 0x1000, 2).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(LinkToNext(list, 0x1000, 131074).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(list, before);
  ASSERT_TRUE(LinkToNext(list, 0x1000, 131072).ok());
  EXPECT_EQ(LinkToNext(list, 0x2000, 112).code(), ErrorCode::kInvalidArgument) << "linked already";
  std::vector<uint64_t> body(112, kNopWord);
  EXPECT_EQ(LinkToNext(body, 0x1000, 112).code(), ErrorCode::kInvalidArgument) << "no tail";
}

}  // namespace
}  // namespace npu::regs
