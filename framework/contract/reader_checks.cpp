// SPDX-License-Identifier: BSD-3-Clause
// The checks of readers (reader_checks, called by suite.cpp): a reader reads sample files as several editors
// write them, damaged files, and files of the plugin's author, and its records are compared. Plugins of other
// authors must pass them, so a check may demand only what encore/reader.hpp promises. Read suite.hpp and
// reader_samples.hpp first.
#include <algorithm>
#include <optional>
#include <set>

#include <encore/lines.hpp>

#include "contract/reader_samples.hpp"
#include "contract/sample_records.hpp"
#include "contract/suite.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

/// The result of `read` for a set of files: records, or the message of its Error.
struct Outcome {
  bool is_read = false;
  Records records = {};
  std::string refusal = {};
};

Outcome outcome_of(const Reader& reader, const FileSet& set) {
  std::vector<InputText> files;
  for (const CheckFile& file : set.files) files.push_back({.name = file.name, .text = file.text});
  try {
    return {.is_read = true, .records = reader.read(files, "training set")};
  } catch (const Error& error) {
    return {.refusal = error.what()};
  }
}
Outcome outcome_of(const Reader& reader, const std::string& name, const std::string& text) {
  return outcome_of(reader, {.name = name, .files = {{.name = name, .text = text}}});
}

bool names_a_file(const std::string& refusal, const FileSet& set) {
  return std::ranges::any_of(
      set.files, [&](const CheckFile& file) { return refusal.find(file.name) != std::string::npos; });
}

