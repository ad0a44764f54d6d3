// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sim/program.h"

#include <algorithm>
#include <random>

namespace npu::sim {
namespace {

using regs::Target;
using regs::Var;

int CeilDivide(int a, int b) { return (a + b - 1) / b; }

void SetCna(const ConvShape& s, Program* p) {
  const auto mode = s.depthwise ? rk::ConvMode::kDepthwise : rk::ConvMode::kDirect;
  p->Edit<rk::CnaConvCon1>([&](auto& r) { r.conv_mode = mode; });
  p->Edit<rk::CnaConvCon2>([&](auto& r) { r.feature_grains = Var(s.ih + 1); });
  p->Edit<rk::CnaConvCon3>([&](auto& r) {
    r.conv_x_stride = Var(s.sx);
    r.conv_y_stride = Var(s.sy);
    r.atrous_x_dilation = Var(s.dx - 1);
    r.atrous_y_dilation = Var(s.dy - 1);
  });
  p->Edit<rk::CnaDataSize0>([&](auto& r) {
    r.datain_height = Var(s.ih);
    r.datain_width = Var(s.iw);
  });
  p->Edit<rk::CnaDataSize1>([&](auto& r) {
    r.datain_channel = Var(s.ic);
    r.datain_channel_real = Var(s.ic - 1);
  });
  p->Edit<rk::CnaDataSize2>([&](auto& r) { r.dataout_width = Var(s.ow()); });
  p->Edit<rk::CnaDataSize3>([&](auto& r) { r.dataout_atomics = Var(s.ow() * s.oh()); });
  const int kernels = s.depthwise ? 1 : s.oc;
  const int kernel_bytes = s.kh * s.kw * s.ic;
  p->Edit<rk::CnaWeightSize0>([&](auto& r) { r.weight_bytes = Var(kernel_bytes * kernels); });
  p->Edit<rk::CnaWeightSize1>([&](auto& r) { r.weight_bytes_per_kernel = Var(kernel_bytes); });
  p->Edit<rk::CnaWeightSize2>([&](auto& r) {
    r.weight_kernels = Var(kernels);
    r.weight_height = Var(s.kh);
    r.weight_width = Var(s.kw);
  });
  // Whole quarters of an entry a pixel: the plain formula, except for three atoms (5.1).
  const int atoms = CeilDivide(s.ic, 16);
  const int rest = atoms % 4 == 3 ? s.iw : CeilDivide(atoms % 4 * s.iw, 4);
  const int entries = atoms / 4 * s.iw + rest;
  const int banks = CeilDivide(entries * s.ih, 512);
  p->Edit<rk::CnaCbufCon0>([&](auto& r) {
    r.data_bank = Var(banks);
    r.weight_bank = Var(12 - banks);
  });
  p->Edit<rk::CnaCbufCon1>([&](auto& r) { r.data_entries = Var(entries); });
  p->Edit<rk::CnaCvtCon0>([](auto& r) { r.cvt_bypass = 1; });
  p->Edit<rk::CnaPadCon0>([&](auto& r) {
    r.pad_top = Var(s.pad_top);
    r.pad_left = Var(s.pad_left);
  });
  p->Edit<rk::CnaFeatureDataAddr>([](auto& r) { r.feature_base_addr = kFeatures; });
  p->Edit<rk::CnaDcompAddr0>([](auto& r) { r.decompress_addr0 = kWeights; });
  p->Edit<rk::CnaDmaCon1>([&](auto& r) { r.line_stride = Var(4 * s.iw); });
  p->Edit<rk::CnaDmaCon2>([&](auto& r) { r.surf_stride = Var(s.iw * (s.ih - 4)); });
  p->Edit<rk::CnaFcDataSize0>([&](auto& r) {
    r.dma_height = Var(s.ih);
    r.dma_width = Var(s.iw);
  });
  p->Edit<rk::CnaFcDataSize1>([&](auto& r) { r.dma_channel = Var(s.ic); });
  p->Set(rk::CnaPadCon1{});
}

void SetDpuNeutral(Program* p) {
  p->Edit<rk::DpuBnCfg>([](auto& r) { r.bn_bypass = 1; });
  p->Edit<rk::DpuEwCfg>([](auto& r) {
    r.ew_bypass = 1;
    r.ew_lut_bypass = 1;
  });
  p->Edit<rk::DpuEwCvtScaleValue>([](auto& r) { r.ew_op_cvt_scale = 1; });
  p->Edit<rk::DpuOutCvtScale>([](auto& r) { r.out_cvt_scale = 1; });
  p->Set(rk::DpuOutCvtOffset{});
  p->Set(rk::DpuOutCvtShift{});
}

void SetCube(int channels, int height, int width, Program* p) {
  p->Edit<rk::DpuDataCubeChannel>([&](auto& r) {
    r.channel = Var(channels - 1);
    r.orig_channel = Var(channels - 1);
  });
  p->Edit<rk::DpuDataCubeHeight>([&](auto& r) { r.height = Var(height - 1); });
  p->Edit<rk::DpuDataCubeWidth>([&](auto& r) { r.width = Var(width - 1); });
  p->Edit<rk::DpuWdmaSize0>([&](auto& r) { r.channel_wdma = Var(channels - 1); });
  p->Edit<rk::DpuWdmaSize1>([&](auto& r) {
    r.height_wdma = Var(height - 1);
    r.width_wdma = Var(width - 1);
  });
  p->Edit<rk::DpuRdmaDataCubeChannel>([&](auto& r) { r.channel = Var(channels - 1); });
  p->Edit<rk::DpuRdmaDataCubeHeight>([&](auto& r) { r.height = Var(height - 1); });
  p->Edit<rk::DpuRdmaDataCubeWidth>([&](auto& r) { r.width = Var(width - 1); });
  p->Edit<rk::DpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kOutput; });
  p->Edit<rk::DpuDstSurfStride>([&](auto& r) { r.dst_surf_stride = Var(height * width); });
}

