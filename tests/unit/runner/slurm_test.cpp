// SPDX-License-Identifier: BSD-3-Clause
// Tests the code for Slurm (runner/slurm/): how the answers of its commands are parsed, the script of a job,
// and the states of runs that follow from each answer (settle_launched(), runner/launched_runs.hpp). Scripts
// replace squeue, sacct and scancel. A command that does not answer must never end a run.
#include <gtest/gtest.h>

#include "runner/launched_runs.hpp"
#include "runner/slurm/submission.hpp"
#include "runner/stop_request.hpp"
#include "unit/runner/slurm_fixture.hpp"

namespace encore::testing {
namespace {

TEST(SlurmCommands, LimitsAreReadFromTheConfiguration) {
  EXPECT_EQ(runner::parse_limits(
                "Configuration data\nMaxArraySize            = 1001\nMaxJobCount             = 10000\n")
                .max_array_size,
            1001);
  EXPECT_EQ(
      runner::parse_limits("MaxArraySize            = 1001\nMaxJobCount             = 5\n").max_array_size,
      4);
  EXPECT_EQ(runner::parse_limits("MaxArraySize            = 0\n").max_array_size, 1)
      << "arrays are switched off";
  EXPECT_EQ(runner::parse_limits("").max_array_size, 1);
}

TEST(SlurmCommands, TheNameOfTheClusterIsReadFromTheConfiguration) {
  EXPECT_EQ(runner::parse_limits("ClusterName             = north\nMaxArraySize            = 1001\n").cluster,
            "north");
  EXPECT_EQ(runner::parse_limits("MaxArraySize            = 1001\n").cluster, "");
  EXPECT_EQ(runner::parse_limits("ClusterName \n").cluster, "");
}

TEST(SlurmCommands, TheQueueIsReadElementByElement) {
  const std::vector<runner::QueuedJob> jobs = runner::parse_queue(
      "12|0|encore-0123456789ab|RUNNING|None|n1\n"
      "12|3|encore-0123456789ab|PENDING|Resources|\n"
      "13|N/A|encore-0123456789ac|OUT_OF_MEMORY|OutOfMemory|n2\nnonsense\n");
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].id, "12_0");
  EXPECT_FALSE(jobs[0].is_over() || jobs[0].waits());
  EXPECT_EQ(jobs[1].element, 3);
  EXPECT_EQ(jobs[1].reason, "Resources");
  EXPECT_TRUE(jobs[1].waits());
  EXPECT_EQ(jobs[2].id, "13");
  EXPECT_TRUE(jobs[2].is_over());
  const std::vector<runner::QueuedJob> accounts =
      runner::parse_accounts("12_3|encore-0123456789ab|CANCELLED by 1000|None assigned\n");
  ASSERT_EQ(accounts.size(), 1u);
  EXPECT_EQ(accounts[0].state, "CANCELLED");
  EXPECT_EQ(accounts[0].nodes, "");
}

TEST(SlurmCommands, TheUsageOfJobsIsReadFromAllTheirStartsAndSteps) {
  const std::vector<runner::AccountedJob> jobs = runner::parse_usage(
      "12_3|encore-0123456789ab|REQUEUED|1000|\n"
      "12_3.batch|batch|CANCELLED||2048K\n"
      "12_3|encore-0123456789ab|COMPLETED|500|\n"
      "12_3.batch|batch|COMPLETED||1024K\n"
      "12_3.0|encore-worker|COMPLETED|400|3M\n"
      "13|encore-0123456789ac|RUNNING|0|\n"
      "13.batch|batch|RUNNING|18446744073709551614|\n"
      "14.0|worker of a job that is not listed|COMPLETED|7|7K\nnonsense\n");
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].job.id, "12_3");
  EXPECT_EQ(jobs[0].job.element, 3);
  EXPECT_EQ(jobs[0].job.state, "COMPLETED");
  EXPECT_EQ(jobs[0].joules, 1500.0);
  EXPECT_EQ(jobs[0].peak_bytes, 3 * 1024 * 1024);
  EXPECT_FALSE(jobs[1].job.is_over());
  EXPECT_FALSE(jobs[1].joules || jobs[1].peak_bytes) << "0 and Slurm's mark for unknown values";
  EXPECT_TRUE(runner::parse_usage("").empty());
}

