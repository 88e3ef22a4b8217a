// SPDX-License-Identifier: BSD-3-Clause
// Catalogue holds everything that the plugins in a list of folders offer, according to their manifests. It
// refuses whatever can be refused without loading a plugin. Both programs load it first; config/ checks an
// experiment by it. The order of folders and names decides which plugin is found, so it must not change. Read
// next: plugin_host/, which loads them.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/manifest.hpp"
#include "config/not_built.hpp"

namespace encore::config {

/// Something in a plugin folder that cannot be used: a manifest, a shared object without one, or the folder.
struct RefusedPlugin {
  std::filesystem::path file;
  std::string reason;                      ///< a whole message: file, what is wrong, what to do
  std::vector<ManifestOffer> offers = {};  ///< the types that it would offer, if its manifest could be read
};

/// A file in the plugin folder of a build. For each type of its plugins it has a line "layer highway
/// highway": kind, name, plugin. A plugin without a manifest is not built yet (cmake/components.cmake).
inline constexpr const char* offers_file = "offers.txt";

class Catalogue {
 public:
  Catalogue() = default;
  /// Reads every `*.json` of the folders, in the order of the folders and then of the file names. It refuses
  /// and remembers: damaged manifests; plugins whose fingerprint is not `fingerprint` (an empty one compares
  /// nothing), so that one folder may hold builds for several backends; manifests whose shared object is
  /// missing, cut or invalid; shared objects without a manifest; folders that are missing or cannot be read.
  /// A run that does not need them is not affected. Throws Error when two plugins own one name.
  static Catalogue load(const std::vector<std::filesystem::path>& folders, std::string_view fingerprint = "");
  /// Works like load(), but refuses the second owner of a name like the rest. It is for showing everything.
  static Catalogue survey(const std::vector<std::filesystem::path>& folders,
                          std::string_view fingerprint = "");

  /// Throws Error that names both files if another plugin already owns something in it.
  void add(Manifest manifest);

  /// Returns the type with this name, or null. Throws NotBuilt if a plugin of the build offers it and is not
  /// built yet, as all other functions that look for a name do.
  const ManifestOffer* find(Kind kind, const std::string& name) const;
  /// Returns the plugin that offers the type, or null.
  const Manifest* owner(Kind kind, const std::string& name) const;
  /// Works like find(), but throws Error with the text of unknown() instead of returning null.
  const ManifestOffer& get(Kind kind, const std::string& name) const;
  /// `no plugin offers a layer "self_atention"; did you mean "self_attention"? (searched: ...)`, or why the
  /// plugin that offers it is refused.
  std::string unknown(Kind kind, const std::string& name) const;
  /// Returns the names in alphabetical order, including those of plugins that are not built yet.
  std::vector<std::string> names(Kind kind) const;
  /// Throws NotBuilt with every plugin that is not built yet and offers one of these names, of any kind.
  /// Callers pass all strings of an experiment file, so that all its plugins are built at once.
  void require_built(const std::set<std::string>& names) const;
  /// Throws NotBuilt unless all plugins are built, or all that offer this kind.
  void require_all_built(std::optional<Kind> kind = {}) const;
  /// Returns the options of a table that names this type: those of the type, and those that Encore itself has
  /// there (core_schema.hpp, host_options). The catalogue owns the result.
  const Schema& table_options(const ManifestOffer& offer) const;

  const std::vector<Manifest>& manifests() const { return manifests_; }
  const std::vector<RefusedPlugin>& refused() const { return refused_; }
  /// Returns the plugins of a build that are not built yet: name, offers by kind and name, and the file that
  /// the build will write.
  const std::vector<Manifest>& unbuilt() const { return unbuilt_; }
  const std::vector<std::filesystem::path>& folders() const { return folders_; }

 private:
  void add_folder(const std::filesystem::path& folder, std::string_view fingerprint);
  /// Returns the shared object that the manifest describes.
  std::filesystem::path add_file(const std::filesystem::path& file, std::string_view fingerprint);
  void add_unbuilt(const std::filesystem::path& list);
  void require_built(const std::function<bool(const ManifestOffer&)>& is_needed) const;
  const Manifest* find_owner(Kind kind, const std::string& name) const;

  std::vector<std::filesystem::path> folders_;
  std::vector<Manifest> manifests_;
  std::vector<RefusedPlugin> refused_;
  std::vector<Manifest> unbuilt_;
  std::map<std::pair<Kind, std::string>, Schema> shared_tables_;  ///< where Encore has options of its own
  std::string second_owner_;                                      ///< the first message about one
};

}  // namespace encore::config
