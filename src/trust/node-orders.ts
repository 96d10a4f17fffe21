/**
 * Orders to the agent of a node: an annotation for each role on its Node. They name a state, not a change, so that reading
 * them twice is harmless; words, numbers and key identifiers only, never a path or a command.
 */
import { type TrustRole, trustRoles } from '../kube/rollcall/trust-bundle.ts'

export type NodeOrder =
  /** Hold this bundle or a newer one. */
  | { kind: 'load-bundle'; generation: number }
  /** Make a handshake with the bare chain of this CA, once for each attempt. */
  | { kind: 'probe'; authority: number; attempt: number }
  /** The same, and it has to fail. */
  | { kind: 'probe-refusal'; authority: number; attempt: number }
  /** Hold a certificate of the CA with this key identifier (hexadecimal); ask for it not before (milliseconds). */
  | { kind: 'renew'; issuer: string; notBefore: number }
  | { kind: 'restart-kubelet'; notBefore: number }

export interface NodeOrders {
  /** Of the leader that gives them, and the step they belong to: lower ones than were seen are refused (I7). */
  token: number
  sequence: number
  orders: readonly NodeOrder[]
}

/** The name of the annotation. */
export function ordersAnnotation(role: TrustRole): string {
  return `rollcall.dev/orders.${role}`
}

/** The server name by which a client asks the API server for the bare chain of one CA. */
export function probeName(authority: number): string {
  return `ca-${authority}.probe.rollcall.internal`
}

/** The CA that a server name asks for. */
export function probedAuthority(name: string): number | undefined {
  const number = /^ca-(\d{1,9})\.probe\.rollcall\.internal$/.exec(name)?.[1]
  return number === undefined ? undefined : Number(number)
}

export function encodeOrders({ token, sequence, orders }: NodeOrders): string {
  return [`fence ${token} ${sequence}`, ...orders.map(encoded)].join('\n')
}

/** The orders, or undefined when the text is not exactly what `encodeOrders` writes. */
export function decodeOrders(text: string | undefined): NodeOrders | undefined {
  const [first = '', ...lines] = text?.split('\n') ?? []
  const fence = /^fence (\d{1,15}) (\d{1,15})$/.exec(first)
  const orders = lines.map(decoded)
  if (!fence || orders.includes(undefined)) return undefined
  return {
    token: Number(fence[1]),
    sequence: Number(fence[2]),
    orders: orders.filter(order => order !== undefined),
  }
}

/** Orders that stand on a Node, by role. */
export function ordersOn(annotations: Readonly<Record<string, string>>): [TrustRole, NodeOrders][] {
  return trustRoles.flatMap(role => {
    const orders = decodeOrders(annotations[ordersAnnotation(role)])
    return orders ? [[role, orders] as [TrustRole, NodeOrders]] : []
  })
}

function encoded(order: NodeOrder): string {
  switch (order.kind) {
    case 'load-bundle':
      return `load-bundle ${order.generation}`
    case 'probe':
    case 'probe-refusal':
      return `${order.kind} ${order.authority} ${order.attempt}`
    case 'renew':
      return `renew ${order.issuer} ${order.notBefore}`
    case 'restart-kubelet':
      return `restart-kubelet ${order.notBefore}`
  }
}

function decoded(line: string): NodeOrder | undefined {
  const [, kind, one = '', two] =
    /^(load-bundle|probe|probe-refusal|renew|restart-kubelet) ([0-9a-f]{1,64})(?: (\d{1,15}))?$/.exec(line) ??
    []
  const number = /^\d{1,15}$/.test(one) ? Number(one) : undefined
  const second = two === undefined ? undefined : Number(two)
  if (kind === 'renew') return second === undefined ? undefined : { kind, issuer: one, notBefore: second }
  if (number === undefined) return undefined
  if (kind === 'load-bundle' && second === undefined) return { kind, generation: number }
  if (kind === 'restart-kubelet' && second === undefined) return { kind, notBefore: number }
  if ((kind === 'probe' || kind === 'probe-refusal') && second !== undefined)
    return { kind, authority: number, attempt: second }
  return undefined
}
