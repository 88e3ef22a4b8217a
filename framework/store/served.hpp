// SPDX-License-Identifier: BSD-3-Clause
// Merges what servers keep of the inputs that they answer (`exp serve --monitor`), and answers questions
// about these rows. A run has a folder of spools. Each is written by one server for some minutes and
// removed once it is closed and merged. serve/serve_monitor.cpp writes them; the verb monitor merges and
// asks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/text_facts.hpp"
#include "store/store.hpp"

namespace encore {

/// The folder in a run's folder.
inline constexpr const char* served_folder = "monitor";

/// One input that was answered.
struct ServedText {
  std::string request = {};  ///< id
  std::int64_t text = 0;     ///< its place in the request
  double time = 0.0, seconds = 0.0;
  std::string digest = {};
  TextFacts facts = {};
};

/// Says whether its answer was right.
struct ServedFeedback {
  std::string request = {};
  std::int64_t text = 0;
  double time = 0.0;
  bool correct = false;
};

/// The words of an input: JSON unless stated otherwise, "" if they are not known.
struct ServedContent {
  std::string request = {};
  std::int64_t text = 0;
  std::string content = {};  ///< as it arrived
  std::string answer = {}, truth = {};
  double expires = 0.0;
};

/// Returns one record of a spool, with lists of these, as text. `facts` are TextFacts::json.
std::string record_text(const std::vector<ServedText>& texts, const std::vector<std::string>& facts);
std::string record_text(const std::vector<ServedContent>& contents);
std::string record_text(const ServedFeedback& feedback);

struct ServedMerge {
  std::int64_t texts = 0, feedback = 0;    ///< new ones
  std::vector<std::string> problems = {};  ///< damaged spools, invalid records
  std::vector<std::string> open = {};      ///< spools that a server still writes
};

/// Merges new records of a run's spools, and removes spools that are closed and complete. Skips what has
/// expired by `now`, and removes it from the rows of all runs. A record may be repeated any number of
/// times.
ServedMerge merge_served(Store& store, const RunRow& run, double now);

/// Returns everything that is known of the run's inputs, in the order of merging.
std::vector<ServedText> read_served(Store& store, std::int64_t run);
/// Counts, among the last `last` inputs with feedback, the right ones and all.
struct ServedVerdicts {
  std::int64_t correct = 0, all = 0;
};
ServedVerdicts read_verdicts(Store& store, std::int64_t run, std::int64_t last);

/// Removes all rows of a request and overwrites their bytes. Returns the number of its inputs.
std::int64_t forget_served(Store& store, std::int64_t run, const std::string& request);

}  // namespace encore
