// SPDX-License-Identifier: BSD-3-Clause
// The actions of `exp review`: a queue for a stored application, the figures of its report, and records of
// its decisions. cli/review_verb.cpp calls them; review/queue.cpp keeps the items. The names of figures are
// read by programs, so they never change. Read review.hpp first.
#include "app/review.hpp"

#include <algorithm>
#include <cstdlib>
#include <ostream>

#include <nlohmann/json.hpp>

#include "app/run_selection.hpp"
#include "store/store.hpp"

namespace encore::app {

namespace {

using review::Band;
using review::Reason;

std::string format_of_data(store::Store& store, const store::RunRow& run) {
  for (const store::ParamRow& param : store.read_params(run.number))
    if (param.key == "data.type" && param.value.is_string()) return param.value.get<std::string>();
  return "";
}

review::ReviewedCounts counts_of(const review::QueueNumbers& numbers, Band band, Reason reason) {
  const auto found = numbers.reviewed.find({band, reason});
  return found == numbers.reviewed.end() ? review::ReviewedCounts() : found->second;
}

std::int64_t seen(const review::QueueNumbers& numbers, Band band) {
  const auto found = numbers.seen.find(band);
  return found == numbers.seen.end() ? 0 : found->second;
}

ReviewFigure share_figure(const char* name, const char* title, std::int64_t hits, std::int64_t of) {
  ReviewFigure figure{.name = name, .title = title, .interval = analysis::exact_interval(hits, of), .of = of};
  if (of > 0) figure.value = static_cast<double>(hits) / static_cast<double>(of);
  return figure;
}

/// Returns the share of all requests whose proposal is right. Requests that are answered or refused are
/// judged by the audit, a random sample. Those of the band `review` are decided in an order of choice, so
/// what is not decided yet may be all right or all wrong.
ReviewFigure service_figure(const review::QueueNumbers& numbers) {
  std::vector<analysis::SampledPart> parts;
  ReviewFigure figure{.name = "right_in_service", .title = "right proposals, all requests"};
  for (const Band band : {Band::answer, Band::review, Band::refuse}) {
    const Reason reason = band == Band::review ? Reason::review : Reason::audit;
    const review::ReviewedCounts counts = counts_of(numbers, band, reason);
    const std::int64_t size = std::max(seen(numbers, band), counts.queued);
    parts.push_back({.size = size,
                     .sample = counts.done,
                     .hits = counts.as_proposed,
                     .is_random = reason == Reason::audit});
    figure.of += size;
  }
  if (const auto share = analysis::weighted_share(parts)) {
    figure.value = share->share;
    figure.interval = share->interval;
  }
  return figure;
}

std::vector<ReviewFigure> figures_of(const review::QueueNumbers& numbers, int opinions) {
  const review::ReviewedCounts reviewed = counts_of(numbers, Band::review, Reason::review);
  const review::ReviewedCounts answers = counts_of(numbers, Band::answer, Reason::audit);
  const review::ReviewedCounts refusals = counts_of(numbers, Band::refuse, Reason::audit);
  std::vector<ReviewFigure> figures = {
      share_figure("as_proposed", "reviewed, decided as proposed", reviewed.as_proposed, reviewed.done),
      share_figure("answer_error", "answered, wrong (audit)", answers.done - answers.as_proposed,
                   answers.done),
      share_figure("refuse_error", "refused, wrong (audit)", refusals.done - refusals.as_proposed,
                   refusals.done),
      service_figure(numbers)};
  if (opinions < 2) return figures;
  const analysis::Agreement agreement = analysis::agreement_of(numbers.pairs);
  ReviewFigure equal{.name = "equal_opinions", .title = "two opinions, equal", .of = agreement.pairs};
  ReviewFigure kappa{.name = "kappa", .title = "two opinions, kappa", .of = agreement.pairs};
  const auto equal_pairs =
      std::ranges::count_if(numbers.pairs, [](const auto& pair) { return pair.first == pair.second; });
  equal.interval = analysis::exact_interval(equal_pairs, agreement.pairs);
  if (agreement.pairs > 0) equal.value = agreement.observed;
  kappa.value = agreement.kappa;
  kappa.interval = agreement.interval.value_or(analysis::Interval{-1.0, 1.0});
  figures.push_back(equal);
  figures.push_back(kappa);
  return figures;
}

/// Returns the text with blanks in place of tabs and line ends, which separate columns and records.
std::string in_one_column(std::string text) {
  std::ranges::replace_if(
      text, [](char letter) { return letter == '\t' || letter == '\n' || letter == '\r'; }, ' ');
  return text;
}

}  // namespace

review::Queue make_review_queue(const ReviewNewRequest& request, const App& app) {
  store::Store store(app.database, store::OpenMode::read);
  const store::RunRow run = selected_run(app, store, selection_from({}, {request.app}));
  if (!is_application(run))
    throw UsageError("run " + run.name +
                     " is not an application, so it decides nothing; name a run of a file with [app] "
                     "(docs/guides/applications.md)");
  return review::Queue::make(request.queue,
                             {.application = run.name,
                              .run = run.id,
                              .audit = request.audit,
                              .lease_seconds = request.lease,
                              .text_days = request.keep_texts.value_or(0.0),
                              .opinions = request.opinions,
                              .format = format_of_data(store, run)},
                             request.label);
}

review::Queue open_review_queue(const std::string& queue) {
  review::Queue opened(queue);
  opened.forget_expired();
  return opened;
}

std::string reviewer_of(const std::string& by) {
  if (!by.empty()) return by;
  const char* user = std::getenv("USER");
  if (user == nullptr || *user == '\0')
    throw UsageError("--by is missing: name the reviewer, since $USER is not set");
  return user;
}

ReviewReport review_report(review::Queue& queue) {
  ReviewReport report{
      .settings = queue.settings(), .counts = queue.counts(), .numbers = queue.numbers(), .figures = {}};
  report.figures = figures_of(report.numbers, report.settings.opinions);
  return report;
}

std::size_t export_decisions(review::Queue& queue, const ReviewExportRequest& request, std::ostream& out) {
  const std::string usual = queue.settings().format == "tsv" ? "tsv" : "jsonl";
  const bool as_columns = request.format.value_or(usual) == "tsv";
  std::size_t records = 0;
  queue.visit_decided([&](const review::Item& item) {
    if (as_columns)
      out << in_one_column(*item.text) << '\t' << in_one_column(*item.label) << '\n';
    else
      out << nlohmann::ordered_json{{"text", *item.text}, {"label", *item.label}}.dump() << '\n';
    ++records;
  });
  return records;
}

}  // namespace encore::app
