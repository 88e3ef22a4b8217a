// SPDX-License-Identifier: BSD-3-Clause
// ConnectionFlag gives one of SQLite's connection flags another value while it lives. After each change
// SQLite prepares every statement of the connection again, so it is worth its cost for bulk work only. Use it
// outside of transactions: inside, some flags cannot be changed.
#pragma once

#include <string>

#include "store/database.hpp"

namespace encore {

class ConnectionFlag {
 public:
  /// The flag must have the other value before.
  ConnectionFlag(Database& database, const std::string& name, bool on)
      : database_(database), name_(name), on_(on) {
    set(on);
  }
  ~ConnectionFlag() {
    try {
      set(!on_);
    } catch (const Error&) {
      // Setting a flag of the connection touches no file.
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

}  // namespace encore
