/** Node worker-1 of `up` as it is on the disk: its folder, and the bootstrap kubeconfig that all nodes share. */
import { cpSync, existsSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { hostPorts } from '../../../src/cluster/host-ports.ts'
import { issuePair, type PairRequest } from '../../../src/cluster/issue-pair.ts'
import { Secret } from '../../../src/keys/secret.ts'
import { encodeKubeconfig, type KubeconfigFields } from '../../../src/kube/encode-kubeconfig.ts'
import { authority } from './authority.ts'
import type { ExaminedUp } from './examined-up.ts'

export const day = 86_400_000
export const hour = 3_600_000

const folder = (up: ExaminedUp, ...names: string[]) => up.path('nodes', 'worker-1', ...names)
export const pki = (up: ExaminedUp, name: string) => folder(up, 'pki', name)
export const kubeconfig = (up: ExaminedUp) => folder(up, 'kubeconfig')
/** A copy for this node: the others read theirs meanwhile. */
export const bootstrapKubeconfig = (up: ExaminedUp) => folder(up, 'bootstrap.kubeconfig')
export const kubeletConfig = (up: ExaminedUp) => folder(up, 'config.yaml')
export const kubeletFlags = (up: ExaminedUp) => folder(up, 'kubeadm-flags.env')

/** Words behind `rollcall doctor` that look at it. */
export const atNode = (up: ExaminedUp): string[] => [
  'node',
  ...['--cert-dir', folder(up, 'pki')],
  ...['--kubeconfig', kubeconfig(up)],
  ...['--bootstrap-kubeconfig', bootstrapKubeconfig(up)],
  ...['--config', kubeletConfig(up)],
  ...['--kubelet-flags', kubeletFlags(up)],
  ...['--signing-cert', folder(up, 'ca.crt'), '--signing-key', folder(up, 'ca.key')],
]

/** Gives what puts the folder back as it was. */
export function keepNode(up: ExaminedUp): () => void {
  const kept = up.scratch('worker-1')
  cpSync(folder(up), kept, { recursive: true, verbatimSymlinks: true })
  if (!existsSync(bootstrapKubeconfig(up))) cpSync(up.path('bootstrap.kubeconfig'), bootstrapKubeconfig(up))
  // This machine has another name.
  writeFileSync(kubeletFlags(up), 'KUBELET_KUBEADM_ARGS="--hostname-override=worker-1"\n')
  return () => {
    rmSync(folder(up), { recursive: true })
    cpSync(kept, folder(up), { recursive: true, verbatimSymlinks: true })
    rmSync(kept, { recursive: true })
  }
}

/** A pair of this node that the cluster's CA signed, certificate and key in one text. */
export async function pairOf(up: ExaminedUp, changes: Partial<PairRequest> = {}): Promise<string> {
  const { certificate, key } = await issuePair(
    authority(up),
    {
      commonName: 'system:node:worker-1',
      organizations: ['system:nodes'],
      usage: 'client auth',
      lifetime: day,
      now: up.now(),
      ...changes,
    },
    hostPorts.random,
  )
  return certificate + key.reveal()
}

/** Writes it over the file that the link `current` leads to. */
export function writePair(up: ExaminedUp, text: string, kind: 'client' | 'server' = 'client'): void {
  writeFileSync(pki(up, currentFile(up, kind)), text, { mode: 0o600 })
}

export const currentFile = (up: ExaminedUp, kind: 'client' | 'server' = 'client'): string =>
  readlinkSync(pki(up, `kubelet-${kind}-current.pem`))

/** A kubeconfig for this server, with changes. */
export function kubeconfigText(up: ExaminedUp, changes: Partial<KubeconfigFields> = {}): string {
  const file = pki(up, 'kubelet-client-current.pem')
  const certificateAuthority = { pem: readFileSync(up.path('pki', 'ca.crt'), 'utf8') }
  const user = { clientCertificate: { file }, clientKey: { file } }
  return encodeKubeconfig({ server: up.config.server, certificateAuthority, user, ...changes }).reveal()
}

export const bootstrapText = (up: ExaminedUp, token: string, changes: Partial<KubeconfigFields> = {}) =>
  kubeconfigText(up, { user: { token: new Secret(token) }, ...changes })

/** The token that nodes join with. */
export function tokenOf(up: ExaminedUp): string {
  return (
    /token: "?([a-z0-9]{6}\.[a-z0-9]{16})/.exec(readFileSync(up.path('bootstrap.kubeconfig'), 'utf8'))?.[1] ??
    ''
  )
}
