// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "pretrained": folders of pretrained models from elsewhere. One file of a folder is mutated,
// and the folder is read as `exp import` and the worker read it (pretrained/hugging_face_folder.hpp):
// configuration, settings, options of the experiment, its content hash, and the tokenizer, which then encodes
// inputs; then `exp export` writes both. fuzz.cpp calls the target; read model_folders.hpp first.
#include <nlohmann/json.hpp>

#include "config/experiment.hpp"
#include "config/experiment_file.hpp"
#include "data/vocabulary.hpp"
#include "fuzz/model_folders.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/shipped_tokenizers.hpp"
#include "fuzz/target.hpp"
#include "plan/plan.hpp"
#include "pretrained/folder_settings.hpp"
#include "record/safetensors.hpp"
#include "unit/config/sample_catalogue.hpp"

namespace encore::fuzz {

namespace {

namespace fs = std::filesystem;

/// Returns all types that a folder may use, with all options that it may set.
config::Catalogue catalogue_of_all() {
  config::Manifest manifest = sample::catalogue().manifests().front();
  std::erase_if(manifest.offers, [](const config::ManifestOffer& offer) {
    return offer.kind == Kind::layer || offer.kind == Kind::head || offer.kind == Kind::tokenizer;
  });
  const auto rule = OptionRule{.help = "as the folder has it"};
  const Schema layer = Schema()
                           .integer("heads", 4, {.help = "at least one", .min = 1})
                           .optional("head_size", OptionType::integer, {.help = "at least one", .min = 1})
                           .number("attention_dropout", 0.0, {.help = "a share", .min = 0.0, .max = 1.0})
                           .boolean("bias", true, rule)
                           .boolean("scaled", true, rule)
                           .integer("buckets", 32, {.help = "an even number", .min = 2, .max = 4096})
                           .integer("max_distance", 128, {.help = "at least two", .min = 2})
                           .integer("hidden", 16, {.help = "at least one", .min = 1})
                           .text("activation", "gelu", rule)
                           .number("epsilon", 1e-5, {.help = "in the root", .min = 0, .exclusive_min = true});
  const Schema head = Schema()
                          .boolean("tied", true, rule)
                          .text("activation", "gelu", rule)
                          .number("epsilon", 1e-12, rule)
                          .boolean("transform", true, rule)
                          .boolean("bias", true, rule)
                          .boolean("scaled", false, rule)
                          .boolean("normalize", false, rule)
                          .text("pooling", "mean", rule);
  for (const char* type : {"self_attention", "relative_attention", "cross_attention", "feed_forward",
                           "gated_feed_forward", "layer_norm", "rms_norm"})
    manifest.offers.push_back({.kind = Kind::layer, .name = type, .options = layer});
  for (const char* type : {"embedding", "language_model"})
    manifest.offers.push_back({.kind = Kind::head, .name = type, .options = head});
  for (const Offer& offer : tokenizer_offers())
    manifest.offers.push_back({.kind = Kind::tokenizer, .name = offer.name, .options = offer.options});
  manifest.offers.push_back({.kind = Kind::task,
                             .name = "any",
                             .options = Schema()
                                            .boolean("source_start", false, rule)
                                            .text("target_start", "start", rule)
                                            .boolean("target_begins", false, rule),
                             .needs = {{"words"}, {"tags"}},
                             .measures = sample::ner_measures(),
                             .select = "max dev/f1"});
  config::Catalogue catalogue;
  catalogue.add(std::move(manifest));
  return catalogue;
}

std::string experiment_of(const fs::path& folder, const std::string& head) {
  return "name = \"tiny\"\n[task]\ntype = \"any\"\n[data]\ntype = \"conll\"\nmax_length = 16\n"
         "[model]\nfrom = \"" +
         folder.string() + "\"\n[model.head]\ntype = \"" + head +
         "\"\n[optimizer]\ntype = \"sgd\"\nlearning_rate = 0.1\n"
         "[schedule]\ntype = \"constant\"\n[train]\nepochs = 0\n";
}

const Words& words_of_folders() {
  static const Words words = [] {
    Words all = json_words();
    all.insert(all.end(), {"[MASK]\n",
                           "##",
                           "\u0120",
                           "\u2581",
                           "\"[CLS]\"",
                           "\"<s>\"",
                           "\"<mask>\"",
                           "<extra_id_0>",
                           "\"BPE\"",
                           "\"WordPiece\"",
                           "\"Lowercase\"",
                           "\"added_tokens\":",
                           "\"content\":",
                           "\"id\":",
                           "\"lstrip\":true",
                           "\"single_word\":true",
                           "\"normalized\":true",
                           "\"model_type\":\"t5\"",
                           "\"vocab_size\":",
                           "\"merges\":",
                           "#version: 0.2\n",
                           "l o\n",
                           "\"id2label\":{\"0\":\"O\"}",
                           "\n",
                           " ",
                           "\x0A",
                           "\x80\x01",
                           "\xFF\xFF\xFF\xFF\x0F",
                           "\xff",
                           "\xef\xbb\xbf"});
    return all;
  }();
  return words;
}

class PretrainedTarget final : public Target {
 public:
  std::string name() const override { return "pretrained"; }

