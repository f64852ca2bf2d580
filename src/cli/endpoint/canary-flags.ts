import {Flags} from '@oclif/core'

/** Of a deploy: a release beside the one that serves. */
export const canaryFlags = {
  canary: Flags.string({
    helpValue: 'PERCENT',
    description: 'put the release beside the old one, with this part of the requests; with --judge in steps: 10,50,100',
  }),
  judge: Flags.boolean({
    description:
      'the head compares errors and latency of both releases, goes on step by step, and returns to the old one when the new one is worse',
    dependsOn: ['canary'],
  }),
  minimum: Flags.integer({
    description: 'requests that each release has answered before a step ends (default: 100)',
    min: 1,
    dependsOn: ['judge'],
  }),
  hold: Flags.integer({
    description: 'seconds that a step lasts at least (default: 30)',
    min: 0,
    dependsOn: ['judge'],
  }),
  shadow: Flags.boolean({
    description:
      'the new release gets copies of the requests and answers nobody; what it answers otherwise than the old one is counted',
    exclusive: ['canary'],
  }),
  'split-header': Flags.string({
    helpValue: 'HEADER',
    description: 'split by the value of this request header: the same value meets the same release',
    dependsOn: ['canary'],
  }),
}
