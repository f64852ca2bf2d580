import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import type {Ignore} from 'ignore'

/** Never part of a project's code, at any depth, whatever the patterns say: git's own data, and flexrack's. */
const ALWAYS = new Set(['.git', '.flexrack'])
/** What Python and systems leave behind. Weaker than every .gitignore: `!.venv/` brings it back. */
const USUALLY = ['__pycache__/', '*.egg-info/', '.venv/', '.DS_Store', ...editorsOwn()]

/**
 * What editors keep beside a file while it is open or being saved: Vim, Emacs, JetBrains' programs, Kate, and what GLib
 * writes before it renames.
 */
function editorsOwn(): string[] {
  return [
    '.*.sw?',
    '*~',
    '#*#',
    '.#*',
    '*___jb_tmp___',
    '*___jb_old___',
    '.*.kate-swp',
    '.goutputstream-*',
    '.flexrack-pull-*/',
  ]
}

/**
 * Which paths of a project stay here. Rules of one folder, and of those above it; the nearest that says something
 * decides.
 */
export interface Rules {
  /** `name` is in this folder. */
  excludes(name: string, isFolder: boolean): boolean
  /** The rules in a folder of this folder: its .gitignore is read if `hasFile`. */
  enter(name: string, hasFile: boolean): Rules
}

type Create = () => Ignore

interface Layer {
  /** Path of its folder, relative to the project, with a trailing slash unless empty. */
  base: string
  patterns: Ignore
}

/** Rules at the top of a project. `exclude` (workspace.sync.exclude) is stronger than any .gitignore. */
export async function openRules(folder: string, exclude: string[], hasFile: boolean): Promise<Rules> {
  const {default: create} = await import('ignore')
  const make: Create = () => (create as unknown as {default?: typeof create} & typeof create)()
  const own = exclude.length > 0 ? [{base: '', patterns: make().add(exclude)}] : []
  return layered(
    folder,
    '',
    make,
    own,
    withFile(folder, '', make, [{base: '', patterns: make().add(USUALLY)}], hasFile),
  )
}

function layered(folder: string, base: string, make: Create, own: Layer[], layers: Layer[]): Rules {
  return {
    excludes: (name, isFolder) =>
      ALWAYS.has(name) || decide(`${base}${name}${isFolder ? '/' : ''}`, [...layers, ...own]),
    enter: (name, hasFile) => {
      const inner = `${base}${name}/`
      const opened = (all: Layer[]): Layer[] => all.map((layer) => openedFor(inner, layer, make))
      return layered(folder, inner, make, opened(own), withFile(folder, inner, make, opened(layers), hasFile))
    },
  }
}

function decide(path: string, layers: Layer[]): boolean {
  for (let index = layers.length - 1; index >= 0; index--) {
    const {base, patterns} = layers[index] as Layer
    const {ignored, unignored} = patterns.test(path.slice(base.length))
    if (ignored || unignored) return ignored
  }
  return false
}

/**
 * The package takes everything in an ignored folder for ignored; where a stronger layer has let the folder in, this one
 * must, too.
 */
function openedFor(folder: string, layer: Layer, make: Create): Layer {
  const path = folder.slice(layer.base.length)
  if (!layer.patterns.test(path).ignored) return layer
  return {
    base: layer.base,
    patterns: make()
      .add(layer.patterns)
      .add(`!/${path.replace(/[\\*?[\]!# ]/g, '\\$&')}`),
  }
}

function withFile(folder: string, base: string, make: Create, layers: Layer[], hasFile: boolean): Layer[] {
  if (!hasFile) return layers
  return [...layers, {base, patterns: make().add(readFileSync(join(folder, base, '.gitignore'), 'utf8'))}]
}
