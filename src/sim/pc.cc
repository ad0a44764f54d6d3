// SPDX-License-Identifier: Apache-2.0
#include "src/sim/pc.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "gen/rk3588/registers.h"

#include "src/regs/command.h"
#include "src/sim/task.h"

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;
using regs::Block;
using regs::Target;
using regs::Var;

constexpr uint32_t kCommandBytes = 8;
constexpr uint32_t kListAlignment = 16;
constexpr size_t kMaxPending = 2;      // two groups a block
constexpr uint32_t kMostTasks = 4095;  // TASK_CON.TASK_NUMBER has 12 bits

// Bits that the specification wants ignored although they belong to no field (registers-rk3588 10).
uint32_t HarmlessReservedBits(uint16_t offset) {
  if (offset == rk::DpuRdmaBrdmaCfg::kOffset || offset == rk::DpuRdmaNrdmaCfg::kOffset) return 1;
  return offset == rk::DpuBsCfg::kOffset ? 3u << 2 : 0;
}

bool IsBlockEnable(uint16_t offset) {
  return offset == rk::CnaOperationEnable::kOffset || offset == rk::CoreOperationEnable::kOffset ||
         offset == rk::DpuOperationEnable::kOffset ||
         offset == rk::DpuRdmaOperationEnable::kOffset ||
         offset == rk::PpuOperationEnable::kOffset || offset == rk::PpuRdmaOperationEnable::kOffset;
}

uint32_t KnownMaskBits() {
  uint32_t bits = 0;
  for (const Block block : kBankedBlocks) bits |= 1u << regs::EnableBitOf(block).value_or(31);
  return bits;
}

// Bits that the completion of `block` in `group` latches (registers-rk3588 5).
uint32_t CompletionBits(Block block, unsigned group) {
  rk::PcInterruptRawStatus raw;
  if (block == Block::kCna) {
    raw.cna_feature_0 = Var(group == 0);
    raw.cna_feature_1 = Var(group != 0);
    raw.cna_weight_0 = Var(group == 0);
    raw.cna_weight_1 = Var(group != 0);
    raw.cna_csc_0 = Var(group == 0);
    raw.cna_csc_1 = Var(group != 0);
  } else if (block == Block::kCore) {
    raw.core_0 = Var(group == 0);
    raw.core_1 = Var(group != 0);
  } else if (block == Block::kDpu) {
    raw.dpu_0 = Var(group == 0);
    raw.dpu_1 = Var(group != 0);
  } else if (block == Block::kPpu) {
    raw.ppu_0 = Var(group == 0);
    raw.ppu_1 = Var(group != 0);
  }
  const auto word = rk::Encode(raw);
  return word.ok() ? word.value() : 0;
}

// What the kernel unmasks: completion of the DPU in either group.
uint32_t KernelMask() { return CompletionBits(Block::kDpu, 0) | CompletionBits(Block::kDpu, 1); }

}  // namespace

void CommandFetcher::Reset() {
  file_.Reset();
  cbuf_ = {};
  small_planes_.Clear();
  pending_.clear();
  raw_status_ = 0;
  interrupt_mask_ = 0;
  last_accumulator_ = 0;
  job_started_ = false;
  wedged_ = false;
}

void CommandFetcher::WriteMmio(Block block, uint16_t offset, uint32_t value) {
  file_.Write(block, offset, value, WriteOrigin{});
}

void CommandFetcher::Note(Severity severity, std::string_view id, std::string message,
                          uint32_t command, KickState* state) {
  Diagnostic d;
  d.id = id;
  d.severity = severity;
  d.task = state->task;
  d.command = command;
  d.message = std::move(message);
  state->sink.Add(std::move(d));
}

void CommandFetcher::Stop(Outcome outcome, std::string reason, KickState* state) {
  if (state->failed) return;
  state->failed = true;
  state->result->outcome = outcome;
  state->result->reason = std::move(reason);
  wedged_ = true;
}

