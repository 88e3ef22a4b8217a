// SPDX-License-Identifier: BSD-3-Clause
// QueueNumbers: the counts from which app/review.cpp computes shares and intervals: load, ages, and how
// people have decided. Queue::numbers() reads them in one state of the file. Nothing is stored here; a new
// figure of `exp review report` begins with a count here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "review/queue_items.hpp"

namespace encore::review {

/// Items of one band and one reason.
struct ReviewedCounts {
  std::int64_t queued = 0;
  std::int64_t done = 0;
  std::int64_t as_proposed = 0;  ///< decided with the label that the application proposed
};

struct QueueNumbers {
  double time = 0.0;  ///< when they were read
  std::map<Band, std::int64_t> seen;
  std::map<std::pair<Band, Reason>, ReviewedCounts> reviewed;
  std::int64_t claimed = 0;   ///< items that a reviewer has now
  std::int64_t disputed = 0;  ///< items with enough opinions that differ
  std::int64_t texts = 0;     ///< items with a text
  std::int64_t queued_day = 0, queued_week = 0, decided_day = 0,
               decided_week = 0;                         ///< in the last 24 h, 7 days
  std::optional<double> oldest_waiting = {};             ///< when it was queued
  std::map<std::string, std::int64_t> by_reviewer = {};  ///< opinions that count
  /// The first two opinions of each item that has two, by the names of the reviewers.
  std::vector<std::pair<std::string, std::string>> pairs = {};
};

}  // namespace encore::review
