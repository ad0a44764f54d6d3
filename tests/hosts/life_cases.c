// SPDX-License-Identifier: Apache-2.0
// One thread, one process: the call sequences of tflite-delegate 1.5 and 11.3-11.5.
#include <stdio.h>
#include <string.h>

#include "tests/hosts/network.h"
#include "tests/hosts/plugin.h"

static void Basic(const Plugin* plugin) {
  TfLiteDelegate* delegate = NewDelegate(plugin);
  Interpreter host;
  Open(&host, delegate, 12, 10);
  for (uint32_t seed = 1; seed <= 3; ++seed) RunAndCompare(plugin, &host, seed);
  Check(host.invokes == 6 && host.prepares == 6 && host.frees == 0, "only invoke at each run");
  FreeKernels(&host);
  Check(host.frees == 2, "kernels are freed once");
  Clear(&host);
  plugin->destroy(delegate);
}

static void Resize(const Plugin* plugin) {
  static const int32_t kSizes[][2] = {{17, 5}, {1, 1}, {3, 40}, {12, 10}};
  TfLiteDelegate* delegate = NewDelegate(plugin);
  Interpreter host;
  Open(&host, delegate, 12, 10);
  RunAndCompare(plugin, &host, 1);
  for (int32_t i = 0; i < 4; ++i) {
    ResizeNetwork(&host, kSizes[i][0], kSizes[i][1]);
    Check(host.frees == 2 * (i + 1) && KernelCount(&host) == 0, "a resize frees at once");
    Check(Allocate(&host) == kTfLiteOk, "allocation after a resize");
    Check(host.inits == 2 * (i + 2) && host.prepares == 6 * (i + 2), "all over again");
    RunAndCompare(plugin, &host, 2);
  }
  Clear(&host);
  plugin->destroy(delegate);
}

// As at the exit of Python: the delegate first, the kernels afterwards (11.4).
static void DestroyFirst(const Plugin* plugin) {
  TfLiteDelegate* delegate = NewDelegate(plugin);
  Interpreter host;
  Open(&host, delegate, kSmallHeight, kSmallWidth);
  RunAndCompare(plugin, &host, 1);
  plugin->destroy(delegate);
  Clear(&host);
}

static void DestroyUnused(const Plugin* plugin) {
  plugin->destroy(NULL);
  plugin->destroy(NewDelegate(plugin));
}

static void InitGivesNull(const Plugin* plugin) {
  static const Sabotage kKinds[] = {kNoDelegateInParams, kForeignNodeInParams};
  for (int32_t i = 0; i < 2; ++i) {
    TfLiteDelegate* delegate = NewDelegate(plugin);
    Interpreter host;
    BuildNetwork(&host, kSmallHeight, kSmallWidth);
    host.sabotage = kKinds[i];
    Check(Apply(&host, delegate) == kTfLiteDelegateError, "the host undoes the delegation");
    Check(host.inits == 2 && host.null_inits > 0, "init gave null");
    Check(host.frees == host.inits - host.null_inits, "null is not freed");
    Check(strstr(host.errors, "rocket-npu: ") != NULL, "the delegate says why");
    Check(strstr(host.errors, "Node number 4 (rocket-npu) failed to prepare.") != NULL, "which");
    Check(KernelCount(&host) == 0 && Allocate(&host) == kTfLiteOk, "usable without a delegate");
    RunAndCompare(plugin, &host, 1);
    Clear(&host);
    // The delegate has not suffered.
    Open(&host, delegate, kSmallHeight, kSmallWidth);
    RunAndCompare(plugin, &host, 2);
    Clear(&host);
    plugin->destroy(delegate);
  }
}

static char reported[512];
static int reports;

static void Reporter(const char* text) {
  ++reports;
  snprintf(reported, sizeof(reported), "%s", text);
}

static void CreateErrors(const Plugin* plugin) {
  const char* keys[] = {"strict", "devise"};
  const char* values[] = {"True", "sim"};
  reports = 0;
  Check(plugin->create(keys, values, 2, Reporter) == NULL, "null for a wrong configuration");
  Check(reports == 1 && strstr(reported, "devise") != NULL, "one report that names the option");
  // A host that cannot be told gets a delegate that claims nothing (1.1, rule 6).
  TfLiteDelegate* delegate = plugin->create(keys, values, 2, NULL);
  Check(delegate != NULL, "never null without a reporter");
  Interpreter host;
  BuildNetwork(&host, kSmallHeight, kSmallWidth);
  Check(Apply(&host, delegate) == kTfLiteOk && KernelCount(&host) == 0, "it claims nothing");
  Check(Allocate(&host) == kTfLiteOk, "the host goes on alone");
  RunAndCompare(plugin, &host, 1);
  Clear(&host);
  plugin->destroy(delegate);
}

// Python hands the count over as a C int: the upper half is whatever was in the register.
static void CountsOfOptions(const Plugin* plugin) {
  const size_t stray = (size_t)0x7ffe1234 << 32;
  TfLiteDelegate* delegate =
      plugin->create(plugin->keys, plugin->values, plugin->option_count | stray, NULL);
  Interpreter host;
  Open(&host, delegate, kSmallHeight, kSmallWidth);
  RunAndCompare(plugin, &host, 1);
  Clear(&host);
  plugin->destroy(delegate);
  delegate = plugin->create(NULL, NULL, 0, NULL);
  Check(delegate != NULL, "no options");
  plugin->destroy(delegate);
}

static void TwoInterpreters(const Plugin* plugin) {
  TfLiteDelegate* delegate = NewDelegate(plugin);
  Interpreter hosts[2];
  Open(&hosts[0], delegate, 12, 10);
  Open(&hosts[1], delegate, kSmallHeight, kSmallWidth);
  for (uint32_t seed = 0; seed < 6; ++seed) RunAndCompare(plugin, &hosts[seed % 2], seed);
  ResizeNetwork(&hosts[0], 5, 6);
  RunAndCompare(plugin, &hosts[1], 7);
  Check(Allocate(&hosts[0]) == kTfLiteOk, "one of them resized");
  Clear(&hosts[1]);
  RunAndCompare(plugin, &hosts[0], 8);
  Clear(&hosts[0]);
  plugin->destroy(delegate);
}

static void InvokeWithoutMemory(const Plugin* plugin) {
  TfLiteDelegate* delegate = NewDelegate(plugin);
  Interpreter host;
  BuildNetwork(&host, kSmallHeight, kSmallWidth);
  Check(Apply(&host, delegate) == kTfLiteOk, "the delegate applies");
  Check(Invoke(&host) == kTfLiteError, "a run before the allocation is an error");
  Check(strstr(host.errors, "has no memory") != NULL, "which is explained");
  Check(Allocate(&host) == kTfLiteOk, "allocation");
  RunAndCompare(plugin, &host, 1);
  Clear(&host);
  plugin->destroy(delegate);
}

const Case kLifeCases[] = {
    {"basic", Basic},
    {"resize", Resize},
    {"destroy_first", DestroyFirst},
    {"destroy_unused", DestroyUnused},
    {"init_gives_null", InitGivesNull},
    {"create_errors", CreateErrors},
    {"counts_of_options", CountsOfOptions},
    {"two_interpreters", TwoInterpreters},
    {"invoke_without_memory", InvokeWithoutMemory},
    {NULL, NULL},
};
