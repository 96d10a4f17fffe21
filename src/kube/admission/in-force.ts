/** Whether a policy of ours is in force, by what the API stores: it, and a binding that denies everything it refuses. */
import { sameJson } from '../json.ts'
import type { ShippedPolicy } from './shipped.ts'
import type {
  MatchResources,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './validating-policy.ts'

export type InForce =
  | {
      inForce: true
      /** Milliseconds since the epoch; undefined: one of the two was changed since its creation, so it is not known. */
      since: number | undefined
    }
  | { inForce: false; why: string }

export function inForce(
  { policy: ours }: ShippedPolicy,
  policies: readonly ValidatingAdmissionPolicy[],
  bindings: readonly ValidatingAdmissionPolicyBinding[],
): InForce {
  const { name } = ours.metadata
  const no = (why: string): InForce => ({ inForce: false, why })
  const policy = policies.find(({ metadata }) => metadata.name === name)
  if (!policy) return no(`ValidatingAdmissionPolicy ${name} does not exist`)
  if (policy.metadata.deletionTimestamp) return no(`ValidatingAdmissionPolicy ${name} is being deleted`)
  const changed = differingPart(policy, ours)
  if (changed) return no(`ValidatingAdmissionPolicy ${name} is not as it is shipped: ${changed}`)
  const bound = bindings.filter(({ spec }) => spec?.policyName === name)
  if (bound.length === 0) return no(`ValidatingAdmissionPolicy ${name} has no binding`)
  const good = bound.find(binding => bindingFlaw(binding) === undefined)
  if (!good) {
    const [first] = bound
    return no(`ValidatingAdmissionPolicyBinding ${first?.metadata.name}: ${first && bindingFlaw(first)}`)
  }
  return { inForce: true, since: sinceOf(policy, good) }
}

/** Whether what decides is the same; texts and audit annotations may differ. */
export function matchesShipped(policy: ValidatingAdmissionPolicy, { policy: ours }: ShippedPolicy): boolean {
  return differingPart(policy, ours) === undefined
}

function differingPart(
  policy: ValidatingAdmissionPolicy,
  ours: ValidatingAdmissionPolicy,
): string | undefined {
  const [theirs, shipped] = [canonical(policy), canonical(ours)]
  return Object.entries(shipped).find(([part, value]) => !sameJson(theirs[part], value))?.[0]
}

/** All that decides, with the defaults of the API left out. */
function canonical({ spec = {} }: ValidatingAdmissionPolicy): Readonly<Record<string, unknown>> {
  return {
    failurePolicy: spec.failurePolicy ?? 'Fail',
    matchConstraints: matchOf(spec.matchConstraints),
    matchConditions: spec.matchConditions ?? [],
    paramKind: spec.paramKind ?? null,
    variables: (spec.variables ?? []).map(({ name, expression = '' }) => ({
      name,
      expression: expression.trim(),
    })),
    validations: (spec.validations ?? []).map(({ expression = '' }) => expression.trim()),
  }
}

function matchOf(match: MatchResources = {}) {
  return {
    matchPolicy: match.matchPolicy ?? 'Equivalent',
    namespaceSelector: match.namespaceSelector ?? {},
    objectSelector: match.objectSelector ?? {},
    excludeResourceRules: match.excludeResourceRules ?? [],
    resourceRules: (match.resourceRules ?? []).map(rule => ({
      ...rule,
      resourceNames: rule.resourceNames ?? [],
      scope: rule.scope ?? '*',
    })),
  }
}

/** A binding may narrow what is looked at, turn denial into a warning, or make it depend on a parameter. */
function bindingFlaw({ metadata, spec = {} }: ValidatingAdmissionPolicyBinding): string | undefined {
  if (metadata.deletionTimestamp) return 'is being deleted'
  if (!spec.validationActions?.includes('Deny')) return 'validationActions lacks Deny'
  if (spec.paramRef) return 'paramRef: what is denied depends on a parameter'
  if (!sameJson(matchOf(spec.matchResources), matchOf()))
    return 'matchResources: only some objects are looked at'
  return undefined
}

/** generation counts changes of spec; creationTimestamp is the API server's. */
function sinceOf(...objects: (ValidatingAdmissionPolicy | ValidatingAdmissionPolicyBinding)[]) {
  if (objects.some(({ metadata }) => (metadata.generation ?? 1) > 1)) return undefined
  const times = objects.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''))
  return times.some(Number.isNaN) ? undefined : Math.max(...times)
}
