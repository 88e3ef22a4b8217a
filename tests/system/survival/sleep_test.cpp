// SPDX-License-Identifier: BSD-3-Clause
// Tests leases (runner/recorder.hpp; a lease is the right of one `exp run` to train a run): a worker, or the
// control program with its worker, is suspended (SIGSTOP) past the end of its lease, as by a debugger, a full
// container or a sleeping laptop. Another `exp run` takes the run over and completes it; the suspended
// processes continue meanwhile or afterwards. They must notice that they lost the run: none of their
// checkpoints becomes visible, none of their points counts, and the database equals that of an unbroken run.
// Both trainings are held in a middle step until the other side has reached the wanted state.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include <chrono>
#include <map>
#include <thread>

#include "system/control/hold.hpp"
#include "system/survival/unbroken.hpp"

namespace encore::system_test {
namespace {

constexpr const char* first_attempt = "(SELECT number FROM attempt WHERE ordinal = 1)";

/// Writes a run of 20 steps with a checkpoint every three steps, with a schedule that a Hold can stop.
void write_run(const Sandbox& sandbox) {
  std::string text = "plugin_path = [\"" PAUSING_SCHEDULE "\"]\n" + tiny_experiment();
  text.replace(text.find("epochs = 4"), 10, "epochs = 4\ncheckpoint_every = 3");
  text.replace(text.find("\"constant\""), 10, "\"pausing\"");
  sandbox.write("tiny.toml", text);
}

bool can_write(const Sandbox& sandbox) {
  sqlite3* database = nullptr;
  sqlite3_open((sandbox.folder() / "encore.db").c_str(), &database);
  sqlite3_busy_timeout(database, 200);
  const bool can = sqlite3_exec(database, "BEGIN IMMEDIATE; COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(database);
  return can;
}

/// Stops a process between two transactions: one that is stopped within a transaction blocks all others, and
/// none can take over.
bool put_control_to_sleep(const Sandbox& sandbox, pid_t exp) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    ::kill(exp, SIGSTOP);
    int status = 0;
    if (::waitpid(exp, &status, WUNTRACED) != exp || !WIFSTOPPED(status)) return false;
    if (can_write(sandbox)) return true;
    ::kill(exp, SIGCONT);
    std::this_thread::sleep_for(std::chrono::milliseconds(7));
  }
  return false;
}

bool put_worker_to_sleep(pid_t worker) {
  ::kill(worker, SIGSTOP);
  return eventually([&] { return state_of(worker) == 'T'; });
}

/// Every checkpoint under its final name, with its content.
std::map<std::string, std::string> visible_checkpoints(const Sandbox& sandbox) {
  std::map<std::string, std::string> files;
  const std::string folder = "encore.db.runs/" + sandbox.one("SELECT id FROM run") + "/checkpoints";
  for (const auto& entry : std::filesystem::directory_iterator(sandbox.folder() / folder))
    if (entry.path().extension() == ".safetensors")
      files[entry.path().filename()] = sandbox.read(folder + "/" + entry.path().filename().string());
  return files;
}

std::string names_of(const std::map<std::string, std::string>& files) {
  std::string names;
  for (const auto& [name, content] : files) names += name + " ";
  return names;
}

/// Returns the rows that the first attempt has in the database.
std::string rows_of_the_sleeper(const Sandbox& sandbox) {
  std::string text;
  for (const char* table : {"point", "digest", "checkpoint", "event"})
    text += sandbox.one(std::string("SELECT count(*) FROM ") + table + " WHERE attempt = " + first_attempt) +
            " of " + table + ", ";
  return text;
}

enum class Control { killed, asleep };
enum class Wake { during, after };  ///< the other's training

void expect_dispossessed(Control control, Wake wake) {
  if (!real_worker_runs()) GTEST_SKIP() << "the worker of this build does not run here";
  const Sandbox calm(true);
  Sandbox sandbox(true);
  write_run(calm);
  const runner::ProgramOutput whole = calm.exp({"run", "tiny.toml", "-q"});
  ASSERT_EQ(whole.end.exit_code, 0) << whole.output << whole.errors;

  write_run(sandbox);
  Hold sleeper_held(sandbox, 8);
  const pid_t exp = sandbox.start({"run", "tiny.toml", "-q"});
  const std::vector<pid_t> held = sleeper_held.wait_for(1);
  ASSERT_EQ(held.size(), 1u) << sandbox.read("output.txt");
  const pid_t worker = held.front();
  ASSERT_TRUE(sandbox.wait_until("SELECT max(step) FROM checkpoint", "6"));
  ASSERT_TRUE(put_worker_to_sleep(worker));
  if (control == Control::killed) {
    ::kill(exp, SIGKILL);
    ASSERT_TRUE(Sandbox::wait(exp));
  } else {
    ASSERT_TRUE(put_control_to_sleep(sandbox, exp));
    EXPECT_EQ(sandbox.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0)
        << "a run with a valid lease is left alone";
    ASSERT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "1");
    // The state after a minute.
    sandbox.change("UPDATE attempt SET expires = 0, expires_uptime = 0");
  }

