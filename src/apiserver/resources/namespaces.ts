import { type Namespace as NamespaceObject, resources } from '../../kube/types.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import { dns1123Label } from './names.ts'
import { allVerbs, type StoredResource } from './resource.ts'
import { statusSubresource } from './status-subresource.ts'
import { storedDefaults } from './stored-defaults.ts'

interface Namespace extends NamespaceObject {
  spec?: { finalizers?: string[] }
}

/** Kubernetes keeps this label equal to the name, for selectors. */
function labelWithName({ metadata }: Namespace): void {
  metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name }
}

export const namespaces: StoredResource<Namespace> = {
  ...storedDefaults,
  ...resources.namespaces,
  singular: 'namespace',
  shortNames: ['ns'],
  verbs: allVerbs.filter(verb => verb !== 'deletecollection'),
  columns: [
    nameColumn,
    textColumn('Status', 'The status of the namespace', ({ status }) => status?.phase ?? ''),
    ageColumn,
  ],
  prepareForCreate(object) {
    labelWithName(object)
    object.spec = { ...object.spec, finalizers: ['kubernetes'] }
    object.status = { phase: 'Active' }
  },
  prepareForUpdate(next, previous) {
    labelWithName(next)
    next.spec = structuredClone(previous.spec ?? {})
    next.status = structuredClone(previous.status ?? {})
  },
  validateName: dns1123Label,
  subresources: {
    status: statusSubresource<Namespace>(),
    finalize: {
      verbs: ['update'],
      prepareForUpdate(next, previous) {
        next.status = structuredClone(previous.status ?? {})
      },
      validateUpdate: () => [],
    },
  },
  selectableFields: [{ path: 'status.phase', value: ({ status }) => status?.phase ?? '' }],
}
