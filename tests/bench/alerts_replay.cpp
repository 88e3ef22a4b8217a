// SPDX-License-Identifier: BSD-3-Clause
// The program alerts_replay: how many injected spikes the alerts of `exp monitor` find (monitor/
// alert_watch.hpp), and how many false alarms they give, over months of generated events; beside them a
// naive rival, the same rules without intervals and without a least number of items. It is run by hand:
//
//   alerts_replay --rules experiments/alerts/sentiment.toml --seeds 20 --rate 100
//   alerts_replay --write month.jsonl --rate 100     # the events of the first seed, for exp monitor --replay
//   alerts_replay --answers predictions/test.jsonl --negative 0,1     # labels as a model answers them
//
// With --answers the events carry the answers of a model: for an event that is negative in truth, the answer
// to a random test example whose truth is one of --negative, and likewise for the others. The model's
// mistakes make all shares more equal, so spikes must be larger to be found.
//
// A month has two groups, of which the small one has a twentieth of the items. The rate swings by 60 % over
// the day and by 10 % (standard deviation) between periods of ten minutes; the share of negative answers is
// 20 %, and swings by 3 points over the day. Each group gets three spikes of each kind in the last 20 days,
// at random times at least four hours apart: the share of negative answers rises to --share for
// --share-minutes, or by --points for --points-minutes, or the rate by --factor for --factor-minutes. A spike
// is found if the rule of its kind gives an alert for its group until the window has passed. An alert is
// false if no spike of its group lies in its windows. Everything follows from the seed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "analysis/shares.hpp"
#include "monitor/alert_watch.hpp"

