// SPDX-License-Identifier: BSD-3-Clause
// Implements RequiredTokens: matches the tokens of the forms against the end of an output, token by token.
// beam_search.cpp calls it for each continuation. Read required_tokens.hpp first.
#include "infer/required_tokens.hpp"

#include <algorithm>
#include <string>

namespace encore::infer {

RequiredTokens::RequiredTokens(const Tokenizer& tokenizer, const std::vector<RequiredText>& texts)
    : tokenizer_(tokenizer) {
  const std::int32_t unknown = tokenizer.special(Special::unknown);
  for (const RequiredText& required : texts) {
    Text text{.forms = {}, .times = required.times};
    for (const std::string& form : required.forms) {
      std::vector<std::int32_t> tokens;
      tokenizer.encode(form, tokens);
      if (tokens.empty() || std::ranges::find(tokens, unknown) != tokens.end()) continue;
      const auto count = static_cast<std::int64_t>(tokens.size());
      text.shortest = text.forms.empty() ? count : std::min(text.shortest, count);
      text.forms.push_back(std::move(tokens));
    }
    if (!text.forms.empty() && text.times > 0) texts_.push_back(std::move(text));
  }
}

RequiredTokens::Progress RequiredTokens::begin() const {
  Progress progress{.written = std::vector<std::int64_t>(texts_.size()), .open = {}};
  progress.missing = missing_in(progress);
  return progress;
}

bool RequiredTokens::is_glued(std::span<const std::int32_t> tokens, std::int32_t next) const {
  if (tokens.empty()) return false;
  std::vector<std::int32_t> all(tokens.begin(), tokens.end());
  const std::size_t before = tokenizer_.decode(all).size();
  all.push_back(next);
  return is_inside_word(tokenizer_.decode(all), before);
}

RequiredTokens::Progress RequiredTokens::after(const Progress& before, std::span<const std::int32_t> tokens,
                                               std::int32_t next) const {
  Progress progress{.written = before.written, .open = {}};
  const auto begins = [&](const std::vector<std::int32_t>& form) { return form.front() == next; };
  const bool has_complete = std::ranges::any_of(before.open, [&](const Match& match) {
    return match.tokens == texts_[match.text].forms[match.form].size();
  });
  const bool may_begin =
      std::ranges::any_of(texts_, [&](const Text& text) { return std::ranges::any_of(text.forms, begins); });
  const bool glued = (has_complete || may_begin) && is_glued(tokens, next);
  std::vector<bool> counted(texts_.size());
  for (const Match& match : before.open) {
    const std::vector<std::int32_t>& form = texts_[match.text].forms[match.form];
    if (match.tokens < form.size()) {
      if (form[match.tokens] == next) progress.open.push_back({match.text, match.form, match.tokens + 1});
    } else if (!glued && !counted[match.text]) {
      ++progress.written[match.text];
      counted[match.text] = true;  // two forms that end at one token are one occurrence
    }
  }
  if (may_begin && !glued)
    for (std::size_t text = 0; text < texts_.size(); ++text)
      for (std::size_t form = 0; form < texts_[text].forms.size(); ++form)
        if (begins(texts_[text].forms[form])) progress.open.push_back({text, form, 1});
  progress.missing = missing_in(progress);
  return progress;
}

// Several strings may have an open match, such as two with one first token. The next token may continue only
// one of them, so only the largest saving counts; then one of the wanted tokens always makes the sum smaller.
std::int64_t RequiredTokens::missing_in(const Progress& progress) const {
  std::int64_t sum = 0, saved = 0;
  for (std::size_t text = 0; text < texts_.size(); ++text) {
    std::int64_t times = texts_[text].times - progress.written[text];
    if (times <= 0) continue;
    const auto complete = [&](const Match& match) {
      return match.text == text && match.tokens == texts_[text].forms[match.form].size();
    };
    if (std::ranges::any_of(progress.open, complete) && --times == 0) continue;
    sum += times * texts_[text].shortest;
    for (const Match& match : progress.open) {
      if (match.text != text || complete(match)) continue;
      const std::size_t rest = texts_[text].forms[match.form].size() - match.tokens;
      saved = std::max(saved, texts_[text].shortest - static_cast<std::int64_t>(rest));
    }
  }
  return sum - saved;
}

std::vector<std::int32_t> RequiredTokens::wanted(const Progress& progress) const {
  std::vector<std::int32_t> tokens;
  for (std::size_t text = 0; text < texts_.size(); ++text) {
    if (progress.written[text] >= texts_[text].times) continue;
    for (const std::vector<std::int32_t>& form : texts_[text].forms) tokens.push_back(form.front());
  }
  for (const Match& match : progress.open) {
    const std::vector<std::int32_t>& form = texts_[match.text].forms[match.form];
    if (match.tokens < form.size() && progress.written[match.text] < texts_[match.text].times)
      tokens.push_back(form[match.tokens]);
  }
  std::ranges::sort(tokens);
  const auto repeated = std::ranges::unique(tokens);
  tokens.erase(repeated.begin(), repeated.end());
  return tokens;
}

}  // namespace encore::infer
