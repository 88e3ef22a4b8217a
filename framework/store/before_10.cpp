// See before_10.hpp.
#include "store/before_10.hpp"

#include "store/newest.hpp"

namespace encore {

void fill_version_10(Database& database) {
  // The sentence by which versions 6 to 9 knew such a trial.
  database.execute(
      "UPDATE search_trial SET excluded = 1 WHERE problem = 'excluded by \"exclude\" of [search]'");
  refresh_newest(database);
}

}  // namespace encore
