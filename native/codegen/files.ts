// Every file that is generated from one API's specification.
import {join} from 'node:path'
import {clHeader, clNames} from './cl-header.ts'
import {dispatchSource, requestsHeader} from './dispatch.ts'
import {exportsMap, icdHeader, icdSource} from './icd.ts'
import {messagesHeader, messagesSource} from './messages.ts'
import {readSpec} from './spec.ts'

/** Path from the root of the checkout to text. Throws where the specification contradicts itself or the ids already given out. */
export function generate(root: string, api: string): Record<string, string> {
  const spec = readSpec(join(root, 'native/spec', api))
  const folder = `native/gen/${api}`
  return {
    [`${folder}/messages.h`]: messagesHeader(spec),
    [`${folder}/messages.cpp`]: messagesSource(spec),
    [`${folder}/requests.h`]: requestsHeader(spec),
    [`${folder}/dispatch.cpp`]: dispatchSource(spec),
    ...(spec.functions.length > 0 ? {
      [`${folder}/cl.h`]: clHeader(spec),
      [`${folder}/cl_names.inc`]: clNames(spec),
      [`${folder}/icd.h`]: icdHeader(spec),
      [`${folder}/icd.cpp`]: icdSource(spec),
      [`${folder}/exports.map`]: exportsMap(),
    } : {}),
  }
}
