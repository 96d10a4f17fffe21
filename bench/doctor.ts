// rollcall doctor on a large cluster: node bench/doctor.ts [NODES] [REQUESTS]
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { systemRandom } from '../src/host/random.ts'
import { generateSigner, loadSigner } from '../src/keys/private-key.ts'
import { Secret } from '../src/keys/secret.ts'
import { issueCertificate } from '../src/keys/self-signed.ts'
import { formatMicroTime, formatTime } from '../src/kube/time-format.ts'
import { type KubeObject, signerNames } from '../src/kube/types.ts'
import { authorityOf } from '../src/sign/authority.ts'
import { signedRequest } from '../src/testing/signed-request.ts'
import { parseIp } from '../src/x509/ip.ts'
import { nameOf } from '../src/x509/name.ts'
import { oids } from '../src/x509/oid.ts'
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { line, whole } from './measure.ts'

const NODES = Number(process.argv[2] ?? 5000)
const REQUESTS = Number(process.argv[3] ?? 20_000)
const hour = 3_600_000
const now = Date.now()
const key = generateSigner('Ed25519', systemRandom)
const metadata = (name: string, at = now - hour / 2) => ({
  name,
  uid: crypto.randomUUID(),
  creationTimestamp: formatTime(at),
})
const nameOfNode = (index: number) => `node-${index}`
const addressOf = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`

/** Answered half an hour ago, as those of a fleet that was just rolled. */
async function request(
  index: number,
  ca: ReturnType<typeof authorityOf>,
): Promise<KubeObject & Record<string, unknown>> {
  const node = index % NODES
  const serving = Math.floor(index / NODES) % 2 === 1
  const commonName = `system:node:${nameOfNode(node)}`
  const ip = parseIp(addressOf(node))
  const subjectAltName = serving && ip ? { dnsNames: [nameOfNode(node)], ipAddresses: [ip] } : {}
  const pem = await signedRequest({ signer: key, commonName, subjectAltName })
  const certificate = await issueCertificate({
    ca,
    subject: nameOf({ commonName, organizations: ['system:nodes'] }),
    spki: key.publicKey,
    notBefore: now - hour,
    notAfter: now + 23 * hour,
    random: systemRandom,
    extensions: {
      keyUsage: ['digitalSignature'],
      extendedKeyUsage: [serving ? oids.serverAuth : oids.clientAuth],
      ...(serving && { subjectAltName: { dnsNames: [], ipAddresses: [], ...subjectAltName } }),
    },
  })
  return {
    kind: 'CertificateSigningRequest',
    apiVersion: 'certificates.k8s.io/v1',
    metadata: metadata(`csr-${index}`, now - hour / 2 + index / 100),
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: serving ? signerNames.kubeletServing : signerNames.kubeletClient,
      usages: ['digital signature', serving ? 'server auth' : 'client auth'],
      username: commonName,
      groups: ['system:nodes', 'system:authenticated'],
    },
    status: {
      conditions: [
        {
          type: 'Approved',
          status: 'True',
          reason: 'AutoApproved',
          lastUpdateTime: formatTime(now - hour / 2),
        },
      ],
      certificate: Buffer.from(certificate).toString('base64'),
    },
  }
}

/** With what makes a Node large: images. */
const node = (index: number): KubeObject & Record<string, unknown> => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: metadata(nameOfNode(index)),
  status: {
    addresses: [
      { type: 'InternalIP', address: addressOf(index) },
      { type: 'Hostname', address: nameOfNode(index) },
    ],
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    nodeInfo: { kubeletVersion: 'v1.36.0', machineID: `m-${index}`, systemUUID: `s-${index}` },
    images: Array.from({ length: 50 }, (_, image) => ({
      names: [`registry.example/team/image-${image}@sha256:0123456789abcdef`],
      sizeBytes: 1e8,
    })),
  },
})

const lease = (index: number): KubeObject & Record<string, unknown> => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { ...metadata(nameOfNode(index)), namespace: 'kube-node-lease' },
  // Later than now, so that they live while the doctor runs.
  spec: { holderIdentity: nameOfNode(index), leaseDurationSeconds: 3600, renewTime: formatMicroTime(now) },
})

/** Writes straight into the database of a server that does not run. */
async function fill(folder: string): Promise<void> {
  const pem = readFileSync(join(folder, 'pki/ca.crt'), 'utf8')
  const ca = authorityOf(pem, loadSigner(new Secret(readFileSync(join(folder, 'pki/ca.key'), 'utf8'))))
  const made: (KubeObject & Record<string, unknown>)[] = []
  for (let index = 0; index < REQUESTS; index += 1) made.push(await request(index, ca))
  const database = new DatabaseSync(join(folder, 'state.db'))
  let revision = Number(database.prepare('SELECT revision FROM last').get()?.revision)
  const put = database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, NULL)')
  const add = (prefix: string, object: KubeObject) => {
    revision += 1
    put.run(`${prefix}${object.metadata.name}`, Buffer.from(JSON.stringify(object)), revision, revision)
  }
  database.exec('BEGIN')
  for (const object of made) add('registry/certificates.k8s.io/certificatesigningrequests/', object)
  for (let index = 0; index < NODES; index += 1) {
    add('registry/core/nodes/', node(index))
    add('registry/coordination.k8s.io/leases/kube-node-lease/', lease(index))
  }
  database.prepare('UPDATE last SET revision = ?').run(revision)
  database.exec('COMMIT')
  database.close()
}

/** Seconds, MiB and what was printed of one run in a process of its own. */
async function examine(kubeconfig: string) {
  const tell =
    "process.on('exit',()=>process.stderr.write(String(process.resourceUsage().maxRSS)+' '+String(process.cpuUsage().user+process.cpuUsage().system)))"
  const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
  const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16', '--v8-pool-size=1']
  const began = performance.now()
  const args = [...flags, '--import', `data:text/javascript,${encodeURIComponent(tell)}`, main]
  const child = spawn(process.execPath, [...args, 'doctor', '--kubeconfig', kubeconfig])
  let [printed, told] = ['', '']
  child.stdout.on('data', chunk => {
    printed += chunk
  })
  child.stderr.on('data', chunk => {
    told += chunk
  })
  await new Promise(resolve => child.once('close', resolve))
  const [memory, cpu] = told.trim().split(' ').map(Number)
  return {
    seconds: (performance.now() - began) / 1000,
    memory: (memory ?? 0) / 1024,
    cpu: (cpu ?? 0) / 1e6,
    printed,
  }
}

const folder = temporaryFolder()
const program = ['server', '--dir', folder.path, '--port', '0']
const first = startRollcall([...program, '--no-controllers'])
await first.ready
await first.stop()
await fill(folder.path)
const server = startRollcall([...program, '--no-controllers'])
await server.ready
const { seconds, memory, cpu, printed } = await examine(join(folder.path, 'admin.kubeconfig'))
await server.stop()
folder.remove()
if (process.env.ROLLCALL_REPORT) process.stdout.write(printed)
const found = /^found +(.*)$/m.exec(printed)?.[1] ?? 'no report'
line(
  'doctor',
  `${whole(NODES)} Nodes, ${whole(REQUESTS)} requests: ${seconds.toFixed(1)} s (${cpu.toFixed(1)} s of CPU), ${whole(memory)} MiB at most; found ${found} (targets < 5 s, < 400 MiB)`,
  'the API of the same machine gives the lists meanwhile',
)
