// SPDX-License-Identifier: BSD-3-Clause
// Head "embedding": a vector for each sequence: the mean of its rows or its first row, optionally scaled to
// length 1. It has no parameters. It learns from pairs: the two sequences of an example (columns "first" and
// "second"). With the column "similarity", the loss is (cos(u, v) - number)^2; otherwise each first sequence
// must find its own second one in the batch (van den Oord et al. 2018; Henderson et al. 2017), also among the
// negatives: sequences with the column "second" that no first one precedes. With the column "window" an input
// may have several sequences, and its vector is the mean of theirs. Task: plugins/tasks/embed. The model
// calls it through Head (encore/head.hpp).
#include <string>

#include <encore/head.hpp>
#include <encore/kernels.hpp>
#include <encore/math.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace encore_embedding_head {

using namespace encore;

/// The windows of the inputs of a batch. Those of an input are consecutive, but sequences of padding may lie
/// between them.
struct Windows {
  const std::int32_t *numbers, *tokens;  ///< (B) number within the input, below 0: padding; its own tokens
  std::int64_t count;

  Windows(const Tensor& all_numbers, const Tensor& all_tokens)
      : numbers(elements<std::int32_t>(all_numbers)),
        tokens(elements<std::int32_t>(all_tokens)),
        count(all_numbers.extent(0)) {}

  /// Returns the sequence with the first window of the input to which a window belongs.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_of(std::int64_t sequence) const {
    while (sequence > 0 && numbers[sequence] != 0) --sequence;
    return sequence;
  }
  /// Returns the end of the input whose first window this is.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t end_of(std::int64_t first) const {
    std::int64_t end = first + 1;
    while (end < count && numbers[end] != 0) ++end;
    return end;
  }
  /// Returns the share of a window in its input, [first, end); 1 if it is the only one, also without tokens.
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION S share(std::int64_t sequence, std::int64_t first, std::int64_t end) const {
    std::int64_t all = 0, windows = 0;
    for (std::int64_t other = first; other < end; ++other)
      if (numbers[other] >= 0) {
        all += tokens[other];
        ++windows;
      }
    return windows == 1 ? S(1) : static_cast<S>(tokens[sequence]) / static_cast<S>(all);
  }
};

/// merged (B, C): for the first window of an input the sum of share * vector of its windows, added in their
/// order; 0 for other sequences. vectors: (B, C). The vector of a single window keeps its bits.
template <class S>
void merge_windows(const Device& device, const Windows& windows, Tensor vectors, Tensor merged) {
  const Windows w = windows;
  const std::int64_t width = vectors.extent(1);
  const S* x = elements<S>(vectors);
  S* y = elements<S>(merged);
  for_rows(
      device, "encore::merge_windows", w.count, KOKKOS_LAMBDA(const Row& row) {
        S* mine = y + row.index * width;
        const bool is_first = w.numbers[row.index] == 0;
        const std::int64_t end = is_first ? w.end_of(row.index) : row.index + 1;
        const S of_first = is_first ? w.template share<S>(row.index, row.index, end) : S(0);
        row.each(width, [&](std::int64_t c) { mine[c] = of_first * x[row.index * width + c]; });
        for (std::int64_t window = row.index + 1; window < end; ++window) {
          if (w.numbers[window] < 0) continue;
          const S share = w.template share<S>(window, row.index, end);
          row.each(width, [&](std::int64_t c) { mine[c] += share * x[window * width + c]; });
        }
      });
}

/// dvectors (B, C) = share * dmerged of the window's input; 0 for padding.
template <class S>
void merge_windows_backward(const Device& device, const Windows& windows, Tensor dmerged, Tensor dvectors) {
  const Windows w = windows;
  const std::int64_t width = dmerged.extent(1);
  const S* dy = elements<S>(dmerged);
  S* dx = elements<S>(dvectors);
  for_rows(
      device, "encore::merge_windows_backward", w.count, KOKKOS_LAMBDA(const Row& row) {
        const bool is_window = w.numbers[row.index] >= 0;
        const std::int64_t first = is_window ? w.first_of(row.index) : row.index;
        const S share = is_window ? w.template share<S>(row.index, first, w.end_of(first)) : S(0);
        row.each(width, [&](std::int64_t c) { dx[row.index * width + c] = share * dy[first * width + c]; });
      });
}

