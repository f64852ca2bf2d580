import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {NodeShell} from '../ssh/index.ts'
import {keepForwards, type ForwardEvent} from '../workspace/index.ts'

/** Where a browser of this machine finds a notebook. */
export interface NotebookLink {
  url: string
  port: number
}

/**
 * Keeps the notebook's socket reachable on a port of 127.0.0.1 until ctx.signal is aborted, after a lost connection at
 * the same one again. `onLink` is called once, with the address that logs a browser in: who reads it, may use the
 * notebook. Errors: NOT_FOUND where there is none; those of keepForwards.
 */
export async function reachNotebook(
  host: Host,
  project: string,
  {port, connect}: {port: number | undefined; connect: () => Promise<NodeShell>},
  onLink: (link: NotebookLink) => void,
  onEvent: (event: ForwardEvent) => void,
  context: Context,
): Promise<void> {
  const {socket, token} = await host.call('notebook.access', {project}, {signal: context.signal})
  await keepForwards(
    connect,
    [{...(port !== undefined && {localPort: port}), remoteSocket: socket}],
    (event) => {
      if (event.event === 'open')
        onLink({url: `http://127.0.0.1:${event.localPort}/lab?token=${token}`, port: event.localPort})
      else onEvent(event)
    },
    context,
  )
}
