import {Flags} from '@oclif/core'
import {excludeFlag, onFlag, skipFlag} from '../base/flags.ts'

/** What a run is to be: how many nodes and ranks, which GPUs, whether it waits for them. */
export const trainFlags = {
  nodes: Flags.string({
    char: 'n',
    description: 'number of nodes, or a range: 2..8 (default: train.nodes of the manifest)',
  }),
  spares: Flags.integer({
    min: 0,
    description: 'extra nodes that replace lost ones (default: train.spares of the manifest)',
  }),
  'processes-per-node': Flags.integer({
    char: 'p',
    min: 1,
    description: 'ranks on each node (default: train.processes_per_node of the manifest)',
  }),
  gpus: Flags.integer({
    char: 'g',
    min: 0,
    description:
      'GPUs for each rank; each rank gets its own GPUs, chosen by how they are wired (default: train.gpus of the manifest, else none are chosen and every rank sees all)',
  }),
  exclusive: Flags.boolean({
    allowNo: true,
    description: 'the nodes are for this run alone (default: train.exclusive of the manifest)',
  }),
  'share-gpus': Flags.boolean({
    allowNo: true,
    description: 'other runs may use the GPUs at the same time (default: train.share_gpus of the manifest)',
  }),
  wait: Flags.boolean({description: 'wait in line while other runs hold the nodes'}),
  timeout: Flags.integer({min: 0, dependsOn: ['wait'], description: 'maximum seconds to wait; then it exits with 9'}),
  detach: Flags.boolean({char: 'd', description: 'return as soon as the run has started'}),
  name: Flags.string({description: "prefix of the run's id (default: the project's name)"}),
  from: Flags.string({
    multiple: true,
    helpValue: 'RUN|MODEL',
    description: 'a run or a model that it begins with; its record says so (`flexrack why`)',
  }),
  tracking: Flags.boolean({allowNo: true, default: true, description: 'record the run on the tracking server'}),
  skip: skipFlag,
  force: Flags.boolean({description: 'start despite errors found by the preflight'}),
  on: onFlag,
  exclude: excludeFlag,
  scheduler: Flags.option({options: ['ssh', 'slurm'] as const})({
    description: 'who places the run (default: train.scheduler of the manifest, else Slurm where the rack has it)',
  }),
}
