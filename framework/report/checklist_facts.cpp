// SPDX-License-Identifier: BSD-3-Clause
// The facts that answer questions of checklists, one function for each: it reads the record and makes a
// sentence with its source. checklist.cpp calls them. A fact that was not recorded is not answered. Read
// checklist_facts.hpp first.
#include "report/checklist_facts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/sha256.hpp"
#include "document/quantity.hpp"
#include "report/compute.hpp"
#include "report/model_card.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// Joins names to a text. Only the first few are named; the others are counted.
std::string some_of(std::vector<std::string> names) {
  constexpr std::size_t most = 6;
  const std::size_t count = names.size();
  if (count > most) {
    names.resize(most);
    names.push_back(counted(count - most, "more", "more"));
  }
  return listed(names);
}

std::string whole(std::size_t number) {
  return thousands(static_cast<std::int64_t>(number));
}

/// Returns every attempt of every run.
std::vector<const store::AttemptRow*> all_attempts(const ReportData& data) {
  std::vector<const store::AttemptRow*> all;
  for (const store::RunRow& run : data.runs)
    if (const auto own = data.attempts.find(run.number); own != data.attempts.end())
      for (const store::AttemptRow& attempt : own->second) all.push_back(&attempt);
  return all;
}

/// Returns the different values of a setting among the runs, as text for people.
std::vector<std::string> values_of(const ReportData& data, const std::string& key) {
  std::set<std::string> values;
  for (const store::RunRow& run : data.runs)
    if (const nlohmann::json value = data.setting(run, key); !value.is_null())
      values.insert(config::setting_text(value));
  return {values.begin(), values.end()};
}

/// Returns a member of an object as text; empty if it is missing.
std::string member(const nlohmann::json& object, const std::string& name) {
  return object.is_object() && object.contains(name) ? config::setting_text(object.at(name)) : "";
}

/// Returns the different values of that member in the reports of the attempts.
std::vector<std::string> members_of(const ReportData& data, nlohmann::json store::AttemptRow::*what,
                                    const std::string& name) {
  std::set<std::string> values;
  for (const store::AttemptRow* attempt : all_attempts(data))
    if (std::string text = member(attempt->*what, name); !text.empty()) values.insert(std::move(text));
  return {values.begin(), values.end()};
}

}  // namespace

std::optional<ChecklistFact> data_fact(const ReportData& data) {
  std::map<std::pair<std::string, std::string>, std::string> files;  // by role and digest
  for (const store::RunRow& run : data.runs) {
    const auto own = data.datasets.find(run.number);
    if (own == data.datasets.end()) continue;
    for (const store::DatasetRow& row : own->second) {
      const record::SetFacts* facts = data.facts(run, row.role);
      files[{row.role, row.sha256}] =
          row.role + ": " + config::setting_text(row.path) +
          (facts == nullptr ? "" : ", " + thousands(facts->examples) + " examples") + ", SHA-256 " +
          row.sha256.substr(0, 16);
    }
  }
  if (files.empty()) return std::nullopt;
  std::vector<std::string> texts;
  for (const auto& [key, text] : files) texts.push_back(text);
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : "; ") + one;
  return ChecklistFact{"The runs read " + text + ".", {"section data", "table run_dataset"}};
}

std::optional<ChecklistFact> privacy_fact(const ReportData& data) {
  const auto marked = std::ranges::count_if(data.runs, [&](const store::RunRow& run) {
    return data.setting(run, "data.private") == nlohmann::json(true);
  });
  if (marked == 0) return std::nullopt;
  return ChecklistFact{"The data of " + counted(static_cast<std::size_t>(marked), "run") +
                           " are marked as private: reports and bundles leave their examples out.",
                       {"setting data.private"}};
}

std::optional<ChecklistFact> settings_fact(const ReportData& data) {
  std::set<std::string> keys;
  for (const auto& [run, params] : data.params)
    for (const store::ParamRow& param : params) keys.insert(param.key);
  if (keys.empty()) return std::nullopt;
  std::vector<std::string> differing;
  for (const analysis::Factor& factor : data.factors) differing.push_back(factor.name);
  return ChecklistFact{
      whole(keys.size()) +
          " settings of every run are recorded with the place where each was written, defaults too" +
          (differing.empty() ? "; the runs differ in the seed only."
                             : "; the runs differ in " + some_of(differing) + "."),
      {"section method", "table param", "specification.json in each run's folder"}};
}

