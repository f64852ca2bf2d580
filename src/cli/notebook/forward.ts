import type {Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import type {NotebookLink} from '../../lib/notebook/index.ts'
import type {ForwardEvent} from '../../lib/workspace/index.ts'
import type {Session} from '../base/session.ts'
import {forwardText} from '../workspace/text.ts'

export interface ForwardHow {
  port?: number | undefined
  /** Open the browser. */
  browser: boolean
  json: boolean
}

/** Forwards a notebook until Ctrl-C: `follow` prints its address, and under --json what happens to the forward. */
export async function forwardNotebook(
  {fleet}: Session,
  host: Host,
  project: string,
  {port, browser, json}: ForwardHow,
  follow: <T>(value: T, text: (value: T) => string) => void,
  context: Context,
): Promise<void> {
  const [{reachNotebook}, {openBrowser}] = await Promise.all([
    import('../../lib/notebook/index.ts'),
    import('../head/ui.ts'),
  ])
  let closing: Promise<() => Promise<void>> | undefined
  const onLink = (link: NotebookLink): void => {
    follow(link, ({url}) => `${url}\nCtrl-C ends the forward; the notebook goes on.`)
    if (browser) closing = openBrowser(link.url, context)
  }
  const onEvent = (event: ForwardEvent): void => {
    if (json) follow(event, forwardText)
    else if (event.event === 'back') context.reporter.note(forwardText(event))
    else context.reporter.warn(forwardText(event))
  }
  try {
    await reachNotebook(host, project, {port, connect: () => fleet.shell(host.node)}, onLink, onEvent, context)
  } finally {
    await (
      await closing
    )?.()
  }
}
