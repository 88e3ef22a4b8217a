// SPDX-License-Identifier: BSD-3-Clause
// Outline holds the number and the anchor of each section, table and figure of a document. Each writer
// (html.cpp, markdown.cpp, latex.cpp, csv.cpp) makes one: HTML takes ids from it, Markdown file names, LaTeX
// labels, CSV file names. Users link to these, so an id must keep its anchor. Read document.hpp first.
#pragma once

#include <map>
#include <string>

#include "document/document.hpp"

namespace encore::document {

struct Anchor {
  std::string id;      ///< letters, digits, - and _ only, unique
  std::string kind;    ///< "Section", "Table", "Figure"
  std::string number;  ///< "2.1", "3"

  /// Returns "Table 3".
  std::string title() const { return kind + " " + number; }
};

class Outline {
 public:
  /// Keeps the addresses of the parts of `document`, which must outlive the Outline and must not change.
  /// Throws Error if an id occurs twice.
  explicit Outline(const Document& document);

  /// Return the anchor of a part of this document.
  const Anchor& of(const Section& section) const { return anchors_.at(&section); }
  const Anchor& of(const TableBlock& table) const { return anchors_.at(&table); }
  const Anchor& of(const Figure& figure) const { return anchors_.at(&figure); }
  /// Throws Error for an id that the document does not have.
  const Anchor& target(const std::string& id) const;

 private:
  void add(const void* part, const std::string& id, const std::string& kind, const std::string& number);
  void add_blocks(const std::vector<Block>& blocks);
  void add_section(const Section& section, const std::string& number);

  std::map<const void*, Anchor> anchors_;
  std::map<std::string, const Anchor*> by_id_;
  std::map<std::string, int> taken_;
  int tables_ = 0, figures_ = 0;
};

}  // namespace encore::document
