// SPDX-License-Identifier: BSD-3-Clause
// The section "reproduction": evidence that the results are reproducible (digests and verdicts), and facts
// that were not recorded. report.cpp calls reproduction_section(). Missing facts are listed and never filled
// in. CSV and JSON have the ids and columns of its tables, so they stay. Read sections.hpp first;
// commands.cpp says how to repeat the runs.
#include <algorithm>

#include "report/compute.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// Returns the digest of the parameters after the last step that has one; null if there is none.
const store::DigestRow* parameters_of(const store::RunBatch::ByRun<store::DigestRow>& digests,
                                      std::int64_t run) {
  const auto own = digests.find(run);
  if (own == digests.end()) return nullptr;
  for (const store::DigestRow& digest : own->second)
    if (digest.scope == "parameters") return &digest;
  return nullptr;
}

std::string verdict(const store::VerificationRow& verification) {
  const std::string from = verification.origin ? ", as " + verification.origin->name + " says" : "";
  if (verification.outcome == "equal") return "equal bits" + from;
  std::string text = verification.outcome;
  if (verification.first_step) text += ", first at step " + std::to_string(*verification.first_step);
  return text + (verification.scope.empty() ? "" : " in " + verification.scope) + from;
}

document::Section digest_section(const ReportData& data) {
  document::Section section{"digests", "Digests and verdicts"};
  store::RunBatch batch(data.store, data.runs);
  const auto digests = batch.last_digests();
  const auto counts = batch.digest_counts();
  document::TableBlock table;
  table.id = "digests-table";
  table.caption =
      "SHA-256 of all parameters after the last recorded step of each run, the number of its digests to "
      "compare with, and the newest verdict of exp verify.";
  table.columns = {{"run", "", false},
                   {"step", "", true},
                   {"SHA-256 of the parameters", "", false},
                   {"digests", "", true}};
  // People get the first characters of digests, enough to compare by eye, and no empty columns.
  const bool whole = data.complete(), with_verdicts = whole || !data.verifications.empty();
  if (with_verdicts)
    table.columns.insert(table.columns.end(),
                         {{"verdict", "", false}, {"verified", "", false}, {"agreeing", "", true}});
  else
    table.notes.push_back("None of these runs was verified.");
  const std::size_t digits = whole ? std::string::npos : 16;
  if (!whole) table.notes.push_back("The first 16 digits; the CSV and JSON of this report have all 64.");
  const std::size_t shown = data.rows_of(data.runs.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const store::RunRow& run = data.runs[i];
    const store::DigestRow* digest = parameters_of(digests, run.number);
    const auto count = counts.find(run.number);
    const auto own = data.verifications.find(run.number);
    const store::VerificationRow* last = own == data.verifications.end() ? nullptr : &own->second.back();
    const nlohmann::json compared = last != nullptr && last->details.is_object()
                                        ? last->details.value("compared", nlohmann::json::object())
                                        : nlohmann::json::object();
    const nlohmann::json agreeing = compared.value("agreeing", nlohmann::json());
    table.rows.push_back(
        {run.name, digest == nullptr ? document::TableCell() : count_cell(digest->step),
         digest == nullptr ? document::TableCell("not recorded") : code_cell(digest->value.substr(0, digits)),
         count_cell(count == counts.end() ? 0 : count->second)});
    if (!with_verdicts) continue;
    std::vector<document::TableCell>& row = table.rows.back();
    row.push_back(last == nullptr ? document::TableCell("not verified")
                                  : document::TableCell(verdict(*last)));
    row.push_back(last == nullptr ? document::TableCell() : document::TableCell(utc_text(last->time)));
    row.push_back(agreeing.is_number_integer() ? count_cell(agreeing.get<std::int64_t>())
                                               : document::TableCell());
  }
  if (shown < data.runs.size())
    table.notes.push_back(counted(data.runs.size() - shown, "more run") +
                          " are in the CSV and JSON of this report.");
  section.blocks.push_back(std::move(table));
  return section;
}

// --- missing facts ---

/// Returns the number of started runs for which `lacks` holds, as text; empty if there are none.
std::string lacking(const ReportData& data, const std::string& what, const auto& lacks) {
  std::size_t count = 0, begun = 0;
  for (const store::RunRow& run : data.runs) {
    if (run.attempts == 0) continue;
    ++begun;
    if (lacks(run)) ++count;
  }
  if (count == 0) return "";
  return what + ": of " + (count == begun ? "all " : thousands(static_cast<std::int64_t>(count)) + " of ") +
         counted(begun, "run") + " that were started.";
}

document::Section missing_section(const ReportData& data) {
  document::Section section{"not-recorded", "What was not recorded"};
  const auto attempts = [&](const store::RunRow& run) -> const std::vector<store::AttemptRow>& {
    static const std::vector<store::AttemptRow> none;
    const auto own = data.attempts.find(run.number);
    return own == data.attempts.end() ? none : own->second;
  };
  const auto any = [&](const store::RunRow& run, const auto& holds) {
    return std::any_of(attempts(run).begin(), attempts(run).end(), holds);
  };
  const auto lacks = [&](const store::RunRow& run, auto member) {
    const record::Started* started = data.started(run);
    return started == nullptr || !(started->*member).has_value();
  };
  document::ItemList list;
  for (const std::string& text :
       {lacking(data, "The source of Encore",
                [&](const store::RunRow& run) {
                  return any(run, [](const store::AttemptRow& attempt) { return !attempt.source; });
                }),
        lacking(data, "The numeric environment",
                [&](const store::RunRow& run) {
                  return any(
                      run, [](const store::AttemptRow& attempt) { return !attempt.environment.is_object(); });
                }),
        lacking(data, "When an attempt ended",
                [&](const store::RunRow& run) {
                  return run.state != store::RunState::running &&
                         any(run, [](const store::AttemptRow& attempt) { return !attempt.finished; });
                }),
        lacking(data, "The number of parameters",
                [&](const store::RunRow& run) { return lacks(run, &record::Started::parameters); }),
        lacking(data, "The size of the vocabulary",
                [&](const store::RunRow& run) { return lacks(run, &record::Started::vocabulary_size); }),
        lacking(data, "Lengths and labels of the data",
                [&](const store::RunRow& run) {
                  const record::SetFacts* train = data.facts(run, "train");
                  return train == nullptr || train->lengths.counts.empty();
                }),
        lacking(data, "Predictions",
                [&](const store::RunRow& run) {
                  const auto own = data.artifacts.find(run.number);
                  return run.state == store::RunState::completed &&
                         (own == data.artifacts.end() ||
                          std::none_of(own->second.begin(), own->second.end(),
                                       [](const store::ArtifactRow& file) {
                                         return file.name.starts_with("predictions/");
                                       }));
                }),
        lacking(data, "A spool that could be read to its end", [&](const store::RunRow& run) {
          return any(run, [](const store::AttemptRow& attempt) { return !attempt.spool_problem.empty(); });
        })})
    if (!text.empty()) list.items.push_back(text);
  list.items.push_back(jobs_used(data).joules > 0.0
                           ? "Licences of the data: no run records them."
                           : "Licences of the data, and the energy that was used: no run records them.");
  section.blocks.push_back(std::move(list));
  return section;
}

}  // namespace

document::Section reproduction_section(const ReportData& data) {
  document::Section section{"reproduction", "Reproduction"};
  section.sections = {command_section(data), digest_section(data), missing_section(data)};
  return section;
}

}  // namespace encore::report
