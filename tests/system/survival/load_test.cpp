// SPDX-License-Identifier: BSD-3-Clause
// Tests one database under the load of eight users at once (store/database.hpp), each with sweeps, listings,
// tags and notes of its own: no user may ever see that it is locked, and nothing may be lost.
//
//   build/openmp/bin/tests/survival_test --gtest_also_run_disabled_tests --gtest_filter='*TwoMinutes*'
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

#include "system/survival/unbroken.hpp"

namespace encore::system_test {
namespace {

constexpr int users = 8;

class Load {
 public:
  explicit Load(std::chrono::seconds time) : until_(std::chrono::steady_clock::now() + time) {
    sandbox_.set("FAKE_STEP_MS", "1");
  }

  void run() {
    std::vector<std::thread> threads;
    for (int user = 0; user < users; ++user) threads.emplace_back([this, user] { work(user); });
    for (std::thread& thread : threads) thread.join();
    check();
  }

 private:
  void call(const std::vector<std::string>& arguments) {
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    ++calls_;
    const std::string said = output.output + output.errors;
    if (output.end.exit_code == 0 && said.find("locked") == std::string::npos) return;
    const std::lock_guard guard(mutex_);
    ADD_FAILURE() << arguments.front() << " ended with " << output.end.text() << ": " << said;
  }

  void work(int user) {
    for (int round = 1; std::chrono::steady_clock::now() < until_; ++round) {
      const std::string name = "user" + std::to_string(user) + "-" + std::to_string(round);
      std::string text = tiny_experiment(name);
      const std::string seed = std::to_string(1000000 * (user + 1) + 10 * round);
      text.replace(text.find("seed = 1"), 8, "seed = " + seed);
      sandbox_.write(name + ".toml", text + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
      call({"run", name + ".toml", "-j", "2", "-q"});
      runs_ += 2;
      const std::string run = sandbox_.one("SELECT id FROM run WHERE seed = " + seed);
      call({"ls"});
      call({"tag", run, "+user" + std::to_string(user)});
      call({"note", run, "round " + std::to_string(round)});
      call({"query", "SELECT count(*) FROM current_point"});
      call({"show", run});
      ++labelled_;
    }
  }

  void check() {
    const auto count = [&](const std::string& sql) { return sandbox_.one("SELECT count(*) FROM " + sql); };
    EXPECT_EQ(count("run WHERE state = 'completed'"), std::to_string(runs_.load()));
    EXPECT_EQ(count("run"), std::to_string(runs_.load()));
    EXPECT_EQ(count("attempt"), std::to_string(runs_.load())) << "nothing was trained twice";
    EXPECT_EQ(count("(SELECT 1 FROM current_point JOIN metric ON metric.number = metric WHERE metric.name = "
                    "'train/loss' GROUP BY run HAVING count(*) = 20 AND count(DISTINCT step) = 20)"),
              std::to_string(runs_.load()));
    EXPECT_EQ(count("(SELECT 1 FROM current_digest GROUP BY run HAVING count(*) = (SELECT max(n) FROM "
                    "(SELECT count(*) "
                    "AS n FROM current_digest GROUP BY run)))"),
              std::to_string(runs_.load()));
    EXPECT_EQ(count("tag"), std::to_string(labelled_.load()));
    EXPECT_EQ(count("run WHERE note LIKE 'round %'"), std::to_string(labelled_.load()));
    const runner::ProgramOutput whole = sandbox_.exp({"db", "check"});
    EXPECT_EQ(whole.end.exit_code, 0) << whole.output << whole.errors;
    std::printf("%d users at once: %d calls of exp, %d runs with %s points; none locked out, none lost\n",
                users, calls_.load(), runs_.load(), count("point").c_str());
  }

  Sandbox sandbox_;
  const std::chrono::steady_clock::time_point until_;
  std::mutex mutex_;
  std::atomic<int> calls_ = 0, runs_ = 0, labelled_ = 0;
};

TEST(Load, EightUsersForThreeSeconds) {
  Load(std::chrono::seconds(3)).run();
}
TEST(Load, DISABLED_EightUsersForTwoMinutes) {
  Load(std::chrono::seconds(120)).run();
}

}  // namespace
}  // namespace encore::system_test
