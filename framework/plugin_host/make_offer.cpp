// SPDX-License-Identifier: BSD-3-Clause
// misuse_text(): the message for an object whose plugin asks for an option that it did not declare.
// make_offer() calls it. Only the words of the message depend on it. Read make_offer.hpp first.
#include "plugin_host/make_offer.hpp"

#include "base/nearest.hpp"
#include "config/schema_json.hpp"

namespace encore::plugin_host {

std::string misuse_text(const Offer& offer, const OptionMisuse& misuse) {
  const std::string subject = std::string(name_of(offer.kind)) + " \"" + offer.name + "\"",
                    option = "option \"" + misuse.option() + "\"";
  const Option* declared = offer.options.find(misuse.option());
  if (declared == nullptr) {
    std::vector<std::string> names;
    for (const Option& each : offer.options.options()) names.push_back(each.name);
    return subject + " asks for " + option + ", which its options() does not declare" +
           did_you_mean(misuse.option(), names,
                        names.empty() ? "; it declares none" : "; it declares " + quoted_list(names));
  }
  if (!declared->fallback && !declared->required)
    return subject + " asks for " + option + ", which is optional and has no value here; ask options.has(\"" +
           misuse.option() + "\") first";
  return subject + " reads " + option + " as another type than its options() declares, which is " +
         config::name_of(declared->type);
}

}  // namespace encore::plugin_host
