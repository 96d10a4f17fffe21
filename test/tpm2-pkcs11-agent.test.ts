import { after, afterEach, before, suite, test } from 'node:test'
import { whyNoSoftHsm, whyNoTokenTls } from './support/softhsm.ts'
import { lifeWithToken } from './support/token-matrix.ts'
import { pin, type TokenNode, tokenNode } from './support/token-node.ts'
import { tpm2Pkcs11, whyNoTpm2Pkcs11 } from './support/tpm2-pkcs11.ts'

const skip = whyNoTpm2Pkcs11() || whyNoSoftHsm() || whyNoTokenTls()

suite('a node whose client key is in its TPM, by libtpm2-pkcs11', { skip }, () => {
  let node: TokenNode
  before(async () => {
    node = tokenNode(await tpm2Pkcs11('node', pin))
    await node.startServer()
  })
  afterEach(() => node?.stop())
  after(() => node?.close())

  for (const [title, body] of lifeWithToken) test(title, () => body(node))
})
