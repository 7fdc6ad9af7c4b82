# The witness kernels under many schedules: the intact ones, of which nothing must be reported, and those of witness_mutants.cmake.
set(scenarios block-scatter block-apply block-witnesses block-scatter-alone block-apply-long block-scatter-random warp-scatter warp-apply warp-witnesses
  warp-scatter-alone warp-apply-long warp-scatter-random witnesses-above-64 witnesses-above-64-alone)

# kvwitness_add_witness_program(NAME SANITIZER DEFINITION...)
function(kvwitness_add_witness_program name sanitizer)
  if(NOT sanitizer STREQUAL "none")
    list(APPEND ARGN KVWITNESS_ASSERTIONS=1)
  endif()
  kvwitness_add_simt_program(${name} witness_schedules.cu SANITIZER ${sanitizer} DEFINES ${ARGN} LIBRARIES kvwitness_kernels)
endfunction()

# Intact: some thousand schedules.
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

# A top-k kernel of one's own with the pass fused into it.
foreach(sanitizer_schedules none.1000 thread.100)
  cmake_path(GET sanitizer_schedules STEM sanitizer)
  cmake_path(GET sanitizer_schedules EXTENSION schedules)
  string(SUBSTRING "${schedules}" 1 -1 schedules)
  kvwitness_add_simt_program(fused_topk_${sanitizer} fused_topk.cu SANITIZER ${sanitizer} LIBRARIES kvwitness_kernels)
  kvwitness_add_simt_control(fused-topk.${sanitizer} PROGRAM fused_topk_${sanitizer} EXPECT clean ARGUMENTS --schedules ${schedules})
endforeach()

include(witness_mutants.cmake)
