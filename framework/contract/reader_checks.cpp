// The checks of readers: what each does with texts of many forms, and with a file of the author's own.
#include <algorithm>
#include <optional>
#include <set>

#include <encore/lines.hpp>

#include "contract/sample_records.hpp"
#include "contract/suite.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore {
namespace {

struct NamedText {
  std::string name, text;
};

/// Forms that a reader may understand or refuse, but must not stumble over.
const std::vector<NamedText>& sample_texts() {
  static const std::vector<NamedText> texts = {
      {"empty.txt", ""},
      {"newlines.txt", "\n\n\n"},
      {"words.txt", "Anna B-PER\nlives O\nin O\nLund B-LOC\n\nrain O\n"},
      {"rows.tsv", "person\tAnna lives in Lund\nweather\train\n"},
      {"rows.csv", "label,text\nperson,\"Anna, who lives in Lund\"\n"},
      {"lines.jsonl", "{\"text\": \"Anna\", \"label\": \"person\"}\n"},
      {"endings.tsv", "person\tAnna\r\nweather\train"},
      {"mark.tsv", "\xEF\xBB\xBFperson\tAnna\n"},
      {"nul.txt", std::string("a\tb\0c\n", 6)},
      {"not_utf8.txt", "person\tAnn\xFF\n"},
      {"long.txt", std::string(100000, 'a') + "\n"},
  };
  return texts;
}

/// What `read` makes of a text: records, or the words of its Error.
struct Outcome {
  bool is_read = false;
  Records records = {};
  std::string refusal = {};
};

Outcome outcome_of(const Reader& reader, const NamedText& file) {
  const InputText input{file.name, file.text};
  try {
    return {.is_read = true, .records = reader.read({&input, 1}, "training set")};
  } catch (const Error& error) {
    return {.refusal = error.what()};
  }
}

bool equal(const Records& a, const Records& b) {
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

/// Cut at every place where the reader allows it; blank parts are left out, as the host does.
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
  ReaderCheck(const Offer& offer, const CheckData& data) : offer_(offer), texts_(sample_texts()) {
    if (data.given()) texts_.push_back({data.name, data.text});
    own_ = data.given();
  }

  std::string fields() const {
    require(!offer_.gives.empty(), "fields() names no field");
    const auto reader = make();
    std::size_t read = 0;
    for (const NamedText& file : texts_) {
      const Outcome outcome = outcome_of(*reader, file);
      if (!outcome.is_read) continue;
      ++read;
      for (const std::string& field : offer_.gives)
        require(outcome.records.has(field),
                "the records of " + file.name + " have no field \"" + field + "\", which fields() names");
      for (const Records::Field& field : outcome.records.fields())
        require(std::ranges::find(offer_.gives, field.name) != offer_.gives.end() ||
                    std::ranges::find(offer_.may_give, field.name) != offer_.may_give.end(),
                "the records of " + file.name + " have a field \"" + field.name +
                    "\", which neither fields() nor optional_fields() names");
    }
    return counted(read) + " read, each with the fields that it declares";
  }

  std::string refusals() const {
    const auto reader = make();
    std::size_t refused = 0;
    for (const NamedText& file : texts_) {
      const Outcome outcome = outcome_of(*reader, file);
      if (outcome.is_read) continue;
      ++refused;
      require(
          outcome.refusal.find(file.name) != std::string::npos,
          "what is wrong with " + file.name + " is said without the name of the file: " + outcome.refusal);
    }
    return counted(refused) + " refused, each by the name of its file";
  }

  std::string own_file() const {
    const Outcome outcome = outcome_of(*make(), texts_.back());
    require(outcome.is_read, "it is refused: " + outcome.refusal);
    require(outcome.records.size() > 0, "it gives no record");
    return std::to_string(outcome.records.size()) + " records from " + texts_.back().name;
  }

  std::string same_twice() const {
    const auto one = make(), two = make();
    for (const NamedText& file : texts_) {
      const Outcome first = outcome_of(*one, file), again = outcome_of(*one, file),
                    other = outcome_of(*two, file);
      for (const Outcome* next : {&again, &other})
        require(first.is_read == next->is_read && first.refusal == next->refusal &&
                    equal(first.records, next->records),
                "read twice, " + file.name + " gives other records; read is a pure function of the bytes");
    }
    return "equal records from two readers, and when asked again";
  }

  std::string written() const {
    std::set<std::string> back;
    for (const OptionsVariant& variant : option_variants(offer_.options)) {
      std::unique_ptr<Reader> reader;
      try {
        reader = make_offer<Kind::reader>(offer_, variant.options, {});
      } catch (const OptionError&) {  // a combination that cannot be
        continue;
      }
      for (const NamedText& file : texts_)
        if (is_read_back(*reader, file, variant.name == "defaults" ? "" : " with " + variant.name))
          back.insert(file.name);
    }
    return back.empty() ? (own_ ? "it writes no files"
                                : "none of the samples is written; --data FILE names one of yours")
                        : counted(back.size()) + " written, in one part and in two, and read again";
  }

  std::string cutting() const {
    std::size_t count = 0;
    for (const OptionsVariant& variant : option_variants(offer_.options)) {
      std::unique_ptr<Reader> reader;
      try {
        reader = make_offer<Kind::reader>(offer_, variant.options, {});
      } catch (const OptionError&) {  // a combination that cannot be
        continue;
      }
      if (reader->cut() == Cut::nowhere) continue;
      for (const NamedText& file : texts_)
        count += is_same_in_parts(*reader, file, variant.name == "defaults" ? "" : " with " + variant.name);
    }
    return count == 0 ? "its files are read whole"
                      : counted(count) + " read in parts, which give the same records";
  }

  bool has_own_file() const { return own_; }

 private:
  std::unique_ptr<Reader> make() const {
    return make_offer<Kind::reader>(offer_, default_options(offer_.options), {});
  }
  /// False where the text is not read.
  static bool is_same_in_parts(const Reader& reader, const NamedText& file, const std::string& how) {
    const Outcome whole = outcome_of(reader, file);
    if (!whole.is_read || whole.records.size() == 0) return false;
    std::optional<Records> all;
    for (const TextPart& part : parts_of(file.text, reader.cut())) {
      const InputText input{.name = file.name, .text = part.text, .first_line = part.first_line};
      const Records records = reader.read({&input, 1}, "training set");
      all = all ? behind_each_other(*all, records) : records;
    }
    require(all && equal(whole.records, *all),
            "cut where cut() allows it" + how + ", " + file.name + " gives other records");
    return true;
  }
  /// False where the text is not read or not written. `how` names the options in messages.
  static bool is_read_back(const Reader& reader, const NamedText& file, const std::string& how) {
    const Outcome outcome = outcome_of(reader, file);
    if (!outcome.is_read || outcome.records.size() == 0) return false;
    std::string text;
    try {
      text = reader.write(outcome.records, FilePart::first);
    } catch (const Error&) {  // it reads only
      return false;
    }
    const std::string what = "what it writes of " + file.name + how;
    const Outcome again = outcome_of(reader, {"written from " + file.name, text});
    require(again.is_read, what + " it does not read: " + again.refusal);
    require(equal(outcome.records, again.records), what + " it reads as other records");
    text += reader.write(outcome.records, FilePart::later);
    const Outcome longer = outcome_of(reader, {"written in two parts from " + file.name, text});
    require(longer.is_read, what + " as a first and a later part it does not read: " + longer.refusal);
    require(equal(behind_each_other(outcome.records, outcome.records), longer.records),
            what + " as a first and a later part it does not read as the records twice");
    return true;
  }
  static std::string counted(std::size_t texts) {
    return std::to_string(texts) + (texts == 1 ? " text" : " texts");
  }

  const Offer& offer_;
  std::vector<NamedText> texts_;
  bool own_ = false;
};

}  // namespace

std::vector<Check> reader_checks(const Offer& offer, const CheckData& data) {
  const ReaderCheck check(offer, data);
  std::vector<Check> checks = {{"fields", [check] { return check.fields(); }},
                               {"refusals", [check] { return check.refusals(); }},
                               {"same records", [check] { return check.same_twice(); }},
                               {"writing", [check] { return check.written(); }},
                               {"cutting", [check] { return check.cutting(); }}};
  if (check.has_own_file()) checks.push_back({"file of --data", [check] { return check.own_file(); }});
  return checks;
}

}  // namespace encore
