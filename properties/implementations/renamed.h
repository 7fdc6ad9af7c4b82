// An implementation under another name.
#ifndef PROPERTIES_IMPLEMENTATIONS_RENAMED_H
#define PROPERTIES_IMPLEMENTATIONS_RENAMED_H

#include <memory>
#include <string>
#include <utility>

#include "properties/case/implementation.h"

namespace kvwitness::harness {

// For two of one name, which could not be told apart in a report.
class RenamedImplementation final : public ForwardingImplementation {
 public:
  RenamedImplementation(std::unique_ptr<Implementation> wrapped, std::string name)
      : ForwardingImplementation(*wrapped), wrapped_(std::move(wrapped)), name_(std::move(name)) {}

  std::string name() const override { return name_; }

 private:
  std::unique_ptr<Implementation> wrapped_;
  std::string name_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_IMPLEMENTATIONS_RENAMED_H
