# What small CUDA files of other people use, each by the documented route: a file that is served compiles and passes under some schedules,
# and under ThreadSanitizer where it has threads that meet; a file that is refused fails to compile with one error, which names the feature.
# kernels/simt/README.md has a row for each; the test simt.strangers.readme compares.

set(strangers "${CMAKE_CURRENT_SOURCE_DIR}/strangers")
set_property(DIRECTORY PROPERTY kvwitness_strangers "")

# kvwitness_add_stranger(NAME [THREAD]): strangers/NAME.cu is served.
function(kvwitness_add_stranger name)
  set_property(DIRECTORY APPEND PROPERTY kvwitness_strangers ${name}.cu)
  kvwitness_add_simt_test("${strangers}/${name}.cu" NAME simt.strangers.${name} LABELS simt SCHEDULES 12)
  if(KVWITNESS_SANITIZE STREQUAL "coverage")
    kvwitness_sanitize(simt.strangers.${name})
  endif()
  if("THREAD" IN_LIST ARGN)
    kvwitness_add_simt_test("${strangers}/${name}.cu" NAME simt.strangers.${name}.thread SANITIZER thread LABELS simt SCHEDULES 4)
  endif()
endfunction()

# kvwitness_add_reported_stranger(NAME FILE REPORT [SANITIZER thread] [DEFINES ...]): the program of strangers/FILE.cu ends with REPORT, a
# regular expression, and an exit status other than 0.
function(kvwitness_add_reported_stranger name file report)
  set(program simt.strangers.${name})
  kvwitness_add_simt_test("${strangers}/${file}.cu" NAME ${program} NO_TEST ${ARGN})
  get_target_property(launcher ${program} CROSSCOMPILING_EMULATOR)
  if(NOT launcher)
    set(launcher "")
  endif()
  add_test(NAME ${program} COMMAND "${CMAKE_COMMAND}" "-DREPORT=${report}" -P "${strangers}/reported.cmake" -- ${launcher}
    $<TARGET_FILE:${program}>)
  set_tests_properties(${program} PROPERTIES LABELS simt ENVIRONMENT KVWITNESS_SIMT_SCHEDULES=12)
endfunction()

# kvwitness_add_refused_stranger(NAME WORDS): strangers/refused/NAME.cu does not compile, and the one error holds "kvwitness simt: WORDS".
function(kvwitness_add_refused_stranger name words)
  set_property(DIRECTORY APPEND PROPERTY kvwitness_strangers "refused/${name}.cu")
  set(directories "$<TARGET_PROPERTY:kvwitness::simt,INTERFACE_INCLUDE_DIRECTORIES>")
  add_test(NAME simt.strangers.refused.${name} COMMAND "${CMAKE_COMMAND}" "-DTRANSLATE=$<TARGET_FILE:kvwitness::simt_translate>"
    "-DSOURCE=${strangers}/refused/${name}.cu" "-DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/strangers/${name}.cu.cc"
    "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DDIRECTORIES=${directories}" "-DCCCL=${KVWITNESS_CCCL_DIR}" "-DWORDS=${words}"
    -P "${strangers}/refused.cmake")
  set_tests_properties(simt.strangers.refused.${name} PROPERTIES LABELS simt)
endfunction()

foreach(name launch host_memory symbols launch_errors streams device_printf qualifiers conversions integers lanes clock dynamic_at_file_scope
        shared_spellings groups_coalesced fp16 bf16)
  kvwitness_add_stranger(${name})
endforeach()
foreach(name two_streams scoped_atomics barrier_by_number groups_block groups_tile histogram)
  kvwitness_add_stranger(${name} THREAD)
endforeach()
kvwitness_add_reported_stranger(histogram_by_activemask histogram "missing lane|mask mismatch" DEFINES BY_ACTIVEMASK)
kvwitness_add_reported_stranger(fault_ignored fault_ignored "fault_ignored.cu:8: .*out of bounds")
kvwitness_add_reported_stranger(launch_in_a_kernel launch_in_a_kernel "kernels that launch kernels are not served.*launch_in_a_kernel.cu:6")
kvwitness_add_reported_stranger(outside_of_a_kernel outside_of_a_kernel "a device function was called outside of a kernel")
kvwitness_add_reported_stranger(two_streams_without_event two_streams "data race.*two_streams.cu" SANITIZER thread DEFINES WITHOUT_EVENT)
kvwitness_add_stranger(null_kernel)

