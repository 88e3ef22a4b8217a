// SPDX-License-Identifier: BSD-3-Clause
// HeadTrial: the Trial of a head: gives it memory, inputs, and the columns and targets that it declares, for
// the checks of layer_checks.cpp. trial.cpp calls make_head_trial(). It may give a head only what
// encore/head.hpp promises. Read trial.hpp first.
#include "contract/head_trial.hpp"

#include <algorithm>
#include <numeric>

#include <encore/relations.hpp>

#include "contract/head_memory.hpp"
#include "plugin_host/make_offer.hpp"
#include "record/crash_line.hpp"

namespace encore::contract {
namespace {

/// The trial of a head. Every third row of a sequence has no target, or is not marked. Columns follow from
/// the declarations of the head.
class HeadTrial final : public Trial {
 public:
  static constexpr std::int64_t classes = 5;

  HeadTrial(const Device& device, const TrialSetup& setup, std::unique_ptr<Head> head)
      : Trial(device, setup),
        head_(std::move(head)),
        memory_(device, *head_, setup.width, batch_, setup.type, setup.seed, 0.2) {
    for (std::size_t i = 0; i < head_plan().columns().size(); ++i)
      memory_.columns()[i].set(column_values(head_plan().columns()[i]));
    if (takes_teacher()) {
      const ClassScores& scores = head_plan().class_scores().value();
      memory_.teacher_scores().set(
          row_values(rows_in(batch_, scores.space), scores.classes, teacher_purpose));
    }
    for (const int column : head_plan().losses())
      wanted_.push_back(memory_.columns()[static_cast<std::size_t>(column)].values());
  }

  /// Returns whether the head reads "targets" over the space of the setup.
  bool takes_targets() const {
    const auto found = std::ranges::find(head_plan().columns(), targets_column, &ColumnNeed::name);
    return found == head_plan().columns().end() || found->space == setup_.targets;
  }
  bool takes_weights() const {
    return std::ranges::find(head_plan().columns(), weights_column, &ColumnNeed::name) !=
           head_plan().columns().end();
  }
  bool takes_teacher() const { return head_plan().learns_from_teacher(); }
  bool couples_sequences() const override { return head_plan().couples_sequences(); }

 private:
  const HeadPlan& head_plan() const { return memory_.plan(); }
  const LayerPlan& plan() const override { return memory_.plan(); }
  OwnedPlan& memory() override { return memory_.memory(); }
  std::vector<Input> inputs() override {
    std::vector<Input> all;
    for (std::size_t i = 0; i < head_plan().reads().size(); ++i) {
      const Space space = head_plan().reads()[i];
      all.push_back({i == 0 ? "input" : std::string("input over ") + name_of(space), rows_in(batch_, space),
                     &memory_.inputs()[i], &memory_.input_gradients()[i]});
    }
    return all;
  }

  std::vector<double> column_values(const ColumnNeed& need) const {
    const SpaceRows rows = rows_in(batch_, need.space);
    std::vector<double> values;
    for (std::size_t row = 0; row < rows.examples.size(); ++row)
      for (std::int64_t k = 0; k < need.width; ++k) {
        const std::int64_t t = rows.positions[row], number = rows.examples[row] + 2 * t + k;
        if (need.type == ColumnType::numbers)
          values.push_back(static_cast<double>(number % 4) / 4.0);
        else if (t % 3 == 2)
          values.push_back(no_target);
        else
          values.push_back(need.below > 0 ? static_cast<double>(number % need.below) : 0.0);
      }
    return values;
  }

