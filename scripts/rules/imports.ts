import {dirname, join} from 'node:path/posix'
import {CLI_LAYERS, LAYERS, OWN_PROCESSES, PACKAGE_OWNERS} from './layers.ts'

export interface SourceFile {
  /** Relative to the checkout, with slashes. */
  path: string
  text: string
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"\n]*?(?:\{[^}]*\}[^'"\n]*?)?from\s*['"]([^'"]+)['"]|\bimport\s*\(\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g

/**
 * What is wrong with the imports of a file of src, as `path: finding` lines. Static, dynamic and type imports alike.
 */
export function checkImports({path, text}: SourceFile): string[] {
  const targets = [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
  return targets.flatMap((target) => {
    const finding = target.startsWith('.') ? checkLocal(path, join(dirname(path), target)) : checkPackage(path, target)
    return finding === undefined ? [] : [`${path}: imports ${target}: ${finding}`]
  })
}

function checkPackage(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('node:')) return undefined
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  const owners = PACKAGE_OWNERS[name]
  if (!owners) return 'no folder owns this package (scripts/rules/layers.ts)'
  return owners.some((owner) => path.startsWith(owner)) ? undefined : `only ${owners.join(', ')} may`
}

function checkLocal(path: string, target: string): string | undefined {
  const program = Object.keys(OWN_PROCESSES).find((folder) => path.startsWith(folder) || target.startsWith(folder))
  if (program) return checkProgram(program, path, target)
  const [from, to] = [areaOf(path), areaOf(target)]
  if (from === 'cli' && to === 'cli') return checkRooms(path, target)
  if (from === to) return undefined
  if (to.startsWith('lib/') && !target.endsWith('/index.ts'))
    return `outside its folder only through ${dirname(target)}/index.ts`
  if (from === 'commands') return to === 'cli' || to.startsWith('lib/') ? undefined : 'commands import cli and lib'
  if (from === 'cli') return to.startsWith('lib/') ? undefined : 'cli imports lib only'
  if (!to.startsWith('lib/')) return 'lib imports neither cli nor commands'
  return checkLayers(from.slice(4), to.slice(4))
}

function checkProgram(folder: string, path: string, target: string): string | undefined {
  if (!path.startsWith(folder)) return `${folder} is a program of its own; it is started, not imported`
  const allowed = OWN_PROCESSES[folder] ?? []
  return target.startsWith(folder) || allowed.includes(target)
    ? undefined
    : `${folder} imports of lib only ${allowed.join(', ')}`
}

/** Rooms of src/cli; main.ts, beside them, starts everything and is imported by nobody. */
function checkRooms(path: string, target: string): string | undefined {
  const [from, to] = [roomOf(path), roomOf(target)]
  if (from === to || from === undefined) return undefined
  if (to === undefined) return 'nothing imports main.ts'
  const [upper, lower] = [layerOf(from, CLI_LAYERS), layerOf(to, CLI_LAYERS)]
  if (lower === -1 || upper === -1) return 'a room without a layer (scripts/rules/layers.ts)'
  return lower < upper ? undefined : `cli/${from} is not above cli/${to}`
}

/** `gpu` of src/cli/gpu/text.ts; undefined of src/cli/main.ts. */
function roomOf(path: string): string | undefined {
  const [, , room, file] = path.split('/')
  return file === undefined ? undefined : room
}

function checkLayers(from: string, to: string): string | undefined {
  const [lower, upper] = [layerOf(to, LAYERS), layerOf(from, LAYERS)]
  if (lower === -1 || upper === -1) return 'a folder without a layer (scripts/rules/layers.ts)'
  return lower > upper ? `${from} is below ${to}` : undefined
}

function layerOf(folder: string, layers: readonly (readonly string[])[]): number {
  return layers.findIndex((layer) => layer.includes(folder))
}

/** `commands`, `cli`, or `lib/<folder>`. */
function areaOf(path: string): string {
  const [, area = '', folder = ''] = path.split('/')
  return area === 'lib' ? `lib/${folder}` : area
}
