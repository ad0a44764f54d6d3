// SPDX-License-Identifier: Apache-2.0
// The doctor on synthetic machines: a healthy board, and each fault alone.
#include "src/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/doctor/tree.h"

namespace npu::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

Report Diagnose(const Tree& tree, std::vector<Finding> self_test = {}) {
  const System system(tree.root());
  return Examine(Gather(system, ""), std::move(self_test));
}

const Row& Find(const Report& report, std::string_view id) {
  for (const Row& row : report.rows) {
    if (row.check->id == id) return row;
  }
  ADD_FAILURE() << "no check " << id;
  return report.rows.front();
}

std::string Failures(const Report& report) {
  std::string ids;
  for (const Row& row : report.rows) {
    if (row.finding.verdict == Verdict::kFail) ids += std::string(row.check->id) + " ";
  }
  return ids;
}

TEST(Doctor, HasEveryCheckOfTheSpecificationOnceWithATitleAndARemedy) {
  std::set<std::string> ids;
  Tree tree;
  for (const Row& row : Diagnose(tree).rows) {
    EXPECT_TRUE(ids.insert(std::string(row.check->id)).second) << row.check->id;
    EXPECT_FALSE(row.check->title.empty()) << row.check->id;
    EXPECT_FALSE(row.check->remedy.empty()) << row.check->id;
  }
  const std::map<char, int> kWanted = {{'D', 12}, {'A', 7}, {'K', 17}, {'P', 10}, {'U', 8}};
  for (const auto& [letter, count] : kWanted) {
    for (int i = 1; i <= count; ++i) {
      const std::string id = std::string(1, letter) + (i < 10 ? "0" : "") + std::to_string(i);
      EXPECT_EQ(ids.count(id), 1u) << id;
    }
  }
  for (int i = 1; i <= 8; ++i) EXPECT_EQ(ids.count("S" + std::to_string(i)), 1u);
  EXPECT_EQ(ids.size(), 62u);
}

TEST(Doctor, CallsAHealthyBoardHealthyWithoutAWarning) {
  Tree tree;
  tree.Rk3588Mainline();
  const Report report = Diagnose(tree);
  for (const Row& row : report.rows) {
    EXPECT_NE(row.finding.verdict, Verdict::kFail) << row.check->id << row.finding.evidence;
    EXPECT_NE(row.finding.verdict, Verdict::kWarn) << row.check->id << row.finding.evidence;
    EXPECT_FALSE(row.finding.evidence.empty()) << row.check->id;
  }
  EXPECT_EQ(report.exit_code(), 0);
  EXPECT_EQ(report.summary, "Healthy. Next: rocket-npu selftest");
  EXPECT_EQ(Find(report, "D10").finding.evidence, "3 of 3");
  EXPECT_THAT(TextReport(report, false), HasSubstr("node  /dev/accel/accel0, driver rocket 1.1.0"));
}

TEST(Doctor, FindsNoNpuOnALaptop) {
  Tree tree;
  tree.X86Laptop();
  const Report report = Diagnose(tree);
  EXPECT_EQ(report.exit_code(), 2);
  EXPECT_EQ(Find(report, "D01").finding.verdict, Verdict::kSkip);
  EXPECT_THAT(report.summary, HasSubstr("device=sim"));
  const std::string text = TextReport(report, false);
  EXPECT_THAT(text, HasSubstr("other checks do not apply"));
  EXPECT_THAT(text, Not(HasSubstr("K07")));
  EXPECT_THAT(TextReport(report, true), HasSubstr("K07"));
}

// One broken thing, the check that must find it, and a part of its evidence.
struct Fault {
  const char* name;
  void (*plant)(Tree& tree);
  const char* id;
  Verdict verdict;
  const char* evidence;
};

constexpr std::string_view kCore = "/sys/bus/platform/drivers/rocket/fdab0000.npu";

