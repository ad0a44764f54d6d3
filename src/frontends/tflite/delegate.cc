// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/tflite/delegate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "src/base/log.h"
#include "src/frontends/common/report.h"
#include "src/frontends/tflite/claim.h"
#include "src/frontends/tflite/kernel.h"

namespace npu::tflite {
namespace {

constexpr char kKernelName[] = "rocket-npu";

// Shared by the delegate object and the calls in flight; kernels keep copies of what they need.
class DelegateState {
 public:
  DelegateState(frontends::Options options, std::shared_ptr<frontends::Engine> engine)
      : options_(std::move(options)), engine_(std::move(engine)) {
    if (options_.quiet) logger_.set_max_level(LogLevel::kWarning);
  }

  const Logger& logger() const { return logger_; }
  // From now on nothing is claimed, for this reason.
  void Disable(Status why) { disabled_ = std::move(why); }
  Status CheckDevice() const { return engine_->OpenDevice(options_).status(); }

  abi::Status Prepare(abi::Context* context, abi::Delegate* delegate);
  std::unique_ptr<Kernel> TakeKernel(abi::Context* context, const abi::DelegateParams& params);

 private:
  struct Pending {
    std::vector<CompiledPartition> partitions;
    std::shared_ptr<ClaimRecord> record;
  };

  ClaimContext MakeClaimContext();
  void Announce(const ClaimPlan& plan, const Status& no_device);

