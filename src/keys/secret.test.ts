import assert from 'node:assert/strict'
import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { format, inspect } from 'node:util'
import { RollcallError } from '../errors.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { generateSigner, loadSigner } from './private-key.ts'
import { Secret } from './secret.ts'

/** Everything that could print a value to a log, an error or an answer. */
function prints(value: object): Record<string, string> {
  const error = new RollcallError('STORE_CORRUPT', `about ${value}`, { value }, { cause: value })
  return {
    'util.inspect': inspect(value),
    'util.inspect with hidden members': inspect(value, { showHidden: true, depth: 10, getters: true }),
    'util.inspect without custom functions': inspect(value, {
      customInspect: false,
      showHidden: true,
      depth: 10,
      getters: true,
    }),
    'util.format': format('%s %o %O %j %i', value, value, value, value, value),
    JSON: JSON.stringify({ value, list: [value] }),
    String: String(value),
    template: `${value}`,
    joined: [value, value].join(' '),
    'own members': JSON.stringify(Object.entries(Object.getOwnPropertyDescriptors(value))),
    spread: inspect({ ...value }),
    'inside an object': inspect({ deep: { value: [value] } }, { depth: 10 }),
    'inside a Map': inspect(new Map([['key', value]])),
    'cause of an error': inspect(error) + error.stack + JSON.stringify(error) + String(error),
    console: printedByConsole(value, error),
  }
}

function printedByConsole(...values: unknown[]): string {
  let text = ''
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      done()
    },
  })
  const printer = new Console(sink, sink)
  for (const value of values) {
    printer.log(value)
    printer.error('%s %o', value, value)
    printer.dir(value, { showHidden: true, depth: 10 })
    printer.table([value])
  }
  return text
}

test('no way of printing a Secret shows it', () => {
  for (const [way, text] of Object.entries(prints(new Secret('hunter2'))))
    assert.ok(!text.includes('hunter2'), way)
  assert.equal(`${new Secret('hunter2')}`, '[secret]')
  assert.equal(new Secret('hunter2').reveal(), 'hunter2')
})

for (const algorithm of ['ECDSA-P256', 'Ed25519'] as const) {
  test(`no way of printing an ${algorithm} signer shows its key`, () => {
    const made = generateSigner(algorithm, seededRandom(3))
    const pem = made.exportPem().reveal()
    const body = pem.split('\n')[1] ?? ''
    const hex = Buffer.from(body, 'base64').toString('hex').slice(-32)
    assert.ok(body.length > 40 && hex.length === 32)
    for (const signer of [made, loadSigner(pem)]) {
      for (const [way, text] of Object.entries(prints(signer))) {
        assert.ok(!text.includes(body.slice(8, 40)) && !text.replaceAll(' ', '').includes(hex), way)
      }
      assert.equal(`${signer}`, `[signer ${signer.algorithm}]`)
    }
  })
}