bool same_records(const Records& a, const Records& b) {
  return std::ranges::equal(a.fields(), b.fields(), [](const Records::Field& x, const Records::Field& y) {
    return x.name == y.name && x.values == y.values;
  });
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

struct TextPart {
  std::string_view text;
  std::int64_t first_line = 1;
};

/// Returns the text cut at every place where the reader allows it. Leaves out blank parts, as the host
/// does.
std::vector<TextPart> parts_of(std::string_view text, Cut cut) {
  std::vector<TextPart> parts;
  std::int64_t line = 1, first_line = 1;
  LineEnds ends(text);
  for (std::size_t begin = 0, at = 0; at < text.size(); ++line) {
    const std::size_t place = ends.next(at), end = place + ends.length(place);
    const bool here = end == text.size() || cut == Cut::lines || is_blank(text.substr(at, end - at));
    at = end;
    if (!here) continue;
    if (!is_blank(text.substr(begin, end - begin)))
      parts.push_back({text.substr(begin, end - begin), first_line});
    begin = end;
    first_line = line + 1;
  }
  return parts;
}

class ReaderCheck {
 public:
  ReaderCheck(const Offer& offer, const CheckData& data) : offer_(offer), sets_(sample_sets()) {
    own_ = data.given() && (!data.chosen || data.readers.front().name == offer.name);
    if (own_) sets_.push_back({.name = data.name(), .files = data.files});
  }

  std::string fields() const {
    require(!offer_.gives.empty(), "fields() names no field");
    for (const OptionalField& field : offer_.may_give) require_option_of(field);
    const auto reader = make();
    std::size_t read = 0;
    for (const FileSet& set : sets_) {
      const Outcome outcome = outcome_of(*reader, set);
      if (!outcome.is_read) continue;
      for (const std::string& field : offer_.gives)
        require(outcome.records.has(field),
                "the records of " + set.name + " have no field \"" + field + "\", which fields() names");
      for (const Records::Field& field : outcome.records.fields())
        require(
            std::ranges::find(offer_.gives, field.name) != offer_.gives.end() ||
                std::ranges::find(offer_.may_give, field.name, &OptionalField::name) != offer_.may_give.end(),
            "the records of " + set.name + " have a field \"" + field.name +
                "\", which neither fields() nor optional_fields() names");
      if (outcome.records.size() > 0) ++read;
    }
    require(read > 0, own_ ? "neither the file of --data nor a sample of the suite gives a record"
                           : "none of the " + counted(sets_.size()) +
                                 " of the suite gives a record, so reading was not checked; name a "
                                 "file of this format: --data FILE, with -S KEY=VALUE for options that it "
                                 "needs");
    return counted(read) + " read, each with the fields that it declares";
  }

  std::string refusals() const {
    const auto reader = make();
    std::size_t refused = 0;
    for (const FileSet& set : sets_) {
      const Outcome outcome = outcome_of(*reader, set);
      if (outcome.is_read) continue;
      ++refused;
      require(names_a_file(outcome.refusal, set),
              "the error about " + set.name + " does not name the file: " + outcome.refusal);
    }
    return counted(refused) + " refused, each by the name of its file";
  }

  std::string own_file() const {
    const Outcome outcome = outcome_of(*make(), sets_.back());
    require(outcome.is_read, "it is refused: " + outcome.refusal);
    require(outcome.records.size() > 0, "it gives no record");
    return std::to_string(outcome.records.size()) + " records from " + sets_.back().name;
  }

  /// Checks that changes that other editors or systems make to a file change no record.
  std::string forms() const {
    const auto reader = make();
    std::size_t compared = 0, with_nul = 0;
    for (const FileSet& set : sets_) {
      const Outcome usual = outcome_of(*reader, set);
      if (!usual.is_read || usual.records.size() == 0) continue;
      for (const Rewritten& other : rewritten(set)) {
        const Outcome outcome = outcome_of(*reader, other.set);
        if (!other.same_records) {
          require(
              outcome.is_read || names_a_file(outcome.refusal, other.set),
              set.name + " " + other.how + " is refused without the name of the file: " + outcome.refusal);
          ++with_nul;
          continue;
        }
        require(outcome.is_read, set.name + " " + other.how + " is refused: " + outcome.refusal);
        require(outcome.records.size() == usual.records.size(),
                set.name + " " + other.how + " gives " + std::to_string(outcome.records.size()) +
                    " records instead of " + std::to_string(usual.records.size()) + hint);
        require(equal_apart_from_line_ends(usual.records, outcome.records),
                set.name + " " + other.how + " gives other values" + hint);
        ++compared;
      }
    }
    if (compared == 0) throw NotChecked("no file gives a record to compare");
    return std::to_string(compared) +
           " comparisons of files with CRLF, a byte order mark or no newline at the end: equal records; " +
           std::to_string(with_nul) + " files with NUL read or refused";
  }

  std::string same_twice() const {
    const auto one = make(), two = make();
    for (const FileSet& set : sets_) {
      const Outcome first = outcome_of(*one, set), again = outcome_of(*one, set),
                    other = outcome_of(*two, set);
      for (const Outcome* next : {&again, &other})
        require(first.is_read == next->is_read && first.refusal == next->refusal &&
                    same_records(first.records, next->records),
                "read twice, " + set.name + " gives other records; read is a pure function of the bytes");
    }
    return "equal records from two readers, and when asked again";
  }

  std::string written() const {
    std::set<std::string> back;
    bool reads_single_files = false;
    for_each_variant([&](const Reader& reader, const std::string& how) {
      for (const FileSet& set : sets_) {
        if (set.files.size() != 1) continue;  // `write` makes one file, so sets of several are left out
        const Outcome outcome = outcome_of(reader, set);
        if (!outcome.is_read || outcome.records.size() == 0) continue;
        reads_single_files = true;
        if (is_read_back(reader, outcome.records, "the file written from " + set.name + how))
          back.insert(set.name);
      }
    });
    const std::string known = reads_single_files && !back.empty() ? known_records() : "";
    if (!back.empty())
      return counted(back.size()) + " written, in one part and in two, and read again" + known;
    throw NotChecked(std::string(reads_single_files ? "it writes no files"
                                                    : "it reads no single file that it could have written") +
                     ", so it is unknown whether every row of a file becomes a record; a test of your own "
                     "can compare the expected records");
  }

  /// Checks read_questions on a file that has its truth: the truth must make no difference.
  std::string questions() const {
    const auto reader = make();
    std::size_t compared = 0;
    bool any = false;
    for (const FileSet& set : sets_) {
      if (set.files.size() != 1) continue;
      const Questions asked = questions_of(*reader, set);
      if (!asked.refusal.empty())
        require(names_a_file(asked.refusal, set),
                "read_questions refuses " + set.name + " without its name: " + asked.refusal);
      if (!asked.records) continue;
      any = true;
      const Outcome usual = outcome_of(*reader, set);
      if (!usual.is_read || usual.records.size() == 0) continue;
      require_same_questions(usual.records, *asked.records, set.name);
      require_answered(*reader, set, usual.records, *asked.records);
      for (const Rewritten& other : rewritten(set)) {
        if (!other.same_records) continue;
        const Questions again = questions_of(*reader, other.set);
        require(again.records && equal_apart_from_line_ends(*asked.records, *again.records),
                "read_questions of " + set.name + " " + other.how + " gives other records" + hint);
      }
      ++compared;
    }
    if (!any)
      throw NotChecked("it does not override read_questions, so exp predict --format " + offer_.name +
                       " --file FILE is refused with its name");
    if (compared == 0) throw NotChecked("no single file gives records to compare with questions");
    return counted(compared) + " read without truth: the same records, which take answers";
  }

  std::string cutting() const {
    std::size_t count = 0;
    for_each_variant([&](const Reader& reader, const std::string& how) {
      if (reader.cut() == Cut::nowhere) return;
      for (const FileSet& set : sets_)
        if (set.files.size() == 1) count += is_same_in_parts(reader, set.files.front(), how);
    });
    return count == 0 ? "its files are read whole"
                      : counted(count) + " read in parts, which give the same records";
  }

  bool has_own_file() const { return own_; }

 private:
  static constexpr const char* hint =
      "; encore/lines.hpp finds the lines of any text, and a byte order mark in front does not belong to a "
      "record";

  /// Throws Error if the reader does not declare the option that adds a field, or not with this value.
  void require_option_of(const OptionalField& field) const {
    if (field.option.empty()) {
      require(field.value.empty(),
              "optional_fields() names a value for \"" + field.name + "\" without an option");
      return;
    }
    const Option* option = offer_.options.find(field.option);
    require(option != nullptr, "optional_fields() says that option \"" + field.option + "\" adds \"" +
                                   field.name + "\", but options() does not declare it");
    require(field.value.empty() || std::ranges::find(option->choices, field.value) != option->choices.end(),
            "optional_fields() says that " + field.option + " = \"" + field.value + "\" adds \"" +
                field.name + "\", but the choices of this option lack that value");
  }

  std::unique_ptr<Reader> make() const {
    return plugin_host::make_offer<Kind::reader>(offer_, plugin_host::default_options(offer_.options), {});
  }
  /// Calls `call(reader, how)` with each valid variant of the options; `how` names it in messages.
  template <class Call>
  void for_each_variant(const Call& call) const {
    for (const OptionsVariant& variant : option_variants(offer_.options)) {
      std::unique_ptr<Reader> reader;
      try {
        reader = plugin_host::make_offer<Kind::reader>(offer_, variant.options, {});
      } catch (const OptionError&) {  // an invalid combination
        continue;
      }
      call(*reader, variant.is_default ? std::string() : " with " + variant.name);
    }
  }
  /// The result of read_questions for a file: records, the message of its Error, or neither if the reader
  /// lacks the function.
  struct Questions {
    std::optional<Records> records = {};
    std::string refusal = {};
  };
  static InputText input_of(const FileSet& set) {
    return {.name = set.files.front().name, .text = set.files.front().text};
  }
  static Questions questions_of(const Reader& reader, const FileSet& set) {
    try {
      return {.records = reader.read_questions(input_of(set))};
    } catch (const Error& error) {
      return {.refusal = error.what()};
    }
  }
  static void require_same_questions(const Records& usual, const Records& asked, const std::string& name) {
    require(asked.size() == usual.size(), "read_questions of " + name + " gives " +
                                              std::to_string(asked.size()) + " records, and read gives " +
                                              std::to_string(usual.size()));
    for (const Records::Field& field : asked.fields())
      require(std::ranges::any_of(usual.fields(),
                                  [&](const Records::Field& other) {
                                    return other.name == field.name && other.values == field.values;
                                  }),
              "read_questions of " + name + " gives a field \"" + field.name +
                  "\" that read does not give, or gives with other values");
  }
  /// Checks the writing of answers, with the truth as answers: the fields that read_questions leaves out.
  static void require_answered(const Reader& reader, const FileSet& set, const Records& usual,
                               const Records& asked) {
    Records answers;
    for (const Records::Field& field : usual.fields())
      if (!asked.has(field.name)) answers.add(field.name, field.values);
    if (answers.fields().empty()) return;
    std::string text, again, refusal;
    try {
      text = reader.write_answers(input_of(set), answers);
      again = reader.write_answers(input_of(set), answers);
    } catch (const Error& error) {
      refusal = error.what();
    }
    require(refusal.empty(), "write_answers throws for the records of " + set.name + ": " + refusal);
    require(!text.empty(), "write_answers gives nothing for the records of " + set.name);
    require(text == again, "write_answers gives another text for " + set.name + " when it is called again");
  }
  /// Checks that a file read in parts has the same records. Returns false if the reader refuses the file or
  /// finds no record in it.
  static bool is_same_in_parts(const Reader& reader, const CheckFile& file, const std::string& how) {
    const Outcome whole = outcome_of(reader, file.name, file.text);
    if (!whole.is_read || whole.records.size() == 0) return false;
    std::optional<Records> all;
    for (const TextPart& part : parts_of(file.text, reader.cut())) {
      const InputText input{.name = file.name, .text = part.text, .first_line = part.first_line};
      const Records records = reader.read({&input, 1}, "training set");
      all = all ? behind_each_other(*all, records) : records;
    }
    require(all && same_records(whole.records, *all),
            "cut where cut() allows it" + how + ", " + file.name + " gives other records");
    return true;
  }
  /// Checks that written records are read back. Returns false if the reader does not write. `what` names the
  /// written file in messages.
  static bool is_read_back(const Reader& reader, const Records& records, const std::string& what) {
    std::string text;
    try {
      text = reader.write(records, FilePart::first);
    } catch (const Error&) {  // it only reads
      return false;
    }
    const Outcome again = outcome_of(reader, "a written file", text);
    require(again.is_read, what + " is refused: " + again.refusal);
    require(same_records(records, again.records), what + " is read as other records");
    text += reader.write(records, FilePart::later);
    const Outcome longer = outcome_of(reader, "a file written in two parts", text);
    require(longer.is_read, what + " as a first and a later part is refused: " + longer.refusal);
    require(same_records(behind_each_other(records, records), longer.records),
            what + " as a first and a later part is not read as the records twice");
    return true;
  }
  /// Checks known records of the suite, so that a dropped row is noticed.
  std::string known_records() const {
    Records records;
    try {
      records = sample_records(offer_.gives, SampleSet::train);
    } catch (const Error&) {  // a field of its own, without samples
      return "";
    }
    const auto reader = make();
    std::string text;
    try {
      text = reader->write(records, FilePart::first);
    } catch (const Error&) {  // it cannot write these
      return "";
    }
    const Outcome again = outcome_of(*reader, "a written file", text);
    const std::string what = "of " + std::to_string(records.size()) + " records that it writes it ";
    require(again.is_read, what + "reads none: " + again.refusal);
    require(again.records.size() == records.size(),
            what + "reads " + std::to_string(again.records.size()) + "; every row becomes a record");
    require(same_records(records, with_fields(again.records, offer_.gives)), what + "reads other values");
    return "; all of " + std::to_string(records.size()) + " known records among them";
  }
  static std::string counted(std::size_t files) {
    return std::to_string(files) + (files == 1 ? " file" : " files");
  }

  const Offer& offer_;
  std::vector<FileSet> sets_;
  bool own_ = false;
};

}  // namespace

std::vector<Check> reader_checks(const Offer& offer, const CheckData& data) {
  const ReaderCheck check(offer, data);
  std::vector<Check> checks = {{"fields", [check] { return check.fields(); }},
                               {"refusals", [check] { return check.refusals(); }},
                               {"forms of files", [check] { return check.forms(); }},
                               {"same records", [check] { return check.same_twice(); }},
                               {"writing", [check] { return check.written(); }},
                               {"questions", [check] { return check.questions(); }},
                               {"cutting", [check] { return check.cutting(); }}};
  if (check.has_own_file()) checks.push_back({"file of --data", [check] { return check.own_file(); }});
  return checks;
}

}  // namespace encore::contract
