// SPDX-License-Identifier: Apache-2.0
#include "src/selftest/built_in.h"

#include <utility>

#include "src/selftest/case_builder.h"

namespace npu::selftest {
namespace {

// Data banks left to tiled cases, so that small planes need several tasks.
constexpr uint32_t kFewBanks = 3;

Result<device::JobFile> Build(std::string name, const chip::Profile& profile, Convolution c) {
  NPU_ASSIGN_OR_RETURN(const encode::EncodedOp op, encode::EncodeConv(profile, c.Problem()));
  return BuildCase(std::move(name), profile, op, c.input, Grouping::kOneJob);
}

Convolution Limited() {
  Convolution c = Random(false, 32, 32, 8, 1, 1, false);
  c.problem.out_zero_point = 0;
  c.problem.clamp_lo = 0;
  c.problem.clamp_hi = 40;
  return c;
}

Convolution Raw() {
  Convolution c = Random(false, 64, 32, 6, 1, 1, false);
  c.problem.raw_int32 = true;
  c.problem.in_zero_point = 0;
  c.bias.clear();
  return c;
}

// Accumulators on ties of the output converter: x / 4 for all x.
Convolution Ties() { return Identity(32, 8, 0.25); }

Result<device::JobFile> Tiles(const chip::Profile& profile) {
  chip::Profile small = profile;
  small.cbuf.banks = kFewBanks;
  small.cbuf.data_banks_max = kFewBanks - 1;
  return Build("tiles_3x3_64_48", small, Random(false, 64, 48, 34, 3, 1, true));
}

Result<device::JobFile> Pool(const chip::Profile& profile) {
  const encode::AveragePoolProblem problem{
      .c = 64, .ih = 14, .iw = 14, .oh = 7, .ow = 7, .kh = 2, .kw = 2, .sh = 2, .sw = 2};
  NPU_ASSIGN_OR_RETURN(const encode::EncodedOp op, encode::EncodeAveragePool(profile, problem));
  const Convolution data = Random(true, 64, 64, 14, 1, 1, false);
  return BuildCase("average_pool_2x2_64", profile, op, data.input, Grouping::kOneJob);
}

}  // namespace

Result<device::JobFile> TinyCase(const chip::Profile& profile) {
  return Build("conv_1x1_32", profile, Random(false, 32, 32, 8, 1, 1, false));
}

Result<device::JobFile> ChainCase(const chip::Profile& profile, uint32_t tasks) {
  Convolution c = Random(false, 32, 32, 8, 1, 1, false);
  NPU_ASSIGN_OR_RETURN(const encode::EncodedOp op, encode::EncodeConv(profile, c.Problem()));
  return BuildCase("chain_" + std::to_string(tasks), profile, op, c.input, Grouping::kChained,
                   tasks);
}

Result<std::vector<device::JobFile>> BuiltInCases(const chip::Profile& profile) {
  std::vector<device::JobFile> cases;
  const auto add = [&](Result<device::JobFile> file) -> Status {
    if (!file.ok()) return file.status();
    cases.push_back(*std::move(file));
    return OkStatus();
  };
  NPU_RETURN_IF_ERROR(add(TinyCase(profile)));
  NPU_RETURN_IF_ERROR(add(Build("conv_1x1_ties", profile, Ties())));
  NPU_RETURN_IF_ERROR(add(Build("conv_1x1_limit", profile, Limited())));
  NPU_RETURN_IF_ERROR(
      add(Build("conv_3x3_64_48", profile, Random(false, 64, 48, 10, 3, 1, false))));
  NPU_RETURN_IF_ERROR(
      add(Build("conv_3x3_per_channel", profile, Random(false, 24, 72, 9, 3, 1, true))));
  NPU_RETURN_IF_ERROR(
      add(Build("conv_3x3_stride_2", profile, Random(false, 48, 32, 15, 3, 2, true))));
  NPU_RETURN_IF_ERROR(
      add(Build("depthwise_3x3_64", profile, Random(true, 64, 64, 12, 3, 1, true))));
  NPU_RETURN_IF_ERROR(add(Build("conv_raw_sums", profile, Raw())));
  NPU_RETURN_IF_ERROR(add(Tiles(profile)));
  NPU_RETURN_IF_ERROR(add(Pool(profile)));
  NPU_RETURN_IF_ERROR(add(ChainCase(profile, 2)));
  return cases;
}

}  // namespace npu::selftest
