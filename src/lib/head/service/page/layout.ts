import {address, Html, html, type Content} from './html.ts'
import {SCRIPT_PATH, STYLE_PATH} from './assets.ts'
import type {PageUser} from './seen.ts'

export const PAGES = [
  'rack',
  'runs',
  'sweeps',
  'endpoints',
  'models',
  'notebooks',
  'data',
  'idle',
  'people',
  'audit',
] as const
export type PageName = (typeof PAGES)[number]

const TITLES: Readonly<Record<PageName, string>> = {
  rack: 'Rack',
  runs: 'Runs',
  sweeps: 'Sweeps',
  endpoints: 'Endpoints',
  models: 'Models',
  notebooks: 'Notebooks',
  data: 'Data',
  idle: 'Idle',
  people: 'People',
  audit: 'Audit',
}

/** What a page is made of. */
export interface Drawn {
  page: PageName
  title: string
  body: Html
  /** The command that does the same. */
  command: string
  /** It is told of changes. */
  isLive?: boolean
  /** Seconds after which a browser without scripts asks again; nothing where that would take away what is being typed. */
  again?: number
}

/**
 * The whole document. `rack`: its name; `may`: whether this browser may change something; `alone`: the rack is one
 * person's, who sees nothing of people; `user`: who is no admin.
 */
export function documentOf(
  drawn: Drawn,
  {
    rack,
    racks,
    may,
    alone,
    user,
  }: {rack: string; racks: readonly string[]; may: boolean; alone: boolean; user: PageUser | undefined},
  now = Date.now(),
): string {
  const {page, title, body, command, isLive, again} = drawn
  const current = (is: boolean, value: string): Html | undefined =>
    is ? new Html(` aria-current="${value}"`) : undefined
  const other = (one: string): Html => {
    const at = address(['racks', one])
    return html`<li><a href="${at}" rel="noreferrer" ${current(one === rack, 'true')}>${one}</a></li>`
  }
  const link = (one: PageName): Html =>
    html`<a href="${address(one === 'rack' ? [] : [one])}" ${current(one === page, 'page')}>${TITLES[one]}</a>`
  const mlflow = html`<a href="${address(['mlflow'])}" rel="noreferrer">MLflow ↗</a>`
  return html`<!doctype html>
    <html lang="en" ${isLive ? new Html(' data-live') : undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="same-origin" />
        <title>${title} · ${rack}</title>
        <link
          rel="icon"
          href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%232f6fde'/%3E%3Cpath d='M4 4.5h8M4 8h8M4 11.5h5' stroke='%23fff' stroke-width='1.8'/%3E%3C/svg%3E"
        />
        <link rel="stylesheet" href="${STYLE_PATH}" />
        <script src="${SCRIPT_PATH}" defer></script>
        ${again === undefined ? undefined : html`<noscript><meta http-equiv="refresh" content="${again}" /></noscript>`}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <a class="brand" href="${address([])}"
            ><svg viewBox="0 0 16 16" aria-hidden="true">
              <rect width="16" height="16" rx="3" />
              <path d="M4 4.5h8M4 8h8M4 11.5h5" /></svg
            >flexrack <b>${rack}</b></a
          >
          ${
            racks.length > 1 &&
            html`<details class="racks">
              <summary>racks</summary>
              <ul>
                ${racks.map(other)}
              </ul>
            </details>`
          }
          <nav aria-label="Pages">
            ${PAGES.filter((one) => (one === 'people' ? !alone : one !== 'audit' || !user)).map(link)}
          </nav>
          <span class="tail"
            >${user && html`<span class="tag">${user.name}</span>`}${may ? !user && mlflow : html`<span class="tag">look only</span>`}<span
              id="pulse"
              class="pulse"
              role="status"
              >as of ${new Date(now).toISOString().slice(11, 19)} UTC</span
            ></span
          >
        </header>
        <main id="main" tabindex="-1">${body}</main>
        <footer>
          <span>The same in a terminal:</span> <code class="command" tabindex="0">${command}</code
          ><button type="button" class="copy" data-copy="${command}" hidden>copy</button>
        </footer>
      </body>
    </html> `.text
}

/** What went wrong at the last look. */
export function warning(error: string | undefined): Html | undefined {
  return error === undefined ? undefined : html`<p class="warn">${error}</p>`
}

/** One figure of a `dl`. `kind`: how it is marked. */
export function tile(name: string, value: Content, more?: Content, kind = ''): Html {
  return html`<div class="tile ${kind}">
    <dt>${name}</dt>
    <dd>${value}${more !== undefined && html`<small>${more}</small>`}</dd>
  </div>`
}

/** One of a select, marked where it is the chosen one. */
export function option(value: string, chosen: string, text = value): Html {
  return value === chosen
    ? html`<option value="${value}" selected>${text}</option>`
    : html`<option value="${value}">${text}</option>`
}

/** A table; wide ones scroll by themselves. `kind`: its class; `id`: of its body, where rows come and go. */
export function table(head: readonly Content[], rows: Content, kind?: string, id?: string): Html {
  const columns = head.map((one) => html`<th scope="col">${one}</th>`)
  const whole = html`<table${kind && html` class="${kind}"`}><thead><tr>${columns}</tr></thead><tbody${id && html` id="${id}"`}>${rows}</tbody></table>`
  return html`<div class="scroll" tabindex="0" role="group">${whole}</div>`
}

/** The same of what may not be known (yet): then nothing is said of it. */
export function listOr(
  none: Content,
  head: readonly Content[],
  rows: readonly Content[] | undefined,
): Html | undefined {
  return rows && tableOr(none, head, rows)
}

/** The same; `none`: what stands in the place of one without rows. */
export function tableOr(
  none: Content,
  head: readonly Content[],
  rows: readonly Content[],
  kind?: string,
  id?: string,
): Html {
  return rows.length === 0 ? html`<p class="none">${none}</p>` : table(head, rows, kind, id)
}