std::optional<ChecklistFact> choice_fact(const ReportData& data) {
  std::map<std::string, std::size_t> states;
  for (const store::RunRow& run : data.runs) ++states[store::name_of(run.state)];
  std::vector<std::string> parts;
  for (const auto& [state, count] : states) parts.push_back(whole(count) + " " + state);
  std::string text = "Every run is counted, " + whole(data.runs.size()) + " in all: " + listed(parts) + ".";
  if (!data.select.empty())
    text += " Within a run the checkpoint is chosen by " + data.select +
            "; the test set is scored once, with that.";
  return ChecklistFact{text, {"section trials", "table run", "table search where a search proposed them"}};
}

std::optional<ChecklistFact> best_fact(const ReportData& data) {
  for (const Question& question : data.questions) {
    const std::optional<std::size_t> first = question.first();
    if (!first) continue;
    const analysis::Candidate& candidate = question.comparison.candidates[*first];
    return ChecklistFact{"The best mean " + question.metric().name + " is that of " + candidate.name + ": " +
                             analysis::metric_text(question.metric(), candidate.mean) + " over " +
                             counted(candidate.values.size(), "seed") + ".",
                         {"section results", "table param"}};
  }
  return std::nullopt;
}

std::optional<ChecklistFact> spread_fact(const ReportData& data) {
  std::size_t most = 0, fewest = 0, candidates = 0;
  bool tested = false;
  for (const Question& question : data.questions) {
    for (const analysis::Candidate& candidate : question.comparison.candidates) {
      if (candidate.values.empty()) continue;
      most = std::max(most, candidate.values.size());
      fewest = candidates == 0 ? candidate.values.size() : std::min(fewest, candidate.values.size());
      ++candidates;
    }
    for (const analysis::Pair& pair : question.comparison.pairs)
      tested = tested || pair.verdict != analysis::Verdict::refused;
  }
  if (candidates == 0) return std::nullopt;
  std::string text =
      counted(candidates, "candidate") + ", " +
      (fewest == most ? counted(most, "seed") : whole(fewest) + " to " + whole(most) + " seeds") +
      (candidates == 1 ? "." : " each.");
  text += most < 2
              ? " One seed says nothing about the spread: there is no interval, and nothing is ranked; more "
                "seeds (seeds = [1, 2, 3]) change that."
              : " Intervals cover 95 % by Student's t over seeds, which vary initial weights and order of "
                "the data" +
                    std::string(tested ? "; pairs are compared by t tests with Holm's correction." : ".");
  return ChecklistFact{text, {"section results", "exp compare"}};
}

std::optional<ChecklistFact> seeds_fact(const ReportData& data) {
  std::set<std::uint64_t> seeds;
  for (const store::RunRow& run : data.runs) seeds.insert(run.seed);
  std::vector<std::string> texts;
  for (const std::uint64_t seed : seeds) texts.push_back(std::to_string(seed));
  return ChecklistFact{(texts.size() == 1 ? "The seed is " : "The seeds are ") + some_of(texts) +
                           "; initial weights, order of the data and dropout follow from it.",
                       {"table run", "setting seed"}};
}

std::optional<ChecklistFact> machine_fact(const ReportData& data) {
  const std::vector<std::string> processors = members_of(data, &store::AttemptRow::host, "cpu");
  const std::vector<std::string> devices = members_of(data, &store::AttemptRow::environment, "device");
  if (processors.empty() && devices.empty()) return std::nullopt;
  std::set<std::int64_t> threads;
  for (const store::AttemptRow* attempt : all_attempts(data))
    if (attempt->started_event && attempt->started_event->threads)
      threads.insert(*attempt->started_event->threads);
  std::string text = "Trained on " + some_of(devices.empty() ? processors : devices);
  if (!threads.empty())
    text += " with " + std::to_string(*threads.begin()) +
            (threads.size() > 1 ? " to " + std::to_string(*threads.rbegin()) : "") +
            (*threads.rbegin() == 1 ? " thread" : " threads");
  return ChecklistFact{text + ".", {"section machines", "table host", "column attempt.environment"}};
}