/// units (B, C) = pooled / |pooled|, inverses (B) = 1 / |pooled|; both 0 if pooled is 0.
template <class S>
void normalize_rows(const Device& device, Tensor pooled, Tensor units, Tensor inverses) {
  const std::int64_t width = pooled.extent(1);
  const S* x = elements<S>(pooled);
  S *unit = elements<S>(units), *inverse = elements<S>(inverses);
  for_rows(
      device, "encore::normalize_rows", pooled.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const S* mine = x + row.index * width;
        const S squares = row.sum<S>(width, [&](std::int64_t c) { return mine[c] * mine[c]; });
        const S factor = squares > S(0) ? S(1) / Kokkos::sqrt(squares) : S(0);
        row.each(width, [&](std::int64_t c) { unit[row.index * width + c] = factor * mine[c]; });
        row.once([&] { inverse[row.index] = factor; });
      });
}

/// What `owners` has in place of a sequence.
enum : std::int32_t { no_candidate = -1, negative = -2 };

/// Finds the other sequence of each pair: partners (B) of the first ones (-1: none) and owners (B) of the
/// second ones. A sequence with the column "second" that does not follow a first one is a negative. Only
/// sequences of padding and further windows may lie between the two of a pair.
void find_pairs(const Device& device, Tensor firsts, Tensor seconds, Tensor partners, Tensor owners) {
  const std::int64_t count = firsts.extent(0);
  const auto *first = elements<std::int32_t>(firsts), *second = elements<std::int32_t>(seconds);
  auto *partner = elements<std::int32_t>(partners), *owner = elements<std::int32_t>(owners);
  for_rows(
      device, "encore::find_pairs", count, KOKKOS_LAMBDA(const Row& row) {
        std::int64_t behind = row.index + 1, before = row.index - 1;
        while (behind < count && first[behind] < 0 && second[behind] < 0) ++behind;
        while (before >= 0 && first[before] < 0 && second[before] < 0) --before;
        const bool has_partner = first[row.index] >= 0 && behind < count && second[behind] >= 0;
        const bool has_owner = second[row.index] >= 0 && before >= 0 && first[before] >= 0;
        row.once([&] {
          partner[row.index] = has_partner ? static_cast<std::int32_t>(behind) : -1;
          owner[row.index] = has_owner                ? static_cast<std::int32_t>(before)
                             : second[row.index] >= 0 ? negative
                                                      : no_candidate;
        });
      });
}

/// The input of both losses: rows of units, and the pairs.
template <class S>
struct Pairs {
  const S* units;  ///< (B, C)
  const std::int32_t *partners, *owners;
  std::int64_t count, width;

  Pairs(const Tensor& all_units, const Tensor& all_partners, const Tensor& all_owners)
      : units(elements<S>(all_units)),
        partners(elements<std::int32_t>(all_partners)),
        owners(elements<std::int32_t>(all_owners)),
        count(all_units.extent(0)),
        width(all_units.extent(1)) {}

  KOKKOS_FORCEINLINE_FUNCTION const S* unit(std::int64_t sequence) const { return units + sequence * width; }
  KOKKOS_FORCEINLINE_FUNCTION S cosine(const Row& row, std::int64_t a, std::int64_t b) const {
    const S *u = unit(a), *v = unit(b);
    return row.sum<S>(width, [&](std::int64_t c) { return u[c] * v[c]; });
  }
};

