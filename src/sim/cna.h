// SPDX-License-Identifier: Apache-2.0
// The CNA: reads features and weights into the convolution buffer, in the form the MACs use them.
#ifndef SRC_SIM_CNA_H_
#define SRC_SIM_CNA_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "src/sim/config.h"
#include "src/sim/memory.h"
#include "src/sim/task_view.h"

namespace npu::sim {

// Input features as the MACs see them: [ih][iw][pitch], channel ic..pitch-1 are padding bytes.
// fp16 values are kept as the fp32 they are equal to, in `real` instead of `data`.
struct FeatureCube {
  int height = 0, width = 0, channels = 0;
  int pitch = 0;  // channels rounded up to whole atoms
  std::vector<int8_t> data;
  std::vector<float> real;
  bool fp16 = false;
  const int8_t* At(int y, int x) const { return data.data() + Index(y, x); }
  int8_t* At(int y, int x) { return data.data() + Index(y, x); }
  const float* RealAt(int y, int x) const { return real.data() + Index(y, x); }
  float* RealAt(int y, int x) { return real.data() + Index(y, x); }

 private:
  size_t Index(int y, int x) const {
    return (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) *
           static_cast<size_t>(pitch);
  }
};

// Weights sorted out of the stream: direct [kernels][kh][kw][ic], depthwise [kh][kw][ic].
struct WeightCube {
  int kernels = 0, kh = 0, kw = 0, ic = 0;
  bool depthwise = false;
  std::vector<int8_t> data;
  std::vector<float> real;  // fp16 instead
  bool fp16 = false;
  const int8_t* Kernel(int k) const { return data.data() + Index(k); }
  const float* RealKernel(int k) const { return real.data() + Index(k); }

 private:
  size_t Index(int k) const {
    return static_cast<size_t>(k) * static_cast<size_t>(kh * kw) * static_cast<size_t>(ic);
  }
};

// What the convolution buffer holds from one task to the next (rk3588-conv-matmul 5.4).
struct Cbuf {
  bool has_features = false, has_weights = false;
  bool weights_resident = false;  // they fitted their banks, so a later task may reuse them
  int data_banks = 0, weight_banks = 0;
  FeatureCube features;
  WeightCube weights;
};

// Byte address of the atom (surface s, row h, column w): rk3588-conv-matmul 3.2.
// Example: 3x3 plane, line stride 12, surface stride -3, base 0: (1, 2, 1) -> 256.
int64_t FeatureAddress(const ConvConfig& c, int surface, int h, int w);

// Position in the weight stream, in elements, of (kernel, channel, kh, kw): 3.5 and 3.6.
int64_t WeightOffset(const ConvConfig& c, int kernel, int channel, int kh, int kw);

// Load what the reuse bits do not keep. `first_of_job`: nothing may be kept. Reports "cna.reuse*";
// an unmapped address is view->Fault.
void LoadOperands(const ConvConfig& c, bool first_of_job, const AddressSpace& memory, Cbuf* cbuf,
                  TaskView* view);

}  // namespace npu::sim

#endif  // SRC_SIM_CNA_H_