namespace encore {
namespace {

using monitor::AlertRule;
using nlohmann::ordered_json;

constexpr std::int64_t day = 86400, month = 30 * day, beginning = 1'767'225'600;  // 2026-01-01
constexpr std::int64_t quiet_days = 8;  // before the first spike, for a reference of seven days
constexpr double two_pi = 6.283185307179586;

struct Wishes {
  std::string rules = "experiments/alerts/sentiment.toml", write = {}, answers = {};
  std::set<std::string> negative = {"negative", "very negative"};  ///< labels in the file --answers
  int seeds = 20;
  std::uint64_t first_seed = 1;
  double rate = 100.0;  ///< items a minute, of both groups
  double small = 0.05;  ///< the share of the small group
  double share = 0.55, points = 0.30, factor = 4.5;
  int share_minutes = 60, points_minutes = 20, factor_minutes = 20;
};

/// Whether a model calls an input negative, for inputs that are not (0) and that are (1). Without a model
/// each answer is right.
using Answers = std::array<std::vector<bool>, 2>;

Answers read_answers(const Wishes& wishes) {
  if (wishes.answers.empty()) return {{{false}, {true}}};
  std::ifstream file(wishes.answers);
  if (!file) throw Error("cannot read " + wishes.answers);
  Answers answers;
  for (std::string line; std::getline(file, line);) {
    const ordered_json example = ordered_json::parse(line);
    const auto is_negative = [&](const char* member) {
      return wishes.negative.contains(example.value(member, ""));
    };
    answers[is_negative("truth") ? 1 : 0].push_back(is_negative("predicted"));
  }
  if (answers[0].empty() || answers[1].empty())
    throw Error(wishes.answers + ": expected examples whose truth is one of --negative, and others");
  return answers;
}

struct Spike {
  monitor::AlertKind kind;
  std::size_t group;
  std::int64_t begin, end;
};

constexpr std::array groups = {"large", "small"};

/// Draws the spikes of a month, at least four hours apart within a group.
std::vector<Spike> draw_spikes(const Wishes& wishes, std::mt19937_64& random) {
  constexpr std::int64_t apart = 4 * 3600;
  std::vector<Spike> spikes;
  std::uniform_int_distribution<std::int64_t> at(quiet_days * day, month - day);
  const std::array<std::pair<monitor::AlertKind, int>, 3> kinds = {
      {{monitor::AlertKind::share, wishes.share_minutes},
       {monitor::AlertKind::change, wishes.points_minutes},
       {monitor::AlertKind::volume, wishes.factor_minutes}}};
  for (std::size_t group = 0; group < groups.size(); ++group)
    for (const auto& [kind, minutes] : kinds)
      for (int i = 0; i < 3;) {
        const std::int64_t begin = at(random), end = begin + minutes * 60;
        if (std::ranges::any_of(spikes, [&](const Spike& other) {
              return other.group == group && begin < other.end + apart && other.begin < end + apart;
            }))
          continue;
        spikes.push_back({.kind = kind, .group = group, .begin = begin, .end = end});
        ++i;
      }
  return spikes;
}

/// Calls `seen` with each event of a month in the order of time: seconds since the beginning, group, whether
/// the answer is negative.
template <class Seen>
void generate(const Wishes& wishes, const Answers& answers, const std::vector<Spike>& spikes,
              std::mt19937_64& random, Seen seen) {
  std::array<std::vector<const Spike*>, groups.size()> of_group;
  for (const Spike& spike : spikes) of_group[spike.group].push_back(&spike);
  std::uniform_real_distribution<double> chance(0.0, 1.0);
  std::normal_distribution<double> noise(0.0, 0.1);
  std::array<double, groups.size()> level{};
  std::vector<std::pair<double, std::size_t>> events;
  for (std::int64_t second = 0; second < month; ++second) {
    if (second % 600 == 0)
      for (double& each : level) each = std::exp(noise(random));
    const double phase = two_pi * static_cast<double>(second % day) / static_cast<double>(day);
    std::array<double, groups.size()> share{};
    events.clear();
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const double part = group == 0 ? 1.0 - wishes.small : wishes.small;
      double rate = wishes.rate / 60.0 * part * (1.0 - 0.6 * std::cos(phase)) * level[group];
      share[group] = 0.2 + 0.03 * std::sin(phase);
      for (const Spike* spike : of_group[group]) {
        if (second < spike->begin || second >= spike->end) continue;
        if (spike->kind == monitor::AlertKind::share) share[group] = wishes.share;
        if (spike->kind == monitor::AlertKind::change) share[group] += wishes.points;
        if (spike->kind == monitor::AlertKind::volume) rate *= wishes.factor;
      }
      std::poisson_distribution<int> count(rate);
      for (int i = count(random); i > 0; --i)
        events.emplace_back(static_cast<double>(second) + chance(random), group);
    }
    std::ranges::sort(events);
    for (const auto& [time, group] : events) {
      const std::vector<bool>& given = answers[chance(random) < share[group] ? 1 : 0];
      const std::size_t example = given.size() == 1 ? 0 : random() % given.size();
      seen(time, group, given[example]);
    }
  }
}

/// What one set of rules found.
struct Tally {
  std::array<std::array<std::int64_t, 2>, 3> found{}, injected{};  ///< by kind and group
  std::array<std::int64_t, 3> alarms{}, false_alarms{};            ///< by kind
  std::array<std::vector<double>, 3> delays{};                     ///< seconds from a spike to its alert
};

void count(const monitor::AlertWatch& watch, const std::vector<Spike>& spikes, Tally& tally) {
  const std::vector<monitor::Alert> alerts = watch.alerts();
  const std::vector<AlertRule>& rules = watch.rules().rules;
  for (const Spike& spike : spikes) {
    const auto kind = static_cast<std::size_t>(spike.kind);
    ++tally.injected[kind][spike.group];
    const auto found = std::ranges::find_if(alerts, [&](const monitor::Alert& alert) {
      const AlertRule& rule = rules[alert.rule];
      const std::int64_t raised = alert.raised - beginning;
      return rule.kind == spike.kind && alert.group == groups[spike.group] && raised > spike.begin &&
             raised <= spike.end + rule.window;
    });
    if (found == alerts.end()) continue;
    ++tally.found[kind][spike.group];
    tally.delays[kind].push_back(static_cast<double>(found->raised - beginning - spike.begin));
  }
  for (const monitor::Alert& alert : alerts) {
    const AlertRule& rule = rules[alert.rule];
    const auto kind = static_cast<std::size_t>(rule.kind);
    const std::int64_t raised = alert.raised - beginning;
    ++tally.alarms[kind];
    tally.false_alarms[kind] += std::ranges::none_of(spikes, [&](const Spike& spike) {
      const bool is_of_rule =
          (rule.kind == monitor::AlertKind::volume) == (spike.kind == monitor::AlertKind::volume);
      return is_of_rule && alert.group == groups[spike.group] && raised > spike.begin &&
             raised <= spike.end + 2 * rule.window;
    });
  }
}

/// The same rules for which the value alone decides, from one item on.
monitor::AlertRules naive(monitor::AlertRules rules) {
  for (AlertRule& rule : rules.rules) {
    rule.least = 1;
    rule.certain = false;
  }
  return rules;
}

double median(std::vector<double> values) {
  if (values.empty()) return NAN;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

ordered_json json_of(const Tally& tally, const monitor::AlertRules& rules, int seeds) {
  ordered_json all = ordered_json::array();
  for (const AlertRule& rule : rules.rules) {
    const auto kind = static_cast<std::size_t>(rule.kind);
    ordered_json row = {{"alert", rule.name}, {"delay_median_s", median(tally.delays[kind])}};
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const analysis::ShareCount recall = {.part = static_cast<double>(tally.found[kind][group]),
                                           .all = static_cast<double>(tally.injected[kind][group])};
      const analysis::Interval interval = analysis::share_interval(recall);
      row[groups[group]] = {{"found", tally.found[kind][group]},
                            {"injected", tally.injected[kind][group]},
                            {"recall", recall.share()},
                            {"low", interval.low},
                            {"high", interval.high}};
    }
    // The exact interval of a Poisson mean, as that of a ratio to a count without noise.
    const auto false_alarms = static_cast<double>(tally.false_alarms[kind]);
    constexpr double large = 1e9;
    const analysis::Interval interval = analysis::rate_ratio_interval(false_alarms, large, large);
    row["false_alarms"] = tally.false_alarms[kind];
    row["false_alarms_in_30_days"] = {false_alarms / seeds, interval.low / seeds, interval.high / seeds};
    all.push_back(std::move(row));
  }
  return all;
}

class Generator {
 public:
  explicit Generator(const Wishes& wishes)
      : wishes_(wishes), answers_(read_answers(wishes)), rules_(monitor::load_alerts(wishes.rules)) {}

