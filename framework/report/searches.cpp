// Searches that proposed runs of this report: trials, what they cost, and that a winner's score is too good.
#include <set>

#include "plan/search/search.hpp"
#include "plan/search/standing.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"
#include "store/searches.hpp"

namespace encore {

namespace {

bool has_run_of(const SearchRecord& record, const std::set<std::int64_t>& runs) {
  for (const TrialRow& trial : record.trials)
    for (const std::int64_t run : trial.runs)
      if (runs.contains(run)) return true;
  return false;
}

TableCell count_in(const search::Standing& standing, const char* state) {
  return count_cell(static_cast<std::int64_t>(standing.count(state)));
}

std::string objectives_text(const search::SearchOptions& options) {
  std::string text;
  for (const search::Objective& objective : options.objectives)
    text += (text.empty() ? "" : ", ") + search::text_of(objective);
  return text;
}

/// By one objective; of several there is a front and no best value.
TableCell best_cell(const Material& material, const search::SearchOptions& options,
                    const search::Standing& standing) {
  if (options.objectives.size() != 1 || standing.winners.empty()) return {};
  const double best = standing.states[standing.winners.front()].measured.back()->values.front();
  return {metric_text(material.metrics.of(options.objectives.front().metric), best), best};
}

}  // namespace

std::vector<Block> search_blocks(const Material& material) {
  std::set<std::int64_t> runs;
  for (const RunRow& run : material.runs) runs.insert(run.number);
  TableBlock table;
  table.id = "searches";
  table.caption =
      "Searches that proposed runs of this report, with all that they have trained: pruned and failed trials "
      "too.";
  table.columns = {{"search", "", false},    {"method", "", false}, {"pruning", "", false},
                   {"objective", "", false}, {"trials", "", true},  {"complete", "", true},
                   {"pruned", "", true},     {"failed", "", true},  {"repeated", "", true},
                   {"training", "s", true},  {"best", "", true}};
  for (const SearchRow& row : list_searches(material.store)) {
    const SearchRecord record = read_search(material.store, row);
    if (!has_run_of(record, runs)) continue;
    const search::SearchOptions options = search::options_from_json(row.settings);
    const search::Standing standing(options, record.history);
    table.rows.push_back(
        {row.name, search::name_of(options.method), search::name_of(options.pruning),
         objectives_text(options), count_cell(static_cast<std::int64_t>(standing.states.size())),
         count_in(standing, "complete"), count_in(standing, "pruned"), count_in(standing, "failed"),
         count_in(standing, "repeated"), seconds_cell(search::seconds_in(record.history)),
         best_cell(material, options, standing)});
  }
  if (table.rows.empty()) return {};
  Paragraph curse{
      "These runs were chosen by a search: a later trial depends on the scores of earlier ones, and the best "
      "of "
      "many trials has been lucky too, so that its score on the development set is too good (the winner's "
      "curse). "
      "Its score on the test set, which no decision has seen, is not; new seeds of the best trials tell how "
      "much of "
      "a lead was luck."};
  return {std::move(table), std::move(curse)};
}

}  // namespace encore
