import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'
import { documentedMetrics, seriesNames } from '../scripts/metrics-list.ts'
import { createClient } from '../src/kube/client.ts'
import { type KubeNode, resources } from '../src/kube/types.ts'
import { connectUndici } from '../src/kube/undici-transport.ts'
import { connectionOf } from './support/api-connection.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/free-port.ts'
import { metricNames, noPrometheus } from './support/prometheus.ts'
import { type RollcallProcess, startRollcall, temporaryFolder } from './support/rollcall-process.ts'

// Debian's Prometheus judges: it verifies CA and address of every node, with the configuration that deploy/ holds. It is
// built without discovery through the API, so a file takes its place that says the same of the Nodes.

const repository = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const skip = noPrometheus
const nodes = 9

interface Target {
  scrapePool: string
  labels: { node?: string }
  health: 'up' | 'down' | 'unknown'
  lastError: string
}

const { path: folder, remove } = temporaryFolder()
const data = join(folder, 'data')
let up: RollcallProcess | undefined
let agent: RollcallProcess | undefined
let prometheus: ChildProcess | undefined
let address = ''

before(async () => {
  if (skip) return
  up = startRollcall(['up', '--dir', data, '--port', '0', '--nodes', String(nodes)])
  await up.ready
  agent = startRollcall([
    ...['agent', '--node', 'alone', '--node-ip', '127.0.9.1', '--address', '127.0.9.1', '--port', '0'],
    ...['--bootstrap-kubeconfig', join(data, 'bootstrap.kubeconfig'), '--rotate-certificates'],
    ...['--kubeconfig', join(folder, 'alone/kubeconfig'), '--cert-dir', join(folder, 'alone/pki')],
  ])
  await agent.ready
  address = `127.0.0.1:${await freePort()}`
  prometheus = startPrometheus(await discovered())
})

after(async () => {
  const ends = [up, agent].map(process => process?.stop())
  if (prometheus?.exitCode === null) {
    const ended = new Promise(resolve => prometheus?.once('exit', resolve))
    prometheus.kill('SIGTERM')
    await ended
  }
  await Promise.all(ends)
  remove()
})

/** What discovery of the role `node` makes of the Nodes: InternalIP, and the port of daemonEndpoints. */
async function discovered(): Promise<{ targets: string[]; labels: Record<string, string> }[]> {
  const transport = connectUndici(await connectionOf(join(data, 'admin.kubeconfig')))
  const { items } = await createClient(transport).list<KubeNode>(resources.nodes)
  transport.closeConnections()
  return items.map(({ metadata, status }) => {
    const ip = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    const port = status?.daemonEndpoints?.kubeletEndpoint?.Port
    return { targets: [`${ip}:${port}`], labels: { __meta_kubernetes_node_name: metadata.name } }
  })
}

