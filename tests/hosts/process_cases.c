// SPDX-License-Identifier: Apache-2.0
// fork, exec, exit and signals.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/network.h"
#include "tests/hosts/plugin.h"

enum { kPatienceSeconds = 60, kProcesses = 4 };

static void Pause(long microseconds) {
  const struct timespec pause = {0, microseconds * 1000};
  nanosleep(&pause, NULL);
}

// A child that hangs is ended, which is a failure.
static void Await(pid_t child, const char* what) {
  int status = 0;
  for (long waited = 0; waitpid(child, &status, WNOHANG) == 0; ++waited) {
    if (waited > kPatienceSeconds * 1000) {
      kill(child, SIGABRT);
      fprintf(stderr, "c_host: process %d hangs\n", (int)child);
      Check(false, what);
    }
    Pause(1000);
  }
  if (WIFSIGNALED(status)) fprintf(stderr, "c_host: ended by signal %d\n", WTERMSIG(status));
  Check(WIFEXITED(status) && WEXITSTATUS(status) == 0, what);
}

static pid_t Fork(void) {
  fflush(NULL);
  const pid_t child = fork();
  Check(child >= 0, "fork");
  return child;
}

// Starts this program again for one child case; its output goes to `output` unless that is -1.
static pid_t Start(const Plugin* plugin, const char* name, int output) {
  const pid_t child = Fork();
  if (child != 0) return child;
  if (output >= 0) dup2(output, STDOUT_FILENO);
  char* arguments[kMaxOptions + 4];
  size_t count = 0;
  arguments[count++] = (char*)plugin->program;
  arguments[count++] = (char*)plugin->path;
  arguments[count++] = (char*)name;
  for (size_t i = 0; i < plugin->option_count; ++i) arguments[count++] = plugin->pairs[i];
  arguments[count] = NULL;
  execv(plugin->program, arguments);
  _exit(127);
}

static void ForkWithOwnInterpreter(const Plugin* plugin) {
  TfLiteDelegate* delegate = NewDelegate(plugin);
  Interpreter host;
  Open(&host, delegate, kSmallHeight, kSmallWidth);
  RunAndCompare(plugin, &host, 1);
  const pid_t child = Fork();
  if (child == 0) {
    WholeLife(plugin, 2);
    WholeLife(plugin, 3);
    Clear(&host);
    plugin->destroy(delegate);
    exit(0);
  }
  RunAndCompare(plugin, &host, 4);
  Await(child, "a forked process makes and runs an interpreter of its own");
  RunAndCompare(plugin, &host, 5);
  Clear(&host);
  plugin->destroy(delegate);
}

static void ForkWithParentsInterpreter(const Plugin* plugin) {
  TfLiteDelegate* delegate = NewDelegate(plugin);
  Interpreter host;
  Open(&host, delegate, kSmallHeight, kSmallWidth);
  RunAndCompare(plugin, &host, 1);
  const pid_t child = Fork();
  if (child == 0) {
    for (uint32_t seed = 2; seed < 5; ++seed) RunAndCompare(plugin, &host, seed);
    ResizeNetwork(&host, 5, 5);
    Check(Allocate(&host) == kTfLiteOk, "a resize in a forked process");
    RunAndCompare(plugin, &host, 5);
    exit(0);  // with everything alive
  }
  Await(child, "a forked process runs its parent's interpreter");
  RunAndCompare(plugin, &host, 6);
  Clear(&host);
  plugin->destroy(delegate);
}

typedef struct {
  const Plugin* plugin;
  atomic_bool stop;
} Busy;

static void* LiveOn(void* argument) {
  Busy* busy = argument;
  for (uint32_t seed = 0; !atomic_load(&busy->stop); ++seed) WholeLife(busy->plugin, seed);
  return NULL;
}

// The address sanitizer's own locks may be held at a fork, and would be for ever in the child.
#ifdef __SANITIZE_ADDRESS__
enum { kBusyThreads = 0 };
#else
enum { kBusyThreads = 3 };
#endif

// While other threads are in the middle of everything, so that the child finds locks held.
static void ForkWhileOthersWork(const Plugin* plugin) {
  Busy busy = {plugin, false};
  pthread_t threads[kBusyThreads + 1];
  for (int32_t i = 0; i < kBusyThreads; ++i) {
    Check(pthread_create(&threads[i], NULL, LiveOn, &busy) == 0, "a thread");
  }
  for (uint32_t i = 0; i < 25; ++i) {
    Pause(3000);
    const pid_t child = Fork();
    if (child == 0) {
      WholeLife(plugin, i);
      _exit(0);
    }
    Await(child, "a process forked while others work");
  }
  atomic_store(&busy.stop, true);
  for (int32_t i = 0; i < kBusyThreads; ++i) pthread_join(threads[i], NULL);
}

