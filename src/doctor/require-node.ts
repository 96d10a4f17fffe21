import { RollcallError } from '../errors.ts'
import type { GatheredArtifacts } from './artifacts/artifacts.ts'
import { factsOf } from './facts.ts'

/**
 * Throws USAGE where nothing is known of a node of this name: of a mistyped one nothing would be found, which looks as if
 * all were well. A node that joins is known by its requests. `now` in milliseconds since the epoch.
 */
export function requireNode(node: string, gathered: GatheredArtifacts, now: number): void {
  const { nodes } = gathered
  // What may not be read tells nothing, and is SKIP.
  if (nodes.status !== 'ok' || nodes.value.some(({ metadata }) => metadata.name === node)) return
  const { nodeLeases = [], requests = [] } = factsOf(gathered, now)
  const isKnown =
    nodeLeases.some(({ metadata }) => metadata.name === node) ||
    requests.some(request => request.node === node)
  if (isKnown) return
  throw new RollcallError(
    'USAGE',
    `there is no Node ${JSON.stringify(node)}, and no request in its name; rollcall nodes lists them.`,
    { node },
  )
}
