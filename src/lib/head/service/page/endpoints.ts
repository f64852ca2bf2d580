import type {QueueFigures, ReleaseFigures, ScalingFigures} from '../../types.ts'
import {meter} from './draw.ts'
import {address, html, slug, type Content, type Html} from './html.ts'
import {table, tableOr} from './layout.ts'
import {trySection, type Tried} from './try.ts'
import {ago, percent, state} from './words.ts'

/** An endpoint as the head knows it; what its document is, is its owner's, so that all of it may be missing. */
export interface EndpointFacts {
  name: string
  document: {
    active?: {release?: string; protocol?: string} | null
    canary?: {release: string; since: string; steps: number[]} | null
    releases?: {
      id: string
      model?: {name?: string; version?: string}
      runtime?: string
      state?: string
      replicas?: {node: string}[]
      activeAt?: string
      by?: string
      reason?: string
      rejected?: boolean
    }[]
  }
  figures: Record<string, ReleaseFigures>
  queue: QueueFigures
  scaling: ScalingFigures | null
  rollout: {percent: number; state: string} | null
  /** Where clients reach it. */
  url?: string
}

/** The body of the page of endpoints. Pure. */
export function endpointsBody(endpoints: readonly EndpointFacts[]): Html {
  return html`<h1>Endpoints</h1>
    ${endpointsTable(endpoints)}`
}

/** What of it changes. Pure. */
export function endpointsTable(endpoints: readonly EndpointFacts[]): Html {
  const none = html`Nothing is served yet: <code>flexrack endpoint deploy MODEL</code>`
  const head = ['endpoint', 'state', 'serves', 'servers', 'requests', 'failed', 'p50', 'p99', 'waiting']
  return html`<div id="endpoints">${tableOr(none, head, endpoints.map(row))}</div>`
}

function row(one: EndpointFacts): Html {
  const release = activeOf(one)
  const figures = one.figures[one.document.active?.release ?? '']
  const {canary} = one.document
  return html`<tr id="endpoint-${slug(one.name)}">
    <th scope="row"><a href="${address(['endpoints', one.name])}">${one.name}</a></th>
    <td>
      ${state(stateOf(one))}${canary && html`<small>canary ${canary.release} at ${one.rollout?.percent ?? 0} %</small>`}
    </td>
    <td>${release ? modelOf(release) : ''}</td>
    <td class="number">
      ${one.scaling ? `${one.scaling.ready} of ${one.scaling.places.length}` : (release?.replicas?.length ?? 0)}
    </td>
    ${numbers(figures)}
    <td class="number">${one.queue.queued}</td>
  </tr>`
}

function numbers(figures: ReleaseFigures | undefined): Content {
  return html`<td class="number">${figures?.requests ?? 0}</td>
    <td class="number">${figures && figures.failed > 0 ? html`<span class="bad">${figures.failed}</span>` : 0}</td>
    <td class="number">${ms(figures?.p50)}</td>
    <td class="number">${ms(figures?.p99)}</td>`
}

