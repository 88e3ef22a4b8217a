// SPDX-License-Identifier: BSD-3-Clause
// The abstract of a report: the question, the runs, the answer with its uncertainty, and whether it was
// verified, as sentences. report.cpp calls abstract_blocks(). Only recorded facts may appear: what was not
// recorded is left out. Read sections.hpp first.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "config/core_schema.hpp"
#include "record/specification.hpp"
#include "report/compute.hpp"
#include "report/model_card.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

std::size_t completed(const ReportData& data) {
  return static_cast<std::size_t>(
      std::count_if(data.runs.begin(), data.runs.end(),
                    [](const store::RunRow& run) { return run.state == store::RunState::completed; }));
}

/// Returns a factor with its levels: "model.layers (1, 2, 4)".
std::string factor_text(const analysis::Factor& factor) {
  constexpr std::size_t most = 8;
  std::vector<std::string> levels;
  for (const nlohmann::json& level : factor.levels) levels.push_back(analysis::level_text(level));
  if (levels.size() > most) return factor.label + " (" + std::to_string(levels.size()) + " values)";
  std::string text;
  for (const std::string& level : levels) text += (text.empty() ? "" : ", ") + level;
  return factor.label + " (" + text + ")";
}

std::string asked_text(const std::string& metric, const std::vector<store::RunRow>& runs,
                       const std::vector<analysis::Factor>& factors) {
  constexpr std::size_t most = 6;
  std::vector<std::string> texts;
  for (const analysis::Factor& factor : factors)
    if (texts.size() < most) texts.push_back(factor_text(factor));
  if (factors.size() > most) texts.push_back(counted(factors.size() - most, "more setting"));
  std::set<std::uint64_t> seeds;
  for (const store::RunRow& run : runs) seeds.insert(run.seed);
  const std::string count = runs.size() == 1 ? "one run" : counted(runs.size(), "run");
  return (texts.empty() ? "Asked: the " + metric + " of " + count
                        : "Asked: how " + metric + " depends on " + listed(texts) + ", by " + count) +
         (seeds.size() == 1 ? " with one seed." : " over " + counted(seeds.size(), "seed") + ".");
}

/// Returns what was asked: one sentence if all questions have the same metric, otherwise one for each
/// question, because settings of different tasks are not the levels of one factor.
std::vector<std::string> asked_texts(const ReportData& data) {
  const std::vector<std::string> metrics = data.metric_names();
  if (metrics.size() == 1) return {asked_text(metrics.front(), data.runs, data.factors)};
  std::vector<std::string> texts;
  for (const Question& question : data.questions)
    texts.push_back(asked_text(question.title, question.runs, question.factors));
  return texts;
}

using Runs = std::vector<const store::RunRow*>;

/// Returns the value of a setting that all these runs share; null if they differ in it.
nlohmann::json common_value(const ReportData& data, const Runs& runs, const std::string& key) {
  const nlohmann::json first = data.setting(*runs.front(), key);
  for (const store::RunRow* run : runs)
    if (data.setting(*run, key) != first) return nullptr;
  return first;
}

std::string common_text(const ReportData& data, const Runs& runs, const std::string& key) {
  return config::setting_text(common_value(data, runs, key));
}

/// Returns whether the file belongs to the set: "train.2" is the second file of "train", and the files of
/// "more" belong to it too.
bool is_of_set(const store::DatasetRow& file, const std::string& set) {
  return file.role == set || file.role.starts_with(set + ".") ||
         (set == "train" &&
          (file.role == record::added_role || file.role.starts_with(record::added_role + std::string("."))));
}

