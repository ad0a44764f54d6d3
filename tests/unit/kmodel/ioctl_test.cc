// SPDX-License-Identifier: Apache-2.0
// Dispatch and the generic ioctls: kernel-interfaces A.2, A.3, C.4 items 1 to 3, Part H 1.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "tests/unit/kmodel/client.h"

namespace npu::kmodel {
namespace {

class Ioctl : public testing::Test {
 protected:
  template <typename T>
  int Call(uint32_t request, T* argument) {
    return file_->Ioctl(request, reinterpret_cast<uint64_t>(argument));
  }
  TestNpu npu_;
  std::shared_ptr<File> file_ = npu_.Open();
};

TEST_F(Ioctl, ForeignTypesAreNotTypewriters) {
  std::array<char, 64> terminal{};
  EXPECT_EQ(Call(0x5401, &terminal), -ENOTTY);  // TCGETS, what isatty() asks
}

TEST_F(Ioctl, UnknownNumbersAreInvalid) {
  std::array<uint64_t, 8> words{};
  for (const uint32_t nr : {0x02u, 0x3Fu, 0x46u, 0x9Fu, 0xFFu}) {
    const uint32_t code = uapi::RequestCode(uapi::Direction::kReadWrite, 64, nr);
    EXPECT_EQ(Call(code, &words), -EINVAL) << nr;
  }
  EXPECT_EQ(Call(uapi::kIoctlPrepBoRanges, &words), -EINVAL);
  EXPECT_EQ(Call(uapi::kIoctlFiniBoRanges, &words), -EINVAL);
}

TEST_F(Ioctl, BadPointersAreFaults) {
  EXPECT_EQ(file_->Ioctl(uapi::kIoctlCreateBo, 0), -EFAULT);
  EXPECT_EQ(file_->Ioctl(uapi::kIoctlVersion, 0x10), -EFAULT);
  EXPECT_EQ(file_->Ioctl(uapi::kIoctlSubmit, ~uint64_t{7}), -EFAULT);
}

TEST_F(Ioctl, TheSizeOfTheRequestOnlySaysHowMuchIsCopied) {
  // CREATE_BO cut to its first word: the object exists, nothing is told of it.
  std::array<uint32_t, 8> words{4096, 0xAAAAAAAA, 0xAAAAAAAA};
  EXPECT_EQ(Call(uapi::RequestCode(uapi::Direction::kReadWrite, 4, uapi::kNrCreateBo), &words), 0);
  EXPECT_EQ(words[1], 0xAAAAAAAAu);
  EXPECT_EQ(file_->handle_count(), 1u);
  // Longer than the kernel's: the tail comes back as it went in.
  words.fill(0);
  words[0] = 4096;
  words[7] = 0x55;
  EXPECT_EQ(Call(uapi::RequestCode(uapi::Direction::kReadWrite, 32, uapi::kNrCreateBo), &words), 0);
  EXPECT_EQ(words[1], 2u);
  EXPECT_EQ(words[7], 0x55u);
}

TEST_F(Ioctl, VersionTellsLengthsThenTexts) {
  uapi::DrmVersion version;
  ASSERT_EQ(Call(uapi::kIoctlVersion, &version), 0);
  EXPECT_EQ(version.major, 0);
  EXPECT_EQ(version.minor, 0);
  EXPECT_EQ(version.name_len, 6u);
  EXPECT_EQ(version.date_len, 1u);
  EXPECT_EQ(version.desc_len, 10u);
  std::string name(8, '#'), desc(4, '#');
  version.name = reinterpret_cast<uint64_t>(name.data());
  version.name_len = name.size();
  version.desc = reinterpret_cast<uint64_t>(desc.data());
  version.desc_len = desc.size();
  ASSERT_EQ(Call(uapi::kIoctlVersion, &version), 0);
  EXPECT_EQ(name, "rocket##");  // no final NUL
  EXPECT_EQ(desc, "rock");
  EXPECT_EQ(version.desc_len, 10u);
}

TEST(Version, IsWhatTheOptionsSay) {
  for (const Version wanted : {Version{0, 0}, Version{1, 1}, Version{1, 6}}) {
    TestNpu npu(Quick(wanted));
    uapi::DrmVersion version;
    ASSERT_EQ(npu.Open()->Ioctl(uapi::kIoctlVersion, reinterpret_cast<uint64_t>(&version)), 0);
    EXPECT_EQ(version.major, wanted.major);
    EXPECT_EQ(version.minor, wanted.minor);
  }
}

TEST_F(Ioctl, Capabilities) {
  const auto cap = [&](uint64_t capability, uint64_t* value) {
    uapi::DrmGetCap get{.capability = capability, .value = 77};
    const int result = Call(uapi::kIoctlGetCap, &get);
    *value = get.value;
    return result;
  };
  uint64_t value = 0;
  EXPECT_EQ(cap(5, &value), 0);
  EXPECT_EQ(value, 3u);
  EXPECT_EQ(cap(6, &value), 0);
  EXPECT_EQ(value, 1u);
  EXPECT_EQ(cap(0x13, &value), 0);
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(cap(1, &value), -EOPNOTSUPP);
}

TEST_F(Ioctl, HandlesStartAtOneAndTheSmallestFreeIsReused) {
  EXPECT_EQ(Create(file_.get(), 4096).handle, 1u);
  EXPECT_EQ(Create(file_.get(), 4096).handle, 2u);
  EXPECT_EQ(Create(file_.get(), 4096).handle, 3u);
  EXPECT_EQ(Close(file_.get(), 2), 0);
  EXPECT_EQ(Close(file_.get(), 2), -EINVAL);
  EXPECT_EQ(Close(file_.get(), 0), -EINVAL);
  EXPECT_EQ(Create(file_.get(), 4096).handle, 2u);
  EXPECT_EQ(Create(file_.get(), 4096).handle, 4u);
}

// Exported objects as descriptors, with numbers of our own.
class FakeDescriptors : public DescriptorTable {
 public:
  int Install(std::shared_ptr<BufferObject> object, uint32_t) override {
    objects_.push_back(std::move(object));
    return static_cast<int>(objects_.size()) + 99;
  }
  std::shared_ptr<BufferObject> Find(int fd) override {
    const size_t index = static_cast<size_t>(fd) - 100;
    return index < objects_.size() ? objects_[index] : nullptr;
  }

