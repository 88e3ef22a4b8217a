// SPDX-License-Identifier: BSD-3-Clause
// Document: the values that the spans of one document give, by the rules of the options. extract.cpp makes it
// from the spans of a model and, to fit and to measure, from the true labels; checks.cpp checks it. Its JSON
// is the answer of the step, which programs read, so names of members never change. Read next: document.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/records.hpp>

#include "document_types.hpp"
#include "rules.hpp"

namespace encore::extract {

/// The value of a field with its place.
struct Found {
  std::string text;                 ///< the span as it is in the document
  std::int64_t start = 0, end = 0;  ///< in code points of the document
  double confidence = 0.0;          ///< in [0, 1]
  Value value;
  std::vector<std::string> others = {};  ///< different values of other spans, in the order of the document
};

/// A field of a document by its rule; without `found` the document does not have it.
struct Field {
  FieldRule rule;
  std::optional<Found> found = {};
};

/// The members of one group, in the order of the rule.
using Group = std::vector<std::optional<Found>>;

struct Document {
  std::optional<DocumentType> type = {};  ///< none: the options name no types
  std::vector<Field> fields;
  std::vector<std::vector<Group>> groups;  ///< for each rule, in the order of the document

  /// Returns the least confidence of all values and of the type; 0 if there is no value.
  double confidence() const;
};

/// A check that did not hold.
struct Failure {
  std::string check;  ///< "type", "required total", "format date", "one value of total", or the equation
  std::string reason;
};

/// Returns the values of a document. Of several spans of a field the most probable one gives the value; of
/// equally probable ones the first in the document. The probability of a span is the least of its words.
Document document_of(std::span<const TextSpan> spans, const Rules& rules,
                     const std::optional<DocumentType>& type = {});

/// Returns the spans of words with a label each: IOB2 and BIOES tags, or bare labels, of which equal ones
/// that follow each other are one span. "O", "" and "(cut)" are outside of spans. `scores` has the
/// probability of each label, or is empty. Offsets are those of the words in `text` if it has them all, in
/// order; otherwise those of the words with one blank between them. Throws Error if the lists have different
/// lengths.
std::vector<TextSpan> spans_of(const std::vector<std::string>& words, const std::vector<std::string>& labels,
                               std::span<const double> scores, std::string_view text);

/// Returns the checks that do not hold, in the order: type, required, format, one value, equations.
std::vector<Failure> failures_of(const Document& document, const Rules& rules);

/// Returns whether a value of an answer is right: it equals the true one, or another true value of the field.
bool is_right(const std::optional<Found>& given, const std::optional<Found>& truth);
bool is_right(const Group& given, const Group& truth);
/// Returns whether the type, all fields and all groups are right, and none is missing or too much.
bool is_right(const Document& given, const Document& truth);

/// Returns the document as JSON. `band` is that of the step.
std::string json_of(const Document& document, const Rules& rules, const std::vector<Failure>& failures,
                    const std::string& band);

}  // namespace encore::extract
