/**
 * A case is data: requests, and what a Kubernetes API must answer by the numbered rules. In all texts `$(NAME)` stands for
 * a value that an earlier answer gave (`keep`), for a namespace of the case's own (`$(ns)`), or for a name that no other
 * case has (`$(id)`).
 */
import type { Identity } from './wire.ts'

/** Part of a value: every field named must match, lists element by element; a RegExp matches text. */
export type Pattern = RegExp | string | number | boolean | null | typeof absent | Pattern[] | PatternOfFields
export interface PatternOfFields {
  [field: string]: Pattern
}

/** In place of a value: there must be none. */
export const absent = Symbol('absent')

export interface Expected {
  status: number
  /** Of the Status that the answer is. */
  reason?: string
  message?: string | RegExp
  body?: Pattern
  /** Lower-case names. */
  headers?: Record<string, string | RegExp>
  /** Of a watch: exactly these, bookmarks included. */
  events?: Pattern[]
}

export interface Step {
  as?: Identity
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers?: Record<string, string>
  /** Goes as JSON; text goes as it is. */
  body?: object | string
  /** Content-Type; JSON when absent. */
  type?: string
  expect: Expected
  /** Name -> path in the answer, e.g. `metadata.resourceVersion`. */
  keep?: Record<string, string>
  /** A watch: so many events are read, then it is left. */
  events?: number
}

export interface Case {
  /** Begins with the numbers of the rules, like the name of a test. */
  title: string
  steps: Step[]
}
