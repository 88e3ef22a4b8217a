// From JSON-LD to a checked list of files; see bundle_index.hpp.
#include "archive/bundle_index.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "archive/tar.hpp"
#include "config/json_text.hpp"
#include "record/run_paths.hpp"

namespace encore {

namespace {

using nlohmann::json;

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The first part of a path, with its slash.
std::string first_part(const std::string& path) {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

/// Whether a bundle has a file there.
bool is_in_place(const std::string& path) {
  const std::string top = first_part(path), rest = path.substr(top.size());
  if (top.empty()) return path == bundle_database || path == bundle_report;
  const std::size_t slash = rest.find('/');
  if (slash == std::string::npos) return false;
  const std::string owner = rest.substr(0, slash);
  return (top == bundle_runs && is_run_id(owner)) || (top == bundle_data && is_digest(owner)) ||
         top == bundle_sources;
}

class IndexReader {
 public:
  IndexReader(const std::string& text, const std::string& origin) : where_(origin + ": " + bundle_metadata) {
    try {
      document_ = parse_json(text);
    } catch (const JsonError& error) {
      throw Error(where_ + ", " + error.what());
    }
    const auto graph = document_.is_object() ? document_.find("@graph") : document_.end();
    if (graph == document_.end() || !graph->is_array()) fail("has no list @graph, so it is no RO-Crate");
    for (const json& entity : *graph) {
      const std::string id = text_of(entity, "@id");
      if (id.empty()) fail("has an entity without @id");
      if (!entities_.emplace(id, &entity).second) fail("describes " + shown_name(id) + " twice");
    }
  }

  BundleIndex read() const {
    const json& root = entity("./");
    if (const std::string version = text_of(root, "schemaVersion"); version != bundle_version)
      fail(version.empty() ? "does not say that it is a bundle of Encore"
                           : "is of the version " + shown_name(version) + ", and this Encore reads " +
                                 bundle_version + "; take the Encore that made it");
    BundleIndex index;
    index.subject = text_of(root, "name");
    index.encore = text_of(entity("#encore"), "version");
    index.licence = text_of(entity(reference_of(root, "license")), "name");
    if (root.contains("author")) index.author = text_of(entity(reference_of(root, "author")), "name");
    const auto parts = root.find("hasPart");
    if (parts == root.end() || !parts->is_array()) fail("lists no files (hasPart)");
    if (parts->size() > most_bundle_files)
      fail("lists more than " + std::to_string(most_bundle_files) + " files");
    std::set<std::string> paths;
    for (const json& part : *parts) {
      index.files.push_back(file_of(entity(text_of(part, "@id"))));
      if (!paths.insert(index.files.back().path).second)
        fail("lists " + shown_name(index.files.back().path) + " twice");
    }
    if (!paths.contains(bundle_database)) fail("lists no " + std::string(bundle_database));
    return index;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { throw Error(where_ + " " + problem); }

  /// Of a member that is a text; else empty.
  static std::string text_of(const json& object, const std::string& member) {
    const auto found = object.is_object() ? object.find(member) : object.end();
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
  }
  static std::string reference_of(const json& object, const std::string& member) {
    const auto found = object.find(member);
    return found == object.end() ? "" : text_of(*found, "@id");
  }
  const json& entity(const std::string& id) const {
    const auto found = entities_.find(id);
    if (found == entities_.end()) fail("does not describe " + shown_name(id));
    return *found->second;
  }

  BundleFile file_of(const json& entity) const {
    BundleFile file{.path = text_of(entity, "@id"), .sha256 = text_of(entity, "sha256")};
    const std::string what = "lists " + shown_name(file.path);
    if (const std::string problem = name_problem(bundle_root + file.path); !problem.empty())
      fail(what + ", which " + problem);
    if (!is_in_place(file.path)) fail(what + ", and a bundle has no file of that name");
    if (!is_digest(file.sha256)) fail(what + " without a SHA-256");
    const std::string size = text_of(entity, "contentSize");
    if (size.empty() || size.size() > 15 || size.find_first_not_of("0123456789") != std::string::npos)
      fail(what + " without a size in bytes");
    file.bytes = std::stoull(size);
    return file;
  }

  std::string where_;
  json document_;
  std::map<std::string, const json*> entities_;
};

}  // namespace

std::uint64_t BundleIndex::bytes() const {
  std::uint64_t sum = 0;  // 100,000 sizes of 15 digits may be more than it holds
  for (const BundleFile& file : files)
    sum += std::min(file.bytes, std::numeric_limits<std::uint64_t>::max() - sum);
  return sum;
}

BundleIndex read_bundle_index(const std::string& metadata, const std::string& origin) {
  return IndexReader(metadata, origin).read();
}

}  // namespace encore
