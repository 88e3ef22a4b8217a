// SPDX-License-Identifier: BSD-3-Clause
// The changes of mutator.hpp to bytes, words, numbers and trees of JSON. The targets call them through
// Target::mutate. A case is repeated by its number alone, so equal seeds must make equal changes.
#include "fuzz/mutator.hpp"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

namespace encore::fuzz {

namespace {

constexpr std::size_t longest_input = 1u << 16;

const Words& edge_numbers() {
  static const Words list = {"-1",
                             "0",
                             "1",
                             "255",
                             "65536",
                             "2147483648",
                             "9223372036854775807",
                             "-9223372036854775808",
                             "18446744073709551616",
                             "1e308",
                             "1e999",
                             "-1e-320",
                             "nan",
                             "-inf",
                             "0.1",
                             "007",
                             "1_000",
                             "0x7f"};
  return list;
}

std::size_t piece_length(std::size_t available, Random& random) {
  return std::min(available, random.below(random.once_in(8) ? 400 : 12));
}

void replace_number(std::string& input, Random& random) {
  const auto is_digit = [](char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; };
  const std::size_t from = random.below(input.size());
  const auto begin = std::find_if(input.begin() + static_cast<std::ptrdiff_t>(from), input.end(), is_digit);
  const auto end = std::find_if_not(begin, input.end(), is_digit);
  const auto at = static_cast<std::size_t>(begin - input.begin());
  input.replace(at, static_cast<std::size_t>(end - begin), random.any_of(edge_numbers()));
}

void change_once(std::string& input, const Words& words, const std::vector<std::string>& others,
                 Random& random) {
  if (input.empty()) input = "\n";
  const std::size_t at = random.below(input.size());
  const std::size_t length = piece_length(input.size() - at, random);
  switch (random.below(10)) {
    case 0:
      input[at] = static_cast<char>(input[at] ^ (1 << random.below(8)));
      break;
    case 1:
      input[at] = static_cast<char>(random.word());
      break;
    case 2:
      input.erase(at, length);
      break;
    case 3:
      input.insert(random.below(input.size()), input.substr(at, length));
      break;
    case 4:
      for (std::size_t times = 1 + random.below(40); times > 0; --times)
        input.insert(at, input.substr(at, length));
      break;
    case 5:
      replace_number(input, random);
      break;
    case 6:
      input.insert(at, random.any_of(words));
      break;
    case 7:
      input.replace(at, length, random.any_of(words));
      break;
    case 8:
      if (random.once_in(4)) input.resize(at);
      break;
    default: {
      const std::string& other = random.any_of(others);
      if (other.empty()) break;
      const std::size_t from = random.below(other.size());
      input.insert(at, other.substr(from, piece_length(other.size() - from, random)));
    }
  }
  if (input.size() > longest_input) input.resize(longest_input);
}

using Json = nlohmann::json;

void collect(Json& value, std::vector<Json*>& all) {
  all.push_back(&value);
  if (value.is_structured())
    for (Json& inner : value) collect(inner, all);
}

void change_value(Json& json, Random& random) {
  std::vector<Json*> all;
  collect(json, all);
  Json& place = *random.any_of(all);
  switch (random.below(4)) {
    case 0:
      place = Json(*random.any_of(all));  // a copy first, which may contain the place
      break;
    case 1:
      if (place.is_object() && !place.empty())
        place.erase(std::next(place.begin(), static_cast<std::ptrdiff_t>(random.below(place.size()))));
      else if (place.is_array() && !place.empty())
        place.erase(random.below(place.size()));
      break;
    case 2:
      if (place.is_string()) {
        std::string text = place.get<std::string>();
        mutate_bytes(text, json_words(), json_words(), random);
        place = text;
        break;
      }
      [[fallthrough]];
    default:
      place = Json::parse(random.any_of(json_words()));
  }
}

}  // namespace

const Words& json_words() {
  static const Words list = {"null",
                             "true",
                             "false",
                             "-1",
                             "0",
                             "3",
                             "0.5",
                             "1e308",
                             "-9223372036854775808",
                             "9223372036854775807",
                             "18446744073709551615",
                             "1e-320",
                             "\"\"",
                             "\"text\"",
                             "\"NaN\"",
                             "\"<script>\"",
                             "\"../../etc\"",
                             "\"a\\nb\\u0000c\\u001b[31m\"",
                             "\"\\ud83d\\ude00 \\u202e\"",
                             "[]",
                             "{}",
                             "[[]]",
                             "{\"\":{}}",
                             "[null,null]",
                             "{\"type\":\"started\"}"};
  return list;
}

void mutate_bytes(std::string& input, const Words& words, const std::vector<std::string>& others,
                  Random& random) {
  for (std::size_t changes = 1 + random.below(8); changes > 0; --changes)
    change_once(input, words, others, random);
}

void mutate_json(std::string& text, Random& random) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || random.once_in(4)) {
    mutate_bytes(text, json_words(), json_words(), random);
    return;
  }
  for (std::size_t changes = 1 + random.below(4); changes > 0; --changes) change_value(json, random);
  text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace encore::fuzz
