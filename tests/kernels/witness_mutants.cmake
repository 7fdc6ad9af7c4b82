# Controls of the witness kernels: each of their synchronisations left out, weakened, moved or taken from one lane in turn. Each must be found by
# the scenario that is named for it, whatever else finds it too. Two more changes were tried and change nothing, so that there is no control for
# them: the warp synchronisation before the warp's reduction instead of behind it, and empty rows that skip WarpWitness::combine.

set(witness_mutants "${CMAKE_CURRENT_BINARY_DIR}/witness_mutants")
set(witness_file kvwitness/witness.cuh)
set(witness_source "${kvwitness_SOURCE_DIR}/kernels/include/${witness_file}")
set(kernels_file kernels/src/kernels.cuh)
set(kernels_source "${kvwitness_SOURCE_DIR}/${kernels_file}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${witness_source}" "${kernels_source}")

# kvwitness_add_witness_mutant(NAME FILE witness|kernels FROM text TO text EXPECT expectation SCENARIOS scenario...
#                              [AT witness|kernels TAG text] [DEFINES definition...] [PROGRAM file.cu])
#
# A copy of the file in which FROM, which must be there once, is TO; the program with it before the file itself; and a control for each scenario.
# A race is looked for under ThreadSanitizer, at a line of AT that holds TAG; all else without.
function(kvwitness_add_witness_mutant name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILE;FROM;TO;EXPECT;AT;TAG;PROGRAM" "SCENARIOS;DEFINES")
  file(READ "${${arg_FILE}_source}" text)
  string(FIND "${text}" "${arg_FROM}" first)
  string(FIND "${text}" "${arg_FROM}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "witness mutant ${name}: this is not in ${${arg_FILE}_source} once:\n${arg_FROM}")
  endif()
  string(REPLACE "${arg_FROM}" "${arg_TO}" text "${text}")
  set(folder "${witness_mutants}/${name}")
  set(copy "${folder}/${${arg_FILE}_file}")
  file(GENERATE OUTPUT "${copy}" CONTENT "${text}")

  set(sanitizer none)
  if(arg_EXPECT STREQUAL "race")
    set(sanitizer thread)
  endif()
  if(NOT DEFINED arg_PROGRAM)
    set(arg_PROGRAM witness_schedules.cu)
  endif()
  string(REPLACE "." "_" program "witness_mutant_${name}")
  kvwitness_add_simt_program(${program} ${arg_PROGRAM} SANITIZER ${sanitizer} DEFINES ${arg_DEFINES} LIBRARIES kvwitness_kernels)
  target_include_directories(${program} BEFORE PRIVATE "${folder}")
  set(place "")
  if(arg_EXPECT STREQUAL "race")
    set(place AT "${${arg_AT}_source}" TAG "${arg_TAG}")
    if(arg_AT STREQUAL arg_FILE)
      set(place AT "${copy}" TAG "${arg_TAG}")
    endif()
  endif()
  foreach(scenario IN LISTS arg_SCENARIOS)
    set(arguments ${scenario})
    if(NOT arg_PROGRAM STREQUAL "witness_schedules.cu")
      set(arguments "")
    endif()
    kvwitness_add_simt_control(${scenario}.${name} PROGRAM ${program} ARGUMENTS ${arguments} EXPECT "${arg_EXPECT}" ${place})
  endforeach()
endfunction()

# every_lane(OUT scenario): scenario@0 to scenario@31.
function(every_lane out scenario)
  set(all "")
  foreach(lane RANGE 31)
    list(APPEND all "${scenario}@${lane}")
  endforeach()
  set(${out} "${all}" PARENT_SCOPE)
endfunction()
set(block_scenarios block-scatter block-apply block-witnesses)

# --- the block barrier of BlockWitness::combine, between a warp's store and all warps' loads ---------------------------------------------

set(stores [[
    if (threadIdx.x % 32u == 0) {
      storage_.occupied_by_warp[threadIdx.x / 32u] = of_warp;
    }
]])
set(loads [[
    std::uint64_t of_block = 0;
    KVWITNESS_UNROLL
    for (int warp = 0; warp < kWarps; ++warp) {
      of_block |= storage_.occupied_by_warp[warp];
    }
]])
set(barrier "    __syncthreads();\n")
set(shared AT witness TAG "storage_.occupied_by_warp")
foreach(expectation race wrong)
  kvwitness_add_witness_mutant(no-barrier.${expectation} FILE witness FROM "${stores}${barrier}" TO "${stores}" EXPECT ${expectation} ${shared}
    SCENARIOS ${block_scenarios})
endforeach()
kvwitness_add_witness_mutant(warp-barrier FILE witness FROM "${stores}${barrier}" TO "${stores}    __syncwarp();\n" EXPECT race ${shared}
  SCENARIOS ${block_scenarios} block-scatter-alone)
kvwitness_add_witness_mutant(early-barrier FILE witness FROM "${stores}${barrier}" TO "${barrier}${stores}" EXPECT race ${shared}
  SCENARIOS ${block_scenarios} block-scatter-alone)
kvwitness_add_witness_mutant(late-barrier FILE witness FROM "${barrier}${loads}" TO "${loads}${barrier}" EXPECT race ${shared}
  SCENARIOS ${block_scenarios} block-scatter-alone)
kvwitness_add_witness_mutant(first-warp-barrier FILE witness FROM "${barrier}${loads}" TO "    if (threadIdx.x < 32u) __syncthreads();\n${loads}"
  EXPECT "divergence at a barrier" SCENARIOS ${block_scenarios} block-scatter-alone)
every_lane(lanes block-scatter-alone)
kvwitness_add_witness_mutant(barrier-but-for-a-lane FILE witness FROM "${barrier}${loads}"
  TO "    if (threadIdx.x % 32u != left_out_lane) __syncthreads();\n${loads}" EXPECT "divergence at a barrier" SCENARIOS ${lanes})
kvwitness_add_witness_mutant(first-warp-store FILE witness FROM "${stores}"
  TO "    if (threadIdx.x == 0) storage_.occupied_by_warp[0] = of_warp;\n" EXPECT wrong SCENARIOS ${block_scenarios})
kvwitness_add_witness_mutant(last-warp-unread FILE witness FROM "for (int warp = 0; warp < kWarps; ++warp) {"
  TO "for (int warp = 0; warp < kWarps - 1; ++warp) {" EXPECT wrong SCENARIOS ${block_scenarios})
kvwitness_add_witness_mutant(no-warp-reduction FILE witness FROM "const std::uint64_t of_warp = device::warp_or(this->occupied_);"
  TO "const std::uint64_t of_warp = this->occupied_;" EXPECT wrong SCENARIOS ${block_scenarios})

# The storages of a block's rows, and the rows that have no combine.
kvwitness_add_witness_mutant(one-storage FILE kernels FROM "merge_row<Witness, kCopies>(call, row, storages[turn]);"
  TO "merge_row<Witness, kCopies>(call, row, storages[0]);" EXPECT race ${shared}
  SCENARIOS block-scatter block-apply)
kvwitness_add_witness_mutant(one-storage-of-indices FILE kernels FROM "indices_row<Witness>(call, row, storages[turn]);"
  TO "indices_row<Witness>(call, row, storages[0]);" EXPECT race ${shared}
  SCENARIOS block-witnesses)
kvwitness_add_witness_mutant(empty-rows-skip-it FILE kernels FROM "witness.combine();\n  witness.emit("
  TO "if (context_len > 0) witness.combine();\n  witness.emit(" EXPECT race ${shared}
  SCENARIOS block-scatter block-apply)
kvwitness_add_witness_mutant(empty-indices-skip-it FILE kernels FROM "witness.combine();\n  witness.emit_segments("
  TO "if (context_len > 0) witness.combine();\n  witness.emit_segments(" EXPECT race ${shared}
  SCENARIOS block-witnesses)

# --- the reductions of a warp -------------------------------------------------------------------------------------------------------------

set(reduction "return __reduce_or_sync(kAllLanes, word);")
set(every "")
foreach(scenario block-scatter warp-scatter)
  every_lane(lanes ${scenario})
  list(APPEND every ${lanes})
endforeach()
kvwitness_add_witness_mutant(reduction-but-for-a-lane FILE witness FROM "${reduction}"
  TO "return threadIdx.x % 32u == left_out_lane ? word : __reduce_or_sync(~(1u << left_out_lane), word);" EXPECT wrong SCENARIOS ${every})
kvwitness_add_witness_mutant(reduction-of-halves FILE witness FROM "${reduction}"
  TO "return __reduce_or_sync(threadIdx.x % 32u < 16u ? 0xFFFFu : 0xFFFF0000u, word);" EXPECT wrong
  SCENARIOS ${block_scenarios} warp-scatter warp-apply warp-witnesses)
kvwitness_add_witness_mutant(reduction-without-its-caller FILE witness FROM "${reduction}" TO "return __reduce_or_sync(0x7FFFFFFFu, word);"
  EXPECT "mask mismatch" SCENARIOS block-scatter warp-scatter)
kvwitness_add_witness_mutant(high-word-alone FILE witness FROM "return (high << 32) | warp_or(static_cast<std::uint32_t>(mask));"
  TO "return (high << 32) | static_cast<std::uint32_t>(mask);" EXPECT wrong SCENARIOS block-scatter warp-scatter)
kvwitness_add_witness_mutant(low-word-alone FILE witness FROM "const std::uint64_t high = warp_or(static_cast<std::uint32_t>(mask >> 32));"
  TO "const std::uint64_t high = mask >> 32;" EXPECT wrong SCENARIOS block-scatter warp-scatter)

# By shuffles: each distance left out, and a mask that lacks a caller.
set(shuffles DEFINES KVWITNESS_SHUFFLE_REDUCTION=1 SCENARIOS block-scatter warp-scatter)
foreach(distance 16 8 4 2 1)
  kvwitness_add_witness_mutant(no-shuffle-by-${distance} FILE witness FROM "word |= __shfl_xor_sync(kAllLanes, word, distance);"
    TO "if (distance != ${distance}) word |= __shfl_xor_sync(kAllLanes, word, distance);" EXPECT wrong ${shuffles})
endforeach()
kvwitness_add_witness_mutant(shuffle-without-its-caller FILE witness FROM "word |= __shfl_xor_sync(kAllLanes, word, distance);"
  TO "word |= __shfl_xor_sync(0x7FFFFFFFu, word, distance);" EXPECT "mask mismatch" ${shuffles})

# --- the warp synchronisation of WarpWitness::combine: lanes read the row, others write witnesses into it ----------------------------------
# (Witness indices go to other memory, and need only the reduction.)

set(reduces "    occupied_ = device::warp_or(occupied_);\n")
set(synchronises "${reduces}    __syncwarp();")
set(row_stores AT kernels TAG "out[slot] = token")
set(row_scenarios warp-scatter warp-apply warp-scatter-alone)
kvwitness_add_witness_mutant(no-warp-barrier FILE witness FROM "${synchronises}" TO "${reduces}" EXPECT race ${row_stores}
  SCENARIOS ${row_scenarios})
kvwitness_add_witness_mutant(self-barrier FILE witness FROM "${synchronises}" TO "${reduces}    __syncwarp(1u << threadIdx.x % 32u);"
  EXPECT race ${row_stores} SCENARIOS ${row_scenarios})
kvwitness_add_witness_mutant(barrier-of-halves FILE witness FROM "${synchronises}"
  TO "${reduces}    __syncwarp(threadIdx.x % 32u < 16u ? 0xFFFFu : 0xFFFF0000u);" EXPECT race ${row_stores} SCENARIOS ${row_scenarios})
kvwitness_add_witness_mutant(barrier-of-every-other-lane FILE witness FROM "${synchronises}"
  TO "${reduces}    __syncwarp(threadIdx.x % 2u == 0 ? 0x55555555u : 0xAAAAAAAAu);" EXPECT race ${row_stores} SCENARIOS ${row_scenarios})
set(every_of_warps "")
foreach(scenario warp-scatter warp-apply)
  every_lane(lanes ${scenario})
  list(APPEND every_of_warps ${lanes})
endforeach()
kvwitness_add_witness_mutant(warp-barrier-but-for-a-lane FILE witness FROM "${synchronises}"
  TO "${reduces}    if (threadIdx.x % 32u != left_out_lane) __syncwarp(~(1u << left_out_lane));" EXPECT race ${row_stores}
  SCENARIOS ${every_of_warps})
kvwitness_add_witness_mutant(barrier-without-its-caller FILE witness FROM "${synchronises}" TO "${reduces}    __syncwarp(0x7FFFFFFFu);"
  EXPECT "mask mismatch" SCENARIOS warp-scatter warp-witnesses)
kvwitness_add_witness_mutant(barrier-of-absent-lanes FILE witness FROM "${synchronises}"
  TO "${reduces}    if (threadIdx.x % 32u != 31u) __syncwarp();" EXPECT "missing lane" SCENARIOS warp-scatter-alone)
kvwitness_add_witness_mutant(block-barrier-of-warps FILE witness FROM "${synchronises}" TO "${reduces}    __syncthreads();"
  EXPECT "divergence at a barrier" SCENARIOS warp-scatter warp-witnesses)
kvwitness_add_witness_mutant(no-reduction FILE witness FROM "${synchronises}" TO "    __syncwarp();" EXPECT wrong
  SCENARIOS warp-scatter warp-apply warp-witnesses)

# --- the order of a row's steps -----------------------------------------------------------------------------------------------------------

set(combines "  witness.combine();\n")
set(emits "  witness.emit(call.learned_keep, call.budget, [out](std::int64_t slot, std::int32_t token) { out[slot] = token; });\n")
set(emits_segments
  "  witness.emit_segments([witnesses](int segment, std::int32_t token) { witnesses[segment] = token; });\n")
kvwitness_add_witness_mutant(no-combine FILE kernels FROM "${combines}${emits}" TO "${emits}" EXPECT wrong
  SCENARIOS block-scatter block-apply warp-scatter warp-apply)
kvwitness_add_witness_mutant(late-combine FILE kernels FROM "${combines}${emits}" TO "${emits}${combines}" EXPECT wrong
  SCENARIOS block-scatter block-apply warp-scatter warp-apply)
kvwitness_add_witness_mutant(no-combine-of-indices FILE kernels FROM "${combines}${emits_segments}" TO "${emits_segments}" EXPECT wrong
  SCENARIOS block-witnesses warp-witnesses)
kvwitness_add_witness_mutant(late-combine-of-indices FILE kernels FROM "${combines}${emits_segments}" TO "${emits_segments}${combines}"
  EXPECT wrong SCENARIOS block-witnesses warp-witnesses)

# --- the block barrier of write_witness_indices, between the edges and the marks on them -----------------------------------------------------

set(marks [[
  __syncthreads();
  const auto mark = [&](std::int32_t token) {
]])
set(marks_alone [[
  const auto mark = [&](std::int32_t token) {
]])
set(indices witnesses-above-64 witnesses-above-64-alone)
set(edge_stores AT witness TAG "witnesses[segment] = s < partition")
foreach(expectation race wrong)
  kvwitness_add_witness_mutant(no-edge-barrier.${expectation} FILE witness FROM "${marks}" TO "${marks_alone}" EXPECT ${expectation} ${edge_stores}
    SCENARIOS ${indices})
endforeach()
kvwitness_add_witness_mutant(warp-edge-barrier FILE witness FROM "${marks}" TO "  __syncwarp();\n${marks_alone}" EXPECT race ${edge_stores}
  SCENARIOS ${indices})
kvwitness_add_witness_mutant(edge-barrier-in-the-marks FILE witness FROM "${marks}"
  TO "${marks_alone}    if (token == -12345) __syncthreads();\n" EXPECT race ${edge_stores} SCENARIOS ${indices})
kvwitness_add_witness_mutant(first-warps-edge-barrier FILE witness FROM "${marks}" TO "  if (threadIdx.x < 32u) __syncthreads();\n${marks_alone}"
  EXPECT "divergence at a barrier" SCENARIOS ${indices})
every_lane(lanes witnesses-above-64-alone)
kvwitness_add_witness_mutant(edge-barrier-but-for-a-lane FILE witness FROM "${marks}"
  TO "  if (threadIdx.x % 32u != left_out_lane) __syncthreads();\n${marks_alone}" EXPECT "divergence at a barrier" SCENARIOS ${lanes})
kvwitness_add_witness_mutant(plain-marks FILE witness FROM "device::store_relaxed(witnesses + segment, -1);" TO "witnesses[segment] = -1;"
  EXPECT race AT witness TAG "witnesses[segment] = -1;" SCENARIOS ${indices})

# --- a kernel of one's own ------------------------------------------------------------------------------------------------------------------

kvwitness_add_witness_mutant(fused-no-barrier FILE witness FROM "${stores}${barrier}" TO "${stores}" EXPECT race ${shared}
  PROGRAM fused_topk.cu SCENARIOS fused-topk)
kvwitness_add_witness_mutant(fused-warp-barrier FILE witness FROM "${stores}${barrier}" TO "${stores}    __syncwarp();\n" EXPECT race ${shared}
  PROGRAM fused_topk.cu SCENARIOS fused-topk)
