import {visibleWidth} from '../terminal/render.ts'

/** What a panel is drawn on. */
export interface Screen {
  columns?: number
  rows?: number
  write(text: string): unknown
}

const HIDE_CURSOR = '\x1b[?25l'
const SHOW_CURSOR = '\x1b[?25h'

/**
 * Lines at the bottom of a terminal that are drawn over in place; other lines scroll above them. `close()` leaves the
 * terminal as it was.
 */
export class LivePanel {
  readonly #screen: Screen
  /** What stands there now. */
  #drawn: string[] = []
  #state: 'new' | 'open' | 'closed' = 'new'

  constructor(screen: Screen) {
    this.#screen = screen
  }

  /**
   * Columns and lines that a panel may take: the last line stays for the cursor, and lines as wide as the screen would
   * be broken by some terminals.
   */
  get size(): {width: number; height: number} {
    return {width: Math.max(10, (this.#screen.columns ?? 80) - 1), height: Math.max(1, (this.#screen.rows ?? 24) - 1)}
  }

  /** Draws a panel in the place of the one before. */
  draw(text: string): void {
    this.#drawn = this.#paint('', text === '' ? [] : text.split('\n'))
  }

  /** Lines that stay, above the panel. */
  print(text: string): void {
    this.#drawn = this.#paint(text === '' || text.endsWith('\n') ? text : `${text}\n`, this.#drawn)
  }

  /**
   * What stands there stays, the cursor comes back, and nothing is drawn any more: what others write now would be drawn
   * over. Safe to repeat.
   */
  close(): void {
    if (this.#state === 'open') this.#screen.write(SHOW_CURSOR)
    this.#state = 'closed'
  }

  #paint(above: string, lines: string[]): string[] {
    if (this.#state === 'closed') return lines
    const begin = this.#state === 'open' ? '' : HIDE_CURSOR
    this.#state = 'open'
    this.#screen.write(`${begin}${this.#erase()}${above}${lines.map((line) => `${line}\n`).join('')}`)
    return lines
  }

  /** A terminal that was made narrower has broken our lines: they take more room than were written. */
  #erase(): string {
    const columns = this.#screen.columns ?? 80
    const rows = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(visibleWidth(line) / columns)), 0)
    const up = Math.min(rows, (this.#screen.rows ?? 24) - 1)
    return up === 0 ? '' : `\x1b[${up}A\r\x1b[J`
  }
}
