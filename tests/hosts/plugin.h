// SPDX-License-Identifier: Apache-2.0
// The library under test with the options of the command line, and what every case does with it.
#ifndef TESTS_HOSTS_PLUGIN_H_
#define TESTS_HOSTS_PLUGIN_H_

#include "tests/hosts/interpreter.h"

enum { kMaxOptions = 16, kSmallHeight = 9, kSmallWidth = 7 };

typedef struct {
  const char* program;  // this one, to be started again
  const char* path;
  void* handle;
  CreateFunction create;
  DestroyFunction destroy;
  const char* keys[kMaxOptions];
  const char* values[kMaxOptions];
  char* pairs[kMaxOptions];  // "key=value" as given, for a further process
  size_t option_count;
  bool computes;        // false with device=null, whose outputs mean nothing
  bool preloaded_node;  // device=rocket: the tests run on a simulated node
} Plugin;

void Load(Plugin* plugin);
// The library must leave the process.
void Unload(Plugin* plugin);

// With the options of the command line; an error ends the process.
TfLiteDelegate* NewDelegate(const Plugin* plugin);
// Builds the network, applies the delegate, allocates; two kernels are expected.
void Open(Interpreter* host, TfLiteDelegate* delegate, int32_t height, int32_t width);
// One inference with this input; the output must be the reference's.
void RunAndCompare(const Plugin* plugin, Interpreter* host, uint32_t seed);
// A delegate and an interpreter from beginning to end.
void WholeLife(const Plugin* plugin, uint32_t seed);

typedef struct {
  const char* name;
  void (*run)(const Plugin* plugin);
} Case;

// Lists that end with a null name.
extern const Case kLifeCases[];
extern const Case kThreadCases[];
extern const Case kProcessCases[];
// Run alone in a process of its own, started by the process cases.
extern const Case kChildCases[];

#endif  // TESTS_HOSTS_PLUGIN_H_
