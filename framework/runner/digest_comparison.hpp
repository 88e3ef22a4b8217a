// SPDX-License-Identifier: BSD-3-Clause
// DigestComparison: compares the digests of a run with those that a second training reports, one after the
// other. Place in the flow: verifier.cpp feeds it while the verifying worker runs, and stops that worker when
// the result is known. "Equal" means equal in every digest that the run has, so nothing may be left out or
// tolerated here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/events.hpp"
#include "store/store.hpp"

namespace encore::runner {

/// The first step at which the two do not agree.
struct DigestDifference {
  std::int64_t step = 0;
  std::vector<std::string> scopes;  ///< single parameters first, then blocks; each by name
  int attempt = 0;                  ///< ordinal of the attempt whose digest it is
  std::string expected;             ///< of the first scope
  std::string found;                ///< the same; empty if the second training reported none
};

class DigestComparison {
 public:
  /// Only digests of steps from `begin` to `end`, both included, count.
  DigestComparison(const std::vector<store::DigestRow>& expected, std::int64_t begin, std::int64_t end);

  bool empty() const { return expected_.empty(); }
  std::size_t size() const { return size_; }
  std::int64_t first_step() const { return expected_.begin()->first; }
  std::int64_t last_step() const { return expected_.rbegin()->first; }

  /// Adds a digest of the second training. A step that it reports twice (before and after a kill) must agree
  /// both times.
  void take(const record::Digested& digest);
  /// Returns the first difference among the steps whose digests were all reported.
  std::optional<DigestDifference> difference() const;
  /// Returns the first difference after the second training has ended: a digest that it did not report counts
  /// as different.
  std::optional<DigestDifference> final_difference() const;
  /// Returns the number of reported digests that agree.
  std::size_t agreeing() const;

 private:
  struct Entry {
    std::string expected;
    int attempt = 0;
    bool told = false;
    std::optional<std::string> other;  ///< the reported value, if it differs
  };
  using Step = std::map<std::string, Entry>;  ///< by scope

  void take(std::int64_t step, const std::string& scope, const std::string& value);
  static std::optional<DigestDifference> differing(std::int64_t number, const Step& step, bool over);

  std::map<std::int64_t, Step> expected_;
  std::size_t size_ = 0;
};

}  // namespace encore::runner
