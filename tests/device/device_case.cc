// SPDX-License-Identifier: Apache-2.0
// One case against a rocket node: a partition or the golden jobs, run on the simulator and on
// device=rocket in one process. Prints one JSON line; judging is up to fault_table.py.
//
// usage: device_case session|golden TIME_SCALE
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/device/open.h"
#include "src/plan/compile.h"
#include "src/runtime/host_path.h"
#include "src/runtime/session.h"
#include "tests/graph/graph_builder.h"
#include "tests/unit/device/golden_job.h"

namespace npu {
namespace {

using Clock = std::chrono::steady_clock;
using Outputs = std::vector<std::vector<std::byte>>;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// What the process holds: descriptors, and mappings that belong to a node (a memfd or a device).
struct Holdings {
  size_t descriptors = 0, node_mappings = 0;
  static Holdings Now() {
    Holdings now;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      now.descriptors += entry.path().empty() ? 0 : 1;
    }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      const bool node =
          line.find("memfd") != std::string::npos || line.find("/dev/accel") != std::string::npos;
      now.node_mappings += node ? 1 : 0;
    }
    return now;
  }
  nlohmann::json ToJson() const {
    return {{"descriptors", descriptors}, {"mappings", node_mappings}};
  }
};

// Two submits with a host operation between them, and several tasks in each.
struct Partition {
  testing::GraphBuilder builder{21};
  std::vector<std::byte> input;
  std::shared_ptr<const plan::CompiledProgram> program;

  Partition() {
    ir::ValueId x = builder.Input(16, 16, 16);
    x = builder.Conv(x, 64, 3, 1, ir::Padding::kSame, ir::Activation::kRelu6);
    x = builder.Conv(x, 32, 1, 1, ir::Padding::kSame, ir::Activation::kNone);
    x = builder.LeakyRelu(x);
    x = builder.Depthwise(x, 3, 2);
    x = builder.Conv(x, 48, 1, 1, ir::Padding::kSame, ir::Activation::kRelu);
    builder.Output(x);
    builder.Output(builder.Softmax(builder.FullyConnected(builder.Mean(x), 10)));
    input = builder.RandomInput(0);
    auto compiled = plan::Compile(builder.graph(), {});
    if (!compiled.ok()) {
      std::cerr << compiled.status().message() << "\n";
      std::exit(3);
    }
    program = std::move(compiled).value();
  }
  Outputs EmptyOutputs() const {
    Outputs outputs;
    for (const ir::ValueId out : builder.graph().outputs) {
      outputs.emplace_back(static_cast<size_t>(builder.type(out).shape.elements()));
    }
    return outputs;
  }
  Status Run(runtime::Session* session, Outputs* outputs) const {
    const std::span<const std::byte> inputs[] = {input};
    const std::span<std::byte> out[] = {(*outputs)[0], (*outputs)[1]};
    return session->Run(inputs, out);
  }
  Outputs HostResult() const {
    Outputs outputs = EmptyOutputs();
    const auto path = runtime::HostPath::Create(builder.graph());
    const std::span<const std::byte> inputs[] = {input};
    const std::span<std::byte> out[] = {outputs[0], outputs[1]};
    (*path)->Run(inputs, out);
    return outputs;
  }
};

device::OpenOptions Rocket(double time_scale, std::string* log) {
  device::OpenOptions options;
  options.provider = "rocket";
  options.time_scale = time_scale;
  options.logger =
      Logger([log](LogLevel, std::string_view text) { *log += std::string(text) + "\n"; });
  return options;
}

// The simulated node keeps a descriptor of its own from the first open to the end of the process.
void WakeNode() {
  if (const int fd = open("/dev/accel/accel0", O_RDWR | O_CLOEXEC); fd >= 0) close(fd);
}

