import type {Failure} from '../failure.ts'
import {STYLE_PATH} from './assets.ts'
import {html} from './html.ts'

/** What a browser sees of a failure. Who is not let in gets nothing else of the page, its style neither. */
export function errorPage({status, message}: Pick<Failure, 'status' | 'message'>): string {
  const [title, text] =
    status === 401
      ? [
          'Not logged in',
          'This page is open for as long as flexrack head ui runs on your machine. Run it, and open the link that it prints.',
        ]
      : status === 404
        ? ['Nothing here', 'What this address was of may be gone.']
        : [status === 403 ? 'Not allowed' : 'That did not work', undefined]
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · flexrack</title>
        ${status === 401 ? undefined : html`<link rel="stylesheet" href="${STYLE_PATH}" />`}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p>${message}</p>
          ${text !== undefined && html`<p>${text}</p>`}
          ${status === 401 ? undefined : html`<p><a href="/flexrack/ui/">To the rack</a></p>`}
        </main>
      </body>
    </html> `.text
}
