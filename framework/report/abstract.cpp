// The abstract: what was asked, what was run, the answer with its uncertainty, whether it was verified.
#include <algorithm>
#include <cmath>
#include <set>

#include "report/compute.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

std::size_t completed(const Material& material) {
  return static_cast<std::size_t>(
      std::count_if(material.runs.begin(), material.runs.end(),
                    [](const RunRow& run) { return run.state == RunState::completed; }));
}

/// "model.layers (1, 2, 4)"
std::string factor_text(const Factor& factor) {
  constexpr std::size_t most = 8;
  std::vector<std::string> levels;
  for (const nlohmann::json& level : factor.levels) levels.push_back(level_text(level));
  if (levels.size() > most) return factor.label + " (" + std::to_string(levels.size()) + " values)";
  std::string text;
  for (const std::string& level : levels) text += (text.empty() ? "" : ", ") + level;
  return factor.label + " (" + text + ")";
}

std::string asked_text(const Material& material) {
  std::vector<std::string> factors;
  constexpr std::size_t most = 6;
  for (const Factor& factor : material.factors)
    if (factors.size() < most) factors.push_back(factor_text(factor));
  if (material.factors.size() > most)
    factors.push_back(counted(material.factors.size() - most, "more setting"));
  std::set<std::uint64_t> seeds;
  for (const RunRow& run : material.runs) seeds.insert(run.seed);
  const std::string runs = material.runs.size() == 1 ? "one run" : counted(material.runs.size(), "run");
  return (factors.empty()
              ? "Asked: the " + material.metric.name + " of " + runs
              : "Asked: how " + material.metric.name + " depends on " + listed(factors) + ", by " + runs) +
         (seeds.size() == 1 ? " with one seed." : " over " + counted(seeds.size(), "seed") + ".");
}

/// "2 layers of width 128", of a setting that all runs share; empty where they differ in it.
std::string common_text(const Material& material, const std::string& key) {
  const nlohmann::json first = material.setting(material.runs.front(), key);
  for (const RunRow& run : material.runs)
    if (material.setting(run, key) != first) return "";
  return setting_text(first);
}

/// What a worker reported of the size of a set: "1,200 examples of train.conll"; empty where none did.
std::string set_text(const Material& material, const std::string& role) {
  std::set<std::string> texts;
  for (const RunRow& run : material.runs) {
    const SetFacts* facts = material.facts(run, role);
    const auto files = material.datasets.find(run.number);
    if (facts == nullptr || files == material.datasets.end()) return "";
    const bool has_own = std::ranges::find(files->second, role, &DatasetRow::role) != files->second.end();
    for (const DatasetRow& file : files->second)
      if (file.role == (has_own ? role : "train"))  // or a share of it
        texts.insert(thousands(facts->examples) + " examples of " + setting_text(file.path));
  }
  return texts.size() == 1 ? *texts.begin() : "";
}

/// What was trained, for those who know nothing of it yet; empty where no worker told.
std::string trained_text(const Material& material) {
  const std::string train = set_text(material, "train"), test = set_text(material, "test");
  if (train.empty()) return "";
  std::set<std::int64_t> sizes;
  for (const RunRow& run : material.runs)
    if (const Started* started = material.started(run); started != nullptr && started->parameters)
      sizes.insert(*started->parameters);
  const std::string layers = common_text(material, "model.layers"),
                    width = common_text(material, "model.width");
  std::string model = "a Transformer encoder";
  if (!layers.empty() && !width.empty())
    model += " of " + layers + (layers == "1" ? " layer" : " layers") + " and width " + width;
  if (!sizes.empty())
    model += " (" + thousands(*sizes.begin()) +
             (sizes.size() > 1 ? " to " + thousands(*sizes.rbegin()) : "") + " parameters)";
  const std::string task = common_text(material, "task.type");
  return "Trained: " + model + (task.empty() ? "" : " for the task " + task) + ", from random weights, on " +
         train + (test.empty() ? "" : "; scored on " + test) + ".";
}

std::string run_text(const Material& material) {
  std::map<std::string, std::size_t> states;
  for (const RunRow& run : material.runs) ++states[name_of(run.state)];
  std::vector<std::string> parts;
  for (const auto& [state, count] : states)
    parts.push_back(thousands(static_cast<std::int64_t>(count)) + " " + state);
  const Compute compute = compute_of(material);
  return "Run: " + listed(parts) + "; " + counted(compute.attempts, "attempt") + " in all, " +
         duration_text(compute.seconds) + " of computing" +
         (compute.untimed > 0
              ? ", without " + counted(compute.untimed, "attempt") + " whose end nobody recorded"
              : "") +
         ".";
}

std::string interval_text(const Question& question, const Candidate& candidate) {
  const Metric& metric = question.comparison.options.metric;
  const Unit unit = unit_of(metric);
  std::string text = metric_text(metric, candidate.mean) + (unit.name.empty() ? "" : " " + unit.name);
  if (candidate.t)
    return text + " (" + number_text(100.0 * (1.0 - question.comparison.options.alpha)) +
           " % interval by Student's t: " + metric_text(metric, candidate.t->low) + " to " +
           metric_text(metric, candidate.t->high) + "; n = " + std::to_string(candidate.values.size()) + ")";
  return text + " (n = " + std::to_string(candidate.values.size()) +
         (candidate.values.size() == 1 ? ", which says nothing of the spread)" : ", without any spread)");
}

/// "; 2 more candidates have no value"
std::string without_value(const Comparison& comparison) {
  const auto count = static_cast<std::size_t>(
      std::count_if(comparison.candidates.begin(), comparison.candidates.end(),
                    [](const Candidate& candidate) { return std::isnan(candidate.mean); }));
  if (count == 0) return ".";
  return "; " + counted(count, "more candidate") + (count == 1 ? " has" : " have") + " no value.";
}

