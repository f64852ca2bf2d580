import {execFile} from 'node:child_process'
import {promisify} from 'node:util'
import {CliError} from '../base/index.ts'
import type {IndexSettings} from './named-hosts.ts'

const KEYS = ['index-url', 'extra-index-url', 'find-links', 'trusted-host', 'proxy', 'cert'] as const
const PATIENCE_MS = 20_000

/**
 * Where packages come from on this machine: pip's configuration files and PIP_*, read by the node program's own reader
 * (`program`, a file), and over them uv's variables. Without Python here, only the variables count. Errors:
 * LOCAL_FAILED where Python is there and does not answer, with what it says.
 */
export async function readIndexSettings(program: string, env: NodeJS.ProcessEnv): Promise<IndexSettings> {
  const read = await askPython(program, env)
  const own: IndexSettings = {
    'index-url': env.UV_DEFAULT_INDEX || env.UV_INDEX_URL,
    'extra-index-url': (env.UV_INDEX || env.UV_EXTRA_INDEX_URL)
      ?.split(/\s+/)
      .map((one) => one.replace(/^[\w-]+=(?=https?:)/, ''))
      .join(' '),
    'find-links': env.UV_FIND_LINKS?.replaceAll(',', ' '),
    cert: env.SSL_CERT_FILE || undefined,
  } as IndexSettings
  const mirror = env.UV_PYTHON_INSTALL_MIRROR
  const pythons: IndexSettings = mirror && /^https?:\/\//.test(mirror) ? {'python-install-mirror': mirror} : {}
  return Object.assign(
    pythons,
    Object.fromEntries(
      KEYS.flatMap((key) => {
        const value = onlyWeb(
          key,
          own[key] || read[key] || (key === 'cert' ? env.REQUESTS_CA_BUNDLE || env.CURL_CA_BUNDLE : undefined),
        )
        return value ? [[key, value]] : []
      }),
    ),
  )
}

async function askPython(program: string, env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  const failed = (why: string, said: string): CliError =>
    new CliError(
      'LOCAL_FAILED',
      `what pip is told on this machine cannot be read: ${said.trim().split('\n').at(-1) || why}`,
      {
        hint: 'python3 of this machine reads it: does it run?',
        details: {lines: said.trim().split('\n').slice(-15)},
      },
    )
  const answer = await promisify(execFile)('python3', ['-I', program], {env, timeout: PATIENCE_MS}).catch(
    (error: NodeJS.ErrnoException & {stderr?: string; killed?: boolean}) => {
      if (error.code === 'ENOENT') return undefined
      throw failed(
        error.killed ? `python3 does not answer within ${PATIENCE_MS / 1000} s` : error.message,
        error.stderr ?? '',
      )
    },
  )
  if (!answer)
    return Object.fromEntries(
      KEYS.flatMap((key) =>
        env[`PIP_${key.toUpperCase().replaceAll('-', '_')}`]
          ? [[key, env[`PIP_${key.toUpperCase().replaceAll('-', '_')}`] as string]]
          : [],
      ),
    )
  try {
    return JSON.parse(answer.stdout) as Record<string, string>
  } catch {
    throw failed('python3 gave no answer', answer.stderr)
  }
}

/** A folder of this machine means nothing on a node. */
function onlyWeb(key: (typeof KEYS)[number], value: string | undefined): string | undefined {
  if (value === undefined || key === 'trusted-host' || key === 'proxy' || key === 'cert') return value
  return (
    value
      .split(/\s+/)
      .filter((one) => /^https?:\/\//.test(one))
      .join(' ') || undefined
  )
}
