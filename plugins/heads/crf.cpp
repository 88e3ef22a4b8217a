// SPDX-License-Identifier: BSD-3-Clause
// Head "crf": a linear-chain conditional random field (Lafferty et al. 2001), for tasks that label rows. A
// sequence of labels y scores start[y_1] + sum_t e_t[y_t] + sum_t transitions[y_t-1, y_t] + end[y_T] with
// emissions e = x W^T + b; the loss is -log of its share among all sequences. The sums of training are
// logarithms that are normalized at every row, so that long sequences lose no precision in float32. In
// shapes, N is the number of rows, K that of labels, and B that of sequences. The model calls it through Head
// (encore/head.hpp). Checkpoints contain the names of its parameters, so these never change.
#include <encore/class_probabilities.hpp>
#include <encore/head.hpp>
#include <encore/kernels.hpp>
#include <encore/math.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace encore_crf {

using namespace encore;

/// Returns the largest term(i) plus the log of the sum of e^(term(i) - largest), for i below `count`.
template <class S, class Term>
KOKKOS_FORCEINLINE_FUNCTION S log_sum_exp(const Row& row, std::int64_t count, const Term& term) {
  const S largest = row.max<S>(count, term);
  return largest + math::log(row.sum<S>(count, [&](std::int64_t i) { return math::exp(term(i) - largest); }));
}

/// Like log_sum_exp above, but some or all terms may be -infinity.
template <class S, class Term>
KOKKOS_FORCEINLINE_FUNCTION S log_sum_exp_of_allowed(const Row& row, std::int64_t count, const Term& term) {
  constexpr S never = -Kokkos::Experimental::infinity_v<S>;
  const S largest = row.max<S>(count, term);
  if (!(largest > never)) return never;
  return largest + math::log(row.sum<S>(count, [&](std::int64_t i) { return math::exp(term(i) - largest); }));
}

/// Sets values[place] = value in the lane that visits `place`. Only that lane may read the value later in the
/// kernel.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION void put(const Row& row, std::int64_t count, S* values, std::int64_t place,
                                     S value) {
  row.each(count, [&](std::int64_t i) {
    if (i == place) values[i] = value;
  });
}

/// The parameters of the chain.
struct Chain {
  Tensor transitions;  ///< (K, K), from and to
  Tensor start;        ///< (K)
  Tensor end;          ///< (K)
};

/// The forward pass over the rows that have a target; other rows are ignored. One sequence is one row of
/// for_rows. alphas (N, K): log of the probability that the chain up to this row ends in class k. norms (N):
/// what the row adds to log Z; the sum of the norms so far is log Z. losses (N): the norm minus what the
/// row's label adds to the score. The loss of the last row of a sequence also has `end`; its norm has not.
template <class T>
void crf_loss(const Device& device, const RowSet& rows, const Chain& chain, Tensor emissions, Tensor targets,
              Tensor alphas, Tensor norms, Tensor losses) {
  using S = Sum<T>;
  const std::int64_t classes = emissions.extent(1);
  const std::int32_t* offsets = elements<std::int32_t>(rows.offsets);
  const T* scores = elements<T>(emissions);
  const S* transitions = elements<S>(chain.transitions);
  const S* start = elements<S>(chain.start);
  const S* end = elements<S>(chain.end);
  const std::int32_t* wanted = elements<std::int32_t>(targets);
  S* alpha = elements<S>(alphas);
  S* norm = elements<S>(norms);
  S* loss = elements<S>(losses);
  for_rows(
      device, "encore::crf_loss", rows.size.sequences, KOKKOS_LAMBDA(const Row& row) {
        std::int64_t before = -1;  // the last labelled row before t
        for (std::int64_t t = offsets[row.index]; t < offsets[row.index + 1]; ++t) {
          const std::int64_t label = wanted[t];
          if (label < 0) {
            row.once([&] { loss[t] = S(0); });
            continue;
          }
          for (std::int64_t j = 0; j < classes; ++j) {
            const S arrived = before < 0 ? start[j] : log_sum_exp<S>(row, classes, [&](std::int64_t i) {
              return alpha[before * classes + i] + transitions[i * classes + j];
            });
            put(row, classes, alpha + t * classes, j, arrived + static_cast<S>(scores[t * classes + j]));
          }
          const S total =
              log_sum_exp<S>(row, classes, [&](std::int64_t k) { return alpha[t * classes + k]; });
          row.each(classes, [&](std::int64_t k) { alpha[t * classes + k] -= total; });
          const S entered = before < 0 ? start[label] : transitions[wanted[before] * classes + label];
          row.once([&] {
            norm[t] = total;
            loss[t] = total - entered - static_cast<S>(scores[t * classes + label]);
          });
          before = t;
        }
        if (before < 0) return;
        const S total = log_sum_exp<S>(row, classes,
                                       [&](std::int64_t k) { return alpha[before * classes + k] + end[k]; });
        row.once([&] { loss[before] += total - end[wanted[before]]; });
      });
}

