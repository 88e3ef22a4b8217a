// SPDX-License-Identifier: BSD-3-Clause
// load_documents() and load_passages(): read the documents of an index from JSON lines or from lines of id,
// tab, text, and cut them into passages. Steps and commands that build an index call them. Equal files give
// equal documents in the order of ids, so what is read must stay. Read encore/document_index.hpp first.
#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include <encore/document_index.hpp>
#include <encore/lines.hpp>

#include "base/json_text.hpp"
#include "base/load_file.hpp"
#include "base/utf8.hpp"
#include "index/passages.hpp"

namespace encore {
namespace {

/// A document whose title is not yet a part of its text.
struct LoadedDocument {
  std::string id, title, text;
};

constexpr const char* json_form = R"(expected {"id": "...", "text": "..."} with an optional "title")";

/// Returns the member as text; a whole number is an id too. Throws Error for another type.
std::string member_text(const nlohmann::json& object, const char* name, bool required) {
  const auto found = object.find(name);
  if (found == object.end()) {
    if (!required) return {};
    throw Error("\"" + std::string(name) + "\" is missing; " + json_form);
  }
  if (found->is_number_integer()) return found->dump();
  if (!found->is_string())
    throw Error("\"" + std::string(name) + "\" is " + found->type_name() + ", not a text; " + json_form);
  return found->get<std::string>();
}

LoadedDocument document_in_json(std::string_view line) {
  const nlohmann::json object = parse_json(line);
  if (!object.is_object()) throw Error("this line is not a JSON object; " + std::string(json_form));
  return {.id = member_text(object, "id", true),
          .title = member_text(object, "title", false),
          .text = member_text(object, "text", true)};
}

LoadedDocument document_in_row(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) throw Error("this line has no tab; expected id, tab, text");
  return {.id = std::string(trimmed(line.substr(0, tab))),
          .title = {},
          .text = std::string(line.substr(tab + 1))};
}

std::vector<LoadedDocument> load(const std::filesystem::path& file) {
  const std::string content = load_text(file, "documents");
  const bool is_json = file.extension() == ".jsonl";
  std::vector<LoadedDocument> documents;
  std::set<std::string> ids;
  for (Lines lines(without_byte_order_mark(content)); lines.next();) {
    if (trimmed(lines.line()).empty()) continue;
    try {
      documents.push_back(is_json ? document_in_json(lines.line()) : document_in_row(lines.line()));
      const std::string& id = documents.back().id;
      if (trimmed(id).empty()) throw Error("the id is empty");
      if (!ids.insert(id).second) throw Error("the id \"" + id + "\" stands twice; expected each id once");
    } catch (const Error& error) {
      throw Error(file.string() + ":" + std::to_string(lines.number()) + ": " + error.what());
    }
  }
  if (documents.empty()) throw Error(file.string() + " has no documents: expected at least one");
  std::ranges::sort(documents, {}, &LoadedDocument::id);
  return documents;
}

std::string with_title(const std::string& title, std::string text) {
  return title.empty() ? std::move(text) : title + "\n" + text;
}

}  // namespace

std::vector<IndexedDocument> load_documents(const std::filesystem::path& file) {
  return load_passages(file, {});
}

std::vector<IndexedDocument> load_passages(const std::filesystem::path& file,
                                           const PassageSettings& settings) {
  std::vector<IndexedDocument> passages;
  for (const LoadedDocument& document : load(file))
    for (std::string& text : index::cut_into_passages(document.text, settings))
      passages.push_back({.id = document.id, .text = with_title(document.title, std::move(text))});
  return passages;
}

}  // namespace encore
