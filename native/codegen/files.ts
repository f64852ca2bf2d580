// Every file that is generated from one API's specification.
import {existsSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {clHeader, clNames} from './cl-header.ts'
import {wrapProse} from '../../scripts/pages/wrap.ts'
import {coveragePage} from './coverage.ts'
import {clientExports, clientFunctions, clientStubs} from './cuda-client.ts'
import {entryPointsHeader, entryPointsSource, libcudaMap} from './cuda-entries.ts'
import {cudaHeader, cudaLayouts, cudaPerThread, cudaResults} from './cuda-header.ts'
import {driverTableHeader, driverTableSource, serverCalls, serverOverrides} from './cuda-server.ts'
import {dispatchSource, requestsHeader} from './dispatch.ts'
import {fuzzCasesHeader, fuzzCasesSource} from './fuzz-cases.ts'
import {exportsMap, icdHeader, icdSource} from './icd.ts'
import {nextIds} from './ids.ts'
import {messagesHeader, messagesSource} from './messages.ts'
import {nvmlErrors, nvmlExports, nvmlFunctions, nvmlHeader, nvmlLayouts, nvmlMap} from './nvml.ts'
import {
  ncclClientCalls,
  ncclErrors,
  ncclExports,
  ncclFunctions,
  ncclHeader,
  ncclLibraryTable,
  ncclMap,
  ncclTable,
} from './nccl.ts'
import {revisionHeader} from './revision.ts'
import {readSpec, type Spec} from './spec.ts'

/**
 * Path from the root of the checkout to text. Throws where the specification contradicts itself or the ids already
 * given out.
 */
export function generate(root: string, api: string): Record<string, string> {
  const spec = readSpec(join(root, 'native/spec', api))
  if (spec.messagesOf !== undefined)
    return {[`docs/${api}-coverage.md`]: wrapProse(coveragePage(spec)), ...OWN[api]?.(spec, `native/gen/${api}`)}
  const ids = join(root, `native/spec/${api}.ids`)
  const folder = `native/gen/${api}`
  return {
    [`${folder}/messages.h`]: messagesHeader(spec),
    [`${folder}/messages.cpp`]: messagesSource(spec),
    [`${folder}/requests.h`]: requestsHeader(spec),
    [`${folder}/revision.h`]: revisionHeader(spec),
    [`${folder}/dispatch.cpp`]: dispatchSource(spec),
    [`${folder}/fuzz_cases.h`]: fuzzCasesHeader(spec),
    [`${folder}/fuzz_cases.cpp`]: fuzzCasesSource(spec),
    [`native/spec/${api}.ids`]: nextIds(spec, existsSync(ids) ? readFileSync(ids, 'utf8') : ''),
    [`docs/${api}-coverage.md`]: wrapProse(coveragePage(spec)),
    ...OWN[api]?.(spec, folder),
  }
}

/** What an API has beside messages: its header, and how applications reach its functions. */
const OWN: Record<string, (spec: Spec, folder: string) => Record<string, string>> = {
  opencl: (spec, folder) => ({
    [`${folder}/cl.h`]: clHeader(spec),
    [`${folder}/cl_names.inc`]: clNames(spec),
    [`${folder}/icd.h`]: icdHeader(spec),
    [`${folder}/icd.cpp`]: icdSource(spec),
    [`${folder}/exports.map`]: exportsMap(),
  }),
  cuda: (spec, folder) => ({
    [`${folder}/cuda.h`]: cudaHeader(spec),
    [`${folder}/layouts.cpp`]: cudaLayouts(spec),
    [`${folder}/per_thread.inc`]: cudaPerThread(spec),
    [`${folder}/results.inc`]: cudaResults(spec),
    [`${folder}/entry_points.h`]: entryPointsHeader(spec),
    [`${folder}/entry_points.cpp`]: entryPointsSource(spec),
    [`${folder}/libcuda.map`]: libcudaMap(spec),
    [`${folder}/client_functions.h`]: clientFunctions(spec),
    [`${folder}/client_stubs.inc`]: clientStubs(spec),
    [`${folder}/client_exports.inc`]: clientExports(spec),
    [`${folder}/driver_table.h`]: driverTableHeader(spec),
    [`${folder}/driver_table.cpp`]: driverTableSource(spec),
    [`${folder}/server_calls.inc`]: serverCalls(spec),
    [`${folder}/server_overrides.inc`]: serverOverrides(spec),
  }),
  nvml: (spec, folder) => ({
    [`${folder}/nvml.h`]: nvmlHeader(spec),
    [`${folder}/layouts.inc`]: nvmlLayouts(spec),
    [`${folder}/errors.inc`]: nvmlErrors(spec),
    [`${folder}/client_functions.h`]: nvmlFunctions(spec),
    [`${folder}/client_exports.inc`]: nvmlExports(spec),
    [`${folder}/libnvidia-ml.map`]: nvmlMap(spec),
  }),
  nccl: (spec, folder) => ({
    [`${folder}/nccl.h`]: ncclHeader(spec),
    [`${folder}/errors.inc`]: ncclErrors(spec),
    [`${folder}/client_table.h`]: ncclTable(spec),
    [`${folder}/client_functions.h`]: ncclFunctions(spec),
    [`${folder}/client_calls.inc`]: ncclClientCalls(spec),
    [`${folder}/client_exports.inc`]: ncclExports(spec),
    [`${folder}/libnccl.map`]: ncclMap(spec),
    [`${folder}/library_table.h`]: ncclLibraryTable(spec),
  }),
}