if(KVWITNESS_CCCL_DIR)
  kvwitness_add_stranger(cuda_std)
  foreach(name cuda_atomic cub_scan cub_reduce cub_select)
    kvwitness_add_stranger(${name} THREAD)
  endforeach()
  kvwitness_add_reported_stranger(cuda_atomic_relaxed cuda_atomic "data race.*cuda_atomic.cu" SANITIZER thread DEFINES WITHOUT_ORDER)
  kvwitness_add_reported_stranger(cub_reduce_without_barrier cub_reduce "data race" SANITIZER thread DEFINES WITHOUT_BARRIER)
  kvwitness_add_refused_stranger(cub_device "CUB's device-wide algorithms are not served \\(DeviceReduce\\)")
endif()

kvwitness_add_refused_stranger(textures "textures are not served \\(cudaTextureObject_t\\)")
kvwitness_add_refused_stranger(surfaces "surfaces are not served \\(cudaSurfaceObject_t\\)")
kvwitness_add_refused_stranger(clusters "thread block clusters are not served \\(__cluster_dims__\\)")
kvwitness_add_refused_stranger(cluster_groups "thread block clusters are not served \\(this_cluster\\)")
kvwitness_add_refused_stranger(grid_barrier "barriers of a whole grid \\(grid_group::sync\\) are not served")
kvwitness_add_refused_stranger(wide_tiles "tiles of more than 32 threads are not served")
kvwitness_add_refused_stranger(labeled_partition "groups by label \\(labeled_partition\\) are not served")
kvwitness_add_refused_stranger(group_copies "asynchronous copies \\(cooperative_groups::memcpy_async\\) are not served")
kvwitness_add_refused_stranger(tensor_cores "tensor cores \\(wmma, <mma.h>\\) are not served")
kvwitness_add_refused_stranger(async_copies "asynchronous copies \\(<cuda_pipeline.h>\\) are not served")
kvwitness_add_refused_stranger(pipelines "pipelines \\(<cuda/pipeline>\\) are not served")
kvwitness_add_refused_stranger(split_barriers "split barriers \\(<cuda/barrier>\\) are not served")
kvwitness_add_refused_stranger(small_floats "formats of 8 bits \\(<cuda_fp8.h>\\) are not served")
kvwitness_add_refused_stranger(random_numbers "cuRAND \\(<curand_kernel.h>\\) is not served")
kvwitness_add_refused_stranger(ptx "inline PTX \\(asm\\) is not served")
kvwitness_add_refused_stranger(shared_addresses "addresses of shared memory for PTX \\(__cvta_generic_to_shared\\) are not served")
kvwitness_add_refused_stranger(cub_device_header "CUB's device-wide algorithms \\(<cub/device/device_radix_sort.cuh>\\) are not served")
kvwitness_add_refused_stranger(thrust "Thrust \\(<thrust/device_vector.h>\\) is not served")
kvwitness_add_refused_stranger(barrier_of_part "barriers of a part of a block \\(__barrier_sync_count\\) are not served")
kvwitness_add_refused_stranger(old_shuffle "__shfl_down without a mask is not served")
kvwitness_add_refused_stranger(graphs "CUDA graphs are not served \\(cudaGraph_t\\)")
kvwitness_add_refused_stranger(cooperative_launch "cooperative launches \\(cudaLaunchCooperativeKernel\\) are not served")
kvwitness_add_refused_stranger(launch_by_pointer "cudaLaunchKernel is not served")
kvwitness_add_refused_stranger(not_a_kernel "what stands before <<<>>> is no kernel, or takes other arguments")
kvwitness_add_refused_stranger(returns_a_value "what stands before <<<>>> is no kernel: a kernel returns void")
kvwitness_add_refused_stranger(launch_of_no_kernel "what is launched is no kernel")

get_property(files DIRECTORY PROPERTY kvwitness_strangers)
add_test(NAME simt.strangers.readme COMMAND "${CMAKE_COMMAND}" "-DREADME=${kvwitness_SOURCE_DIR}/kernels/simt/README.md"
  "-DFOLDER=${strangers}" "-DTABLE=${strangers}/strangers.cmake" -P "${strangers}/readme.cmake")
set_tests_properties(simt.strangers.readme PROPERTIES LABELS simt)
