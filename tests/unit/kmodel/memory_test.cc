// SPDX-License-Identifier: Apache-2.0
// Addresses, objects and mappings: kernel-interfaces A.4 to A.6, Part H 3 and 9.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <set>

#include "tests/unit/kmodel/client.h"

namespace npu::kmodel {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

TEST(Addresses, WorkedExampleOfTheSpecification) {
  TestNpu npu;
  const auto file = npu.Open();
  EXPECT_EQ(Create(file.get(), 1000).iova, 0u);
  EXPECT_EQ(Create(file.get(), 4096).iova, 0x1000u);
  const Bo third = Create(file.get(), 4097);
  EXPECT_EQ(third.iova, 0x2000u);
  EXPECT_EQ(Create(file.get(), 12288).iova, 0x4000u);
  EXPECT_EQ(Close(file.get(), third.handle), 0);
  EXPECT_EQ(Create(file.get(), 8192).iova, 0x2000u);
  EXPECT_EQ(Create(file.get(), 100).iova, 0x7000u);
}

TEST(Addresses, BestFitTakesTheSmallestHole) {
  TestNpu npu;
  const auto file = npu.Open();
  std::vector<Bo> bos;
  for (const uint32_t pages : {3u, 1u, 2u, 1u}) bos.push_back(Create(file.get(), pages * 4096));
  Close(file.get(), bos[0].handle);
  Close(file.get(), bos[2].handle);
  EXPECT_EQ(Create(file.get(), 2 * 4096).iova, bos[2].iova);
  EXPECT_EQ(Create(file.get(), 4096).iova, bos[0].iova);
}

TEST(Addresses, SixteenTimesAQuarterGigabyteFit) {
  TestNpu npu;
  const auto file = npu.Open(), other = npu.Open();
  for (uint64_t i = 0; i < 16; ++i) EXPECT_EQ(Create(file.get(), 1u << 28).iova, i << 28);
  Bo bo;
  EXPECT_EQ(Create(file.get(), 1u << 28, &bo), -ENOSPC);
  EXPECT_EQ(Create(other.get(), 1u << 28).iova, 0u);  // each file has its own 4 GiB
}

TEST(Objects, SizesNobodyCanHave) {
  TestNpu npu;
  const auto file = npu.Open();
  Bo bo;
  EXPECT_EQ(Create(file.get(), 0, &bo), -ENOSPC);
  EXPECT_EQ(Create(file.get(), 0x80000000u, &bo), -ENOMEM);
  EXPECT_EQ(file->handle_count(), 0u);
  EXPECT_EQ(npu.npu().statistics().objects, 0u);
}

TEST(Objects, OffsetsDoNotFit32BitsAndAreUniqueOnTheDevice) {
  TestNpu npu;
  const auto file = npu.Open(), other = npu.Open();
  std::set<uint64_t> offsets;
  for (int i = 0; i < 8; ++i) {
    const Bo a = Create(file.get(), 5000), b = Create(other.get(), 5000);
    EXPECT_GE(a.offset, uint64_t{1} << 32);
    EXPECT_TRUE(offsets.insert(a.offset).second);
    EXPECT_TRUE(offsets.insert(b.offset).second);
  }
}

TEST(Mappings, RulesOfTheDriver) {
  TestNpu npu;
  const auto file = npu.Open(), other = npu.Open();
  const Bo bo = Create(file.get(), 10000);  // three pages
  const auto error = [&](uint64_t length, int protection, int flags, uint64_t offset) {
    return file->Map(length, protection, flags, offset).error;
  };
  EXPECT_EQ(error(12288, kReadWrite, MAP_SHARED, bo.offset), 0);
  EXPECT_EQ(error(1, kReadWrite, MAP_SHARED, bo.offset), 0);
  EXPECT_EQ(error(4096, kReadWrite, MAP_SHARED, bo.offset + 4096), -EINVAL);
  EXPECT_EQ(error(16384, kReadWrite, MAP_SHARED, bo.offset), -EINVAL);
  EXPECT_EQ(error(0, kReadWrite, MAP_SHARED, bo.offset), -EINVAL);
  EXPECT_EQ(error(4096, kReadWrite, MAP_PRIVATE, bo.offset), -EINVAL);
  EXPECT_EQ(error(4096, PROT_READ, MAP_PRIVATE, bo.offset), 0);
  EXPECT_EQ(error(4096, kReadWrite, MAP_SHARED, 0), -EINVAL);
  EXPECT_EQ(other->Map(4096, kReadWrite, MAP_SHARED, bo.offset).error, -EACCES);
}

TEST(Mappings, KeepTheObjectAndItsAddress) {
  TestNpu npu;
  const auto file = npu.Open();
  const Bo bo = Create(file.get(), 4096);
  File::Mapping mapping = file->Map(4096, kReadWrite, MAP_SHARED, bo.offset);
  void* const at =
      mmap(nullptr, 4096, kReadWrite, MAP_SHARED, mapping.fd, static_cast<off_t>(mapping.offset));
  ASSERT_NE(at, MAP_FAILED);
  auto* const bytes = static_cast<volatile char*>(at);
  EXPECT_EQ(bytes[100], 0);
  bytes[100] = 42;
  EXPECT_EQ(Close(file.get(), bo.handle), 0);
  EXPECT_EQ(bytes[100], 42);
  EXPECT_EQ(Create(file.get(), 4096).iova, 0x1000u);  // the address is still taken
  munmap(at, 4096);
  mapping.keep.reset();
  EXPECT_EQ(Create(file.get(), 4096).iova, bo.iova);
  EXPECT_EQ(npu.npu().statistics().objects, 2u);
}

TEST(Mappings, KeepTheOpenFile) {
  TestNpu npu;
  auto file = npu.Open();
  const Bo bo = Create(file.get(), 4096);
  File::Mapping mapping = file->Map(4096, kReadWrite, MAP_SHARED, bo.offset);
  file.reset();
  EXPECT_EQ(npu.npu().statistics().files, 1u);
  mapping.keep.reset();
  EXPECT_EQ(npu.npu().statistics().files, 0u);
  EXPECT_EQ(npu.npu().statistics().objects, 0u);
}

TEST(Objects, NothingIsLeftWhenTheFileGoes) {
  TestNpu npu;
  {
    const auto file = npu.Open();
    PlacedCase placed(kSmallCase, file.get());
    placed.Load();
    ASSERT_EQ(Submit(file.get(), placed.Job()), 0);
    EXPECT_GT(npu.npu().statistics().objects, 0u);
    EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  }
  const Statistics after = npu.npu().statistics();
  EXPECT_EQ(after.files, 0u);
  EXPECT_EQ(after.objects, 0u);
  EXPECT_EQ(after.object_bytes, 0u);
}

}  // namespace
}  // namespace npu::kmodel
