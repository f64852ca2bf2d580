import type {HeadAudit} from '../../../protocol/index.ts'
import type {PageData, PageNotebook} from '../../types.ts'
import {address, html, slug, type Html} from './html.ts'
import {listOr, warning} from './layout.ts'
import type {ModelFacts} from './mlflow-facts.ts'
import {ago, duration, size, state} from './words.ts'

const MOST_VERSIONS = 5

/** The body of the page of models. Pure. */
export function modelsBody(models: readonly ModelFacts[] | undefined, error: string | undefined, now: number): Html {
  const rows = models?.map((one) => {
    const of = (version: string): string[] =>
      Object.entries(one.aliases).flatMap(([alias, at]) => (at === version ? [alias] : []))
    const line = ({version, status}: ModelFacts['versions'][number]): Html => {
      const link = html`<a href="${address(['why', 'model', one.name, version])}">${one.name}/${version}</a>`
      const tags = of(version).map((alias) => html`<span class="tag">${alias}</span> `)
      return html`<div>
        ${link} ${tags}${status === '' || status === 'READY' ? undefined : state(status.toLowerCase())}
      </div>`
    }
    const older = one.versions.length - MOST_VERSIONS
    return html`<tr>
      <th scope="row">
        ${one.name}${one.project !== null && html` <span class="tag">${one.project}</span>`}<small
          >${one.description.slice(0, 120)}</small
        >
      </th>
      <td>${one.versions.slice(0, MOST_VERSIONS).map(line)}${older > 0 && html`<small>and ${older} older</small>`}</td>
      <td class="number">${ago(one.versions[0]?.created ?? one.updated, now)}</td>
    </tr>`
  })
  const none = html`No model is registered yet: <code>flexrack model register</code>`
  return html`<h1>Models</h1>
    ${warning(error)}${listOr(none, ['model', 'versions', 'newest'], rows)}`
}

/** The body of the page of notebooks. Pure. */
export function notebooksBody(
  notebooks: readonly PageNotebook[] | undefined,
  error: string | undefined,
  may: boolean,
  now: number,
): Html {
  const ends = ({node, name}: PageNotebook): Html =>
    html`<a class="button danger" href="${address(['notebooks', node, name, 'end'])}">End …</a>`
  const rows = notebooks?.map(
    (one) =>
      html`<tr id="notebook-${slug(`${one.node} ${one.name}`)}">
        <th scope="row">${one.name}</th>
        <td>${one.node}</td>
        <td>${state(one.state)}${one.why === null ? undefined : html`<small>${one.why}</small>`}</td>
        <td class="number">${one.kernels}</td>
        <td class="number">${one.idleSince === null ? '' : duration(now - one.idleSince)}</td>
        <td class="number">${one.endsAt === null ? '' : `in ${duration(one.endsAt - now)}`}</td>
        <td>${may && one.state !== 'ended' && ends(one)}</td>
      </tr>`,
  )
  const none = html`No notebook runs: <code>flexrack notebook start</code>`
  const end = html`<span class="unseen">end it</span>`
  return html`<h1>Notebooks</h1>
    ${warning(error)}${listOr(none, ['project', 'node', 'state', 'kernels', 'idle for', 'ends', end], rows)}
    <p class="legend">
      <span>
        A notebook opens on your own machine, by <code>flexrack notebook start</code>: what it runs must not get at this
        page.</span
      >
    </p>`
}

/** The body of the page of data sets. Pure. */
export function dataBody(data: readonly PageData[] | undefined, error: string | undefined, now: number): Html {
  const rows = data?.map(
    (one) =>
      html`<tr>
        <th scope="row">${one.name}</th>
        <td><code>${one.digest.slice(0, 12)}</code></td>
        <td class="number">${one.files}</td>
        <td class="number">${size(one.bytes)}</td>
        <td class="number">${ago(one.created, now)}</td>
      </tr>`,
  )
  const none = html`The machine that opened this page keeps no data set: <code>flexrack data add FOLDER NAME</code>`
  return html`<h1>Data sets</h1>
    ${warning(error)}${listOr(none, ['data set', 'version', 'files', 'size', 'made'], rows)}`
}

/** The body of the page of what was changed and refused, newest first. Pure. */
export function auditBody(actions: readonly HeadAudit[] | undefined, error: string | undefined, now: number): Html {
  const failed = ({error, times}: HeadAudit): Html =>
    html`<span class="bad">${error}${times === undefined ? '' : ` (${times} times more)`}</span>`
  const rows = actions?.map(
    (one) =>
      html`<tr>
        <td class="number">${ago(one.at, now)}</td>
        <td>${one.says ?? one.who}</td>
        <td>${one.action}</td>
        <td class="value target">${one.target}</td>
        <td class="value target">${one.error === undefined ? one.outcome : failed(one)}</td>
      </tr>`,
  )
  return html`<h1>Audit</h1>
    ${warning(error)}${listOr('Nothing was changed or refused yet.', ['when', 'who, as they say', 'what', 'of', 'came to'], rows)}`
}
