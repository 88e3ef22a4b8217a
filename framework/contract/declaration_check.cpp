// SPDX-License-Identifier: BSD-3-Clause
// Checks the declarations of layers and heads: names of parameters, and parameters that blocks share. Without
// this check, a run would find such a mistake only when the whole model is built. layer_checks.cpp, which has
// the checks of both kinds, calls check_declaration(). Plugins of other authors must pass it, so it may
// demand only what encore/layer.hpp promises. Read suite.hpp first.
#include <algorithm>
#include <cmath>
#include <set>

#include "contract/suite.hpp"
#include "contract/trial.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "(" : ", ") + std::to_string(extent);
  return text + ")";
}

void require_parameters(const LayerPlan& plan) {
  std::set<std::string> names;
  for (const ParameterSpec& spec : plan.parameters()) {
    require_word(spec.name, "a parameter");
    require(names.insert(spec.name).second, "two parameters are called \"" + spec.name +
                                                "\"; a layer gives each of its parameters its own name");
    require(std::isfinite(spec.value) && std::isfinite(spec.deviation),
            "parameter \"" + spec.name + "\" starts at values that are not finite");
  }
}

/// Checks shared parameters: a parameter that the layer in a later block shares with the first block must
/// exist there. Parameters shared with other parts of the model cannot be checked here, because those parts
/// do not exist without a model. Returns the number of shared parameters.
int require_shared(const LayerPlan& first, const LayerPlan& later, const std::string& path) {
  int shared = 0;
  for (const ParameterSpec& spec : later.parameters()) {
    if (spec.alias.empty() || !spec.alias.starts_with(path)) continue;
    const std::string where = "in the second block parameter \"" + spec.name + "\" has the alias \"" +
                              spec.alias + "\", where context.first_block is \"" + path + "\"";
    std::string names;
    const ParameterSpec* owner = nullptr;
    for (const ParameterSpec& own : first.parameters()) {
      if (!own.alias.empty()) continue;
      names += (names.empty() ? "" : ", ") + own.name;
      if (path + "." + own.name == spec.alias) owner = &own;
    }
    require(owner != nullptr, where + ", and the layer of the first block has no such parameter; it has " +
                                  (names.empty() ? "none" : names));
    require(owner->shape == spec.shape, where + ", which has there the shape " + shape_text(owner->shape) +
                                            " and not " + shape_text(spec.shape));
    ++shared;
  }
  return shared;
}

LayerPlan plan_in_block(const Offer& offer, const Options& options, std::int64_t width, std::int64_t block,
                        const std::string& first_block) {
  LayerPlan plan(width);
  plugin_host::make_offer<Kind::layer>(
      offer, options,
      {.width = width, .max_length = 64, .block = block, .blocks = 2, .first_block = first_block})
      ->declare(plan);
  return plan;
}

}  // namespace

std::string check_declaration(const Offer& offer, const std::vector<OptionsVariant>& variants,
                              std::int64_t width, const MakeTrial& make) {
  const std::string path = "encoder.0.part";
  int shared = 0;
  for (const OptionsVariant& variant : variants) {
    require_parameters(make(variant.options, true)->plan());
    if (offer.kind != Kind::layer) continue;
    const LayerPlan later = plan_in_block(offer, variant.options, width, 1, path);
    require_parameters(later);
    shared += require_shared(plan_in_block(offer, variant.options, width, 0, ""), later, path);
  }
  return shared == 0 ? "each parameter has a name of its own"
                     : "each parameter has a name of its own, and blocks share one that exists";
}

}  // namespace encore::contract
