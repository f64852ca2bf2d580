import {expect, it} from 'vitest'
import commandNotFound from '../../../../src/cli/base/not-found.ts'

const config = {
  commands: [{id: 'rack:list'}, {id: 'rack:show'}, {id: 'train'}, {id: 'inner', hidden: true}],
  topics: [{name: 'rack'}],
}

it.each([
  ['trian', 'there is no command trian', 'flexrack train'],
  ['rack:lst', 'there is no command rack lst', 'flexrack rack list'],
  ['rak:list:x', 'there is no command rak', 'flexrack rack list'],
  ['rcak', 'there is no command rcak', 'flexrack rack'],
  ['rack:frobnicate:all', 'there is no command rack frobnicate', 'flexrack rack --help'],
  ['rack:list:a:b', 'rack list takes no argument a b', 'flexrack rack list --help'],
  ['inner2', 'there is no command inner2', 'flexrack --help'],
])('answers %s with the nearest command, if one is near', async (id, message, hint) => {
  await expect(commandNotFound({id, config})).rejects.toMatchObject({code: 'USAGE', exitCode: 2, message, hint})
})
