import type {Launcher} from '../protocol/index.ts'

/** What is written before the command of a rank, where a launcher starts it. */
export function launcherWord(launcher: Launcher): string {
  return {
    torchrun: 'torchrun ',
    accelerate: 'accelerate launch ',
    deepspeed: 'deepspeed ',
    ray: 'ray: ',
    mpi: 'mpirun ',
    plain: '',
  }[launcher]
}