  const frontends::Options options_;
  const std::shared_ptr<frontends::Engine> engine_;
  Logger logger_;
  Status disabled_;
  std::atomic<bool> told_no_device_{false};
  std::atomic<bool> told_foreign_{false};
  std::mutex mutex_;
  std::map<const abi::Context*, Pending> pending_;  // between Prepare and init, by mutex_
};

abi::Registration KernelRegistration();

struct DelegateObject {
  abi::Delegate base;
  std::shared_ptr<DelegateState> state;
};

std::shared_ptr<DelegateState> StateOf(abi::Delegate* delegate) {
  return static_cast<DelegateObject*>(delegate->data)->state;
}

// Runs `body` and turns whatever it throws (memory, mostly) into an error of the host.
template <typename Body>
abi::Status Guard(abi::Context* context, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "[rocket] error: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "[rocket] error: unknown failure\n");
  }
  if (context != nullptr && context->ReportError != nullptr) {
    context->ReportError(context, "rocket-npu: out of memory or internal error\n");
  }
  return abi::kError;
}

ClaimContext DelegateState::MakeClaimContext() {
  ClaimContext claim{.engine = engine_,
                     .device = nullptr,
                     .no_device = disabled_,
                     .options = options_,
                     .logger = logger_};
  if (!disabled_.ok()) return claim;
  if (options_.device == frontends::DeviceChoice::kNone) {
    claim.no_device = Status(ErrorCode::kNoDevice, "device=none was asked for", "device.none");
    return claim;
  }
  auto device = engine_->OpenDevice(options_);
  if (device.ok()) {
    claim.device = std::move(device).value();
  } else {
    claim.no_device = device.status();
  }
  return claim;
}

void DelegateState::Announce(const ClaimPlan& plan, const Status& no_device) {
  if (plan.report.already_delegated > 0 && !told_foreign_.exchange(true)) {
    logger_.Warning(fmt::format(
        "another delegate ({}) has taken {} before this one was asked; {} on offer",
        plan.foreign_delegate, frontends::CountOf(plan.report.already_delegated, "node"),
        plan.report.nodes.size()));
  }
  if (!no_device.ok()) {
    if (!told_no_device_.exchange(true)) {
      logger_.Warning(fmt::format("claimed 0 of {}: {}",
                                  frontends::CountOf(plan.report.nodes.size(), "node"),
                                  no_device.message()));
    }
    return;
  }
  logger_.Info(frontends::SummaryLine(plan.report));
}

abi::Status DelegateState::Prepare(abi::Context* context, abi::Delegate* delegate) {
  const ClaimContext claim = MakeClaimContext();
  Result<ClaimPlan> planned = PlanClaim(context, claim);
  if (!planned.ok()) {
    logger_.Warning("claimed nothing: " + planned.status().message());
    return abi::kOk;
  }
  ClaimPlan plan = std::move(planned).value();
  Announce(plan, claim.no_device);
  const std::vector<int32_t> nodes = plan.claimed_nodes();
  auto record = std::make_shared<ClaimRecord>(std::move(plan.report), logger_);
  record->WriteExplain();
  if (nodes.empty()) return abi::kOk;
  {
    std::lock_guard lock(mutex_);
    pending_[context] = {std::move(plan.partitions), std::move(record)};
  }
  const HostList list(nodes);
  const abi::Status status = context->ReplaceNodeSubsetsWithDelegateKernels(
      context, KernelRegistration(), list.get(), delegate);
  std::lock_guard lock(mutex_);
  pending_.erase(context);
  return status;
}

std::unique_ptr<Kernel> DelegateState::TakeKernel(abi::Context* context,
                                                  const abi::DelegateParams& params) {
  const std::span<const int32_t> nodes = Span(params.nodes_to_replace);
  std::shared_ptr<ClaimRecord> record;
  {
    std::lock_guard lock(mutex_);
    const auto pending = pending_.find(context);
    if (pending != pending_.end()) {
      record = pending->second.record;
      for (CompiledPartition& partition : pending->second.partitions) {
        if (partition.session == nullptr ||
            !std::equal(nodes.begin(), nodes.end(), partition.nodes.begin(),
                        partition.nodes.end())) {
          continue;
        }
        return std::make_unique<Kernel>(std::move(partition), record, options_, logger_);
      }
    }
  }
  // The host grouped the nodes differently than it announced.
  auto compiled = CompilePartition(context, MakeClaimContext(), nodes, Span(params.output_tensors));
  if (compiled.ok()) {
    return std::make_unique<Kernel>(std::move(compiled).value(), record, options_, logger_);
  }
  ReportToHost(context, logger_, compiled.status());
  return nullptr;
}

// The four functions of a kernel's node.
void* KernelInit(abi::Context* context, const char* buffer, size_t /*length, 0 for delegates*/) {
  Kernel* kernel = nullptr;
  Guard(context, [&] {
    const auto* params = reinterpret_cast<const abi::DelegateParams*>(buffer);
    if (params == nullptr || params->delegate == nullptr) return abi::kError;
    kernel = StateOf(params->delegate)->TakeKernel(context, *params).release();
    return abi::kOk;
  });
  return kernel;
}

void KernelFree(abi::Context* /*context*/, void* user_data) {
  Guard(nullptr, [&] {
    std::unique_ptr<Kernel>(static_cast<Kernel*>(user_data)).reset();
    return abi::kOk;
  });
}

abi::Status ReportIfError(abi::Context* context, const Status& status) {
  if (status.ok()) return abi::kOk;
  ReportToHost(context, Logger(), status);
  return abi::kError;
}

abi::Status KernelPrepare(abi::Context* context, abi::Node* node) {
  return Guard(context, [&] {
    const auto* kernel = static_cast<const Kernel*>(node->user_data);
    if (kernel == nullptr) {
      return ReportIfError(context, Status(ErrorCode::kInternal, "the partition was not set up"));
    }
    return ReportIfError(context, kernel->Prepare(*context));
  });
}

abi::Status KernelInvoke(abi::Context* context, abi::Node* node) {
  return Guard(context, [&] {
    auto* kernel = static_cast<Kernel*>(node->user_data);
    if (kernel == nullptr) return abi::kError;
    return ReportIfError(context, kernel->Invoke(*context));
  });
}

abi::Registration KernelRegistration() {
  abi::Registration registration = {};
  registration.init = KernelInit;
  registration.free = KernelFree;
  registration.prepare = KernelPrepare;
  registration.invoke = KernelInvoke;
  registration.custom_name = kKernelName;
  registration.version = 1;
  return registration;
}

abi::Status DelegatePrepare(abi::Context* context, abi::Delegate* delegate) {
  return Guard(context, [&] { return StateOf(delegate)->Prepare(context, delegate); });
}

// Python hands `n` over as a C int, so the upper half of the register is not to be trusted.
std::vector<frontends::KeyValue> ReadPairs(const CreateArguments& arguments) {
  std::vector<frontends::KeyValue> pairs;
  const size_t count = arguments.count & 0xFFFFFFFFU;
  if (arguments.keys == nullptr || arguments.values == nullptr) return pairs;
  for (size_t i = 0; i < count; ++i) {
    if (arguments.keys[i] == nullptr || arguments.values[i] == nullptr) continue;
    pairs.push_back({arguments.keys[i], arguments.values[i]});
  }
  return pairs;
}

abi::Delegate* Finish(std::shared_ptr<DelegateState> state) {
  auto object = std::make_unique<DelegateObject>();
  object->base = {};
  object->base.data = object.get();
  object->base.Prepare = DelegatePrepare;
  object->base.flags = 0;  // static shapes only; a resize plans again
  object->state = std::move(state);
  return &object.release()->base;
}

// Null with a reporter, a delegate that claims nothing without one.
abi::Delegate* Refuse(const CreateArguments& arguments, std::shared_ptr<DelegateState> state,
                      const Status& why) {
  state->logger().Error(why.message());
  if (arguments.report_error != nullptr) {
    arguments.report_error(why.message().c_str());
    return nullptr;
  }
  state->Disable(why);
  return Finish(std::move(state));
}

abi::Delegate* Create(const CreateArguments& arguments, std::shared_ptr<frontends::Engine> engine,
                      const frontends::EnvironmentReader& environment) {
  auto parsed = frontends::ParseOptions(ReadPairs(arguments), environment);
  if (!parsed.ok()) {
    auto state = std::make_shared<DelegateState>(frontends::Options{}, std::move(engine));
    return Refuse(arguments, std::move(state), parsed.status());
  }
  auto state = std::make_shared<DelegateState>(parsed.value().options, std::move(engine));
  for (const std::string& warning : parsed.value().warnings) state->logger().Warning(warning);
  const frontends::Options& options = parsed.value().options;
  if (options.on_no_device == frontends::OnNoDevice::kFail &&
      options.device != frontends::DeviceChoice::kNone) {
    const Status status = state->CheckDevice();
    if (!status.ok()) return Refuse(arguments, std::move(state), status);
  }
  return Finish(std::move(state));
}

}  // namespace

abi::Delegate* CreateDelegate(const CreateArguments& arguments,
                              std::shared_ptr<frontends::Engine> engine,
                              const frontends::EnvironmentReader& environment) noexcept {
  abi::Delegate* delegate = nullptr;
  const abi::Status status = Guard(nullptr, [&] {
    delegate = Create(arguments, std::move(engine), environment);
    return abi::kOk;
  });
  if (status != abi::kOk && arguments.report_error != nullptr) {
    arguments.report_error("rocket-npu: out of memory or internal error");
  }
  return delegate;
}

void DestroyDelegate(abi::Delegate* delegate) noexcept {
  if (delegate == nullptr) return;
  Guard(nullptr, [&] {
    std::unique_ptr<DelegateObject>(static_cast<DelegateObject*>(delegate->data)).reset();
    return abi::kOk;
  });
}

}  // namespace npu::tflite
