// SPDX-License-Identifier: BSD-3-Clause
// Tests JobAccounts (runner/slurm/job_accounts.hpp), which stores energy and memory from Slurm's accounting.
// They must be recorded exactly once with every attempt of a job. The code waits for them while the
// accounting is late, and leaves them out if a site has none. A script replaces sacct.
#include "runner/slurm/job_accounts.hpp"

#include <gtest/gtest.h>

#include "store/job_usage.hpp"
#include "unit/runner/slurm_fixture.hpp"

namespace encore::testing {
namespace {

class JobAccountsTest : public SlurmRunsTest {
 protected:
  std::filesystem::path submission() {
    return runner::submission_folder(store().runs_folder(), job_.submission);
  }
  /// Completes the run. Its job was submitted `seconds_ago` seconds ago, and is over in the queue.
  void over(double seconds_ago) {
    submission_.stage = runner::SubmissionStage::submitted;
    submission_.job = "12";
    submission_.tries = {world::now_seconds() - seconds_ago};
    save();
    {
      record::SpoolWriter(spool_of(lease_), lease_.ordinal)
          .event(record::Ended{.ending = record::Ending::completed});
    }
    store().finish_attempt(lease_, store::RunState::completed, "");
    in_queue("COMPLETED", "None", "n1");
  }
  void accounts(const std::string& lines) {
    std::ofstream(programs() / "accounts") << lines;
    command("sacct", "echo asked >> '" + (programs() / "asked").string() + "'; cat '" +
                         (programs() / "accounts").string() + "'");
  }
  int times_asked() {
    std::ifstream in(programs() / "asked");
    int count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  }
  std::string row(const std::string& state) {
    return "12_3|" + job_.submission + "|" + state + "|1240000|\n12_3.batch|batch|" + state + "||2000K\n";
  }
  std::string noted() {
    std::string text;
    for (const auto& [attempt, usage] : store::read_job_usage(store(), run_))
      text += std::to_string(attempt) + ", " + usage.job + ", " + std::to_string(usage.joules.value_or(0.0)) +
              " J, " + std::to_string(usage.peak_bytes.value_or(0)) + " bytes";
    return text;
  }
};

TEST_F(JobAccountsTest, AreRecordedOnceWhenTheJobIsOver) {
  over(30.0);
  accounts(row("COMPLETED"));
  settle();
  EXPECT_EQ(noted(), "1, 12_3, 1240000.000000 J, 2048000 bytes");
  settle();
  EXPECT_EQ(times_asked(), 1);
}

TEST_F(JobAccountsTest, AreWaitedForWhileTheJobWorksOrTheAccountingLags) {
  over(600.0);
  accounts(row("COMPLETED"));
  in_queue("RUNNING", "None", "n1");
  settle();
  EXPECT_EQ(times_asked(), 0);
  in_queue("COMPLETED", "None", "n1");
  for (const std::string& lagging : {std::string(), row("RUNNING")}) {
    accounts(lagging);
    settle();
    EXPECT_EQ(noted(), "");
    EXPECT_TRUE(std::filesystem::exists(submission())) << "the values are still to come";
  }
  accounts(row("COMPLETED"));
  settle();
  EXPECT_NE(noted(), "");
  EXPECT_FALSE(std::filesystem::exists(submission()));
}

TEST_F(JobAccountsTest, AreWaitedForNoLongerThanAnHour) {
  over(2.0 * 3600.0);
  accounts("");
  settle();
  EXPECT_EQ(noted(), "");
  EXPECT_FALSE(std::filesystem::exists(submission()));
}

TEST_F(JobAccountsTest, AreRequestedOnceIfASiteHasNone) {
  over(30.0);
  command("sacct", "echo asked >> '" + (programs() / "asked").string() + "'; echo disabled >&2; exit 1");
  for (int look = 0; look < 3; ++look) settle();
  EXPECT_EQ(noted(), "");
  EXPECT_EQ(times_asked(), 1);
}

TEST_F(JobAccountsTest, WithoutMeasurementsAreNotRecorded) {
  over(30.0);
  accounts("12_3|" + job_.submission + "|COMPLETED|0|\n12_3.batch|batch|COMPLETED||\n");
  settle();
  EXPECT_EQ(noted(), "");
}

TEST_F(JobAccountsTest, BelongToAllAttemptsOfAJob) {
  record::Specification other = specification_of('b');
  const std::int64_t second = store().add_run(other).run.number;
  const store::Lease lease = *store().begin_attempt(second, runner::holder_of(job_));
  {
    record::SpoolWriter(spool_of(lease), lease.ordinal)
        .event(record::Ended{.ending = record::Ending::completed});
  }
  store().finish_attempt(lease, store::RunState::completed, "");
  over(30.0);
  accounts(row("COMPLETED"));
  settle();
  const auto usage = store::read_job_usage(store(), second);
  ASSERT_EQ(usage.size(), 1u);
  EXPECT_EQ(usage.front().second.attempts, 2);
  EXPECT_EQ(store::read_job_usage(store(), run_).front().second, usage.front().second);
}

}  // namespace
}  // namespace encore::testing