bool CommandFetcher::FetchList(uint32_t base, uint32_t words, KickState* state,
                               std::vector<uint64_t>* list) {
  std::vector<std::byte> bytes(size_t{words} * kCommandBytes);
  if (!state->memory->Read(base, bytes)) {
    Diagnostic d;
    d.id = "memory.fetch_fault";
    d.task = state->task;
    char text[96];
    std::snprintf(text, sizeof(text), "Page fault at 0x%08x of type read: command list of %u words",
                  base, words);
    d.message = text;
    Stop(Outcome::kFault, d.message, state);
    state->sink.Add(std::move(d));
    return false;
  }
  list->assign(words, 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    (*list)[i / kCommandBytes] |= std::to_integer<uint64_t>(bytes[i]) << (8 * (i % kCommandBytes));
  }
  return true;
}

void CommandFetcher::WritePc(uint16_t offset, uint32_t value, uint32_t command, KickState* state,
                             Link* link) {
  if (offset == rk::PcBaseAddress::kOffset) {
    link->seen = true;
    link->base = static_cast<uint32_t>(rk::Decode<rk::PcBaseAddress>(value).pc_source_addr.get());
    return;
  }
  if (offset == rk::PcRegisterAmounts::kOffset) {
    const auto amounts = rk::Decode<rk::PcRegisterAmounts>(value);
    link->amount = static_cast<uint32_t>(amounts.pc_data_amount.get());
    if (amounts.mc_cores_minus1.get() != 0) {
      Note(Severity::kUnimplemented, "unimplemented.multi_core", "multi-core co-work", command,
           state);
      Stop(Outcome::kUnimplemented, "multi-core co-work", state);
    }
    return;
  }
  Note(Severity::kWarning, "pc.ignored_register", "a list can write no other PC register", command,
       state);
}

void CommandFetcher::WriteRegister(Block block, uint16_t offset, uint32_t value, uint32_t command,
                                   KickState* state) {
  const regs::RegisterInfo* info = regs::FindRegister(offset);
  if (info == nullptr || info->block != block || info->access == regs::Access::kReadOnly) {
    Note(Severity::kProgramError, "pc.unknown_register",
         "the block has no writable register at this offset; ignored", command, state);
    return;
  }
  if (IsBlockEnable(offset)) {
    if (value == 0 || block == Block::kPpuRdma) return;  // harmless beside the mask (3.4)
    Note(Severity::kUnimplemented, "unimplemented.block_enable", "per-block OPERATION_ENABLE",
         command, state);
    Stop(Outcome::kUnimplemented, "per-block OPERATION_ENABLE", state);
    return;
  }
  const bool s_pointer = offset == rk::CnaSPointer::kOffset || offset == rk::CoreSPointer::kOffset;
  if (s_pointer) {
    Note(Severity::kProgramError, "pc.cna_core_pointer",
         std::string(info->full_name) + " written by a list: only the kernel may (erratum E9)",
         command, state);
    Stop(Outcome::kHang, "a list wrote " + std::string(info->full_name), state);
    return;
  }
  const uint32_t stray = value & ~info->field_mask & ~HarmlessReservedBits(offset);
  if (stray != 0) {
    Note(Severity::kWarning, "pc.reserved_bits", "reserved bits set in " + DecodeText(*info, value),
         command, state);
  }
  if (file_.producer_armed(block)) RunPending(state);
  if (state->failed) return;
  file_.Write(block, offset, value, {list_serial_, command});
}

void CommandFetcher::LaunchMask(uint32_t mask, uint32_t command, KickState* state) {
  if ((mask & ~KnownMaskBits()) != 0) {
    Note(Severity::kWarning, "pc.unknown_mask_bits", "the launch mask has bits of no block",
         command, state);
  }
  Launch launch;
  launch.mask = mask & KnownMaskBits();
  for (size_t i = 0; i < kBankedBlocks.size(); ++i) {
    const unsigned bit = regs::EnableBitOf(kBankedBlocks[i]).value_or(31);
    if (((mask >> bit) & 1) != 0 && file_.producer_armed(kBankedBlocks[i])) RunPending(state);
    if (state->failed) return;
  }
  for (size_t i = 0; i < kBankedBlocks.size(); ++i) {
    const unsigned bit = regs::EnableBitOf(kBankedBlocks[i]).value_or(31);
    if (((mask >> bit) & 1) != 0) launch.groups[i] = file_.Launch(kBankedBlocks[i]);
  }
  pending_.push_back(launch);
  ++launches_in_list_;
  if (pending_.size() > kMaxPending) RunPending(state);
}