// Three inferences on the simulator, then on the node.
nlohmann::json RunSession(double time_scale) {
  const Partition partition;
  Outputs on_sim = partition.EmptyOutputs();
  {
    auto sim = device::Open({.provider = "sim"});
    auto session = runtime::Session::Create(partition.program, *sim, {});
    if (!partition.Run(session->get(), &on_sim).ok()) std::exit(3);
  }
  const Outputs on_host = partition.HostResult();
  WakeNode();
  std::string log;
  nlohmann::json out = {{"runs", nlohmann::json::array()}, {"error", ""}};
  out["host_differs_from_sim"] = on_host != on_sim;
  out["before"] = Holdings::Now().ToJson();
  const Clock::time_point start = Clock::now();
  Result<std::shared_ptr<device::Device>> device = device::Open(Rocket(time_scale, &log));
  if (!device.ok()) {
    out["error"] = device.status().message();
  } else {
    out["can_chain"] = (*device)->info().can_chain;
    out["simulated"] = (*device)->info().simulated;
    auto session = runtime::Session::Create(
        partition.program, *device,
        {.logger = Logger([&](LogLevel, std::string_view t) { log += std::string(t) + "\n"; })});
    if (!session.ok()) out["error"] = session.status().message();
    for (int i = 0; i < 3 && session.ok(); ++i) {
      Outputs outputs = partition.EmptyOutputs();
      const Clock::time_point run_start = Clock::now();
      const Status status = partition.Run(session->get(), &outputs);
      out["runs"].push_back({{"ms", MillisecondsSince(run_start)},
                             {"ok", status.ok()},
                             {"as_sim", outputs == on_sim},
                             {"as_host", outputs == on_host}});
    }
    if (session.ok()) {
      const runtime::SessionStatistics& s = (*session)->statistics();
      out["device_failures"] = s.device_failures;
      out["host_runs"] = s.host_runs;
      out["submits"] = s.submits;
      out["kicks"] = s.kicks;
    }
    session = Status(ErrorCode::kNoDevice, "closed");
    out["live_buffers"] = (*device)->statistics().live_buffers;
  }
  device = Status(ErrorCode::kNoDevice, "closed");
  out["ms"] = MillisecondsSince(start);
  out["after"] = Holdings::Now().ToJson();
  out["log"] = log;
  return out;
}

// Golden jobs with known results, through the node: elements that differ from the files.
nlohmann::json RunGolden(double time_scale) {
  WakeNode();
  std::string log;
  nlohmann::json out = {{"jobs", nlohmann::json::array()}, {"error", ""}};
  out["before"] = Holdings::Now().ToJson();
  for (const char* name :
       {"mm_i8_4x32x32", "conv_i8q_3x3_p1_64x10x12_64", "conv_i8perc_3x3_p1_64x10x12_64",
        "dw_i8q_3x3_same_s2_32x9x9", "chain3_i8_tasks_16x9x9_64_24",
        "chain3_i8_kick_32x11x9_128_40", "conv_i8q_tiles_3x3_same_32x35x33_32"}) {
    const auto device = device::Open(Rocket(time_scale, &log));
    if (!device.ok()) {
      out["error"] = device.status().message();
      break;
    }
    const device::JobFile file = device::ReadGolden(name);
    // The kernel gives addresses back a moment after a job; these jobs need theirs exactly.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    device::PlacedJob placed(file, device->get());
    placed.LoadMemory();
    const device::Job job = placed.MakeJob();
    if (job.chained && !(*device)->info().can_chain) continue;
    device::JobReport report;
    const Status status = (*device)->Run(job, &report);
    out["jobs"].push_back({{"name", name},
                           {"error", status.message()},
                           {"kicks", report.kicks},
                           {"tasks", job.tasks.size()},
                           {"mismatches", placed.Mismatches()}});
  }
  out["after"] = Holdings::Now().ToJson();
  out["log"] = log;
  return out;
}

}  // namespace
}  // namespace npu

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[1] : "";
  if (what != "session" && what != "golden") {
    std::cerr << "usage: device_case session|golden TIME_SCALE\n";
    return 2;
  }
  const double time_scale = std::strtod(argv[2], nullptr);
  const nlohmann::json out =
      what == "session" ? npu::RunSession(time_scale) : npu::RunGolden(time_scale);
  std::cout << out.dump() << "\n";
  return 0;
}
