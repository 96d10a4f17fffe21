import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { type ConfigMap, resources } from '../../kube/types.ts'
import { type ControlledCluster, onCluster } from '../../testing/controlled-cluster.ts'
import { foreignPair, listenHttps } from '../../testing/https-server.ts'
import type { CommandIo } from '../command-io.ts'
import type { Probe } from './probe.ts'
import { register } from './trust.ts'

interface Probed {
  exitCode: number
  probes: Probe[]
  unread: { name: string; problem: string }[]
}

async function probe(
  { admin, clock }: ControlledCluster,
  server: string,
  ...words: string[]
): Promise<Probed> {
  let printed = ''
  let exitCode = 0
  const io: CommandIo = {
    stdout: text => {
      printed += text
    },
    stderr: () => {},
    clock,
    isTerminal: false,
    connect: async () => ({ client: admin, server, close() {} }),
    exitWith: code => {
      exitCode = code
    },
  }
  const program = new Command('rollcall').exitOverride()
  register(program, io)
  await program.parseAsync(['trust', 'probe', '-o', 'json', ...words], { from: 'user' })
  return { exitCode, ...JSON.parse(printed) }
}

const rootCa = (namespace: string, pem: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'kube-root-ca.crt', namespace },
  data: { 'ca.crt': pem },
})

test(
  'each place is tried in a handshake of its own; the one whose CA is another is named with why',
  onCluster(async cluster => {
    const [served, other] = await Promise.all([foreignPair('api'), foreignPair('former')])
    const api = await listenHttps({ cert: served.certificate, key: served.key }, (_, answer) => answer.end())
    try {
      const { admin } = cluster
      const namespace = { apiVersion: 'v1', kind: 'Namespace' }
      for (const name of ['good', 'stale'])
        await admin.create(resources.namespaces, { ...namespace, metadata: { name } })
      await admin.create(resources.configMaps, rootCa('good', served.certificate))
      await admin.create(resources.configMaps, rootCa('stale', other.certificate))
      await admin.create(resources.secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: 'old-token',
          namespace: 'good',
          annotations: { 'kubernetes.io/service-account.name': 'default' },
        },
        type: 'kubernetes.io/service-account-token',
        data: { 'ca.crt': Buffer.from(other.certificate).toString('base64') },
      } as never)
      const { exitCode, probes } = await probe(cluster, api.url)
      assert.equal(exitCode, 3)
      const here = new URL(api.url).host
      const told = probes
        .filter(({ endpoint }) => endpoint === here)
        .map(({ source, trusted }) => [source, trusted])
      assert.deepEqual(
        told.filter(([source]) => /good|stale/.test(String(source))),
        [
          ['kube-root-ca.crt (good)', true],
          ['kube-root-ca.crt (stale)', false],
          ['token Secrets (good/old-token)', false],
        ],
      )
      assert.match(probes.find(({ trusted }) => !trusted)?.why ?? '', /SELF_SIGNED|UNABLE_TO/)
    } finally {
      await api.stop()
    }
  }),
)
