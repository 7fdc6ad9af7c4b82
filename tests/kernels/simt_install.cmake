# Installs the library's package and the components kernels and simt. Needs BINARY_DIR and PREFIX.
file(REMOVE_RECURSE "${PREFIX}")
foreach(component kvwitness kvwitness_kernels kvwitness_simt)
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BINARY_DIR}" --component ${component} --prefix "${PREFIX}"
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
