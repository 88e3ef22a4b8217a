// SPDX-License-Identifier: BSD-3-Clause
// The reader "jsonl": one JSON object per line, of which some keys are read: a text, perhaps a second text, a
// label, a list of labels or a number, and perhaps a list of answers or of inputs that do not belong to the
// first one; or a source and its target. The flow is: text of a file -> Records, of which a task makes
// examples. The worker calls it through Reader (encore/reader.hpp). Equal files must give equal records, or
// runs do not repeat. Read next: tsv.hpp, which makes the same fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <encore/reader.hpp>

namespace encore::jsonl {

/// The kind of label, which determines the field of the records.
enum class LabelType : std::uint8_t { text, list, number };

class JsonlReader final : public Reader {
 public:
  static constexpr const char* summary =
      "one JSON object per line: a text or a text pair, with a label, several labels or a number; or a "
      "source and its target, as `translate` and `summarize` need them";
  static Schema options();
  static std::vector<std::string> fields() { return {"text", "label"}; }
  static std::vector<OptionalField> optional_fields() {
    return {{"text2", "text2_key"},    {"labels", "label_type", "list"}, {"number", "label_type", "number"},
            {"spans", "marked_spans"}, {"answers", "answers_key"},       {"negatives", "negatives_key"},
            {"source", "source_key"},  {"target", "target_key"}};
  }

  /// Longer lines are refused.
  static constexpr std::size_t most_bytes = std::size_t{1} << 24;

  /// Throws OptionError for: no key for the text, one key with two roles, a source without a target, or a
  /// source with options of a single text.
  JsonlReader(const Options& options, const ReaderContext& context);

  /// Accepts a byte order mark, CRLF and empty lines; ignores other keys. A key such as "fields.body" that is
  /// not a member leads into an object. If the label is a name, whole
  /// numbers and truth values count as names. Throws an Error with file and line for everything that is not a
  /// JSON object, is too deep or too long, lacks a key or a value of its type, or has invalid span marks (all
  /// such lines at once, up to a limit; with bad_rows = "skip" they become a note), and for an empty set.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Writes one object per line; a record without text becomes an empty line.
  std::string write(const Records& records, FilePart part) const override;
  /// Returns Cut::nowhere if lines may be skipped, because a part could consist of skipped lines.
  Cut cut() const override { return skips_ ? Cut::nowhere : Cut::lines; }
  /// Reads only the text and the second text of a pair, and of a source and its target only the source; the
  /// label may be missing and is ignored. The answer becomes the last member of each object, with a key such
  /// as predicted_label. Refuses invalid lines also with bad_rows = "skip", because every line must get an
  /// answer.
  std::optional<Records> read_questions(const InputText& file) const override;
  std::string write_answers(const InputText& file, const Records& answers) const override;

 private:
  struct Taken;
  /// Which keys are read: all, or those that exist if the truth is unknown.
  enum class Sight : std::uint8_t { everything, questions };
  void read_file(const InputText& file, Sight sight, Taken& taken) const;
  std::string take(std::string_view line, Sight sight, Taken& taken) const;
  const char* text_field() const { return pairs_ ? "source" : "text"; }
  const char* second_field() const { return pairs_ ? "target" : "text2"; }
  std::string take_label(const nlohmann::json& value, Taken& taken) const;
  static std::string take_list(const nlohmann::json& object, const std::string& key, const char* entry,
                               bool takes_one, std::vector<std::string>& entries);

  std::string text_key_, second_key_, label_key_, answers_key_, negatives_key_;
  LabelType type_;
  bool skips_, marked_;
  bool pairs_;  ///< records are a source and its target
};

}  // namespace encore::jsonl
