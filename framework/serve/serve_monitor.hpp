// SPDX-License-Identifier: BSD-3-Clause
// ServeMonitor: the samples that a server keeps for `exp monitor`: numbers about a share of the requests,
// chosen by their ids; inputs and answers only if the user asked for them; and feedback of clients about
// answers. It appends to spools (files of records that another process merges into the database) in the run's
// folder. A record that cannot be written is lost; its request must not be. Place in the flow: service.cpp ->
// here -> store/served.hpp, which defines the records and reads them, also those of other versions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/spool.hpp"
#include "serve/job.hpp"
#include "serve/requests.hpp"
#include "store/served.hpp"

namespace encore::serve {

struct MonitorRules {
  double share = 0.0;      ///< of the requests; 0: nothing is kept
  double text_days = 0.0;  ///< number of days for which inputs and answers are kept; 0: they are not
  std::function<void(const std::string& text)> noticed = {};  ///< as ServeOptions::noticed
};

/// Returns whether a request belongs to the share that is sampled.
bool is_sampled(std::string_view id, double share);

class ServeMonitor {
 public:
  /// Makes no file before there is a record to write. `session` names the server in the names of its files.
  ServeMonitor(std::filesystem::path run_folder, std::string run_id, std::string session,
               const MonitorRules& rules);
  /// Writes all records that are left.
  ~ServeMonitor();
  ServeMonitor(const ServeMonitor&) = delete;
  ServeMonitor& operator=(const ServeMonitor&) = delete;

  const std::string& run_id() const { return run_id_; }
  bool samples(std::string_view id) const { return is_sampled(id, rules_.share); }
  /// Records a job that was observed, and whose inputs have answers. `group`: the one of the request, or "".
  void add(const std::string& id, const std::string& digest, const Job& job, double seconds,
           const std::string& group = {});
  /// Records feedback and returns whether the answer was right. Throws Refusal if the request is not (or no
  /// longer) known, or the truth has members that its answer does not have.
  bool feedback(const FeedbackRequest& request);
  bool knows(const std::string& id) const { return answers_.contains(id); }
  /// Writes all records since the last call.
  void flush();

 private:
  /// A file that is written for a few minutes.
  struct File {
    const char* kind;                                   ///< begins the file's name: "served" or "texts"
    std::optional<record::SpoolWriter> writer = {};     ///< nothing before the first record
    std::chrono::steady_clock::time_point opened = {};  ///< when `writer` was opened
    int part = 0;                                       ///< counts the files of this kind
  };
  /// A record that cannot be made is lost as well: an answer of a worker may be invalid JSON.
  void append(File& file, const std::function<std::string()>& record_of);
  void remember(const std::string& id, std::vector<std::string> answers);

  std::filesystem::path folder_;
  std::string run_id_, session_;
  MonitorRules rules_;
  File numbers_{"served"}, words_{"texts"};
  std::vector<store::ServedText> texts_;  ///< not written yet
  std::vector<std::string> facts_;
  std::vector<store::ServedContent> contents_;
  std::map<std::string, std::vector<std::string>, std::less<>> answers_;  ///< by request
  std::deque<std::string> order_;                                         ///< of them, the oldest first
  std::size_t answer_bytes_ = 0;
  bool failed_ = false;
};

}  // namespace encore::serve
