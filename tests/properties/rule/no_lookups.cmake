# The executor looks up source lines, which starts a process, only to describe a fault: a kernel that is right is judged without. (Return addresses
# that were none made it look up each barrier's, some hundred times as long as the kernel ran.)
#
# cmake -DPROGRAM=rule_properties -DIMPLEMENTATION=name -DFOLDER=folder -P no_lookups.cmake
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
file(WRITE "${FOLDER}/addr2line" "#!/bin/sh\necho \"$@\" >> '${FOLDER}/lookups'\n")
file(CHMOD "${FOLDER}/addr2line" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(ENV{PATH} "${FOLDER}:$ENV{PATH}")
execute_process(COMMAND "${PROGRAM}" --impl "${IMPLEMENTATION}" --gtest_filter=Rule.spare_poison:Rule.oracle_equality
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} exited with ${status}:\n${output}")
endif()
if(EXISTS "${FOLDER}/lookups")
  file(STRINGS "${FOLDER}/lookups" lookups)
  list(LENGTH lookups count)
  message(FATAL_ERROR "${count} look-ups of source lines for a kernel that is right")
endif()
