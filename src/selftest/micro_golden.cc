// SPDX-License-Identifier: Apache-2.0
#include "src/selftest/micro_golden.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "src/selftest/case_builder.h"

namespace npu::selftest {
namespace {

namespace r = regs::rk3588;
using regs::Var;
using Files = Result<std::vector<device::JobFile>>;

// fp16 bit patterns.
constexpr uint16_t k2048 = 0x6800, kOne = 0x3C00, k4096 = 0x6C00, kMinus4096 = 0xEC00;
constexpr uint16_t kTiny = 0x0C00;  // 2^-12: with 4096 a product of 1
constexpr uint16_t kNan = 0x7E00, kInfinity = 0x7C00, k60000 = 0x7B53;

// A golden case on its way to a micro-test.
class Changed {
 public:
  static Result<Changed> Of(const MicroContext& context, std::string_view name,
                            std::string_view variant) {
    std::optional<device::JobFile> file = context.golden(name);
    if (!file) {
      return Status(ErrorCode::kNotFound, fmt::format("needs the golden case {} (--golden)", name));
    }
    file->name = fmt::format("{}, {}", name, variant);
    // The recorded expectation no longer holds.
    for (device::SubmitRecord& submit : file->submits) submit.checks.clear();
    return Changed(*std::move(file));
  }

  // Changes the register in every list.
  template <typename Reg, typename F>
  Changed& Set(F&& change) {
    EachTask([&](std::span<uint64_t> words) { PatchWords<Reg>(words, change); });
    return *this;
  }

  // Fills what lies behind an address register with fp16 values, from its start to the end of the
  // stored contents.
  template <typename Reg>
  Changed& Fill(std::span<const uint16_t> pattern) {
    uint32_t address = 0;
    EachTask([&](std::span<uint64_t> words) {
      for (const uint64_t word : words) {
        if (regs::Split(word).offset == Reg::kOffset) address = regs::Split(word).value;
      }
    });
    EachSegment(address, [&](std::span<std::byte> bytes) {
      for (size_t i = 0; i + 2 <= bytes.size(); i += 2) {
        std::memcpy(bytes.data() + i, &pattern[i / 2 % pattern.size()], 2);
      }
    });
    return *this;
  }

  Files Take() {
    std::vector<device::JobFile> files;
    files.push_back(std::move(file_));
    return files;
  }

 private:
  explicit Changed(device::JobFile file) : file_(std::move(file)) {}

  // Stored contents of the buffer around `address`.
  template <typename F>
  void EachSegment(uint32_t address, F&& f) {
    const device::JobBuffer* buffer = file_.FindRange(address, 1);
    if (buffer == nullptr) return;
    for (const device::SubmitRecord& submit : file_.submits) {
      for (const device::MemoryRecord& record : submit.memory) {
        if (record.buffer != buffer->id) continue;
        for (const device::MemorySegment& segment : record.segments) {
          f(std::span<std::byte>(file_.data).subspan(segment.data_offset, segment.length));
        }
      }
    }
  }

  template <typename F>
  void EachTask(F&& f) {
    for (const device::SubmitRecord& submit : file_.submits) {
      for (const device::JobRecord& job : submit.jobs) {
        for (const device::TaskRecord& task : job.tasks) {
          EachSegment(task.regcmd, [&](std::span<std::byte> bytes) {
            std::vector<uint64_t> words(bytes.size() / sizeof(uint64_t));
            std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint64_t));
            f(std::span<uint64_t>(words));
            std::memcpy(bytes.data(), words.data(), words.size() * sizeof(uint64_t));
          });
        }
      }
    }
  }

  device::JobFile file_;
};

// The same atoms read as twice as many int8 channels.
void AsInt8(Changed* changed) {
  const auto twice = [](auto& field) { field = Var(field.get() * 2 + 1); };
  changed->Set<r::PpuDataCubeInChannel>([&](auto& reg) { twice(reg.cube_in_channel); })
      .Set<r::PpuDataCubeOutChannel>([&](auto& reg) { twice(reg.cube_out_channel); })
      .Set<r::PpuRdmaCubeInChannel>([&](auto& reg) { twice(reg.cube_in_channel); })
      .Set<r::PpuDataFormat>([](auto& reg) { reg.proc_precision = Var(0); })
      .Set<r::PpuRdmaDataFormat>([](auto& reg) { reg.in_precision = Var(1); });
}

}  // namespace

Files EwRounding(const MicroContext& context) {
  NPU_ASSIGN_OR_RETURN(Changed c, Changed::Of(context, "add_i8_1x1_32x7x7_32", "operand shift 1"));
  c.Set<r::DpuEwCvtScaleValue>([](auto& reg) {
    reg.ew_op_cvt_scale = Var(1);
    reg.ew_op_cvt_shift = Var(1);
  });
  return c.Take();
}

