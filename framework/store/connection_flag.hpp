// ConnectionFlag: another value of one of SQLite's connection flags for as long as this lives. To change one
// has SQLite prepare every statement of the connection anew when it is used next, so this pays for work in
// bulk only. Outside of transactions: within one, some flags cannot be changed.
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
