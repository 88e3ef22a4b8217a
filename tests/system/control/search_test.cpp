// SPDX-License-Identifier: BSD-3-Clause
// Tests a search as a user calls it (app/search_session.hpp, plan/search/decide.hpp), with the scripted
// worker whose score follows from two settings (FAKE_SURFACE): it ends, resumes after any kill and replays
// from its database (the same history gives the same decisions), and manual changes of the database are
// named. Decisions for a stored history must stay; printed words may change.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "system/control/hold.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

/// Writes search.toml: tiny.toml as a search; `options` are lines of [search].
void write_search(Sandbox& sandbox, const std::string& options, const std::string& more = "") {
  sandbox.set("FAKE_SURFACE", "1");
  sandbox.set("FAKE_STEP_MS", "1");
  sandbox.write("search.toml", tiny_experiment("tune") + "[search]\n" + options +
                                   "[search.space]\n"
                                   "\"optimizer.learning_rate\" = { log_uniform = [1e-5, 1.0] }\n"
                                   "\"model.dropout\" = { uniform = [0.0, 0.5] }\n" +
                                   more);
}

constexpr const char* asha = "trials = 8\nstartup = 4\npruning = \"asha\"\neta = 2\n";

const std::string trials =
    "SELECT group_concat(point, ';') FROM (SELECT point FROM search_trial ORDER BY number)";
const std::string decisions =
    "SELECT group_concat(kind || ' ' || trial || ' ' || epochs || ' ' || observations, ';') FROM (SELECT * "
    "FROM "
    "search_decision ORDER BY number)";
const std::string observations =
    "SELECT group_concat(trial || ' ' || epochs || ' ' || outcome || ' ' || scores, ';') FROM (SELECT * "
    "FROM "
    "search_observation ORDER BY number)";
const std::string digests =
    "SELECT group_concat(question || step || value, ';') FROM (SELECT question, step, value FROM "
    "current_digest "
    "JOIN run ON run.number = current_digest.run WHERE run.state = 'completed' ORDER BY question, step)";

void expect_equal(const Sandbox& sandbox) {
  const runner::ProgramOutput verified = sandbox.exp({"verify", "tune"});
  EXPECT_EQ(verified.end.exit_code, 0) << verified.output << verified.errors;
  EXPECT_TRUE(contains(verified.output, "tune  equal  ")) << verified.output;
}

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Search, ATrialWhoseMeasureIsUndefinedIsNeverTheBest) {
  Sandbox sandbox;
  sandbox.set("FAKE_UNDEFINED_BELOW", "0.25");
  write_search(sandbox, "trials = 8\nstartup = 4\nconfirm = 1\nconfirm_seeds = 2\n");
  const runner::ProgramOutput trained = sandbox.exp({"run", "search.toml"});
  EXPECT_EQ(trained.end.exit_code, 0) << trained.output << trained.errors;
  const nlohmann::json search = nlohmann::json::parse(sandbox.exp({"show", "tune", "--json"}).output);
  std::set<std::int64_t> undefined;
  for (const nlohmann::json& trial : search.at("trials")) {
    const nlohmann::json& value = trial.at("observations").at(0).at("values").at(0);
    EXPECT_EQ(value == "nan", trial.at("point").at("model.dropout").get<double>() < 0.25) << trial;
    if (value == "nan") undefined.insert(trial.at("trial").get<std::int64_t>());
  }
  ASSERT_FALSE(undefined.empty());
  ASSERT_LT(undefined.size(), 8U);
  ASSERT_EQ(search.at("best").size(), 1U);
  EXPECT_FALSE(undefined.contains(search.at("best").at(0).get<std::int64_t>()));
  EXPECT_EQ(search.at("confirmed").at(0).at("trial"), search.at("best").at(0));
  ASSERT_EQ(search.at("notices").size(), 1U);
  EXPECT_TRUE(contains(trained.output, "  note: dev/f1 is undefined in trial")) << trained.output;
  expect_equal(sandbox);
}

