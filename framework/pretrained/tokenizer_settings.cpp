// SPDX-License-Identifier: BSD-3-Clause
// tokenizer_settings(): checks a folder's tokenizer against what the tokenizers of Encore compute, and
// collects its options. folder_settings.cpp calls it. `transformers` builds the tokenizer of a known class
// from tokenizer_config.json and its tokens alone, and that of any other from tokenizer.json, so a folder
// whose two files disagree is refused. A check may be added but not dropped: equal folders must give equal
// tokens. Read tokenizer_settings.hpp first.
#include "pretrained/tokenizer_settings.hpp"

#include <algorithm>
#include <utility>

#include <encore/error.hpp>

#include "base/nearest.hpp"
#include "data/vocabulary.hpp"
#include "pretrained/family.hpp"
#include "pretrained/tokenizer_files.hpp"

namespace encore::pretrained {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* wordpiece_type = "wordpiece";

/// Returns the classes of tokenizers that cut as the class of the family does.
std::vector<std::string> classes_of(const std::string& model_type) {
  if (model_type == "bert" || model_type == "distilbert") return {"BertTokenizer", "DistilBertTokenizer"};
  if (model_type == "roberta") return {"RobertaTokenizer"};
  if (model_type == "bart") return {"BartTokenizer", "RobertaTokenizer"};
  if (model_type == "gpt2") return {"GPT2Tokenizer"};
  return {model_type == "marian" ? "MarianTokenizer" : "T5Tokenizer"};
}

/// The classes that take everything from tokenizer.json.
constexpr const char* whole_classes[] = {"PreTrainedTokenizerFast", "TokenizersBackend"};

const json& member_of(const json& object, const char* name) {
  static const json nothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : nothing;
}

std::string type_of(const json& part) {
  const json& type = member_of(part, "type");
  return type.is_string() ? type.get<std::string>() : std::string();
}

/// Checks one folder and collects its settings.
class Settings {
 public:
  Settings(const HuggingFaceFolder& folder, const TokenizerJson& files)
      : folder_(folder), files_(files), roles_(role_tokens(folder, files)), whole_(has_whole_class()) {}

  std::vector<FolderOption> all() {
    const std::string& type = folder_.tokenizer.type;
    require_markers();
    if (type == wordpiece_type)
      wordpiece();
    else if (type == byte_bpe_tokenizer)
      byte_pairs();
    else if (folder_.config.model_type == "t5" && is_whole_file())
      require_same_sentencepiece(files_, folder_.tokenizer.vocabulary);
    if (std::optional<FolderOption> added = added_tokens_option(folder_, files_, roles_))
      options_.push_back(std::move(*added));
    return std::move(options_);
  }

 private:
  bool is_whole_file() const { return !files_.whole.empty(); }
  std::string place(const char* file) const { return files_.file(file).string() + ": "; }

  /// Returns whether the class takes everything from tokenizer.json. Throws Error for a class that cuts
  /// otherwise.
  bool has_whole_class() const {
    const char* file = tokenizer_config_file;
    const json* named = &member_of(files_.config, "tokenizer_class");
    const json config = read_json_object(folder_.path / config_file);
    if (named->is_null()) {
      named = &member_of(config, "tokenizer_class");
      file = config_file;
    }
    if (named->is_null()) return false;
    const std::string name = named->is_string() ? named->get<std::string>() : named->dump();
    const bool takes_whole = folder_.tokenizer.type != unigram_tokenizer;  // else only its model counts
    const bool is_whole = takes_whole && std::ranges::find(whole_classes, name) != std::end(whole_classes);
    if (is_whole && is_whole_file()) return true;
    std::vector<std::string> classes = classes_of(folder_.config.model_type);
    const std::string without = name.ends_with("Fast") ? name.substr(0, name.size() - 4) : name;
    if (!is_whole && std::ranges::find(classes, without) != classes.end()) return false;
    if (is_whole)
      throw Error(place(file) + "tokenizer_class is \"" + name +
                  "\", which takes everything from tokenizer.json, and the folder has none");
    if (takes_whole)
      for (const char* whole : whole_classes) classes.emplace_back(whole);
    throw Error(place(file) + "tokenizer_class is \"" + config::shortened(name) +
                "\", which tokenizes in another way; supported for a " + folder_.config.model_type + " are " +
                quoted_list(classes));
  }

