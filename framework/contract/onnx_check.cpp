// SPDX-License-Identifier: BSD-3-Clause
// Checks the ONNX form of a layer or head: onnxruntime must compute from it what forward or score computes.
// Batches are packed here and padded there, so rows of padding are not compared. layer_checks.cpp calls
// check_onnx(); read suite.hpp and onnx_runtime.hpp first. Plugins of other authors must pass it, so it may
// demand only what encore/onnx_form.hpp promises.
#include <algorithm>
#include <cmath>
#include <optional>

#include <encore/onnx_form.hpp>

#include "contract/head_memory.hpp"
#include "contract/head_trial.hpp"
#include "contract/onnx_runtime.hpp"
#include "contract/suite.hpp"
#include "contract/trial.hpp"
#include "memory/device_memory.hpp"
#include "onnx_graph/graph_builder.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

/// The largest difference that rounding in float32 explains, as a share of the root of the mean square.
constexpr double tolerance = 2e-5;

/// The ONNX graph of one part, whose parameters lie in an OwnedPlan.
class PartGraph final : public onnx_graph::GraphBuilder {
 public:
  PartGraph(const LayerPlan& plan, const OwnedPlan& memory) : plan_(plan), memory_(memory) {
    scope_ = "part";
  }

  OnnxValue states(const std::string& name, const std::vector<std::int64_t>& shape) {
    return add_input(name, onnx_graph::OnnxType::float32, shape);
  }
  onnx_graph::OnnxModel take() { return std::move(graph_); }

 private:
  onnx_graph::OnnxParameter held_parameter(Parameter parameter) const override {
    const auto place = static_cast<std::size_t>(parameter.index);
    if (place >= plan_.parameters().size())
      throw Error("the ONNX form asks for a parameter that declare does not make");
    const ParameterSpec& spec = plan_.parameters()[place];
    return {.path = "part." + spec.name, .shape = spec.shape, .values = [this, place] {
              const std::vector<double> values = memory_.parameters()[place].values();
              return std::vector<float>(values.begin(), values.end());
            }};
  }

  const LayerPlan& plan_;
  const OwnedPlan& memory_;
};

/// Maps the rows of a packed batch to one that is padded to its longest sequence.
class Padding {
 public:
  explicit Padding(const OwnedBatch& batch) : batch_(batch) {
    sequences_ = static_cast<std::int64_t>(batch.offsets().size()) - 1;
    for (std::int64_t s = 0; s < sequences_; ++s) longest_ = std::max(longest_, offset(s + 1) - offset(s));
  }
  std::int64_t sequences() const { return sequences_; }
  std::int64_t longest() const { return longest_; }

  /// Pads rows of a space, `width` values each: (batch, length, width), or (batch, width) for sequences.
  OnnxFeed padded(const std::vector<double>& values, std::int64_t width, Space space) const {
    if (space == Space::sequences)
      return {.type = onnx_graph::OnnxType::float32, .shape = {sequences_, width}, .values = values};
    OnnxFeed feed{
        .type = onnx_graph::OnnxType::float32, .shape = {sequences_, longest_, width}, .values = {}};
    feed.values.assign(static_cast<std::size_t>(sequences_ * longest_ * width), 0.5);  // padding, ignored
    const std::vector<std::int64_t> places = places_of(space);
    for (std::size_t row = 0; row < places.size(); ++row)
      for (std::int64_t c = 0; c < width; ++c)
        feed.values[static_cast<std::size_t>(places[row] * width + c)] =
            values[row * static_cast<std::size_t>(width) + static_cast<std::size_t>(c)];
    return feed;
  }
  /// Returns the packed rows of padded values: the inverse of padded().
  std::vector<double> packed(const std::vector<double>& values, std::int64_t width, Space space) const {
    if (space == Space::sequences) return values;
    std::vector<double> rows;
    for (const std::int64_t place : places_of(space))
      for (std::int64_t c = 0; c < width; ++c)
        rows.push_back(values[static_cast<std::size_t>(place * width + c)]);
    return rows;
  }
  /// Returns the inputs that every graph has.
  std::map<std::string, OnnxFeed> feeds(const std::vector<double>& ids) const {
    OnnxFeed numbers = padded(ids, 1, Space::tokens);
    numbers.type = onnx_graph::OnnxType::int64;
    numbers.shape = {sequences_, longest_};
    OnnxFeed mask = numbers, segments = numbers;
    mask.values = padded(std::vector<double>(ids.size(), 1.0), 1, Space::tokens).values;
    for (double& value : mask.values) value = value == 1.0 ? 1.0 : 0.0;
    for (double& value : numbers.values) value = std::floor(value);
    segments.values.assign(numbers.values.size(), 0.0);
    return {{onnx_graph::ids_input, numbers},
            {onnx_graph::mask_input, mask},
            {onnx_graph::segments_input, segments}};
  }