TEST(SlurmCommands, ErrorsOfSbatchAreFinalOrTemporary) {
  EXPECT_EQ(runner::parse_submit(0, "42\n", "").id, "42");
  EXPECT_EQ(runner::parse_submit(0, "42;cluster\n", "").id, "42");
  const runner::SubmitAnswer wrong =
      runner::parse_submit(1, "", "sbatch: error: invalid partition specified: nowhere\n");
  EXPECT_FALSE(wrong.later);
  EXPECT_EQ(wrong.problem, "sbatch: error: invalid partition specified: nowhere");
  EXPECT_TRUE(
      runner::parse_submit(1, "", "sbatch: error: Slurm temporarily unable to accept job, sleeping\n").later);
  EXPECT_TRUE(runner::parse_submit(1, "", "sbatch: error: QOSMaxSubmitJobPerUserLimit\n").later);
  EXPECT_TRUE(runner::parse_submit(1, "", "").id.empty());
}

TEST(JobName, IsWrittenAndReadBack) {
  const std::string name = runner::make_submission_name();
  EXPECT_TRUE(runner::is_submission_name(name)) << name;
  EXPECT_NE(name, runner::make_submission_name());
  const runner::JobName job{name, 17};
  EXPECT_EQ(runner::job_of(runner::holder_of(job)), job);
  EXPECT_EQ(world::place_text(runner::holder_of(job)), "Slurm job " + name + "_17");
  for (const char* text :
       {"", "encore-0123456789ab", "encore-0123456789ab_", "encore-0123456789ab_x", "encore-0123456789AB_1",
        "../encore-0123456789ab_1", "encore-0123456789ab_99999999"})
    EXPECT_FALSE(runner::job_name_from(text)) << text;
  EXPECT_FALSE(runner::job_of(world::job_identity("node1")));
}

TEST(JobScript, HasTheOptionsOfTheSiteAndQuotesPaths) {
  config::SlurmSite site;
  site.modules = {"gcc/12"};
  site.before = {"export A=1"};
  site.container = "apptainer exec e.sif";
  site.time = "10";
  site.options = {"--qos=long"};
  const std::string script = runner::script_text(site, "/a b/it's", "/opt/exp");
  EXPECT_NE(script.find("module load 'gcc/12'\nexport A=1\n"), std::string::npos);
  EXPECT_NE(script.find("apptainer exec e.sif '/opt/exp' job"), std::string::npos);
  EXPECT_NE(script.find("< '/a b/it'\\''s'/\"${SLURM_ARRAY_TASK_ID:-0}\".orders"), std::string::npos)
      << script;
  EXPECT_NE(script.find("scontrol requeue"), std::string::npos);
  EXPECT_NE(script.find("no list of runs in \"'/a b/it'\\''s'\", which"), std::string::npos) << script;
  const std::vector<std::string> options = runner::sbatch_options(site, "encore-0123456789ab", 7, 1, "/f");
  const auto has = [&](const char* text) { return std::ranges::find(options, text) != options.end(); };
  EXPECT_TRUE(has("--array=0-6") && has("--time=10") && has("--qos=long") && has("--requeue") &&
              has("--signal=B:USR2@120"));
  site.requeue = false;
  EXPECT_EQ(runner::script_text(site, "/a", "/exp").find("scontrol requeue"), std::string::npos);
  for (const std::string& option : runner::sbatch_options(site, "encore-0123456789ab", 1, 1, "/f"))
    EXPECT_FALSE(option.starts_with("--array") || option.starts_with("--ntasks"));
  site.cpus = 3;
  const std::vector<std::string> joined = runner::sbatch_options(site, "encore-0123456789ab", 2, 4, "/f");
  EXPECT_TRUE(std::ranges::find(joined, "--ntasks=4") != joined.end() &&
              std::ranges::find(joined, "--cpus-per-task=3") != joined.end());
}

