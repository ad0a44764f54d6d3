// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sim/rows.h"

#include <gtest/gtest.h>

namespace npu::sim {

SimOptions CompletingPools() {
  SimOptions options;
  options.assume.ppu_raises_dpu_interrupt = true;
  return options;
}

void CheckRow(const Row& row, Program program) {
  Machine m(CompletingPools());
  m.Fill(kOutput, 0x8000, 0xA5);
  row.change(program);
  const KickResult result = m.Run(program);
  EXPECT_EQ(result.outcome, row.outcome) << row.id << ": " << result.reason;
  const Diagnostic* found = Find(result, row.id);
  ASSERT_NE(found, nullptr) << row.id << " was not raised: " << result.reason;
  EXPECT_NE(found->severity, Severity::kInternal);
  EXPECT_FALSE(found->reg.empty()) << row.id;
  EXPECT_TRUE(HasErrors(result.diagnostics)) << row.id;
  if (row.outcome == Outcome::kComplete) return;
  EXPECT_FALSE(result.reason.empty());
  EXPECT_EQ(m.Byte(kOutput), static_cast<int8_t>(0xA5)) << row.id << " wrote before it stopped";
}

void CheckClean(const char* name, const Program& program) {
  Machine m(CompletingPools());
  const KickResult result = m.Run(program);
  EXPECT_EQ(result.outcome, Outcome::kComplete) << name << ": " << result.reason;
  for (const Diagnostic& d : result.diagnostics) ADD_FAILURE() << name << ": " << ToString(d);
}

}  // namespace npu::sim
