#include "record/check_request.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

namespace encore {
namespace {

Specification specification(int width, double rate) {
  Specification result;
  result.config = {{"task", {{"type", "ner"}}},
                   {"data", {{"max_length", 8}}},
                   {"tokenizer", {{"type", "word"}}},
                   {"model", {{"width", width}}},
                   {"optimizer", {{"type", "adam"}, {"learning_rate", rate}}},
                   {"schedule", {{"type", "constant"}}},
                   {"train", {{"epochs", 1}}}};
  result.data["train"] = {"train.conll", "0a"};
  result.plugin_folders = {"plugins"};
  return result;
}

TEST(CheckRequest, ComesBackAsItWasSent) {
  const Specification first = specification(8, 0.1), second = specification(16, 0.1);
  CheckRequest sent;
  EXPECT_TRUE(sent.add(first));
  EXPECT_TRUE(sent.add(second));
  const CheckRequest got = CheckRequest::parse(sent.text());
  ASSERT_EQ(got.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Specification found = got.specification(got.run(i));
    const Specification& wanted = i == 0 ? first : second;
    EXPECT_EQ(found.config, wanted.config);
    EXPECT_EQ(found.data.at("train").path, "train.conll");
    EXPECT_EQ(found.data.at("train").sha256, "0a");
    EXPECT_EQ(found.plugin_folders, wanted.plugin_folders);
  }
}

TEST(CheckRequest, AsksOnceForWhatRunsShare) {
  CheckRequest request;
  EXPECT_TRUE(request.add(specification(8, 0.1)));
  EXPECT_FALSE(request.add(specification(8, 0.1)));
  EXPECT_TRUE(request.add(specification(8, 0.2)));
  EXPECT_TRUE(request.add(specification(16, 0.1)));
  EXPECT_FALSE(request.add(specification(16, 0.2))) << "width and rate were each asked about";
  EXPECT_EQ(request.size(), 3u);
}

TEST(CheckRequest, ATextThatIsNoRequestIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"parts": [], "runs": [{}]})"}) {
    try {
      CheckRequest::parse(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("the request on standard input cannot be read"),
                std::string::npos);
    }
  }
}

}  // namespace
}  // namespace encore
