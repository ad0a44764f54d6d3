// SPDX-License-Identifier: Apache-2.0
#include "src/selftest/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/device/element.h"

namespace npu::selftest {
namespace {

// The bytes of one buffer that an expectation specifies.
using Mask = std::vector<bool>;

struct Comparison {
  uint64_t compared = 0, differing = 0;
  std::string first;  // the first difference, in words

  void Note(bool same, uint64_t bytes, const std::string& what) {
    compared += bytes;
    if (same) return;
    differing += bytes;
    if (first.empty()) first = what;
  }
};

std::string Hex(std::span<const std::byte> bytes) {
  std::string out;
  for (size_t i = bytes.size(); i-- > 0;)
    out += fmt::format("{:02x}", std::to_integer<int>(bytes[i]));
  return "0x" + out;
}

// One check against the expectation and, bit for bit, against the simulator.
void CompareCheck(const device::JobFile& file, const device::Check& check, const Submission& found,
                  const Submission* reference, Mask* mask, Comparison* out) {
  const device::JobBuffer* buffer = file.FindRange(check.base, 1);
  if (buffer == nullptr || !found.after.contains(buffer->id)) {
    out->Note(false, 1, fmt::format("check '{}' has no memory", check.name));
    return;
  }
  const std::vector<std::byte>& memory = found.after.at(buffer->id);
  mask->resize(memory.size());
  const std::vector<uint64_t> offsets = device::ElementOffsets(file, check);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const uint64_t at = check.base - buffer->iova + offsets[i];
    if (at + check.element_bytes > memory.size()) {
      out->Note(false, check.element_bytes,
                fmt::format("check '{}' leaves its buffer", check.name));
      return;
    }
    const std::span<const std::byte> got(memory.data() + at, check.element_bytes);
    const auto want = file.Bytes(check.offset + i * check.element_bytes, check.element_bytes);
    const auto want_value = device::ElementValue(check.dtype, want);
    const auto got_value = device::ElementValue(check.dtype, got);
    const bool right =
        want_value && got_value && device::Acceptable(check.tolerance, *want_value, *got_value);
    bool same = true;
    if (reference != nullptr) {
      const auto& other = reference->after.at(buffer->id);
      same = std::equal(got.begin(), got.end(), other.begin() + static_cast<std::ptrdiff_t>(at));
    }
    std::fill_n(mask->begin() + static_cast<std::ptrdiff_t>(at), check.element_bytes, true);
    if (right && same) {
      out->compared += check.element_bytes;
      continue;
    }
    out->Note(
        false, check.element_bytes,
        fmt::format("'{}' element {} is {}, {} {}", check.name, i, Hex(got),
                    right ? "the simulator has another value, expected" : "expected", Hex(want)));
  }
}

void CompareUntouched(const device::JobFile& file, const device::SubmitRecord& submit,
                      const Submission& found, Comparison* out) {
  for (const device::UntouchedRange& range : submit.untouched) {
    const device::JobBuffer* buffer = file.FindRange(range.iova, range.length);
    // Buffers that the submission only reads are compared as a whole by the bench.
    if (buffer == nullptr || !found.after.contains(buffer->id)) continue;
    const auto at = static_cast<std::ptrdiff_t>(range.iova - buffer->iova);
    const auto begin = found.before.at(buffer->id).begin() + at;
    const bool same = std::equal(begin, begin + static_cast<std::ptrdiff_t>(range.length),
                                 found.after.at(buffer->id).begin() + at);
    out->Note(same, range.length, "a range that must stay untouched was written");
  }
}

// Bytes outside the mask (all bytes where there is no expectation) against the simulator.
void CompareRest(const Submission& found, const Submission& reference,
                 const std::map<uint32_t, Mask>& masks, bool strict, CaseResult* result,
                 Comparison* out) {
  for (const auto& [id, memory] : found.after) {
    const auto mask = masks.find(id);
    const std::vector<std::byte>& other = reference.after.at(id);
    for (size_t i = 0; i < memory.size(); ++i) {
      if (mask != masks.end() && i < mask->second.size() && mask->second[i]) continue;
      const bool same = memory[i] == other[i];
      if (strict) {
        out->Note(
            same, 1,
            same ? std::string()
                 : fmt::format("byte {} of buffer {} is {:#04x}, the simulator's is {:#04x}", i, id,
                               std::to_integer<int>(memory[i]), std::to_integer<int>(other[i])));
      } else if (!same) {
        ++result->unspecified;
      }
    }
  }
}

Comparison CompareAll(const device::JobFile& file, const Execution& found,
                      const Execution* reference, CaseResult* result) {
  Comparison comparison;
  for (size_t s = 0; s < found.submissions.size(); ++s) {
    const device::SubmitRecord& submit = file.submits[s];
    const Submission* other = reference != nullptr && s < reference->submissions.size()
                                  ? &reference->submissions[s]
                                  : nullptr;
    std::map<uint32_t, Mask> masks;
    for (const device::Check& check : submit.checks) {
      const device::JobBuffer* buffer = file.FindRange(check.base, 1);
      CompareCheck(file, check, found.submissions[s], other,
                   &masks[buffer == nullptr ? 0 : buffer->id], &comparison);
    }
    CompareUntouched(file, submit, found.submissions[s], &comparison);
    if (other != nullptr) {
      CompareRest(found.submissions[s], *other, masks, submit.checks.empty(), result, &comparison);
    }
  }
  return comparison;
}

// A kernel reports a job that it ended or dropped as done (kernel-interfaces A.12).
bool NothingWritten(const Execution& found) {
  return std::ranges::all_of(found.submissions,
                             [](const Submission& s) { return s.before == s.after; });
}

}  // namespace

