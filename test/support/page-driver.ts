import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'

/** A page in headless Chromium (Debian's package), driven by the DevTools protocol. */
export interface DrivenPage {
  /** The value of an expression there, as JSON. */
  evaluate<T>(expression: string): Promise<T>
  /** Looks until the expression is true; fails with what is on the page after `seconds`. */
  until(expression: string, seconds?: number): Promise<void>
  /** Shift and Enter, where the focus is. */
  shiftEnter(): Promise<void>
  screenshot(file: string): Promise<void>
  /** Errors of scripts and of the console since it was opened. */
  errors: string[]
  /** Goes to another address, and waits until it is there. */
  go(url: string): Promise<void>
  /** A method of the DevTools protocol. */
  send<T>(method: string, params?: object): Promise<T>
  close(): Promise<void>
}

export async function drivePage(url: string): Promise<DrivenPage> {
  const profile = await mkdtemp(join(tmpdir(), 'flexrack-browser-'))
  const browser = spawn(
    'chromium',
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--disable-sync',
      '--disable-background-networking',
      '--disable-component-update',
      '--window-size=1280,800',
      `--user-data-dir=${profile}`,
      '--remote-debugging-port=0',
      'about:blank',
    ],
    {stdio: ['ignore', 'ignore', 'pipe']},
  )
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({input: browser.stderr}).on('line', (line) => {
      const found = /^DevTools listening on (ws:\S+)/.exec(line)
      if (found) resolve(found[1]!)
    })
    browser.once('error', reject)
    browser.once('exit', (code) => reject(new Error(`chromium ended with ${code}`)))
  })
  const targets = (await (await fetch(`http://${new URL(address).host}/json/list`)).json()) as {
    type: string
    webSocketDebuggerUrl: string
  }[]
  const socket = new WebSocket(targets.find((one) => one.type === 'page')!.webSocketDebuggerUrl)
  await new Promise((resolve) => socket.addEventListener('open', resolve, {once: true}))
  const waiting = new Map<number, {resolve: (value: never) => void; reject: (error: Error) => void}>()
  let last = 0
  const errors: string[] = []
  socket.addEventListener('message', ({data}) => {
    const {id, result, error, method, params} = JSON.parse(String(data)) as {
      id?: number
      result: never
      error?: {message: string}
      method?: string
      params?: {
        entry?: {level: string; text: string}
        exceptionDetails?: {text: string; exception?: {description?: string}}
      }
    }
    if (method === 'Runtime.exceptionThrown')
      errors.push(params?.exceptionDetails?.exception?.description ?? params?.exceptionDetails?.text ?? method)
    if (method === 'Log.entryAdded' && params?.entry?.level === 'error') errors.push(params.entry.text)
    const one = id === undefined ? undefined : waiting.get(id)
    if (error) one?.reject(new Error(error.message))
    else one?.resolve(result)
  })
  const send = <T>(method: string, params: object = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting.set(++last, {resolve, reject})
      socket.send(JSON.stringify({id: last, method, params}))
    })
  const evaluate = async <T>(expression: string): Promise<T> =>
    (await send<{result: {value: T}}>('Runtime.evaluate', {expression, returnByValue: true, awaitPromise: true})).result
      .value
  await send('Runtime.enable')
  await send('Log.enable')
  await send('Page.navigate', {url})
  return {
    evaluate,
    errors,
    send,
    go: async (to) => {
      await send('Page.navigate', {url: to})
      for (;;) {
        const state = await evaluate<string>('document.readyState + " " + location.href').catch(() => '')
        if (state === `complete ${to}`) return
        await new Promise((resolve) => setTimeout(resolve, 30))
      }
    },
    until: async (expression, seconds = 180) => {
      const end = Date.now() + seconds * 1000
      while (!(await evaluate<boolean>(`Boolean(${expression})`).catch(() => false))) {
        if (Date.now() > end)
          throw new Error(`not on the page: ${expression}\n${await evaluate<string>('document.body.innerText')}`)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    },
    shiftEnter: async () => {
      for (const type of ['rawKeyDown', 'keyUp'])
        await send('Input.dispatchKeyEvent', {
          type,
          modifiers: 8,
          key: 'Enter',
          code: 'Enter',
          windowsVirtualKeyCode: 13,
        })
    },
    screenshot: async (file) =>
      writeFile(
        file,
        Buffer.from((await send<{data: string}>('Page.captureScreenshot', {format: 'png'})).data, 'base64'),
      ),
    close: async () => {
      socket.close()
      if (browser.exitCode === null) {
        const gone = once(browser, 'exit')
        browser.kill('SIGKILL')
        await gone
      }
      await rm(profile, {recursive: true, force: true, maxRetries: 5})
    },
  }
}
