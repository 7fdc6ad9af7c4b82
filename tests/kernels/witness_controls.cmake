# Positive controls of the witness kernels: each synchronisation left out in turn must be reported, and the intact kernels must not be.
set(scenarios block-scatter block-apply block-witnesses warp-scatter warp-apply warp-witnesses witnesses-above-64)
set(collectives "${kvwitness_SOURCE_DIR}/kernels/include/kvwitness/witness.cuh")
set(kernels "${kvwitness_SOURCE_DIR}/kernels/src/kernels.cuh")

# kvwitness_add_witness_program(NAME SANITIZER DEFINITION...)
function(kvwitness_add_witness_program name sanitizer)
  if(NOT sanitizer STREQUAL "none")
    list(APPEND ARGN KVWITNESS_ASSERTIONS=1)
  endif()
  kvwitness_add_simt_program(${name} witness_schedules.cu SANITIZER ${sanitizer} DEFINES ${ARGN} LIBRARIES kvwitness_kernels)
endfunction()

# Intact: thousands of schedules.
foreach(sanitizer none thread address)
  kvwitness_add_witness_program(witness_intact_${sanitizer} ${sanitizer})
endforeach()
foreach(scenario IN LISTS scenarios)
  kvwitness_add_simt_control(${scenario}.intact.none PROGRAM witness_intact_none EXPECT clean ARGUMENTS ${scenario} --schedules 2000)
  kvwitness_add_simt_control(${scenario}.intact.thread PROGRAM witness_intact_thread EXPECT clean ARGUMENTS ${scenario} --schedules 200)
  kvwitness_add_simt_control(${scenario}.intact.address PROGRAM witness_intact_address EXPECT clean ARGUMENTS ${scenario} --schedules 100)
endforeach()

# The reduction by shuffles, for GPUs before sm_80.
kvwitness_add_witness_program(witness_shuffles_thread thread KVWITNESS_SHUFFLE_REDUCTION=1)
foreach(scenario block-apply warp-scatter)
  kvwitness_add_simt_control(${scenario}.shuffles.thread PROGRAM witness_shuffles_thread EXPECT clean ARGUMENTS ${scenario} --schedules 50)
endforeach()

# The block barrier of BlockWitness::combine.
foreach(sanitizer none thread)
  kvwitness_add_witness_program(witness_omit_1_${sanitizer} ${sanitizer} KVWITNESS_OMIT_SYNCHRONISATION=1)
endforeach()
foreach(scenario block-scatter block-apply block-witnesses)
  kvwitness_add_simt_control(${scenario}.no-barrier.thread PROGRAM witness_omit_1_thread ARGUMENTS ${scenario}
    EXPECT race AT "${collectives}" TAG "storage_.occupied_by_warp")
  kvwitness_add_simt_control(${scenario}.no-barrier.none PROGRAM witness_omit_1_none ARGUMENTS ${scenario} EXPECT wrong)
endforeach()

# The warp synchronisation of WarpWitness::combine: lanes read the row, others write witnesses into it. (Witness indices go to other memory, and
# need only the reduction.)
kvwitness_add_witness_program(witness_omit_2_thread thread KVWITNESS_OMIT_SYNCHRONISATION=2)
foreach(scenario warp-scatter warp-apply)
  kvwitness_add_simt_control(${scenario}.no-warp-barrier.thread PROGRAM witness_omit_2_thread ARGUMENTS ${scenario}
    EXPECT race AT "${kernels}" TAG "out[slot] = token")
endforeach()

# The block barrier of write_witness_indices, between the edges and the marks on them.
foreach(sanitizer none thread)
  kvwitness_add_witness_program(witness_omit_3_${sanitizer} ${sanitizer} KVWITNESS_OMIT_SYNCHRONISATION=3)
endforeach()
kvwitness_add_simt_control(witnesses-above-64.no-barrier.thread PROGRAM witness_omit_3_thread ARGUMENTS witnesses-above-64
  EXPECT race AT "${collectives}" TAG "witnesses[segment] = s < partition")
kvwitness_add_simt_control(witnesses-above-64.no-barrier.none PROGRAM witness_omit_3_none ARGUMENTS witnesses-above-64 EXPECT wrong)

# One storage for all rows of a block, where two are used in turn.
kvwitness_add_witness_program(witness_one_storage_thread thread KVWITNESS_ROW_STORAGES=1)
foreach(scenario block-scatter block-apply block-witnesses)
  kvwitness_add_simt_control(${scenario}.one-storage.thread PROGRAM witness_one_storage_thread ARGUMENTS ${scenario}
    EXPECT race AT "${collectives}" TAG "storage_.occupied_by_warp")
endforeach()

# A top-k kernel of one's own with the pass fused into it.
foreach(sanitizer_schedules none.1000 thread.100)
  cmake_path(GET sanitizer_schedules STEM sanitizer)
  cmake_path(GET sanitizer_schedules EXTENSION schedules)
  string(SUBSTRING "${schedules}" 1 -1 schedules)
  kvwitness_add_simt_program(fused_topk_${sanitizer} fused_topk.cu SANITIZER ${sanitizer} LIBRARIES kvwitness_kernels)
  kvwitness_add_simt_control(fused-topk.${sanitizer} PROGRAM fused_topk_${sanitizer} EXPECT clean ARGUMENTS --schedules ${schedules})
endforeach()
