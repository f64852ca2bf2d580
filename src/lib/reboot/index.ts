/** What is said of services and the reboot of their node. */
export {rebootTitle, warnOfReboot} from './say.ts'