  void require_marker(const char* name, const std::string& token, const char* usual) const {
    // If tokenizer_config.json lists no added tokens, special_tokens_map.json is read after it.
    const bool is_in_map = !member_of(files_.config, "added_tokens_decoder").is_object() &&
                           !member_of(files_.specials, name).is_null();
    const json& said = member_of(is_in_map ? files_.specials : files_.config, name);
    const json& text = said.is_object() ? member_of(said, "content") : said;
    if (text.is_null() && token == usual) return;
    if (text.is_string() && text == token) return;
    throw Error(place(is_in_map ? special_tokens_file : tokenizer_config_file) + name +
                (text.is_null() ? " is missing, which counts as \"" + std::string(usual) + "\""
                                : " is " + config::shortened(text.dump())) +
                ", but this tokenizer has \"" + token + "\" for it");
  }

  /// Requires that each marker is the token that has its role here.
  void require_markers() const {
    if (folder_.tokenizer.type == wordpiece_type) {
      require_marker("unk_token", roles_.unknown, "[UNK]");
      require_marker("sep_token", roles_.separator, "[SEP]");
      require_marker("cls_token", roles_.start, "[CLS]");
      require_marker("mask_token", roles_.mask.empty() ? "[MASK]" : roles_.mask, "[MASK]");
      return;
    }
    if (folder_.config.model_type == "gpt2") {
      for (const char* name : {"unk_token", "bos_token", "eos_token"})
        require_marker(name,
                       *name == 'u'   ? roles_.unknown
                       : *name == 'b' ? roles_.start
                                      : roles_.end,
                       "<|endoftext|>");
      return;
    }
    require_marker("unk_token", roles_.unknown, "<unk>");
    require_marker("eos_token", roles_.end, "</s>");
    require_marker("pad_token", roles_.padding, "<pad>");
    if (folder_.tokenizer.type != byte_bpe_tokenizer) return;
    require_marker("bos_token", roles_.start, "<s>");
    require_marker("cls_token", roles_.start, "<s>");
    require_marker("sep_token", roles_.separator, "</s>");
    require_marker("mask_token", roles_.mask.empty() ? "<mask>" : roles_.mask, "<mask>");
  }

  // --- WordPiece ---

  struct Cleaning {
    bool lowercase, strip_accents, chinese;
    friend bool operator==(const Cleaning&, const Cleaning&) = default;
  };

  Cleaning cleaning_in(const json& object, const fs::path& file, const char* lowercase,
                       const char* chinese) const {
    const bool lowers = json_flag(object, lowercase, file).value_or(true);
    return {.lowercase = lowers,
            .strip_accents = json_flag(object, "strip_accents", file).value_or(lowers),
            .chinese = json_flag(object, chinese, file).value_or(true)};
  }

  void wordpiece() {
    const fs::path config = files_.file(tokenizer_config_file), whole = files_.file(tokenizer_file);
    Cleaning cleaning = cleaning_in(files_.config, config, "do_lower_case", "tokenize_chinese_chars");
    if (is_whole_file()) {
      require_wordpiece_file();
      const json& normalizer = member_of(files_.whole, "normalizer");
      const Cleaning said = cleaning_in(normalizer, whole, "lowercase", "handle_chinese_chars");
      if (!whole_ && said != cleaning)
        throw Error(whole.string() + ": the normalizer " + config::shortened(normalizer.dump()) +
                    " contradicts " + config.string() + ": do_lower_case = " + word(cleaning.lowercase) +
                    ", strip_accents = " + word(cleaning.strip_accents) + ", tokenize_chinese_chars = " +
                    word(cleaning.chinese) + " (defaults included); make both equal");
      cleaning = said;
    }
    const auto option = [&](const char* name, bool value, const char* member, bool is_default) {
      options_.push_back({.path = {"tokenizer", name},
                          .value = config::Value{value, {}},
                          .file = whole_ ? whole : config,
                          .reason = std::string(member) + " = " + word(value),
                          .is_default = is_default});
      name_source(options_.back());
    };
    option("lowercase", cleaning.lowercase, whole_ ? "lowercase" : "do_lower_case", false);
    if (cleaning.strip_accents != cleaning.lowercase)
      option("strip_accents", cleaning.strip_accents, "strip_accents", false);
    option("tokenize_chinese_chars", cleaning.chinese,
           whole_ ? "handle_chinese_chars" : "tokenize_chinese_chars", cleaning.chinese);
  }

