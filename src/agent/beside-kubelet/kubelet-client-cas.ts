/** The file by which a kubelet on this machine judges who calls it (`clientCAFile`): it reads it again, within a minute. */
import { posix } from 'node:path'
import { RollcallError, systemCode } from '../../errors.ts'
import type { Disk, Log } from '../../ports.ts'
import { replaceFile } from './kubelet-files.ts'

export interface KubeletClientCas {
  /** The file is to hold these CAs, PEM. What fails is told, and tried with the next bundle and at the next start. */
  keep(pem: string): void
  stop(): Promise<void>
}

export function kubeletClientCas(path: string, { disk, log }: { disk: Disk; log: Log }): KubeletClientCas {
  let working: Promise<void> = Promise.resolve()

  async function write(pem: string): Promise<void> {
    await refuseKubeadmCa(path, disk)
    if (await replaceFile(disk, path, pem, 0o644))
      log.info('the kubelet judges its callers by another bundle', { path })
  }

  return {
    keep(pem) {
      working = working
        .then(() => write(pem))
        .catch(error => log.error('the CAs of the kubelet were not written', { path, error: String(error) }))
    },
    stop: () => working,
  }
}

/** kubeadm issues by `ca.crt` where `ca.key` lies beside it: a bundle there would be taken for the CA that signs. */
async function refuseKubeadmCa(path: string, disk: Disk): Promise<void> {
  const key = posix.join(posix.dirname(path), 'ca.key')
  if (posix.basename(path) !== 'ca.crt' || !(await isThere(key, disk))) return
  throw new RollcallError(
    'CONTROL_PLANE_UNFIT',
    `${path} is the CA that kubeadm signs with: give the kubelet a clientCAFile of its own, and its path here.`,
    { path },
  )
}

async function isThere(path: string, disk: Disk): Promise<boolean> {
  try {
    await disk.stat(path)
    return true
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false
    throw error
  }
}
