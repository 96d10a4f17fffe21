import type { IncomingMessage } from 'node:http'
import { wantedUpgrade } from '../../kube/upgrade/upgrade-headers.ts'

/** Paths that may become something else than HTTP; elsewhere an Upgrade header means nothing, as always. */
const tunnelPath =
  /^\/api\/v1\/(?:namespaces\/[^/]+\/pods\/[^/]+\/(?:exec|attach|portforward)|nodes\/[^/]+\/proxy)(?:[/?]|$)/

export function mayUpgrade({ url = '', headers }: IncomingMessage): boolean {
  return tunnelPath.test(url) && wantedUpgrade(headers) !== undefined
}
