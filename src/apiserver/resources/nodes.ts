import { sameJson } from '../../kube/json.ts'
import { labelValueComplaints, qualifiedNameComplaints } from '../../kube/label-syntax.ts'
import { type KubeNode, resources } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { nodeColumns } from './node-columns.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

interface Taint {
  key: string
  value?: string
  effect: string
}

interface Node extends KubeNode {
  spec?: NonNullable<KubeNode['spec']> & { taints?: Taint[] }
  status?: NonNullable<KubeNode['status']> & {
    capacity?: Record<string, string>
    allocatable?: Record<string, string>
  }
}

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

function validateTaints(taints: readonly Taint[] = []): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  taints.forEach((taint, index) => {
    const field = `metadata.taints[${index}]`
    const { key = '', value = '', effect = '' } = taint
    for (const text of qualifiedNameComplaints(key))
      errors.push(fieldError.invalid(`${field}.key`, key, text))
    for (const text of labelValueComplaints(value))
      errors.push(fieldError.invalid(`${field}.value`, value, text))
    if (effect === '') errors.push(fieldError.required(`${field}.effect`))
    else if (!taintEffects.includes(effect)) {
      errors.push(fieldError.notSupported(`${field}.effect`, effect, taintEffects))
    }
    // A taint is identified by key and effect.
    if (seen.has(`${effect}/${key}`)) errors.push(fieldError.duplicate(field, taint))
    seen.add(`${effect}/${key}`)
  })
  return errors
}

function validateAddresses(node: Node): FieldError[] {
  const addresses = node.status?.addresses ?? []
  return addresses.flatMap((address, index) =>
    addresses.findIndex(other => sameAddress(other, address)) < index
      ? [fieldError.duplicate(`status.addresses[${index}]`, address)]
      : [],
  )
}

function sameAddress(left: { type: string; address: string }, right: { type: string; address: string }) {
  return left.type === right.type && left.address === right.address
}

function validateNode(node: Node): FieldError[] {
  return [...validateTaints(node.spec?.taints), ...validateAddresses(node)]
}

function validateNodeUpdate(next: Node, previous: Node): FieldError[] {
  const errors = validateNode(next)
  const cidrs = previous.spec?.podCIDRs ?? []
  if (cidrs.length > 0 && !sameJson(cidrs, next.spec?.podCIDRs ?? [])) {
    errors.push(
      fieldError.forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'),
    )
  }
  const providerID = previous.spec?.providerID ?? ''
  if (providerID !== '' && providerID !== (next.spec?.providerID ?? '')) {
    errors.push(
      fieldError.forbidden(
        'spec.providerID',
        'node updates may not change providerID except from "" to valid',
      ),
    )
  }
  return errors
}

/** podCIDR is the first of podCIDRs; either may be given. */
function defaultNode(node: Node): void {
  const spec = node.spec ?? {}
  node.spec = spec
  if (spec.podCIDR && !spec.podCIDRs?.length) spec.podCIDRs = [spec.podCIDR]
  if (!spec.podCIDR && spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0]
  const status = node.status ?? {}
  node.status = status
  if (status.capacity && !status.allocatable) status.allocatable = { ...status.capacity }
}

export const nodes: StoredResource<Node> = {
  ...storedDefaults,
  ...resources.nodes,
  singular: 'node',
  shortNames: ['no'],
  columns: nodeColumns,
  prepareForCreate: defaultNode,
  prepareForUpdate(next, previous) {
    defaultNode(next)
    next.status = structuredClone(previous.status ?? {})
  },
  validate: validateNode,
  validateUpdate: validateNodeUpdate,
  subresources: {
    status: {
      verbs: ['get', 'patch', 'update'],
      // Labels and annotations can be changed here too, as in Kubernetes; NodeRestriction watches over a node's own.
      prepareForUpdate(next, previous) {
        next.spec = structuredClone(previous.spec ?? {})
        defaultNode(next)
      },
      validateUpdate: validateNodeUpdate,
    },
  },
  selectableFields: [
    { path: 'spec.unschedulable', value: ({ spec }) => String(spec?.unschedulable ?? false) },
  ],
}
