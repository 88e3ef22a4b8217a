// SPDX-License-Identifier: BSD-3-Clause
// The rules of documents of several types, such as bills and reminders: each type has some of the fields and
// groups, and the checks that concern them. extract.cpp makes them from the options and takes the rules of
// the type that an earlier step or the data give. Experiment files have the notation, so a change of it must
// accept what it accepted before. Read next: rules.hpp, document_types.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <encore/options.hpp>

#include "rules.hpp"

namespace encore::extract {

/// The type of a document, and the probability of it.
struct DocumentType {
  std::string name;         ///< "": no step has decided it
  double confidence = 1.0;  ///< in [0, 1]
};

struct TypedRules {
  Rules all;                                   ///< with the fields and groups of all types
  std::map<std::string, Rules> of_types = {};  ///< empty: the documents have no types
  Rules of_unknown = {};                       ///< of documents with another type

  bool has_types() const { return !of_types.empty(); }
  /// Returns the rules of a type; without a type those of all documents.
  const Rules& of(const std::optional<DocumentType>& type) const;
};

/// Adds the options that typed_rules_in() reads in addition to those of rules_in().
void add_type_options(Schema& schema);
/// Throws OptionError for an invalid value, which the message names.
TypedRules typed_rules_in(const Options& options);

}  // namespace encore::extract
