import type { Container } from '../pod.ts'

/**
 * The kubelet's hash of a container (1.36): FNV-1a, 32 bits, over how Go prints the bytes of the JSON of image and name. A
 * kubelet that finds the container with this hash takes it over without a restart (static-pods.md 7).
 */
export function kubeletHash({ image, name }: Container): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ image, name }))
  let hash = 0x811c9dc5
  for (const character of `([]uint8)[${bytes.join(' ')}]`) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193) >>> 0
  }
  return hash.toString(16)
}
