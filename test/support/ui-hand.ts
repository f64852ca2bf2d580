import type {PageAsk, PageAsks, PageQuestion} from '../../src/lib/head/types.ts'

/** What a made-up `head ui` answers. */
export type HandAnswers = {
  [A in PageAsk]?: (input: PageAsks[A]['input']) => PageAsks[A]['answer'] | Promise<PageAsks[A]['answer']>
}

export interface Hand {
  login: string
  /** Address of the link that works once. */
  link: string
  /** Comes in by it: the cookie, and the headers that a browser of today sends along. */
  enter(): Promise<Record<string, string>>
  /** Every question that came. */
  asked: PageQuestion[]
  close(): Promise<void>
}

/** Has the page of a head open, as `head ui` has it, with answers that a test gives. */
export async function openHand(
  head: {url: string; call(method: string, path: string, body?: unknown): Promise<Response>},
  answers: HandAnswers,
  {
    opens = 'page',
    view = 'view',
    mlflow = 'http://127.0.0.1:9',
    racks = ['lab'],
  }: {opens?: 'page' | 'look'; view?: string; mlflow?: string; racks?: string[]} = {},
): Promise<Hand> {
  const {path, login} = (await (await head.call('POST', '/flexrack/v1/login-codes', {opens})).json()) as {
    path: string
    login: string
  }
  const asked: PageQuestion[] = []
  const over = new AbortController()
  const who = {rack: 'lab', view, owner: 'alice@lab1', mlflow, racks}
  const serve = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const answer = await head
        .call('POST', `/flexrack/v1/logins/${login}/questions`, {...who, wait: 1})
        .catch(() => undefined)
      if (!answer?.ok) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        continue
      }
      const {questions} = (await answer.json()) as {questions: PageQuestion[]}
      for (const question of questions) {
        asked.push(question)
        const give = answers[question.ask] as ((input: unknown) => unknown) | undefined
        const found = give
          ? await (async () => give(question.input))().then(
              (value) => ({value}),
              (error: Error) => ({error: {code: 'REMOTE_FAILED', message: error.message}}),
            )
          : {error: {code: 'BUG', message: `nobody answers ${question.ask}`}}
        await head.call('POST', `/flexrack/v1/logins/${login}/answers`, {id: question.id, ...found}).catch(() => {})
      }
    }
  }
  const serving = serve()
  return {
    login,
    link: head.url + path,
    async enter() {
      const given = await fetch(head.url + path)
      const cookie = (given.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
      return {cookie, 'sec-fetch-site': 'same-origin', origin: new URL(head.url).origin}
    },
    asked,
    async close() {
      over.abort()
      await serving
      await head.call('DELETE', `/flexrack/v1/logins/${login}`).catch(() => {})
    },
  }
}