/// Returns the size of a set as the workers reported it: "1,200 examples of train.conll", or "150 examples of
/// train.conll that data.split kept out of training"; empty if a worker reported none, or if the runs differ
/// in it.
std::string set_text(const ReportData& data, const Runs& runs, const std::string& set) {
  constexpr std::size_t most = 4;
  std::set<std::string> texts;
  for (const store::RunRow* run : runs) {
    const record::SetFacts* facts = data.facts(*run, set);
    const auto files = data.datasets.find(run->number);
    if (facts == nullptr || files == data.datasets.end()) return "";
    const bool has_own = std::ranges::any_of(
        files->second, [&](const store::DatasetRow& file) { return is_of_set(file, set); });
    std::vector<std::string> names;
    for (const store::DatasetRow& file : files->second)
      // A set without a file of its own is a share of "train".
      if (is_of_set(file, has_own ? set : "train")) names.push_back(config::setting_text(file.path));
    if (names.empty()) return "";
    texts.insert(counted(static_cast<std::size_t>(facts->examples), "example") + " of " +
                 (names.size() > most ? counted(names.size(), "file") : listed(names)) +
                 (has_own ? "" : " that data.split kept out of training"));
  }
  return texts.size() == 1 ? *texts.begin() : "";
}

/// Returns "2 layers (attention, feed_forward)", from the table `model` or `model.decoder`: the part that all
/// runs share.
std::string stack_text(const ReportData& data, const Runs& runs, const std::string& table) {
  const nlohmann::json layers = common_value(data, runs, table + ".layers");
  if (!layers.is_number_integer() || layers.get<std::int64_t>() < 0) return "";
  std::string types;
  if (const nlohmann::json block = common_value(data, runs, table + ".block"); block.is_array())
    for (const nlohmann::json& name : block) {
      const std::string type = common_text(data, runs, "model.layer." + config::setting_text(name) + ".type");
      if (type.empty()) return counted(layers.get<std::size_t>(), "layer");
      types += (types.empty() ? "" : ", ") + type;
    }
  return counted(layers.get<std::size_t>(), "layer") + (types.empty() ? "" : " (" + types + ")");
}

/// Returns "an encoder of 2 layers (self_attention, feed_forward) and width 128 (343,000 parameters)".
std::string model_text(const ReportData& data, const Runs& runs, const std::string& kind) {
  const bool has_decoder = kind.find(" with a decoder") != std::string::npos;
  const std::string stack = stack_text(data, runs, "model"),
                    decoder = has_decoder ? stack_text(data, runs, "model.decoder") : "",
                    width = common_text(data, runs, "model.width");
  std::string text = kind == "decoder" ? "a decoder" : "an encoder";
  if (!stack.empty()) text += " of " + stack;
  if (has_decoder) text += " with a decoder" + (decoder.empty() ? "" : " of " + decoder);
  if (!width.empty())
    text += (has_decoder ? ", both of width " : stack.empty() ? " of width " : " and width ") + width;
  std::set<std::int64_t> sizes;
  for (const store::RunRow* run : runs)
    if (const record::Started* started = data.started(*run); started != nullptr && started->parameters)
      sizes.insert(*started->parameters);
  if (!sizes.empty())
    text += " (" + thousands(*sizes.begin()) + (sizes.size() > 1 ? " to " + thousands(*sizes.rbegin()) : "") +
            " parameters)";
  return text;
}

/// Runs whose models are made in the same way, except for the names of their sources.
struct OriginGroup {
  std::vector<ModelOrigin> origins;
  Runs runs;
};

std::string group_text(const ReportData& data, const OriginGroup& group, bool is_all) {
  const ModelOrigin& origin = group.origins.front();
  const std::string train = set_text(data, group.runs, "train"), test = set_text(data, group.runs, "test"),
                    task = common_text(data, group.runs, "task.type");
  const bool is_scored = std::ranges::all_of(
      group.runs, [](const store::RunRow* run) { return run->state == store::RunState::completed; });
  std::string text = origin.is_trained ? "Trained" : "Taken over without training";
  if (!is_all) text += " (" + counted(group.runs.size(), "run") + ")";
  text += ": " + model_text(data, group.runs, origin.kind) + (task.empty() ? "" : " for the task " + task) +
          (origin.is_trained ? ", from " : ", with ") + start_text(group.origins);
  for (const std::string& more : further_texts(group.origins)) text += ", " + more;
  if (origin.is_trained && !train.empty()) text += ", on " + train;
  if (!test.empty()) text += (is_scored ? "; scored on " : "; the test set has ") + test;
  return text + ".";
}

