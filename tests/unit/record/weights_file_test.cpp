// SPDX-License-Identifier: BSD-3-Clause
// Tests the weights file of a run (record/weights_file.hpp): it is read back as written, equal content gives
// equal bytes, and every changed byte is noticed, with the name of the tensor. Tensors that fill whole cache
// lines begin at one, because models for inference read them in place.
#include "record/weights_file.hpp"

#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::record {
namespace {

using testing::message_of;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

class WeightsFileTest : public ::testing::Test {
 protected:
  SavedFile save() {
    const auto tensor = [](const std::string& name, const std::vector<float>& values) {
      return TensorSlice{
          name, DType::float32, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span(values))};
    };
    return save_weights(folder_.path(),
                        {tensor("a.bias", few_), tensor("b.weight", line_), tensor("c", line_)},
                        {.question = "abc", .step = 40, .files = {{"labels.txt", "12"}}}, 2);
  }
  /// Flips the lowest bit of the byte at `place` from the end.
  void flip(std::size_t place) {
    std::string bytes = read_bytes(folder_ / weights_file);
    bytes[bytes.size() - place] = static_cast<char>(bytes[bytes.size() - place] ^ 1);
    write_bytes(folder_ / weights_file, bytes);
  }
  std::string refusal() {
    return message_of<Error>([&] { WeightsFile(folder_.path()).require_whole(2); });
  }

  TemporaryFolder folder_;
  std::vector<float> few_ = std::vector<float>(9, 0.25f), line_ = std::vector<float>(32, -1.5f);
};

TEST_F(WeightsFileTest, ReturnsWhatWasWritten) {
  const SavedFile saved = save();
  EXPECT_EQ(saved.sha256, sha256_of_file(folder_ / weights_file));
  const WeightsFile file(folder_.path());
  file.require_whole(1);
  EXPECT_EQ(file.facts().question, "abc");
  EXPECT_EQ(file.facts().step, 40);
  EXPECT_EQ(file.facts().files, (DigestsByName{{"labels.txt", "12"}}));
  const auto& bias = file.tensors().tensor("a.bias", DType::float32, {9});
  EXPECT_EQ(file.facts().tensors.at("a.bias"),
            sha256({reinterpret_cast<const char*>(bias.bytes.data()), bias.bytes.size()}));
}

TEST_F(WeightsFileTest, KeepsWhatWasTunedAndNothingWhereNothingWas) {
  save();
  const std::string without = read_bytes(folder_ / weights_file);
  EXPECT_EQ(WeightsFile(folder_.path()).facts().tuned, "");
  EXPECT_EQ(without.find("tuned"), std::string::npos);
  save_weights(folder_.path(), {}, {.question = "abc", .step = 40, .tuned = "0.25 joy\n"}, 1);
  EXPECT_EQ(WeightsFile(folder_.path()).facts().tuned, "0.25 joy\n");
}

TEST_F(WeightsFileTest, EqualContentGivesEqualBytes) {
  save();
  const std::string first = read_bytes(folder_ / weights_file);
  save();
  EXPECT_EQ(read_bytes(folder_ / weights_file), first);
}

TEST_F(WeightsFileTest, TensorsOfWholeCacheLinesBeginAtSuch) {
  save();
  const WeightsFile file(folder_.path());
  for (const char* name : {"b.weight", "c"})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.tensors().tensor(name).bytes.data()) % 64, 0u) << name;
}

TEST_F(WeightsFileTest, NamesTheTensorInWhichAByteChanged) {
  save();
  const std::string begin = (folder_ / weights_file).string() + ": tensor \"";
  const std::string end = "\" is damaged: its SHA-256 is not the one that was written with it";
  flip(1);  // that of 36 bytes is the last
  EXPECT_EQ(refusal(), begin + "a.bias" + end);
  flip(1);
  EXPECT_EQ(refusal(), "no error");
  flip(36 + 1);
  EXPECT_EQ(refusal(), begin + "c" + end);
}

TEST_F(WeightsFileTest, NoticesAnotherStepInItsHeader) {
  save();
  std::string bytes = read_bytes(folder_ / weights_file);
  const std::size_t at = bytes.find("step\\\":40");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 7] = '5';
  write_bytes(folder_ / weights_file, bytes);
  EXPECT_EQ(refusal(), (folder_ / weights_file).string() +
                           ": not a sound file of weights: the facts in its header are not those that were "
                           "written");
}

TEST_F(WeightsFileTest, RejectsAFileWithoutWeights) {
  const std::vector<float> values(4);
  save_safetensors(folder_ / weights_file, {{"a", DType::float32, {4}, std::as_bytes(std::span(values))}},
                   {{"format", "encore checkpoint 1"}});
  EXPECT_EQ(refusal(), (folder_ / weights_file).string() +
                           ": not a sound file of weights: its format is \"encore checkpoint 1\", not "
                           "\"encore weights 1\"");
  save();
  std::filesystem::resize_file(folder_ / weights_file, 1000);
  EXPECT_NE(refusal().find("not a sound safetensors file"), std::string::npos) << refusal();
}

TEST_F(WeightsFileTest, DoesNotExistIfItsWriterMayNotRenameIt) {
  EXPECT_THROW(save_weights(folder_.path(), {}, {}, 1, [] { throw Error("another owner"); }), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace encore::record