 private:
  std::int64_t offset(std::int64_t sequence) const {
    return batch_.offsets()[static_cast<std::size_t>(sequence)];
  }
  /// Returns for each row of the space its row in the padded batch.
  std::vector<std::int64_t> places_of(Space space) const {
    std::vector<std::int64_t> of_tokens, places;
    for (std::int64_t s = 0; s < sequences_; ++s)
      for (std::int64_t row = offset(s); row < offset(s + 1); ++row)
        of_tokens.push_back(s * longest_ + row - offset(s));
    for (const std::int64_t row : rows_in(batch_, space).rows)
      places.push_back(of_tokens[static_cast<std::size_t>(row)]);
    return places;
  }

  const OwnedBatch& batch_;
  std::int64_t sequences_ = 0, longest_ = 0;
};

std::vector<double> values_of(const Device& device, const Tensor& tensor) {
  const OwnedTensor numbers(DType::float64, {tensor.size()});
  kernels::copy(device, tensor.reshaped({tensor.size()}), numbers);
  device.fence();
  return numbers.values();
}

std::vector<double> ids_of(const Device& device, const OwnedBatch& batch) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(batch.rows()));
  memory::copy_to_host(device, batch.batch().ids, ids.data());
  return {ids.begin(), ids.end()};
}

/// Values that a part has computed: (rows, columns).
struct Computed {
  std::string name;
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;
};

/// Returns the largest difference between columns [first, first + columns) of `computed` and `found`, as a
/// share of their size.
double difference(const Computed& computed, std::int64_t first, const std::vector<double>& found,
                  std::int64_t columns) {
  double squares = 0.0, largest = 0.0;
  for (std::int64_t r = 0; r < computed.rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      const double expected = computed.values[static_cast<std::size_t>(r * computed.columns + first + c)],
                   other = found[static_cast<std::size_t>(r * columns + c)];
      squares += expected * expected;
      const double off = std::abs(expected - other);
      if (!(off <= largest)) largest = off;  // also for NaN
    }
  const double count = static_cast<double>(std::max<std::int64_t>(1, computed.rows * columns));
  return largest / std::max(std::sqrt(squares / count), 1e-30);
}

/// One run of onnxruntime: a part with options and a batch, and the expected results.
struct Arrangement {
  std::string where;
  Space space = Space::tokens;     ///< space of a layer's rows
  std::vector<Computed> computed;  ///< each output must be equal to one of these
  bool is_head = false;
};

class OnnxCheck {
 public:
  OnnxCheck(const Device& device, const Offer& offer) : device_(device), offer_(offer) {}

  /// Adds a run of a layer. Returns false if the layer has no ONNX form.
  bool add_layer(const OptionsVariant& variant, std::int64_t width, const std::vector<std::int64_t>& lengths,
                 bool causal) {
    std::int64_t longest = 1;
    for (const std::int64_t length : lengths) longest = std::max(longest, length);
    std::unique_ptr<Layer> layer;
    try {
      layer = plugin_host::make_offer<Kind::layer>(
          offer_, variant.options,
          {.width = width, .max_length = longest, .block = 0, .blocks = 1, .causal = causal});
    } catch (const OptionError&) {
      throw;
    } catch (const Error&) {  // not a layer for causal stacks
      if (!causal) throw;
      return true;
    }
    const auto* form = dynamic_cast<const HasOnnxForm*>(layer.get());
    if (form == nullptr) return false;
    LayerPlan plan(width);
    layer->declare(plan);
    const OwnedBatch& batch = batches_.emplace_back(std::make_unique<OwnedBatch>(lengths)).operator*();
    const OwnedPlan memory(device_, plan, batch.size(), DType::float32, 1);
    OwnedTensor input(DType::float32, {batch.rows(), width}), output(DType::float32, {batch.rows(), width});
    input.set(normal_values(batch.rows() * width, 3));
    const std::array<Tensor, 1> inputs = {input};
    layer->forward(Step(device_, batch.batch(), false, memory.bound(false)), inputs, output);
    device_.fence();

    const Padding padding(batch);
    PartGraph graph(plan, memory);
    const std::vector<OnnxValue> states = {
        graph.states("states", {OnnxGraph::batch, OnnxGraph::length, width})};
    graph.output("output", form->onnx_form(graph, states), {OnnxGraph::batch, OnnxGraph::length, width});
    std::map<std::string, OnnxFeed> feeds = padding.feeds(ids_of(device_, batch));
    feeds["states"] = padding.padded(input.values(), width, Space::tokens);
    runs_.add(graph.take(), feeds);
    arrangements_.push_back({.where = where(variant, width, longest) + (causal ? ", causal" : ""),
                             .space = Space::tokens,
                             .computed = {{"forward", batch.rows(), width, output.values()}}});
    return true;
  }

