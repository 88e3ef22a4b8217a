// SPDX-License-Identifier: BSD-3-Clause
// settings_of(): reads the files of a folder one by one and turns them into options, refusals and notices.
// FolderFiller and `exp import` call it. Nothing in a file may be ignored silently. Read folder_settings.hpp
// first; field_rules.cpp has the table.
#include "pretrained/folder_settings.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "base/limits.hpp"
#include "data/vocabulary.hpp"
#include "pretrained/config_member.hpp"
#include "pretrained/family.hpp"
#include "pretrained/field_rules.hpp"
#include "pretrained/tokenizer_settings.hpp"

namespace encore::pretrained {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* generation_file = "generation_config.json";
constexpr const char* added_tokens_file = "added_tokens.json";
constexpr const char* modules_file = "modules.json";
constexpr const char* sentence_file = "sentence_bert_config.json";
/// The names of the file in sentence-transformers, by kind of model. The first one that exists counts.
constexpr const char* sentence_kinds[] = {"bert",   "roberta",     "distilbert", "camembert",
                                          "albert", "xlm-roberta", "xlnet"};
constexpr const char* adapter_file = "adapter_config.json";
constexpr const char* pooling_file = "1_Pooling/config.json";
constexpr const char* prompts_file = "config_sentence_transformers.json";

constexpr const char* embedding_head = "embedding";
constexpr const char* language_model_head = "language_model";

json object_or_empty(const fs::path& file) {
  return is_there(file) ? read_json_object(file) : json::object();
}

class Collector {
 public:
  explicit Collector(const HuggingFaceFolder& folder)
      : folder_(folder), config_(read_json_object(folder.path / config_file)) {
    for (const char* kind : sentence_kinds)
      if (const std::string file = "sentence_" + std::string(kind) + "_config.json"; is_there(path(file))) {
        sentence_name_ = file;
        break;
      }
  }

  FolderSettings run() {
    settings_.max_length = folder_.config.max_positions;
    if (is_there(path(adapter_file)))
      refuse(adapter_file,
             "an adapter beside the weights is not supported; join them, in Python: "
             "model.merge_and_unload().save_pretrained(DIR)");
    for (const char* file : {config_file, generation_file, tokenizer_config_file, tokenizer_file,
                             special_tokens_file, pooling_file, prompts_file})
      check(file, file);
    check(sentence_file, sentence_name_);
    generation();
    tokenizer();
    logits();
    sentence_transformer();
    if (settings_.notices.size() > 1) std::ranges::sort(settings_.notices);
    return std::move(settings_);
  }

 private:
  fs::path path(const std::string& file) const { return folder_.path / file; }
  const json& of(const std::string& file) {
    const auto found = files_.find(file);
    if (found != files_.end()) return found->second;
    return files_.emplace(file, object_or_empty(path(file))).first->second;
  }
  /// `rules` is the file whose rules apply.
  void check(const char* rules, const std::string& file) {
    check_fields(rules, path(file), folder_.config.model_type, of(file), settings_.notices);
  }
  void add(FolderOption option, const char* head) {
    settings_.options.push_back({.option = std::move(option), .head = head});
  }
  [[noreturn]] void refuse(const std::string& file, const std::string& problem) const {
    throw Error(path(file).string() + ": " + problem);
  }

  // --- tokenizer ---

  void tokenizer() {
    const TokenizerJson files = {.folder = folder_.path,
                                 .config = of(tokenizer_config_file),
                                 .whole = of(tokenizer_file),
                                 .specials = of(special_tokens_file),
                                 .added = of(added_tokens_file),
                                 .lines = data::load_vocabulary(folder_.tokenizer.vocabulary)};
    for (FolderOption& option : tokenizer_settings(folder_, files)) add(std::move(option), "");
    markers(role_tokens(folder_, files), files);
    const json& most = of(tokenizer_config_file).value("model_max_length", json());
    if (most.is_number() && most.get<double>() >= 1 &&
        most.get<double>() < static_cast<double>(settings_.max_length))
      settings_.max_length = static_cast<std::int64_t>(most.get<double>());
    const json& names = of(tokenizer_config_file).value("model_input_names", json());
    if (folder_.config.model_type == "bert" && names.is_array() &&
        std::ranges::find(names, "token_type_ids") == names.end())
      refuse(tokenizer_config_file, "model_input_names lacks token_type_ids, but a BERT has segments here");
  }

