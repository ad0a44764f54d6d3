// SPDX-License-Identifier: Apache-2.0
// Finding node and chip in a made-up machine.
#include "src/device/detect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/device/fake_sys.h"

namespace npu::device {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class DetectTest : public testing::Test {
 protected:
  DetectTest() { fs::remove_all(root_); }
  ~DetectTest() override { fs::remove_all(root_); }

  void Write(const std::string& path, std::string_view text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  void AddCore(const std::string& name, const std::string& compatible) {
    const std::string core = "sys/bus/platform/drivers/rocket/" + name;
    fs::create_directories(root_ / core / "power");
    if (!compatible.empty()) {
      Write(core + "/uevent",
            "DRIVER=rocket\nOF_NAME=npu\nOF_COMPATIBLE_0=" + compatible + "\nOF_COMPATIBLE_N=1\n");
    }
  }
  std::string ChipError() {
    const Result<DetectedChip> chip = DetectChip(root_);
    EXPECT_EQ(chip.status().code(), ErrorCode::kNoDevice);
    return chip.status().message();
  }

  const fs::path root_ = fs::path(testing::TempDir()) / "machine";
};

TEST_F(DetectTest, CoresNameTheChipInTheirUevent) {
  Write("sys/bus/platform/drivers/rocket/bind", "");
  Write("sys/bus/platform/drivers/rocket/uevent", "");
  AddCore("fdab0000.npu", "rockchip,rk3588-rknn-core");
  AddCore("fdac0000.npu", "rockchip,rk3588-rknn-core");
  const Result<DetectedChip> chip = DetectChip(root_);
  ASSERT_TRUE(chip.ok()) << chip.status().message();
  EXPECT_EQ(chip->name, "rk3588");
  EXPECT_EQ(chip->cores, 2u);
  EXPECT_THAT(chip->evidence, HasSubstr("fdab0000.npu"));
}

TEST_F(DetectTest, AddressesAndTheDeviceTreeAreTheNextBest) {
  AddCore("27700000.npu", "");
  EXPECT_EQ(DetectChip(root_)->name, "rk3576");
  fs::remove_all(root_);
  using std::string_view_literals::operator""sv;
  Write("proc/device-tree/compatible", "vendor,board\0rockchip,rk3588s\0"sv);
  EXPECT_EQ(DetectChip(root_)->name, "rk3588");
  EXPECT_EQ(DetectChip(root_)->cores, 0u);
}

TEST_F(DetectTest, TokensAreMatchedWhole) {
  const auto name = [&](const char* compatible) {
    fs::remove_all(root_);
    AddCore("12340000.npu", compatible);
    const Result<DetectedChip> chip = DetectChip(root_);
    return chip.ok() ? chip->name : "";
  };
  EXPECT_EQ(name("rockchip,rk3588s2-rknn-core"), "rk3588");
  EXPECT_EQ(name("rockchip,rk3588j"), "rk3588");
  EXPECT_EQ(name("rk3582"), "rk3588");
  EXPECT_EQ(name("rockchip,rk3566-rknpu"), "rk3568");
  EXPECT_EQ(name("rockchip,rk35880-rknn-core"), "");
  EXPECT_EQ(name("rockchip,rk3588-like,rk"), "rk3588");
  EXPECT_EQ(name("vendor,board-with-rk3588"), "");
  EXPECT_EQ(name("rockchip,"), "");
}

TEST_F(DetectTest, AnUnknownMachineIsRefusedWithARemedy) {
  EXPECT_THAT(ChipError(), testing::AllOf(HasSubstr("option chip"), HasSubstr("/sys")));
  Write("proc/device-tree/compatible", "vendor,other");
  EXPECT_THAT(ChipError(), HasSubstr("vendor,other"));
}

TEST_F(DetectTest, TheParameterDecidesAboutChains) {
  EXPECT_TRUE(ChainsAllowed(root_));
  const char* const file = "sys/module/rocket/parameters/rocket_batch_submit";
  Write(file, "0\n");
  EXPECT_FALSE(ChainsAllowed(root_));
  Write(file, "N\n");
  EXPECT_FALSE(ChainsAllowed(root_));
  Write(file, "1\n");
  EXPECT_TRUE(ChainsAllowed(root_));
}

TEST_F(DetectTest, TheNodeIsFoundByItsDriverAndNotByItsNumber) {
  const auto sys = std::make_shared<FakeSys>();
  for (const char* node : {"accel0", "accel1", "accel2"}) {
    Write(std::string("dev/accel/") + node, "");
    sys->nodes[root_ / "dev/accel" / node] = {.driver = "ethosu"};
  }
  Result<std::unique_ptr<RocketFile>> file = FindRocketNode(sys, root_, "");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.status().message(), HasSubstr("accel2 belongs to the driver ethosu"));
  sys->nodes[root_ / "dev/accel/accel0"].open_error = EACCES;
  sys->nodes[root_ / "dev/accel/accel2"].driver = "rocket";
  file = FindRocketNode(sys, root_, "");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ((*file)->path(), root_ / "dev/accel/accel2");
  EXPECT_EQ(sys->open_files(), 1u) << "the others are closed";
}

TEST_F(DetectTest, WithoutANodeTheMessageSaysWhy) {
  const auto message = [&] {
    return FindRocketNode(std::make_shared<FakeSys>(), root_, "").status().message();
  };
  EXPECT_THAT(message(), testing::AllOf(HasSubstr("accel0: No such file or directory"),
                                        HasSubstr("modprobe rocket"), HasSubstr("device=sim")));
  fs::create_directories(root_ / "sys/bus/platform/drivers/RKNPU");
  EXPECT_THAT(message(), HasSubstr("vendor's driver"));
}

TEST_F(DetectTest, AFileThatIsNoDeviceIsRefusedByTheSystemItself) {
  Write("dev/accel/accel0", "not a device");
  const auto message = [&] { return FindRocketNode(MakeRealSys(), root_, "").status().message(); };
  EXPECT_THAT(message(), HasSubstr("accel0 belongs to no DRM driver"));
  fs::remove(root_ / "dev/accel/accel0");
  fs::create_directories(root_ / "dev/accel/accel0");
  EXPECT_THAT(message(), HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace npu::device
