// SPDX-License-Identifier: Apache-2.0
#include "tests/hosts/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hosts/network.h"

// POSIX gives functions as void*, which C cannot cast.
static void Find(void* handle, const char* name, void* function, size_t size) {
  void* symbol = dlsym(handle, name);
  Check(symbol != NULL && size == sizeof(symbol), name);
  memcpy(function, &symbol, size);
}

void Load(Plugin* plugin) {
  plugin->handle = dlopen(plugin->path, RTLD_NOW | RTLD_LOCAL);
  if (plugin->handle == NULL) fprintf(stderr, "%s\n", dlerror());
  Check(plugin->handle != NULL, "the library loads");
  Find(plugin->handle, "tflite_plugin_create_delegate", &plugin->create, sizeof(plugin->create));
  Find(plugin->handle, "tflite_plugin_destroy_delegate", &plugin->destroy,
       sizeof(plugin->destroy));
}

static bool IsMapped(const char* path) {
  char* name = realpath(path, NULL);
  FILE* maps = fopen("/proc/self/maps", "r");
  Check(name != NULL && maps != NULL, "the list of mappings");
  char line[4096];
  bool found = false;
  while (fgets(line, sizeof(line), maps) != NULL) found |= strstr(line, name) != NULL;
  fclose(maps);
  free(name);
  return found;
}

void Unload(Plugin* plugin) {
  Check(dlclose(plugin->handle) == 0, "dlclose");
  // Sanitizers' interceptors may hold on to it.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  Check(!IsMapped(plugin->path), "the library is gone after dlclose");
#else
  (void)IsMapped;
#endif
  plugin->handle = NULL;
}

static void Unexpected(const char* text) {
  fprintf(stderr, "c_host: create reported: %s\n", text);
  Check(false, "creating a delegate without an error");
}

TfLiteDelegate* NewDelegate(const Plugin* plugin) {
  TfLiteDelegate* delegate =
      plugin->create(plugin->keys, plugin->values, plugin->option_count, Unexpected);
  Check(delegate != NULL, "a delegate");
  Check(delegate->Prepare != NULL && delegate->flags == 0, "Prepare, and static shapes only");
  Check(delegate->CopyFromBufferHandle == NULL && delegate->CopyToBufferHandle == NULL &&
            delegate->FreeBufferHandle == NULL && delegate->opaque_delegate_builder == NULL,
        "unused members are null");
  return delegate;
}

void Open(Interpreter* host, TfLiteDelegate* delegate, int32_t height, int32_t width) {
  BuildNetwork(host, height, width);
  const TfLiteStatus status = Apply(host, delegate);
  if (host->errors[0] != '\0') fprintf(stderr, "c_host: reported: %s\n", host->errors);
  Check(status == kTfLiteOk && host->errors[0] == '\0', "the delegate applies");
  Check(KernelCount(host) == 2 && host->inits == 2 && host->null_inits == 0, "two kernels");
  Check(host->prepares == 2, "prepared at once, with pointers that are null");
  Check(Allocate(host) == kTfLiteOk, "tensors are allocated");
  Check(host->inits == 2 && host->prepares == 6, "prepared twice more");
}

void RunAndCompare(const Plugin* plugin, Interpreter* host, uint32_t seed) {
  FillInput(host, seed);
  const TfLiteTensor* output = &host->tensors[host->output];
  memset(output->data, 0x55, output->bytes);
  MoveArena(host);
  int8_t* expected = malloc(output->bytes);
  Check(expected != NULL, "memory for the expected output");
  ExpectedOutput(host, expected, output->bytes);
  const TfLiteStatus status = Invoke(host);
  if (status != kTfLiteOk) fprintf(stderr, "c_host: reported: %s\n", host->errors);
  Check(status == kTfLiteOk, "the network runs");
  if (plugin->computes) {
    Check(memcmp(output->data, expected, output->bytes) == 0, "the output is the reference's");
  }
  free(expected);
}

void WholeLife(const Plugin* plugin, uint32_t seed) {
  TfLiteDelegate* delegate = NewDelegate(plugin);
  Interpreter host;
  Open(&host, delegate, kSmallHeight, kSmallWidth);
  RunAndCompare(plugin, &host, seed);
  Clear(&host);
  plugin->destroy(delegate);
}
