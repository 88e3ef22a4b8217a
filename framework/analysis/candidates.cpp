// SPDX-License-Identifier: BSD-3-Clause
// Groups runs into candidates (candidates_of), reads the value of each run from the store, and writes notices
// about repeats, environments and missing values. comparison.cpp and report/against.cpp call it. The rules
// which run counts decide every mean that users see. Read candidates.hpp first.
#include "analysis/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "analysis/difference.hpp"
#include "analysis/pooling.hpp"
#include "base/nearest.hpp"
#include "store/searches.hpp"

namespace encore::analysis {

namespace {

/// Returns true for an empty text, or the number of a repeat: "-2".
bool is_repeat(std::string_view text) {
  return text.empty() || (text.size() > 1 && text.front() == '-' &&
                          text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

/// Returns "wnut17-layers=4" for a run called "wnut17-layers=4-s1", or "wnut17-layers=4-seed=1" as in earlier
/// versions.
std::string name_without_seed(const store::RunRow& run) {
  for (const char* mark : {"-s", "-seed="}) {
    const std::string part = mark + std::to_string(run.seed);
    const std::size_t at = run.name.rfind(part);
    if (at != std::string::npos && at > 0 && is_repeat(std::string_view(run.name).substr(at + part.size())))
      return run.name.substr(0, at);
  }
  return run.name;
}

/// Returns the run with its value: for a completed run the value of its best checkpoint, as its result has
/// it, else the last measured one.
Replicate replicate_of(store::Store& store, const store::RunRow& run, const std::string& metric) {
  Replicate replicate{.run = run, .missing = "", .environments = environments_of(store, run)};
  if (run.state != store::RunState::completed) {
    replicate.missing =
        std::string(store::name_of(run.state)) + (run.reason.empty() ? "" : ": " + run.reason);
    return replicate;
  }
  const nlohmann::json measures = run.result.is_object()
                                      ? run.result.value("measures", nlohmann::json::object())
                                      : nlohmann::json::object();
  if (measures.contains(metric)) {
    if (measures[metric].is_number()) replicate.value = measures[metric].get<double>();
  } else if (const auto last = store.read_latest(run.number, metric)) {
    replicate.value = last->value;
  } else {
    replicate.missing = "has no " + metric;
    return replicate;
  }
  // JSON stores a number that is not finite as null.
  if (replicate.value && std::isfinite(*replicate.value)) return replicate;
  replicate.value.reset();
  replicate.missing = "its " + metric + " is not finite";
  return replicate;
}

/// Returns the numeric environments of all runs with a value, each once.
std::vector<nlohmann::json> environments_of(const Candidate& candidate) {
  std::vector<nlohmann::json> environments;
  for (const Replicate& replicate : candidate.runs) {
    if (!replicate.value) continue;
    for (const nlohmann::json& environment : replicate.environments)
      if (std::find(environments.begin(), environments.end(), environment) == environments.end())
        environments.push_back(environment);
  }
  return environments;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// Adds their environments to the names of candidates that have one question and differ only in environments.
void name_environments(std::vector<Candidate>& candidates, std::vector<std::string>& notices) {
  std::map<std::string, std::vector<Candidate*>> questions;
  for (Candidate& candidate : candidates)
    questions[candidate.group + '/' + candidate.backend].push_back(&candidate);
  for (const auto& [question, apart] : questions) {
    if (apart.size() < 2) continue;
    std::vector<std::vector<nlohmann::json>> environments;
    for (const Candidate* candidate : apart) {
      environments.emplace_back();
      for (const Replicate& replicate : candidate->runs)
        environments.back().insert(environments.back().end(), replicate.environments.begin(),
                                   replicate.environments.end());
    }
    const std::vector<std::string> names = environment_names(environments);
    const std::string name = apart.front()->name;
    for (std::size_t i = 0; i < apart.size(); ++i) apart[i]->name = name + " [" + names[i] + "]";
    const std::string differing =
        joined(environment_differences(environments[0].front(), environments[1].front()));
    notices.push_back(name + ": runs from " + std::to_string(apart.size()) +
                      " plugin files or numeric environments are kept apart (--pool makes one candidate of "
                      "them)" +
                      (differing.empty() ? "" : ": " + differing));
  }
}

/// Adds the backend, then if needed the group, to the names of candidates with equal names.
void make_names_unique(std::vector<Candidate>& candidates) {
  const auto shared = [&](const Candidate& candidate) {
    return std::count_if(candidates.begin(), candidates.end(),
                         [&](const Candidate& other) { return other.name == candidate.name; }) > 1;
  };
  const auto extend = [&](const auto& more) {
    std::vector<std::string> names;
    for (const Candidate& candidate : candidates)
      names.push_back(shared(candidate) ? candidate.name + " [" + more(candidate) + "]" : candidate.name);
    for (std::size_t i = 0; i < names.size(); ++i) candidates[i].name = names[i];
  };
  extend([](const Candidate& candidate) { return candidate.backend; });
  extend([](const Candidate& candidate) { return candidate.group.substr(0, 8); });
}

/// Leaves out the values of seeds by which a search chose a setting, if the setting has fresh seeds too: a
/// value by which a setting was chosen is too high on average.
void leave_out_chosen(const std::map<std::int64_t, std::string>& choosers, std::vector<Candidate>& candidates,
                      std::vector<std::string>& notices) {
  const auto chooser_of = [&](const Replicate& replicate) {
    const auto found = choosers.find(replicate.run.number);
    return found == choosers.end() ? "" : found->second;
  };
  for (Candidate& candidate : candidates) {
    const auto fresh = std::ranges::count_if(candidate.runs, [&](const Replicate& replicate) {
      return replicate.value && choosers.contains(replicate.run.number) && chooser_of(replicate).empty();
    });
    if (fresh == 0) continue;
    std::vector<std::string> left_out;
    for (Replicate& replicate : candidate.runs) {
      const std::string chooser = chooser_of(replicate);
      if (!replicate.value || chooser.empty()) continue;
      replicate.is_chosen = true;
      replicate.value.reset();
      replicate.missing =
          "search " + chooser + " chose the setting by this seed, and fresh seeds stand for it";
      left_out.push_back(replicate.run.name);
    }
    if (!left_out.empty())
      notices.push_back(candidate.name + ": its mean is over seeds that no search has seen; " +
                        joined(left_out) + ", by which a search chose the setting, does not count");
  }
}

}  // namespace

void require_metric(store::Store& store, const std::vector<store::RunRow>& runs, const std::string& metric) {
  std::set<std::string> names;
  for (const store::RunRow& run : runs) {
    if (run.result.is_object() && run.result.contains("measures"))
      for (const auto& [name, value] : run.result["measures"].items()) names.insert(name);
    for (const store::MetricRow& row : store.read_metrics(run.number)) names.insert(row.name);
    if (names.count(metric) > 0) return;
  }
  // Runs without any measurement are shown as candidates without values.
  if (names.empty()) return;
  const std::vector<std::string> list(names.begin(), names.end());
  throw Error("none of these runs has a metric \"" + metric + "\"" +
              did_you_mean(metric, list, "; there are " + quoted_list(list)));
}

std::vector<Candidate> candidates_of(store::Store& store, const std::vector<store::RunRow>& runs,
                                     const CandidateOptions& options, std::vector<std::string>& notices) {
  std::vector<Replicate> all;
  std::vector<RunSource> sources;
  for (const store::RunRow& run : runs) {
    all.push_back(replicate_of(store, run, options.metric.name));
    sources.push_back({&run, all.back().environments});
  }
  const std::vector<std::string> keys = candidate_keys(sources, options.pool);
  std::vector<Candidate> candidates;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const store::RunRow& run = runs[i];
    const auto [at, added] = known.try_emplace(options.by_run ? run.id : keys[i], candidates.size());
    if (added)
      candidates.push_back({options.by_run ? run.name : name_without_seed(run), run.group, run.backend});
    std::vector<Replicate>& replicates = candidates[at->second].runs;
    const auto repeat = std::find_if(replicates.begin(), replicates.end(), [&](const Replicate& other) {
      return other.run.question == run.question;
    });
    if (repeat == replicates.end()) {
      replicates.push_back(std::move(all[i]));
      continue;
    }
    // A repeat has the same seed again, so only the newest complete run of a question counts.
    Replicate& other = all[i];
    notices.push_back(run.name + " and " + repeat->run.name +
                      " are repeats of one run (same seed, same question); only one of them counts");
    const bool newer = other.run.repeat > repeat->run.repeat;
    if (other.value.has_value() == repeat->value.has_value() ? newer : other.value.has_value())
      *repeat = std::move(other);
  }
  if (!options.by_run) name_environments(candidates, notices);
  make_names_unique(candidates);
  leave_out_chosen(store::choosers_of_runs(store), candidates, notices);
  for (Candidate& candidate : candidates) {
    std::stable_sort(candidate.runs.begin(), candidate.runs.end(),
                     [](const Replicate& a, const Replicate& b) { return a.run.seed < b.run.seed; });
    for (const Replicate& replicate : candidate.runs)
      if (replicate.value) candidate.values.push_back(*replicate.value);
    candidate.mean = mean_of(candidate.values);
    candidate.deviation = deviation_of(candidate.values);
    candidate.t = mean_interval(options.metric, candidate.values, 1.0 - options.alpha);
    candidate.bootstrap = bootstrap_interval(candidate.values, 1.0 - options.alpha);
  }
  return candidates;
}

void note_environments(const std::vector<Candidate>& candidates, std::vector<std::string>& notices) {
  std::vector<std::vector<nlohmann::json>> environments;
  for (const Candidate& candidate : candidates) {
    environments.push_back(environments_of(candidate));
    const auto& own = environments.back();
    if (own.size() > 1)
      notices.push_back(candidate.name + " pools " + std::to_string(own.size()) +
                        " numeric environments: " + joined(environment_differences(own[0], own[1])));
  }
  // Each candidate is compared with the first: two that differ from it in the same way get the same notice.
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (environments[0].empty() || environments[i].empty()) continue;
    const auto found = environment_differences(environments[0][0], environments[i][0]);
    if (!found.empty())
      notices.push_back(candidates[0].name + " and " + candidates[i].name +
                        " were computed in different numeric environments: " + joined(found));
  }
}

std::vector<double> values_of(const Candidate& candidate, const std::string& measure) {
  std::vector<double> values;
  for (const Replicate& replicate : candidate.runs) {
    if (replicate.run.state != store::RunState::completed || !replicate.run.result.is_object()) continue;
    if (replicate.is_chosen) continue;
    const nlohmann::json measures = replicate.run.result.value("measures", nlohmann::json::object());
    if (measures.contains(measure) && measures[measure].is_number())
      values.push_back(measures[measure].get<double>());
  }
  return values;
}

}  // namespace encore::analysis
