// SPDX-License-Identifier: BSD-3-Clause
// Registry: loads plugins in two phases (collect all offers and check them, then commit) and builds their
// objects. The worker calls it after it has read the manifests. A failed load must leave the registry as it
// was. Read registry.hpp first.
#include "plugin_host/registry.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "config/fingerprint.hpp"
#include "plugin_host/loader.hpp"
#include "plugin_host/make_offer.hpp"
#include "record/crash_line.hpp"

namespace encore::plugin_host {
namespace {

/// Checks fingerprint, dlopen, tag and registration. The library must offer what its manifest says, because
/// the experiment was checked with that.
OpenedPlugin open_checked(const config::Manifest& manifest) {
  const std::filesystem::path library = manifest.library_path();
  const std::string other_build =
      config::fingerprint_problem(manifest.name, library, manifest.fingerprint, config::host_fingerprint());
  if (!other_build.empty()) throw Error(other_build);
  OpenedPlugin plugin = open_plugin(library);
  const std::string lie = config::manifest_difference(manifest, make_manifest(plugin, library));
  if (!lie.empty())
    throw Error(
        manifest.file.string() + ": does not describe " + manifest.library + ": " + lie +
        "; run \"exp plugin build\" for its folder again, or write the manifest alone: encore-manifest " +
        library.string() + " " + manifest.file.string());
  return plugin;
}

}  // namespace

void Registry::load(const config::Catalogue& catalogue, std::span<const config::TypeName> needed) {
  std::vector<const config::Manifest*> manifests;
  for (const config::TypeName& type : needed) {
    if (find(type.kind, type.name) != nullptr) continue;
    const config::Manifest* owner = catalogue.owner(type.kind, type.name);
    if (owner == nullptr) throw Error(catalogue.unknown(type.kind, type.name));
    if (std::find(manifests.begin(), manifests.end(), owner) == manifests.end()) manifests.push_back(owner);
  }
  load_plugins(manifests, true);
}

void Registry::load_all(const config::Catalogue& catalogue) {
  std::vector<const config::Manifest*> manifests;
  for (const config::Manifest& manifest : catalogue.manifests()) {
    const auto is_this = [&](const LoadedPlugin& plugin) { return plugin.file == manifest.library_path(); };
    if (std::none_of(plugins_.begin(), plugins_.end(), is_this)) manifests.push_back(&manifest);
  }
  for (const config::RefusedPlugin& refused : catalogue.refused())
    failures_.push_back({refused.file, refused.reason});
  load_plugins(manifests, false);
}

void Registry::load_plugins(const std::vector<const config::Manifest*>& manifests, bool failure_is_error) {
  std::vector<Entry> entries;
  std::vector<LoadedPlugin> plugins;
  for (const config::Manifest* manifest : manifests) {
    const std::filesystem::path file = manifest->library_path();
    const std::string text = record::work_text("opening of plugin " + file.string(), "", "");
    const record::CurrentWork work(text.c_str());
    try {
      OpenedPlugin plugin = open_checked(*manifest);
      for (const Offer& offer : plugin.offers.offers()) entries.push_back({offer, file.string()});
      plugins.push_back({plugin.name, plugin.version, plugin.fingerprint, sha256_of_file(file), file});
    } catch (const Error& error) {
      failures_.push_back({file, error.what()});
      if (failure_is_error) throw;
    }
  }
  commit(std::move(entries), std::move(plugins));
}

void Registry::add(const std::string& owner, const Registrar& offers) {
  std::vector<Entry> entries;
  for (const Offer& offer : offers.offers()) entries.push_back({offer, owner});
  commit(std::move(entries), {});
}

void Registry::commit(std::vector<Entry> entries, std::vector<LoadedPlugin> plugins) {
  std::vector<Entry> all = entries_;
  for (Entry& entry : entries) {
    for (const Entry& other : all)
      if (other.offer.kind == entry.offer.kind && other.offer.name == entry.offer.name)
        throw Error(std::string("the ") + name_of(entry.offer.kind) + " \"" + entry.offer.name +
                    "\" is offered by both " + other.owner + " and " + entry.owner +
                    "; remove one of them from the plugin folders");
    all.push_back(std::move(entry));
  }
  entries_ = std::move(all);
  plugins_.insert(plugins_.end(), plugins.begin(), plugins.end());
}

const Registry::Entry* Registry::find(Kind kind, const std::string& type) const {
  for (const Entry& entry : entries_)
    if (entry.offer.kind == kind && entry.offer.name == type) return &entry;
  return nullptr;
}

std::vector<Offer> Registry::all(Kind kind) const {
  std::vector<Offer> offers;
  for (const Entry& entry : entries_)
    if (entry.offer.kind == kind) offers.push_back(entry.offer);
  return offers;
}

const Offer& Registry::offer(Kind kind, const std::string& type) const {
  if (const Entry* entry = find(kind, type)) return entry->offer;
  std::vector<std::string> names;
  for (const Entry& entry : entries_)
    if (entry.offer.kind == kind) names.push_back(entry.offer.name);
  throw Error(std::string("no loaded plugin offers a ") + name_of(kind) + " \"" + type + "\"" +
              did_you_mean(type, names, "; loaded are: " + quoted_list(names)));
}

std::string Registry::library_sha256(Kind kind, const std::string& type) const {
  offer(kind, type);
  for (const LoadedPlugin& plugin : plugins_)
    if (plugin.file.string() == find(kind, type)->owner) return plugin.sha256;
  return {};
}

std::string Registry::owner_text(Kind kind, const std::string& type) const {
  offer(kind, type);
  return encore::record::owner_text(name_of(kind), type, find(kind, type)->owner);
}

template <Kind K>
std::unique_ptr<typename KindTraits<K>::Base> Registry::build(
    const std::string& type, const Options& options, const typename KindTraits<K>::Context& context) const {
  const std::string text = record::work_text("construction", "", owner_text(K, type));
  const record::CurrentWork work(text.c_str());
  return make_offer<K>(offer(K, type), options, context);
}

std::unique_ptr<Layer> Registry::make_layer(const std::string& type, const Options& options,
                                            const LayerContext& context) const {
  return build<Kind::layer>(type, options, context);
}
std::unique_ptr<Head> Registry::make_head(const std::string& type, const Options& options,
                                          const HeadContext& context) const {
  return build<Kind::head>(type, options, context);
}
std::unique_ptr<Tokenizer> Registry::make_tokenizer(const std::string& type, const Options& options) const {
  return build<Kind::tokenizer>(type, options, TokenizerContext{});
}
std::unique_ptr<Optimizer> Registry::make_optimizer(const std::string& type, const Options& options) const {
  return build<Kind::optimizer>(type, options, OptimizerContext{});
}
std::unique_ptr<Schedule> Registry::make_schedule(const std::string& type, const Options& options,
                                                  const ScheduleContext& context) const {
  return build<Kind::schedule>(type, options, context);
}
std::unique_ptr<Task> Registry::make_task(const std::string& type, const Options& options,
                                          const TaskContext& context) const {
  return build<Kind::task>(type, options, context);
}
std::unique_ptr<Reader> Registry::make_reader(const std::string& type, const Options& options) const {
  return build<Kind::reader>(type, options, ReaderContext{});
}
std::unique_ptr<AppStep> Registry::make_step(const std::string& type, const Options& options,
                                             const StepContext& context) const {
  return build<Kind::step>(type, options, context);
}

}  // namespace encore::plugin_host
