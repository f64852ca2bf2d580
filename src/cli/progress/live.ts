import type {DefaultRenderer, Listr, ListrTaskObject} from 'listr2'
import {paintError, printError} from '../terminal/print.ts'
import {printable} from '../terminal/printable.ts'
import {amountText, titleText} from './text.ts'
import type {ScreenReporter} from './reporter.ts'
import {duration} from '../terminal/render.ts'

/** A command that ends within this time shows no progress at all. Milliseconds. */
const QUICK = 400

type Task = ListrTaskObject<unknown>

interface Item {
  name: string
  detail: string
  started: number
  task?: Task
}

/** Progress on a terminal: what goes on below, with a spinner; what is done moves up and stays. Painted by listr2. */
export function openTerminalReporter(): ScreenReporter {
  const screen = new Screen()
  process.on('exit', () => screen.stop())
  return {
    begin(title, node) {
      const item: Item = {name: titleText(title, node), detail: '', started: performance.now()}
      screen.add(item)
      return {
        detail: (text) => screen.change(item, text),
        amount: (...amount) => screen.change(item, amountText(amount)),
        done: (text) =>
          screen.finish(item, paintError.green('✔'), text === undefined ? item.name : titleText(text, node)),
        fail: (text) =>
          screen.finish(item, paintError.red('✖'), text === undefined ? item.name : titleText(text, node)),
      }
    },
    note: (message) => screen.print(message),
    warn: (message) => screen.print(`${paintError.yellow('warning:')} ${message}`),
    suspend: (use) => screen.suspend(use),
  }
}

class Screen {
  readonly #pending = new Set<Item>()
  /** Lines about work that was done before anything was shown. */
  #held: string[] = []
  #due = false
  #timer: NodeJS.Timeout | undefined
  #suspended = 0
  #listr2: typeof import('listr2') | undefined
  #list: Listr | undefined
  #renderer: DefaultRenderer | undefined
  #starting = false
  /** Undoes the watch on stdout. */
  #release: (() => void) | undefined

  add(item: Item): void {
    this.#pending.add(item)
    this.#timer ??= setTimeout(() => {
      this.#due = true
      if (this.#pending.size > 0) void this.#start()
    }, QUICK).unref()
    if (this.#renderer) this.#show(item)
    else if (this.#due) void this.#start()
  }

  change(item: Item, detail: string): void {
    item.detail = detail
    if (item.task) item.task.title$ = liveTitle(item)
  }

  finish(item: Item, mark: string, text: string): void {
    if (!this.#pending.delete(item)) return
    const took = performance.now() - item.started
    const line = `${mark} ${text}${took > 1000 ? paintError.dim(` ${duration(took)}`) : ''}`
    this.#hide(item)
    if (this.#due) this.print(line)
    else this.#held.push(line)
  }

  /** A line that stays. */
  print(line: string): void {
    this.stop()
    printError(line)
    void this.#start()
  }

  async suspend<T>(use: () => Promise<T>): Promise<T> {
    this.#suspended++
    this.stop()
    try {
      return await use()
    } finally {
      this.#suspended--
      void this.#start()
    }
  }

  /** Clears the screen of what is not permanent. Synchronous, so that an answer printed next is not mixed with it. */
  stop(): void {
    const renderer = this.#renderer
    this.#renderer = undefined
    this.#release?.()
    this.#release = undefined
    renderer?.end()
  }

  async #start(): Promise<void> {
    this.#listr2 ??= await import('listr2')
    if (!this.#wanted()) return
    const {DefaultRenderer, Listr, ListrLogger, ProcessOutput} = this.#listr2
    // listr2's own signal handler would end the process with 127; ours are in context.ts. Its tasks are used as plain
    // state for the renderer: work begins and ends when the reporter is told so.
    this.#list ??= new Listr([], {registerSignalListeners: false})
    const output = new ProcessOutput(process.stderr, process.stderr, {leaveEmptyLine: false})
    const options = {
      clearOutput: true,
      formatOutput: 'truncate' as const,
      logger: new ListrLogger({processOutput: output}),
    }
    const renderer = new DefaultRenderer(this.#list.tasks as never, options, this.#list.events)
    const held = this.#held.splice(0)
    if (held.length > 0) printError(held.join('\n'))
    for (const item of this.#pending) this.#show(item)
    this.#starting = true
    await renderer.render()
    this.#starting = false
    this.#renderer = renderer
    // In the meantime the work may have ended, or somebody may want the terminal.
    if (this.#pending.size === 0 || this.#suspended > 0) return this.stop()
    renderer.update() // else the lines would be gone until the spinner's next turn
    this.#watchStdout()
  }

  #wanted(): boolean {
    return this.#due && !this.#renderer && !this.#starting && this.#suspended === 0 && this.#pending.size > 0
  }

  #show(item: Item): void {
    if (!this.#list || item.task) return
    this.#list.add({title: item.name, task: () => {}})
    item.task = this.#list.tasks.at(-1) as Task
    item.task.state$ = 'STARTED' as Task['state']
    this.change(item, item.detail)
    this.#fit()
  }

  #hide(item: Item): void {
    if (!this.#list || !item.task) return
    this.#list.tasks.splice(this.#list.tasks.indexOf(item.task as never), 1)
    this.#fit()
  }

  /** More lines than the terminal has would scroll away with every frame: the first ones are shown. */
  #fit(): void {
    const room = Math.max(1, (process.stderr.rows ?? 24) - 3)
    this.#list?.tasks.forEach((task, index) => Object.assign(task, {enabled: index < room}))
  }

  /** Something else that writes to the same terminal (a followed log) goes above the live lines. */
  #watchStdout(): void {
    if (!process.stdout.isTTY) return
    const write = process.stdout.write
    process.stdout.write = ((...args: Parameters<typeof write>) => {
      this.stop()
      const done = process.stdout.write(...args)
      void this.#start()
      return done
    }) as typeof write
    this.#release = () => (process.stdout.write = write)
  }
}

/** One line, whatever the detail is: a line of pip's, a name on a node. */
function liveTitle(item: Item): string {
  const text = item.detail === '' ? item.name : `${item.name} ${paintError.dim(item.detail)}`
  return printable(text, true).replaceAll('\n', ' ')
}