void SetWriter(int surfaces, int plane, bool od_bypass, Program* p) {
  p->Edit<rk::DpuBsOwCfg>([&](auto& r) {
    r.size_e_0 = Var(surfaces - 1);
    r.size_e_1 = Var(surfaces - 1);
    r.size_e_2 = Var(surfaces - 1);
    r.od_bypass = Var(od_bypass);
  });
  p->Edit<rk::DpuSurfaceAdd>([&](auto& r) { r.surf_add = Var(surfaces * plane); });
}

Program MakeBase(const ConvShape& s) {
  Program p;
  SetCna(s, &p);
  const auto mode = s.depthwise ? rk::ConvMode::kDepthwise : rk::ConvMode::kDirect;
  p.Edit<rk::CoreMiscCfg>([&](auto& r) { r.dw_en = Var(s.depthwise); });
  p.Edit<rk::CoreDataoutSize0>([&](auto& r) {
    r.dataout_height = Var(s.oh() - 1);
    r.dataout_width = Var(s.ow() - 1);
  });
  p.Edit<rk::CoreDataoutSize1>([&](auto& r) { r.dataout_channel = Var(s.oc - 1); });
  p.Set(rk::CoreClipTruncate{});
  SetDpuNeutral(&p);
  SetCube(s.oc, s.oh(), s.ow(), &p);
  p.Edit<rk::DpuFeatureModeCfg>([&](auto& r) {
    r.output_mode = rk::OutputMode::kToMemory;
    r.conv_mode = mode;
  });
  p.Edit<rk::DpuRdmaFeatureModeCfg>([&](auto& r) {
    r.mrdma_disable = 1;
    r.conv_mode = mode;
  });
  p.Edit<rk::DpuRdmaErdmaCfg>([](auto& r) { r.erdma_disable = 1; });
  return p;
}

}  // namespace

