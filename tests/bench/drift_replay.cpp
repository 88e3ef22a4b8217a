// SPDX-License-Identifier: BSD-3-Clause
// The program drift_replay: replays inputs through the test of `exp monitor` (monitor/shift_test.hpp) and
// measures how often it alarms if nothing has changed, and after how many inputs it alarms if something has.
// drift.py starts it: it reads the file that drift.py wrote, and prints JSON that drift.py reads.
//
//   drift_replay FACTS.json --replays 1000 --length 1000 --quiet 200 --alpha 0.001 [--split]
//
// FACTS.json: {"reference": TextReference, "same": [TextFacts...], "other": [TextFacts...]}. Without --split
// the reference is that of the run. With it each replay draws a reference of the same size from the inputs
// "same", and replays the rest: then the two differ only by chance.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "monitor/shift_test.hpp"

namespace encore {
namespace {

using nlohmann::json;
using Facts = std::vector<record::TextFacts>;

struct Replay {
  int replays = 1000;
  std::size_t length = 1000;  ///< inputs of a replay without a change
  std::size_t quiet = 200;    ///< inputs before the change, in a replay with a change
  double alpha = 0.001;
  bool split = false;
};

Facts facts_in(const json& list) {
  Facts facts;
  for (const json& each : list) facts.push_back(record::TextFacts::parse(each.dump()));
  return facts;
}

/// Draws without replacement.
Facts drawn(const Facts& from, std::size_t count, std::mt19937_64& random) {
  Facts facts = from;
  std::ranges::shuffle(facts, random);
  facts.resize(std::min(count, facts.size()));
  return facts;
}

struct Outcome {
  std::vector<std::int64_t> same_alarms, delays;  ///< -1: no alarm
};

Outcome replay(const record::TextHistograms& own, const Facts& same, const Facts& other,
               const Replay& options) {
  Outcome outcome;
  for (int number = 0; number < options.replays; ++number) {
    std::mt19937_64 random(static_cast<std::uint64_t>(number) + 1);
    record::TextHistograms reference = own;
    Facts texts = drawn(same, same.size(), random);
    if (options.split) {
      const auto size = static_cast<std::size_t>(own.texts);
      reference = {.labels = own.labels};
      for (auto& [label, count] : reference.labels) count = 0;
      for (std::size_t i = 0; i < size; ++i) reference.add(texts[i]);
      texts.erase(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(size));
    }
    const std::string name = std::to_string(number) + "-";
    monitor::ShiftTest without(reference, options.alpha), with(reference, options.alpha);
    for (std::size_t i = 0; i < std::min(options.length, texts.size()); ++i)
      without.add(texts[i], name + std::to_string(i));
    outcome.same_alarms.push_back(without.alarm().value_or(-1));
    for (std::size_t i = 0; i < options.quiet; ++i) with.add(texts[i], name + std::to_string(i));
    if (with.alarm()) {
      outcome.delays.push_back(-2);  // before the change: a false alarm
      continue;
    }
    for (const record::TextFacts& facts : drawn(other, other.size(), random)) {
      with.add(facts, name + std::to_string(with.texts()));
      if (with.alarm()) break;
    }
    outcome.delays.push_back(with.alarm() ? *with.alarm() - static_cast<std::int64_t>(options.quiet) : -1);
  }
  return outcome;
}

int run(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "drift_replay FACTS.json [--replays N] [--length N] [--quiet N] [--alpha P] [--split]\n";
    return 2;
  }
  Replay options;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--split") {
      options.split = true;
      continue;
    }
    if (word == "--replays")
      options.replays = std::stoi(value);
    else if (word == "--length")
      options.length = std::stoul(value);
    else if (word == "--quiet")
      options.quiet = std::stoul(value);
    else if (word == "--alpha")
      options.alpha = std::stod(value);
    else
      throw Error("unknown option " + word);
    ++i;
  }
  std::ifstream in(argv[1]);
  const json input = json::parse(in);
  const record::TextReference reference = record::TextReference::parse(input.at("reference").dump());
  const Facts same = facts_in(input.at("same")), other = facts_in(input.at("other"));
  const Outcome outcome = replay(reference.histograms, same, other, options);
  std::cout << json{{"replays", options.replays}, {"length", std::min(options.length, same.size())},
                    {"quiet", options.quiet},     {"alpha", options.alpha},
                    {"split", options.split},     {"false_alarms", outcome.same_alarms},
                    {"delays", outcome.delays}}
                   .dump()
            << '\n';
  return 0;
}

}  // namespace
}  // namespace encore

int main(int argc, char** argv) try { return encore::run(argc, argv); } catch (const std::exception& error) {
  std::cerr << "drift_replay: " << error.what() << '\n';
  return 1;
}
