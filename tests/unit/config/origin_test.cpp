// SPDX-License-Identifier: BSD-3-Clause
// Tests Origins (config/origin.hpp): the file, line and column from which each option of a run comes, by its
// dotted key. The worker reports an error with a key, and located() puts the place in front of the message.
// The JSON is stored with runs, so the names of sources must not change.
#include "config/origin.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace encore::config {
namespace {

const Origins sample = {
    {"model.layer.attention.heads", {Source::file, {"a.toml", 14, 9}}},
    {"model.layer.attention.type", {Source::sweep, {"a.toml", 13, 8}}},
    {"model.width", {Source::command_line, {"-S model.width=3", 0, 0}}},
    {"train.patience", {Source::fallback, {"dir:1/a.toml", 30, 1}}},
    {"train.x", {Source::fallback, {}}},
};

TEST(Origin, FindsTheOptionOrSomethingInItsTable) {
  EXPECT_EQ(located(sample, "model.layer.attention.heads", "no"), "a.toml:14:9: no");
  EXPECT_EQ(located(sample, "model.layer.attention", "no"), "a.toml:14:9: no");
  EXPECT_EQ(located(sample, "model.layer.attention.window", "no"), "a.toml:14:9: no");
  EXPECT_EQ(located(sample, "model.width", "no"), "-S model.width=3: no");
  EXPECT_EQ(located(sample, "optimizer.beta", "no"), "no");
  EXPECT_EQ(located(sample, "", "no"), "no");
}

TEST(Origin, ReadsBackFromJson) {
  const Origins back = origins_from_json(nlohmann::json::parse(origins_to_json(sample).dump()));
  ASSERT_EQ(back.size(), sample.size());
  for (const auto& [key, origin] : sample) {
    EXPECT_EQ(back.at(key).source, origin.source) << key;
    EXPECT_EQ(back.at(key).place.text(), origin.place.text()) << key;
    EXPECT_EQ(back.at(key).place.line, origin.place.line) << key;
  }
  EXPECT_EQ(origins_to_json(sample).at("model.width").dump(),
            R"({"at":"-S model.width=3","source":"command line"})");
}

TEST(Origin, RefusesAnUnknownSource) {
  EXPECT_THROW(origins_from_json({{"a", {{"source", "guess"}}}}), Error);
  EXPECT_THROW(origins_from_json({{"a", 3}}), Error);
  EXPECT_THROW(origins_from_json(nlohmann::json::array()), Error);
}

}  // namespace
}  // namespace encore::config
