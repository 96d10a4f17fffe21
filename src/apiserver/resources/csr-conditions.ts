/** Rules for status.conditions of a CertificateSigningRequest. */
import { sameJson } from '../../kube/json.ts'
import type { CertificateSigningRequest, CsrCondition } from '../../kube/types.ts'
import { timestamp } from '../object-name.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'

const field = 'status.conditions'
const terminal = ['Approved', 'Denied', 'Failed']

export const conditionsOf = (csr: CertificateSigningRequest): readonly CsrCondition[] =>
  csr.status?.conditions ?? []

const ofType = (csr: CertificateSigningRequest, type: string) =>
  conditionsOf(csr).filter(condition => condition.type === type)

const types = (csr: CertificateSigningRequest): readonly string[] => conditionsOf(csr).map(({ type }) => type)

/** What a stored object has wrong already and may therefore keep. */
export interface ConditionLeniency {
  bothApprovedAndDenied: boolean
  duplicates: boolean
  emptyTypes: boolean
}

export function conditionLeniency(previous: CertificateSigningRequest): ConditionLeniency {
  const present = types(previous)
  return {
    bothApprovedAndDenied: present.includes('Approved') && present.includes('Denied'),
    duplicates: new Set(present).size < present.length,
    emptyTypes: present.includes(''),
  }
}

function statusErrors({ type, status }: CsrCondition, path: string): FieldError[] {
  if (!status) return [fieldError.required(`${path}.status`)]
  const allowed = terminal.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
  return allowed.includes(status) ? [] : [fieldError.notSupported(`${path}.status`, status, allowed)]
}

export function conditionErrors(csr: CertificateSigningRequest, allow?: ConditionLeniency): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  conditionsOf(csr).forEach((condition, index) => {
    const path = `${field}[${index}]`
    const { type = '' } = condition
    if (type === '' && !allow?.emptyTypes) errors.push(fieldError.required(`${path}.type`))
    errors.push(...statusErrors(condition, path))
    const opposite = { Approved: 'Denied', Denied: 'Approved' }[type]
    if (opposite && seen.has(opposite) && !allow?.bothApprovedAndDenied) {
      const text = 'Approved and Denied conditions are mutually exclusive'
      errors.push(fieldError.invalid(`${path}.type`, type, text))
    }
    if (seen.has(type) && !allow?.duplicates) errors.push(fieldError.duplicate(`${path}.type`, type))
    seen.add(type)
  })
  return errors
}

/** what says Approved, Denied or Failed stays. */
export function removalErrors(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
): FieldError[] {
  return terminal
    .filter(type => ofType(next, type).length < ofType(previous, type).length)
    .map(type => fieldError.forbidden(field, `updates may not remove a condition of type "${type}"`))
}

/** only /approval may approve or deny. */
export function approvalErrors(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
): FieldError[] {
  return ['Approved', 'Denied'].flatMap(type => {
    const [before, after] = [ofType(previous, type), ofType(next, type)]
    if (after.length > before.length) {
      return [fieldError.forbidden(field, `updates may not add a condition of type "${type}"`)]
    }
    if (after.length === before.length && !sameJson(after, before)) {
      return [fieldError.forbidden(field, `updates may not modify a condition of type "${type}"`)]
    }
    return []
  })
}

/** A-7: /status keeps the Approved and Denied entries as they were, wherever they now stand. */
export function preserveApproval(next: CertificateSigningRequest, previous: CertificateSigningRequest): void {
  for (const type of ['Approved', 'Denied']) {
    const before = ofType(previous, type)
    if (ofType(next, type).length !== before.length) continue
    let instance = 0
    next.status = {
      ...next.status,
      conditions: conditionsOf(next).map(condition =>
        condition.type === type ? structuredClone(before[instance++] ?? condition) : condition,
      ),
    }
  }
}

/** fills in times that the client left out. `now` in milliseconds since the epoch. */
export function stampConditions(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  now: number,
): void {
  for (const condition of conditionsOf(next)) {
    condition.lastUpdateTime ??= timestamp(now)
    if (condition.lastTransitionTime) continue
    const before = conditionsOf(previous).find(
      ({ type, status }) => type === condition.type && status === condition.status,
    )
    condition.lastTransitionTime = before?.lastTransitionTime ?? timestamp(now)
  }
}
