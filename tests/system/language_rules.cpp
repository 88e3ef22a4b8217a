// SPDX-License-Identifier: BSD-3-Clause
// The table of retired words and the checks of language_rules.hpp. A phrase is a list of words; the words
// around it decide whether it is meant, so that "there is no X" stays while "X is no Y" is found.
#include "system/language_rules.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

namespace encore::testing {
namespace {

using Words = std::vector<std::string>;

/// One retired phrase. Each word is a list of spellings, separated by '|'.
struct Retired {
  std::string kind;
  Words phrase;
  std::string advice;
  std::string not_after = {};   ///< words that make it plain English if they stand before it
  std::string not_before = {};  ///< the same behind it
};

const std::vector<Retired>& retired() {
  static const std::vector<Retired> table = {
      {.kind = "texts", .phrase = {"texts"}, .advice = "text in the singular, or input, example, sequence"},
      {.kind = "tell",
       .phrase = {"tell|tells|told|telling"},
       .advice = "report, record, log, print or pass; \"tell apart\" is distinguish"},
      {.kind = "nobody", .phrase = {"nobody"}, .advice = "name the actor: no caller, no user, no process"},
      {.kind = "go on",
       .phrase = {"go|goes|gone|going|went", "on"},
       .advice = "resume a run, continue a loop, keep training",
       .not_before = "a the its disk standard"},
      {.kind = "so many",
       .phrase = {"so", "many|much|long|often|few"},
       .advice = "give the number a name: at most N, after N steps, SECONDS",
       .not_after = "not nor",
       .not_before = "that as"},
      {.kind = "anew", .phrase = {"anew"}, .advice = "again, from scratch, start over"},
      {.kind = "whoever", .phrase = {"whoever|whomever"}, .advice = "the caller, the user, any program that"},
      {.kind = "piece",
       .phrase = {"piece|pieces"},
       .advice = "token for what a tokenizer makes; part, chunk or segment else"},
      {.kind = "what has that name",
       .phrase = {"what|who|which", "has|have", "that|this|the", "name|names"},
       .advice = "the tests whose name contains NAME"},
      {.kind = "is none of",
       .phrase = {"is|are|was", "none", "of"},
       .advice = "invalid X: expected A, B or C",
       .not_after = "there"},
      {.kind = "is none",
       .phrase = {"is|are|was|were", "none"},
       .advice = "invalid X: expected Y; is missing; does not exist",
       .not_after = "there",
       .not_before = "of"},
      {.kind = "is no",
       .phrase = {"is|are|was|were", "no"},
       .advice = "is not a Y; in a message: invalid X: expected Y",
       .not_after = "there here",
       .not_before = "longer more less fewer better worse different larger greater smaller higher lower"},
      {.kind = "law", .phrase = {"law|laws"}, .advice = "distribution"},
      {.kind = "glance", .phrase = {"glance|glances"}, .advice = "check, look, summary"}};
  return table;
}

bool is_in(std::string_view list, std::string_view word, char separator) {
  while (!word.empty() && !list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool stands_at(const Retired& rule, const std::vector<ProseWord>& words, std::size_t at) {
  if (at + rule.phrase.size() > words.size()) return false;
  for (std::size_t i = 0; i < rule.phrase.size(); ++i) {
    const ProseWord& word = words[at + i];
    if (!is_in(rule.phrase[i], word.text, '|')) return false;
    if (i + 1 < rule.phrase.size() && (word.ends || word.pauses)) return false;
  }
  if (at > 0 && is_in(rule.not_after, words[at - 1].text, ' ')) return false;
  const std::size_t behind = at + rule.phrase.size();
  return behind >= words.size() || words[behind - 1].ends || words[behind - 1].pauses ||
         !is_in(rule.not_before, words[behind].text, ' ');
}

constexpr const char* prepositions =
    "of by in on for from with after before at to between within without under over per through into like "
    "beside beyond above below behind against among across around during except inside near outside since "
    "until";
constexpr const char* half_advice = "write a sentence: subject, verb, object; say what the thing is";
constexpr std::size_t longest_half_sentence = 14;  // words; longer ones need a reader to judge

/// Verbs of the tree's comments, without their endings. A word that can be a noun counts as a verb unless a
/// determiner or a preposition stands before it.
bool is_verb(const std::string& word, const std::string& before) {
  static const std::set<std::string> auxiliaries = {"is",     "are",   "was",    "were",  "be",    "been",
                                                    "has",    "have",  "had",    "do",    "does",  "did",
                                                    "can",    "may",   "must",   "will",  "would", "could",
                                                    "should", "might", "cannot", "isn't", "don't", "doesn't"};
  static const std::set<std::string> stems = {
      "accept",  "add",    "agree", "answer", "ask",     "become",  "began",  "begin",  "bring",  "call",
      "change",  "check",  "come",  "comes",  "compare", "contain", "copy",   "cost",   "count",  "decide",
      "depend",  "differ", "draw",  "drop",   "end",     "expect",  "fail",   "fall",   "fill",   "find",
      "fit",     "follow", "get",   "give",   "go",      "goes",    "grow",   "happen", "hold",   "ignore",
      "include", "keep",   "know",  "lack",   "last",    "leave",   "lie",    "load",   "look",   "lose",
      "make",    "match",  "mean",  "meet",   "name",    "need",    "open",   "own",    "pass",   "place",
      "point",   "print",  "put",   "read",   "receive", "refer",   "reject", "remain", "report", "return",
      "run",     "save",   "say",   "see",    "send",    "show",    "sit",    "sleep",  "spend",  "stand",
      "start",   "stay",   "stop",  "store",  "sum",     "take",    "taken",  "throw",  "train",  "try",
      "turn",    "use",    "wait",  "want",   "win",     "work",    "write",  "yield"};
  static const std::string no_verb_after =
      "the a an its their each every all any no of by in on for from with at this these that's one two "
      "three some other same first last own";
  if (auxiliaries.contains(word)) return true;
  if (is_in(no_verb_after, before, ' ')) return false;
  if (stems.contains(word)) return true;
  for (const std::string ending : {"s", "es", "d", "ed"})
    if (word.ends_with(ending) && stems.contains(word.substr(0, word.size() - ending.size()))) return true;
  return false;
}

/// Whether a comment begins with half a sentence: a phrase such as "Of each loss." without a verb, or a lone
/// subordinate clause such as "Where everything lies."
bool is_half_sentence(const std::vector<ProseWord>& words) {
  if (words.empty() || !words.front().is_capital) return false;
  const auto end = std::ranges::find_if(words, [](const ProseWord& word) { return word.ends; });
  if (end == words.end()) return false;
  const auto length = static_cast<std::size_t>(end - words.begin()) + 1;
  if (length > longest_half_sentence) return false;
  const std::string& first = words.front().text;
  const bool is_clause = first == "where" || first == "as";
  if (!is_clause && !is_in(prepositions, first, ' ')) return false;
  if (is_clause && std::any_of(words.begin(), end, [](const ProseWord& word) { return word.pauses; }))
    return false;
  if (first == "to" && length > 1 && !is_in("the a an its all", words[1].text, ' ')) return false;
  int verbs = 0;
  for (std::size_t i = 1; i < length; ++i) verbs += is_verb(words[i].text, words[i - 1].text) ? 1 : 0;
  return verbs <= (is_clause ? 1 : 0);
}

/// Whether the first comment of a file has a sentence beyond signs such as "See x.hpp."
bool has_head(const std::vector<Passage>& passages, std::string_view content) {
  if (passages.empty() || passages.front().kind == Passage::Kind::page) return false;
  const std::size_t begin = content.find_first_not_of(" \n");
  int first_line =
      1 + static_cast<int>(std::ranges::count(content.substr(0, std::min(begin, content.size())), '\n'));
  auto head = passages.begin();
  if (content.starts_with("#!")) {  // "#!/usr/bin/env bash" is joined to the comment below it
    if (head->kind == Passage::Kind::comment && head->text.find('\n') == std::string::npos) ++head;
    first_line += 3;
  }
  if (head == passages.end() || head->line > first_line) return false;
  std::size_t words_of_sentence = 0, longest = 0;
  bool is_sign = false;
  for (const ProseWord& word : words_of(*head)) {
    if (words_of_sentence++ == 0) is_sign = word.text == "see";
    if (!is_sign) longest = std::max(longest, words_of_sentence);
    if (word.ends) words_of_sentence = 0;
  }
  return longest >= 4;
}

/// Whether a name of a test, split into words by the scanner, begins in lower case.
bool is_snake_case(const std::string& name) {
  const std::size_t first = name.find_first_not_of(' ');
  return first != std::string::npos && std::islower(static_cast<unsigned char>(name[first])) != 0;
}

bool wants_head(const std::string& file) {
  for (const char* extension : {".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".cmake", ".sql"})
    if (file.ends_with(extension)) return true;
  return false;
}

constexpr std::string_view license = "SPDX-License-Identifier: BSD-3-Clause\n";

/// Whether a file names the license in its first lines. What users copy is theirs, and the text of the schema
/// is compared letter by letter.
bool wants_license(const std::string& file) {
  if (file.starts_with("plugins/template/") || file.ends_with(".sql")) return false;
  return wants_head(file) || file.ends_with("CMakeLists.txt") || file == "exp";
}

/// Blanks the line with the license, which is not a sentence of the head.
std::string without_license(std::string_view content) {
  std::string text(content);
  const std::size_t at = text.find(license);
  if (at == std::string::npos) return text;
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.erase(begin, at + license.size() - 1 - begin);
}

std::string spelled(const std::vector<ProseWord>& words, std::size_t at, std::size_t count) {
  std::string text;
  for (std::size_t i = at; i < at + count; ++i) text += (text.empty() ? "" : " ") + words[i].text;
  return text;
}

}  // namespace

std::vector<Finding> findings_in_prose(const std::string& file, std::string_view source) {
  std::vector<Finding> findings;
  const std::string content = without_license(source);
  const std::vector<Passage> passages = prose_of(file, content);
  for (const Passage& passage : passages) {
    const std::vector<ProseWord> words = words_of(passage);
    for (std::size_t at = 0; at < words.size(); ++at)
      for (const Retired& rule : retired())
        if (stands_at(rule, words, at))
          findings.push_back(
              {rule.kind, words[at].line, spelled(words, at, rule.phrase.size()), rule.advice});
    if (passage.kind == Passage::Kind::comment && is_half_sentence(words))
      findings.push_back({"half sentence", passage.line,
                          spelled(words, 0, std::min<std::size_t>(words.size(), 6)), half_advice});
    if (passage.kind == Passage::Kind::test_name && is_snake_case(passage.text))
      findings.push_back({"test name", passage.line, spelled(words, 0, words.size()),
                          "a sentence in PascalCase: RejectsATornFrame"});
  }
  if (wants_head(file) && !has_head(passages, content))
    findings.push_back({"head", 1, "no sentence at the head of the file",
                        "say what the file is, where it stands in the flow, what to read next"});
  if (wants_license(file) && content == source)
    findings.push_back({"license", 1, "no line with the license",
                        "begin with SPDX-License-Identifier: BSD-3-Clause in a comment"});
  return findings;
}

std::vector<Finding> length_findings(std::string_view page) {
  constexpr std::ptrdiff_t limit = 120;
  constexpr int longest_page = 250;
  std::vector<Finding> findings;
  std::istringstream lines{std::string(page)};
  std::string line;
  int number = 1;
  for (; std::getline(lines, line); ++number) {
    const auto length = std::ranges::count_if(line, [](char byte) { return (byte & 0xC0) != 0x80; });
    if (length > limit && !line.starts_with('|'))
      findings.push_back({"long line", number, std::to_string(length) + " characters",
                          "break it behind a clause, at 120 characters or before"});
  }
  if (number - 1 > longest_page)
    findings.push_back({"long page", longest_page + 1, std::to_string(number - 1) + " lines",
                        "at most 250 lines: move a part to a page of its own"});
  return findings;
}

std::vector<std::string> kinds_of_findings() {
  std::vector<std::string> kinds;
  for (const Retired& rule : retired()) kinds.push_back(rule.kind);
  for (const char* kind :
       {"half sentence", "head", "license", "test name", "long line", "long page", "dead file"})
    kinds.emplace_back(kind);
  return kinds;
}

}  // namespace encore::testing
