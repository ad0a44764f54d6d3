// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/doctor/tree.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace npu::doctor {
namespace {

constexpr std::string_view kDriver = "/sys/bus/platform/drivers/rocket/";

}  // namespace

Tree::Tree() {
  std::string name = (std::filesystem::temp_directory_path() / "npu-doctor-XXXXXX").string();
  root_ = mkdtemp(name.data());
}

Tree::~Tree() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

Tree& Tree::Set(std::string_view path, std::string_view contents) {
  const std::filesystem::path file = root_.string() + std::string(path);
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << contents;
  return *this;
}

Tree& Tree::Remove(std::string_view path) {
  std::filesystem::remove_all(root_.string() + std::string(path));
  return *this;
}

Tree& Tree::ReadOnly(std::string_view path) {
  std::filesystem::permissions(root_.string() + std::string(path),
                               std::filesystem::perms::owner_read);
  return *this;
}

Tree& Tree::Board(std::string_view chip, std::string_view model) {
  const std::string token = "vendor,board" + std::string(1, '\0') + "rockchip," +
                            std::string(chip) + std::string(1, '\0');
  return Set("/proc/device-tree/compatible", token)
      .Set("/proc/device-tree/model", std::string(model) + std::string(1, '\0'))
      .Set("/proc/sys/kernel/arch", "aarch64\n")
      .Set("/proc/sys/kernel/osrelease", "6.18.2\n")
      .Set("/proc/sys/kernel/tainted", "0\n")
      .Set("/proc/sys/vm/max_map_count", "65530\n")
      .Set("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nGroups:\t27 992\n")
      .Set("/proc/self/limits",
           "Limit  Soft Limit  Hard Limit  Units\n"
           "Max open files            1024                 4096  files\n")
      .Set("/proc/self/environ", "HOME=/home/user")
      .Set("/proc/1/cgroup", "0::/init.scope\n")
      .Set("/proc/meminfo", "MemTotal:        3900000 kB\nMemAvailable:    2048000 kB\n")
      .Set("/proc/cpuinfo", "Features\t: fp asimd asimdhp asimddp\n")
      .Set("/dev/kmsg", "[    0.000000] Booting Linux\n");
}

Tree& Tree::Core(std::string_view unit, std::string_view chip) {
  const std::string core = std::string(kDriver) + std::string(unit) + ".npu";
  return Set(core + "/uevent", "DRIVER=rocket\nOF_COMPATIBLE_0=rockchip," + std::string(chip) +
                                   "-rknn-core\nOF_COMPATIBLE_N=1\n")
      .Set(core + "/power/control", "auto\n")
      .Set(core + "/power/runtime_status", "suspended\n")
      .Set(core + "/power/autosuspend_delay_ms", "1000\n");
}

Tree& Tree::Node(std::string_view unit, std::string_view status, size_t domains) {
  const std::string node = "/proc/device-tree/npu@" + std::string(unit);
  return Set(node + "/compatible", "x")
      .Set(node + "/status", std::string(status) + std::string(1, '\0'))
      .Set(node + "/power-domains", std::string(domains * 8, '\1'));
}

Tree& Tree::Rk3588Mainline() {
  Board("rk3588", "Radxa ROCK 5B");
  for (const std::string_view unit : {"fdab0000", "fdac0000", "fdad0000"}) {
    Core(unit, "rk3588").Node(unit, "okay", 1);
  }
  return Set("/dev/accel/accel0", "rocket 1.1.0\n")
      .Set("/sys/module/rocket/parameters/rocket_batch_submit", "1\n")
      .Set("/sys/module/rocket/parameters/rocket_npu_clk_hz", "600000000\n")
      .Set("/sys/class/regulator/regulator.9/name", "vdd_npu_s0\n")
      .Set("/sys/class/regulator/regulator.9/state", "enabled\n")
      .Set("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n")
      .Set("/sys/devices/system/cpu/cpu0/cpu_capacity", "414\n")
      .Set("/sys/devices/system/cpu/cpu4/cpu_capacity", "1024\n")
      .Set("/proc/interrupts", " 69:  10  GICv3 142 Level fdab0000.npu\n")
      .Set("/proc/irq/69/smp_affinity_list", "4\n")
      .Set("/sys/class/thermal/thermal_zone6/type", "npu-thermal\n")
      .Set("/sys/class/thermal/thermal_zone6/temp", "45000\n");
}

Tree& Tree::Rk3576Patched() {
  Board("rk3576", "ArmSoM Sige5");
  Core("27700000", "rk3576").Node("27700000", "okay", 2).Node("27708000", "disabled", 2);
  return Set("/dev/accel/accel0", "rocket 1.6.0\n");
}

Tree& Tree::Rk3588Bsp() {
  Board("rk3588", "Orange Pi 5");
  return Set("/proc/sys/kernel/osrelease", "6.1.118-vendor\n")
      .Set("/sys/bus/platform/drivers/RKNPU/fdab0000.npu/power/control", "auto\n")
      .Set("/dev/dri/renderD128", "panthor 1.2.0\n")
      .Set("/dev/dri/renderD129", "rknpu 0.9.8\n");
}

Tree& Tree::X86Laptop() {
  return Set("/proc/sys/kernel/arch", "x86_64\n")
      .Set("/proc/sys/kernel/osrelease", "6.19.0\n")
      .Set("/dev/dri/renderD128", "i915 1.6.0\n");
}

}  // namespace npu::doctor