TEST(Search, SaysThatTheSweepOfItsBaseIsNotUsed) {
  Sandbox sandbox;
  write_search(sandbox, "trials = 2\n");
  const runner::ProgramOutput alone = sandbox.exp({"plan", "search.toml", "--json"});
  EXPECT_EQ(alone.errors, "");
  sandbox.write("base.toml", tiny_experiment("base") + "[sweep.grid]\n\"model.layers\" = [1, 2]\n");
  sandbox.write("near.toml",
                "name = \"tune\"\nbase = \"base.toml\"\n[search]\ntrials = 2\n[search.space]\n"
                "\"optimizer.learning_rate\" = { log_uniform = [1e-5, 1.0] }\n"
                "\"model.dropout\" = { uniform = [0.0, 0.5] }\n");
  const runner::ProgramOutput planned = sandbox.exp({"plan", "near.toml", "--json"});
  EXPECT_TRUE(planned.errors.starts_with("exp: note: base.toml:")) << planned.errors;
  EXPECT_TRUE(contains(planned.errors,
                       ": [sweep.grid] of a base: not used, because the file that builds on it "
                       "has a [search] of its own: near.toml:3:2\n"))
      << planned.errors;
  EXPECT_EQ(nlohmann::json::parse(planned.output).at("identity"),
            nlohmann::json::parse(alone.output).at("identity"))
      << "unused settings do not change the identity of a search";
  const runner::ProgramOutput trained = sandbox.exp({"run", "near.toml", "-q"});
  EXPECT_EQ(trained.end.exit_code, 0) << trained.errors;
  EXPECT_EQ(trained.errors, planned.errors);
  // A sweep in the search file replaces it too.
  sandbox.write("sweep.toml", "base = \"base.toml\"\n[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  EXPECT_TRUE(
      contains(sandbox.exp({"plan", "sweep.toml"}).errors, "has a [sweep] of its own: sweep.toml:2:2"));
}

TEST(Search, EndsAndThenThereIsNothingToDo) {
  Sandbox sandbox;
  write_search(sandbox, asha);
  const runner::ProgramOutput planned = sandbox.exp({"plan", "search.toml"});
  EXPECT_EQ(planned.end.exit_code, 0) << planned.errors;
  EXPECT_TRUE(contains(planned.output, "search tune on openmp: 0 of 8 trials started")) << planned.output;
  EXPECT_TRUE(contains(planned.output, "propose  trial 1, 1 epoch:  learning_rate=")) << planned.output;
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db")) << "a plan writes nothing";
  const runner::ProgramOutput first = sandbox.exp({"run", "search.toml"});
  EXPECT_EQ(first.end.exit_code, 0) << first.output << first.errors;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM search_trial"), "8");
  EXPECT_TRUE(contains(planned.output, first.output.substr(first.output.find("learning_rate="), 20)))
      << "the planned runs were started";
  EXPECT_NE(sandbox.one("SELECT count(*) FROM run WHERE state = 'pruned'"), "0");
  EXPECT_NE(sandbox.one("SELECT count(*) FROM run WHERE state = 'completed'"), "0");
  EXPECT_EQ(
      sandbox.one("SELECT count(*) FROM curve JOIN run ON run.name = curve.run WHERE metric = 'test/f1' AND "
                  "state = 'pruned'"),
      "0")
      << "a pruned run never touches the test set";
  const std::string attempts = sandbox.one("SELECT count(*) FROM attempt");
  const runner::ProgramOutput again = sandbox.exp({"run", "search.toml"});
  EXPECT_EQ(again.end.exit_code, 0);
  EXPECT_TRUE(contains(again.output, "nothing to do: search tune is complete")) << again.output;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), attempts);
  expect_equal(sandbox);
}

TEST(Search, APromotedRunHasTheBitsOfAnUnbrokenOne) {
  Sandbox sandbox;
  write_search(sandbox, asha);
  ASSERT_EQ(sandbox.exp({"run", "search.toml", "-q"}).end.exit_code, 0);
  ASSERT_NE(
      sandbox.one(
          "SELECT max(ordinal) FROM attempt JOIN run ON run.number = run WHERE run.state = 'completed'"),
      "1");
  const auto rates = sandbox.query(
      "SELECT value FROM param JOIN run ON run.number = run WHERE state = 'completed' AND "
      "key = 'optimizer.learning_rate' ORDER BY question");
  const auto dropouts = sandbox.query(
      "SELECT value FROM param JOIN run ON run.number = run WHERE state = 'completed' "
      "AND key = 'model.dropout' ORDER BY question");
  Sandbox unbroken;
  unbroken.set("FAKE_SURFACE", "1");
  for (std::size_t i = 0; i < rates.size(); ++i)
    ASSERT_EQ(unbroken
                  .exp({"run", "tiny.toml", "-q", "-S", "optimizer.learning_rate=" + rates[i], "-S",
                        "model.dropout=" + dropouts[i]})
                  .end.exit_code,
              0);
  EXPECT_EQ(sandbox.one(digests), unbroken.one(digests));
}

