import {Args, Command, Flags} from '@oclif/core'
import {expect, it} from 'vitest'
import {wordsOf} from '../../../../src/cli/base/words.ts'

class Runs extends Command {
  static override strict = false
  static override args = {command: Args.string({required: true})}
  static override flags = {count: Flags.integer({char: 'n'}), on: Flags.string(), json: Flags.boolean()}
  async run(): Promise<string[]> {
    const {raw} = await this.parse(Runs)
    return wordsOf(raw)
  }
}

it.each([
  [['-n', '2', '--', 'x', '2', '-n', '2']],
  [['--on', 'a', '--json', '--', 'x', '--json', 'a', 'b', 'a', '--', '--on', 'x']],
  [['--', 'x', '-x', '1', '-y', '1', '', '-']],
])('%j: what follows -- comes as it was typed, repeated words too', async (argv) => {
  expect(await Runs.run(argv)).toEqual(argv.slice(argv.indexOf('--') + 1))
})
