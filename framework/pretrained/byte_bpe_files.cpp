// SPDX-License-Identifier: BSD-3-Clause
// byte_bpe_files: reads and writes the tokenizer files of RoBERTa and GPT-2. hugging_face_folder.cpp reads
// through it, the worker's export writes. It refuses everything that the tokenizer byte_bpe does not compute,
// so that equal files give equal tokens. Read tokenizer_files.hpp first.
#include "pretrained/tokenizer_files.hpp"

#include <algorithm>

#include <encore/token_cuts.hpp>
#include <nlohmann/json.hpp>

#include "config/value.hpp"
#include "data/vocabulary.hpp"
#include "pretrained/hugging_face_folder.hpp"

namespace encore::pretrained {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string on_or_off(const char* name, bool value) {
  return std::string(name) + " = " + (value ? "true" : "false");
}

void require_byte_pairs(const json& model, const fs::path& file) {
  if (!model.is_object() || model.value("type", json()) != "BPE")
    throw Error(file.string() + ": the tokenizer's model is " +
                config::shortened(model.is_object() ? model.value("type", json()).dump() : model.dump()) +
                "; supported is \"BPE\"");
  if (const auto merges = model.find("merges"); merges == model.end() || !merges->is_array())
    throw Error(file.string() + ": \"model\" has no \"merges\", so the splits of words are unknown");
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const json value = model.value(name, json()); !value.is_null() && value != "")
      throw Error(file.string() + ": " + name + " is " + config::shortened(value.dump()) +
                  ", but this tokenizer has none");
  for (const char* name : {"byte_fallback", "ignore_merges"})
    if (json_flag(model, name, file).value_or(false))
      throw Error(file.string() + ": " + name + " is true, but this tokenizer merges bytes by merges alone");
  if (const json dropout = model.value("dropout", json()); !dropout.is_null() && dropout != 0.0)
    throw Error(file.string() + ": dropout is " + config::shortened(dropout.dump()) +
                ", but this tokenizer leaves out no merges");
}

/// Reads tokenizer.json, which states everything about the tokenizer.
void read_whole(const fs::path& file, TokenizerFlag& flag) {
  const json all = read_json_object(file);
  require_byte_pairs(all.value("model", json()), file);
  if (const json normalizer = all.value("normalizer", json()); !normalizer.is_null())
    throw Error(file.string() + ": the normalizer " + config::shortened(normalizer.dump()) +
                " changes the text, which this tokenizer does not");
  const json words = all.value("pre_tokenizer", json());
  if (!words.is_object() || words.value("type", json()) != "ByteLevel" ||
      !json_flag(words, "use_regex", file).value_or(true))
    throw Error(file.string() + ": the pre_tokenizer is " + config::shortened(words.dump()) +
                "; supported is \"ByteLevel\" with use_regex");
  if (const auto prefix = json_flag(words, "add_prefix_space", file)) {
    flag.value = *prefix;
    flag.file = file;
    flag.reason = on_or_off("add_prefix_space", *prefix);
  }
}

void require_merges(const fs::path& folder) {
  if (!is_there(folder / data::merges_file))
    throw Error((folder / data::merges_file).string() + " is missing, so the splits of words are unknown; " +
                data::vocab_json_file + " needs it beside it");
}

std::vector<std::string> byte_bpe_files_in(const fs::path& folder) {
  if (is_there(folder / tokenizer_file)) return {tokenizer_file};
  if (!is_there(folder / data::vocab_json_file)) return {};
  if (is_there(folder / data::merges_file)) return {data::vocab_json_file, data::merges_file};
  return {data::vocab_json_file};
}