/// Backward pass. demissions (N, K) = scale * (marginal - [k = target]), 0 on rows without a target. shares
/// (B, K + 2, K): what each sequence adds to the gradients of transitions (K rows), start and end. betas (N,
/// K) is scratch: log of the scores of all that may follow class k, minus the later norms, so that a marginal
/// is e^(alpha + beta).
template <class T>
void crf_backward(const Device& device, const RowSet& rows, const Chain& chain, Tensor emissions,
                  Tensor targets, Tensor alphas, Tensor norms, double scale, Tensor betas, Tensor demissions,
                  Tensor shares) {
  using S = Sum<T>;
  const std::int64_t classes = emissions.extent(1);
  const std::int32_t* offsets = elements<std::int32_t>(rows.offsets);
  const T* scores = elements<T>(emissions);
  const S* transitions = elements<S>(chain.transitions);
  const S* end = elements<S>(chain.end);
  const std::int32_t* wanted = elements<std::int32_t>(targets);
  const S* alpha = elements<S>(alphas);
  const S* norm = elements<S>(norms);
  S* beta = elements<S>(betas);
  T* dscores = elements<T>(demissions);
  S* all_shares = elements<S>(shares);
  const S factor = static_cast<S>(scale);
  for_rows(
      device, "encore::crf_backward", rows.size.sequences, KOKKOS_LAMBDA(const Row& row) {
        S* dtransitions = all_shares + row.index * (classes + 2) * classes;
        S* dstart = dtransitions + classes * classes;
        S* dend = dstart + classes;
        for (std::int64_t i = 0; i < classes + 2; ++i)
          row.each(classes, [&](std::int64_t j) { dtransitions[i * classes + j] = S(0); });
        std::int64_t after = -1;  // the next labelled row after t
        for (std::int64_t t = offsets[row.index + 1]; t-- > offsets[row.index];) {
          const std::int64_t label = wanted[t];
          if (label < 0) {
            row.each(classes, [&](std::int64_t k) { dscores[t * classes + k] = static_cast<T>(S(0)); });
            continue;
          }
          if (after < 0) {
            const S total =
                log_sum_exp<S>(row, classes, [&](std::int64_t k) { return alpha[t * classes + k] + end[k]; });
            row.each(classes, [&](std::int64_t k) {
              beta[t * classes + k] = end[k] - total;
              const S marginal = math::exp(alpha[t * classes + k] + beta[t * classes + k]);
              dend[k] = factor * (marginal - (k == label ? S(1) : S(0)));
            });
          } else {
            const std::int64_t next_label = wanted[after];
            for (std::int64_t i = 0; i < classes; ++i) {
              const auto onward = [&](std::int64_t j) {
                return transitions[i * classes + j] + static_cast<S>(scores[after * classes + j]) +
                       beta[after * classes + j] - norm[after];
              };
              put(row, classes, beta + t * classes, i, log_sum_exp<S>(row, classes, onward));
              const S reached = alpha[t * classes + i];
              row.each(classes, [&](std::int64_t j) {
                const S marginal = math::exp(reached + onward(j));
                const bool labelled = i == label && j == next_label;
                dtransitions[i * classes + j] += factor * (marginal - (labelled ? S(1) : S(0)));
              });
            }
          }
          row.each(classes, [&](std::int64_t k) {
            const S marginal = math::exp(alpha[t * classes + k] + beta[t * classes + k]);
            dscores[t * classes + k] = static_cast<T>(factor * (marginal - (k == label ? S(1) : S(0))));
          });
          after = t;
        }
        if (after < 0) return;
        row.each(classes, [&](std::int64_t k) {
          const S marginal = math::exp(alpha[after * classes + k] + beta[after * classes + k]);
          dstart[k] = factor * (marginal - (k == wanted[after] ? S(1) : S(0)));
        });
      });
}

