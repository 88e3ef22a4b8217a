// SPDX-License-Identifier: BSD-3-Clause
// Bounds the work for foreign model folders: config.json and the files of tokenizers, read as a plan reads
// them (pretrained/folder_settings.hpp, data/vocabulary.hpp), and for writing ONNX files. It calls
// expect_linear() of linear.hpp.
#include "bounds/inputs.hpp"
#include "bounds/linear.hpp"
#include "data/vocabulary.hpp"
#include "onnx_graph/onnx_file.hpp"
#include "pretrained/folder_settings.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "unit/pretrained/tiny_folder.hpp"

namespace encore::bounds {
namespace {

using testing::TemporaryFolder;
using testing::TinyFolder;
using testing::write_bytes;

/// The limits cover the tree of the JSON and, beside it, the tokens as strings.
constexpr double model_memory = 200.0, model_steps = 2000.0;

/// A vocabulary: the name and text of its file, and of a file that must lie beside it, if there is one.
struct Files {
  std::string name, text;
  std::string beside_name = {}, beside = {};
};
std::size_t bytes_of(const Files& files) {
  return files.text.size() + files.beside.size();
}

void read_vocabulary(const Files& files) {
  TemporaryFolder folder;
  write_bytes(folder / files.name, files.text);
  if (!files.beside_name.empty()) write_bytes(folder / files.beside_name, files.beside);
  data::load_vocabulary(folder / files.name);
}

std::string tokens_json(std::size_t n) {
  return R"({"[UNK]":0)" +
         repeated(n, [](std::size_t i) { return numbered(",\"a", i) + "\":" + std::to_string(i + 1); }) + "}";
}

TEST(VocabularyFileBounds, ManyLines) {
  expect_linear(
      {8000, model_steps, model_memory},
      [](std::size_t n) {
        return Files{"vocab.txt",
                     "[UNK]\n" + repeated(n, [](std::size_t i) { return numbered("a", i) + "\n"; })};
      },
      read_vocabulary);
}

TEST(VocabularyFileBounds, AnotherNumberForEachToken) {
  expect_linear(
      {8000, model_steps, model_memory},
      [](std::size_t n) {
        return Files{"vocab.json", tokens_json(n), "merges.txt", "#version: 0.2\n"};
      },
      read_vocabulary);
}

TEST(VocabularyFileBounds, NumbersWithoutTokens) {
  expect_linear(
      {8000, model_steps, model_memory, Outcome::refused},
      [](std::size_t n) {
        return Files{
            "vocab.json",
            "{" + joined(n, [](std::size_t i) { return numbered("\"a", i) + numbered("\":9", i); }) + "}",
            "merges.txt", ""};
      },
      read_vocabulary);
}

TEST(VocabularyFileBounds, ManyMerges) {
  expect_linear(
      {8000, model_steps, model_memory},
      [](std::size_t n) {
        return Files{
            "vocab.json", R"({"[UNK]":0})", "merges.txt",
            "#version: 0.2\n" + repeated(n, [](std::size_t i) { return numbered("a b", i) + "\n"; })};
      },
      read_vocabulary);
}

TEST(VocabularyFileBounds, ManyAddedTokens) {
  expect_linear(
      {4000, model_steps, model_memory},
      [](std::size_t n) {
        return Files{"tokenizer.json",
                     R"({"model":{"vocab":{"[UNK]":0},"merges":[)" +
                         joined(n, [](std::size_t i) { return numbered("[\"a\",\"b", i) + "\"]"; }) +
                         R"(]},"added_tokens":[)" +
                         joined(n,
                                [](std::size_t i) {
                                  return R"({"content":)" + numbered("\"a", i) +
                                         numbered("\",\"id\":", i + 1) + "}";
                                }) +
                         "]}"};
      },
      read_vocabulary);
}

/// A small file may ask for many rows by "vocab_size", and each row becomes a token.
TEST(VocabularyFileBounds, RowsThatASmallFileSays) {
  expect_linear(
      {1000, model_steps, model_memory, Outcome::refused},
      [](std::size_t n) {
        return Files{"spiece.model", repeated(n, "\x0a\x07\x0a\x05<unk>"), "config.json",
                     R"({"vocab_size":9999999})"};
      },
      read_vocabulary);
}

/// Returns a whole folder whose file `name` has the content `text`.
Files folder_with(const std::string& name, const std::string& text) {
  return {name, text};
}
void read_folder(const Files& files) {
  const TinyFolder folder;
  folder.write(files.name, files.text);
  pretrained::settings_of(pretrained::open_hugging_face_folder(folder.path()));
}

std::string config_with(const std::string& member) {
  std::string text = TinyFolder::config().dump();
  text.pop_back();
  return text + "," + member + "}";
}

TEST(FolderBounds, ManyUnknownMembersOfTheConfiguration) {
  expect_linear(
      {4000, model_steps, model_memory},
      [](std::size_t n) {
        return folder_with("config.json",
                           config_with(joined(n, [](std::size_t i) { return numbered("\"a", i) + "\":0"; })));
      },
      read_folder);
}

TEST(FolderBounds, ManyLabels) {
  expect_linear(
      {4000, model_steps, model_memory},
      [](std::size_t n) {
        return folder_with("config.json", config_with(R"("id2label":{)" +
                                                      joined(n,
                                                             [](std::size_t i) {
                                                               return "\"" + std::to_string(i) +
                                                                      numbered("\":\"a", i) + "\"";
                                                             }) +
                                                      "}"));
      },
      read_folder);
}

TEST(FolderBounds, ManyUnknownMembersOfTheTokenizer) {
  expect_linear(
      {4000, model_steps, model_memory},
      [](std::size_t n) {
        return folder_with("tokenizer_config.json",
                           "{" + joined(n, [](std::size_t i) { return numbered("\"a", i) + "\":0"; }) + "}");
      },
      read_folder);
}

TEST(FolderBounds, ManyAddedTokensOfTheTokenizer) {
  expect_linear(
      {2000, model_steps, model_memory, Outcome::refused},
      [](std::size_t n) {
        return folder_with("added_tokens.json", "{" + joined(n, [](std::size_t i) {
                                                  return numbered("\"a", i) + numbered("\":", i + 6);
                                                }) + "}");
      },
      read_folder);
}

TEST(FolderBounds, ManyAddedTokensWithFlags) {
  expect_linear(
      {2000, model_steps, model_memory, Outcome::refused},
      [](std::size_t n) {
        return folder_with(
            "tokenizer_config.json",
            R"({"added_tokens_decoder":{)" + joined(n, [](std::size_t i) {
              return "\"" + std::to_string(i + 6) + R"(":{"content":)" + numbered("\"a", i) +
                     R"(","lstrip":false,"rstrip":false,"normalized":false,"single_word":false,"special":false})";
            }) + "}}");
      },
      read_folder);
}

