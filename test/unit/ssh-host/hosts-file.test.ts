import {expect, test} from 'vitest'
import {HEADER, hostsText, isHost, knownHostsText, readHosts} from '../../../src/lib/ssh-host/hosts-file.ts'
import type {SshHost} from '../../../src/lib/ssh-host/types.ts'

const key = `ssh-ed25519 ${'A'.repeat(68)}`
const host: SshHost = {
  alias: 'ws-digits',
  rack: 'lab',
  rackFile: '/racks/100% lab.yaml',
  project: 'digits',
  folder: "/home/o'neil/digits",
  node: 'node-1',
  first: true,
  user: 'me',
  hostKey: key,
}
const site = {
  knownHosts: '/home/me/100%/known_hosts',
  key: '/home/me/100%/key',
  program: ['/usr/bin/node', '/opt/flex rack/run.js'],
}

test('a host: its key pinned, and the command quoted for the shell and for the tokens of ssh', () => {
  const text = hostsText({hosts: [host], madeConfig: false}, site)
  expect(text.split('\n').slice(3)).toEqual([
    'Host ws-digits',
    '  User me',
    '  HostKeyAlias flexrack-ws-digits',
    '  UserKnownHostsFile "/home/me/100%%/known_hosts"',
    '  GlobalKnownHostsFile /dev/null',
    '  StrictHostKeyChecking yes',
    '  UpdateHostKeys no',
    '  CheckHostIP no',
    '  IdentityFile "/home/me/100%%/key"',
    '  IdentitiesOnly yes',
    '  PreferredAuthentications publickey',
    "  ProxyCommand /usr/bin/node '/opt/flex rack/run.js' workspace stdio digits --rack '/racks/100%% lab.yaml' --on node-1 --project '/home/o'\\''neil/digits'",
    '',
  ])
  expect(knownHostsText([host])).toBe(`flexrack-ws-digits ${key}\n`)
  expect(readHosts(text, 'f')).toEqual({hosts: [host], madeConfig: false})
  expect(readHosts(hostsText({hosts: [], madeConfig: true}, site), 'f')).toEqual({hosts: [], madeConfig: true})
})

test('a file of somebody else is refused, and of ours only whole hosts are believed', () => {
  expect(() => readHosts('Host *\n', '/x/hosts.conf')).toThrow(/\/x\/hosts.conf is not a file of flexrack/)
  expect(readHosts(`${HEADER}\n# flexrack {"alias":"ws-a\n# flexrack {"alias":"ws-b"}\n`, 'f').hosts).toEqual([])
})

test.each([
  ['a line end in a node', {node: 'a\n  ProxyCommand evil'}],
  ['a pattern as its name', {alias: 'ws-* !ws-a'}],
  ['a second key', {hostKey: `${key}\n* ${key}`}],
  ['a marker before the key', {hostKey: `@cert-authority * ${key}`}],
  ['an option as user', {user: '-oProxyCommand=evil'}],
  ['a folder with a line end', {folder: '/a\n/b'}],
])('%s is no host', (_, part) => {
  expect(isHost(host)).toBe(true)
  expect(isHost({...host, ...part})).toBe(false)
})

test('a path that ssh cannot be told of is refused', () => {
  expect(() => hostsText({hosts: [host], madeConfig: false}, {...site, key: '/home/${evil}/key'})).toThrow(
    /OpenSSH cannot be told/,
  )
  expect(() => hostsText({hosts: [host], madeConfig: false}, {...site, program: ['a\nb']})).toThrow(
    /OpenSSH cannot be told/,
  )
})
