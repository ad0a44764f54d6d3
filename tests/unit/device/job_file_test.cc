// SPDX-License-Identifier: Apache-2.0
// Job files: every golden case reads and survives a round trip; hostile files are refused in words.
#include "src/device/job_file.h"

#include <gtest/gtest.h>

#include <random>

#include "src/regs/assembler.h"
#include "src/regs/disassembler.h"
#include "tests/unit/device/golden_job.h"

namespace npu::device {
namespace {

std::vector<std::byte> Bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// A minimal valid case; tests break one thing of it.
JobFile Minimal() {
  JobFile file;
  file.name = "tiny";
  file.chip = "rk3588";
  file.data.assign(64, std::byte{7});
  file.buffers = {{.id = 1, .iova = 0x10000, .size = 4096},
                  {.id = 2, .iova = 0x11000, .size = 8192}};
  SubmitRecord submit;
  submit.memory.push_back({.buffer = 1, .fill = 3, .segments = {{16, 8, 0}}});
  JobRecord job;
  job.in = {1};
  job.out = {2};
  job.tasks.push_back({.regcmd = 0x10010, .count = 1, .words = {}});
  submit.jobs.push_back(job);
  Check check;
  check.name = "y";
  check.dtype = "int32";
  check.shape = {2, 3};
  check.offset = 8;
  check.length = 24;
  check.base = 0x11000;
  check.element_bytes = 4;
  check.axes = {{{1, 0, 1024}}, {{1, 2, 4}, {2, 0, 512}}};
  submit.checks.push_back(check);
  submit.untouched.push_back({0x12000, 4096});
  file.submits.push_back(submit);
  return file;
}

std::string ValidateMessage(const JobFile& file) {
  const Status status = ValidateJobFile(file);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kCorruptData);
  return status.message();
}

TEST(JobFile, EveryGoldenCaseReadsAndRoundTripsThroughASavedJob) {
  const std::filesystem::path golden = GoldenDir();
  ASSERT_FALSE(golden.empty()) << "no golden cases found";
  const std::filesystem::path saved = std::filesystem::path(testing::TempDir()) / "round.npujob";
  size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden / "rk3588")) {
    if (!entry.is_directory()) continue;
    const Result<JobFile> file = ReadJobFile(entry.path());
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(file->name, entry.path().filename().string());
    const Status written = WriteSavedJob(*file, saved);
    ASSERT_TRUE(written.ok()) << written.message();
    EXPECT_TRUE(LooksLikeJobFile(saved));
    const Result<JobFile> back = ReadJobFile(saved);
    ASSERT_TRUE(back.ok()) << back.status().message();
    const Result<std::string> before = CaseJson(*file), after = CaseJson(*back);
    ASSERT_TRUE(before.ok() && after.ok());
    EXPECT_EQ(*before, *after) << file->name;
    EXPECT_EQ(file->data, back->data);
    ++cases;
  }
  EXPECT_GE(cases, 45u);
}

TEST(JobFile, WordsOfGoldenCasesEqualTheBytesInMemory) {
  size_t tasks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GoldenDir() / "rk3588")) {
    if (!entry.is_directory()) continue;
    const Result<JobFile> file = ReadJobFile(entry.path());
    ASSERT_TRUE(file.ok()) << file.status().message();
    for (const SubmitRecord& submit : file->submits) {
      for (const JobRecord& job : submit.jobs) {
        for (const TaskRecord& task : job.tasks) {
          if (task.words.empty()) continue;
          TaskRecord from_memory = task;
          from_memory.words.clear();
          EXPECT_EQ(TaskWords(*file, submit, from_memory), task.words) << file->name;
          ++tasks;
        }
      }
    }
  }
  EXPECT_GE(tasks, 45u);
}

TEST(JobFile, EveryGoldenProgramSurvivesDisassemblyAndAssembly) {
  size_t words = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GoldenDir() / "rk3588")) {
    if (!entry.is_directory()) continue;
    const Result<JobFile> file = ReadJobFile(entry.path());
    ASSERT_TRUE(file.ok()) << file.status().message();
    for (const SubmitRecord& submit : file->submits) {
      for (const JobRecord& job : submit.jobs) {
        for (const TaskRecord& task : job.tasks) {
          const std::string text = regs::Disassemble(task.words);
          const Result<std::vector<uint64_t>> back = regs::Assemble(text);
          ASSERT_TRUE(back.ok()) << file->name << ": " << back.status().message();
          EXPECT_EQ(*back, task.words) << file->name;
          EXPECT_EQ(text.find(".word"), std::string::npos) << file->name;
          words += task.words.size();
        }
      }
    }
  }
  EXPECT_GT(words, 5000u);
}