void CommandFetcher::RunPending(KickState* state) {
  std::vector<Launch> launches;
  launches.swap(pending_);
  for (const Launch& launch : launches) {
    if (state->failed) return;
    RunLaunch(launch, state);
  }
}

void CommandFetcher::RunLaunch(const Launch& launch, KickState* state) {
  TaskView view(file_, launch, state->task, list_serial_, &state->sink);
  for (size_t i = 0; i < kBankedBlocks.size(); ++i) {
    if (!view.has(kBankedBlocks[i]) || file_.CanRun(kBankedBlocks[i], launch.groups[i])) continue;
    view.Hang<rk::DpuFeatureModeCfg>("pc.executer_group",
                                     "a launched block waits for its other register group");
  }
  TaskReport report;
  if (view.runs()) {
    TaskContext context;
    context.first_of_job = !job_started_;
    context.index_in_kick = state->task;
    context.tasks_in_kick = state->kick->task_number;
    context.cbuf = &cbuf_;
    context.fast = options_.path == Path::kFast ? &fast_ : nullptr;
    context.last_accumulator = &last_accumulator_;
    context.small_planes = &small_planes_;
    context.warned_of_chaining = &state->warned_of_chaining;
    report = RunTask(options_, context, state->memory, &view);
  }
  job_started_ = true;
  switch (view.verdict()) {
    case Verdict::kRun:
    case Verdict::kGarbage:
      break;
    case Verdict::kHang:
      return Stop(Outcome::kHang, view.reason(), state);
    case Verdict::kFault:
      return Stop(Outcome::kFault, view.reason(), state);
    case Verdict::kUnimplemented:
      return Stop(Outcome::kUnimplemented, view.reason(), state);
  }
  for (size_t i = 0; i < kBankedBlocks.size(); ++i) {
    if (!view.has(kBankedBlocks[i])) continue;
    file_.Complete(kBankedBlocks[i], launch.groups[i]);
    uint32_t bits = CompletionBits(kBankedBlocks[i], launch.groups[i]);
    if (kBankedBlocks[i] == Block::kPpu && options_.assume.ppu_raises_dpu_interrupt) {
      bits |= CompletionBits(Block::kDpu, launch.groups[i]);
    }
    raw_status_ |= bits;
    task_status_ |= bits;
  }
  state->result->tasks.push_back(report);
}

void CommandFetcher::Execute(uint64_t word, uint32_t command, KickState* state, Link* link) {
  if (word == regs::kNopWord) return;
  const regs::CommandWord w = regs::Split(word);
  if (w.target == static_cast<uint16_t>(Target::kSync)) return;
  if (w.target == static_cast<uint16_t>(Target::kEnable)) {
    return LaunchMask(w.value, command, state);
  }
  const std::optional<Block> block = regs::BlockOf(w.target);
  if (!block) {
    Note(Severity::kWarning, "pc.unknown_target", "the word selects no block; ignored", command,
         state);
    return;
  }
  if (*block == Block::kPc) return WritePc(w.offset, w.value, command, state, link);
  WriteRegister(*block, w.offset, w.value, command, state);
}