TEST(Search, TheSameSeedGivesTheSameTrials) {
  Sandbox one, two, other;
  for (Sandbox* sandbox : {&one, &two}) write_search(*sandbox, asha);
  write_search(other, std::string(asha) + "seed = 2\n");
  for (Sandbox* sandbox : {&one, &two, &other})
    ASSERT_EQ(sandbox->exp({"run", "search.toml", "-q"}).end.exit_code, 0);
  EXPECT_EQ(one.one(trials), two.one(trials));
  EXPECT_EQ(one.one(decisions), two.one(decisions));
  EXPECT_EQ(one.one(observations), two.one(observations));
  EXPECT_NE(one.one(trials), other.one(trials));
}

/// Returns the trials, decisions and observations of the newest search.
std::string course(const Sandbox& sandbox) {
  const std::string newest = " WHERE search = (SELECT max(number) FROM search) ORDER BY number)";
  return sandbox.one("SELECT group_concat(point, ';') FROM (SELECT * FROM search_trial" + newest) + "\n" +
         sandbox.one(
             "SELECT group_concat(kind || ' ' || trial || ' ' || epochs, ';') FROM (SELECT * FROM "
             "search_decision" +
             newest) +
         "\n" +
         sandbox.one(
             "SELECT group_concat(trial || ' ' || epochs || ' ' || outcome || ' ' || scores, ';') "
             "FROM (SELECT * FROM search_observation" +
             newest);
}

TEST(Search, RunsThatExistedBeforeChangeNoTrial) {
  for (const char* pruning : {"\"asha\"\neta = 2\n", "\"median\"\ncomparisons = 2\n"})
    for (const bool by_steps : {false, true}) {
      Sandbox fresh, known;
      for (Sandbox* sandbox : {&fresh, &known}) {
        write_search(*sandbox, std::string("trials = 8\nstartup = 4\npruning = ") + pruning);
        std::string file = sandbox->read("search.toml");
        if (by_steps) file.replace(file.find("epochs = 4"), 10, "steps = 20\nevaluate_every = 5");
        sandbox->write("search.toml", file);
      }
      ASSERT_EQ(fresh.exp({"run", "search.toml", "-q"}).end.exit_code, 0);
      // One search with other rungs, which leaves pruned runs, and one that trains every run to its end.
      ASSERT_EQ(known
                    .exp({"run", "search.toml", "-q", "-S", "search.pruning=median", "-S",
                          by_steps ? "search.first_rung=10" : "search.first_rung=3", "-S",
                          "search.comparisons=1", "-S", "search.trials=6"})
                    .end.exit_code,
                0);
      ASSERT_EQ(known.exp({"run", "search.toml", "-q", "-S", "search.pruning=none", "-S", "search.trials=4"})
                    .end.exit_code,
                0);
      ASSERT_EQ(known.exp({"run", "search.toml", "-q"}).end.exit_code, 0);
      EXPECT_EQ(course(known), course(fresh)) << pruning << (by_steps ? "by steps" : "by epochs");
      EXPECT_NE(known.one("SELECT count(*) FROM search_observation AS o JOIN search_run USING (search, "
                          "trial) JOIN run ON run.number = run WHERE search = 3 AND outcome = 'measured' AND "
                          "state = 'completed' AND NOT EXISTS (SELECT 1 FROM search_observation AS c WHERE "
                          "c.search = 3 AND c.trial = o.trial AND c.outcome = 'complete')"),
                "0")
          << "a complete run is judged at a rung, and stays complete";
      for (const char* search : {"tune", "tune-2", "tune-3"})
        EXPECT_EQ(known.exp({"verify", search}).end.exit_code, 0) << search;
    }
}

TEST(Search, EveryMethodAndPruningEndsAndReplays) {
  for (const char* method : {"random", "quasi_random", "tpe"})
    for (const char* pruning : {"none", "median"}) {
      Sandbox sandbox;
      write_search(sandbox, std::string("trials = 6\nstartup = 3\ncomparisons = 2\nmethod = \"") + method +
                                "\"\npruning = \"" + pruning + "\"\n");
      const runner::ProgramOutput run = sandbox.exp({"run", "search.toml", "-j", "4", "-q"});
      EXPECT_EQ(run.end.exit_code, 0) << method << ' ' << pruning << run.output << run.errors;
      expect_equal(sandbox);
    }
}

/// Kills `exp`, its workers, or both.
void kill_some(const Sandbox& sandbox, pid_t exp, unsigned kind) {
  if (kind != 1) ::kill(exp, SIGKILL);
  if (kind != 0)
    for (const pid_t worker : sandbox.workers()) ::kill(worker, SIGKILL);
}

