// SPDX-License-Identifier: Apache-2.0
// A small host for delegate tests: a TfLiteContext of our own, with the partitioning rules and the
// call sequence of the real one (tflite-delegate 1.5, 1.6).
#ifndef TESTS_FRONTENDS_FAKE_HOST_H_
#define TESTS_FRONTENDS_FAKE_HOST_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "src/frontends/tflite/abi.h"

namespace npu::tflite {

class FakeHost {
 public:
  FakeHost();
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;
  ~FakeHost() { FreeKernels(); }

  // Tensors get the byte count their shape needs. An arena tensor has no memory before Allocate.
  int32_t AddTensor(int32_t type, std::vector<int32_t> dims);
  int32_t AddInt8(std::vector<int32_t> dims, float scale, int32_t zero_point);
  int32_t AddConstant(int32_t type, std::vector<int32_t> dims, std::vector<int32_t> values);
  void Quantize(int32_t tensor, std::vector<float> scales, std::vector<int32_t> zero_points,
                int32_t axis = 0);

  int32_t AddNode(int32_t builtin_code, std::vector<int32_t> inputs, std::vector<int32_t> outputs);
  template <typename Params>
  int32_t AddNode(int32_t builtin_code, std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                  const Params& params) {
    std::vector<std::byte>& bytes = blobs_.emplace_back(sizeof(Params));
    std::memcpy(bytes.data(), &params, sizeof(Params));
    const int32_t node = AddNode(builtin_code, std::move(inputs), std::move(outputs));
    nodes_[static_cast<size_t>(node)].node.builtin_data = bytes.data();
    return node;
  }
  void SetModelOutputs(std::vector<int32_t> tensors) { model_outputs_ = std::move(tensors); }

  abi::Context* context() { return &context_; }
  abi::Tensor& tensor(int32_t index) { return tensors_[static_cast<size_t>(index)]; }
  abi::Node& node(int32_t index) { return nodes_[static_cast<size_t>(index)].node; }
  abi::Registration& registration(int32_t index) {
    return nodes_[static_cast<size_t>(index)].registration;
  }
  abi::IntArray* List(std::vector<int32_t> values);

  // What an interpreter does with a delegate, step by step. Apply includes init and one prepare, as
  // hosts do for flags 0.
  abi::Status Apply(abi::Delegate* delegate);
  abi::Status PrepareKernels();
  void Allocate();  // gives arena tensors memory, at other addresses than before
  abi::Status Invoke();
  void FreeKernels();
  size_t kernel_count() const { return kernels_.size(); }
  const std::vector<int32_t>& kernel_nodes(size_t kernel) const { return kernels_[kernel].nodes; }
  const std::string& errors() const { return errors_; }
  // Nodes whose claim the host must group differently at replace than in the preview.
  bool split_at_replace = false;

 private:
  struct HostNode {
    abi::Node node;
    abi::Registration registration;
  };
  struct Partition {
    std::vector<int32_t> nodes, inputs, outputs;
  };
  struct KernelSlot {
    std::vector<int32_t> nodes;
    abi::Registration registration;
    abi::Node node;
    abi::DelegateParams* params;
  };

  static FakeHost& Of(abi::Context* context) { return *static_cast<FakeHost*>(context->impl); }
  static abi::Status GetPlan(abi::Context* context, abi::IntArray** plan);
  static abi::Status GetNode(abi::Context* context, int32_t index, abi::Node** node,
                             abi::Registration** registration);
  static abi::Status Preview(abi::Context* context, const abi::IntArray* nodes,
                             abi::DelegateParams** partitions, int32_t* count);
  static abi::Status Replace(abi::Context* context, abi::Registration registration,
                             const abi::IntArray* nodes, abi::Delegate* delegate);
  static void Report(abi::Context* context, const char* format, ...);

  std::vector<Partition> Partitions(const abi::IntArray* claimed);
  Partition Finish(std::vector<int32_t> nodes);
  abi::DelegateParams ParamsOf(const Partition& partition, abi::Delegate* delegate);

  abi::Context context_ = {};
  std::vector<abi::Tensor> tensors_;
  std::deque<HostNode> nodes_;
  std::deque<std::vector<int32_t>> lists_;
  std::deque<std::vector<float>> float_lists_;
  std::deque<std::vector<std::byte>> blobs_;
  std::deque<abi::AffineQuantization> quantizations_;
  std::deque<abi::DelegateParams> params_;
  std::vector<abi::DelegateParams> preview_;
  std::deque<KernelSlot> kernels_;
  std::vector<int32_t> model_outputs_;
  std::string errors_;
};

}  // namespace npu::tflite

#endif  // TESTS_FRONTENDS_FAKE_HOST_H_
