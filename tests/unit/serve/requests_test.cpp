// SPDX-License-Identifier: BSD-3-Clause
// Tests the group of a request (serve/requests.hpp): a short name that the monitor stores. What clients send
// there reaches tables and commands, so every other value must be refused.
#include "serve/requests.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "serve/refusal.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::serve {
namespace {

const Route& route_to(RouteWork work) {
  return *std::ranges::find(routes(), work, &Route::work);
}

std::string group_of(const nlohmann::json& group) {
  return parse_request(route_to(RouteWork::predict), nlohmann::json{{"inputs", "a"}, {"group", group}}.dump(),
                       {})
      .group;
}

TEST(Requests, AGroupIsAShortName) {
  EXPECT_EQ(group_of("acme"), "acme");
  EXPECT_EQ(group_of("Bäckerei Süd"), "Bäckerei Süd");
  EXPECT_EQ(group_of(nullptr), "");
  EXPECT_EQ(parse_request(route_to(RouteWork::predict), R"({"inputs": "a"})", {}).group, "");
  EXPECT_EQ(group_of(std::string(64, 'a')).size(), 64U);
  for (const nlohmann::json& wrong : {nlohmann::json(""), nlohmann::json(std::string(65, 'a')),
                                      nlohmann::json("a\nb"), nlohmann::json("\x1b[31m"), nlohmann::json(3)})
    EXPECT_NE(testing::message_of<Refusal>([&] { group_of(wrong); }).find("\"group\""), std::string::npos)
        << wrong;
}

TEST(Requests, OnlyAnswersHaveAGroup) {
  const std::string why = testing::message_of<Refusal>(
      [] { parse_request(route_to(RouteWork::embeddings), R"({"input": "a", "group": "acme"})", {}); });
  EXPECT_NE(why.find("unknown member \"group\""), std::string::npos) << why;
}

}  // namespace
}  // namespace encore::serve