std::vector<uint64_t> Program::Words() const {
  std::vector<uint64_t> words;
  const auto pointer = [&](regs::Block block, uint16_t offset) {
    const bool used = std::any_of(values_.begin(), values_.end(), [&](const auto& v) {
      return regs::FindRegister(v.first)->block == block;
    });
    if (used) words.push_back(regs::MakeWord(*regs::TargetOf(block), s_pointer, offset));
  };
  pointer(regs::Block::kDpu, rk::DpuSPointer::kOffset);
  pointer(regs::Block::kDpuRdma, rk::DpuRdmaSPointer::kOffset);
  pointer(regs::Block::kPpu, rk::PpuSPointer::kOffset);
  pointer(regs::Block::kPpuRdma, rk::PpuRdmaSPointer::kOffset);
  for (const auto& [offset, value] : values_) {
    const regs::Block block = regs::FindRegister(offset)->block;
    words.push_back(regs::MakeWord(*regs::TargetOf(block), value, offset));
  }
  if (words.size() % 2 != 0) words.push_back(regs::kNopWord);
  const bool link = next_words != 0;
  words.push_back(link ? regs::MakeWord(Target::kPc, next_base, rk::PcBaseAddress::kOffset)
                       : regs::kNopWord);
  words.push_back(regs::MakeWord(Target::kPc, link ? regs::LengthCode(next_words) : 0,
                                 rk::PcRegisterAmounts::kOffset));
  words.push_back(regs::kSyncWord);
  words.push_back(regs::EnableWord(mask));
  return words;
}

Program MakeConv(const ConvShape& s) {
  Program p = MakeBase(s);
  p.Edit<rk::CoreMiscCfg>([](auto& r) { r.qd_en = 1; });
  p.Set(rk::DpuDataFormat{});
  p.Edit<rk::DpuBsCfg>([](auto& r) {
    r.bs_mul_bypass = 1;
    r.bs_relu_bypass = 1;
    r.bs_alu_src = rk::OperandSrc::kDma;
    r.bs_alu_algo = rk::AluAlgoAffine::kAdd;
  });
  p.Set(rk::DpuBsMulCfg{});
  p.Set(rk::DpuBsOwOp{});
  SetWriter(s.depthwise ? 4 : 2, s.oh() * s.ow(), false, &p);
  p.Edit<rk::DpuRdmaBrdmaCfg>([](auto& r) { r.brdma_use_alu = 1; });
  p.Edit<rk::DpuRdmaBsBaseAddr>([](auto& r) { r.bs_base_addr = kBias; });
  return p;
}

Program MakeRawConv(const ConvShape& s) {
  Program p = MakeBase(s);
  p.Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kInt32; });
  p.Edit<rk::DpuBsCfg>([](auto& r) { r.bs_bypass = 1; });
  p.Set(rk::DpuRdmaBrdmaCfg{});
  SetWriter(8, s.oh() * s.ow(), true, &p);
  return p;
}

Program MakeHalfConv(const ConvShape& s) {
  // Two bytes an element: the int8 program of twice the channels, with the counts put right.
  ConvShape bytes = s;
  bytes.ic = 2 * s.ic;
  Program p = MakeBase(bytes);
  p.Edit<rk::CnaConvCon1>([](auto& r) {
    r.proc_precision = rk::PrecisionMac::kFp16;
    r.in_precision = rk::PrecisionMac::kFp16;
  });
  p.Edit<rk::CoreMiscCfg>([](auto& r) { r.proc_precision = rk::PrecisionMac::kFp16; });
  p.Edit<rk::CnaDataSize1>([&](auto& r) {
    r.datain_channel = Var(s.ic);
    r.datain_channel_real = Var(s.ic - 1);
  });
  p.Edit<rk::CnaFcDataSize1>([&](auto& r) { r.dma_channel = Var(s.ic); });
  p.Edit<rk::DpuDataFormat>([](auto& r) {
    r.proc_precision = rk::PrecisionDpu::kFp16;
    r.in_precision = rk::PrecisionDpu::kFp16;
    r.out_precision = rk::PrecisionDpu::kFp16;
  });
  p.Edit<rk::DpuOutCvtScale>([](auto& r) { r.fp32tofp16_en = 1; });
  p.Edit<rk::DpuBsCfg>([](auto& r) { r.bs_bypass = 1; });
  p.Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) { r.mrdma_fp16tofp32_en = 1; });
  SetWriter(s.depthwise ? 4 : 2, s.oh() * s.ow(), true, &p);
  return p;
}

