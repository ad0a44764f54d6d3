// SPDX-License-Identifier: Apache-2.0
// JSON text <-> JobFile. The only file of this library that sees the JSON package.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "src/device/job_file.h"

namespace npu::device {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxU32 = std::numeric_limits<uint32_t>::max();

// Walks a parsed document. The first problem is kept with its place; after it every getter returns
// a harmless value, so that readers need no branch per field.
class Reader {
 public:
  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }

  void Fail(const std::string& where, std::string_view what) {
    if (status_.ok()) status_ = Status(ErrorCode::kCorruptData, fmt::format("{}: {}", where, what));
  }

  const Json& Get(const Json& object, const std::string& where, const char* key) {
    if (object.is_object()) {
      if (const auto it = object.find(key); it != object.end()) return *it;
    }
    Fail(where, fmt::format("key \"{}\" is missing", key));
    return kNull;
  }

  uint64_t Number(const Json& value, const std::string& where, uint64_t max) {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > max) {
      Fail(where, fmt::format("a whole number 0..{} is needed", max));
      return 0;
    }
    return value.get<uint64_t>();
  }
  uint64_t U64(const Json& object, const std::string& where, const char* key) {
    return Number(Get(object, where, key), where + "." + key, uint64_t{1} << 48);
  }
  uint32_t U32(const Json& object, const std::string& where, const char* key) {
    return static_cast<uint32_t>(Number(Get(object, where, key), where + "." + key, kMaxU32));
  }
  double Real(const Json& object, const std::string& where, const char* key) {
    const Json& value = Get(object, where, key);
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) {
      Fail(where + "." + key, "a number >= 0 is needed");
      return 0;
    }
    return value.get<double>();
  }
  std::string Text(const Json& object, const std::string& where, const char* key) {
    const Json& value = Get(object, where, key);
    if (!value.is_string()) {
      Fail(where + "." + key, "a string is needed");
      return {};
    }
    return value.get<std::string>();
  }
  std::string OptionalText(const Json& object, const std::string& where, const char* key) {
    return object.contains(key) ? Text(object, where, key) : std::string();
  }

  // Calls f(element, place) for each element of the array at `key`.
  template <typename F>
  void Each(const Json& object, const std::string& where, const char* key, F&& f) {
    EachOf(Get(object, where, key), where + "." + key, std::forward<F>(f));
  }
  template <typename F>
  void EachOf(const Json& array, const std::string& where, F&& f) {
    if (!array.is_array()) return Fail(where, "a list is needed");
    for (size_t i = 0; i < array.size() && ok(); ++i) {
      f(array[i], fmt::format("{}[{}]", where, i));
    }
  }
  std::vector<uint64_t> Numbers(const Json& array, const std::string& where, uint64_t max) {
    std::vector<uint64_t> out;
    EachOf(array, where,
           [&](const Json& v, const std::string& at) { out.push_back(Number(v, at, max)); });
    return out;
  }
  // Exactly `count` numbers.
  std::vector<uint64_t> Tuple(const Json& array, const std::string& where, size_t count) {
    std::vector<uint64_t> out = Numbers(array, where, uint64_t{1} << 48);
    if (out.size() != count) Fail(where, fmt::format("{} numbers are needed", count));
    out.resize(count);
    return out;
  }

 private:
  static inline const Json kNull = nullptr;
  Status status_;
};

std::vector<uint32_t> Ids(Reader& r, const Json& object, const std::string& where,
                          const char* key) {
  std::vector<uint32_t> out;
  r.Each(object, where, key, [&](const Json& v, const std::string& at) {
    out.push_back(static_cast<uint32_t>(r.Number(v, at, kMaxU32)));
  });
  return out;
}

uint64_t HexWord(Reader& r, const Json& value, const std::string& where) {
  uint64_t word = 0;
  if (value.is_string() && value.get_ref<const std::string&>().size() == 16) {
    bool good = true;
    for (const char c : value.get_ref<const std::string&>()) {
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      good = good && digit >= 0;
      word = word << 4 | static_cast<uint64_t>(digit & 15);
    }
    if (good) return word;
  }
  r.Fail(where, "a word of 16 hexadecimal digits is needed");
  return 0;
}

TaskRecord ReadTask(Reader& r, const Json& j, const std::string& at) {
  TaskRecord task{.regcmd = r.U32(j, at, "regcmd"), .count = r.U32(j, at, "count"), .words = {}};
  r.Each(j, at, "words", [&](const Json& w, const std::string& place) {
    task.words.push_back(HexWord(r, w, place));
  });
  return task;
}

JobRecord ReadJob(Reader& r, const Json& j, const std::string& at) {
  JobRecord job{.flags = r.U32(j, at, "flags"),
                .in = Ids(r, j, at, "in"),
                .out = Ids(r, j, at, "out"),
                .tasks = {}};
  r.Each(j, at, "tasks", [&](const Json& t, const std::string& place) {
    job.tasks.push_back(ReadTask(r, t, place));
  });
  return job;
}

