import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { systemDisk } from '../../host/disk.ts'
import { ownIdentity, parseIdentity } from '../../pods/state/process-identity.ts'
import type { RunOrder } from '../../ports.ts'
import { KubeletUnit } from './kubelet-unit.ts'

test('the process is systemd’s, asked once while it runs; a unit is never an option', async () => {
  const asked: string[][] = []
  let answer = { code: 0, text: `${process.pid}\n` }
  const unit = new KubeletUnit({
    unit: 'kubelet.service',
    disk: systemDisk,
    spawn: {
      async run({ command, args }: RunOrder) {
        assert.equal(command, '/usr/bin/systemctl')
        asked.push([...args])
        const said = new TextEncoder().encode(answer.text)
        return { code: answer.code, stdout: said, stderr: said }
      },
    },
  })
  const own = parseIdentity(await ownIdentity(systemDisk))
  assert.deepEqual([await unit.process(), await unit.process()], [own, own])
  assert.deepEqual(asked, [['show', '--property=MainPID', '--value', 'kubelet.service']])
  await unit.restart()
  assert.deepEqual(asked[1], ['restart', 'kubelet.service'])
  answer = { code: 5, text: 'Unit kubelet.service not found.' }
  await assert.rejects(unit.restart(), error => {
    return (
      hasCode(error, 'KUBELET_UNIT_FAILED') && /exit code 5: Unit kubelet.service not/.test(String(error))
    )
  })
})
