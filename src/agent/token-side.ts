import type { CredentialSource } from '../join/credential-sources.ts'
import { tokenCertificateSource } from '../join/token-certificate-source.ts'
import type { Connect } from '../kube/transport.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import { knownEndpoint } from './credential-chain.ts'
import type { NodeEndpoint } from './node-endpoint.ts'
import { tokenConnect } from './token-connect.ts'
import { type Handshakes, tokenHandshakes } from './token-handshakes.ts'
import { createTokenKeys, type TokenKeys } from './token-keys.ts'

/** What of the agent has to do with keys in PKCS#11 tokens. */
export interface TokenSide {
  /** Where the client certificate's keys are made; undefined: in memory. */
  keys: TokenKeys | undefined
  /** Where the serving certificate's keys are made, and how handshakes are made with them; undefined: in memory. */
  serving: { keys: TokenKeys; handshakes: Handshakes } | undefined
  /** Under the node's own certificate. */
  connect: Connect
  /** Under a bootstrap credential. */
  connectToJoin: Connect
  /** A certificate with its key in a token, where the options name one. */
  sources: CredentialSource[]
  close(): void
}

/** `onKeyGone`: a token does not hold the key of this certificate (PEM) of the node any more. */
export function createTokenSide(
  { clientKeyToken, servingKeyToken, bootstrapCertificate, nodeName }: AgentOptions,
  ports: AgentPorts,
  endpoint: NodeEndpoint,
  onKeyGone: (certificate: string) => void,
): TokenSide {
  const { connect, token } = ports
  if (!token)
    return { keys: undefined, serving: undefined, connect, connectToJoin: connect, sources: [], close() {} }
  const keysOf = (uri: NonNullable<typeof clientKeyToken>, usage: 'client' | 'serving' = 'client') =>
    createTokenKeys({ ...ports, ...token, uri, nodeName, usage })
  const { startTls } = token
  const keys = clientKeyToken && keysOf(clientKeyToken)
  const joinKeys = bootstrapCertificate && keysOf(bootstrapCertificate.key)
  const serving = servingKeyToken && servingIn(servingKeyToken, keysOf(servingKeyToken, 'serving'))
  function servingIn(uri: NonNullable<typeof servingKeyToken>, tokenKeys: TokenKeys) {
    return { keys: tokenKeys, handshakes: tokenHandshakes({ ...ports, startTls, uri, tokenKeys, onKeyGone }) }
  }
  return {
    keys,
    serving,
    connect:
      clientKeyToken && keys
        ? tokenConnect({ connect, startTls, uri: clientKeyToken, tokenKeys: keys, onKeyGone })
        : connect,
    connectToJoin:
      bootstrapCertificate && joinKeys
        ? tokenConnect({ connect, startTls, uri: bootstrapCertificate.key, tokenKeys: joinKeys })
        : connect,
    sources:
      bootstrapCertificate && joinKeys
        ? [
            tokenCertificateSource({
              ...ports,
              certificate: bootstrapCertificate.certificate,
              key: () => joinKeys.find(bootstrapCertificate.key),
              endpoint: () => knownEndpoint(endpoint),
            }),
          ]
        : [],
    close() {
      keys?.close()
      joinKeys?.close()
      serving?.handshakes.close()
      serving?.keys.close()
    },
  }
}
