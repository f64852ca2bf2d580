/** The log of what was changed and refused at a rack's head, and whether it is still what was written. */
export {readAudit, type AuditFilter} from './read.ts'
export {verifyAudit, type AuditCheck, anchorOf, anchorText} from './verify.ts'
