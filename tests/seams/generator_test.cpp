// SPDX-License-Identifier: BSD-3-Clause
// Tests Generator (infer/generator.hpp): outputs by greedy decoding, beam search and sampling equal those of
// a reference that scores the whole sequence for each token. An output must not depend on its neighbours in
// the batch or on threads. Each test runs with and without an encoder.
#include "infer/generator.hpp"

#include <cmath>
#include <functional>

#include "base/sha256.hpp"
#include "infer/next_token.hpp"
#include "infer/setup.hpp"
#include "seams/copying.hpp"
#include "support/child_threads.hpp"
#include "support/example_sets.hpp"

namespace encore {
namespace {

using namespace encore::testing;

using Tokens = std::vector<std::int32_t>;
using Texts = std::vector<std::vector<GeneratedText>>;

/// Returns a set of prompts, or of sources with the first row of the decoder.
ExampleSet set_of(const std::vector<Tokens>& texts, bool sources) {
  SetBuilder builder;
  Tokens lengths, ids;
  for (const Tokens& text : texts) {
    lengths.push_back(static_cast<std::int32_t>(text.size()));
    ids.insert(ids.end(), text.begin(), text.end());
  }
  ExampleArrays arrays = {.lengths = builder.keep(lengths), .ids = builder.keep(ids)};
  if (sources) {
    arrays.target_lengths = builder.keep(Tokens(texts.size(), 1));
    arrays.target_ids = builder.keep(Tokens(texts.size(), start));
  }
  return builder.set(arrays);
}

struct GeneratorTest : CopyTest {
  GeneratorTest() {
    Options options = defaults(registry.offer(Kind::tokenizer, "word").options);
    options.set("vocab_size", std::int64_t{vocabulary});
    tokenizer = registry.make_tokenizer("word", options);
    std::vector<std::string> words = {"[CLS]", "[SEP]", "[PAD]", "[UNK]"};
    for (char letter = 'a'; std::ssize(words) < vocabulary; ++letter) words.emplace_back(1, letter);
    tokenizer->load(words);
  }

  /// Returns a model with random parameters: a decoder with an encoder if it reads `sources`, else a decoder
  /// alone.
  std::unique_ptr<model::Model> make(bool sources, config::Precision precision = config::Precision::float32) {
    config::Experiment of = experiment(config::NormPosition::pre);
    of.model.width = 24;
    of.train.precision = precision;
    of.data.max_length = sources ? 12 : 300;
    model::ModelSize needs = size();
    if (!sources) {
      of.model.decoder.reset();
      of.model.causal = true;
      fill_table(of.model.head, registry, Kind::head, "model.head", "language_model", {{"transform", false}});
      needs.columns = {{.name = targets_column, .truth = true}};
      needs.outputs.clear();
    }
    auto model = std::make_unique<model::Model>(of, needs, registry, device);
    const std::int64_t rows = 20 * of.data.max_length;
    const RowSetSize most = {rows, 20, rows * of.data.max_length, of.data.max_length};
    BatchSize batch{most};
    if (sources) batch.target = most;
    model->plan({}, batch);
    model->initialize(3);
    return model;
  }

  /// Returns short prompts of words 4 to 11.
  static std::vector<Tokens> prompts(std::size_t count, std::int32_t longest = 6) {
    Numbers numbers(11);
    std::vector<Tokens> all(count);
    for (Tokens& text : all)
      for (std::int32_t i = 0; i <= numbers.below(longest); ++i)
        text.push_back(4 + numbers.below(vocabulary - 4));
    return all;
  }

  Texts run(model::Model& model, const std::vector<Tokens>& texts, const Decoding& decoding) {
    return infer::Generator(model, *tokenizer).run(set_of(texts, model.needs().target), decoding);
  }

  /// Returns the logits of the token after `written`, by scoring all of it.
  std::vector<float> next_logits(model::Model& model, const Tokens& prompt, const Tokens& written) {
    data::PackedBatch packed;
    if (model.needs().target) {
      packed = pack_pairs({{prompt, written}});
    } else {
      Tokens all = prompt;
      all.insert(all.end(), written.begin(), written.end());
      packed = make_batch({static_cast<std::int32_t>(all.size())}, vocabulary, vocabulary, 1);
      packed.ids = all;
    }
    model::DeviceBatch batch(device, packed.size(), model.needs());
    batch.upload(packed);
    model.evaluate(batch, {});
    const std::vector<double> logits = to_host(device, model.evaluation_tensor("head.logits"));
    return {logits.end() - vocabulary, logits.end()};
  }

