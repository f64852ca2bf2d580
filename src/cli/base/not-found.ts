import {CliError, nearestName} from '../../lib/base/index.ts'

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
  const commands = config.commands
    .filter((command) => !command.hidden)
    .map((command) => command.id.replaceAll(':', ' '))
  const topics = config.topics.map((topic) => topic.name.replaceAll(':', ' '))
  const known = words.findLastIndex((_, index) => commands.includes(words.slice(0, index + 1).join(' ')))
  if (known !== -1) {
    const command = words.slice(0, known + 1).join(' ')
    throw new CliError('USAGE', `${command} takes no argument ${words.slice(known + 1).join(' ')}`, {
      hint: `flexrack ${command} --help`,
    })
  }
  // oclif takes every word up to the first flag for the command: what follows a topic's verb are its arguments.
  const topic = topics.includes(words[0] ?? '') ? words[0] : undefined
  const meant = words.slice(0, topic === undefined ? 1 : 2).join(' ')
  const guess = nearestName(words.slice(0, 2).join(' '), commands) ?? nearestName(meant, [...commands, ...topics])
  throw new CliError('USAGE', `there is no command ${meant}`, {
    hint: guess === undefined ? `flexrack ${topic === undefined ? '' : `${topic} `}--help` : `flexrack ${guess}`,
    details: guess === undefined ? {} : {nearest: guess},
  })
}