/** The parts of the page of an endpoint that change, by the ids of their elements. Pure. */
export function endpointParts(one: EndpointFacts, now: number): Record<string, Html> {
  const {document, queue, scaling, figures} = one
  const total = Object.values(figures).reduce((sum, {requests}) => sum + requests, 0)
  const releases = document.releases ?? []
  return {
    facts: html`<dl class="facts" id="facts">
      <div>
        <dt>state</dt>
        <dd>${state(stateOf(one))}</dd>
      </div>
      <div>
        <dt>speaks</dt>
        <dd>${document.active?.protocol ?? 'v2'}</dd>
      </div>
      ${
        one.url !== undefined &&
        html`<div>
          <dt>address</dt>
          <dd><code>${one.url}</code></dd>
        </div>`
      }
      <div>
        <dt>at servers now</dt>
        <dd>${queue.inFlight}</dd>
      </div>
      <div>
        <dt>waiting</dt>
        <dd>${queue.queued} of ${queue.most}</dd>
      </div>
      <div>
        <dt>waited, p99</dt>
        <dd>${ms(queue.p99) || 'none'}</dd>
      </div>
      <div>
        <dt>not sent</dt>
        <dd>${queue.full + queue.expired + queue.late}</dd>
      </div>
      ${
        scaling &&
        html`<div>
          <dt>servers</dt>
          <dd>${scaling.ready} of ${scaling.wanted} wanted (${scaling.state})</dd>
        </div>`
      }
    </dl>`,
    releases: html`<section id="releases" aria-labelledby="releases-title">
      <h2 id="releases-title">Releases</h2>
      ${table(
        ['release', 'model', 'state', 'traffic', 'requests', 'failed', 'p50', 'p99', 'nodes', 'switched to', 'by'],
        releases.map((release) => {
          const own = figures[release.id]
          const share = total > 0 ? (own?.requests ?? 0) / total : 0
          const {rejected, reason} = release
          const why = reason && html`<small class="cause">${reason}</small>`
          return html`<tr>
            <th scope="row">${release.id}</th>
            <td>${modelOf(release)}<small>${release.runtime}</small></td>
            <td>${state(release.state ?? '')}${rejected && html`<small>rolled back from</small>`}${why}</td>
            <td>
              ${own && meter(share, `${percent(share)} of the requests`)}<small>${own ? percent(share) : ''}</small>
            </td>
            ${numbers(own)}
            <td>${[...new Set((release.replicas ?? []).map(({node}) => node))].join(', ')}</td>
            <td class="number">${release.activeAt === undefined ? '' : ago(Date.parse(release.activeAt), now)}</td>
            <td>${release.by}</td>
          </tr>`
        }),
      )}
    </section>`,
    events: html`<section id="events">
      ${
        scaling &&
        scaling.events.length > 0 &&
        html`<h2>What its servers did</h2>
          ${table(
            ['when', 'what'],
            scaling.events.slice(0, 20).map(
              (event) =>
                html`<tr>
                  <td class="number">${ago(event.at, now)}</td>
                  <td>${event.text}</td>
                </tr>`,
            ),
          )}`
      }
    </section>`,
  }
}

/** The body of the page of an endpoint. Pure. */
export function endpointBody(one: EndpointFacts, may: boolean, now: number, tried?: Tried): Html {
  const parts = endpointParts(one, now)
  const canReturn = one.document.releases?.some((release) => release.state === 'stopped' && !release.rejected)
  return html`<div class="title">
      <h1>${one.name}</h1>
      <span class="act"
        ><a class="button" href="${address(['why', 'endpoint', one.name])}">Where from</a
        >${may && canReturn && html`<a class="button danger" href="${address(['endpoints', one.name, 'rollback'])}">Roll back …</a>`}</span
      >
    </div>
    ${parts.facts}${parts.releases}
    ${may && one.document.active && trySection(one.name, one.document.active.protocol ?? 'v2', tried)}${parts.events}`
}

type OneRelease = NonNullable<EndpointFacts['document']['releases']>[number]

function activeOf({document}: EndpointFacts): OneRelease | undefined {
  return document.releases?.find((one) => one.id === document.active?.release)
}

function modelOf({model}: OneRelease): string {
  return model?.name === undefined ? '' : `${model.name}${model.version === undefined ? '' : `/${model.version}`}`
}

function stateOf({document, scaling, queue}: EndpointFacts): string {
  if (!document.active) return document.releases?.some((one) => one.state === 'starting') ? 'changing' : 'down'
  if (scaling && scaling.state !== 'awake') return scaling.state
  return queue.down.length + queue.ejected.length > 0 ? 'failing' : 'serving'
}

function ms(value: number | null | undefined): string {
  return value === null || value === undefined
    ? ''
    : value < 10
      ? `${value.toFixed(1)} ms`
      : value < 10_000
        ? `${Math.round(value)} ms`
        : `${(value / 1000).toFixed(1)} s`
}