/// Adds the shares (B, K + 2, K) to the gradients of the chain, in the order of the sequences.
template <class S>
void add_shares(const Device& device, Tensor shares, const Chain& gradients) {
  const std::int64_t sequences = shares.extent(0);
  const std::int64_t classes = shares.extent(2);
  const S* all_shares = elements<S>(shares);
  S* dtransitions = elements<S>(gradients.transitions);
  S* dstart = elements<S>(gradients.start);
  S* dend = elements<S>(gradients.end);
  for_rows(
      device, "encore::crf_add_shares", classes + 2, KOKKOS_LAMBDA(const Row& row) {
        S* to = row.index < classes    ? dtransitions + row.index * classes
                : row.index == classes ? dstart
                                       : dend;
        row.each(classes, [&](std::int64_t k) {
          S sum = S(0);
          for (std::int64_t b = 0; b < sequences; ++b)
            sum += all_shares[(b * (classes + 2) + row.index) * classes + k];
          to[k] += sum;
        });
      });
}

/// The forward pass of Viterbi, over the rows that the column "labelled" marks. best (N, K): the highest
/// score of a chain that ends in class k at this row. pointers (N, K): the class at the previous labelled row
/// of that chain, the lowest one of equals. allowed (K + 1, K): whether class j may follow class i; row K:
/// whether it may be first.
template <class T>
void crf_viterbi(const Device& device, const RowSet& rows, const Chain& chain, Tensor emissions, Tensor mask,
                 Tensor allowed, Tensor best, Tensor pointers) {
  using S = Sum<T>;
  const std::int64_t classes = emissions.extent(1);
  const std::int32_t* offsets = elements<std::int32_t>(rows.offsets);
  const T* scores = elements<T>(emissions);
  const S* transitions = elements<S>(chain.transitions);
  const S* start = elements<S>(chain.start);
  const std::int32_t* labelled = elements<std::int32_t>(mask);
  const std::int32_t* may = elements<std::int32_t>(allowed);
  S* highest = elements<S>(best);
  std::int32_t* pointer = elements<std::int32_t>(pointers);
  for_rows(
      device, "encore::crf_viterbi", rows.size.sequences, KOKKOS_LAMBDA(const Row& row) {
        constexpr S never = -Kokkos::Experimental::infinity_v<S>;
        std::int64_t before = -1;
        for (std::int64_t t = offsets[row.index]; t < offsets[row.index + 1]; ++t) {
          if (labelled[t] < 0) continue;
          for (std::int64_t j = 0; j < classes; ++j) {
            const S emission = static_cast<S>(scores[t * classes + j]);
            if (before < 0) {
              put(row, classes, highest + t * classes, j,
                  may[classes * classes + j] != 0 ? start[j] + emission : never);
              continue;
            }
            const auto score = [&](std::int64_t i) {
              return may[i * classes + j] != 0 ? highest[before * classes + i] + transitions[i * classes + j]
                                               : never;
            };
            const S top = row.max<S>(classes, score);
            const S first = -row.max<S>(classes, [&](std::int64_t i) {
              return score(i) >= top ? -static_cast<S>(i) : -static_cast<S>(classes - 1);
            });
            put(row, classes, highest + t * classes, j, top + emission);
            put(row, classes, pointer + t * classes, j, static_cast<std::int32_t>(first));
          }
          before = t;
        }
      });
}

/// Follows the pointers back from the best class of each sequence's last labelled row (the lowest one of
/// equals). predictions (N): 0 on rows without a label.
template <class S>
void crf_trace_back(const Device& device, const RowSet& rows, Tensor end_scores, Tensor mask, Tensor best,
                    Tensor pointers, Tensor predictions) {
  const std::int64_t classes = best.extent(1);
  const std::int32_t* offsets = elements<std::int32_t>(rows.offsets);
  const S* end = elements<S>(end_scores);
  const std::int32_t* labelled = elements<std::int32_t>(mask);
  const S* highest = elements<S>(best);
  const std::int32_t* pointer = elements<std::int32_t>(pointers);
  std::int32_t* predicted = elements<std::int32_t>(predictions);
  for_rows(
      device, "encore::crf_trace_back", rows.size.sequences, KOKKOS_LAMBDA(const Row& row) {
        row.once([&] {
          std::int64_t after = -1;
          for (std::int64_t t = offsets[row.index + 1]; t-- > offsets[row.index];) {
            predicted[t] = 0;
            if (labelled[t] < 0) continue;
            if (after >= 0) {
              predicted[t] = pointer[after * classes + predicted[after]];
            } else {
              const S* scores = highest + t * classes;
              for (std::int32_t k = 1; k < classes; ++k)
                if (scores[k] + end[k] > scores[predicted[t]] + end[predicted[t]]) predicted[t] = k;
            }
            after = t;
          }
        });
      });
}

