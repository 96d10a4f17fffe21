import { join } from 'node:path'
import { type RunningProgram, startProgram } from './program.ts'

export interface ControllerManagerOptions {
  kubeconfig: string
  /** Where it prints to. */
  folder: string
  /** Names of controllers, e.g. `csrapproving,csrsigning`. */
  controllers: string
  /** Of the CA that signs. */
  certificate: string
  key: string
  /** Go's duration; default 1h. */
  duration?: string
}

/** §6.4: with `--secure-port=0` it serves nothing, and needs no ConfigMap of the API. */
export function startControllerManager(options: ControllerManagerOptions): Promise<RunningProgram> {
  const { kubeconfig, folder, controllers, certificate, key, duration = '1h' } = options
  const logFile = join(folder, 'kube-controller-manager.log')
  return startProgram('kube-controller-manager', {
    flags: {
      kubeconfig,
      controllers,
      'cluster-signing-cert-file': certificate,
      'cluster-signing-key-file': key,
      'cluster-signing-duration': duration,
      'leader-elect': 'false',
      'secure-port': '0',
    },
    logFile,
    // What it does is what the test waits for.
    isReady: () => Promise.resolve(true),
  })
}
