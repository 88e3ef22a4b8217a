// SPDX-License-Identifier: BSD-3-Clause
// FolderFiller: fills the document of one run from a folder, and compares what both say. PointMaker (plan/)
// calls it for each point. It gets the options of [model] from implied_options() (pretrained_config.hpp) and
// the others from settings_of() (folder_settings.hpp). Identities of runs depend on what is filled in, so an
// equal folder must always give equal options. Read folder_filler.hpp first.
#include "pretrained/folder_filler.hpp"

#include <algorithm>
#include <utility>

#include "base/input_file.hpp"
#include "base/nearest.hpp"
#include "config/origin.hpp"
#include "pretrained/option_filler.hpp"

namespace encore::pretrained {

namespace {

namespace fs = std::filesystem;

/// Fills the document of one run from one folder.
class Filling : private OptionFiller {
 public:
  Filling(const HuggingFaceFolder& folder, const FolderSettings& settings, config::Value& root,
          config::Problems& problems)
      : OptionFiller(root, problems), folder_(folder), settings_(settings) {}

  void run() {
    const fs::path config = folder_.path / config_file;
    const bool has_decoder = folder_.config.decoder_layers > 0;
    if (const config::Value* decoder = root_.at({"model", "decoder"}); decoder != nullptr && !has_decoder)
      refuse(
          *decoder, "model.decoder",
          "[model.decoder] cannot stand beside model.from: " + config.string() + " describes a single stack");
    for (const ImpliedOption& option : implied_options(folder_.config)) put(option, config);
    tokenizer(config);
    for (const FolderSettings::Option& each : settings_.options)
      if (each.option.path.front() != "tokenizer" && counts(each)) put(each.option);
  }

 private:
  bool put(const ImpliedOption& option, const fs::path& file) {
    return OptionFiller::put(option, from(file));
  }

  bool is_of_this_head(const FolderSettings::Option& setting) const {
    const config::Value* head = root_.at({"model", "head", "type"});
    return head != nullptr && head->is_text() && head->text() == setting.head;
  }
  /// Returns whether the option counts in this experiment. An option for the head of the experiment takes
  /// precedence over one for any head.
  bool counts(const FolderSettings::Option& setting) const {
    if (!setting.head.empty()) return is_of_this_head(setting);
    return std::ranges::none_of(settings_.options, [&](const FolderSettings::Option& other) {
      return other.option.path == setting.option.path && !other.head.empty() && is_of_this_head(other);
    });
  }
  bool put(const FolderOption& option) {
    return put({.path = option.path,
                .value = option.value,
                .reason = option.reason,
                .may_differ = option.may_differ,
                .is_default = option.is_default},
               option.file);
  }

  static config::Origin from(const fs::path& file) { return {config::Source::file, {file.string(), 0, 0}}; }

  void tokenizer(const fs::path& config) {
    const PretrainedTokenizer& tokenizer = folder_.tokenizer;
    const std::string type = "model_type = \"" + folder_.config.model_type + "\"";
    const bool is_other = !put(
        {.path = {"tokenizer", "type"}, .value = config::Value{tokenizer.type, {}}, .reason = type}, config);
    if (is_other) return;  // the options of the tokenizer are its own
    for (const FolderSettings::Option& each : settings_.options)
      if (each.option.path.front() == "tokenizer" && counts(each)) put(each.option);
    for (const char* option : {"vocab_size", "min_frequency", "character_coverage", "byte_fallback"})
      if (const config::Value* given = root_.at({"tokenizer", option}))
        refuse(*given, std::string("tokenizer.") + option,
               "tokenizer." + std::string(option) +
                   " is for a vocabulary that is trained, but model.from brings " +
                   tokenizer.vocabulary.string() + "; leave it out");
    if (const config::Value* given = root_.at({"tokenizer", "vocab"}))
      compare_vocabulary(*given);
    else
      set({"tokenizer", "vocab"}, config::Value{tokenizer.vocabulary.filename().string(), {}},
          from(tokenizer.vocabulary));
  }

  /// Compares the vocabulary that the experiment names with the folder's. Another file is accepted if its
  /// content is equal.
  void compare_vocabulary(const config::Value& given) {
    if (!given.is_text()) return;
    try {
      const fs::path path = config::resolve_path(given.text(), given.origin, {});
      if (path == folder_.tokenizer.vocabulary) return;
      if (read_file(path) == read_file(folder_.tokenizer.vocabulary)) return;
      refuse(given, "tokenizer.vocab",
             "tokenizer.vocab names " + path.string() +
                 ", but the tokens that model.from was trained with are in " +
                 folder_.tokenizer.vocabulary.string() + "; leave it out");
    } catch (const Error& error) {
      refuse(given, "tokenizer.vocab", std::string("option \"tokenizer.vocab\": ") + error.what());
    }
  }

  const HuggingFaceFolder& folder_;
  const FolderSettings& settings_;
};

/// Throws Error if the folder decides options of [task] that the task does not have.
void require_task(const HuggingFaceFolder& folder, const config::Value& root,
                  const config::Catalogue& catalogue) {
  const config::Value* named = root.at({"task", "type"});
  const config::ManifestOffer* task =
      named != nullptr && named->is_text() ? catalogue.find(Kind::task, named->text()) : nullptr;
  if (task == nullptr) return;  // reported elsewhere
  const std::vector<ImpliedOption> options = implied_options(folder.config);
  const auto has_all = [&](const config::ManifestOffer& offer) {
    return std::ranges::all_of(options, [&](const ImpliedOption& option) {
      return option.path.front() != "task" || offer.options.find(option.path.at(1)) != nullptr;
    });
  };
  if (has_all(*task)) return;
  std::vector<std::string> others;
  for (const std::string& name : catalogue.names(Kind::task))
    if (has_all(catalogue.get(Kind::task, name))) others.push_back(name);
  throw Error((folder.path / config_file).string() +
              " describes an encoder and a decoder that generates text, but task \"" + task->name +
              "\" generates none" + (others.empty() ? "" : "; tasks that do are " + quoted_list(others)));
}

}  // namespace

const config::Value* named_folder(const config::Value& root) {
  const config::Value* from = root.at({"model", "from"});
  return from != nullptr && from->is_text() ? from : nullptr;
}

bool FolderFiller::fill(config::Value& root, const config::Catalogue& catalogue, config::Problems& problems) {
  const config::Value* from = named_folder(root);
  if (from == nullptr) return true;
  try {
    const std::string path = config::resolve_path(from->text(), from->origin, {});
    if (path.empty()) throw Error("must be the path of a folder, found an empty one");
    const Opened& opened = open(path);
    require_task(opened.folder, root, catalogue);
    Filling(opened.folder, opened.settings, root, problems).run();
    return true;
  } catch (const Error& error) {
    problems.add(from->origin.place, "model.from",
                 std::string("option \"from\" of [model]: ") + error.what());
    return false;
  }
}

const FolderFiller::Opened& FolderFiller::open(const std::string& path) {
  const auto known = folders_.find(path);
  if (known != folders_.end()) return known->second;
  HuggingFaceFolder folder = open_hugging_face_folder(path);
  FolderSettings settings = settings_of(folder);
  return folders_.emplace(path, Opened{std::move(folder), std::move(settings)}).first->second;
}

}  // namespace encore::pretrained
