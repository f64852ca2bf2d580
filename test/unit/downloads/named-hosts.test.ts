import {expect, test} from 'vitest'
import {isPrivate, NamedHosts} from '../../../src/lib/downloads/named-hosts.ts'

test('the default index, where its files are, and nothing else, unless this machine has another one', () => {
  const plain = new NamedHosts({pythons: false, settings: {}, more: [], texts: ['six\n']})
  expect([plain.trustOf('pypi.org', 443), plain.trustOf('files.pythonhosted.org', 443), plain.first]).toEqual([
    'public',
    'public',
    {host: 'pypi.org', port: 443},
  ])
  expect([
    plain.trustOf('pypi.org', 22),
    plain.trustOf('pypi.org.example', 443),
    plain.trustOf('127.0.0.1', 443),
  ]).toEqual([undefined, undefined, undefined])
  const own = new NamedHosts({
    pythons: false,
    settings: {
      'index-url': 'https://me:pw@index.example:8443/simple',
      'extra-index-url': 'http://10.0.0.5/a  https://[::1]:9/b',
    },
    more: [],
    texts: [],
  })
  expect([
    own.trustOf('index.example', 8443),
    own.trustOf('10.0.0.5', 80),
    own.trustOf('[::1]', 9),
    own.trustOf('pypi.org', 443),
    own.trustOf('index.example', 443),
  ]).toEqual(['any', 'any', 'any', undefined, undefined])
})

test('what requirements name is reached in public only, what the rack file names anywhere', () => {
  const hosts = new NamedHosts({
    pythons: false,
    settings: {},
    more: ['*.example.org', '10.0.0.5:8080', 'both.example'],
    texts: [
      '--extra-index-url https://download.pytorch.org/whl/cpu\nx @ git+https://GitHub.com/a/b ; python_version > "3"\n--find-links http://both.example/links\n',
    ],
  })
  expect(
    ['download.pytorch.org', 'download-r2.pytorch.org', 'github.com', 'codeload.github.com'].map((host) =>
      hosts.trustOf(host, 443),
    ),
  ).toEqual(['public', 'public', 'public', 'public'])
  expect([
    hosts.trustOf('a.b.example.org', 443),
    hosts.trustOf('example.org', 443),
    hosts.trustOf('badexample.org', 443),
  ]).toEqual(['any', undefined, undefined])
  expect([
    hosts.trustOf('10.0.0.5', 8080),
    hosts.trustOf('10.0.0.5', 80),
    hosts.trustOf('both.example', 80),
    hosts.trustOf('BOTH.example.', 443),
  ]).toEqual(['any', undefined, 'any', 'any'])
})

test('where Pythons come from is named where one may be installed, and is what this machine has set', () => {
  const plain = new NamedHosts({pythons: true, settings: {}, more: [], texts: []})
  expect(
    ['releases.astral.sh', 'github.com', 'release-assets.githubusercontent.com', 'pypi.org'].map((host) =>
      plain.trustOf(host, 443),
    ),
  ).toEqual(['public', 'public', 'public', 'public'])
  const own = new NamedHosts({
    pythons: true,
    settings: {'python-install-mirror': 'http://10.0.0.5:81/pythons'},
    more: [],
    texts: [],
  })
  expect([own.trustOf('10.0.0.5', 81), own.trustOf('github.com', 443), own.first]).toEqual([
    'any',
    undefined,
    {host: '10.0.0.5', port: 81},
  ])
})

test("addresses of networks of somebody's own", () => {
  const own = [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::',
    'fe80::1%eth0',
    'fd00::1',
    '::ffff:127.0.0.1',
    '64:ff9b::a00:1',
    '224.0.0.1',
    'nonsense',
  ]
  expect(own.filter((one) => !isPrivate(one))).toEqual([])
  expect(['151.101.0.223', '172.32.0.1', '2a04:4e42::223', '::ffff:8.8.8.8'].filter(isPrivate)).toEqual([])
})
