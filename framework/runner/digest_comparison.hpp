// DigestComparison: the digests a run has against those that a second training tells, one after the other.
// Place in the flow: verifier.cpp feeds it while the verifying worker runs, and stops that worker when it has
// seen enough.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/events.hpp"
#include "store/store.hpp"

namespace encore {

/// The first step at which the two do not agree.
struct DigestDifference {
  std::int64_t step = 0;
  std::vector<std::string> scopes;  ///< single parameters first, then blocks; each by name
  int attempt = 0;                  ///< ordinal of the attempt whose digest it is
  std::string expected;             ///< of the first scope
  std::string found;                ///< the same; empty where the second training told none
};

class DigestComparison {
 public:
  /// Only digests of steps from `begin` to `end`, both included, count.
  DigestComparison(const std::vector<DigestRow>& expected, std::int64_t begin, std::int64_t end);

  bool empty() const { return expected_.empty(); }
  std::size_t size() const { return size_; }
  std::int64_t first_step() const { return expected_.begin()->first; }
  std::int64_t last_step() const { return expected_.rbegin()->first; }

  /// A digest of the second training. A step that is reported twice (before and after a kill) must agree
  /// twice.
  void take(const Digested& digest);
  /// The first step, among those whose digests were all told, at which something differs.
  std::optional<DigestDifference> difference() const;
  /// To be called when nothing more comes: what was not told counts as different.
  std::optional<DigestDifference> final_difference() const;
  /// Digests that were told and agree.
  std::size_t agreeing() const;

 private:
  struct Entry {
    std::string expected;
    int attempt = 0;
    bool told = false;
    std::optional<std::string> other;  ///< what was told instead
  };
  using Step = std::map<std::string, Entry>;  ///< by scope

  void take(std::int64_t step, const std::string& scope, const std::string& value);
  static std::optional<DigestDifference> differing(std::int64_t number, const Step& step, bool over);

  std::map<std::int64_t, Step> expected_;
  std::size_t size_ = 0;
};

}  // namespace encore