PretrainedTokenizer read_byte_bpe_tokenizer(const fs::path& folder) {
  const fs::path whole = folder / tokenizer_file, config = folder / tokenizer_config_file;
  // Words of a list are cut as within a text only if a blank precedes them. Tasks that label words need that,
  // whatever the folder was last used for.
  TokenizerFlag flag = {.option = "add_prefix_space",
                        .value = false,
                        .file = folder / config_file,
                        .reason = "model_type and no add_prefix_space",
                        .may_differ = true};
  const fs::path vocabulary = is_there(whole) ? whole : folder / data::vocab_json_file;
  if (vocabulary == whole)
    read_whole(whole, flag);
  else
    require_merges(folder);
  if (is_there(config))
    if (const auto prefix = json_flag(read_json_object(config), "add_prefix_space", config)) {
      flag.value = *prefix;
      flag.file = config;
      flag.reason = on_or_off("add_prefix_space", *prefix);
    }
  return {.type = byte_bpe_files.type, .vocabulary = vocabulary, .flag = flag};
}

json byte_bpe_config_json(const WrittenTokenizer& tokenizer) {
  const auto token = [&](Special role) -> json {
    const std::string& text = tokenizer.specials[static_cast<std::size_t>(role)];
    return text.empty() ? json() : json(text);
  };
  json mask = token(Special::mask);
  if (!mask.is_null())  // the token includes the white space before it
    mask = {{"__type", "AddedToken"}, {"content", mask},      {"lstrip", true}, {"rstrip", false},
            {"normalized", false},    {"single_word", false}, {"special", true}};
  json config = {{"tokenizer_class", tokenizer.tokenizer_class},
                 {"add_prefix_space", tokenizer.options.flag("add_prefix_space")},
                 {"bos_token", token(Special::start)},
                 {"cls_token", token(Special::start)},
                 {"eos_token", token(Special::end)},
                 {"sep_token", token(Special::separator)},
                 {"unk_token", token(Special::unknown)},
                 {"pad_token", token(Special::padding)},
                 {"mask_token", mask},
                 {"model_max_length", tokenizer.max_length}};
  add_tokens_json(tokenizer, config);
  return config;
}

std::map<std::string, std::string> written_byte_bpe_files(const WrittenTokenizer& tokenizer) {
  return {{data::vocab_json_file, vocab_json(tokenizer.lines.first(data::token_count(tokenizer.lines)))},
          {data::merges_file, merges_text(tokenizer.lines, tokenizer.special_numbers)},
          {tokenizer_config_file, json_file_text(byte_bpe_config_json(tokenizer))}};
}

}  // namespace

void require_padding_token(std::span<const std::string> lines, std::int64_t padding) {
  const std::span<const std::string> tokens = lines.first(data::token_count(lines));
  const auto found = std::ranges::find_if(
      tokens, [](const std::string& token) { return token == "<pad>" || token == "[PAD]"; });
  if (found == tokens.end() || found - tokens.begin() == padding) return;
  throw Error("pad_token_id is " + std::to_string(padding) +
              ", and positions are counted from it, but the token " + *found +
              " of the vocabulary has the number " + std::to_string(found - tokens.begin()));
}

std::string vocab_json(std::span<const std::string> tokens) {
  json numbers = json::object();
  for (std::size_t i = 0; i < tokens.size(); ++i) numbers[tokens[i]] = i;
  return numbers.dump() + "\n";
}

std::string merges_text(std::span<const std::string> lines, std::span<const std::int32_t> specials) {
  const std::size_t count = data::token_count(lines);
  if (count < lines.size()) return data::vocabulary_text(lines.subspan(count));
  std::vector<std::string> tokens(lines.begin(), lines.end());
  for (const std::int32_t special : specials)
    if (special >= 0 && static_cast<std::size_t>(special) < count)
      tokens[static_cast<std::size_t>(special)].clear();
  std::string text = std::string(data::merges_header) + "\n";
  for (const TokenCut& cut : cuts_of(tokens))
    text +=
        tokens[static_cast<std::size_t>(cut.left)] + " " + tokens[static_cast<std::size_t>(cut.right)] + "\n";
  return text;
}

const TokenizerFiles byte_bpe_files = {.type = byte_bpe_tokenizer,
                                       .missing = "neither vocab.json nor tokenizer.json",
                                       .names_markers = true,
                                       .in = byte_bpe_files_in,
                                       .read = read_byte_bpe_tokenizer,
                                       .written = written_byte_bpe_files};

}  // namespace encore::pretrained