  /// Returns the results of the search of infer/beam_search.hpp, computed without a cache: the reference.
  std::vector<GeneratedText> searched(model::Model& model, const Tokens& prompt, const Decoding& decoding) {
    struct Hypothesis {
      Tokens tokens;
      double log_probability = 0.0;
    };
    const auto beam = static_cast<std::size_t>(decoding.beam);
    std::vector<Hypothesis> live = {{}};
    std::vector<GeneratedText> ended;
    const auto finish = [&](const Hypothesis& of, double tokens, bool is_end) {
      ended.push_back({of.tokens, tokenizer->decode(of.tokens),
                       of.log_probability / std::pow(tokens, decoding.length_penalty), is_end});
    };
    while (ended.size() < beam && live[0].tokens.size() < static_cast<std::size_t>(decoding.max_tokens)) {
      std::vector<Hypothesis> next;
      for (const Hypothesis& each : live) {
        std::vector<float> logits = next_logits(model, prompt, each.tokens);
        Tokens seen = model.needs().target ? Tokens{start} : prompt;
        seen.insert(seen.end(), each.tokens.begin(), each.tokens.end());
        infer::penalize_repetitions(seen, decoding.repetition_penalty, logits);
        for (const infer::NextToken& candidate : infer::most_probable(logits, vocabulary)) {
          if (candidate.token == tokenizer->special(Special::padding)) continue;  // is never written
          next.push_back({each.tokens, each.log_probability + candidate.log_probability});
          next.back().tokens.push_back(candidate.token);
        }
      }
      std::ranges::stable_sort(next, std::ranges::greater(), &Hypothesis::log_probability);
      live.clear();
      for (std::size_t rank = 0; live.size() < beam; ++rank) {
        if (next[rank].tokens.back() != end) {
          live.push_back(next[rank]);
        } else if (rank < beam) {
          next[rank].tokens.pop_back();
          finish(next[rank], static_cast<double>(next[rank].tokens.size() + 1), true);
        }
      }
    }
    for (const Hypothesis& each : live) finish(each, static_cast<double>(each.tokens.size()), false);
    std::ranges::stable_sort(ended, [](const GeneratedText& a, const GeneratedText& b) {
      return a.ended != b.ended ? a.ended : a.score > b.score;
    });
    ended.resize(std::min(ended.size(), static_cast<std::size_t>(decoding.texts)));
    return ended;
  }

  void expect_searched(bool sources, const Decoding& decoding) {
    const auto model = make(sources);
    const std::vector<Tokens> texts = prompts(9);
    const Texts found = run(*model, texts, decoding);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::vector<GeneratedText> expected = searched(*model, texts[i], decoding);
      ASSERT_EQ(found[i].size(), expected.size()) << "prompt " << i;
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_EQ(found[i][k].tokens, expected[k].tokens) << "prompt " << i << ", text " << k;
        EXPECT_EQ(found[i][k].text, expected[k].text);
        EXPECT_EQ(found[i][k].ended, expected[k].ended);
        EXPECT_NEAR(found[i][k].score, expected[k].score, 1e-5);
      }
    }
  }

  std::string refusal(model::Model& model, const std::vector<Tokens>& texts, const Decoding& decoding) {
    try {
      run(model, texts, decoding);
    } catch (const Error& error) {
      return error.what();
    }
    return "not refused";
  }

  std::unique_ptr<Tokenizer> tokenizer;
};

struct BothModels : GeneratorTest, ::testing::WithParamInterface<bool> {};

TEST_P(BothModels, AGreedyOutputIsThatOfScoringTheWhole) {
  expect_searched(GetParam(), {.max_tokens = 10});
}

TEST_P(BothModels, ABeamFindsWhatASearchWithoutCacheFinds) {
  expect_searched(GetParam(), {.beam = 2, .texts = 2, .max_tokens = 8});
  expect_searched(GetParam(), {.beam = 5, .length_penalty = 0.6, .texts = 5, .max_tokens = 8});
}

TEST_P(BothModels, RepetitionsArePenalizedInASearchToo) {
  expect_searched(GetParam(), {.repetition_penalty = 1.7, .max_tokens = 8});
  expect_searched(GetParam(), {.beam = 3, .repetition_penalty = 1.3, .texts = 1, .max_tokens = 8});
}

bool equal(const std::vector<GeneratedText>& a, const std::vector<GeneratedText>& b) {
  return std::ranges::equal(a, b, [](const GeneratedText& x, const GeneratedText& y) {
    return x.tokens == y.tokens && x.text == y.text && x.score == y.score && x.ended == y.ended;
  });
}

