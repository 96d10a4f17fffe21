/** Columns of `kubectl get` for a kind of ours, as Kubernetes makes them of a CRD's additionalPrinterColumns. */
import type { PrinterColumn } from '../../kube/rollcall/kind.ts'
import type { KubeObject } from '../../kube/types.ts'
import { ageColumn, nameColumn } from '../resources/columns.ts'
import type { Column } from '../resources/resource.ts'
import { ageOf } from '../wire/human-duration.ts'
import { compileJsonPath } from './json-path.ts'

type Cell = string | number | boolean | null

function cellOf(type: PrinterColumn['type'], value: unknown, now: number): Cell {
  switch (type) {
    case 'string':
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      if (typeof value !== 'string') return null
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : ageOf(value, now)
  }
}

function columnOf({ name, type, jsonPath, description, priority = 0 }: PrinterColumn): Column {
  const find = compileJsonPath(jsonPath)
  return {
    name,
    type,
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority,
    value(object: KubeObject, now: number) {
      // Several results: the first, as Kubernetes.
      const [value] = find(object)
      return value === undefined || value === null ? null : cellOf(type, value, now)
    },
  }
}

/** The name first; without columns of its own a kind shows its age. */
export function printerColumns(columns: readonly PrinterColumn[]): Column[] {
  const own = columns.length > 0 ? columns.map(columnOf) : [{ ...ageColumn, type: 'date' as const }]
  return [nameColumn, ...own]
}
