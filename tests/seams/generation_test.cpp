// SPDX-License-Identifier: BSD-3-Clause
// Tests Generation (model/generation.hpp) in models with an encoder: greedy decoding row by row, over the
// cached keys and values of both attentions, gives the logits of scoring the whole text, in equal bits, for
// any number of sources and threads. unit/model/generation_test.cpp tests decoders alone, generator_test.cpp
// the search.
#include <cmath>

#include "base/sha256.hpp"
#include "seams/copying.hpp"
#include "support/child_threads.hpp"
#include "support/growing_texts.hpp"

namespace encore {
namespace {

using namespace encore::testing;

constexpr std::int64_t most_rows = 7;  // of an output

struct CopyGenerationTest : CopyTest {
  /// The output of greedy decoding for each source, and the logits (rows, V) of its choices.
  struct Written {
    std::vector<Pair> pairs;
    std::vector<std::vector<double>> logits;
  };

  Written decode(model::Model& model, const std::vector<Pair>& sources) {
    Written written;
    for (const Pair& pair : sources) written.pairs.push_back({pair.source, {}});
    written.logits.resize(sources.size());
    const auto generation = model.make_generation(largest_copies(), most_rows);
    std::vector<bool> ended(sources.size(), false);
    for (bool first = true; std::ranges::count(ended, false) > 0; first = false) {
      const data::PackedBatch whole = pack_pairs(written.pairs);
      const Lengths lengths = lengths_of(whole.target);
      const Lengths done(generation->lengths().begin(), generation->lengths().end());
      Lengths counts;
      for (std::size_t s = 0; s < lengths.size(); ++s) counts.push_back(ended[s] ? 0 : 1);
      const data::PackedBatch pass =
          pass_over(whole, first ? Lengths(lengths.size(), 0) : done, counts, first);
      first ? generation->begin(pass) : generation->next(pass);
      const std::vector<double> logits = to_host(device, generation->tensor("head.logits"));
      auto row = logits.begin();
      for (std::size_t s = 0; s < lengths.size(); ++s) {
        if (ended[s]) continue;
        written.logits[s].insert(written.logits[s].end(), row, row + vocabulary);
        const auto word = static_cast<std::int32_t>(std::max_element(row, row + vocabulary) - row);
        row += vocabulary;
        ended[s] = word == end || lengths[s] == most_rows;
        if (!ended[s]) written.pairs[s].target.push_back(word);
      }
    }
    return written;
  }

  /// Returns the logits of scoring the whole outputs, for each source.
  std::vector<std::vector<double>> scored(model::Model& model, const std::vector<Pair>& pairs) {
    model::DeviceBatch batch(device, largest_copies(), model.needs());
    const data::PackedBatch packed = pack_pairs(pairs);
    batch.upload(packed);
    model.evaluate(batch, {});
    const std::vector<double> all = to_host(device, model.evaluation_tensor("head.logits"));
    std::vector<std::vector<double>> logits;
    for (std::size_t s = 0; s < pairs.size(); ++s)
      logits.emplace_back(all.begin() + packed.target.offsets[s] * vocabulary,
                          all.begin() + packed.target.offsets[s + 1] * vocabulary);
    return logits;
  }

  void expect_scored_logits(model::Model& model, const std::vector<Pair>& sources) {
    const Written written = decode(model, sources);
    const std::vector<std::vector<double>> together = scored(model, written.pairs);
    for (std::size_t s = 0; s < sources.size(); ++s) {
      EXPECT_EQ(differences(written.logits[s], together[s]), 0U) << "text " << s << " of " << sources.size();
      EXPECT_EQ(differences(written.logits[s], scored(model, {written.pairs[s]})[0]), 0U)
          << "text " << s << " alone";
    }
  }

