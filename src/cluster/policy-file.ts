import { parse } from 'yaml'
import { type ApprovalPolicy, checkPolicy } from '../approve/policy.ts'
import { RollcallError } from '../errors.ts'

type FieldKind = 'strings' | 'string' | 'number'

const fields: Readonly<Record<Exclude<keyof ApprovalPolicy, 'evidence'>, FieldKind>> = {
  allowedRanges: 'strings',
  serviceRanges: 'strings',
  clusterDomain: 'string',
  waitSeconds: 'number',
  bootstrapGroups: 'strings',
}

/** Reads a policy file of `rollcall controller`. Throws POLICY_INVALID naming the field; an unknown one is refused. */
export function parsePolicyFile(text: string, path: string): ApprovalPolicy {
  const bad = (why: string) => new RollcallError('POLICY_INVALID', `${path}: ${why}`, { path })
  let content: unknown
  try {
    content = parse(text)
  } catch (error) {
    throw bad(`is no YAML: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (typeof content !== 'object' || content === null)
    throw bad('holds no policy; it needs at least `evidence: NodeStatus`')
  const { evidence, ...rest } = content as Record<string, unknown>
  if (evidence !== 'NodeStatus') throw bad('evidence must be NodeStatus')
  for (const [name, value] of Object.entries(rest)) {
    const kind = Object.hasOwn(fields, name) ? fields[name as keyof typeof fields] : undefined
    if (!kind)
      throw bad(
        `unknown field ${JSON.stringify(name)}; known are evidence, ${Object.keys(fields).join(', ')}`,
      )
    if (!isOfKind(value, kind))
      throw bad(`${name} must be ${kind === 'strings' ? 'a list of strings' : `a ${kind}`}`)
  }
  const policy: ApprovalPolicy = { allowedRanges: [], ...rest, evidence }
  checkPolicy(policy)
  return policy
}

function isOfKind(value: unknown, kind: FieldKind): boolean {
  if (kind === 'strings') return Array.isArray(value) && value.every(item => typeof item === 'string')
  return typeof value === kind
}