  /// If no file sets the option, names the file from which the class follows.
  void name_source(FolderOption& option) const {
    const std::optional<TokenizerFlag>& flag = folder_.tokenizer.flag;
    if (whole_ || !flag || flag->option != option.path.back() ||
        flag->value != std::get<bool>(option.value.data))
      return;
    option.file = flag->file;
    option.reason = flag->reason;
  }

  static const char* word(bool value) { return value ? "true" : "false"; }

  [[noreturn]] void refuse_part(const char* name, const json& part, const std::string& supported) const {
    throw Error(place(tokenizer_file) + "the " + name + " is " + config::shortened(part.dump()) +
                "; supported is " + supported);
  }

  void require_wordpiece_file() const {
    const json& normalizer = member_of(files_.whole, "normalizer");
    if (type_of(normalizer) != "BertNormalizer" || member_of(normalizer, "clean_text") == false)
      refuse_part("normalizer", normalizer, "a \"BertNormalizer\" with clean_text");
    if (const json& words = member_of(files_.whole, "pre_tokenizer"); type_of(words) != "BertPreTokenizer")
      refuse_part("pre_tokenizer", words, "\"BertPreTokenizer\"");
    require_post_processor({"[CLS]", "A", "[SEP]"}, {"[CLS]", "A", "[SEP]", "B/1", "[SEP]/1"},
                           "BertProcessing");
    const json& model = member_of(files_.whole, "model");
    if (const json& unknown = member_of(model, "unk_token"); !unknown.is_null() && unknown != "[UNK]")
      throw Error(place(tokenizer_file) + "unk_token is " + config::shortened(unknown.dump()) +
                  ", but this tokenizer has \"[UNK]\" for it");
    if (const json& most = member_of(model, "max_input_chars_per_word"); !most.is_null() && most != 100)
      throw Error(place(tokenizer_file) + "max_input_chars_per_word is " + config::shortened(most.dump()) +
                  ", but this tokenizer cuts words of up to 100 characters");
    require_same_tokens(member_of(model, "vocab"));
  }

  /// Requires that a tokenizer.json has the same tokens as the file from which they are read.
  void require_same_tokens(const json& vocab) const {
    if (folder_.tokenizer.vocabulary.filename() == tokenizer_file || !vocab.is_object()) return;
    const std::span<const std::string> tokens = files_.tokens();
    for (const auto& [token, number] : vocab.items()) {
      const bool same = number.is_number_integer() && number >= 0 &&
                        number.get<std::uint64_t>() < tokens.size() &&
                        tokens[number.get<std::uint64_t>()] == token;
      if (!same)
        throw Error(place(tokenizer_file) + "the token \"" + config::shortened(token) + "\" has the number " +
                    number.dump() + ", but not in " + folder_.tokenizer.vocabulary.string() +
                    "; they belong to different models");
    }
  }

  // --- byte pairs ---

  void byte_pairs() {
    const fs::path config = files_.file(tokenizer_config_file);
    bool prefix = json_flag(files_.config, "add_prefix_space", config).value_or(false);
    if (is_whole_file()) {
      const json& words = member_of(files_.whole, "pre_tokenizer");
      const bool said = json_flag(words, "add_prefix_space", files_.file(tokenizer_file)).value_or(true);
      if (!whole_ && said != prefix)
        throw Error(place(tokenizer_file) + "add_prefix_space is " + word(said) + ", but " + config.string() +
                    " says " + word(prefix) + " (false if it is absent); make both equal");
      prefix = said;
      if (const json& decoder = member_of(files_.whole, "decoder");
          !decoder.is_null() && type_of(decoder) != "ByteLevel")
        refuse_part("decoder", decoder, "\"ByteLevel\"");
      if (folder_.config.model_type == "gpt2") {
        if (const json& ends = member_of(files_.whole, "post_processor");
            !ends.is_null() && type_of(ends) != "ByteLevel" && !adds_nothing(ends))
          refuse_part("post_processor", ends, "\"ByteLevel\" or a template that adds nothing to a text");
      } else {
        require_post_processor({roles_.start, "A", roles_.end},
                               {roles_.start, "A", roles_.end, roles_.end, "B", roles_.end},
                               "RobertaProcessing");
      }
      require_same_tokens(member_of(member_of(files_.whole, "model"), "vocab"));
    }
    options_.push_back({.path = {"tokenizer", "add_prefix_space"},
                        .value = config::Value{prefix, {}},
                        .file = whole_ ? files_.file(tokenizer_file) : config,
                        .reason = std::string("add_prefix_space = ") + word(prefix),
                        .may_differ = true});
    name_source(options_.back());
  }

