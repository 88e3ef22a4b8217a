// What servers keep of the texts that they answer to (`exp serve --monitor`): the records of their spools,
// the merging of these, and the questions that are asked of the rows. A run has a folder of spools, each
// written by one server for some minutes and removed once it is closed and merged. Place in the flow:
// serve/serve_monitor.cpp writes, the verb monitor merges and asks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/text_facts.hpp"
#include "store/store.hpp"

namespace encore {

/// In a run's folder.
inline constexpr const char* served_folder = "monitor";

/// One text that was answered to.
struct ServedText {
  std::string request = {};  ///< id
  std::int64_t text = 0;     ///< its place in the request
  double time = 0.0, seconds = 0.0;
  std::string digest = {};
  TextFacts facts = {};
};

/// Whether its answer was right.
struct ServedFeedback {
  std::string request = {};
  std::int64_t text = 0;
  double time = 0.0;
  bool correct = false;
};

/// Its words; JSON where nothing else is said, "" where they are not known.
struct ServedContent {
  std::string request = {};
  std::int64_t text = 0;
  std::string content = {};  ///< as it came
  std::string answer = {}, truth = {};
  double expires = 0.0;
};

/// Lists of these are one record of a spool: its text. `facts` are TextFacts::json.
std::string record_text(const std::vector<ServedText>& texts, const std::vector<std::string>& facts);
std::string record_text(const std::vector<ServedContent>& contents);
std::string record_text(const ServedFeedback& feedback);

struct ServedMerge {
  std::int64_t texts = 0, feedback = 0;    ///< new ones
  std::vector<std::string> problems = {};  ///< damaged spools, records that are none
  std::vector<std::string> open = {};      ///< spools that a server writes still
};

/// Merges what the spools of a run have got since, and removes those that are closed and whole. What has
/// expired by `now` is not taken, and removed where it is there, of all runs. A record may come any number of
/// times.
ServedMerge merge_served(Store& store, const RunRow& run, double now);

/// All that is known of the run's texts, in the order of merging.
std::vector<ServedText> read_served(Store& store, std::int64_t run);
/// Of the last `last` texts with feedback those that were right, and how many they are.
struct ServedVerdicts {
  std::int64_t correct = 0, all = 0;
};
ServedVerdicts read_verdicts(Store& store, std::int64_t run, std::int64_t last);

/// Removes all rows of a request and overwrites their bytes; how many texts it had.
std::int64_t forget_served(Store& store, std::int64_t run, const std::string& request);

}  // namespace encore
