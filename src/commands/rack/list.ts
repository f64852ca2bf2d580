import {BaseCommand} from '../../cli/base/command.ts'
import {rackListText, type RackRow} from '../../cli/rack/text.ts'

export default class RackList extends BaseCommand {
  static override summary = 'list the racks'
  static override description = 'Lists the rack files of this user, and names those with errors. Contacts no node.'
  static override examples = ['<%= config.bin %> rack list']

  async run(): Promise<RackRow[]> {
    await this.parse(RackList)
    const {listRacks, loadRack} = await import('../../lib/rack/index.ts')
    const {env} = await this.context()
    const rows = (await listRacks(env)).map(async ({name, path}): Promise<RackRow> => {
      try {
        const rack = await loadRack(path, env)
        return {name, path, nodes: rack.nodes.length, head: rack.head.node}
      } catch (error) {
        return {name, path, error: (error as Error).message}
      }
    })
    return this.answer(await Promise.all(rows), rackListText)
  }
}
