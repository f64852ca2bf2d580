# For an old C library and any machine, from any machine: with the tools and libraries that scripts/portable/ puts into FLEXRACK_TOOLS.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FLEXRACK_TOOLS FLEXRACK_MACHINE)
set(FLEXRACK_PORTABLE ON)
# Nothing is linked while CMake looks around: zig would make its C++ library for that, in a minute, and then another one for us.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${FLEXRACK_MACHINE})
set(CMAKE_C_COMPILER ${FLEXRACK_TOOLS}/cc)
set(CMAKE_CXX_COMPILER ${FLEXRACK_TOOLS}/c++)
set(CMAKE_AR ${FLEXRACK_TOOLS}/ar)
set(CMAKE_RANLIB ${FLEXRACK_TOOLS}/ranlib)
# Headers and libraries of this machine are for its own C library.
set(CMAKE_FIND_ROOT_PATH ${FLEXRACK_TOOLS})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
