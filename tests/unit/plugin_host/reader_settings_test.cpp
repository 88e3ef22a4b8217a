// SPDX-License-Identifier: BSD-3-Clause
// Tests settings_that_give() and reader_remedy() (plugin_host/reader_settings.hpp): if records lack a field
// that a task needs, options of the reader with few values are tried one by one until the reader gives all
// fields. The message then names the option to set. The words may change; the named option must be one that
// helps.
#include "plugin_host/reader_settings.hpp"

#include <gtest/gtest.h>

#include "plugin_host/default_options.hpp"

namespace encore::plugin_host {
namespace {

/// Gives `number` where `kind` asks for it and the file has a digit, `label` otherwise, and `text` unless
/// `bare`.
class Choosy final : public Reader {
 public:
  static Schema options() {
    return Schema()
        .choice("kind", "name", {"name", "number"}, {.help = "what a label is"})
        .text("column", "1", {.help = "column of the text"})
        .boolean("bare", false, {.help = "leave out the text"});
  }
  static std::vector<std::string> fields() { return {"text", "label"}; }
  static std::vector<OptionalField> optional_fields() { return {{"number", "kind", "number"}}; }
  Choosy(const Options& options, const ReaderContext&)
      : number_(options.text("kind") == "number"), bare_(options.flag("bare")) {}

  Records read(std::span<const InputText> files, const std::string&) const override {
    Records records;
    const bool digit = files.front().text.find_first_of("0123456789") != std::string_view::npos;
    if (number_ && !digit) throw Error("no number");
    if (number_)
      records.add("number", Records::Numbers{1});
    else
      records.add("label", Records::Texts{"1"});
    if (!bare_) records.add("text", Records::Texts{"a film"});
    return records;
  }

 private:
  bool number_, bare_;
};

TEST(ReaderSettings, FindTheOptionThatGivesAllFields) {
  Registrar registrar;
  registrar.add<Kind::reader, Choosy>("choosy");
  const Offer reader = registrar.offers().front();
  const Options usual = default_options(reader.options);
  const auto remedy = [&](const Options& options, std::string_view text,
                          const std::vector<std::string>& fields) {
    const InputText file{.name = "a.tsv", .text = text};
    return reader_remedy(reader, settings_that_give(reader, options, {&file, 1}, fields));
  };
  const std::string listed =
      "the options of reader \"choosy\" decide what it gives (\"exp plugin info choosy\" lists them)";
  EXPECT_EQ(remedy(usual, "3", {"text", "number"}), "set data.kind = \"number\"");
  EXPECT_EQ(remedy(usual, "good", {"text", "number"}), listed) << "the file has no number";
  EXPECT_EQ(remedy(usual, "3", {"text", "source"}), listed);
  Options bare = usual;
  bare.set("bare", true);
  EXPECT_EQ(remedy(bare, "3", {"text", "label"}), "set data.bare = false");
  EXPECT_EQ(remedy(bare, "3", {"text", "number"}), listed) << "two options would have to change";
  EXPECT_TRUE(settings_that_give(reader, usual, {}, {"number"}).empty()) << "nothing to try without files";
}

}  // namespace
}  // namespace encore::plugin_host