const Decoding ways[] = {
    {.max_tokens = 9},
    {.beam = 4, .texts = 4, .max_tokens = 9},
    {.temperature = 1.3, .seed = 5, .texts = 3, .max_tokens = 9},
    {.temperature = 0.7, .top_k = 4, .top_p = 0.9, .repetition_penalty = 1.2, .seed = 6, .max_tokens = 9},
};

TEST_P(BothModels, AnOutputIsTheSameAloneAndInAnyBatch) {
  if (!memory::host_reaches_device()) GTEST_SKIP() << "equal bits are promised on the host";
  for (const config::Precision precision : {config::Precision::float32, config::Precision::bfloat16}) {
    const auto model = make(GetParam(), precision);
    const std::vector<Tokens> texts = prompts(150);  // more than one group
    for (const Decoding& way : ways) {
      const Texts together = run(*model, texts, way);
      for (const std::size_t i : {0, 7, 77, 149})
        EXPECT_TRUE(equal(run(*model, {texts[i]}, way)[0], together[i])) << "prompt " << i;
    }
  }
}

TEST_P(BothModels, DrawsDependOnSeedTextAndPositionAlone) {
  const auto model = make(GetParam());
  const std::vector<Tokens> texts = prompts(4);
  const Decoding one = {.temperature = 1.0, .seed = 8, .max_tokens = 9};
  Decoding three = one, other = one;
  three.texts = 3;
  other.seed = 9;
  const Texts first = run(*model, texts, one), several = run(*model, texts, three);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(equal(first[i], {several[i][0]})) << "the first of three is the one";
    EXPECT_NE(several[i][0].tokens, several[i][1].tokens);
  }
  const Texts changed = run(*model, texts, other);
  const auto differ = [&](std::size_t i) { return changed[i][0].tokens != first[i][0].tokens; };
  EXPECT_TRUE(differ(0) || differ(1) || differ(2));
  EXPECT_TRUE(equal(run(*model, {texts[2], texts[2]}, one)[1], first[2])) << "the same prompt, the same text";
}

TEST_P(BothModels, DrawsFollowTheLogitsOfTheWhole) {
  const auto model = make(GetParam());
  const std::vector<Tokens> texts = prompts(3);
  const Decoding way = {.temperature = 0.9, .top_p = 0.8, .seed = 4, .max_tokens = 7};
  const Texts found = run(*model, texts, way);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Tokens written;
    for (std::int64_t position = 0; position < 7; ++position) {
      const std::int32_t token =
          infer::draw_token(next_logits(*model, texts[i], written), way, infer::draw_number(4, 0, position))
              .token;
      if (token == end) break;
      written.push_back(token);
    }
    EXPECT_EQ(found[i][0].tokens, written) << "prompt " << i;
  }
}

TEST_P(BothModels, AnOutputEndsBeforeAStopString) {
  const auto model = make(GetParam());
  const std::vector<Tokens> texts = prompts(6);
  for (Decoding way : {Decoding{.max_tokens = 9}, Decoding{.temperature = 2.0, .max_tokens = 9},
                       Decoding{.beam = 3, .max_tokens = 9}}) {
    const Texts whole = run(*model, texts, way);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string text = whole[i][0].text;
      if (text.size() < 5 || way.beam > 1) continue;
      Decoding stopped = way;
      stopped.stop = {"never", text.substr(2, 2)};
      const GeneratedText found = run(*model, {texts[i]}, stopped)[0][0];
      EXPECT_EQ(found.text, text.substr(0, text.find(stopped.stop[1])));
      EXPECT_TRUE(found.ended);
      EXPECT_LE(found.tokens.size(), whole[i][0].tokens.size());
    }
    way.stop = {"a", "b", "c", "d", "e", "f", "g", "h"};
    for (const std::vector<GeneratedText>& each : run(*model, texts, way))
      EXPECT_EQ(each[0].text.find_first_of("abcdefgh"), std::string::npos);
  }
}

TEST_P(BothModels, AnObserverSeesEveryTextGrow) {
  const auto model = make(GetParam());
  std::map<std::pair<std::size_t, std::size_t>, std::string> last;
  const auto seen = [&](std::size_t sequence, std::size_t text, std::string_view said) {
    std::string& before = last[{sequence, text}];
    EXPECT_TRUE(said.starts_with(before)) << before << " -> " << said;
    before = said;
  };
  infer::Generator generator(*model, *tokenizer);
  const ExampleSet set = set_of(prompts(5), GetParam());
  for (const Decoding& way :
       {Decoding{.max_tokens = 9}, Decoding{.temperature = 1.5, .texts = 2, .max_tokens = 9}}) {
    last.clear();
    const Texts texts = generator.run(set, way, seen);
    for (std::size_t i = 0; i < texts.size(); ++i)
      for (std::size_t k = 0; k < texts[i].size(); ++k) {
        const GeneratedText& text = texts[i][k];
        EXPECT_TRUE(text.text.starts_with(last[{i, k}])) << text.text;
        EXPECT_EQ((last[{i, k}].empty()), text.text.empty());
      }
  }
}