  Hold successor_held(sandbox, 14);
  const pid_t successor = sandbox.start({"run", "tiny.toml", "-q"}, "successor.txt");
  ASSERT_EQ(successor_held.wait_for(1).size(), 1u) << sandbox.read("successor.txt");
  const std::string rows = rows_of_the_sleeper(sandbox);
  const auto wake_all = [&] {
    sleeper_held.release();
    ::kill(worker, SIGCONT);
    if (control == Control::asleep) {
      ::kill(exp, SIGCONT);
      const auto woken = Sandbox::wait(exp);
      ASSERT_TRUE(woken);
      const std::string said = sandbox.read("output.txt");
      EXPECT_EQ(woken->exit_code, 75) << said;
      EXPECT_TRUE(contains(said, "was taken over by another process")) << said;
    }
    ASSERT_TRUE(eventually([&] { return has_ended(worker); }));
  };
  if (wake == Wake::during) wake_all();
  successor_held.release();
  const auto end = Sandbox::wait(successor);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0) << sandbox.read("successor.txt");
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "completed");
  const std::map<std::string, std::string> checkpoints = visible_checkpoints(sandbox);
  if (wake == Wake::after) wake_all();

  const std::string folder = "encore.db.runs/" + sandbox.one("SELECT id FROM run");
  // A process suspended within the rename finds that its successor has removed the unfinished file.
  const std::string log = sandbox.read(folder + "/attempt-0001.log");
  EXPECT_TRUE(contains(sandbox.read(folder + "/attempt-0001.spool"), "another attempt has taken over") ||
              (contains(log, "cannot write") && contains(log, ".safetensors: No such file or directory")))
      << "the woken worker tried to write a checkpoint and was refused: " << log;
  EXPECT_EQ(rows_of_the_sleeper(sandbox), rows);
  EXPECT_TRUE(visible_checkpoints(sandbox) == checkpoints)
      << names_of(checkpoints) << "became " << names_of(visible_checkpoints(sandbox));
  EXPECT_EQ(sandbox.one("SELECT group_concat(state) FROM (SELECT state FROM attempt ORDER BY ordinal)"),
            "lost,completed");
  expect_same(sandbox, records_as_text(calm));
}

TEST(Sleep, AWorkerWakesUpWhileItsSuccessorTrains) {
  expect_dispossessed(Control::killed, Wake::during);
}
TEST(Sleep, AWorkerWakesUpAfterItsSuccessorHasCompletedTheRun) {
  expect_dispossessed(Control::killed, Wake::after);
}
TEST(Sleep, ControlProgramAndWorkerWakeUpWhileTheirSuccessorTrains) {
  expect_dispossessed(Control::asleep, Wake::during);
}
TEST(Sleep, ControlProgramAndWorkerWakeUpAfterTheirSuccessorHasCompletedTheRun) {
  expect_dispossessed(Control::asleep, Wake::after);
}

}  // namespace
}  // namespace encore::system_test
