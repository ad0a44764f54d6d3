// SPDX-License-Identifier: Apache-2.0
// usage: c_host LIBRARY GROUP [key=value]...
//
// A host in C for an external delegate. GROUP is life, threads, processes, or the name of one case;
// the pairs are the delegate's options. Without device=null, outputs must be the reference's, so
// numerics.requant=exact, claim=all and quiet=1 are set first. Exits 1 at the first failure.
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/hosts/plugin.h"

static void AddOption(Plugin* plugin, char* pair) {
  Check(plugin->option_count < kMaxOptions, "fewer options");
  plugin->pairs[plugin->option_count] = pair;
  static char copies[kMaxOptions][256];
  char* copy = copies[plugin->option_count];
  snprintf(copy, sizeof(copies[0]), "%s", pair);
  char* equals = strchr(copy, '=');
  Check(equals != NULL, "options are key=value");
  *equals = '\0';
  plugin->keys[plugin->option_count] = copy;
  plugin->values[plugin->option_count++] = equals + 1;
  if (strcmp(pair, "device=null") == 0) plugin->computes = false;
  if (strcmp(pair, "device=rocket") == 0) plugin->preloaded_node = true;
}

static int32_t CountThreads(void) {
  int32_t count = 0;
  DIR* folder = opendir("/proc/self/task");
  Check(folder != NULL, "/proc/self/task");
  for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(folder);
  return count;
}

// Joined threads may still be listed for a moment.
static bool ThreadsFallTo(int32_t wanted) {
  const struct timespec pause = {0, 10 * 1000 * 1000};
  for (int32_t i = 0; i < 200 && CountThreads() > wanted; ++i) nanosleep(&pause, NULL);
  return CountThreads() <= wanted;
}

static void UnloadWhole(Plugin* plugin, int32_t threads) {
  Unload(plugin);
  // A preloaded device node has threads of its own, which stay.
  if (plugin->preloaded_node) return;
  Check(ThreadsFallTo(threads), "no thread is left without its library");
}

static int32_t RunGroup(const Plugin* plugin, const Case* cases, bool whole, const char* name) {
  int32_t count = 0;
  for (const Case* one = cases; one->name != NULL; ++one) {
    if (!whole && strcmp(one->name, name) != 0) continue;
    if (cases != kChildCases) fprintf(stderr, "c_host: %s\n", one->name);
    one->run(plugin);
    ++count;
  }
  return count;
}

int main(int argc, char** argv) {
  Check(argc >= 3, "usage: c_host LIBRARY GROUP [key=value]...");
  static char exact[] = "numerics.requant=exact", all[] = "claim=all", quiet[] = "quiet=1";
  Plugin plugin = {.program = argv[0], .path = argv[1], .computes = true};
  const char* group = argv[2];
  if (argc == 3 || strcmp(argv[3], exact) != 0) {  // not started by a process case
    AddOption(&plugin, exact);
    AddOption(&plugin, all);
    AddOption(&plugin, quiet);
  }
  for (int i = 3; i < argc; ++i) AddOption(&plugin, argv[i]);

  int32_t threads = CountThreads();
#ifdef __SANITIZE_THREAD__
  ++threads;  // its own, which starts with the first of ours
#endif
  Load(&plugin);
  if (RunGroup(&plugin, kChildCases, false, group) > 0) return 0;
  int32_t count = RunGroup(&plugin, kLifeCases, strcmp(group, "life") == 0, group);
  count += RunGroup(&plugin, kThreadCases, strcmp(group, "threads") == 0, group);
  count += RunGroup(&plugin, kProcessCases, strcmp(group, "processes") == 0, group);
  Check(count > 0, "a group or a case of this name");
  UnloadWhole(&plugin, threads);
  // Loaded again it must work as at first.
  Load(&plugin);
  WholeLife(&plugin, 1);
  UnloadWhole(&plugin, threads);
  printf("Ran %d tests in C\n", count + 1);
  return 0;
}
