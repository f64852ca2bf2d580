import {spawn} from 'node:child_process'
import {rm, writeFile} from 'node:fs/promises'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {pathToFileURL} from 'node:url'
import {randomId, type Context} from '../../lib/base/index.ts'

/** The link of `head ui`. */
export interface HeadLink {
  url: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

export function headLinkText({url}: HeadLink): string {
  return `${url}\nOpen this link within a minute; it logs one browser in. Ctrl-C ends the forward and logs it out.`
}

/**
 * Opens the user's browser; where there is none the link is on the screen. Command lines are open to every account of
 * the machine, so the browser is given a file that only its owner reads and that leads on to the link. Returns what
 * removes the file. It lies in the home, because browsers that are confined (snap, Flatpak) see neither /tmp nor hidden
 * folders.
 */
export async function openBrowser(url: string, context: Context): Promise<() => Promise<void>> {
  const file = join(context.env.HOME ?? homedir(), `flexrack-login-${randomId()}.html`)
  await writeFile(file, leadOn(url), {mode: 0o600, flag: 'wx'})
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const child = spawn(opener, [pathToFileURL(file).href], {stdio: 'ignore', detached: true, env: context.env})
  child.on('error', () =>
    context.reporter.warn(`no browser could be opened (${opener} is missing): open the link by hand`),
  )
  child.unref()
  return () => rm(file, {force: true})
}

/** A page that leads on to a link. */
export function leadOn(url: string): string {
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>flexrack</title><meta http-equiv="refresh" content="0;url=${url}">\n`
}
