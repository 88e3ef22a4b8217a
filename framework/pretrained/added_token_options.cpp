// SPDX-License-Identifier: BSD-3-Clause
// added_tokens_option(): finds the tokens that are cut out of a text before the tokenizer cuts it, in the
// files of a folder that name them. folder_settings.cpp calls it. Which files count follows
// `PreTrainedTokenizerBase._from_pretrained` of `transformers` 5.24, so equal folders give equal tokens.
// Declared in tokenizer_settings.hpp.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <encore/error.hpp>

#include "config/value.hpp"
#include "data/vocabulary.hpp"
#include "pretrained/family.hpp"
#include "pretrained/tokenizer_files.hpp"
#include "pretrained/tokenizer_settings.hpp"

namespace encore::pretrained {
namespace {

using nlohmann::json;

/// An added token with its flags, as a file has it.
struct NamedToken {
  bool lstrip = false, rstrip = false, single_word = false, normalized = false, special = false;
  std::string file;  ///< the file that names it
  friend bool operator==(const NamedToken& a, const NamedToken& b) {
    return a.lstrip == b.lstrip && a.rstrip == b.rstrip && a.single_word == b.single_word &&
           a.normalized == b.normalized && a.special == b.special;
  }
};
using NamedTokens = std::map<std::string, NamedToken>;

bool flag_of(const json& token, const char* name, bool otherwise) {
  const auto found = token.find(name);
  return found == token.end() || !found->is_boolean() ? otherwise : found->get<bool>();
}

NamedToken token_of(const json& token, const char* file) {
  const bool special = flag_of(token, "special", false);
  return {.lstrip = flag_of(token, "lstrip", false),
          .rstrip = flag_of(token, "rstrip", false),
          .single_word = flag_of(token, "single_word", false),
          .normalized = flag_of(token, "normalized", !special),
          .special = special,
          .file = file};
}

std::string content_of(const json& token) {
  const json& text = token.is_object() ? token.value("content", json()) : token;
  return text.is_string() ? text.get<std::string>() : std::string();
}

class TokenReader {
 public:
  TokenReader(const HuggingFaceFolder& folder, const TokenizerJson& files) : folder_(folder), files_(files) {}