/// marginals (N, K): the sum of e^score over the allowed sequences with class k at this row, divided by the
/// sum over all allowed ones; 0 on rows without a label. First the forward pass, alphas (N, K) as in
/// crf_loss; then backward with beta, the log of the sum over what may follow class k. Row by row, beta +
/// emission replaces alpha, so no second table is needed. Each row is divided by its own sum, so its
/// probabilities sum to 1 for any length of the sequence.
template <class T>
void crf_marginals(const Device& device, const RowSet& rows, const Chain& chain, Tensor emissions,
                   Tensor mask, Tensor allowed, Tensor alphas, Tensor marginals) {
  using S = Sum<T>;
  const std::int64_t classes = emissions.extent(1);
  const std::int32_t* offsets = elements<std::int32_t>(rows.offsets);
  const T* scores = elements<T>(emissions);
  const S* transitions = elements<S>(chain.transitions);
  const S* start = elements<S>(chain.start);
  const S* end = elements<S>(chain.end);
  const std::int32_t* labelled = elements<std::int32_t>(mask);
  const std::int32_t* may = elements<std::int32_t>(allowed);
  S* alpha = elements<S>(alphas);
  float* shares = elements<float>(marginals);
  for_rows(
      device, "encore::crf_marginals", rows.size.sequences, KOKKOS_LAMBDA(const Row& row) {
        constexpr S never = -Kokkos::Experimental::infinity_v<S>;
        std::int64_t before = -1;  // the last labelled row before t
        for (std::int64_t t = offsets[row.index]; t < offsets[row.index + 1]; ++t) {
          if (labelled[t] < 0) continue;
          for (std::int64_t j = 0; j < classes; ++j) {
            const auto path = [&](std::int64_t i) {
              return may[i * classes + j] != 0 ? alpha[before * classes + i] + transitions[i * classes + j]
                                               : never;
            };
            const S arrived = before >= 0 ? log_sum_exp_of_allowed<S>(row, classes, path)
                              : may[classes * classes + j] != 0 ? start[j]
                                                                : never;
            put(row, classes, alpha + t * classes, j, arrived + static_cast<S>(scores[t * classes + j]));
          }
          const S total =
              log_sum_exp_of_allowed<S>(row, classes, [&](std::int64_t k) { return alpha[t * classes + k]; });
          row.each(classes, [&](std::int64_t k) { alpha[t * classes + k] -= total; });
          before = t;
        }
        std::int64_t after = -1;  // the next labelled row after t
        for (std::int64_t t = offsets[row.index + 1]; t-- > offsets[row.index];) {
          float* share = shares + t * classes;
          if (labelled[t] < 0) {
            row.each(classes, [&](std::int64_t k) { share[k] = 0.0F; });
            continue;
          }
          for (std::int64_t i = 0; i < classes; ++i) {
            const auto path = [&](std::int64_t j) {
              return may[i * classes + j] != 0 ? transitions[i * classes + j] + alpha[after * classes + j]
                                               : never;
            };
            const S beta = after < 0 ? end[i] : log_sum_exp_of_allowed<S>(row, classes, path);
            row.each(classes, [&](std::int64_t k) {
              if (k != i) return;
              share[k] = static_cast<float>(alpha[t * classes + k] + beta);
              alpha[t * classes + k] = beta + static_cast<S>(scores[t * classes + k]);
            });
          }
          const S total = log_sum_exp_of_allowed<S>(row, classes,
                                                    [&](std::int64_t k) { return static_cast<S>(share[k]); });
          const S level = row.max<S>(classes, [&](std::int64_t k) { return alpha[t * classes + k]; });
          row.each(classes, [&](std::int64_t k) {
            share[k] = static_cast<float>(math::exp(static_cast<S>(share[k]) - total));
            alpha[t * classes + k] -= level;  // the same for all classes, so other rows' shares do not change
          });
          after = t;
        }
      });
}

