// What a program leaves behind: processes whose parents have ended.
#ifndef TESTS_CLI_LEFTOVERS_H
#define TESTS_CLI_LEFTOVERS_H

#include <string>
#include <vector>

namespace kvwitness::harness {

// From its making on, processes that lose their parents among this process's descendants become its children.
class Leftovers {
 public:
  Leftovers();
  ~Leftovers();
  Leftovers(const Leftovers&) = delete;
  Leftovers& operator=(const Leftovers&) = delete;

  // The command lines of those that do not end by themselves within some seconds, once the programs under test have
  // ended. Ends them.
  std::vector<std::string> end_all();
};

}  // namespace kvwitness::harness

#endif  // TESTS_CLI_LEFTOVERS_H