/// losses (B): for a first sequence u, -log softmax over all second sequences and negatives v of the batch of
/// cos(u, v) / temperature, at its own second one; 0 for other sequences. log_sums (B): the log of this
/// sum. The backward pass uses log_sums and computes the cosines again. So no buffer
/// has the size of all pairs, and a batch may have any number of them.
template <class S>
void contrastive_loss(const Device& device, const Pairs<S>& pairs, double temperature, Tensor log_sums,
                      Tensor losses) {
  const Pairs<S> p = pairs;
  const S factor = static_cast<S>(1.0 / temperature);
  S *log_sum = elements<S>(log_sums), *loss = elements<S>(losses);
  for_rows(
      device, "encore::contrastive_loss", p.count, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t own = p.partners[row.index];
        S largest = S(0), sum = S(0), score_of_own = S(0);
        bool any = false;
        for (std::int64_t j = 0; own >= 0 && j < p.count; ++j) {
          if (p.owners[j] == no_candidate) continue;
          const S score = factor * p.cosine(row, row.index, j);
          if (j == own) score_of_own = score;
          if (!any || score > largest) {
            sum = any ? sum * math::exp(largest - score) : S(0);
            largest = score;
            any = true;
          }
          sum += math::exp(score - largest);
        }
        const S total = own >= 0 ? largest + math::log(sum) : S(0);
        row.once([&] {
          log_sum[row.index] = total;
          loss[row.index] = own >= 0 ? total - score_of_own : S(0);
        });
      });
}

/// losses (B): for a first sequence u, (cos(u, v) - number)^2 with its second sequence v; 0 for other
/// sequences. numbers: (B) float32.
template <class S>
void similarity_loss(const Device& device, const Pairs<S>& pairs, Tensor numbers, Tensor losses) {
  const Pairs<S> p = pairs;
  const float* number = elements<float>(numbers);
  S* loss = elements<S>(losses);
  for_rows(
      device, "encore::similarity_loss", p.count, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t own = p.partners[row.index];
        const S error = own >= 0 ? p.cosine(row, row.index, own) - static_cast<S>(number[row.index]) : S(0);
        row.once([&] { loss[row.index] = error * error; });
      });
}

/// Turns the gradient g of a unit vector u into that of the vector before scaling: inverse * (g - u (u . g)).
/// `g` is replaced.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION void through_norm(const Row& row, std::int64_t width, const S* u, S inverse,
                                              S factor, S* g) {
  row.barrier();
  const S along = row.sum<S>(width, [&](std::int64_t c) { return u[c] * g[c]; });
  row.each(width, [&](std::int64_t c) { g[c] = factor * inverse * (g[c] - u[c] * along); });
}

/// dpooled (B, C): the gradient of scale * sum(losses) of contrastive_loss; each row sums over the batch in
/// order.
template <class S>
void contrastive_backward(const Device& device, const Pairs<S>& pairs, double temperature, double scale,
                          Tensor log_sums, Tensor inverses, Tensor dpooled) {
  const Pairs<S> p = pairs;
  const S inverse_temperature = static_cast<S>(1.0 / temperature);
  const S factor = static_cast<S>(scale / temperature);
  const S *log_sum = elements<S>(log_sums), *inverse = elements<S>(inverses);
  S* gradients = elements<S>(dpooled);
  for_rows(
      device, "encore::contrastive_backward", p.count, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t me = row.index;
        S* g = gradients + me * p.width;
        row.each(p.width, [&](std::int64_t c) { g[c] = S(0); });
        for (std::int64_t other = 0; other < p.count; ++other) {
          const bool seeks = p.partners[me] >= 0 && p.owners[other] != no_candidate;
          const bool is_sought = p.owners[me] != no_candidate && p.partners[other] >= 0;
          if (!seeks && !is_sought) continue;
          const S score = inverse_temperature * p.cosine(row, me, other);
          S weight = S(0);
          if (seeks) weight += math::exp(score - log_sum[me]) - (p.partners[me] == other ? S(1) : S(0));
          if (is_sought) weight += math::exp(score - log_sum[other]) - (p.owners[me] == other ? S(1) : S(0));
          const S* v = p.unit(other);
          row.each(p.width, [&](std::int64_t c) { g[c] += weight * v[c]; });
        }
        through_norm(row, p.width, p.unit(me), inverse[me], factor, g);
      });
}

