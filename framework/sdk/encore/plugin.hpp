// SPDX-License-Identifier: BSD-3-Clause
// ENCORE_PLUGIN and Registrar: how a shared object offers its types. The source of a plugin ends with
// ENCORE_PLUGIN (example and rules at Registrar). plugin_host/loader.cpp opens the plugin and collects its
// offers, and Registry builds the objects. Offer, PluginTag and the headers included here are the ABI of
// plugins: any change of them needs a new ENCORE_SDK_VERSION.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <encore/head.hpp>
#include <encore/layer.hpp>
#include <encore/optimizer.hpp>
#include <encore/reader.hpp>
#include <encore/schedule.hpp>
#include <encore/step.hpp>
#include <encore/task.hpp>
#include <encore/tokenizer.hpp>

/// The SDK's version; part of every fingerprint.
#define ENCORE_SDK_VERSION 20

namespace encore {

enum class Kind : std::uint8_t { layer, head, tokenizer, optimizer, schedule, task, reader, step };

constexpr const char* name_of(Kind kind) {
  constexpr const char* names[] = {"layer",    "head", "tokenizer", "optimizer",
                                   "schedule", "task", "reader",    "step"};
  return names[static_cast<int>(kind)];
}

struct TokenizerContext {};
struct OptimizerContext {};

/// The base class of a kind, and what its constructors get beside the options.
template <class B, class C>
struct KindTypes {
  using Base = B;
  using Context = C;
};
template <Kind K>
struct KindTraits;
template <>
struct KindTraits<Kind::layer> : KindTypes<Layer, LayerContext> {};
template <>
struct KindTraits<Kind::head> : KindTypes<Head, HeadContext> {};
template <>
struct KindTraits<Kind::tokenizer> : KindTypes<Tokenizer, TokenizerContext> {};
template <>
struct KindTraits<Kind::optimizer> : KindTypes<Optimizer, OptimizerContext> {};
template <>
struct KindTraits<Kind::schedule> : KindTypes<Schedule, ScheduleContext> {};
template <>
struct KindTraits<Kind::task> : KindTypes<Task, TaskContext> {};
template <>
struct KindTraits<Kind::reader> : KindTypes<Reader, ReaderContext> {};
template <>
struct KindTraits<Kind::step> : KindTypes<AppStep, StepContext> {};

/// One thing a plugin offers. `make` is a function `Base*(const Options&, const Context&)` of its kind,
/// passed as a plain function pointer; the host casts it back by `kind`.
struct Offer {
  Kind kind = Kind::layer;
  std::string name;
  int version = 1;
  Schema options;
  void (*make)() = nullptr;
  std::string summary = {};
  TaskFields needs = {};                ///< of a task: the fields of records that it reads
  std::vector<Measure> measures = {};   ///< of a task or a step
  std::string select = {};              ///< of a task: the default of train.select; of a step: app.select
  std::vector<std::string> gives = {};  ///< of a reader: the fields of its records
  std::vector<OptionalField> may_give = {};  ///< of a reader: those that its options add
  std::vector<AdoptedModel> adopted = {};    ///< of a task: pretrained models that it takes over
  bool asks_model = false;                   ///< of a step: its table names a run with the option `model`
};

namespace detail {
template <class T>
constexpr int version_of() {
  if constexpr (requires { T::version; })
    return T::version;
  else
    return 1;
}
template <class T>
constexpr const char* summary_of() {
  if constexpr (requires { T::summary; })
    return T::summary;
  else
    return "";
}
template <Kind K, class T>
typename KindTraits<K>::Base* make(const Options& options, const typename KindTraits<K>::Context& context) {
  return new T(options, context);
}
}  // namespace detail

/// Collects what a plugin offers. The host enters the offers into its registry after every plugin has
/// registered without an error.
///
///   ENCORE_PLUGIN("my_layers", "1.0.0") {
///     plugin.add<Kind::layer, Highway>("highway");
///   }
///
/// T needs `static Schema options()` and a constructor T(const Options&, const Context&), where Context is
/// that of its kind: LayerContext ... StepContext; a task, a reader and a step need more (task.hpp,
/// reader.hpp, step.hpp). `T::version` (optional, default 1) is the version of the type's meaning: raise it
/// when equal options give other numbers; it counts in a run's identity. `T::summary` (optional, a `const
/// char*`) is one line: the formula or what it does, and its source; help and pages begin with it. A plugin
/// never prints, aborts or exits; it throws encore::Error. Its code lives in its own namespace.
class Registrar {
 public:
  template <Kind K, class T>
  void add(std::string name) {
    static_assert(std::is_base_of_v<typename KindTraits<K>::Base, T>,
                  "T derives from the base class of its kind");
    Offer offer = {.kind = K,
                   .name = std::move(name),
                   .version = detail::version_of<T>(),
                   .options = T::options(),
                   .make = reinterpret_cast<void (*)()>(&detail::make<K, T>),
                   .summary = detail::summary_of<T>()};
    if constexpr (K == Kind::task) {
      offer.needs = T::fields();
      offer.measures = T::measures();
      offer.select = T::select;
      if constexpr (requires { T::adopted(); }) offer.adopted = T::adopted();
    } else if constexpr (K == Kind::reader) {
      offer.gives = T::fields();
      if constexpr (requires { T::optional_fields(); }) offer.may_give = T::optional_fields();
    } else if constexpr (K == Kind::step) {
      if constexpr (requires { T::measures(); }) offer.measures = T::measures();
      if constexpr (requires { T::select; }) offer.select = T::select;
      if constexpr (requires { T::asks_model; }) offer.asks_model = T::asks_model;
    }
    offers_.push_back(std::move(offer));
  }
  const std::vector<Offer>& offers() const { return offers_; }

