// SPDX-License-Identifier: BSD-3-Clause
// Records of the inputs that a server has answered (`exp serve --monitor`): merges them into the database and
// reads them back. Each server writes spools into the run's folder "monitor" (serve/serve_monitor.cpp), a new
// one every few minutes; a closed spool is removed after its merge. `exp monitor` merges and reads. A server
// of another version may have written a spool, so the members of a record keep their names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/text_facts.hpp"
#include "store/store.hpp"

namespace encore::store {

/// The folder with these spools, in a run's folder.
inline constexpr const char* served_folder = "monitor";
/// Makes this folder, if it is missing, so that only its owner can read it: the data of clients is private.
void make_served_folder(const std::filesystem::path& folder);

/// One input that a server has answered.
struct ServedText {
  std::string request = {};          ///< id of the HTTP request
  std::int64_t text = 0;             ///< index of the input in the request
  double time = 0.0, seconds = 0.0;  ///< when it was answered (since 1970), and how long that took
  std::string digest = {};           ///< SHA-256 of the parameters that answered
  std::string group = {};            ///< which the client gave, such as a brand; "": none
  record::TextFacts facts = {};
};

/// Feedback of a user: whether the answer to an input was right.
struct ServedFeedback {
  std::string request = {};
  std::int64_t text = 0;
  double time = 0.0;
  bool correct = false;
};

/// The content of an input and its answer: JSON unless stated otherwise, "" if not recorded.
struct ServedContent {
  std::string request = {};
  std::int64_t text = 0;
  std::string content = {};  ///< the bytes of the input
  std::string answer = {}, truth = {};
  double expires = 0.0;  ///< when it is deleted, in seconds since 1970
};

/// Returns the text of one record with these inputs. `facts`: TextFacts::json of each.
std::string record_text(const std::vector<ServedText>& texts, const std::vector<std::string>& facts);
std::string record_text(const std::vector<ServedContent>& contents);
std::string record_text(const ServedFeedback& feedback);

struct ServedMerge {
  std::int64_t texts = 0, feedback = 0;    ///< new rows
  std::vector<std::string> problems = {};  ///< damaged spools, invalid records
  std::vector<std::string> open = {};      ///< spools that a server still writes; merged later
};

/// Merges new records of a run's spools, and removes spools that are closed and complete. Deletes what has
/// expired by `now`, for all runs. A record may be repeated; it is stored once.
ServedMerge merge_served(Store& store, const RunRow& run, double now);

/// Returns all rows of the run's inputs, in the order of merging.
std::vector<ServedText> read_served(Store& store, std::int64_t run);

/// The answer to an input, as far as alerts need it.
struct ServedAnswer {
  std::string request = {};
  std::int64_t text = 0;
  double time = 0.0;
  std::string group = {};
  std::map<std::string, std::int64_t> labels = {};  ///< as TextFacts
  std::map<std::string, std::string> fields = {};
};
/// The row that was merged last of those that were visited.
struct ServedPlace {
  std::int64_t number = 0;  ///< 0: none
  std::string request = {};
  std::int64_t text = 0;
};
/// Calls `seen` for each input of the run that was merged after `place`, in the order of their times, and
/// moves `place`. Returns false, and calls nothing, if the row at `place` was deleted: the database gives
/// numbers of deleted rows again, so a caller must begin with a new place.
bool visit_served(Store& store, std::int64_t run, ServedPlace& place,
                  const std::function<void(const ServedAnswer&)>& seen);
/// How many of the newest inputs with feedback were answered right, and how many there are.
struct ServedVerdicts {
  std::int64_t correct = 0, all = 0;
};
ServedVerdicts read_verdicts(Store& store, std::int64_t run, std::int64_t last);

/// Deletes all rows of a request and overwrites their bytes. Returns the number of its inputs.
std::int64_t forget_served(Store& store, std::int64_t run, const std::string& request);

}  // namespace encore::store
