// The reader "jsonl": one JSON object per line, of which two or three keys count: a text, perhaps a second
// one, and a label, a list of labels or a number; or a source and its target. Place in the flow: the text of
// a file -> Records, of which a task makes examples. Read next: tsv.hpp, which gives the same fields.
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

/// What a label is, and the field that it becomes.
enum class LabelType : std::uint8_t { text, list, number };

class JsonlReader final : public Reader {
 public:
  static constexpr const char* summary =
      "one JSON object per line: a text, perhaps a second one, and a label, several labels or a number; "
      "or a source and its target";
  static Schema options();
  static std::vector<std::string> fields() { return {"text", "label"}; }
  static std::vector<std::string> optional_fields() {
    return {"text2", "labels", "number", "spans", "source", "target"};
  }

  /// Length of a line beyond which it is refused.
  static constexpr std::size_t most_bytes = std::size_t{1} << 24;

  /// Throws OptionError: no key for the text, one key for two things, a source without a target or with what
  /// only a text has.
  JsonlReader(const Options& options, const ReaderContext& context);

  /// Accepts a byte order mark, CRLF and empty lines; other keys are ignored, and where a label is a name a
  /// whole number or a truth value is its own name. Throws Error naming file and line of everything that is
  /// no JSON object, too deep or too long, lacks a key or a value of its type, or has spans that are not
  /// marked as they should (all such lines at once, up to a limit; or notes them with bad_rows = "skip"), and
  /// an empty set.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// A record without text becomes an empty line.
  std::string write(const Records& records, FilePart part) const override;
  /// Nowhere where lines are skipped: a part may hold nothing else.
  Cut cut() const override { return skips_ ? Cut::nowhere : Cut::lines; }
  /// The text alone: the key of the label may be missing, and its value is not looked at. The answer becomes
  /// the last member of each object, with a key such as predicted_label. Lines that cannot be read are
  /// refused, also with bad_rows = "skip": every line gets an answer.
  std::optional<Records> read_questions(const InputText& file) const override;
  std::string write_answers(const InputText& file, const Records& answers) const override;

 private:
  struct Taken;
  /// What of an object is looked at: all of its keys, or those that are there where the truth is not known.
  enum class Sight : std::uint8_t { everything, questions };
  void read_file(const InputText& file, Sight sight, Taken& taken) const;
  std::string take(std::string_view line, Sight sight, Taken& taken) const;
  const char* text_field() const { return pairs_ ? "source" : "text"; }
  const char* second_field() const { return pairs_ ? "target" : "text2"; }
  std::string take_label(const nlohmann::json& value, Taken& taken) const;

  std::string text_key_, second_key_, label_key_;
  LabelType type_;
  bool skips_, marked_;
  bool pairs_;  ///< of a source and its target
};

}  // namespace encore::jsonl
