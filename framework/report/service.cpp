// SPDX-License-Identifier: BSD-3-Clause
// The section "service": compares the inputs that `exp serve --monitor` recorded for a run's model with the
// development set: whether the inputs have changed, since when, and how often the answers were right.
// report.cpp calls service_section(). CSV and JSON have the ids and columns of its tables, so they stay. Read
// sections.hpp first; monitor/ has the tests.
#include <cmath>

#include "monitor/monitoring.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

document::TableCell optional_cell(const std::optional<double>& value) {
  return value ? number_cell(*value) : document::TableCell();
}

document::TableCell percent_cell(double share) {
  return {document::number_text(100.0 * share), 100.0 * share};
}

std::string milliseconds(double seconds) {
  return document::number_text(1000.0 * seconds) + " ms";
}

document::Paragraph what_was_kept(const store::RunRow& run, const monitor::Monitoring& said) {
  const std::string described =
      said.window < said.texts ? ", of which the last " + thousands(said.window) + " are described" : "";
  return {document::Text(
      {code(run.name),
       {": " + counted(static_cast<std::size_t>(said.texts), "input") + " from " + utc_text(said.first) +
        " to " + utc_text(said.last) + described + ". They are compared with the " +
        counted(static_cast<std::size_t>(said.reference_texts), "input") + " of " + said.source +
        ". The time from the request to the answer was " + milliseconds(said.seconds_median) +
        " (median), at p95 " + milliseconds(said.seconds_95) + ", at p99 " + milliseconds(said.seconds_99) +
        "."}})};
}

/// Returns a block with the result of the test for a change, which is a sequence of bets
/// (monitor/shift_test.hpp).
document::Block verdict_on_change(const monitor::Monitoring& said) {
  const std::string limit = "1/alpha = " + document::number_text(1.0 / said.alpha) +
                            "; without a change it is ever reached with a probability of at most " +
                            document::number_text(said.alpha);
  if (!said.alarm)
    return document::Paragraph{"No change was seen: the evidence for one was at most 10^" +
                               document::number_text(said.log10_evidence) + " (an alert needs " + limit +
                               ")."};
  return document::Notice{"The inputs have changed: after " +
                          counted(static_cast<std::size_t>(*said.alarm), "input") +
                          " the evidence for a change had reached " + limit + "."};
}

document::Paragraph verdict_on_answers(const monitor::Monitoring& said) {
  const store::ServedVerdicts& verdicts = said.verdicts;
  if (verdicts.all == 0) return {"The share of right answers is unknown: no feedback was sent."};
  const analysis::Interval interval = monitor::interval_of(verdicts);
  return {"Of " + counted(static_cast<std::size_t>(verdicts.all), "input") + " with feedback " +
          document::number_text(100.0 * static_cast<double>(verdicts.correct) /
                                static_cast<double>(verdicts.all)) +
          " % were answered correctly (95 % interval " + document::number_text(100.0 * interval.low) +
          " to " + document::number_text(100.0 * interval.high) + ", Wilson's)."};
}

document::TableBlock measure_table(const store::RunRow& run, const monitor::Monitoring& said,
                                   const std::string& id) {
  document::TableBlock table;
  table.id = id;
  table.caption = document::Text(
      {{"Inputs of "},
       code(run.name),
       {" compared with the reference: means over inputs, population stability index (PSI) and "
        "Jensen-Shannon "
        "divergence (JS, bits) of the last " +
        thousands(said.window) +
        ", and the largest result of the bets on a change of this number alone, as a power of ten."}});
  table.columns = {{"measure"},       {"reference", "", true}, {"live", "", true},
                   {"PSI", "", true}, {"JS", "", true},        {"log10 evidence", "", true}};
  for (const monitor::MeasuredShift& each : said.measures)
    table.rows.push_back({each.name, optional_cell(each.reference), optional_cell(each.live),
                          number_cell(each.shift.psi), number_cell(each.shift.js),
                          number_cell(each.log10_evidence)});
  return table;
}

document::TableBlock label_table(const ReportData& data, const store::RunRow& run,
                                 const monitor::Monitoring& said, const std::string& id) {
  document::TableBlock table;
  table.id = id;
  table.caption = document::Text(
      {{"How often the answers of "}, code(run.name), {" had a label, as a share of all labels."}});
  table.columns = {{"label"}, {"reference", "%", true}, {"live", "%", true}};
  const std::size_t shown = data.rows_of(said.labels.size());
  for (std::size_t i = 0; i < shown; ++i)
    table.rows.push_back(
        {said.labels[i].label, percent_cell(said.labels[i].reference), percent_cell(said.labels[i].live)});
  if (shown < said.labels.size())
    table.notes.push_back(counted(said.labels.size() - shown, "more label") +
                          " are in the CSV and JSON of this report.");
  return table;
}

document::Figure evidence_figure(const store::RunRow& run, const monitor::Monitoring& said,
                                 const std::string& id) {
  const double limit = -std::log10(said.alpha);
  const auto texts = static_cast<double>(said.texts);
  document::Series evidence;
  evidence.name = "evidence";
  for (std::size_t i = 0; i < said.log10_path.size(); ++i) {
    evidence.x.push_back(static_cast<double>(i + 1));
    evidence.y.push_back(said.log10_path[i]);
  }
  const std::string end = "10^" + document::number_text(said.log10_evidence_now);
  return {.id = id,
          .caption = document::Text(
              {{"Evidence that the inputs of "},
               code(run.name),
               {" have changed, after each of them, and the limit of an alert. It begins with 1 "
                "and does not grow without a change."}}),
          .alternative = "A curve from 1 to " + end + " after " + thousands(said.texts) +
                         " inputs; its limit is 10^" + document::number_text(limit) + ".",
          .chart = document::LineChart{
              .x = {.label = "input"},
              .y = {.label = "log10 evidence"},
              .series = {std::move(evidence), {.name = "alert", .x = {1.0, texts}, .y = {limit, limit}}}}};
}

void add_service(const ReportData& data, const store::RunRow& run, const std::string& number,
                 std::vector<document::Block>& blocks) {
  const std::vector<store::ServedText> texts = store::read_served(data.store, run.number);
  if (texts.empty()) return;
  std::optional<record::TextReference> reference;
  try {
    reference = record::find_reference(data.store.run_folder(run.id));
  } catch (const Error& error) {
    blocks.push_back(
        document::Notice{"The reference of run " + run.name + " cannot be read: " + error.what() + "."});
    return;
  }
  if (!reference) {
    blocks.push_back(document::Notice{document::Text({{counted(texts.size(), "input") + " came to "},
                                                      code(run.name),
                                                      {", which has no reference to compare them with."}})});
    return;
  }
  const monitor::MonitorOptions options;
  const monitor::Monitoring said = monitor::monitor(
      *reference, texts,
      store::read_verdicts(data.store, run.number, static_cast<std::int64_t>(options.window)), options);
  blocks.push_back(what_was_kept(run, said));
  blocks.push_back(verdict_on_change(said));
  blocks.push_back(verdict_on_answers(said));
  blocks.push_back(measure_table(run, said, "service-" + number));
  blocks.push_back(evidence_figure(run, said, "service-evidence-" + number));
  if (!said.labels.empty()) blocks.push_back(label_table(data, run, said, "service-labels-" + number));
}

}  // namespace

document::Section service_section(const ReportData& data) {
  document::Section section{"service", "In service"};
  std::size_t number = 0;
  for (const store::RunRow& run : data.runs) add_service(data, run, std::to_string(++number), section.blocks);
  return section;
}

}  // namespace encore::report
