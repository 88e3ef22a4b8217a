// Manifest: what a plugin says about itself beside its shared object, read before anything is loaded; and
// Catalogue, everything the plugins in a list of folders offer. Both programs use it; the control program
// never loads a plugin. Read next: plugin_host/ for the gate that compares fingerprints and loads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <encore/options.hpp>
#include <encore/plugin.hpp>

namespace encore {

/// "a layer", "an optimizer"
std::string with_article(Kind kind);

/// Offer (encore/plugin.hpp) without the code.
struct ManifestOffer {
  Kind kind = Kind::layer;
  std::string name;
  int version = 1;
  Schema options;
};

struct Manifest {
  std::string name;
  std::string version;
  std::string fingerprint;  ///< key=value; text
  std::string library;      ///< file name of the shared object, in the manifest's folder
  std::vector<ManifestOffer> offers;
  std::filesystem::path file = {};  ///< the manifest itself; not part of its JSON

  std::filesystem::path library_path() const { return file.parent_path() / library; }
};

/// {"format": 1, "name", "version", "fingerprint", "library", "offers": [{"kind", "name", "version",
/// "options"}]}
nlohmann::json manifest_to_json(const Manifest& manifest);
/// Throws Error that names the field which is missing or wrong.
Manifest manifest_from_json(const nlohmann::json& json);
/// Throws Error that names the file.
Manifest load_manifest(const std::filesystem::path& file);

/// A manifest that could not be used.
struct RefusedManifest {
  std::filesystem::path file;
  std::string reason;
};

class Catalogue {
 public:
  Catalogue() = default;
  /// Reads every `*.json` of the folders, in the order of the folders and then of the file names. A damaged
  /// manifest is remembered as refused; a folder that is not there holds nothing. Throws Error when two
  /// plugins own one name.
  static Catalogue load(const std::vector<std::filesystem::path>& folders);

  /// Throws Error naming both files when something in it has an owner already.
  void add(Manifest manifest);

  const ManifestOffer* find(Kind kind, const std::string& name) const;
  /// Which plugin offers it, or null.
  const Manifest* owner(Kind kind, const std::string& name) const;
  /// As find, but throws Error with unknown().
  const ManifestOffer& get(Kind kind, const std::string& name) const;
  /// `no plugin offers a layer "self_atention"; did you mean "self_attention"? Searched: ...`
  std::string unknown(Kind kind, const std::string& name) const;
  /// In alphabetical order.
  std::vector<std::string> names(Kind kind) const;

  const std::vector<Manifest>& manifests() const { return manifests_; }
  const std::vector<RefusedManifest>& refused() const { return refused_; }
  const std::vector<std::filesystem::path>& folders() const { return folders_; }

 private:
  std::vector<std::filesystem::path> folders_;
  std::vector<Manifest> manifests_;
  std::vector<RefusedManifest> refused_;
};

}  // namespace encore
