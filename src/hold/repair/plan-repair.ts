import { posix } from 'node:path'
import { hasCode, systemCode } from '../../errors.ts'
import { Secret } from '../../keys/secret.ts'
import { parseKubeconfig, type Source, selectContext } from '../../kube/kubeconfig.ts'
import type { Disk } from '../../ports.ts'
import { type KeyPair, parseKeyPair } from '../key-pair.ts'
import type { Repair } from './operation.ts'
import { kindOf, readStore, type StoreFiles } from './read-files.ts'
import { repairKubeconfig } from './repair-kubeconfig.ts'
import { repairStore } from './repair-store.ts'

export interface RepairOptions {
  disk: Disk
  /** Milliseconds since the epoch. */
  now: number
  certDirectory: string
  kubeconfigPath: string
  bootstrapKubeconfigPath: string
}

/** Looks at the files of a node and says what mends them; touches nothing. Rejects when the disk cannot be read. */
export async function planRepair(options: RepairOptions): Promise<Repair[]> {
  const { disk, now, certDirectory, kubeconfigPath: path, bootstrapKubeconfigPath } = options
  const stamp = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const backup = (path: string) => `${path}.broken-${stamp}`
  const stores = await Promise.all(
    ['kubelet-client', 'kubelet-server'].map(prefix => readStore(disk, certDirectory, prefix)),
  )
  const [client] = stores
  const text = await textOf(disk, path)
  const pair = client && pairAfterwards(client)
  const kubeconfig = repairKubeconfig(
    {
      path,
      text,
      currentPath: client?.currentPath ?? posix.join(certDirectory, 'kubelet-client-current.pem'),
      pair,
      own: text === undefined ? undefined : await ownPair(options, text, client, pair),
      ...((await kindOf(disk, bootstrapKubeconfigPath)) !== 'missing' && {
        bootstrapPath: bootstrapKubeconfigPath,
      }),
    },
    now,
    backup,
  )
  return [...stores.flatMap(store => repairStore(store, now, backup)), ...kubeconfig]
}

function pairAfterwards({ current, usable }: StoreFiles): KeyPair | undefined {
  return current.kind !== 'missing' && 'pair' in current.read ? current.read.pair : usable[0]?.pair
}

/** The pair of the kubeconfig's user. One that refers to the store has what the store will have. */
async function ownPair(
  { disk, kubeconfigPath }: RepairOptions,
  text: string,
  store: StoreFiles | undefined,
  afterwards: KeyPair | undefined,
): Promise<KeyPair | { fault: string } | undefined> {
  try {
    const { user } = selectContext(parseKubeconfig(text, kubeconfigPath))
    const { clientCertificate, clientKey } = user
    if (!clientCertificate || !clientKey) return undefined
    const inStore = (source: Source) => 'file' in source && source.file === store?.currentPath
    if (inStore(clientCertificate) && inStore(clientKey))
      return afterwards ?? { fault: 'is not in the store' }
    const read = async (source: Source) =>
      'data' in source ? source.data.reveal() : new TextDecoder().decode(await disk.read(source.file))
    return parseKeyPair(new Secret(`${await read(clientCertificate)}\n${await read(clientKey)}`))
  } catch (error) {
    const code = systemCode(error)
    if (code !== undefined) return { fault: code === 'ENOENT' ? 'is not there' : `cannot be read (${code})` }
    if (hasCode(error, 'KEY_MISMATCH')) return { fault: 'and its key do not belong together' }
    if (hasCode(error, 'KUBECONFIG_INVALID')) return { fault: `cannot be told: ${error.message}` }
    if (hasCode(error, 'X509_MALFORMED')) return { fault: 'is cut short' }
    throw error
  }
}

async function textOf(disk: Disk, path: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await disk.read(path))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
