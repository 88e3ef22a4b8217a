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

}  // namespace

void request_stop(const std::filesystem::path& run_folder) {
  save_file(run_folder / stop_file, "stop\n");
}

bool stop_requested(const std::filesystem::path& run_folder) {
  std::error_code unreadable;
  return std::filesystem::exists(run_folder / stop_file, unreadable);
}

void forget_stop_request(const std::filesystem::path& run_folder) {
  std::error_code absent;
  std::filesystem::remove(run_folder / stop_file, absent);
}

StopSign::StopSign(std::filesystem::path file) : file_(std::move(file)), before_(content_of(file_)) {}

bool StopSign::raised() const {
  std::error_code unreadable;
  return std::filesystem::exists(file_, unreadable) && content_of(file_) != before_;
}

void StopSign::raise(const std::filesystem::path& file) {
  std::random_device source;
  std::filesystem::create_directories(file.parent_path());
  save_file(file, std::to_string(source()) + "-" + std::to_string(source()) + "\n");
}

std::filesystem::path stop_sign_of_sweep(const std::filesystem::path& runs, std::int64_t sweep) {
  return runs / ("stop-sweep-" + std::to_string(sweep));
}

std::filesystem::path stop_sign_of_all(const std::filesystem::path& runs) {
  return runs / "stop-all";
}

}  // namespace encore
