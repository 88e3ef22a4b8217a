// SPDX-License-Identifier: BSD-3-Clause
// t5_files and marian_files: read and write folders whose tokenizer is SentencePiece. A Marian has a model
// for sources and one for targets; vocab.json numbers the tokens of both. A T5 has one model; after its
// tokens come those that mark gaps in a text, and unused rows. hugging_face_folder.cpp reads through these
// constants, the worker's export writes. Other programs read the files, so their content must not change.
// Read tokenizer_files.hpp first.
#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include <algorithm>
#include "config/value.hpp"

#include "data/vocabulary.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "pretrained/tokenizer_files.hpp"

namespace encore::pretrained {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> marian_files_in(const fs::path& folder) {
  if (!is_there(folder / data::vocab_json_file)) return {};
  std::vector<std::string> files = {data::vocab_json_file};
  for (const char* file : {data::source_model_file, data::target_model_file})
    if (is_there(folder / file)) files.emplace_back(file);
  return files;
}

PretrainedTokenizer read_marian_tokenizer(const fs::path& folder) {
  for (const auto& [file, texts] :
       {std::pair(data::source_model_file, "sources"), std::pair(data::target_model_file, "targets")})
    if (!is_there(folder / file))
      throw Error((folder / file).string() + " is missing, so the splits of " + texts + " are unknown; " +
                  data::vocab_json_file + " needs it beside it");
  if (const fs::path config = folder / tokenizer_config_file; is_there(config))
    if (json_flag(read_json_object(config), "separate_vocabs", config).value_or(false))
      throw Error(config.string() +
                  ": separate_vocabs is true, but sources and targets have one vocabulary here");
  return {.type = marian_files.type, .vocabulary = folder / data::vocab_json_file};
}

/// Returns the file with that name, or the only model, which then cuts every text.
std::string model_file(std::span<const std::string> lines, const std::string& name) {
  std::string file = data::sentencepiece_model(lines, name);
  return file.empty() ? data::sentencepiece_model(lines, "model") : file;
}

/// Adds the tokens other than the markers; both classes have the markers by themselves.
void add_other_tokens(const WrittenTokenizer& tokenizer, json& config) {
  json all = json::object();
  add_tokens_json(tokenizer, all);
  const json tokens = all.value("added_tokens_decoder", json::object());
  for (const auto& [number, token] : tokens.items())
    if (std::ranges::find(tokenizer.specials, token.at("content").get<std::string>()) ==
        tokenizer.specials.end())
      config["added_tokens_decoder"][number] = token;
}

std::map<std::string, std::string> written_marian_files(const WrittenTokenizer& tokenizer) {
  const auto token = [&](Special role) { return tokenizer.specials[static_cast<std::size_t>(role)]; };
  json config = {{"tokenizer_class", tokenizer.tokenizer_class},
                 {"separate_vocabs", false},
                 {"source_lang", nullptr},
                 {"target_lang", nullptr},
                 {"unk_token", token(Special::unknown)},
                 {"eos_token", token(Special::end)},
                 {"pad_token", token(Special::padding)},
                 {"model_max_length", tokenizer.max_length}};
  add_other_tokens(tokenizer, config);
  return {{data::vocab_json_file, vocab_json(tokenizer.lines.first(data::token_count(tokenizer.lines)))},
          {data::source_model_file, model_file(tokenizer.lines, "source")},
          {data::target_model_file, model_file(tokenizer.lines, "target")},
          {tokenizer_config_file, json_file_text(config)}};
}

std::vector<std::string> t5_files_in(const fs::path& folder) {
  if (!is_there(folder / data::t5_model_file)) return {};
  return {data::t5_model_file};
}

PretrainedTokenizer read_t5_tokenizer(const fs::path& folder) {
  return {.type = t5_files.type, .vocabulary = folder / data::t5_model_file};
}

std::map<std::string, std::string> written_t5_files(const WrittenTokenizer& tokenizer) {
  const std::string model = data::sentencepiece_model(tokenizer.lines, "model");
  if (model.empty())
    throw Error(
        "a vocabulary with a model for sources and one for targets cannot be written as that of a T5, which "
        "has one for both");
  const auto token = [&](Special role) { return tokenizer.specials[static_cast<std::size_t>(role)]; };
  const auto gaps = std::ranges::count_if(
      tokenizer.lines, [](const std::string& line) { return line.starts_with(data::gap_token_beginning); });
  json config = {{"tokenizer_class", tokenizer.tokenizer_class}, {data::extra_ids_name, gaps},
                 {"unk_token", token(Special::unknown)},         {"eos_token", token(Special::end)},
                 {"pad_token", token(Special::padding)},         {"model_max_length", tokenizer.max_length}};
  add_other_tokens(tokenizer, config);
  return {{data::t5_model_file, model}, {tokenizer_config_file, json_file_text(config)}};
}

}  // namespace

const TokenizerFiles t5_files = {.type = "unigram",
                                 .missing = "no spiece.model",
                                 .names_markers = true,
                                 .in = t5_files_in,
                                 .read = read_t5_tokenizer,
                                 .written = written_t5_files};

const TokenizerFiles marian_files = {.type = "unigram",
                                     .missing = "no vocab.json with source.spm and target.spm beside it",
                                     .names_markers = true,
                                     .in = marian_files_in,
                                     .read = read_marian_tokenizer,
                                     .written = written_marian_files};

}  // namespace encore::pretrained
