// SPDX-License-Identifier: BSD-3-Clause
// Registry: what the plugins of one run offer, and the only place that builds their objects. Place in the
// flow: the worker reads manifests (config/manifest.hpp), loads what an experiment needs, then model/ and
// train/ call make_*. Loading has two phases: collect every offer and check for a second owner of a name,
// then commit. A plugin is never unloaded, because its objects may live until the process ends. Read next:
// loader.hpp.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <encore/plugin.hpp>

#include "config/catalogue.hpp"
#include "config/experiment.hpp"

namespace encore::plugin_host {

/// A plugin that a run uses; stored with the run.
struct LoadedPlugin {
  std::string name;
  std::string version;
  std::string fingerprint;
  std::string sha256;  ///< of the shared object
  std::filesystem::path file;
};

/// A plugin that could not be used, and why.
struct LoadFailure {
  std::filesystem::path file;
  std::string reason;
};

/// Used as in:
///
///   registry.load(catalogue, needed_types(experiment));
///   std::unique_ptr<Optimizer> optimizer = registry.make_optimizer(table.type, table.options);
class Registry {
 public:
  /// Loads the plugins that offer `needed`; types that are already loaded stay as they are. Throws Error when
  /// no plugin offers a type or its plugin cannot be loaded (also kept in failures()), and when a name has
  /// two owners; the registry then offers what it did before.
  void load(const config::Catalogue& catalogue, std::span<const config::TypeName> needed);
  /// Loads every plugin. A plugin that cannot be loaded is kept in failures() and is not an error.
  void load_all(const config::Catalogue& catalogue);
  /// Adds what the program itself or a test offers. Throws Error when a name has an owner already.
  void add(const std::string& owner, const Registrar& offers);

  /// Throws Error that names the nearest type of that kind when nothing loaded offers it.
  const Offer& offer(Kind kind, const std::string& type) const;
  bool offers(Kind kind, const std::string& type) const { return find(kind, type) != nullptr; }
  /// Returns the SHA-256 of the library that offers a type; empty for the program's own. Throws like offer().
  std::string library_sha256(Kind kind, const std::string& type) const;
  /// Returns `layer "highway" of plugin /p/my_layers.so`, for the crash line (record/crash_line.hpp). Throws
  /// like offer().
  std::string owner_text(Kind kind, const std::string& type) const;
  /// Returns everything of one kind, in the order of loading.
  std::vector<Offer> all(Kind kind) const;

  std::unique_ptr<Layer> make_layer(const std::string& type, const Options& options,
                                    const LayerContext& context) const;
  std::unique_ptr<Head> make_head(const std::string& type, const Options& options,
                                  const HeadContext& context) const;
  std::unique_ptr<Tokenizer> make_tokenizer(const std::string& type, const Options& options) const;
  std::unique_ptr<Optimizer> make_optimizer(const std::string& type, const Options& options) const;
  std::unique_ptr<Schedule> make_schedule(const std::string& type, const Options& options,
                                          const ScheduleContext& context) const;
  std::unique_ptr<Task> make_task(const std::string& type, const Options& options,
                                  const TaskContext& context) const;
  std::unique_ptr<Reader> make_reader(const std::string& type, const Options& options) const;
  std::unique_ptr<AppStep> make_step(const std::string& type, const Options& options,
                                     const StepContext& context) const;

  const std::vector<LoadedPlugin>& plugins() const { return plugins_; }
  const std::vector<LoadFailure>& failures() const { return failures_; }

 private:
  struct Entry {
    Offer offer;
    std::string owner;  ///< the file, or the name given to add()
  };

  void load_plugins(const std::vector<const config::Manifest*>& manifests, bool failure_is_error);
  void commit(std::vector<Entry> entries, std::vector<LoadedPlugin> plugins);
  const Entry* find(Kind kind, const std::string& type) const;
  template <Kind K>
  std::unique_ptr<typename KindTraits<K>::Base> build(const std::string& type, const Options& options,
                                                      const typename KindTraits<K>::Context& context) const;

  std::vector<Entry> entries_;
  std::vector<LoadedPlugin> plugins_;
  std::vector<LoadFailure> failures_;
};

}  // namespace encore::plugin_host
