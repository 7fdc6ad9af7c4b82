# Install rules of the library: headers, both libraries, the CMake package and the pkg-config file, as the install component
# "kvwitness". A part with a library of its own (such as CUDA) installs its targets in an export set kvwitness-PART-targets beside
# this one, and is then found as a component: find_package(kvwitness COMPONENTS PART).
include(CMakePackageConfigHelpers)

set(kvwitness_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kvwitness")

install(TARGETS kvwitness_static kvwitness_shared EXPORT kvwitness-targets COMPONENT kvwitness
  ARCHIVE COMPONENT kvwitness LIBRARY COMPONENT kvwitness RUNTIME COMPONENT kvwitness)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/lib/include/kvwitness" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT kvwitness)
install(EXPORT kvwitness-targets NAMESPACE kvwitness:: DESTINATION "${kvwitness_package_dir}" COMPONENT kvwitness)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/kvwitness-config.cmake.in"
  "${PROJECT_BINARY_DIR}/kvwitness-config.cmake" INSTALL_DESTINATION "${kvwitness_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kvwitness-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kvwitness-config.cmake" "${PROJECT_BINARY_DIR}/kvwitness-config-version.cmake"
  DESTINATION "${kvwitness_package_dir}" COMPONENT kvwitness)

# The paths of the pkg-config files are relative to themselves, so that an installed tree may be moved. kvwitness is the shared library, which
# has the C ABI; kvwitness-cxx is the static one, which has the C++ interface too.
file(RELATIVE_PATH kvwitness_pc_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
foreach(kvwitness_pc kvwitness.pc kvwitness-cxx.pc)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${kvwitness_pc}.in" "${PROJECT_BINARY_DIR}/${kvwitness_pc}" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${kvwitness_pc}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT kvwitness)
endforeach()
# The static library by a name of its own: a linker that finds both takes the shared one for -lkvwitness.
file(CREATE_LINK "${CMAKE_STATIC_LIBRARY_PREFIX}kvwitness${CMAKE_STATIC_LIBRARY_SUFFIX}"
  "${PROJECT_BINARY_DIR}/${CMAKE_STATIC_LIBRARY_PREFIX}kvwitness_cxx${CMAKE_STATIC_LIBRARY_SUFFIX}" SYMBOLIC)
install(FILES "${PROJECT_BINARY_DIR}/${CMAKE_STATIC_LIBRARY_PREFIX}kvwitness_cxx${CMAKE_STATIC_LIBRARY_SUFFIX}"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT kvwitness)
