// SPDX-License-Identifier: BSD-3-Clause
// Tests how runs are added and found (store/add_runs.cpp, store/runs.cpp): names, ids, parameters, and
// questions (the text of all that the bits of a run depend on), which are stored once per backend, also if
// several processes add the same one at once. Names and ids of stored runs must not change.
#include <sys/wait.h>
#include <unistd.h>

#include "unit/store/store_fixture.hpp"

namespace encore::store {
namespace {

using testing::message_of;
using testing::question;
using testing::specification_of;
using testing::StoreTest;

TEST_F(StoreTest, ARunHasParametersWithTypeAndOrigin) {
  record::Specification specification = specification_of();
  const std::int64_t sweep = store().add_sweep("the sweep", "sweep.toml", "name = \"the sweep\"");
  EXPECT_EQ(store().add_sweep("the sweep", "sweep.toml", "name = \"the sweep\""), sweep);
  EXPECT_NE(store().add_sweep("the sweep", "sweep.toml", "name = \"the sweep\"", "{\"overrides\": []}"),
            sweep)
      << "another base or override is another plan";
  const AddedRun added =
      store().add_run(specification, {.sweep = sweep, .note = "a note", .tags = {"paper", "paper", "b"}});
  EXPECT_TRUE(added.created);
  EXPECT_EQ(added.run.state, RunState::pending);
  EXPECT_EQ(added.run.sweep, "the sweep");
  EXPECT_EQ(added.run.note, "a note");
  EXPECT_EQ(added.run.id, specification.run);
  EXPECT_EQ(added.run.id.size(), 10u);
  EXPECT_EQ(added.run.seed, 7u);
  std::string text;
  for (const ParamRow& row : store().read_params(added.run.number)) {
    text += row.key + " " + row.type + " " + row.value.dump() + " " + row.source + " " + row.at + "\n";
  }
  EXPECT_EQ(text,
            "model.block list [\"attention\",\"feed_forward\"] default \n"
            "model.dropout number 0.1 default \n"
            "model.width integer 384 file test.toml:14:3\n"
            "task.strict boolean true default \n"
            "task.type text \"ner\" default \n");
  EXPECT_EQ(store().read_tags(added.run.number), (std::vector<std::string>{"b", "paper"}));
  store().set_tag(added.run.number, "b", false);
  EXPECT_EQ(store().read_tags(added.run.number), (std::vector<std::string>{"paper"}));
  const auto datasets = store().read_datasets(added.run.number);
  ASSERT_EQ(datasets.size(), 1u);
  EXPECT_EQ(datasets[0].path, "/data/train.conll");
}

TEST_F(StoreTest, ADescriptionOfARunCanBeRecordedLater) {
  record::Specification specification = specification_of();
  const std::int64_t run = store().add_run(specification).run.number;
  const auto told = [&] {
    for (const ParamRow& row : store().read_params(run))
      if (row.key == "data.private") return row.value.dump() + " " + row.source + " " + row.at;
    return std::string("nothing");
  };
  const auto describe = [&] {
    const Store::RunToDescribe one{run, &specification};
    store().describe({&one, 1});
  };
  EXPECT_EQ(told(), "nothing") << "as an earlier version left it";
  specification.config["data"]["private"] = true;
  specification.config["model"]["width"] = 8;
  specification.origin["data.private"] = {config::Source::file, {"test.toml", 3, 1}};
  describe();
  EXPECT_EQ(told(), "true file test.toml:3:1");
  specification.config["data"]["private"] = false;
  describe();
  EXPECT_EQ(told(), "false file test.toml:3:1");
  for (const ParamRow& row : store().read_params(run)) {
    if (row.key != "model.width") continue;
    EXPECT_EQ(row.value, 384) << "a setting that counts keeps its value";
  }
}

TEST_F(StoreTest, AQuestionIsAskedOncePerBackend) {
  record::Specification first = specification_of('a');
  record::Specification again = specification_of('a', "another name");
  const std::string id = store().add_run(first).run.id;
  const AddedRun added = store().add_run(again);
  EXPECT_FALSE(added.created);
  EXPECT_EQ(again.run, id);
  EXPECT_EQ(again.name, "test");
  record::Specification cuda = specification_of('a');
  cuda.backend = "cuda";
  EXPECT_TRUE(store().add_run(cuda).created);
  EXPECT_EQ(cuda.name, "test-2");
  record::Specification fresh = specification_of('a');
  const AddedRun repeat = store().add_run(fresh, {.fresh = true});
  EXPECT_TRUE(repeat.created);
  EXPECT_EQ(repeat.run.repeat, 2);
  EXPECT_EQ(fresh.name, "test-3");
  EXPECT_EQ(store().find_question(question('a'), "openmp")->id, fresh.run) << "the newest repeat counts";
  EXPECT_FALSE(store().find_question(question('b'), "openmp"));
}

TEST_F(StoreTest, ALargeSeedSurvives) {
  record::Specification specification = specification_of();
  specification.seed = 18446744073709551615u;
  EXPECT_EQ(store().add_run(specification).run.seed, 18446744073709551615u);
}

TEST_F(StoreTest, RunsAreFoundByNameIdAndUniqueBeginning) {
  const std::int64_t first = add('a', "wnut17"), second = add('b', "wikigold");
  Database& database = store().database();
  database.execute("UPDATE run SET id = '0123456789' WHERE number = " + std::to_string(first));
  database.execute("UPDATE run SET id = '01ffffffff' WHERE number = " + std::to_string(second));
  EXPECT_EQ(store().find_run("wnut17").number, first);
  EXPECT_EQ(store().find_run("01ffffffff").number, second);
  EXPECT_EQ(store().find_run("012").number, first);
  EXPECT_EQ(store().find_run("01f").number, second);
  EXPECT_EQ(message_of<UnknownRun>([&] { store().find_run("01"); }),
            "\"01\" begins the ids of 2 runs: 01ffffffff (wikigold), 0123456789 (wnut17); give more digits, "
            "or the name");
  EXPECT_NE(message_of<UnknownRun>([&] { store().find_run("wnut18"); }).find("did you mean \"wnut17\"?"),
            std::string::npos);
  EXPECT_NE(message_of<UnknownRun>([&] { store().find_run("zzz"); }).find("exp ls lists the runs"),
            std::string::npos);
  EXPECT_THROW(store().find_run(""), UnknownRun);
  EXPECT_THROW(store().find_run("%"), UnknownRun);
  // A name that looks like the beginning of an id is first read as a name.
  add('c', "01");
  EXPECT_EQ(store().find_run("01").name, "01");
}

TEST_F(StoreTest, ListsAreFiltered) {
  add('a', "alpha");
  const std::int64_t beta = add('b', "beta");
  add('c', "alphabet");
  store().set_tag(beta, "good", true);
  const auto names = [&](const RunFilter& filter) {
    std::string text;
    for (const RunRow& row : store().list_runs(filter)) text += row.name + " ";
    return text;
  };
  EXPECT_EQ(names({}), "alphabet beta alpha ");
  EXPECT_EQ(names({.limit = 2}), "alphabet beta ");
  EXPECT_EQ(names({.tags = {"good"}}), "beta ");
  EXPECT_EQ(names({.sweeps = {"none"}}), "");
  EXPECT_EQ(names({.numbers = {{beta}}}), "beta ");
  store().begin_attempt(beta);
  EXPECT_EQ(names({.states = {RunState::running}}), "beta ");
  EXPECT_EQ(names({.states = {RunState::pending}, .limit = 1}), "alphabet ");
}

/// Starts `processes` processes that all do `race` at once; returns how many of them succeeded. All live
/// until the last one has tried.
int winners(int processes, const std::function<bool()>& race) {
  int gate[2], tried[2];
  if (::pipe(gate) != 0 || ::pipe(tried) != 0) return -1;
  for (int number = 0; number < processes; ++number) {
    if (::fork() != 0) continue;
    ::close(gate[1]);
    char byte;
    const ssize_t opened = ::read(gate[0], &byte, 1);  // returns when the parent closes its end
    bool won = false;
    try {
      won = opened == 0 && race();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(99);
    }
    ::close(tried[1]);
    const ssize_t all_tried =
        ::read(tried[0], &byte, 1);  // returns when no process has the other end any more
    ::_exit(all_tried != 0 ? 99 : won ? 0 : 1);
  }
  for (const int end : {gate[0], gate[1], tried[0], tried[1]}) ::close(end);
  int won = 0;
  for (int number = 0; number < processes; ++number) {
    int status = 0;
    ::wait(&status);
    EXPECT_NE(WEXITSTATUS(status), 99);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) ++won;
  }
  return won;
}

TEST_F(StoreTest, OneOfSeveralProcessesGetsAQuestion) {
  for (int round = 0; round < 5; ++round) {
    const char letter = static_cast<char>('a' + round);
    // The first round makes the database as well.
    EXPECT_EQ(winners(6,
                      [&] {
                        Store mine(path(), OpenMode::create);
                        record::Specification specification = specification_of(letter);
                        const AddedRun added = mine.add_run(specification);
                        return mine.begin_attempt(added.run.number).has_value();
                      }),
              1);
    EXPECT_EQ(store().list_runs().size(), static_cast<std::size_t>(round + 1));
  }
}

/// Few transactions matter, because each waits for the disk twice.
TEST_F(StoreTest, ManyRunsAreDescribedInFewTransactions) {
  constexpr std::size_t count = 700;
  std::vector<record::Specification> specifications;
  for (std::size_t i = 0; i < count; ++i) {
    specifications.push_back(specification_of('a', "run" + std::to_string(i)));
    specifications.back().question = std::to_string(i);
  }
  std::vector<Store::RunToAdd> runs;
  for (record::Specification& specification : specifications) runs.push_back({&specification, {}});
  std::vector<Store::RunToDescribe> described;
  const std::vector<AddedRun> added = store().add_runs(runs);
  for (std::size_t i = 0; i < count; ++i) {
    specifications[i].config["data"]["private"] = true;
    specifications[i].config["train"]["recompute"] = "cheap";
    described.push_back({added[i].run.number, &specifications[i]});
  }
  int commits = 0;
  sqlite3_commit_hook(
      store().database().handle(),
      [](void* all) {
        ++*static_cast<int*>(all);
        return 0;
      },
      &commits);
  store().describe(described);
  EXPECT_EQ(commits, 3) << "of 500 rows each";
  EXPECT_EQ(store().database().integer(
                "SELECT count(*) FROM param WHERE key IN ('data.private', 'train.recompute')"),
            2 * count);
  store().describe(described);
  EXPECT_EQ(commits, 3) << "recorded settings need no commit";
  sqlite3_commit_hook(store().database().handle(), nullptr, nullptr);
}

}  // namespace
}  // namespace encore::store
