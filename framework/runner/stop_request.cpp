// See stop_request.hpp.
#include "runner/stop_request.hpp"

#include <string>
#include <system_error>

#include "record/atomic_file.hpp"

namespace encore {

namespace {

std::filesystem::path request_file(const std::filesystem::path& run_folder, int attempt) {
  return run_folder / ("stop-" + std::to_string(attempt));
}

}  // namespace

void request_stop(const std::filesystem::path& run_folder, int attempt) {
  save_file(request_file(run_folder, attempt), "stop\n");
}

bool stop_requested(const std::filesystem::path& run_folder, int attempt) {
  std::error_code unreadable;
  return std::filesystem::exists(request_file(run_folder, attempt), unreadable);
}

void forget_stop_requests_before(const std::filesystem::path& run_folder, int attempt) {
  std::error_code absent;
  for (int earlier = 1; earlier < attempt; ++earlier)
    std::filesystem::remove(request_file(run_folder, earlier), absent);
}

}  // namespace encore
