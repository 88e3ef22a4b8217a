// SPDX-License-Identifier: BSD-3-Clause
// read_bundle_index(), which unpack_bundle.cpp calls: reads the list of files of a bundle from JSON-LD of
// unknown origin, and checks names, sizes and hashes. No check and no limit may be dropped; older bundles
// must stay readable. Read bundle_index.hpp first.
#include "archive/bundle_index.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "archive/bundle_budget.hpp"
#include "archive/tar.hpp"
#include "base/json_text.hpp"
#include "record/run_paths.hpp"

namespace encore::archive {

namespace {

using nlohmann::json;

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Returns the first part of a path, with its slash.
std::string first_part(const std::string& path) {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

/// Returns whether a bundle may have a file with this path.
bool is_in_place(const std::string& path) {
  const std::string top = first_part(path), rest = path.substr(top.size());
  if (top.empty()) return path == bundle_database || path == bundle_report;
  const std::size_t slash = rest.find('/');
  if (slash == std::string::npos) return false;
  const std::string owner = rest.substr(0, slash);
  return (top == bundle_runs && record::is_run_id(owner)) || (top == bundle_data && is_digest(owner)) ||
         top == bundle_sources;
}

/// The kept members of an entity of the metadata. A member that is missing or not a string is empty.
struct Entity {
  std::string name, version, schema_version, licence, author, size, sha256;  ///< licence, author: an @id
  std::optional<std::vector<std::string>> parts = {};                        ///< the @id of each of hasPart
};

[[noreturn]] void refuse(const std::string& where, const std::string& problem) {
  throw Error(where + " " + problem);
}

/// Takes the entities out of the metadata while it is parsed. A tree of all its values would take thirty
/// times its bytes.
class EntityReader final : public nlohmann::json_sax<json> {
 public:
  explicit EntityReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  std::map<std::string, Entity> read() {
    require_shallow_json(text_);
    json::sax_parse(text_, this);
    if (!has_graph_) refuse(where_, "has no list @graph, so it is not an RO-Crate");
    return std::move(entities_);
  }

  bool null() override { return value(nullptr); }
  bool boolean(bool) override { return value(nullptr); }
  bool number_integer(number_integer_t) override { return value(nullptr); }
  bool number_unsigned(number_unsigned_t) override { return value(nullptr); }
  bool number_float(number_float_t, const string_t&) override { return value(nullptr); }
  bool string(string_t& text) override { return value(&text); }
  bool binary(binary_t&) override { return value(nullptr); }
  bool key(string_t& name) override {
    if (!open_.empty()) open_.back().member = std::move(name);
    return true;
  }
  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& error) override {
    const bool is_number = dynamic_cast<const json::out_of_range*>(&error) != nullptr;
    throw JsonError(text_, is_number ? 1 : byte,
                    is_number ? "JSON with a number that no 64-bit float can hold" : "no JSON");
  }

 private:
  struct Level {
    bool is_list;
    std::string member = {};  ///< the member that is being read, in an object
  };
  /// The depths of values: the document, the list @graph in it, an entity, and the parts of an entity.
  static constexpr std::size_t in_graph = 2, in_entity = 3, in_member = 4, in_part = 5;

  bool is_in_graph() const {
    return open_.size() >= in_graph && !open_[0].is_list && open_[0].member == "@graph" && open_[1].is_list;
  }
  const std::string& member_of_entity() const { return open_[in_entity - 1].member; }
  bool is_in_parts() const { return open_[in_member - 1].is_list && member_of_entity() == "hasPart"; }

  bool value(std::string* text) {
    if (!is_in_graph()) return true;
    if (open_.size() == in_graph) refuse(where_, "has an entity without @id");
    if (open_.size() == in_entity && text != nullptr) take_member(*text);
    if (open_.size() == in_member && is_in_parts()) add_part();
    const bool is_id = text != nullptr && open_.back().member == "@id";
    if (open_.size() == in_member && !open_.back().is_list && is_id) take_reference(*text);
    if (open_.size() == in_part && !open_.back().is_list && is_in_parts() && is_id)
      entity_.parts->back() = std::move(*text);
    return true;
  }
  void take_member(std::string& text) {
    constexpr std::pair<const char*, std::string Entity::*> kept[] = {
        {"name", &Entity::name},
        {"version", &Entity::version},
        {"schemaVersion", &Entity::schema_version},
        {"contentSize", &Entity::size},
        {"sha256", &Entity::sha256}};
    if (member_of_entity() == "@id") id_ = std::move(text);
    for (const auto& [name, member] : kept)
      if (member_of_entity() == name) entity_.*member = std::move(text);
  }
  void take_reference(std::string& id) {
    if (member_of_entity() == "license") entity_.licence = std::move(id);
    if (member_of_entity() == "author") entity_.author = std::move(id);
  }
  void add_part() {
    if (entity_.parts->size() == bundle_budget.files)
      refuse(where_, "lists more than " + std::to_string(bundle_budget.files) + " files");
    entity_.parts->emplace_back();
  }

  bool open(bool is_list) {
    if (open_.size() == 1 && !open_[0].is_list && open_[0].member == "@graph" && is_list) {
      if (has_graph_) refuse(where_, "has two lists @graph");
      has_graph_ = true;
    }
    if (is_in_graph() && open_.size() == in_graph) {
      if (is_list) refuse(where_, "has an entity without @id");
      id_.clear();
      entity_ = {};
    }
    if (is_in_graph() && open_.size() == in_entity && is_list && member_of_entity() == "hasPart")
      entity_.parts.emplace();
    if (is_in_graph() && open_.size() == in_member && is_in_parts()) add_part();
    open_.push_back({.is_list = is_list});
    return true;
  }
  bool close() {
    if (is_in_graph() && open_.size() == in_entity) end_entity();
    open_.pop_back();
    return true;
  }
  void end_entity() {
    if (id_.empty()) refuse(where_, "has an entity without @id");
    if (entities_.size() == bundle_budget.entities)
      refuse(where_, "describes more than " + std::to_string(bundle_budget.entities) + " things");
    if (entities_.contains(id_)) refuse(where_, "describes " + shown_name(id_) + " twice");
    if (id_ != "./") entity_.parts.reset();
    entities_.emplace(std::move(id_), std::move(entity_));
  }

  std::string_view text_;
  const std::string& where_;
  std::vector<Level> open_;
  bool has_graph_ = false;
  std::string id_;  ///< of the entity that is being read
  Entity entity_;
  std::map<std::string, Entity> entities_;
};

class IndexReader {
 public:
  IndexReader(const std::string& text, const std::string& origin) : where_(origin + ": " + bundle_metadata) {
    try {
      entities_ = EntityReader(text, where_).read();
    } catch (const JsonError& error) {
      throw Error(where_ + ", " + error.what());
    }
  }

