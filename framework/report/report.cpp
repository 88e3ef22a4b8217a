// See report.hpp.
#include "report/report.hpp"

#include <algorithm>

#include "report/foreign_values.hpp"
#include "report/material.hpp"
#include "report/sections.hpp"
#include "report/selection.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

struct Chosen {
  std::vector<RunRow> runs;
  std::string subject;
};

Chosen choose(Store& store, const std::vector<std::string>& words) {
  if (words.empty() || (words.size() == 1 && words.front() == "all")) {
    std::vector<RunRow> runs = store.list_runs();
    if (runs.empty()) throw UnknownRun("there is no run in " + store.path().string() + " to report");
    return {std::move(runs), "all runs"};
  }
  std::vector<RunRow> runs = select_runs(store, words);
  const bool is_sweep = words.size() == 1 && std::all_of(runs.begin(), runs.end(), [&](const RunRow& run) {
                          return run.sweep == words.front() && run.name != words.front();
                        });
  std::string subject = runs.size() == 1 ? "run " + runs.front().name
                        : is_sweep       ? "sweep " + words.front()
                                         : "runs of " + listed(words);
  return {std::move(runs), std::move(subject)};
}

std::vector<Section> sections_of(const Material& material) {
  std::vector<Section> sections;
  add_section(sections, results_section(material));
  add_section(sections, curves_section(material));
  add_section(sections, sweep_section(material));
  add_section(sections, examples_section(material));
  add_section(sections, method_section(material));
  add_section(sections, environment_section(material));
  add_section(sections, reproduction_section(material));
  return sections;
}

/// The two sides of --against: the runs of this report, and the old ones.
struct Sides {
  std::vector<RunRow> now, old;
  std::string what;  ///< "before 2026-11-01", "runs of wnut17-old"
};

Sides split(Store& store, const std::vector<RunRow>& runs, const std::string& against) {
  const std::optional<double> date = utc_from(against);
  if (!date) return {runs, select_runs(store, {against}), against};
  Sides sides;
  sides.what = "before " + against;
  for (const RunRow& run : runs)
    (run.finished && *run.finished < *date ? sides.old : sides.now).push_back(run);
  if (sides.old.empty()) throw Error("none of these runs was finished before " + against + " (UTC)");
  if (sides.now.empty()) throw Error("all of these runs were finished before " + against + " (UTC)");
  return sides;
}

Document report_of(Store& store, const ReportOptions& options) {
  const Snapshot snapshot(store.database());
  Chosen chosen = choose(store, options.words);
  std::optional<Sides> sides;
  if (!options.against.empty()) {
    sides = split(store, chosen.runs, options.against);
    chosen.runs = sides->now;
  }
  if (!options.metric.empty()) require_metric(store, chosen.runs, options.metric);
  const Material material = gather(store, chosen.runs, chosen.subject, options);
  Document document;
  document.title = "Report of " + chosen.subject;
  document.subtitle = material.metric + ", " + counted(material.runs.size(), "run");
  document.facts = title_facts(material);
  document.abstract = abstract_blocks(material);
  document.sections = sections_of(material);
  if (sides) {
    ReportOptions same = options;
    same.metric = material.metric;
    const Material old = gather(store, sides->old, sides->what, same);
    document.sections.insert(
        document.sections.begin() +
            std::min<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(document.sections.size())),
        against_section(material, old, sides->what));
  }
  return document;
}

}  // namespace

void add_section(std::vector<Section>& sections, Section section) {
  if (!section.blocks.empty() || !section.sections.empty()) sections.push_back(std::move(section));
}

Document make_report(Store& store, const ReportOptions& options) {
  return reading_values_of(store, [&] { return report_of(store, options); });
}

}  // namespace encore