Program MakeHalfElementwise(int columns) {
  Program p = MakeElementwise(columns);
  SetCube(8, 1, columns, &p);
  p.Edit<rk::DpuDataFormat>([](auto& r) {
    r.proc_precision = rk::PrecisionDpu::kFp16;
    r.in_precision = rk::PrecisionDpu::kFp16;
    r.out_precision = rk::PrecisionDpu::kFp16;
  });
  p.Edit<rk::DpuOutCvtScale>([](auto& r) { r.fp32tofp16_en = 1; });
  p.Edit<rk::DpuEwCfg>([](auto& r) {
    r.edata_size = rk::DataBits::kBits16;
    r.ew_op_cvt_bypass = 0;
  });
  p.Edit<rk::DpuRdmaErdmaCfg>([](auto& r) { r.erdma_data_size = rk::DataBits::kBits16; });
  p.Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) {
    r.proc_precision = rk::PrecisionDpu::kFp16;
    r.in_precision = rk::PrecisionDpu::kFp16;
    r.mrdma_fp16tofp32_en = 1;
  });
  return p;
}

Program MakeElementwise(int columns) {
  Program p;
  p.mask = rk::kEnableDpuOnly;
  SetDpuNeutral(&p);
  SetCube(16, 1, columns, &p);
  SetWriter(1, columns, true, &p);
  p.Edit<rk::DpuFeatureModeCfg>([](auto& r) {
    r.flying_mode = 1;
    r.output_mode = rk::OutputMode::kToMemory;
  });
  p.Set(rk::DpuDataFormat{});
  p.Edit<rk::DpuBsCfg>([](auto& r) { r.bs_bypass = 1; });
  p.Edit<rk::DpuEwCfg>([](auto& r) {
    r.ew_bypass = 0;
    r.ew_op_src = rk::OperandSrc::kDma;
    r.ew_lut_bypass = 1;
    r.ew_relu_bypass = 1;
    r.ew_op_cvt_bypass = 1;
    r.ew_alu_algo = rk::AluAlgoEw::kAdd;
    r.edata_size = rk::DataBits::kBits8;
    r.ew_data_mode = Var(1);
  });
  p.Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) { r.flying_mode = 1; });
  p.Edit<rk::DpuRdmaErdmaCfg>([](auto& r) {
    r.erdma_data_size = rk::DataBits::kBits8;
    r.erdma_data_mode = rk::ErdmaMode::kPerPixel;
  });
  p.Edit<rk::DpuRdmaSrcBaseAddr>([](auto& r) { r.src_base_addr = kFeatures; });
  p.Edit<rk::DpuRdmaEwBaseAddr>([](auto& r) { r.ew_base_addr = kOperand; });
  p.Edit<rk::DpuRdmaEwSurfStride>([&](auto& r) { r.ew_surf_stride = Var(columns); });
  return p;
}