  std::vector<std::string> corpus() override {
    write_bytes(folder_ / "train.conll", "");
    for (const char* tensor : {"embeddings.word_embeddings.weight", "shared.weight"}) save_weights(tensor);
    std::vector<std::string> inputs;
    for (const auto& [folder, files] : model_folders())
      for (const auto& [file, content] : files)
        inputs.push_back(NamedInput{folder + " " + file, content}.text());
    return inputs;
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    NamedInput file = NamedInput::of(input);
    if (file.name.ends_with(".json") && !random.once_in(3))
      mutate_json(file.content, random);
    else
      mutate_bytes(file.content, words_of_folders(), {NamedInput::of(random.any_of(others)).content}, random);
    input = file.text();
  }

  void take(const std::string& input) override {
    static const config::Catalogue catalogue = catalogue_of_all();
    const fs::path folder = write_folder(NamedInput::of(input));
    const pretrained::HuggingFaceFolder opened = pretrained::open_hugging_face_folder(folder);
    pretrained::settings_of(opened);
    const char* head = opened.architecture == pretrained::body_architecture ? "embedding" : "language_model";
    const plan::Plan plan = plan::make_plan(
        config::parse_experiment_file(experiment_of(folder, head), folder_ / "a.toml", {}), catalogue);
    const plan::RunPoint& point = plan.points.at(0);
    const config::Experiment experiment = config::make_experiment(point.config, catalogue, point.origin);
    const auto tokenizer = make_tokenizer(experiment.tokenizer.type, experiment.tokenizer.options);
    const std::vector<std::string> lines = data::load_vocabulary(point.data.at("vocab").path);
    tokenizer->load(lines);
    for (const std::string& text : hostile_texts()) require_sound(*tokenizer, text);
    write_again(opened, experiment, *tokenizer, lines);
  }

 private:
  /// Writes configuration and tokenizer as `exp export` does.
  static void write_again(const pretrained::HuggingFaceFolder& folder, const config::Experiment& experiment,
                          const Tokenizer& tokenizer, const std::vector<std::string>& lines) {
    pretrained::WrittenTokenizer written = {.tokenizer_class = "",
                                            .options = experiment.tokenizer.options,
                                            .lines = lines,
                                            .max_length = experiment.data.max_length};
    for (const Special role : all_specials)
      if (const std::optional<std::int32_t> token = tokenizer.find(role)) {
        written.specials[static_cast<std::size_t>(role)] =
            tokenizer.vocabulary()[static_cast<std::size_t>(*token)];
        written.special_numbers.push_back(*token);
      }
    pretrained::family_of(folder.config).tokenizer->written(written);
    pretrained::pretrained_config_to_json(folder.config).dump();
  }

  void save_weights(const std::string& tensor) const {
    const std::vector<float> values(6 * 8, 0.5F);
    record::save_safetensors(folder_ / tensor,
                             {{.name = tensor,
                               .dtype = DType::float32,
                               .shape = {6, 8},
                               .bytes = std::as_bytes(std::span(values))}},
                             {{"format", "pt"}});
  }

  /// Writes the folder that the input's name begins with, with one file replaced. After most mutations of a
  /// vocabulary config.json gets its new number of tokens: otherwise nearly every input would be rejected by
  /// the comparison of the two, and nothing after it would be read.
  fs::path write_folder(const NamedInput& input) const {
    const std::size_t blank = input.name.find(' ');
    const std::string name = input.name.substr(0, blank),
                      changed = blank == std::string::npos ? "" : input.name.substr(blank + 1);
    const auto known = model_folders().find(name);
    if (known == model_folders().end() || !known->second.contains(changed))
      throw Error("the first line of an input names a folder and one of its files");
    const fs::path folder = folder_ / "model";
    fs::remove_all(folder);
    fs::create_directories(folder / "1_Pooling");
    for (const auto& [file, content] : known->second)
      write_bytes(folder / file, file == changed ? input.content : content);
    fs::create_hard_link(folder_ / (name == "t5" ? "shared.weight" : "embeddings.word_embeddings.weight"),
                         folder / "model.safetensors");
    for (const char* vocabulary : {"vocab.txt", "vocab.json", "tokenizer.json"})
      if (known->second.contains(vocabulary) && changed != "config.json") {
        fit_vocabulary_size(folder, known->second.at("config.json"), vocabulary);
        break;
      }
    return folder;
  }

  static void fit_vocabulary_size(const fs::path& folder, const std::string& config,
                                  const std::string& vocabulary) {
    try {
      nlohmann::json fitting = nlohmann::json::parse(config);
      fitting["vocab_size"] = data::token_count(data::load_vocabulary(folder / vocabulary));
      if (fitting.contains("decoder_vocab_size")) fitting["decoder_vocab_size"] = fitting["vocab_size"];
      write_bytes(folder / "config.json", fitting.dump());
    } catch (const Error&) {  // which open_hugging_face_folder repeats
    }
  }

  Scratch folder_;
};

}  // namespace

std::unique_ptr<Target> make_pretrained_target() {
  return std::make_unique<PretrainedTarget>();
}

}  // namespace encore::fuzz
