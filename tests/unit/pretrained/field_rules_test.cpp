// SPDX-License-Identifier: BSD-3-Clause
// Tests the table of rules in pretrained/field_rules.cpp, which says how each member of the files of a
// Hugging Face folder is treated: it must have every member that `transformers` reads
// (pretrained_fields.json, which tests/golden/make_pretrained_fields.py writes), it equals
// docs/reference/pretrained_fields.md, and settings_of() follows it. A member that a newer `transformers`
// reads needs a new rule; a rule may become stricter, and none may become "ignored".
#include "pretrained/field_rules.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "support/places.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::pretrained {
namespace {

using nlohmann::json;
using Notices = std::vector<std::string>;

std::string text_of(const std::string& file) {
  std::ifstream in(ENCORE_SOURCE_DIR + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

Notices notices_of(const char* file, const char* family, const json& object) {
  Notices notices;
  check_fields(file, file, family, object, notices);
  return notices;
}

std::string problem_of(const char* file, const char* family, const json& object) {
  return testing::message_of<Error>([&] { notices_of(file, family, object); });
}

TEST(FieldRules, HaveEveryMemberThatTransformersReads) {
  const json made = json::parse(text_of("/tests/golden/pretrained_fields.json"));
  int members = 0;
  for (const auto& [family, files] : made.at("fields").items())
    for (const auto& [file, names] : files.items())
      for (const json& name : names) {
        EXPECT_NE(find_rule(file, family, name.get<std::string>()), nullptr)
            << family << ", " << file << ": " << name;
        ++members;
      }
  EXPECT_GT(members, 500);
}

TEST(FieldRules, AreTheTablesOfThePage) {
  const std::string page = text_of("/docs/reference/pretrained_fields.md");
  for (const char* file : files_with_rules()) {
    const std::string section = "## `" + std::string(file) + "`\n\n" + field_table(file);
    EXPECT_NE(page.find(section), std::string::npos) << "docs/reference/pretrained_fields.md should hold\n"
                                                     << section;
  }
}

/// The first matching rule is taken, so a rule after another one for the same member would never be found.
TEST(FieldRules, AreAllFound) {
  for (const char* file : files_with_rules())
    for (const FieldRule& rule : field_rules(file)) {
      std::istringstream families(*rule.families == '\0' ? "bert distilbert roberta gpt2 bart marian t5"
                                                         : rule.families);
      for (std::string family; families >> family;)
        EXPECT_EQ(find_rule(file, family, rule.name), &rule)
            << file << ": " << rule.name << " of a " << family;
    }
}

/// Every rule that rejects or names a value does so, and accepts the values that it names.
TEST(FieldRules, AreKept) {
  int refusals = 0, named = 0;
  for (const char* file : files_with_rules())
    for (const FieldRule& rule : field_rules(file)) {
      const std::string families = *rule.families == '\0' ? "bert" : rule.families;
      const std::string family = families.substr(0, families.find(' '));
      const json other = {{rule.name, "something else"}};
      SCOPED_TRACE(std::string(file) + ": " + rule.name + " of a " + family);
      if (rule.use == FieldUse::equal || rule.use == FieldUse::named) {
        for (const json& value : json::parse(rule.accepted))
          EXPECT_EQ(notices_of(file, family.c_str(), {{rule.name, value}}), Notices());
        EXPECT_EQ(notices_of(file, family.c_str(), {{rule.name, nullptr}}), Notices());
      }
      if (rule.use == FieldUse::equal || rule.use == FieldUse::same) {
        ++refusals;
        EXPECT_NE(problem_of(file, family.c_str(), other).find(rule.name), std::string::npos);
      } else if (rule.use == FieldUse::named) {
        ++named;
        EXPECT_EQ(notices_of(file, family.c_str(), other).size(), 1U);
      } else {
        EXPECT_EQ(notices_of(file, family.c_str(), other), Notices());
      }
    }
  EXPECT_GT(refusals, 40);
  EXPECT_GT(named, 30);
}

TEST(FieldRules, SayWhatIsWrong) {
  EXPECT_EQ(problem_of("config.json", "bert", {{"position_embedding_type", "relative_key"}}),
            "config.json: position_embedding_type is \"relative_key\", which is not supported; it must be "
            "\"absolute\"");
  EXPECT_EQ(problem_of("config.json", "distilbert", {{"dim", 8}, {"hidden_size", 16}}),
            "config.json: hidden_size is 16, and dim, which it is another name for, is 8; give both the same "
            "value");
  EXPECT_EQ(notices_of("config.json", "bert", {{"unheard_of", 1}, {"zeal", 2}}),
            Notices{"config.json: unheard_of, zeal: unknown, and not taken over"});
  EXPECT_EQ(notices_of("generation_config.json", "t5", {{"num_beams", 4}}),
            Notices{"generation_config.json: num_beams is 4 and is not taken over"});
  EXPECT_EQ(notices_of("config.json", "bert", {{"num_beams", 4}}), Notices());
}

}  // namespace
}  // namespace encore::pretrained
