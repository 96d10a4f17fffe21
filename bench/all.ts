// Runs every benchmark, each in a process of its own, one after the other: npm run bench
// With --record the lines also go into docs/reference/benchmarks.md, with the machine and the date.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

const benchmarks = [
  'judgements.ts',
  'issuance.ts',
  'hsm.ts',
  'store.ts',
  'api.ts',
  'certificates.ts',
  'certificates-stored.ts',
  'clear-backlog.ts',
  'stored.ts',
  'old-requests.ts',
  'watches.ts',
  'up.ts',
  'fleet.ts',
  'doctor.ts',
  'rollover.ts',
  'rollover-fleet.ts',
  'dashboard.ts',
]
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const page = here('../docs/reference/benchmarks.md')
const load = loadavg()[0] ?? 0
const quiet = load < 0.5 ? 'otherwise idle' : `busy with other work (load average ${load.toFixed(1)} before)`
const cores = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`
const machine = `${new Date().toISOString().slice(0, 10)}, ${cores}, Linux ${release()}, Node.js ${process.version}, ${quiet}`
console.log(machine)
const lines = benchmarks.flatMap(name => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', here(name)],
    { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`bench/${name} ended with ${status}`)
  process.stdout.write(stdout)
  return stdout.trim().split('\n')
})

if (process.argv.includes('--record')) {
  const text = readFileSync(page, 'utf8')
  const table = lines.map(
    line =>
      `| ${line.replace(/\s*\| limit: /, ' | ').replace(/^(.{22}) /, (_, name) => `${name.trim()} | `)} |`,
  )
  const measured = `${machine}.\n\n| benchmark | reached | what the machine could |\n|---|---|---|\n${table.join('\n')}\n`
  const fresh = text.replace(
    /(<!-- measured -->\n)[\s\S]*(<!-- end -->)/,
    (_, begin, end) => `${begin}${measured}${end}`,
  )
  writeFileSync(page, fresh)
}
