/** How a node of `up` is to join, and what its kubelet was told. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { systemRandom } from '../../../../src/host/random.ts'
import { generateSigner } from '../../../../src/keys/private-key.ts'
import { otherAuthority } from '../authority.ts'
import {
  atNode,
  bootstrapKubeconfig,
  bootstrapText,
  day,
  kubeconfig,
  kubeconfigText,
  kubeletConfig,
  kubeletFlags,
  pairOf,
  pki,
  tokenOf,
  writePair,
} from '../examined-node.ts'
import type { ExaminedUp, Fault } from '../examined-up.ts'

const settings = (up: ExaminedUp, lines: string) =>
  writeFileSync(
    kubeletConfig(up),
    `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${lines}`,
  )
const inOrder = 'rotateCertificates: true\nserverTLSBootstrap: true\n'
/** Two days ago, and over since yesterday. */
const ended = (up: ExaminedUp) => pairOf(up, { now: up.now() - 2 * day })

const faults: readonly Omit<Fault, 'args'>[] = [
  {
    id: 'A01',
    what: 'the API does not know the token of the node',
    make: up => writeFileSync(bootstrapKubeconfig(up), bootstrapText(up, 'ghijkl.0123456789abcdef')),
  },
  {
    id: 'A02',
    what: 'a token of that id has another secret',
    make: up =>
      writeFileSync(bootstrapKubeconfig(up), bootstrapText(up, `${tokenOf(up).slice(0, 7)}0123456789abcdef`)),
  },
  {
    id: 'A10',
    what: 'the certificate has ended, and there is no bootstrap kubeconfig',
    async make(up) {
      writePair(up, await ended(up))
      rmSync(bootstrapKubeconfig(up))
    },
  },
  {
    id: 'A11',
    what: 'a bootstrap kubeconfig of another CA',
    async make(up) {
      const { pem } = await otherAuthority(up.now() + 1000 * day)
      writeFileSync(
        bootstrapKubeconfig(up),
        bootstrapText(up, tokenOf(up), { certificateAuthority: { pem } }),
      )
    },
  },
  {
    id: 'A12',
    what: 'nothing listens where the kubeconfig leads',
    make: up => writeFileSync(kubeconfig(up), kubeconfigText(up, { server: 'https://127.0.0.1:1' })),
  },
  {
    id: 'A15',
    what: 'a bootstrap kubeconfig without a credential',
    make: up => writeFileSync(bootstrapKubeconfig(up), bootstrapText(up, '')),
  },
  {
    id: 'A16',
    what: "an administrator's kubeconfig to join with",
    make: up => copyFileSync(up.path('admin.kubeconfig'), bootstrapKubeconfig(up)),
  },
  {
    id: 'A17',
    what: 'a credential plugin that fails',
    make(up) {
      const plugin = pki(up, '../plugin')
      writeFileSync(plugin, '#!/bin/sh\nexit 7\n', { mode: 0o755 })
      const exec = {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: plugin,
        interactiveMode: 'Never',
      }
      const ca = Buffer.from(readFileSync(up.path('pki', 'ca.crt'))).toString('base64')
      const text = JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: up.config.server, 'certificate-authority-data': ca } }],
        users: [{ name: 'u', user: { exec } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      })
      writeFileSync(bootstrapKubeconfig(up), text)
    },
  },
  {
    id: 'A19',
    what: 'a kubelet that bootstraps before its static pods',
    make: up => settings(up, 'serverTLSBootstrap: true\n'),
  },
  {
    id: 'B02',
    what: 'the pair of another node beside its own',
    async make(up) {
      writePair(up, await pairOf(up, { commonName: 'system:node:golden', usage: 'server auth' }), 'server')
    },
  },
  {
    id: 'B03',
    what: 'the kubelet is given another name',
    make(up) {
      settings(up, inOrder)
      writeFileSync(kubeletFlags(up), 'KUBELET_KUBEADM_ARGS="--hostname-override=edge-7 --v=2"\n')
    },
  },
  {
    id: 'B11',
    what: 'a kubelet that signs for itself',
    make: up => settings(up, 'rotateCertificates: true\n'),
  },
  {
    id: 'B12',
    what: 'two serving certificates',
    make: up => settings(up, `${inOrder}tlsCertFile: /etc/k.crt\n`),
  },
  {
    id: 'D04',
    what: 'a signing key of another CA',
    make(up) {
      copyFileSync(up.path('pki', 'ca.crt'), pki(up, '../ca.crt'))
      const key = generateSigner('ECDSA-P256', systemRandom).exportPem().reveal()
      writeFileSync(pki(up, '../ca.key'), key)
    },
  },
  {
    id: 'D05',
    what: 'a bundle to sign with',
    async make(up) {
      const { pem } = await otherAuthority(up.now() + 1000 * day)
      writeFileSync(pki(up, '../ca.crt'), readFileSync(up.path('pki', 'ca.crt'), 'utf8') + pem)
    },
  },
  {
    id: 'E17',
    what: 'a kubelet that does not rotate',
    make(up) {
      rmSync(bootstrapKubeconfig(up))
      settings(up, 'serverTLSBootstrap: true\nrotateCertificates: false\n')
    },
  },
  {
    id: 'G08',
    what: 'a client CA file that is stale',
    async make(up) {
      const file = pki(up, '../client-ca.crt')
      writeFileSync(file, (await otherAuthority(up.now() + 1000 * day)).pem)
      settings(up, `${inOrder}authentication:\n  x509:\n    clientCAFile: ${file}\n`)
    },
  },
]

export const nodeSetupFaults: readonly Fault[] = [
  ...faults.map(fault => ({ ...fault, args: atNode })),
  {
    id: 'A09',
    what: 'a pin of the CA before',
    args: up => [...atNode(up), '--discovery-ca-pin', `sha256:${'0'.repeat(64)}`],
    make() {},
  },
]
