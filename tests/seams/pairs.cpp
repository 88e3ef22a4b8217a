// SPDX-License-Identifier: BSD-3-Clause
// Defines the task "pairs", its head and its reader in the test plugin "seams", which shows that the
// interfaces of the SDK allow unusual models. Here an example has two sequences, and the loss couples all
// pairs of a batch, because each first text has to find its second one among those of the batch (van den Oord
// et al. 2018). seams_test.cpp trains them and may change with them; only headers of the SDK are included.
// Read next: parts.hpp.
#include <encore/kernels.hpp>
#include <encore/math.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "seams/parts.hpp"

namespace encore_seams {

using namespace encore;

/// Reads a pair "text | text2" from each line.
class PairReader final : public Reader {
 public:
  static Schema options() { return {}; }
  static std::vector<std::string> fields() { return {"text", "text2"}; }
  PairReader(const Options&, const ReaderContext&) {}
  Records read(std::span<const InputText> files, const std::string&) const override {
    Records::Texts first, second;
    for (const InputText& file : files)
      for (std::string_view text = file.text; !text.empty();) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t bar = line.find('|');
        if (bar == std::string_view::npos) throw Error(file.name + ": a line without |");
        first.emplace_back(line.substr(0, bar));
        second.emplace_back(line.substr(bar + 1));
      }
    Records records;
    records.add("text", std::move(first));
    records.add("text2", std::move(second));
    return records;
  }
};

class Pairs final : public Task {
 public:
  static constexpr const char* select = "max dev/found";
  static Schema options() { return {}; }
  static TaskFields fields() { return {{"text", "text2"}, {}}; }
  static std::vector<Measure> measures() {
    return {{.name = "found", .fraction = true, .reducer = Reducer::ratio, .columns = {"found", "all"}}};
  }
  Pairs(const Options&, const TaskContext& context) : most_(static_cast<std::size_t>(context.max_length)) {}

  void prepare(const Records&) override {}
  std::string knowledge() const override { return "pairs\n"; }
  void restore(std::string_view) override {}
  TextCounts text_counts(const Records& train) const override {
    TextCounts counts;
    for (const char* field : {"text", "text2"})
      for (const std::string& text : train.texts(field))
        for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
          end = std::min(text.find(' ', at), text.size());
          if (end > at) ++counts[text.substr(at, end - at)];
        }
    return counts;
  }
  std::vector<ColumnRule> columns() const override {
    return {{.name = "first", .space = Space::sequences, .type = ColumnType::numbers}};
  }
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override {
    for (const char* field : {"text", "text2"}) {
      const std::size_t begin = to.ids.size();
      to.ids.push_back(tokenizer.special(Special::start));
      tokenizer.encode(records.texts(field)[record], to.ids);
      to.ids.resize(std::min(to.ids.size(), begin + most_));
      to.numbers(0).push_back(begin == 0 ? 1.0F : 0.0F);
      to.end_sequence();
    }
  }
  SetDescription describe(const ExampleSet&) const override { return {}; }

  std::vector<OutputRule> outputs() const override {
    return {{.name = "embedding", .space = Space::sequences, .type = ColumnType::numbers, .width = 0}};
  }
  /// Measures for each first text whether the nearest second text is its own.
  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override {
    for (std::size_t i = 0; i < set.size(); ++i) {
      std::size_t nearest = 0;
      for (std::size_t j = 1; j < set.size(); ++j)
        if (similarity(set, outputs, i, j) > similarity(set, outputs, i, nearest)) nearest = j;
      statistics.begin_example();
      statistics.add("all", 1);
      statistics.add("found", nearest == i);
    }
  }
  Records label(const Records& records, const ExampleSet&, const Outputs&) const override {
    Records labelled;
    labelled.add("text", records.texts("text"));
    return labelled;
  }

 private:
  static double similarity(const ExampleSet& set, const Outputs& outputs, std::size_t i, std::size_t j) {
    const auto a = outputs.numbers("embedding", set, set.sequences(i).first),
               b = outputs.numbers("embedding", set, set.sequences(j).first + 1);
    double sum = 0.0;
    for (std::size_t c = 0; c < a.size(); ++c) sum += double(a[c]) * double(b[c]);
    return sum;
  }

  std::size_t most_;
};

