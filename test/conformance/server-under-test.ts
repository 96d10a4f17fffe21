import type { Secret } from '../../src/keys/secret.ts'

/** A running API server of any make. Its administrator is kubeadm's: kubernetes-admin in kubeadm:cluster-admins, by client certificate. */
export interface ServerUnderTest {
  /** For findings, e.g. `kube-apiserver`. */
  name: string
  /** E.g. `https://127.0.0.1:6443`. */
  url: string
  /** PEM of what its serving certificate chains to. */
  ca: string
  adminCredential: { certificate: string; key: Secret }
  stop(): Promise<void>
}