void CommandFetcher::RunList(std::span<const uint64_t> list, KickState* state, Link* link) {
  ++list_serial_;
  launches_in_list_ = 0;
  task_status_ = 0;
  for (size_t i = 0; i < list.size() && !state->failed; ++i) {
    Execute(list[i], static_cast<uint32_t>(i), state, link);
  }
  if (!state->failed) RunPending(state);
  if (state->failed || launches_in_list_ > 0) return;
  Note(Severity::kProgramError, "pc.no_enable",
       "the list ends without ENABLE: nothing is launched (is the count 4 short?)",
       static_cast<uint32_t>(list.size()) - 1, state);
  Stop(Outcome::kHang, "a command list without ENABLE", state);
}

void CommandFetcher::Finish(KickState* state) {
  state->result->raw_status = raw_status_;
  if (!state->failed) {
    // The mask applies to the last task of the kick (registers-rk3588 3.5).
    if ((task_status_ & interrupt_mask_) != 0) {
      state->result->interrupts = 1;
    } else {
      Note(Severity::kProgramError, "pc.no_interrupt",
           "the last task raised no DPU completion, which is all the kernel listens to", 0, state);
      Stop(Outcome::kHang, "no completion interrupt", state);
    }
  }
  // The handler thread of the kernel: OPERATION_ENABLE = 0, INTERRUPT_CLEAR = 0x1FFFF.
  interrupt_mask_ = 0;
  raw_status_ = 0;
  state->result->diagnostics = state->sink.Take();
}

void CommandFetcher::Run(AddressSpace* memory, const Kick& kick, KickResult* result) {
  KickState state;
  state.kick = &kick;
  state.memory = memory;
  state.result = result;
  if (kick.first_of_job) job_started_ = false;
  if (wedged_) {
    Note(Severity::kProgramError, "pc.wedged", "the core hangs since an earlier kick; reset it", 0,
         &state);
    Stop(Outcome::kHang, "the core was not reset after a failed kick", &state);
    return Finish(&state);
  }
  // registers-rk3588 3.2, steps 2 to 6; BASE_ADDRESS and REGISTER_AMOUNTS are the locals below.
  rk::CnaSPointer pointer;
  pointer.pointer_pp_en = 1;
  pointer.executer_pp_en = 1;
  pointer.pointer_pp_mode = rk::PointerPpMode::kByPointer;
  pointer.core_id = Var(options_.core_index & 3);
  const auto word = rk::Encode(pointer);
  WriteMmio(Block::kCna, rk::CnaSPointer::kOffset, word.ok() ? word.value() : 0);
  WriteMmio(Block::kCore, rk::CoreSPointer::kOffset, word.ok() ? word.value() : 0);
  interrupt_mask_ = KernelMask();
  raw_status_ &= ~KernelMask();

  if (kick.regcmd % kListAlignment != 0 || kick.count == 0 || kick.task_number == 0 ||
      kick.task_number > kMostTasks) {
    Note(Severity::kProgramError, "pc.bad_kick",
         "a list is 16-byte aligned and has at least one word, a kick 1 to 4095 tasks", 0, &state);
    Stop(Outcome::kHang, "malformed kick", &state);
    return Finish(&state);
  }
  Link link{true, kick.regcmd, regs::LengthCode(kick.count) & 0xFFFF};
  for (state.task = 0; state.task < kick.task_number && !state.failed; ++state.task) {
    if (!link.seen) {
      Note(Severity::kProgramError, "pc.chain_missing",
           "the list before has no BASE_ADDRESS word, but the kick has tasks left", 0, &state);
      Stop(Outcome::kHang, "a chained kick ends before TASK_NUMBER is reached", &state);
      break;
    }
    std::vector<uint64_t> list;
    const uint32_t words = (link.amount + 1) * 2;
    if (!FetchList(link.base, words, &state, &list)) break;
    if (state.task == 0 && kick.count % 2 != 0 && list.back() != regs::kNopWord) {
      Note(Severity::kProgramError, "pc.odd_list",
           "an odd list also executes the word behind it (registers-rk3588 3.3)", kick.count,
           &state);
    }
    link = Link{};
    RunList(list, &state, &link);
    if (!state.failed) ++result->tasks_done;
  }
  Finish(&state);
}

}  // namespace npu::sim