std::string answer_text(const Question& question) {
  const Comparison& comparison = question.comparison;
  const std::optional<std::size_t> first = question.first();
  if (!first) return question.title + ": no run has a value, so there is no answer.";
  const Candidate& top = comparison.candidates[*first];
  const std::string name = question.key.introduced(*first);
  const std::string value = interval_text(question, top);
  const std::string rest = without_value(comparison);
  const auto scored = static_cast<std::size_t>(
      std::count_if(comparison.candidates.begin(), comparison.candidates.end(),
                    [](const Candidate& candidate) { return !std::isnan(candidate.mean); }));
  if (scored == 1) return question.title + ": " + name + " reaches " + value + rest;
  const std::string best = comparison.options.metric.lower_is_better() ? "lowest" : "highest";
  if (question.best(*first))
    return question.title + ": " + name + " is " + best + " of " + std::to_string(scored) + " candidates, " +
           value + "; the tests tell it from every other" + rest;
  std::vector<std::string> open;
  for (const Pair& pair : comparison.pairs)
    if ((pair.a == *first || pair.b == *first) &&
        (pair.verdict == Verdict::undecided || pair.verdict == Verdict::refused))
      open.push_back(question.letter(pair.a == *first ? pair.b : pair.a));
  const std::string others =
      open.size() <= 4 ? listed(open)
                       : std::to_string(open.size()) + " of the other " + std::to_string(scored - 1);
  return question.title + ": " + name + " has the " + best + " mean of " + std::to_string(scored) +
         " candidates, " + value + ", but the tests do not tell it from " + others +
         ": no candidate is called best" + rest;
}

/// By the last verdict of each run.
struct Verified {
  std::size_t equal = 0, different = 0, not_comparable = 0;
};

Verified verified(const Material& material) {
  Verified sums;
  for (const auto& [run, verifications] : material.verifications) {
    const std::string& outcome = verifications.back().outcome;
    ++(outcome == "equal" ? sums.equal : outcome == "different" ? sums.different : sums.not_comparable);
  }
  return sums;
}

std::string verified_text(const Material& material) {
  const Verified sums = verified(material);
  if (sums.equal + sums.different + sums.not_comparable == 0)
    return "Verified: none of these runs was trained again and compared.";
  std::string text = "Verified: " + thousands(static_cast<std::int64_t>(sums.equal)) + " of " +
                     counted(material.runs.size(), "run") + " trained again with equal bits";
  if (sums.different > 0) text += ", " + std::to_string(sums.different) + " with other bits";
  if (sums.not_comparable > 0)
    text += ", " + std::to_string(sums.not_comparable) + " in another numeric environment and not comparable";
  return text + ".";
}

/// "examples (private data)": what a reader may miss, and why.
std::string left_out_text(const Material& material) {
  std::vector<std::string> parts = material.options.without;
  const bool hides =
      std::any_of(material.questions.begin(), material.questions.end(),
                  [&](const Question& question) { return material.hides_texts(question, "examples"); });
  if (hides && std::find(parts.begin(), parts.end(), "examples") == parts.end())
    parts.push_back("examples (private data)");
  return listed(parts);
}

}  // namespace

std::vector<Block> abstract_blocks(const Material& material) {
  std::vector<Block> blocks = {Paragraph{asked_text(material)}};
  if (const std::string trained = trained_text(material); !trained.empty())
    blocks.push_back(Paragraph{trained});
  blocks.push_back(Paragraph{run_text(material)});
  for (const Question& question : material.questions) blocks.push_back(Paragraph{answer_text(question)});
  blocks.push_back(Paragraph{verified_text(material)});
  std::set<std::string> dirty;
  for (const auto& [run, attempts] : material.attempts)
    for (const AttemptRow& attempt : attempts)
      if (!attempt.diff.empty() || (attempt.source && !attempt.source->diff.empty()))
        dirty.insert(attempt.commit_hash);
  if (!dirty.empty())
    blocks.push_back(
        Notice{Text({{"The source of Encore, or the repository of the experiment, had changes that were not "
                      "committed; what they were is attached in "},
                     reference("Code", "code"),
                     {"."}})});
  return blocks;
}

std::vector<std::pair<std::string, std::string>> title_facts(const Material& material) {
  std::set<std::string> backends, sources;
  double first = 0.0, last = 0.0;
  for (const RunRow& run : material.runs) backends.insert(run.backend);
  for (const auto& [run, attempts] : material.attempts)
    for (const AttemptRow& attempt : attempts) {
      if (attempt.finished) last = std::max(last, *attempt.finished);
      first = first == 0.0 ? attempt.started : std::min(first, attempt.started);
      if (attempt.source) sources.insert(source_text(*attempt.source));
    }
  std::vector<std::pair<std::string, std::string>> facts = {
      {"runs",
       std::to_string(completed(material)) + " of " + std::to_string(material.runs.size()) + " complete"},
      {"verified", std::to_string(verified(material).equal) + " of " + std::to_string(material.runs.size()) +
                       " with equal bits"},
      {"backend", listed({backends.begin(), backends.end()})}};
  if (first > 0.0) facts.emplace_back("first started", utc_text(first));
  if (last > 0.0) facts.emplace_back("last ended", utc_text(last));
  if (!sources.empty())
    facts.emplace_back("source of Encore",
                       sources.size() == 1 ? *sources.begin() : counted(sources.size(), "state"));
  if (const std::string out = left_out_text(material); !out.empty()) facts.emplace_back("left out", out);
  return facts;
}

}  // namespace encore