/** Runs on the shipped configuration, with this cluster's files and port in it. */
function startPrometheus(found: object[]): ChildProcess {
  const server = /server: (https:\S+)/.exec(readFileSync(join(data, 'admin.kubeconfig'), 'utf8'))?.[1] ?? ''
  const shipped = readFileSync(repository('deploy/prometheus/prometheus.yml'), 'utf8')
    .replaceAll('../../.rollcall', data)
    .replace('127.0.0.1:6443', new URL(server).host)
    .replace('../alerts', repository('deploy/alerts'))
  const config = parse(shipped)
  config.global = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' }
  const discovery = join(folder, 'nodes.json')
  writeFileSync(discovery, JSON.stringify(found))
  for (const job of config.scrape_configs)
    if (job.kubernetes_sd_configs) {
      delete job.kubernetes_sd_configs
      job.file_sd_configs = [{ files: [discovery] }]
    }
  // As one who reaches the node by its name, which a self-signed certificate has, and not by its address, which it lacks.
  const byName = config.scrape_configs.find((job: { job_name: string }) => job.job_name === 'rollcall-nodes')
  config.scrape_configs.push({
    ...byName,
    job_name: 'by-name',
    tls_config: { ...byName.tls_config, server_name: 'alone' },
    relabel_configs: [
      { source_labels: ['__meta_kubernetes_node_name'], regex: 'alone', action: 'keep' },
      ...byName.relabel_configs,
    ],
  })
  const file = join(folder, 'prometheus.yml')
  writeFileSync(file, stringify(config))
  const options = {
    'config.file': file,
    'storage.tsdb.path': join(folder, 'tsdb'),
    'web.listen-address': address,
  }
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const child = spawn('prometheus', [...args, '--log.level=error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  process.on('exit', () => child.kill('SIGKILL'))
  return child
}

async function ask<T>(path: string): Promise<T | undefined> {
  assert.equal(prometheus?.exitCode, null, 'Prometheus has ended')
  const response = await fetch(`http://${address}/api/v1/${path}`).catch(() => undefined)
  // 503: it is still starting.
  if (!response || response.status === 503) return undefined
  const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string }
  assert.equal(status, 'success', `${path}: ${error}`)
  return data
}

/**
 * `NODE HEALTH ERROR` of each target of a job, once all are as `isWanted` says; after a while as they are. A machine that
 * is busy may be too slow for the first scrape.
 */
async function states(job: string, isWanted: (target: Target) => boolean): Promise<string[]> {
  let last: Target[] = []
  await eventually(
    `the targets of ${job} are scraped`,
    async () => {
      const found = await ask<{ activeTargets: Target[] }>('targets?state=active')
      last = found?.activeTargets.filter(({ scrapePool }) => scrapePool === job) ?? []
      return last.length > 0 && last.every(isWanted)
    },
    15_000,
  ).catch(() => {})
  return last
    .map(({ labels, health, lastError }) => `${labels.node ?? ''} ${health} ${lastError}`.trim())
    .sort()
}

interface Sample {
  metric: Record<string, string>
  value: [number, string]
}
async function query(text: string): Promise<Sample[]> {
  const found = await ask<{ result: Sample[] }>(`query?query=${encodeURIComponent(text)}`)
  return found?.result ?? []
}

describe('Prometheus', () => {
  test(`it finds and verifies ${nodes}/${nodes} nodes of up, and the API`, { skip }, async () => {
    const isUp = ({ labels, health }: Target) => labels.node === 'alone' || health === 'up'
    const found = await states('rollcall-nodes', isUp)
    assert.deepEqual(
      found.filter(state => !state.startsWith('alone ')),
      Array.from({ length: nodes }, (_, index) => `worker-${index + 1} up`),
    )
    assert.deepEqual(await states('rollcall-api', isUp), ['up'])
  })

  test('a node with a self-signed serving certificate is down: unknown authority', { skip }, async () => {
    const isSeen = ({ lastError, health }: Target) => health === 'up' || lastError.includes('x509')
    const byAddress = (await states('rollcall-nodes', isSeen)).find(state => state.startsWith('alone '))
    assert.match(
      byAddress ?? '',
      /^alone down .*: x509: cannot validate certificate for 127\.0\.9\.1 because it doesn't contain any IP SANs$/,
    )
    const [named] = await states('by-name', isSeen)
    assert.match(named ?? '', /^alone down .*: x509: certificate signed by unknown authority/)
  })

  test('the rules are evaluated without an error, and only the node that is down is told of', {
    skip,
  }, async () => {
    interface Rules {
      groups: { rules: { name: string; health: string; lastError?: string }[] }[]
    }
    const rules = await eventually('all rules are evaluated', async () => {
      const all = (await ask<Rules>('rules'))?.groups.flatMap(group => group.rules) ?? []
      return all.length > 0 && all.every(({ health }) => health !== 'unknown') && all
    })
    assert.deepEqual(
      rules.filter(({ health }) => health !== 'ok'),
      [],
    )
    // Rules may have been evaluated before the first scrape; after it only the node that is down is about to be told of.
    await eventually('the alerts are those of what was scraped', async () => {
      const alerts = (await query('ALERTS')).map(({ metric }) => metric)
      const told = alerts.map(({ alertname, alertstate, node }) => `${alertname} ${alertstate} ${node}`)
      return told.join() === 'NodeCertAgentSilent pending alone'
    })
  })

  test('every panel of the dashboard shows something that this cluster tells', { skip }, async () => {
    // What nobody does, or is, in a cluster that is well.
    const empty = new Set(['Refused within 15 minutes', 'Nodes that fail to renew', 'Next renewals'])
    await eventually('rates need two scrapes', async () => {
      return (await query('rate(rollcall_csr_cleaned_total[1m])')).length > 0
    })
    for (const { title, expr } of panels()) {
      const samples = await query(expr.replaceAll('$__rate_interval', '1m'))
      assert.ok(samples.length > 0 || empty.has(title), `${title}: nothing for ${expr}`)
    }
  })
})

test('the dashboard asks only for metrics that are exported', async () => {
  const exported = new Set([...(await documentedMetrics()).flatMap(seriesNames), 'up', 'ALERTS'])
  assert.ok(panels().length > 20)
  for (const { title, expr } of panels())
    for (const name of metricNames(expr)) assert.ok(exported.has(name), `${title}: nobody exports ${name}`)
})

function panels(): { title: string; expr: string }[] {
  interface Dashboard {
    panels: { title: string; targets?: { expr: string }[] }[]
  }
  const { panels } = JSON.parse(readFileSync(repository('deploy/grafana/rollcall.json'), 'utf8')) as Dashboard
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
}
