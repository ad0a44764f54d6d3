// SPDX-License-Identifier: Apache-2.0
// What the process cases start in a process of its own.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/hosts/network.h"
#include "tests/hosts/plugin.h"

// Alive until the process ends, and reachable, so that they are no leak.
static Interpreter kept;
static TfLiteDelegate* kept_delegate;
static DestroyFunction kept_destroy;

static void Leave(const Plugin* plugin) {
  kept_delegate = NewDelegate(plugin);
  Open(&kept, kept_delegate, kSmallHeight, kSmallWidth);
  RunAndCompare(plugin, &kept, 1);
}

static void FreeKept(void) {
  if (kept_delegate == NULL) return;
  kept_destroy(kept_delegate);
  Clear(&kept);
}

// The library's first use comes after this handler's registration, so its static objects are gone
// when the handler runs.
static void FreeLate(const Plugin* plugin) {
  atexit(FreeKept);
  kept_destroy = plugin->destroy;
  Leave(plugin);
}

static void NoDeviceFile(const Plugin* plugin) {
  DIR* folder = opendir("/proc/self/fd");
  Check(folder != NULL, "/proc/self/fd");
  for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    char path[300], target[256] = {0};
    snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
    if (readlink(path, target, sizeof(target) - 1) < 0) continue;
    Check(strstr(target, "accel") == NULL && strstr(target, "memfd") == NULL,
          "no device file survives exec");
  }
  closedir(folder);
  WholeLife(plugin, 1);
}

static void Hash(const Plugin* plugin) {
  TfLiteDelegate* delegate = NewDelegate(plugin);
  Interpreter host;
  Open(&host, delegate, 24, 20);
  uint64_t hash = UINT64_C(14695981039346656037);  // FNV-1a
  for (uint32_t seed = 0; seed < 8; ++seed) {
    RunAndCompare(plugin, &host, seed);
    const TfLiteTensor* output = &host.tensors[host.output];
    const uint8_t* bytes = output->data;
    for (size_t i = 0; i < output->bytes; ++i) hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
  }
  printf("%016llx\n", (unsigned long long)hash);
  Clear(&host);
  plugin->destroy(delegate);
}

const Case kChildCases[] = {
    {"leave", Leave},
    {"free_late", FreeLate},
    {"no_device_file", NoDeviceFile},
    {"hash", Hash},
    {NULL, NULL},
};
