import {CliError} from '../lib/base/index.ts'
import {nearest} from './nearest.ts'

interface HookOptions {
  id: string
  config: {commands: readonly {id: string; hidden?: boolean}[]; topics: readonly {name: string}[]}
}

/**
 * oclif's command_not_found hook where nobody can be asked: in a pipe, and under --json. On a terminal it is
 * @oclif/plugin-not-found, which offers to run the nearest command.
 */
export default async function commandNotFound({id, config}: HookOptions): Promise<never> {
  const words = id.split(':')
  const commands = config.commands.filter((command) => !command.hidden).map((command) => command.id.replaceAll(':', ' '))
  const topics = config.topics.map((topic) => topic.name.replaceAll(':', ' '))
  const guess = nearest(words.join(' '), [...commands, ...topics]) ?? nearest(words.slice(0, 2).join(' '), commands)
  const inTopic = topics.includes(words[0] ?? '') ? ` ${words[0]}` : ''
  throw new CliError('USAGE', `${words.join(' ')} is not a flexrack command`, {
    hint: guess === undefined ? `flexrack help${inTopic}` : `flexrack ${guess}`,
    details: guess === undefined ? {} : {nearest: guess},
  })
}
