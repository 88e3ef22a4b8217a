// SPDX-License-Identifier: BSD-3-Clause
// Tests WorkerProcess and run_program() (runner/worker_process.hpp) with real processes: how their end is
// reported, their log, and the control pipe. A process that they started must never remain after their end.
#include "runner/worker_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include <encore/error.hpp>

namespace encore::runner {
namespace {

using std::chrono::milliseconds;

class WorkerProcessTest : public ::testing::Test {
 protected:
  WorkerProcessTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "encore-runner-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~WorkerProcessTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path log() const { return folder_ / "log"; }
  std::string logged() const {
    std::ifstream in(log());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Returns the arguments of a shell that runs `text` as worker; its descriptor 3 is the control pipe.
  std::vector<std::string> script(const std::string& text) const { return {"-c", text, "sh"}; }
  static ProcessEnd end_of(WorkerProcess& worker) {
    for (int i = 0; i < 6000; ++i)
      if (const auto end = worker.wait_for(milliseconds(100))) return *end;
    worker.kill();
    ADD_FAILURE() << "it still runs";
    return {};
  }

  std::filesystem::path folder_;
};

TEST_F(WorkerProcessTest, ReportsTheExitCodeAndKeepsWhatItPrints) {
  WorkerProcess worker("/bin/sh", script("echo out; echo err >&2; exit 75"), log());
  const ProcessEnd end = end_of(worker);
  EXPECT_EQ(end.exit_code, 75);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(logged(), "out\nerr\n");
}

TEST_F(WorkerProcessTest, ReportsTheSignal) {
  WorkerProcess worker("/bin/sh", script("kill -SEGV $$"), log());
  EXPECT_EQ(end_of(worker).text(), "signal 11 (Segmentation fault)");
}

/// Some supervisors start their children with SIGCHLD ignored.
TEST_F(WorkerProcessTest, AnEndWithoutAnExitStatusIsAnEndButNotASuccess) {
  const auto usual = ::signal(SIGCHLD, SIG_IGN);
  WorkerProcess worker("/bin/sh", script("exit 0"), log());
  EXPECT_FALSE(end_of(worker).success());
  EXPECT_FALSE(run_program("/bin/sh", {"-c", "exit 0"}).end.success());
  // The started process gets the signals of its own children again.
  WorkerProcess parent(
      "/bin/sh", script("echo $(( 0x$(awk '/SigIgn/ {print $2}' /proc/self/status) >> 16 & 1 ))"), log());
  end_of(parent);
  ::signal(SIGCHLD, usual);
  EXPECT_EQ(logged(), "0\n") << "the bit of SIGCHLD, signal 17";
}

TEST_F(WorkerProcessTest, CommandsArriveThroughTheControlPipe) {
  WorkerProcess worker("/bin/sh", script("read line <&3; echo got $line"), log());
  EXPECT_TRUE(worker.send(record::ControlCommand::stop));
  EXPECT_TRUE(end_of(worker).success());
  EXPECT_EQ(logged(), "got stop\n");
  EXPECT_FALSE(worker.send(record::ControlCommand::stop)) << "no process reads any more";
}

TEST_F(WorkerProcessTest, LivesInASessionOfItsOwn) {
  WorkerProcess worker("/bin/sh", script("read line <&3"), log());
  EXPECT_EQ(::getsid(worker.pid()), worker.pid());
  EXPECT_FALSE(worker.wait_for(milliseconds(20)));
  worker.send(record::ControlCommand::stop);
  EXPECT_TRUE(end_of(worker).success());
}

TEST_F(WorkerProcessTest, KillReachesWhatItHasStarted) {
  WorkerProcess worker("/bin/sh", script("sleep 100 & echo $!; wait"), log());
  while (logged().find('\n') == std::string::npos)
    ASSERT_FALSE(worker.wait_for(milliseconds(10))) << logged();
  const std::string child = std::to_string(std::stoi(logged()));
  worker.kill();
  EXPECT_EQ(end_of(worker).signal, SIGKILL);
  // Waits until the process is gone, or is a zombie where no process collects orphans.
  std::string pid, name, state = "R";
  for (int i = 0; i < 60000 && !state.empty() && state != "Z"; ++i) {
    ::usleep(10000);
    std::ifstream stat("/proc/" + child + "/stat");
    if (!(stat >> pid >> name >> state)) state.clear();
  }
  EXPECT_TRUE(state.empty() || state == "Z") << state;
}

TEST_F(WorkerProcessTest, ItsDestructorLeavesNoProcess) {
  pid_t pid = 0;
  {
    WorkerProcess worker("/bin/sh", script("sleep 100"), log());
    pid = worker.pid();
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(WorkerProcessTest, RefusesAProgramThatIsNotThereAndALogThatCannotBeWritten) {
  EXPECT_THROW(WorkerProcess("/nowhere/worker", {}, log()), Error);
  EXPECT_THROW(WorkerProcess("/bin/sh", {}, folder_ / "missing" / "log"), Error);
}

TEST(RunProgram, PassesInputAndCollectsBothOutputs) {
  const ProgramOutput output = run_program("sh", {"-c", "cat; echo problem >&2; exit 3"}, "text");
  EXPECT_EQ(output.output, "text");
  EXPECT_EQ(output.errors, "problem\n");
  EXPECT_EQ(output.end.exit_code, 3);
}

TEST(RunProgram, LargeInputAndOutputDoNotBlockEachOther) {
  const std::string large(3 << 20, 'x');
  EXPECT_EQ(run_program("cat", {}, large).output, large);
}

TEST(RunProgram, EndsAProgramThatIsSilentForTooLong) {
  // On a busy machine even the first line may take longer than the limit, so the limit grows.
  ProgramWatch watch{.timeout = std::chrono::seconds(1)};
  ProgramOutput output;
  for (; watch.timeout < std::chrono::seconds(1000) && output.output.empty(); watch.timeout *= 4) {
    output = run_program("sh", {"-c", "echo begun; sleep 10000"}, "", watch);
    EXPECT_TRUE(output.silent);
    EXPECT_EQ(output.end.signal, SIGQUIT);
  }
  EXPECT_EQ(output.output, "begun\n");
  EXPECT_FALSE(run_program("echo", {"x"}, "", {.timeout = std::chrono::minutes(10)}).silent);
}

TEST(RunProgram, LetsASilentProgramWriteItsLastOutput) {
  ProgramWatch watch{.timeout = std::chrono::seconds(1)};
  ProgramOutput last_word;
  for (; watch.timeout < std::chrono::seconds(1000) && last_word.output.empty(); watch.timeout *= 4)
    last_word = run_program("bash",
                            {"-c",
                             "trap 'echo was sleeping >&2; exit 3' QUIT; echo begun; "
                             "while :; do sleep 0.01; done"},
                            "", watch);
  EXPECT_EQ(last_word.errors, "was sleeping\n");
  EXPECT_EQ(last_word.end.exit_code, 3);
}

TEST(RunProgram, KillsASilentProgramThatIgnoresSignals) {
  ProgramWatch watch{.timeout = std::chrono::seconds(1)};
  ProgramOutput deaf;
  for (; watch.timeout < std::chrono::seconds(1000) && deaf.output.empty(); watch.timeout *= 4)
    deaf = run_program("sh", {"-c", "trap '' QUIT; echo begun; sleep 10000"}, "", watch);
  EXPECT_EQ(deaf.end.signal, SIGKILL);
}

TEST(RunProgram, EndsAProgramThatWritesTooMuch) {
  const std::size_t limit = 1 << 20;
  for (const char* command : {"yes", "yes >&2", "yes & yes >&2"}) {
    const ProgramOutput endless =
        run_program("sh", {"-c", std::string("exec ") + command}, "", {.largest = limit});
    EXPECT_TRUE(endless.too_large) << command;
    EXPECT_EQ(endless.end.signal, SIGKILL) << command;
    EXPECT_LT(endless.output.size() + endless.errors.size(), 2 * limit) << command;
  }
  const ProgramOutput whole = run_program("cat", {}, std::string(limit, 'x'), {.largest = limit});
  EXPECT_FALSE(whole.too_large) << "the limit itself is allowed";
  EXPECT_EQ(whole.output.size(), limit);
}

TEST(RunProgram, ReportsTheTimeOfSilence) {
  std::string seconds;
  ProgramWatch watch{
      .waiting = [&](std::chrono::seconds time) { seconds += std::to_string(time.count()) + " "; },
      .notice = std::chrono::seconds(1),
      .timeout = std::chrono::seconds(3)};
  run_program("sleep", {"10000"}, "", watch);
  EXPECT_TRUE(seconds.starts_with("1 ") || seconds.starts_with("2 ")) << seconds;
}

TEST(RunProgram, AProgramMayIgnoreItsInput) {
  EXPECT_TRUE(run_program("true", {}, std::string(1 << 20, 'x')).end.success());
  EXPECT_THROW(run_program("no-such-program-anywhere", {}), Error);
}

}  // namespace
}  // namespace encore::runner