  // --- markers around a text ---

  /// Returns {"[CLS]", "A", "B/1"}: markers and inputs, with the number of the segment if it is not 0.
  static std::vector<std::string> template_of(const json& list) {
    std::vector<std::string> parts;
    for (const json& part : list.is_array() ? list : json::array())
      for (const auto& [kind, what] : part.items()) {
        const json& segment = member_of(what, "type_id");
        parts.push_back(member_of(what, "id").get<std::string>() +
                        (segment == 0 || segment.is_null() ? "" : "/" + segment.dump()));
      }
    return parts;
  }

  static bool adds_nothing(const json& processor) {
    try {
      return type_of(processor) == "TemplateProcessing" &&
             template_of(processor.at("single")) == std::vector<std::string>{"A"};
    } catch (const json::exception&) {
      return false;
    }
  }

  /// Requires that the post-processor puts markers as the templates `one` and `two` do. `shorter` is the
  /// named processor that does the same.
  void require_post_processor(const std::vector<std::string>& one, const std::vector<std::string>& two,
                              const std::string& shorter) const {
    const json& ends = member_of(files_.whole, "post_processor");
    const std::string type = type_of(ends);
    const std::string supported = "\"" + shorter + "\" or a template that puts " + one.front() +
                                  " in front of a text and " + one.back() + " behind it";
    if (ends.is_null() && !whole_) return;
    const auto is_token = [&](const std::string& token, const json& number) {
      return files_.number_of(token) && number == *files_.number_of(token);
    };
    bool fits = false;
    try {
      if (type == shorter) {
        fits = ends.at("cls").at(0) == one.front() && is_token(one.front(), ends.at("cls").at(1)) &&
               ends.at("sep").at(0) == one.back() && is_token(one.back(), ends.at("sep").at(1));
      } else if (type == "TemplateProcessing") {
        fits = template_of(ends.at("single")) == one && template_of(ends.at("pair")) == two;
        for (const std::string& token : {one.front(), one.back()})
          fits = fits && ends.at("special_tokens").at(token).at("ids").size() == 1 &&
                 is_token(token, ends.at("special_tokens").at(token).at("ids").at(0));
      }
    } catch (const json::exception&) {
      fits = false;
    }
    if (!fits) refuse_part("post_processor", ends, supported);
  }

  const HuggingFaceFolder& folder_;
  const TokenizerJson& files_;
  RoleTokens roles_;
  bool whole_;
  std::vector<FolderOption> options_;
};

}  // namespace

std::span<const std::string> TokenizerJson::tokens() const {
  return std::span(lines).first(data::token_count(lines));
}

std::optional<std::int64_t> TokenizerJson::number_of(const std::string& token) const {
  const auto found = std::ranges::find(tokens(), token);
  if (found == tokens().end()) return std::nullopt;
  return found - tokens().begin();
}

/// Returns the tokens with a role, chosen as the tokenizers do (TokenTable in
/// plugins/tokenizers/vocabulary.hpp).
RoleTokens role_tokens(const HuggingFaceFolder& folder, const TokenizerJson& files) {
  const auto has = [&](const char* token) { return files.number_of(token).has_value(); };
  const auto if_there = [&](const char* token) { return has(token) ? std::string(token) : std::string(); };
  const bool usual = has("[CLS]") && folder.tokenizer.type != unigram_tokenizer;
  if (folder.tokenizer.type == wordpiece_type || usual)
    return {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[SEP]", if_there("[MASK]")};
  if (folder.tokenizer.type == byte_bpe_tokenizer && !has("<s>"))
    return {"<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", ""};
  const std::string padding = has("<pad>") ? "<pad>" : "</s>", start = has("<s>") ? "<s>" : padding;
  return {padding, "<unk>", start, "</s>", "</s>", if_there("<mask>")};
}

std::vector<FolderOption> tokenizer_settings(const HuggingFaceFolder& folder, const TokenizerJson& files) {
  return Settings(folder, files).all();
}

}  // namespace encore::pretrained
