// SPDX-License-Identifier: BSD-3-Clause
// The task "masked_words" and its head "tied_words" of the plugin "seams", which differ from all parts that
// ship: words are masked again in every epoch, and predicted by a head that reads only the masked rows and
// has no table of its own, but uses the embedding's. seams_test.cpp trains them, copying.hpp uses the head.
// Read next: parts.hpp.
#include <algorithm>

#include <encore/kernels.hpp>
#include <encore/plugin.hpp>

#include "seams/parts.hpp"

namespace encore_seams {

using namespace encore;

namespace {

/// The columns of an example.
enum : std::size_t { picked, masked };

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// Returns how many words of a sentence are masked: a quarter, and at least one. The first and the last of
/// its rows are markers.
std::size_t picks_of(std::size_t rows) {
  return std::max<std::size_t>(1, (rows - 2) / 4);
}

}  // namespace

class MaskedWords final : public Task {
 public:
  static constexpr const char* select = "min dev/loss";
  static Schema options() { return {}; }
  static TaskFields fields() { return {{"words"}, {}}; }
  static std::vector<Measure> measures() {
    return {{.name = "found", .fraction = true, .reducer = Reducer::ratio, .columns = {"found", "masked"}}};
  }
  MaskedWords(const Options&, const TaskContext& context)
      : most_(static_cast<std::size_t>(context.max_length) - 2) {}

  void prepare(const Records&) override {}
  std::string knowledge() const override { return "masked words\n"; }
  void restore(std::string_view) override {}
  TextCounts text_counts(const Records& train) const override {
    TextCounts counts;
    for (const std::vector<std::string>& words : train.lists("words"))
      for (const std::string& word : words) ++counts[word];
    return counts;
  }

  std::vector<ColumnRule> columns() const override {
    return {{.name = picked_column, .space = Space::ragged}, {.name = "masked", .space = Space::picked}};
  }
  /// Masks rows of a sentence at equal distances, which dev and test keep. redraw() masks the training set
  /// again in every epoch.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override {
    to.ids.push_back(tokenizer.special(Special::start));
    for (const std::string& word : records.lists("words")[record]) tokenizer.encode(word, to.ids);
    to.ids.resize(std::min(to.ids.size(), most_ + 1));
    if (to.ids.size() == 1) to.ids.push_back(tokenizer.special(Special::unknown));
    to.ids.push_back(tokenizer.special(Special::end));
    const std::size_t count = picks_of(to.ids.size()), gap = (to.ids.size() - 2) / count;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t row = 1 + i * gap;
      to.integers(picked).push_back(static_cast<std::int32_t>(row));
      to.integers(masked).push_back(to.ids[row]);
      to.ids[row] = mask;
    }
  }
  bool draws() const override { return true; }
  void redraw(const ExampleDraw& draw, EncodedExample& to) const override {
    std::vector<std::int32_t>&rows = to.integers(picked), &truth = to.integers(masked);
    for (std::size_t i = 0; i < rows.size(); ++i) to.ids[static_cast<std::size_t>(rows[i])] = truth[i];
    std::vector<std::pair<std::uint64_t, std::int32_t>>
        order;  // rows by a hash: a fixed draw without replacement
    const std::uint64_t key =
        mix(mix(mix(draw.seed + 1) + static_cast<std::uint64_t>(draw.epoch)) + draw.example);
    for (std::size_t row = 1; row + 1 < to.ids.size(); ++row)
      order.emplace_back(mix(key + row), static_cast<std::int32_t>(row));
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = order[i].second;
    std::sort(rows.begin(), rows.end());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::int32_t& id = to.ids[static_cast<std::size_t>(rows[i])];
      truth[i] = id;
      id = mask;
    }
  }
  SetDescription describe(const ExampleSet& set) const override {
    return {.counts = {{"masked words", static_cast<std::int64_t>(set.rows(Space::picked))}}, .notes = {}};
  }

  std::vector<OutputRule> outputs() const override {
    return {{.name = "words", .space = Space::picked, .truth = "masked"}};
  }
  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override {
    for (std::size_t i = 0; i < set.size(); ++i) {
      const auto truth = set.integers(masked, i), found = outputs.integers("words", set, i);
      statistics.begin_example();
      statistics.add("masked", static_cast<double>(truth.size()));
      double right = 0;
      for (std::size_t k = 0; k < truth.size(); ++k) right += truth[k] == found[k];
      statistics.add("found", right);
    }
  }
  Records label(const Records& records, const ExampleSet&, const Outputs&) const override {
    Records labelled;
    labelled.add("words", records.lists("words"));
    return labelled;
  }

 private:
  static constexpr std::int32_t mask = 1;  // the unknown token is used as mask

  std::size_t most_;
};

/// Computes logits = x E^T with the embedding's table E (Press and Wolf 2017) over the rows for which the
/// task has words: masked rows, or the rows of a decoder, whose words are the next ones.
class TiedWords final : public Head {
 public:
  static Schema options() { return {}; }
  TiedWords(const Options&, const HeadContext& context)
      : vocabulary_(context.vocabulary), smoothing_(context.label_smoothing) {
    if (context.column("next") != nullptr) {
      space_ = Space::target;
      column_ = "next";
    }
  }

  void declare(HeadPlan& plan) override {
    const Extent rows = rows_of(space_);
    states_ = plan.read(space_);
    truth_ = plan.column(column_, space_, ColumnType::integers, vocabulary_);
    loss_ = plan.add_loss(truth_);
    words_ = plan.output("words", space_);
    table_ = plan.tie("table", "embedding.tokens", {vocabulary_, plan.width()});
    logits_ = plan.buffer("logits", {rows, vocabulary_}, Lifetime::saved);
    dlogits_ = plan.buffer("logits_gradient", {rows, vocabulary_}, Lifetime::backward);
    plan.row_wise();
  }
  void score(const HeadStep& step) override {
    kernels::linear(step.device(), step.input(states_), step.parameter(table_), {}, kernels::Activation::none,
                    step.buffer(logits_));
  }
  void loss(const HeadStep& step) override {
    kernels::softmax_cross_entropy(step.device(), step.buffer(logits_), step.column(truth_), smoothing_,
                                   step.losses(loss_));
  }
  void backward(const HeadStep& step) override {
    kernels::softmax_cross_entropy_backward(step.device(), step.buffer(logits_), step.column(truth_),
                                            smoothing_, step.scale(loss_), step.buffer(dlogits_));
    kernels::linear_backward_parameters(step.device(), step.buffer(dlogits_), step.input(states_),
                                        step.gradient(table_), {});
    kernels::linear_backward_input(step.device(), step.buffer(dlogits_), step.parameter(table_),
                                   step.input_gradient(states_));
  }
  void decode(const HeadStep& step) override {
    kernels::argmax(step.device(), step.buffer(logits_), step.output(words_));
  }

 private:
  std::int64_t vocabulary_;
  double smoothing_;
  Space space_ = Space::picked;
  const char* column_ = "masked";
  HeadInput states_;
  HeadColumn truth_;
  HeadLoss loss_;
  HeadOutput words_;
  Parameter table_;
  Buffer logits_, dlogits_;
};

void add_masked_words(Registrar& plugin) {
  plugin.add<Kind::task, MaskedWords>("masked_words");
  plugin.add<Kind::head, TiedWords>("tied_words");
}

}  // namespace encore_seams
