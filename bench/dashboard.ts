// The fleet in a browser: from a login link to all nodes drawn, and how smoothly they scroll: node bench/dashboard.ts [NODES]
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { signerNames } from '../src/kube/types.ts'
import { encodeLeaf } from '../src/sign/leaf.ts'
import { launchBrowser } from '../test/support/browser.ts'
import { runRollcall, startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { line, median, whole } from './measure.ts'

const NODES = Number(process.argv[2] ?? 5000)
const ROUNDS = 3

const now = Date.now()
const iso = (milliseconds: number) => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
const names = Array.from({ length: NODES }, (_, n) => `worker-${n + 1}`)

/** Writes straight into the databases of a server that does not run. */
function fill(folder: string): void {
  const state = new DatabaseSync(join(folder, 'state.db'))
  let revision = Number(state.prepare('SELECT revision FROM last').get()?.revision)
  const put = state.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, NULL)')
  state.exec('BEGIN')
  for (const [n, name] of names.entries()) {
    revision += 1
    put.run(`registry/core/nodes/${name}`, Buffer.from(JSON.stringify(node(name, n))), revision, revision)
  }
  state.prepare('UPDATE last SET revision = ?').run(revision)
  state.exec('COMMIT')
  state.close()
  const ledger = new DatabaseSync(join(folder, 'ledger.db'))
  const record = ledger.prepare('INSERT INTO leaves (ca, serial, not_after, leaf) VALUES (?, ?, ?, ?)')
  ledger.exec('BEGIN')
  for (const [n, name] of names.entries())
    for (const [kind, signerName] of [signerNames.kubeletClient, signerNames.kubeletServing].entries()) {
      const serialNumber = String(n * 2 + kind).padStart(16, '0')
      // Spread over a day: some are due, some late, some have ended.
      const notBefore = now - Math.floor((((n * 7919 + kind * 31) % 1000) / 980) * 86_400_000)
      const leaf = { serialNumber, signerName, notBefore, notAfter: notBefore + 86_400_000 }
      const text = encodeLeaf({
        ...leaf,
        ...common,
        holder: `system:node:${name}`,
        request: { name: `csr-${n}` },
      })
      record.run(common.issuerFingerprint, serialNumber, leaf.notAfter, text)
    }
  ledger.exec('COMMIT')
  ledger.close()
}

const common = {
  issuer: 'CN=kubernetes',
  issuerFingerprint: 'ab'.repeat(32),
  dnsNames: [],
  ipAddresses: [],
  publicKeyHash: 'cd'.repeat(32),
}

function node(name: string, n: number) {
  const time = iso(now)
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: time, lastTransitionTime: time }]
  const uid = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name, uid, creationTimestamp: time },
    spec: {},
    status: { conditions, addresses: [{ type: 'InternalIP', address: `10.0.${n >> 8}.${n & 255}` }] },
  }
}

/** In the page: milliseconds since the link was followed when every node is known and the first are drawn. */
const drawn = `new Promise(resolve => {
  const look = () => {
    const known = document.querySelector('.title-row')?.textContent ?? ''
    if (known.includes('${NODES.toLocaleString('en')} nodes') && document.querySelectorAll('.tile').length > 20)
      requestAnimationFrame(() => resolve(performance.now()))
    else requestAnimationFrame(look)
  }
  look()
})`

/** In the page: milliseconds between frames while it scrolls 300 pixels a frame for four seconds. */
const scrolled = `new Promise(resolve => {
  const box = document.querySelector('.grid-box')
  const frames = []
  let last
  const step = time => {
    if (last !== undefined) frames.push(time - last)
    last = time
    if (frames.length >= 240) return resolve(frames)
    box.scrollTop = box.scrollTop + box.clientHeight >= box.scrollHeight ? 0 : box.scrollTop + 300
    requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
})`

const folder = temporaryFolder()
const program = ['server', '--dir', folder.path, '--port', '0']
const first = startRollcall(program)
await first.ready
await first.stop()
fill(folder.path)
const server = startRollcall(program)
await server.ready
const browser = await launchBrowser()
const times: number[] = []
const frames: number[] = []
/** CPU of the page's main thread, in milliseconds a frame: what a busy machine does not change. */
const costs: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  const kubeconfig = join(folder.path, 'admin.kubeconfig')
  const link = (await runRollcall(['dashboard', '--kubeconfig', kubeconfig])).stdout.trim()
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(link, { waitUntil: 'commit' })
  times.push(Number(await page.evaluate(drawn)))
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const cpu = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
  }
  const before = await cpu()
  const scrolling = (await page.evaluate(scrolled)) as number[]
  costs.push(((await cpu()) - before) / scrolling.length)
  frames.push(...scrolling)
  await context.close()
}
await browser.close()
await server.stop()
folder.remove()
const p95 = frames.sort((a, b) => a - b)[Math.floor(frames.length * 0.95)] ?? 0
line(
  'dashboard',
  `${whole(NODES)} nodes: ${whole(median(times))} ms from the link to the fleet drawn; scrolling, a frame p50 ${median(frames).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, of it ${median(costs).toFixed(1)} ms of the main thread's CPU (Chromium, no GPU)`,
  'targets: < 1,000 ms, p95 ≤ 25 ms; a display of 60 Hz: 16.7 ms',
)
