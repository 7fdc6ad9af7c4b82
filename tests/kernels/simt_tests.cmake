# The executor by itself: the textbook kernels, intact and with each synchronisation left out, under ThreadSanitizer and without.

# Controls that are a race but never a wrong result here: no other thread runs between a plain load and its store.
set(races_alone reduction.3 histogram.3)

foreach(kernel_count reduction.3 scan.4 histogram.3)
  cmake_path(GET kernel_count STEM kernel)
  cmake_path(GET kernel_count EXTENSION count)
  string(SUBSTRING "${count}" 1 -1 count)
  foreach(omitted RANGE ${count})
    foreach(sanitizer none thread)
      set(program simt_${kernel}_${omitted}_${sanitizer})
      set(control ${kernel}.${omitted})
      if(control IN_LIST races_alone AND sanitizer STREQUAL "none")
        continue()
      endif()
      kvwitness_add_simt_program(${program} simt/${kernel}.cu SANITIZER ${sanitizer} DEFINES SIMT_TEST_OMIT=${omitted})
      if(omitted EQUAL 0)
        kvwitness_add_simt_control(${kernel}.intact.${sanitizer} PROGRAM ${program} EXPECT clean)
      elseif(sanitizer STREQUAL "thread")
        kvwitness_add_simt_control(${control}.thread PROGRAM ${program} EXPECT race AT simt/${kernel}.cuh TAG "control ${omitted}")
      else()
        kvwitness_add_simt_control(${control}.none PROGRAM ${program} EXPECT wrong)
      endif()
    endforeach()
  endforeach()
  # Thousands of schedules for the intact kernel.
  kvwitness_add_simt_control(${kernel}.thousands PROGRAM simt_${kernel}_0_none EXPECT clean ARGUMENTS --schedules 4000)
endforeach()

# What orders memory.
kvwitness_add_simt_program(simt_ordering_thread simt/ordering.cu SANITIZER thread)
foreach(race ballot halves after-syncwarp after-syncthreads blocks no-writer-fence no-reader-fence dependent)
  kvwitness_add_simt_control(ordering.${race} PROGRAM simt_ordering_thread ARGUMENTS ${race} EXPECT race
    AT simt/ordering.cu TAG "control ${race}")
endforeach()
foreach(ordered syncwarp half voting-barrier fence dependent-wait)
  kvwitness_add_simt_control(ordering.${ordered} PROGRAM simt_ordering_thread ARGUMENTS ${ordered} EXPECT clean)
endforeach()

# What lies outside of a kernel's memory.
kvwitness_add_simt_program(simt_bounds_address simt/bounds.cu SANITIZER address)
foreach(bad global-after global-before dynamic-shared static-shared misaligned)
  kvwitness_add_simt_control(bounds.${bad}.address PROGRAM simt_bounds_address ARGUMENTS ${bad} EXPECT memory
    AT simt/bounds.cu TAG "control ${bad}")
endforeach()
foreach(good global-last dynamic-shared-fits)
  kvwitness_add_simt_control(bounds.${good}.address PROGRAM simt_bounds_address ARGUMENTS ${good} EXPECT clean)
endforeach()
kvwitness_add_simt_program(simt_bounds_none simt/bounds.cu SANITIZER none)
foreach(bad global-after global-before dynamic-shared)
  kvwitness_add_simt_control(bounds.${bad}.none PROGRAM simt_bounds_none ARGUMENTS ${bad} EXPECT "out of bounds")
endforeach()
foreach(good global-last dynamic-shared-fits)
  kvwitness_add_simt_control(bounds.${good}.none PROGRAM simt_bounds_none ARGUMENTS ${good} EXPECT clean)
endforeach()

# The model, in the sanitizers of this build.
kvwitness_add_test(simt_executor_test SOURCES simt_executor_test.cc LIBRARIES kvwitness::simt LABELS simt)

# A stranger's project. The executor is not instrumented whatever this build is, but a build without sanitizers shows as much.
if(KVWITNESS_SANITIZE STREQUAL "" AND KVWITNESS_INSTALL)
  set(prefix "${CMAKE_CURRENT_BINARY_DIR}/simt_prefix")
  add_test(NAME simt.installs COMMAND "${CMAKE_COMMAND}" -DBINARY_DIR=${PROJECT_BINARY_DIR} -DPREFIX=${prefix}
    -P "${CMAKE_CURRENT_SOURCE_DIR}/simt_install.cmake")
  set_tests_properties(simt.installs PROPERTIES LABELS simt FIXTURES_SETUP simt_prefix)
  foreach(route find_package add_subdirectory)
    add_test(NAME simt.serves_a_consumer_by_${route}
      COMMAND "${CMAKE_COMMAND}" -DROUTE=${route} "-DCONSUMER_DIR=${CMAKE_CURRENT_SOURCE_DIR}/simt_consumer"
        "-DWORK_DIR=${CMAKE_CURRENT_BINARY_DIR}/simt_consumer_${route}" "-DPREFIX=${prefix}" "-DLIBDIR=${CMAKE_INSTALL_LIBDIR}"
        "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DGENERATOR=${CMAKE_GENERATOR}" "-DC_COMPILER=${CMAKE_C_COMPILER}"
        "-DCXX_COMPILER=${CMAKE_CXX_COMPILER}" -P "${PROJECT_SOURCE_DIR}/tests/lib/consumer_test.cmake")
    set_tests_properties(simt.serves_a_consumer_by_${route} PROPERTIES LABELS simt FIXTURES_REQUIRED simt_prefix)
  endforeach()
endif()
