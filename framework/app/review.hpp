// SPDX-License-Identifier: BSD-3-Clause
// What the actions of `exp review` do that is more than one call of a queue (review/queue.hpp): make a queue
// for a stored application, open one, compute the figures of the report, and write decisions as records.
// cli/review_verb.cpp calls these functions and prints. Read next: review_requests.hpp.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "analysis/agreement.hpp"
#include "app/app.hpp"
#include "app/review_requests.hpp"
#include "review/queue.hpp"

namespace encore::app {

/// Makes the file. Throws UsageError if the run is not an application.
review::Queue make_review_queue(const ReviewNewRequest& request, const App& app);
/// Opens a queue and removes inputs whose time is over.
review::Queue open_review_queue(const std::string& queue);
/// Returns the name of the reviewer: the option's value or $USER. Throws UsageError if both are empty.
std::string reviewer_of(const std::string& by);

/// A share with its 95 % interval.
struct ReviewFigure {
  std::string name, title;  ///< for programs, for people
  std::optional<double> value = {};
  analysis::Interval interval = {};
  std::int64_t of = 0;  ///< number of cases
};

struct ReviewReport {
  review::QueueSettings settings;
  review::QueueCounts counts;
  review::QueueNumbers numbers;
  std::vector<ReviewFigure> figures;
};
ReviewReport review_report(review::Queue& queue);

/// Writes a record for each decided item that has a text. Returns their number.
std::size_t export_decisions(review::Queue& queue, const ReviewExportRequest& request, std::ostream& out);

}  // namespace encore::app