Files PixelEntries(const MicroContext& context) {
  NPU_ASSIGN_OR_RETURN(Changed c,
                       Changed::Of(context, "conv_i8q_argb_3x3_same_1x18x18_16", "DATA_ENTRIES 1"));
  c.Set<r::CnaCbufCon1>([](auto& reg) { reg.data_entries = Var(1); });
  return c.Take();
}

// A pool as it was recorded: does the kernel see it end?
Files PpuCompletion(const MicroContext& context) {
  NPU_ASSIGN_OR_RETURN(Changed c, Changed::Of(context, "pool_max_2x2s2_8x4x4", "unchanged"));
  return c.Take();
}

Files PpuInt8(const MicroContext& context) {
  NPU_ASSIGN_OR_RETURN(Changed c, Changed::Of(context, "pool_max_2x2s2_8x4x4", "as int8"));
  AsInt8(&c);
  return c.Take();
}

Files PpuInt8Average(const MicroContext& context) {
  NPU_ASSIGN_OR_RETURN(Changed c, Changed::Of(context, "pool_avg_2x2s2_16x8x8", "as int8"));
  AsInt8(&c);
  return c.Take();
}

Files PpuFp16Average(const MicroContext& context) {
  constexpr std::array<uint16_t, 11> kPattern = {k2048, kOne, kOne, kOne, kOne, kOne,
                                                 kOne,  kOne, kOne, kOne, kOne};
  NPU_ASSIGN_OR_RETURN(Changed c, Changed::Of(context, "pool_avg_3x3s1_8x6x6", "2048, 1, 1, ..."));
  c.Fill<r::PpuRdmaSrcBaseAddr>(kPattern);
  return c.Take();
}

Files PpuNan(const MicroContext& context) {
  constexpr std::array<uint16_t, 5> kPattern = {kOne, kNan, k2048, kMinus4096, kInfinity};
  NPU_ASSIGN_OR_RETURN(Changed c, Changed::Of(context, "pool_max_2x2s2_8x4x4", "with NaN"));
  c.Fill<r::PpuRdmaSrcBaseAddr>(kPattern);
  return c.Take();
}

// 3x3 of the 4x4 plane, pooled to 2x2: the last windows reach one row and column too far.
Files PpuBeyondPadding(const MicroContext& context) {
  NPU_ASSIGN_OR_RETURN(Changed c, Changed::Of(context, "pool_max_2x2s2_8x4x4", "3x3 plane"));
  c.Set<r::PpuDataCubeInWidth>([](auto& reg) { reg.cube_in_width = Var(2); })
      .Set<r::PpuDataCubeInHeight>([](auto& reg) { reg.cube_in_height = Var(2); })
      .Set<r::PpuRdmaCubeInWidth>([](auto& reg) { reg.cube_in_width = Var(2); })
      .Set<r::PpuRdmaCubeInHeight>([](auto& reg) { reg.cube_in_height = Var(2); });
  return c.Take();
}

namespace {

// Products 2^24, 1, -2^24 in turn: the sum depends on their order and on where it rounds.
Files Order(const MicroContext& context, std::string_view name) {
  constexpr std::array<uint16_t, 3> kInputs = {k4096, kTiny, kMinus4096};
  constexpr std::array<uint16_t, 1> kWeights = {k4096};
  NPU_ASSIGN_OR_RETURN(Changed c, Changed::Of(context, name, "2^24, 1, -2^24"));
  c.Fill<r::CnaFeatureDataAddr>(kInputs).Fill<r::CnaDcompAddr0>(kWeights);
  return c.Take();
}

}  // namespace

Files Fp16TapOrder(const MicroContext& context) {
  return Order(context, "conv_f16_3x3_p1_32x8x8_16");
}

Files Fp16DepthwiseOrder(const MicroContext& context) {
  return Order(context, "dw_f16_3x3_p1_32x8x8");
}

Files Fp16Specials(const MicroContext& context) {
  constexpr std::array<uint16_t, 37> kPattern = {kOne, kOne, kNan, kOne, k60000, kInfinity};
  NPU_ASSIGN_OR_RETURN(Changed c,
                       Changed::Of(context, "conv_f16_1x1_32x8x8_16", "NaN, infinity, 60000"));
  c.Fill<r::CnaFeatureDataAddr>(kPattern);
  return c.Take();
}

Files Fp16OutCvt(const MicroContext& context) {
  NPU_ASSIGN_OR_RETURN(Changed c,
                       Changed::Of(context, "conv_f16_1x1_32x8x8_16", "scale 3, offset 1"));
  c.Set<r::DpuOutCvtScale>([](auto& reg) {
     reg.out_cvt_scale = Var(3);
   }).Set<r::DpuOutCvtOffset>([](auto& reg) { reg.out_cvt_offset = Var(1); });
  return c.Take();
}

}  // namespace npu::selftest
