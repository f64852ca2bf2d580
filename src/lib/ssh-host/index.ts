/** A workspace as a host of SSH. */
export {planSshConfig, planSshRemoval, writeSshConfig, type SshConfigInput, type SshConfigPlan} from './plan.ts'
export {SSH_HOST_HANDLERS, type HostToWrite} from './steps.ts'
export {editorAddress, editorWords, type Editor} from './address.ts'
export {connectSession} from './session.ts'
export type {SshHost} from './types.ts'
