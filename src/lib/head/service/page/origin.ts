import type {PageAsks, PageOrigin} from '../../types.ts'
import {address, html, type Html} from './html.ts'

/** An endless tree is nobody's. */
const DEEPEST = 40

/** The body of the page that says where something comes from. Pure. */
export function originBody(name: string, {tree, broken}: PageAsks['why']['answer']): Html {
  return html`<h1>Where ${name} comes from</h1>
    ${broken && html`<p class="warn cause">${broken.arrow} does not hold: ${broken.why}</p>`}
    <div class="card origin">
      <ol>
        ${step(tree, 0)}
      </ol>
    </div>
    <p class="legend">
      From what is served, back to who made it. Nothing was hashed for this page: to hash everything again
      <code>flexrack why ${name} --verify</code>
    </p>`
}

function step({kind, name, facts, check, from}: PageOrigin, depth: number): Html {
  return html`<li>
    <p>
      <span class="tag">${kind}</span> ${link(kind, name)}
      ${check && html`<small class="${check.holds ? 'holds' : 'bad'}">${check.holds ? '✓' : '✗'} ${check.why}</small>`}
    </p>
    ${
      facts.length > 0 &&
      html`<dl>
        ${facts.map(
          ([what, value]) =>
            html`<div>
              <dt>${what}</dt>
              <dd>${value}</dd>
            </div>`,
        )}
      </dl>`
    }
    ${
      from.length > 0 &&
      depth < DEEPEST &&
      html`<ol>
        ${from.map((one) => step(one, depth + 1))}
      </ol>`
    }
  </li>`
}

const PAGES: Readonly<Record<string, string>> = {run: 'runs', parent: 'runs', endpoint: 'endpoints'}

function link(kind: string, name: string): Html {
  const page = PAGES[kind]
  return page === undefined ? html`<b>${name}</b>` : html`<a href="${address([page, name])}"><b>${name}</b></a>`
}
