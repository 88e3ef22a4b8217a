// SPDX-License-Identifier: BSD-3-Clause
// The reader "squad": reads questions from JSON, and reports all invalid ones at once by article, paragraph
// and question. squad_plugin.cpp registers it. The worker calls read() for data sets (tasks/read_set.cpp) and
// the other functions for `exp predict`. Runs repeat only if equal files give equal records. Read squad.hpp
// first.
#include "squad.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <unordered_set>
#include <utility>

#include <nlohmann/json.hpp>

#include "json_place.hpp"
#include "row_problems.hpp"

namespace encore::squad {
namespace {

using nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{1} << 20;  // limit of a context, a question, an answer
constexpr std::size_t most_listed = 10;
/// A message searches an answer elsewhere in its context only up to this many bytes.
constexpr std::size_t longest_searched = 200;
/// Each record has a copy of its context, and many short questions about a long context could need a thousand
/// times the size of the file. All contexts may have at most this many times its bytes. In SQuAD it is 3.
constexpr std::size_t most_context_copies = 64;
constexpr std::size_t contexts_always_kept = std::size_t{16} << 20;
constexpr std::size_t most_shown = 60;  // most bytes of a text in a message
constexpr std::string_view white_space = " \t\r\n\v\f";

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

std::int64_t count_code_points(std::string_view text) {
  return std::count_if(text.begin(), text.end(), begins_character);
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(white_space) == std::string_view::npos;
}

/// Returns the text in quotation marks; a long one is cut after a whole character.
std::string shown(std::string_view text) {
  std::size_t end = std::min(text.size(), most_shown);
  while (end < text.size() && !begins_character(text[end])) --end;
  return "\"" + std::string(text.substr(0, end)) + (end < text.size() ? "..." : "") + "\"";
}

/// The text of a paragraph, with the position of each code point.
class Context {
 public:
  explicit Context(std::string_view text) : text_(text) {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (begins_character(text[i])) begins_.push_back(i);
    begins_.push_back(text.size());
  }
  std::int64_t size() const { return std::ssize(begins_) - 1; }
  /// Returns `count` code points from `first` on, or fewer at the end of the text.
  std::string_view part(std::int64_t first, std::int64_t count) const {
    const std::int64_t begin = std::min(first, size()), end = std::min(begin + count, size());
    const std::size_t byte = begins_[static_cast<std::size_t>(begin)];
    return text_.substr(byte, begins_[static_cast<std::size_t>(end)] - byte);
  }
  /// Returns, for a message, where `part` occurs, nearest to code point `to`.
  std::string where(std::string_view part, std::int64_t to, const char* remark) const {
    if (part.size() > longest_searched) return "";
    const std::optional<std::int64_t> place = nearest(part, to);
    return place ? "; it is at " + std::to_string(*place) + remark : "; it is not in the context";
  }

 private:
  /// Returns the occurrence nearest to `to`, in code points, or nothing.
  std::optional<std::int64_t> nearest(std::string_view part, std::int64_t to) const {
    std::optional<std::int64_t> best;
    for (std::size_t at = text_.find(part); at != std::string_view::npos; at = text_.find(part, at + 1)) {
      const auto place = std::lower_bound(begins_.begin(), begins_.end(), at) - begins_.begin();
      if (!best || std::abs(place - to) < std::abs(*best - to)) best = place;
    }
    return best;
  }

