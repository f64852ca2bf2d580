import {spawn} from 'node:child_process'
import {rm, writeFile} from 'node:fs/promises'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {pathToFileURL} from 'node:url'
import {CliError, isCliError, randomId, type Context} from '../../lib/base/index.ts'
import {connectHead, type HeadConnection, type Login} from '../../lib/head/index.ts'
import {servePage} from '../../lib/page/index.ts'
import type {Session} from '../base/session.ts'

/** The link of `head ui`. */
export interface HeadLink {
  url: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

export function headLinkText({url}: HeadLink): string {
  return `${url}\nOpen this link within a minute; it logs one browser in. Ctrl-C ends the forwards and logs it out.`
}

/** The page, as long as it is open. */
export interface OpenUi {
  link: HeadLink
  text(link: HeadLink): string
  /** Until Ctrl-C, which logs the browser out. Errors: NODE_UNREACHABLE once the way to the head is lost. */
  stay(opensBrowser: boolean): Promise<void>
}

/** A rack whose page is open. */
interface OpenRack {
  session: Session
  head: HeadConnection
  mlflow: HeadConnection
  login: Login
}

/**
 * For each rack a forward for the page and another one for MLflow's pages, which show what runs have written: a browser
 * takes them for two places, and nothing of one gets at the other. The link leads to the first rack, and its page to the
 * others; one of several that has no head is left out, and told. Errors: those of connectHead.
 */
export async function openUi(
  sessions: Session[],
  {opens}: {opens: 'page' | 'look'},
  context: Context,
): Promise<OpenUi> {
  // Ctrl-C ends the wait below, not the goodbye after it.
  const own = {...context, signal: new AbortController().signal}
  const racks: OpenRack[] = []
  let missing: unknown
  for (const session of sessions) {
    try {
      racks.push(await openRack(session, opens, own))
    } catch (error) {
      if (sessions.length === 1 || !isCliError(error)) throw error
      missing ??= error
      context.reporter.warn(`rack ${session.rack.name} is left out: ${error.message}`)
    }
  }
  const [first] = racks
  if (!first) throw missing
  const enters = new Map(racks.map(({session, login}) => [session.rack.name, () => login.again()]))
  return {
    link: {url: first.login.url, expiresAt: first.login.expiresAt},
    text: headLinkText,
    async stay(opensBrowser) {
      const closeLink = opensBrowser ? await openBrowser(first.login.url, context) : undefined
      const over = new AbortController()
      const lost = racks.map(async ({session, head, login, mlflow}) => {
        const page = {place: session, head, login: login.name, mlflow: mlflow.uri, enters}
        await Promise.race([head.closed, servePage(page, over.signal, context)])
        if (racks.length > 1 && !over.signal.aborted)
          context.reporter.warn(`the connection to ${session.rack.head.node} of rack ${session.rack.name} was lost`)
      })
      const ended = new Promise<void>((resolve) =>
        context.signal.addEventListener('abort', () => resolve(), {once: true}),
      )
      if (!context.signal.aborted) await Promise.race([ended, Promise.all(lost)])
      over.abort()
      await closeLink?.()
      const isLost = !context.signal.aborted
      if (!isLost) await Promise.all(racks.map(({login}) => login.end()))
      await Promise.all(racks.flatMap(({head, mlflow}) => [head.close(), mlflow.close()]))
      if (isLost)
        throw new CliError(
          'NODE_UNREACHABLE',
          `the connection to ${first.session.rack.head.node} was lost, and with it the page's way to the head`,
          {hint: 'flexrack head ui'},
        )
    },
  }
}

async function openRack(session: Session, opens: 'page' | 'look', context: Context): Promise<OpenRack> {
  const {rack, fleet} = session
  const head = await connectHead(rack, fleet, context)
  const mlflow = await connectHead(rack, fleet, context)
  return {session, head, mlflow, login: await head.logIn(opens)}
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
