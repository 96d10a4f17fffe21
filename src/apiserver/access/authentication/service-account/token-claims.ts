/** What a service account token says, as Kubernetes writes it. */

/** An object that the token is bound to: it is good only while that very object is there. */
export interface BoundObject {
  name: string
  /** Absent for the node of a pod's token, where the Node was not there yet. */
  uid?: string
}

/** Times in seconds since the epoch. */
export interface TokenClaims {
  aud: string[]
  exp: number
  iat: number
  iss: string
  jti: string
  'kubernetes.io': {
    namespace: string
    node?: BoundObject
    pod?: BoundObject
    secret?: BoundObject
    serviceaccount: BoundObject
    warnafter?: number
  }
  nbf: number
  sub: string
}

type Values = Readonly<Record<string, unknown>>

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string'
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

function isBound(value: unknown): boolean {
  if (value === undefined) return true
  return isValues(value) && isText(value.name) && (value.uid === undefined || isText(value.uid))
}

/** Whether verified JSON has the form of claims. */
export function isTokenClaims(value: Values): value is Values & TokenClaims {
  const own = value['kubernetes.io']
  return (
    Array.isArray(value.aud) &&
    value.aud.every(isText) &&
    [value.exp, value.iat, value.nbf].every(isTime) &&
    [value.iss, value.jti, value.sub].every(isText) &&
    isValues(own) &&
    isText(own.namespace) &&
    own.serviceaccount !== undefined &&
    [own.serviceaccount, own.pod, own.node, own.secret].every(isBound)
  )
}
