// SPDX-License-Identifier: BSD-3-Clause
// A small catalogue of types, and a small correct experiment for it, so that tests of config/, plan/ and
// pretrained/ and two fuzzers need no built plugin. Many expected messages contain the line numbers, names
// and ranges of these samples: append to them, and never reorder.
#pragma once

#include <string>

#include "config/catalogue.hpp"

namespace encore::sample {

/// Returns a measure that is a share. `always` is false for one that not all data have.
inline Measure fraction(const std::string& name, bool always = true) {
  return {.name = name,
          .help = "a share",
          .fraction = true,
          .reducer = Reducer::ratio,
          .columns = {"right", "all"},
          .always = always};
}

inline std::vector<Measure> ner_measures() {
  return {fraction("f1"),
          fraction("f1_macro"),
          fraction("precision"),
          fraction("recall"),
          fraction("token_accuracy"),
          fraction("f1/{label}", false),
          fraction("precision/{label}", false),
          fraction("recall/{label}", false)};
}

/// Returns the catalogue of one plugin "sample" with types of every kind; it stands for the manifests of a
/// folder.
inline config::Catalogue catalogue() {
  config::Manifest manifest;
  manifest.name = "sample";
  manifest.version = "1.0.0";
  manifest.fingerprint = "sdk=1;";
  manifest.library = "sample.so";
  manifest.file = "/plugins/sample.json";
  const auto rule = [](const char* help) { return OptionRule{.help = help}; };
  const OptionRule share{.help = "a share", .min = 0.0, .max = 1.0, .exclusive_max = true};
  const OptionRule positive{.help = "a size", .min = 1};
  manifest.offers = {
      {Kind::layer, "self_attention", 2,
       Schema().integer("heads", 4, positive).number("dropout", 0.0, share)},
      {Kind::layer, "alibi_attention", 1, Schema().integer("heads", 4, positive)},
      {Kind::layer, "sliding_window_attention", 1,
       Schema().integer("heads", 4, positive).integer("window", 64, positive)},
      {Kind::layer, "feed_forward", 1,
       Schema()
           .required("hidden", OptionType::integer, positive)
           .choice("activation", "relu", {"relu", "gelu"}, {})},
      {Kind::layer, "layer_norm", 1,
       Schema().number("epsilon", 1e-5, {.help = "in the root", .min = 0, .exclusive_min = true})},
      {Kind::head, "linear", 1, Schema().boolean("residual_norm", false, rule("norm before the projection"))},
      {Kind::tokenizer, "wordpiece", 1,
       Schema()
           .optional("vocab", OptionType::path, rule("one token a line"))
           .integer("vocab_size", 4000, positive)
           .text_list("keep", {}, rule("words that stay whole"))},
      {Kind::optimizer, "adamw", 1,
       Schema()
           .required("learning_rate", OptionType::number,
                     {.help = "step size", .min = 0, .exclusive_min = true})
           .number("weight_decay", 0.01, {.help = "decay", .min = 0})},
      {Kind::optimizer, "sgd", 1,
       Schema()
           .required("learning_rate", OptionType::number, {.help = "step size"})
           .number("momentum", 0.0, share)},
      {Kind::schedule, "constant", 1, Schema()},
      {Kind::schedule, "linear", 1,
       Schema().integer("warmup_steps", 0, {.help = "steps", .unit = "steps", .min = 0})},
      {.kind = Kind::task,
       .name = "ner",
       .summary = "entities in sentences",
       .needs = {{"words"}, {"tags"}},
       .measures = ner_measures(),
       .select = "max dev/f1"},
      {.kind = Kind::task,
       .name = "classify",
       .version = 2,
       .options = Schema().integer("top", 1, positive),
       .needs = {{"text"}, {"label"}},
       .measures = {fraction("accuracy"),
                    {.name = "confusion",
                     .help = "truth and prediction",
                     .reducer = Reducer::matrix,
                     .columns = {"taken"}}},
       .select = "max dev/accuracy"},
      {.kind = Kind::reader, .name = "conll", .summary = "one token per line", .gives = {"words", "tags"}},
      {.kind = Kind::reader,
       .name = "tsv",
       .options = Schema()
                      .text("separator", "tab", rule("between columns"))
                      .optional("names", OptionType::path, rule("a file of labels")),
       .gives = {"text", "label"}},
      {.kind = Kind::step, .name = "ask", .summary = "asks a model", .asks_model = true},
      {.kind = Kind::step,
       .name = "judge",
       .version = 3,
       .options = Schema().number("error", 0.1, share),
       .measures = {fraction("error_rate")},
       .select = "max dev/error_rate"},
  };
  config::Catalogue catalogue;
  catalogue.add(std::move(manifest));
  return catalogue;
}

/// A correct experiment for catalogue(). Tests change one place of it with changed().
inline const std::string experiment = R"(name = "tiny"
seed = 1
[task]
type = "ner"
[data]
type = "conll"
root = "corpus"
train = "train.conll"
dev = "dev.conll"
[tokenizer]
type = "wordpiece"
[model]
width = 8
layers = 2
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 16
[model.head]
type = "linear"
[optimizer]
type = "adamw"
learning_rate = 5e-4
[schedule]
type = "linear"
warmup_steps = 20
[train]
epochs = 3
)";

/// Returns `text` with the only occurrence of `from` replaced; fails if there are several or none.
inline std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  ENCORE_REQUIRE(place != std::string::npos, "\"" + from + "\" is not in the text");
  ENCORE_REQUIRE(text.find(from, place + 1) == std::string::npos, "\"" + from + "\" is in the text twice");
  return text.replace(place, from.size(), to);
}

}  // namespace encore::sample
