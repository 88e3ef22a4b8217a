// SPDX-License-Identifier: BSD-3-Clause
// Tests one run that several ranks (processes) train over MPI (train/ranks.hpp, app/run_ranks.hpp): it must
// have the bits of one process, whatever the ranks and threads. Also what is rejected. rank_faults_test.cpp
// tests ranks that are killed, stopped or wrong.
#include <signal.h>
#include <unistd.h>

#include "system/control/ranks.hpp"

namespace encore::system_test {
namespace {

TEST_F(Ranks, InAnyNumberTrainTheBitsOfOneProcess) {
  for (const std::string precision : {"float32", "bfloat16", "float64"}) {
    const std::string set = "train.precision=" + precision;
    const std::vector<std::string> alone = bits_of({"-S", set, "-t", "1"});
    ASSERT_GT(alone.size(), 100u);
    for (const auto& [ranks, threads] : {std::pair("2", "1"), {"4", "1"}, {"2", "2"}}) {
      const std::string name = precision + "-" + ranks + "-" + threads;
      EXPECT_EQ(difference(bits_of({"-S", set, "--ranks", ranks, "-t", threads}), alone), "") << name;
    }
  }
}

TEST_F(Ranks, ShareOptimizersByElementAndByTensorWithClippingAndATableOfTokens) {
  for (const std::string optimizer : {"sgd", "lamb"}) {
    const std::vector<std::string> sets = {"-S", "optimizer.type=" + optimizer, "-S", "train.clip_norm=0.1"};
    const std::vector<std::string> alone = bits_of(sets);
    auto shared = sets;
    shared.insert(shared.end(), {"--ranks", "4"});
    EXPECT_EQ(difference(bits_of(shared), alone), "") << optimizer;
  }
}

/// 2^130, which is infinite in float32: the first steps make no update.
TEST_F(Ranks, LeaveOutTheSameUpdates) {
  const std::vector<std::string> sets = {"-S", "train.loss_scale=1.361129467683754e39"};
  const std::vector<std::string> alone = bits_of(sets);
  EXPECT_NE(difference(bits_of({}), alone), "");
  auto shared = sets;
  shared.insert(shared.end(), {"--ranks", "2"});
  EXPECT_EQ(difference(bits_of(shared), alone), "");
}

TEST_F(Ranks, HaveAdaptersToo) {
  const std::vector<std::string> sets = {"-S", "train.lora=[\"qkv.weight\"]", "-S", "train.lora_rank=2"};
  const std::vector<std::string> alone = bits_of(sets);
  auto shared = sets;
  shared.insert(shared.end(), {"--ranks", "2"});
  EXPECT_EQ(difference(bits_of(shared), alone), "");
}

TEST_F(Ranks, ExchangeParametersThatSeveralBlocksShare) {
  const std::vector<std::string> sets = {"-S", "model.layers=3", "-S", "model.groups=1"};
  const std::vector<std::string> alone = bits_of(sets);
  auto shared = sets;
  shared.insert(shared.end(), {"--ranks", "4"});
  EXPECT_EQ(difference(bits_of(shared), alone), "");
}

TEST_F(Ranks, AnotherNumberOfShardsIsAnotherOrderOfAdding) {
  const std::vector<std::string> four = bits_of({"--ranks", "2"});
  EXPECT_NE(bits_of({"-S", "train.gradient_shards=2", "--ranks", "2"}), four)
      << "bits that do not depend on the order would prove nothing";
}

TEST_F(Ranks, EndWithACheckpointWhenTheirExpIsGone) {
  const std::vector<std::string> unbroken = bits_of({"-S", "train.epochs=40"});
  const pid_t running = sandbox_.start({"run", "tiny.toml", "-S", "train.epochs=40", "--ranks", "2"});
  ASSERT_TRUE(wait_for_checkpoints(2));
  ::kill(running, SIGKILL);
  ASSERT_TRUE(Sandbox::wait(running));
  ASSERT_TRUE(sandbox_.wait_until_no_workers());
  EXPECT_EQ(difference(bits_of({"-S", "train.epochs=40"}), unbroken), "");
}

TEST_F(Ranks, ALauncherThatJoinsNoRanksIsNamed) {
  const runner::ProgramOutput output =
      sandbox_.exp({"run", "tiny.toml", "--ranks", "2", "--mpirun", "env COUNT={ranks}"});
  EXPECT_NE(output.end.exit_code, 0);
  EXPECT_TRUE(
      contains(output.output + output.errors, "the launcher has started 1 rank where 2 were asked for"))
      << output.output << output.errors;
}

TEST_F(Ranks, AreNotPartOfTheIdentity) {
  train({"--ranks", "2"});
  EXPECT_TRUE(contains(output_of({"run", "tiny.toml"}), "nothing to do"));
  const std::string log = output_of({"logs", "tiny"});
  EXPECT_TRUE(contains(log, "2 ranks over")) << log;
  EXPECT_TRUE(contains(log, "of the time of rank 0 in its steps went into the exchange")) << log;
}

TEST_F(Ranks, VerifyWhatOneProcessHasTrained) {
  train({"-t", "1"});
  const std::string verified = output_of({"verify", "tiny", "--ranks", "2", "--scores"});
  EXPECT_TRUE(contains(verified, "equal")) << verified;
  EXPECT_TRUE(contains(verified, "(openmp, 2 ranks with 1 thread each)")) << verified;
  EXPECT_TRUE(contains(refusal_of({"verify", "tiny", "--ranks", "3"}), "expected one of 1, 2, 4"));
  EXPECT_TRUE(contains(refusal_of({"verify", "tiny", "--ranks", "2", "--kill-at", "3"}),
                       "--kill-at kills one process"));
}

TEST_F(Ranks, AreMeasuredStrongAndWeakAgainstOneProcess) {
  const nlohmann::json result =
      nlohmann::json::parse(output_of({"bench", "tiny.toml", "--ranks", "1,2", "-t", "1", "--batch-size", "4",
                                       "--rounds", "2", "--batches", "1", "--json", "--quiet"}));
  EXPECT_EQ(result.at("cases").size(), 5u) << "two machines, a batch of 4 on each, and one of 8 of two ranks";
  ASSERT_EQ(result.at("rank_scaling").size(), 2u) << result.at("rank_scaling");
  EXPECT_EQ(result["rank_scaling"][0].at("scaling"), "strong");
  EXPECT_EQ(result["rank_scaling"][1].at("scaling"), "weak");
  for (const nlohmann::json& one : result["rank_scaling"]) {
    EXPECT_EQ(one.at("ranks"), 2);
    EXPECT_EQ(one.at("against"), "float32, batch 4, openmp, 1 thread");
    EXPECT_GT(one.at("efficiency").get<double>(), 0.0);
    EXPECT_GT(one.at("exchange_share").get<double>(), 0.0);
    EXPECT_LT(one.at("exchange_share").get<double>(), 1.0);
  }
  EXPECT_EQ(result["rank_scaling"][1].at("name"), "float32, batch 8, openmp, 1 thread, 2 ranks");
  EXPECT_TRUE(contains(output_of({"bench", "show", "tiny"}), "EFFICIENCY %"));
}

TEST_F(Ranks, ThatCannotBeMeasuredAreRefusedFirst) {
  const auto refused = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "bench");
    return refusal_of(options);
  };
  EXPECT_TRUE(
      contains(refused({"--ranks", "2"}), "--ranks measures a training step; name an experiment file"));
  EXPECT_TRUE(contains(refused({"tiny.toml", "--ranks", "1,3"}), "expected one of 1, 2, 4"));
  EXPECT_TRUE(contains(refused({"tiny.toml", "--ranks", "0"}),
                       "--ranks \"0\": expected a whole number of at least 1"));
  EXPECT_TRUE(contains(refused({"tiny.toml", "--ranks", "1", "--mpirun", "srun"}), "--mpirun needs --ranks"));
  EXPECT_TRUE(
      contains(refused({"tiny.toml", "--ranks", "2", "--order-cost"}), "--order-cost measures the sums"));
  EXPECT_TRUE(contains(refused({"tiny.toml", "--ranks", "2", "--mpirun", "no-such-launcher"}),
                       "is started by no-such-launcher, which was not found"));
  const runner::ProgramOutput joined = sandbox_.exp({"bench", "tiny.toml", "--ranks", "2", "--batch-size",
                                                     "4", "--rounds", "2", "--mpirun", "env COUNT={ranks}"});
  EXPECT_EQ(joined.end.exit_code, 1);
  EXPECT_TRUE(contains(joined.errors, "the launcher has started 1 rank where 2 were asked for"))
      << joined.errors;
}

