/** At which address nodes reach each other. */
export {addressForOthers, askRoute} from './addresses.ts'
