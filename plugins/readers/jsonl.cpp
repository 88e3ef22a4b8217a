// SPDX-License-Identifier: BSD-3-Clause
// The reader "jsonl": reads records from JSON objects, one per line, and reports all invalid lines at once.
// The worker calls read() for data sets (tasks/read_set.cpp) and the other functions for `exp predict`. Runs
// repeat only if equal files give equal records. jsonl_plugin.cpp registers it. Read jsonl.hpp first.
#include "jsonl.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <encore/lines.hpp>
#include <nlohmann/json.hpp>

#include "json_place.hpp"
#include "line_checks.hpp"
#include "line_text.hpp"
#include "marked_spans.hpp"
#include "row_problems.hpp"

namespace encore::jsonl {
namespace {

using Json = nlohmann::json;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

constexpr const char* one_per_line =
    "expected one object per line, as jq -c '.[]' FILE writes the objects of an array";

/// Returns what is wrong if the line is part of an array or object that spans several lines, or "".
std::string problem_of_part(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text == "[" || text == "]" || text == "{" || text == "}" || text.ends_with(',') ||
      text.starts_with('['))
    return "this line is part of a JSON " +
           std::string(text == "{" || text == "}" || text.starts_with('"') ? "object" : "array") +
           " that spans several lines; " + one_per_line;
  return "";
}

/// Returns the member with this key, or null. A key that no member has is a path: "fields.body" is the member
/// "body" of the object "fields". Members come before paths, so files whose keys have dots are read as ever.
const Json* member_of(const Json& object, std::string_view key) {
  if (const auto found = object.find(key); found != object.end()) return &*found;
  for (std::size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1)) {
    const auto above = object.find(key.substr(0, dot));
    if (above == object.end() || !above->is_object()) continue;
    if (const Json* found = member_of(*above, key.substr(dot + 1)); found != nullptr) return found;
  }
  return nullptr;
}

/// Returns the value as the name of a label, or nothing if it cannot be one.
std::optional<std::string> name_in(const Json& value) {
  if (value.is_number_integer() || value.is_boolean()) return value.dump();
  if (!value.is_string() || is_blank(value.get_ref<const std::string&>())) return std::nullopt;
  return value.get<std::string>();
}

std::string_view without_mark(std::string_view text) {
  while (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const std::vector<TextSpan>& spans) {
  Json list = Json::array();
  for (const TextSpan& span : spans)
    list.push_back({{"type", span.label}, {"text", span.text}, {"start", span.start}, {"end", span.end}});
  return list;
}
template <class T>
Json json_of(const T& value) {
  return value;
}

/// Returns a key for each field of answers that no object of the file uses: "predicted_label", or
/// "predicted_label_2".
std::vector<std::string> free_keys(std::string_view text, const Records& answers) {
  std::set<std::string> taken;
  for (Lines lines(text); lines.next();) {
    if (is_blank(lines.line())) continue;
    const Json object = Json::parse(lines.line());
    for (const auto& member : object.items()) taken.insert(member.key());
  }
  std::vector<std::string> keys;
  for (const Records::Field& field : answers.fields()) {
    std::string key = "predicted_" + field.name;
    for (int number = 2; taken.contains(key); ++number)
      key = "predicted_" + field.name + "_" + std::to_string(number);
    keys.push_back(std::move(key));
  }
  return keys;
}

std::string key_text(const std::string& key) {
  return "\"" + key + "\"";
}

/// Throws OptionError if options of a single text are set together with those of a source and its target.
void require_pair_options(const Options& options) {
  for (const char* option : {"source_key", "target_key"})
    if (options.text(option).empty())
      throw OptionError(option, std::string(option) +
                                    " is missing: a source and its target need both source_key and "
                                    "target_key");
  const char* other = !options.text("text2_key").empty()       ? "text2_key"
                      : options.text("label_type") != "text"   ? "label_type"
                      : options.flag("marked_spans")           ? "marked_spans"
                      : !options.text("answers_key").empty()   ? "answers_key"
                      : !options.text("negatives_key").empty() ? "negatives_key"
                                                               : nullptr;
  if (other != nullptr)
    throw OptionError(other,
                      std::string(other) +
                          " is for a text with a label, but source_key makes each line a source and its "
                          "target: remove one of the two");
  if (options.text("source_key") == options.text("target_key"))
    throw OptionError("target_key", "target_key = " + key_text(options.text("target_key")) +
                                        " is also the key of the source");
}

}  // namespace

