import type { GatheredArtifacts } from '../artifacts/artifacts.ts'
import type { LookAtTls } from './ports.ts'

/** Whether the API server at this URL can be reached, and what it presents. */
export async function lookAtServer(
  server: string,
  lookAtTls: LookAtTls,
): Promise<Pick<GatheredArtifacts, 'apiServing' | 'apiReach'>> {
  const url = URL.parse(server)
  if (url?.protocol !== 'https:') {
    const none = { status: 'absent', reason: `${server} is not served over TLS` } as const
    return { apiServing: none, apiReach: none }
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const served = await lookAtTls({ host, port: Number(url.port || 443) })
  if (served.chain.length > 0)
    return { apiServing: { status: 'ok', value: served }, apiReach: { status: 'ok', value: { server } } }
  const failure = served.failure ?? 'no certificate was presented'
  return {
    apiServing: { status: 'failed', reason: `${host}:${served.port}: ${failure}` },
    apiReach: { status: 'ok', value: { server, failure } },
  }
}
