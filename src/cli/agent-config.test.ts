import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Command } from 'commander'
import { hasCode } from '../errors.ts'
import { register } from './agent.ts'
import { applyConfig } from './agent-config.ts'
import { systemIo } from './system-io.ts'

/** The agent's command with these flags and this file. */
function configured(text: string, flags: string[] = []): Record<string, unknown> {
  const program = new Command('rollcall')
  register(program, systemIo)
  const [command] = program.commands
  assert.ok(command)
  command.action(() => {})
  program.parse(['agent', ...flags], { from: 'user' })
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-config-'))
  const path = join(folder, 'agent.yaml')
  try {
    writeFileSync(path, text)
    applyConfig(command, path)
    return command.opts()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a configuration file sets what flags set, and a flag that is given wins', () => {
  const text = `
apiVersion: rollcall.dev/v1alpha1
kind: AgentConfiguration
node: from-file
nodeIp: [10.0.0.1, "fd00::1"]
rotateCertificates: true
besideKubelet: exec
port: 10260
credentialPlugin:
  - /run/a.sock,owner=7
  - /run/b.sock
`
  const options = configured(text, ['--node', 'from-flag'])
  assert.equal(options.node, 'from-flag')
  assert.equal(options.nodeIp, '10.0.0.1,fd00::1')
  assert.equal(options.rotateCertificates, true)
  assert.equal(options.besideKubelet, 'exec')
  assert.equal(options.port, 10260)
  assert.deepEqual(options.credentialPlugin, [{ socket: '/run/a.sock', owner: 7 }, { socket: '/run/b.sock' }])
  assert.equal(configured('').node, configured('# nothing\n').node)
})

test('what a configuration file has wrong is named with line and column', () => {
  const refused = (text: string, why: RegExp) =>
    assert.throws(
      () => configured(text),
      error => hasCode(error, 'CONFIG_INVALID') && why.test(error.message),
    )
  refused('node: a\nnode-ip: b\n', /agent\.yaml:2:1: there is no setting "node-ip"; it is written nodeIp/)
  refused('node: a\nport: 70000\n', /:2:1: port: It must be a whole number from 0 to 65535/)
  refused('rotateCertificates: "yes"\n', /:1:1: rotateCertificates: is not true or false/)
  refused('runtime: docker\n', /:1:1: runtime: is none of cri, process/)
  refused('kind: Other\n', /:1:1: kind is not AgentConfiguration/)
  refused('node: [a, b]\n', /:1:1: node: is one value/)
  refused('- a\n', /:1:1: is not a mapping/)
  refused('node: a\nnode: b\n', /:2:1: Map keys must be unique/)
  refused('config: b\n', /no setting "config"/)
})
