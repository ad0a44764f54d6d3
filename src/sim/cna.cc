// SPDX-License-Identifier: Apache-2.0
#include "src/sim/cna.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include "src/arith/half.h"
#include "src/base/checked.h"

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;

constexpr int64_t kAtom = 16;
constexpr int64_t kBankBytes = 32 * 1024;

template <typename Reg>
void ReadFault(int64_t address, TaskView* view) {
  char text[80];
  std::snprintf(text, sizeof(text), "Page fault at 0x%08llx of type read",
                static_cast<unsigned long long>(address));
  view->Fault<Reg>("memory.read_fault", text);
}

float HalfAt(const std::byte* at) {
  return arith::HalfToFloat(static_cast<uint16_t>(std::to_integer<uint32_t>(at[0]) |
                                                  (std::to_integer<uint32_t>(at[1]) << 8)));
}

// One burst line of atoms of a surface: iw atoms of 16 bytes each.
bool LoadLine(const ConvConfig& c, const AddressSpace& memory, int surface, int y,
              std::vector<std::byte>* line, FeatureCube* cube, int64_t* fault) {
  const int64_t address = FeatureAddress(c, surface, y, 0);
  if (!memory.Read(address, *line)) {
    *fault = address;
    return false;
  }
  for (int x = 0; x < c.iw; ++x) {
    const std::byte* atom = line->data() + x * kAtom;
    if (c.fp16) {
      float* pixel = cube->RealAt(y, x) + surface * c.lanes();
      for (int i = 0; i < c.lanes(); ++i) pixel[i] = HalfAt(atom + int64_t{2} * i);
      continue;
    }
    int8_t* pixel = cube->At(y, x) + surface * kAtom;
    for (int i = 0; i < kAtom; ++i) pixel[i] = static_cast<int8_t>(atom[i]);
  }
  return true;
}

bool LoadCube(const ConvConfig& c, const AddressSpace& memory, FeatureCube* cube, int64_t* fault) {
  std::vector<std::byte> line(static_cast<size_t>(c.iw * kAtom));
  for (int surface = 0; surface < cube->pitch / c.lanes(); ++surface) {
    for (int y = 0; y < c.ih; ++y) {
      if (!LoadLine(c, memory, surface, y, &line, cube, fault)) return false;
    }
  }
  return true;
}

int8_t ConvertPixel(const PixelConverter& converter, std::byte raw) {
  if (!converter.enabled) return static_cast<int8_t>(raw);
  const int32_t pixel = converter.is_signed ? static_cast<int8_t>(raw) : static_cast<uint8_t>(raw);
  return Saturate<int8_t>(pixel * converter.factor + converter.offset);
}

// Packed pixels: component 0 of (h, w) at base + (h * line_stride + w) * channels; the programmed
// channels above read 0 (rk3588-conv-matmul 8.7).
bool LoadPixels(const ConvConfig& c, const AddressSpace& memory, FeatureCube* cube,
                int64_t* fault) {
  std::vector<std::byte> line(static_cast<size_t>(int64_t{c.iw} * c.pixel_channels));
  for (int y = 0; y < c.ih; ++y) {
    const int64_t address = c.feature_base + y * c.line_stride * c.pixel_channels;
    if (!memory.Read(address, line)) {
      *fault = address;
      return false;
    }
    for (int x = 0; x < c.iw; ++x) {
      int8_t* pixel = cube->At(y, x);
      for (int i = 0; i < c.pixel_channels; ++i) {
        pixel[i] = ConvertPixel(c.pixel_converter,
                                line[static_cast<size_t>(int64_t{x} * c.pixel_channels + i)]);
      }
    }
  }
  return true;
}

void LoadFeatures(const ConvConfig& c, const AddressSpace& memory, Cbuf* cbuf, TaskView* view) {
  FeatureCube& cube = cbuf->features;
  cube.height = c.ih;
  cube.width = c.iw;
  cube.channels = c.ic;
  cube.pitch = RoundUp(c.ic, c.lanes());
  cube.fp16 = c.fp16;
  const auto size = static_cast<size_t>(int64_t{c.ih} * c.iw * cube.pitch);
  cube.data.assign(c.fp16 ? 0 : size, 0);
  cube.real.assign(c.fp16 ? size : 0, 0.0f);
  int64_t fault = 0;
  const bool read = c.pixel_channels > 0 ? LoadPixels(c, memory, &cube, &fault)
                                         : LoadCube(c, memory, &cube, &fault);
  cbuf->has_features = read;
  cbuf->data_banks = c.data_banks;
  if (!read) ReadFault<rk::CnaFeatureDataAddr>(fault, view);
}

