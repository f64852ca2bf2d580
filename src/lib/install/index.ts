/** The node program and everything else of ours on the nodes of a rack: put there, and taken away again. */
export {installNodes, planInstall, planUninstall, uninstallNodes, type Installed} from './install.ts'
