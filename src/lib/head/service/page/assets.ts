import {hash} from 'node:crypto'
import {SCRIPT} from './script.ts'
import {STYLE} from './style.ts'

/** Names have the contents' hash: a browser keeps them for good, and asks anew once they are others. */
const named = (name: string, text: string): string =>
  `/flexrack/ui/assets/${name.replace('.', `-${hash('sha256', text).slice(0, 12)}.`)}`

export const STYLE_PATH = named('page.css', STYLE)
export const SCRIPT_PATH = named('page.js', SCRIPT)

export interface Asset {
  type: string
  text: string
}

export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  [STYLE_PATH, {type: 'text/css; charset=utf-8', text: STYLE}],
  [SCRIPT_PATH, {type: 'text/javascript; charset=utf-8', text: SCRIPT}],
])
