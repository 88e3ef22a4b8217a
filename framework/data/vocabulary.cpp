// SPDX-License-Identifier: BSD-3-Clause
// Reads a vocabulary file (load_vocabulary): recognizes its format and returns its tokens in order. A token's
// number is its position, and trained weights depend on it, so the order of every format stays. Read
// vocabulary.hpp first.
#include "data/vocabulary.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include <encore/base64.hpp>
#include <encore/error.hpp>
#include <encore/lines.hpp>

#include "base/json_text.hpp"
#include "base/load_file.hpp"
#include "base/utf8.hpp"

namespace encore::data {

namespace {

/// Collects the tokens by their numbers, which must be 0, 1, 2 and so on.
class NumberedTokens {
 public:
  explicit NumberedTokens(const std::filesystem::path& path) : path_(path) {}

  void add(const std::string& token, const nlohmann::json& number) {
    if (!number.is_number_integer() || number < 0)
      throw Error(path_.string() + ": the number of the token \"" + token + "\" is " + number.dump() +
                  "; it must be an integer from 0 on");
    const auto [known, inserted] = tokens_.emplace(number.get<std::uint64_t>(), token);
    if (!inserted && known->second != token)
      throw Error(path_.string() + ": the tokens \"" + known->second + "\" and \"" + token +
                  "\" have one number, " + number.dump());
  }

  std::vector<std::string> take() const {
    std::vector<std::string> list;
    for (const auto& [number, token] : tokens_) {
      if (number != list.size())
        throw Error(path_.string() + ": no token has the number " + std::to_string(list.size()) +
                    ", and every number below " + std::to_string(tokens_.size()) +
                    " must be that of one token");
      list.push_back(token);
    }
    return list;
  }

