import { after, afterEach, before, suite, test } from 'node:test'
import { whyNoSoftHsm, whyNoTokenTls } from './support/softhsm.ts'
import * as matrix from './support/token-matrix.ts'
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

  test('bootstrap: the key is made in the TPM, signs the request and the TLS; no private key and no PIN is on the disk', () =>
    matrix.bootstrap(node))
  test('rotate, and crash between key and certificate: a new key each time; keys without a certificate are destroyed', () =>
    matrix.rotateAfterCrash(node))
  test('lapse and return: with a new key, by the bootstrap credential', () => matrix.lapseAndReturn(node))
  test('token removed: it is said, and when it is back the renewal goes on', () => matrix.tokenRemoved(node))
  test('key destroyed: the node goes back to the bootstrap credential and has a new one', () =>
    matrix.keyDestroyed(node))
  test('wrong PIN: it is tried once, said, and the right one in the file is taken', () =>
    matrix.wrongPin(node))
})
