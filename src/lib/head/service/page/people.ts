import {QUOTA_WORDS, quotaAmount} from '../../../base/index.ts'
import type {PeopleFacts, QueuedRun, QuotaUse, UserToken} from '../../types.ts'
import {html, type Content, type Html} from './html.ts'
import {tableOr} from './layout.ts'
import {ago, duration} from './words.ts'

/** Who there is, what they may and have, and who waits. */
export interface PeopleSeen extends PeopleFacts {
  tokens: UserToken[]
  quotas: QuotaUse[]
  queue: QueuedRun[]
}

/** The body of the page of people. Pure. */
export function peopleBody({users, teams, projects, tokens, quotas, queue}: PeopleSeen, now: number): Html {
  const unlimited = html`No quota: <code>flexrack quota set user:NAME --gpus 4</code>`
  return html`<h1>People</h1>
    ${section(
      'Waiting',
      'Nobody waits that the head knows of.',
      ['run', 'who', 'GPUs', 'priority', 'since', 'why'],
      queue.map((one) => waiting(one, now)),
    )}
    ${section('Quotas', unlimited, ['of', 'what', 'used', 'most', 'by'], quotas.flatMap(quotaRows))}
    ${section(
      'Users',
      html`Whoever may log in to the head's node is its admin: <code>flexrack user add NAME --key FILE</code>`,
      ['user', 'teams', 'logs in with', 'last use'],
      Object.entries(users).map(
        ([name, one]) =>
          html`<tr>
            <th scope="row">${name} ${one.admin && html`<span class="tag">admin</span>`}</th>
            <td>${one.teams.join(', ')}</td>
            <td>${one.source === 'admin' ? keysText(one.keys) : one.source}</td>
            <td class="number">${ago(one.lastUsedAt, now) ?? 'never'}</td>
          </tr>`,
      ),
    )}
    ${section(
      'Teams',
      undefined,
      ['team', 'members', 'by their groups'],
      Object.entries(teams).map(
        ([name, {members, provided}]) =>
          html`<tr>
            <th scope="row">${name}</th>
            <td>${members.join(', ')}</td>
            <td>${provided.join(', ')}</td>
          </tr>`,
      ),
    )}
    ${section(
      'Projects',
      undefined,
      ['project', 'roles'],
      Object.entries(projects).map(
        ([name, {roles}]) =>
          html`<tr>
            <th scope="row">${name}</th>
            <td>${rolesText(roles)}</td>
          </tr>`,
      ),
    )}
    ${section(
      'Tokens',
      undefined,
      ['token', 'user', 'note', 'opens', 'last use', 'ends'],
      tokens.map(
        (one) =>
          html`<tr>
            <th scope="row"><code>${one.id}</code></th>
            <td>${one.user}</td>
            <td>${one.note}</td>
            <td>${[one.project ?? 'all of its user', ...(one.role === null ? [] : [one.role])].join(', ')}</td>
            <td class="number">${ago(one.lastUsedAt, now) ?? 'never'}</td>
            <td class="number">in ${duration(one.expiresAt - now)}</td>
          </tr>`,
      ),
    )}`
}

/** `none`: what stands there instead of an empty table; undefined: the whole section is left out. */
function section(title: string, none: Content, head: string[], rows: Html[]): Html | undefined {
  if (rows.length === 0 && none === undefined) return undefined
  return html`<section>
    <h2>${title}</h2>
    ${tableOr(none, head, rows)}
  </section>`
}

function waiting(one: QueuedRun, now: number): Html {
  return html`<tr>
    <th scope="row">${one.run}<small>${one.project}</small></th>
    <td>${one.user}</td>
    <td class="number">${one.gpus}</td>
    <td class="number">${one.priority}</td>
    <td class="number">${ago(one.since, now)}</td>
    <td>
      ${one.why}${one.by !== null && html`<small>starts in ${duration(Math.max(0, one.by - now))} at the latest</small>`}
    </td>
  </tr>`
}

function quotaRows({of, limits}: QuotaUse): Html[] {
  return limits.map(
    ({what, most, soft, have, by}) =>
      html`<tr>
        <th scope="row">${of === 'user:*' ? 'each user' : of}</th>
        <td>${QUOTA_WORDS[what]}</td>
        <td class="number">${have === null ? '' : quotaAmount(what, have)}</td>
        <td class="number">${quotaAmount(what, most)}${soft && html` <span class="tag">soft</span>`}</td>
        <td>
          ${
            of.startsWith('user:')
              ? undefined
              : Object.entries(by)
                  .map(([user, number]) => `${user} ${quotaAmount(what, number)}`)
                  .join(', ')
          }
        </td>
      </tr>`,
  )
}

const keysText = (keys: number): string => (keys === 0 ? 'tokens only' : keys === 1 ? '1 SSH key' : `${keys} SSH keys`)

const rolesText = (roles: Record<string, string>): string =>
  Object.entries(roles)
    .map(([who, role]) => `${who} ${role}`)
    .join(', ') || 'admins only'
