import {randomUUID} from 'node:crypto'
import {request} from 'node:http'

/** A server of Jupyter, as a browser that knows the token sees it. */
export interface JupyterServer {
  port: number
  token: string
}

export interface Answer {
  status: number
  text: string
}

/** One request; without `token` as a stranger. `host`: what the header says. */
export function ask(
  {port}: Pick<JupyterServer, 'port'>,
  path: string,
  {token, host, method = 'GET', body}: {token?: string; host?: string; method?: string; body?: unknown} = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(token !== undefined && {Authorization: `token ${token}`}),
      ...(host !== undefined && {Host: host}),
      'Content-Type': 'application/json',
    }
    const asked = request({host: '127.0.0.1', port, path, method, headers}, (answer) => {
      let text = ''
      answer
        .on('data', (chunk) => (text += String(chunk)))
        .on('end', () => resolve({status: answer.statusCode ?? 0, text}))
        .on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** A new kernel's id. */
export async function startKernel({port, token}: JupyterServer, name = 'python3'): Promise<string> {
  const answer = await ask({port}, '/api/kernels', {token, method: 'POST', body: {name}})
  if (answer.status !== 201) throw new Error(`no kernel: ${answer.status} ${answer.text}`)
  return (JSON.parse(answer.text) as {id: string}).id
}

/** A connection to a kernel, of one session: who comes back with the same session gets what was said meanwhile. */
export class KernelSession {
  readonly session: string
  printed = ''
  readonly errors: string[] = []
  readonly #socket: WebSocket
  readonly #idle = new Set<string>()
  #wake: () => void = () => {}
  closed = false

  private constructor(socket: WebSocket, session: string) {
    this.#socket = socket
    this.session = session
    socket.addEventListener('message', ({data}) => {
      if (typeof data === 'string') this.#hear(JSON.parse(data) as Message)
      this.#wake()
    })
    socket.addEventListener('close', () => {
      this.closed = true
      this.#wake()
    })
    socket.addEventListener('error', () => {})
  }

  static async open(
    {port, token}: JupyterServer,
    kernel: string,
    session: string = randomUUID(),
  ): Promise<KernelSession> {
    const socket = new WebSocket(
      `ws://127.0.0.1:${port}/api/kernels/${kernel}/channels?session_id=${session}&token=${token}`,
    )
    const opened = new KernelSession(socket, session)
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), {once: true})
      socket.addEventListener('close', () => reject(new Error('the kernel is not reached')), {once: true})
    })
    return opened
  }

  /** Sends a cell; returns what `done` takes. */
  run(code: string): string {
    const id = randomUUID()
    const header = {
      msg_id: id,
      msg_type: 'execute_request',
      username: '',
      session: this.session,
      date: new Date().toISOString(),
      version: '5.4',
    }
    const content = {
      code,
      silent: false,
      store_history: true,
      user_expressions: {},
      allow_stdin: false,
      stop_on_error: true,
    }
    this.#socket.send(JSON.stringify({header, parent_header: {}, metadata: {}, content, channel: 'shell', buffers: []}))
    return id
  }

  /** Waits for a condition that messages bring about. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.closed) throw new Error('the connection to the kernel is closed')
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** What a cell prints, once it is over. */
  async output(code: string): Promise<string> {
    const before = this.printed.length
    const id = this.run(code)
    await this.until(() => this.#idle.has(id))
    if (this.errors.length > 0) throw new Error(this.errors.join('\n'))
    return this.printed.slice(before)
  }

  close(): void {
    this.#socket.close()
  }

  #hear({header, parent_header: parent, content}: Message): void {
    if (header.msg_type === 'stream') this.printed += content.text ?? ''
    if (header.msg_type === 'error') this.errors.push(`${content.ename}: ${content.evalue}`)
    if (header.msg_type === 'status' && content.execution_state === 'idle' && parent.msg_id)
      this.#idle.add(parent.msg_id)
  }
}

interface Message {
  header: {msg_type: string}
  parent_header: {msg_id?: string}
  content: {text?: string; execution_state?: string; ename?: string; evalue?: string}
}