/// Kills `exp` and its workers in observed states until the search has ended; then every decision is
/// recomputed. The first kill hits workers that are held in a step; a later one comes some decisions or
/// observations after the last, at an arbitrary moment.
void expect_survival(unsigned seed) {
  Sandbox sandbox;
  write_search(sandbox, std::string(asha) + "confirm = 2\nconfirm_seeds = 3\n");
  sandbox.set("FAKE_STEP_MS", "3");
  std::mt19937 random(seed);
  const auto start = [&] { return sandbox.start({"run", "search.toml", "-j", "4", "-q"}); };
  {
    const Hold hold(sandbox, 1 + random() % 5);
    const pid_t exp = start();
    hold.wait_for();
    kill_some(sandbox, exp, 2 * (random() % 2));
    ASSERT_TRUE(Sandbox::wait(exp));
  }
  const std::string rows =
      "SELECT (SELECT count(*) FROM search_decision) + (SELECT count(*) FROM search_observation)";
  int kills = 1;
  for (bool over = false; !over;) {
    const pid_t exp = start();
    if (kills < 6) {
      const int more = std::stoi(sandbox.one(rows)) + 1 + static_cast<int>(random() % 6);
      if (sandbox.wait_until("SELECT (" + rows + ") >= " + std::to_string(more), "1")) {
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 30));
        kills += has_ended(exp) ? 0 : 1;
        kill_some(sandbox, exp, random() % 3);
      }
    }
    const auto end = Sandbox::wait(exp);
    ASSERT_TRUE(end);
    over = end->success();
    if (end->signal == 0 && !over) {
      EXPECT_EQ(end->exit_code, 75) << sandbox.read("output.txt");
    }
  }
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM search_trial"), "8");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run WHERE state NOT IN ('completed', 'pruned')"), "0");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM search_observation WHERE outcome = 'confirmed'"),
            sandbox.one("SELECT min(2, count(*)) FROM search_observation WHERE outcome = 'complete'"));
  expect_equal(sandbox);
}

TEST(Search, SurvivesKillsAndReplays) {
  for (unsigned seed : {1, 2}) expect_survival(seed);
}

/// build/openmp/bin/tests/control_test --gtest_also_run_disabled_tests --gtest_filter='*FiftySearches*'
TEST(Search, DISABLED_FiftySearchesSurviveKills) {
  for (unsigned seed = 100; seed < 150; ++seed) {
    expect_survival(seed);
    std::printf("search %u of 50\n", seed - 99);
    std::fflush(stdout);
  }
}

TEST(Search, WithOneWorkerAKillChangesNoTrial) {
  Sandbox calm, killed;
  for (Sandbox* sandbox : {&calm, &killed}) write_search(*sandbox, std::string(asha) + "confirm = 2\n");
  ASSERT_EQ(calm.exp({"run", "search.toml", "-q"}).end.exit_code, 0);
  killed.set("FAKE_STEP_MS", "4");
  for (int round = 0; round < 4; ++round) {
    const pid_t exp = killed.start({"run", "search.toml", "-q"});
    const std::string later = "SELECT count(*) > " + std::to_string(2 * round) + " FROM search_decision";
    ASSERT_TRUE(killed.wait_until(later, "1")) << "it ended before it was killed";
    ::kill(exp, SIGKILL);
    Sandbox::wait(exp);
  }
  const pid_t exp = killed.start({"run", "search.toml", "-q"});
  ASSERT_TRUE(killed.wait_until("SELECT count(*) > 0 FROM search_decision WHERE kind = 'confirm'", "1"));
  ::kill(exp, SIGKILL);
  Sandbox::wait(exp);
  ASSERT_EQ(killed.exp({"run", "search.toml", "-q"}).end.exit_code, 0);
  EXPECT_EQ(calm.one(trials), killed.one(trials));
  EXPECT_EQ(calm.one(decisions), killed.one(decisions));
  EXPECT_EQ(calm.one(observations), killed.one(observations));
}