static atomic_int alarms, nudges;

static void OnAlarm(int number) {
  (void)number;
  atomic_fetch_add(&alarms, 1);
}
static void OnNudge(int number) {
  (void)number;
  atomic_fetch_add(&nudges, 1);
}

typedef struct {
  pthread_t target;
  atomic_bool stop;
} Storm;

static void* Nudge(void* argument) {
  Storm* storm = argument;
  while (!atomic_load(&storm->stop)) {
    pthread_kill(storm->target, SIGUSR1);
    Pause(200);
  }
  return NULL;
}

static void InstallHandler(int number, void (*handler)(int)) {
  struct sigaction action = {0};
  action.sa_handler = handler;  // no SA_RESTART: system calls end with EINTR
  Check(sigaction(number, &action, NULL) == 0, "a signal handler");
}

static void SignalStorm(const Plugin* plugin) {
  InstallHandler(SIGALRM, OnAlarm);
  InstallHandler(SIGUSR1, OnNudge);
  Storm storm = {pthread_self(), false};
  pthread_t thread;
  Check(pthread_create(&thread, NULL, Nudge, &storm) == 0, "a thread");
  const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  Check(setitimer(ITIMER_REAL, &often, NULL) == 0, "a timer");
  for (uint32_t life = 0; life < 5; ++life) {
    TfLiteDelegate* delegate = NewDelegate(plugin);
    Interpreter host;
    Open(&host, delegate, 12, 10);
    for (uint32_t run = 0; run < 20; ++run) RunAndCompare(plugin, &host, run);
    Check(host.errors[0] == '\0', "no error through signals");
    Clear(&host);
    plugin->destroy(delegate);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  atomic_store(&storm.stop, true);
  pthread_join(thread, NULL);
  printf("{\"signals\": [%d, %d]}\n", atomic_load(&alarms), atomic_load(&nudges));
  Check(atomic_load(&alarms) > 0 && atomic_load(&nudges) > 0, "signals came");
}

static void ExitWithEverythingAlive(const Plugin* plugin) {
  Await(Start(plugin, "leave", -1), "exit with interpreter and delegate alive");
  Await(Start(plugin, "free_late", -1), "kernels freed after the library's own exit handlers");
}

static void ExecAfterFork(const Plugin* plugin) {
  TfLiteDelegate* delegate = NewDelegate(plugin);
  Interpreter host;
  Open(&host, delegate, kSmallHeight, kSmallWidth);
  RunAndCompare(plugin, &host, 1);
  const pid_t child = Start(plugin, "no_device_file", -1);
  RunAndCompare(plugin, &host, 2);
  Await(child, "exec after fork");
  Clear(&host);
  plugin->destroy(delegate);
}

static void FourProcesses(const Plugin* plugin) {
  int ends[kProcesses][2];
  pid_t children[kProcesses];
  char hashes[kProcesses][32] = {{0}};
  for (int32_t i = 0; i < kProcesses; ++i) {
    Check(pipe(ends[i]) == 0, "a pipe");
    children[i] = Start(plugin, "hash", ends[i][1]);
    close(ends[i][1]);
  }
  for (int32_t i = 0; i < kProcesses; ++i) {
    const ssize_t size = read(ends[i][0], hashes[i], sizeof(hashes[i]) - 1);
    close(ends[i][0]);
    Await(children[i], "one of four processes");
    Check(size == 17, "a hash");
    hashes[i][16] = '\0';
  }
  printf("{\"hashes\": [\"%s\", \"%s\", \"%s\", \"%s\"]}\n", hashes[0], hashes[1], hashes[2],
         hashes[3]);
  for (int32_t i = 1; plugin->computes && i < kProcesses; ++i) {
    Check(strcmp(hashes[0], hashes[i]) == 0, "the same outputs in four processes");
  }
}

const Case kProcessCases[] = {
    {"fork_with_own_interpreter", ForkWithOwnInterpreter},
    {"fork_with_parents_interpreter", ForkWithParentsInterpreter},
    {"fork_while_others_work", ForkWhileOthersWork},
    {"signal_storm", SignalStorm},
    {"exit_with_everything_alive", ExitWithEverythingAlive},
    {"exec_after_fork", ExecAfterFork},
    {"four_processes", FourProcesses},
    {NULL, NULL},
};
