import {BlockList, isIP} from 'node:net'

/**
 * Of pip's settings, what says where packages come from; by the long names of pip's options. And of uv's where Pythons
 * do. `cert`: a file here.
 */
export type IndexSettings = Partial<
  Record<
    'index-url' | 'extra-index-url' | 'find-links' | 'trusted-host' | 'proxy' | 'cert' | 'python-install-mirror',
    string
  >
>

/**
 * Where a host was named. What a project's files name may not lead into this machine's own network; what its user has
 * set may.
 */
type Trust = 'any' | 'public'

interface Named {
  host: string
  /** Undefined: 80 and 443. */
  port?: number
  trust: Trust
}

export interface HostSources {
  /** This machine's. */
  settings: IndexSettings
  /** `network_hosts` of the rack file. */
  more: readonly string[]
  /** Requirements and constraints: their options and direct references name hosts, too. */
  texts: readonly string[]
  /** Whether a Python may have to be installed. */
  pythons: boolean
}

/** Where uv gets Pythons from by itself, the second where the first does not answer. */
const PYTHONS = ['https://releases.astral.sh/', 'https://github.com/']
const DEFAULT_INDEX = 'https://pypi.org/simple'

/** What an index of this name is known to send its readers to for the files themselves. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  'pypi.org': ['files.pythonhosted.org'],
  'test.pypi.org': ['test-files.pythonhosted.org'],
  'download.pytorch.org': ['download-r2.pytorch.org'],
  'github.com': ['codeload.github.com', 'objects.githubusercontent.com', 'release-assets.githubusercontent.com'],
}

/** Which hosts a node may reach through this machine. Pure. */
export class NamedHosts {
  readonly #named: Named[]

  /** Null: no host at all. */
  constructor(sources: HostSources | null) {
    if (!sources) {
      this.#named = []
      return
    }
    const {settings, more, texts, pythons} = sources
    const mirror = settings['python-install-mirror']
    const forPythons = !pythons || mirror ? [] : PYTHONS.map((url) => namedBy(url, 'public'))
    const own = [
      settings['extra-index-url'],
      settings['find-links'],
      settings['index-url'],
      pythons ? mirror : undefined,
    ].flatMap((one) => urlsIn(one ?? ''))
    const index = settings['index-url'] ? [] : [namedBy(DEFAULT_INDEX, 'public')]
    const first = [
      ...own.map((url) => namedBy(url, 'any')),
      ...index,
      ...forPythons,
      ...texts.flatMap(urlsIn).map((url) => namedBy(url, 'public')),
    ].flatMap((one) => one ?? [])
    const companions = first.flatMap(({host}) =>
      (COMPANIONS[host] ?? []).map((other): Named => ({host: other, trust: 'public'})),
    )
    this.#named = [...first, ...companions, ...more.map(namedInFile)]
  }

  /** What `host` was named by, undefined where nothing has named it with this port. */
  trustOf(host: string, port: number): Trust | undefined {
    const wanted = bare(host)
    const found = this.#named.filter(
      (one) => matches(one.host, wanted) && (one.port === undefined ? port === 80 || port === 443 : one.port === port),
    )
    return found.some(({trust}) => trust === 'any') ? 'any' : found[0]?.trust
  }

  /** The first index, to try whether it can be reached from here. */
  get first(): {host: string; port: number} {
    const {host, port} = this.#named.find((one) => !one.host.startsWith('*.')) ?? {host: 'pypi.org'}
    return {host, port: port ?? 443}
  }
}

function urlsIn(text: string): string[] {
  return text.match(/https?:\/\/[^\s"'#;,]+/g) ?? []
}

function namedBy(url: string, trust: Trust): Named | undefined {
  if (!URL.canParse(url)) return undefined
  const {hostname, port, protocol} = new URL(url)
  return {host: bare(hostname), port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port), trust}
}

/** `host`, `*.host` or `host:port`, as the rack file's schema lets them through. */
function namedInFile(word: string): Named {
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(word) ?? []
  return {
    host: bare(isIP(word) ? word : host),
    ...(port !== undefined && !isIP(word) && {port: Number(port)}),
    trust: 'any',
  }
}

function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}

function matches(named: string, wanted: string): boolean {
  return named.startsWith('*.') ? wanted.endsWith(named.slice(1)) && wanted.length > named.length - 1 : named === wanted
}

const PRIVATE = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv4')
}
for (const [network, bits] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  PRIVATE.addSubnet(network, bits, 'ipv6')

/** Whether an address leads into a network of somebody's own: loopback, a company's, a link's, a metadata service. */
export function isPrivate(address: string): boolean {
  const family = isIP(address.split('%')[0] as string)
  return family === 0 || PRIVATE.check(address.split('%')[0] as string, family === 6 ? 'ipv6' : 'ipv4')
}
