// SPDX-License-Identifier: Apache-2.0
// The programs behind the open questions; docs/hardware/open-questions.md has a row for each.
#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "src/selftest/case_builder.h"
#include "src/selftest/micro_golden.h"
#include "src/selftest/micro_tests.h"

namespace npu::selftest {
namespace {

namespace r = regs::rk3588;
using regs::Var;
using Files = Result<std::vector<device::JobFile>>;

// A variant of one operation: the lists changed by `change`.
template <typename F>
Status Add(std::string name, const MicroContext& context, Convolution* c, F&& change,
           std::vector<device::JobFile>* files, Grouping grouping = Grouping::kOneJob,
           uint32_t repeat = 1) {
  NPU_ASSIGN_OR_RETURN(encode::EncodedOp op, encode::EncodeConv(*context.profile, c->Problem()));
  change(&op);
  NPU_ASSIGN_OR_RETURN(device::JobFile file, BuildCase(std::move(name), *context.profile, op,
                                                       c->input, grouping, repeat));
  files->push_back(std::move(file));
  return OkStatus();
}

template <typename F>
Files One(std::string name, const MicroContext& context, Convolution c, F&& change) {
  std::vector<device::JobFile> files;
  NPU_RETURN_IF_ERROR(Add(std::move(name), context, &c, change, &files));
  return files;
}

Convolution RawConvolution() {
  Convolution c = Identity(32, 8, 1.0);
  c.problem.raw_int32 = true;
  return c;
}

// BN ReLUx with limit 100 in front of a gain of 1/4: outputs above 25 become 25.
Files BnRelux(const MicroContext& context) {
  Convolution c = Identity(32, 8, 0.25);
  c.problem.clamp_lo = 0;
  c.problem.clamp_hi = 25;
  return One("limit_100_gain_quarter", context, std::move(c), [](encode::EncodedOp*) {});
}

// M = 144, K = 672: the data needs 3.1 banks of entries; with 4 and 5 banks of data.
Files MinimumBanks(const MicroContext& context) {
  std::vector<device::JobFile> files;
  for (const uint32_t banks : {4u, 5u}) {
    Convolution c = Random(false, 672, 32, 12, 1, 1, false);
    NPU_RETURN_IF_ERROR(Add(
        fmt::format("data_banks_{}", banks), context, &c,
        [&](encode::EncodedOp* op) {
          Patch<r::CnaCbufCon0>(op, [&](r::CnaCbufCon0& reg) {
            reg.data_bank = Var(banks);
            reg.weight_bank = Var(context.profile->cbuf.banks - banks);
          });
        },
        &files));
  }
  return files;
}

Files LargeShifts(const MicroContext& context) {
  std::vector<device::JobFile> files;
  for (const uint32_t shift : {30u, 31u, 32u, 34u, 37u, 45u}) {
    Convolution c = Random(false, 512, 32, 4, 1, 1, false);
    NPU_RETURN_IF_ERROR(Add(
        fmt::format("shift_{}", shift), context, &c,
        [&](encode::EncodedOp* op) {
          Patch<r::DpuOutCvtScale>(op,
                                   [](r::DpuOutCvtScale& reg) { reg.out_cvt_scale = Var(16384); });
          Patch<r::DpuOutCvtShift>(op,
                                   [&](r::DpuOutCvtShift& reg) { reg.out_cvt_shift = Var(shift); });
        },
        &files));
  }
  return files;
}

// A profile of few banks makes the encoder cut the plane into row tiles.
Files RowTiles(const MicroContext& context) {
  chip::Profile small = *context.profile;
  small.cbuf.banks = 3;
  small.cbuf.data_banks_max = 2;
  const MicroContext few{&small, context.golden};
  std::vector<device::JobFile> files;
  Convolution c = Random(false, 64, 32, 8, 1, 1, false);
  c.problem.ih = c.problem.oh = 32;
  c.input.resize(size_t{32} * 8 * 64, 11);
  NPU_RETURN_IF_ERROR(Add(
      "row_tiles", few, &c, [](encode::EncodedOp*) {}, &files));
  return files;
}

// Neutral converter; accumulators are the inputs.
void PassThrough(encode::EncodedOp* op) {
  Patch<r::DpuOutCvtScale>(op, [](r::DpuOutCvtScale& reg) { reg.out_cvt_scale = Var(1); });
  Patch<r::DpuOutCvtShift>(op, [](r::DpuOutCvtShift& reg) { reg.out_cvt_shift = Var(0); });
}

Files BnRounding(const MicroContext& context) {
  return One("bn_multiply", context, Identity(32, 8, 0.5), [](encode::EncodedOp* op) {
    PassThrough(op);
    Patch<r::DpuBnCfg>(
        op, [](r::DpuBnCfg& reg) { reg = r::DpuBnCfg{.bn_alu_bypass = 1, .bn_relu_bypass = 1}; });
    Patch<r::DpuBnMulCfg>(op, [](r::DpuBnMulCfg& reg) {
      reg.bn_mul_shift_value = Var(15);
      reg.bn_mul_operand = Var(16384);
    });
    Patch<r::DpuDataFormat>(op,
                            [](r::DpuDataFormat& reg) { reg.bn_mul_shift_value_neg = Var(15); });
  });
}

void BsMultiplier(encode::EncodedOp* op, int multiplier, int shift, int shift_negative) {
  Patch<r::DpuBsCfg>(op, [](r::DpuBsCfg& reg) { reg.bs_mul_bypass = Var(0); });
  Patch<r::DpuBsMulCfg>(op, [&](r::DpuBsMulCfg& reg) {
    reg.bs_mul_src = r::OperandSrc::kRegister;
    reg.bs_mul_shift_value = Var(shift);
    reg.bs_mul_operand = Var(multiplier);
  });
  Patch<r::DpuDataFormat>(
      op, [&](r::DpuDataFormat& reg) { reg.bs_mul_shift_value_neg = Var(shift_negative); });
}

Files BsNegative(const MicroContext& context) {
  return One("bs_minus_16384", context, Identity(32, 8, 0.5), [](encode::EncodedOp* op) {
    PassThrough(op);
    BsMultiplier(op, -16384, 14, 15);
  });
}

// Addend 2^31-1: a saturating sum loses the accumulator, which the offset brings into range.
Files BsWideSum(const MicroContext& context) {
  Convolution c = Identity(32, 8, 0.5);
  return One("bs_wide_sum", context, std::move(c), [](encode::EncodedOp* op) {
    PassThrough(op);
    BsMultiplier(op, 1, 1, 1);
    const int32_t most = std::numeric_limits<int32_t>::max();
    for (size_t i = 0; i + sizeof most <= op->operands.size(); i += sizeof most) {
      std::memcpy(op->operands.data() + i, &most, sizeof most);
    }
    Patch<r::DpuOutCvtOffset>(
        op, [](r::DpuOutCvtOffset& reg) { reg.out_cvt_offset = Var(-(int64_t{1} << 30)); });
  });
}

Files BrdmaUnread(const MicroContext& context) {
  return One("brdma_0e_bs_bypassed", context, Identity(32, 8, 0.5), [](encode::EncodedOp* op) {
    Patch<r::DpuBsCfg>(op, [](r::DpuBsCfg& reg) {
      reg =
          r::DpuBsCfg{.bs_bypass = 1, .bs_alu_bypass = 1, .bs_mul_bypass = 1, .bs_relu_bypass = 1};
    });
    Patch<r::DpuRdmaBrdmaCfg>(op, [](r::DpuRdmaBrdmaCfg& reg) {
      reg.brdma_use_alu = Var(1);
      reg.brdma_use_cpend = Var(1);
      reg.brdma_use_mul = Var(1);
    });
    // Records of eight channels instead of dense addends.
    op->operands.resize(size_t{256});
  });
}

Files PadBytes(const MicroContext& context) {
  Convolution c = Random(false, 32, 32, 8, 3, 1, false);
  return One("pad_01020304", context, std::move(c), [](encode::EncodedOp* op) {
    Patch<r::CnaPadCon1>(op, [](r::CnaPadCon1& reg) { reg.pad_value = Var(0x01020304); });
  });
}

Files ChainedRaw(const MicroContext& context) {
  std::vector<device::JobFile> files;
  Convolution raw = RawConvolution(), narrow = Identity(32, 8, 0.5);
  NPU_RETURN_IF_ERROR(Add(
      "int8", context, &narrow, [](encode::EncodedOp*) {}, &files, Grouping::kChained, 2));
  NPU_RETURN_IF_ERROR(Add(
      "int32", context, &raw, [](encode::EncodedOp*) {}, &files, Grouping::kChained, 2));
  return files;
}

// One program a wrong constant; each completes with bytes that nobody has published.
Files WrongBytes(const MicroContext& context) {
  std::vector<device::JobFile> files;
  const auto add = [&](const char* name, auto change) {
    Convolution c = Random(false, 64, 32, 24, 1, 1, false);
    return Add(name, context, &c, change, &files);
  };
  NPU_RETURN_IF_ERROR(add("data_banks_1", [](encode::EncodedOp* op) {
    Patch<r::CnaCbufCon0>(op, [](r::CnaCbufCon0& reg) { reg.data_bank = Var(1); });
  }));
  NPU_RETURN_IF_ERROR(add("data_entries_1", [](encode::EncodedOp* op) {
    Patch<r::CnaCbufCon1>(op, [](r::CnaCbufCon1& reg) { reg.data_entries = Var(1); });
  }));
  NPU_RETURN_IF_ERROR(add("fc_data_bank_1", [](encode::EncodedOp* op) {
    Patch<r::CnaCbufCon0>(op, [](r::CnaCbufCon0& reg) { reg.fc_data_bank = Var(1); });
  }));
  NPU_RETURN_IF_ERROR(add("qd_en_0", [](encode::EncodedOp* op) {
    Patch<r::CoreMiscCfg>(op, [](r::CoreMiscCfg& reg) { reg.qd_en = Var(0); });
  }));
  NPU_RETURN_IF_ERROR(add("weight_bytes_32", [](encode::EncodedOp* op) {
    Patch<r::CnaWeightSize1>(op,
                             [](r::CnaWeightSize1& reg) { reg.weight_bytes_per_kernel = Var(32); });
  }));
  return files;
}

// Records of multipliers in two linked tasks.
Files ChainedPerChannel(const MicroContext& context) {
  std::vector<device::JobFile> files;
  Convolution c = Random(false, 32, 32, 8, 1, 1, true);
  NPU_RETURN_IF_ERROR(Add(
      "two_tasks", context, &c, [](encode::EncodedOp*) {}, &files, Grouping::kChained, 2));
  return files;
}

Files CubeMismatch(const MicroContext& context) {
  std::vector<device::JobFile> files;
  for (const int by : {1, -1}) {
    Convolution c = Identity(32, 8, 0.5);
    NPU_RETURN_IF_ERROR(Add(
        fmt::format("dpu_width_{:+}", by), context, &c,
        [&](encode::EncodedOp* op) {
          Patch<r::DpuDataCubeWidth>(
              op, [&](r::DpuDataCubeWidth& reg) { reg.width = Var(reg.width.get() + by); });
        },
        &files));
  }
  return files;
}

Files UnalignedBase(const MicroContext& context) {
  return One("feature_base_8", context, Identity(32, 8, 0.5), [](encode::EncodedOp* op) {
    for (encode::TaskProgram& task : op->tasks) {
      for (encode::Relocation& relocation : task.relocations) {
        if (relocation.slot == encode::Slot::kInput) relocation.offset += 8;
      }
    }
  });
}

// Mask 0x0D without a word for DPU_RDMA; needs a device on which nothing ran since its reset.
Files RdmaNeverConfigured(const MicroContext& context) {
  return One("mask_0d", context, RawConvolution(), [](encode::EncodedOp* op) {
    for (encode::TaskProgram& task : op->tasks) {
      for (uint64_t& word : task.words) {
        const regs::CommandWord split = regs::Split(word);
        if (regs::BlockOf(split.target) == regs::Block::kDpuRdma) word = regs::kNopWord;
      }
      uint32_t mask = 0;
      for (const regs::Block block : {regs::Block::kCna, regs::Block::kCore, regs::Block::kDpu}) {
        mask |= uint32_t{1} << *regs::EnableBitOf(block);
      }
      task.words.back() = regs::EnableWord(mask);
    }
  });
}

constexpr MicroTest kTests[] = {
    {"bn_relux", "BN ReLUx limits to [0, value] before OUT_CVT", false, false, BnRelux},
    {"cbuf_minimum_banks", "the 64-byte entry rule is enough for int8 features", false, false,
     MinimumBanks},
    {"out_cvt_shift_above_31", "OUT_CVT_SHIFT works up to 45", false, false, LargeShifts},
    {"partial_input_read", "tasks may read fewer rows than the plane has", false, false, RowTiles},
    {"bn_multiply_rounding", "BN rounds ties to even", false, false, BnRounding},
    {"bs_negative_multiplier", "the shift follows the sign of the product", false, false,
     BsNegative},
    {"ew_operand_rounding", "the operand's shift rounds as CVT_ROUND says", false, false,
     EwRounding},
    {"rdma_never_configured", "hangs while DPU_RDMA was never configured", true, true,
     RdmaNeverConfigured},
    {"chained_raw_integer", "the second 32-bit task of a chain is wrong, int8 ones are right",
     false, false, ChainedRaw},
    {"partial_wrong_bytes", "writes bytes nobody has measured (the simulator writes none)", false,
     false, WrongBytes},
    {"cube_mismatch", "hangs", true, false, CubeMismatch},
    {"bs_wide_sum", "accumulator + addend stays wide until the multiplier's saturation", false,
     false, BsWideSum},
    {"brdma_unread", "records that no stage reads are harmless", false, false, BrdmaUnread},
    {"pad_bytes_direct", "byte 0 pads every channel", false, false, PadBytes},
    {"unaligned_base", "hangs", true, false, UnalignedBase},
    {"ppu_completion", "the kernel does not see a task of the PPU alone complete", true, false,
     PpuCompletion},
    {"ppu_int8", "the PPU pools int8", false, false, PpuInt8},
    {"ppu_int8_average", "int8 averages round half to even", false, false, PpuInt8Average},
    {"ppu_fp16_average", "fp16 averages round once, at the end", false, false, PpuFp16Average},
    {"ppu_nan", "fp16 pools turn every NaN into 7C01h", false, false, PpuNan},
    {"ppu_window_beyond_padding", "a window beyond the padding reads the pad value", false, false,
     PpuBeyondPadding},
    {"fp16_tap_order", "channel groups outermost, then rows, columns, lanes", false, false,
     Fp16TapOrder},
    {"fp16_depthwise_order", "rounds after every tap, in stream order", false, false,
     Fp16DepthwiseOrder},
    {"fp16_specials", "IEEE; overflow is infinity, every NaN is stored as 7C01h", false, false,
     Fp16Specials},
    {"fp16_out_cvt", "rounds after the scale and after the offset", false, false, Fp16OutCvt},
    {"chained_per_channel", "tasks with per-channel multipliers share a kick", false, false,
     ChainedPerChannel},
    {"pixel_entries", "DATA_ENTRIES is ignored with packed pixels", false, false, PixelEntries},
};

}  // namespace

std::span<const MicroTest> MicroTests() { return kTests; }

}  // namespace npu::selftest
