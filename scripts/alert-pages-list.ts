/** docs/reference/alerts: one page for each alert, made from the rule files. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export interface AlertRule {
  alert: string
  expr: string
  for?: string
  labels: Record<string, string>
  annotations: Record<string, string>
  /** File name of the rule file. */
  file: string
}

const ruleFiles = ['rollcall.rules.yaml', 'kube-state-metrics.rules.yaml'] as const

/** All rules, in the order of the files. */
export function alertRules(): AlertRule[] {
  return ruleFiles.flatMap(file => {
    const text = readFileSync(new URL(`../deploy/alerts/${file}`, import.meta.url), 'utf8')
    const { groups } = parse(text, { merge: true }) as { groups: { rules: Omit<AlertRule, 'file'>[] }[] }
    return groups.flatMap(group => group.rules.map(rule => ({ ...rule, file })))
  })
}

const origin =
  '<!-- Made from deploy/alerts/*.rules.yaml by scripts/alert-pages.ts; change the rules, then run it. -->\n'

/** File name to text of everything in docs/reference/alerts. */
export function alertPages(rules: readonly AlertRule[]): Map<string, string> {
  const byName = Map.groupBy(rules, rule => rule.alert)
  const pages = [...byName].map(([name, list]): [string, string] => [`${name}.md`, pageOf(name, list)])
  return new Map([['README.md', indexOf(byName)], ...pages])
}

function pageOf(name: string, rules: readonly AlertRule[]): string {
  const ids = unique(rules.flatMap(rule => (rule.annotations.doctor ?? '').split(' ')))
  const links = ids.map(id => `[${id}](../doctor/${id}.md)`).join(', ')
  const actions = unique(rules.map(rule => rule.annotations.action ?? ''))
  return `${origin}# ${name}

${unique(rules.map(rule => plain(rule.annotations.description ?? ''))).join('\n\n')}

## What to do
${actions.map(action => `- ${action}`).join('\n')}

What \`rollcall doctor\` may find then: ${links}.

## When it fires
${rules.map(whenOf).join('\n\n')}
`
}

function whenOf({ expr, for: wait, labels, annotations, file }: AlertRule): string {
  const { severity, ...others } = labels
  const which = Object.entries(others).map(([label, value]) => `, ${label} ${value}`)
  return `**${severity}**${which.join('')}, ${wait ? `after ${wait}` : 'at once'} (\`deploy/alerts/${file}\`): ${plain(annotations.summary ?? '')}
\`\`\`promql
${expr.trim()}
\`\`\``
}

function indexOf(byName: ReadonlyMap<string, readonly AlertRule[]>): string {
  const rows = [...byName].map(([name, rules]) => {
    const severities = unique(rules.map(rule => rule.labels.severity ?? '')).join(', ')
    const files = ruleFiles.map(file => (rules.some(rule => rule.file === file) ? 'yes' : '–'))
    return `| [${name}](${name}.md) | ${severities} | ${files.join(' | ')} | ${plain(rules[0]?.annotations.summary ?? '')} |`
  })
  return `${origin}# Alerts

Load \`deploy/alerts/rollcall.rules.yaml\` where Prometheus scrapes Rollcall (how: \`deploy/prometheus/prometheus.yml\`), or
\`deploy/alerts/kube-state-metrics.rules.yaml\` where there is only kube-state-metrics and kubelets. The names are stable. Each
alert is shown by promtool to fire on its failure and to stay silent on healthy fleets with certificates of 24 hours, 30 days
and a year (\`deploy/alerts/tests\`).

| alert | severity | Rollcall | kube-state-metrics | what it says |
|---|---|---|---|---|
${rows.join('\n')}
`
}

/** Go templates as a reader would say them: \`{{ $labels.signer }}\` is <signer>. */
function plain(text: string): string {
  return text
    .replace(/\{\{\s*\$labels\.(\w+)\s*\}\}/g, '<$1>')
    .replace(/\{\{\s*\$value[^}]*\}\}/g, '<value>')
    .replace(/<(\w+)>/g, '‹$1›')
}

const unique = (list: readonly string[]) => [...new Set(list)].filter(entry => entry !== '')
