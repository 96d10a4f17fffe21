import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { BesideKubeletOptions } from '../agent/beside-kubelet/beside-kubelet.ts'
import { RollcallError } from '../errors.ts'
import type { Pkcs11Uri } from '../keys/pkcs11/uri.ts'
import { wholeNumber } from './number-option.ts'

/** Where agent and `rollcall credential` meet unless told otherwise. */
export const defaultSocket = '/run/rollcall/agent.sock'

export interface BesideFlags {
  besideKubelet?: 'exec' | 'proxy'
  kubeletKubeconfig: string
  socket: string
  proxyPort: number
  kubeletUnit: string
}

export function besideFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--beside-kubelet <mode>',
        'hold the certificates of a kubelet on this machine: exec gives it the pair by a credential plugin, proxy keeps the key and leads its requests to the API',
      ).choices(['exec', 'proxy']),
    )
    .option(
      '--kubelet-kubeconfig <file>',
      "with --beside-kubelet: the kubelet's kubeconfig, which the agent writes",
      '/etc/kubernetes/kubelet.conf',
    )
    .option('--socket <path>', 'with --beside-kubelet exec: where rollcall credential asks', defaultSocket)
    .option(
      '--proxy-port <port>',
      'with --beside-kubelet proxy: its port at 127.0.0.1',
      wholeNumber(1, 65_535),
      6444,
    )
    .option(
      '--kubelet-unit <unit>',
      'with --beside-kubelet exec and --trust-roots: what systemd calls the kubelet, which reads CAs once and is restarted for others',
      parseUnit,
      'kubelet.service',
    )
}

/** The options of the agent that the flags mean. Throws USAGE. */
export function besideOptions(
  flags: BesideFlags & { kubeconfig: string; clientKey?: Pkcs11Uri; staticPods?: string },
): { besideKubelet?: BesideKubeletOptions } {
  const { besideKubelet: mode, kubeletKubeconfig, socket, proxyPort, kubeconfig, clientKey } = flags
  const { kubeletUnit: unit } = flags
  if (mode === undefined) return {}
  if (mode === 'exec' && clientKey)
    throw new RollcallError(
      'USAGE',
      '--client-key keeps the key in a token, and exec would have to give it away: use --beside-kubelet proxy.',
    )
  if (resolve(kubeletKubeconfig) === resolve(kubeconfig))
    throw new RollcallError(
      'USAGE',
      "--kubelet-kubeconfig is the kubelet's and --kubeconfig the agent's own: two files.",
    )
  return {
    besideKubelet: {
      mode,
      kubeconfigPath: resolve(kubeletKubeconfig),
      command: fileURLToPath(new URL('../../bin/rollcall', import.meta.url)),
      socketPath: resolve(socket),
      proxyPort,
      directory: join(dirname(resolve(kubeconfig)), 'kubelet'),
      unit,
    },
  }
}

/** Never an option of systemctl. */
function parseUnit(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9:_.@-]*\.service$/.test(text)) return text
  throw new InvalidArgumentError('Give the name of a service, as kubelet.service.')
}
