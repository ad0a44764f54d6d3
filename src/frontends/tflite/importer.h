// SPDX-License-Identifier: Apache-2.0
// A host's nodes and tensors -> ir::Graph. Nothing the host says is taken on trust: indices, ranks,
// extents, byte counts, quantization arrays and constants are checked before use.
#ifndef SRC_FRONTENDS_TFLITE_IMPORTER_H_
#define SRC_FRONTENDS_TFLITE_IMPORTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "npu/status.h"
#include "src/frontends/tflite/abi.h"
#include "src/frontends/tflite/tensor_import.h"
#include "src/ir/graph.h"

namespace npu::tflite {

// A node of the host with its registration; pointers are the host's.
struct HostNode {
  const abi::Node* node = nullptr;
  const abi::Registration* registration = nullptr;
};

// A graph and the host tensors of its ports.
struct ImportedGraph {
  ir::Graph graph;
  std::vector<int32_t> input_tensors;   // of graph.inputs
  std::vector<int32_t> output_tensors;  // of graph.outputs
  // Owns the constants of uint8 tensors, shared with the Importer and its other graphs.
  std::shared_ptr<const ConstantStore> rebased;
};

// Reads one context. Valid while the host does not change its graph: during one delegate Prepare,
// or one kernel call. Imported constants borrow the host's memory,
// those of uint8 tensors ImportedGraph::rebased.
class Importer {
 public:
  explicit Importer(abi::Context* context) : context_(context) {}

  // The execution plan; kCorruptData when the host gives none.
  Result<std::vector<int32_t>> Plan() const;
  Result<HostNode> GetNode(int32_t node_index) const;

  // One node whose inputs and outputs are host tensor indices, every one of them checked; an absent
  // optional input is ir::kNoValue. Errors carry a reason ("tensor.shape", "op.unsupported" ...).
  Result<ir::Node> ImportNode(int32_t node_index);

  // The graph of `nodes` in this order. Inputs: run-time tensors read before any node writes them,
  // in order of first use. Outputs: those of `outputs` that a node writes; with none given, every
  // tensor a node writes.
  Result<ImportedGraph> ImportGraph(std::span<const int32_t> nodes,
                                    std::span<const int32_t> outputs);

  // Extents as the host states them, for reports; empty where it states none.
  std::vector<int32_t> ShapeOf(int32_t tensor_index) const;

 private:
  Result<ir::Value> ImportTensor(int32_t index);
  const Result<ir::Value>& TensorOnce(int32_t index);

  abi::Context* context_;
  std::shared_ptr<ConstantStore> rebased_ = std::make_shared<ConstantStore>();
  std::map<int32_t, Result<ir::Value>> tensors_;
};

// The elements of a host list; empty for null.
std::span<const int32_t> Span(const abi::IntArray* list);

}  // namespace npu::tflite

#endif  // SRC_FRONTENDS_TFLITE_IMPORTER_H_
