// A small file system in memory that a test fills.
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace encore::system_test {

class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& folder, const char* size = "size=2m") : folder_(folder) {
    std::filesystem::create_directories(folder);
    mounted = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, size) == 0;
  }
  ~SmallDisk() {
    if (mounted) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  /// Fills it to the last byte.
  void fill() const {
    std::ofstream file(folder_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void free() const { std::filesystem::remove(folder_ / "filler"); }

  bool mounted = false;  ///< false: only root may

 private:
  std::filesystem::path folder_;
};

}  // namespace encore::system_test