/// dpooled (B, C): the gradient of scale * sum(losses) of similarity_loss.
template <class S>
void similarity_backward(const Device& device, const Pairs<S>& pairs, double scale, Tensor numbers,
                         Tensor inverses, Tensor dpooled) {
  const Pairs<S> p = pairs;
  const S factor = static_cast<S>(2.0 * scale);
  const float* number = elements<float>(numbers);
  const S* inverse = elements<S>(inverses);
  S* gradients = elements<S>(dpooled);
  for_rows(
      device, "encore::similarity_backward", p.count, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t me = row.index, partner = p.partners[me], owner = p.owners[me];
        S* g = gradients + me * p.width;
        row.each(p.width, [&](std::int64_t c) { g[c] = S(0); });
        if (partner >= 0) {
          const S error = p.cosine(row, me, partner) - static_cast<S>(number[me]);
          const S* v = p.unit(partner);
          row.each(p.width, [&](std::int64_t c) { g[c] += error * v[c]; });
        }
        if (owner >= 0) {
          const S error = p.cosine(row, owner, me) - static_cast<S>(number[owner]);
          const S* u = p.unit(owner);
          row.each(p.width, [&](std::int64_t c) { g[c] += error * u[c]; });
        }
        through_norm(row, p.width, p.unit(me), inverse[me], factor, g);
      });
}

class EmbeddingHead final : public Head, public HasOnnxOutputs {
 public:
  static constexpr const char* summary =
      "a vector for each input. The head learns which two inputs of a batch belong together (van den Oord et "
      "al. 2018) or, if the task gives the column `similarity`, how similar the two inputs of a pair are, "
      "independently of other pairs. The column `first` is at least 0 for the first input of a pair, "
      "`second` for the second input; other values are below 0. With the columns `window` and `own_tokens` "
      "the vector of an input is the mean of those of its windows";
  static Schema options() {
    return Schema()
        .choice("pooling", "mean", {"mean", "cls"},
                {.help = "the vector of an input. mean: the mean of its tokens' states; cls: the state of "
                         "its first token ([CLS])"})
        .boolean("normalize", false, {.help = "scale each vector to length 1"})
        .number("temperature", 0.05,
                {.help = "without the column `similarity`: the loss divides cosines by this number; with a "
                         "small number, only the most similar wrong candidates have weight in the loss",
                 .min = 0.001,
                 .max = 10.0});
  }

  EmbeddingHead(const Options& options, const HeadContext& context)
      : space_(options.text("pooling") == "mean" ? Space::tokens : Space::sequences),
        normalize_(options.flag("normalize")),
        temperature_(options.number("temperature")),
        learns_numbers_(context.column("similarity") != nullptr),
        has_windows_(context.column("window") != nullptr) {
    if (context.label_smoothing > 0.0)
      throw Error("the embedding head has no labels to smooth: set train.label_smoothing = 0");
  }

  void declare(HeadPlan& plan) override {
    const std::int64_t width = width_ = plan.width();
    states_ = plan.read(space_);
    first_ = plan.column("first", Space::sequences);
    second_ = plan.column("second", Space::sequences);
    if (learns_numbers_) numbers_ = plan.column("similarity", Space::sequences, ColumnType::numbers);
    embedding_ = plan.output("embedding", Space::sequences, ColumnType::numbers, width);
    loss_ = plan.add_loss(first_);
    if (!learns_numbers_) plan.couple_sequences();
    const auto sums = [&](const char* name, Shape shape, Lifetime lifetime) {
      return plan.buffer(name, std::move(shape), lifetime, Element::accumulate);
    };
    pooled_ = sums("pooled", {sequences, width}, Lifetime::saved);
    units_ = sums("units", {sequences, width}, Lifetime::saved);
    inverses_ = sums("inverse_lengths", {sequences}, Lifetime::saved);
    log_sums_ = sums("log_sums", {sequences}, Lifetime::saved);
    dpooled_ = sums("pooled_gradient", {sequences, width}, Lifetime::backward);
    if (has_windows_) {
      numbers_of_windows_ = plan.column("window", Space::sequences);
      tokens_of_windows_ = plan.column("own_tokens", Space::sequences);
      of_windows_ = sums("windows", {sequences, width}, Lifetime::saved);
      dof_windows_ = sums("windows_gradient", {sequences, width}, Lifetime::backward);
    }
    partners_ = plan.buffer("partners", {sequences}, Lifetime::saved, Element::index);
    owners_ = plan.buffer("owners", {sequences}, Lifetime::saved, Element::index);
  }

