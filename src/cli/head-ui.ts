import {spawn} from 'node:child_process'
import type {Context} from '../lib/base/index.ts'

/** The link of `head ui`. */
export interface HeadLink {
  url: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

export function headLinkText({url}: HeadLink): string {
  return `${url}\nOpen this link within a minute; it logs one browser in. Ctrl-C ends the forward and logs it out.`
}

/** Opens the user's browser; where there is none the link is on the screen. */
export function openBrowser(url: string, context: Context): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const child = spawn(opener, [url], {stdio: 'ignore', detached: true, env: context.env})
  child.on('error', () => context.reporter.warn(`no browser could be opened (${opener} is missing): open the link by hand`))
  child.unref()
}
