// The C ABI as a table of functions, so that a target can be given another one.
#ifndef FUZZ_C_FUNCTIONS_C_ABI_H
#define FUZZ_C_FUNCTIONS_C_ABI_H

#include <kvwitness/kvwitness.h>

#include "kernels/src/plan.h"

namespace kvwitness::fuzz {

struct CAbi {
  decltype(&kvw_last_error) last_error;
  decltype(&kvw_witness_indices) witness_indices;
  decltype(&kvw_apply) apply;
  decltype(&kvw_scatter) scatter;
  decltype(&kvw_scatter_strided) scatter_strided;
  decltype(&kvw_segment_of) segment_of;
  decltype(&kvw_context_lens_from_windows) context_lens_from_windows;
  decltype(&kvw_context_lens_from_requests) context_lens_from_requests;
  decltype(&kvw_segments_from_environment) segments_from_environment;
  decltype(&kvw_random_null) random_null;
  decltype(&kvw_locality_null) locality_null;
  decltype(&kvw_select_mask_random) select_mask_random;
  decltype(&kvw_select_mask_local) select_mask_local;
  decltype(&kvw_segment_coverage) segment_coverage;
  decltype(&kvw_attention_mass_recall) attention_mass_recall;
  decltype(&kvw_backend) backend;
  decltype(&kvw_set_backend) set_backend;
  decltype(&kernels::last_error) cuda_last_error;
  decltype(&kernels::plan_witness_indices) plan_witness_indices;
  decltype(&kernels::plan_apply) plan_apply;
  decltype(&kernels::plan_scatter) plan_scatter;
};

inline constexpr CAbi kTheCAbi = {kvw_last_error,
                                  kvw_witness_indices,
                                  kvw_apply,
                                  kvw_scatter,
                                  kvw_scatter_strided,
                                  kvw_segment_of,
                                  kvw_context_lens_from_windows,
                                  kvw_context_lens_from_requests,
                                  kvw_segments_from_environment,
                                  kvw_random_null,
                                  kvw_locality_null,
                                  kvw_select_mask_random,
                                  kvw_select_mask_local,
                                  kvw_segment_coverage,
                                  kvw_attention_mass_recall,
                                  kvw_backend,
                                  kvw_set_backend,
                                  kernels::last_error,
                                  kernels::plan_witness_indices,
                                  kernels::plan_apply,
                                  kernels::plan_scatter};

}  // namespace kvwitness::fuzz

#endif  // FUZZ_C_FUNCTIONS_C_ABI_H
