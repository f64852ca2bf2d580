import type {Context} from '../base/index.ts'
import type {PlanOf} from '../plan/index.ts'
import type {Mlflow, ModelVersion} from '../tracking/index.ts'
import {
  findPromotion,
  findRemoval,
  promote,
  promotionPlan,
  removalPlan,
  remove,
  type Promotion,
  type Removal,
} from './change.ts'
import {findRegistration, register, registrationPlan, type RegisterInput, type Registration} from './register.ts'
import type {ModelKinds} from './steps.ts'
import {listModels, showModel, type ModelDetails, type ModelSummary} from './show.ts'

/**
 * What can be done with registered models. `find…` only looks; planOf says what changing it does. Errors: NOT_FOUND,
 * USAGE, CONFLICT.
 */
export interface Models {
  list(): Promise<ModelSummary[]>
  show(model: string): Promise<ModelDetails>
  findRegistration(input: RegisterInput): Promise<Registration>
  register(found: Registration): Promise<{version: ModelVersion; previous: string | undefined}>
  findPromotion(model: string, alias: string): Promise<Promotion>
  promote(found: Promotion): Promise<Promotion>
  findRemoval(model: string): Promise<Removal>
  remove(found: Removal): Promise<Removal>
}

export function modelsOf(mlflow: Mlflow, context: Context): Models {
  return {
    list: () => listModels(mlflow),
    show: (model) => showModel(mlflow, model),
    findRegistration: (input) => findRegistration(mlflow, input),
    register: (found) => register(found, {mlflow, context}),
    findPromotion: (model, alias) => findPromotion(mlflow, model, alias),
    promote: (found) => promote(found, {mlflow, context}),
    findRemoval: (model) => findRemoval(mlflow, model),
    remove: (found) => remove(found, {mlflow, context}),
  }
}

/** What doing it with what was found means. Pure. */
export function planOf(
  found: {registration: Registration} | {promotion: Promotion} | {removal: Removal},
): PlanOf<ModelKinds> {
  if ('registration' in found) return registrationPlan(found.registration)
  return 'promotion' in found ? promotionPlan(found.promotion) : removalPlan(found.removal)
}
