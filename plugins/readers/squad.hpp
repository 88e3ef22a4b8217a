// SPDX-License-Identifier: BSD-3-Clause
// The reader "squad": files of SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018), which are JSON with articles,
// their paragraphs, and questions about a paragraph whose answers are parts of it. The flow is: text of a
// file -> Records, one per question, of which the task "qa" makes examples (plugins/tasks/qa). The worker
// calls it through Reader (encore/reader.hpp). Equal files must give equal records, or runs do not repeat.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <encore/reader.hpp>

namespace encore::squad {

/// Reads {"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question", "answers": [{"text",
/// "answer_start"}]}]}]}]}; answer_start counts code points. A question without an answer has an empty list.
/// Other members are ignored.
class SquadReader final : public Reader {
 public:
  static constexpr const char* summary =
      "JSON files of SQuAD 1.1 and 2.0: paragraphs, the questions about each paragraph, and the answers in "
      "it";
  static Schema options();
  static std::vector<std::string> fields() { return {"id", "question", "context", "answers"}; }

  SquadReader(const Options& options, const ReaderContext&);

  /// Throws an Error with all invalid questions, up to a limit; with bad_rows = "skip" they are left out and
  /// counted in a note. A file that is not JSON, or has another structure, is always refused.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Reads questions alone; their answers may be missing and are ignored. Refuses invalid questions also with
  /// bad_rows = "skip", because every question must get an answer.
  std::optional<Records> read_questions(const InputText& file) const override;
  /// Returns predictions in the form that SQuAD's scripts score: {"ID": "answer", ...}, "" for no answer.
  std::string write_answers(const InputText& file, const Records& answers) const override;

 private:
  bool skips_;
};

}  // namespace encore::squad
