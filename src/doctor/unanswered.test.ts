/** What a careless operator points the doctor at: one cause, not sixty checks that could not be made. */
import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { lookAtTls } from '../cluster/look-at-tls.ts'
import { Secret } from '../keys/secret.ts'
import { createClient } from '../kube/client.ts'
import { connectHttps } from '../kube/https-transport.ts'
import type { ConnectionConfig } from '../kube/transport.ts'
import { foreignPair, listenHttps } from '../testing/https-server.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { allChecks } from './all-checks.ts'
import { diagnose, exitCodeOf, type Report } from './diagnose.ts'
import { gatherCluster } from './gather/gather-cluster.ts'
import { onCluster, serverCertificate } from './testing/examined-cluster.ts'

/** The doctor's report; `waiting` lets the clock go on until the doctor gives up. */
async function examine(config: ConnectionConfig, ownCertificate?: string): Promise<Report> {
  const clock = createManualClock(Date.now())
  const transport = connectHttps(config)
  const { server } = config
  const target = { client: createClient(transport), server, probe: false }
  const gathering = gatherCluster(
    { ...target, ...(ownCertificate && { ownCertificate }) },
    { clock, lookAtTls },
  )
  try {
    return diagnose(server, await gathering, clock.now(), allChecks)
  } finally {
    transport.closeConnections()
    assert.equal(clock.pending(), 0, 'timers are left')
  }
}

async function answering(onRequest: RequestListener): Promise<Report> {
  const pair = await foreignPair('apiserver')
  const server = await listenHttps({ cert: pair.certificate, key: pair.key }, onRequest)
  try {
    return await examine({ server: server.url, certificateAuthority: pair.certificate })
  } finally {
    await server.stop()
  }
}

/** Exactly this id is found, all the rest is SKIP, for one reason. */
function only(report: Report, id: string, cause: RegExp): void {
  assert.deepEqual(
    report.findings.map(finding => finding.id),
    [id],
    JSON.stringify(report.findings, null, 2),
  )
  assert.match(`${report.findings[0]?.cause} ${report.findings[0]?.evidence[0]?.value}`, cause)
  assert.equal(exitCodeOf(report), 3)
  const reasons = new Set(
    report.missing.filter(({ status }) => status === 'failed').map(({ reason }) => reason),
  )
  assert.ok(reasons.size <= 2, [...reasons].join('\n'))
  assert.ok(report.checks.filter(({ status }) => status === 'SKIP').length > 50)
}

test('A12: a web page, an error page, a redirection, half an answer', async () => {
  const html = { 'content-type': 'text/html' }
  only(
    await answering((_, response) => response.writeHead(200, html).end('<html>hello')),
    'A12',
    /a web page/,
  )
  only(
    await answering((_, response) => response.writeHead(503, html).end('<html>')),
    'A12',
    /HTTP 503 and a web page/,
  )
  only(await answering((_, response) => response.writeHead(302, { location: '/' }).end()), 'A12', /HTTP 302/)
  only(await answering((_, response) => response.end('{"major": ')), 'A12', /something else than its version/)
})

test('A12: an answer without end is left where it is', async () => {
  const endless: RequestListener = (_, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(65_536, ' ')));
      response.once('drain', more)
    }
    response.on('error', () => {})
    more()
  }
  only(await answering(endless), 'A12', /longer than 65536 bytes/)
})

test('A12: nothing listens, and something that is no TLS', async () => {
  only(await examine({ server: 'https://127.0.0.1:1' }), 'A12', /ECONNREFUSED/)
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.resume().end('SSH-2.0-OpenSSH_9.2\r\n')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  try {
    only(await examine({ server: `https://127.0.0.1:${address.port}` }), 'A12', /wrong version number/)
  } finally {
    await new Promise(resolve => server.close(resolve))
  }
})

test('A12: a server that takes the request and never answers is given ten seconds', async () => {
  const pair = await foreignPair('apiserver')
  const clock = createManualClock(Date.now())
  const asked = Promise.withResolvers<void>()
  const server = await listenHttps({ cert: pair.certificate, key: pair.key }, () => asked.resolve())
  const transport = connectHttps({ server: server.url, certificateAuthority: pair.certificate })
  try {
    const target = { client: createClient(transport), server: server.url, probe: false }
    const gathering = gatherCluster(target, { clock, lookAtTls })
    await asked.promise
    await clock.advance(10_000)
    only(diagnose('x', await gathering, clock.now(), allChecks), 'A12', /did not answer within 10 s/)
  } finally {
    transport.closeConnections()
    await server.stop()
  }
})

test('I02: our own kubeconfig trusts another CA', async () => {
  const [pair, other] = [await foreignPair('apiserver'), await foreignPair('other')]
  const server = await listenHttps({ cert: pair.certificate, key: pair.key }, (_, response) => response.end())
  try {
    only(
      await examine({ server: server.url, certificateAuthority: other.certificate }),
      'I02',
      /CN=apiserver/,
    )
  } finally {
    await server.stop()
  }
})

test(
  'Z05: the API does not take our credential, and why where the certificate tells',
  onCluster(async cluster => {
    const refusing: RequestListener = (_, response) => {
      const status = {
        kind: 'Status',
        apiVersion: 'v1',
        reason: 'Unauthorized',
        message: 'Unauthorized',
        code: 401,
      }
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(status))
    }
    only(await answering(refusing), 'Z05', /does not accept .*answered 401 Unauthorized/)
    const pair = await foreignPair('apiserver')
    const server = await listenHttps({ cert: pair.certificate, key: pair.key }, refusing)
    const notAfter = Date.now() - 3_600_000
    const own = await serverCertificate(cluster, { notBefore: notAfter - 86_400_000, notAfter })
    try {
      const config = {
        server: server.url,
        certificateAuthority: pair.certificate,
        bearerToken: new Secret('x'),
      }
      const report = await examine(config, own)
      only(report, 'Z05', /It ended 60m ago/)
      assert.equal(report.findings[0]?.severity, 'critical')
    } finally {
      await server.stop()
    }
  }),
)