MemoryRecord ReadMemory(Reader& r, const Json& j, const std::string& at) {
  MemoryRecord record{.buffer = r.U32(j, at, "buffer"), .fill = 0, .segments = {}};
  record.fill = static_cast<uint8_t>(r.Number(r.Get(j, at, "fill"), at + ".fill", 255));
  r.Each(j, at, "segments", [&](const Json& s, const std::string& place) {
    const std::vector<uint64_t> v = r.Tuple(s, place, 3);
    record.segments.push_back({v[0], v[1], v[2]});
  });
  return record;
}

constexpr struct {
  ToleranceKind kind;
  const char* name;
  bool abs, rel;
} kTolerances[] = {{ToleranceKind::kExact, "exact", false, false},
                   {ToleranceKind::kAbs, "abs", true, false},
                   {ToleranceKind::kRel, "rel", false, true},
                   {ToleranceKind::kAbsRel, "abs_rel", true, true}};

Tolerance ReadTolerance(Reader& r, const Json& j, const std::string& at) {
  const std::string kind = r.Text(j, at, "kind");
  for (const auto& entry : kTolerances) {
    if (kind != entry.name) continue;
    return {entry.kind, entry.abs ? r.Real(j, at, "abs") : 0, entry.rel ? r.Real(j, at, "rel") : 0};
  }
  r.Fail(at + ".kind", fmt::format("unknown tolerance \"{}\"", kind));
  return {};
}

void ReadLayout(Reader& r, const Json& j, const std::string& at, Check* check) {
  check->base = r.U32(j, at, "base");
  check->element_bytes = r.U32(j, at, "element_bytes");
  if (j.contains("table")) {
    const Json& table = r.Get(j, at, "table");
    check->table = {r.U64(table, at + ".table", "offset"), r.U64(table, at + ".table", "length")};
    return;
  }
  r.Each(j, at, "axes", [&](const Json& axis, const std::string& place) {
    std::vector<AxisTerm> terms;
    r.EachOf(axis, place, [&](const Json& term, const std::string& where) {
      const std::vector<uint64_t> v = r.Tuple(term, where, 3);
      terms.push_back({v[0], v[1], v[2]});
    });
    check->axes.push_back(std::move(terms));
  });
}

Check ReadCheck(Reader& r, const Json& j, const std::string& at) {
  Check check;
  check.name = r.OptionalText(j, at, "name");
  check.dtype = r.Text(j, at, "dtype");
  check.shape = r.Numbers(r.Get(j, at, "shape"), at + ".shape", kMaxU32);
  check.offset = r.U64(j, at, "offset");
  check.length = r.U64(j, at, "length");
  check.tolerance = ReadTolerance(r, r.Get(j, at, "tolerance"), at + ".tolerance");
  ReadLayout(r, r.Get(j, at, "layout"), at + ".layout", &check);
  return check;
}

SubmitRecord ReadSubmit(Reader& r, const Json& j, const std::string& at) {
  SubmitRecord submit;
  r.Each(j, at, "memory", [&](const Json& m, const std::string& place) {
    submit.memory.push_back(ReadMemory(r, m, place));
  });
  r.Each(j, at, "jobs", [&](const Json& job, const std::string& place) {
    submit.jobs.push_back(ReadJob(r, job, place));
  });
  r.Each(j, at, "checks", [&](const Json& c, const std::string& place) {
    submit.checks.push_back(ReadCheck(r, c, place));
  });
  r.Each(j, at, "untouched", [&](const Json& u, const std::string& place) {
    const std::vector<uint64_t> v = r.Tuple(u, place, 2);
    if (v[0] > kMaxU32) r.Fail(place, "an address below 4 GiB is needed");
    submit.untouched.push_back({static_cast<uint32_t>(v[0]), v[1]});
  });
  return submit;
}

void ReadHead(Reader& r, const Json& j, JobFile* file) {
  if (r.U32(j, "case", "format") != 1) r.Fail("case.format", "only format 1 is known");
  file->name = r.Text(j, "case", "name");
  file->chip = r.Text(j, "case", "chip");
  file->family = r.OptionalText(j, "case", "family");
  file->title = r.OptionalText(j, "case", "title");
  file->outcome = r.Text(j, "case", "outcome");
  file->evidence = r.OptionalText(j, "case", "evidence");
  file->oracle = r.OptionalText(j, "case", "oracle");
  file->detail = r.OptionalText(j, "case", "detail");
  if (j.is_object() && j.contains("op")) file->op_json = j["op"].dump();
  if (j.is_object() && !j.contains("operands")) return;
  r.Each(j, "case", "operands", [&](const Json& o, const std::string& at) {
    JobOperand operand;
    operand.name = r.Text(o, at, "name");
    operand.dtype = r.Text(o, at, "dtype");
    operand.shape = r.Numbers(r.Get(o, at, "shape"), at + ".shape", kMaxU32);
    operand.offset = r.U64(o, at, "offset");
    operand.length = r.U64(o, at, "length");
    file->operands.push_back(std::move(operand));
  });
}

