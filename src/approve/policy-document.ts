/** Policies as a file has them: the same documents as the resource, checked with line and column. */
import {
  type Document,
  isCollection,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseAllDocuments,
} from 'yaml'
import { RollcallError } from '../errors.ts'
import { isRecord } from '../kube/json.ts'
import type { CertificatePolicySpec } from '../kube/rollcall/certificate-policy/spec.ts'
import { problemsOf } from '../kube/rollcall/certificate-policy.ts'
import { rollcallGroup, rollcallVersion } from '../kube/rollcall/kind.ts'
import { type Path, type Problem, pathText } from '../kube/schema-problems.ts'
import { keyTwice } from './yaml-keys.ts'

export interface PolicyDocument {
  name: string
  spec: CertificatePolicySpec
}

/** Characters; a file that is longer is not parsed at all. */
const longest = 256 * 1024
const mostDocuments = 16
const apiVersion = `${rollcallGroup}/${rollcallVersion}`

/** A problem and where it is: `policy.yaml:7:12: spec.evidence: must be …`. */
export interface PlacedProblem {
  line: number
  column: number
  text: string
}

/**
 * All policies in the text (YAML or JSON, several documents), or everything wrong with it. Aliases are refused: a few
 * lines of them stand for gigabytes.
 */
export function readPolicies(content: string): { policies: PolicyDocument[]; problems: PlacedProblem[] } {
  const start = { line: 1, column: 1 }
  if (content.length > longest)
    return { policies: [], problems: [{ ...start, text: `is longer than ${longest} characters` }] }
  const lines = new LineCounter()
  const parsed = parse(content, lines)
  if (!parsed) return { policies: [], problems: [{ ...start, text: 'is nested too deeply' }] }
  const documents = (Array.isArray(parsed) ? parsed : []).filter(({ contents }) => contents !== null)
  if (documents.length === 0)
    return { policies: [], problems: [{ ...start, text: 'holds no policy; see examples/policies' }] }
  if (documents.length > mostDocuments)
    return { policies: [], problems: [{ ...start, text: `holds more than ${mostDocuments} documents` }] }
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const policies: PolicyDocument[] = []
  const problems: PlacedProblem[] = []
  for (const document of documents) {
    const found = problemsIn(document, policies)
    problems.push(...found.placed.map(({ offset, text }) => ({ ...at(offset), text })))
    if (found.policy) policies.push(found.policy)
  }
  return { policies, problems }
}

/** The parser calls itself for each level, and tells so where a policy never has that many. */
const yamlProblem = (message: string) =>
  /call stack/.test(message) ? 'is nested too deeply' : `is no YAML: ${message}`

/** Undefined for what is nested more deeply than a policy ever is: the parser calls itself for each level. */
function parse(content: string, lineCounter: LineCounter) {
  try {
    return parseAllDocuments(content, { lineCounter, prettyErrors: false, uniqueKeys: false })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The policies of a file. Throws POLICY_INVALID telling every problem with its place, `path:line:column: …`. */
export function parsePolicies(content: string, path: string): PolicyDocument[] {
  const { policies, problems } = readPolicies(content)
  if (problems.length === 0) return policies
  const told = problems.map(({ line, column, text }) => `${path}:${line}:${column}: ${text}`)
  throw new RollcallError('POLICY_INVALID', told.join('\n'), { path })
}

interface Found {
  policy?: PolicyDocument
  placed: { offset: number; text: string }[]
}

function problemsIn(document: Document.Parsed, before: readonly PolicyDocument[]): Found {
  const [error] = document.errors
  if (error) return { placed: [{ offset: error.pos[0], text: yamlProblem(error.message) }] }
  const twice = keyTwice(document)
  if (twice)
    return { placed: [{ offset: twice.offset, text: `has the key ${JSON.stringify(twice.key)} twice` }] }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 0 })
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause
    return { placed: [{ offset: 0, text: 'has an alias (*name); write out what it stands for' }] }
  }
  const { policy, problems } = policyIn(value, before)
  const placed = problems.map(({ path, text }) => ({
    offset: offsetOf(document, path),
    text: path.length > 0 ? `${pathText(path)}: ${text}` : text,
  }))
  return { placed, ...(policy && placed.length === 0 && { policy }) }
}

function policyIn(
  value: unknown,
  before: readonly PolicyDocument[],
): { policy?: PolicyDocument; problems: Problem[] } {
  const wrong = (path: Path, text: string) => ({ problems: [{ path, text }] })
  const { apiVersion: version, kind, metadata, spec, status: _status, ...rest } = isRecord(value) ? value : {}
  if (version !== apiVersion || kind !== 'CertificatePolicy')
    return wrong(
      kind === undefined ? [] : ['kind'],
      `must be a CertificatePolicy: apiVersion: ${apiVersion}, kind: CertificatePolicy, metadata: {name: default}, spec: {…}`,
    )
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) return wrong([unknown], 'is an unknown field; the terms of a policy are in spec')
  const { name } = isRecord(metadata) ? metadata : {}
  if (typeof name !== 'string' || !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name))
    return wrong(['metadata', 'name'], 'must be a name, like default')
  if (before.some(other => other.name === name))
    return wrong(['metadata', 'name'], `Duplicate value: "${name}"; the file has another policy of this name`)
  return { policy: { name, spec: spec as CertificatePolicySpec }, problems: problemsOf(name, spec, 'file') }
}

/** Where the field at this path is written; of one that is missing, what should have it. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const step of path) {
    if (!isCollection(node)) break
    const next: unknown = node.get(step, true)
    const found = keyStart(node.items, step) ?? startOf(next)
    if (found === undefined) break
    offset = found
    node = next
  }
  return offset
}

function keyStart(items: readonly unknown[], step: string | number): number | undefined {
  const pair = items.find(item => isPair(item) && isScalar(item.key) && item.key.value === step)
  return isPair(pair) ? startOf(pair.key) : undefined
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? (node as Node).range?.[0] : undefined)