TEST(Search, NamesManualChanges) {
  Sandbox sandbox;
  write_search(sandbox, asha);
  ASSERT_EQ(sandbox.exp({"run", "search.toml", "-q"}).end.exit_code, 0);
  const auto expect_different = [&](const std::string& change, const std::string& back,
                                    const std::string& named) {
    sandbox.change(change);
    const runner::ProgramOutput verified = sandbox.exp({"verify", "tune"});
    EXPECT_EQ(verified.end.exit_code, 3) << verified.output << verified.errors;
    EXPECT_TRUE(contains(verified.output, named)) << "\"" << named << "\" is not in: " << verified.output;
    sandbox.change(back);
  };
  const std::string pruned = sandbox.one("SELECT min(number) FROM search_decision WHERE kind = 'prune'");
  expect_different("UPDATE search_decision SET kind = 'promote' WHERE number = " + pruned,
                   "UPDATE search_decision SET kind = 'prune' WHERE number = " + pruned,
                   "different  decision " + pruned + "\n  stored      promote trial ");
  const std::string point = sandbox.one("SELECT point FROM search_trial WHERE number = 6");
  const std::string proposal =
      sandbox.one("SELECT number FROM search_decision WHERE kind = 'propose' AND trial = 6");
  expect_different("UPDATE search_trial SET point = '[0.5,0.25]' WHERE number = 6",
                   "UPDATE search_trial SET point = '" + point + "' WHERE number = 6",
                   "decision " + proposal + "\n  stored      propose trial 7 (1 epoch)  learning_rate=0.5");
  const std::string complete =
      sandbox.one("SELECT max(number) FROM search_observation WHERE outcome = 'complete'");
  const std::string values = sandbox.one("SELECT scores FROM search_observation WHERE number = " + complete);
  expect_different("UPDATE search_observation SET scores = '[0.123]' WHERE number = " + complete,
                   "UPDATE search_observation SET scores = '" + values + "' WHERE number = " + complete,
                   "has dev/f1 0.123000, but its runs have ");
  expect_equal(sandbox);
  sandbox.change("DELETE FROM search_trial WHERE number = 2");
  const runner::ProgramOutput damaged = sandbox.exp({"show", "tune"});
  EXPECT_EQ(damaged.end.exit_code, 2);
  EXPECT_TRUE(contains(damaged.errors, "search tune: its rows are damaged: trial 2 is missing"))
      << damaged.errors;
}

