import { type Finding, isRefusal, refusal } from '../manifest/finding.ts'
import { withIdentity } from '../manifest/identity.ts'
import { readManifest } from '../manifest/read-manifest.ts'
import { annotations, podKey, revisionOf, type StaticPod } from '../pod.ts'

/** What one look at a file of the directory gave. */
export interface FileReading {
  path: string
  /** undefined: it could not be read, `problem` says why. */
  text?: string
  problem?: Finding
}

export interface FileFinding extends Finding {
  path: string
}

/** What should run, and what is wrong with the manifests. */
export interface DesiredPods {
  /** In the order in which they are to be started. */
  pods: readonly StaticPod[]
  /** By path: the pods of the last version that could be used. */
  files: ReadonlyMap<string, readonly StaticPod[]>
  findings: readonly FileFinding[]
}

export const nothingDesired: DesiredPods = { pods: [], files: new Map(), findings: [] }

/**
 * What should run after this look at the directory. Of a file that has become unusable the last good version goes on
 * (a kubelet does the same; a document of it that is fine is used). Of two pods with one name, the one that was there
 * before stays, else the first by file name (a kubelet: the last, kubernetes#136962).
 */
export function desiredPods(
  previous: DesiredPods,
  readings: readonly FileReading[],
  node: { nodeName: string; now: number },
): DesiredPods {
  const files = new Map<string, StaticPod[]>()
  const findings: FileFinding[] = []
  for (const reading of [...readings].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const { pods, found } = podsOf(reading, previous.files.get(reading.path) ?? [], node)
    files.set(reading.path, pods)
    findings.push(...found.map(finding => ({ path: reading.path, ...finding })))
  }
  const owners = new Map(
    previous.pods.map(pod => [podKey(pod), pod.metadata.annotations[annotations.manifest]]),
  )
  const claims = [...files].flatMap(([path, pods]) => pods.map(pod => ({ path, pod, key: podKey(pod) })))
  const chosen = new Map<string, StaticPod>()
  const isOwner = (claim: { path: string; key: string }) => owners.get(claim.key) === claim.path
  for (const claim of [...claims.filter(isOwner), ...claims.filter(claim => !isOwner(claim))]) {
    const taken = chosen.get(claim.key)
    if (!taken) chosen.set(claim.key, claim.pod)
    else {
      const by = taken.metadata.annotations[annotations.manifest]
      findings.push({
        path: claim.path,
        ...refusal('Duplicate', `pod ${claim.key} is that of ${by} already; give one of them another name`),
      })
    }
  }
  return { pods: [...chosen.values()].sort(byStartOrder), files, findings }
}

function podsOf(
  { path, text, problem }: FileReading,
  before: readonly StaticPod[],
  { nodeName, now }: { nodeName: string; now: number },
): { pods: StaticPod[]; found: Finding[] } {
  if (text === undefined) return { pods: [...before], found: problem ? [problem] : [] }
  const { pods, findings } = readManifest(text)
  const known = new Map(before.map(pod => [podKey(pod), pod]))
  const fresh = pods.map(pod => {
    const identified = withIdentity(pod, { nodeName, path, seen: now })
    const same = known.get(podKey(identified))
    // Unchanged contents keep the moment at which they were first seen.
    return same && revisionOf(same) === revisionOf(identified) ? same : identified
  })
  if (!findings.some(isRefusal)) return { pods: fresh, found: findings }
  const names = new Set(fresh.map(podKey))
  return { pods: [...fresh, ...before.filter(pod => !names.has(podKey(pod)))], found: findings }
}

function byStartOrder(a: StaticPod, b: StaticPod): number {
  const [left, right] = [rank(a), rank(b)]
  return left.critical - right.critical || left.order - right.order || compare(left.path, right.path)
}

function rank({ spec, metadata }: StaticPod) {
  const order = Number(metadata.annotations[annotations.startOrder] ?? 0)
  return {
    critical: spec.priorityClassName === 'system-node-critical' ? 0 : 1,
    order: Number.isFinite(order) ? order : 0,
    path: `${metadata.annotations[annotations.manifest]}\n${metadata.namespace}/${metadata.name}`,
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
