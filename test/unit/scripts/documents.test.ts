import {execFileSync} from 'node:child_process'
import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {basename, dirname, join, resolve} from 'node:path'
import {expect, test} from 'vitest'
import {wrapProse} from '../../../scripts/pages/wrap.ts'

const root = resolve(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const index = read('docs/README.md')

test('docs/README.md has every page and every decision, by its title', () => {
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
  expect(pages.filter((name) => !index.includes(`](${name})`))).toEqual([])
  const rows = readdirSync(join(root, 'docs/adr'))
    .sort()
    .map((name) => {
      const [, number = '', title = ''] = /^# (\d+)\. (.+)\n/.exec(read(`docs/adr/${name}`)) ?? []
      expect([name, number.padStart(4, '0')]).toEqual([name, name.slice(0, 4)])
      return `| [${name.slice(0, 4)}](adr/${name}) | ${title} |`
    })
  expect(index.split('\n').filter((line) => line.includes('](adr/'))).toEqual(rows)
})

test('a paragraph that is too wide is laid out anew, and nothing else', () => {
  const long = 'word '.repeat(30).trim()
  expect(wrapProse(`# ${long}\n\n| ${long} |\n\n    ${long}\n\n\`\`\`\n${long}\n\`\`\`\n\nshort\nlines`)).toBe(
    `# ${long}\n\n| ${long} |\n\n    ${long}\n\n\`\`\`\n${long}\n\`\`\`\n\nshort\nlines`,
  )
  const wrapped = wrapProse(`before\n${long}\n- ${long}\n- b`)
  expect(wrapped.split('\n').map((line) => line.length <= 100)).not.toContain(false)
  expect(wrapped).toContain('\n- word word')
  expect(wrapped).toMatch(/\n {2}word/)
  expect(wrapProse(wrapped)).toBe(wrapped)
})

test('links in the documents lead somewhere', () => {
  const documents = execFileSync('git', ['ls-files', '*.md'], {cwd: root, encoding: 'utf8'}).trim().split('\n')
  const dead = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map((match) => match[1] as string)
      .filter((target) => !existsSync(join(root, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  )
  expect(dead).toEqual([])
})

test('files that a room names in its README are there', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
  const names = new Set(files.map((path) => basename(path)))
  const rooms = files.filter(
    (path) => /(^|\/)README\.md$|^(ARCHITECTURE|CONTRIBUTING)\.md$/.test(path) && !path.startsWith('templates/'),
  )
  const missing = rooms.flatMap((room) =>
    (read(room).match(/(?<![\w*./~-])[\w-]+(?:\/[\w.-]+)*\.(?:ts|py|cpp|h)\b/g) ?? [])
      .filter(
        (name) =>
          !/[A-Z]{3}/.test(name) &&
          name !== 'llama.cpp' && // a program
          (name.includes('/') ? !files.some((path) => path === name || path.endsWith(`/${name}`)) : !names.has(name)),
      )
      .map((name) => `${room}: ${name}`),
  )
  expect(missing).toEqual([])
})