TEST(JobFile, ElementOffsetsFollowTheWorkedExample) {
  // golden/README.md: int32 output [64][5][6], C2 = 4, surface 480, row 96; (37, 2, 3) at 4564.
  Check check;
  check.dtype = "int32";
  check.shape = {64, 5, 6};
  check.element_bytes = 4;
  check.axes = {{{1, 4, 4}, {4, 0, 480}}, {{1, 0, 96}}, {{1, 0, 16}}};
  const std::vector<uint64_t> offsets = ElementOffsets(JobFile(), check);
  ASSERT_EQ(offsets.size(), 64u * 5 * 6);
  EXPECT_EQ(offsets[(37 * 5 + 2) * 6 + 3], 4564u);
}

TEST(JobFile, MinimalIsValid) {
  const Status status = ValidateJobFile(Minimal());
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(JobFileRefuses, Buffers) {
  JobFile file = Minimal();
  file.buffers[1].iova = 0x10000;
  EXPECT_NE(ValidateMessage(file).find("overlaps"), std::string::npos);
  file = Minimal();
  file.buffers[1].size = uint64_t{1} << 47;
  EXPECT_NE(ValidateMessage(file).find("whole pages below 4 GiB"), std::string::npos);
  file = Minimal();
  file.buffers[1].iova = 0x11010;
  EXPECT_NE(ValidateMessage(file).find("whole pages"), std::string::npos);
  file = Minimal();
  file.buffers[1].id = 1;
  EXPECT_NE(ValidateMessage(file).find("twice"), std::string::npos);
  file = Minimal();
  file.buffers.push_back({.id = 3, .iova = 0x40000000, .size = 0x90000000});
  EXPECT_NE(ValidateMessage(file).find("together"), std::string::npos);
}

TEST(JobFileRefuses, MemoryRecords) {
  JobFile file = Minimal();
  file.submits[0].memory[0].buffer = 9;
  EXPECT_NE(ValidateMessage(file).find("unknown buffer 9"), std::string::npos);
  file = Minimal();
  file.submits[0].memory[0].segments[0].offset = 4090;
  EXPECT_NE(ValidateMessage(file).find("outside buffer 1"), std::string::npos);
  file = Minimal();
  file.submits[0].memory[0].segments[0].data_offset = ~uint64_t{0};
  EXPECT_NE(ValidateMessage(file).find("outside the data"), std::string::npos);
}

TEST(JobFileRefuses, Tasks) {
  JobFile file = Minimal();
  file.submits[0].jobs[0].tasks[0].count = 0;
  EXPECT_NE(ValidateMessage(file).find("count 0"), std::string::npos);
  file = Minimal();
  file.submits[0].jobs[0].tasks[0].words = {1, 2};
  EXPECT_NE(ValidateMessage(file).find("2 words, count 1"), std::string::npos);
  file = Minimal();
  file.submits[0].jobs[0].tasks.clear();
  EXPECT_NE(ValidateMessage(file).find("no task"), std::string::npos);
  file = Minimal();
  file.submits.clear();
  EXPECT_NE(ValidateMessage(file).find("no submission"), std::string::npos);
}

TEST(JobFileRefuses, Checks) {
  const auto broken = [](auto&& change) {
    JobFile file = Minimal();
    change(file.submits[0].checks[0]);
    return ValidateMessage(file);
  };
  EXPECT_NE(broken([](Check& c) { c.dtype = "int7"; }).find("unknown dtype"), std::string::npos);
  EXPECT_NE(broken([](Check& c) { c.length = 20; }).find("do not fill"), std::string::npos);
  EXPECT_NE(broken([](Check& c) {
              c.shape = {uint64_t{1} << 32, 0};
              c.length = 0;
            }).find("dimension is 0"),
            std::string::npos);
  EXPECT_NE(broken([](Check& c) { c.offset = 60; }).find("outside the data"), std::string::npos);
  EXPECT_NE(broken([](Check& c) { c.element_bytes = 2; }).find("element_bytes"), std::string::npos);
  EXPECT_NE(broken([](Check& c) { c.axes.pop_back(); }).find("1 axes for 2"), std::string::npos);
  EXPECT_NE(broken([](Check& c) { c.axes[0][0].div = 0; }).find("axis 0"), std::string::npos);
  EXPECT_NE(broken([](Check& c) { c.axes[0][0].stride = ~uint64_t{0}; }).find("address space"),
            std::string::npos);
  EXPECT_NE(broken([](Check& c) { c.base = 0x12FFC; }).find("in no buffer"), std::string::npos);
  EXPECT_NE(broken([](Check& c) {
              c.shape = {uint64_t{1} << 32, uint64_t{1} << 32, 4};
            }).find("do not fill"),
            std::string::npos);
  EXPECT_NE(broken([](Check& c) {
              c.table = Check::Table{0, 20};
            }).find("table"),
            std::string::npos);
  JobFile file = Minimal();
  file.submits[0].untouched[0].length = 4097;
  EXPECT_NE(ValidateMessage(file).find("untouched"), std::string::npos);
}

TEST(JobFileRefuses, HugeCountsAndDeepNesting) {
  JobFile file = Minimal();
  file.submits[0].jobs[0].tasks[0].count = 0xFFFFFFFF;
  EXPECT_NE(ValidateMessage(file).find("no list has 4294967295 words"), std::string::npos);
  for (const char* bracket : {"[", R"({"a":)"}) {
    std::string deep;
    for (int i = 0; i < 1000000; ++i) deep += bracket;
    const Result<JobFile> parsed = ParseCase(R"({"op":)" + deep, {});
    ASSERT_FALSE(parsed.ok());
    EXPECT_NE(parsed.status().message().find("nests more than"), std::string::npos);
  }
}

TEST(JobFileRefuses, MutatedFilesNeverCrash) {
  const JobFile golden = ReadGolden("mm_i8_4x32x32");
  const std::string json = *CaseJson(golden);
  std::mt19937 random(7);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  constexpr std::string_view kInserts[] = {"0", "9", "-",  ",",    "[",   "]",
                                           "{", "}", "\"", "null", "1e99"};
  size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string mutated = json;
    for (size_t k = 1 + below(3); k-- > 0;) {
      const size_t at = below(mutated.size());
      const std::string_view insert = kInserts[below(std::size(kInserts))];
      mutated.replace(at, below(12), insert);
    }
    std::vector<std::byte> data = golden.data;
    if (below(4) == 0) data.resize(below(data.size()));
    const Result<JobFile> file = ParseCase(mutated, std::move(data));
    if (!file.ok()) {
      EXPECT_EQ(file.status().code(), ErrorCode::kCorruptData);
      ++refused;
      continue;
    }
    for (const SubmitRecord& submit : file->submits) {
      for (const JobRecord& job : submit.jobs) {
        for (const TaskRecord& task : job.tasks) (void)TaskWords(*file, submit, task);
      }
    }
  }
  EXPECT_GT(refused, 1500u);
}

