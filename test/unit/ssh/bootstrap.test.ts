import {describe, expect, it} from 'vitest'
import {bootCommand, bootLine, Preamble} from '../../../src/lib/ssh/bootstrap.ts'

describe('bootCommand', () => {
  it('holds nothing that one login shell reads otherwise than another', () => {
    const command = bootCommand('flexrack-1')
    expect(command).not.toMatch(/[\\!\n]/)
    expect(command.match(/'/g)).toHaveLength(2)
  })
})

describe('bootLine', () => {
  it('is one line in the form that printf %b turns back', () => {
    expect(bootLine('echo "a\\n"\ncat\n')).toBe('echo "a\\\\n"\\ncat\\n\n')
  })

  it('exports the environment before the script', () => {
    expect(bootLine('run', {A: "it's", B: 'two\nlines'})).toBe("export A='it'\\\\''s'\\nexport B='two\\nlines'\\nrun\n")
  })

  it('refuses a name that would be code, and a NUL', () => {
    expect(() => bootLine('', {'A;id': ''})).toThrow('environment variable')
    expect(() => bootLine('a\0b')).toThrow('NUL')
  })
})

describe('Preamble', () => {
  const feed = (preamble: Preamble, ...chunks: string[]): unknown => {
    const found = chunks.map((chunk) => preamble.feed(Buffer.from(chunk))).at(-1)
    return found && {rest: found.rest.toString(), pid: found.pid}
  }

  it('drops what came before the nonce, in whatever pieces it comes', () => {
    expect(feed(new Preamble('N1'), 'N1 42\nout')).toEqual({rest: 'out', pid: '42'})
    expect(feed(new Preamble('N1'), 'noise\nmore noi', 'seN', '1 4', '2', '\nout\nN1 7\n')).toEqual({
      rest: 'out\nN1 7\n',
      pid: '42',
    })
  })

  it('is not taken in by a shell that shows the command before it runs it', () => {
    expect(feed(new Preamble('N1'), "+ exec sh -c 'echo N1 $$; eval'\nN1 42\n")).toEqual({rest: '', pid: '42'})
  })

  it('keeps what was said where the nonce never comes', () => {
    const preamble = new Preamble('N1')
    expect(feed(preamble, 'This account is not available.\n')).toBeUndefined()
    expect(preamble.noise).toBe('This account is not available.\n')
  })

  it('does not fill the memory with noise without end', () => {
    const preamble = new Preamble('N1')
    for (let number = 0; number < 40; number++) preamble.feed(Buffer.alloc(100_000, 'x'))
    expect(preamble.noise.length).toBeLessThan(1_200_000)
    expect(feed(preamble, 'N1 1\nend')).toEqual({rest: 'end', pid: '1'})
  })
})
