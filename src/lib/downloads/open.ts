import {randomBytes} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {CliError, type Context} from '../base/index.ts'
import type {DownloadWay} from '../protocol/index.ts'
import type {NodeShell} from '../ssh/index.ts'
import {BUNDLE_SETTINGS} from './bundled.ts'
import {NamedHosts, type IndexSettings} from './named-hosts.ts'
import {readIndexSettings} from './pip-settings.ts'
import {DownloadProxy, type ProxyOptions} from './proxy.ts'
import type {Peer} from './tracker.ts'
import {connectThrough, connectTo, proxyFor} from './upstream.ts'

export interface DownloadInput {
  /** What is to be installed: it may name hosts. */
  texts: readonly string[]
  /** Whether a Python may have to be installed. */
  pythons: boolean
  /** `network_hosts` of the rack file. */
  more: readonly string[]
  /** Only from bundles that were applied on this machine. */
  bundled: boolean
  /** What it has and needs, where several nodes download the same. */
  peer?: Peer
  /** The node program's reader of pip's settings, a file of this machine. */
  reader: string
}

export interface Downloads {
  /** For the node. It has the secret. */
  way: DownloadWay
  /** What the node asked for and did not get. */
  refused: ReadonlySet<string>
  unreachable: ReadonlyMap<string, string>
  close(): Promise<void>
}

/** What a node downloads goes through this machine until `close()`. Errors: those of NodeShell.forwardRemote. */
export async function openDownloads(shell: NodeShell, input: DownloadInput, context: Context): Promise<Downloads> {
  const secret = randomBytes(24).toString('base64url')
  const {proxy, settings, certificates} = input.bundled
    ? {
        proxy: new DownloadProxy({
          secret,
          hosts: new NamedHosts(null),
          env: context.env,
          bundled: true,
          ...peerOf(input),
        }),
        settings: BUNDLE_SETTINGS,
        certificates: undefined,
      }
    : await proxyToIndexes(secret, input, context)
  const forward = await shell.forwardRemote({take: (stream) => proxy.take(stream)})
  shell.closed.then(
    () => proxy.close(),
    () => {},
  )
  return {
    way: {
      proxy: `http://flexrack:${secret}@127.0.0.1:${forward.port}`,
      settings,
      ...(certificates !== undefined && {certificates}),
      ...(input.bundled && {instead: true}),
    },
    refused: proxy.refused,
    unreachable: proxy.unreachable,
    async close() {
      proxy.close()
      await forward.close()
    },
  }
}

const peerOf = ({peer}: DownloadInput): Pick<ProxyOptions, 'peer'> => (peer ? {peer} : {})

async function proxyToIndexes(
  secret: string,
  input: DownloadInput,
  {env}: Context,
): Promise<{proxy: DownloadProxy; settings: Record<string, string>; certificates: string | undefined}> {
  const {texts, pythons, more, reader} = input
  const settings = await readIndexSettings(reader, env)
  const {proxy: proxySetting, cert, ...rest} = settings
  const certificates = cert === undefined ? undefined : await certificatesIn(cert)
  return {
    proxy: new DownloadProxy({
      secret,
      hosts: new NamedHosts({settings, more, texts, pythons}),
      env,
      ...peerOf(input),
      ...(proxySetting !== undefined && {proxySetting}),
    }),
    settings: settingsFor(rest),
    certificates,
  }
}

/**
 * A file of certificates may have a key, too, which is nobody else's. Errors: LOCAL_FAILED where there is none to be
 * read: the index would be taken for a stranger's.
 */
async function certificatesIn(file: string): Promise<string> {
  const hint =
    "it is SSL_CERT_FILE, pip's cert, REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE of this machine: correct it, or take it away"
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      'LOCAL_FAILED',
      `the file of certificates ${file} cannot be read: ${error.code === 'ENOENT' ? 'there is none' : error.message}`,
      {hint, details: {file}},
    )
  })
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (!found) throw new CliError('LOCAL_FAILED', `${file} has no certificate in it`, {hint, details: {file}})
  return found.join('\n')
}

function settingsFor(settings: Omit<IndexSettings, 'proxy' | 'cert'>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
}

/** Whether this machine reaches the package index that it would use itself; its name where it does. */
export async function indexWithinReach(reader: string, context: Context): Promise<string | undefined> {
  const settings = await readIndexSettings(reader, context.env)
  const {host, port} = new NamedHosts({settings, more: [], texts: [], pythons: false}).first
  const proxy = proxyFor({host}, port === 80 ? 'http' : 'https', context.env, settings.proxy)
  const to = {host, port, mayBePrivate: true}
  return (proxy ? connectThrough(proxy, to) : connectTo(to)).then(
    (socket) => (socket.destroy(), host),
    () => undefined,
  )
}