/// Returns a sentence about the applications: their steps, the models that these ask, and the sets. Steps and
/// models are those of all applications, each once.
std::string application_text(const ReportData& data, const Runs& runs) {
  std::vector<std::string> steps, models;
  const auto add = [](std::vector<std::string>& list, const std::string& text) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(text);
  };
  for (const store::RunRow* run : runs) {
    const nlohmann::json names = data.setting(*run, "app.steps");
    for (const nlohmann::json& name : names.is_array() ? names : nlohmann::json::array()) {
      const std::string step = config::setting_text(name),
                        type = config::setting_text(data.setting(*run, "app.step." + step + ".type"));
      add(steps, step == type ? step : step + " (" + type + ")");
    }
    for (const auto& [table, model] : data.store.read_parents(*run))
      if (!config::step_in(table).empty()) add(models, model.run ? model.run->name : model.experiment);
  }
  const std::string dev = set_text(data, runs, "dev"), test = set_text(data, runs, "test"),
                    fit = common_text(data, runs, "app.fit");
  return "Fitted: " +
         (runs.size() == 1 ? std::string("an application") : counted(runs.size(), "application")) +
         " of the steps " + listed(steps) +
         (models.empty()
              ? ""
              : ", asking the model" + std::string(models.size() > 1 ? "s" : "") + " of " + listed(models)) +
         (dev.empty() ? "" : ", on a share of " + (fit.empty() ? "app.fit" : fit) + " of " + dev) +
         (test.empty() ? "" : "; scored on " + test) + ".";
}

/// Returns sentences about the trained models, one for each way in which a model was made, for readers who do
/// not know them yet. Runs whose worker never reported a start are left out, because they have not trained
/// yet.
std::vector<std::string> trained_texts(const ReportData& data) {
  constexpr std::size_t most = 4;
  std::vector<OriginGroup> groups;
  for (const store::RunRow& run : data.runs) {
    if (data.started(run) == nullptr || is_application(run)) continue;
    ModelOrigin origin =
        model_origin(data.store, run, [&](const std::string& key) { return data.setting(run, key); });
    auto group = std::ranges::find_if(
        groups, [&](const OriginGroup& one) { return one.origins.front().same_but_for_names(origin); });
    if (group == groups.end()) group = groups.insert(group, OriginGroup{});
    group->origins.push_back(std::move(origin));
    group->runs.push_back(&run);
  }
  std::ranges::stable_sort(groups, std::ranges::greater(),
                           [](const OriginGroup& group) { return group.runs.size(); });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(most, groups.size()); ++i)
    texts.push_back(group_text(data, groups[i], groups.size() == 1));
  if (groups.size() > most)
    texts.push_back("Models of " + counted(groups.size() - most, "more kind") +
                    " were trained: exp show RUN describes each.");
  Runs applications;
  for (const store::RunRow& run : data.runs)
    if (data.started(run) != nullptr && is_application(run)) applications.push_back(&run);
  if (!applications.empty()) texts.push_back(application_text(data, applications));
  return texts;
}

std::string run_text(const ReportData& data) {
  std::map<std::string, std::size_t> states;
  for (const store::RunRow& run : data.runs) ++states[store::name_of(run.state)];
  std::vector<std::string> parts;
  for (const auto& [state, count] : states)
    parts.push_back(thousands(static_cast<std::int64_t>(count)) + " " + state);
  const Compute compute = compute_of(data);
  return "Run: " + listed(parts) + "; " + counted(compute.attempts, "attempt") + " in all, " +
         document::duration_text(compute.seconds) + " of computing" +
         (compute.untimed > 0
              ? ", without " + counted(compute.untimed, "attempt") + " whose end was not recorded"
              : "") +
         "." +
         (data.beside > 0
              ? " Not in this report: " + counted(data.beside, "more run") +
                    (data.sweeps.size() == 1 ? " of " + data.sweeps.front().name : " of the same sweeps") +
                    "."
              : "");
}

