import type { FetchText } from '../pods/sources/manifest-url.ts'

/** Node's own fetch, which verifies TLS. Nothing is followed: who names a URL means it. */
export const fetchText: FetchText = async (url, mostBytes, signal) => {
  const response = await fetch(url, { signal, redirect: 'manual' })
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > mostBytes) throw new Error(`the answer has more than ${mostBytes} bytes`)
    parts.push(part)
  }
  return {
    status: response.status,
    text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)),
  }
}