TEST(JobFileRefuses, Json) {
  const auto message = [](std::string_view json) {
    const Result<JobFile> file = ParseCase(json, {});
    EXPECT_FALSE(file.ok());
    return file.ok() ? std::string() : file.status().message();
  };
  EXPECT_NE(message("{").find("not valid JSON"), std::string::npos);
  EXPECT_NE(message("[]").find("missing"), std::string::npos);
  EXPECT_NE(message(R"({"format":2})").find("format 1"), std::string::npos);
  const std::string good = *CaseJson(Minimal());
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return message(text.replace(at, from.size(), to));
  };
  EXPECT_NE(replaced(R"("iova":65536)", R"("iova":-1)").find("buffers[0].iova"), std::string::npos);
  EXPECT_NE(replaced(R"("iova":65536)", R"("iova":1e9)").find("whole number"), std::string::npos);
  EXPECT_NE(replaced(R"("fill":3)", R"("fill":256)").find("0..255"), std::string::npos);
  EXPECT_NE(replaced(R"("words":[])", R"("words":["12"])").find("16 hexadecimal"),
            std::string::npos);
  EXPECT_NE(replaced(R"("kind":"exact")", R"("kind":"close")").find("unknown tolerance"),
            std::string::npos);
  EXPECT_NE(replaced(R"("jobs":)", R"("jibs":)").find("\"jobs\" is missing"), std::string::npos);
}

TEST(JobFileRefuses, SavedJobFraming) {
  const auto message = [](std::string_view text) {
    const Result<JobFile> file = ParseSavedJob(Bytes(text));
    EXPECT_FALSE(file.ok());
    return file.ok() ? std::string() : file.status().message();
  };
  EXPECT_NE(message("").find("not a saved job"), std::string::npos);
  EXPECT_NE(message("ELFELFELFELFELFELF").find("not a saved job"), std::string::npos);
  const std::string long_json =
      std::string(kSavedJobMagic) + std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8) + "{}";
  EXPECT_NE(message(long_json).find("ends early"), std::string::npos);
}

TEST(JobFileRefuses, MissingFileSaysWhich) {
  const Result<JobFile> file = ReadJobFile("no/such/job");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), ErrorCode::kNotFound);
  EXPECT_NE(file.status().message().find("no/such/job"), std::string::npos);
}

}  // namespace
}  // namespace npu::device
