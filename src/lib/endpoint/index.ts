/** Served models: releases, replicas, one address each. */
export {openEndpoints, type Change, type Endpoints} from './endpoints.ts'
export type {DeployInput} from './choice.ts'
export type {EndpointDocument, Release, Replica} from './document.ts'
export type {Answer, InvokeInput, PlainAnswer, TensorAnswer} from './invoke.ts'
export type {EndpointKey, EndpointKeys, MadeKey} from './keys.ts'
export type {EndpointLogInput, LogLine} from './logs.ts'
export type {EndpointDetails, EndpointSummary, ReplicaStatus} from './show.ts'
export type {Tensor} from './tensor.ts'
