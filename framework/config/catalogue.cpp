// SPDX-License-Identifier: BSD-3-Clause
// Reads the manifests of plugin folders, refuses those that cannot be used, and finds types by name. Read
// catalogue.hpp first. The words of its messages may change; the order of folders and names may not.
#include "config/catalogue.hpp"

#include <algorithm>
#include <sstream>

#include "base/input_file.hpp"
#include "base/nearest.hpp"
#include "config/core_schema.hpp"
#include "config/fingerprint.hpp"
#include "config/manifest.hpp"

namespace encore::config {

namespace {

/// Returns the files of a folder that end with .json or .so, sorted by name. Throws filesystem_error.
std::vector<std::filesystem::path> plugin_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json" || entry.path().extension() == ".so")
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

const ManifestOffer* offer_in(const Manifest& manifest, Kind kind, const std::string& name) {
  for (const ManifestOffer& offer : manifest.offers)
    if (offer.kind == kind && offer.name == name) return &offer;
  return nullptr;
}

}  // namespace

Catalogue Catalogue::survey(const std::vector<std::filesystem::path>& folders, std::string_view fingerprint) {
  Catalogue catalogue;
  for (const std::filesystem::path& folder : folders) {
    // If a folder is named twice, under whatever path, its own plugins would become their second owners.
    const auto is_this = [&](const std::filesystem::path& other) {
      std::error_code missing;
      return other == folder || std::filesystem::equivalent(other, folder, missing);
    };
    if (std::ranges::none_of(catalogue.folders_, is_this)) catalogue.add_folder(folder, fingerprint);
  }
  return catalogue;
}

Catalogue Catalogue::load(const std::vector<std::filesystem::path>& folders, std::string_view fingerprint) {
  Catalogue catalogue = survey(folders, fingerprint);
  if (!catalogue.second_owner_.empty()) throw Error(catalogue.second_owner_);
  return catalogue;
}

void Catalogue::add_folder(const std::filesystem::path& folder, std::string_view fingerprint) {
  folders_.push_back(folder);
  std::vector<std::filesystem::path> files;
  try {
    files = plugin_files(folder);
  } catch (const std::filesystem::filesystem_error& error) {
    refused_.push_back({folder, folder.string() +
                                    ": this plugin folder cannot be read: " + error.code().message() +
                                    "; make it readable, or take it out of the plugin path"});
    return;
  }
  std::vector<std::filesystem::path> described;
  for (const std::filesystem::path& file : files)
    if (file.extension() == ".json") described.push_back(add_file(file, fingerprint));
  for (const std::filesystem::path& file : files)
    if (file.extension() == ".so" && std::ranges::find(described, file) == described.end())
      refused_.push_back({file, file.string() + ": has no manifest " + file.stem().string() +
                                    ".json beside it, which the build of a plugin writes; build it again: " +
                                    rebuild_command(file)});
  add_unbuilt(folder / offers_file);
}

void Catalogue::add_unbuilt(const std::filesystem::path& list) {
  std::error_code unreadable;
  if (!std::filesystem::exists(list, unreadable)) return;  // only a build has one
  try {
    std::istringstream lines(read_file(list));
    std::string kind, name, plugin;
    while (lines >> kind >> name >> plugin) {
      const std::filesystem::path file = list.parent_path() / (plugin + ".json");
      if (std::filesystem::exists(file, unreadable)) continue;
      const ManifestOffer offer{.kind = kind_from_name(kind), .name = name};
      if (unbuilt_.empty() || unbuilt_.back().file != file) {
        unbuilt_.emplace_back();
        unbuilt_.back().name = plugin;
        unbuilt_.back().file = file;
      }
      if (const Manifest* other = find_owner(offer.kind, name); other != nullptr && second_owner_.empty())
        second_owner_ = "two plugins offer the " + title_of(offer.kind, name) + ": " + other->file.string() +
                        " and " + file.string() + "; remove one of them from the plugin folders";
      unbuilt_.back().offers.push_back(offer);
    }
  } catch (const Error& error) {
    refused_.push_back({list, list.string() + ": " + error.what(), {}});
  }
}

std::filesystem::path Catalogue::add_file(const std::filesystem::path& file, std::string_view fingerprint) {
  Manifest manifest;
  std::filesystem::path library = std::filesystem::path(file).replace_extension(".so");
  std::string problem;
  try {
    manifest = load_manifest(file);
    library = manifest.library_path();
    if (!fingerprint.empty())
      problem = fingerprint_problem(manifest.name, library, manifest.fingerprint, fingerprint);
    if (problem.empty()) problem = shared_object_problem(library);
  } catch (const Error& error) {
    problem = error.what();
  }
  if (!problem.empty()) {
    refused_.push_back({file, problem, manifest.offers});
    return library;
  }
  try {
    add(std::move(manifest));
  } catch (const Error& error) {
    if (second_owner_.empty()) second_owner_ = error.what();
    refused_.push_back({file, error.what(), {}});
  }
  return library;
}

void Catalogue::add(Manifest manifest) {
  for (auto offer = manifest.offers.begin(); offer != manifest.offers.end(); ++offer) {
    const std::string what = title_of(offer->kind, offer->name);
    if (const Manifest* other = find_owner(offer->kind, offer->name))
      throw Error("two plugins offer the " + what + ": " + other->file.string() + " and " +
                  manifest.file.string() + "; remove one of them from the plugin folders");
    const bool again = std::any_of(manifest.offers.begin(), offer, [&](const ManifestOffer& earlier) {
      return earlier.kind == offer->kind && earlier.name == offer->name;
    });
    if (again) throw Error(manifest.file.string() + ": it offers the " + what + " twice");
  }
  for (const ManifestOffer& offer : manifest.offers) {
    if (host_options(offer.kind).options().empty()) continue;
    Schema& shared = shared_tables_[{offer.kind, offer.name}] = host_options(offer.kind);
    for (const Option& option : offer.options.options()) shared.add(option);
  }
  manifests_.push_back(std::move(manifest));
}

const ManifestOffer* Catalogue::find(Kind kind, const std::string& name) const {
  const Manifest* manifest = owner(kind, name);
  return manifest == nullptr ? nullptr : offer_in(*manifest, kind, name);
}

const Manifest* Catalogue::owner(Kind kind, const std::string& name) const {
  const Manifest* found = find_owner(kind, name);
  if (found != nullptr) return found;
  for (const Manifest& plugin : unbuilt_)
    if (offer_in(plugin, kind, name) != nullptr) throw NotBuilt({plugin.name}, plugin.file.parent_path());
  return nullptr;
}

const Manifest* Catalogue::find_owner(Kind kind, const std::string& name) const {
  for (const Manifest& manifest : manifests_)
    if (offer_in(manifest, kind, name) != nullptr) return &manifest;
  return nullptr;
}

void Catalogue::require_built(const std::function<bool(const ManifestOffer&)>& is_needed) const {
  std::vector<std::string> plugins;
  for (const Manifest& plugin : unbuilt_)
    if (std::ranges::any_of(plugin.offers, is_needed)) plugins.push_back(plugin.name);
  if (!plugins.empty()) throw NotBuilt(std::move(plugins), unbuilt_.front().file.parent_path());
}

void Catalogue::require_built(const std::set<std::string>& names) const {
  require_built([&](const ManifestOffer& offer) { return names.contains(offer.name); });
}

void Catalogue::require_all_built(std::optional<Kind> kind) const {
  require_built([&](const ManifestOffer& offer) { return !kind || offer.kind == *kind; });
}

const ManifestOffer& Catalogue::get(Kind kind, const std::string& name) const {
  const ManifestOffer* offer = find(kind, name);
  if (offer == nullptr) throw Error(unknown(kind, name));
  return *offer;
}

std::string Catalogue::unknown(Kind kind, const std::string& name) const {
  for (const RefusedPlugin& refused : refused_)
    for (const ManifestOffer& offer : refused.offers)
      if (offer.kind == kind && offer.name == name)
        return "the plugin that offers " + title_of(kind, name) + " is refused: " + refused.reason;
  const std::vector<std::string> offered = names(kind);
  const std::string others = offered.empty() ? "" : "; there is " + quoted_list(offered);
  std::string text = "no plugin offers " + with_article(kind) + " \"" + name + "\"" +
                     did_you_mean(name, offered, others) + " (searched:";
  for (const std::filesystem::path& folder : folders_) text += " " + folder.string();
  text += folders_.empty() ? " no folder)" : ")";
  for (const RefusedPlugin& refused : refused_) text += "\n  refused: " + refused.reason;
  return text;
}

const Schema& Catalogue::table_options(const ManifestOffer& offer) const {
  const auto shared = shared_tables_.find({offer.kind, offer.name});
  return shared == shared_tables_.end() ? offer.options : shared->second;
}

std::vector<std::string> Catalogue::names(Kind kind) const {
  std::vector<std::string> found;
  for (const std::vector<Manifest>* plugins : {&manifests_, &unbuilt_})
    for (const Manifest& manifest : *plugins)
      for (const ManifestOffer& offer : manifest.offers)
        if (offer.kind == kind) found.push_back(offer.name);
  std::ranges::sort(found);
  return found;
}

}  // namespace encore::config
