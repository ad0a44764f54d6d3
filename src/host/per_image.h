// SPDX-License-Identifier: Apache-2.0
// Batches for kernels that know one image.
#ifndef SRC_HOST_PER_IMAGE_H_
#define SRC_HOST_PER_IMAGE_H_

#include <memory>

#include "src/host/kernels.h"

namespace npu::host {

// `kernel` computes the first image of a node whose run-time operands are [N,H,W,C] with one N.
// Batch 1: the kernel itself; else one that runs it on one image after the other, row-major.
KernelResult PerImage(const ir::Graph& graph, const ir::Node& node, std::unique_ptr<Kernel> kernel);

}  // namespace npu::host

#endif  // SRC_HOST_PER_IMAGE_H_
