import {describe, expect, it} from 'vitest'
import {SLURM_OPTION} from '../../../src/lib/document/index.ts'
import {manifestSchema} from '../../../src/lib/manifest/schema.ts'
import {SLURM_TIME, slurmTime} from '../../../src/lib/manifest/slurm-time.ts'
import {rackSchema} from '../../../src/lib/rack/schema.ts'

const isValid = (slurm: unknown): boolean =>
  manifestSchema.safeParse({name: 'x', train: {command: 'train.py', slurm}}).success

describe('train.slurm', () => {
  it('takes what a job needs', () => {
    expect(
      isValid({
        time: '12h',
        partition: 'gpu',
        gpus: 'a100:4',
        cpus: 8,
        memory: '64GiB',
        constraint: 'a100&ib',
        exclusive: true,
        extra: ['--mail-type=FAIL'],
      }),
    ).toBe(true)
    expect(isValid({gpus: 2})).toBe(true)
  })

  it('takes nothing that could be more than one value in a script', () => {
    for (const partition of ['gpu x', 'gpu\n', '$(x)', 'a;b', '-p', 'a"b', '']) expect(isValid({partition})).toBe(false)
    for (const constraint of ['a b', "a'b", 'a\nb', 'a#b']) expect(isValid({constraint})).toBe(false)
    for (const other of [
      {time: 'soon'},
      {time: '10'},
      {memory: '0'},
      {gpus: 0},
      {gpus: 'a100'},
      {cpus: 1.5},
      {nodes: 2},
    ])
      expect(isValid(other)).toBe(false)
  })
})

describe('an option of sbatch', () => {
  it('is one option on one line', () => {
    for (const one of [
      '--mail-type=FAIL',
      '--exclude=c[1-3,7]',
      '--oversubscribe',
      '--begin=now+1hour',
      '--nodelist=c1',
    ])
      expect(SLURM_OPTION.test(one)).toBe(true)
    for (const one of [
      '-p',
      'mail',
      '--mail-type=FAIL --x',
      '--comment="a b"',
      '--comment=a\nrm',
      '--comment=a#b',
      '--comment=',
      '--comment=$`x`',
    ])
      expect(SLURM_OPTION.test(one)).toBe(false)
  })

  it('does not take over what the script says', () => {
    for (const one of [
      '--nodes=3',
      '--array=0-9',
      '--output=/x',
      '--requeue',
      '--wrap=x',
      '--job-name=x',
      '--export=NONE',
    ])
      expect(SLURM_OPTION.test(one)).toBe(false)
    expect(SLURM_OPTION.test('--nodelist=c1')).toBe(true)
  })
})

describe('a time', () => {
  it('is written as Slurm reads it', () => {
    expect(['90m', '12h', '2d', '45s', '1-12:00:00', '1:30:00', '2-4'].map(slurmTime)).toEqual([
      '1:30:00',
      '12:00:00',
      '48:00:00',
      '0:00:45',
      '1-12:00:00',
      '1:30:00',
      '2-4',
    ])
    for (const text of ['1:2', '5', '1.5h', '1-', '1-2:99', '-1h']) expect(SLURM_TIME.test(text)).toBe(false)
  })
})

describe('slurm of a rack', () => {
  it('names its login node', () => {
    const nodes = [{name: 'a', host: 'h'}]
    expect(
      rackSchema.safeParse({
        nodes,
        slurm: {login: 'a', partition: 'gpu', extra: ['--mail-type=FAIL'], bin: '/opt/slurm/bin'},
      }).success,
    ).toBe(true)
    expect(rackSchema.safeParse({nodes, slurm: {}}).success).toBe(false)
    expect(rackSchema.safeParse({nodes, slurm: {login: 'a', bin: 'slurm/bin'}}).success).toBe(false)
  })
})
