// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/common/engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "src/base/worker_pool.h"
#include "src/device/pool.h"

namespace npu::frontends {
namespace {

// The devices of this process that somebody uses: of each kind one for each core, shared by what
// runs on that core. A device has an address space of its own, so a session stays on its core.
class OpenDevices {
 public:
  Result<std::shared_ptr<device::Device>> Open(const Options& options) {
    if (options.device == DeviceChoice::kRknpu) {
      return Status(ErrorCode::kNoDevice,
                    "no NPU: this version does not drive the vendor's kernel (device=rknpu); set "
                    "device=sim for the simulated NPU");
    }
    const Key key{Provider(options), options.device_path, options.chip, options.threads,
                  options.chain == Chain::kOn};
    const std::lock_guard lock(mutex_);
    std::unique_ptr<device::Pool>& pool = pools_[key];
    if (!pool) pool = std::make_unique<device::Pool>(OpenOptionsOf(key));
    return pool->Get();
  }

 private:
  struct Key {
    std::string provider, path, chip;
    int32_t threads;
    bool chain;  // the simulated NPU offers it
    auto operator<=>(const Key&) const = default;
  };

  static device::OpenOptions OpenOptionsOf(const Key& key) {
    device::OpenOptions open;
    open.provider = key.provider;
    open.node = key.path;
    open.chip = key.chip;
    open.can_chain = key.chain;
    open.pool = std::make_shared<WorkerPool>(static_cast<size_t>(key.threads));
    return open;
  }

  // The name device::Open knows.
  static std::string Provider(const Options& options) {
    std::string name = "auto";
    if (options.device == DeviceChoice::kRocket) name = "rocket";
    if (options.device == DeviceChoice::kSim) name = "sim";
    if (options.device == DeviceChoice::kNull) name = "null";
    return options.record.empty() ? name : fmt::format("record:{}:{}", name, options.record);
  }

  std::mutex mutex_;
  std::map<Key, std::unique_ptr<device::Pool>> pools_;
};

// The one mutable object of the process: hosts load the plugin once and make delegates as they
// like. A process forked while other threads work inherits locks that nobody will release, so it
// begins with devices of its own.
class ProcessDevices {
 public:
  constexpr ProcessDevices() = default;
  ProcessDevices(const ProcessDevices&) = delete;
  ProcessDevices& operator=(const ProcessDevices&) = delete;
  ~ProcessDevices() {
    Owned* const owned = current_.load();
    if (owned == nullptr || owned->process != getpid()) return;
    current_ = owned->inherited;  // what is never freed stays reachable, so that it is no leak
    delete owned;
  }

  OpenDevices& Get() {
    Owned* owned = current_.load();
    if (owned != nullptr && owned->process == getpid()) return owned->devices;
    auto fresh = std::make_unique<Owned>(getpid(), owned);
    // Otherwise another thread of this process was first, and `owned` is its object now.
    if (current_.compare_exchange_strong(owned, fresh.get())) owned = fresh.release();
    return owned->devices;
  }

 private:
  struct Owned {
    Owned(pid_t id, Owned* before) : process(id), inherited(before) {}
    const pid_t process;
    Owned* const inherited;  // of the process this one was forked from; never touched again
    OpenDevices devices;
  };

  std::atomic<Owned*> current_{nullptr};
};

OpenDevices& DevicesOfThisProcess() {
  static ProcessDevices devices;
  return devices.Get();
}

class LibraryEngine : public Engine {
 public:
  Result<std::shared_ptr<device::Device>> OpenDevice(const Options& options) override {
    std::lock_guard lock(mutex_);
    if (!device_ || !device_->Ready().ok()) {  // not ready: this is a forked child
      NPU_ASSIGN_OR_RETURN(device_, DevicesOfThisProcess().Open(options));
    }
    return device_;
  }
  Status Verify(const ir::Graph& graph) override { return ir::Verify(graph); }
  std::vector<plan::Verdict> Examine(const ir::Graph& graph,
                                     const plan::CompileOptions& options) override {
    return plan::Examine(graph, options);
  }
  Result<std::unique_ptr<plan::CompiledProgram>> Compile(
      const ir::Graph& graph, const plan::CompileOptions& options) override {
    return plan::Compile(graph, options);
  }
  Result<std::unique_ptr<runtime::Session>> CreateSession(
      std::shared_ptr<const plan::CompiledProgram> program, std::shared_ptr<device::Device> device,
      runtime::SessionOptions options) override {
    return runtime::Session::Create(std::move(program), std::move(device), std::move(options));
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<device::Device> device_;  // of this delegate's options, open until it goes
};

}  // namespace

std::shared_ptr<Engine> MakeEngine() { return std::make_shared<LibraryEngine>(); }

}  // namespace npu::frontends
