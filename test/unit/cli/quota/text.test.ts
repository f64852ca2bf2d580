import {stripVTControlCharacters} from 'node:util'
import {QUOTA_WORDS} from '../../../../src/lib/base/index.ts'
import {limitsOf} from '../../../../src/cli/quota/limits.ts'
import {planQuota} from '../../../../src/lib/quota/index.ts'
import {expect, test} from 'vitest'
import {quotasText} from '../../../../src/cli/quota/text.ts'

const text = (report: Parameters<typeof quotasText>[0]): string => stripVTControlCharacters(quotasText(report))

test("on a rack whose jobs Slurm places its own limits stand beside the head's", () => {
  const slurm = {
    user: 'ada',
    associations: [{account: 'vision', partition: null, qos: ['normal', 'long'], limits: {GrpTRES: 'gres/gpu=8'}}],
    shares: [{account: 'vision', share: 0.25, used: 0.125, fair_share: 0.7}],
    problem: null,
  }
  const shown = text({rack: 'lab', quotas: [], artifacts_elsewhere: false, slurm})
  expect(shown).toContain('The head of rack lab limits nothing.')
  expect(shown).toContain('Slurm, for ada; it alone decides for its jobs')
  expect(shown).toMatch(/vision +all +normal, long +GrpTRES=gres\/gpu=8 +25 % +13 % +0\.700/)
  const none = {...slurm, associations: [], shares: [], problem: 'sacctmgr: no accounting'}
  expect(text({rack: 'lab', quotas: [], artifacts_elsewhere: false, slurm: none})).toMatch(
    /It tells no limits\.\nsacctmgr: no accounting$/,
  )
  expect(text({rack: 'lab', quotas: [], artifacts_elsewhere: false, slurm: null})).toContain(
    'flexrack quota set user:alice --gpus 4',
  )
})

test('where artifacts are in a store elsewhere, a quota of disk is shown with what it does not count', () => {
  const limit = (what: 'disk' | 'runs'): Parameters<typeof quotasText>[0]['quotas'] => [
    {of: 'user:ada', limits: [{what, most: 2 ** 31, soft: false, have: 2 ** 30, by: {ada: 2 ** 30}}]},
  ]
  const report = {rack: 'lab', artifacts_elsewhere: true, slurm: null}
  expect(text({...report, quotas: limit('disk')})).toMatch(/GiB of disk +1 +2\b[^]*count for no quota of disk/)
  expect(text({...report, quotas: limit('runs')})).not.toContain('elsewhere')
  expect(text({...report, quotas: limit('disk'), artifacts_elsewhere: false})).not.toContain('elsewhere')
})

test('every limit that there is has a flag, and is said when it is set', async () => {
  const {default: QuotaSet} = await import('../../../../src/commands/quota/set.ts')
  const names = Object.keys(QUOTA_WORDS).map((what) => what.replaceAll('_', '-'))
  expect(Object.keys(QuotaSet.flags)).toEqual(expect.arrayContaining(names))
  const flags = Object.fromEntries(names.map((name) => [name, name === 'disk' ? '2GiB' : '3']))
  const limits = limitsOf({...flags, soft: false, 'dry-run': true, rack: 'lab'})
  expect(Object.keys(limits)).toEqual(Object.keys(QUOTA_WORDS))
  const {steps} = planQuota('quota set', 'n1', {of: 'user:ann', limits})
  expect(steps[0]!.title).toBe(
    'Allow user:ann at most 3 GPUs at once, 3 GPU hours a month, 3 runs at once, 3 notebooks at once, 3 endpoints at once, 3 model servers at once, 2 GiB of disk',
  )
  expect(() => planQuota('quota set', 'n1', {of: 'user:ann', limits: {}})).toThrow(/--gpus, .*--servers or --disk/)
  expect(() => limitsOf({gpus: '-1', soft: false})).toThrow('is no number of gpus')
})
