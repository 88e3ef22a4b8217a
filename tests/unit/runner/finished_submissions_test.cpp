// SPDX-License-Identifier: BSD-3-Clause
// Tests FinishedSubmissions (runner/slurm/finished_submissions.hpp): which folders of submissions to Slurm
// are removed, and which must stay because a run or job still needs them; a process that is killed during the
// removal loses nothing.
#include "runner/slurm/finished_submissions.hpp"

#include <gtest/gtest.h>

#include "unit/runner/slurm_fixture.hpp"

namespace encore::testing {
namespace {

class FinishedSubmissionsTest : public SlurmRunsTest {
 protected:
  std::filesystem::path jobs() { return runner::jobs_folder(store().runs_folder()); }
  std::filesystem::path submission() { return jobs() / job_.submission; }
  /// Makes a submission of an hour ago. Its only run ended in this state, and Slurm no longer knows the job.
  void ended_as(store::RunState state) {
    submitted();
    std::ofstream(submission() / "0.orders") << runner::order_file(folder(), 1).string() << "\n";
    std::ofstream(submission() / "element-0.out") << "module: command not found\n";
    finish(state);
  }
  void finish(store::RunState state) {
    {
      record::SpoolWriter spool(spool_of(lease_), lease_.ordinal);
      if (state == store::RunState::completed)
        spool.event(record::Ended{.ending = record::Ending::completed});
    }
    store().finish_attempt(lease_, state, "");
  }
  bool is_kept() {
    settle();
    return std::filesystem::exists(submission() / runner::submission_file);
  }
  bool is_removed() { return !is_kept() && !std::filesystem::exists(submission()); }
};

TEST_F(FinishedSubmissionsTest, TheFolderIsRemovedOnceAllRunsAreMergedAndTheJobIsOver) {
  submitted();
  in_queue("RUNNING", "None", "n1");
  EXPECT_TRUE(is_kept());
  report({.end = runner::ProcessEnd{0, 0}});
  finish(store::RunState::completed);
  EXPECT_TRUE(is_kept()) << "the job still works";
  in_queue("COMPLETING", "None", "n1");
  EXPECT_TRUE(is_kept());
  in_queue("COMPLETED", "None", "n1");
  EXPECT_TRUE(is_removed());
  EXPECT_TRUE(std::filesystem::exists(runner::order_file(folder(), 1).parent_path()))
      << "nothing of the run is removed";
}

TEST_F(FinishedSubmissionsTest, AJobThatWaitsOrWasRequeuedKeepsIt) {
  ended_as(store::RunState::completed);
  for (const char* state : {"PENDING", "REQUEUED", "REQUEUE_HOLD", "SUSPENDED", "CONFIGURING"}) {
    in_queue(state, "None", "");
    EXPECT_TRUE(is_kept()) << state;
  }
  // One such element among many is enough.
  queue("12|0|" + job_.submission + "|COMPLETED|None|n1\n12|3|" + job_.submission + "|PENDING|None|\n");
  EXPECT_TRUE(is_kept());
  queue("");
  EXPECT_TRUE(is_removed()) << "Slurm has forgotten it";
}

TEST_F(FinishedSubmissionsTest, ARunThatIsHeldKeepsItWhateverSlurmSays) {
  submitted();
  report({.beats = 1});
  for (const char* state : {"COMPLETED", "NODE_FAIL"}) {
    in_queue(state, "None", "n1");
    EXPECT_TRUE(is_kept()) << state;
    EXPECT_EQ(run().state, store::RunState::running) << "its last report may come late";
  }
}

TEST_F(FinishedSubmissionsTest, AllStayIfSlurmDoesNotAnswer) {
  ended_as(store::RunState::completed);
  command("squeue", "exit 1");
  EXPECT_TRUE(is_kept());
  command("squeue", "exit 0");
  EXPECT_TRUE(is_removed());
}

TEST_F(FinishedSubmissionsTest, AnotherClustersFolderStaysUntilOneLooksFromThere) {
  command("scontrol", "echo 'ClusterName             = here'");
  submission_.cluster = "there";
  ended_as(store::RunState::completed);
  EXPECT_TRUE(is_kept());
  command("scontrol", "echo 'ClusterName             = there'");
  EXPECT_TRUE(is_removed());
}

TEST_F(FinishedSubmissionsTest, ARecentSubmissionStaysBecauseItCountsForTheRate) {
  ended_as(store::RunState::completed);
  submission_.tries.push_back(world::now_seconds());
  save();
  EXPECT_TRUE(is_kept());
  submission_.tries = {world::now_seconds() + 3600.0};
  save();
  EXPECT_TRUE(is_kept()) << "another login node has another clock";
}

TEST_F(FinishedSubmissionsTest, AFolderThatIsBeingPackedBelongsToItsSubmitter) {
  ended_as(store::RunState::completed);
  submission_.stage = runner::SubmissionStage::packing;
  submission_.tries.clear();
  save();
  EXPECT_TRUE(is_kept());
  submission_.submitter.host = "another";
  save();
  EXPECT_TRUE(is_kept());
  const auto written = std::filesystem::last_write_time(submission() / runner::submission_file);
  std::filesystem::last_write_time(submission() / runner::submission_file, written - std::chrono::hours(25));
  EXPECT_TRUE(is_removed()) << "its submitter has not touched it for a day";
  submission_.submitter = dead_process();
  save();
  EXPECT_TRUE(is_removed());
}

TEST_F(FinishedSubmissionsTest, TheOutputOfTheJobIsKeptUntilItsRunsAreTriedAgainOrRemoved) {
  for (const store::RunState state :
       {store::RunState::failed, store::RunState::lost, store::RunState::interrupted}) {
    ended_as(state);
    EXPECT_TRUE(is_kept()) << store::name_of(state);
    EXPECT_TRUE(std::filesystem::exists(submission() / "element-0.out"));
    lease_ = *store().begin_attempt(run_, runner::holder_of(job_));
  }
  store().finish_attempt(lease_, store::RunState::interrupted, "");
  EXPECT_TRUE(is_kept());
  const store::Lease next = *store().begin_attempt(run_, world::this_process());
  store().finish_attempt(next, store::RunState::interrupted, "");
  EXPECT_TRUE(is_removed()) << "its latest attempt belongs to another job";
  submitted();
  const store::Lease last = *store().begin_attempt(run_, runner::holder_of(job_));
  store().finish_attempt(last, store::RunState::stopped, "");
  EXPECT_TRUE(is_removed()) << "a stopped run needs no reason";
}

TEST_F(FinishedSubmissionsTest, ARemovalThatWasCutOffIsCompleted) {
  ended_as(store::RunState::completed);
  const std::filesystem::path aside = submission().string() + ".removed";
  // The process was killed after the renaming, or while it removed files.
  for (const bool half : {false, true}) {
    std::filesystem::create_directories(aside);
    std::ofstream(aside / "element-0.out") << "text";
    if (!half) std::ofstream(aside / runner::submission_file) << "{}";
    EXPECT_FALSE(runner::FinishedSubmissions(store()).empty());
    settle();
    EXPECT_FALSE(std::filesystem::exists(aside));
  }
  EXPECT_TRUE(is_removed());
  EXPECT_TRUE(runner::FinishedSubmissions(store()).empty());
  EXPECT_EQ(run().state, store::RunState::completed);
}

TEST_F(FinishedSubmissionsTest, ACheckRemovesAFolderEvenIfNoRunMustBeSettled) {
  ended_as(store::RunState::completed);
  runner::settle_launched_in_passing(path());
  EXPECT_FALSE(std::filesystem::exists(submission()));
}

TEST_F(FinishedSubmissionsTest, OtherFilesStay) {
  ended_as(store::RunState::completed);
  std::filesystem::create_directories(jobs() / "notes.removed");
  std::filesystem::create_directories(jobs() / "encore-0123456789ac");
  std::ofstream(jobs() / "encore-0123456789ac" / runner::submission_file) << "no JSON";
  EXPECT_TRUE(is_removed());
  EXPECT_TRUE(std::filesystem::exists(jobs() / "notes.removed"));
  EXPECT_TRUE(std::filesystem::exists(jobs() / "encore-0123456789ac")) << "its content is unknown";
}

}  // namespace
}  // namespace encore::testing