// The stream is consumed strictly in order; each lane run is contiguous in both forms.
void UnpackWeights(const ConvConfig& c, std::span<const std::byte> stream, WeightCube* cube) {
  const int group = c.depthwise ? c.out_group() : ConvConfig::kInGroup;
  for (int k = 0; k < c.kernels; ++k) {
    for (int y = 0; y < c.kh; ++y) {
      for (int x = 0; x < c.kw; ++x) {
        for (int channel = 0; channel < c.ic; channel += group) {
          const auto from = static_cast<size_t>(WeightOffset(c, k, channel, y, x));
          const int lanes = std::min(group, c.ic - channel);
          const size_t to =
              static_cast<size_t>(((int64_t{k} * c.kh + y) * c.kw + x) * c.ic + channel);
          for (size_t i = 0; i < static_cast<size_t>(lanes); ++i) {
            if (c.fp16) {
              cube->real[to + i] = HalfAt(&stream[2 * (from + i)]);
            } else {
              cube->data[to + i] = static_cast<int8_t>(stream[from + i]);
            }
          }
        }
      }
    }
  }
}

void LoadWeights(const ConvConfig& c, const AddressSpace& memory, Cbuf* cbuf, TaskView* view) {
  const int64_t elements = int64_t{c.kernels} * c.kh * c.kw * c.ic;
  const int64_t bytes = elements * c.element_bytes();
  cbuf->has_weights = false;
  cbuf->weight_banks = c.weight_banks;
  cbuf->weights_resident = bytes <= c.weight_banks * kBankBytes;
  if (!memory.IsMapped(c.weight_base, bytes)) {
    ReadFault<rk::CnaDcompAddr0>(c.weight_base, view);
    return;
  }
  std::vector<std::byte> stream(static_cast<size_t>(bytes));
  memory.Read(c.weight_base, stream);
  WeightCube& cube = cbuf->weights;
  cube = {};
  cube.kernels = c.kernels;
  cube.kh = c.kh;
  cube.kw = c.kw;
  cube.ic = c.ic;
  cube.depthwise = c.depthwise;
  cube.fp16 = c.fp16;
  cube.data.resize(static_cast<size_t>(c.fp16 ? 0 : elements));
  cube.real.resize(static_cast<size_t>(c.fp16 ? elements : 0));
  UnpackWeights(c, stream, &cube);
  cbuf->has_weights = true;
}

// A reuse bit keeps what the previous task left; anything but an equal shape at the same bank split
// is undefined on silicon.
void CheckReuse(const ConvConfig& c, bool first_of_job, const Cbuf& cbuf, TaskView* view) {
  if (!c.data_reuse && !c.weight_reuse) return;
  if (first_of_job) {
    view->Garbage<rk::CnaCbufCon0>("cna.reuse_first",
                                   "a reuse bit on the first task of a job: CBUF is unknown");
    return;
  }
  const FeatureCube& f = cbuf.features;
  if (c.data_reuse && (!cbuf.has_features || cbuf.data_banks != c.data_banks || f.height != c.ih ||
                       f.width != c.iw || f.channels != c.ic || f.fp16 != c.fp16)) {
    view->Garbage<rk::CnaCbufCon0>("cna.reuse_data",
                                   "DATA_REUSE, but the task before left other features");
  }
  const WeightCube& w = cbuf.weights;
  if (c.weight_reuse &&
      (!cbuf.has_weights || !cbuf.weights_resident || cbuf.weight_banks != c.weight_banks ||
       w.kernels != c.kernels || w.kh != c.kh || w.kw != c.kw || w.ic != c.ic ||
       w.depthwise != c.depthwise || w.fp16 != c.fp16)) {
    view->Garbage<rk::CnaCbufCon0>("cna.reuse_weights",
                                   "WEIGHT_REUSE, but the task before left other weights");
  }
}

}  // namespace

int64_t FeatureAddress(const ConvConfig& c, int surface, int h, int w) {
  const int64_t n = c.lines_per_burst;
  return c.feature_base + kAtom * (surface * (c.surf_stride + n * c.iw) + (h / n) * c.line_stride +
                                   (h % n) * c.iw + w);
}

int64_t WeightOffset(const ConvConfig& c, int kernel, int channel, int kh, int kw) {
  const int64_t taps = int64_t{c.kh} * c.kw;
  const int64_t tap = int64_t{kh} * c.kw + kw;
  if (c.depthwise) {
    const int64_t first = channel - channel % c.out_group();
    const int64_t lanes = std::min<int64_t>(c.out_group(), c.ic - first);
    return first * taps + tap * lanes + channel - first;
  }
  const int64_t group = kernel / c.out_group();
  const int64_t in_group = std::min<int64_t>(c.out_group(), c.kernels - group * c.out_group());
  const int64_t first = channel - channel % ConvConfig::kInGroup;
  const int64_t lanes = std::min<int64_t>(ConvConfig::kInGroup, c.ic - first);
  return group * c.out_group() * taps * c.ic + first * taps * in_group + tap * in_group * lanes +
         (kernel % c.out_group()) * lanes + channel - first;
}

void LoadOperands(const ConvConfig& c, bool first_of_job, const AddressSpace& memory, Cbuf* cbuf,
                  TaskView* view) {
  CheckReuse(c, first_of_job, *cbuf, view);
  if (!view->runs()) return;
  if (!c.data_reuse) LoadFeatures(c, memory, cbuf, view);
  if (!c.weight_reuse) LoadWeights(c, memory, cbuf, view);
}

}  // namespace npu::sim
