# SPDX-License-Identifier: Apache-2.0
#
# Stands for ESP-IDF's: project() registers the component `main` of the project and those of EXTRA_COMPONENT_DIRS, and makes
# of them a program of this machine. What ESP-IDF lets pass but does not mean is an error here.

function(idf_component_register)
  set(single KCONFIG KCONFIG_PROJBUILD)
  set(multiple SRCS SRC_DIRS EXCLUDE_SRCS INCLUDE_DIRS PRIV_INCLUDE_DIRS LDFRAGMENTS REQUIRES PRIV_REQUIRES
    REQUIRED_IDF_TARGETS EMBED_FILES EMBED_TXTFILES)
  cmake_parse_arguments(argument "WHOLE_ARCHIVE" "${single}" "${multiple}" ${ARGN})
  if(NOT DEFINED COMPONENT_NAME)
    message(FATAL_ERROR "idf_component_register outside of a component")
  endif()
  if(argument_UNPARSED_ARGUMENTS OR argument_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR
      "idf_component_register: unknown ${argument_UNPARSED_ARGUMENTS}, without values ${argument_KEYWORDS_MISSING_VALUES}")
  endif()
  set(library __idf_${COMPONENT_NAME})
  add_library(${library} STATIC)
  foreach(source ${argument_SRCS})
    get_filename_component(path "${source}" ABSOLUTE)
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "idf_component_register: no file ${path}")
    endif()
    target_sources(${library} PRIVATE "${path}")
  endforeach()
  foreach(folder ${argument_INCLUDE_DIRS})
    get_filename_component(path "${folder}" ABSOLUTE)
    if(NOT IS_DIRECTORY "${path}")
      message(FATAL_ERROR "idf_component_register: no folder ${path}")
    endif()
    target_include_directories(${library} PUBLIC "${path}")
  endforeach()
  set(COMPONENT_LIB ${library} PARENT_SCOPE)
endfunction()

# A folder with CMakeLists.txt is a component; the name is that of the folder.
function(idf_add_component folder)
  get_filename_component(folder "${folder}" REALPATH)
  if(NOT EXISTS "${folder}/CMakeLists.txt")
    message(FATAL_ERROR "${folder} is no component: it has no CMakeLists.txt")
  endif()
  get_filename_component(COMPONENT_NAME "${folder}" NAME)
  add_subdirectory("${folder}" "${CMAKE_BINARY_DIR}/esp-idf/${COMPONENT_NAME}")
  set_property(GLOBAL APPEND PROPERTY IDF_COMPONENTS __idf_${COMPONENT_NAME})
endfunction()

# The built-in function is _project from here on.
macro(project name)
  _project(${name} LANGUAGES C)
  foreach(folder ${EXTRA_COMPONENT_DIRS})
    idf_add_component("${folder}")
  endforeach()
  # The component main requires all others.
  get_property(idf_components GLOBAL PROPERTY IDF_COMPONENTS)
  idf_add_component("${CMAKE_CURRENT_SOURCE_DIR}/main")
  target_link_libraries(__idf_main PUBLIC ${idf_components})
  file(WRITE "${CMAKE_BINARY_DIR}/start.c" "void app_main(void);\nint main(void) { app_main(); return 0; }\n")
  add_executable(${name}.elf "${CMAKE_BINARY_DIR}/start.c")
  target_link_libraries(${name}.elf PRIVATE __idf_main)
endmacro()
