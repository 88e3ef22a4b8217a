// SPDX-License-Identifier: BSD-3-Clause
// Implements Outline: walks through all sections once, numbers sections, tables and figures, and makes a
// unique anchor from each id. Each writer makes an Outline first. Read outline.hpp first. Anchors are links
// in files of users, so the rules that make them should stay.
#include "document/outline.hpp"

#include <encore/error.hpp>

#include "document/escape.hpp"

namespace encore::document {

Outline::Outline(const Document& document) {
  add_blocks(document.abstract);
  int number = 0;
  for (const Section& section : document.sections) add_section(section, std::to_string(++number));
}

const Anchor& Outline::target(const std::string& id) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end())
    throw Error("the document refers to \"" + id + "\", but no section, table or figure has that id");
  return *found->second;
}

void Outline::add(const void* part, const std::string& id, const std::string& kind,
                  const std::string& number) {
  std::string anchor = anchor_text(id);
  // Different ids may give the same anchor; later ones get a number.
  if (const int before = taken_[anchor]++; before > 0) anchor += "-" + std::to_string(before + 1);
  const auto [entry, added] = anchors_.emplace(part, Anchor{anchor, kind, number});
  if (!by_id_.emplace(id, &entry->second).second)
    throw Error("the document has the id \"" + id +
                "\" twice; every section, table and figure needs its own");
}

void Outline::add_blocks(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    if (const auto* table = std::get_if<TableBlock>(&block))
      add(table, table->id, "Table", std::to_string(++tables_));
    if (const auto* figure = std::get_if<Figure>(&block))
      add(figure, figure->id, "Figure", std::to_string(++figures_));
  }
}

void Outline::add_section(const Section& section, const std::string& number) {
  add(&section, section.id, "Section", number);
  add_blocks(section.blocks);
  int below = 0;
  for (const Section& inner : section.sections) add_section(inner, number + "." + std::to_string(++below));
}

}  // namespace encore::document
