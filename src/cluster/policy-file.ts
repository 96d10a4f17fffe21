import { parse } from 'yaml'
import { requiredEvidence } from '../approve/evidence/level.ts'
import { type ApprovalPolicy, checkPolicy } from '../approve/policy.ts'
import { RollcallError } from '../errors.ts'
import { isRecord } from '../kube/json.ts'

/** Says what a value must be, or undefined when it is. */
type Check = (value: unknown) => string | undefined
type Fields<T> = Readonly<Record<keyof T, Check>>

const text: Check = value => (typeof value === 'string' ? undefined : 'must be a string')
const count: Check = value =>
  typeof value === 'number' && value > 0 ? undefined : 'must be a number above 0'
const texts: Check = value =>
  Array.isArray(value) && value.every(item => typeof item === 'string')
    ? undefined
    : 'must be a list of strings'
const map: Check = value =>
  isRecord(value) && Object.values(value).every(item => typeof item === 'string')
    ? undefined
    : 'must be a map of strings'
const oneOf =
  (...words: readonly string[]): Check =>
  value =>
    words.some(word => word === value) ? undefined : `must be ${words.join(' or ')}`

const inventory: Fields<NonNullable<ApprovalPolicy['inventory']>> = {
  configMap: text,
  secret: text,
  file: text,
}
const pool: Fields<NonNullable<ApprovalPolicy['pools']>[number]> = {
  name: text,
  evidence: oneOf(...requiredEvidence),
  nodeLabels: map,
  inventoryAttributes: map,
}
const fields: Fields<ApprovalPolicy> = {
  evidence: oneOf(...requiredEvidence),
  pools: value =>
    Array.isArray(value)
      ? first(value.map((item, index) => prefixed(`[${index}]`, problemIn(item, pool, ['name', 'evidence']))))
      : 'must be a list',
  inventory: value => problemIn(value, inventory, []),
  allowedRanges: texts,
  serviceRanges: texts,
  podRanges: texts,
  apiServers: texts,
  clusterDomain: text,
  waitSeconds: count,
  bootstrapGroups: texts,
  rebootstrap: oneOf('allow', 'deny'),
  releasedAddresses: oneOf('held', 'free'),
  approvalsPerHour: count,
}

/** Reads a policy file of `rollcall controller`. Throws POLICY_INVALID naming the field; an unknown one is refused. */
export function parsePolicyFile(content: string, path: string): ApprovalPolicy {
  const bad = (why: string) => new RollcallError('POLICY_INVALID', `${path}: ${why}`, { path })
  let value: unknown
  try {
    value = parse(content)
  } catch (error) {
    throw bad(`is no YAML: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isRecord(value)) throw bad('holds no policy; it needs at least `evidence: NodeStatus`')
  const problem = problemIn(value, fields, ['evidence'])
  if (problem) throw bad(problem)
  const policy = { allowedRanges: [], ...value } as unknown as ApprovalPolicy
  checkPolicy(policy)
  return policy
}

/** The first thing wrong with a value that must have these fields, beginning with where it is. */
function problemIn(value: unknown, known: Fields<object>, needed: readonly string[]): string | undefined {
  if (!isRecord(value)) return 'must have fields'
  const checks: Readonly<Record<string, Check>> = known
  const missing = needed.find(name => value[name] === undefined)
  if (missing !== undefined) return `${missing} is missing`
  return first(
    Object.entries(value).map(([name, item]) => {
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined
      return check
        ? prefixed(name, check(item))
        : `has the unknown field ${JSON.stringify(name)}; known are ${Object.keys(checks).join(', ')}`
    }),
  )
}

/** `pools` and `[0].evidence must be …` give `pools[0].evidence must be …`. */
function prefixed(place: string, problem: string | undefined): string | undefined {
  if (problem === undefined) return undefined
  if (/^(must|has) /.test(problem)) return `${place} ${problem}`
  return problem.startsWith('[') ? place + problem : `${place}.${problem}`
}

const first = (problems: readonly (string | undefined)[]) => problems.find(problem => problem !== undefined)
