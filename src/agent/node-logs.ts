import type { ApiResponse } from '../kube/transport.ts'
import { readLog } from '../pods/logs/read-log.ts'
import type { Clock, Disk } from '../ports.ts'
import { findPod, hasContainer, loggedRun, type NodePods } from './node-pods.ts'
import { plainText } from './node-response.ts'

/** Milliseconds since the epoch and counts, as the query says. undefined: it does not make sense. */
function parseOptions(query: URLSearchParams, now: number) {
  const number = (name: string) => (query.has(name) ? Number(query.get(name)) : undefined)
  const [tailLines, sinceSeconds, limitBytes] = ['tailLines', 'sinceSeconds', 'limitBytes'].map(number)
  const time = query.get('sinceTime')
  const numbers = [tailLines, sinceSeconds, limitBytes]
  const fits = numbers.every(value => value === undefined || (Number.isSafeInteger(value) && value >= 0))
  const since = sinceSeconds === undefined ? (time ? Date.parse(time) : undefined) : now - sinceSeconds * 1000
  if (!fits || Number.isNaN(since) || limitBytes === 0) return undefined
  return {
    follow: query.get('follow') === 'true',
    timestamps: query.get('timestamps') === 'true',
    previous: query.get('previous') === 'true',
    ...(tailLines !== undefined && { tailLines }),
    ...(since !== undefined && { since }),
    ...(limitBytes !== undefined && { limitBytes }),
  }
}

/** `/containerLogs/NAMESPACE/POD/CONTAINER`, with the kubelet's parameters and refusals. */
export function containerLogs(
  pods: NodePods | undefined,
  [namespace = '', name = '', container = '']: readonly string[],
  query: URLSearchParams,
  {
    clock,
    disk,
    signal = new AbortController().signal,
  }: { clock: Clock; disk: Disk; signal?: AbortSignal | undefined },
): ApiResponse {
  const options = parseOptions(query, clock.now())
  if (!options) return plainText(422, '{"message": "Invalid request."}')
  const view = findPod(pods, namespace, name)
  if (!pods || !view) return plainText(404, `pod ${JSON.stringify(name)} does not exist`)
  if (!hasContainer(view.pod, container))
    return plainText(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}`)
  const run = loggedRun(view, container, options.previous)
  if (typeof run === 'string') return plainText(400, run)
  const { runtime } = pods
  const format = runtime.logFormat ?? 'raw'
  if (options.timestamps && format === 'raw')
    return plainText(400, `the runtime ${JSON.stringify(runtime.name)} does not note when a line was written`)
  const ended = () => runtime.containers().find(({ id }) => id === run.id)?.state !== 'Running'
  const log = { path: runtime.logPath(run), format, ended }
  return { ...plainText(200, ''), body: readLog(log, options, { disk, clock, signal }) }
}