TEST_P(BothModels, AnOutputIsThatOfTheCurrentParameters) {
  const Decoding way = {.max_tokens = 9};
  const auto model = make(GetParam()), fresh = make(GetParam());
  const std::vector<Tokens> texts = prompts(7), more = prompts(19);
  const auto logits_of = [&](model::Model& of) { return next_logits(of, texts[0], {start, texts[1][0]}); };
  const Texts first = run(*model, texts, way);
  // Memory and weights of earlier generations are used again, also of larger ones.
  run(*model, more, {.beam = 3, .max_tokens = 9});
  const std::vector<float> before = logits_of(*model);
  model->initialize(8);
  fresh->initialize(8);
  EXPECT_NE(logits_of(*model), before);
  EXPECT_EQ(logits_of(*model), logits_of(*fresh));
  const Texts now = run(*model, texts, way), expected = run(*fresh, texts, way);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(now[i][0].tokens, expected[i][0].tokens);
    EXPECT_EQ(now[i][0].score, expected[i][0].score);
  }
  model->initialize(3);
  const Texts again = run(*model, texts, way);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(again[i][0].score, first[i][0].score);
}

TEST_P(BothModels, ReportsTheNumberOfOutputs) {
  const auto model = make(GetParam());
  std::vector<std::size_t> written;
  // 8 outputs for each of 20 prompts are more than are written at a time.
  infer::Generator(*model, *tokenizer)
      .run(set_of(prompts(20), GetParam()), {.temperature = 1.0, .texts = 8, .max_tokens = 2}, {},
           [&](std::size_t sequences) { written.push_back(sequences); });
  EXPECT_GT(written.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(written));
  EXPECT_EQ(written.back(), 20U);
}

TEST_P(BothModels, ContradictingSettingsAreRefused) {
  const auto model = make(GetParam());
  EXPECT_EQ(refusal(*model, prompts(1), {.beam = 0}), "beam is 0; it must be from 1 to 32");
  EXPECT_EQ(
      refusal(*model, prompts(1), {.beam = 2, .temperature = 0.5}),
      "beam = 2 follows the most probable sequences, and temperature = 0.5 draws tokens; give one of them");
}

INSTANTIATE_TEST_SUITE_P(DecoderAloneAndWithEncoder, BothModels, ::testing::Bool());

TEST_F(GeneratorTest, ASourceLimitsItsText) {
  const auto model = make(true);
  const std::vector<Tokens> texts = {{4, 5, 6}, {4, 5, 6, 7, 8, 9}};
  Decoding way = {.temperature = 3.0, .top_k = 11, .beyond_source = 2};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    way.seed = seed;
    const Texts found = run(*model, texts, way);
    EXPECT_LE(found[0][0].tokens.size(), 5U);
    EXPECT_LE(found[1][0].tokens.size(), 8U);
    EXPECT_TRUE(found[0][0].ended || found[0][0].tokens.size() == 5U);
  }
  const Texts longest = run(*model, texts, {.max_tokens = 1000});
  for (const std::vector<GeneratedText>& each : longest)
    EXPECT_TRUE(each[0].ended || each[0].tokens.size() == 12U) << "the positions of the model";
}

TEST_F(GeneratorTest, ABlankSourceHasAnEmptyText) {
  const auto model = make(true);
  const std::int32_t end = tokenizer->special(Special::end), unknown = tokenizer->special(Special::unknown);
  const Decoding way = {.beam = 2, .texts = 2};
  const Texts alone = run(*model, {{4, 5}}, way),
              found = run(*model, {{end}, {4, 5}, {unknown, end}, {end, end}}, way);
  ASSERT_EQ(found[0].size(), 2U) << "as many as asked";
  for (const GeneratedText& text : found[0]) {
    EXPECT_TRUE(text.tokens.empty() && text.text.empty() && text.ended);
    EXPECT_EQ(text.score, 0.0);
  }
  EXPECT_EQ(found[1][0].tokens, alone[0][0].tokens) << "the others are as without it";
  EXPECT_LT(found[2][0].score, 0.0) << "an unknown token stands for something";
  EXPECT_LT(found[3][0].score, 0.0) << "so does a special token in front of the marker";
  EXPECT_LT(run(*make(false), {{end}}, {})[0][0].score, 0.0) << "without an encoder it is a prompt";
}

