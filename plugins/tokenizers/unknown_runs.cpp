// SPDX-License-Identifier: BSD-3-Clause
// without_long_unknown_runs(): examines runs in windows. A window is left out if it and its neighbours are
// one unknown token each. unigram.cpp calls it; read unknown_runs.hpp first. The tokens must be those of the
// whole text.
#include "unknown_runs.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>

#include "code_points.hpp"

namespace encore::unigram {
namespace {

/// The characters of a window. The time of the library grows with the square of their number.
constexpr std::size_t window = 256;

using IsOneUnknown = std::function<bool(const std::string& text)>;

/// Decides which characters may belong to a run. The model may drop a single character or make it a blank, so
/// each is tried between others that are unknown.
class Characters {
 public:
  explicit Characters(const IsOneUnknown& is_one_unknown) : is_one_unknown_(is_one_unknown) {}

  bool begins_run(std::int32_t value, std::string_view character) {
    return known(begins_, value, [&] { return std::string(character) + std::string(character); });
  }
  bool continues_run(std::int32_t value, std::string_view character, std::string_view first) {
    return known(continues_, value,
                 [&] { return std::string(first) + std::string(character) + std::string(first); });
  }

 private:
  using Answers = std::unordered_map<std::int32_t, bool>;

  template <class Text>
  bool known(Answers& answers, std::int32_t value, const Text& text) {
    const auto [answer, is_new] = answers.emplace(value, false);
    if (is_new) answer->second = is_one_unknown_(text());
    return answer->second;
  }

  const IsOneUnknown& is_one_unknown_;
  Answers begins_, continues_;
};

/// Appends a run whose characters begin at `places`; the last element is its end.
void append_run(std::string_view text, const std::vector<std::size_t>& places,
                const IsOneUnknown& is_one_unknown, ShortText& result) {
  const std::size_t windows = (places.size() - 1) / window;
  if (windows < 3) {
    result.text += text.substr(places.front(), places.back() - places.front());
    return;
  }
  const auto part = [&](std::size_t i) {
    const std::size_t end = i + 1 == windows ? places.size() - 1 : (i + 1) * window;
    return text.substr(places[i * window], places[end] - places[i * window]);
  };
  std::vector<bool> is_unknown(windows);
  for (std::size_t i = 0; i < windows; ++i) is_unknown[i] = is_one_unknown(std::string(part(i)));
  for (std::size_t i = 0; i < windows; ++i) {
    const bool is_inside = i > 0 && i + 1 < windows;
    if (!is_inside || !is_unknown[i - 1] || !is_unknown[i] || !is_unknown[i + 1]) {
      result.text += part(i);
      continue;
    }
    const std::size_t before = result.gaps.empty() ? 0 : result.gaps.back().missing;
    result.gaps.push_back({.place = result.text.size(), .missing = before + part(i).size()});
  }
}

}  // namespace

ByteRange ShortText::whole(ByteRange range) const {
  // A gap lies inside its token, which begins before it and ends after it.
  const auto missing = [&](std::size_t place) {
    const auto behind = std::ranges::lower_bound(gaps, place, {}, &Gap::place);
    return behind == gaps.begin() ? 0 : std::prev(behind)->missing;
  };
  return {range.begin + missing(range.begin), range.end + missing(range.end)};
}

ShortText without_long_unknown_runs(std::string_view text, const IsOneUnknown& is_one_unknown) {
  ShortText result;
  Characters characters(is_one_unknown);
  std::vector<std::size_t> places;  // positions of the characters of the current run
  std::string_view first;           // its first character
  const auto end_run = [&](std::size_t end) {
    if (places.empty()) return;
    places.push_back(end);
    append_run(text, places, is_one_unknown, result);
    places.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const tokenizers::CodePoint c = tokenizers::first_code_point(text.substr(at));
    const std::string_view character = text.substr(at, c.bytes);
    if (!places.empty() && !characters.continues_run(c.value, character, first)) end_run(at);
    if (!places.empty() || characters.begins_run(c.value, character)) {
      if (places.empty()) first = character;
      places.push_back(at);
    } else {
      result.text += character;
    }
    at += c.bytes;
  }
  end_run(text.size());
  return result;
}

}  // namespace encore::unigram