TEST_F(SlurmRunsTest, AJobInTheQueueIsShownAsSuch) {
  submitted();
  in_queue("PENDING", "Resources", "");
  EXPECT_FALSE(settle());
  EXPECT_EQ(note(), "queued in Slurm, job 12_3, reason Resources");
  in_queue("RUNNING", "None", "n1");
  EXPECT_FALSE(settle());
  EXPECT_EQ(note(), "waits for its turn in Slurm, job 12_3 on n1");
  report({.beats = 1});
  EXPECT_FALSE(settle());
  EXPECT_EQ(note(), "running in Slurm, job 12_3 on n1");
  EXPECT_EQ(run().state, store::RunState::running);
}

TEST_F(SlurmRunsTest, AJobThatWasCancelledInTheQueueIsInterruptedAtOnce) {
  submitted();
  in_queue("CANCELLED", "None", "");
  EXPECT_TRUE(settle());
  EXPECT_EQ(run().state, store::RunState::interrupted);
  expect_reason("its job 12_3 was cancelled in Slurm (scancel) before the run began");
  EXPECT_TRUE(store().begin_attempt(run_));
}

TEST_F(SlurmRunsTest, TheEndOfAJobIsTheReasonOfARunWithoutALastRecord) {
  submitted();
  report({.beats = 1});
  const std::pair<const char*, const char*> ends[] = {
      {"OUT_OF_MEMORY", "too little memory (OUT_OF_MEMORY)"},
      {"TIMEOUT", "its job 12_3 ran into its time limit (TIMEOUT)"},
      {"NODE_FAIL", "its job 12_3 has lost its node, n1 (NODE_FAIL)"},
      {"PREEMPTED", "was preempted"},
      {"DEADLINE", "has ended as DEADLINE"}};
  for (const auto& [state, text] : ends) {
    in_queue(state, "None", "n1");
    EXPECT_FALSE(settle()) << "its last report may come late";
    shift_end(30.0);
    EXPECT_TRUE(settle());
    EXPECT_EQ(run().state, store::RunState::lost);
    expect_reason(text);
    lease_ = *store().begin_attempt(run_, runner::holder_of(job_));
    runner::write_report(
        folder(), lease_.ordinal,
        {.token = lease_.token, .host = "n1", .pid = 5, .beats = 1, .time = world::now_seconds()});
  }
}

TEST_F(SlurmRunsTest, ARequeuedJobHasNotEndedWhileItWaitsAgain) {
  submitted();
  report({.beats = 4, .end = runner::ProcessEnd{75, 0}, .yielded = "its job came near its time limit"});
  in_queue("PENDING", "BeginTime", "");
  EXPECT_FALSE(settle());
  EXPECT_EQ(run().state, store::RunState::running);
  EXPECT_EQ(note(), "queued in Slurm, job 12_3, reason BeginTime");
  in_queue("COMPLETED", "None", "n1");
  EXPECT_TRUE(settle());
  expect_reason("its job came near its time limit");
}

TEST_F(SlurmRunsTest, TheAttemptThatAJobHasBegunTakesThePlaceOfTheOther) {
  submitted();
  in_queue("RUNNING", "None", "n2");
  report({.beats = 4});
  runner::save_succession(folder(), 1,
                          {.of = lease_.token, .attempt = 2, .token = "2-next", .reason = "started again"});
  EXPECT_FALSE(settle());
  const std::vector<store::AttemptRow> attempts = store().read_attempts(run_);
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0].state, store::RunState::lost);
  EXPECT_EQ(attempts[0].reason, "started again");
  EXPECT_EQ(attempts[1].state, store::RunState::running);
  EXPECT_EQ(run().state, store::RunState::running);
  EXPECT_THROW(store().merge(lease_), store::LeaseLost) << "the former token writes nothing more";
  const std::vector<store::HeldByJob> held = store().attempts_of_jobs();
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0].lease.token, "2-next");
  EXPECT_EQ(runner::job_of(held[0].holder), job_);
}

