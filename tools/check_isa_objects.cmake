# Fails if an object compiled for one instruction set defines a function that other
# objects may define too (an inline function or a template instance). The linker keeps
# one copy for all, and if it keeps this one, the program dies of an illegal instruction
# on a processor without that instruction set. Keep such functions static or in an
# unnamed namespace.
#
#   cmake -DNM=nm -DOBJECTS=a.o,b_avx2.o -DSUFFIXES=_avx2,_avx512 -P check_isa_objects.cmake
string(REPLACE "," ";" objects "${OBJECTS}")
string(REPLACE "," "|" suffixes "${SUFFIXES}")
set(shared_functions "")
foreach(object IN LISTS objects)
  if(NOT object MATCHES "(${suffixes})\\.cpp\\.o$")
    continue()
  endif()
  execute_process(
    COMMAND ${NM} --demangle --defined-only ${object}
    OUTPUT_VARIABLE symbols
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9a-f]+ W [^\n]+" weak "${symbols}")
  foreach(line IN LISTS weak)
    string(APPEND shared_functions "  ${object}: ${line}\n")
  endforeach()
endforeach()
if(shared_functions)
  message(FATAL_ERROR "functions that other files may share:\n${shared_functions}")
endif()
