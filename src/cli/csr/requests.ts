import { signerNames } from '../../kube/types.ts'

/** Short names of the signers for node certificates, beside the full ones. */
const shortNames: Record<string, string> = {
  client: signerNames.kubeletClient,
  serving: signerNames.kubeletServing,
}

/** `client` and `serving` for the kubelet's signers, any other name as it is. */
export function signerNamed(name: string): string {
  return shortNames[name] ?? name
}

/** The short name where there is one. */
export function signerShown(signerName: string): string {
  return Object.entries(shortNames).find(([, name]) => name === signerName)?.[0] ?? signerName
}
