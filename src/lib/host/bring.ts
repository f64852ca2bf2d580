import {fetchPython} from './python-archive.ts'
import {obtainUv, uvOrder} from './uv.ts'
import {fetchWheels} from './wheels.ts'

/** What environments are made from, fetched to this machine: `uv` for a kind of machine, wheels of a lock, the archive of a Python. */
export const WHEELS = {uv: obtainUv, uvVersion: () => uvOrder().version, fetch: fetchWheels, python: fetchPython}
