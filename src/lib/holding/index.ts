/** What is counted at the head beside runs: notebooks, endpoints, data on nodes. */
export {openDesk, sumsText, type QuotaDesk} from './desk.ts'
