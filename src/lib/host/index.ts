export {openHost} from './open.ts'
export {ensureEnvironment, type EnvironmentInput} from './environment.ts'
export * from './service.ts'
export type * from './types.ts'
