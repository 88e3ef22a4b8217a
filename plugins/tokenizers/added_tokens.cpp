// SPDX-License-Identifier: BSD-3-Clause
// AddedTokens: finds added tokens in a text. byte_bpe.cpp, unigram.cpp and wordpiece.cpp call it. The rules
// of a match are those of `find_matches` in added_vocabulary.rs of `tokenizers` 0.23; compare with it before
// a change. Read added_tokens.hpp first.
#include "added_tokens.hpp"

#include <utf8proc.h>

#include <unordered_set>
#include <utility>

#include "code_points.hpp"

namespace encore::tokenizers {
namespace {

struct Flag {
  const char* name;
  bool AddedToken::*member;
};
constexpr Flag flags[] = {{"lstrip", &AddedToken::lstrip},           {"rstrip", &AddedToken::rstrip},
                          {"single_word", &AddedToken::single_word}, {"normalized", &AddedToken::normalized},
                          {"special", &AddedToken::special},         {"outside", &AddedToken::outside}};
constexpr std::string_view no_flag = "plain";

/// Returns whether \w of the Rust package `regex` matches: letters, marks, digits, connectors and joiners.
bool is_of_word(std::int32_t c) {
  if (c < 0) return false;
  if (c == 0x200C || c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
      (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189))
    return true;
  const utf8proc_category_t category = utf8proc_category(c);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) ||
         category == UTF8PROC_CATEGORY_PC;
}

/// Returns the position of the last character of a text that is not empty.
std::size_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

bool begins_with_word(std::string_view text) {
  return !text.empty() && is_of_word(first_code_point(text).value);
}

bool ends_with_word(std::string_view text) {
  return !text.empty() && is_of_word(first_code_point(text.substr(last_character(text))).value);
}

/// Returns the position of the white space at the end of a text.
std::size_t space_at_end(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    const std::size_t at = last_character(text.substr(0, begin));
    if (!is_white_space(first_code_point(text.substr(at)).value)) break;
    begin = at;
  }
  return begin;
}

/// Returns the number of bytes of white space at the beginning of a text.
std::size_t space_at_begin(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const CodePoint c = first_code_point(text.substr(end));
    if (!is_white_space(c.value)) break;
    end += c.bytes;
  }
  return end;
}

[[noreturn]] void refuse(const std::string& entry, const std::string& problem) {
  throw OptionError(
      AddedTokens::option_name,
      "\"" + entry + "\" " + problem +
          ": expected flags (plain, or some of lstrip, rstrip, single_word, normalized, "
          "special and outside with commas between them), a blank and the token, such as \"plain [E9]\"");
}

AddedToken token_of(const std::string& entry) {
  const std::size_t blank = entry.find(' ');
  if (blank == std::string::npos || blank + 1 == entry.size()) refuse(entry, "lacks a token behind a blank");
  AddedToken token = {.content = entry.substr(blank + 1)};
  std::string_view names = std::string_view(entry).substr(0, blank);
  if (names == no_flag) return token;
  while (true) {
    const std::size_t comma = std::min(names.find(','), names.size());
    const std::string_view name = names.substr(0, comma);
    const auto* flag = std::ranges::find_if(flags, [&](const Flag& known) { return known.name == name; });
    if (flag == std::end(flags)) refuse(entry, "has the unknown flag \"" + std::string(name) + "\"");
    token.*flag->member = true;
    if (comma == names.size()) return token;
    names.remove_prefix(comma + 1);
  }
}

}  // namespace

void TokenFinder::add(std::string pattern, const AddedToken& token) {
  if (pattern.empty() || patterns_.longest_prefix(pattern).length == pattern.size()) return;
  const auto first = static_cast<unsigned char>(pattern.front());
  if (!begins_[first]) first_bytes_ += pattern.front();
  begins_[first] = true;
  patterns_.add(pattern, static_cast<std::int32_t>(tokens_.size()));
  tokens_.push_back(&token);
}

bool TokenFinder::next(std::string_view text, std::size_t& from, std::size_t free, Match& match) const {
  while (!tokens_.empty()) {
    if (first_bytes_.size() == 1)
      from = text.find(first_bytes_.front(), from);
    else
      while (from < text.size() && !begins_[static_cast<unsigned char>(text[from])]) ++from;
    if (from >= text.size()) return false;
    const wordpiece::TokenTrie::Match found = patterns_.longest_prefix(text.substr(from));
    if (found.token == wordpiece::TokenTrie::no_token) {
      ++from;
      continue;
    }
    const std::size_t first = from;
    std::size_t begin = from, end = from + found.length;
    from = end;
    const AddedToken& token = *tokens_[static_cast<std::size_t>(found.token)];
    if (token.single_word && (ends_with_word(text.substr(0, begin)) || begins_with_word(text.substr(end))))
      continue;
    if (token.lstrip) begin = begin > free ? free + space_at_end(text.substr(free, begin - free)) : free;
    // Up to `free` there is white space that belongs to the previous token. It is skipped at once, not
    // searched again for each token.
    if (token.rstrip) end = end < free ? free : end + space_at_begin(text.substr(end));
    match = {.begin = begin, .end = end, .first = first, .behind = from, .token = &token};
    return true;
  }
  return false;
}

Schema& AddedTokens::add_option(Schema& schema) {
  return schema.text_list(
      option_name, {},
      {.help = "tokens that are found in a text exactly as written, before the text is split; each must "
               "be in the vocabulary. An entry is `FLAGS TOKEN`, with commas between the flags, "
               "such as `plain [E9]` or `lstrip,special <mask>`. Flags: plain (none), or some of lstrip "
               "and rstrip (white space before or after the token belongs to it), single_word (no letter "
               "or digit is beside it), normalized (search the normalized text; byte_bpe normalizes "
               "nothing and only searches these tokens after the others, and unigram does not search "
               "them), special (omit it in generated text) and outside (the token is found only as an "
               "added token; splitting a word never gives it)"});
}

AddedTokens::AddedTokens(const Options& options) {
  if (!options.has(option_name)) return;
  std::unordered_set<std::string> named;
  for (const std::string& entry : options.text_list(option_name)) {
    AddedToken token = token_of(entry);
    if (token.content.size() > longest_token)
      throw OptionError(option_name, "a token has " + std::to_string(token.content.size()) +
                                         " bytes: expected at most " + std::to_string(longest_token));
    if (!named.insert(token.content).second) refuse(entry, "names a token that another entry names");
    given_.push_back(std::move(token));
  }
}

bool AddedTokens::names(std::string_view content) const {
  return std::ranges::find(given_, content, &AddedToken::content) != given_.end();
}

void AddedTokens::number(const TokenTable& table, const std::vector<AddedToken>& own) {
  tokens_.clear();
  for (const AddedToken& token : own)
    if (!names(token.content) && table.find(token.content) != TokenTable::no_token) tokens_.push_back(token);
  tokens_.insert(tokens_.end(), given_.begin(), given_.end());
  std::ranges::stable_partition(tokens_, &AddedToken::special);
  places_.clear();
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    AddedToken& token = tokens_[i];
    token.number = table.find(token.content);
    if (token.number == TokenTable::no_token)
      throw Error("added_tokens names \"" + token.content + "\", which is not in the vocabulary");
    places_.emplace(token.number, i);
  }
}

const AddedToken* AddedTokens::find(std::int32_t number) const {
  const auto found = places_.find(number);
  return found == places_.end() ? nullptr : &tokens_[found->second];
}

}  // namespace encore::tokenizers
