import { spawn, spawnSync } from 'node:child_process'

/** Why the tests of Debian's Prometheus and promtool cannot run, for `skip`; false when they can. */
export const noPrometheus: string | false =
  spawnSync('promtool', ['--version']).status === 0 ? false : 'there is no prometheus in PATH'

export interface PromtoolResult {
  code: number | null
  /** stdout and stderr. */
  output: string
}

/** Runs promtool to its end. */
export function promtool(...args: string[]): Promise<PromtoolResult> {
  const child = spawn('promtool', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      output += text
    })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve({ code, output }))
  })
}

/** Words of PromQL that are followed by labels, not by metrics. */
const grouping = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g
const words = new Set([
  'and',
  'or',
  'unless',
  'bool',
  'offset',
  'Inf',
  'NaN',
  'by',
  'without',
  'on',
  'ignoring',
])

/** Names of the metrics that a query asks for. */
export function metricNames(query: string): string[] {
  const bare = query
    .replace(/"(?:[^"\\]|\\.)*"/g, '')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(grouping, '')
  const found = [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g)].filter(
    // Not the unit of a number such as 15m.
    ({ index, 0: name }) =>
      !/\w/.test(bare[index - 1] ?? ' ') &&
      !words.has(name) &&
      !/^\s*\(/.test(bare.slice(index + name.length)),
  )
  return [...new Set(found.map(([name]) => name))]
}
