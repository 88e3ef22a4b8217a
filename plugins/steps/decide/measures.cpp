// SPDX-License-Identifier: BSD-3-Clause
// The measures of the step "decide", and what each request adds to them. The manifest of the plugin and every
// run have the list; files of predictions have the columns, so names never change. decide.cpp has the other
// functions of the class.
#include <algorithm>
#include <cstddef>

#include <encore/error.hpp>

#include "decide.hpp"
#include "ratio_measure.hpp"

namespace encore::decide {
namespace {

using steps::ratio;

constexpr std::size_t bins = 15;  // of the confidence, as in Guo et al. 2017

/// Returns the bin of a confidence: "00" to "14".
std::string bin_of(double confidence) {
  const auto bin = std::min(bins - 1, static_cast<std::size_t>(std::max(0.0, confidence) * bins));
  return {static_cast<char>('0' + bin / 10), static_cast<char>('0' + bin % 10)};
}

Measure cost(const char* name, const char* title, const char* help) {
  return {.name = name,
          .title = title,
          .help = help,
          .better = Better::lower,
          .reducer = Reducer::ratio,
          .columns = {name, "priced_requests"},
          .always = false};
}

}  // namespace

std::vector<Measure> Decide::measures() {
  return {
      ratio("automation", "Automation", "share of all requests that are answered automatically",
            Better::higher, "answered", "requests"),
      ratio("error", "Error", "share of automatic answers that are wrong or given to requests out of scope",
            Better::lower, "wrong_answers", "answered"),
      ratio("automation_in_scope", "Automation in scope",
            "share of the requests in scope that are answered automatically", Better::higher,
            "answered_in_scope", "in_scope"),
      ratio("review", "Review", "share of all requests that a person reviews", Better::lower, "reviewed",
            "requests"),
      ratio("refused", "Refused", "share of all requests that are refused", Better::neither, "refused",
            "requests"),
      ratio("accuracy", "Accuracy", "share of the requests in scope with the right label, in any band",
            Better::higher, "right", "in_scope"),
      {.name = "calibration_error",
       .title = "Calibration error",
       .help = "mean difference between confidence and share of right answers in 15 equal bins of the "
               "confidence, over the requests in scope",
       .fraction = true,
       .better = Better::lower,
       .reducer = Reducer::absolute_difference,
       .columns = {"right_of_bin", "confidence_of_bin", "requests_of_bin"}},
      ratio("top_coverage", "Coverage of frequent classes",
            "share of the requests of the 20 most frequent classes that are answered automatically",
            Better::higher, "answered_frequent", "frequent"),
      ratio("missed", "Missed", "share of the refused requests that are in scope", Better::lower,
            "refused_in_scope", "refused", false),
      ratio("out_of_scope_accepted", "Out of scope, answered",
            "share of the requests out of scope that are answered automatically", Better::lower,
            "answered_out_of_scope", "out_of_scope", false),
      ratio("out_of_scope_refused", "Out of scope, refused",
            "share of the requests out of scope that are refused", Better::higher, "refused_out_of_scope",
            "out_of_scope", false),
      {.name = "scope_auroc",
       .title = "AUROC of out-of-scope",
       .help = "area under the ROC curve of the score that finds requests out of scope",
       .fraction = true,
       .reducer = Reducer::area_under_ranks,
       .columns = {"scope", "out_of_scope"},
       .always = false},
      cost("cost", "Cost", "mean cost of a request"),
      cost("cost_by_hand", "Cost by hand", "mean cost of a request if a person reviews all"),
      cost("cost_automatic", "Cost without reviews",
           "mean cost of a request if all are answered automatically")};
}

void Decide::measure(const Records& records, const Records& given, Statistics& statistics) const {
  const std::vector<Request> requests = requests_in(records, false);
  const Records::Texts &truths = records.texts(truth_), &bands = given.texts("band");
  const Records::Numbers &confidences = given.numbers("confidence"), &scopes = given.numbers("scope");
  const bool has_scope = !settings_.out_of_scope.empty() && knowledge_.findings.out_of_scope > 0.0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const bool in_scope = settings_.out_of_scope.empty() || truths[i] != settings_.out_of_scope;
    const bool is_right = in_scope && *requests[i].label == truths[i];
    const bool is_answered = bands[i] == "answer", is_refused = bands[i] == "refuse",
               is_reviewed = bands[i] == "review";
    const auto count = [&](const char* column, bool counts, double value = 1.0) {
      if (counts) statistics.add(column, value);
    };
    statistics.begin_example();
    count("requests", true);
    count("in_scope", in_scope);
    count("right", is_right);
    count("answered", is_answered);
    count("wrong_answers", is_answered && !is_right);
    count("answered_in_scope", is_answered && in_scope);
    count("reviewed", is_reviewed);
    count("refused", is_refused);
    const bool is_frequent =
        in_scope && std::ranges::find(knowledge_.frequent, truths[i]) != knowledge_.frequent.end();
    count("frequent", is_frequent);
    count("answered_frequent", is_frequent && is_answered);
    if (in_scope) {
      const std::string bin = bin_of(confidences[i]);
      statistics.add("right_of_bin", is_right ? 1.0 : 0.0, bin);
      statistics.add("confidence_of_bin", confidences[i], bin);
      statistics.add("requests_of_bin", 1.0, bin);
    }
    if (has_scope) {
      statistics.add("scope", scopes[i]);
      statistics.add("out_of_scope", in_scope ? 0.0 : 1.0);
      count("refused_in_scope", is_refused && in_scope);
      count("answered_out_of_scope", is_answered && !in_scope);
      count("refused_out_of_scope", is_refused && !in_scope);
    }
    if (!settings_.costs) continue;
    const Costs& costs = *settings_.costs;
    double cost = is_reviewed ? costs.review : 0.0;
    if (is_answered && !is_right) cost = costs.wrong;
    if (is_refused && in_scope) cost = costs.missed.value_or(0.0);
    statistics.add("priced_requests", 1.0);
    statistics.add("cost", cost);
    statistics.add("cost_by_hand", costs.review);
    statistics.add("cost_automatic", is_right ? 0.0 : costs.wrong);
  }
}

}  // namespace encore::decide
