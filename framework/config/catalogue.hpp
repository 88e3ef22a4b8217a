// Catalogue: everything the plugins in a list of folders offer, by their manifests. What can be known without
// loading a plugin is refused here. Read next: plugin_host/, which loads.
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

namespace encore {

/// Something in a plugin folder that cannot be used: a manifest, a shared object without one, or the folder.
struct RefusedPlugin {
  std::filesystem::path file;
  std::string reason;                      ///< a whole message: file, what is wrong, what to do
  std::vector<ManifestOffer> offers = {};  ///< what it would offer, where its manifest could be read
};

/// In a folder of plugins of a build: a line for each type that its plugins offer, "layer highway highway":
/// kind, name, plugin. What no manifest beside it offers is not built yet (cmake/components.cmake).
inline constexpr const char* offers_file = "offers.txt";

class Catalogue {
 public:
  Catalogue() = default;
  /// Reads every `*.json` of the folders, in the order of the folders and then of the file names. Refused and
  /// remembered are: damaged manifests; plugins whose fingerprint is not `fingerprint` (an empty one compares
  /// nothing), so that one folder may hold builds for several backends; manifests whose shared object is
  /// missing, cut or none; shared objects without a manifest; folders that are missing or cannot be read.
  /// None of these harms a run that does not need them. Throws Error when two plugins own one name.
  static Catalogue load(const std::vector<std::filesystem::path>& folders, std::string_view fingerprint = "");
  /// As load, but the second owner of a name is refused like the rest: to show everything there is.
  static Catalogue survey(const std::vector<std::filesystem::path>& folders,
                          std::string_view fingerprint = "");

  /// Throws Error naming both files when something in it has an owner already.
  void add(Manifest manifest);

  /// What is offered under that name, or null. Throws NotBuilt where a plugin of a build offers it that is
  /// not built yet, as all other functions that look for a name.
  const ManifestOffer* find(Kind kind, const std::string& name) const;
  /// Which plugin offers it, or null.
  const Manifest* owner(Kind kind, const std::string& name) const;
  /// As find, but throws Error with unknown().
  const ManifestOffer& get(Kind kind, const std::string& name) const;
  /// `no plugin offers a layer "self_atention"; did you mean "self_attention"? (searched: ...)`, or why the
  /// plugin that offers it is refused.
  std::string unknown(Kind kind, const std::string& name) const;
  /// In alphabetical order, with those of plugins that are not built yet.
  std::vector<std::string> names(Kind kind) const;
  /// Throws NotBuilt with every plugin that is not built yet and offers one of these names, of any kind: with
  /// the strings of an experiment file, so that all its plugins are built at once.
  void require_built(const std::set<std::string>& names) const;
  /// Throws NotBuilt unless all plugins are built, or all that offer this kind.
  void require_all_built(std::optional<Kind> kind = {}) const;
  /// What a table may hold that names this type, which the catalogue owns: its options, and those of Encore's
  /// own table around them (core_schema.hpp, host_options).
  const Schema& table_options(const ManifestOffer& offer) const;

  const std::vector<Manifest>& manifests() const { return manifests_; }
  const std::vector<RefusedPlugin>& refused() const { return refused_; }
  /// Plugins of a build that are not built yet: name, offers by kind and name, and the file that there will
  /// be.
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

}  // namespace encore
