#include "config/manifest.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "config/nearest.hpp"
#include "config/schema_json.hpp"

namespace encore {

namespace {

using nlohmann::json;

constexpr int manifest_format = 1;
constexpr Kind all_kinds[] = {Kind::layer, Kind::head, Kind::tokenizer, Kind::optimizer, Kind::schedule};

const json& member(const json& object, const char* name, json::value_t type, const std::string& owner) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(owner + " has no \"" + name + "\"");
  const bool fits =
      type == json::value_t::number_integer ? found->is_number_integer() : found->type() == type;
  if (!fits)
    throw Error("\"" + std::string(name) + "\" of " + owner + " has the wrong type: " + found->dump());
  return *found;
}

std::string text_member(const json& object, const char* name, const std::string& owner) {
  return member(object, name, json::value_t::string, owner).get<std::string>();
}

Kind kind_from_name(const std::string& name) {
  for (const Kind kind : all_kinds)
    if (name == name_of(kind)) return kind;
  throw Error("it offers something of the unknown kind \"" + name + "\"");
}

ManifestOffer offer_from_json(const json& in) {
  if (!in.is_object()) throw Error("an offer must be an object, found " + in.dump());
  ManifestOffer offer;
  offer.kind = kind_from_name(text_member(in, "kind", "an offer"));
  offer.name = text_member(in, "name", "an offer");
  const std::string owner = std::string(name_of(offer.kind)) + " \"" + offer.name + "\"";
  offer.version = member(in, "version", json::value_t::number_integer, owner).get<int>();
  try {
    offer.options = schema_from_json(member(in, "options", json::value_t::array, owner));
  } catch (const Error& error) {
    throw Error(owner + ": " + error.what());
  }
  // `type` chooses the plugin in every table, so no plugin can have an option of that name.
  if (offer.options.find("type") != nullptr)
    throw Error(owner + " declares an option \"type\", which is reserved");
  return offer;
}

}  // namespace

std::string with_article(Kind kind) {
  return (kind == Kind::optimizer ? "an " : "a ") + std::string(name_of(kind));
}

json manifest_to_json(const Manifest& manifest) {
  json offers = json::array();
  for (const ManifestOffer& offer : manifest.offers)
    offers.push_back({{"kind", name_of(offer.kind)},
                      {"name", offer.name},
                      {"version", offer.version},
                      {"options", schema_to_json(offer.options)}});
  return {{"format", manifest_format},   {"name", manifest.name},
          {"version", manifest.version}, {"fingerprint", manifest.fingerprint},
          {"library", manifest.library}, {"offers", std::move(offers)}};
}

Manifest manifest_from_json(const json& in) {
  if (!in.is_object()) throw Error("the manifest must be a JSON object");
  const int format = member(in, "format", json::value_t::number_integer, "the manifest").get<int>();
  if (format != manifest_format)
    throw Error("the manifest has format " + std::to_string(format) + ", this program reads format " +
                std::to_string(manifest_format) + "; build the plugin again");
  Manifest manifest;
  manifest.name = text_member(in, "name", "the manifest");
  manifest.version = text_member(in, "version", "the manifest");
  manifest.fingerprint = text_member(in, "fingerprint", "the manifest");
  manifest.library = text_member(in, "library", "the manifest");
  // The library lies beside its manifest; a path could lead elsewhere.
  if (manifest.library.empty() || manifest.library.find('/') != std::string::npos)
    throw Error("\"library\" of the manifest must be a file name, found \"" + manifest.library + "\"");
  for (const json& offer : member(in, "offers", json::value_t::array, "the manifest"))
    manifest.offers.push_back(offer_from_json(offer));
  return manifest;
}

Manifest load_manifest(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.good() && !stream.eof()) throw Error(file.string() + ": cannot be read");
  const json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded())
    throw Error(file.string() + ": the manifest is not JSON; build the plugin again");
  try {
    Manifest manifest = manifest_from_json(parsed);
    manifest.file = file;
    return manifest;
  } catch (const Error& error) {
    throw Error(file.string() + ": " + error.what());
  }
}

Catalogue Catalogue::load(const std::vector<std::filesystem::path>& folders) {
  Catalogue catalogue;
  for (const std::filesystem::path& folder : folders) {
    // A folder named twice would make its own plugins their second owners.
    if (std::ranges::find(catalogue.folders_, folder) != catalogue.folders_.end()) continue;
    catalogue.folders_.push_back(folder);
    std::error_code missing;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, missing))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::ranges::sort(files);
    for (const std::filesystem::path& file : files) {
      Manifest manifest;
      try {
        manifest = load_manifest(file);
      } catch (const Error& error) {
        catalogue.refused_.push_back({file, error.what()});
        continue;
      }
      catalogue.add(std::move(manifest));
    }
  }
  return catalogue;
}

void Catalogue::add(Manifest manifest) {
  for (auto offer = manifest.offers.begin(); offer != manifest.offers.end(); ++offer) {
    const std::string what = std::string(name_of(offer->kind)) + " \"" + offer->name + "\"";
    if (const Manifest* other = owner(offer->kind, offer->name))
      throw Error("two plugins offer the " + what + ": " + other->file.string() + " and " +
                  manifest.file.string() + "; remove one of them from the plugin folders");
    const bool again = std::any_of(manifest.offers.begin(), offer, [&](const ManifestOffer& earlier) {
      return earlier.kind == offer->kind && earlier.name == offer->name;
    });
    if (again) throw Error(manifest.file.string() + ": it offers the " + what + " twice");
  }
  manifests_.push_back(std::move(manifest));
}

const ManifestOffer* Catalogue::find(Kind kind, const std::string& name) const {
  for (const Manifest& manifest : manifests_)
    for (const ManifestOffer& offer : manifest.offers)
      if (offer.kind == kind && offer.name == name) return &offer;
  return nullptr;
}

const Manifest* Catalogue::owner(Kind kind, const std::string& name) const {
  for (const Manifest& manifest : manifests_)
    for (const ManifestOffer& offer : manifest.offers)
      if (offer.kind == kind && offer.name == name) return &manifest;
  return nullptr;
}

const ManifestOffer& Catalogue::get(Kind kind, const std::string& name) const {
  const ManifestOffer* offer = find(kind, name);
  if (offer == nullptr) throw Error(unknown(kind, name));
  return *offer;
}

std::string Catalogue::unknown(Kind kind, const std::string& name) const {
  const std::vector<std::string> offered = names(kind);
  const std::string others = offered.empty() ? "" : "; there is " + quoted_list(offered);
  std::string text = "no plugin offers " + with_article(kind) + " \"" + name + "\"" +
                     did_you_mean(name, offered, others) + " (searched:";
  for (const std::filesystem::path& folder : folders_) text += " " + folder.string();
  text += folders_.empty() ? " no folder)" : ")";
  for (const RefusedManifest& refused : refused_) text += "\n  refused: " + refused.reason;
  return text;
}

std::vector<std::string> Catalogue::names(Kind kind) const {
  std::vector<std::string> found;
  for (const Manifest& manifest : manifests_)
    for (const ManifestOffer& offer : manifest.offers)
      if (offer.kind == kind) found.push_back(offer.name);
  std::ranges::sort(found);
  return found;
}

}  // namespace encore