TEST_F(SlurmRunsTest, AJobThatHasWrittenNothingFromItsNodeLacksTheSharedFolder) {
  submitted();
  in_queue("FAILED", "RaisedSignal:53(Real-time_signal_19)", "n1");
  EXPECT_FALSE(settle()) << "its output may be seen late";
  shift_end(30.0);
  EXPECT_TRUE(settle());
  EXPECT_EQ(run().state, store::RunState::interrupted);
  expect_reason("its job 12_3 has ended as FAILED, reason RaisedSignal:53");
  expect_reason("before the run began: nothing was written to " +
                runner::submission_folder(store().runs_folder(), job_.submission).string() + " from n1;");
  expect_reason("must lie on a file system that the nodes share with this machine, under the same path");
}

TEST_F(SlurmRunsTest, TheOutputOfAJobThatNeverBeganIsTheReason) {
  submitted();
  std::ofstream(runner::output_file(store().runs_folder(), job_.submission, 3))
      << "module: not found\nexp: error while loading shared libraries: libsqlite3.so.0\n\n";
  in_queue("FAILED", "NonZeroExitCode", "n1");
  EXPECT_FALSE(settle());
  shift_end(30.0);
  EXPECT_TRUE(settle());
  expect_reason("before the run began: exp: error while loading shared libraries: libsqlite3.so.0");
  EXPECT_EQ(run().reason.find("file system"), std::string::npos) << run().reason;
}

TEST_F(SlurmRunsTest, TheReasonOfAJobThatSlurmEndedDoesNotMentionItsFolder) {
  submitted();
  in_queue("TIMEOUT", "None", "n1");
  EXPECT_FALSE(settle());
  shift_end(30.0);
  EXPECT_TRUE(settle());
  expect_reason("ran into its time limit (TIMEOUT) before the run began");
  EXPECT_EQ(run().reason.find("file system"), std::string::npos) << run().reason;
}

TEST_F(SlurmRunsTest, TheSlurmOfThisClusterDoesNotDecideAboutJobsOfAnother) {
  command("scontrol", "echo 'ClusterName             = here'");
  submission_.cluster = "there";
  submitted();
  report({.beats = 1});
  for (int look = 0; look < 2; ++look) {
    EXPECT_FALSE(settle());
    EXPECT_EQ(note(), "submitted to Slurm on cluster there, which cannot be reached from here, job 12");
    EXPECT_FALSE(store().read_note(lease_, "job").contains("over_since"));
  }
  EXPECT_EQ(run().state, store::RunState::running);
  // The same answer of its own Slurm means that the job is over.
  submission_.cluster = "here";
  submitted();
  EXPECT_FALSE(settle());
  shift_end(30.0);
  EXPECT_TRUE(settle());
  expect_reason("Slurm knows nothing of its job 12_3 any more");
}

TEST_F(SlurmRunsTest, AnotherClustersRunIsEndedByWhatItsJobHasReported) {
  command("scontrol", "echo 'ClusterName             = here'");
  submission_.cluster = "there";
  submitted();
  report({.beats = 4, .end = runner::ProcessEnd{1, 0}});
  EXPECT_TRUE(settle());
}

TEST_F(SlurmRunsTest, NoRunEndsIfSlurmDoesNotAnswer) {
  submitted();
  report({.beats = 1});
  command("squeue", "exit 1");
  for (int look = 0; look < 3; ++look) EXPECT_FALSE(settle());
  EXPECT_EQ(note(), "Slurm does not answer, job 12_3");
}

TEST_F(SlurmRunsTest, AJobThatSlurmHasForgottenIsLookedForInTheAccounts) {
  submitted();
  report({.beats = 1});
  command("sacct", "echo '12_3|" + job_.submission + "|OUT_OF_MEMORY|n1'");
  EXPECT_FALSE(settle());
  shift_end(30.0);
  EXPECT_TRUE(settle());
  expect_reason("OUT_OF_MEMORY");
}