  bool add_head(const OptionsVariant& variant, std::int64_t width, const std::vector<std::int64_t>& lengths,
                Space targets) {
    const std::unique_ptr<Head> head = make_trial_head(offer_, variant.options, width, targets);
    const auto* form = dynamic_cast<const HasOnnxOutputs*>(head.get());
    if (form == nullptr) return false;
    const OwnedBatch& batch = batches_.emplace_back(std::make_unique<OwnedBatch>(lengths)).operator*();
    HeadMemory memory(device_, *head, width, batch, DType::float32, 1, 0.2);
    const HeadPlan& plan = memory.plan();
    const Padding padding(batch);
    std::map<std::string, OnnxFeed> feeds = padding.feeds(ids_of(device_, batch));
    for (std::size_t i = 0; i < plan.columns().size(); ++i) fill_column(memory, batch, i, feeds);
    PartGraph graph(plan, memory.memory());
    std::vector<OnnxValue> inputs;
    for (std::size_t i = 0; i < plan.reads().size(); ++i) {
      OwnedTensor& states = memory.inputs()[i];
      states.set(normal_values(states.tensor().size(), 3 + i));
      const std::string name = "states" + std::to_string(i);
      std::vector<std::int64_t> shape = {OnnxGraph::batch, OnnxGraph::length, width};
      if (plan.reads()[i] == Space::sequences) shape = {OnnxGraph::batch, width};
      feeds[name] = padding.padded(states.values(), width, plan.reads()[i]);
      inputs.push_back(graph.states(name, shape));
    }
    form->onnx_outputs(graph, inputs);
    const HeadStep step = memory.step(false, false);
    head->score(step);
    head->decode(step);
    device_.fence();
    runs_.add(graph.take(), feeds);
    std::int64_t longest = 1;
    for (const std::int64_t length : lengths) longest = std::max(longest, length);
    Arrangement& arrangement = arrangements_.emplace_back();
    arrangement = {.where = where(variant, width, longest) + ", targets over " + name_of(targets),
                   .space = plan.reads().front(),
                   .computed = {},
                   .is_head = true};
    const auto add = [&](const std::string& name, const Tensor& tensor) {
      if (!tensor || tensor.dtype == DType::int32 || tensor.size() == 0 || tensor.rank < 1) return;
      arrangement.computed.push_back(
          {name, tensor.extent(0), tensor.size() / tensor.extent(0), values_of(device_, tensor)});
    };
    const Step::Bound bound = memory.memory().bound(false);
    for (std::size_t i = 0; i < plan.buffers().size(); ++i)
      add("buffer \"" + plan.buffers()[i].name + "\"", bound.buffers[i]);
    for (std::size_t i = 0; i < plan.outputs().size(); ++i)
      add("output \"" + plan.outputs()[i].name + "\"", memory.outputs()[i]);
    return true;
  }

