// SPDX-License-Identifier: BSD-3-Clause
// Checks layers and heads in evaluation: without random draws, a pass in evaluation computes the same bits as
// one in training, and evaluation draws no random numbers. layer_checks.cpp calls check_evaluation(); read
// suite.hpp first. Plugins of other authors must pass it, so it may demand only what encore/layer.hpp
// promises.
#include "contract/suite.hpp"
#include "contract/trial.hpp"

namespace encore::contract {
namespace {

/// Returns the defaults with each share that may be 0, such as that of a dropout, set to 0.
std::vector<OptionsVariant> variants_without_shares(const Schema& schema) {
  std::vector<OptionsVariant> variants;
  OptionsVariant all = {"every share at 0", plugin_host::default_options(schema)};
  for (const Option& option : schema.options()) {
    if (option.type != OptionType::number || !option.fallback || option.rule.exclusive_min) continue;
    if (option.rule.min != 0.0 || *option.fallback == OptionValue(0.0)) continue;
    variants.push_back({option.name + " = 0", plugin_host::default_options(schema)});
    variants.back().options.set(option.name, 0.0);
    all.options.set(option.name, 0.0);
  }
  if (variants.size() > 1) variants.push_back(std::move(all));
  return variants;
}

}  // namespace

std::string check_evaluation(const std::vector<OptionsVariant>& variants, const Schema& schema,
                             const MakeTrial& make) {
  std::vector<OptionsVariant> all = variants;
  for (OptionsVariant& variant : variants_without_shares(schema)) all.push_back(std::move(variant));
  int compared = 0, drawing = 0;
  for (const OptionsVariant& variant : all) try {
      const auto pass = [&](bool training, std::uint64_t step) {
        const std::unique_ptr<Trial> trial = make(variant.options, training);
        trial->set_step(step);
        trial->forward();
        return trial->forward_results();
      };
      const std::vector<TrialResult> training = pass(true, 1), other_step = pass(true, 2),
                                     evaluation = pass(false, 1), other_evaluation = pass(false, 2);
      bool draws = false;
      for (std::size_t i = 0; i < training.size(); ++i)
        draws = draws || digest_of(training[i].values) != digest_of(other_step[i].values);
      for (std::size_t i = 0; i < evaluation.size(); ++i)
        require(digest_of(evaluation[i].values) == digest_of(other_evaluation[i].values),
                evaluation[i].name + " changes with the random numbers in evaluation, with " + variant.name +
                    "; draw only if step.training() holds");
      if (draws) {
        ++drawing;
        continue;
      }
      for (std::size_t i = 0; i < training.size(); ++i)  // evaluation has predictions after these
        require(digest_of(training[i].values) == digest_of(evaluation[i].values),
                training[i].name + " in evaluation does not have the bits that it has in training, with " +
                    variant.name +
                    ", where nothing is drawn; step.training() may change what is kept, not the results");
      ++compared;
    } catch (const OptionError&) {  // an invalid combination; the defaults are valid
    }
  if (compared == 0) return "nothing is drawn in evaluation";
  return "evaluation has the bits of training" +
         (drawing == 0 ? std::string() : " where nothing is drawn, and draws nothing");
}

}  // namespace encore::contract
