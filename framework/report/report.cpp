// SPDX-License-Identifier: BSD-3-Clause
// make_report() selects the runs, calls the function of each section in turn, and joins the sections to one
// document; make_checklist() uses the same data. `exp report` calls them. A new section is a row in
// sections_of() and a name in section_choice.cpp. Read report.hpp first.
#include "report/report.hpp"

#include <algorithm>

#include "analysis/foreign_values.hpp"
#include "report/checklist.hpp"
#include "report/report_data.hpp"
#include "report/section_choice.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"
#include "store/searches.hpp"
#include "store/selection.hpp"

namespace encore::report {

namespace {

struct Chosen {
  std::vector<store::RunRow> runs;
  std::string subject;
};

Chosen choose(store::Store& store, const store::RunSelection& selection) {
  store::SelectedRuns selected = store::select_runs(store, selection);
  std::vector<store::RunRow> runs = std::move(selected.runs);
  const std::vector<std::string>& words = selection.words;
  if (runs.empty())
    throw store::UnknownRun("there is no run in " + store.path().string() + " to report" +
                            (words.empty() && !selection.narrows() ? "" : " that fits"));
  const bool all = (words.empty() && !selection.narrows()) || words == std::vector<std::string>{"all"};
  const bool is_sweep = !selected.sweep.empty();
  const bool is_search = is_sweep && store::find_search_called(store, words.front()).has_value();
  std::string subject = all                ? "all runs"
                        : runs.size() == 1 ? "run " + runs.front().name
                        : is_search        ? "search " + words.front()
                        : is_sweep         ? "sweep " + words.front()
                        : words.empty()    ? "selected runs"
                                           : "runs of " + listed(words);
  return {std::move(runs), std::move(subject)};
}

/// Makes only the wanted sections, since examples and classes read every prediction.
std::vector<document::Section> sections_of(const ReportData& data, const SectionChoice& choice) {
  struct Part {
    const char* id;
    document::Section (*make)(const ReportData&);
  };
  static const std::vector<Part> full = {
      {"results", results_section},         {"curves", curves_section},
      {"searches", searches_section},       {"sweep", sweep_section},
      {"examples", examples_section},       {"attention", attention_section},
      {"service", service_section},         {"method", method_section},
      {"environment", environment_section}, {"reproduction", reproduction_section}};
  static const std::vector<Part> brief = {{"results", brief_results_section},
                                          {"searches", brief_searches_section},
                                          {"reproduction", brief_reproduction_section}};
  std::vector<document::Section> sections;
  for (const Part& part : data.options.brief ? brief : full) {
    if (!choice.wants(part.id)) continue;
    document::Section section = part.make(data);
    choice.apply(section);
    add_section(sections, std::move(section));
  }
  return sections;
}

/// Adds the section after "results"; if there are no results, as the first section.
void add_against(document::Document& document, document::Section section) {
  const bool results = !document.sections.empty() && document.sections.front().id == "results";
  document.sections.insert(document.sections.begin() + (results ? 1 : 0), std::move(section));
}

/// The two sides of --against: the runs of this report, and the old ones.
struct Sides {
  std::vector<store::RunRow> now, old;
  std::string what;  ///< "before 2026-11-01", "runs of wnut17-old"
};

Sides split(store::Store& store, const std::vector<store::RunRow>& runs, const std::string& against) {
  const std::optional<double> date = utc_from(against);
  if (!date) return {runs, store::select_runs(store, {.words = {against}}).runs, against};
  Sides sides;
  sides.what = "before " + against;
  for (const store::RunRow& run : runs)
    (run.finished && *run.finished < *date ? sides.old : sides.now).push_back(run);
  if (sides.old.empty()) throw Error("none of these runs was finished before " + against + " (UTC)");
  if (sides.now.empty()) throw Error("all of these runs were finished before " + against + " (UTC)");
  return sides;
}

document::Document report_of(store::Store& store, const ReportOptions& options) {
  const store::Snapshot snapshot(store.database());
  Chosen chosen = choose(store, options.runs);
  std::optional<Sides> sides;
  if (!options.against.empty()) {
    sides = split(store, chosen.runs, options.against);
    chosen.runs = sides->now;
  }
  if (!options.metric.empty()) analysis::require_metric(store, chosen.runs, options.metric);
  const SectionChoice choice(options);
  const ReportData data = read_report_data(store, chosen.runs, chosen.subject, options);
  document::Document document;
  document.title = (options.brief ? "Brief report of " : "Report of ") + chosen.subject;
  document.subtitle = listed(data.metric_names()) + ", " + counted(data.runs.size(), "run");
  document.facts = title_facts(data);
  if (choice.has_abstract()) document.abstract = abstract_blocks(data);
  document.sections = sections_of(data, choice);
  if (sides && choice.wants("against") && !options.brief) {
    ReportOptions same = options;
    if (const std::vector<std::string> metrics = data.metric_names(); metrics.size() == 1)
      same.metric = metrics.front();
    const ReportData old = read_report_data(store, sides->old, sides->what, same);
    add_against(document, against_section(data, old, sides->what));
  }
  if (document.abstract.empty() && document.sections.empty())
    throw Error("the report is empty: every section that it would have was left out");
  unlink_missing(document);
  return document;
}

}  // namespace

void add_section(std::vector<document::Section>& sections, document::Section section) {
  if (!section.blocks.empty() || !section.sections.empty()) sections.push_back(std::move(section));
}

Checklist make_checklist(store::Store& store, const ReportOptions& options, const std::string& name) {
  require_checklist(name);
  return analysis::reading_values_of(store, [&] {
    const store::Snapshot snapshot(store.database());
    const Chosen chosen = choose(store, options.runs);
    if (!options.metric.empty()) analysis::require_metric(store, chosen.runs, options.metric);
    return fill_checklist(read_report_data(store, chosen.runs, chosen.subject, options), name);
  });
}

document::Document make_report(store::Store& store, const ReportOptions& options) {
  return analysis::reading_values_of(store, [&] { return report_of(store, options); });
}

}  // namespace encore::report
