import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { alertPages, alertRules } from '../scripts/alert-pages-list.ts'
import { fleets, healthyFleet } from '../scripts/healthy-fleets.ts'
import { documentedMetrics, metricsPage, seriesNames } from '../scripts/metrics-list.ts'
import { metricNames, noPrometheus, promtool } from './support/prometheus.ts'

const repository = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const read = (path: string) => readFileSync(repository(path), 'utf8')
const names = (path: string) => readdirSync(repository(path)).sort()

const rules = alertRules()
const alerts = [...new Set(rules.map(rule => rule.alert))]
const tests = names('deploy/alerts/tests')
/** Exported by programs that are not ours; read off their documentation. */
const foreign = new Set([
  'up',
  'kube_certificatesigningrequest_created',
  'kube_certificatesigningrequest_condition',
  'kube_certificatesigningrequest_cert_length',
  'kube_node_status_condition',
])

describe('promtool', { concurrency: 2 }, () => {
  const skip = noPrometheus
  test('finds nothing wrong with the rules', { skip }, async () => {
    const files = names('deploy/alerts').filter(file => file.endsWith('.rules.yaml'))
    const { code, output } = await promtool(
      'check',
      'rules',
      ...files.map(file => repository(`deploy/alerts/${file}`)),
    )
    assert.equal(code, 0, output)
    assert.equal(output.match(/SUCCESS/g)?.length, 2)
  })
  for (const file of tests) {
    const what = file.startsWith('healthy') ? 'is silent' : 'fires as it should'
    test(`every rule ${what}: ${file}`, { skip }, async () => {
      const { code, output } = await promtool('test', 'rules', repository(`deploy/alerts/tests/${file}`))
      assert.equal(code, 0, output)
    })
  }
})

describe('rules', () => {
  test('each alert of each file is expected to fire by a test of that file', () => {
    const of = {
      'rollcall.rules.yaml': 'firing.yaml',
      'kube-state-metrics.rules.yaml': 'kube-state-metrics.yaml',
    }
    for (const [file, name] of Object.entries(of)) {
      const expected = expectedLabels(name)
      for (const { alert, labels } of rules.filter(rule => rule.file === file)) {
        const wanted = Object.entries({ alertname: alert, ...labels }).map(
          ([key, value]) => `${key}="${value}"`,
        )
        const found = expected.some(sample => wanted.every(label => sample.includes(label)))
        assert.ok(found, `${name}: ${wanted.join(' ')}`)
      }
    }
  })

  test('each says what is wrong, why, what to do, what the doctor calls it and where its page is', () => {
    for (const { alert, annotations } of rules) {
      for (const name of ['summary', 'description', 'action'])
        assert.ok(annotations[name], `${alert}: ${name}`)
      assert.equal(annotations.runbook_url, `docs/reference/alerts/${alert}.md`)
      const pages = names('docs/reference/doctor')
      for (const id of annotations.doctor?.split(' ') ?? ['none'])
        assert.ok(pages.includes(`${id}.md`), `${alert}: the doctor knows no ${id}`)
    }
  })

  test('each asks for metrics that are exported', async () => {
    const exported = new Set([...(await documentedMetrics()).flatMap(seriesNames), ...foreign])
    for (const { alert, expr } of rules) {
      assert.ok(metricNames(expr).length > 0, alert)
      for (const name of metricNames(expr)) assert.ok(exported.has(name), `${alert}: nobody exports ${name}`)
    }
  })

  test('the names of operators’ runbooks stay', () => {
    assert.deepEqual(alerts.toSorted(), [
      'NodeCAExpiring',
      'NodeCSRApprovedUnsigned',
      'NodeCSRDeniedOrFailed',
      'NodeCSRPending',
      'NodeCSRStorm',
      'NodeCertAgentSilent',
      'NodeCertApproverDown',
      'NodeCertControllersAbsent',
      'NodeCertExpired',
      'NodeCertNotYetValid',
      'NodeCertRenewFailing',
      'NodeCertRotationOverdue',
      'NodeCertSignerDown',
      'NodeCertSigningKeyUnusable',
      'NodeClockSkew',
      'NodeServingMissing',
      'NodeServingSANMismatch',
      'NodeServingSelfSigned',
    ])
  })
})

describe('what is made from code is current', () => {
  test('docs/reference/alerts', () => {
    const pages = alertPages(rules)
    assert.deepEqual(names('docs/reference/alerts'), [...pages.keys()].sort())
    for (const [file, text] of pages)
      assert.equal(
        read(`docs/reference/alerts/${file}`),
        text,
        'node scripts/run24.mjs scripts/alert-pages.ts',
      )
  })

  test('docs/reference/metrics.md', async () => {
    const page = metricsPage(await documentedMetrics())
    assert.equal(read('docs/reference/metrics.md'), page, 'node scripts/run24.mjs scripts/metrics-page.ts')
  })

  test('deploy/alerts/tests/healthy-*.yaml', () => {
    for (const [name, fleet] of Object.entries(fleets)) {
      const text = read(`deploy/alerts/tests/${name}.yaml`)
      assert.equal(text, healthyFleet(fleet), 'node scripts/run24.mjs scripts/write-healthy-fleets.ts')
    }
  })
})

/** Labels of everything that a test file expects to fire. */
function expectedLabels(file: string): string[] {
  interface Tests {
    tests: { promql_expr_test: { exp_samples: { labels: string }[] }[] }[]
  }
  const { tests } = parse(read(`deploy/alerts/tests/${file}`)) as Tests
  const samples = tests.flatMap(({ promql_expr_test }) => promql_expr_test.flatMap(each => each.exp_samples))
  return samples.map(({ labels }) => labels)
}

test('the metrics of a query are told from its labels, functions and words', () => {
  const query =
    'sum by (le, kind) (rate(a_bucket{x="b_total"}[5m])) and on(node) (c == +Inf) unless max(d offset 15m) > bool 2 * e'
  assert.deepEqual(metricNames(query), ['a_bucket', 'c', 'd', 'e'])
})