TEST_F(SlurmRunsTest, WithoutAccountsTheReasonIsThatNothingIsKnown) {
  submitted();
  EXPECT_FALSE(settle());
  shift_end(30.0);
  EXPECT_TRUE(settle());
  EXPECT_EQ(run().state, store::RunState::interrupted);
  expect_reason("Slurm knows nothing of its job 12_3 any more");
}

TEST_F(SlurmRunsTest, ARunThatWaitsToBeSubmittedLivesAsLongAsItsSubmitter) {
  submission_.waits_for = "at most 10 submissions a minute";
  save();
  EXPECT_FALSE(settle());
  EXPECT_EQ(note(), "not submitted to Slurm yet: at most 10 submissions a minute");
  submission_.submitter = dead_process();
  save();
  EXPECT_TRUE(settle());
  EXPECT_EQ(run().state, store::RunState::interrupted);
  expect_reason("never submitted: the exp run that packed it has ended");
  EXPECT_NE(runner::requested_stop(folder(), 1), runner::StopWish::none)
      << "should sbatch still be on its way";
}

TEST_F(SlurmRunsTest, ASubmissionWhoseAnswerWasLostIsFoundByItsName) {
  submission_.submitter = dead_process();
  submission_.tries = {world::now_seconds()};
  save();
  EXPECT_FALSE(settle()) << "sbatch may still be on its way";
  in_queue("PENDING", "Priority", "");
  EXPECT_FALSE(settle());
  EXPECT_EQ(note(), "queued in Slurm, job 12_3, reason Priority");
  queue("");
  submission_.tries = {world::now_seconds() - 60.0};
  save();
  EXPECT_TRUE(settle());
}

TEST_F(SlurmRunsTest, ARefusalIsTheReason) {
  submission_.stage = runner::SubmissionStage::refused;
  submission_.waits_for = "its job was refused by Slurm: invalid partition";
  save();
  EXPECT_TRUE(settle());
  EXPECT_EQ(run().state, store::RunState::interrupted);
  expect_reason("refused by Slurm: invalid partition");
}

TEST_F(SlurmRunsTest, ARunThatIsStoppedInTheQueueIsStoppedAndItsJobCancelled) {
  submitted();
  in_queue("PENDING", "Resources", "");
  EXPECT_FALSE(settle());
  EXPECT_TRUE(runner::stop_queued(store(), {run_}).empty()) << "there is no request for it";
  runner::request_stop(folder(), 1, runner::StopWish::checkpoint);
  EXPECT_EQ(runner::stop_queued(store(), {run_}).size(), 1u);
  EXPECT_EQ(run().state, store::RunState::stopped);
  std::ifstream cancelled(programs() / "cancelled");
  std::string line;
  std::getline(cancelled, line);
  EXPECT_EQ(line, "12_3");
}

TEST_F(SlurmRunsTest, ARunThatWorksIsLeftToItsWorker) {
  submitted();
  in_queue("RUNNING", "None", "n1");
  report({.beats = 3});
  runner::request_stop(folder(), 1, runner::StopWish::checkpoint);
  EXPECT_TRUE(runner::stop_queued(store(), {run_}).empty());
  EXPECT_EQ(run().state, store::RunState::running);
}

TEST_F(SlurmRunsTest, ControlProgramsShareTheAnswerOfSqueue) {
  submission_.queue_seconds = 60;
  submitted();
  command("squeue", "echo asked >> '" + (programs() / "asked").string() + "'; cat '" +
                        (programs() / "queue").string() + "'");
  in_queue("PENDING", "Resources", "");
  for (int look = 0; look < 5; ++look) settle();
  std::ifstream asked(programs() / "asked");
  int lines = 0;
  for (std::string line; std::getline(asked, line);) ++lines;
  EXPECT_EQ(lines, 1);
}

}  // namespace
}  // namespace encore::testing