 private:
  std::vector<Offer> offers_;
};

/// Builds an object of kind K from an offer. Throws std::logic_error if the offer is of another kind, and
/// what the constructor throws (OptionError, Error).
template <Kind K>
std::unique_ptr<typename KindTraits<K>::Base> make(const Offer& offer, const Options& options,
                                                   const typename KindTraits<K>::Context& context) {
  ENCORE_REQUIRE(offer.kind == K, "\"" + offer.name + "\" is a " + name_of(offer.kind));
  using Make = typename KindTraits<K>::Base* (*)(const Options&, const typename KindTraits<K>::Context&);
  return std::unique_ptr<typename KindTraits<K>::Base>(reinterpret_cast<Make>(offer.make)(options, context));
}

/// Plain data at a known symbol, read after dlopen and before any code of the plugin is called by the host.
struct PluginTag {
  char magic[8];  ///< "ENCORE1"
  int sdk_version;
  const char* name;
  const char* version;
  const char* fingerprint;  ///< as in the manifest
};

}  // namespace encore

/// Set by the build to `key=value;` text: sdk, compiler, standard library, kokkos, backend, architecture,
/// sanitizer.
#ifndef ENCORE_FINGERPRINT
#define ENCORE_FINGERPRINT "unknown"
#endif

/// Defines the tag and the entry point; the block that follows is the body of register(Registrar& plugin).
#define ENCORE_PLUGIN(NAME, VERSION)                                                                \
  static void encore_register_offers(::encore::Registrar& plugin);                                  \
  extern "C" __attribute__((visibility("default"))) const ::encore::PluginTag encore_plugin_tag = { \
      "ENCORE1", ENCORE_SDK_VERSION, NAME, VERSION, ENCORE_FINGERPRINT};                            \
  /* Returns null, or why registering failed; the text lives as long as the plugin. */              \
  extern "C" __attribute__((visibility("default"))) const char* encore_plugin_register(             \
      ::encore::Registrar* to) {                                                                    \
    static std::string failure;                                                                     \
    try {                                                                                           \
      encore_register_offers(*to);                                                                  \
      return nullptr;                                                                               \
    } catch (const std::exception& error) {                                                         \
      failure = error.what();                                                                       \
    } catch (...) {                                                                                 \
      failure = "an exception that is not a std::exception";                                        \
    }                                                                                               \
    return failure.c_str();                                                                         \
  }                                                                                                 \
  static void encore_register_offers([[maybe_unused]] ::encore::Registrar& plugin)
