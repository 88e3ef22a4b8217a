# SPDX-License-Identifier: BSD-3-Clause
# Records which source a build was made from, as files beside its programs (docs/concepts/identity.md).
# source.cmake runs this script in two forms:
#
#   cmake -DROOT=DIR -DSTATE=PREFIX -P cmake/source_record.cmake
#       PREFIX.json and PREFIX.diff: the commit of Encore's own repository and what differs from it, untracked
#       source files too; without one the name of the folder ROOT and a hash of its source files. Written only where
#       their text changes, so that nothing is made again in a build that has nothing to do.
#   cmake -DFOLDER=DIR -DSTATE=PREFIX -P cmake/source_record.cmake
#       DIR/share/encore/source.json and source.diff: the same, with the SHA-256 of the programs in DIR that were made
#       from it, by which a worker knows whether the record is about itself.
#
# No compiled file holds any of this: a comment that changes leaves programs, and with them the numeric environment,
# as they are.
cmake_minimum_required(VERSION 3.25)

# The paths of source files: what is compiled, or decides how.
set(source_paths framework plugins cmake CMakeLists.txt CMakePresets.json exp)

function(replace_if_changed FROM TO)
  execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${FROM} ${TO} COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${FROM})
endfunction()

# Runs git in ROOT, unaffected by the caller's environment and settings. Sets `status` and `output`.
macro(git)
  execute_process(COMMAND git -C ${ROOT} -c core.fsmonitor=false ${ARGN}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endmacro()

# Sets `commit` of ROOT if ROOT is the top of a work tree (a clone, a submodule, a linked work tree), else to
# "". A copy of Encore inside another repository is not a top.
function(read_commit)
  git(rev-parse --show-prefix)
  if(status EQUAL 0 AND output STREQUAL "")
    git(rev-parse --verify --quiet HEAD)
    if(status EQUAL 0)
      set(commit ${output} PARENT_SCOPE)
      return()
    endif()
  endif()
  set(commit "" PARENT_SCOPE)
endfunction()

# Writes the difference of the source files from the commit to FILE. An index of its own lists untracked files
# by name, so the user's index is not changed.
function(write_diff FILE)
  set(index ${FILE}.index)
  git(rev-parse --git-path index)
  cmake_path(ABSOLUTE_PATH output BASE_DIRECTORY ${ROOT})
  if(EXISTS ${output})
    file(COPY_FILE ${output} ${index})
  endif()
  set(ENV{GIT_INDEX_FILE} ${index})
  set(ENV{GIT_LITERAL_PATHSPECS} 1)
  execute_process(COMMAND git -C ${ROOT} ls-files -z --others --exclude-standard -- ${paths}
                  OUTPUT_FILE ${FILE}.untracked ERROR_QUIET)
  file(SIZE ${FILE}.untracked bytes)
  if(bytes GREATER 0)
    execute_process(COMMAND git -C ${ROOT} add --intent-to-add --pathspec-from-file=${FILE}.untracked --pathspec-file-nul
                    ERROR_QUIET)
  endif()
  execute_process(COMMAND git -C ${ROOT} diff --no-color --no-ext-diff --no-textconv --no-renames --binary --src-prefix=a/
                          --dst-prefix=b/ HEAD -- ${paths}
                  OUTPUT_FILE ${FILE} RESULT_VARIABLE status ERROR_QUIET)
  unset(ENV{GIT_INDEX_FILE})
  unset(ENV{GIT_LITERAL_PATHSPECS})
  file(REMOVE ${index} ${FILE}.untracked)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "git cannot list the changes since the commit of ${ROOT}")
  endif()
endfunction()

# Sets RESULT to the hash of what sha256sum prints for all source files, in the order of their names.
function(hash_sources RESULT)
  set(files "")
  foreach(path IN LISTS paths)
    if(IS_DIRECTORY ${ROOT}/${path})
      file(GLOB_RECURSE found RELATIVE ${ROOT} ${ROOT}/${path}/*)
      list(APPEND files ${found})
    else()
      list(APPEND files ${path})
    endif()
  endforeach()
  list(SORT files)
  set(lines "")
  foreach(file IN LISTS files)
    file(SHA256 ${ROOT}/${file} hash)
    string(APPEND lines "${hash}  ${file}\n")
  endforeach()
  string(SHA256 hash "${lines}")
  set(${RESULT} ${hash} PARENT_SCOPE)
endfunction()

function(write_state)
  foreach(variable GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_OBJECT_DIRECTORY GIT_EXTERNAL_DIFF GIT_DIFF_OPTS)
    unset(ENV{${variable}})   # a hook or an alias of git that calls the build
  endforeach()
  set(paths "")
  foreach(path IN LISTS source_paths)
    if(EXISTS ${ROOT}/${path})
      list(APPEND paths ${path})
    endif()
  endforeach()
  file(WRITE ${STATE}.diff.new "")
  read_commit()
  if(commit)
    write_diff(${STATE}.diff.new)
    set(archive "")
    set(sha256 "")
  else()
    cmake_path(GET ROOT FILENAME archive)
    string(REPLACE "\\" "\\\\" archive "${archive}")
    string(REPLACE "\"" "\\\"" archive "${archive}")
    hash_sources(sha256)
  endif()
  file(SHA256 ${STATE}.diff.new diff)
  file(WRITE ${STATE}.json.new
       "{\"commit\": \"${commit}\", \"archive\": \"${archive}\", \"sha256\": \"${sha256}\", \"diff_sha256\": \"${diff}\"")
  replace_if_changed(${STATE}.diff.new ${STATE}.diff)
  replace_if_changed(${STATE}.json.new ${STATE}.json)
endfunction()

function(write_record)
  file(READ ${STATE}.json text)
  set(files "")
  file(GLOB programs RELATIVE ${FOLDER} ${FOLDER}/bin/encore-worker ${FOLDER}/bin/encore-worker-* ${FOLDER}/lib/libencore_kernels.so
       ${FOLDER}/lib/libencore_index.so
       ${FOLDER}/lib/encore/plugins/*.so)
  list(SORT programs)
  foreach(program IN LISTS programs)
    file(SHA256 ${FOLDER}/${program} hash)
    string(APPEND files ",\n  \"${program}\": \"${hash}\"")
  endforeach()
  string(REGEX REPLACE "^," "" files "${files}")
  file(MAKE_DIRECTORY ${FOLDER}/share/encore)
  file(COPY_FILE ${STATE}.diff ${FOLDER}/share/encore/source.diff)
  file(WRITE ${FOLDER}/share/encore/source.json "${text}, \"files\": {${files}\n}}\n")
  # Readable by all users of the programs, whatever the umask of the builder or installer.
  file(CHMOD ${FOLDER}/share/encore/source.json ${FOLDER}/share/encore/source.diff
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

if(ROOT)
  write_state()
else()
  write_record()
endif()
