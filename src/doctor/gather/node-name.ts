import { systemCode } from '../../errors.ts'
import type { NodeName } from '../artifacts/node-artifacts.ts'
import type { ReadOnlyDisk } from './cert-directory.ts'

/** The name by which this machine's kubelet calls itself: --hostname-override of kubeadm's flags, else its host name. */
export async function readNodeName(path: string, hostname: string, disk: ReadOnlyDisk): Promise<NodeName> {
  const override = /--hostname-override[= ]"?([^\s"']+)/.exec(await textOf(path, disk))?.[1]
  return override === undefined
    ? { name: hostname.toLowerCase(), source: 'the host name' }
    : { name: override.toLowerCase(), source: `${path} --hostname-override` }
}

/** Who does not use kubeadm has no such file. */
async function textOf(path: string, disk: ReadOnlyDisk): Promise<string> {
  try {
    return new TextDecoder().decode(await disk.read(path))
  } catch (error) {
    if (systemCode(error) === undefined) throw error
    return ''
  }
}
