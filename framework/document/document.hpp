// SPDX-License-Identifier: BSD-3-Clause
// Document is the content of a report, apart from its look: sections with paragraphs, tables, lists, listings
// and figures, as plain values. report/ fills one from the database; the writers (writers.hpp) all write the
// same document as HTML, Markdown, LaTeX, CSV or JSON. A new kind of block needs a case in each of them.
// Values here are never escaped: every writer escapes for its own format, so a name with <script>, \input or
// | in it is only a name.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "document/chart.hpp"

namespace encore::document {

/// A run of characters with one meaning.
struct Span {
  enum class Kind {
    plain,
    strong,
    emphasis,
    code,       ///< a command, a key, a hash: fixed width
    reference,  ///< to the block or section whose id is `target`
    // The next three mark a word of an example sentence with a model's prediction; `target` is its label.
    right,   ///< predicted and true
    wrong,   ///< predicted, not true
    missed,  ///< true, not predicted
  };
  std::string text;
  Kind kind = Kind::plain;
  std::string target = {};
};

/// A line of text. A string converts to a Text without marks.
struct Text {
  Text() = default;
  Text(std::string plain) {
    if (!plain.empty()) spans.push_back({std::move(plain)});
  }
  Text(const char* plain) : Text(std::string(plain)) {}
  Text(std::vector<Span> marked) : spans(std::move(marked)) {}

  /// Returns the characters without marks.
  std::string plain() const;
  bool empty() const { return spans.empty(); }

  std::vector<Span> spans;
};

struct Paragraph {
  Text text;
};

/// A warning shown before the text: a failed run, intervals across environments, missing records.
struct Notice {
  Text text;
};

struct ItemList {
  std::vector<Text> items;
};

/// Lines that are shown unchanged: commands, a TOML file, a diff.
struct Listing {
  std::string language;  ///< "sh", "toml", "diff", or empty
  std::string text;
  std::string title = {};  ///< what it is, for readers who cannot see its place: "Commands"
};

struct Column {
  std::string name;
  std::string unit = {};  ///< "s", "%", ... or empty
  bool numeric = false;   ///< aligned right, sorted by number
};

struct TableCell {
  Text text;                          ///< empty: there is no value, shown as an en dash
  std::optional<double> number = {};  ///< the value of the text in full precision, for CSV, JSON and sorting
  bool best = false;                  ///< the best of its column; set only if a statistical test supports it

  TableCell() = default;
  TableCell(Text shown) : text(std::move(shown)) {}
  TableCell(std::string shown) : text(std::move(shown)) {}
  TableCell(const char* shown) : text(shown) {}
  TableCell(std::string shown, double value) : text(std::move(shown)), number(value) {}
};

struct TableBlock {
  std::string id;  ///< unique in the document; file name of its CSV: "results-test-f1"
  Text caption;    ///< a sentence: what the numbers are, over what, with which interval
  std::vector<Column> columns;
  std::vector<std::vector<TableCell>> rows;
  std::vector<Text> notes = {};  ///< under the table
};

struct Figure {
  std::string id;  ///< unique in the document
  Text caption;
  std::string alternative;  ///< the text for readers who cannot see it: what it shows, with its main numbers
  Chart chart;
};

using Block = std::variant<Paragraph, Notice, ItemList, Listing, TableBlock, Figure>;

struct Section {
  std::string id;  ///< "results"; unique in the document
  std::string title;
  std::vector<Block> blocks = {};
  std::vector<Section> sections = {};  ///< at most two levels deep
};

struct Document {
  std::string title;
  std::string subtitle = {};
  std::vector<std::pair<std::string, std::string>> facts =
      {};  ///< on the title page: "runs" "15 of 16 complete"
  std::vector<Block> abstract = {};
  std::vector<Section> sections = {};
};

}  // namespace encore::document
