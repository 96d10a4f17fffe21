/** A signed bundle as an agent keeps it on its disk, and as cluster-info shows it to who trusts nothing there. */
import type { SignedBundle } from './accept-bundle.ts'

/** Key of ConfigMap kube-public/cluster-info under which the published bundle of a role stands. */
export function clusterInfoKey(role: string): string {
  return `rollcall-trust-${role}`
}

export function encodeStoredBundle({ content, signatures }: SignedBundle): string {
  const encoded = signatures.map(({ keyId, signature }) => {
    return { keyId, signature: Buffer.from(signature).toString('base64') }
  })
  return `${JSON.stringify({ content, signatures: encoded })}\n`
}

/** undefined for a file that is none; whether the bundle is good, acceptBundle says. */
export function decodeStoredBundle(text: string): SignedBundle | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined // a file cut short by a crash is no bundle
  }
  const { content, signatures } = (value ?? {}) as { content?: unknown; signatures?: unknown }
  if (typeof content !== 'string' || !Array.isArray(signatures)) return undefined
  const read = signatures.map((entry: { keyId?: unknown; signature?: unknown } | null) => ({
    keyId: String(entry?.keyId),
    signature: new Uint8Array(Buffer.from(String(entry?.signature), 'base64')),
  }))
  return { content, signatures: read }
}