std::string interval_text(const Question& question, const analysis::Candidate& candidate) {
  const Metric& metric = question.comparison.options.metric;
  const Unit unit = unit_of(metric);
  const analysis::MeanDigits digits(metric, candidate.mean, candidate.deviation);
  std::string text = digits.text(candidate.mean) + (unit.name.empty() ? "" : " " + unit.name);
  if (candidate.t)
    return text + " (" + document::number_text(100.0 * (1.0 - question.comparison.options.alpha)) +
           " % interval by Student's t: " + digits.text(candidate.t->low) + " to " +
           digits.text(candidate.t->high) + "; n = " + std::to_string(candidate.values.size()) + ")";
  return text + " (n = " + std::to_string(candidate.values.size()) +
         (candidate.values.size() == 1 ? ", which says nothing about the spread)" : ", without any spread)");
}

/// Returns "; 2 more candidates have no value", or "".
std::string without_value(const analysis::Comparison& comparison) {
  const auto count = static_cast<std::size_t>(
      std::count_if(comparison.candidates.begin(), comparison.candidates.end(),
                    [](const analysis::Candidate& candidate) { return std::isnan(candidate.mean); }));
  if (count == 0) return ".";
  return "; " + counted(count, "more candidate") + (count == 1 ? " has" : " have") + " no value.";
}

std::string answer_text(const Question& question) {
  const analysis::Comparison& comparison = question.comparison;
  const std::optional<std::size_t> first = question.first();
  if (!first) return question.title + ": no run has a value, so there is no answer.";
  const analysis::Candidate& top = comparison.candidates[*first];
  const std::string name = question.key.introduced(*first);
  const std::string value = interval_text(question, top);
  const std::string rest = without_value(comparison);
  const auto scored = static_cast<std::size_t>(
      std::count_if(comparison.candidates.begin(), comparison.candidates.end(),
                    [](const analysis::Candidate& candidate) { return !std::isnan(candidate.mean); }));
  if (scored == 1) return question.title + ": " + name + " reaches " + value + rest;
  const std::string best = comparison.options.metric.lower_is_better() ? "lowest" : "highest";
  if (question.best(*first))
    return question.title + ": " + name + " is " + best + " of " + std::to_string(scored) + " candidates, " +
           value + "; the tests distinguish it from every other" + rest;
  std::vector<std::string> open;
  for (const analysis::Pair& pair : comparison.pairs)
    if ((pair.a == *first || pair.b == *first) &&
        (pair.verdict == analysis::Verdict::undecided || pair.verdict == analysis::Verdict::refused))
      open.push_back(question.letter(pair.a == *first ? pair.b : pair.a));
  const std::string others =
      open.size() <= 4 ? listed(open)
                       : std::to_string(open.size()) + " of the other " + std::to_string(scored - 1);
  return question.title + ": " + name + " has the " + best + " mean of " + std::to_string(scored) +
         " candidates, " + value + ", but the tests do not distinguish it from " + others +
         ": no candidate is called best" + rest;
}

/// The number of runs by their last verdict. A verdict of another database (OriginRow) is only its claim and
/// does not count. Equal bits in a part of the steps (`exp verify --steps`) do not hide an earlier verdict.
struct Verified {
  std::size_t equal = 0, partly = 0, different = 0, not_comparable = 0;
  std::size_t claimed = 0;  ///< runs with verdicts of other databases only
};

/// Returns whether the verification compared all digests of the run; `digests` is their number.
bool is_whole(const store::VerificationRow& verification, std::int64_t digests) {
  const auto compared = verification.details.find("compared");
  if (compared == verification.details.end()) return true;
  const auto count = compared->find("digests");
  return count != compared->end() && count->is_number_integer() && *count >= digests;
}

Verified verified(const ReportData& data) {
  Verified sums;
  const std::map<std::int64_t, std::int64_t> digests = store::RunBatch(data.store, data.runs).digest_counts();
  for (const auto& [run, verifications] : data.verifications) {
    const auto count = digests.find(run);
    std::size_t* verdict = &sums.claimed;
    for (const store::VerificationRow& verification : verifications) {  // the newest one is the last
      if (verification.origin) continue;
      if (verification.outcome != "equal")
        verdict = verification.outcome == "different" ? &sums.different : &sums.not_comparable;
      else if (is_whole(verification, count == digests.end() ? 0 : count->second))
        verdict = &sums.equal;
      else if (verdict == &sums.claimed)
        verdict = &sums.partly;
    }
    ++*verdict;
  }
  return sums;
}

