// SPDX-License-Identifier: Apache-2.0
// What a client sees of /dev, /sys and /proc: kernel-interfaces C.2.
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

#include "tests/kernel_client/client.h"
#include "tests/shim/node.h"

namespace npu::shim_test {
namespace {

const char kDriver[] = "/sys/bus/platform/drivers/rocket";
const std::string kCore = std::string(kDriver) + "/fdab0000.npu";

std::string Text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::set<std::string> Names(const char* path) {
  std::set<std::string> names;
  DIR* const directory = opendir(path);
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) names.insert(entry->d_name);
  closedir(directory);
  return names;
}

TEST(Paths, TheNodeIsListedAndFound) {
  EXPECT_EQ(Names("/dev/accel").count("accel0"), 1u);
  glob_t found{};
  ASSERT_EQ(glob("/dev/accel/accel*", 0, nullptr, &found), 0);
  ASSERT_EQ(found.gl_pathc, 1u);
  EXPECT_STREQ(found.gl_pathv[0], kNode);
  globfree(&found);
  EXPECT_EQ(access(kNode, R_OK | W_OK), 0);
  EXPECT_NE(access("/dev/accel/accel1", F_OK), 0);
  EXPECT_TRUE(std::filesystem::is_character_file(kNode));
}

TEST(Paths, EveryStatSaysCharacterDevice) {
  struct stat status {};
  for (int way = 0; way < 3; ++way) {
    status = {};
    const int result = way == 0   ? stat(kNode, &status)
                       : way == 1 ? lstat(kNode, &status)
                                  : fstatat(AT_FDCWD, kNode, &status, 0);
    EXPECT_EQ(result, 0);
    EXPECT_TRUE(S_ISCHR(status.st_mode)) << way;
    EXPECT_EQ(status.st_rdev, makedev(261, 0)) << way;
  }
  struct statx extended {};
  ASSERT_EQ(statx(AT_FDCWD, kNode, 0, STATX_BASIC_STATS, &extended), 0);
  EXPECT_TRUE(S_ISCHR(extended.stx_mode));
  EXPECT_EQ(extended.stx_rdev_major, 261u);
}

TEST(Paths, OpenedThroughItsDirectory) {
  const int directory = open("/dev/accel", O_RDONLY | O_DIRECTORY);
  ASSERT_GE(directory, 0);
  const int fd = openat(directory, "accel0", O_RDWR);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(kernel_client::Create(fd, 4096).handle, 1u);
  close(fd);
  close(directory);
}

TEST(Paths, CoresOfTheDriver) {
  const std::set<std::string> names = Names(kDriver);
  for (const char* name :
       {"fdab0000.npu", "fdac0000.npu", "fdad0000.npu", "bind", "unbind", "uevent", "module"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
  EXPECT_EQ(Text(kCore + "/of_node/compatible"), std::string("rockchip,rk3588-rknn-core") + '\0');
  EXPECT_EQ(Text(kCore + "/uevent"),
            "DRIVER=rocket\nOF_COMPATIBLE_0=rockchip,rk3588-rknn-core\nOF_COMPATIBLE_N=1\n");
  EXPECT_EQ(Text("/sys/class/accel/accel0/dev"), "261:0\n");
  EXPECT_EQ(Text("/sys/module/rocket/parameters/rocket_batch_submit"), "1\n");
  const std::string compatible = Text("/proc/device-tree/compatible");
  EXPECT_NE(compatible.find(std::string("rockchip,rk3588") + '\0'), std::string::npos);
}

TEST(Paths, StdioAndLinksSeeTheTree) {
  FILE* const stream = std::fopen("/sys/dev/char/261:0/dev", "r");
  ASSERT_NE(stream, nullptr);
  std::array<char, 16> line{};
  EXPECT_NE(std::fgets(line.data(), static_cast<int>(line.size()), stream), nullptr);
  EXPECT_STREQ(line.data(), "261:0\n");
  std::fclose(stream);
  char resolved[PATH_MAX];
  ASSERT_NE(realpath((kCore + "/power/../uevent").c_str(), resolved), nullptr);
  EXPECT_EQ(resolved, kCore + "/uevent");
}

TEST(Paths, TheRestOfTheSystemIsUntouched) {
  EXPECT_EQ(Text("/proc/self/comm").substr(0, 11), "shim_client");
  EXPECT_TRUE(std::filesystem::exists("/dev/null"));
  EXPECT_FALSE(std::filesystem::exists("/sys/bus/platform/drivers/rocket2"));
}

TEST(Paths, ACoreIsActiveAfterAJobAndSuspendsLater) {
  const Node node;
  kernel_client::PlacedCase placed(kernel_client::kSmallCase, node.fd());
  placed.Load();
  ASSERT_EQ(kernel_client::Submit(node.fd(), placed.Job()), 0);
  ASSERT_EQ(kernel_client::Prep(node.fd(), placed.output(), INT64_MAX), 0);
  const auto active = [] {
    int count = 0;
    for (const char* core : {"fdab0000", "fdac0000", "fdad0000"}) {
      const std::string status =
          Text(std::string(kDriver) + "/" + core + ".npu/power/runtime_status");
      count += status == "active\n" ? 1 : 0;
      EXPECT_TRUE(status == "active\n" || status == "suspended\n") << status;
    }
    return count;
  };
  for (int i = 0; i < 200 && active() != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(active(), 0);
  // A longer delay keeps it on, and is kept.
  for (const char* core : {"fdab0000", "fdac0000", "fdad0000"}) {
    std::ofstream(std::string(kDriver) + "/" + core + ".npu/power/autosuspend_delay_ms")
        << "60000\n";
  }
  EXPECT_GE(active(), 1);  // other tests may have used the other cores
  EXPECT_EQ(Text(kCore + "/power/autosuspend_delay_ms"), "60000\n");
}

}  // namespace
}  // namespace npu::shim_test
