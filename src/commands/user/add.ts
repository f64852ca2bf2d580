import {Args, Flags} from '@oclif/core'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'
import type {PeopleFacts} from '../../lib/head/index.ts'
import type {PeopleChange} from '../../lib/people/index.ts'

export default class UserAdd extends PeopleCommand {
  static override summary = "add a user of the rack's head, or change one"
  static override description =
    'A user logs in with one of their SSH keys, or with a token that `token create --user` makes. The answer has an invitation to send to them: where the head is and what it is known by, no secret. ' +
    'On nodes their account there counts, which flexrack neither makes nor changes.'
  static override examples = [
    '<%= config.bin %> user add alice --key alice.pub',
    '<%= config.bin %> user add root --key ~/.ssh/id_ed25519.pub --admin',
    '<%= config.bin %> user add alice --key new.pub --change',
  ]
  static override args = {name: Args.string({required: true, description: 'small letters, digits, dots, dashes'})}
  static override flags = {
    key: Flags.string({helpValue: 'FILE', description: 'public SSH key (a .pub file), or several', multiple: true}),
    admin: Flags.boolean({description: 'may everything on this rack', allowNo: true}),
    change: Flags.boolean({description: 'change one who is there: these keys and no others'}),
    rack: rackFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {
      args: {name},
      flags,
    } = await this.parse(UserAdd)
    const [{readPublicKey}, {invitationOf}, {addedText}] = await Promise.all([
      import('../../lib/share/index.ts'),
      import('../../lib/people/index.ts'),
      import('../../cli/people/added.ts'),
    ])
    const keys = await Promise.all((flags.key ?? []).map(async (file) => (await readPublicKey(file))!.key))
    const {admin, change} = flags
    const keysText = keys.length === 1 ? ', with an SSH key' : `, with ${keys.length} SSH keys`
    const isChange = change && {change: true}
    const one: PeopleChange = {
      title: `${change ? 'Change' : 'Add'} the user ${name}${admin ? ', an admin' : ''}${flags.key || !change ? keysText : ''}`,
      method: 'PUT',
      path: `users/${encodeURIComponent(name)}`,
      body: {...(admin !== undefined && {admin}), ...(flags.key && {keys}), ...isChange},
    }
    return this.change(
      flags,
      'user add',
      one,
      async (_answer, head) => {
        // What was not changed is known there.
        const {users} = await head.request<PeopleFacts>('GET', '/flexrack/v1/people')
        const {admin: isAdmin, keys: known} = users[name]!
        return {name, admin: isAdmin, keys: known, invitation: invitationOf({...head.listener, ca: head.ca})}
      },
      addedText(flags.rack),
    )
  }
}
