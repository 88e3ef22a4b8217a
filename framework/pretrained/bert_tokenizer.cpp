// SPDX-License-Identifier: BSD-3-Clause
// wordpiece_files: reads and writes the tokenizer files of a BERT: WordPiece. hugging_face_folder.cpp reads
// through it, the worker's export writes. A file that asks for another way of cutting is refused, so that
// equal folders give equal tokens. Read tokenizer_files.hpp first.
#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "config/value.hpp"
#include "data/vocabulary.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "pretrained/tokenizer_files.hpp"

namespace encore::pretrained {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct SpecialToken {
  const char* member;
  const char* token;
};
/// Our tokenizers know these tokens by their spelling (Tokenizer::special).
constexpr SpecialToken special_tokens[] = {{.member = "unk_token", .token = "[UNK]"},
                                           {.member = "sep_token", .token = "[SEP]"},
                                           {.member = "pad_token", .token = "[PAD]"},
                                           {.member = "cls_token", .token = "[CLS]"},
                                           {.member = "mask_token", .token = "[MASK]"}};

void require_known_specials(const json& config, const fs::path& file) {
  for (const auto& [member, token] : special_tokens) {
    const auto found = config.find(member);
    if (found == config.end() || found->is_null()) continue;
    const json& text = found->is_object() && found->contains("content") ? found->at("content") : *found;
    if (text != token)
      throw Error(file.string() + ": " + member + " is " + config::shortened(text.dump()) +
                  ", but this tokenizer has \"" + token + "\" for it");
  }
}

/// Reads tokenizer_config.json, if it decides the flag.
bool read_tokenizer_config(const fs::path& file, TokenizerFlag& flag) {
  const json config = read_json_object(file);
  require_known_specials(config, file);
  const std::optional<bool> lowercase = json_flag(config, "do_lower_case", file);
  if (!lowercase) return false;
  flag.value = *lowercase;
  flag.file = file;
  flag.reason = std::string("do_lower_case = ") + (*lowercase ? "true" : "false");
  return true;
}

/// Reads tokenizer.json, which states everything about the tokenizer. `decides` says whether it also decides
/// about capitals.
void read_tokenizer_json(const fs::path& file, bool decides, TokenizerFlag& flag) {
  const json all = read_json_object(file);
  const json model = all.value("model", json::object());
  const std::string type = model.is_object() ? model.value("type", json("WordPiece")).dump() : model.dump();
  if (type != "\"WordPiece\"")
    throw Error(file.string() + ": the tokenizer's model is " + config::shortened(type) +
                "; supported is \"WordPiece\"");
  if (model.value("continuing_subword_prefix", json("##")) != "##")
    throw Error(file.string() + ": continuing_subword_prefix is " +
                config::shortened(model.at("continuing_subword_prefix").dump()) +
                ", but this tokenizer has \"##\"");
  const json normalizer = all.value("normalizer", json());
  if (!decides || !normalizer.is_object()) return;
  flag.value = json_flag(normalizer, "lowercase", file).value_or(true);
  flag.file = file;
  flag.reason = std::string("lowercase = ") + (flag.value ? "true" : "false");
}

std::vector<std::string> bert_files_in(const fs::path& folder) {
  for (const char* file : {tokens_file, tokenizer_file})
    if (is_there(folder / file)) return {file};
  return {};
}

PretrainedTokenizer read_bert_tokenizer(const fs::path& folder) {
  const fs::path tokens = folder / tokens_file, whole = folder / tokenizer_file;
  const fs::path config = folder / tokenizer_config_file;
  // This is the default of transformers.
  TokenizerFlag flag = {.option = "lowercase",
                        .value = true,
                        .file = folder / config_file,
                        .reason = "model_type of BERT and no do_lower_case"};
  const fs::path& vocabulary = is_there(tokens) ? tokens : whole;
  const bool decided = is_there(config) && read_tokenizer_config(config, flag);
  if (vocabulary == whole) read_tokenizer_json(whole, !decided, flag);
  return {.type = wordpiece_files.type, .vocabulary = vocabulary, .flag = flag};
}

json special_tokens_json() {
  json map = json::object();
  for (const auto& [member, token] : special_tokens) map[member] = token;
  return map;
}

/// vocab.txt makes every token a word of its own. That changes a text only if the token stands within a word
/// in which it is not found.
void require_tokens_beside_words(const WrittenTokenizer& tokenizer) {
  if (!tokenizer.options.has(added_tokens_name)) return;
  for (const std::string& entry : tokenizer.options.text_list(added_tokens_name)) {
    const std::string flags = "," + entry.substr(0, entry.find(' ')) + ",";
    if (flags.find(",single_word,") != std::string::npos && flags.find(",outside,") != std::string::npos)
      throw Error("tokenizer.added_tokens has \"" + entry +
                  "\", a single word that is never split, which vocab.txt cannot express");
  }
}

json bert_config_json(const WrittenTokenizer& tokenizer) {
  const Options& options = tokenizer.options;
  if (options.has("fold_lookalikes") && options.flag("fold_lookalikes"))
    throw Error(
        "tokenizer.fold_lookalikes = true cannot be exported: the tokenizer files of transformers have no "
        "such "
        "setting, so the exported model would read disguised words otherwise");
  json config = special_tokens_json();
  config["tokenizer_class"] = "BertTokenizer";
  config["do_lower_case"] = options.flag("lowercase");
  config["tokenize_chinese_chars"] =
      !options.has("tokenize_chinese_chars") || options.flag("tokenize_chinese_chars");
  config["strip_accents"] = options.has("strip_accents") ? json(options.flag("strip_accents")) : json();
  config["model_max_length"] = tokenizer.max_length;
  add_tokens_json(tokenizer, config);
  require_tokens_beside_words(tokenizer);
  return config;
}

std::map<std::string, std::string> written_bert_files(const WrittenTokenizer& tokenizer) {
  return {{tokens_file, data::vocabulary_text(tokenizer.lines)},
          {tokenizer_config_file, json_file_text(bert_config_json(tokenizer))},
          {special_tokens_file, json_file_text(special_tokens_json())}};
}

}  // namespace