/// Returns whether all labels are "O", "B-X" or "I-X", and one of them may be first.
bool is_bio(const std::vector<std::string>& labels) {
  bool may_start = false;
  for (const std::string& label : labels) {
    const bool begins = label == "O" || (label.starts_with("B-") && label.size() > 2);
    if (!begins && !(label.starts_with("I-") && label.size() > 2)) return false;
    may_start = may_start || begins;
  }
  return may_start;
}

/// Returns `allowed` (K + 1, K) for crf_viterbi: I-X may follow only B-X and I-X, and is never first.
std::vector<std::int32_t> allowed_by_bio(const std::vector<std::string>& labels) {
  std::vector<std::int32_t> allowed;
  for (std::size_t i = 0; i <= labels.size(); ++i)
    for (const std::string& next : labels) {
      const std::string type = next.starts_with("I-") ? next.substr(2) : "";
      const bool continues = i < labels.size() && (labels[i] == "B-" + type || labels[i] == next);
      allowed.push_back(type.empty() || continues ? 1 : 0);
    }
  return allowed;
}

class CrfHead final : public Head, public HasOnnxOutputs {
 public:
  static constexpr const char* summary =
      "a label for each token by a linear-chain conditional random field; prediction finds the most probable "
      "sequence of labels with the Viterbi algorithm (Lafferty et al. 2001). The column `labelled` is 0 for "
      "a token that gets a label, and -1 for other tokens";
  static Schema options() {
    return Schema().boolean(
        "constrained", true,
        {.help = "if the labels are tags such as B-X, I-X and O: exclude sequences that BIO forbids, such as "
                 "O before I-X"});
  }

  CrfHead(const Options& options, const HeadContext& context) : classes_(context.classes) {
    if (context.label_smoothing > 0.0)
      throw Error("the crf head cannot smooth labels: set train.label_smoothing = 0");
    const bool bio = static_cast<std::int64_t>(context.labels.size()) == classes_ && is_bio(context.labels);
    if (options.flag("constrained") && bio)
      allowed_classes_ = allowed_by_bio(context.labels);
    else
      allowed_classes_.assign(static_cast<std::size_t>((classes_ + 1) * classes_), 1);
  }

  /// The parameters of the chain start at zero and do not decay, so that the head begins as a linear one.
  void declare(HeadPlan& plan) override {
    states_ = plan.read(Space::tokens);
    targets_ = plan.column(targets_column, Space::tokens, ColumnType::integers, classes_);
    labelled_ = plan.column("labelled", Space::tokens);
    predictions_ = plan.output(classes_output, Space::tokens);
    marginals_ = plan.output_on_request(marginals_output, Space::tokens, ColumnType::numbers, classes_);
    loss_ = plan.add_loss(targets_);
    weight_ = plan.matrix("weight", classes_, plan.width());
    bias_ = plan.bias("bias", classes_);
    transitions_ = plan.parameter({"transitions", {classes_, classes_}, Initializer::zeros, 0.0, false});
    start_ = plan.bias("start", classes_);
    end_ = plan.bias("end", classes_);
    emissions_ = plan.buffer("emissions", {tokens, classes_}, Lifetime::saved);
    alphas_ = plan.buffer("alphas", {tokens, classes_}, Lifetime::saved, Element::accumulate);
    norms_ = plan.buffer("norms", {tokens}, Lifetime::saved, Element::accumulate);
    pointers_ = plan.buffer("pointers", {tokens, classes_}, Lifetime::forward, Element::index);
    allowed_ = plan.buffer("allowed", {classes_ + 1, classes_}, Lifetime::forward, Element::index);
    betas_ = plan.buffer("betas", {tokens, classes_}, Lifetime::backward, Element::accumulate);
    demissions_ = plan.buffer("emissions_gradient", {tokens, classes_}, Lifetime::backward);
    shares_ =
        plan.buffer("shares", {sequences, classes_ + 2, classes_}, Lifetime::backward, Element::accumulate);
  }

  void score(const HeadStep& step) override {
    kernels::linear(step.device(), step.input(states_), step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::none, step.buffer(emissions_));
  }

