/** The project as a whole: begun by init, looked over by check. */
export {planScaffold, projectName, scaffold, type Scaffolded, type ScaffoldInput} from './scaffold.ts'
export {listTemplates, type Template} from './templates.ts'
export {checkProject, type CheckInput, type CheckResult} from './check.ts'
export type {Finding} from './findings.ts'
