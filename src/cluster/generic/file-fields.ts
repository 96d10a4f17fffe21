/** Fields of the controller's own file, read strictly: what is misspelt would otherwise be left out in silence. */
import type { RollcallError } from '../../errors.ts'
import { isRecord } from '../../kube/json.ts'

/** The error for what is wrong, with the file's name. */
export type Bad = (why: string) => RollcallError

export function fieldsOf<Name extends string>(
  value: unknown,
  where: string,
  known: readonly Name[],
  bad: Bad,
): Partial<Record<Name, unknown>> {
  if (!isRecord(value)) throw bad(`${where} must have fields`)
  const unknown = Object.keys(value).find(field => !known.some(name => name === field))
  if (unknown !== undefined)
    throw bad(`${where} has the unknown field ${JSON.stringify(unknown)}; known are ${known.join(', ')}`)
  return value as Partial<Record<Name, unknown>>
}

export function textOf(value: unknown, where: string, bad: Bad): string {
  if (typeof value !== 'string' || value === '') throw bad(`${where} must be a string`)
  return value
}

/** An absolute path: nothing depends on where the controller was started. */
export function pathOf(value: unknown, where: string, bad: Bad): string {
  const path = textOf(value, where, bad)
  if (!path.startsWith('/')) throw bad(`${where} must be an absolute path`)
  return path
}

export function booleanOf(value: unknown, where: string, bad: Bad): boolean {
  if (typeof value !== 'boolean') throw bad(`${where} must be true or false`)
  return value
}

export function numberOf(
  value: unknown,
  where: string,
  { least, most }: { least: number; most: number },
  bad: Bad,
): number {
  if (typeof value !== 'number' || !(value >= least && value <= most))
    throw bad(`${where} must be a number from ${least} to ${most}`)
  return value
}

export function listOf(value: unknown, where: string, bad: Bad): unknown[] {
  if (!Array.isArray(value)) throw bad(`${where} must be a list`)
  return value
}