std::optional<bool> json_flag(const json& object, const char* name, const fs::path& file) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (!found->is_boolean())
    throw Error(file.string() + ": " + name + " must be true or false, found " +
                config::shortened(found->dump()));
  return found->get<bool>();
}

void add_tokens_json(const WrittenTokenizer& tokenizer, json& config) {
  if (!tokenizer.options.has(added_tokens_name)) return;
  for (const std::string& entry : tokenizer.options.text_list(added_tokens_name)) {
    const std::size_t blank = std::min(entry.find(' '), entry.size());
    const std::string flags = "," + entry.substr(0, blank) + ",",
                      content = entry.substr(std::min(blank + 1, entry.size()));
    const auto has = [&](const char* flag) {
      return flags.find("," + std::string(flag) + ",") != std::string::npos;
    };
    const auto number = std::ranges::find(tokenizer.lines, content) - tokenizer.lines.begin();
    config["added_tokens_decoder"][std::to_string(number)] = {{"content", content},
                                                              {"lstrip", has("lstrip")},
                                                              {"rstrip", has("rstrip")},
                                                              {"single_word", has("single_word")},
                                                              {"normalized", has("normalized")},
                                                              {"special", has("special")}};
  }
}

std::string json_file_text(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

const TokenizerFiles wordpiece_files = {.type = "wordpiece",
                                        .missing = "neither vocab.txt nor tokenizer.json",
                                        .names_markers = false,
                                        .in = bert_files_in,
                                        .read = read_bert_tokenizer,
                                        .written = written_bert_files};

}  // namespace encore::pretrained
