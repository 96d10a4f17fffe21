import { parseAllDocuments } from 'yaml'
import { isRecord } from '../../kube/json.ts'
import type { ManifestPod } from '../pod.ts'
import { checkFields } from './check-fields.ts'
import { type Finding, isRefusal, refusal } from './finding.ts'
import { podFields } from './pod-fields.ts'
import { validatePod } from './validate-pod.ts'

/** Bytes; as the kubelet. */
export const largestManifest = 10 * 1024 * 1024

export interface Manifest {
  /** The pods that can run. */
  pods: ManifestPod[]
  findings: Finding[]
}

/**
 * Reads a manifest: YAML or JSON, any number of documents (a kubelet takes the first one only), each a v1 Pod or PodList.
 * A pod with an error is left out, the others are there.
 */
export function readManifest(text: string): Manifest {
  const manifest: Manifest = { pods: [], findings: [] }
  const documents = parseAllDocuments(text, { prettyErrors: true })
  const list = Array.isArray(documents) ? documents : []
  const broken = list.flatMap(document => document.errors).at(0)
  if (broken) {
    manifest.findings.push(refusal('Malformed', `is not valid YAML: ${firstLine(broken.message)}`))
    return manifest
  }
  let values: unknown[]
  try {
    values = list
      .map(document => document.toJS() as unknown)
      .filter(value => value !== null && value !== undefined)
  } catch (error) {
    // Too many aliases, a merge of something that is no mapping.
    manifest.findings.push(refusal('Malformed', `is not valid YAML: ${firstLine(String(error))}`))
    return manifest
  }
  const several = values.length > 1
  values.forEach((value, n) => {
    takeDocument(value, several ? `document ${n + 1}: ` : '', manifest)
  })
  if (values.length === 0) manifest.findings.push(refusal('Malformed', 'holds no document'))
  return manifest
}

function takeDocument(value: unknown, prefix: string, manifest: Manifest): void {
  const problem = documentProblem(value)
  if (problem !== undefined || !isRecord(value)) {
    manifest.findings.push(refusal('Malformed', prefix + (problem ?? 'is no mapping')))
    return
  }
  if (value.kind === 'Pod') {
    takePod(value, prefix, manifest)
    return
  }
  const items: unknown[] = Array.isArray(value.items) ? value.items : []
  items.forEach((item, n) => {
    const at = `${prefix}items[${n}]: `
    // The items of a list need not repeat what they are.
    if (isRecord(item)) takePod({ ...item, apiVersion: 'v1', kind: 'Pod' }, at, manifest)
    else manifest.findings.push(refusal('Malformed', `${at}is no mapping`))
  })
}

function documentProblem(value: unknown): string | undefined {
  if (!isRecord(value)) return 'is no mapping'
  const { apiVersion, kind, items } = value
  if (apiVersion !== 'v1') return `apiVersion: is ${JSON.stringify(apiVersion)}, not "v1"`
  if (kind === 'Pod') return undefined
  if (kind !== 'PodList') return `kind: is ${JSON.stringify(kind)}, neither Pod nor PodList`
  return Array.isArray(items) ? undefined : 'items: is no list'
}

function takePod(value: Record<string, unknown>, prefix: string, manifest: Manifest): void {
  const add = (findings: Finding[]) => {
    manifest.findings.push(...findings.map(finding => ({ ...finding, message: prefix + finding.message })))
  }
  const types = checkFields(value, podFields, '')
  if (!isRecord(value.metadata)) types.push(refusal('Invalid', 'metadata: is missing'))
  if (!isRecord(value.spec) || !Array.isArray(value.spec.containers))
    types.push(refusal('Invalid', 'spec.containers: is missing'))
  add(types)
  if (types.some(isRefusal)) return
  const { apiVersion, kind, metadata, spec } = withoutNulls(value) as unknown as ManifestPod
  const pod: ManifestPod = { apiVersion, kind, metadata, spec }
  const rules = validatePod(pod)
  add(rules)
  if (!rules.some(isRefusal)) manifest.pods.push(pod)
}

/** null means absent in Kubernetes. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(([, item]) => item !== null)
  return Object.fromEntries(entries.map(([name, item]) => [name, withoutNulls(item)]))
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.replace(/:$/, '') ?? ''
}
