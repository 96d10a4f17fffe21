import type { KubeObject } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

interface CsiNode extends KubeObject {
  spec?: { drivers?: { name: string; nodeID: string; topologyKeys?: string[] }[] }
}

function validateCsiNode({ spec }: CsiNode): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  spec?.drivers?.forEach((driver, index) => {
    const field = `spec.drivers[${index}]`
    if (!driver.name) errors.push(fieldError.required(`${field}.name`))
    if (!driver.nodeID) errors.push(fieldError.required(`${field}.nodeID`))
    if (seen.has(driver.name)) errors.push(fieldError.duplicate(`${field}.name`, driver.name))
    seen.add(driver.name)
  })
  return errors
}

/** A kubelet that cannot create its CSINode ends itself after two and a half minutes (6.2, line 5). */
export const csiNodes: StoredResource<CsiNode> = {
  ...storedDefaults,
  group: 'storage.k8s.io',
  returnDeletedObject: true,
  version: 'v1',
  plural: 'csinodes',
  kind: 'CSINode',
  namespaced: false,
  singular: 'csinode',
  columns: [
    nameColumn,
    textColumn(
      'Drivers',
      'drivers is a list of information of all CSI Drivers existing on a node. If all drivers in the list are uninstalled, this can become empty.',
      ({ spec }) => spec?.drivers?.length ?? 0,
    ),
    ageColumn,
  ],
  validate: validateCsiNode,
  validateUpdate: validateCsiNode,
  allowUnconditionalUpdate: false,
}