  void loss(const HeadStep& step) override {
    const Tensor emissions = step.buffer(emissions_);  // (N, K)
    dispatch(emissions.dtype, [&](auto type) {
      crf_loss<decltype(type)>(step.device(), step.rows(), chain(step), emissions, step.column(targets_),
                               step.buffer(alphas_), step.buffer(norms_), step.losses(loss_));
    });
  }

  void backward(const HeadStep& step) override {
    const Device& device = step.device();
    const Tensor emissions = step.buffer(emissions_);    // (N, K)
    const Tensor demissions = step.buffer(demissions_);  // (N, K)
    const Tensor shares = step.buffer(shares_);          // (B, K + 2, K)
    dispatch(emissions.dtype, [&](auto type) {
      using T = decltype(type);
      crf_backward<T>(device, step.rows(), chain(step), emissions, step.column(targets_),
                      step.buffer(alphas_), step.buffer(norms_), step.scale(loss_), step.buffer(betas_),
                      demissions, shares);
      add_shares<Sum<T>>(device, shares,
                         {step.gradient(transitions_), step.gradient(start_), step.gradient(end_)});
    });
    kernels::linear_backward_parameters(device, demissions, step.input(states_), step.gradient(weight_),
                                        step.gradient(bias_));
    kernels::linear_backward_input(device, demissions, step.parameter(weight_), step.input_gradient(states_));
  }

  /// alphas is the table of Viterbi first, then that of the marginals.
  void decode(const HeadStep& step) override {
    const Device& device = step.device();
    const Tensor emissions = step.buffer(emissions_), labelled = step.column(labelled_);
    const Tensor allowed = step.buffer(allowed_), best = step.buffer(alphas_),
                 pointers = step.buffer(pointers_);
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    using HostTable = Kokkos::View<const std::int32_t*, Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged>;
    using DeviceTable = Kokkos::View<std::int32_t*, Kokkos::LayoutRight, DeviceMemory, Unmanaged>;
    const ExecutionSpace& space = device.space();
    Kokkos::deep_copy(space, DeviceTable(elements<std::int32_t>(allowed), allowed_classes_.size()),
                      HostTable(allowed_classes_.data(), allowed_classes_.size()));
    dispatch(emissions.dtype, [&](auto type) {
      using T = decltype(type);
      crf_viterbi<T>(device, step.rows(), chain(step), emissions, labelled, allowed, best, pointers);
      crf_trace_back<Sum<T>>(device, step.rows(), step.parameter(end_), labelled, best, pointers,
                             step.output(predictions_));
      if (const Tensor marginals = step.output(marginals_))  // (N, K)
        crf_marginals<T>(device, step.rows(), chain(step), emissions, labelled, allowed, step.buffer(alphas_),
                         marginals);
    });
  }

  /// Exports the emissions, and Viterbi over the rows that have labels. Forbidden pairs get a value far below
  /// all others.
  void onnx_outputs(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    graph.output("emissions", graph.linear(inputs[0], weight_, bias_),
                 {OnnxGraph::batch, OnnxGraph::length, classes_});
    std::vector<float> barriers;
    for (const std::int32_t allowed : allowed_classes_) barriers.push_back(allowed != 0 ? 0.0F : -1e9F);
    const auto entries = barriers.end() - classes_;  // entries of the first label
    graph.output("transitions",
                 graph.add(graph.parameter(transitions_),
                           graph.floats({classes_, classes_}, {barriers.begin(), entries})),
                 {classes_, classes_});
    graph.output("start",
                 graph.add(graph.parameter(start_), graph.floats({classes_}, {entries, barriers.end()})),
                 {classes_});
    graph.output("end", graph.node("Identity", {graph.parameter(end_)}), {classes_});
  }

 private:
  Chain chain(const Step& step) const {
    return {step.parameter(transitions_), step.parameter(start_), step.parameter(end_)};
  }

  std::int64_t classes_;
  std::vector<std::int32_t> allowed_classes_;  ///< (K + 1, K) on the host
  Parameter weight_, bias_, transitions_, start_, end_;
  HeadInput states_;
  HeadColumn targets_, labelled_;
  HeadLoss loss_;
  HeadOutput predictions_, marginals_;
  Buffer emissions_, alphas_, norms_, pointers_, allowed_, betas_, demissions_, shares_;
};

}  // namespace encore_crf

ENCORE_PLUGIN("crf_head", "1.0.0") {
  plugin.add<encore::Kind::head, encore_crf::CrfHead>("crf");
}