  std::string compare() const {
    if (runs_.size() == 0) return "none of its options has an ONNX form";
    const std::vector<OnnxResult> results = runs_.run();
    std::size_t compared = 0;
    double largest = 0.0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Arrangement& arrangement = arrangements_[i];
      if (!results[i].refusal.empty())
        throw Error("onnxruntime refuses the ONNX form " + arrangement.where + ": " + results[i].refusal);
      const Padding padding(*batches_[i]);
      for (const auto& [name, output] : results[i].outputs)
        if (const std::optional<double> off = compare(arrangement, padding, name, output)) {
          largest = std::max(largest, *off);
          ++compared;
        }
    }
    if (compared == 0) throw NotChecked("no output of the ONNX form has rows to compare");
    char text[32];
    std::snprintf(text, sizeof(text), "%.1e", largest);
    return "onnxruntime computes the same from " + std::to_string(compared) +
           " outputs, largest difference " + text + " of their size";
  }

 private:
  static std::string where(const OptionsVariant& variant, std::int64_t width, std::int64_t length) {
    return "with " + variant.name + " at width " + std::to_string(width) + " and " + std::to_string(length) +
           " rows";
  }

  /// Fills a column with integers within a short sequence. An input that the graph reads beside states has
  /// the name of the column.
  void fill_column(HeadMemory& memory, const OwnedBatch& batch, std::size_t column,
                   std::map<std::string, OnnxFeed>& feeds) const {
    const ColumnNeed& need = memory.plan().columns()[column];
    if (need.type != ColumnType::integers || need.space != Space::sequences || need.below > 0) return;
    std::vector<double> values;
    for (std::size_t s = 0; s + 1 < batch.offsets().size(); ++s)
      for (std::int64_t k = 0; k < need.width; ++k)  // ascending, as the first and last row of spans are
        values.push_back(static_cast<double>(
            std::min(k, std::max<std::int64_t>(0, batch.offsets()[s + 1] - batch.offsets()[s] - 1))));
    memory.columns()[column].set(values);
    feeds[need.name] = {.type = onnx_graph::OnnxType::int64,
                        .shape = {static_cast<std::int64_t>(batch.offsets().size()) - 1, need.width},
                        .values = values};
  }

  /// Compares an output with the computed values. Returns nothing for an output without a row for each row of
  /// the batch, such as a table of transitions.
  std::optional<double> compare(const Arrangement& arrangement, const Padding& padding,
                                const std::string& name, const OnnxFeed& output) const {
    const std::vector<std::int64_t>& shape = output.shape;
    Space space = arrangement.space;
    std::int64_t columns = 1;
    if (shape.size() >= 2 && shape[0] == padding.sequences() && shape[1] == padding.longest() &&
        (shape.size() == 3 || space != Space::sequences)) {
      if (space == Space::sequences) space = Space::tokens;
      for (std::size_t i = 2; i < shape.size(); ++i) columns *= shape[i];
    } else if (shape.size() >= 1 && shape.size() <= 2 && shape[0] == padding.sequences()) {
      space = Space::sequences;
      if (shape.size() == 2) columns = shape[1];
    } else {
      return {};
    }
    const std::vector<double> found = padding.packed(output.values, columns, space);
    double least = std::numeric_limits<double>::infinity();
    std::string nearest;
    for (const Computed& computed : arrangement.computed) {
      if (computed.rows * columns != static_cast<std::int64_t>(found.size())) continue;
      for (std::int64_t first = 0; first + columns <= computed.columns; ++first) {
        const double off = difference(computed, first, found, columns);
        if (off < least) least = off, nearest = computed.name;
      }
    }
    if (least <= tolerance) return least;
    char text[32];
    std::snprintf(text, sizeof(text), "%.1e", least);
    throw Error("onnxruntime gets other results from the ONNX form " + arrangement.where + ": output \"" +
                name + "\" is " +
                (nearest.empty() ? "unlike any buffer of score and any output of decode"
                                 : "off by " + std::string(text) + " of the size of " + nearest) +
                (arrangement.is_head ? "; onnx_outputs must give the results of score"
                                     : "; onnx_form must give the results of forward without dropout"));
  }

  const Device& device_;
  const Offer& offer_;
  OnnxRuns runs_;
  std::vector<Arrangement> arrangements_;
  std::vector<std::unique_ptr<OwnedBatch>> batches_;  ///< batch of each run
};

}  // namespace

std::string check_onnx(const Device& device, const Offer& offer, const std::vector<OptionsVariant>& variants,
                       const std::vector<Space>& targets, const std::vector<LargeSize>& sizes) {
  OnnxCheck check(device, offer);
  const std::vector<std::int64_t> lengths = {5, 1, 19, 3};
  for (const OptionsVariant& variant : variants)
    for (const LargeSize& size : sizes) {
      const bool small = &size == &sizes.front();
      if (!small && &variant != &variants.front()) continue;  // large sizes: defaults only
      const std::vector<std::int64_t> rows = small ? lengths : std::vector<std::int64_t>{3, size.length, 7};
      if (offer.kind == Kind::head) {
        for (const Space space : targets)
          if (!check.add_head(variant, size.width, rows, space))
            return "it has no ONNX form, so a model with it is not exported as ONNX";
        continue;
      }
      for (const bool causal : {false, true})
        if (!check.add_layer(variant, size.width, rows, causal))
          return "it has no ONNX form, so a model with it is not exported as ONNX";
    }
  return check.compare();
}

}  // namespace encore::contract
