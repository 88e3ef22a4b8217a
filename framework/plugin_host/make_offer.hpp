// SPDX-License-Identifier: BSD-3-Clause
// make_offer(): builds an object from an offer of a plugin, and puts the offer's name into its errors.
// Callers: Registry builds the objects that an experiment names; the contract suite builds those that it
// checks. Other code of the framework must not build objects of plugins, because its errors would lack the
// name; tests may.
#pragma once

#include <memory>
#include <string>

#include <encore/plugin.hpp>

namespace encore::plugin_host {

/// Returns `layer "my_layers" asks for option "distanze", which its options() does not declare; did you mean
/// "distance"?`.
std::string misuse_text(const Offer& offer, const OptionMisuse& misuse);

/// Works like encore::make. An option that the plugin's code asks for and does not declare becomes an Error
/// that names both.
template <Kind K>
std::unique_ptr<typename KindTraits<K>::Base> make_offer(const Offer& offer, const Options& options,
                                                         const typename KindTraits<K>::Context& context) {
  try {
    return make<K>(offer, options, context);
  } catch (const OptionMisuse& misuse) {
    throw Error(misuse_text(offer, misuse));
  }
}

}  // namespace encore::plugin_host
