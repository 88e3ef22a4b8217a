// A document as JSON, with every number in full precision, also those behind a picture. Place in the flow:
// `exp report --format json`, and tests that ask whether two documents are equal.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "document/document.hpp"

namespace encore {

/// Texts are their plain characters; where some are marked, `spans` stands beside `text`. Numbers that are
/// not finite are "nan", "inf" and "-inf", which JSON itself cannot hold.
nlohmann::ordered_json document_json(const Document& document);

/// The same as text that ends with a line feed. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Document& document);

}  // namespace encore
