// Holds the write lock of a database for some milliseconds: lock-database FILE MILLISECONDS.
#include <sqlite3.h>

#include <chrono>
#include <cstdlib>
#include <thread>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  sqlite3* database = nullptr;
  if (sqlite3_open_v2(argv[1], &database, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) return 1;
  sqlite3_busy_timeout(database, 5000);
  if (sqlite3_exec(database, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr) != SQLITE_OK) return 1;
  std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(argv[2])));
  return sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK ? 0 : 1;
}
