/** The upgrades that lead through a tunnel. */
const protocols = ['websocket', 'spdy/3.1']

/** What of a request for an upgrade is passed on: nothing that names the client or its credential. */
const requestHeaders = ['sec-websocket-key', 'sec-websocket-version', 'user-agent']
/** Browsers, which can set no header, name their token to kube-apiserver as a subprotocol that begins so. */
const tokenProtocol = 'base64url.bearer.authorization.k8s.io.'
/** What of the answer comes back. */
const answerHeaders = ['sec-websocket-accept', 'sec-websocket-protocol', 'x-stream-protocol-version']

/** Lower-case names; several values of one name are joined with a comma. */
type Headers = Readonly<Record<string, string | string[] | undefined>>

const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(', ') : value)

/** The protocol that the connection is to become: `websocket` or `SPDY/3.1`; undefined: it stays HTTP. */
export function wantedUpgrade(headers: Headers): 'websocket' | 'SPDY/3.1' | undefined {
  const tokens = (one(headers.connection) ?? '').toLowerCase().split(/\s*,\s*/)
  const wanted = (one(headers.upgrade) ?? '').toLowerCase()
  if (!tokens.includes('upgrade') || !protocols.includes(wanted)) return undefined
  return wanted === 'websocket' ? 'websocket' : 'SPDY/3.1'
}

/** A request whose connection is to become something else brings no body: two readers could disagree where it ends. */
export function bringsBody(headers: Headers): boolean {
  const length = one(headers['content-length'])
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** The headers that ask a kubelet for the same upgrade. */
export function upgradeRequestHeaders(headers: Headers): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {
    connection: 'Upgrade',
    upgrade: wantedUpgrade(headers) ?? '',
  }
  for (const name of requestHeaders) {
    const value = one(headers[name])
    if (value !== undefined) passed[name] = value
  }
  const subprotocols = one(headers['sec-websocket-protocol'])?.split(/\s*,\s*/) ?? []
  const harmless = subprotocols.filter(name => !name.startsWith(tokenProtocol))
  if (harmless.length > 0) passed['sec-websocket-protocol'] = harmless.join(', ')
  // Older kubelets look at whole header lines, not at the parts of one.
  const versions = one(headers['x-stream-protocol-version'])
  if (versions !== undefined) passed['x-stream-protocol-version'] = versions.split(/\s*,\s*/)
  return passed
}

/** The head of a 101, ready to be sent. */
export function switchingProtocols(upgrade: string, headers: Headers): string {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', `Upgrade: ${upgrade}`]
  for (const name of answerHeaders) {
    const value = one(headers[name])
    if (value !== undefined) lines.push(`${name}: ${value}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