std::string verified_text(const ReportData& data) {
  const Verified sums = verified(data);
  const std::string claims =
      sums.claimed == 0 ? ""
                        : " The verdicts on " + counted(sums.claimed, "run") + " come from other databases.";
  if (sums.equal + sums.partly + sums.different + sums.not_comparable == 0)
    return "Verified: none of these runs was trained again and compared" +
           std::string(claims.empty() ? "." : " here.") + claims;
  std::string text = "Verified: " + thousands(static_cast<std::int64_t>(sums.equal)) + " of " +
                     counted(data.runs.size(), "run") + " trained again with equal bits";
  if (sums.partly > 0) text += ", " + std::to_string(sums.partly) + " in a part of the steps only";
  if (sums.different > 0) text += ", " + std::to_string(sums.different) + " with other bits";
  if (sums.not_comparable > 0)
    text += ", " + std::to_string(sums.not_comparable) + " in another numeric environment and not comparable";
  return text + "." + claims;
}

/// Returns the parts that were left out, and why: "examples (private data)".
std::string left_out_text(const ReportData& data) {
  std::vector<std::string> parts = data.options.without;
  const bool hides = std::any_of(data.questions.begin(), data.questions.end(), [&](const Question& question) {
    return data.hides_texts(question, "examples");
  });
  if (hides && std::find(parts.begin(), parts.end(), "examples") == parts.end())
    parts.push_back("examples (private data)");
  return listed(parts);
}

}  // namespace

std::vector<document::Block> abstract_blocks(const ReportData& data) {
  std::vector<document::Block> blocks;
  for (const std::string& asked : asked_texts(data)) blocks.push_back(document::Paragraph{asked});
  for (const std::string& trained : trained_texts(data)) blocks.push_back(document::Paragraph{trained});
  blocks.push_back(document::Paragraph{run_text(data)});
  for (const Question& question : data.questions)
    blocks.push_back(document::Paragraph{answer_text(question)});
  blocks.push_back(document::Paragraph{verified_text(data)});
  std::set<std::string> dirty;
  for (const auto& [run, attempts] : data.attempts)
    for (const store::AttemptRow& attempt : attempts)
      if (!attempt.diff.empty() || (attempt.source && !attempt.source->diff.empty()))
        dirty.insert(attempt.commit_hash);
  if (!dirty.empty())
    blocks.push_back(document::Notice{document::Text(
        {{"The source of Encore, or the repository of the experiment, had changes that were not "
          "committed; they are attached in "},
         reference("Code", "code"),
         {"."}})});
  return blocks;
}

std::vector<std::pair<std::string, std::string>> title_facts(const ReportData& data) {
  std::set<std::string> backends, sources;
  double first = 0.0, last = 0.0;
  for (const store::RunRow& run : data.runs) backends.insert(run.backend);
  for (const auto& [run, attempts] : data.attempts)
    for (const store::AttemptRow& attempt : attempts) {
      if (attempt.finished) last = std::max(last, *attempt.finished);
      first = first == 0.0 ? attempt.started : std::min(first, attempt.started);
      if (attempt.source) sources.insert(record::source_text(*attempt.source));
    }
  std::vector<std::pair<std::string, std::string>> facts = {
      {"runs", std::to_string(completed(data)) + " of " + std::to_string(data.runs.size()) + " complete"},
      {"verified",
       std::to_string(verified(data).equal) + " of " + std::to_string(data.runs.size()) + " with equal bits"},
      {"backend", listed({backends.begin(), backends.end()})}};
  if (first > 0.0) facts.emplace_back("first started", utc_text(first));
  if (last > 0.0) facts.emplace_back("last ended", utc_text(last));
  if (!sources.empty())
    facts.emplace_back("source of Encore",
                       sources.size() == 1 ? *sources.begin() : counted(sources.size(), "state"));
  if (const std::string out = left_out_text(data); !out.empty()) facts.emplace_back("left out", out);
  return facts;
}

}  // namespace encore::report