TEST(Search, ContinuesWhenTrialsAreAdded) {
  Sandbox sandbox;
  write_search(sandbox, "trials = 3\n");
  ASSERT_EQ(sandbox.exp({"run", "search.toml", "-q"}).end.exit_code, 0);
  ASSERT_EQ(sandbox.exp({"run", "search.toml", "-q", "-S", "search.trials=5"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM search"), "1");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM search_trial"), "5");
  expect_equal(sandbox);
}

constexpr const char* kinds_of_runs =
    "SELECT group_concat(confirms || ' ' || seed, ';') FROM (SELECT * FROM search_run JOIN run ON run.number "
    "= run "
    "WHERE confirms = 1 ORDER BY trial, seed)";

TEST(Search, TheBestTrialsAreTrainedAgainWithFreshSeeds) {
  Sandbox sandbox;
  write_search(sandbox, "trials = 4\nrepeats = 2\nconfirm = 2\nconfirm_seeds = 3\n");
  const runner::ProgramOutput run = sandbox.exp({"run", "search.toml", "-j", "2"});
  ASSERT_EQ(run.end.exit_code, 0) << run.output << run.errors;
  EXPECT_TRUE(contains(run.output, " is trained again with 3 fresh seeds")) << run.output;
  EXPECT_TRUE(contains(run.output, "CONFIRMED TRIAL   SEEDS  SELECTED  FRESH MEAN")) << run.output;
  const std::string score = sandbox.one(
      "SELECT printf('%.2f', 100 * max(json_extract(scores, '$[0]'))) FROM search_observation WHERE outcome "
      "= 'complete'");
  EXPECT_TRUE(contains(sandbox.exp({"show", "tune"}).output, "  " + score + "  "))
      << "in percent, as lists write it";
  EXPECT_TRUE(contains(sandbox.exp({"report", "tune", "-o", "tune.md"}).output, "Report of search tune"));
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run"), "14");
  EXPECT_EQ(sandbox.one(kinds_of_runs), "1 3;1 4;1 5;1 3;1 4;1 5") << "the trials have 1 and 2";
  EXPECT_EQ(
      sandbox.one("SELECT count(DISTINCT trial) FROM search_decision WHERE kind = 'confirm' AND trial IN "
                  "(SELECT trial FROM search_observation WHERE outcome = 'complete' ORDER BY "
                  "json_extract(scores, '$[0]') DESC LIMIT 2)"),
      "2");
  expect_equal(sandbox);
  EXPECT_TRUE(contains(sandbox.exp({"run", "search.toml"}).output, "nothing to do: search tune is complete"));

  const std::string before = sandbox.one("SELECT group_concat(point) FROM search_trial");
  ASSERT_EQ(sandbox.exp({"run", "search.toml", "-q", "-S", "search.confirm_seeds=4"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.one(kinds_of_runs), "1 3;1 4;1 5;1 6;1 3;1 4;1 5;1 6");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run"), "16") << "one more seed for each";
  EXPECT_EQ(sandbox.one("SELECT group_concat(point) FROM search_trial"), before);
  expect_equal(sandbox);
  const nlohmann::json json = nlohmann::json::parse(sandbox.exp({"show", "tune", "--json"}).output);
  ASSERT_EQ(json.at("confirmed").size(), 2u);
  const nlohmann::json& first = json.at("confirmed").at(0);
  EXPECT_EQ(first.at("seeds").size(), 4u);
  double sum = 0.0;
  for (const auto& [seed, value] : first.at("seeds").items()) sum += value.get<double>();
  EXPECT_NEAR(first.at("mean").get<double>(), sum / 4.0, 1e-12);
  EXPECT_LT(first.at("low").get<double>(), first.at("mean").get<double>());

  sandbox.change(
      "UPDATE search_observation SET scores = '[0.123]' WHERE number = (SELECT min(number) FROM "
      "search_observation WHERE outcome = 'confirmed')");
  const runner::ProgramOutput verified = sandbox.exp({"verify", "tune"});
  EXPECT_EQ(verified.end.exit_code, 3);
  EXPECT_TRUE(contains(verified.output, "has dev/f1 0.123000, but its runs have ")) << verified.output;
}

TEST(Search, AConfirmationWithAFailedSeedHasNoMean) {
  Sandbox sandbox;
  write_search(sandbox, "trials = 2\nconfirm = 1\nconfirm_seeds = 3\n");
  sandbox.set("FAKE_FAIL_AT", "3");
  sandbox.set("FAKE_FAIL_ONLY", "-s3");
  const runner::ProgramOutput run = sandbox.exp({"run", "search.toml", "-q"});
  EXPECT_EQ(run.end.exit_code, 0) << run.output << run.errors;
  EXPECT_EQ(sandbox.one("SELECT scores FROM search_observation WHERE outcome = 'confirmed'"), "[\"nan\"]");
  EXPECT_TRUE(
      contains(sandbox.one("SELECT reason FROM search_observation WHERE outcome = 'confirmed'"), "-s3: "));
  EXPECT_TRUE(contains(sandbox.exp({"show", "tune"}).output, "2 of 3"));
  expect_equal(sandbox);
}

TEST(Search, RungsByStepsLeadToTheSameRuns) {
  Sandbox sandbox;
  write_search(sandbox, asha);
  std::string file = sandbox.read("search.toml");
  file.replace(file.find("epochs = 4"), 10, "steps = 20\nevaluate_every = 5");
  sandbox.write("search.toml", file);
  const runner::ProgramOutput run = sandbox.exp({"run", "search.toml", "-j", "2"});
  ASSERT_EQ(run.end.exit_code, 0) << run.output << run.errors;
  EXPECT_TRUE(contains(run.output, "asha at 5, 10 of 20 steps")) << run.output;
  EXPECT_TRUE(contains(run.output, "TRIAL  STATE     STEPS")) << run.output;
  EXPECT_TRUE(contains(run.output, " is pruned after 5 steps")) << run.output;
  EXPECT_EQ(
      sandbox.one("SELECT group_concat(DISTINCT epochs) FROM (SELECT epochs FROM search_observation WHERE "
                  "outcome = 'measured' ORDER BY epochs)"),
      "5,10");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM search_observation WHERE scores LIKE '%nan%'"), "0");
  expect_equal(sandbox);
}

TEST(Search, FailedTrialsAreObservedAndTheSearchContinues) {
  Sandbox sandbox;
  write_search(sandbox, "trials = 5\nstartup = 2\n");
  sandbox.set("FAKE_FAIL_AT", "3");
  const runner::ProgramOutput all = sandbox.exp({"run", "search.toml", "-q"});
  EXPECT_EQ(all.end.exit_code, 1) << "no trial is complete";
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM search_observation WHERE outcome = 'failed'"), "5");
  expect_equal(sandbox);
}

TEST(Search, SeveralSeedsAreComparedByTheirMean) {
  Sandbox sandbox;
  write_search(sandbox, "trials = 2\nrepeats = 3\n");
  ASSERT_EQ(sandbox.exp({"run", "search.toml", "-q"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run"), "6");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM search_observation"), "2");
  EXPECT_EQ(sandbox.one("SELECT count(DISTINCT seed) FROM run"), "3");
  expect_equal(sandbox);
}

TEST(Search, ExcludedPointsAreListedAsSuch) {
  Sandbox sandbox;
  write_search(sandbox, "trials = 8\nmethod = \"random\"\nexclude = [\"optimizer.type == 'sgd'\"]\n",
               "\"optimizer.type\" = { choice = [\"adamw\", \"sgd\"] }\n"
               "\"optimizer.weight_decay\" = { log_uniform = [1e-4, 1e-1] }\n"
               "[search.when]\n\"optimizer.weight_decay\" = \"optimizer.type == 'adamw'\"\n");
  const std::string planned = sandbox.exp({"plan", "search.toml"}).output;
  ASSERT_TRUE(contains(planned, "type=sgd\n         excluded by \"exclude\" of [search]\n"))
      << "without the variable that its conditions take away: " << planned;
  const runner::ProgramOutput run = sandbox.exp({"run", "search.toml"});
  ASSERT_EQ(run.end.exit_code, 0) << run.output << run.errors;
  EXPECT_FALSE(contains(run.output + run.errors, "failed")) << "nothing has: " << run.output << run.errors;
  EXPECT_FALSE(contains(run.errors, "cannot be trained")) << run.errors;
  const nlohmann::json trials =
      nlohmann::json::parse(sandbox.exp({"show", "tune", "--json"}).output).at("trials");
  std::size_t excluded = 0;
  for (const nlohmann::json& trial : trials) {
    const bool sgd = trial.at("point").at("optimizer.type") == "sgd";
    EXPECT_EQ(trial.at("state"), sgd ? "excluded" : "complete");
    EXPECT_EQ(trial.at("point").contains("optimizer.weight_decay"), !sgd);
    excluded += sgd ? 1 : 0;
  }
  EXPECT_EQ(trials.size(), 8u);
  const std::string counts =
      std::to_string(8 - excluded) + " complete, " + std::to_string(excluded) + " excluded";
  EXPECT_TRUE(contains(run.output, "8 trials, " + counts)) << run.output;
  const std::string all = sandbox.exp({"show", "tune", "--all"}).output;
  EXPECT_EQ(times_in(all, "  excluded  "), excluded) << all;
  EXPECT_EQ(times_in(sandbox.exp({"show", "tune"}).output, "  excluded  "), 0u);
  expect_equal(sandbox);
}

TEST(Search, ASpaceWithFewerPointsThanTrialsTrainsEachOnce) {
  Sandbox sandbox;
  sandbox.set("FAKE_SURFACE", "1");
  sandbox.write("search.toml", tiny_experiment("tune") +
                                   "[search]\ntrials = 6\nstartup = 2\n[search.space]\n"
                                   "\"optimizer.learning_rate\" = { choice = [1e-2, 1e-3] }\n");
  const runner::ProgramOutput run = sandbox.exp({"run", "search.toml", "-q", "-j", "2"});
  EXPECT_EQ(run.end.exit_code, 0) << run.output << run.errors;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run"), "2");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM search_observation WHERE outcome = 'repeated'"), "4");
  expect_equal(sandbox);
}

TEST(Search, APrunedRunResumesOutsideOfTheSearch) {
  Sandbox sandbox;
  write_search(sandbox, asha);
  ASSERT_EQ(sandbox.exp({"run", "search.toml", "-q"}).end.exit_code, 0);
  const std::string of_pruned =
      " FROM param JOIN run ON run.number = run WHERE run.number = (SELECT min(number) FROM run WHERE state "
      "= "
      "'pruned') AND key = ";
  const std::string rate = sandbox.one("SELECT value" + of_pruned + "'optimizer.learning_rate'");
  const std::string dropout = sandbox.one("SELECT value" + of_pruned + "'model.dropout'");
  const runner::ProgramOutput run = sandbox.exp(
      {"run", "tiny.toml", "-S", "optimizer.learning_rate=" + rate, "-S", "model.dropout=" + dropout});
  EXPECT_EQ(run.end.exit_code, 0) << run.errors;
  EXPECT_TRUE(contains(run.output, "it resumes from its checkpoint of step ")) << run.output;
}

TEST(Search, ATrialWhoseRunWasRemovedIsNamed) {
  Sandbox sandbox;
  write_search(sandbox, "trials = 3\npruning = \"asha\"\n");
  sandbox.set("FAKE_CRASH_AT", "7");
  sandbox.set("FAKE_CRASH_ATTEMPTS", "9");
  EXPECT_EQ(sandbox.exp({"run", "search.toml", "-q"}).end.exit_code, 75) << "the promoted trial was cut off";
  ASSERT_EQ(sandbox.exp({"rm", sandbox.one("SELECT name FROM run WHERE state = 'lost'"), "-y"}).end.exit_code,
            0);
  const runner::ProgramOutput again = sandbox.exp({"run", "search.toml", "-q"});
  EXPECT_NE(again.end.exit_code, 0);
  EXPECT_TRUE(contains(again.errors, " was removed; run exp undelete to restore it")) << again.errors;
}

TEST(Search, IsShownAndListed) {
  Sandbox sandbox;
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
  EXPECT_TRUE(contains(sandbox.exp({"ls", "--search"}).output, "no searches yet"));
  write_search(sandbox, asha);
  ASSERT_EQ(sandbox.exp({"run", "search.toml", "-q"}).end.exit_code, 0);
  const runner::ProgramOutput listed = sandbox.exp({"ls", "--search"});
  EXPECT_TRUE(contains(listed.output, "tune")) << listed.output << listed.errors;
  EXPECT_TRUE(contains(listed.output, "max dev/f1")) << listed.output;
  const runner::ProgramOutput shown = sandbox.exp({"show", "tune"});
  EXPECT_TRUE(contains(shown.output, "search tune  tpe, max dev/f1, seed 1, asha at 1, 2 of 4 epochs"))
      << shown.output << shown.errors;
  const nlohmann::json json = nlohmann::json::parse(sandbox.exp({"show", "tune", "--json"}).output);
  EXPECT_EQ(json.at("trials").size(), 8u);
  EXPECT_EQ(json.at("best").size(), 1u);
  EXPECT_EQ(json.at("decisions").at(0).at("kind"), "propose");
  EXPECT_EQ(json.at("importance").at(0).at("metric"), "dev/f1");
  EXPECT_EQ(json.at("importance").at(0).at("trials"), 8);
  EXPECT_TRUE(json.at("importance").at(0).at("alone").contains("model.dropout"));
  EXPECT_EQ(nlohmann::json::parse(sandbox.exp({"ls", "--search", "--json"}).output).size(), 1u);
  EXPECT_EQ(nlohmann::json::parse(sandbox.exp({"verify", "tune", "--json"}).output).at("outcome"), "equal");
  EXPECT_TRUE(contains(sandbox.exp({"ls", "--state", "pruned"}).output, "pruned"));
  const runner::ProgramOutput report = sandbox.exp({"report", "tune", "-o", "report.html"});
  EXPECT_EQ(report.end.exit_code, 0) << report.errors;
  EXPECT_TRUE(contains(sandbox.read("report.html"), "Searches that proposed runs of this report"));
}

TEST(Search, RefusesWhatItCannotMean) {
  Sandbox sandbox;
  write_search(sandbox, asha);
  const runner::ProgramOutput fresh = sandbox.exp({"run", "search.toml", "--fresh"});
  EXPECT_EQ(fresh.end.exit_code, 2);
  EXPECT_TRUE(contains(fresh.errors, "a search decides by its complete runs")) << fresh.errors;
  const runner::ProgramOutput size = sandbox.exp({"plan", "search.toml", "--size"});
  EXPECT_EQ(size.end.exit_code, 2);
  EXPECT_TRUE(contains(size.errors, "the file has a [search], which proposes its runs one after the other"))
      << size.errors;
  sandbox.set("FAKE_CHECK", "model.width:too wide");
  const runner::ProgramOutput refused = sandbox.exp({"run", "search.toml", "-q"});
  EXPECT_EQ(refused.end.exit_code, 1);
  EXPECT_TRUE(contains(refused.errors, "trial 1/8 cannot be trained: ")) << refused.errors;
  EXPECT_TRUE(contains(refused.errors, "too wide")) << refused.errors;
}

TEST(Search, TwoAtOnceDoNotDecidePastEachOther) {
  Sandbox sandbox;
  write_search(sandbox, asha);
  sandbox.set("FAKE_STEP_MS", "20");
  const pid_t first = sandbox.start({"run", "search.toml", "-q"});
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM search_trial", "1"));
  const runner::ProgramOutput second = sandbox.exp({"run", "search.toml", "-q"});
  EXPECT_EQ(second.end.exit_code, 2);
  EXPECT_TRUE(contains(second.errors, "another exp run works on search tune; this one does nothing"))
      << second.errors;
  const auto end = Sandbox::wait(first);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0);
  expect_equal(sandbox);
}

}  // namespace
}  // namespace encore::system_test