TEST(FolderBounds, ManySpecialTokens) {
  expect_linear(
      {4000, model_steps, model_memory, Outcome::refused},
      [](std::size_t n) {
        return folder_with("special_tokens_map.json",
                           R"({"additional_special_tokens":[)" +
                               joined(n, [](std::size_t i) { return numbered("\"a", i) + "\""; }) + "]}");
      },
      read_folder);
}

TEST(FolderBounds, ManyPartsOfAPipeline) {
  expect_linear(
      {4000, model_steps, model_memory, Outcome::refused},
      [](std::size_t n) {
        return folder_with("tokenizer.json",
                           R"({"normalizer":{"type":"Sequence","normalizers":[)" +
                               repeated(n, R"({"type":"NFC"},)") +
                               R"({"type":"NFC"}]},"model":{"type":"WordPiece","vocab":{"[UNK]":0}}})");
      },
      read_folder);
}

// --- files of ONNX: Encore only writes them, with names of modules and classes that come from outside ---

/// Returns a model with a node, a constant, an input and metadata for each name.
onnx_graph::OnnxModel model_with(const std::vector<std::string>& names) {
  onnx_graph::OnnxModel model;
  for (const std::string& name : names) {
    model.constants.push_back({.name = name,
                               .type = onnx_graph::OnnxType::float32,
                               .shape = {1},
                               .bytes = std::vector<std::byte>(4)});
    model.nodes.push_back(
        {.name = name, .operation = "Add", .inputs = {name, name}, .outputs = {name}, .attributes = {}});
    model.inputs.push_back(
        {.name = name, .type = onnx_graph::OnnxType::int64, .shape = {OnnxGraph::batch, 1}});
    model.metadata[name] = name;
  }
  return model;
}

void write_onnx(const std::vector<std::string>& names) {
  TemporaryFolder folder;
  const onnx_graph::OnnxModel model = model_with(names);
  for (const onnx_graph::OnnxWeights weights :
       {onnx_graph::OnnxWeights::inside, onnx_graph::OnnxWeights::beside})
    onnx_graph::save_onnx(folder / "", model, weights);
}

TEST(OnnxBounds, ManyNames) {
  expect_linear(
      {4000, 4000.0, 400.0},
      [](std::size_t n) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < n; ++i) names.push_back(numbered("encoder.", i));
        return names;
      },
      write_onnx);
}

TEST(OnnxBounds, OneLongName) {
  expect_linear(
      {100000, 4000.0, 400.0}, [](std::size_t n) { return std::vector<std::string>{repeated(n, "a")}; },
      write_onnx);
}

}  // namespace
}  // namespace encore::bounds