/// The records read so far, and what is wrong with lines.
struct JsonlReader::Taken {
  Records::Texts texts = {}, second_texts = {}, labels = {};
  Records::SpanLists spans = {}, answers = {};
  Records::TextLists lists = {}, negatives = {};
  Records::Numbers numbers = {};
  RowProblems problems = {};
  std::int64_t rows = 0;
  std::vector<std::string> notes = {};
};

Schema JsonlReader::options() {
  return Schema()
      .text("text_key", "text",
            {.help = "key of the text; all keys may be paths: \"fields.body\" is the member \"body\" of the "
                     "object \"fields\", unless the line has a key \"fields.body\""})
      .text("label_key", "label",
            {.help = "key of the label; label_type says what its value is; \"\": no label, for example for "
                     "`lm` and `mlm`"})
      .text("text2_key", "",
            {.help = "key of the second text of a pair, the field \"text2\"; \"\": no second text"})
      .text("source_key", "",
            {.help = "key of a source; needs target_key. Both give the fields \"source\" and \"target\" "
                     "instead of \"text\" and \"label\""})
      .text("target_key", "", {.help = "key of the target of a source; needs source_key"})
      .choice("label_type", "text", {"text", "list", "number"},
              {.help = "text: one label (a text, a whole number, true or false), the field \"label\"; list: "
                       "a JSON array of such labels, the field \"labels\" instead; number: a JSON number, "
                       "the field \"number\" instead"})
      .text("answers_key", "",
            {.help = "key of the true answers to the text: a list, or one text. They are the field "
                     "\"answers\", which steps of an application read: `answer`, for which the text is a "
                     "question (the task `qa` needs the reader `squad`), and the steps of summaries, for "
                     "which each answer is a summary. An empty list: there is no answer; \"\": no "
                     "answers"})
      .text("negatives_key", "",
            {.help = "key of a list of inputs that do not belong to the text, in contrast to that of "
                     "text2_key, the field \"negatives\" of the task `embed`; needs text2_key; \"\": none"})
      .boolean("marked_spans", false,
               {.help = "each text marks two spans with `<e1>...</e1>` and `<e2>...</e2>`: remove the marks "
                        "and give the spans as the field \"spans\""})
      .choice("bad_rows", "error", {"error", "skip"},
              {.help = "what to do with invalid lines, such as one that is not JSON or lacks a key. error: "
                       "refuse the run; skip: skip them and count them in the log (exp logs RUN). "
                       "`exp predict` always refuses a file with invalid lines"});
}

JsonlReader::JsonlReader(const Options& options, const ReaderContext&)
    : text_key_(options.text("text_key")),
      second_key_(options.text("text2_key")),
      label_key_(options.text("label_key")),
      answers_key_(options.text("answers_key")),
      negatives_key_(options.text("negatives_key")),
      type_(options.text("label_type") == "list"     ? LabelType::list
            : options.text("label_type") == "number" ? LabelType::number
                                                     : LabelType::text),
      skips_(options.text("bad_rows") == "skip"),
      marked_(options.flag("marked_spans")),
      pairs_(!options.text("source_key").empty() || !options.text("target_key").empty()) {
  if (pairs_) {
    require_pair_options(options);
    text_key_ = options.text("source_key");
    second_key_ = options.text("target_key");
    label_key_.clear();
    return;
  }
  if (text_key_.empty()) throw OptionError("text_key", "text_key is empty: name the key of the text");
  if (second_key_ == text_key_)
    throw OptionError("text2_key",
                      "text2_key = " + key_text(second_key_) + " is also the key of the first text");
  if (label_key_ == text_key_ || (!label_key_.empty() && label_key_ == second_key_))
    throw OptionError("label_key", "label_key = " + key_text(label_key_) + " is also the key of a text");
  if (!answers_key_.empty() &&
      (answers_key_ == text_key_ || answers_key_ == second_key_ || answers_key_ == label_key_))
    throw OptionError("answers_key",
                      "answers_key = " + key_text(answers_key_) + " is also the key of a text or the label");
  if (negatives_key_.empty()) return;
  if (second_key_.empty())
    throw OptionError("negatives_key",
                      "text2_key is missing: expected the key of the text that belongs to the first one, "
                      "beside negatives_key for those that do not");
  for (const std::string* other : {&text_key_, &second_key_, &label_key_, &answers_key_})
    if (negatives_key_ == *other)
      throw OptionError("negatives_key",
                        "negatives_key = " + key_text(negatives_key_) + " is also the key of another field");
}

// --- reading ---

