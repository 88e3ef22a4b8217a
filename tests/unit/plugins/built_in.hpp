// SPDX-License-Identifier: BSD-3-Clause
// Opens a built-in plugin of this build and makes an object that it offers, without the plugin host: options
// have their defaults and the settings that a test names. Tests of this folder and
// golden/disentangled_test.cpp use it; a new part must be tested through make_built_in(), so that its options
// are read as in a run.
#pragma once

#include <dlfcn.h>

#include <gtest/gtest.h>

#include <encore/plugin.hpp>

#include "support/places.hpp"

namespace encore::test {

/// Returns the offer `name` of the plugin lib/encore/plugins/`plugin`.so. The library stays open.
inline Offer find_offer(const std::string& plugin, const std::string& name) {
  const std::string path = std::string(ENCORE_BUILD_DIR) + "/lib/encore/plugins/" + plugin + ".so";
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw Error(dlerror());
  using Register = const char* (*)(Registrar*);
  const auto enter = reinterpret_cast<Register>(dlsym(handle, "encore_plugin_register"));
  Registrar registrar;
  if (const char* failure = enter(&registrar)) throw Error(failure);
  for (const Offer& offer : registrar.offers())
    if (offer.name == name) return offer;
  throw Error(plugin + " offers no " + name);
}

using Settings = std::map<std::string, OptionValue>;

/// Returns the defaults of the offer, changed by `settings`.
inline Options resolved(const Offer& offer, const Settings& settings) {
  Options options;
  for (const Option& option : offer.options.options())
    if (option.fallback) options.set_default(option.name, *option.fallback);
  for (const auto& [name, value] : settings) {
    EXPECT_NE(offer.options.find(name), nullptr) << name;
    options.set(name, value);
  }
  return options;
}

template <Kind K>
auto make_built_in(const std::string& plugin, const std::string& name, const Settings& settings,
                   const typename KindTraits<K>::Context& context) {
  const Offer offer = find_offer(plugin, name);
  return make<K>(offer, resolved(offer, settings), context);
}

}  // namespace encore::test