  void score(const HeadStep& step) override {
    const Tensor states = step.input(states_), pooled = step.buffer(pooled_);
    const Tensor vectors = has_windows_ ? step.buffer(of_windows_) : pooled;
    if (space_ == Space::tokens)
      kernels::mean_rows(step.device(), step.rows(), states, vectors);
    else
      kernels::copy(step.device(), states, vectors);
    dispatch_parameters(pooled.dtype, [&](auto type) {
      if (has_windows_) merge_windows<decltype(type)>(step.device(), windows(step), vectors, pooled);
      normalize_rows<decltype(type)>(step.device(), pooled, step.buffer(units_), step.buffer(inverses_));
    });
  }

  void loss(const HeadStep& step) override {
    const Device& device = step.device();
    find_pairs(device, step.column(first_), step.column(second_), step.buffer(partners_),
               step.buffer(owners_));
    dispatch_parameters(step.buffer(units_).dtype, [&](auto type) {
      using S = decltype(type);
      if (learns_numbers_)
        similarity_loss<S>(device, pairs<S>(step), step.column(numbers_), step.losses(loss_));
      else
        contrastive_loss<S>(device, pairs<S>(step), temperature_, step.buffer(log_sums_), step.losses(loss_));
    });
  }

  void backward(const HeadStep& step) override {
    const Device& device = step.device();
    const Tensor dpooled = step.buffer(dpooled_), dstates = step.input_gradient(states_);
    dispatch_parameters(dpooled.dtype, [&](auto type) {
      using S = decltype(type);
      if (learns_numbers_)
        similarity_backward<S>(device, pairs<S>(step), step.scale(loss_), step.column(numbers_),
                               step.buffer(inverses_), dpooled);
      else
        contrastive_backward<S>(device, pairs<S>(step), temperature_, step.scale(loss_),
                                step.buffer(log_sums_), step.buffer(inverses_), dpooled);
      if (has_windows_) merge_windows_backward<S>(device, windows(step), dpooled, step.buffer(dof_windows_));
    });
    const Tensor dvectors = has_windows_ ? step.buffer(dof_windows_) : dpooled;
    if (space_ == Space::tokens)
      kernels::mean_rows_backward(device, step.rows(), dvectors, dstates);
    else
      kernels::copy(device, dvectors, dstates);
  }

  void decode(const HeadStep& step) override {
    kernels::copy(step.device(), step.buffer(normalize_ ? units_ : pooled_), step.output(embedding_));
  }

  void onnx_outputs(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    OnnxValue pooled = space_ == Space::tokens ? graph.mean_rows(inputs[0]) : inputs[0];
    if (normalize_)
      pooled =
          graph.divide(pooled, graph.node("ReduceL2", {pooled}, {{"axes", std::vector<std::int64_t>{1}}}));
    graph.output("embedding", pooled, {OnnxGraph::batch, width_});
  }

 private:
  template <class S>
  Pairs<S> pairs(const HeadStep& step) const {
    return {step.buffer(units_), step.buffer(partners_), step.buffer(owners_)};
  }

  Windows windows(const HeadStep& step) const {
    return {step.column(numbers_of_windows_), step.column(tokens_of_windows_)};
  }

  Space space_;
  std::int64_t width_ = 0;  ///< C
  bool normalize_;
  double temperature_;
  bool learns_numbers_;
  bool has_windows_;  ///< an input may have several sequences
  HeadInput states_;
  HeadColumn first_, second_, numbers_, numbers_of_windows_, tokens_of_windows_;
  HeadLoss loss_;
  HeadOutput embedding_;
  Buffer pooled_, units_, inverses_, log_sums_, dpooled_, partners_, owners_, of_windows_, dof_windows_;
};

}  // namespace encore_embedding_head

ENCORE_PLUGIN("embedding_head", "1.0.0") {
  plugin.add<encore::Kind::head, encore_embedding_head::EmbeddingHead>("embedding");
}