/// Reads a line into `taken`. Returns what is wrong with it, or "".
std::string JsonlReader::take(std::string_view line, Sight sight, Taken& taken) const {
  if (line.size() > most_bytes)
    return "this line has " + std::to_string(line.size()) + " bytes: expected at most " +
           std::to_string(most_bytes);
  if (too_deep(line)) return "this line nests more than " + std::to_string(most_json_levels) + " levels deep";
  Json object;
  try {
    object = Json::parse(line);
  } catch (const Json::parse_error& error) {
    if (const std::string problem = problem_of_part(line); !problem.empty()) return problem;
    return "this line is not valid JSON: byte " + std::to_string(error.byte) + " cannot be read";
  } catch (const Json::exception&) {
    return "this line holds a number that is too large";
  }
  if (object.is_array()) return "this line is a JSON array; " + std::string(one_per_line);
  if (!object.is_object()) return std::string("this line is ") + object.type_name() + ", not a JSON object";
  std::vector<std::string> texts;
  for (const std::string* key : {&text_key_, &second_key_}) {
    if (key->empty() || (key == &second_key_ && pairs_ && sight == Sight::questions)) continue;
    const Json* found = member_of(object, *key);
    if (found == nullptr) return "this object lacks the key " + key_text(*key);
    if (!found->is_string()) return key_text(*key) + " is " + found->type_name() + ", not a text";
    texts.push_back(found->get<std::string>());
    if (is_blank(texts.back())) return "the text of " + key_text(*key) + " is empty";
  }
  MarkedText marked;
  if (marked_) {
    if (std::string problem = take_marked(texts.front(), marked); !problem.empty()) return problem;
    texts.front() = marked.text;
  }
  std::vector<std::string> answers, negatives;
  if (sight == Sight::everything) {
    if (std::string problem = take_list(object, answers_key_, "an answer", true, answers); !problem.empty())
      return problem;
    if (std::string problem = take_list(object, negatives_key_, "a text", false, negatives); !problem.empty())
      return problem;
  }
  if (!label_key_.empty() && sight == Sight::everything) {
    const Json* found = member_of(object, label_key_);
    if (found == nullptr) return "this object lacks the key " + key_text(label_key_);
    if (std::string problem = take_label(*found, taken); !problem.empty()) return problem;
  }
  taken.texts.push_back(std::move(texts.front()));
  taken.answers.emplace_back();  // their places in a document are not known, so the spans have the places 0
  for (std::string& answer : answers)
    taken.answers.back().push_back({.label = {}, .text = std::move(answer)});
  taken.negatives.push_back(std::move(negatives));
  if (marked_) taken.spans.push_back(std::move(marked.spans));
  if (texts.size() > 1) taken.second_texts.push_back(std::move(texts.back()));
  return "";
}

std::string JsonlReader::take_label(const Json& value, Taken& taken) const {
  const std::string is = key_text(label_key_) + " is " + value.type_name();
  if (type_ == LabelType::number) {
    if (!value.is_number()) return is + ", not a number";
    taken.numbers.push_back(value.get<double>());
    return "";
  }
  if (type_ == LabelType::text) {
    std::optional<std::string> name = name_in(value);
    if (!name)
      return value.is_string() ? "the label of " + key_text(label_key_) + " is empty" : is + ", not a name";
    taken.labels.push_back(std::move(*name));
    return "";
  }
  if (!value.is_array()) return is + ", not a list of names";
  std::vector<std::string> list;
  for (const Json& entry : value) {
    std::optional<std::string> name = name_in(entry);
    if (!name)
      return "the list of " + key_text(label_key_) + " holds " + entry.dump() + ", which is not a name";
    list.push_back(std::move(*name));
  }
  taken.lists.push_back(std::move(list));
  return "";
}

/// Reads the entries of a list; without a key there are none. `entry` says what each is; with `takes_one` one
/// text is a list of this text. Returns what is wrong with the list, or "".
std::string JsonlReader::take_list(const Json& object, const std::string& key, const char* entry,
                                   bool takes_one, std::vector<std::string>& entries) {
  if (key.empty()) return "";
  const Json* found = member_of(object, key);
  if (found == nullptr) return "this object lacks the key " + key_text(key);
  if (takes_one && found->is_string()) {
    entries.push_back(found->get<std::string>());
    return is_blank(entries.back()) ? "the text of " + key_text(key) + " is empty" : "";
  }
  if (!found->is_array())
    return key_text(key) + " is " + found->type_name() + ", not a list" + (takes_one ? " or a text" : "");
  for (const Json& value : *found) {
    if (!value.is_string() || is_blank(value.get_ref<const std::string&>()))
      return "the list of " + key_text(key) + " holds " + value.dump() + ", which is not " + entry;
    entries.push_back(value.get<std::string>());
  }
  return "";
}

