// SPDX-License-Identifier: BSD-3-Clause
// Tests sha256_of_content() (pretrained/content_hash.hpp), the content hash of a path in an option. For a
// folder it depends on the files that are read, and on nothing else. The hash is part of the identity of
// runs, so it must not change.
#include "pretrained/content_hash.hpp"

#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "unit/pretrained/tiny_folder.hpp"

namespace encore::pretrained {
namespace {

using testing::TinyFolder;

TEST(ContentHash, OfAFileIsThatOfItsBytes) {
  const TinyFolder folder;
  EXPECT_EQ(sha256_of_content(folder / "vocab.txt"), sha256_of_file(folder / "vocab.txt"));
}

TEST(ContentHash, OfAFolderCountsWhatIsReadAndNothingElse) {
  const TinyFolder folder;
  const std::string before = sha256_of_content(folder.path());
  EXPECT_EQ(before.size(), 64U);
  EXPECT_EQ(sha256_of_bytes_of_content(folder.path()), before);
  folder.write("README.md", "a model card");
  folder.write("tokenizer.json", "is not read beside vocab.txt");
  EXPECT_EQ(sha256_of_content(folder.path()), before);
  for (const char* name : {"config.json", "model.safetensors", "vocab.txt"}) {
    const std::string content = testing::read_bytes(folder / name);
    folder.write(name, content + " ");
    EXPECT_NE(sha256_of_content(folder.path()), before) << name;
    folder.write(name, content);
  }
  EXPECT_EQ(sha256_of_content(folder.path()), before);
  folder.write("tokenizer_config.json", "{}");
  EXPECT_NE(sha256_of_content(folder.path()), before);
}

TEST(ContentHash, DoesNotDependOnWhereTheFolderLies) {
  const TinyFolder a, b;
  EXPECT_EQ(sha256_of_content(a.path()), sha256_of_content(b.path()));
}

TEST(ContentHash, RefusesAFolderThatHoldsNoModel) {
  const testing::TemporaryFolder empty;
  EXPECT_EQ(
      testing::message_of<Error>([&] { sha256_of_content(empty.path()); }),
      empty.path().string() +
          " has no config.json; a Hugging Face folder holds config.json, model.safetensors and vocab.txt");
}

}  // namespace
}  // namespace encore::pretrained