  void run_forward() override {
    const HeadStep all = memory_.step(setup_.training, true),
                   structure = memory_.step(setup_.training, false);
    {
      const record::CurrentWork work("score");
      head_->score(all);
    }
    {
      const record::CurrentWork work("loss");
      head_->loss(all);
    }
    if (setup_.training) return;
    if (memory_.has_requested()) {
      const record::CurrentWork work("decode without the outputs on request");
      head_->decode(memory_.step_without_requested());
      head_->score(all);
    }
    const record::CurrentWork work("decode");
    head_->decode(structure);
  }
  void run_backward() override {
    const record::CurrentWork work("backward");
    head_->backward(memory_.step(true, true));
  }
  std::string overrun_outside() override { return memory_.overrun(); }
  void poison_output() override {
    for (OwnedTensor& losses : memory_.losses()) losses.fill(nan);
    for (std::size_t i = 0; i < memory_.outputs().size(); ++i)
      memory_.outputs()[i].fill(head_plan().outputs()[i].type == ColumnType::integers ? unwritten : nan);
  }
  double read_objective() const override {
    double objective = 0.0;
    for (std::size_t loss = 0; loss < memory_.losses().size(); ++loss) {
      const std::vector<double> losses = memory_.losses()[loss].values();
      if (!head_plan().couples_sequences())
        for (std::size_t row = 0; row < losses.size(); ++row)
          if (wanted_[loss][row] == no_target && losses[row] != 0.0)
            throw Error("row " + std::to_string(row) + " has no target and a loss of " +
                        std::to_string(losses[row]) + " instead of 0");
      objective += memory_.scales()[loss] * std::accumulate(losses.begin(), losses.end(), 0.0);
    }
    return objective;
  }
  std::vector<TrialResult> outputs() const override {
    std::vector<TrialResult> all;
    for (std::size_t loss = 0; loss < memory_.losses().size(); ++loss)
      all.push_back({"losses" + (loss == 0 ? "" : " " + std::to_string(loss)),
                     memory_.losses()[loss].values(), 1,
                     rows_in(batch_, head_plan().loss_space(loss)).first});
    if (const auto& scores = head_plan().class_scores()) {
      const Tensor left = memory_.step(setup_.training, true).buffer(scores->buffer);
      const OwnedTensor copy(left.dtype, {left.size()});
      kernels::copy(device_, left.reshaped({left.size()}), copy);
      device_.fence();
      all.push_back({"class scores", copy.values(), scores->classes, rows_in(batch_, scores->space).first});
    }
    if (setup_.training) return all;
    for (std::size_t i = 0; i < memory_.outputs().size(); ++i) {
      const OutputRule& rule = head_plan().outputs()[i];
      std::vector<double> values = memory_.outputs()[i].values();
      for (std::size_t loss = 0; loss < wanted_.size(); ++loss)
        if (rule.space == head_plan().loss_space(loss))
          hide_rows_without_target(wanted_[loss], rule.width, values);
      if (rule.name == classes_output) require_classes(values);
      all.push_back(
          {"output " + rule.name, std::move(values), rule.width, rows_in(batch_, rule.space).first});
    }
    return all;
  }
  /// Hides rows without a target, where any value is allowed.
  static void hide_rows_without_target(const std::vector<double>& wanted, std::int64_t width,
                                       std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (wanted[i / static_cast<std::size_t>(width)] == no_target) values[i] = no_target;
  }
  static void require_classes(const std::vector<double>& values) {
    for (const double value : values)
      if (value != no_target && (value < 0 || value >= classes))
        throw Error("decode predicts class " + std::to_string(value) + " of " + std::to_string(classes));
  }

  static constexpr double unwritten = -7;
  static constexpr std::uint64_t teacher_purpose =
      1000;  ///< a seed that inputs do not use (Trial::row_values)

  std::unique_ptr<Head> head_;
  HeadMemory memory_;
  std::vector<std::vector<double>> wanted_;  ///< wanted targets of each loss
};

std::unique_ptr<Head> make_head(const Offer& offer, const Options& options, const TrialSetup& setup,
                                double smoothing) {
  HeadContext context{.width = setup.width,
                      .classes = HeadTrial::classes,
                      .label_smoothing = smoothing,
                      .labels = {"O", "B-X", "I-X", "B-Y", "I-Y"},
                      .vocabulary = OwnedBatch::default_vocabulary,
                      .columns = {{.name = targets_column, .space = setup.targets, .truth = true}}};
  if (setup.weighed)
    context.columns.push_back(
        {.name = weights_column, .space = setup.targets, .type = ColumnType::numbers, .truth = true});
  if (setup.taught) context.distillation = Distillation{.temperature = 2.5, .hard_weight = 0.4};
  return plugin_host::make_offer<Kind::head>(offer, options, context);
}

std::unique_ptr<HeadTrial> make(const Device& device, const Offer& offer, const Options& options,
                                const TrialSetup& setup, double smoothing) {
  return std::make_unique<HeadTrial>(device, setup, make_head(offer, options, setup, smoothing));
}

}  // namespace

std::unique_ptr<Head> make_trial_head(const Offer& offer, const Options& options, std::int64_t width,
                                      Space targets) {
  return make_head(offer, options, {.width = width, .targets = targets}, 0.0);
}

std::unique_ptr<Trial> make_head_trial(const Device& device, const Offer& offer, const Options& options,
                                       const TrialSetup& setup, double smoothing) {
  return make(device, offer, options, setup, smoothing);
}

bool takes_targets(const Device& device, const Offer& offer, const Options& options,
                   const TrialSetup& setup) {
  if (offer.kind != Kind::head) return setup.targets == Space::tokens;
  return make(device, offer, options, setup, 0.0)->takes_targets();
}

bool takes_weights(const Device& device, const Offer& offer, const Options& options, TrialSetup setup) {
  setup.weighed = true;
  return offer.kind == Kind::head && make(device, offer, options, setup, 0.0)->takes_weights();
}

bool takes_teacher(const Device& device, const Offer& offer, const Options& options, TrialSetup setup) {
  setup.taught = true;
  if (offer.kind == Kind::layer) {
    const LayerContext context{.width = setup.width, .max_length = 2, .block = 0, .blocks = 1};
    const std::unique_ptr<Layer> layer = plugin_host::make_offer<Kind::layer>(offer, options, context);
    return dynamic_cast<const HasRelations*>(layer.get()) != nullptr;
  }
  return make(device, offer, options, setup, 0.0)->takes_teacher();
}

}  // namespace encore::contract
