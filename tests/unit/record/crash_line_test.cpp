// SPDX-License-Identifier: BSD-3-Clause
// Tests the crash line (record/crash_line.hpp), the last line of a worker that a signal ends: which work,
// plugin and file it names, that it is written for every signal and on any thread, that the signal must still
// end the process, and that find_crash_line() finds it in the log.
#include "record/crash_line.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "record/signal_stack.hpp"

namespace encore::record {
namespace {

/// What a child process wrote to its standard error, and the signal that ended it.
struct Child {
  std::string errors;
  int signal = 0;
};
Child run_in_child(void (*work)()) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    install_crash_handlers();
    work();
    ::_exit(0);
  }
  ::close(ends[1]);
  Child child;
  char buffer[512];
  for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    child.errors.append(buffer, static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  child.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return child;
}

int deeper(volatile char* caller, int depth) {
  volatile char frame[4096] = {};
  frame[depth % 4096] = caller[0];
  if (depth == 1 << 30) return 0;
  return deeper(frame, depth + 1) + frame[(depth + 1) % 4096];
}
void use_up_the_stack() {
  volatile char first[1] = {1};
  deeper(first, 0);
}

TEST(CrashLine, NamesTheInnermostWorkAndLetsTheSignalEndTheProcess) {
  const Child child = run_in_child([] {
    const CurrentWork outer("the whole");
    { const CurrentWork over("what is over"); }
    const CurrentWork inner("forward of x, layer \"y\" of plugin /p/y.so");
    int* volatile nowhere = nullptr;
    *nowhere = 1;
  });
  EXPECT_EQ(child.errors, "encore-worker: SIGSEGV during forward of x, layer \"y\" of plugin /p/y.so\n");
  EXPECT_EQ(child.signal, SIGSEGV);
}

TEST(CrashLine, IsWrittenForEverySignalOnce) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT}) {
    static int raised;
    raised = signal;
    const Child child = run_in_child([] { ::raise(raised); });
    EXPECT_EQ(child.signal, signal);
    EXPECT_TRUE(child.errors.ends_with(" during no call of a plugin\n")) << child.errors;
    EXPECT_EQ(child.errors.find('\n'), child.errors.size() - 1) << child.errors;
  }
}

TEST(CrashLine, IsWrittenWhereTheStackIsUsedUpOnAnyThread) {
  const Child first = run_in_child(use_up_the_stack);
  EXPECT_EQ(first.signal, SIGSEGV);
  EXPECT_EQ(first.errors, "encore-worker: SIGSEGV during no call of a plugin\n");
  const Child other = run_in_child([] {
    std::thread([] {
      add_signal_stack();
      use_up_the_stack();
    }).join();
  });
  EXPECT_EQ(other.signal, SIGSEGV);
  EXPECT_EQ(other.errors, first.errors);
}

TEST(CrashLine, IsFoundAfterAnyOtherOutput) {
  EXPECT_FALSE(find_crash_line("encore-worker: some error\nSIGSEGV during nothing\n"));
  const auto found = find_crash_line(
      "hello\nno end of line hereencore-worker: SIGABRT during backward of a, head \"h\" of plugin /with "
      "blank/h.so\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->work, "backward of a, head \"h\" of plugin /with blank/h.so");
  EXPECT_EQ(found->plugin, "/with blank/h.so");
  EXPECT_EQ(find_crash_line("encore-worker: SIGFPE during no call of a plugin\n")->plugin, "");
}

TEST(CrashLine, NamesTheActionThePartAndTheOwner) {
  EXPECT_EQ(work_text("forward", "encoder.0.x", owner_text("layer", "x", "/p/x.so")),
            "forward of encoder.0.x, layer \"x\" of plugin /p/x.so");
  EXPECT_EQ(work_text("update", "", owner_text("optimizer", "sgd", "/p/sgd.so")),
            "update of optimizer \"sgd\" of plugin /p/sgd.so");
  EXPECT_EQ(work_text("forward", "embedding", ""), "forward of embedding");
}

}  // namespace
}  // namespace encore::record
