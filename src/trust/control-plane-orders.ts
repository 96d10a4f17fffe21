/**
 * Orders to the agent of a control-plane node: an annotation for each role on its Node, beside those that every agent takes.
 * They say how the node's part of the control plane should be, not how it becomes so: words, generations, key identifiers,
 * certificates and sealed keys; never a path or a command. CAs that no pinned trust root has signed for are not taken.
 */
import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import type { ChainMode } from '../rollover/observations.ts'

/** A CA, by its key identifier in hexadecimal. */
export type KeyId = string

export interface ProbeOrder {
  number: number
  authority: KeyId
}

export interface ControlPlaneOrders {
  /** Orders from before these are void (I7). */
  token: number
  sequence: number
  /**
   * Generation of the signed bundle by which peers of the role are judged here: by the API server (client), by what of the
   * control plane asks the API server (apiserver-serving).
   */
  trust: number
  /** client: the CA that kube-controller-manager signs with. */
  sign?: KeyId
  /** client: the CA of the certificates that this node's own programs hold. */
  own?: KeyId
  /** apiserver-serving: what the API server presents. */
  present?: { authority: KeyId; mode: ChainMode }
  /** apiserver-serving: CAs whose bare chain it shows to who asks for it by the probe name of that number; two at most. */
  probes?: readonly ProbeOrder[]
  /** Base64 of CA keys, sealed to the key that this node has shown. */
  sealed: Readonly<Record<KeyId, string>>
  /** DER, in base64, of a CA's certificate by another CA: what is served for who trusts only that one. */
  crosses: Readonly<Record<KeyId, string>>
}

export function controlPlaneAnnotation(role: TrustRole): string {
  return `rollcall.dev/control-plane.${role}`
}

/** What a CA key is sealed about: it opens for this role, this CA and this node alone. */
export function sealedAbout(role: TrustRole, authority: KeyId, node: { name: string; uid: string }): string {
  return `${role}|${authority}|${node.name}|${node.uid}`
}

export function encodeControlPlaneOrders(orders: ControlPlaneOrders): string {
  const { token, sequence, trust, sign, own, present, probes = [], sealed, crosses } = orders
  return [
    `fence ${token} ${sequence}`,
    `trust ${trust}`,
    ...(sign === undefined ? [] : [`sign ${sign}`]),
    ...(own === undefined ? [] : [`own ${own}`]),
    ...(present === undefined ? [] : [`present ${present.authority} ${present.mode}`]),
    ...probes.map(({ number, authority }) => `probe ${number} ${authority}`),
    ...linesOf('sealed', sealed),
    ...linesOf('cross', crosses),
  ].join('\n')
}

/** The orders, or undefined when the text is not exactly what `encodeControlPlaneOrders` writes. */
export function decodeControlPlaneOrders(text: string | undefined): ControlPlaneOrders | undefined {
  if (text === undefined || text.length > mostText) return undefined
  const lines = text.split('\n').map(line => line.split(' '))
  const found = (word: string) => lines.filter(([first]) => first === word).map(([, ...rest]) => rest)
  const [token, sequence] = found('fence')[0] ?? []
  const [trust] = found('trust')[0] ?? []
  const [sign] = found('sign')[0] ?? []
  const [own] = found('own')[0] ?? []
  const [presented, mode] = found('present')[0] ?? []
  const probes = found('probe').map(([number, authority = '']) => ({ number: Number(number), authority }))
  const orders: ControlPlaneOrders = {
    token: Number(token),
    sequence: Number(sequence),
    trust: Number(trust),
    ...(sign !== undefined && { sign }),
    ...(own !== undefined && { own }),
    ...(presented !== undefined && isMode(mode) && { present: { authority: presented, mode } }),
    ...(probes.length > 0 && { probes }),
    sealed: tableOf(found('sealed')),
    crosses: tableOf(found('cross')),
  }
  return isSound(orders) && encodeControlPlaneOrders(orders) === text ? orders : undefined
}

const mostText = 65_536
const keyId = /^[0-9a-f]{8,64}$/
const base64 = /^[A-Za-z0-9+/]+={0,2}$/

function isSound(orders: ControlPlaneOrders): boolean {
  const { token, sequence, trust, sign, own, present, probes = [], sealed, crosses } = orders
  const numbers = [token, sequence, trust, ...probes.map(({ number }) => number)]
  const named = [
    sign,
    own,
    present?.authority,
    ...probes.map(({ authority }) => authority),
    ...Object.keys(sealed),
    ...Object.keys(crosses),
  ]
  return (
    probes.length <= 2 &&
    numbers.every(one => Number.isSafeInteger(one) && one >= 0) &&
    named.every(one => one === undefined || keyId.test(one)) &&
    [...Object.values(sealed), ...Object.values(crosses)].every(text => base64.test(text))
  )
}

function isMode(text: string | undefined): text is ChainMode {
  return text === 'old' || text === 'bridged' || text === 'bare'
}

function linesOf(word: string, table: Readonly<Record<KeyId, string>>): string[] {
  return Object.keys(table)
    .sort()
    .map(authority => `${word} ${authority} ${table[authority]}`)
}

function tableOf(rows: readonly (readonly string[])[]): Record<KeyId, string> {
  return Object.fromEntries(rows.map(([authority = '', text = '']) => [authority, text]))
}
