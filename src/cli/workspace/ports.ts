import {CliError} from '../../lib/base/index.ts'

/** A port of a node, and the one here. */
export interface PortPair {
  localPort: number
  remotePort: number
}

/** `8888` or `9000:8888` (local:remote; local 0: any), else the manifest's ports. Errors: USAGE. */
export function readPorts(words: string[], fallback: number[]): PortPair[] {
  const ports = words.length > 0 ? words.map(readPort) : fallback.map((port) => ({localPort: port, remotePort: port}))
  if (ports.length === 0)
    throw new CliError('USAGE', 'which port? The manifest names none', {hint: 'flexrack workspace forward 8888'})
  const twice = ports.find(
    (one, index) => one.localPort && ports.findIndex((other) => other.localPort === one.localPort) !== index,
  )
  const first = ports.find((one) => one.localPort === twice?.localPort)
  if (twice)
    throw new CliError('USAGE', `local port ${twice.localPort} is named twice`, {
      hint: `flexrack workspace forward ${first?.localPort}:${first?.remotePort} ${(twice.localPort as number) + 1}:${twice.remotePort}`,
    })
  return ports
}

function readPort(word: string): PortPair {
  const found = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(word)
  const localPort = Number(found?.[1])
  const remotePort = Number(found?.[2] ?? found?.[1])
  if (!found || localPort > 65535 || remotePort < 1 || remotePort > 65535) {
    throw new CliError('USAGE', `"${word}" is not a port: PORT or LOCAL:REMOTE, from 1 to 65535`, {
      hint: 'flexrack workspace forward 8888\nflexrack workspace forward 9000:8888',
    })
  }
  return {localPort, remotePort}
}
