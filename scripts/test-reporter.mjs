// A node:test reporter that hands every event on as one JSON line; scripts/test.mjs judges and prints them.
export default async function* report(events) {
  for await (const { type, data } of events) {
    if (!['test:pass', 'test:fail', 'test:diagnostic', 'test:stderr', 'test:stdout'].includes(type)) continue
    const error = data.details?.error
    const cause = error?.cause ?? error
    yield `${JSON.stringify({
      type,
      file: data.file,
      name: data.name,
      nesting: data.nesting,
      suite: data.details?.type === 'suite',
      milliseconds: data.details?.duration_ms,
      skip: data.skip,
      todo: data.todo,
      message: data.message,
      error: error && (cause?.stack ?? String(cause)),
      failureType: error?.failureType,
    })}\n`
  }
}
