/** `--evidence-config`: webhooks and programs that policies may name. Who writes policies does not choose what runs here. */
import { LineCounter, parseDocument } from 'yaml'
import { execSource } from '../approve/evidence/external/exec-source.ts'
import type { EvidenceSource } from '../approve/evidence/external/source.ts'
import { webhookSource, webhookTransport } from '../approve/evidence/external/webhook-source.ts'
import { RollcallError } from '../errors.ts'
import { Secret } from '../keys/secret.ts'
import { isRecord } from '../kube/json.ts'
import type { Connect } from '../kube/transport.ts'
import type { Spawn } from '../ports.ts'

export interface EvidencePorts {
  connect: Connect
  spawn: Pick<Spawn, 'run'>
  /** The text of a file; rejects with USAGE. */
  read(path: string): Promise<string>
}

const [standardTimeout, longestTimeout] = [5, 60]

/** Throws USAGE naming the place in the file. */
export async function readEvidenceConfig(path: string, ports: EvidencePorts): Promise<EvidenceSource[]> {
  const bad = (why: string) => new RollcallError('USAGE', `--evidence-config: ${path}: ${why}.`, { path })
  let value: unknown
  const lines = new LineCounter()
  // Without the text around an error: an `env` may hold a secret.
  const document = parseDocument(await ports.read(path), { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (error) throw bad(`line ${lines.linePos(error.pos[0]).line} is no YAML: ${error.message}`)
  try {
    value = document.toJS({ maxAliasCount: 0 })
  } catch (error) {
    throw bad(error instanceof Error ? error.message : String(error))
  }
  const { sources } = fieldsOf(value, 'the file', ['sources'], bad)
  if (!Array.isArray(sources)) throw bad('sources must be a list')
  const read = await Promise.all(
    sources.map((item, index) => sourceOf(item, `sources[${index}]`, ports, bad)),
  )
  const twice = read.find(({ name }, index) => read.findIndex(other => other.name === name) !== index)
  if (twice) throw bad(`two sources are named ${JSON.stringify(twice.name)}`)
  return read
}

type Bad = (why: string) => RollcallError

async function sourceOf(
  value: unknown,
  where: string,
  ports: EvidencePorts,
  bad: Bad,
): Promise<EvidenceSource> {
  const source = fieldsOf(value, where, ['name', 'timeoutSeconds', 'webhook', 'exec'], bad)
  const name = textOf(source.name, `${where}.name`, bad)
  const seconds = source.timeoutSeconds ?? standardTimeout
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= longestTimeout))
    throw bad(`${where}.timeoutSeconds must be a number above 0 and up to ${longestTimeout}`)
  const timeout = seconds * 1000
  if ((source.webhook === undefined) === (source.exec === undefined))
    throw bad(`${where} must be exactly one of webhook and exec`)
  if (source.exec !== undefined) return { ...execOf(source.exec, `${where}.exec`, name, timeout, ports, bad) }
  const webhook = fieldsOf(source.webhook, `${where}.webhook`, ['url', 'caFile', 'tokenFile'], bad)
  const url = textOf(webhook.url, `${where}.webhook.url`, bad)
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw bad(`${where}.webhook.url must be an https address`)
  const { caFile, tokenFile } = webhook
  const ca =
    caFile === undefined ? undefined : await ports.read(textOf(caFile, `${where}.webhook.caFile`, bad))
  const tokenPath = tokenFile === undefined ? undefined : textOf(tokenFile, `${where}.webhook.tokenFile`, bad)
  const transport = webhookTransport(ports.connect, url, {
    ...(ca !== undefined && { certificateAuthority: ca }),
    // Read each time: a token in a file is replaced while we run.
    ...(tokenPath !== undefined && {
      readBearerToken: async () => new Secret((await ports.read(tokenPath)).trim()),
    }),
  })
  return webhookSource({ name, timeout, url, transport })
}

function execOf(
  value: unknown,
  where: string,
  name: string,
  timeout: number,
  { spawn }: EvidencePorts,
  bad: Bad,
): EvidenceSource {
  const { command, args = [], env = {} } = fieldsOf(value, where, ['command', 'args', 'env'], bad)
  const path = textOf(command, `${where}.command`, bad)
  if (!path.startsWith('/')) throw bad(`${where}.command must be an absolute path`)
  if (!Array.isArray(args) || !args.every(item => typeof item === 'string'))
    throw bad(`${where}.args must be a list of strings`)
  if (!isRecord(env) || !Object.values(env).every(item => typeof item === 'string'))
    throw bad(`${where}.env must be a map of strings`)
  const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...(env as Record<string, string>) }
  return execSource({ name, timeout, command: path, args, environment, spawn })
}

function fieldsOf(
  value: unknown,
  where: string,
  known: readonly string[],
  bad: Bad,
): Record<string, unknown> {
  if (!isRecord(value)) throw bad(`${where} must have fields`)
  const unknown = Object.keys(value).find(field => !known.includes(field))
  if (unknown !== undefined)
    throw bad(`${where} has the unknown field ${JSON.stringify(unknown)}; known are ${known.join(', ')}`)
  return value
}

function textOf(value: unknown, where: string, bad: Bad): string {
  if (typeof value !== 'string' || value === '') throw bad(`${where} must be a string`)
  return value
}
