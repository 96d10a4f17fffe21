/**
 * Pods, as far as nodes and those who look at nodes need them: a kubelet's mirror pods and their status, `kubectl get
 * pods` and `kubectl describe node`. Nothing here schedules them.
 */
import { sameJson } from '../../kube/json.ts'
import { resources } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { dns1123Label } from './names.ts'
import { type Pod, podColumns } from './pod-columns.ts'
import { qosClassOf } from './pod-qos.ts'
import type { StoredResource } from './resource.ts'
import { statusSubresource } from './status-subresource.ts'
import { storedDefaults } from './stored-defaults.ts'

function validatePod({ spec }: Pod): FieldError[] {
  const errors: FieldError[] = []
  const containers = spec?.containers ?? []
  if (containers.length === 0) errors.push(fieldError.required('spec.containers'))
  containers.forEach(({ name = '', image = '' }, index) => {
    const field = `spec.containers[${index}]`
    if (name === '') errors.push(fieldError.required(`${field}.name`))
    else for (const text of dns1123Label(name)) errors.push(fieldError.invalid(`${field}.name`, name, text))
    if (containers.findIndex(other => other.name === name) < index) {
      errors.push(fieldError.duplicate(`${field}.name`, name))
    }
    if (image === '') errors.push(fieldError.required(`${field}.image`))
  })
  return errors
}

/** The part of spec that stays: all but what Kubernetes lets change, which is images, a deadline and tolerations. */
function immutablePart({ spec = {} }: Pod) {
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, ...rest } = spec
  return { ...rest, containers: spec.containers?.map(({ image: _image, ...container }) => container) }
}

function validateUpdate(next: Pod, previous: Pod): FieldError[] {
  const errors = validatePod(next)
  if (!sameJson(immutablePart(next), immutablePart(previous))) {
    errors.push(
      fieldError.forbidden(
        'spec',
        'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
          '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
          '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
      ),
    )
  }
  return errors
}

/** Kubernetes' defaults of the fields that programs read. */
function defaultPod(pod: Pod): void {
  pod.spec = {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
    // What admission adds where nobody has made a PriorityClass.
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    ...pod.spec,
  }
  pod.spec.containers = pod.spec.containers?.map(container => ({
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: /:(?!latest$)[^/]+$|@/.test(container.image ?? '') ? 'IfNotPresent' : 'Always',
    ...container,
  })) as NonNullable<Pod['spec']>['containers'] & object
}

export const pods: StoredResource<Pod> = {
  ...storedDefaults,
  ...resources.pods,
  returnDeletedObject: true,
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  columns: podColumns,
  prepareForCreate(pod) {
    defaultPod(pod)
    pod.status = { phase: 'Pending', qosClass: qosClassOf(pod) }
  },
  prepareForUpdate(next, previous) {
    defaultPod(next)
    next.status = structuredClone(previous.status ?? {})
  },
  validate: validatePod,
  validateUpdate,
  subresources: { status: statusSubresource<Pod>() },
  selectableFields: [
    { path: 'spec.nodeName', value: ({ spec }) => spec?.nodeName ?? '' },
    { path: 'spec.restartPolicy', value: ({ spec }) => spec?.restartPolicy ?? '' },
    { path: 'spec.schedulerName', value: ({ spec }) => spec?.schedulerName ?? '' },
    { path: 'spec.serviceAccountName', value: ({ spec }) => spec?.serviceAccountName ?? '' },
    { path: 'spec.hostNetwork', value: ({ spec }) => String(spec?.hostNetwork ?? false) },
    { path: 'status.phase', value: ({ status }) => status?.phase ?? '' },
    { path: 'status.podIP', value: ({ status }) => status?.podIP ?? '' },
    { path: 'status.nominatedNodeName', value: ({ status }) => status?.nominatedNodeName ?? '' },
  ],
  hasGeneration: true,
}
