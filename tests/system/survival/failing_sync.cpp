// SPDX-License-Identifier: BSD-3-Clause
// A library for disk_test.cpp, preloaded into a worker: the first fdatasync of a spool that ends with the
// word "completed" fails, as on a disk that dies at the last moment. The run must then not be called
// completed.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <string>

extern "C" int fdatasync(int descriptor) {
  static bool failed = false;
  char name[4096] = {}, tail[200] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const bool spool =
      ::readlink(link.c_str(), name, sizeof name - 1) > 0 && std::string(name).ends_with(".spool");
  const off_t end = spool ? ::lseek(descriptor, 0, SEEK_END) : 0;
  if (!failed && end > 200 && ::pread(descriptor, tail, sizeof tail, end - 200) == 200 &&
      std::string(tail, sizeof tail).find("\"completed\"") != std::string::npos) {
    failed = true;
    errno = EIO;
    return -1;
  }
  return reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fdatasync"))(descriptor);
}
