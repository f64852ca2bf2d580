import {count} from '../../lib/base/index.ts'
import type {Share, ShareEnded, ShareMade, ShareReplied, Shares} from '../../lib/protocol/index.ts'
import type {RackNode} from '../../lib/rack/index.ts'
import {paint} from '../terminal/print.ts'
import {table} from '../terminal/render.ts'

export function sharesText({account, given, received}: Shares): string {
  const parts = [
    ...(given.length > 0
      ? [
          `shared by ${account}\n${table(
            given.map((one) => ({NAME: one.name, WITH: one.user, ...row(one)})),
            ['NAME', 'WITH', 'ACCESS', 'STATE', 'UNTIL', 'FOLDER'],
          )}`,
        ]
      : []),
    ...(received.length > 0
      ? [
          `shared with ${account}\n${table(
            received.map((one) => ({NAME: `${one.owner}/${one.name}`, ...row(one)})),
            ['NAME', 'ACCESS', 'STATE', 'UNTIL', 'FOLDER'],
          )}`,
        ]
      : []),
  ]
  const open = received.find(({state}) => state === 'invited')
  if (open)
    parts.push(
      `${paint.dim('next:')} flexrack share accept ${open.owner}/${open.name}, or flexrack share decline ${open.owner}/${open.name}`,
    )
  return parts.length > 0 ? parts.join('\n\n') : `${account} shares no folder, and nobody shares one with ${account}.`
}

function row({access, state, until, folder}: Share): Record<string, string> {
  return {
    ACCESS: access,
    STATE: state,
    UNTIL: until === null ? '-' : new Date(until * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
    FOLDER: folder,
  }
}

export function addedText({share, skipped}: ShareMade): string {
  return [
    `${share.user} may ${share.access} ${share.folder}${share.until === null ? '' : ` until ${new Date(share.until * 1000).toISOString()}`}.`,
    ...(skipped > 0
      ? [paint.yellow(`${count(skipped, 'entry', 'entries')} in it belong to others, and are not shared.`)]
      : []),
    `${share.user} accepts with: flexrack share accept ${share.owner}/${share.name}`,
  ].join('\n')
}

export function removedText({ended, left}: ShareEnded): string {
  return [
    ...ended.map(({name, user}) => `${name} is not shared with ${user} any more.`),
    ...(left > 0
      ? [
          paint.yellow(
            `The rights of ${count(left, 'entry', 'entries')} could not be taken back: they belong to others.`,
          ),
        ]
      : []),
  ].join('\n')
}

/** `node`: where the share is; who writes logs in there as its owner. */
export function repliedText(
  {share, path}: ShareReplied,
  {host, port}: Pick<RackNode, 'host' | 'port'>,
  keyFile: string | undefined,
): string {
  if (share.state === 'declined') return `${share.owner}/${share.name} is declined.`
  if (path !== null) return `${share.owner}/${share.name} is at ${path}`
  const secret = keyFile?.replace(/\.pub$/, '')
  const options = `${secret === undefined ? '' : ` -i ${secret}`}${port === undefined || port === 22 ? '' : ` -P ${port}`}`
  return [
    `${share.owner}/${share.name} is written through SSH, as ${share.owner}; the door opens within seconds.`,
    `${paint.dim('next:')} sftp${options} ${share.owner}@${host}:/${share.name}`,
  ].join('\n')
}
