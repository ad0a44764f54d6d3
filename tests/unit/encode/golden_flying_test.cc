// SPDX-License-Identifier: Apache-2.0
// Elementwise and pooling programs of the golden set against ours: the free numbers are read from a
// program, the task is built from them, and every register must come out as it stands there, but
// for the listed differences, which must all occur.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "src/encode/rk3588/elementwise_task.h"
#include "src/encode/rk3588/list_builder.h"
#include "src/encode/rk3588/pool_task.h"
#include "src/regs/command.h"

namespace npu::encode::rk3588 {
namespace {

namespace r = regs::rk3588;
using Words = std::map<uint16_t, uint32_t>;

template <typename Reg>
Reg Get(const Words& words) {
  return regs::rk3588::Decode<Reg>(words.at(Reg::kOffset));
}

template <typename T>
uint32_t Extent(const T& field) {
  return static_cast<uint32_t>(field.get()) + 1;
}

Words Registers(const std::vector<uint64_t>& list) {
  Words out;
  for (size_t i = 0; i + regs::kTailWords < list.size(); ++i) {
    if (list[i] == regs::kNopWord) continue;
    const regs::CommandWord w = regs::Split(list[i]);
    out[w.offset] = w.value;
  }
  return out;
}

struct Case {
  std::string name;
  nlohmann::json op;
  std::vector<uint64_t> list;
};

std::vector<Case> CasesOf(const std::string& family) {
  std::vector<Case> cases;
  for (const auto& entry : std::filesystem::directory_iterator(NPU_GOLDEN_DIR "/rk3588")) {
    std::ifstream file(entry.path() / "case.json");
    const nlohmann::json c = nlohmann::json::parse(file);
    if (c["family"] != family) continue;
    Case found{c["name"], c["op"], {}};
    for (const std::string word : c["submits"][0]["jobs"][0]["tasks"][0]["words"]) {
      found.list.push_back(std::stoull(word, nullptr, 16));
    }
    cases.push_back(std::move(found));
  }
  return cases;
}

using Known = std::set<std::string>;

// Every register of the golden program; ours writes more of them (all, every time).
void Compare(const Case& c, const std::vector<uint64_t>& ours_list, const std::set<uint16_t>& skip,
             const Known& known, Known* used) {
  const Words golden = Registers(c.list), ours = Registers(ours_list);
  EXPECT_EQ(c.list.back(), ours_list.back()) << c.name << ": launched blocks";
  for (const auto& [reg, value] : golden) {
    const std::string name(regs::FindRegister(reg)->full_name);
    if (skip.contains(reg)) continue;
    ASSERT_TRUE(ours.contains(reg)) << c.name << " " << name;
    if (ours.at(reg) == value) continue;
    EXPECT_TRUE(known.contains(name))
        << c.name << " " << name << ": golden " << std::hex << value << ", ours " << ours.at(reg);
    used->insert(name);
  }
}

TEST(GoldenWords, ElementwiseAdd) {
  const std::vector<Case> cases = CasesOf("elementwise_int8");
  ASSERT_EQ(cases.size(), 1U);
  const Words golden = Registers(cases[0].list);
  const ElementwiseTask task{.rows = Extent(Get<r::DpuDataCubeHeight>(golden).height),
                             .columns = Extent(Get<r::DpuDataCubeWidth>(golden).width),
                             .offset = 0,
                             .stages = {.op = arith::ElementwiseOp::kAdd}};
  const auto program = BuildElementwiseTask(task);
  ASSERT_TRUE(program.ok()) << program.status().message();
  // Bit 0 of both asks for nothing and is harmless (registers-rk3588, unexplained fields).
  const Known known = {"DPU_RDMA.BRDMA_CFG", "DPU_RDMA.NRDMA_CFG"};
  Known used;
  Compare(
      cases[0], program->words,
      {r::DpuDstBaseAddr::kOffset, r::DpuRdmaSrcBaseAddr::kOffset, r::DpuRdmaEwBaseAddr::kOffset},
      known, &used);
  EXPECT_EQ(used, known);
}

// fp16 programs: int8 differs in the two codes of the element type and in the pad value.
TEST(GoldenWords, MaxPools) {
  const Known known = {"PPU.DATA_FORMAT", "PPU_RDMA.DATA_FORMAT", "PPU.PADDING_VALUE_1_CFG",
                       "PPU.PADDING_VALUE_2_CFG"};
  Known used;
  int compared = 0;
  for (const Case& c : CasesOf("pool_fp16")) {
    if (c.op["method"] != "max") continue;
    const Words w = Registers(c.list);
    PoolTask t{.c = Extent(Get<r::PpuDataCubeInChannel>(w).cube_in_channel)};
    t.ih = t.plane_ih = Extent(Get<r::PpuDataCubeInHeight>(w).cube_in_height);
    t.iw = Extent(Get<r::PpuDataCubeInWidth>(w).cube_in_width);
    t.oh = t.plane_oh = Extent(Get<r::PpuDataCubeOutHeight>(w).cube_out_height);
    t.ow = Extent(Get<r::PpuDataCubeOutWidth>(w).cube_out_width);
    t.kh = c.op["kernel"][0];
    t.kw = c.op["kernel"][1];
    t.sh = c.op["stride"][0];
    t.sw = c.op["stride"][1];
    t.pad_top = t.pad_left = t.pad_bottom = t.pad_right = c.op["pad"];
    const auto program = BuildPoolTask(t);
    ASSERT_TRUE(program.ok()) << c.name << ": " << program.status().message();
    const Words ours = Registers(program->words);
    // The surface pitch shares a register with the type.
    EXPECT_EQ(Get<r::PpuDataFormat>(ours).index_add.get(), Get<r::PpuDataFormat>(w).index_add.get())
        << c.name;
    Compare(c, program->words, {r::PpuDstBaseAddr::kOffset, r::PpuRdmaSrcBaseAddr::kOffset}, known,
            &used);
    ++compared;
  }
  EXPECT_EQ(compared, 4);
  EXPECT_EQ(used, known);
}

Words StagesWords(const arith::ElementwiseStages& stages) {
  const auto program = BuildElementwiseTask({.rows = 2, .columns = 100, .stages = stages});
  EXPECT_TRUE(program.ok()) << program.status().message();
  return program.ok() ? Registers(program->words) : Words();
}

// Operand constants as in the fused add of dpu-ppu 9.3; the main stream scaled in BS.
TEST(ElementwiseTask, ScalesBothOperands) {
  const Words w = StagesWords({.op = arith::ElementwiseOp::kAdd,
                               .a_addend = -3,
                               .a_multiplier = 20000,
                               .b_addend = 7,
                               .b_multiplier = 17000,
                               .out_scale = 18000,
                               .out_shift = 30,
                               .out_offset = -5});
  EXPECT_EQ(w.at(r::DpuBsCfg::kOffset), 0x20040U);
  EXPECT_EQ(w.at(r::DpuBsAluCfg::kOffset), 0xFFFFFFFDU);
  EXPECT_EQ(w.at(r::DpuBsMulCfg::kOffset), 20000U << 16);
  EXPECT_EQ(w.at(r::DpuEwCfg::kOffset), 0x904202C0U);
  EXPECT_EQ(w.at(r::DpuEwCvtOffsetValue::kOffset), 7U);
  EXPECT_EQ(w.at(r::DpuEwCvtScaleValue::kOffset), 17000U);
  EXPECT_EQ(w.at(r::DpuOutCvtScale::kOffset), 18000U);
  EXPECT_EQ(w.at(r::DpuOutCvtShift::kOffset), 30U);
  EXPECT_EQ(w.at(r::DpuOutCvtOffset::kOffset), 0xFFFFFFFBU);
  EXPECT_EQ(w.at(r::DpuDstSurfStride::kOffset), 200U * 16);
}

TEST(ElementwiseTask, EncodesOperationsAndActivations) {
  using arith::ElementwiseOp;
  EXPECT_EQ(StagesWords({.op = ElementwiseOp::kSubtract}).at(r::DpuEwCfg::kOffset), 0x104402C0U);
  EXPECT_EQ(StagesWords({.op = ElementwiseOp::kMaximum}).at(r::DpuEwCfg::kOffset), 0x106002C0U);
  EXPECT_EQ(StagesWords({.op = ElementwiseOp::kMinimum}).at(r::DpuEwCfg::kOffset), 0x106102C0U);
  EXPECT_EQ(StagesWords({.op = ElementwiseOp::kAdd, .relu = true}).at(r::DpuEwCfg::kOffset),
            0x104200C0U);
  const Words none = StagesWords({.op = ElementwiseOp::kNone, .a_multiplier = 3, .relu = true});
  EXPECT_EQ(none.at(r::DpuEwCfg::kOffset), 0x383U);
  EXPECT_EQ(none.at(r::DpuBsCfg::kOffset), 0x20000U);
  EXPECT_EQ(none.at(r::DpuRdmaErdmaCfg::kOffset), 1U);
  const Words limited = StagesWords({.op = ElementwiseOp::kNone, .relux = true, .relux_limit = 9});
  EXPECT_EQ(limited.at(r::DpuBsCfg::kOffset), 0x20092U);
  EXPECT_EQ(limited.at(r::DpuBsReluxCmpValue::kOffset), 9U);
}

TEST(ElementwiseTask, CutsEveryNumberOfAtoms) {
  for (const uint64_t atoms : {1ULL, 49ULL, 4096ULL, 4097ULL, 4217ULL, 6272ULL, 12544ULL, 150528ULL,
                               9999991ULL, 40000003ULL}) {
    uint64_t next = 0;
    for (const AtomRectangle& cut : CutAtoms(atoms)) {
      EXPECT_EQ(cut.first, next);
      EXPECT_LE(cut.columns, 4096U);
      EXPECT_LE(cut.rows, 8191U);
      next += uint64_t{cut.rows} * cut.columns;
    }
    EXPECT_EQ(next, atoms);
  }
  EXPECT_EQ(CutAtoms(150528).size(), 1U);  // 112x112 pixels of 192 channels
}

}  // namespace
}  // namespace npu::encode::rk3588
