// SPDX-License-Identifier: Apache-2.0
// Do our own libraries fit this system? kernel-interfaces F.5.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "src/doctor/check.h"
#include "src/doctor/facts.h"

namespace npu::doctor {
namespace {

Finding Pass(std::string evidence) { return {Verdict::kPass, std::move(evidence)}; }
Finding Skip(std::string reason) { return {Verdict::kSkip, std::move(reason)}; }
Finding Fail(std::string evidence) { return {Verdict::kFail, std::move(evidence)}; }

// "2.36" -> 2036000, "3.4.30" -> 3004030: three numbers always, or 2.3.2 would rank above 2.36; 0
// for none.
int64_t Rank(std::string_view version) {
  const std::vector<std::string> parts = Split(version, '.');
  int64_t rank = 0;
  for (size_t i = 0; i < 3; ++i) {
    rank = rank * 1000 + (i < parts.size() ? std::strtoll(parts[i].c_str(), nullptr, 10) : 0);
  }
  return rank;
}

// The newest "PREFIXa.b.c" among the strings of a file; empty if none.
std::string Newest(std::string_view file, std::string_view prefix) {
  std::string newest;
  for (size_t at = file.find(prefix); at != std::string_view::npos;
       at = file.find(prefix, at + 1)) {
    const std::string_view rest = file.substr(at + prefix.size());
    const size_t end = std::min(rest.find_first_not_of("0123456789."), rest.size());
    if (end > 0 && end < 12 && Rank(rest.substr(0, end)) > Rank(newest)) {
      newest = rest.substr(0, end);
    }
  }
  return newest;
}

// The delegate's bytes; the library is named by its path on this machine, also with a root.
std::string Library(const Facts& f) {
  if (f.library.empty()) return {};
  return System().Read(f.library, size_t{64} << 20).value_or("");
}

std::string GlibcVersion(const Facts& f) {
  if (!f.system.live()) return {};
  std::string text(64, '\0');
  const size_t size = confstr(_CS_GNU_LIBC_VERSION, text.data(), text.size());
  text.resize(size == 0 ? 0 : size - 1);
  return text.substr(std::min(text.find(' ') + 1, text.size()));
}

Finding Glibc(const Facts& f) {
  const std::string here = GlibcVersion(f);
  if (here.empty()) return Skip("only on the machine itself");
  const std::string needed = Newest(Library(f), "GLIBC_");
  if (needed.empty()) return Pass(fmt::format("glibc {}", here));
  if (Rank(needed) > Rank(here)) {
    return Fail(fmt::format("glibc {} here, the library needs {}", here, needed));
  }
  return Pass(fmt::format("glibc {}, needed {}", here, needed));
}

Finding Libstdcxx(const Facts& f) {
  if (!f.system.live()) return Skip("only on the machine itself");
  const std::string maps = f.system.Read("/proc/self/maps").value_or("");
  const std::string line = FindLine(maps, {"libstdc++.so.6"});
  const std::string path = line.substr(std::min(line.find('/'), line.size()));
  if (path.empty()) return Pass("linked statically");
  const std::string here = Newest(f.system.Read(path, size_t{64} << 20).value_or(""), "GLIBCXX_");
  const std::string needed = Newest(Library(f), "GLIBCXX_");
  if (needed.empty()) return Pass("GLIBCXX " + here);
  if (Rank(needed) > Rank(here)) {
    return Fail(fmt::format("GLIBCXX {} here, the library needs {}", here, needed));
  }
  return Pass(fmt::format("GLIBCXX {}, needed {}", here, needed));
}

Finding Musl(const Facts& f) {
  for (const std::string& name : f.system.List("/lib")) {
    if (name.starts_with("ld-musl-")) {
      const bool glibc = !GlibcVersion(f).empty();
      if (!glibc) return Fail("/lib/" + name);
    }
  }
  return Pass("no musl loader");
}

Finding Loads(const Facts& f) {
  if (!f.system.live()) return Skip("only on the machine itself");
  if (f.library.empty()) return Skip("libtflite_rocket.so was not found (--library FILE)");
  if (void* handle = dlopen(f.library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    dlclose(handle);
    return Pass(f.library);
  }
  const char* error = dlerror();
  return Fail(error != nullptr ? error : "dlopen failed");
}

Finding PluginInterface(const Facts& f) {
  if (!f.system.live() || f.library.empty()) return Skip("needs the library");
  void* handle = dlopen(f.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Skip("the library does not load: see U04");
  const bool found = dlsym(handle, "tflite_plugin_create_delegate") != nullptr &&
                     dlsym(handle, "tflite_plugin_destroy_delegate") != nullptr;
  dlclose(handle);
  return found ? Pass("tflite_plugin_create_delegate") : Fail("no tflite_plugin_create_delegate");
}

Finding Instructions(const Facts& f) {
  const std::string features =
      FindLine(f.system.Read("/proc/cpuinfo").value_or(""), {"Features", "flags"});
  if (f.architecture != "aarch64") return Skip(f.architecture + " picks its kernels at run time");
  const bool dot = features.find("asimddp") != std::string::npos;
  const bool half = features.find("asimdhp") != std::string::npos;
  return Pass(fmt::format("dot product: {}, fp16: {}; kernels are picked at run time",
                          dot ? "yes" : "no", half ? "yes" : "no"));
}

Finding TwoProcesses(const Facts& f) {
  if (f.chip == nullptr || !f.chip->one_core_only) return Skip("not an issue of this chip");
  if (f.cores.size() > 1) return Fail("two cores and several processes corrupt each other");
  return Pass("one core is bound: processes take turns");
}

// Only processes of this user are visible without privileges.
Finding VendorRuntime(const Facts& f) {
  for (const std::string& process : f.system.List("/proc")) {
    if (process.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string directory = fmt::format("/proc/{}/fd", process);
    for (const std::string& fd : f.system.List(directory)) {
      const auto link = f.system.Link(fmt::format("{}/{}", directory, fd));
      if (link && *link == f.vendor->path) {
        return {Verdict::kWarn,
                fmt::format("process {} ({}) has {} open", process,
                            f.system.Line(fmt::format("/proc/{}/comm", process)), f.vendor->path)};
      }
    }
  }
  return Pass("nobody else has the node open, as far as this user can see");
}

constexpr std::string_view kGroup = "userspace";
constexpr Check kChecks[] = {
    {"U01", kGroup, "glibc", Need::kNothing, Glibc,
     "build the library on this system, or on the oldest one it must run on"},
    {"U02", kGroup, "libstdc++", Need::kNothing, Libstdcxx,
     "build the library on this system, or install a newer libstdc++6"},
    {"U03", kGroup, "no musl", Need::kNothing, Musl,
     "run it in a container with glibc, or build rocket-npu there"},
    {"U04", kGroup, "delegate loads", Need::kNothing, Loads,
     "the message names what is missing; docs/troubleshooting.md, \"It does not load\""},
    {"U05", kGroup, "plugin interface", Need::kNothing, PluginInterface,
     "use libtflite_rocket.so of this build"},
    {"U06", kGroup, "instructions", Need::kNothing, Instructions,
     "use a build for armv8-a without -march options"},
    {"U07", kGroup, "processes", Need::kCores, TwoProcesses,
     "let one process at a time use the NPU"},
    {"U08", kGroup, "vendor runtime", Need::kVendor, VendorRuntime,
     "stop the other program while rocket-npu uses the NPU"},
};

}  // namespace

std::span<const Check> UserspaceChecks() { return kChecks; }

}  // namespace npu::doctor