std::string_view ToString(Verdict verdict) {
  if (verdict == Verdict::kSkip) return "skipped";
  return verdict == Verdict::kPass ? "passed" : "failed";
}

CaseResult Judge(const device::JobFile& file, const Execution& found, const Execution* reference) {
  CaseResult result;
  result.name = file.name;
  result.kicks = found.kicks;
  result.milliseconds = static_cast<double>(found.elapsed.count()) * 1e-6;
  result.modelled_us = found.modelled_us;
  if (!found.skipped.empty() || !found.modelled) {
    result.verdict = Verdict::kSkip;
    result.reason = found.skipped.empty() ? found.status.message() : found.skipped;
    return result;
  }
  const Comparison comparison = CompareAll(file, found, reference, &result);
  result.compared = comparison.compared;
  result.differing = comparison.differing;
  if (!found.status.ok()) {
    result.reason = found.status.message();
  } else if (comparison.differing != 0 && NothingWritten(found)) {
    result.reason = "the job was reported done, but nothing was written";
  } else if (comparison.differing != 0) {
    result.reason = fmt::format("{} of {} bytes differ; {}", comparison.differing,
                                comparison.compared, comparison.first);
  } else if (!found.intruded.empty()) {
    result.reason = found.intruded;
  } else if (comparison.compared == 0) {
    result.reason = "nothing was compared";
  } else {
    result.verdict = Verdict::kPass;
  }
  return result;
}

std::string FirstDifference(const Execution& found, const Execution& reference) {
  if (found.submissions.size() != reference.submissions.size()) return "not both completed";
  for (size_t s = 0; s < found.submissions.size(); ++s) {
    for (const auto& [id, memory] : found.submissions[s].after) {
      const std::vector<std::byte>& other = reference.submissions[s].after.at(id);
      for (size_t i = 0; i < memory.size(); ++i) {
        if (memory[i] == other[i]) continue;
        return fmt::format("byte {} is {}, assumed {}", i,
                           static_cast<int>(static_cast<int8_t>(memory[i])),
                           static_cast<int>(static_cast<int8_t>(other[i])));
      }
    }
  }
  return {};
}

}  // namespace npu::selftest
