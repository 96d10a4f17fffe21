/** Sends a sequence to one server. */
import type { Answered, Sent, WatchEvent, Wire } from '../wire.ts'
import type { Sequence, SequenceStep } from './sequence.ts'

export interface Played {
  /** As it was sent: with the server's own values in it. */
  step: SequenceStep
  /** Absent: it was not sent (`needs`). */
  answer?: Answered & { events?: WatchEvent[] }
}

/** What stands in for a value that no answer gave. */
const unknown: Readonly<Record<string, string>> = {
  rv: '1',
  uid: '00000000-0000-0000-0000-000000000000',
  next: 'bm9uZQ',
  name: 'missing',
  token: 'none',
}

export async function play(wire: Wire, { steps }: Sequence): Promise<Played[]> {
  const values = new Map<string, string>()
  const played: Played[] = []
  for (const [index, step] of steps.entries()) {
    if (step.needs !== undefined && !values.has(step.needs)) {
      played.push({ step })
      continue
    }
    const filled = {
      ...step,
      url: fill(step.url, values, encodeURIComponent),
      ...(step.body !== undefined && { body: fill(step.body, values) }),
    }
    const answer = await send(wire, filled)
    remember(values, index, answer.body)
    played.push({ step: filled, answer })
  }
  return played
}

function send(wire: Wire, { as, method, url, headers = {}, body, until }: SequenceStep) {
  const sent: Sent = {
    method,
    url,
    headers,
    ...(as && { as }),
    ...(body !== undefined && { body: Buffer.from(body) }),
  }
  if (until === undefined) return wire.send(sent)
  return wire.watch(
    sent,
    events => nameOf(events.at(-1)?.object) === until || events.at(-1)?.type === 'ERROR',
  )
}

const nameOf = (object: unknown) => (Object(object) as { metadata?: { name?: string } }).metadata?.name

function fill(text: string, values: ReadonlyMap<string, string>, encode = (value: string) => value): string {
  return text.replaceAll(/\$\(([a-z]+)(\d+)\)/g, (_all, kind, at) =>
    encode(values.get(kind + at) ?? unknown[kind] ?? 'none'),
  )
}

interface Answers {
  metadata?: { resourceVersion?: string; uid?: string; continue?: string; name?: string }
  status?: { token?: string }
}

function remember(values: Map<string, string>, index: number, body: unknown): void {
  const { metadata = {}, status } = Object(body) as Answers
  const found = {
    rv: metadata.resourceVersion,
    uid: metadata.uid,
    next: metadata.continue,
    name: metadata.name,
    token: status?.token,
  }
  for (const [kind, value] of Object.entries(found)) if (value) values.set(`${kind}${index}`, value)
}
