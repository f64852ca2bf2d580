import type {PersonalToken} from '../../lib/access/index.ts'
import {ago, minute, table} from '../terminal/render.ts'
import type {TrackingAccess} from './env.ts'

/** For `eval` in a shell of this machine. */
export function accessText({env}: TrackingAccess): string {
  return exportsOf(env).join('\n')
}

/** For a shell of another machine: it writes the certificates there, too. */
export function elsewhereText(rack: string): (access: TrackingAccess) => string {
  return ({env, ca}) => {
    if (ca === undefined) return exportsOf(env).join('\n')
    const {MLFLOW_TRACKING_SERVER_CERT_PATH: _here, ...rest} = env
    const file = `"$HOME/.flexrack-${rack.replace(/[^A-Za-z0-9._-]/g, '-')}.pem"`
    return [
      `cat > ${file} <<'CERTIFICATES'`,
      ca.trimEnd(),
      'CERTIFICATES',
      ...exportsOf(rest),
      `export MLFLOW_TRACKING_SERVER_CERT_PATH=${file}`,
    ].join('\n')
  }
}

export function tokensText(tokens: PersonalToken[]): string {
  if (tokens.length === 0) return 'No personal tokens. Make one: flexrack tracking env'
  const rows = tokens.map(({id, name, createdAt, expiresAt}) => ({
    id,
    name,
    made: ago(createdAt),
    ends: minute(expiresAt),
  }))
  return table(rows, ['id', 'name', 'made', {key: 'ends', title: 'ENDS (UTC)'}])
}

export function endedText(ended: {id: string; name: string}[]): string {
  return ended.length === 0
    ? 'There was no token to end.'
    : ended.map(({id, name}) => `Ended ${id} ("${name}").`).join('\n')
}

function exportsOf(env: object): string[] {
  return Object.entries(env).map(
    ([name, value]) => `export ${name}='${String(value).replaceAll("'", String.raw`'\''`)}'`,
  )
}