  std::string_view text_;
  std::vector<std::size_t> begins_;
};

/// Returns the member as text, or null if it is missing or not a text.
const std::string* text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

/// Returns what is wrong with a member that must be a text, or "".
std::string problem_of_text(const std::string* text, const char* name) {
  if (text == nullptr) return "no text \"" + std::string(name) + "\"";
  if (is_blank(*text)) return "the text \"" + std::string(name) + "\" is empty";
  if (text->size() > most_bytes)
    return "the text \"" + std::string(name) + "\" has " + std::to_string(text->size()) +
           " bytes: expected at most " + std::to_string(most_bytes);
  return "";
}

/// What is read of a question: also its answers, or only what exists if the truth is unknown.
enum class Sight : std::uint8_t { everything, questions };

struct Question {
  std::string id, question;
  std::vector<TextSpan> answers;
};

/// Reads an answer into `to`. Returns what is wrong with it, or "". `is_shown`: the result will be printed,
/// so it may search the whole context.
std::string read_answer(const json& answer, const Context& context, bool is_shown, TextSpan& to) {
  if (!answer.is_object()) return "an answer is not an object with \"text\" and \"answer_start\"";
  const std::string* text = text_in(answer, "text");
  if (std::string problem = problem_of_text(text, "text"); !problem.empty())
    return "an answer cannot be read: " + problem;
  const auto start = answer.find("answer_start");
  if (start != answer.end() && *start == json(-1)) {
    return "the answer " + shown(*text) + " has answer_start = -1, an unknown place" +
           (is_shown ? context.where(*text, 0, " first") : "");
  }
  if (start == answer.end() || !start->is_number_unsigned())
    return "the answer " + shown(*text) + " has no \"answer_start\": expected a number from 0 on";
  const std::uint64_t given = start->get<std::uint64_t>();
  if (given >= static_cast<std::uint64_t>(context.size()))
    return "the answer " + shown(*text) + " has answer_start = " + std::to_string(given) +
           ", but the context has " + std::to_string(context.size()) + " characters";
  const auto first = static_cast<std::int64_t>(given);
  const std::int64_t count = count_code_points(*text);
  const std::string_view there = context.part(first, count);
  if (there == *text) {
    to = {.label = {}, .text = *text, .start = first, .end = first + count};
    return "";
  }
  return "the answer " + shown(*text) + " is not at answer_start = " + std::to_string(first) +
         ", where the context has " + shown(there) +
         (is_shown ? context.where(*text, first, " (characters are counted, not bytes)") : "");
}

/// Reads a question into `to`. Returns what is wrong with it, or "". `is_shown`: as in read_answer.
std::string read_question(const json& qa, const Context& context, Sight sight, bool is_shown, Question& to) {
  const auto number = qa.find("id");
  const bool has_number = number != qa.end() && number->is_number_integer();
  if (!has_number)
    if (std::string problem = problem_of_text(text_in(qa, "id"), "id"); !problem.empty()) return problem;
  if (std::string problem = problem_of_text(text_in(qa, "question"), "question"); !problem.empty())
    return problem;
  to.id = has_number ? number->dump() : *text_in(qa, "id");
  to.question = *text_in(qa, "question");
  to.answers.clear();
  if (sight == Sight::questions) return "";
  const auto impossible = qa.find("is_impossible"), answers = qa.find("answers");
  const bool has_none = impossible != qa.end() && *impossible == json(true);
  if (answers == qa.end() ? !has_none : !answers->is_array())
    return "no list \"answers\": expected one, empty for a question without an answer";
  if (answers == qa.end()) return "";
  const auto is_none = [](const json& answer) {
    return answer.is_object() && answer.value("answer_start", json()) == json(-1) &&
           answer.value("text", json()) == json("");
  };
  if (has_none && !std::ranges::all_of(*answers, is_none))
    return "is_impossible is true, but it has an answer";
  for (const json& answer : *answers) {
    if (is_none(answer)) continue;
    to.answers.emplace_back();
    if (std::string problem = read_answer(answer, context, is_shown, to.answers.back()); !problem.empty())
      return problem;
  }
  return "";
}

std::string dumped(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// A place in the file. Its text is "article 3 (Huguenot), paragraph 2, question 5
/// (56beb4343aeaaa14008c925b)".
struct Place {
  std::size_t article = 0, paragraph = 0, question = 0;  ///< from 1; 0: the level above as a whole
  std::string title, id;

  std::string text() const {
    std::string text = "article " + std::to_string(article) + (title.empty() ? "" : " (" + title + ")");
    if (paragraph > 0) text += ", paragraph " + std::to_string(paragraph);
    if (question > 0) text += ", question " + std::to_string(question) + (id.empty() ? "" : " (" + id + ")");
    return text;
  }
};

json parsed(const InputText& file) {
  std::string_view text = file.text;
  while (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (const std::optional<std::size_t> bracket = too_deep(text))
    throw Error(file.name + ":" + place_in(text, *bracket) + ": JSON nested more than " +
                std::to_string(most_json_levels) + " levels deep");
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    throw Error(file.name + ":" + place_in(text, error.byte == 0 ? 0 : error.byte - 1) +
                ": invalid JSON: expected a SQuAD file, {\"data\": [{\"paragraphs\": [...]}]}");
  } catch (const json::exception&) {
    throw Error(file.name + ": invalid JSON: a number is too large for a 64-bit float");
  }
}

/// Collects the questions of several files.
class Collector {
 public:
  explicit Collector(Sight sight) : sight_(sight) {}

  void take(const InputText& file) {
    const json root = parsed(file);
    context_bytes_ = 0;
    const auto data = root.is_object() ? root.find("data") : root.end();
    if (data == root.end() || !data->is_array())
      throw Error(file.name +
                  ": no list \"data\": expected a SQuAD file, {\"data\": [{\"paragraphs\": [...]}]}");
    Place place;
    for (const json& article : *data) {
      place = {.article = place.article + 1, .title = {}, .id = {}};
      take_article(file, article, place);
    }
  }
  /// Returns the records. Throws an Error with the invalid questions or, if `skips`, adds a note.
  Records records(bool skips) {
    if (bad_ > 0 && !skips)
      throw Error(problems_ + more() +
                  (sight_ == Sight::everything && !questions_.empty() ? skip_remedy : ""));
    Records records;
    if (bad_ > 0)
      records.notes.push_back(std::to_string(bad_) + (bad_ == 1 ? " question is" : " questions are") +
                              " skipped: " + problems_.substr(0, problems_.find('\n')) +
                              (bad_ > 1 ? "; ..." : ""));
    records.add("id", std::move(ids_));
    records.add("question", std::move(questions_));
    records.add("context", std::move(contexts_));
    if (sight_ == Sight::everything) records.add("answers", std::move(answers_));
    return records;
  }
  bool empty() const { return ids_.empty(); }

 private:
  void take_article(const InputText& file, const json& article, Place& place) {
    if (article.is_object())
      if (const std::string* title = text_in(article, "title")) place.title = *title;
    const auto paragraphs = article.is_object() ? article.find("paragraphs") : article.end();
    if (paragraphs == article.end() || !paragraphs->is_array())
      return add_problem(file, place, "no list \"paragraphs\"", 1);
    for (const json& paragraph : *paragraphs) {
      ++place.paragraph;
      place.question = 0;
      take_paragraph(file, paragraph, place);
    }
  }

  void take_paragraph(const InputText& file, const json& paragraph, Place& place) {
    const auto qas = paragraph.is_object() ? paragraph.find("qas") : paragraph.end();
    if (qas == paragraph.end() || !qas->is_array())
      return add_problem(file, place, "no list \"qas\" of questions", 1);
    const std::string* text = text_in(paragraph, "context");
    if (const std::string problem = problem_of_text(text, "context"); !problem.empty()) {
      if (qas->empty()) return;
      return add_problem(file, place,
                         problem + ", and " + std::to_string(qas->size()) +
                             (qas->size() == 1 ? " question" : " questions") + " about it",
                         qas->size());
    }
    const Context context(*text);
    Question question;
    for (const json& qa : *qas) {
      ++place.question;
      place.id.clear();
      if (!qa.is_object()) {
        add_problem(file, place, "it is not an object", 1);
        continue;
      }
      std::string problem = read_question(qa, context, sight_, listed_ < most_listed, question);
      if (const auto id = qa.find("id"); id != qa.end() && (id->is_string() || id->is_number_integer()))
        place.id = id->is_string() ? id->get<std::string>() : id->dump();
      if (problem.empty() && !known_ids_.insert(question.id).second)
        problem = "a question before it has the same id";
      if (!problem.empty()) {
        add_problem(file, place, problem, 1);
        continue;
      }
      ids_.push_back(std::move(question.id));
      questions_.push_back(std::move(question.question));
      keep_context(file, place, *text);
      answers_.push_back(std::move(question.answers));
    }
  }

  void keep_context(const InputText& file, const Place& place, const std::string& text) {
    context_bytes_ += text.size();
    if (context_bytes_ > std::max(contexts_always_kept, most_context_copies * file.text.size()))
      throw Error(
          file.name + ": " + place.text() + ": each question keeps its context, and those up to here take " +
          std::to_string(context_bytes_) + " bytes, more than " + std::to_string(most_context_copies) +
          " times the file: split long contexts with many questions into paragraphs");
    contexts_.push_back(text);
  }

  void add_problem(const InputText& file, const Place& place, const std::string& problem,
                   std::size_t questions) {
    bad_ += questions;
    if (++listed_ <= most_listed)
      problems_ += (listed_ > 1 ? "\n" : "") + file.name + ": " + place.text() + ": " + problem;
  }
  std::string more() const {
    if (listed_ <= most_listed) return "";
    const std::size_t count = listed_ - most_listed;
    return "\nand " + std::to_string(count) + (count == 1 ? " more place" : " more places") + " like these";
  }

  Sight sight_;
  Records::Texts ids_, questions_, contexts_;
  Records::SpanLists answers_;
  std::unordered_set<std::string> known_ids_;
  std::size_t context_bytes_ = 0;     ///< so far, of the current file
  std::size_t bad_ = 0, listed_ = 0;  ///< invalid questions, and those that are listed
  std::string problems_;
};

}  // namespace

Schema SquadReader::options() {
  return Schema().choice("bad_rows", "error", {"error", "skip"},
                         {.help = "what to do with invalid questions, such as one without an id, or with an "
                                  "answer that is not at its place in the context. error: refuse the run; "
                                  "skip: skip them and count them in the log (exp logs RUN). `exp predict` "
                                  "always refuses a file with invalid questions"});
}

SquadReader::SquadReader(const Options& options, const ReaderContext&)
    : skips_(options.text("bad_rows") == "skip") {}

Records SquadReader::read(std::span<const InputText> files, const std::string& what) const {
  Collector collector(Sight::everything);
  for (const InputText& file : files) collector.take(file);
  const bool empty = collector.empty();
  Records records = collector.records(skips_);
  if (empty && !files.empty())
    throw Error(files.front().name + ": the " + what + " is empty: expected at least one question" +
                (records.notes.empty() ? "" : " (" + records.notes.front() + ")"));
  return records;
}

std::optional<Records> SquadReader::read_questions(const InputText& file) const {
  Collector collector(Sight::questions);
  collector.take(file);
  return collector.records(false);
}

std::string SquadReader::write_answers(const InputText& file, const Records& answers) const {
  Collector collector(Sight::questions);
  collector.take(file);
  const Records questions = collector.records(false);
  const Records::Texts& ids = questions.texts("id");
  std::string text = "{";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::vector<TextSpan>& spans = answers.spans("answers")[i];
    text +=
        (i > 0 ? ",\n " : "\n ") + dumped(ids[i]) + ": " + dumped(spans.empty() ? "" : spans.front().text);
  }
  return text + (ids.empty() ? "}\n" : "\n}\n");
}

}  // namespace encore::squad
