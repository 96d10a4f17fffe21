import { apiError } from './wire/api-error.ts'

/** Where the next page of a list starts. Opaque to clients. */
export interface ContinueToken {
  /** The state that all pages show; -1: whatever is there when the page is asked for. */
  revision: number
  /** Key of the last item given, without the collection's prefix. */
  after: string
}

export function encodeContinue({ revision, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, after })).toString('base64url')
}

/** Throws ApiError 400 for anything that encodeContinue did not make. */
export function decodeContinue(token: string): ContinueToken {
  const refuse = (why: string) =>
    apiError.badRequest(`invalid continue token: continue key is not valid: ${why}`)
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString())
  } catch {
    throw refuse('it cannot be decoded')
  }
  const { v, rv, after } = Object(value) as Record<string, unknown>
  if (v !== 'meta.k8s.io/v1') throw refuse(`server does not recognize this encoded version "${v}"`)
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || typeof after !== 'string' || !after)
    throw refuse('incorrect encoded start resourceVersion or key')
  return { revision: rv, after }
}