TEST_F(GeneratorTest, LongPromptsAreReadInRunsOfRows) {
  const auto model = make(false);
  const std::vector<Tokens> texts = {Tokens(200, 5), Tokens(1, 6), prompts(1)[0], Tokens(290, 7),
                                     Tokens(129, 8)};
  const Texts found = run(*model, texts, {.max_tokens = 6});
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(found[i][0].tokens, searched(*model, texts[i], {.max_tokens = 6})[0].tokens) << "prompt " << i;
}

TEST_F(GeneratorTest, ATextBeyondThePositionsContinuesWithItsSecondHalf) {
  const auto model = make(false);
  const Tokens prompt = prompts(1, 4)[0];
  const Decoding way = {.temperature = 1.0, .top_k = 5, .seed = 2, .max_tokens = 700, .stop = {}};
  // The token `end` may come early: take the first seed with an output that slides.
  Texts found;
  Decoding tried = way;
  for (tried.seed = 0; tried.seed < 400; ++tried.seed) {
    found = run(*model, {prompt}, tried);
    if (found[0][0].tokens.size() > 320) break;
  }
  ASSERT_GT(found[0][0].tokens.size(), 320U);
  const Tokens& tokens = found[0][0].tokens;
  // The context of the token after row `capacity` is the last half of the rows so far.
  Tokens all = prompt;
  all.insert(all.end(), tokens.begin(), tokens.end());
  const std::size_t longest = 300, at = longest + 1 - prompt.size();  // the first token after the slide
  ASSERT_LT(at, tokens.size());
  const Tokens context(all.begin() + static_cast<std::ptrdiff_t>(longest + 1 - longest / 2),
                       all.begin() + static_cast<std::ptrdiff_t>(longest + 1));
  EXPECT_EQ(infer::draw_token(next_logits(*model, context, {}), tried,
                              infer::draw_number(tried.seed, 0, static_cast<std::int64_t>(at)))
                .token,
            tokens[at]);
}

TEST_F(GeneratorTest, APromptWithoutRoomIsRefused) {
  const auto model = make(false);
  EXPECT_EQ(refusal(*model, {Tokens(301, 5)}, {}),
            "a prompt of 301 tokens leaves no room in a model of 300 rows (data.max_length); shorten it");
}

TEST_F(GeneratorTest, AModelThatSeesLaterTokensIsRefused) {
  config::Experiment of = tiny_experiment(registry);
  model::Model model(of, tiny_size(), registry, device);
  model.plan({}, tiny_batch().size());
  EXPECT_NE(refusal(model, {{4, 5}}, {}).find("it has no causal stack"), std::string::npos);
}

TEST_F(GeneratorTest, ATaskThatNeedsOutputsRefusesAModelWithoutThem) {
  const model::Model model(tiny_experiment(registry), tiny_size(), registry, device);
  const auto translate = [&](bool decode) {
    Options options = defaults(registry.offer(Kind::task, "translate").options);
    options.set("decode", decode);
    return registry.make_task("translate", options, {.max_length = 12});
  };
  EXPECT_NO_THROW(infer::require_generation(*translate(false), model));
  try {
    infer::require_generation(*translate(true), model);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the model cannot generate: it has no causal stack; set model.causal = true, or add a "
                 "[model.decoder]");
  }
}

struct GeneratorChild : GeneratorTest {};

/// Runs in the child: prints what the parent compares.
TEST_F(GeneratorChild, DISABLED_Writes) {
  Sha256 hash;
  for (const bool sources : {false, true})
    for (const config::Precision precision : {config::Precision::float32, config::Precision::bfloat16}) {
      const auto model = make(sources, precision);
      for (const Decoding& way : ways)
        for (const std::vector<GeneratedText>& texts : run(*model, prompts(20), way))
          for (const GeneratedText& text : texts) {
            hash.add(std::as_bytes(std::span(text.tokens)));
            hash.add(std::as_bytes(std::span(&text.score, 1)));
          }
    }
  print_digest(hash.hex());
}

TEST(GeneratorThreads, OneTwoAndThreeGiveEqualOutputsAndScores) {
  if (!memory::host_reaches_device()) GTEST_SKIP() << "threads of the host only";
  const auto in_child = [](int threads) {
    return digest_of_child("seams_test", "GeneratorChild.DISABLED_Writes", threads);
  };
  const std::string one = in_child(1);
  EXPECT_EQ(in_child(2), one);
  EXPECT_EQ(in_child(3), one);
}

}  // namespace
}  // namespace encore
