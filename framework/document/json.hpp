// SPDX-License-Identifier: BSD-3-Clause
// Writes a document as JSON, with every number in full precision, also those that a picture shows. `exp
// report --format json` (cli/report_formats.cpp) calls it; tests compare two documents by it. Programs read
// the fields, so none is renamed.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "document/document.hpp"

namespace encore::document {

/// A text is written as its plain characters; if some are marked, `spans` stands beside `text`. Numbers that
/// are not finite are "nan", "inf" and "-inf", because JSON itself cannot hold them.
nlohmann::ordered_json document_json(const Document& document);

/// Returns document_json() as text that ends with a line feed. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Document& document);

}  // namespace encore::document