  NamedTokens read() {
    const json& decoder = files_.config.value("added_tokens_decoder", json());
    const bool decides = decoder.is_object();
    if (decides)
      for (const auto& [number, token] : decoder.items()) add(token, number, tokenizer_config_file);
    const NamedTokens decoded = tokens_;
    for (const json& token : files_.whole.value("added_tokens", json::array())) {
      if (!token.is_object())
        refuse(tokenizer_file,
               "an added token must be a JSON object, found " + config::shortened(token.dump()));
      const std::string content = content_of(token);
      if (decides && (!decoded.contains(content) || decoded.at(content) != token_of(token, "")))
        refuse(tokenizer_file, "the added token " + config::shortened(token.dump()) +
                                   " does not stand in added_tokens_decoder of " + tokenizer_config_file +
                                   " in this form; make both equal");
      add(token, token.value("id", json()).dump(), tokenizer_file);
    }
    if (!decides) {
      special_names(files_.specials, special_tokens_file);
      added_file();
    }
    special_names(files_.config, tokenizer_config_file);
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void refuse(const std::string& file, const std::string& problem) const {
    throw Error(files_.file(file.c_str()).string() + ": " + problem);
  }

  /// Adds a token. `number` is its number as the file has it, a text.
  void add(const json& token, const std::string& number, const char* file) {
    const std::string content = content_of(token);
    if (content.empty()) refuse(file, "an added token has no content: " + config::shortened(token.dump()));
    const std::optional<std::int64_t> own = files_.number_of(content);
    if (!own || number != std::to_string(*own))
      refuse(file,
             "the added token \"" + config::shortened(content) + "\" has the number " +
                 config::shortened(number) + ", but " +
                 (own ? "it is token " + std::to_string(*own) : std::string("no token has this name")) +
                 " in " + folder_.tokenizer.vocabulary.string() +
                 "; save the tokenizer again with save_pretrained, so that tokenizer.json holds all tokens");
    tokens_[content] = token_of(token, file);
  }

  void add_special(const json& said, const char* file) {
    const std::string content = content_of(said);
    if (content.empty() || tokens_.contains(content)) return;
    NamedToken token = {.special = true, .file = file};
    if (said.is_object()) token = token_of(said, file);
    if (said.is_object()) token.normalized = flag_of(said, "normalized", false);
    token.special = true;
    tokens_.emplace(content, token);
  }

  /// Reads "cls_token": "[CLS]", "additional_special_tokens": ["[E9]"], and any member that ends in _token.
  void special_names(const json& object, const char* file) {
    for (const auto& [name, value] : object.items()) {
      const bool is_flag = name.starts_with("add_") || value.is_null() || value.is_boolean();
      if (name.ends_with("_token") && !is_flag) add_special(value, file);
      if (name != "additional_special_tokens" && name != "extra_special_tokens") continue;
      for (const auto& [key, token] : value.items()) add_special(token, file);
    }
  }

  void added_file() {
    for (const auto& [content, number] : files_.added.items()) {
      const bool special = tokens_.contains(content) && tokens_.at(content).special;
      add({{"content", content}, {"special", special}, {"normalized", !special}}, number.dump(),
          "added_tokens.json");
    }
  }

  const HuggingFaceFolder& folder_;
  const TokenizerJson& files_;
  NamedTokens tokens_;
};

std::string entry_of(const std::string& content, const NamedToken& token, bool outside) {
  std::string flags;
  for (const auto& [name, set] :
       {std::pair("lstrip", token.lstrip), std::pair("rstrip", token.rstrip),
        std::pair("single_word", token.single_word), std::pair("normalized", token.normalized),
        std::pair("special", token.special), std::pair("outside", outside)})
    if (set) flags += (flags.empty() ? "" : ",") + std::string(name);
  return (flags.empty() ? "plain" : flags) + " " + content;
}

bool is_gap(const std::string& content) {
  return content.starts_with(data::gap_token_beginning);
}

/// Returns the tokens that the class of the family has if no file names them.
std::vector<std::string> usual_tokens(const std::string& model_type) {
  if (model_type == "gpt2") return {"<|endoftext|>"};
  if (model_type == "roberta" || model_type == "bart") return {"<s>", "</s>", "<unk>", "<pad>", "<mask>"};
  if (model_type == "marian" || model_type == "t5") return {"</s>", "<unk>", "<pad>"};
  return {};  // Encore's tokenizers find them by themselves
}

/// Returns whether Encore's tokenizer finds the token in this way by itself.
bool is_own(const HuggingFaceFolder& folder, const RoleTokens& roles, const std::string& content,
            const NamedToken& token) {
  const NamedToken plain = {.special = true, .file = ""},
                   mask = {.lstrip = true, .special = true, .file = ""};
  if (folder.tokenizer.type == byte_bpe_tokenizer) return content == roles.mask && token == mask;
  if (folder.tokenizer.type == unigram_tokenizer)
    return is_gap(content) && folder.config.model_type == "t5" && token == plain;
  for (const std::string& marker : {roles.padding, roles.unknown, roles.start, roles.end, roles.mask})
    if (content == marker) return token == plain;
  return false;
}

/// Returns what keeps the tokenizer unigram from finding a token as that of the folder does, or an empty
/// string.
std::string unigram_problem(const std::string& model_type, const NamedToken& token) {
  if (!token.special) return "is not special";
  // A T5 searches the normalized text for it; a MarianMT asks for blanks beside a single word.
  if (model_type == "t5" && token.normalized) return "is normalized";
  if (model_type == "marian" && token.single_word) return "has single_word";
  return "";
}

/// The gaps of a T5 are special if the list names them, or if there is no list.
void require_gaps(const TokenizerJson& files) {
  const json said = files.config.value(data::extra_ids_name, json());
  const std::int64_t gaps = said.is_number_integer() ? said.get<std::int64_t>() : 100;
  for (const char* name : {"additional_special_tokens", "extra_special_tokens"}) {
    const json list = files.config.value(name, json());
    if (list.is_null() || gaps == 0) continue;
    std::set<std::string> listed;
    for (const json& token : list)
      if (const std::string content = content_of(token); is_gap(content)) listed.insert(content);
    if (std::ssize(listed) != gaps)
      throw Error(files.file(tokenizer_config_file).string() + ": " + name + " names " +
                  std::to_string(listed.size()) + " tokens <extra_id_...>, but " + data::extra_ids_name +
                  " is " + std::to_string(gaps) + "; name all of them there, or leave " + name + " out");
  }
}

}  // namespace

std::optional<FolderOption> added_tokens_option(const HuggingFaceFolder& folder, const TokenizerJson& files,
                                                const RoleTokens& roles) {
  if (folder.config.model_type == "t5") require_gaps(files);
  NamedTokens tokens = TokenReader(folder, files).read();
  for (const std::string& content : usual_tokens(folder.config.model_type))
    if (!tokens.contains(content) && files.number_of(content))
      tokens.emplace(content, NamedToken{.special = true, .file = config_file});
  const json& model = files.whole.value("model", json::object());
  const json& vocab = model.is_object() ? model.value("vocab", json()) : json();
  const bool from_whole = folder.tokenizer.vocabulary.filename() == tokenizer_file;
  FolderOption option = {.path = {"tokenizer", added_tokens_name},
                         .value = config::Value{config::Value::Array{}, {}},
                         .file = {},
                         .reason = {},
                         .may_differ = true};
  auto& entries = std::get<config::Value::Array>(option.value.data);
  for (const auto& [content, token] : tokens) {
    const std::string place =
        files.file(token.file.c_str()).string() + ": the token \"" + config::shortened(content) + "\" ";
    if (is_own(folder, roles, content, token)) continue;
    if (!files.number_of(content)) {
      // A marker that the vocabulary lacks gets a number after the last row of the table, which no text can
      // use.
      throw Error(place + "has no row in the table of tokens: " + folder.tokenizer.vocabulary.string() +
                  " does not hold it");
    }
    if (folder.tokenizer.type == unigram_tokenizer)
      if (const std::string problem = unigram_problem(folder.config.model_type, token); !problem.empty())
        throw Error(place + problem + ", which is not supported for a " + folder.config.model_type);
    if (content.find('\n') != std::string::npos)
      throw Error(place + "has a line break, which is not supported");
    const bool outside = from_whole && vocab.is_object() && !vocab.contains(content);
    entries.push_back(config::Value{entry_of(content, token, outside), {}});
    option.file = files.file(token.file.c_str());
  }
  if (entries.empty()) return std::nullopt;
  option.reason = "that " + std::to_string(entries.size()) + " tokens are found in the text";
  return option;
}

}  // namespace encore::pretrained
