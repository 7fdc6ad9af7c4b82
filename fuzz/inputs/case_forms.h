// Inputs that are a case: in its byte form, or as the text of a case file.
#ifndef FUZZ_INPUTS_CASE_FORMS_H
#define FUZZ_INPUTS_CASE_FORMS_H

#include "fuzz/inputs/input_form.h"

namespace kvwitness::fuzz {

// The byte form: properties/case/case_bytes.cc.
extern const InputForm kCaseForm;
// The text of a case file; a short input may be a case's byte form instead.
extern const InputForm kCaseTextForm;

}  // namespace kvwitness::fuzz

#endif  // FUZZ_INPUTS_CASE_FORMS_H
