import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signerNames } from '../kube/types.ts'
import { madeLeaf } from '../testing/made-leaf.ts'
import { listCertificates } from './certificate-list.ts'

const hour = 3_600_000
const now = Date.UTC(2026, 2, 1, 12)
const leaf = (node: string, serialNumber: string, notBefore: number) =>
  madeLeaf(notBefore + 24 * hour, {
    serialNumber,
    notBefore,
    holder: `system:node:${node}`,
    signerName: signerNames.kubeletClient,
  })

test('of a ledger the newest certificate of each holder is listed: what was replaced needs nobody', () => {
  const leaves = [
    leaf('a', '01', now - 23 * hour),
    leaf('a', '02', now - hour),
    leaf('b', '03', now - 2 * hour),
  ]
  assert.deepEqual(
    listCertificates([], now, leaves).map(({ node, serialNumber }) => `${node} ${serialNumber}`),
    ['b 3', 'a 2'],
  )
})
