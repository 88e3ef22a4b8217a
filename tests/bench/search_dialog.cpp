// SPDX-License-Identifier: BSD-3-Clause
// The program search_dialog: lets a script ask Encore's search for decisions (plan/search/decide.hpp), to
// compare it with other searches, and measures the processor time of a decision. search_quality.py starts it
// and speaks this protocol:
//
//   search_dialog            reads {"space": [...], "settings": {...}, "trials": N} in one line (as the
//                            columns of the table `search` have them); then, in a loop, writes a trial to
//                            train as JSON and reads its value (and the names of the variables that it does
//                            not have). Ends with {}.
//   search_dialog cost [OBSERVATIONS] [VARIABLES]    processor time of a tpe decision
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "plan/search/decide.hpp"
#include "plan/search/search.hpp"

namespace {

using namespace encore;
using namespace encore::plan::search;
using nlohmann::json;

void talk() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const json wanted = json::parse(line);
    const std::vector<plan::RandomVariable> space = space_from_json(wanted.at("space"));
    const SearchOptions options = options_from_json(wanted.at("settings"));
    const SearchLimits limits{.trials = wanted.at("trials")};
    History history;
    for (;;) {
      const Decision decision = decide(space, options, limits, history);
      if (decision.kind == DecisionKind::finish) break;
      history.decisions.push_back(decision);
      if (decision.kind == DecisionKind::prune) continue;
      if (decision.kind == DecisionKind::propose)
        history.trials.push_back({decision.point, std::vector<bool>(space.size(), true)});
      json point = json::object();
      for (std::size_t i = 0; i < space.size(); ++i)
        point[space[i].key] = history.trials[decision.trial].point[i];
      std::cout << json{{"trial", decision.trial}, {"epochs", decision.epochs}, {"point", point}}.dump()
                << std::endl;
      if (!std::getline(std::cin, line)) return;
      const json answer = json::parse(line);
      for (const std::string& absent : answer.value("absent", std::vector<std::string>()))
        for (std::size_t i = 0; i < space.size(); ++i)
          if (space[i].key == absent) history.trials[decision.trial].active[i] = false;
      history.observations.push_back(
          {.trial = decision.trial,
           .epochs = decision.epochs,
           .outcome = decision.epochs == options.epochs ? Outcome::complete : Outcome::measured,
           .values = {answer.at("value").get<double>()}});
    }
    std::cout << "{}" << std::endl;
  }
}

double processor_milliseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// Prints the processor time of a tpe decision. Half of the variables are numbers, a quarter whole numbers, a
/// quarter choices.
void tell_cost(int observations, int variables) {
  json space = json::array();
  for (int i = 0; i < variables; ++i) {
    const std::string key = "x" + std::to_string(i);
    if (i % 4 == 3)
      space.push_back({{"key", key}, {"law", "choice"}, {"values", {"a", "b", "c", "d"}}});
    else if (i % 4 == 2)
      space.push_back({{"key", key}, {"law", "int"}, {"low", 1}, {"high", 64}});
    else
      space.push_back(
          {{"key", key}, {"law", i % 4 == 0 ? "uniform" : "log_uniform"}, {"low", 1e-4}, {"high", 1.0}});
  }
  const std::vector<plan::RandomVariable> read = space_from_json(space);
  SearchOptions options;
  options.objectives = {{"dev/f1", true}};
  options.method = Method::random;
  const SearchLimits limits{.trials = observations + 100};
  History history;
  for (int i = 0; i < observations; ++i) {
    const Decision decision = decide(read, options, limits, history);
    history.decisions.push_back(decision);
    history.trials.push_back({decision.point, std::vector<bool>(read.size(), true)});
    history.observations.push_back({.trial = decision.trial,
                                    .epochs = 1,
                                    .outcome = Outcome::complete,
                                    .values = {-std::abs(decision.point[0] - 0.3)}});
  }
  options.method = Method::tpe;
  std::vector<double> samples;
  for (int repeat = 0; repeat < 51; ++repeat) {
    options.seed = repeat;
    const double begin = processor_milliseconds();
    decide(read, options, limits, history);
    samples.push_back(processor_milliseconds() - begin);
  }
  std::ranges::sort(samples);
  std::cout << "a tpe decision of " << observations << " observations of " << variables
            << " variables: median " << samples[25] << " ms, fastest " << samples[0] << " ms, slowest "
            << samples[50] << " ms of processor time\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "cost")
    tell_cost(argc > 2 ? std::atoi(argv[2]) : 1000, argc > 3 ? std::atoi(argv[3]) : 10);
  else
    talk();
}