void NoCores(Tree& tree) { tree.Remove("/sys/bus/platform/drivers/rocket").Remove("/dev/accel"); }

const Fault kFaults[] = {
    {"OldKernel",
     [](Tree& t) {
       NoCores(t);
       t.Remove("/sys/module/rocket").Set("/proc/sys/kernel/osrelease", "6.12.9\n");
     },
     "D02", Verdict::kFail, "Linux 6.12.9"},
    {"ConfigUnset",
     [](Tree& t) {
       NoCores(t);
       t.Remove("/sys/module/rocket")
           .Set("/boot/config-6.18.2",
                "CONFIG_DRM_ACCEL=y\n# CONFIG_DRM_ACCEL_ROCKET is not set\n");
     },
     "D02", Verdict::kFail, "CONFIG_DRM_ACCEL_ROCKET is not set"},
    {"ModuleNotLoaded",
     [](Tree& t) {
       NoCores(t);
       t.Remove("/sys/module/rocket")
           .Set("/lib/modules/6.18.2/modules.dep", "kernel/drivers/accel/rocket/rocket.ko: a.ko\n");
     },
     "D03", Verdict::kFail, "rocket.ko is not loaded"},
    {"NodesDisabled",
     [](Tree& t) {
       NoCores(t);
       t.Set("/proc/device-tree/npu@fdab0000/status", std::string("disabled\0", 9));
     },
     "D04", Verdict::kFail, "npu@fdab0000/status = disabled"},
    {"ProbeFailed",
     [](Tree& t) {
       NoCores(t);
       t.Set("/dev/kmsg", "[ 3.1] rocket fdab0000.npu: failed to get clocks for core 0\n");
     },
     "D05", Verdict::kFail, "failed to get clocks"},
    {"Deferred",
     [](Tree& t) {
       NoCores(t);
       t.Set("/sys/kernel/debug/devices_deferred", "fdab0000.npu\tplatform: wait for supplier\n");
     },
     "D05", Verdict::kFail, "deferred: fdab0000.npu"},
    {"RailOff", [](Tree& t) { t.Set("/sys/class/regulator/regulator.9/state", "disabled\n"); },
     "D06", Verdict::kFail, "vdd_npu_s0: disabled"},
    {"NothingBound", NoCores, "D10", Verdict::kFail, "no core is bound"},
    {"CoreMissing", [](Tree& t) { t.Remove("/sys/bus/platform/drivers/rocket/fdad0000.npu"); },
     "D10", Verdict::kWarn, "2 of 3 cores"},
    {"NoPermission", [](Tree& t) { t.Set("/dev/accel/accel0", "EACCES\n"); }, "A01", Verdict::kFail,
     "Permission denied"},
    {"StaleNode", [](Tree& t) { t.Set("/dev/accel/accel0", "ENODEV\n"); }, "A01", Verdict::kFail,
     "No such device"},
    {"NoNode", [](Tree& t) { t.Remove("/dev/accel"); }, "A01", Verdict::kFail, "there is no node"},
    {"ContainerWithoutNode", [](Tree& t) { t.Remove("/dev/accel").Set("/.dockerenv", ""); }, "A02",
     Verdict::kFail, "was not passed in"},
    {"ContainerNotPermitted",
     [](Tree& t) { t.Set("/dev/accel/accel0", "EPERM\n").Set("/.dockerenv", ""); }, "A02",
     Verdict::kFail, "Operation not permitted"},
    {"Sudo", [](Tree& t) { t.Set("/proc/self/environ", std::string("A=1\0SUDO_USER=me\0", 17)); },
     "A04", Verdict::kWarn, "under sudo"},
    {"FewMappings", [](Tree& t) { t.Set("/proc/sys/vm/max_map_count", "1024\n"); }, "A07",
     Verdict::kWarn, "1024"},
    {"StockInterface", [](Tree& t) { t.Set("/dev/accel/accel0", "rocket 0.0.0\n"); }, "K01",
     Verdict::kWarn, "stock interface"},
    {"StaleModule",
     [](Tree& t) {
       t.Set("/sys/module/rocket/srcversion", "AAAA\n")
           .Set("/lib/modules/6.18.2/modules.dep", "rocket/rocket.ko:\n/rocket.ko:\n")
           .Set("/lib/modules/6.18.2/rocket/rocket.ko", std::string("x\0srcversion=BBBB\0y", 19));
     },
     "K04", Verdict::kFail, "running AAAA, on disk BBBB"},
    {"ModuleRefused",
     [](Tree& t) {
       t.Set("/dev/kmsg", "rocket: disagrees about version of symbol drm_gem_init\n");
     },
     "K05", Verdict::kFail, "disagrees about version"},
    {"Crash", [](Tree& t) { t.Set("/proc/sys/kernel/tainted", "128\n"); }, "K06", Verdict::kWarn,
     "crashed once"},
    {"Timeout", [](Tree& t) { t.Set("/dev/kmsg", "rocket fdab0000.npu: NPU job timed out\n"); },
     "K07", Verdict::kFail, "NPU job timed out"},
    {"PageFault",
     [](Tree& t) {
       t.Set("/dev/kmsg", "rk_iommu fdab9000.iommu: Page fault at 0x1000 of type read\n");
     },
     "K08", Verdict::kFail, "Page fault at 0x1000"},
    {"NeverSuspends",
     [](Tree& t) { t.Set(std::string(kCore) + "/power/runtime_status", "active\n"); }, "K09",
     Verdict::kWarn, "stays active"},
    {"DomainPanic", [](Tree& t) { t.Set("/dev/kmsg", "failed to get ack on domain 'npu'\n"); },
     "K15", Verdict::kFail, "failed to get ack"},
    {"SlowClock", [](Tree& t) { t.Remove("/sys/module/rocket/parameters/rocket_npu_clk_hz"); },
     "P01", Verdict::kWarn, "200 MHz"},
    {"ClockTooHigh",
     [](Tree& t) { t.Set("/sys/module/rocket/parameters/rocket_npu_clk_hz", "900000000\n"); },
     "P02", Verdict::kFail, "900000000"},
    {"Pinned", [](Tree& t) { t.Set(std::string(kCore) + "/power/control", "on\n"); }, "P03",
     Verdict::kWarn, "control = on"},
    {"ShortSuspend",
     [](Tree& t) { t.Set(std::string(kCore) + "/power/autosuspend_delay_ms", "50\n"); }, "P04",
     Verdict::kWarn, "after 50 ms"},
    {"Governor",
     [](Tree& t) { t.Set("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n"); },
     "P05", Verdict::kWarn, "cpu0: schedutil"},
    {"LittleCore", [](Tree& t) { t.Set("/proc/irq/69/smp_affinity_list", "0-7\n"); }, "P06",
     Verdict::kWarn, "little core"},
    {"Hot", [](Tree& t) { t.Set("/sys/class/thermal/thermal_zone6/temp", "91000\n"); }, "P07",
     Verdict::kWarn, "91.0 C"},
    {"LowMemory", [](Tree& t) { t.Set("/proc/meminfo", "MemAvailable: 90000 kB\n"); }, "P08",
     Verdict::kWarn, "87 MiB"},
    {"CgroupLimit", [](Tree& t) { t.Set("/sys/fs/cgroup/memory.max", "67108864\n"); }, "P08",
     Verdict::kWarn, "memory.max = 64 MiB"},
};

