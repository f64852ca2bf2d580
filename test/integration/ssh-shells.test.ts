import {execFileSync, spawn} from 'node:child_process'
import {describe, expect, it} from 'vitest'
import {bootCommand, bootLine, Preamble} from '../../src/lib/ssh/bootstrap.ts'

/** What sshd does: the login shell with -c and the command, a pipe as stdin. */
function login(
  shell: string,
  script: string,
  env: Record<string, string>,
  input: string,
): Promise<{stdout: string; stderr: string; status: number | null}> {
  const child = spawn(shell, ['-c', bootCommand('nonce')], {stdio: 'pipe'})
  const outputs = [new Preamble('nonce'), new Preamble('nonce')] as const
  const texts = ['', '']
  ;[child.stdout, child.stderr].forEach((stream, index) => {
    let open = false
    stream.on('data', (chunk: Buffer) => {
      if (open) texts[index] += chunk.toString()
      else {
        const found = (outputs[index] as Preamble).feed(chunk)
        open = found !== undefined
        if (found) texts[index] += found.rest.toString()
      }
    })
  })
  child.stdin.end(bootLine(script, env) + input)
  return new Promise((resolve) =>
    child.on('close', (status) => resolve({stdout: texts[0] as string, stderr: texts[1] as string, status})),
  )
}

const installed = ['bash', 'dash', 'zsh', 'fish', 'ksh', 'tcsh', 'busybox'].filter((shell) => {
  try {
    execFileSync('sh', ['-c', `command -v ${shell}`])
    return true
  } catch {
    return false
  }
})

describe('a script', () => {
  it.each(installed.filter((shell) => shell !== 'busybox'))(
    'reaches sh through the login shell %s as it was written',
    async (shell) => {
      const script =
        'printf "%s|" "$A" "it\'s" \'\\n\' "\\\\"\nwhile IFS= read -r l; do echo "<$l>"; done\necho err >&2\nexit 6'
      const value = 'a\'b"c $HOME `id` \\n \\\\ é\nnext\ttab'
      expect(await login(shell, script, {A: value}, 'one\ntwo\n')).toEqual({
        stdout: `${value}|it's|\\n|\\|<one>\n<two>\n`,
        stderr: 'err\n',
        status: 6,
      })
    },
  )
})
