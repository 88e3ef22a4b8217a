// SPDX-License-Identifier: BSD-3-Clause
// Tests InputFile (base/input_file.hpp), by which both programs open every file that a user names. Regular
// files are read whole. Pipes, devices, sockets and folders must be rejected without waiting, because a pipe
// may never be filled and a device may never end; so must files above a limit.
#include "base/input_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "unit/record/temporary_folder.hpp"

namespace encore {
namespace {

using testing::message_of;
using testing::TemporaryFolder;
using testing::write_bytes;

/// Returns the message with which a file is rejected; `most` is the limit of its bytes.
std::string refusal(const std::filesystem::path& path, std::size_t most = 1000) {
  return message_of<UnreadableFile>([&] { read_file(path, most); });
}

TEST(InputFile, GivesAllBytes) {
  const TemporaryFolder folder;
  const std::string bytes = std::string(200000, 'x') + '\0' + "end";
  write_bytes(folder / "a", bytes);
  write_bytes(folder / "empty", "");
  EXPECT_EQ(read_file(folder / "a"), bytes);
  EXPECT_EQ(read_file(folder / "a", bytes.size()), bytes);
  EXPECT_EQ(read_file(folder / "empty"), "");
  EXPECT_EQ(InputFile(folder / "a").size(), bytes.size());
  std::filesystem::create_symlink(folder / "a", folder / "link");
  EXPECT_EQ(read_file(folder / "link"), bytes);
}

TEST(InputFile, ReadsFilesOfUnknownSize) {
  EXPECT_NE(read_file("/proc/self/status").find("VmRSS"), std::string::npos);
  EXPECT_EQ(refusal("/proc/self/status", 10),
            "cannot read /proc/self/status: it is longer than the 10 bytes that such a file may have");
}

TEST(InputFile, NeitherWaitsForAPipeNorReadsADevice) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(folder / "pipe"),
            "cannot read " + (folder / "pipe").string() +
                ": it is a pipe, which may never end; write what comes through it to a file, and name that");
  EXPECT_EQ(refusal("/dev/zero"), "cannot read /dev/zero: it is a device, which may never end; name a file");
  std::filesystem::create_symlink("/dev/zero", folder / "link");
  EXPECT_NE(refusal(folder / "link").find("it is a device"), std::string::npos);
}

TEST(InputFile, RejectsFoldersSocketsAndMissingFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal(folder.path()),
            "cannot read " + folder.path().string() + ": it is a folder; name a file");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (folder / "socket").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_NE(refusal(folder / "socket").find("it is a socket; name a file"), std::string::npos);
  ::close(socket);
  try {
    read_file(folder / "none");
    FAIL();
  } catch (const UnreadableFile& error) {
    EXPECT_TRUE(error.missing());
    EXPECT_EQ(error.why(), "there is no such file; check the path and the folder it is relative to");
  }
}

TEST(InputFile, RejectsAFileThatIsTooLong) {
  const TemporaryFolder folder;
  write_bytes(folder / "a", std::string(1001, 'x'));
  EXPECT_EQ(refusal(folder / "a"), "cannot read " + (folder / "a").string() +
                                       ": it is longer than the 1000 bytes that such a file may have");
  write_bytes(folder / "b", "");
  std::filesystem::resize_file(folder / "b", (std::uintmax_t{4} << 20) + 1);
  EXPECT_EQ(
      refusal(folder / "b", std::size_t{4} << 20),
      "cannot read " + (folder / "b").string() + ": it is longer than the 4 MiB that such a file may have");
}

TEST(InputFile, SaysSoWhereTheMemoryIsTooSmall) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer ends a program that asks for too much";
#endif
  const TemporaryFolder folder;
  write_bytes(folder / "huge", "");
  std::error_code failure;
  std::filesystem::resize_file(folder / "huge", std::uintmax_t{1} << 43,
                               failure);  // a hole needs no disk space
  if (failure) GTEST_SKIP() << "the file system has no files of 8 TiB: " << failure.message();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit low = before;
  low.rlim_cur = rlim_t{1} << 40;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &low), 0);
  const std::string message = message_of<UnreadableFile>([&] { read_file(folder / "huge"); });
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(message, "cannot read " + (folder / "huge").string() +
                         ": its 8796093022208 bytes do not fit into the memory");
}

}  // namespace
}  // namespace encore
