// SQuAD files, versions 1.1 and 2.0 (Rajpurkar et al. 2016, 2018): JSON with articles, their paragraphs, and
// questions about each paragraph whose answers are parts of it. Place in the flow: the text of a file ->
// Records, one for each question. Read next: the task "qa".
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
      "SQuAD 1.1 and 2.0: JSON with paragraphs, questions about each and the answers in it";
  static Schema options();
  static std::vector<std::string> fields() { return {"id", "question", "context", "answers"}; }

  SquadReader(const Options& options, const ReaderContext&);

  /// Throws Error naming all invalid questions, up to a limit; with bad_rows = "skip" it leaves them out and
  /// counts them in a note. A file that is not JSON, or of another form, is refused either way.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Reads questions alone: their answers may be missing and are ignored. Every question gets an answer, so
  /// invalid ones are refused, also with bad_rows = "skip".
  std::optional<Records> read_questions(const InputText& file) const override;
  /// Writes predictions in the form that the scripts of SQuAD score: {"ID": "answer", ...}, "" for no answer.
  std::string write_answers(const InputText& file, const Records& answers) const override;

 private:
  bool skips_;
};

}  // namespace encore::squad
