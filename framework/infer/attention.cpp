// SPDX-License-Identifier: BSD-3-Clause
// Implements attention.hpp: from an input to the attention weights of each layer and head over its tokens,
// for `exp attention` and for runs that keep them (train.show_attention). It encodes the input as the task
// does, runs one pass, and labels rows and columns with the text of the tokens. Members of the JSON that is
// made from the result must stay; the pass must be one without dropout. Read attention.hpp first.
#include "infer/attention.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <encore/target_tokenizer.hpp>

#include "base/utf8.hpp"

namespace encore::infer {
namespace {

/// The largest number of weights in one answer: a larger file is too slow in a browser.
constexpr std::size_t most_weights = 4'000'000;
/// The largest number of weights that a run keeps for its examples: about ten megabytes.
constexpr std::size_t most_kept_weights = 1'000'000;

/// Replaces blanks, tabs and line ends by visible signs.
std::string with_visible_blanks(std::string_view text) {
  std::string shown;
  for (const char letter : text) {
    if (letter == ' ')
      shown += "\u2423";
    else if (letter == '\n')
      shown += "\u21B5";
    else if (letter == '\t')
      shown += "\u21E5";
    else
      shown += letter;
  }
  return shown;
}

std::string shown_token(const Tokenizer& tokenizer, std::int32_t token) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  const std::string& entry = tokenizer.vocabulary()[static_cast<std::size_t>(token)];
  const std::string text = tokenizer.decode(std::span(&token, 1));
  // A token with a part of a character has no text of its own, so its name in the vocabulary is shown.
  if (text.empty() || find_invalid_utf8(text) || text.find(replacement) != std::string::npos)
    return with_visible_blanks(entry);
  std::string sign;
  for (const std::string_view mark : {"##", "\u2581"})
    if (entry.starts_with(mark) && !text.starts_with(mark)) sign = mark;
  return sign + with_visible_blanks(text);
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

/// Throws Error unless each name in the choice is that of a layer; otherwise the output would have fewer
/// layers than the user requested.
void require_known_layers(const model::SequenceAttention& found, const record::AttentionChoice& choice) {
  std::vector<std::string> names;
  for (const model::AttentionMap& map : found.maps) names.push_back(map.layer);
  for (const std::string& word : choice.layers) {
    const record::AttentionChoice one{.layers = {word}};
    if (std::ranges::any_of(found.maps,
                            [&](const model::AttentionMap& map) { return one.means(map.layer, map.block); }))
      continue;
    for (const model::HiddenAttention& hidden : found.hidden)
      if (one.means(hidden.layer, -1))
        throw Error("layer " + hidden.layer + " is a " + hidden.type +
                    ", which has no attention weights; those of this model have " + list_of(names));
    throw Error("there is no layer \"" + word + "\" with attention weights; the model has " + list_of(names));
  }
}

std::vector<std::int64_t> chosen_heads(const model::AttentionMap& map,
                                       const record::AttentionChoice& choice) {
  std::vector<std::int64_t> heads;
  for (std::size_t h = 0; h < map.heads; ++h) {
    const auto head = static_cast<std::int64_t>(h);
    if (choice.heads.empty() || std::ranges::find(choice.heads, head) != choice.heads.end())
      heads.push_back(head);
  }
  return heads;
}

void require_known_heads(const std::vector<model::AttentionMap>& maps,
                         const record::AttentionChoice& choice) {
  std::size_t most = 0;
  for (const model::AttentionMap& map : maps) most = std::max(most, map.heads);
  for (const std::int64_t head : choice.heads)
    if (head < 0 || static_cast<std::size_t>(head) >= most)
      throw Error("there is no head " + std::to_string(head) + "; the chosen layers have " +
                  std::to_string(most) + " heads, counted from 0");
}

/// Throws Error if no layer has weights.
void require_weights(const model::SequenceAttention& found) {
  if (!found.maps.empty()) return;
  std::set<std::string> types;
  for (const model::HiddenAttention& hidden : found.hidden) types.insert("\"" + hidden.type + "\"");
  throw Error(
      types.empty()
          ? "the model of this run has no attention layer, so there are no weights to show"
          : "no layer of this model has attention weights that could be shown; its layers are of type " +
                list_of({types.begin(), types.end()}));
}

std::size_t weights_in(const std::vector<model::AttentionMap>& maps, const record::AttentionChoice& choice) {
  std::size_t weights = 0;
  for (const model::AttentionMap& map : maps)
    weights += chosen_heads(map, choice).size() * map.height * map.width;
  return weights;
}

void require_few_weights(const std::vector<model::AttentionMap>& maps,
                         const record::AttentionChoice& choice) {
  const std::size_t weights = weights_in(maps, choice);
  if (weights > most_weights)
    throw Error("the weights of this text are " + std::to_string(weights) + " numbers, and at most " +
                std::to_string(most_weights) +
                " can be shown together; choose layers and heads (--layer, --head), or shorten the text");
}

// --- one sequence ---

model::SequenceAttention attention_in(model::Model& model, const ExampleSet& set, std::size_t sequence) {
  const ExampleSet single = set.by_sequence();
  data::BatchNeeds needs = model.needs();
  needs.losses.clear();
  data::PackedBatch packed;
  const auto number = static_cast<std::int32_t>(sequence);
  data::Packer(single, needs).pack(std::span(&number, 1), packed);
  model::DeviceBatch batch(model.device(), packed.size(), needs);
  batch.upload(packed);
  return model.attention(batch);
}

record::AttentionText text_with(const model::SequenceAttention& found, const Tokenizer& tokenizer,
                                const ExampleSet& set, std::size_t sequence,
                                const record::AttentionChoice& choice) {
  record::AttentionText text{
      .tokens = shown_tokens(tokenizer, set.ids(sequence)),
      .target = shown_tokens(target_tokenizer_of(tokenizer), set.target_ids(sequence))};
  for (const model::AttentionMap& map : found.maps) {
    record::AttentionLayer& layer =
        text.layers.emplace_back(record::AttentionLayer{.layer = map.layer,
                                                        .type = map.type,
                                                        .rows_of_decoder = map.rows == Space::target,
                                                        .columns_of_decoder = map.columns == Space::target,
                                                        .heads = chosen_heads(map, choice),
                                                        .weights = {}});
    for (const std::int64_t head : layer.heads) {
      const std::span<const float> weights = map.head(static_cast<std::size_t>(head));
      layer.weights.emplace_back(weights.begin(), weights.end());
    }
  }
  for (const model::HiddenAttention& hidden : found.hidden)
    text.hidden.emplace_back(hidden.layer, hidden.type);
  return text;
}

// --- the target ---

/// Returns the same sequences with other targets, without the columns that belong to the old targets.
ExampleSet with_targets(const ExampleSet& set, const std::vector<std::vector<std::int32_t>>& targets) {
  struct Arrays {
    std::vector<std::int32_t> lengths, ids;
  };
  const auto own = std::make_shared<std::pair<ExampleSet, Arrays>>(set, Arrays());
  for (const std::vector<std::int32_t>& target : targets) {
    own->second.lengths.push_back(static_cast<std::int32_t>(target.size()));
    own->second.ids.insert(own->second.ids.end(), target.begin(), target.end());
  }
  ExampleArrays arrays = set.arrays();
  arrays.target_lengths = own->second.lengths;
  arrays.target_ids = own->second.ids;
  std::erase_if(arrays.columns,
                [](const ColumnValues& column) { return column.rule.space == Space::target; });
  return {std::move(arrays), own};
}

/// Returns the set with targets that the decoder generates greedily: the given rows, then the generated
/// tokens, up to data.max_length rows. Adds the generated text to `written`.
ExampleSet with_written_targets(Engine& engine, const tasks::EncodedSet& set, std::string& written) {
  Decoding greedy = engine.task().decoding().value_or(Decoding());
  greedy.beam = greedy.texts = 1;
  greedy.temperature = 0.0;
  std::vector<std::vector<std::int32_t>> targets;
  const auto most = static_cast<std::size_t>(engine.model().max_length());
  std::size_t sequence = 0;
  for (const std::vector<GeneratedText>& texts : engine.generate(set, greedy)) {
    const std::span<const std::int32_t> first = set.set.target_ids(sequence++);
    std::vector<std::int32_t>& target = targets.emplace_back(first.begin(), first.end());
    target.insert(target.end(), texts.at(0).tokens.begin(), texts.at(0).tokens.end());
    target.resize(std::min(target.size(), most));
    written += (written.empty() ? "" : " ") + texts.at(0).text;
  }
  return with_targets(set.set, targets);
}

Records records_of(const Engine& engine, const record::AttentionRequest& request) {
  constexpr std::string_view white_space = " \t\r\n\v\f";
  if (request.text.find_first_not_of(white_space) == std::string::npos)
    throw Error("the text is empty; give one with at least one word");
  Records records = engine.task().from_text(std::span(&request.text, 1));
  if (!request.target) return records;
  constexpr const char* target_field = "target";
  const std::vector<std::string>& truth = engine.fields().truth;
  if (!engine.model().needs().target || std::ranges::find(truth, target_field) == truth.end())
    throw Error(
        "a target is the input of a decoder beside an encoder, and the model of this run has none; leave out "
        "--target");
  if (request.target->find_first_not_of(white_space) == std::string::npos)
    throw Error("the target is empty; give one with at least one word, or leave out --target");
  records.add(target_field, Records::Texts{*request.target});
  return records;
}

void require_whole(const Engine& engine, const ExampleSet& set, const record::AttentionRequest& request) {
  const std::string length = "data.max_length = " + std::to_string(engine.experiment().data.max_length);
  const std::string what = engine.task().left_out(set, 0);
  if (!what.empty())
    throw Error("the text is longer than " + length + " of the model: " + what + "; shorten it");
  if (!request.target) return;
  std::vector<std::int32_t> tokens;
  target_tokenizer_of(engine.tokenizer()).encode(*request.target, tokens);
  const std::int64_t room = engine.model().max_length() - engine.task().decoding().value_or(Decoding()).given;
  if (static_cast<std::int64_t>(tokens.size()) > room)
    throw Error("the target has " + std::to_string(tokens.size()) + " tokens, and " + length +
                " of the model leaves room for " + std::to_string(room) + "; shorten it");
}

}  // namespace

std::vector<record::AttentionToken> shown_tokens(const Tokenizer& tokenizer,
                                                 std::span<const std::int32_t> tokens) {
  std::set<std::int32_t> specials;
  for (const Special role : all_specials)
    if (const std::optional<std::int32_t> token = tokenizer.find(role)) specials.insert(*token);
  std::vector<record::AttentionToken> shown;
  for (const std::int32_t token : tokens) {
    const bool special = specials.contains(token);
    shown.push_back(
        {special ? tokenizer.vocabulary()[static_cast<std::size_t>(token)] : shown_token(tokenizer, token),
         special});
  }
  return shown;
}

record::AttentionText attended(model::Model& model, const Tokenizer& tokenizer, const ExampleSet& set,
                               std::size_t sequence, const record::AttentionChoice& choice) {
  model::SequenceAttention found = attention_in(model, set, sequence);
  require_weights(found);
  require_known_layers(found, choice);
  std::erase_if(found.maps,
                [&](const model::AttentionMap& map) { return !choice.means(map.layer, map.block); });
  require_known_heads(found.maps, choice);
  require_few_weights(found.maps, choice);
  return text_with(found, tokenizer, set, sequence, choice);
}

std::vector<double> mean_cross_attention(model::Model& model, const ExampleSet& set, std::size_t sequence) {
  std::vector<double> mean;
  std::size_t heads = 0;
  const model::SequenceAttention found = attention_in(model, set, sequence);
  for (const model::AttentionMap& map : found.maps) {
    if (map.rows != Space::target || map.columns != Space::tokens) continue;
    mean.resize(map.height * map.width);
    for (std::size_t head = 0; head < map.heads; ++head, ++heads)
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(map.head(head)[i]);
  }
  for (double& weight : mean) weight /= static_cast<double>(heads);
  return mean;
}

record::AttentionTexts attended_examples(model::Model& model, const Tokenizer& tokenizer,
                                         const ExampleSet& set, const std::string& set_name,
                                         std::size_t examples, std::string& left_out) {
  record::AttentionTexts all{.forced = model.needs().target};
  std::size_t weights = 0, skipped = 0;
  for (std::size_t example = 0; example < std::min(examples, set.size()); ++example) {
    const Run sequences = set.sequences(example);
    for (std::size_t i = 0; i < sequences.count; ++i) {
      const std::size_t sequence = sequences.first + i;
      const model::SequenceAttention found = attention_in(model, set, sequence);
      const std::size_t more = weights_in(found.maps, {});
      if (weights + more > most_kept_weights) {
        ++skipped;
        continue;
      }
      weights += more;
      record::AttentionText text = text_with(found, tokenizer, set, sequence, {});
      text.name = "example " + std::to_string(example + 1) + " of " + set_name;
      if (sequences.count > 1)
        text.name += ", part " + std::to_string(i + 1) + " of " + std::to_string(sequences.count);
      all.texts.push_back(std::move(text));
    }
  }
  if (skipped > 0)
    left_out = std::to_string(skipped) + (skipped == 1 ? " example is" : " examples are") +
               " not kept, because all weights together would be more than " +
               std::to_string(most_kept_weights) + " numbers; exp attention shows any text";
  return all;
}

record::AttentionTexts attended(Engine& engine, const record::AttentionRequest& request) {
  tasks::EncodedSet set = engine.encode(records_of(engine, request));
  require_whole(engine, set.set, request);
  record::AttentionTexts all{.step = engine.step(), .forced = request.target.has_value()};
  if (request.target)
    all.written = *request.target;
  else if (engine.model().needs().target)
    set.set = with_written_targets(engine, set, all.written);
  all.texts = engine.attention(set, request.choice);
  for (std::size_t i = 0; i < all.texts.size() && all.texts.size() > 1; ++i)
    all.texts[i].name = "part " + std::to_string(i + 1) + " of " + std::to_string(all.texts.size());
  return all;
}

}  // namespace encore::infer