  /// Checks, for models that generate, the numbers of the markers in both files that have them.
  void markers(const RoleTokens& roles, const TokenizerJson& files) {
    if (!family_of(folder_.config).shape.decoder && !family_of(folder_.config).shape.causal) return;
    for (const char* file : {config_file, generation_file})
      for (const auto& [name, token] :
           {std::pair("bos_token_id", roles.start), std::pair("eos_token_id", roles.end)}) {
        const json said = of(file).value(name, json());
        const bool starts = name[0] == 'b';
        if (said.is_null() ||
            (starts && folder_.config.model_type != "gpt2" && folder_.config.model_type != "bart"))
          continue;
        const json& number = said.is_array() && said.size() == 1 ? said.front() : said;
        if (number != json(files.number_of(token).value_or(-1)))
          refuse(file, std::string(name) + " is " + config::shortened(said.dump()) + ", but the token " +
                           token + " has the number " + std::to_string(files.number_of(token).value_or(-1)));
      }
  }

  // --- generation ---

  void generation() {
    const std::string& type = folder_.config.model_type;
    const json& later = of(generation_file);
    if (family_of(folder_.config).shape.decoder) {
      const json start = later.value("decoder_start_token_id", json());
      if (!start.is_null() && start != config_.value("decoder_start_token_id", json()))
        refuse(generation_file, "decoder_start_token_id is " + config::shortened(start.dump()) + ", but " +
                                    config_file + " says " +
                                    config_.value("decoder_start_token_id", json()).dump());
    }
    if (type == "t5") t5_activation();
    if (type != "bart") return;
    const json forced = later.contains("forced_bos_token_id") ? later.at("forced_bos_token_id")
                                                              : config_.value("forced_bos_token_id", json());
    if (forced.is_null())
      settings_.notices.push_back(
          path(config_file).string() +
          ": forced_bos_token_id is not set; a text that is written begins with <s> here all the same");
    else if (forced != config_.value("bos_token_id", json(0)))
      refuse(config_file, "forced_bos_token_id is " + config::shortened(forced.dump()) +
                              ", but a text that is written begins with bos_token_id here");
  }

  /// Refuses members of a T5's config.json that contradict feed_forward_proj, which counts here.
  void t5_activation() {
    const std::string said = config_.value("feed_forward_proj", "relu");
    const bool gated = said.starts_with("gated-");
    const std::string name = said == "gated-gelu" ? "gelu_new" : gated ? said.substr(6) : said;
    for (const auto& [member, expected] :
         {std::pair("dense_act_fn", json(name)), std::pair("is_gated_act", json(gated))}) {
      const json value = config_.value(member, json());
      if (!value.is_null() && value != expected)
        refuse(config_file, std::string(member) + " is " + config::shortened(value.dump()) +
                                ", but feed_forward_proj = \"" + config::shortened(said) + "\" means " +
                                expected.dump());
    }
  }

  // --- logits of masked words ---

  void logits() {
    const Family& family = family_of(folder_.config);
    if (family.shape.decoder || family.shape.causal) {
      require_equal_copies(folder_.path, family,
                           folder_.config.scaled_states ? CopiesOf::table_and_output : CopiesOf::table);
      return;
    }
    const bool tied = is_set(config_, "tie_word_embeddings", true);
    const auto head = [&](const char* option, auto value, std::string reason, bool is_default) {
      add({.path = {"model", "head", option},
           .value = config::Value{std::move(value), {}},
           .file = path(config_file),
           .reason = std::move(reason),
           .is_default = is_default},
          language_model_head);
    };
    if (tied && folder_.architecture.starts_with("ForMaskedLM"))
      require_equal_copies(folder_.path, family, CopiesOf::logits);
    head("tied", tied, std::string("tie_word_embeddings = ") + (tied ? "true" : "false"), tied);
    // RoBERTa's head has gelu whatever its layers have.
    const std::string activation =
        folder_.config.model_type == "roberta" ? "gelu" : folder_.config.activation;
    head("activation", activation, "activation of the head for masked words: " + activation,
         activation == "gelu");
    constexpr double usual = 1e-12;
    const double epsilon = folder_.config.epsilon;
    head("epsilon", epsilon, std::string(family.config.epsilon) + " = " + json(epsilon).dump(),
         epsilon == usual);
  }

  // --- sentence-transformers ---

  void sentence_transformer() {
    if (!is_there(path(modules_file))) return;
    bool pools = false, normalizes = false;
    std::size_t place = 0;
    for (const json& module : modules()) {
      const std::string type = text_of_module(module, "type"), name = type.substr(type.rfind('.') + 1);
      const std::string folder = text_of_module(module, "path");
      if (place == 0 && name == "Transformer" && folder.empty()) {
      } else if (place == 1 && name == "Pooling") {
        pools = true;
        pooling((folder.empty() ? "" : folder + "/") + config_file);
      } else if (place == 2 && name == "Normalize") {
        normalizes = true;
      } else {
        refuse(modules_file,
               "module " + std::to_string(place) + " is \"" + config::shortened(type) + "\" in \"" +
                   config::shortened(folder) +
                   "\"; supported are Transformer in the folder itself, then Pooling, then Normalize");
      }
      ++place;
    }
    if (!pools) refuse(modules_file, "there is no module Pooling, which makes one vector of an input");
    add({.path = {"model", "head", "normalize"},
         .value = config::Value{normalizes, {}},
         .file = path(modules_file),
         .reason = normalizes ? "that vectors go through Normalize" : "that there is no Normalize",
         .may_differ = true,
         .is_default = !normalizes},
        embedding_head);
    const json& most = of(sentence_name_).value("max_seq_length", json());
    if (most.is_number_integer() && most >= 1)
      settings_.max_length = std::min(settings_.max_length, most.get<std::int64_t>());
    if (is_set(of(sentence_name_), "do_lower_case")) lower();
  }