class DoctorFault : public testing::TestWithParam<Fault> {};

TEST_P(DoctorFault, IsFoundByItsCheckWithEvidenceAndAFix) {
  Tree tree;
  tree.Rk3588Mainline();
  GetParam().plant(tree);
  const Report report = Diagnose(tree);
  const Row& row = Find(report, GetParam().id);
  EXPECT_EQ(row.finding.verdict, GetParam().verdict) << row.finding.evidence;
  EXPECT_THAT(row.finding.evidence, HasSubstr(GetParam().evidence));
  EXPECT_FALSE(row.fix().empty());
  EXPECT_THAT(TextReport(report, false), HasSubstr(row.fix()));
  const bool fails = GetParam().verdict == Verdict::kFail;
  EXPECT_EQ(report.exit_code(), fails ? 1 : 0) << report.summary;
  if (fails) {
    EXPECT_EQ(Failures(report), std::string(GetParam().id) + " ");
    EXPECT_THAT(report.summary, HasSubstr(row.fix()));
  } else {
    EXPECT_EQ(Failures(report), "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, DoctorFault, testing::ValuesIn(kFaults),
                         [](const auto& fault) { return std::string(fault.param.name); });

TEST(Doctor, SkipsTheRestOfAGroupAfterItsFirstFailure) {
  Tree tree;
  tree.Rk3588Mainline().Set("/dev/kmsg", "rocket fdab0000.npu: NPU job timed out\n");
  const Report report = Diagnose(tree);
  EXPECT_EQ(Find(report, "K08").finding.verdict, Verdict::kSkip);
  EXPECT_EQ(Find(report, "K08").finding.evidence, "after K07");
  EXPECT_EQ(Find(report, "P01").finding.verdict, Verdict::kPass);
}

TEST(Doctor, KnowsTheTraitsOfAnRk3576) {
  Tree healthy;
  healthy.Rk3576Patched();
  EXPECT_EQ(Diagnose(healthy).exit_code(), 0);
  EXPECT_EQ(Find(Diagnose(healthy), "A05").finding.verdict, Verdict::kPass);

  Tree both;
  both.Rk3576Patched().Set("/sys/bus/platform/drivers/rocket/27708000.npu/power/control", "auto");
  EXPECT_EQ(Failures(Diagnose(both)), "D11 U07 ");

  Tree domains;
  domains.Rk3576Patched().Set("/proc/device-tree/npu@27700000/power-domains", std::string(8, '\1'));
  EXPECT_EQ(Failures(Diagnose(domains)), "D12 ");

  Tree power;
  power.Rk3576Patched().ReadOnly(
      "/sys/bus/platform/drivers/rocket/27700000.npu/power/autosuspend_delay_ms");
  EXPECT_EQ(Find(Diagnose(power), "A05").finding.verdict, Verdict::kWarn);
}

TEST(Doctor, NamesTheVendorKernel) {
  Tree tree;
  tree.Rk3588Bsp();
  const Report report = Diagnose(tree);
  EXPECT_EQ(Failures(report), "");
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_THAT(report.summary, HasSubstr("BSP driver"));
  EXPECT_THAT(Find(report, "D07").finding.evidence,
              HasSubstr("rknpu 0.9.8 at /dev/dri/renderD129"));
  EXPECT_EQ(Find(report, "D08").finding.verdict, Verdict::kInfo);
  EXPECT_THAT(Find(report, "D09").finding.evidence, HasSubstr("renderD128 = panthor"));
  EXPECT_EQ(Find(report, "K10").finding.verdict, Verdict::kPass);

  tree.Set("/dev/dri/renderD129", "rknpu 0.9.2\n");
  EXPECT_EQ(Failures(Diagnose(tree)), "K10 ");
  tree.Set("/dev/dri/renderD129", "rknpu 0.9.6\n");
  EXPECT_EQ(Find(Diagnose(tree), "K10").finding.verdict, Verdict::kWarn);
  tree.Set("/dev/dri/renderD129", "rknpu 0.9.8\n")
      .Set("/dev/kmsg", "RKNPU fdab0000.npu: using non-iommu mode\n");
  EXPECT_EQ(Failures(Diagnose(tree)), "K11 ");
}

// E.2: a container may mask the device tree; the cores' uevent still tells the chip.
TEST(Doctor, DetectsTheChipInAContainerWithoutADeviceTree) {
  Tree tree;
  tree.Rk3588Mainline().Remove("/proc/device-tree").Set("/.dockerenv", "");
  const Report report = Diagnose(tree);
  EXPECT_EQ(report.exit_code(), 0) << report.summary;
  EXPECT_THAT(Find(report, "D01").finding.evidence, HasSubstr("uevent of fdab0000.npu"));
  EXPECT_EQ(Find(report, "A03").finding.verdict, Verdict::kPass);
  tree.Set("/sys/bus/platform/drivers/rocket/fdab0000.npu/uevent", "DRIVER=rocket\n");
  tree.Remove("/sys/bus/platform/drivers/rocket/fdac0000.npu/uevent");
  tree.Remove("/sys/bus/platform/drivers/rocket/fdad0000.npu/uevent");
  EXPECT_THAT(Find(Diagnose(tree), "D01").finding.evidence, HasSubstr("address of the core"));
}

TEST(Doctor, SkipsWhatTheKernelLogWouldTellWhenItIsNotReadable) {
  Tree tree;
  tree.Rk3588Mainline().Remove("/dev/kmsg");
  const Report report = Diagnose(tree);
  for (const char* id : {"K05", "K06", "K07", "K08", "K15"}) {
    EXPECT_THAT(Find(report, id).finding.evidence, HasSubstr("K17")) << id;
  }
  EXPECT_EQ(report.exit_code(), 0);
}

TEST(Doctor, TakesTheSelfTestsFindings) {
  Tree tree;
  tree.Rk3588Mainline();
  std::vector<Finding> good(8, Finding{Verdict::kPass, "fine"});
  EXPECT_EQ(Diagnose(tree, good).summary, "Healthy. device=auto uses this NPU.");
  good[2] = {Verdict::kFail, "conv: 3 of 512 bytes differ"};
  const Report report = Diagnose(tree, good);
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_EQ(Failures(report), "S3 ");
}

TEST(Doctor, ReportsInJsonAndReadsItsOwnReportAsABaseline) {
  Tree tree;
  tree.Rk3588Mainline();
  const std::string json = JsonReport(Diagnose(tree));
  EXPECT_THAT(json, HasSubstr("\"health\": \"healthy\""));
  EXPECT_THAT(json, HasSubstr("\"id\": \"D01\""));
  EXPECT_EQ(BaselineRelease(json), "6.18.2");
  EXPECT_EQ(BaselineRelease("[]"), "");
  EXPECT_EQ(BaselineRelease("{\"machine\": {\"release\": 6}}"), "");
  EXPECT_EQ(BaselineRelease("{"), "");

  const System system(tree.root());
  Facts facts = Gather(system, "");
  facts.baseline_release = "6.18.1";
  const Report changed = Examine(std::move(facts), {});
  EXPECT_EQ(Find(changed, "K16").finding.evidence, "was 6.18.1, is 6.18.2");
}

// The table in docs/doctor.md is written from the rows.
TEST(Doctor, IsDocumentedRowByRow) {
  const std::string text = System().Read(NPU_SOURCE_DIR "/docs/doctor.md").value_or("");
  Tree tree;
  for (const Row& row : Diagnose(tree).rows) {
    const std::string line = "| " + std::string(row.check->id) + " | " +
                             std::string(row.check->title) + " | " +
                             std::string(row.check->remedy) + " |";
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(Doctor, CountsTimeoutsInTheKernelLog) {
  Tree tree;
  EXPECT_EQ(CountDeviceErrors(System(tree.root())), -1);
  tree.Set("/dev/kmsg", "a\nNPU job timed out\nrk_iommu: Page fault at 0x0\nb\n");
  EXPECT_EQ(CountDeviceErrors(System(tree.root())), 2);
}

}  // namespace
}  // namespace npu::doctor
