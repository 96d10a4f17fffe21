import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { AgentOptions } from '../agent/agent-options.ts'
import { RollcallError } from '../errors.ts'

export interface ControlPlaneFlags {
  controlPlane: boolean
  kubernetesDir: string
  controlPlaneState: string
  kubeletClientCa?: string
}

export function controlPlaneFlags(command: Command): Command {
  return command
    .option(
      '--kubelet-client-ca <file>',
      "with --beside-kubelet: the kubelet's clientCAFile, which then holds the signed bundle of client CAs",
    )
    .option(
      '--control-plane',
      'change the CAs of the control plane that kubeadm made on this machine, when a rotation orders it; needs --trust-roots',
      false,
    )
    .option('--kubernetes-dir <dir>', 'with --control-plane: the folder of kubeadm', '/etc/kubernetes')
    .option(
      '--control-plane-state <dir>',
      'with --control-plane: where orders and the step under way are kept',
      '/var/lib/rollcall/control-plane',
    )
}

/** The options of the agent that the flags mean. Throws USAGE. */
export function controlPlaneOptions(
  flags: ControlPlaneFlags & { trustRoots?: string },
): Pick<AgentOptions, 'controlPlane' | 'kubeletClientCaPath'> {
  const { kubeletClientCa } = flags
  const kubelet = kubeletClientCa === undefined ? {} : { kubeletClientCaPath: resolve(kubeletClientCa) }
  if (!flags.controlPlane) return kubelet
  if (flags.trustRoots === undefined)
    throw new RollcallError(
      'USAGE',
      '--control-plane: without --trust-roots nobody could say which CA may be taken; give both.',
    )
  return {
    ...kubelet,
    controlPlane: { root: resolve(flags.kubernetesDir), stateDirectory: resolve(flags.controlPlaneState) },
  }
}