Json ToleranceJson(const Tolerance& tolerance) {
  Json j;
  for (const auto& entry : kTolerances) {
    if (entry.kind != tolerance.kind) continue;
    j["kind"] = entry.name;
    if (entry.abs) j["abs"] = tolerance.abs;
    if (entry.rel) j["rel"] = tolerance.rel;
  }
  return j;
}

Json CheckJson(const Check& check) {
  Json layout = {{"base", check.base}, {"element_bytes", check.element_bytes}};
  if (check.table) {
    layout["table"] = {{"offset", check.table->offset}, {"length", check.table->length}};
  } else {
    Json axes = Json::array();
    for (const std::vector<AxisTerm>& axis : check.axes) {
      Json terms = Json::array();
      for (const AxisTerm& t : axis) terms.push_back(Json::array({t.div, t.mod, t.stride}));
      axes.push_back(std::move(terms));
    }
    layout["axes"] = std::move(axes);
  }
  return {{"name", check.name},     {"dtype", check.dtype},
          {"shape", check.shape},   {"offset", check.offset},
          {"length", check.length}, {"tolerance", ToleranceJson(check.tolerance)},
          {"layout", layout}};
}

Json JobJson(const JobRecord& job) {
  Json tasks = Json::array();
  for (const TaskRecord& task : job.tasks) {
    Json words = Json::array();
    for (const uint64_t word : task.words) words.push_back(fmt::format("{:016x}", word));
    tasks.push_back({{"regcmd", task.regcmd}, {"count", task.count}, {"words", std::move(words)}});
  }
  return {{"flags", job.flags}, {"in", job.in}, {"out", job.out}, {"tasks", std::move(tasks)}};
}

Json SubmitJson(const SubmitRecord& submit) {
  Json memory = Json::array(), jobs = Json::array(), checks = Json::array();
  Json untouched = Json::array();
  for (const MemoryRecord& record : submit.memory) {
    Json segments = Json::array();
    for (const MemorySegment& s : record.segments) {
      segments.push_back(Json::array({s.offset, s.length, s.data_offset}));
    }
    memory.push_back({{"buffer", record.buffer}, {"fill", record.fill}, {"segments", segments}});
  }
  for (const JobRecord& job : submit.jobs) jobs.push_back(JobJson(job));
  for (const Check& check : submit.checks) checks.push_back(CheckJson(check));
  for (const UntouchedRange& u : submit.untouched) {
    untouched.push_back(Json::array({u.iova, u.length}));
  }
  return {{"memory", memory}, {"jobs", jobs}, {"checks", checks}, {"untouched", untouched}};
}

// The JSON package writes and copies documents recursively: a hostile one must not use up the
// stack.
constexpr int kMaxDepth = 32;
bool NestsTooDeep(std::string_view json) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<JobFile> ParseCase(std::string_view json, std::vector<std::byte> data) {
  if (NestsTooDeep(json)) {
    return Status(ErrorCode::kCorruptData,
                  fmt::format("the case nests more than {} levels", kMaxDepth));
  }
  const Json j = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (j.is_discarded()) return Status(ErrorCode::kCorruptData, "the case is not valid JSON");
  Reader r;
  JobFile file;
  file.data = std::move(data);
  ReadHead(r, j, &file);
  r.Each(j, "case", "buffers", [&](const Json& b, const std::string& at) {
    file.buffers.push_back({r.U32(b, at, "id"), r.U32(b, at, "iova"), r.U64(b, at, "size")});
  });
  r.Each(j, "case", "submits", [&](const Json& s, const std::string& at) {
    file.submits.push_back(ReadSubmit(r, s, at));
  });
  NPU_RETURN_IF_ERROR(r.status());
  NPU_RETURN_IF_ERROR(ValidateJobFile(file));
  return file;
}

Result<std::string> CaseJson(const JobFile& file) {
  NPU_RETURN_IF_ERROR(ValidateJobFile(file));
  Json op = Json::parse(file.op_json, nullptr, false);
  if (!op.is_object()) return Status(ErrorCode::kCorruptData, "case.op is not a JSON object");
  Json j = {{"format", 1},
            {"name", file.name},
            {"chip", file.chip},
            {"family", file.family},
            {"title", file.title},
            {"outcome", file.outcome},
            {"evidence", file.evidence}};
  if (!file.oracle.empty()) j["oracle"] = file.oracle;
  if (!file.detail.empty()) j["detail"] = file.detail;
  j["op"] = std::move(op);
  Json operands = Json::array(), buffers = Json::array(), submits = Json::array();
  for (const JobOperand& o : file.operands) {
    operands.push_back({{"name", o.name},
                        {"dtype", o.dtype},
                        {"shape", o.shape},
                        {"offset", o.offset},
                        {"length", o.length}});
  }
  for (const JobBuffer& b : file.buffers) {
    buffers.push_back({{"id", b.id}, {"iova", b.iova}, {"size", b.size}});
  }
  for (const SubmitRecord& submit : file.submits) submits.push_back(SubmitJson(submit));
  j["operands"] = std::move(operands);
  j["buffers"] = std::move(buffers);
  j["submits"] = std::move(submits);
  // Text that is not UTF-8 (a hostile name) is replaced, never thrown about.
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace npu::device
