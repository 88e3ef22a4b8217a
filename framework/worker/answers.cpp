// SPDX-License-Identifier: BSD-3-Clause
// answer_stream(): moves the original standard output to a new descriptor, and buffers what verbs write to
// it. main.cpp calls keep_answers_apart() first. Only answers may be written to the new descriptor, because
// exp parses it. Read answers.hpp first.
#include "worker/answers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <optional>
#include <streambuf>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/terminal_filter.hpp"
#include "world/atomic_file.hpp"
#include "world/file_descriptor.hpp"

namespace encore::worker {
namespace {

/// Writes full buffers. A flush passes everything to the system in one call.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(world::FileDescriptor descriptor) : descriptor_(std::move(descriptor)) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }

 private:
  int_type overflow(int_type letter) override {
    if (sync() != 0) return traits_type::eof();
    if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
    return sputc(traits_type::to_char_type(letter));
  }
  int sync() override {
    const char* next = pbase();
    while (next < pptr()) {
      const ssize_t count = ::write(descriptor_.get(), next, static_cast<std::size_t>(pptr() - next));
      if (count < 0 && errno != EINTR) return -1;
      if (count > 0) next += count;
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return 0;
  }

  world::FileDescriptor descriptor_;
  std::array<char, 1 << 16> buffer_;
};

std::ostream*& stream() {
  static std::ostream* answers = &std::cout;
  return answers;
}

}  // namespace

void keep_answers_apart() {
  world::FileDescriptor output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  // If there is no standard error, output of libraries is dropped. Both descriptors are then occupied, so
  // that no file that is opened later gets one of them, and with it that output.
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    world::FileDescriptor nowhere(::open("/dev/null", O_WRONLY));
    for (const int standard : {STDOUT_FILENO, STDERR_FILENO})
      if (nowhere.get() != standard) ::dup2(nowhere.get(), standard);
    if (nowhere.get() <= STDERR_FILENO) nowhere.release();
  }
  const bool is_terminal = ::isatty(output.get()) != 0;
  // Static, because a verb on one thread may write while another thread ends the process.
  static DescriptorBuffer buffer(std::move(output));
  static std::ostream answers(&buffer);
  // Labels and tokens of an untrusted model may contain control characters of a terminal.
  static std::optional<TerminalFilter> filter;
  if (is_terminal) filter.emplace(answers, false);
  stream() = &answers;
}

std::ostream& answer_stream() {
  return *stream();
}

void write_answer(const nlohmann::json& answer) {
  answer_stream() << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

/// A file under its temporary name, and the stream that it replaces.
struct AnswerFile::Output final : std::streambuf {
  explicit Output(const std::filesystem::path& path) : file(path), answers(this), before(stream()) {
    answers.exceptions(std::ios::badbit);  // an Error of the file reaches the verb
    stream() = &answers;
  }
  ~Output() override { stream() = before; }

  int_type overflow(int_type letter) override {
    if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
    const char byte = traits_type::to_char_type(letter);
    return xsputn(&byte, 1) == 1 ? letter : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    bytes.append(text, static_cast<std::size_t>(size));
    if (bytes.size() >= most_bytes) sync();
    return size;
  }
  int sync() override {
    file.write(bytes);
    bytes.clear();
    return 0;
  }

  static constexpr std::size_t most_bytes = 1 << 16;
  world::AtomicFile file;
  std::ostream answers;
  std::ostream* before;
  std::string bytes = {};
};

AnswerFile::AnswerFile(const std::filesystem::path& path)
    : output_(path.empty() ? nullptr : std::make_unique<Output>(path)) {}

AnswerFile::~AnswerFile() = default;

void AnswerFile::commit() {
  if (output_ == nullptr) return;
  output_->answers.flush();
  output_->file.commit();
}

void require_answers_written() {
  if (!answer_stream().flush())
    throw Error("the answer could not be written to the standard output: it was closed, or the disk is full");
}

}  // namespace encore::worker