Program MakePool(const PoolShape& s) {
  Program p;
  p.mask = rk::kEnablePool;
  p.Edit<rk::PpuDataCubeInWidth>([&](auto& r) { r.cube_in_width = Var(s.iw - 1); });
  p.Edit<rk::PpuDataCubeInHeight>([&](auto& r) { r.cube_in_height = Var(s.ih - 1); });
  p.Edit<rk::PpuDataCubeInChannel>([&](auto& r) { r.cube_in_channel = Var(s.channels - 1); });
  p.Edit<rk::PpuDataCubeOutWidth>([&](auto& r) { r.cube_out_width = Var(s.ow - 1); });
  p.Edit<rk::PpuDataCubeOutHeight>([&](auto& r) { r.cube_out_height = Var(s.oh - 1); });
  p.Edit<rk::PpuDataCubeOutChannel>([&](auto& r) { r.cube_out_channel = Var(s.channels - 1); });
  p.Edit<rk::PpuOperationModeCfg>([&](auto& r) {
    r.pooling_method = s.method;
    r.flying_mode = 1;
  });
  p.Edit<rk::PpuPoolingKernelCfg>([&](auto& r) {
    r.kernel_width = Var(s.kw - 1);
    r.kernel_height = Var(s.kh - 1);
    r.kernel_stride_width = Var(s.sx - 1);
    r.kernel_stride_height = Var(s.sy - 1);
  });
  p.Edit<rk::PpuPoolingPaddingCfg>([&](auto& r) {
    r.pad_left = Var(s.left);
    r.pad_top = Var(s.top);
    r.pad_right = Var(s.right);
    r.pad_bottom = Var(s.bottom);
  });
  if (s.method == rk::PoolMethod::kAverage && !s.fp16) {
    p.Edit<rk::PpuRecipKernelWidth>([&](auto& r) { r.recip_kernel_width = Var(65536 / s.kw); });
    p.Edit<rk::PpuRecipKernelHeight>([&](auto& r) { r.recip_kernel_height = Var(65536 / s.kh); });
  }
  p.Edit<rk::PpuPaddingValue1Cfg>([&](auto& r) { r.pad_value_0 = Var(s.pad_value); });
  p.Edit<rk::PpuPaddingValue2Cfg>([&](auto& r) { r.pad_value_1 = Var(s.pad_value < 0 ? 7 : 0); });
  p.Edit<rk::PpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kOutput; });
  p.Edit<rk::PpuDstSurfStride>([&](auto& r) { r.dst_surf_stride = Var(s.oh * s.ow); });
  p.Edit<rk::PpuDataFormat>([&](auto& r) {
    r.proc_precision = s.fp16 ? rk::PrecisionDpu::kFp16 : rk::PrecisionDpu::kInt8;
    r.index_add = Var(s.oh * s.ow);
  });
  p.Edit<rk::PpuRdmaCubeInWidth>([&](auto& r) { r.cube_in_width = Var(s.iw - 1); });
  p.Edit<rk::PpuRdmaCubeInHeight>([&](auto& r) { r.cube_in_height = Var(s.ih - 1); });
  p.Edit<rk::PpuRdmaCubeInChannel>([&](auto& r) { r.cube_in_channel = Var(s.channels - 1); });
  p.Edit<rk::PpuRdmaSrcBaseAddr>([](auto& r) { r.src_base_addr = kFeatures; });
  p.Edit<rk::PpuRdmaSrcLineStride>([&](auto& r) { r.src_line_stride = Var(s.iw); });
  p.Edit<rk::PpuRdmaSrcSurfStride>([&](auto& r) { r.src_surf_stride = Var(s.iw * s.ih); });
  p.Edit<rk::PpuRdmaDataFormat>(
      [&](auto& r) { r.in_precision = s.fp16 ? rk::DataBits::kBits16 : rk::DataBits::kBits8; });
  return p;
}

Machine::Machine(const SimOptions& options) : core(options), bytes(kMemorySize) {
  if (!memory.Map(kMemoryBase, bytes).ok()) bytes.clear();  // every access then throws
}

void Machine::Put(uint32_t address, const std::vector<int8_t>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    bytes.at(address - kMemoryBase + i) = static_cast<std::byte>(values[i]);
  }
}

void Machine::PutWords(uint32_t address, const std::vector<uint64_t>& words) {
  for (size_t i = 0; i < words.size() * 8; ++i) {
    bytes.at(address - kMemoryBase + i) = static_cast<std::byte>(words[i / 8] >> (8 * (i % 8)));
  }
}

void Machine::PutInts(uint32_t address, const std::vector<int32_t>& values) {
  for (size_t i = 0; i < values.size() * 4; ++i) {
    bytes.at(address - kMemoryBase + i) =
        static_cast<std::byte>(static_cast<uint32_t>(values[i / 4]) >> (8 * (i % 4)));
  }
}

void Machine::PutHalves(uint32_t address, const std::vector<uint16_t>& values) {
  for (size_t i = 0; i < values.size() * 2; ++i) {
    bytes.at(address - kMemoryBase + i) = static_cast<std::byte>(values[i / 2] >> (8 * (i % 2)));
  }
}

uint16_t Machine::Half(uint32_t address) const {
  return static_cast<uint16_t>(Int(address) & 0xFFFF);
}

int8_t Machine::Byte(uint32_t address) const {
  return static_cast<int8_t>(bytes.at(address - kMemoryBase));
}

int32_t Machine::Int(uint32_t address) const {
  uint32_t v = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    v |= std::to_integer<uint32_t>(bytes.at(address - kMemoryBase + i)) << (8 * i);
  }
  return static_cast<int32_t>(v);
}

void Machine::Fill(uint32_t address, uint32_t size, uint8_t value) {
  std::fill_n(bytes.begin() + (address - kMemoryBase), size, std::byte{value});
}

