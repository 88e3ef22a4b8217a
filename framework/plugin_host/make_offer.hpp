// make_offer: builds an object from an offer of a plugin, the way the host does it: with the offer's name in
// what goes wrong. Place in the flow: the registry builds what an experiment names by it, the contract suite
// what it checks.
#pragma once

#include <memory>
#include <string>

#include <encore/plugin.hpp>

namespace encore {

/// `layer "my_layers" asks for option "distanze", which its options() does not declare; did you mean
/// "distance"?`
std::string misuse_text(const Offer& offer, const OptionMisuse& misuse);

/// As encore::make; an option that the plugin's code asks for and does not declare becomes an Error that
/// names both.
template <Kind K>
std::unique_ptr<typename KindTraits<K>::Base> make_offer(const Offer& offer, const Options& options,
                                                         const typename KindTraits<K>::Context& context) {
  try {
    return make<K>(offer, options, context);
  } catch (const OptionMisuse& misuse) {
    throw Error(misuse_text(offer, misuse));
  }
}

}  // namespace encore