  BundleIndex read() const {
    const Entity& root = entity("./");
    if (root.schema_version != bundle_version)
      fail(root.schema_version.empty()
               ? "does not say that it is a bundle of Encore"
               : "is of the version " + shown_name(root.schema_version) + ", and this Encore reads " +
                     bundle_version + "; take the Encore that made it");
    BundleIndex index;
    index.subject = root.name;
    index.encore = entity("#encore").version;
    index.licence = entity(root.licence).name;
    if (!root.author.empty()) index.author = entity(root.author).name;
    if (!root.parts) fail("lists no files (hasPart)");
    std::set<std::string_view> paths;
    for (const std::string& path : *root.parts) {
      index.files.push_back(file_of(path));
      if (!paths.insert(path).second) fail("lists " + shown_name(path) + " twice");
    }
    if (!paths.contains(bundle_database)) fail("lists no " + std::string(bundle_database));
    return index;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { refuse(where_, problem); }

  const Entity& entity(const std::string& id) const {
    const auto found = entities_.find(id);
    if (found == entities_.end()) fail("does not describe " + shown_name(id));
    return found->second;
  }

  BundleFile file_of(const std::string& path) const {
    const Entity& said = entity(path);
    BundleFile file{.path = path, .sha256 = said.sha256};
    const std::string what = "lists " + shown_name(path);
    if (const std::string problem = name_problem(bundle_root + path); !problem.empty())
      fail(what + ", which " + problem);
    if (!is_in_place(path)) fail(what + ", and a bundle has no file of that name");
    if (!is_digest(file.sha256)) fail(what + " without a SHA-256");
    if (said.size.empty() || said.size.size() > 15 ||
        said.size.find_first_not_of("0123456789") != std::string::npos)
      fail(what + " without a size in bytes");
    file.bytes = std::stoull(said.size);
    return file;
  }

  std::string where_;
  std::map<std::string, Entity> entities_;
};

}  // namespace

std::uint64_t BundleIndex::bytes() const {
  std::uint64_t sum = 0;  // 100,000 sizes of 15 digits may exceed it
  for (const BundleFile& file : files)
    sum += std::min(file.bytes, std::numeric_limits<std::uint64_t>::max() - sum);
  return sum;
}

BundleIndex read_bundle_index(const std::string& metadata, const std::string& origin) {
  return IndexReader(metadata, origin).read();
}

}  // namespace encore::archive
