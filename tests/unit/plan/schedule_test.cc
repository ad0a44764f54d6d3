// SPDX-License-Identifier: Apache-2.0
#include "src/plan/schedule.h"

#include <gtest/gtest.h>

namespace npu::plan {
namespace {

// Node n reads the values in reads[n] and writes value n + 1; value 0 is the input.
ir::Graph MakeGraph(const std::vector<std::vector<ir::ValueId>>& reads) {
  ir::Graph graph;
  graph.values.resize(reads.size() + 1);
  for (size_t n = 0; n < reads.size(); ++n) {
    ir::Node node;
    node.inputs = reads[n];
    node.outputs = {static_cast<ir::ValueId>(n + 1)};
    graph.nodes.push_back(node);
  }
  return graph;
}

TEST(ScheduleNodes, JoinsNpuNodesOfParallelBranches) {
  // Two branches of conv (NPU), relu (host), then one concatenation.
  const ir::Graph graph = MakeGraph({{0}, {1}, {0}, {3}, {2, 4}});
  EXPECT_EQ(ScheduleNodes(graph, {true, false, true, false, false}),
            (std::vector<int32_t>{0, 2, 1, 3, 4}));
}

TEST(ScheduleNodes, KeepsEveryProducerBeforeItsConsumers) {
  const ir::Graph graph = MakeGraph({{0}, {1}, {1, 2}, {3, 0}, {4, 2}});
  const auto order = ScheduleNodes(graph, {true, false, true, false, true});
  EXPECT_EQ(order, (std::vector<int32_t>{0, 1, 2, 3, 4}));
}

TEST(ScheduleNodes, StartsWithTheHostWhereItFeedsTheNpu) {
  const ir::Graph graph = MakeGraph({{0}, {0}, {2}});
  EXPECT_EQ(ScheduleNodes(graph, {true, false, true}), (std::vector<int32_t>{1, 0, 2}));
}

}  // namespace
}  // namespace npu::plan