  /// Returns modules.json, which is an array.
  json modules() const {
    const fs::path file = path(modules_file);
    json list;
    try {
      list = parse_json(read_file(file, most_json_bytes));
    } catch (const JsonError& error) {
      throw Error(file.string() + ": " + error.what());
    }
    const auto is_object = [](const json& module) { return module.is_object(); };
    if (!list.is_array() || !std::ranges::all_of(list, is_object))
      throw Error(file.string() + ": an array of JSON objects is expected");
    return list;
  }

  /// Returns an empty string if the module has no such member.
  std::string text_of_module(const json& module, const char* name) const {
    try {
      return member<std::string>(module, name, "a text").value_or("");
    } catch (const Error& error) {
      refuse(modules_file, error.what());
    }
  }

  void pooling(const std::string& file) {
    const fs::path config = folder_.path / file;
    if (!is_there(config)) throw Error(config.string() + " is missing, so the pooling of vectors is unknown");
    const json object = read_json_object(config);
    if (file != pooling_file)
      check_fields(pooling_file, config, folder_.config.model_type, object, settings_.notices);
    std::vector<std::string> modes;
    if (const json& mode = object.value("pooling_mode", json()); !mode.is_null()) {
      for (const json& one : mode.is_array() ? mode : json::array({mode}))
        modes.push_back(one.is_string() ? one.get<std::string>() : one.dump());
    } else {
      if (is_set(object, "pooling_mode_cls_token")) modes.emplace_back("cls");
      if (is_set(object, "pooling_mode_mean_tokens")) modes.emplace_back("mean");
      if (modes.empty()) modes.emplace_back("mean");
    }
    if (modes.size() != 1 || (modes.front() != "cls" && modes.front() != "mean")) {
      std::string list;
      for (const std::string& mode : modes) list += (list.empty() ? "" : ", ") + mode;
      throw Error(config.string() + ": pooling is \"" + config::shortened(list) +
                  "\"; supported is one of \"cls\" and \"mean\"");
    }
    for (const char* name : {"word_embedding_dimension", "embedding_dimension"})
      if (const json width = object.value(name, json()); !width.is_null() && width != folder_.config.width)
        throw Error(config.string() + ": " + name + " is " + width.dump() + ", but the model is " +
                    std::to_string(folder_.config.width) + " wide");
    add({.path = {"model", "head", "pooling"},
         .value = config::Value{modes.front(), {}},
         .file = config,
         .reason = "pooling = \"" + modes.front() + "\"",
         .may_differ = true,
         .is_default = modes.front() == "mean"},
        embedding_head);
  }

  /// Adds the options for a text that is lowered before the tokenizer's own normalizer, which keeps its
  /// treatment of accents.
  void lower() {
    const auto named = [](const char* name) {
      return [name](const FolderSettings::Option& option) {
        return option.head.empty() && option.option.path.back() == name;
      };
    };
    const auto lowercase = std::ranges::find_if(settings_.options, named("lowercase"));
    if (lowercase == settings_.options.end())
      refuse(sentence_name_,
             "do_lower_case is true, but the tokenizer " + folder_.tokenizer.type + " does not lowercase");
    if (std::get<bool>(lowercase->option.value.data)) return;
    const bool strips = std::ranges::any_of(settings_.options, named("strip_accents"));  // set, and true
    const auto option = [&](const char* name, bool value) {
      return FolderOption{.path = {"tokenizer", name},
                          .value = config::Value{value, {}},
                          .file = path(sentence_name_),
                          .reason = "do_lower_case = true"};
    };
    add(option("lowercase", true), embedding_head);
    add(option("strip_accents", strips), embedding_head);
  }

  const HuggingFaceFolder& folder_;
  json config_;
  std::map<std::string, json> files_;
  std::string sentence_name_ = sentence_file;  ///< its name in the folder
  FolderSettings settings_;
};

}  // namespace

FolderSettings settings_of(const HuggingFaceFolder& folder) {
  return Collector(folder).run();
}

}  // namespace encore::pretrained
