import type { Signer } from '../keys/signer.ts'
import type { CertificatePolicySpec } from '../kube/rollcall/certificate-policy/spec.ts'
import type { Clock, Disk, Log, Random } from '../ports.ts'
import type { DataDirectory } from './data-directory.ts'

export interface ControlPlaneOptions {
  directory: DataDirectory
  /** 0: any free one. */
  port: number
  /** Address to listen on. */
  bind: string
  certificateLifetimeSeconds: number
  /** The key of the cluster's CA where it lies elsewhere; absent: in `D/pki/ca.key`. */
  caKey?: Signer
  /** Of the CertificatePolicy that is created where there is none. Absent: the API alone. */
  policy?: CertificatePolicySpec
  /** Where its page is served on 127.0.0.1; 0: any free port. Absent: there is no dashboard. */
  dashboard?: { port: number }
  clock: Clock
  random: Random
  disk: Disk & Required<Pick<Disk, 'append'>>
  log: Log
}

/** What is undone at the end, the last first. */
export type Cleanups = (() => Promise<void> | void)[]
