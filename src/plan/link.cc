// SPDX-License-Identifier: Apache-2.0
#include "src/plan/link.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace npu::plan {
namespace {

constexpr uint64_t kConstantAlignment = 64;  // operand records, rk3588-conv-matmul 12
constexpr uint64_t kCommandAlignment = 64;   // lists start on 64 bytes, registers-rk3588 3.4
constexpr uint64_t kMaxBytes = uint64_t{1} << 31;

// Appends blobs, each distinct content once.
class ConstantPool {
 public:
  explicit ConstantPool(std::vector<std::byte>* image) : image_(image) {}

  uint64_t Add(const std::vector<std::byte>& blob) {
    if (blob.empty()) return 0;
    const std::string_view key(reinterpret_cast<const char*>(blob.data()), blob.size());
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    const uint64_t offset = RoundUp<uint64_t>(image_->size(), kConstantAlignment);
    image_->resize(offset);
    image_->insert(image_->end(), blob.begin(), blob.end());
    known_.emplace(key, offset);
    return offset;
  }

 private:
  std::vector<std::byte>* image_;
  std::map<std::string_view, uint64_t> known_;  // keys point into the encoded operations
};

}  // namespace

Status LinkProgram(CompiledProgram* program) {
  ConstantPool pool(&program->constants);
  for (Step& step : program->steps) {
    auto* npu = std::get_if<NpuStep>(&step);
    if (npu == nullptr) continue;
    ++program->submits;
    for (NpuOp& op : npu->ops) {
      op.weights_offset = pool.Add(op.op->weights);
      op.operands_offset = pool.Add(op.op->operands);
      for (const encode::TaskProgram& task : op.op->tasks) {
        const uint64_t offset = RoundUp(program->commands_bytes, kCommandAlignment);
        op.task_offsets.push_back(offset);
        program->commands_bytes = offset + task.words.size() * sizeof(uint64_t);
        ++program->tasks;
      }
    }
  }
  if (program->constants.size() >= kMaxBytes || program->commands_bytes >= kMaxBytes) {
    return {ErrorCode::kOutOfMemory, "the partition's weights do not fit a 2 GiB buffer object"};
  }
  return OkStatus();
}

}  // namespace npu::plan