 private:
  std::vector<std::shared_ptr<BufferObject>> objects_;
};

TEST(Prime, ExportsAndImportsOnlyOurOwn) {
  FakeDescriptors descriptors;
  TestNpu npu({}, &descriptors);
  const auto first = npu.Open(), second = npu.Open();
  const Bo bo = Create(first.get(), 4096);
  const auto call = [](File* file, uint32_t request, uapi::DrmPrimeHandle* prime) {
    return file->Ioctl(request, reinterpret_cast<uint64_t>(prime));
  };
  uapi::DrmPrimeHandle out{.handle = bo.handle, .flags = O_CLOEXEC};
  ASSERT_EQ(call(first.get(), uapi::kIoctlPrimeHandleToFd, &out), 0);
  uapi::DrmPrimeHandle in{.fd = out.fd};
  ASSERT_EQ(call(second.get(), uapi::kIoctlPrimeFdToHandle, &in), 0);
  EXPECT_EQ(in.handle, 1u);
  uapi::DrmPrimeHandle again{.fd = out.fd};
  ASSERT_EQ(call(first.get(), uapi::kIoctlPrimeFdToHandle, &again), 0);
  EXPECT_EQ(again.handle, bo.handle);  // the file knows it already
  uapi::DrmPrimeHandle foreign{.fd = 5};
  EXPECT_EQ(call(second.get(), uapi::kIoctlPrimeFdToHandle, &foreign), -EINVAL);
  uapi::DrmPrimeHandle unknown{.handle = 9};
  EXPECT_EQ(call(first.get(), uapi::kIoctlPrimeHandleToFd, &unknown), -ENOENT);
}

}  // namespace
}  // namespace npu::kmodel
