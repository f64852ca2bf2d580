/** Requests one after the other on several connections at once, until stopped; every answer is checked and counted. */
export interface Traffic {
  /** Answers so far, by the value the model added: tells which model gave them. */
  answers: Map<number, number>
  /** What went wrong, one sentence each. */
  failures: string[]
  /** Resolves when so many more answers came. */
  more(count: number): Promise<void>
  stop(): Promise<void>
}

/** Sends to a model made by addModel, `x` in, `y = x + offset` out. */
export function startTraffic(url: string, token: string, workers = 2): Traffic {
  const answers = new Map<number, number>()
  const failures: string[] = []
  let total = 0
  let stopped = false
  const waiting = new Set<() => void>()
  const work = async (): Promise<void> => {
    while (!stopped) {
      const x = Math.round(Math.random() * 1000)
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json'},
          body: JSON.stringify({inputs: [{name: 'x', shape: [1, 4], datatype: 'FP32', data: [x, x, x, x]}]}),
        })
        const text = await response.text()
        if (response.status !== 200) failures.push(`${response.status} ${text.slice(0, 200)}`)
        else {
          const {data} = (JSON.parse(text) as {outputs: {data: number[]}[]}).outputs[0] ?? {data: []}
          const offset = (data[3] ?? NaN) - x
          answers.set(offset, (answers.get(offset) ?? 0) + 1)
        }
      } catch (error) {
        failures.push(String((error as Error).cause ?? error))
      }
      total += 1
      for (const wake of waiting) wake()
    }
  }
  const running = Array.from({length: workers}, work)
  return {
    answers,
    failures,
    more: (count) => {
      const goal = total + count
      return new Promise((resolve) => {
        const wake = (): void => {
          if (total < goal) return
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
      })
    },
    stop: async () => {
      stopped = true
      await Promise.all(running)
    },
  }
}
