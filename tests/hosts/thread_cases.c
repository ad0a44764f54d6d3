// SPDX-License-Identifier: Apache-2.0
// Several interpreters at once, and what they leave behind.
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/hosts/network.h"
#include "tests/hosts/plugin.h"

enum { kThreads = 8, kLives = 20 };

// Of a sanitizer, whose own memory grows and whose runs are slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool kSanitized = true;
#else
static const bool kSanitized = false;
#endif

typedef struct {
  const Plugin* plugin;
  TfLiteDelegate* delegate;  // null: each life makes its own
  uint32_t seed;
  int32_t lives;
} Work;

static void* SharedDelegate(void* argument) {
  const Work* work = argument;
  Interpreter host;
  for (int32_t life = 0; life < 3; ++life) {
    Open(&host, work->delegate, kSmallHeight, kSmallWidth + life);
    for (uint32_t run = 0; run < 4; ++run) RunAndCompare(work->plugin, &host, work->seed + run);
    Clear(&host);
  }
  return NULL;
}

static void* OwnDelegates(void* argument) {
  const Work* work = argument;
  for (int32_t life = 0; life < work->lives; ++life) {
    WholeLife(work->plugin, work->seed + (uint32_t)life);
  }
  return NULL;
}

static void RunThreads(const Plugin* plugin, TfLiteDelegate* delegate, int32_t lives,
                       void* (*body)(void*)) {
  pthread_t threads[kThreads];
  Work works[kThreads];
  for (uint32_t i = 0; i < kThreads; ++i) {
    works[i] = (Work){plugin, delegate, 100 * i, lives};
    Check(pthread_create(&threads[i], NULL, body, &works[i]) == 0, "a thread");
  }
  for (uint32_t i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

static void OneDelegateInThreads(const Plugin* plugin) {
  TfLiteDelegate* delegate = NewDelegate(plugin);
  RunThreads(plugin, delegate, 0, SharedDelegate);
  plugin->destroy(delegate);
}

static int32_t CountFiles(void) {
  int32_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  Check(folder != NULL, "/proc/self/fd");
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

// Lines of /proc/self/maps: all, and those of files.
static void CountMappings(int32_t* all, int32_t* files) {
  FILE* maps = fopen("/proc/self/maps", "r");
  Check(maps != NULL, "/proc/self/maps");
  char line[4096];
  *all = *files = 0;
  while (fgets(line, sizeof(line), maps) != NULL) {
    ++*all;
    if (strchr(line, '/') != NULL) ++*files;
  }
  fclose(maps);
}

static long ResidentKilobytes(void) {
  FILE* status = fopen("/proc/self/status", "r");
  Check(status != NULL, "/proc/self/status");
  char line[256];
  long kilobytes = -1;
  while (fgets(line, sizeof(line), status) != NULL) sscanf(line, "VmRSS: %ld", &kilobytes);
  fclose(status);
  return kilobytes;
}

static void LivesInThreads(const Plugin* plugin) {
  const int32_t lives = kSanitized ? 2 : kLives;
  RunThreads(plugin, NULL, lives / 2, OwnDelegates);  // what stays once is no leak
  int32_t all_before, files_before, all_after, files_after;
  const int32_t open_before = CountFiles();
  const long resident_before = ResidentKilobytes();
  CountMappings(&all_before, &files_before);
  RunThreads(plugin, NULL, lives, OwnDelegates);
  const int32_t open_after = CountFiles();
  const long resident_after = ResidentKilobytes();
  CountMappings(&all_after, &files_after);
  printf("{\"lives\": %d, \"files\": [%d, %d], \"mappings\": [%d, %d], \"rss_kb\": [%ld, %ld]}\n",
         kThreads * lives, open_before, open_after, all_before, all_after, resident_before,
         resident_after);
  Check(open_after <= open_before, "no file stays open");
  if (kSanitized) return;
  Check(files_after <= files_before, "no file stays mapped");
  // The C library keeps stacks and heaps of ended threads.
  Check(all_after <= all_before + 2 * kThreads, "no memory stays mapped");
  Check(resident_after <= resident_before + 16 * 1024, "memory does not grow with the lives");
}

const Case kThreadCases[] = {
    {"one_delegate_in_threads", OneDelegateInThreads},
    {"lives_in_threads", LivesInThreads},
    {NULL, NULL},
};
