// SPDX-License-Identifier: BSD-3-Clause
// Tests the table of routes (serve/routes.hpp): docs/reference/serving_api.md and the OpenAPI document equal
// it. ENCORE_WRITE_DOCUMENTS=1 writes the page again after a change of the table.
#include "serve/routes.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "support/places.hpp"

namespace encore::serve {
namespace {

TEST(Routes, ThePageEqualsTheTable) {
  const std::string file = ENCORE_SOURCE_DIR "/docs/reference/serving_api.md";
  if (std::getenv("ENCORE_WRITE_DOCUMENTS") != nullptr)
    std::ofstream(file, std::ios::binary) << routes_page();
  std::ifstream in(file, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), routes_page())
      << "run this test with ENCORE_WRITE_DOCUMENTS=1";
}

TEST(Routes, TheDocumentForProgramsHasEachRouteWithItsMembers) {
  const auto document = nlohmann::json::parse(openapi_document("1.2.3"));
  EXPECT_EQ(document.at("info").at("version"), "1.2.3");
  std::size_t operations = 0;
  for (const auto& [path, methods] : document.at("paths").items()) operations += methods.size();
  EXPECT_EQ(operations, routes().size());
  for (const Route& route : routes()) {
    const auto& operation =
        document.at("paths").at(route.path).at(std::string(route.method) == "POST" ? "post" : "get");
    EXPECT_EQ(operation.at("summary"), route.summary);
    EXPECT_EQ(operation.contains("security"), !route.open) << route.path;
    if (route.fields.empty()) continue;
    const auto& schema = operation.at("requestBody").at("content").at("application/json").at("schema");
    EXPECT_EQ(schema.at("properties").size(), route.fields.size());
    nlohmann::json required = nlohmann::json::array();
    for (const RouteField& field : route.fields)
      if (field.required) required.push_back(field.name);
    EXPECT_EQ(schema.at("required"), required);
    EXPECT_TRUE(operation.at("responses").contains("429"));
  }
}

}  // namespace
}  // namespace encore::serve