  /// Returns a model with random parameters: it is not trained, because any output serves to compare bits.
  std::unique_ptr<model::Model> new_model(config::Precision precision, config::NormPosition position) {
    config::Experiment of = experiment(position);
    of.model.width = 40;
    of.train.precision = precision;
    of.model.positions =
        position == config::NormPosition::pre ? config::Positions::learned : config::Positions::sinusoidal;
    auto model = std::make_unique<model::Model>(of, size(), registry, device);
    model->plan({}, largest_copies());
    model->initialize(1);
    return model;
  }
};

TEST_F(CopyGenerationTest, ATrainedModelCopiesTheSource) {
  Numbers numbers(3);
  model::Model model(copying_experiment(), size(), registry, device);
  train_to_copy(model, numbers);
  const std::vector<Pair> unseen = copies(numbers, 32);
  const Written written = decode(model, unseen);
  const auto copied = std::ranges::count_if(unseen, [&, s = 0](const Pair& pair) mutable {
    return written.pairs[static_cast<std::size_t>(s++)].target == pair.source;
  });
  EXPECT_GT(copied, 16) << "of 32";
  if (memory::host_reaches_device()) expect_scored_logits(model, unseen);
}

struct CopyGenerationBits
    : CopyGenerationTest,
      ::testing::WithParamInterface<std::tuple<config::Precision, config::NormPosition>> {
  void SetUp() override {
    if (!memory::host_reaches_device()) GTEST_SKIP() << "equal bits are promised on the host";
  }
};

TEST_P(CopyGenerationBits, StepByStepTheLogitsAreThoseOfTheWholeForAnyNumberOfSources) {
  const auto [precision, position] = GetParam();
  const auto model = new_model(precision, position);
  Numbers numbers(5);
  for (const int count : {1, 3, 32}) expect_scored_logits(*model, copies(numbers, count));
}

TEST_P(CopyGenerationBits, SeveralRowsAtATimeToo) {
  const auto [precision, position] = GetParam();
  const auto model = new_model(precision, position);
  Numbers numbers(6);
  const data::PackedBatch whole = pack_pairs(copies(numbers, 9));
  const auto generation = model->make_generation(largest_copies(), most_rows);
  model::DeviceBatch batch(device, largest_copies(), model->needs());
  batch.upload(whole);
  model->evaluate(batch, {});
  const std::vector<double> expected = to_host(device, model->evaluation_tensor("head.logits"));
  for (const std::int64_t step : {1, 2, 5})
    EXPECT_EQ(differences(logits_by_passes(device, *generation, whole, Lengths(9, 2), step), expected), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Models, CopyGenerationBits,
    ::testing::Combine(::testing::Values(config::Precision::float32, config::Precision::float64,
                                         config::Precision::bfloat16),
                       ::testing::Values(config::NormPosition::post, config::NormPosition::pre)));

TEST_F(CopyGenerationTest, LaterPassesGiveNoSourcesAndDoNotRunTheEncoder) {
  const auto model = new_model(config::Precision::float64, config::NormPosition::post);
  const auto generation = model->make_generation(largest_copies(), most_rows);
  for (const model::NodePlan& node : generation->plan().nodes)
    EXPECT_EQ(node.first_pass_only, node.path == "embedding" || node.path.starts_with("encoder."))
        << node.path;
  Numbers numbers(7);
  const data::PackedBatch whole = pack_pairs(copies(numbers, 3));
  generation->begin(pass_over(whole, {0, 0, 0}, {1, 1, 1}, true));
  try {
    generation->next(pass_over(whole, {1, 1, 1}, {1, 1, 1}, true));
    ADD_FAILURE() << "not refused";
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("the sources are those of the first pass"), std::string::npos);
  }
}

struct CopyGenerationChild : CopyGenerationTest {};

/// Runs in the child: prints what the parent compares.
TEST_F(CopyGenerationChild, DISABLED_Decodes) {
  Sha256 hash;
  for (const config::Precision precision : {config::Precision::float32, config::Precision::bfloat16}) {
    const auto model = new_model(precision, config::NormPosition::post);
    Numbers numbers(8);
    for (const std::vector<double>& logits : decode(*model, copies(numbers, 32)).logits)
      hash.add(std::as_bytes(std::span(logits)));
  }
  print_digest(hash.hex());
}

TEST(CopyGenerationThreads, OneAndTwoGiveEqualBits) {
  if (!memory::host_reaches_device()) GTEST_SKIP() << "threads of the host only";
  const auto in_child = [](int threads) {
    return digest_of_child("seams_test", "CopyGenerationChild.DISABLED_Decodes", threads);
  };
  const std::string one = in_child(1);
  EXPECT_EQ(in_child(2), one);
  EXPECT_EQ(in_child(3), one);
}

}  // namespace
}  // namespace encore