void JsonlReader::read_file(const InputText& file, Sight sight, Taken& taken) const {
  Lines lines(without_mark(file.text));
  while (lines.next()) {
    if (is_blank(lines.line())) continue;
    ++taken.rows;
    const std::string problem = take(lines.line(), sight, taken);
    if (!problem.empty()) taken.problems.add(file.name, file.first_line - 1 + lines.number(), problem);
  }
  add_stray_returns(taken.notes, file.name, lines.stray_returns());
}

Records JsonlReader::read(std::span<const InputText> files, const std::string& what) const {
  Taken taken;
  for (const InputText& file : files) read_file(file, Sight::everything, taken);
  const RowProblems& problems = taken.problems;
  if (!skips_) problems.require_none(!taken.texts.empty());
  if (taken.texts.empty() && !files.empty())
    throw Error(files.front().name + ": the " + what +
                (taken.rows > 0 ? " has no line that can be read; " + problems.skipped(taken.rows)
                                : " is empty: expected at least one object with a text"));
  Records records;
  records.notes = std::move(taken.notes);
  records.add(text_field(), std::move(taken.texts));
  if (marked_) records.add("spans", std::move(taken.spans));
  if (!second_key_.empty()) records.add(second_field(), std::move(taken.second_texts));
  if (!label_key_.empty()) {
    if (type_ == LabelType::text) records.add("label", std::move(taken.labels));
    if (type_ == LabelType::list) records.add("labels", std::move(taken.lists));
    if (type_ == LabelType::number) records.add("number", std::move(taken.numbers));
  }
  if (!answers_key_.empty()) records.add("answers", std::move(taken.answers));
  if (!negatives_key_.empty()) records.add("negatives", std::move(taken.negatives));
  if (problems.count() > 0) records.notes.push_back(problems.skipped(taken.rows));
  return records;
}

// --- questions ---

std::optional<Records> JsonlReader::read_questions(const InputText& file) const {
  Taken taken;
  read_file(file, Sight::questions, taken);
  taken.problems.require_none();
  Records records;
  records.notes = std::move(taken.notes);
  records.add(text_field(), std::move(taken.texts));
  if (marked_) records.add("spans", std::move(taken.spans));
  if (!second_key_.empty() && !pairs_) records.add(second_field(), std::move(taken.second_texts));
  return records;
}

/// Inserts the answers before the bracket that closes each object, so that its own members stay unchanged.
std::string JsonlReader::write_answers(const InputText& file, const Records& answers) const {
  const std::string_view text = without_mark(file.text);
  const std::vector<std::string> keys = free_keys(text, answers);
  std::string all;
  std::size_t done = 0, record = 0;
  for (Lines lines(text); lines.next();) {
    if (is_blank(lines.line())) continue;
    const std::string_view up_to_bracket = lines.line().substr(0, lines.line().rfind('}'));
    const auto end = static_cast<std::size_t>(up_to_bracket.data() + up_to_bracket.size() - text.data());
    all.append(text.substr(done, end - done));
    done = end;
    for (std::size_t i = 0; i < keys.size(); ++i)
      all += "," + dumped(keys[i]) + ":" +
             std::visit([&](const auto& values) { return dumped(json_of(values[record])); },
                        answers.fields()[i].values);
    ++record;
  }
  return all.append(text.substr(done));
}

// --- writing ---

std::string JsonlReader::write(const Records& records, FilePart) const {
  std::string text;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string& plain = records.texts(text_field())[i];
    Json object = {
        {text_key_, marked_ && records.has("spans") ? marked_text(plain, records.spans("spans")[i]) : plain}};
    if (!second_key_.empty())
      object[second_key_] = records.has(second_field()) ? records.texts(second_field())[i] : "-";
    if (!label_key_.empty()) {
      if (type_ == LabelType::text) object[label_key_] = records.texts("label")[i];
      if (type_ == LabelType::list) object[label_key_] = records.lists("labels")[i];
      if (type_ == LabelType::number) object[label_key_] = records.numbers("number")[i];
    }
    if (!answers_key_.empty()) {
      object[answers_key_] = Json::array();
      for (const TextSpan& answer : records.spans("answers")[i]) object[answers_key_].push_back(answer.text);
    }
    if (!negatives_key_.empty()) object[negatives_key_] = records.lists("negatives")[i];
    if (!is_blank(plain)) text += dumped(object);
    text += '\n';
  }
  return text;
}

}  // namespace encore::jsonl
