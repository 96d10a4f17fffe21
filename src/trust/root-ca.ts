/** ConfigMap kube-root-ca.crt, in every namespace: what pods trust the API server by (C-50). */
import type { ConfigMap } from '../kube/types.ts'

export const rootCaName = 'kube-root-ca.crt'
const description = 'kubernetes.io/description'
const descriptionText =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the ' +
  'internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/**
 * The ConfigMap as it should be, or undefined when `current` already is: data exactly `ca.crt`, and any non-empty
 * description. What else its metadata carries stays.
 */
export function publishedRootCa(
  namespace: string,
  rootCertificates: string,
  current: ConfigMap | undefined,
): ConfigMap | undefined {
  const data = current?.data ?? {}
  const upToDate = Object.keys(data).length === 1 && data['ca.crt'] === rootCertificates
  if (current && upToDate && current.metadata.annotations?.[description]) return undefined
  const metadata = current?.metadata ?? { name: rootCaName, namespace }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    ...current,
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        [description]: metadata.annotations?.[description] || descriptionText,
      },
    },
    data: { 'ca.crt': rootCertificates },
  }
}
