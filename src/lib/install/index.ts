/** The node program and everything else of ours on the nodes of a rack: put there, and taken away again. */
export {
  INSTALL_HANDLERS,
  installNodes,
  planInstall,
  planUninstall,
  uninstallNodes,
  type Installed,
  type InstallKinds,
} from './install.ts'
