// Every file that is generated from one API's specification.
import {existsSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {clHeader, clNames} from './cl-header.ts'
import {coveragePage} from './coverage.ts'
import {dispatchSource, requestsHeader} from './dispatch.ts'
import {fuzzCasesHeader, fuzzCasesSource} from './fuzz-cases.ts'
import {exportsMap, icdHeader, icdSource} from './icd.ts'
import {nextIds} from './ids.ts'
import {messagesHeader, messagesSource} from './messages.ts'
import {readSpec} from './spec.ts'

/** Path from the root of the checkout to text. Throws where the specification contradicts itself or the ids already given out. */
export function generate(root: string, api: string): Record<string, string> {
  const spec = readSpec(join(root, 'native/spec', api))
  const ids = join(root, `native/spec/${api}.ids`)
  const folder = `native/gen/${api}`
  return {
    [`${folder}/messages.h`]: messagesHeader(spec),
    [`${folder}/messages.cpp`]: messagesSource(spec),
    [`${folder}/requests.h`]: requestsHeader(spec),
    [`${folder}/dispatch.cpp`]: dispatchSource(spec),
    [`${folder}/fuzz_cases.h`]: fuzzCasesHeader(spec),
    [`${folder}/fuzz_cases.cpp`]: fuzzCasesSource(spec),
    [`native/spec/${api}.ids`]: nextIds(spec, existsSync(ids) ? readFileSync(ids, 'utf8') : ''),
    [`docs/${api}-coverage.md`]: coveragePage(spec),
    ...(spec.functions.length > 0 ? {
      [`${folder}/cl.h`]: clHeader(spec),
      [`${folder}/cl_names.inc`]: clNames(spec),
      [`${folder}/icd.h`]: icdHeader(spec),
      [`${folder}/icd.cpp`]: icdSource(spec),
      [`${folder}/exports.map`]: exportsMap(),
    } : {}),
  }
}