TEST_F(Ranks, AreNotMeasuredByAWorkerWithoutMpi) {
  sandbox_.write("worker.sh", "#!/bin/sh\n[ \"$1\" = version ] || exec " ENCORE_BUILD_DIR
                              "/bin/encore-worker \"$@\"\n" ENCORE_BUILD_DIR
                              "/bin/encore-worker version | sed 's/\"mpi\": *\"[^\"]*\"/\"mpi\":\"\"/'\n");
  std::filesystem::permissions(sandbox_.folder() / "worker.sh", std::filesystem::perms::owner_all);
  sandbox_.set("ENCORE_WORKER", (sandbox_.folder() / "worker.sh").string());
  EXPECT_TRUE(contains(refusal_of({"bench", "tiny.toml", "--ranks", "2"}),
                       "was built without MPI; rebuild with ./exp build --mpi"));
}

TEST_F(Ranks, RejectInvalidRequestsBeforeAnythingStarts) {
  const auto refused = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "tiny.toml"});
    const std::string said = refusal_of(options);
    EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db"));
    return said;
  };
  EXPECT_TRUE(contains(refused({"--ranks", "3"}),
                       "--ranks 3 does not divide train.gradient_shards = 4, the parts of a batch that ranks "
                       "share: expected one of 1, 2, 4"));
  EXPECT_TRUE(contains(refused({"--ranks", "0"}), "invalid --ranks 0: expected at least 1"));
  EXPECT_TRUE(contains(refused({"--ranks", "2", "--mpirun", "no-such-launcher -n {ranks}"}),
                       "--ranks 2 is started by no-such-launcher, which was not found"));
  EXPECT_TRUE(contains(refused({"--mpirun", "srun -n {ranks}"}), "--mpirun needs --ranks N"));
  EXPECT_TRUE(
      contains(refused({"--ranks", "2", "--launcher", "sh -c {command}"}), "--ranks needs --launcher slurm"));
}

TEST_F(Ranks, ALauncherGetsRanksAndThreads) {
  const std::string root = ::geteuid() == 0 ? " --allow-run-as-root" : "";
  sandbox_.write("launch.sh",
                 "echo \"$1 $2\" > said.txt\nranks=$1\nshift 2\nexec mpirun -n $ranks --oversubscribe" +
                     root + " \"$@\"\n");
  train({"--ranks", "2", "-t", "3", "--mpirun", "sh launch.sh {ranks} {cpus}"});
  EXPECT_EQ(sandbox_.read("said.txt"), "2 3\n");
}

}  // namespace
}  // namespace encore::system_test
