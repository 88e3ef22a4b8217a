// SPDX-License-Identifier: BSD-3-Clause
// QueueTest gives each test a folder with a review queue whose clock the test sets; new_item() makes items
// for it. All tests of framework/review use it and compare the values that it fills in, so these must stay; a
// new parameter needs a default. Read next: review/queue.hpp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "review/queue.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::testing {

inline review::NewItem new_item(const std::string& id, double confidence,
                                const std::string& proposed = "billing", const std::string& text = {}) {
  return {.id = id,
          .run = "0123456789",
          .digest = "d1",
          .proposed = proposed,
          .confidence = confidence,
          .scope = 0.25,
          .text = text};
}

class QueueTest : public ::testing::Test {
 protected:
  static constexpr double start = 1000000.0;

  review::QueueHooks hooks() {
    return {.now = [this] { return now_; }};
  }
  std::filesystem::path path() const { return folder_ / "desk.queue"; }
  review::Queue make(review::QueueSettings settings = {}) {
    settings.application = "desk";
    settings.run = "0123456789";
    return review::Queue::make(path(), settings, {"billing", "delivery"}, hooks());
  }
  review::Queue open() { return review::Queue(path(), hooks()); }

  static void add(review::Queue& queue, const std::vector<review::NewItem>& items) {
    queue.add(items, {{review::Band::review, static_cast<std::int64_t>(items.size())}}, "server");
  }
  static std::string id_of(const std::optional<review::Item>& item) { return item ? item->id : "none"; }
  /// Returns "event person label" for each entry.
  static std::vector<std::string> trail(review::Queue& queue, const std::string& id) {
    std::vector<std::string> lines;
    for (const review::TrailEntry& each : queue.trail(id))
      lines.push_back(std::string(review::name_of(each.event)) + " " + each.person +
                      (each.label.empty() ? "" : " " + each.label));
    return lines;
  }

  TemporaryFolder folder_;
  double now_ = start;
};

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nexpected: " << part;
}

}  // namespace encore::testing