/// x (2 P, C): rows 2 i and 2 i + 1 are a pair; an odd row at the end has no loss.
/// weights (P, P): softmax over j of x[2 i] . x[2 j + 1] / sqrt(C); losses (2 P): -log weights[i, i] on row 2
/// i, else 0.
template <class T>
void in_batch_loss(const Device& device, Tensor states, Tensor weights, Tensor losses) {
  using S = Sum<T>;
  const std::int64_t rows = states.extent(0), pairs = rows / 2, width = states.extent(1);
  const T* x = elements<T>(states);
  S *weight = elements<S>(weights), *loss = elements<S>(losses);
  const S factor = S(1) / static_cast<S>(std::sqrt(static_cast<double>(width)));
  for_rows(
      device, "encore_seams::in_batch_loss", rows, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t i = row.index / 2;
        if (row.index % 2 == 1 || i >= pairs) return row.once([&] { loss[row.index] = S(0); });
        S* mine = weight + i * pairs;
        row.each(pairs, [&](std::int64_t j) {
          S sum = S(0);
          for (std::int64_t c = 0; c < width; ++c)
            sum += static_cast<S>(x[2 * i * width + c]) * static_cast<S>(x[(2 * j + 1) * width + c]);
          mine[j] = factor * sum;
        });
        row.barrier();
        const S largest = row.max<S>(pairs, [&](std::int64_t j) { return mine[j]; });
        const S sum = row.sum<S>(pairs, [&](std::int64_t j) { return math::exp(mine[j] - largest); });
        const S own = mine[i];
        row.once([&] { loss[row.index] = largest + math::log(sum) - own; });
        row.barrier();
        row.each(pairs, [&](std::int64_t j) { mine[j] = math::exp(mine[j] - largest) / sum; });
      });
}

/// dx (2 P, C) of scale * sum(losses), each element summed over the pairs in order.
template <class T>
void in_batch_backward(const Device& device, Tensor states, Tensor weights, double scale, Tensor gradients) {
  using S = Sum<T>;
  const std::int64_t rows = states.extent(0), pairs = rows / 2, width = states.extent(1);
  const T* x = elements<T>(states);
  T* dx = elements<T>(gradients);
  const S* weight = elements<S>(weights);
  const S factor = static_cast<S>(scale / std::sqrt(static_cast<double>(width)));
  for_rows(
      device, "encore_seams::in_batch_backward", rows, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t mine = row.index / 2, second = row.index % 2;
        // The weight of this row's text with text k of the other side is at mine * along + k * across; a row
        // without a pair has none.
        const std::int64_t along = second == 0 ? pairs : 1, across = second == 0 ? 1 : pairs;
        const std::int64_t others = mine < pairs ? pairs : 0;
        row.each(width, [&](std::int64_t c) {
          S sum = S(0);
          for (std::int64_t k = 0; k < others; ++k) {
            const S share = weight[mine * along + k * across] - (k == mine ? S(1) : S(0));
            sum += share * static_cast<S>(x[(2 * k + 1 - second) * width + c]);
          }
          dx[row.index * width + c] = static_cast<T>(factor * sum);
        });
      });
}

class InBatch final : public Head {
 public:
  static Schema options() { return {}; }
  InBatch(const Options&, const HeadContext&) {}
  void declare(HeadPlan& plan) override {
    states_ = plan.read(Space::sequences);
    loss_ = plan.add_loss(plan.column("first", Space::sequences, ColumnType::numbers));
    plan.couple_sequences();
    embedding_ = plan.output("embedding", Space::sequences, ColumnType::numbers, plan.width());
    weights_ = plan.buffer("weights", {sequences, most_pairs}, Lifetime::saved, Element::accumulate);
  }
  void score(const HeadStep&) override {}
  void loss(const HeadStep& step) override {
    const Tensor states = step.input(states_);
    ENCORE_REQUIRE(states.extent(0) <= 2 * most_pairs, "a batch has at most 64 pairs");
    dispatch(states.dtype, [&](auto type) {
      in_batch_loss<decltype(type)>(step.device(), states, step.buffer(weights_), step.losses(loss_));
    });
  }
  void backward(const HeadStep& step) override {
    const Tensor states = step.input(states_);
    dispatch(states.dtype, [&](auto type) {
      in_batch_backward<decltype(type)>(step.device(), states, step.buffer(weights_), step.scale(loss_),
                                        step.input_gradient(states_));
    });
  }
  void decode(const HeadStep& step) override {
    kernels::copy(step.device(), step.input(states_), step.output(embedding_));
  }

 private:
  static constexpr std::int64_t most_pairs = 64;

  HeadInput states_;
  HeadLoss loss_;
  HeadOutput embedding_;
  Buffer weights_;
};

void add_pairs(Registrar& plugin) {
  plugin.add<Kind::reader, PairReader>("pairs");
  plugin.add<Kind::task, Pairs>("pairs");
  plugin.add<Kind::head, InBatch>("in_batch");
}

}  // namespace encore_seams