 private:
  const std::filesystem::path& path_;
  std::map<std::uint64_t, std::string> tokens_;
};

/// Reads the merges of a tokenizer.json: "Ġt he", or since version 0.20 of the package ["Ġt", "he"].
std::vector<std::string> merges_in(const nlohmann::json& list, const std::filesystem::path& path) {
  std::vector<std::string> merges;
  for (const nlohmann::json& merge : list) {
    const bool is_pair =
        merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    if (!is_pair && !merge.is_string())
      throw Error(path.string() + ": merge " + std::to_string(merges.size() + 1) +
                  " is neither a text nor two of them");
    merges.push_back(is_pair ? merge[0].get<std::string>() + " " + merge[1].get<std::string>()
                             : merge.get<std::string>());
  }
  return merges;
}

/// Returns the lines of a merges.txt below its header.
std::vector<std::string> load_merges(const std::filesystem::path& path) {
  const std::string bytes = load_text(path, "list of merges");
  std::vector<std::string> merges;
  for (Lines lines(without_byte_order_mark(bytes)); lines.next();)
    if (!lines.line().empty() && !(lines.number() == 1 && lines.line().starts_with("#version")))
      merges.emplace_back(lines.line());
  return merges;
}

void append_merges(std::vector<std::string>& lines, const std::vector<std::string>& merges) {
  lines.emplace_back(merges_header);
  lines.insert(lines.end(), merges.begin(), merges.end());
}

std::string load_sentencepiece(const std::filesystem::path& path) {
  return load_file(path, "SentencePiece model");
}

std::string sentencepiece_line(const char* name, std::string_view model) {
  return std::string(name) + " " + to_base64(model);
}

bool is_there(const std::filesystem::path& path) {
  std::error_code failure;
  return std::filesystem::exists(path, failure);
}

/// Reads vocab.json, which numbers the tokens, with the files beside it that say how a text is cut.
std::vector<std::string> lines_of_vocab_json(const std::filesystem::path& path, const nlohmann::json& json) {
  NumberedTokens tokens(path);
  for (const auto& [token, number] : json.items()) tokens.add(token, number);
  std::vector<std::string> lines = tokens.take();
  const std::filesystem::path folder = path.parent_path();
  if (files_beside_vocabulary(path).front() == merges_file) {
    append_merges(lines, load_merges(folder / merges_file));
    return lines;
  }
  lines.emplace_back(sentencepiece_header);
  lines.push_back(sentencepiece_line("source", load_sentencepiece(folder / source_model_file)));
  lines.push_back(sentencepiece_line("target", load_sentencepiece(folder / target_model_file)));
  return lines;
}

/// Reads an integer of a file, at least 0. Returns `otherwise` if the file or the member is missing.
std::int64_t count_in(const std::filesystem::path& path, const char* name, std::int64_t otherwise) {
  if (!is_there(path)) return otherwise;
  nlohmann::json json;
  const std::string text = load_text(path, "configuration");
  try {
    require_few_json_values(text);
    json = parse_json(text);
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
  const auto found = json.is_object() ? json.find(name) : json.end();
  if (found == json.end() || found->is_null()) return otherwise;
  constexpr std::int64_t most = 10'000'000;
  if (!found->is_number_integer() || *found < 0 || *found > most)
    throw Error(path.string() + ": " + name + " must be an integer from 0 to " + std::to_string(most) +
                ", found " + found->dump());
  return found->get<std::int64_t>();
}

/// The largest number of rows that a T5's table has after the tokens of its model. Published models have at
/// most 132, and models with added tokens have thousands.
constexpr std::int64_t most_rows_behind = 100'000;

/// Appends the rows that a T5's table has after the tokens of its model: its gaps, the first one last, and
/// unused rows up to the number that config.json gives.
void append_t5_tokens(const std::filesystem::path& folder, std::vector<std::string>& tokens) {
  const std::int64_t own = std::ssize(tokens), rows = count_in(folder / "config.json", "vocab_size", own);
  if (rows > own + most_rows_behind)
    throw Error((folder / "config.json").string() + ": vocab_size is " + std::to_string(rows) + ", and " +
                t5_model_file + " has " + std::to_string(own) + " tokens; at most " +
                std::to_string(most_rows_behind) + " rows behind them are expected");
  const std::int64_t gaps = count_in(folder / "tokenizer_config.json", extra_ids_name, 100);
  for (std::int64_t row = own; row < rows; ++row) {
    const std::int64_t gap = own + gaps - 1 - row;
    tokens.push_back(gap >= 0 ? gap_token_beginning + std::to_string(gap) + ">"
                              : "[unused" + std::to_string(-1 - gap) + "]");
  }
}

/// Reads a SentencePiece model, which numbers its tokens itself.
std::vector<std::string> lines_of_sentencepiece(const std::filesystem::path& path) {
  const std::string model = load_sentencepiece(path);
  std::vector<std::string> lines;
  try {
    lines = sentencepiece_tokens(model);
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
  if (path.filename() == t5_model_file) append_t5_tokens(path.parent_path(), lines);
  lines.emplace_back(sentencepiece_header);
  lines.push_back(sentencepiece_line("model", model));
  return lines;
}

/// Reads the tokenizer.json of the Python package tokenizers: the tokens in model.vocab, those that were
/// added, and the merges of a byte-pair encoding.
std::vector<std::string> lines_of_json(const std::filesystem::path& path, std::string_view text) {
  nlohmann::json json;
  try {
    require_few_json_values(text);
    json = parse_json(text);
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
  if (json.is_object() && !json.contains("model") && path.filename() == vocab_json_file)
    return lines_of_vocab_json(path, json);
  const nlohmann::json model = json.is_object() ? json.value("model", nlohmann::json()) : nlohmann::json();
  if (!model.is_object() || !model.contains("vocab") || !model.at("vocab").is_object())
    throw Error(path.string() + ": there is no object \"vocab\" in \"model\", which holds the tokens");
  NumberedTokens tokens(path);
  for (const auto& [token, number] : model.at("vocab").items()) tokens.add(token, number);
  if (const auto added = json.find("added_tokens"); added != json.end() && added->is_array())
    for (const nlohmann::json& token : *added)
      if (token.is_object() && token.contains("content") && token.at("content").is_string())
        tokens.add(token.at("content").get<std::string>(), token.value("id", nlohmann::json()));
  std::vector<std::string> lines = tokens.take();
  if (const auto merges = model.find("merges"); merges != model.end() && merges->is_array())
    append_merges(lines, merges_in(*merges, path));
  return lines;
}

/// The unknown tokens of BERT, RoBERTa and GPT-2.
constexpr std::string_view unknown_tokens[] = {"[UNK]", "<unk>", "<|endoftext|>"};

void require_unknown_token(const std::filesystem::path& path, bool has_it) {
  if (!has_it)
    throw Error(path.string() +
                ": the vocabulary has no [UNK]; add a line [UNK], the token for words it cannot build");
}

/// Reads lines of which each is a token. `before` is the number of lines of the file before them.
std::vector<std::string> lines_of_text(const std::filesystem::path& path, std::string_view text,
                                       std::size_t before) {
  std::vector<std::string> tokens;
  std::unordered_map<std::string_view, std::size_t> lines;
  const auto place = [&](std::size_t line) { return path.string() + ":" + std::to_string(line) + ": "; };
  for (Lines read(text); read.next();) {
    const std::string_view token = read.line();
    const std::size_t line = before + tokens.size() + 1;
    if (token.empty()) throw Error(place(line) + "an empty line in a vocabulary; every line is one token");
    const auto [first, inserted] = lines.emplace(token, line);
    if (!inserted)
      throw Error(place(line) + "the token \"" + std::string(token) + "\" stands twice, first in line " +
                  std::to_string(first->second));
    tokens.emplace_back(token);
  }
  require_unknown_token(path, std::ranges::any_of(unknown_tokens, [&](std::string_view token) {
                          return lines.contains(token);
                        }));
  return tokens;
}

}  // namespace

std::vector<std::string> load_vocabulary(const std::filesystem::path& path) {
  if (path.extension() == ".model" || path.extension() == ".spm") return lines_of_sentencepiece(path);
  const std::string bytes = load_text(path, "vocabulary");
  const std::string_view text = without_byte_order_mark(bytes);
  if (path.extension() == ".json") {
    std::vector<std::string> lines = lines_of_json(path, text);
    require_unknown_token(path, std::ranges::any_of(unknown_tokens, [&](std::string_view token) {
                            return std::ranges::find(lines, token) != lines.end();
                          }));
    return lines;
  }
  return lines_of_text(path, text, 0);
}

std::pair<std::vector<std::string>, std::vector<std::string>> load_two_vocabularies(
    const std::filesystem::path& path) {
  const std::string text = load_text(path, "vocabulary"), header = targets_header + std::string("\n");
  const std::size_t begin = text.starts_with(header) ? 0 : text.find("\n" + header) + 1;
  if (!text.starts_with(header) && begin == 0)
    throw Error(path.string() + ": the line \"" + targets_header +
                "\" is missing, behind which the tokens of targets are expected");
  const std::string_view sources = std::string_view(text).substr(0, begin),
                         targets = std::string_view(text).substr(begin + header.size());
  const auto lines = static_cast<std::size_t>(std::ranges::count(sources, '\n'));
  return {lines_of_text(path, sources, 0), lines_of_text(path, targets, lines + 1)};
}

std::vector<std::string> files_beside_vocabulary(const std::filesystem::path& path) {
  if (path.filename() == t5_model_file) return {"config.json", "tokenizer_config.json"};
  if (path.filename() != vocab_json_file) return {};
  const std::filesystem::path folder = path.parent_path();
  if (is_there(folder / source_model_file) && !is_there(folder / merges_file))
    return {source_model_file, target_model_file};
  return {merges_file};
}

std::size_t token_count(std::span<const std::string> lines) {
  const auto header = std::ranges::find_if(
      lines, [](const std::string& line) { return line == merges_header || line == sentencepiece_header; });
  return static_cast<std::size_t>(header - lines.begin());
}

std::string sentencepiece_model(std::span<const std::string> lines, const std::string& name) {
  const std::string beginning = name + " ";
  for (const std::string& line : lines.subspan(token_count(lines)))
    if (line.starts_with(beginning)) return from_base64(std::string_view(line).substr(beginning.size()));
  return {};
}

std::string vocabulary_text(std::span<const std::string> lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

}  // namespace encore::data