KickResult Machine::Run(const Program& program, bool first_of_job) {
  const std::vector<uint64_t> words = program.Words();
  PutWords(kLists, words);
  Kick kick;
  kick.regcmd = kLists;
  kick.count = static_cast<uint32_t>(words.size());
  kick.first_of_job = first_of_job;
  return core.RunKick(memory, kick);
}

KickResult Machine::RunWords(const std::vector<uint64_t>& words, uint32_t task_number) {
  PutWords(kLists, words);
  Kick kick;
  kick.regcmd = kLists;
  kick.count = static_cast<uint32_t>(words.size());
  kick.task_number = task_number;
  return core.RunKick(memory, kick);
}

const Diagnostic* Find(const KickResult& result, std::string_view id) {
  for (const Diagnostic& d : result.diagnostics) {
    if (d.id == id) return &d;
  }
  return nullptr;
}

bool Has(const KickResult& result, std::string_view id) { return Find(result, id) != nullptr; }

Tensor RandomTensor(size_t count, uint32_t seed, int low, int high) {
  std::mt19937 random(seed);
  Tensor values(count);
  const auto range = static_cast<uint32_t>(high - low + 1);
  for (int8_t& v : values) v = static_cast<int8_t>(low + static_cast<int>(random() % range));
  return values;
}

std::vector<int8_t> PackFeatures(const Tensor& x, int c, int h, int w) {
  std::vector<int8_t> cube(static_cast<size_t>(CeilDivide(c, 16) * 16 * h * w));
  for (int i = 0; i < c; ++i) {
    for (int p = 0; p < h * w; ++p) {
      cube[static_cast<size_t>(int64_t{i} / 16 * h * w * 16 + p * 16 + i % 16)] =
          x[static_cast<size_t>(int64_t{i} * h * w + p)];
    }
  }
  return cube;
}

// A linear walk in the order of the stream (3.5, 3.6), not an index formula.
std::vector<int8_t> PackWeights(const Tensor& w, const ConvShape& s) {
  std::vector<int8_t> stream;
  const int taps = s.kh * s.kw;
  if (s.depthwise) {
    for (int g = 0; g < s.ic; g += 64) {
      for (int t = 0; t < taps; ++t) {
        for (int c = g; c < std::min(g + 64, s.ic); ++c) {
          stream.push_back(w[static_cast<size_t>(int64_t{c} * taps + t)]);
        }
      }
    }
    return stream;
  }
  for (int k0 = 0; k0 < s.oc; k0 += 32) {
    for (int c0 = 0; c0 < s.ic; c0 += 32) {
      for (int t = 0; t < taps; ++t) {
        for (int k = k0; k < std::min(k0 + 32, s.oc); ++k) {
          for (int c = c0; c < std::min(c0 + 32, s.ic); ++c) {
            stream.push_back(w[static_cast<size_t>((int64_t{k} * s.ic + c) * taps + t)]);
          }
        }
      }
    }
  }
  return stream;
}

int64_t Sum(const ConvShape& s, const Tensor& x, const Tensor& w, int8_t pad, int ow_op, int oc,
            int oh, int ow) {
  int64_t sum = 0;
  const int first = s.depthwise ? oc : 0;
  const int last = s.depthwise ? oc + 1 : s.ic;
  for (int c = first; c < last; ++c) {
    for (int ky = 0; ky < s.kh; ++ky) {
      for (int kx = 0; kx < s.kw; ++kx) {
        const int y = oh * s.sy + ky * s.dy - s.pad_top;
        const int xx = ow * s.sx + kx * s.dx - s.pad_left;
        const bool inside = y >= 0 && y < s.ih && xx >= 0 && xx < s.iw;
        const int64_t v =
            inside ? x[static_cast<size_t>((int64_t{c} * s.ih + y) * s.iw + xx)] : pad;
        const int row = s.depthwise ? c : oc * s.ic + c;
        sum += v * (w[static_cast<size_t>((int64_t{row} * s.kh + ky) * s.kw + kx)] + ow_op);
      }
    }
  }
  return sum;
}

uint32_t OutputAddress(const ConvShape& s, int element_bytes, int c, int h, int w) {
  const int atom = 16 / element_bytes;
  return kOutput + static_cast<uint32_t>(c / atom * s.oh() * s.ow() * 16 + (h * s.ow() + w) * 16 +
                                         c % atom * element_bytes);
}

}  // namespace npu::sim
