// SPDX-License-Identifier: BSD-3-Clause
// Tests sessions of runs as a program calls them through the API, without a command line or terminal
// (app/run_session.hpp, app/retry.hpp, app/ls.hpp); the scripted worker trains (fake_worker.cpp). The calls
// stand for those of other programs, so a test that no longer compiles means a changed interface.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "app/import.hpp"
#include "app/ls.hpp"
#include "app/retry.hpp"
#include "app/run.hpp"
#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

/// Keeps all events that a session reports.
class Heard final : public app::SessionEvents {
 public:
  runner::RunObserver& begun(const app::RunBegun& begun) override {
    names.push_back(begun.name);
    if (stop_at_first_step != nullptr) watch_.stop = stop_at_first_step;
    return watch_;
  }
  void ended(const app::RunEnded& ended) override { states.push_back(ended.outcome.state); }
  void planned(const app::PlannedRuns& planned) override { to_do = planned.to_do(); }

  std::vector<std::string> names;
  std::vector<store::RunState> states;
  std::size_t to_do = 0;
  std::atomic<int>* stop_at_first_step = nullptr;
  std::int64_t steps() const { return watch_.steps; }

 private:
  struct Watch final : runner::RunObserver {
    void stepped(std::int64_t, double) override {
      ++steps;
      if (stop != nullptr) stop->store(1);
    }
    void happened(const record::Event&) override {}
    void noticed(const std::string&) override {}
    std::int64_t steps = 0;
    std::atomic<int>* stop = nullptr;
  };
  Watch watch_;
};

class AppSession : public ::testing::Test {
 protected:
  AppSession() {
    ::setenv("ENCORE_WORKER", ENCORE_BUILD_DIR "/bin/tests/fake-worker", 1);
    ::setenv("ENCORE_PLUGIN_PATH", built_in_plugins().c_str(), 1);
    request_.plan.file = (sandbox_.folder() / "tiny.toml").string();
    request_.session.threads = 1;
  }

  app::App app() { return {.database = sandbox_.folder() / "encore.db", .events = events_, .stop = stop_}; }

  Sandbox sandbox_;
  app::Events events_;
  std::atomic<int> stop_{0};
  app::RunRequest request_;
};

TEST_F(AppSession, TrainsWhatIsMissingAndThenHasNothingToDo) {
  Heard heard;
  const app::RunResult first = app::run(request_, app(), heard);
  ASSERT_TRUE(first.session);
  EXPECT_TRUE(first.session->is_whole());
  EXPECT_EQ(first.session->ended.size(), 1u);
  EXPECT_EQ(heard.names, std::vector<std::string>{"tiny"});
  EXPECT_EQ(heard.states, std::vector<store::RunState>{store::RunState::completed});
  EXPECT_EQ(heard.to_do, 1u);
  EXPECT_EQ(heard.steps(), 20);

  Heard again;
  const app::RunResult second = app::run(request_, app(), again);
  EXPECT_FALSE(second.session);
  EXPECT_TRUE(second.has_database);
  EXPECT_TRUE(again.names.empty());
}

TEST_F(AppSession, ARequestToStopLeavesARunThatResumes) {
  Heard heard;
  heard.stop_at_first_step = &stop_;
  const app::RunResult stopped = app::run(request_, app(), heard);
  ASSERT_TRUE(stopped.session);
  EXPECT_TRUE(stopped.session->unfinished);
  EXPECT_FALSE(stopped.session->failed);
  stop_.store(0);
  Heard again;
  EXPECT_TRUE(app::run(request_, app(), again).session->is_whole());
  EXPECT_EQ(again.states, std::vector<store::RunState>{store::RunState::completed});
}

TEST_F(AppSession, AFailedRunIsRetriedFromTheDatabase) {
  ::setenv("FAKE_FAIL_AT", "7", 1);
  Heard heard;
  const app::RunResult failed = app::run(request_, app(), heard);
  ::unsetenv("FAKE_FAIL_AT");
  ASSERT_TRUE(failed.session);
  EXPECT_TRUE(failed.session->failed);

  app::RetryRequest retry_request;
  retry_request.selection.runs = {"tiny"};
  retry_request.failed = true;
  Heard again;
  const app::RetryResult retried = app::retry(retry_request, app(), again);
  ASSERT_TRUE(retried.session) << retried.nothing;
  EXPECT_TRUE(retried.session->is_whole());
}

TEST_F(AppSession, ASweepIsListedBestFirst) {
  request_.plan.grid = {"optimizer.learning_rate=0.1,0.01"};
  ::setenv("FAKE_SURFACE", "1", 1);
  Heard heard;
  ASSERT_TRUE(app::run(request_, app(), heard).session->is_whole());
  ::unsetenv("FAKE_SURFACE");
  store::Store store(app().database, store::OpenMode::read);
  const app::LsResult listed = app::list_runs({.sort = "test/f1"}, store);
  ASSERT_EQ(listed.list.runs.size(), 2u);
  EXPECT_TRUE(listed.complete);
  EXPECT_GE(*listed.list.scores[0].best, *listed.list.scores[1].best);
}

TEST_F(AppSession, AWrongRequestStartsNothing) {
  request_.plan.file = (sandbox_.folder() / "absent.toml").string();
  Heard heard;
  EXPECT_THROW(app::run(request_, app(), heard), Error);
  EXPECT_TRUE(heard.names.empty());
  EXPECT_FALSE(std::filesystem::exists(app().database));
}

}  // namespace
}  // namespace encore::system_test