  ordered_json measure() {
    Tally ours, rival;
    std::int64_t events = 0;
    double seconds = 0.0;
    const std::vector<std::string> fields = rules_.fields();
    for (int i = 0; i < wishes_.seeds; ++i) {
      std::mt19937_64 random(wishes_.first_seed + static_cast<std::uint64_t>(i));
      const std::vector<Spike> spikes = draw_spikes(wishes_, random);
      std::vector<monitor::AlertEvent> month_of_events;
      monitor::AlertWatch watch(rules_), other(naive(rules_));
      monitor::AlertEvent event;
      const auto pass_on = [&] {
        const std::clock_t start = std::clock();
        for (const monitor::AlertEvent& each : month_of_events) watch.add(each);
        seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        for (const monitor::AlertEvent& each : month_of_events) other.add(each);
        events += std::ssize(month_of_events);
        month_of_events.clear();
      };
      generate(wishes_, answers_, spikes, random, [&](double time, std::size_t group, bool negative) {
        event.time = static_cast<double>(beginning) + time;
        event.values.clear();
        for (const std::string& field : fields)
          event.values.push_back(std::vector<std::string>{field == monitor::group_field ? groups[group]
                                                          : negative                    ? "negative"
                                                                                        : "positive"});
        month_of_events.push_back(event);
        constexpr std::size_t at_once = 100000;
        if (month_of_events.size() == at_once) pass_on();
      });
      pass_on();
      watch.finish();
      other.finish();
      count(watch, spikes, ours);
      count(other, spikes, rival);
    }
    return {{"months", wishes_.seeds},
            {"rate_a_minute", wishes_.rate},
            {"events", events},
            {"events_a_second_of_one_core", static_cast<double>(events) / seconds},
            {"rules", json_of(ours, rules_, wishes_.seeds)},
            {"naive", json_of(rival, rules_, wishes_.seeds)}};
  }

  void write() const {
    std::mt19937_64 random(wishes_.first_seed);
    const std::vector<Spike> spikes = draw_spikes(wishes_, random);
    std::ofstream file(wishes_.write);
    std::int64_t number = 0;
    generate(wishes_, answers_, spikes, random, [&](double time, std::size_t group, bool negative) {
      char line[160];
      std::snprintf(
          line, sizeof line,
          "{\"time\": %.3f, \"id\": \"r%lld\", \"label\": \"%s\", \"score\": 0.9, \"group\": \"%s\"}\n",
          static_cast<double>(beginning) + time, static_cast<long long>(++number),
          negative ? "negative" : "positive", groups[group]);
      file << line;
    });
    if (!file.flush()) throw Error("cannot write " + wishes_.write);
  }

 private:
  Wishes wishes_;
  Answers answers_;
  monitor::AlertRules rules_;
};

/// Returns the parts between commas.
std::set<std::string> names_in(const std::string& list) {
  std::set<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) names.insert(name);
  return names;
}

Wishes wishes_in(const std::vector<std::string>& words) {
  Wishes wishes;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string &name = words[i], &value = words[i + 1];
    if (name == "--rules")
      wishes.rules = value;
    else if (name == "--write")
      wishes.write = value;
    else if (name == "--answers")
      wishes.answers = value;
    else if (name == "--negative")
      wishes.negative = names_in(value);
    else if (name == "--seeds")
      wishes.seeds = std::stoi(value);
    else if (name == "--first-seed")
      wishes.first_seed = std::stoull(value);
    else if (name == "--rate")
      wishes.rate = std::stod(value);
    else if (name == "--small")
      wishes.small = std::stod(value);
    else if (name == "--share")
      wishes.share = std::stod(value);
    else if (name == "--share-minutes")
      wishes.share_minutes = std::stoi(value);
    else if (name == "--points")
      wishes.points = std::stod(value) / 100.0;
    else if (name == "--points-minutes")
      wishes.points_minutes = std::stoi(value);
    else if (name == "--factor")
      wishes.factor = std::stod(value);
    else if (name == "--factor-minutes")
      wishes.factor_minutes = std::stoi(value);
    else
      throw Error("unknown option " + name + "; the head of alerts_replay.cpp lists all");
  }
  if (words.size() % 2 != 0) throw Error("option " + words.back() + " has no value");
  return wishes;
}

}  // namespace
}  // namespace encore

int main(int argc, char** argv) try {
  const encore::Wishes wishes = encore::wishes_in({argv + 1, argv + argc});
  encore::Generator generator(wishes);
  if (!wishes.write.empty())
    generator.write();
  else
    std::cout << generator.measure().dump(2) << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << "alerts_replay: " << error.what() << '\n';
  return 1;
}
