// SPDX-License-Identifier: BSD-3-Clause
// ConnectionFlag sets one of SQLite's connection flags and restores it in its destructor. add_runs.cpp and
// merge.cpp use it to skip checks during bulk work. SQLite prepares every statement of the connection again
// after each change, so it is too slow for few rows. Use it outside of transactions: inside, some flags
// cannot be changed.
#pragma once

#include <string>

#include "store/database.hpp"

namespace encore::store {

class ConnectionFlag {
 public:
  /// The flag must have the opposite value now.
  ConnectionFlag(Database& database, const std::string& name, bool on)
      : database_(database), name_(name), on_(on) {
    set(on);
  }
  ~ConnectionFlag() {
    try {
      set(!on_);
    } catch (const Error&) {
      // Nothing can fail here: setting a flag touches no file.
    }
  }
  ConnectionFlag(const ConnectionFlag&) = delete;
  ConnectionFlag& operator=(const ConnectionFlag&) = delete;

 private:
  void set(bool on) { database_.execute("PRAGMA " + name_ + (on ? " = ON" : " = OFF")); }

  Database& database_;
  const std::string name_;
  const bool on_;
};

}  // namespace encore::store
