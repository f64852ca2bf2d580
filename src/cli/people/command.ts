import type {HeadConnection, PeopleFacts} from '../../lib/head/index.ts'
import type {PeopleChange} from '../../lib/people/index.ts'
import {HeadCommand, type ChangeFlags} from '../base/head-command.ts'
import type {SessionFlags} from '../base/session.ts'

/** A command about people: it asks the head of the rack, as who has logged in here, or as the account on its node. */
export abstract class PeopleCommand extends HeadCommand {
  /** Answers with what `of` takes of all that the head tells whoever asks. */
  protected async list<T>(flags: SessionFlags, of: (facts: PeopleFacts) => T, text: (value: T) => string): Promise<T> {
    return this.askHead(flags, async (head) =>
      this.answer(of(await head.request<PeopleFacts>('GET', '/flexrack/v1/people')), text),
    )
  }

  /** Has the head make a change, or shows with --dry-run what it would be. `done`: the answer, of the head's answer. */
  protected async change<T>(
    flags: ChangeFlags,
    command: string,
    change: PeopleChange,
    done: (answer: object, head: HeadConnection) => T | Promise<T>,
    text: (value: T) => string,
  ): Promise<unknown> {
    const {carryOutPeople, planPeople} = await import('../../lib/people/index.ts')
    return this.changeHead(
      flags,
      (node) => planPeople(command, node, change),
      async (plan, head, context) => done(await carryOutPeople(plan, head, context), head),
      text,
    )
  }

  protected async remove(flags: ChangeFlags, what: 'user' | 'team' | 'project', name: string): Promise<unknown> {
    const change: PeopleChange = {
      title: `Remove the ${what} ${name}`,
      method: 'DELETE',
      path: `${what}s/${encodeURIComponent(name)}`,
      body: null,
    }
    const subject = what.charAt(0).toUpperCase() + what.slice(1)
    return this.change(
      flags,
      `${what} remove`,
      change,
      () => ({name}),
      () => `${subject} ${name} was removed.`,
    )
  }
}