std::optional<ChecklistFact> time_fact(const ReportData& data) {
  const Compute compute = compute_of(data);
  if (compute.attempts == 0) return std::nullopt;
  std::string text = counted(compute.attempts, "attempt") +
                     ", including those that failed or were pruned, took " +
                     document::duration_text(compute.seconds);
  if (compute.unthreaded < compute.attempts)
    text += " (" + document::duration_text(compute.thread_seconds) + " of threads)";
  if (compute.untimed > 0)
    text += "; of " + counted(compute.untimed, "attempt") + " the end was not recorded";
  const JobsUsed used = jobs_used(data);
  text += used.joules > 0.0 ? ". Energy by the accounting of the scheduler, for " +
                                  counted(used.jobs, "job") + ": " + document::energy_text(used.joules) + "."
                            : ". Energy is not recorded.";
  return ChecklistFact{text, {"section compute", "table attempt"}};
}

std::optional<ChecklistFact> run_time_fact(const ReportData& data) {
  std::vector<double> seconds;
  for (const store::RunRow& run : data.runs) {
    const auto own = data.attempts.find(run.number);
    if (run.state != store::RunState::completed || own == data.attempts.end()) continue;
    double sum = 0.0;
    for (const store::AttemptRow& attempt : own->second)
      sum += attempt.finished ? *attempt.finished - attempt.started : 0.0;
    seconds.push_back(sum);
  }
  if (seconds.empty()) return std::nullopt;
  const auto [least, longest] = std::ranges::minmax(seconds);
  return ChecklistFact{counted(seconds.size(), "run") + " took " + document::duration_text(least) +
                           (seconds.size() > 1 ? " to " + document::duration_text(longest) + " each" : "") +
                           ", from the start of the worker to the score on the test set.",
                       {"table attempt", "exp ls"}};
}

std::optional<ChecklistFact> size_fact(const ReportData& data) {
  std::set<std::int64_t> sizes;
  for (const store::RunRow& run : data.runs)
    if (const record::Started* started = data.started(run); started != nullptr && started->parameters)
      sizes.insert(*started->parameters);
  if (sizes.empty()) return std::nullopt;
  return ChecklistFact{"The models have " + thousands(*sizes.begin()) +
                           (sizes.size() > 1 ? " to " + thousands(*sizes.rbegin()) : "") + " parameters.",
                       {"section method", "exp plan --size"}};
}

std::optional<ChecklistFact> code_fact(const ReportData& data) {
  std::set<std::string> sources, commits;
  std::size_t changed = 0, none = 0;
  for (const store::AttemptRow* attempt : all_attempts(data)) {
    if (attempt->source)
      sources.insert(record::source_text(*attempt->source));
    else
      ++none;
    if (!attempt->commit_hash.empty()) commits.insert(short_hash(attempt->commit_hash));
    if (!attempt->diff.empty() || (attempt->source && !attempt->source->diff.empty())) ++changed;
  }
  if (sources.empty() && commits.empty()) return std::nullopt;
  std::string text;
  if (!sources.empty()) text = "Encore was built from " + some_of({sources.begin(), sources.end()});
  if (none > 0 && !sources.empty()) text += "; of " + counted(none, "attempt") + " its source is not known";
  if (sources.empty()) text = "The source of Encore is not known";
  if (!commits.empty())
    text += "; the repository of the experiment is at " +
            std::string(commits.size() == 1 ? "commit " : "commits ") +
            some_of({commits.begin(), commits.end()});
  if (changed > 0)
    text += "; of " + counted(changed, "attempt") + " changes that were not committed are recorded as a diff";
  return ChecklistFact{text + ".", {"section code", "tables source, code"}};
}

std::optional<ChecklistFact> software_fact(const ReportData& data) {
  std::set<std::string> plugins;
  for (const store::AttemptRow* attempt : all_attempts(data))
    for (const store::PluginRow& plugin : attempt->plugins)
      plugins.insert(plugin.name + " " + plugin.version);
  const std::vector<std::string> compilers = members_of(data, &store::AttemptRow::environment, "compiler");
  const std::vector<std::string> libraries = members_of(data, &store::AttemptRow::environment, "gemm");
  if (plugins.empty() && compilers.empty()) return std::nullopt;
  std::string text = "Encore";
  if (!compilers.empty()) text += ", built with " + some_of(compilers);
  if (!libraries.empty()) text += ", products by " + some_of(libraries);
  if (!plugins.empty()) text += "; plugins: " + some_of({plugins.begin(), plugins.end()});
  return ChecklistFact{text + ".", {"section machines", "table build", "table plugin"}};
}

