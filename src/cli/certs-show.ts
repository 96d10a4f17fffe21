import type { Command } from 'commander'
import { lookAtTls } from '../cluster/look-at-tls.ts'
import type { LookAtTls } from '../doctor/gather/ports.ts'
import { RollcallError, systemCode } from '../errors.ts'
import { systemDisk } from '../host/disk.ts'
import { parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import { formatAge, formatTime } from '../kube/time-format.ts'
import type { Disk } from '../ports.ts'
import { namesIn } from '../survey/requested-names.ts'
import { type Certificate, parseCertificate } from '../x509/certificate.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { formatName } from '../x509/name.ts'
import { decodePem } from '../x509/pem.ts'
import { serialDecimal } from '../x509/serial-number.ts'
import { wordsOfUsages } from '../x509/usages.ts'
import type { CommandIo } from './command-io.ts'
import { addOutputOption, type OutputFormat, print } from './output.ts'
import { printable } from './printable.ts'
import { alignColumns } from './table.ts'

export interface ShowPorts {
  disk: Pick<Disk, 'read'>
  lookAtTls: LookAtTls
}

/** A certificate in words, for `-o json` as well. */
interface Shown {
  subject: string
  issuer: string
  serialNumber: string
  notBefore: string
  notAfter: string
  expired: boolean
  names: string[]
  usages: string[]
  certificateAuthority: boolean
  key: string
  signatureAlgorithm: string
  sha256: string
}

export function register(
  certs: Command,
  io: CommandIo,
  ports: ShowPorts = { disk: systemDisk, lookAtTls },
): void {
  const command = certs
    .command('show')
    .argument('<file|host:port>', 'PEM, DER or a kubeconfig; or a TLS server')
    .option('--servername <name>', 'which name to ask the server for')
    .description('show each certificate in a file, or of the chain that a server presents')
  addOutputOption(command).action(
    async (what: string, { output, servername }: { output: OutputFormat; servername?: string }) => {
      const certificates = (await readDer(what, servername, ports)).map(der => parseCertificate(der))
      const now = io.clock.now()
      print(io, output, {
        text: () => certificates.map(certificate => formatCertificate(certificate, now)).join('\n'),
        value: certificates.map(certificate => shown(certificate, now)),
      })
    },
  )
}

/** Rejects with USAGE where there is neither file nor server, or no certificate in it. */
async function readDer(
  what: string,
  servername: string | undefined,
  ports: ShowPorts,
): Promise<Uint8Array[]> {
  const address = /^(?:\[([^\]]+)\]|([^:/]+)):(\d{1,5})$/.exec(what)
  try {
    const bytes = await ports.disk.read(what)
    const found = certificatesIn(bytes, what)
    if (found.length === 0) throw new RollcallError('USAGE', `${what} holds no certificate`)
    return found
  } catch (error) {
    if (error instanceof RollcallError || systemCode(error) === undefined) throw error
    if (!address)
      throw new RollcallError(
        'USAGE',
        `${what} is neither a file that can be read (${systemCode(error)}) nor HOST:PORT`,
      )
  }
  const host = address[1] ?? address[2] ?? ''
  const served = await ports.lookAtTls({ host, port: Number(address[3]), ...(servername && { servername }) })
  if (served.chain.length === 0)
    throw new RollcallError('API_UNREACHABLE', `${what}: ${served.failure ?? 'no certificate was presented'}`)
  return served.chain.map(base64 => new Uint8Array(Buffer.from(base64, 'base64')))
}

function certificatesIn(bytes: Uint8Array, path: string): Uint8Array[] {
  // DER begins with a SEQUENCE, which no text does.
  if (bytes[0] === 0x30) return [bytes]
  const text = new TextDecoder().decode(bytes)
  const blocks = decodePem(text).filter(({ label }) => label === 'CERTIFICATE')
  if (blocks.length > 0 || !/^kind: *"?Config/m.test(text)) return blocks.map(block => block.bytes)
  const { cluster, user } = selectContext(parseKubeconfig(text, path))
  const embedded = [user.clientCertificate, cluster.certificateAuthority]
  const pem = embedded.flatMap(source => (source && 'data' in source ? [source.data.reveal()] : []))
  return decodePem(pem.join('\n'))
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(block => block.bytes)
}

function shown(certificate: Certificate, now: number): Shown {
  const { notBefore, notAfter, keyType, signatureAlgorithm, basicConstraints } = certificate
  return {
    subject: formatName(certificate.subject),
    issuer: formatName(certificate.issuer),
    serialNumber: serialDecimal(certificate.serialNumber),
    notBefore: formatTime(notBefore),
    notAfter: formatTime(notAfter),
    expired: now > notAfter,
    names: namesIn(certificate.subjectAltName),
    usages: wordsOfUsages(certificate),
    certificateAuthority: basicConstraints?.ca ?? false,
    key: keyType,
    signatureAlgorithm,
    sha256: sha256Hex(certificate.raw),
  }
}

function formatCertificate(certificate: Certificate, now: number): string {
  const facts = shown(certificate, now)
  const { notBefore, notAfter } = certificate
  const life =
    now < notBefore
      ? `NOT YET VALID, begins in ${formatAge(notBefore - now)}`
      : now > notAfter
        ? `EXPIRED ${formatAge(now - notAfter)} ago`
        : `${formatAge(notAfter - now)} left, ${Math.floor(((now - notBefore) / (notAfter - notBefore)) * 100)}% used`
  const lines = [
    ['subject', facts.subject || 'empty'],
    ['issuer', facts.issuer],
    ['serial', facts.serialNumber],
    ['valid', `${facts.notBefore} to ${facts.notAfter} (${life})`],
    ['names', facts.names.join(', ') || 'none'],
    ['usages', facts.usages.join(', ') || 'any'],
    ['kind', facts.certificateAuthority ? 'certificate authority' : 'leaf'],
    ['key', `${facts.key}, signed with ${facts.signatureAlgorithm}`],
    ['sha256', facts.sha256],
  ]
  return alignColumns(lines.map(line => line.map(printable)))
}
