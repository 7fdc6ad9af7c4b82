// At the end of a run: what each property's and each implementation's result is, and why where it is none.
#ifndef PROPERTIES_RUN_CONCLUSION_H
#define PROPERTIES_RUN_CONCLUSION_H

#include "properties/run/run_context.h"

namespace kvwitness::harness {

// Completes the results of the context's runs, and notes an implementation that served next to nothing.
void conclude_results(RunContext& context);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_CONCLUSION_H