std::optional<ChecklistFact> text_fact(const ReportData& data) {
  const std::vector<std::string> tokenizers = values_of(data, "tokenizer.type");
  if (tokenizers.empty()) return std::nullopt;
  std::set<std::int64_t> tokens;
  for (const store::RunRow& run : data.runs)
    if (const record::Started* started = data.started(run); started != nullptr && started->vocabulary_size)
      tokens.insert(*started->vocabulary_size);
  std::string text = "Inputs are read by " + listed(values_of(data, "data.type")) + " and tokenized by " +
                     listed(tokenizers);
  if (!tokens.empty()) text += " into tokens of a vocabulary of " + thousands(*tokens.begin());
  if (const auto lengths = values_of(data, "data.max_length"); !lengths.empty())
    text += "; at most " + listed(lengths) + " tokens of an input count, and cut inputs are counted";
  return ChecklistFact{text + ".", {"section data", "table param"}};
}

std::optional<ChecklistFact> evaluation_fact(const ReportData& data) {
  if (data.select.empty()) return std::nullopt;
  std::string text = "The development set is scored during training, by " + data.select;
  const std::vector<std::string> every = values_of(data, "train.evaluate_every");
  if (every == std::vector<std::string>{"0"})
    text += ", after each epoch";
  else if (!every.empty())
    text += ", every " + listed(every) + " steps";
  return ChecklistFact{text + "; every score is kept.", {"section curves", "table point"}};
}

std::optional<ChecklistFact> proof_fact(const ReportData& data) {
  std::size_t verified = 0, equal = 0;
  for (const auto& [run, verdicts] : data.verifications) {
    // A verdict of another database is only a claim, so it does not count.
    const auto own = std::find_if(verdicts.rbegin(), verdicts.rend(),
                                  [](const store::VerificationRow& verdict) { return !verdict.origin; });
    if (own == verdicts.rend()) continue;
    ++verified;
    if (own->outcome == "equal") ++equal;
  }
  std::string text = "Digests of all parameters are recorded. ";
  text += verified == 0 ? "No run was trained again yet (exp verify)."
                        : "Of " + counted(verified, "run") + " that were trained again, " + whole(equal) +
                              " agreed in every digest.";
  return ChecklistFact{
      text + " exp bundle puts settings, code, digests and results into one file that others verify.",
      {"section reproduction", "table digest", "table verification"}};
}

std::optional<ChecklistFact> start_fact(const ReportData& data) {
  std::vector<std::vector<ModelOrigin>> groups;
  for (const store::RunRow& run : data.runs) {
    ModelOrigin origin =
        model_origin(data.store, run, [&](const std::string& key) { return data.setting(run, key); });
    auto group = std::ranges::find_if(
        groups, [&](const std::vector<ModelOrigin>& one) { return one.front().same_but_for_names(origin); });
    if (group == groups.end()) group = groups.insert(group, std::vector<ModelOrigin>());
    group->push_back(std::move(origin));
  }
  bool all_random = true;
  std::vector<std::string> texts;
  for (const std::vector<ModelOrigin>& group : groups) {
    const ModelOrigin& origin = group.front();
    all_random = all_random && origin.source.empty();
    std::string text = counted(group.size(), "run") +
                       (group.size() == 1 ? (origin.is_trained ? " starts from " : " takes over ")
                                          : (origin.is_trained ? " start from " : " take over ")) +
                       start_text(group) + (origin.is_trained ? "" : " without training");
    for (const std::string& more : further_texts(group)) text += ", " + more;
    texts.push_back(std::move(text));
  }
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : "; ") + one;
  if (all_random) return ChecklistFact{text + "; no model was pretrained.", {"setting model.from"}};
  return ChecklistFact{text + "; weights that were taken over are known by SHA-256.",
                       {"setting model.from", "table run_dataset", "table event"}};
}

std::optional<ChecklistFact> log_fact(const ReportData& data) {
  const std::vector<const store::AttemptRow*> attempts = all_attempts(data);
  if (attempts.empty()) return std::nullopt;
  const auto damaged = std::ranges::count_if(
      attempts, [](const store::AttemptRow* one) { return !one->spool_problem.empty(); });
  return ChecklistFact{"For each of " + counted(attempts.size(), "attempt") +
                           " the worker's own report is kept, with the time of every event" +
                           (damaged == 0 ? std::string(".")
                                         : "; " + whole(static_cast<std::size_t>(damaged)) + " are damaged."),
                       {"attempt-0001.spool in each run's folder", "table event", "exp logs"}};
}

}  // namespace encore::report
