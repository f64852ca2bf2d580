import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {CliError, machineHere, type Context} from '../base/index.ts'
import {obtainUv} from './uv.ts'
import {runFetcher, type WheelsWanted} from './wheels.ts'

/**
 * The archive of the Python that a node's uv would install, by this machine's uv, which knows its hash; one file more
 * in `folder`. Errors: REMOTE_FAILED, LOCAL_FAILED, INTERRUPTED.
 */
export async function fetchPython(
  {folder, machine, python}: Omit<WheelsWanted, 'lock'>,
  context: Context,
): Promise<void> {
  const here = machineHere()
  if (here === undefined || process.platform !== 'linux')
    throw new CliError(
      'LOCAL_FAILED',
      `uv fetches Python ${python} for ${machine}, and flexrack's uv runs on Linux alone`,
      {hint: 'make the bundle on Linux, x86_64 or aarch64'},
    )
  const {bytes, name} = await obtainUv(here, context)
  const temp = await mkdtemp(join(folder, '.uv-'))
  try {
    const wheel = join(temp, name)
    await writeFile(wheel, bytes)
    await runFetcher('fetch_python.py', [folder, wheel, machine, python], '', context)
  } finally {
    await rm(temp, {recursive: true, force: true})
  }
}
