/** Plays one case against one server. */
import type { Case, Expected, Pattern, Step } from './case.ts'
import { mismatches } from './match.ts'
import type { Answered, Identity, Watched, Wire } from './wire.ts'

/** What is wrong, as sentences; empty: the server behaves. `id` is of this case alone: a DNS label. */
export async function runCase(wire: Wire, { steps }: Case, id: string): Promise<string[]> {
  const values = new Map([
    ['id', id],
    ['ns', `ns-${id}`],
  ])
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `ns-${id}` } }
  await wire.send({ ...json(namespace), method: 'POST', url: '/api/v1/namespaces' })
  const wrong: string[] = []
  for (const [index, step] of steps.entries()) {
    const answer = await play(wire, filled(step, values) as Step)
    const told = judge(filled(step.expect, values) as Expected, answer)
    wrong.push(...told.map(what => `step ${index + 1} (${step.method} ${step.url}): ${what}`))
    for (const [name, path] of Object.entries(step.keep ?? {}))
      values.set(name, String(valueAt(answer.body, path)))
  }
  await wire.send({ method: 'DELETE', url: `/api/v1/namespaces/ns-${id}` })
  return wrong
}

const json = (value: object) => ({
  body: Buffer.from(JSON.stringify(value)),
  headers: { 'content-type': 'application/json' },
})

function play(wire: Wire, step: Step): Promise<Answered | Watched> {
  const { as, method, url, body, type = 'application/json', headers = {}, events } = step
  const sent = {
    method,
    url,
    ...(as && { as: as as Identity }),
    headers: { ...(body !== undefined && { 'content-type': type }), ...headers },
    ...(body !== undefined && { body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }),
  }
  return events === undefined ? wire.send(sent) : wire.watch(sent, seen => seen.length >= events)
}

function judge(expected: Expected, answer: Answered | Watched): string[] {
  const { status, reason, message, body, headers = {}, events } = expected
  const wrong = mismatches(status, answer.status, 'status')
  if (reason !== undefined) wrong.push(...mismatches({ reason, code: status }, answer.body))
  if (message !== undefined) wrong.push(...mismatches({ message }, answer.body))
  if (body !== undefined) wrong.push(...mismatches(body, answer.body))
  wrong.push(...mismatches(headers, answer.headers, 'headers'))
  if (events) wrong.push(...mismatches(events, (answer as Watched).events, 'events'))
  if (wrong.length > 0) wrong.push(`the answer was ${answer.status} ${JSON.stringify(answer.body)}`)
  return wrong
}

/** The value with what is known in place of `$(NAME)`; what is not known yet stays. */
function filled(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/\$\((\w+)\)/g, (all, name) => values.get(name) ?? all)
  if (value instanceof RegExp) return value
  if (Array.isArray(value)) return value.map(one => filled(one, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [filled(key, values), filled(one as Pattern, values)]),
  )
}

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, key) => Object(at)[key], value)
}
