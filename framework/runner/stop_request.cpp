// See stop_request.hpp.
#include "runner/stop_request.hpp"

#include <fstream>
#include <iterator>
#include <random>
#include <system_error>

#include "record/atomic_file.hpp"

namespace encore {

namespace {

constexpr const char* stop_file = "stop";

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string word_of(StopWish wish) {
  return wish == StopWish::kill ? "kill\n" : "stop\n";
}

/// Whatever else stands in a file that asks, it asks to stop.
StopWish wish_in(const std::string& content) {
  return content.starts_with("kill") ? StopWish::kill : StopWish::checkpoint;
}

}  // namespace

void request_stop(const std::filesystem::path& run_folder, StopWish wish) {
  save_file(run_folder / stop_file, word_of(wish));
}

StopWish requested_stop(const std::filesystem::path& run_folder) {
  std::error_code unreadable;
  const std::filesystem::path file = run_folder / stop_file;
  return std::filesystem::exists(file, unreadable) ? wish_in(content_of(file)) : StopWish::none;
}

void forget_stop_request(const std::filesystem::path& run_folder) {
  std::error_code absent;
  std::filesystem::remove(run_folder / stop_file, absent);
}

StopSign::StopSign(std::filesystem::path file) : file_(std::move(file)), before_(content_of(file_)) {}

StopWish StopSign::raised() const {
  std::error_code unreadable;
  if (!std::filesystem::exists(file_, unreadable)) return StopWish::none;
  const std::string content = content_of(file_);
  return content == before_ ? StopWish::none : wish_in(content);
}

void StopSign::raise(const std::filesystem::path& file, StopWish wish) {
  std::random_device source;
  std::filesystem::create_directories(file.parent_path());
  save_file(file, word_of(wish) + std::to_string(source()) + "-" + std::to_string(source()) + "\n");
}

std::filesystem::path stop_sign_of_sweep(const std::filesystem::path& runs, std::int64_t sweep) {
  return runs / ("stop-sweep-" + std::to_string(sweep));
}

std::filesystem::path stop_sign_of_all(const std::filesystem::path& runs) {
  return runs / "stop-all";
}

}  // namespace encore
