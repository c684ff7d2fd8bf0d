# Writes OUTPUT, a C++ file with the page in it, from the files beside this. Run at build time:
#   cmake -DFOLDER=... -DCHART=.../chart.min.js -DSCRIPTS=a.js,b.js -DOUTPUT=... -P embed_page.cmake
cmake_minimum_required(VERSION 3.25)

# A content-security policy names each inline text by the base64 of its SHA-256.
function(csp_hash text result)
  string(SHA256 hex "${text}")
  string(APPEND hex "00") # 32 bytes and one of padding: 11 groups of three
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(base64 "")
  foreach(group RANGE 10)
    math(EXPR at "${group} * 6")
    string(SUBSTRING "${hex}" ${at} 6 six)
    foreach(shift 18 12 6 0)
      math(EXPR digit "(0x${six} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${digit} 1 character)
      string(APPEND base64 "${character}")
    endforeach()
  endforeach()
  string(SUBSTRING "${base64}" 0 43 base64)
  set(${result} "'sha256-${base64}='" PARENT_SCOPE)
endfunction()

file(READ "${FOLDER}/page.html" page)
file(READ "${FOLDER}/page.css" style)
file(READ "${CHART}" chart)
# A browser's tools would fetch the map.
string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" chart "${chart}")
set(script "")
string(REPLACE "," ";" names "${SCRIPTS}")
foreach(name ${names})
  file(READ "${FOLDER}/${name}" text)
  string(APPEND script "${text}")
endforeach()
foreach(part style chart script)
  if("${${part}}" MATCHES "</(script|style)|<!--|\\)page\"")
    message(FATAL_ERROR "the ${part} of the page holds a text that would end it: ${CMAKE_MATCH_0}")
  endif()
endforeach()

csp_hash("${style}" style_hash)
csp_hash("${chart}" chart_hash)
csp_hash("${script}" script_hash)
string(REPLACE "{{style-hash}}" "${style_hash}" page "${page}")
string(REPLACE "{{script-hashes}}" "${chart_hash} ${script_hash}" page "${page}")
string(FIND "${page}" "{{data}}" at)
string(SUBSTRING "${page}" 0 ${at} before)
math(EXPR at "${at} + 8")
string(SUBSTRING "${page}" ${at} -1 after)
string(REPLACE "{{style}}" "${style}" before "${before}")
string(REPLACE "{{chart}}" "${chart}" after "${after}")
string(REPLACE "{{script}}" "${script}" after "${after}")

file(WRITE "${OUTPUT}" "// Made by embed_page.cmake.\n"
  "#include \"harness/report/html/page_assets.h\"\n\nnamespace etalon::report {\n\n"
  "PageAssets page_assets() {\n    return {R\"page(${before})page\",\n            R\"page(${after})page\"};\n}\n\n"
  "}  // namespace etalon::report\n")
