import {CommandHelp, Help} from '@oclif/core'

/** oclif's help without what it says twice, and with a first step for those who just came. */
class ShortCommandHelp extends CommandHelp {
  /** The summary is the headline already. */
  protected override description(): string | undefined {
    const {description} = this.command
    return description === undefined ? undefined : this.wrap(description)
  }

  /** Flags have a section of their own, one line each. */
  protected override defaultUsage(): string {
    const args = Object.values(this.command.args).filter((arg) => !arg.hidden)
    return [this.command.id, ...args.map((arg) => this.arg(arg)), '[FLAGS]'].join(' ')
  }
}

export default class FlexrackHelp extends Help {
  protected override CommandHelpClass = ShortCommandHelp

  override formatRoot(): string {
    const steps = [
      ['flexrack init digits', 'a project to begin with'],
      ['flexrack local up', 'a rack on this machine; or: flexrack rack add'],
      ['flexrack status', 'what goes on'],
    ] as const
    const width = Math.max(...steps.map(([command]) => command.length))
    const lines = steps.map(([command, what]) => `$ ${command.padEnd(width)}  ${what}`).join('\n')
    const more = 'Every command has --help and --json.'
    return `${super.formatRoot()}\n\n${this.section('FIRST STEPS', lines)}\n\n${this.section('MORE', more)}`
  }
}
